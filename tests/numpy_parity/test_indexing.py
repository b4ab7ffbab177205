"""Indexing and selection against NumPy: value, dtype, shape, exception, and what a write through a view does."""

from __future__ import annotations

import io
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.numpy_release import RELEASE
from gpunumpy.core.runtime.device import Device
from gpunumpy.functions.manipulation import repeating

from ..support.arrays import from_host, ndarray, to_host

S = slice
SHAPE = (2, 3, 4)
MODEL = numpy.arange(24).reshape(SHAPE)
MASK = MODEL % 3 == 0

BASIC: tuple[Any, ...] = (
    *(0, -1, (0, 1, 2), (1, -1), S(None), S(1, None), S(None, None, -1), S(5, 0, -2), S(0, 0), S(3, 1)),
    *((S(None, None, -1), 1), (Ellipsis, 0), (0, Ellipsis), (None, 1, Ellipsis, None), Ellipsis, (), None),
    *((S(None), S(1, 3), S(None, None, 2)), (0, S(2, None, -1), S(-3, -1)), (numpy.int64(1), numpy.uint8(2))),
)
FANCY: tuple[Any, ...] = (
    *([0, 1], [1, 1, 0], [], [[0], [1]], [-1], ([0, 1], [1, 2], [3, 0]), (S(None), [0, 2]), (0, S(None), [1, 1])),
    *((S(None), [0, 2], [1, 3]), ([0, 1], S(None), [1, 3]), ([[0], [1]], [0, 1, 2]), (Ellipsis, [3, 1, 1])),
    *(([0, 1], None, S(1), [1, 3]), (0, [1, 2]), (S(None), 0, [1, 2]), ([1], Ellipsis, 0), (S(1, None), [2, 0], S(2))),
    *(MASK, MASK[:, :, 0], MASK[:, 0, 0], (S(None), MASK[0]), (S(None), S(None), MASK[0, 0]), (1, MASK[0])),
    *((MASK[:, 0, 0], [1]), MASK & False, True, False, (True, [0, 1]), (S(None), True), (0, False, S(None))),
    *(numpy.array(1), (1, 2, numpy.array(3)), (numpy.array([1, 0], numpy.uint8), 0), numpy.array([0, -1], numpy.int16)),
    *((S(None, None, -1), [1, 0, 2], S(None, None, 3)), (numpy.zeros((0, 3), int),)),
    *(numpy.zeros(0, bool), numpy.zeros((0, 3), bool), (S(None), numpy.zeros(0, bool)), numpy.zeros((0, 0, 4), bool)),
)
WRONG: tuple[Any, ...] = (
    *(2, -3, (0, 3), (0, 0, 0, 0), (Ellipsis, Ellipsis), 1.0, "x", [1.0], numpy.array([1.0]), numpy.array([]), 2**70),
    *([2], (S(None), [0, -4]), ([0, 1], [0, 1, 2]), [True, False, True], numpy.ones((2, 2), bool), S(None, None, 0)),
    *(
        numpy.ones((2, 3, 4, 1), bool),
        (S(None), MASK[:, 0, 0]),
        ([0], 0, 0, 0),
        S(1.0, None),
        (0, [0], [0, 1, 2], [3, 3]),
    ),
)
VALUES: tuple[Any, ...] = (
    *(5, -1.5, True, 3j, 300, float("nan"), numpy.int8(4), numpy.float32(2.5), numpy.complex64(1j), [1, 2, 3, 4], []),
    *(numpy.arange(4), numpy.arange(3)[:, None], numpy.ones((1, 1, 1, 4)), numpy.full((2, 4), 7.0), numpy.arange(8)),
    *(numpy.ones(1), numpy.array(2.5), numpy.arange(24).reshape(SHAPE) * 1j, numpy.zeros((5, 1, 1))),
)


@pytest.fixture(autouse=True)
def _on_the_cpu() -> Any:
    with Device("cpu"), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def to_gpunumpy(x: Any) -> Any:
    """The NumPy arrays in a key or an argument as gpunumpy arrays."""
    if isinstance(x, tuple):
        return tuple(map(to_gpunumpy, x))
    return from_host(x) if isinstance(x, numpy.ndarray) else x


def outcome(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except Exception as error:
        return error


def same(got: Any, want: Any) -> None:
    """Fail where a result differs from NumPy's result."""
    if isinstance(want, Exception):
        assert type(got) is type(want), (got, want)
        assert str(got) == str(want)
        return
    assert not isinstance(got, Exception), got
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            same(one, other)
        return
    if isinstance(got, ndarray):
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        got = to_host(got)
    numpy.testing.assert_array_equal(got, want, strict=isinstance(want, numpy.ndarray))


@pytest.mark.parametrize("key", [*BASIC, *FANCY, *WRONG], ids=repr)
def test_read(key: Any) -> None:
    for dtype in ("i4", "f8", "?", "c8"):
        a = MODEL.astype(dtype)
        want = outcome(lambda a=a: a[key])
        same(outcome(lambda a=a: from_host(a)[key]), want)
        same(outcome(lambda a=a: (from_host(a) + from_host(a))[key]), outcome(lambda a=a: (a + a)[key]))


@pytest.mark.parametrize("key", FANCY, ids=repr)
def test_read_by_arrays_of_ours(key: Any) -> None:
    same(outcome(lambda: from_host(MODEL)[to_gpunumpy(key)]), outcome(lambda: MODEL[key]))


@pytest.mark.parametrize("key", [*BASIC, *FANCY], ids=repr)
def test_read_of_a_view(key: Any) -> None:
    a = numpy.arange(5 * 6 * 4).reshape(4, 6, 5)[::2, 3:, ::-1].transpose(0, 1, 2)[..., :4]
    g = from_host(numpy.arange(5 * 6 * 4).reshape(4, 6, 5))[::2, 3:, ::-1][..., :4]
    same(g[key], a[key])


@pytest.mark.parametrize("key", [*BASIC, *FANCY, *WRONG], ids=repr)
@pytest.mark.parametrize("dtype", ["f8", "i1", "?"])
def test_write(key: Any, dtype: str) -> None:
    element = repr(key) == "(0, 1, 2)" or repr(key) == "(1, 2, array(3))"
    for value in VALUES:
        if element and dtype == "?" and isinstance(value, numpy.ndarray):
            continue  # NumPy takes the truth of the array where it has one
        for translate in (False, True):
            a = MODEL.astype(dtype)
            g = from_host(a)
            with numpy.errstate(invalid="ignore"):
                want = outcome(lambda a=a, value=value: a.__setitem__(key, value))
            got = outcome(
                lambda g=g, value=value, t=translate: g.__setitem__(
                    to_gpunumpy(key) if t else key, to_gpunumpy(value) if t else value
                )
            )
            if isinstance(want, Warning) or not translate:
                same(got, want)
            else:
                assert type(got) is type(want), (got, want, value)
            same(g, a)


def test_an_element_is_a_value_and_a_slice_a_view() -> None:
    g = from_host(numpy.arange(4.0))
    element, part, kept = g[1], g[1:3], g[[1, 2]]
    g[1] = 7
    part[1] = 8
    same(element, numpy.float64(1))
    same(g, numpy.array([0, 7, 8, 3.0]))
    same(part, numpy.array([7, 8.0]))
    same(kept, numpy.array([1.0, 2.0]))
    element[()] = 3  # the array API standard's 0-d results are arrays; NumPy's scalars refuse this
    same(element, numpy.float64(3))
    dotted = g[1, ...]
    dotted[...] = 9
    same(g, numpy.array([0, 9, 8, 3.0]))


def test_overlapping_and_repeated_writes() -> None:
    a, g = numpy.arange(12.0), from_host(numpy.arange(12.0))
    for x in (a, g):
        x[1:] = x[:-1]
        x[::-1] = x + 1
        x[[1, 1, 1]] = [3, 4, 5]
        x[x > 5] *= 2
        x[x > 5] = x[x > 5][::-1]
        x[[0, 2]] += 10
    same(g, a)


def test_writes_through_parts() -> None:
    a = numpy.arange(6) * (1 + 1j)
    g = from_host(a)
    for x in (a, g):
        x.real[1:3] = 9
        x.imag[[0, 0, 4]] = [1, 2, 3]
        x[1::2].real[x.imag[::2] > 1] = -1
    same(g, a)


def test_an_index_out_of_bounds_on_the_device() -> None:
    g = from_host(numpy.arange(3.0))
    with pytest.raises(IndexError, match="out of bounds"):
        to_host(g[from_host(numpy.array([0, 3]))])
    g[from_host(numpy.array([-4]))] = 1
    with pytest.raises(IndexError, match=r"out of bounds.*test_indexing\.py"):
        to_host(g)
    same(g, numpy.arange(3.0))


def test_a_lazy_integer_picks_without_a_look_at_it() -> None:
    g = from_host(numpy.arange(12.0).reshape(3, 4))
    best = gpunumpy.argmax(g[:, 0])
    same(g[best, 1], numpy.float64(9))
    row = g[best]
    row[:] = 0
    same(g[2], numpy.zeros(4))
    g[best, 1] = 5
    same(g[2], numpy.array([0, 5.0, 0, 0]))


A, INDEX = numpy.array([[3, 0, -1], [0, 5, 2]]), numpy.array([[1, 0], [1, 1]])
V = numpy.array([4.0, 0.0, -2.0, 0.5, 7.0])
FUNCTIONS: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...] = (
    *(
        (name, (x,), {})
        for name in ("nonzero", "flatnonzero", "argwhere", "where")
        for x in (A, V, A > 0, A[:0], V * 1j)
    ),
    *(("argwhere", (numpy.array(x),), {}) for x in (0, 3)),
    ("nonzero", (numpy.array(3),), {}),
    *(
        ("take", (A, x), {"axis": axis})
        for x in (1, [0, 1], INDEX, [], INDEX.astype("u1"))
        for axis in (None, 0, 1, -1)
    ),
    *(("take", (A, [5, -7]), {"axis": axis, "mode": mode}) for axis in (None, 1) for mode in ("wrap", "clip", "raise")),
    *(("take", (A, x), {}) for x in (1.5, [1.0], numpy.array([1], "u8"), [True, False])),
    *((("take", (A, 0), {"axis": 2})), ("take", (A, 0), {"mode": "x"})),
    *(("compress", (c, A), {"axis": axis}) for c in ([0, 1], [True], [1, 0, 1], [[1]]) for axis in (None, 0, 1)),
    *(("extract", (c, A), {}) for c in (A > 0, A, [1, 0, 1])),
    *(("take_along_axis", (A, INDEX), {"axis": axis}) for axis in (0, 1, -1, 2)),
    *(("take_along_axis", (A, x), {"axis": None}) for x in (numpy.array([0, 5]), INDEX)),
    *(("take_along_axis", (A, numpy.array(x)), {"axis": 1}) for x in ([[0]], [[0.0]], [0], [[0], [0], [0]])),
    *(
        ("choose", (x, [[1, 2], [3.0, 4], 5]), {"mode": m})
        for x in ([0, 1], [2, 2], [3, -1])
        for m in ("raise", "wrap", "clip")
    ),
    *(("choose", (x, [V]), {}) for x in (0, [[0], [0]], [0.0])),
    *(("select", ([V > 1, V < 0], c), {"default": d}) for c in ([V, 1], [1, 2.5], [V * 1j, V]) for d in (0, 0.5, 1j)),
    *(("select", (c, [1]), {}) for c in ([], [V], [V > 0])),
    *(("diag_indices", (n,), {}) for n in (0, 3)),
    *((name, (3, k, m), {}) for name in ("tril_indices", "triu_indices") for k in (-1, 0, 2) for m in (None, 2, 5)),
    *((name, (A,), {}) for name in ("tril_indices_from", "triu_indices_from", "diag_indices_from")),
    *(("ix_", x, {}) for x in (([0, 1], [2, 1]), ([True, False], [1]), ([], [0]), ([[1]],))),
    *(("unravel_index", (x, (3, 4)), {"order": o}) for x in (5, [1, 11], INDEX, [12]) for o in ("C", "F")),
    *(("ravel_multi_index", (([1, 2], [3, 0]), (3, 4)), {"order": o}) for o in ("C", "F")),
    *(
        ("ravel_multi_index", (([1, 5], [-1, 0]), (3, 4)), {"mode": mode})
        for mode in ("wrap", "clip", "raise", ("clip", "wrap"))
    ),
    *(("diagonal", (A, k), {}) for k in (-2, -1, 0, 1, 5, 0.5, "a")),
    *(("diagonal", (MODEL, 1, *axes), {}) for axes in ((0, 1), (2, 0), (1, -1), (1, 1))),
    ("diagonal", (V,), {}),
)


@pytest.mark.parametrize(("name", "args", "options"), FUNCTIONS, ids=repr)
def test_function(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    want = outcome(lambda: getattr(numpy, name)(*args, **options))
    same(outcome(lambda: getattr(gpunumpy, name)(*args, **options)), want)
    device_checked = isinstance(want, (IndexError, ValueError)) and name == "take"
    if not device_checked and not isinstance(want, (TypeError, IndexError)):
        same(outcome(lambda: getattr(gpunumpy, name)(*map(to_gpunumpy, args), **options)), want)


WRITERS: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...] = (
    *(("place", (m, v), {}) for m in (A > 0, A > 9) for v in ([1, 2], [9], 4, [])),
    *(("putmask", (m, v), {}) for m in (A > 0, A) for v in ([1, 2], A * 10, 4, [])),
    *(("put", (i, v), {"mode": m}) for i in ([0, 4], [1, 1], -1) for v in ([8, 9, 10], 7) for m in ("raise", "clip")),
    ("put", ([], 7), {}),
    *(("put", ([7, -9], [1, 2]), {"mode": m}) for m in ("wrap", "clip", "raise")),
    *(("put_along_axis", (INDEX, v, axis), {}) for v in (9, [[7, 8]]) for axis in (0, 1)),
    ("put_along_axis", (numpy.array([0, 5]), 9, None), {}),
    *(("fill_diagonal", (v,), {"wrap": w}) for v in (9, [7, 8]) for w in (False, True)),
)


@pytest.mark.parametrize(("name", "args", "options"), WRITERS, ids=repr)
def test_writer(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    for model in (A, A.T, numpy.arange(10).reshape(5, 2)):
        a = model.copy()
        g = from_host(a)
        want = outcome(lambda a=a: getattr(numpy, name)(a, *args, **options))
        same(outcome(lambda g=g: getattr(gpunumpy, name)(g, *args, **options)), want)
        same(g, a)


def test_flat() -> None:
    for model in (A, A.T, V, numpy.arange(24).reshape(2, 3, 4)[:, ::2]):
        a = model.copy()
        g = from_host(a)
        for key in (0, -1, slice(1, 4), [0, 2], slice(None, None, -2)):
            same(g.flat[key], a.flat[key])
        assert [float(x) for x in g.flat] == [float(x) for x in a.flat]
        assert len(g.flat) == a.size
        found, wanted = outcome(lambda g=g: g.flat[99]), outcome(lambda a=a: a.flat[99])
        if RELEASE >= "2.4.0":
            same(found, wanted)
        else:  # the message speaks of an axis 0
            assert type(found) is type(wanted)
        for x in (a, g):
            x.flat[1] = 9
            x.flat[2:4] = [5, 6, 7]
            x.flat[::2] = 1
            x.flat[[0, 1]] = 3
        same(g, a)
        for x in (a, g):
            x.flat = [1, 2]
        same(g, a)


# Made by a module; no kernel computes their dtypes.
CAST_BY_NUMPY: dict[str, Callable[[Any], Any]] = {
    "texts": lambda np: np.array(["7", "8"]),
    "a text": lambda np: "5",
    "no number": lambda np: np.array(["7", "x"]),
    "dates": lambda np: np.array(["1970-01-05"], "M8[D]"),
    "objects": lambda np: np.array([3, 2.5, "1"], object),
    "nothing": lambda np: np.array(None),
}


@pytest.mark.parametrize("dtype", ["f8", "i4", "?", "c8"])
@pytest.mark.parametrize("make", CAST_BY_NUMPY.values(), ids=CAST_BY_NUMPY)
@pytest.mark.parametrize("residence", ["auto", "device"])
def test_what_numpy_casts_is_written_to_flat(residence: str, make: Callable[[Any], Any], dtype: str) -> None:
    gpunumpy.set_residence(residence)
    for key in (2, S(1, 4), [0, 3], Ellipsis):
        for part in (S(None), (S(None), S(None, None, 2))):
            results = []
            for np in (numpy, gpunumpy):
                x = np.zeros((2, 4), dtype)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    error = outcome(lambda np=np, x=x, key=key, part=part: x[part].flat.__setitem__(key, make(np)))
                results.append((type(error), repr(x.tolist())))
            assert results[1] == results[0], (key, part)


COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)


@pytest.mark.parametrize("dtype", ["f8", "U3", "M8[D]", "i4,f8"])
@pytest.mark.parametrize("residence", ["auto", "device"])
def test_flat_is_the_same_on_the_host(residence: str, dtype: str) -> None:
    """An iterator of this package over arrays of it, wherever the elements are."""
    gpunumpy.set_residence(residence)
    outcomes = []
    for np in (numpy, gpunumpy):
        a = np.asarray(numpy.arange(6).reshape(2, 3).T.astype(dtype))
        f = a.flat
        assert f.base is a
        assert isinstance(f, np.flatiter)
        assert all(type(part) is np.ndarray for part in (f[1:3], f[[0, 2]], f[np.array([3, 4])], f.copy()))
        seen = [(f.index, f.coords, str(x)) for x in f]
        with pytest.raises(StopIteration):
            next(f)
        compared = [compare(f, a[1, 1]).tolist() for compare in COMPARISONS[: 2 if "," in dtype else None]]
        with pytest.raises(TypeError, match="unhashable"):
            hash(f)
        f[1] = a[0, 0]
        f[3:5] = a[:1, 0]
        outcomes.append((seen, compared, a.tolist(), [str(x) for x in a.flat]))
        row = a[0].flat
        next(row)
        row[1:] = a[2, 1]
        outcomes[-1] += (str(next(row)), a.tolist())
    assert outcomes[1] == outcomes[0]


def test_item_tolist_fill_iteration() -> None:
    a, g = A.copy(), from_host(A)
    for args in ((4,), (1, 1), ((0, 2),), (-1,), (), (9,), (2, 0), (0, 0, 0)):
        want = outcome(lambda args=args: a.item(*args))
        got = outcome(lambda args=args: g.item(*args))
        assert type(got) is type(want), args
        assert isinstance(want, Exception) or got == want
    assert g.tolist() == a.tolist()
    assert [row.tolist() for row in g] == a.tolist()
    for x in (a, g):
        x.fill(3)
        for row in x:
            row[0] = 8
    same(g, a)
    assert type(outcome(lambda: g.fill(1j))) is type(outcome(lambda: a.fill(1j)))
    with pytest.raises(ValueError, match="read-only"):
        gpunumpy.diagonal(g)[0] = 1


@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("index", [[2, 0, -1], [[1], [1]], [3], []], ids=str)
def test_whole_rows_are_picked_by_an_index(index: list[Any], step: int) -> None:
    """Runs of elements, alone and with what else the kernel does; of all rows, of a part of each, and of none."""
    base = numpy.arange(4 * 5 * 40.0).reshape(4, 5, 40)
    results = []
    for np in (numpy, gpunumpy):
        x, k = np.asarray(base)[:, :, ::step], np.asarray(numpy.array(index, numpy.int64))
        results.append([x[k] + 1, x[k].sum(axis=0), x[:, k] * x[:, 1:2] if k.ndim == 1 else x[k, k], x[k, 0][..., 3:]])
    for reference, tested in zip(*results, strict=True):
        numpy.testing.assert_array_equal(numpy.asarray(tested), reference, strict=True)


@pytest.mark.on_device
def test_a_row_out_of_bounds_is_reported() -> None:
    x = gpunumpy.ones((4, 40))
    result = x[gpunumpy.asarray([1, 4])] + 1
    with pytest.raises(IndexError, match="out of bounds"):
        numpy.asarray(result)


@pytest.mark.parametrize("as_array", [True, False])
@pytest.mark.parametrize(
    "key", [lambda i: (None, 0, 0, i), lambda i: i, lambda i: (i, S(None)), lambda i: (Ellipsis, i)]
)
def test_a_zero_dimensional_index_copies_and_a_scalar_gives_a_view(key: Callable[[Any], Any], as_array: bool) -> None:
    sums = []
    for xp in (numpy, gpunumpy):
        a = xp.arange(4).reshape(4, 1, 1)
        part = a[key(xp.asarray(0) if as_array else xp.arange(3)[0])]
        part[...] = 100
        sums.append((part.shape, int(a.sum())))
    assert sums[0] == sums[1]


def test_an_element_with_an_ellipsis_is_an_array() -> None:
    for key in ((Ellipsis, 0), (0, Ellipsis), (Ellipsis, numpy.array(0)), (Ellipsis, numpy.int64(0))):
        for xp in (numpy, gpunumpy):
            part = xp.arange(3)[key]
            part[...] = 7  # which a scalar would refuse
            assert int(part) == 7


@pytest.mark.on_device
@pytest.mark.parametrize("outside", [12, -1, 1 << 40])
def test_positions_on_the_device_are_checked(outside: int) -> None:
    for order in ("C", "F"):
        inside = gpunumpy.unravel_index(gpunumpy.asarray([0, 7, 11]), (3, 4), order)
        for one, other in zip(inside, numpy.unravel_index([0, 7, 11], (3, 4), order), strict=True):
            numpy.testing.assert_array_equal(gpunumpy.asnumpy(one), other)
        with pytest.raises(IndexError, match=r"out of bounds.*test_indexing"):
            gpunumpy.asnumpy(gpunumpy.unravel_index(gpunumpy.asarray([0, outside]), (3, 4), order)[0])
        index = gpunumpy.asarray([1, 2])
        with pytest.raises(ValueError, match="invalid entry in coordinates array"):
            gpunumpy.ravel_multi_index((index, gpunumpy.asarray([3, outside])), (3, 4), order=order)


POSITIONS = [numpy.zeros(shape, dtype) for shape in ((), (1,), (0,), (0, 2)) for dtype in ("?", "i4", "u8", "f8")]
SHAPES = ((3, 3), [3, 3], (3, 0), (), (-1, 3), 3, 0, (2**40, 2**40), (1.5,), None, "ab", (numpy.int64(3),))


@pytest.mark.parametrize("order", ["C", "F", "A", "x", None])
@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_unravel_index_refuses_at_once_what_dtype_and_shape_decide(shape: Any, order: Any) -> None:
    for positions in POSITIONS:
        outcomes: list[Any] = []
        for xp in (gpunumpy, numpy):
            try:
                outcomes.append(xp.unravel_index(xp.asarray(positions), shape, order))
            except (TypeError, ValueError) as error:
                outcomes.append((type(error), str(error)))
        found, expected = outcomes
        if expected and isinstance(expected[0], type):
            assert found == expected
        else:
            assert [(x.dtype, x.tolist()) for x in found] == [(x.dtype, x.tolist()) for x in expected]


# A shape, index arrays, and a use of them in which no element is read or written.
UNREAD: tuple[tuple[tuple[int, ...], tuple[Any, ...], Callable[..., Any]], ...] = (
    ((2, 0), ([5],), lambda xp, a, i: a[i]),
    ((2, 0), ([1, -2],), lambda xp, a, i: a[i]),
    ((2, 0), ([5],), lambda xp, a, i: a[i, 1:]),
    ((2, 0), (5,), lambda xp, a, i: a[i]),
    ((2, 3, 0), ([1], [-4]), lambda xp, a, i, j: a[i, j]),
    ((2, 3), ([5], []), lambda xp, a, i, j: a[i, j]),
    ((2, 3), ([], [5]), lambda xp, a, i, j: a[i, j]),
    ((0, 2), ([5],), lambda xp, a, i: a[:, i]),
    ((0, 2), ([1],), lambda xp, a, i: a[:, i]),
    ((0,), ([0],), lambda xp, a, i: a[i]),
    ((0,), ([],), lambda xp, a, i: a[i]),
    ((2, 0), ([5],), lambda xp, a, i: xp.take(a, i, 0)),
    ((2, 0), ([[1, 0]],), lambda xp, a, i: xp.take(a, i, 0)),
    ((2, 0), ([5],), lambda xp, a, i: xp.take(a, i, 0, mode="wrap")),
    ((0, 2), ([5],), lambda xp, a, i: xp.take(a, i, 1)),
    ((2, 0, 0), ([0],), lambda xp, a, i: xp.take(a, i, 1)),
    ((0,), ([0],), lambda xp, a, i: xp.take(a, i)),
    ((2, 0), ([[5]],), lambda xp, a, i: xp.take_along_axis(a, i, 0)),
    ((2, 0), ([5],), lambda xp, a, i: a.__setitem__(i, 1)),
    ((2, 0), ([1],), lambda xp, a, i: a.__setitem__(i, 1)),
    ((0, 2), ([5],), lambda xp, a, i: a.__setitem__((slice(None), i), 1)),
    ((0,), ([0],), lambda xp, a, i: a.__setitem__(i, 1)),
    ((2, 3), ([5], []), lambda xp, a, i, j: a.__setitem__((i, j), 1)),
    ((2, 0), ([5],), lambda xp, a, i: xp.add.at(a, i, 1)),
    ((2, 0), ([1],), lambda xp, a, i: xp.add.at(a, i, 1)),
    ((0,), ([0],), lambda xp, a, i: xp.add.at(a, i, 1)),
    ((2, 0), ([[5]],), lambda xp, a, i: xp.put_along_axis(a, i, 1.0, 0)),
    ((0,), ([0],), lambda xp, a, i: xp.put(a, i, 1.0)),
)


@pytest.mark.parametrize("on_device", [True, False])
@pytest.mark.parametrize("case", range(len(UNREAD)))
def test_bounds_where_no_element_is_read_or_written(case: int, on_device: bool) -> None:
    shape, indices, use = UNREAD[case]

    def found(xp: Any) -> Any:
        a = xp.zeros(shape)
        given = xp if on_device else numpy
        result = use(xp, a, *(given.asarray(index, dtype=int) for index in indices))
        # What is out of bounds may only come out where the host looks.
        return [gpunumpy.asnumpy(part) if xp is gpunumpy else part for part in (a, result) if part is not None]

    try:
        expected = found(numpy)
    except IndexError:
        with pytest.raises(IndexError, match=r"out of bounds|empty axes|empty array"):
            found(gpunumpy)
        return
    for tested, reference in zip(found(gpunumpy), expected, strict=True):
        same(tested, reference)


NUMBERS = (True, 0, -2, 200, 2**31, 2**60, 2**63, 10**400, 1.0, -0.0, 2.5, 1e300, float("nan"), float("inf"), 1j)


@pytest.mark.on_device
@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "c16"])
def test_numbers_are_written_as_numpy_converts_them(dtype: str) -> None:
    """The compiled core writes some of them by itself."""
    keys = (3, slice(1, 4), slice(None), Ellipsis, slice(2, 2))
    for value, key in ((value, key) for value in NUMBERS for key in keys):
        expected = numpy.arange(6).astype(dtype)
        x = from_host(expected)
        errors = []
        for array in (x, expected):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    array[key] = value
                    errors.append(None)
                except (TypeError, ValueError, OverflowError) as error:
                    errors.append(type(error))
        assert errors[0] == errors[1], (value, key)
        numpy.testing.assert_array_equal(to_host(x), expected, str((value, key)))


@pytest.mark.on_device
def test_a_mask_is_counted_once() -> None:
    expected = numpy.arange(10_000.0)
    x, y = from_host(expected), from_host(-expected)
    counts: list[Any] = []
    with gpunumpy.profile(file=io.StringIO()) as profile:
        mask = x % 3 == 0
        parts = [x[mask], y[mask], x[mask] + 1]
        counts += [part.size for part in parts]
    assert counts == [3334] * 3
    assert [record.count for record in profile.records if "mask_offsets" in record.name] == [1]
    numpy.testing.assert_array_equal(to_host(parts[1]), -expected[expected % 3 == 0])


@pytest.mark.on_device
def test_a_mask_that_changes_is_counted_again() -> None:
    expected = numpy.arange(10.0)
    x = from_host(expected)
    mask, host_mask = x > 4, expected > 4
    assert x[mask].size == 5
    mask[0] = host_mask[0] = True
    numpy.testing.assert_array_equal(to_host(x[mask]), expected[host_mask])
    mask |= x == 2
    numpy.testing.assert_array_equal(to_host(x[mask]), [0, 2, 5, 6, 7, 8, 9])
    part = mask[:5]
    assert x[:5][part].size == 2
    mask[1] = True
    assert x[:5][part].size == 3
    del mask, part
    for size in range(1, 5):  # a new mask may be where the one before was
        assert x[:size][x[:size] >= 0].size == size


@pytest.mark.on_device
def test_a_mask_that_another_library_writes_is_counted_again() -> None:
    x = from_host(numpy.arange(4.0))
    mask = x > 1
    other = numpy.from_dlpack(mask) if mask.device == "cpu" else None
    if other is None:
        pytest.skip("NumPy sees no memory of a GPU")
    assert x[mask].size == 2
    other[:] = True
    assert x[mask].size == 4


@pytest.mark.on_device
def test_rolls_are_recorded_from_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = numpy.arange(12.0).reshape(3, 4)
    x = from_host(expected)
    for _ in range(2):  # kept once it is asked for again
        to_host(gpunumpy.roll(x + 1, 1, 1))
    monkeypatch.setattr(repeating, "_shift_of_axis", None)  # what a roll that was not recorded before would call
    numpy.testing.assert_array_equal(to_host(gpunumpy.roll(x + 1, 1, 1)), numpy.roll(expected + 1, 1, 1))


@pytest.mark.parametrize("dtype", ["f8", "i4", "c16", "?"])
@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("has_ellipsis", [False, True], ids=["element", "ellipsis"])
@pytest.mark.parametrize("of_arrays", [False, True], ids=["integers", "arrays"])
def test_an_array_with_dimensions_into_one_element(dtype: str, count: int, has_ellipsis: bool, of_arrays: bool) -> None:
    outcomes = []
    for xp in (numpy, gpunumpy):
        x = xp.zeros((2, 2), dtype)
        key: tuple[Any, ...] = (xp.array(0), xp.array(1)) if of_arrays else (0, 1)
        try:
            x[(*key, ...) if has_ellipsis else key] = xp.ones(count, dtype)
        except (TypeError, ValueError) as error:
            outcomes.append(type(error))
        else:
            outcomes.append(x.tolist())
    assert outcomes[1] == outcomes[0]


class Held:
    """What has an array, of NumPy or of this package."""

    calls = 0

    def __init__(self, np: Any, values: Any) -> None:
        self.array = np.asarray(values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        Held.calls += 1
        return self.array if dtype is None else self.array.astype(dtype)


HELD_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "index": lambda np, x: x[Held(np, [0, 2])],
    "mask": lambda np, x: x[Held(np, [True, False, True])],
    "two": lambda np, x: x.reshape(3, 1)[Held(np, [2, 1]), Held(np, [0, 0])],
    "set": lambda np, x: x.__setitem__(Held(np, [1]), 7),
    "take": lambda np, x: np.take(x, Held(np, [0, 1])),
    "put": lambda np, x: np.put(x, Held(np, [0]), Held(np, [5])),
    "delete": lambda np, x: np.delete(x, Held(np, [1, 2])),
    "delete one": lambda np, x: np.delete(x, Held(np, 1)),
    "delete by mask": lambda np, x: np.delete(x, Held(np, [True, False, True])),
    "insert": lambda np, x: np.insert(x, Held(np, [1, 2]), 5),
    "insert one": lambda np, x: np.insert(x, Held(np, 1), 5),
    "add.at": lambda np, x: np.add.at(x, Held(np, [0, 1]), 1),
    "polyval": lambda np, x: np.polyval(Held(np, [1, 2, 3]), 2),
}


@pytest.mark.parametrize("call", HELD_CALLS)
def test_objects_that_give_arrays(call: str) -> None:
    tested, reference = gpunumpy.arange(3), numpy.arange(3)
    found, expected = HELD_CALLS[call](gpunumpy, tested), HELD_CALLS[call](numpy, reference)
    numpy.testing.assert_array_equal(gpunumpy.asnumpy(tested), reference)
    if expected is not None:
        numpy.testing.assert_array_equal(gpunumpy.asnumpy(found), expected)
