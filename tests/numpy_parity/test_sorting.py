"""Sorting and partitions against NumPy's stable sorts."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.numpy_release import RELEASE

from ..support.arrays import from_host, has_rough_halves, ndarray, to_host
from .parity import outcome

pytestmark = pytest.mark.usefixtures("nothing_runs_on_the_host")

DTYPES = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", ml_dtypes.bfloat16, "f4", "f8", "c8", "c16")
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (9,), (300,), (4, 7), (3, 1, 20), (0,), (3, 0), (0, 3), (5, 1))
VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda x: x,
    "transposed": lambda x: x.T,
    "strided": lambda x: x[::-1, 1::2],
    "in another order": lambda x: x.transpose(2, 0, 1),
    "broadcast": lambda x: x[:, :1, :1] + x[:1, :, :1],
}


def sample(dtype: Any, shape: tuple[int, ...], seed: int = 0) -> Any:
    """Elements with many equal ones, zeros of both signs, infinities and NaN of several kinds."""
    rng = numpy.random.default_rng([seed, *shape])
    dtype = numpy.dtype(dtype)
    if dtype.kind in "bui":
        info = numpy.iinfo(dtype) if dtype.kind != "b" else None
        ends = [] if info is None else [info.min, info.max]
        pool = numpy.array([0, 1, *([] if info is None else [2, 3, 100]), *ends], dtype)
        return rng.choice(pool, shape)
    parts = rng.choice([0.0, -0.0, 1, -1, 2.5, 1000, -1000, numpy.inf, -numpy.inf, numpy.nan, -numpy.nan], (2, *shape))
    if dtype.kind != "c":
        return parts[0].astype(dtype)
    made = numpy.empty(shape, dtype)
    made.real, made.imag = parts
    return made


def by_numpy(name: str, data: Any, *args: Any, **options: Any) -> Any:
    """What NumPy's function gives; for bfloat16, of which it does not sort NaN last, by way of float32."""
    if data.dtype != ml_dtypes.bfloat16:
        return getattr(numpy, name)(data, *args, **options)
    result = getattr(numpy, name)(data.astype("f4"), *args, **options)
    return result.astype(data.dtype) if result.dtype == "f4" else result


def equal(found: Any, reference: Any, what: Any = "") -> None:
    """The same values, where NaN is the same as NaN, which NumPy only knows of types of its own."""
    found, reference = (x.astype(numpy.float32) if x.dtype.kind == "V" else x for x in (found, reference))
    numpy.testing.assert_array_equal(found, reference, str(what))


def same(found: Any, reference: Any, what: Any = "") -> None:
    """The same bits, shape, dtype and strides, or an exception of the same kind."""
    if isinstance(reference, Exception):
        assert type(found) is type(reference), (what, found, reference)
        return
    assert not isinstance(found, Exception), (what, found)
    assert (found is None) == (reference is None), what
    if reference is None:
        return
    host, reference = to_host(found), numpy.asarray(reference)
    assert isinstance(found, ndarray)
    assert (host.dtype, host.shape) == (reference.dtype, reference.shape), what
    equal(host, reference, what)
    if host.dtype.kind in "fV":
        assert numpy.signbit(host[host == 0]).tolist() == numpy.signbit(reference[reference == 0]).tolist(), what
    assert not reference.size or found.strides == reference.strides, what


def both(name: str, data: Any, *args: Any, **options: Any) -> None:
    """The function over a gpunumpy array and over a NumPy array."""
    reference = outcome(lambda: by_numpy(name, data, *args, **options))
    same(outcome(lambda: getattr(np, name)(from_host(data), *args, **options)), reference, (name, data.dtype, args))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_shapes_and_axes(name: str, dtype: Any) -> None:
    for shape in SHAPES:
        data = sample(dtype, shape)
        for axis in (None, *range(-len(shape), len(shape) + 1)):
            both(name, data, axis, "stable")


# Long rows: of numbers that differ in a few lower bits alone, of all numbers of a dtype, and of few of them.
LONG_ROWS: dict[str, Callable[[Any], Any]] = {
    "close floats": lambda rng: 1 + 2.0**-52 * rng.permutation(5000),
    "close negative floats and others": lambda rng: numpy.append(-1 - 2.0**-52 * rng.integers(0, 99, 5000), [-2, 9e99]),
    "floats of all sizes": lambda rng: rng.standard_normal(5000) * 10.0 ** rng.integers(-300, 300, 5000),
    "short floats": lambda rng: rng.standard_normal(5000).astype("f4"),
    "equal short floats": lambda rng: sample("f4", (5000,)),
    "ascending floats": lambda rng: numpy.sort(sample("f8", (5000,))),
    "all integers": lambda rng: rng.integers(-(2**63), 2**63, 5000),
    "close integers and others": lambda rng: numpy.append(rng.integers(2**62, 2**62 + 99, 5000), [-(2**63), 5]),
    "all unsigned integers": lambda rng: rng.integers(0, 2**64, 5000, "u8"),
    "all short integers": lambda rng: rng.integers(-(2**31), 2**31, 5000, "i4"),
    "few short integers": lambda rng: rng.integers(-50, 50, 5000, "i4"),
    "few unsigned integers": lambda rng: rng.integers(2**64 - 50, 2**64 - 1, 5000, "u8"),
}


@pytest.mark.parametrize("row", LONG_ROWS.values(), ids=LONG_ROWS)
def test_positions_of_long_rows(row: Callable[[Any], Any]) -> None:
    data = row(numpy.random.default_rng(2))
    for values in (data, data[::-3], data[:4990].reshape(10, -1), data[:4990].reshape(-1, 10).T):
        both("argsort", values, -1, "stable")
        both("argsort", values, 0, "stable")


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_views(name: str, view: Callable[[Any], Any]) -> None:
    for dtype in ("i4", "f2", "f8", "c8"):
        data = numpy.random.default_rng(1).integers(-9, 9, (4, 6, 5)).astype(dtype)
        for axis in (None, 0, 1, 2):
            reference = getattr(numpy, name)(view(data), axis, kind="stable")
            same(getattr(np, name)(view(from_host(data)), axis), reference, (dtype, axis))


def backwards(data: Any) -> Any:
    """The positions of a stable sort in descending order, NaN last, by Python's own sort."""
    keys = numpy.empty(data.size, numpy.int64)  # the rank of every element, equal ones having equal ranks
    order = by_numpy("argsort", data, kind="stable")
    ordered = data[order]
    keys[order] = numpy.cumsum([0, *(ordered[1:] != ordered[:-1])][: data.size])
    keys[numpy.isnan(data)] = -1
    return numpy.array(sorted(range(data.size), key=lambda k: -keys[k]), numpy.int64)


@pytest.mark.parametrize("dtype", DTYPES[:-2], ids=str)
def test_descending(dtype: Any) -> None:
    for n in (1, 2, 9, 300):
        data = sample(dtype, (n,))
        order = backwards(data)
        for stable in (None, True, False):
            same(np.argsort(from_host(data), stable=stable, descending=True), order)
            same(np.sort(from_host(data), stable=stable, descending=True), data[order])
    data = sample(dtype, (5, 6))
    tested = from_host(data)
    expected = numpy.stack([column[backwards(column)] for column in data.T], 1)
    same(np.sort(tested, axis=0, descending=True), expected)
    tested.sort(axis=0, descending=True)
    same(tested, expected)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_descending_complex(dtype: Any) -> None:
    data = sample(dtype, (200,), 1)
    found = np.argsort(from_host(data), descending=True)
    # Numbers without NaN come first, then those with NaN by the parts that have it; each kind by its other parts.
    parts = numpy.stack([data.real, data.imag])
    keys = numpy.concatenate([numpy.isnan(parts), numpy.where(numpy.isnan(parts), 0, -parts)])
    order = numpy.lexsort(keys[::-1])
    numpy.testing.assert_array_equal(to_host(found), order)
    numpy.testing.assert_array_equal(to_host(np.sort(from_host(data), descending=True)), data[order])


@pytest.mark.skipif(RELEASE < "2.5.0", reason="NumPy sorts in descending order from 2.5 on")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_descending_beside_numpy(name: str, dtype: Any) -> None:
    for shape in SHAPES:
        data = sample(dtype, shape)
        for axis in (None, *range(-len(shape), len(shape))):
            both(name, data, axis, stable=True, descending=True)
    data = sample(dtype, (5, 6))
    if data.dtype != ml_dtypes.bfloat16:
        tested = from_host(data)
        data.sort(axis=0, descending=True)
        tested.sort(axis=0, descending=True)
        same(tested, data)


@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_descending_excludes_a_kind(name: str) -> None:
    for descending in (True, False):
        with pytest.raises(ValueError, match="at the same time"):
            getattr(np, name)(from_host(sample("f4", (7,))), kind="stable", descending=descending)
    data = sample("f4", (7,))
    same(getattr(np, name)(from_host(data), kind="stable", descending=None), by_numpy(name, data, kind="stable"))


OPTIONS: tuple[dict[str, Any], ...] = (
    *({"kind": kind} for kind in ("quicksort", "mergesort", "heapsort", "stable", "Q", "", "zz", 3)),
    *({"kind": "stable", "stable": stable} for stable in (True, False, None)),
    *({"stable": stable} for stable in (True, False, 1)),
    *({"order": order} for order in ("x", [], ["x", "y"])),
    *({"axis": axis} for axis in (1.0, (0,), "0", numpy.int8(0), 5)),
)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_options(name: str, options: dict[str, Any]) -> None:
    if name == "argsort" and options.get("kind") == "heapsort" and RELEASE < "2.4.0":
        pytest.skip("NumPy has a sort for this kind before 2.4, which leaves equal numbers in another order")
    both(name, sample("i4", (7,)), **options)
    reference, tested = sample("i4", (7,)), from_host(sample("i4", (7,)))
    expected = outcome(lambda: getattr(reference, name)(**options))
    same(outcome(lambda: getattr(tested, name)(**options)), expected)
    same(tested, reference)


@pytest.mark.parametrize("name", ["sort", "argsort", "partition", "argpartition", "lexsort", "sort_complex"])
def test_numpy_functions_take_gpunumpy_arrays_and_gpunumpy_functions_take_lists(name: str) -> None:
    args = (1,) if "partition" in name else ()
    data = [[3, 1, 2], [9, 8, 8]]
    reference = getattr(numpy, name)(data, *args)
    found = [getattr(module, name)(np.asarray(data), *args) for module in (np, numpy)]
    for tested in (*found, getattr(np, name)(data, *args)):
        assert isinstance(tested, ndarray)
        if "arg" in name or name == "partition":
            tested, reference = np.sort(tested), numpy.sort(reference)
        same(tested, reference)


IN_PLACE: dict[str, Callable[[Any], Any]] = {
    "last axis": lambda x: x.sort(),
    "first axis": lambda x: x.sort(0),
    "rows of a view": lambda x: x[1:, ::2].sort(1),
    "column": lambda x: x[:, 1].sort(),
    "reversed": lambda x: x[::-1].sort(axis=0),
    "transposed": lambda x: x.T.sort(axis=-2),
    "all of it": lambda x: x.reshape(-1).sort(),
    "None": lambda x: x.sort(axis=None),
    "no such axis": lambda x: x.sort(axis=2),
    "a number": lambda x: x[0, 0].sort(),
    "empty": lambda x: x[:0].sort(0),
    "partition of a view": lambda x: x[1].partition(range(6)),
}


@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "c16"], ids=str)
@pytest.mark.parametrize("write", IN_PLACE.values(), ids=IN_PLACE)
def test_in_place(write: Callable[[Any], Any], dtype: Any) -> None:
    reference = sample(dtype, (5, 6), 2)
    tested = from_host(reference)
    pending = tested == tested
    alias = tested[:]
    expected = outcome(lambda: write(reference))
    if expected is not None:
        same(outcome(lambda: write(tested)), expected)
    else:
        assert write(tested) is None
    equal(to_host(tested), reference)
    equal(to_host(alias), reference)
    numpy.testing.assert_array_equal(to_host(pending), sample(dtype, (5, 6), 2) == sample(dtype, (5, 6), 2))


@pytest.mark.parametrize("part", ["real", "imag"])
def test_parts_of_complex_arrays_are_sorted_in_place(part: str) -> None:
    reference = sample("c8", (20,), 3)
    tested = from_host(reference)
    getattr(tested, part).sort()
    getattr(reference, part).sort()
    numpy.testing.assert_array_equal(to_host(tested), reference)


@pytest.mark.parametrize("name", ["sort", "partition"])
def test_read_only_arrays(name: str) -> None:
    reference = sample("f8", (5,))
    reference.flags.writeable = False
    tested = from_host(reference)
    tested.flags.writeable = False
    args = (1,) if name == "partition" else ()
    same(outcome(lambda: getattr(tested, name)(*args)), outcome(lambda: getattr(reference, name)(*args)))
    same(getattr(np, name)(tested, *args), numpy.sort(reference))


def test_what_was_read_before_keeps_its_value() -> None:
    a = np.asarray([3.0, 1, 2])
    double = a * 2
    a.sort()
    a += 1
    assert double.tolist() == [6, 2, 4]
    assert a.tolist() == [2, 3, 4]


def test_a_result_is_an_array_of_its_own() -> None:
    for n in (0, 1, 3):
        a = np.arange(float(n))
        ordered = np.sort(a)
        ordered += 1
        assert a.tolist() == list(range(n))


KTH: tuple[Any, ...] = (0, 3, -1, -7, 7, -8, [1, 5], [], [0, 9], 1.0, True, [[1]], "x", None, numpy.uint8(2))


@pytest.mark.parametrize("kth", KTH, ids=str)
@pytest.mark.parametrize("dtype", ["i4", "f4", "c8"])
def test_partitions(kth: Any, dtype: str) -> None:
    data = sample(dtype, (3, 7), 4)
    tested = from_host(data)
    for axis in (-1, None, 0):
        expected = outcome(lambda: numpy.partition(data, kth, axis))  # noqa: B023
        for name in ("partition", "argpartition"):
            found = outcome(lambda: getattr(np, name)(tested, kth, axis))  # noqa: B023
            if isinstance(expected, Exception):
                same(found, expected)
                continue
            if name == "argpartition":
                every = numpy.argsort(data, axis, kind="stable")  # sorted, these are the numbers of all elements
                same(np.sort(found, 0 if axis is None else axis), numpy.sort(every, 0 if axis is None else axis))
                found = np.take_along_axis(tested, found, axis)
            places = numpy.asarray(kth).reshape(-1).astype(int)
            numpy.testing.assert_array_equal(
                to_host(found).take(places, axis or 0), expected.take(places, axis or 0), str(axis)
            )


def test_what_partitions_say_of_positions() -> None:
    for kth in (7, -8, 1.0, True, numpy.array([[1]])):
        with pytest.raises((ValueError, TypeError)) as reference:
            numpy.partition(numpy.ones(7), kth)
        with pytest.raises(reference.type) as found:
            np.partition(np.ones(7), kth)
        assert str(found.value) == str(reference.value)


def test_options_of_partitions() -> None:
    for shape, options in itertools.product(
        ((), (3,), (0, 3), (1,)),
        ({}, {"kind": "introselect"}, {"kind": "heapsort"}, {"kind": 3}, {"order": "x"}, {"axis": 2}, {"axis": None}),
    ):
        data = numpy.ones(shape)
        for name, kth in itertools.product(("partition", "argpartition"), (0, 5)):
            both(name, data, kth, **options)
    same(np.partition(np.arange(3), np.asarray([1])), numpy.arange(3))


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", ml_dtypes.bfloat16, "f4", "f8", "c8", "c16"], ids=str)
def test_lexsort(dtype: Any) -> None:
    for shape in ((6,), (50,), (3, 40), (2, 3, 4), (0,), (0, 3), (1,), ()):
        keys = [sample(dtype, shape, seed) for seed in range(3)]
        for count, axis in itertools.product((1, 2, 3), (-1, 0, len(shape))):
            stacked = numpy.array(keys[:count])
            expected = outcome(lambda: by_numpy("lexsort", stacked, axis))  # noqa: B023
            same(outcome(lambda: np.lexsort([from_host(k) for k in keys[:count]], axis)), expected)  # noqa: B023
            same(outcome(lambda: np.lexsort(from_host(stacked), axis)), expected)  # noqa: B023


def test_keys_of_several_kinds() -> None:
    keys = [sample(d, (4, 30), 7) for d in ("f4", "i2", "c8", "?")]
    same(np.lexsort([from_host(k) for k in keys], 1), numpy.lexsort(keys, 1))
    same(np.lexsort([keys[0], from_host(keys[1]).T.copy().T]), numpy.lexsort(keys[:2]))


@pytest.mark.parametrize("keys", [[], (), None, 5, numpy.array(3), [[1, 2], [1]], {}, numpy.zeros((0, 3))], ids=str)
def test_keys_that_are_refused(keys: Any) -> None:
    reference = outcome(lambda: numpy.lexsort(keys))
    found = outcome(lambda: np.lexsort(from_host(keys) if isinstance(keys, numpy.ndarray) else keys))
    assert isinstance(reference, Exception)
    assert type(found) is type(reference)
    assert str(found) == str(reference)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sort_complex(dtype: Any) -> None:
    if numpy.dtype(dtype) == numpy.float16 and has_rough_halves():
        pytest.skip("NumPy's own comparison of float16 raises flags for nothing")
    for shape in ((), (1,), (40,), (3, 4), (0,)):
        data = sample(dtype, shape, 5)
        expected = outcome(lambda: by_numpy("sort_complex", data))  # noqa: B023
        found = outcome(lambda: np.sort_complex(from_host(data)))  # noqa: B023
        if isinstance(expected, Exception):
            same(found, expected)
        else:
            assert found.dtype == expected.dtype
            equal(to_host(found), expected)


def test_sorts_of_what_is_pending() -> None:
    data = numpy.random.default_rng(0).integers(-9, 9, (6, 7)) / 2
    tested = from_host(data)
    same(np.sort(tested * 2 + 1)[::-1], numpy.sort(data * 2 + 1, kind="stable")[::-1])
    same(np.sort(tested.T + 1, axis=0).sum(0), numpy.sort(data.T + 1, axis=0).sum(0))
    same(np.argsort(np.zeros(5)), numpy.arange(5))
