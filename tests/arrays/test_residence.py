"""Small arrays on the host: where they are, what moves them, and that nothing else tells."""

from __future__ import annotations

import contextlib
import copy
import io
import itertools
import operator
import pickle
import random
import re
import warnings
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy import Device
from gpunumpy.core.graph.primitives import Leaf
from gpunumpy.core.recording import array as arrays
from gpunumpy.core.recording.residence import DTYPES, host_bytes
from gpunumpy.core.runtime import evaluate
from gpunumpy.functions import placement

from ..support.interruptions import Interruption, Tracer, interrupt

HOST_BYTES = host_bytes(np.default_device())
MANY = HOST_BYTES // 8 + 1


@pytest.fixture(autouse=True)
def auto() -> Iterator[None]:
    before = np.set_residence("auto")
    yield
    np.set_residence(before)


def _written(x: Any, key: Any, value: Any) -> Any:
    x[key] = value
    return x


def _shaped(x: Any, shape: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # since NumPy 2.5
        x.shape = shape
    return x


NEW: dict[str, Callable[[Any], Any]] = {
    "list": lambda xp: xp.array([[1, 2], [3, 4]]),
    "numbers": lambda xp: xp.asarray(2.5),
    "tuple of a dtype": lambda xp: xp.array((1, 2), "f4"),
    "NumPy array": lambda xp: xp.asarray(numpy.arange(6.0).reshape(2, 3).T),
    "zeros": lambda xp: xp.zeros((2, 3)),
    "full": lambda xp: xp.full(3, 7, "i2"),
    "arange": lambda xp: xp.arange(2, 10, 3),
    "arange of reals": lambda xp: xp.arange(0.5, 3, 0.25),
    "linspace": lambda xp: xp.linspace(0, 1, 5),
    "eye": lambda xp: xp.eye(3),
    "like": lambda xp: xp.ones_like(xp.zeros(3), "i4"),
    "sum": lambda xp: xp.arange(5).sum(),
    "joined": lambda xp: xp.concatenate([xp.zeros(2), xp.ones(1)]),
    "chosen": lambda xp: xp.where(xp.arange(3) > 1, 5.0, xp.zeros(3)),
    "solved": lambda xp: xp.linalg.solve(xp.eye(2) * 2, xp.ones(2)),
    "transformed": lambda xp: xp.fft.fft(xp.arange(4)),
    "element": lambda xp: xp.arange(4)[2],
    "ufunc's method": lambda xp: xp.add.outer(xp.arange(3), xp.arange(2)),
    "without NaN": lambda xp: xp.nancumsum(xp.array([1.0, xp.nan, 2.0])),
    "several": lambda xp: xp.divmod(xp.arange(5), 3)[1],
    "drawn": lambda xp: xp.random.default_rng(0).normal(size=3),
    "drawn integers": lambda xp: xp.random.default_rng(0).integers(0, 9, (2, 3)),
    "permuted": lambda xp: xp.random.default_rng(0).permutation(5),
    "drawn from an array": lambda xp: xp.random.default_rng(0).choice(5, 3),
    "drawn by a RandomState": lambda xp: xp.random.RandomState(0).rand(2, 3),
    "root of a number": lambda xp: xp.sqrt(5),
    "sum of a list": lambda xp: xp.sum([[1, 2], [3, 4]], axis=0),
    "sum of a long list": lambda xp: xp.cumsum([0.5] * 200),
    "indices": lambda xp: xp.indices((3, 4)),
    "window": lambda xp: xp.hanning(9),
    "frequencies": lambda xp: xp.fft.fftfreq(5),
    "of a NumPy array": lambda xp: xp.sort(numpy.array([3, 1, 2])),
    "beside a NumPy array": lambda xp: xp.arange(3) * numpy.array([2.0, 3.0, 4.0]),
    "behind a NumPy array": lambda xp: numpy.array([2.0, 3.0, 4.0]) - xp.arange(3),
    "joined to a NumPy array": lambda xp: xp.concatenate([numpy.ones(2), xp.zeros(1)]),
    "chosen by a NumPy array": lambda xp: xp.arange(5)[numpy.array([3, 1])],
    "constructed": lambda xp: _written(xp.ndarray((2, 3), "f4", order="F"), slice(None), 2),
    "written by a mask": lambda xp: _written(xp.zeros((1000, 4)), numpy.ones((1000, 4), bool), xp.arange(4000.0)),
    "written by index arrays": lambda xp: _written(xp.zeros((500, 500)), (xp.arange(499), xp.arange(499)), 2),
    "of arrays": lambda xp: xp.array([xp.arange(3), xp.ones(3)], "f4"),
    "of elements": lambda xp: xp.asarray([(xp.arange(3)[1], 2.5), (0, xp.ones(1)[0])]),
    "grid": lambda xp: xp.mgrid[0:4, 1:3],
    "grid of points": lambda xp: xp.mgrid[0:1:5j],
    "open grid": lambda xp: xp.ogrid[0:4, 1 : xp.arange(6)[4]][1],
    "shaped": lambda xp: _shaped(xp.arange(6), (2, -1)),
    "shaped view": lambda xp: _shaped(xp.arange(12).reshape(3, 4).T[:, 1:], (2, 2, 2)),
    "named results": lambda xp: xp.linalg.eigh(xp.eye(2)).eigenvectors,
}


def same(found: Any, expected: Any) -> None:
    assert type(found) is np.ndarray
    host = np.asnumpy(found)
    assert (found.shape, found.dtype, found.strides) == (expected.shape, expected.dtype, expected.strides)
    numpy.testing.assert_array_equal(host, expected)


LARGER_THAN_THE_HOSTS = ("written by index arrays",)  # that a GPU has; the CPU device keeps more on the host


@pytest.mark.parametrize("name", NEW)
def test_new_arrays_are_on_the_host(name: str) -> None:
    with np.Device("cpu") if name in LARGER_THAN_THE_HOSTS else np.default_device():
        found, expected = NEW[name](np), NEW[name](numpy)
        assert found.residence == "host"
        same(found, numpy.asarray(expected) if isinstance(expected, numpy.generic) else expected)
        assert found.device is np.default_device()
        np.set_residence("device")
        assert NEW[name](np).residence == "device"


LARGE: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda xp: xp.zeros(MANY),
    "arange": lambda xp: xp.arange(MANY),
    "linspace": lambda xp: xp.linspace(0, 1, MANY),
    "list": lambda xp: xp.array([0.5] * MANY),
    "broadcast": lambda xp: xp.arange(1000)[:, None] + xp.arange(1000),
    "outer": lambda xp: xp.outer(xp.ones(1000), xp.ones(1000)),
    "repeated": lambda xp: xp.tile(xp.ones(1000), 1000),
    "joined": lambda xp: xp.concatenate([xp.ones(MANY - 1), xp.ones(MANY - 1)]),
    "product": lambda xp: xp.ones((1000, 1)) @ xp.ones((1, 1000)),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_results_are_on_the_device(name: str) -> None:
    found = LARGE[name](np)
    stays = name == "list" and found.device.shares_host_memory  # data of the host, which stay there until they are used
    assert found.residence == ("host" if stays else "device")
    expected = LARGE[name](numpy)
    numpy.testing.assert_allclose(np.asnumpy(found), expected)
    assert (found.sum() * 1).residence == "device"  # it stays there


TAKEN: dict[str, Callable[[Any, Any], Any]] = {
    "itself": lambda xp, data: xp.atleast_1d(data),
    "view": lambda xp, data: xp.transpose(data),
    "part of a view": lambda xp, data: xp.ravel(data[:, 0]),
    "real part": lambda xp, data: xp.real(data),
}


@pytest.mark.parametrize("name", TAKEN)
def test_results_do_not_share_memory_with_numpy_arrays(name: str) -> None:
    data = numpy.arange(6.0).reshape(2, 3)
    found, expected = TAKEN[name](np, data), TAKEN[name](numpy, data.copy())
    assert found.residence == "host"
    found[...] = expected[...] = 9
    numpy.testing.assert_array_equal(np.asnumpy(found), expected)
    numpy.testing.assert_array_equal(data, numpy.arange(6.0).reshape(2, 3))
    assert data.flags.writeable


def test_numpy_arrays_are_written_to() -> None:
    data = numpy.zeros(3)
    np.copyto(data, np.arange(3.0))
    numpy.testing.assert_array_equal(data, [0, 1, 2])


def test_the_order_of_operands_places_nothing() -> None:
    many, few = np.asarray(numpy.ones(HOST_BYTES, "i1")), [np.array([2], "i1"), np.int8(3) + np.zeros((), "i1")]
    for x in few:
        assert np.add(many, x).residence == np.add(x, many).residence == "host"
    columns, rows = np.ones((1000, 1)), np.ones((1, 1000))
    for operands in itertools.permutations((columns, rows, few[0])):
        assert np.where(*operands).residence == "device"
    nothing = np.ones((0, 1000, 1))
    for operands in itertools.permutations((nothing, rows, few[0])):
        assert np.where(*operands).residence == "host"


OF_MANY: dict[str, Callable[[Any, list[Any]], Any]] = {
    "array": lambda xp, parts: xp.array(parts),
    "array of a tuple": lambda xp, parts: xp.array(tuple(parts), "f4"),
    "array of rows": lambda xp, parts: xp.array([(k, x[0], x.sum()) for k, x in enumerate(parts)]),
    "numbers before": lambda xp, parts: xp.array([0.0, *(x.max() for x in parts)]),
    "stack": lambda xp, parts: xp.stack(parts, 1),
    "concatenate": lambda xp, parts: xp.concatenate(parts),
    "hstack": lambda xp, parts: xp.hstack([x[1] for x in parts]),
    "mean": lambda xp, parts: xp.mean(parts, axis=0),
    "index": lambda xp, parts: xp.arange(10)[[x.argmax() for x in parts]],
}


@pytest.mark.parametrize("name", OF_MANY)
def test_many_small_arrays_in_a_list_are_joined_on_the_host(name: str) -> None:
    parts = [np.array([k, 2.0, 3.0]) for k in range(200)]
    result = OF_MANY[name](np, parts)
    expected = OF_MANY[name](numpy, [x.get() for x in parts])
    assert result.residence == "host"
    assert {x.residence for x in parts} == {"host"}
    assert result.dtype == expected.dtype
    numpy.testing.assert_array_equal(np.asnumpy(result), expected)


def test_many_arrays_in_a_list_that_are_large_together_are_joined_on_the_device() -> None:
    part = np.zeros(HOST_BYTES // 8)
    assert np.concatenate([part] * 65).residence == "device"
    assert part.residence == "device"


def test_objects_in_a_long_list_stay_what_they_are() -> None:
    parts = [np.arange(3.0) for _ in range(100)]
    assert np.array([{}, *parts], dtype=object)[1] is parts[0]


WRITES_OF_SEVERAL_SHAPES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "put": lambda xp, x, i: xp.put(x, i, 1.0),
    "put, the method": lambda xp, x, i: x.put(i, xp.ones((1, 1000))),
    "putmask": lambda xp, x, i: xp.putmask(x, i > 500, 2.0),
    "place": lambda xp, x, i: xp.place(x, i[None] > 500, [2.0, 3.0]),
    "copyto": lambda xp, x, i: xp.copyto(x, i[:, None], where=i[:, None] > 2),
    "put_along_axis": lambda xp, x, i: xp.put_along_axis(x, i[:, None], 2.0, 0),
}


@pytest.mark.parametrize("name", WRITES_OF_SEVERAL_SHAPES)
def test_writes_are_as_large_as_their_operands(name: str) -> None:
    outcomes = []
    for xp in (numpy, np):
        x = xp.zeros((1000, 1))
        WRITES_OF_SEVERAL_SHAPES[name](xp, x, xp.arange(1000))
        outcomes.append(x)
    assert outcomes[1].residence == "host"
    numpy.testing.assert_array_equal(np.asnumpy(outcomes[1]), outcomes[0])


SUMMARIES: dict[str, Callable[[Any, Any], Any]] = {
    "percentile": lambda xp, x: xp.percentile(x, 95),
    "percentiles": lambda xp, x: xp.percentile(x, [5, 50, 95], axis=0),
    "quantile": lambda xp, x: xp.quantile(x, xp.linspace(0, 1, 11)),
    "histogram": lambda xp, x: xp.histogram(x, bins=100)[0],
    "histogram over edges": lambda xp, x: xp.histogram(x, xp.linspace(0, 1, 51))[0],
    "histogram_bin_edges": lambda xp, x: xp.histogram_bin_edges(x, 100, (0, 1)),
    "cov": lambda xp, x: xp.cov(x, 1 - x),
    "corrcoef": lambda xp, x: xp.corrcoef(x, x * x),
    "polyfit": lambda xp, x: xp.polyfit(x, x**2, 3),
    "chebfit": lambda xp, x: xp.polynomial.chebyshev.chebfit(x, x**2, 3),
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_summaries_leave_an_array_on_the_host(name: str) -> None:
    data = numpy.random.default_rng(0).random(HOST_BYTES // 8)
    x = np.asarray(data)
    result = SUMMARIES[name](np, x)
    assert x.residence == result.residence == "host"
    numpy.testing.assert_array_equal(np.asnumpy(result), SUMMARIES[name](numpy, data))
    assert np.histogram(x, MANY + placement._GROWN)[0].residence == "device"


def test_einsum_is_placed_by_its_labels() -> None:
    x, y = np.ones((100, 6, 6)), np.ones((300, 300))
    assert np.einsum("nij,nj->ni", x, x[:, 0]).residence == "host"
    assert np.einsum("ij,jk", y, y).residence == "device"


def test_both_cores_have_the_same_rules() -> None:
    native = Path(np.__file__).parent / "core/_native"
    text = "".join((native / name).read_text() for name in ("operands.hpp", "host_arrays.hpp", "array.hpp"))
    rules = re.findall(r"\b(IS_\w+) = 1 << (\d+)", text)
    assert {f"_{name}" for name, _ in rules} == {name for name in vars(placement) if name.startswith("_IS_")}
    for name, bit in rules:
        assert getattr(placement, f"_{name}") == 1 << int(bit)
    for name, value in re.findall(r"\b(READ_ONLY|MADE_AS_ARRAY|ON_HOST) = (\d+)", text):
        assert getattr(arrays, name) == int(value)
    sizes = {name: 1 << int(bits) for name, bits in re.findall(r"\b([A-Z]+_BYTES|[A-Z_]+) = 1 << (\d+)[,;]", text)}
    assert sizes["GROWN_ELEMENTS"] == placement._GROWN


def test_equal_elements_keep_their_order() -> None:
    data = numpy.random.default_rng(0).integers(0, 4, (3, 500))
    expected = numpy.argsort(data, kind="stable")
    for dtype in ("i8", "f8", "f4", "i2", "?"):
        x = np.asarray((data > 1 if dtype == "?" else data).astype(dtype))
        wanted = numpy.argsort(x.get(), kind="stable")
        for found in (np.argsort(x), x.argsort(), np.argsort(x, -1), x.argsort(axis=1), np.argsort(x, stable=True)):
            assert found.residence == "host"
            same(found, wanted)
    same(np.argsort(np.asarray(data), kind="stable"), expected)
    with pytest.raises(ValueError, match="kind"):
        np.argsort(np.asarray(data), kind="stable", stable=True)


def test_a_small_program_records_nothing() -> None:
    queue = evaluate.queue_of(np.default_device())
    np.synchronize()
    before = len(queue.pending), queue.state.planner.counts()
    z = np.zeros((5, 5))
    for i, j in itertools.product(range(1, 5), range(1, 5)):
        z[i, j] = z[i - 1, j] + z[i, j - 1] + 1
    assert float(z[4, 4]) == 69
    assert (len(queue.pending), queue.state.planner.counts()) == before


def test_with_an_operand_on_the_device_an_operation_is_there() -> None:
    large, small = np.arange(float(MANY)), np.array([1.0, 2.0, 3.0])
    part = large[:3]
    for result in (part + small, small * part, np.maximum(small, part), np.where(part > 1, small, 0), small[1] + part):
        assert result.residence == "device"
    assert (small + small).residence == small.residence == "host"
    numpy.testing.assert_array_equal(np.asnumpy(part + small), [1, 3, 5])


# Products of 1,000 multiplications, and of one more row or column.
PRODUCTS: dict[str, Callable[[Any, Any, int], Any]] = {
    "matrices": lambda xp, x, more: x((10, 50)) @ x((50, 2 + more)),
    "with a NumPy array": lambda xp, x, more: numpy.ones((2 + more, 50)) @ x((50, 10)),
    "of stacks": lambda xp, x, more: xp.matmul(x((5, 4, 10)), x((5, 10, 5 + more))),
    "of a stack": lambda xp, x, more: xp.matmul(x((5, 4, 10)), x((10, 5 + more))),
    "of rows and rows": lambda xp, x, more: xp.inner(x((10, 50)), x((2 + more, 50))),
    "of all rows and columns": lambda xp, x, more: xp.dot(x((5, 2, 10)), x((5, 10, 2 + more))),
    "with a vector": lambda xp, x, more: x((20 + more, 50)) @ x((50,)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_placed_by_their_multiplications(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate.queue_of(np.default_device()), "host_multiplications", 1000)
    for more, residence in ((0, "host"), (1, "device")):
        found = PRODUCTS[name](np, lambda shape: np.arange(float(prod(shape))).reshape(shape), more)
        expected = PRODUCTS[name](numpy, lambda shape: numpy.arange(float(prod(shape))).reshape(shape), more)
        assert found.residence == residence
        numpy.testing.assert_allclose(np.asnumpy(found), expected)


def test_copies_for_the_device_are_of_the_present_elements() -> None:
    large, small = np.ones(MANY), np.array([1.0, 2.0, 3.0])
    found = []
    for k in range(4):
        found.append(large[:3] * small)
        if k % 2:
            small[1] += 10
    assert [np.asnumpy(x)[1] for x in found] == [2, 2, 12, 12]
    assert small.residence == "host"


def test_scalars_are_numbers_for_kernels() -> None:
    large, scale, shift = np.ones(MANY), np.array([2.0, 3.0])[1], np.arange(4, dtype="f4")[2]
    np.synchronize()
    chosen = np.where(large > 0, scale, 0)
    for result, expected in ((large * scale, 3), (scale - large, 2), (shift + large, 3), (chosen, 3)):
        leaves = [node for node in evaluate.walk([result.value()])[0] if type(node.signature.primitive) is Leaf]
        assert all(leaf.signature.shape for leaf in leaves)
        assert (result.residence, result.dtype) == ("device", np.float64)
        assert float(result[0]) == expected


def test_views_of_a_class_stay_on_the_host() -> None:
    class Kept(np.ndarray):
        pass

    x = np.zeros((2, 3))
    kept = x.view(Kept)
    assert (type(kept), kept.base is x) == (Kept, True)
    kept[0] = 1
    back = kept[:, 1:].view(np.ndarray)
    assert (type(back), back.tolist()) == (np.ndarray, [[1, 1], [0, 0]])
    kept += 1
    results = [kept + kept.view(), -kept, kept @ kept.T, kept[kept > 1], kept < 2, np.sin(kept)]
    assert [type(array) for array in results] == [Kept] * 6
    assert {array.residence for array in (x, kept, back, *results)} == {"host"}
    x.flags.writeable = False
    assert not x.view(Kept).flags.writeable


def test_looks_move_nothing() -> None:
    x = np.arange(4.0)
    assert (float(x[1]), bool(x.any()), str(x), x.tolist()) == (1.0, True, "[0. 1. 2. 3.]", [0, 1, 2, 3])
    numpy.asarray(x)
    assert x.residence == "host"


MOVES: dict[str, Callable[[Any], Any]] = {
    "DLPack": lambda x: np.from_dlpack(x),
    "a layout": lambda x: x.layout,
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
@pytest.mark.parametrize("dtype", ["i4", "f8", "c16", "?"])
def test_views_follow_what_moves(dtype: str, move: Callable[[Any], Any]) -> None:
    reference = (numpy.arange(24).reshape(4, 6) % 5).astype(dtype)
    tested = np.asarray(reference)
    np.host_fallback("ignore")  # a view whose elements overlap is one of the views
    views, expected = (
        [
            xp.lib.stride_tricks.sliding_window_view(a, 3, axis=1, writeable=True),
            a[1:3],
            a.T,
            a[::-1, 2],
            a.reshape(3, 8)[1],
            a.ravel()[5:9],
            a[2:3, None],
            *([a.imag] if dtype == "c16" else []),
        ]
        for xp, a in ((np, tested), (numpy, reference))
    )
    move(tested)
    assert tested.residence == "device"
    for view, other in zip(views, expected, strict=True):
        same(view, other)
        assert view.base is tested
        view[...], other[...] = 1, 1
        numpy.testing.assert_array_equal(np.asnumpy(tested), reference)
    tested += 1 if dtype != "?" else True
    reference += 1 if dtype != "?" else True
    for view, other in zip(views, expected, strict=True):
        same(view, other)


def test_arrays_in_fortran_order_move_as_they_lie() -> None:
    reference = numpy.asfortranarray(numpy.arange(12.0).reshape(3, 4))
    tested = np.asarray(reference)
    row, other = tested[1], reference[1]
    np.from_dlpack(tested)
    same(tested, reference)
    same(row, other)
    row[2], other[2] = -1, -1
    same(tested, reference)


def test_views_of_numpys_results_follow() -> None:
    """NumPy gives columns of one matrix, where the functions that give them are called for another dtype."""
    reference = numpy.array([[3, 0], [1, 2]], ">u2")
    for k, other in enumerate(numpy.nonzero(reference)):
        tested = np.nonzero(np.asarray(reference))[k]
        view = np.broadcast_to(tested, (2, 3))
        np.from_dlpack(tested)
        same(tested, other.copy())
        same(view, numpy.broadcast_to(other.copy(), (2, 3)))


def test_an_element_that_is_shown_many_times_is_not_written_to() -> None:
    shown, reference = (xp.broadcast_to(xp.asarray([1.0, 2.0])[1], (3,)) for xp in (np, numpy))
    same(shown, reference)
    assert shown.strides == reference.strides == (0,)
    assert not shown.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        shown[0] = 5


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_bytes_of_booleans_stay(order: Any) -> None:
    reference = numpy.array([[True, False, True], [False, False, True]], order=order)
    tested = np.array(reference, order=order)
    pairs = [(tested.view("u1"), reference.view("u1")), (tested[1:], reference[1:])]
    for xp in (0, 1):
        pairs[0][xp][0] = 2
    np.from_dlpack(tested)
    assert tested.residence == "device"
    for view, other in pairs:
        same(view, other)
    same(tested, reference)
    numpy.testing.assert_array_equal(np.asnumpy(tested + tested[::-1]), reference + reference[::-1])
    for xp in (0, 1):
        pairs[1][xp][0, 1] = True
        pairs[0][xp][1, 2] = 3
    for view, other in [*pairs, (tested, reference), (tested.view("i1"), reference.view("i1"))]:
        same(view, other)


@pytest.mark.on_device
def test_bytes_that_are_no_booleans_are_refused_on_a_gpu(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels there would compute with them."""
    monkeypatch.setattr(Device, "shares_host_memory", False)  # of the CPU device, whose kernels take any byte for True
    np.set_residence("device")
    with Device(device):
        x = np.zeros(8, bool)
        bytes_, words = x.view("u1"), x.view("i4")
        bytes_[2:] = 1
        words[1] = 0x01000100
        expected = [0, 0, 1, 1, 0, 1, 0, 1]
        writes: list[Callable[[], Any]] = [
            lambda: bytes_.fill(5),
            lambda: words.__setitem__(0, 3),
            lambda: bytes_.__setitem__([1, 2], [1, 2]),
            lambda: np.add(bytes_, 1, out=bytes_),
        ]
        for write in writes:
            with pytest.raises(
                ValueError, match=r"booleans on (cpu|cuda:0) have the bytes 0 and 1: \d cannot be written"
            ):
                write()
            assert bytes_.tolist() == expected
        assert int(x.sum()) == 4


def test_a_view_between_elements_does_not_follow() -> None:
    x = np.arange(16, dtype="u1")
    between = x[1:9].view("f8")
    assert between.residence == "host"
    np.from_dlpack(x)
    with pytest.raises(ValueError, match="between two elements"):
        between.sum()


def test_a_view_of_no_elements_follows_from_anywhere() -> None:
    """Its strides may be those of records, of which its elements are fields."""
    records = np.array(numpy.zeros((1, 5), [("p", "<i2", (2,)), ("n", "u1")]))
    x = records[1:]["p"]
    assert x.strides == (25, 5, 2)
    view = x[::-1]
    np.from_dlpack(x)
    assert (x.residence, view.residence) == ("device", "device")
    assert (view + 1).shape == (0, 5, 2)


@pytest.mark.parametrize("dtype", ["i4,i4", "M8[s]", ">f8", "S8", "V8"])
def test_an_array_with_a_view_of_the_host_alone_stays(dtype: str) -> None:
    results = []
    for xp in (np, numpy):
        x = xp.arange(1.0, 7.0)
        view, part = x.view(dtype), x[2:]
        x += x[::-1]
        part[...] = xp.sort(part) * 2
        view[1:2] = view[:1]
        assert view.base is x
        results.append((x.tolist(), view.tolist(), part.tolist(), (x @ x).item(), view["f1" if "," in dtype else 0]))
        with pytest.raises(ValueError, match="cannot resize"):
            x.resize(3)
    assert str(results[0]) == str(results[1])


def test_read_only_arrays_stay_so() -> None:
    x = np.arange(4.0)
    x.flags.writeable = False
    view = x[1:]
    np.from_dlpack(x)
    for array in (x, view):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("dtype", ["f8", "u2"])
@pytest.mark.parametrize("key", [..., slice(None), (slice(None), slice(1, 2)), 0, (0, 1)], ids=repr)
def test_a_read_only_array_is_not_written_to_itself(key: Any, dtype: str) -> None:
    """NumPy looks at the flag before it sees that there is nothing to do."""
    for xp in (numpy, np):
        imaginary = xp.asarray(numpy.arange(6).reshape(3, 2).astype(dtype)).imag
        locked = xp.asarray(numpy.arange(6).reshape(3, 2).astype(dtype)).copy()
        view = locked[:]
        view.flags.writeable = False
        for x in (imaginary, view):
            with pytest.raises(ValueError, match="assignment destination is read-only"):
                x[key] = x[key]
            with pytest.raises(ValueError, match="assignment destination is read-only"):
                x[...] = x
        locked[key] = locked[key]


def test_imaginary_parts_of_reals_are_read_only() -> None:
    assert not np.arange(3).imag.flags.writeable
    assert not np.arange(3.0)[::-1].imag.flags.writeable


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "element": lambda xp, x: x.__setitem__(2, 7),
    "element of two": lambda xp, x: x.reshape(2, 4).__setitem__((1, -1), 5),
    "slice": lambda xp, x: x[1:].__setitem__(slice(None, None, 2), 3),
    "mask": lambda xp, x: x.__setitem__(x > 4, 0),
    "mask, values": lambda xp, x: x.__setitem__(x > 4, x[x > 4] * 2),
    "overlap": lambda xp, x: x[1:].__iadd__(x[:-1]),
    "overlap of reversed": lambda xp, x: x.__iadd__(x[::-1]),
    "in place": lambda xp, x: x.__imul__(2),
    "out": lambda xp, x: xp.add(x, 1, out=x),
    "add.at": lambda xp, x: xp.add.at(x, [1, 1, 2], 1),
    "put": lambda xp, x: xp.put(x, [0, 3], [9, 8]),
    "copyto": lambda xp, x: xp.copyto(x[:2], x[2:4]),
    "sort": lambda xp, x: x[::-1].sort(),
    "fill": lambda xp, x: x[::3].fill(4),
    "flat": lambda xp, x: x.reshape(4, 2).T.flat.__setitem__(1, 6),
    "from the device": lambda xp, x: x.__setitem__(slice(0, 3), xp.arange(float(MANY))[5:8].astype(x.dtype)),
    "added from the device": lambda xp, x: x[:3].__iadd__(xp.arange(float(MANY))[5:8].astype(x.dtype)),
}


@pytest.mark.parametrize("dtype", ["i8", "f4"])
@pytest.mark.parametrize("name", WRITES)
def test_writes(name: str, dtype: str) -> None:
    tested, reference = (xp.arange(8).astype(dtype) for xp in (np, numpy))
    seen, other = tested[2:6], reference[2:6]
    WRITES[name](np, tested)
    WRITES[name](numpy, reference)
    same(tested, reference)
    same(seen, other)


def _operands() -> list[Any]:
    rng = numpy.random.default_rng(0)
    found: list[Any] = [1, 0, 2, -1, 2.5, True, 3 + 1j, 300, 2**40]
    for dtype in sorted(DTYPES, key=str):
        for shape in ((), (1,), (4,), (2, 3)):
            values = rng.integers(0, 2 if dtype.kind == "b" else 3, shape).astype(dtype)
            found += [values, values.T.copy("F") if shape else values[()]]
    return found


OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "lt", "ge", "eq", "ne", "and_", "or_", "lshift", "pow")
UFUNCS = ("maximum", "arctan2", "logical_and", "fmin", "negative", "sqrt", "invert", "isnan", "reciprocal", "sign")


def _outcome(call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    try:
        with numpy.errstate(all="ignore"):
            return numpy.asarray(np.asnumpy(call(*args)))
    except (TypeError, ValueError, OverflowError) as error:
        return type(error) if type(error) in (ValueError, OverflowError) else TypeError


@pytest.mark.parametrize("name", [*OPERATORS, *UFUNCS])
def test_operations_are_numpys_to_the_bit(name: str) -> None:
    operands = _operands()
    ufunc = getattr(numpy, name, None)
    is_ufunc = name in UFUNCS
    count = ufunc.nin if is_ufunc and ufunc is not None else 2
    arrays = [
        np.asarray(x) if isinstance(x, numpy.ndarray) else np.asarray(x[None])[0] if hasattr(x, "dtype") else x
        for x in operands
    ]
    with numpy.errstate(all="ignore"):
        for args in itertools.product(range(len(operands)), repeat=count):
            if not any(hasattr(operands[k], "dtype") for k in args):
                continue
            calls = (getattr(np, name), ufunc) if is_ufunc else (getattr(operator, name),) * 2
            found = _outcome(calls[0], tuple(arrays[k] for k in args))
            expected = _outcome(calls[1], tuple(operands[k] for k in args))
            if isinstance(expected, type):
                assert found is expected, args
            else:
                assert (found.dtype, found.shape) == (expected.dtype, expected.shape), args
                assert found.tobytes() == expected.tobytes(), args


LINES: dict[str, Callable[[Any, Any], Any]] = {
    "steps": lambda xp, x: x[::2] + x[1::2],
    "backwards": lambda xp, x: x[::-1] * x,
    "one of few": lambda xp, x: x[:6] - x[6:],
    "column": lambda xp, x: x[:8].reshape(4, 2)[:, 1] ** 2,
    "columns": lambda xp, x: x[:8].reshape(4, 2)[:, 1] / x[:8].reshape(4, 2)[:, 0],
    "of a number": lambda xp, x: 3 - x[::3],
    "compared": lambda xp, x: x[::-2] > x[::2],
    "root": lambda xp, x: xp.sqrt(x[::4]),
    "in place": lambda xp, x: x[::2].__iadd__(x[1::2]),
    "in place, backwards": lambda xp, x: x.__isub__(x[::-1]),
    "in place, next to each other": lambda xp, x: x[1:].__imul__(x[:-1]),
    "in place, the same": lambda xp, x: x[::3].__iadd__(x[::3]),
    "in place, of a row": lambda xp, x: x[:8].reshape(4, 2)[:, 0].__itruediv__(x[0]),
    "in place, a power": lambda xp, x: x[1::2].__ipow__(2),
    "in place, shown twice": lambda xp, x: xp.lib.stride_tricks.as_strided(x, (4,), (0,)).__iadd__(1),
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16"])
@pytest.mark.parametrize("name", LINES)
def test_lines_with_strides(name: str, dtype: str) -> None:
    data = (numpy.arange(12) + 1.5).astype(dtype)
    tested, reference = np.asarray(data), data.copy()
    if dtype == "c16" and name == "compared":
        pytest.skip("complex numbers are not ordered by kernels")
    np.host_fallback("ignore")  # elements that are shown twice are written to by NumPy
    found, expected = LINES[name](np, tested), LINES[name](numpy, reference)
    assert np.asnumpy(found).tobytes() == numpy.ascontiguousarray(expected).tobytes()
    assert np.asnumpy(tested).tobytes() == reference.tobytes()


def test_iterators_end() -> None:
    x = np.arange(3)
    elements = iter(x)
    assert [int(element) for element in elements] == [0, 1, 2]
    assert list(elements) == []
    assert [row.tolist() for row in np.arange(4).reshape(2, 2)] == [[0, 1], [2, 3]]
    row = next(iter(y := np.zeros((2, 2))))
    row[:] = 5
    assert y.tolist() == [[5, 5], [0, 0]]
    assert (np.arange(3)[1:].base is not None, [k.residence for k in x]) == (True, ["host"] * 3)


def test_copies_and_pickles_are_on_the_host() -> None:
    x = np.arange(6.0).reshape(2, 3).T
    for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.copy(), np.array(x)):
        same(np.ascontiguousarray(made), numpy.arange(6.0).reshape(2, 3).T.copy())
        assert made.residence == "host"
        made[0, 0] = 9
    assert x[0, 0] == 0
    x.setflags(write=False)
    assert [pickle.loads(pickle.dumps(x, protocol)).flags.writeable for protocol in (4, 5)] == [True, False]
    scalar = pickle.loads(pickle.dumps(x[0, 1]))
    assert (scalar.residence, hash(scalar), type(scalar)) == ("host", hash(3.0), np.ndarray)


@pytest.mark.parametrize("name", ["where", "sum", "zeros", "array", "linalg.norm", "fft.fft", "add"])
def test_functions_are_found_by_their_names(name: str) -> None:
    function = operator.attrgetter(name)(np)
    assert pickle.loads(pickle.dumps(function)) is function
    assert function.__name__ == name.rpartition(".")[2]
    assert function.__doc__
    assert copy.copy(function) is copy.deepcopy(function) is function


def test_errors_that_a_program_asks_for_are_raised() -> None:
    x = np.zeros(2)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        1 / x
    assert (1 / x).residence == "host"


def test_other_words_are_refused() -> None:
    with pytest.raises(ValueError, match="no residence"):
        np.set_residence("host")
    assert np.set_residence("auto") == "auto"


def test_explain_finds_nothing_to_run() -> None:
    np.synchronize()
    x = np.arange(3) + 1
    assert _explained(x).splitlines() == [
        "1 array on the host, computed by NumPy at once",
        f"nothing to run on {x.device}: everything is computed",
    ]
    assert "on the host" not in _explained(np.ones(MANY) + 1)


def test_profiles_count_calls_on_the_host() -> None:
    text, inner = io.StringIO(), io.StringIO()
    a = np.arange(5.0)
    with np.profile(file=text) as profiled:
        b = np.where(a > 2, a, 0) + a
        with np.profile(file=inner) as inside:
            np.sort(b)
        b[1] = b[2]
        b.sum()
    a + b
    assert dict(inside.host_calls) == {"sort": 1}
    names = profiled.host_calls
    assert (names["where"], names["sort"], names["sum"], names["__getitem__"], names["__setitem__"]) == (1, 1, 1, 1, 1)
    assert names.total() == 7
    assert text.getvalue().splitlines()[-1].startswith("7 calls by NumPy on the host, ")


def _explained(x: Any) -> str:
    text = io.StringIO()
    np.explain(x, file=text)
    return text.getvalue()


def _moved() -> tuple[dict[str, Any], Callable[[], None]]:
    """Return arrays on the host, which share memory, and a function that moves them to their device."""
    x = np.arange(6.0)
    arrays = {"x": x, "part": x[1:], "backwards": x[::-1], "bytes": x.view("i4"), "of a class": x.view(_OfClass)}

    def move() -> None:
        np.from_dlpack(x)
        assert [np.asnumpy(array).size for array in arrays.values()] == [6, 5, 6, 12, 6]

    return arrays, move


class _OfClass(np.ndarray):
    """A class whose arrays are made from views."""


def _check_moved(arrays: dict[str, Any], where: str) -> None:
    data = numpy.arange(6.0)
    expected = {"x": data, "part": data[1:], "backwards": data[::-1], "bytes": data.view("i4"), "of a class": data}
    for name, array in arrays.items():
        numpy.testing.assert_array_equal(np.asnumpy(array), expected[name], where)


@pytest.mark.parametrize("looks", [False, True], ids=["exception", "look"])
def test_a_signal_handler_finds_no_half_of_a_move(looks: bool, request: pytest.FixtureRequest) -> None:
    tracer = Tracer()
    tracer.run(_moved()[1])
    assert tracer.count > 50
    most = 100 if request.config.getoption("--suite") == "short" else tracer.count
    for place in sorted(random.Random(1).sample(range(1, tracer.count + 1), min(most, tracer.count))):
        arrays, move = _moved()
        tracer = Tracer(place, interrupt)
        if looks:
            tracer._action = lambda arrays=arrays, tracer=tracer: _check_moved(arrays, tracer.where)
        with contextlib.suppress(Interruption):
            tracer.run(move)
        _check_moved(arrays, tracer.where)
        arrays["part"][0] = 9
        assert arrays["x"][1] == arrays["backwards"][4] == arrays["of a class"][1] == 9
