"""Moves of larger arrays to the host, by accesses of few elements, and arrays of a device that shares its memory."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy import Device
from gpunumpy.core._native import IS_COMPILED
from gpunumpy.core.recording import array as arrays
from gpunumpy.core.runtime import evaluate

from .test_residence import MANY, same


@pytest.fixture(autouse=True)
def auto() -> Iterator[None]:
    before = np.set_residence("auto")
    yield
    np.set_residence(before)


def _filled(np: Any, size: int, count: int) -> Any:
    z = np.zeros((size, size))
    for k in range(count):
        z[k % size, k // size] = z[(k - 1) % size, 0] + k
    return z


@pytest.mark.skipif(not IS_COMPILED, reason="the compiled core alone counts writes")
def test_writes_of_elements_move_a_large_array() -> None:
    z, expected = _filled(np, 600, 1100), _filled(numpy, 600, 1100)
    assert z.residence == "host"
    same(z, expected)
    doubled, expected = z * 2, expected * 2  # as a whole, on the device
    assert z.residence == doubled.residence == "device"
    same(doubled, expected)


@pytest.mark.skipif(not IS_COMPILED, reason="the compiled core alone counts writes")
def test_what_has_views_is_not_moved() -> None:
    z, expected = np.zeros(MANY), numpy.zeros(MANY)
    view, other = z[2:], expected[2:]
    for k in range(600):
        z[k] = expected[k] = k
    assert z.residence == "device"
    same(view, other)


@pytest.mark.skipif(not IS_COMPILED, reason="the compiled core alone counts writes")
def test_views_are_counted() -> None:
    x: Any = np.zeros(MANY)
    assert x._views == 0
    views = [x[1:], x[::2][1:], x.reshape(1, -1).T]
    assert [view.base is x for view in views] == [True] * 3
    assert x._views == 3
    x += 1
    del views[0]
    assert x._views == 2
    views.clear()
    assert x._views == 0
    small: Any = np.zeros(3)
    part: Any = small[1:][1:]
    assert (small._views, part._views) == (1, 0)
    np.from_dlpack(small)  # moves it
    assert (float(part[0]), small._views) == (0.0, 1)
    del part
    assert small._views == 0


def _factors(xp: Any, a: Any) -> Any:
    """Return the Cholesky factors, row by row."""
    for k in range(len(a)):
        a[k, k] = a[k, k] ** 0.5
        a[k + 1 :, k] /= a[k, k]
        for j in range(k + 1, len(a)):
            a[j:, j] -= a[j:, k] * a[j, k]
    return a


@pytest.mark.skipif(not IS_COMPILED, reason="the compiled core alone counts writes")
def test_writes_of_rows_move_a_large_array(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = evaluate.queue_of(np.default_device())
    monkeypatch.setattr(queue, "host_bytes", 1 << 12)
    data = numpy.random.default_rng(0).random((30, 30))
    data = data @ data.T + 30 * numpy.eye(30)
    found = _factors(np, np.asarray(data))
    assert found.residence == "host"
    numpy.testing.assert_allclose(np.asnumpy(found), _factors(numpy, data.copy()), rtol=1e-12)
    assert (found * 2).residence == "device"


def test_a_view_that_is_made_anew_is_copied_to_the_device_once(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[Any] = []
    from_host = arrays.from_host
    monkeypatch.setattr(arrays, "from_host", lambda *args: copied.append(args) or from_host(*args))

    def program(xp: Any) -> Any:
        large, small = xp.ones((MANY // 9 + 1, 9)), xp.arange(9.0)
        first, second = small[:4], small[4:8]
        for k in range(5):
            large[:, :4] *= first
            large[:, 4:8] -= second
            large += large * small[None]
            if k == 2:
                small[8] = 7
        return large

    same(program(np), program(numpy))
    assert len(copied) == 4, "each view once, and again what has changed"


@pytest.fixture
def cpu() -> Iterator[None]:
    with Device("cpu"):
        yield


def _numbers(*shape: int) -> Any:
    return numpy.random.default_rng(1).random(shape)


@pytest.mark.usefixtures("cpu")
@pytest.mark.skipif(not IS_COMPILED, reason="without the core, parts of large arrays are on the device")
def test_parts_of_given_arrays_are_in_the_memory_that_the_device_has() -> None:
    data = _numbers(800, 900)
    mine = np.asarray(data)
    memory = mine._base
    part, found = mine[5, 1:], mine[:, 3] @ mine[:, 2:]
    assert mine.residence == part.residence == found.residence == "host"
    same(found, data[:, 3] @ data[:, 2:])
    mine[5, 7:9], data[5, 7:9] = 3, 3
    whole = mine * 2
    assert mine.residence == whole.residence == "device"
    assert mine.computed().data.ptr == memory.ctypes.data
    same(whole, data * 2)
    mine[5, 6], data[5, 6] = 4, 4
    same(part, data[5, 1:])
    part += 1
    same(mine[5, 1:], data[5, 1:] + 1)
    assert not numpy.shares_memory(data, memory)


@pytest.mark.usefixtures("cpu")
@pytest.mark.skipif(not IS_COMPILED, reason="the compiled core alone counts reads")
def test_reads_of_rows_move_a_large_array_of_a_device_that_shares_memory() -> None:
    mine, data = np.asarray(_numbers(800, 900)) + 1, _numbers(800, 900) + 1
    pending = mine * 2
    held = mine[0]
    for k in range(40):
        same(mine[k] + 1, data[k] + 1)
    assert mine.residence == "device"  # a view shows it
    del held
    written = numpy.zeros(900)
    for k in range(40):
        mine[k] = np.asarray(written)
    assert mine.residence == "host"
    same(pending, data * 2)
    data[:40] = 0
    same(mine * 1, data)
    for k in range(63):
        mine[:, k] * 1
    assert mine.residence == "device"  # it came back once, so four times as many reads move it
    for k in range(2):
        mine[:, k] * 1
    assert mine.residence == "host"
    mine[1] += 1
    same(mine[1:3].T @ np.ones(2), data[1:3].T @ numpy.ones(2) + 1)


def _covariance(np: Any, product: Any, data: Any) -> Any:
    data -= data.mean(axis=0)
    found = np.zeros((data.shape[1], data.shape[1]))
    for k in range(6):
        found[k:, k] = found[k, k:] = product(data[:, k], data[:, k:]) / len(data)
    return found


@pytest.mark.usefixtures("cpu")
@pytest.mark.skipif(not IS_COMPILED, reason="the compiled core alone moves arrays")
@pytest.mark.parametrize("product", [operator.matmul, np.dot])
def test_small_products_of_large_parts_move_arrays_of_a_device_that_shares_memory(product: Any) -> None:
    mine, data = np.asarray(_numbers(800, 900)), _numbers(800, 900)
    found = _covariance(np, product, mine)
    assert mine.residence == "host"
    same(found, _covariance(numpy, numpy.dot, data))
    same(mine * 1, data)
    same(mine[:, 2:] @ mine[2:, 2:].T, data[:, 2:] @ data[2:, 2:].T)  # large
    mine[:, 0] += 1
    assert mine.residence == "device"


@pytest.mark.usefixtures("cpu")
@pytest.mark.skipif(not IS_COMPILED, reason="the compiled core alone counts writes")
def test_rows_of_the_host_are_written_to_the_host() -> None:
    mine, data = np.zeros(MANY).reshape(-1, 1) + np.zeros(4), numpy.zeros((MANY, 4))
    for k in range(60):
        mine[k] = data[k] = [k, 1, 2, 3]
        mine[k] = np.asarray(data[k] + 1)
        data[k] += 1
    assert mine.residence == "host"
    same(mine, data)


@pytest.mark.usefixtures("cpu")
@pytest.mark.parametrize("dtype", ["?", "f4", "c16", "i2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_given_arrays_of_all_kinds(dtype: str, order: str) -> None:
    data = numpy.asarray(_numbers(1500, 1600) * 9, order=order).astype(dtype, order="K")  # type: ignore[call-overload]
    mine = np.asarray(data)
    row, column = mine[2], mine[:, 3]
    same(
        mine[1:-1] | mine[:-2] if dtype == "?" else mine[1:-1] - mine[:-2],
        (data[1:-1] | data[:-2] if dtype == "?" else data[1:-1] - data[:-2]),
    )
    mine[2, 3] = data[2, 3] = 1
    same(row, data[2])
    same(column, data[:, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy 2.5
        mine.shape = data.shape = (1600, 1500) if order == "C" else data.shape
    same(mine, data)
    same(mine.copy(), data.copy())
