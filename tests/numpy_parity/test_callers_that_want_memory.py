"""What NumPy's `as_strided` steps out to is what an array stores there, and what `scipy.ndimage` writes reaches it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
from numpy.lib.stride_tricks import as_strided

import gpunumpy

from ..support import fake_driver

PLACES = ["host", "device", "GPU"]


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, device: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Arrays are small and on the host, on the device under test, or on a GPU that is pretended, if there is none."""
    if request.param == "GPU" and device == "cpu":
        fake_driver.install(monkeypatch)
        device = "cuda:0"
    before = gpunumpy.set_residence("auto" if request.param == "host" else "device")
    with gpunumpy.Device(device):
        yield request.param
    gpunumpy.set_residence(before)


WINDOWS: dict[str, Callable[[Any], Any]] = {
    "all": lambda x: x,
    "rows": lambda x: x[2:4],
    "columns": lambda x: x[1:, 3:5],
    "every second": lambda x: x[1::2, ::2],
    "backwards": lambda x: x[3::-1, 4::-1],
    "transposed": lambda x: x.T[2:, 1:],
    "a row": lambda x: x[2],
    "a column": lambda x: x[2:, 3],
    "a part of a line": lambda x: x.reshape(-1)[11:],
    "without elements": lambda x: x[4:2],
    "bytes": lambda x: x[1:].view("u1")[:, 5:],
}
DTYPES = ["f8", "f4", "i2", "?", "c16", ">i4", "M8[s]", "U3", "S2", "i4,f4", "O"]


def _steps(window: Any) -> Callable[[Any], Any]:
    """Return a walk through elements outside a window of 5 by 6 elements, which are there on both sides."""
    step = window.strides[-1] if window.ndim else 0
    return lambda x: as_strided(x, (2, 2), (-step, step))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", WINDOWS)
def test_elements_outside_a_window(name: str, dtype: str, place: str) -> None:
    host = numpy.arange(30).reshape(5, 6).astype(dtype)
    if name == "bytes" and dtype == "O":
        pytest.skip("objects have no bytes")
    array, expected = WINDOWS[name](gpunumpy.asarray(host)), WINDOWS[name](host)
    walk = _steps(expected) if name not in ("all", "without elements") else as_strided
    found = walk(array)
    assert type(found) is numpy.ndarray
    assert (found.dtype, found.shape) == (expected.dtype, walk(expected).shape)
    assert found.tolist() == walk(expected).tolist()


@pytest.mark.parametrize("part", ["real", "imag"])
def test_parts_of_complex_numbers(part: str, place: str) -> None:
    host = numpy.arange(12) * (1 + 2j)
    array = getattr(gpunumpy.asarray(host), part)
    expected = as_strided(getattr(host, part)[6:], (4,), (-16,))
    assert as_strided(array[6:], (4,), (-16,)).tolist() == expected.tolist()


@pytest.mark.parametrize("subok", [False, True])
def test_masked_arrays(subok: bool, place: str) -> None:
    host = numpy.ma.MaskedArray(numpy.arange(8.0), [1, 0] * 4)
    array = gpunumpy.ma.array(host.data, mask=host.mask)
    found, expected = (as_strided(x[4:], (4,), (-8,), subok=subok) for x in (array, host))
    assert numpy.asarray(found).tolist() == numpy.asarray(expected).tolist() == [4, 3, 2, 1]


def test_writes_reach_the_array_or_are_refused(place: str) -> None:
    x = gpunumpy.asarray(numpy.arange(8.0))
    view = as_strided(x[4:], (4,), (-8,))
    if x.device.kind == "cuda" and x.residence == "device":
        with pytest.raises(ValueError, match="read-only"):
            view[:] = 0
        return
    view[1:] = -1
    assert x.tolist() == [0, -1, -1, -1, 4, 5, 6, 7]
    x[4] = 9
    assert view.tolist() == [9, -1, -1, -1]


def test_other_conversions_copy(place: str) -> None:
    x = gpunumpy.asarray(numpy.arange(8.0))
    for convert in (numpy.asarray, numpy.array):
        copy = convert(x[4:])
        copy[:] = 0
        assert copy.base is None
    assert x.tolist() == list(range(8))


MATRICES = ["toeplitz", "circulant", "hankel", "convolution_matrix", "leslie", "companion"]
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "convolution_matrix": (numpy.arange(1.0, 6), 3),
    "leslie": (numpy.arange(1.0, 4), numpy.arange(1.0, 3)),
}


@pytest.mark.parametrize("stack", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "i4", "c16"])
@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.filterwarnings("ignore:Beginning in SciPy 1.1:FutureWarning")
def test_matrices_of_scipy(name: str, dtype: str, stack: bool, residence: str, device: str) -> None:
    make = getattr(pytest.importorskip("scipy.linalg", reason="SciPy is not installed"), name)
    arguments = ARGUMENTS.get(name, (numpy.arange(1.0, 6),))
    host = [x.astype(dtype) if isinstance(x, numpy.ndarray) else x for x in arguments]
    if stack:
        host = [numpy.stack([x, x * 2]) if isinstance(x, numpy.ndarray) else x for x in host]
    with gpunumpy.Device(device):
        arrays = [gpunumpy.asarray(x) if isinstance(x, numpy.ndarray) else x for x in host]
        found = numpy.asarray(make(*arrays))
    expected = make(*host)
    assert found.dtype == expected.dtype
    numpy.testing.assert_array_equal(found, expected)


FILTERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "gaussian_filter": lambda nd, x, out: nd.gaussian_filter(x, 1, output=out),
    "grey_dilation": lambda nd, x, out: nd.grey_dilation(x, 3, output=out),
    "median_filter": lambda nd, x, out: nd.median_filter(x, 3, output=out),
    "convolve": lambda nd, x, out: nd.convolve(x, x[:2, :2], output=out),
    "zoom": lambda nd, x, out: nd.zoom(x[:3, :3], 2, output=out),
    "part of a matrix": lambda nd, x, out: nd.sobel(x[:3, 1:4], output=out[::2, 3:]),
}


@pytest.mark.parametrize("name", FILTERS)
def test_outputs_of_filters_of_images(name: str, place: str) -> None:
    filters = pytest.importorskip("scipy.ndimage", reason="SciPy is not installed")
    image = numpy.add.outer(numpy.arange(6.0), numpy.arange(6) * 3) % 7
    expected = numpy.zeros((6, 6))
    FILTERS[name](filters, image, expected)
    x, out = gpunumpy.asarray(image), gpunumpy.asarray(numpy.zeros((6, 6)))
    if out.device.kind == "cuda" and out.residence == "device":
        with pytest.raises((ValueError, RuntimeError)):
            FILTERS[name](filters, x, out)
        return
    FILTERS[name](filters, x, out)
    numpy.testing.assert_array_equal(out.get(), expected)
