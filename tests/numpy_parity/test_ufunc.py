"""Ufuncs: calls, outputs, masks, casting, and the methods of binary ones."""

from __future__ import annotations

import operator
import pickle
import random
from functools import partial
from typing import Any, cast

import numpy
import pytest
from ml_dtypes import bfloat16

import gpunumpy
from gpunumpy.core.graph.layout import Layout
from gpunumpy.functions.ufuncs.ufunc import UFUNCS

from ..support.arrays import from_host, make_view, ndarray, to_host
from .parity import DTYPES, check, folds, generated, on_host, outcome, same, sample, to_gpunumpy

UNIQUE = {function.__name__: function for function in UFUNCS.values()}
BINARY = [name for name, function in UNIQUE.items() if function.nin == 2]
# NumPy itself does not say which loop ldexp reduces by.
REDUCIBLE = [name for name in BINARY if UNIQUE[name].nout == 1 and name != "ldexp"]


def test_every_elementwise_ufunc_of_numpy_is_here() -> None:
    missing = {
        name
        for name, reference in vars(numpy).items()
        if isinstance(reference, numpy.ufunc) and reference.signature is None and name not in UFUNCS
    }
    assert missing == {"isnat"}


@pytest.mark.parametrize("name", UNIQUE)
def test_description(name: str) -> None:
    tested, reference = UNIQUE[name], getattr(numpy, name)
    for attribute in ("nin", "nout", "nargs", "identity", "types", "ntypes", "signature", "__name__", "__doc__"):
        assert getattr(tested, attribute) == getattr(reference, attribute), attribute
    assert repr(tested) == repr(reference)
    assert pickle.loads(pickle.dumps(tested)) is tested


@pytest.mark.parametrize("name", UNIQUE)
def test_numpys_ufunc_is_found_under_it(name: str) -> None:
    """A class with ``__array_ufunc__`` looks up what it is given, which is NumPy's, beside names of this package."""
    tested, reference = UNIQUE[name], getattr(numpy, name)
    assert tested == reference
    assert reference == tested
    assert {tested: name}[reference] == {reference: name}[tested] == name
    others = [function for function in UNIQUE.values() if function is not tested]
    assert reference not in others
    assert tested not in others


def test_a_class_looks_ufuncs_up() -> None:
    class Measured:
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
            return table.get(ufunc, "none"), method, len(inputs)

    table: dict[Any, str] = {gpunumpy.add: "sum", gpunumpy.hypot: "length", gpunumpy.sin: "sine"}
    x, measured = gpunumpy.ones(3), cast(Any, Measured())
    assert gpunumpy.add(measured, 1) == x + measured == gpunumpy.add(x, measured) == ("sum", "__call__", 2)
    assert gpunumpy.hypot.outer(measured, x) == ("length", "outer", 2)
    assert gpunumpy.sin(measured) == ("sine", "__call__", 1)
    assert gpunumpy.cos(measured) == ("none", "__call__", 1)


@pytest.mark.parametrize("name", UNIQUE)
def test_an_ellipsis_as_output_asks_for_arrays(name: str) -> None:
    tested, reference = UNIQUE[name], getattr(numpy, name)
    numbers = (5, 2)[: tested.nin]
    try:
        with numpy.errstate(all="ignore"):
            expected = reference(*numbers, out=...)
    except TypeError:
        pytest.skip("no loop for integers")
    for operands in (numbers, [to_gpunumpy(numpy.array(n)) for n in numbers]):
        found = tested(*operands, out=...)
        for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, expected)), strict=True):
            assert type(one) is gpunumpy.ndarray
            one[...] = one
            same(one, other, ulp=8)


@pytest.mark.parametrize("method", ["reduce", "accumulate", "reduceat"])
def test_an_ellipsis_as_output_of_methods(method: str) -> None:
    x = numpy.arange(6.0)
    options: dict[str, Any] = {"indices": [0, 2]} if method == "reduceat" else {}
    found = getattr(gpunumpy.add, method)(to_gpunumpy(x), out=..., **options)
    found[...] += 1
    same(found, getattr(numpy.add, method)(x, out=..., **options) + 1)
    for call in (gpunumpy.matmul, gpunumpy.vecdot):
        product: Any = call(to_gpunumpy(x), to_gpunumpy(x), out=...)
        product[...] += 1
        assert product.get() == 56
    limited = gpunumpy.clip(to_gpunumpy(numpy.array(7.0)), 0, 5, out=...)
    limited[...] += 1
    assert limited.get() == 6
    with pytest.raises(TypeError, match=r"out=\.\.\. is only allowed as a keyword argument"):
        gpunumpy.add(1, 2, ...)
    with pytest.raises(TypeError, match=r"out=\.\.\. is only allowed as a keyword argument"):
        gpunumpy.sum(to_gpunumpy(x), out=...)


@pytest.mark.parametrize("name", UNIQUE)
def test_call_over_dtypes(name: str) -> None:
    tested, reference = UNIQUE[name], getattr(numpy, name)
    for k, dtype in enumerate(DTYPES):
        x = sample(dtype, (3, 4), k)
        if tested.nin == 1:
            check(tested, reference, x, ulp=8)
        else:
            check(tested, reference, x, abs(sample(DTYPES[(5 * k + 2) % len(DTYPES)], (4,), k + 1, 1)), ulp=8)
            for scalar in (2, 0.5, True, numpy.float32(3)):
                check(tested, reference, x, scalar, ulp=8)
                check(tested, reference, scalar, abs(x), ulp=8)


@pytest.mark.parametrize("name", ["add", "sqrt", "divmod", "frexp", "less", "power"])
def test_scalars_lists_and_bfloat16(name: str) -> None:
    tested, reference = UNIQUE[name], getattr(numpy, name)
    n = tested.nin
    check(tested, reference, *[3] * n)
    check(tested, reference, *[2.5] * n)
    check(tested, reference, *[[1, 2.5], [[3], [4]]][:n])
    check(tested, reference, *[numpy.int8(5), numpy.int16(3)][:n])
    check(tested, reference, *[sample(bfloat16, (5,)), sample("f", (5,))][:n])


def test_alias_is_the_same_object() -> None:
    assert UFUNCS["abs"] is UFUNCS["absolute"]
    assert UFUNCS["acos"] is UFUNCS["arccos"]
    assert UFUNCS["pow"] is UFUNCS["power"]


OPTIONS: list[dict[str, Any]] = [
    {"dtype": "f4"},
    {"dtype": "i4"},
    {"dtype": "i4", "casting": "unsafe"},
    {"dtype": bool},
    {"casting": "no"},
    {"casting": "nonsense"},
    {"order": "F"},
    {"order": "C"},
    {"order": "A"},
    {"order": "Z"},
    {"signature": "dd->d"},
    {"sig": ("f4", "f4", "f4"), "casting": "unsafe"},
    {"signature": (None, None, "f8")},
    {"signature": "dd->d", "dtype": "f8"},
    {"subok": False},
    {"foo": 1},
    {"where": numpy.array([[True], [False]]), "out": numpy.full((2, 3), 7.0)},
    {"where": [True, False, True], "out": numpy.full((2, 3), 7.0)},
    {"where": numpy.array([1, 0, 1]), "out": numpy.full((2, 3), 7.0)},
    {"where": numpy.array([True, False]), "out": numpy.full((2, 3), 7.0)},
    {"out": numpy.zeros((2, 3), "f4")},
    {"out": numpy.zeros((2, 3), "i4")},
    {"out": numpy.zeros((2, 3), "i4"), "casting": "unsafe"},
    {"out": numpy.zeros((2, 3), "D")},
    {"out": numpy.zeros((4, 2, 3))},
    {"out": numpy.zeros((3,))},
    {"out": numpy.zeros((1, 3))},
    {"out": 5},
    {"out": ()},
    {"out": (None,)},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", ["add", "subtract", "less", "arctan2", "left_shift"])
def test_options(name: str, options: dict[str, Any]) -> None:
    for dtypes in ("id", "df", "ii"):
        x, y = sample(dtypes[0], (2, 3)), abs(sample(dtypes[1], (3,), 1))
        copies = {k: v.copy() if isinstance(v, numpy.ndarray) else v for k, v in options.items()}
        check(UNIQUE[name], getattr(numpy, name), x, y, **copies)


def test_out_is_returned_and_keeps_what_the_mask_leaves() -> None:
    out = from_host(numpy.full(3, 9.0))
    assert UFUNCS["sqrt"](numpy.array([1.0, 4, 9]), out=out, where=[True, False, True]) is out
    assert UFUNCS["add"]([1.0, 2, 3], 1, out) is out
    numpy.testing.assert_array_equal(to_host(out), [2, 3, 4])


@pytest.mark.on_device  # on the host, NumPy does so since 2.4
def test_where_without_out_warns() -> None:
    with pytest.warns(UserWarning, match="without 'out'"):
        UFUNCS["add"]([1, 2], 1, where=[True, False])
    found = to_host(UFUNCS["add"]([1, 2], 1, where=[[True], [False]], out=None))
    numpy.testing.assert_array_equal(found[0], [2, 3])
    assert found.shape == (2, 2)


def test_out_that_overlaps_an_argument() -> None:
    for size in (5, 4000):
        data = numpy.arange(float(size))
        tested = from_host(data)
        backwards = make_view(tested, Layout((size,), (-1,), size - 1))
        UFUNCS["add"](tested, tested, out=backwards)
        numpy.add(data, data.copy(), out=data[::-1])
        numpy.testing.assert_array_equal(to_host(tested), data)


def test_two_outputs() -> None:
    a, b = from_host(numpy.array([7, -7, 9])), from_host(numpy.array([3, 3, -4]))
    results = UFUNCS["divmod"](a, b, out=(a, b))
    assert results[0] is a
    assert results[1] is b
    same(on_host(results), divmod(numpy.array([7, -7, 9]), numpy.array([3, 3, -4])))
    fraction = from_host(numpy.zeros(2))
    UFUNCS["modf"]([1.5, -2.25], out=(fraction, None))
    numpy.testing.assert_array_equal(to_host(fraction), [0.5, -0.25])
    with pytest.raises(TypeError):
        UFUNCS["modf"]([1.5], out=fraction)


def test_wrong_calls() -> None:
    add = UFUNCS["add"]
    for args in ((1,), (1, 2, None, 4), ("a", 1), (object(), 1), ([1, 2], [1, 2, 3])):
        check(add, numpy.add, *args)
    with pytest.raises(TypeError, match="ArrayType"):
        add(1, 2, out=add(1, 2))


def test_integers_to_negative_powers() -> None:
    power = UFUNCS["power"]
    for args in ((2, -1), (numpy.array([2]), numpy.array([1, -1])), (numpy.array([2], "u1"), -1), (2.0, -1)):
        check(power, numpy.power, *args)
    for args in ((numpy.array([2], "u1"), numpy.array([-1], "i1")), (numpy.array([2], "u8"), numpy.array([-1]))):
        check(power, numpy.power, *args)


EXPONENTS = (-1, 1, numpy.array([-1, 2]), numpy.array([1, 2]), numpy.array([[-1], [2]]))
MASKS = (True, False, numpy.array([True, False]), numpy.array([False, True]), numpy.array([[False], [True]]))


@pytest.mark.parametrize("mask", MASKS, ids=str)
@pytest.mark.parametrize("exponent", EXPONENTS, ids=str)
def test_integers_to_negative_powers_where(exponent: Any, mask: Any) -> None:
    for base in (numpy.array([2, 3]), numpy.array([[2], [3]]), numpy.zeros((0, 1, 2), int), 2):
        shape = numpy.broadcast_shapes(*map(numpy.shape, (base, exponent, mask)))
        check(UFUNCS["power"], numpy.power, base, exponent, where=mask, out=numpy.full(shape, 7))


def _written_at(function: Any, index: Any, a: Any, b: Any) -> Any:
    a = a.copy()
    function.at(a, index, b)
    return a


def test_integers_to_negative_powers_in_methods() -> None:
    tested, reference = UFUNCS["power"], numpy.power
    empty, negative = numpy.zeros(0, int), numpy.array([-1])
    for a, b in ((empty, -1), (empty, negative), (negative, empty), (numpy.arange(3), negative)):
        check(tested.outer, reference.outer, a, b)
    for index, exponent in (([0, 1], -1), ([], -1), ([0, 1], numpy.array([2, -1])), ([0, 1], numpy.array([2, 3]))):
        a = numpy.array([2, -1, 3])
        check(*(partial(_written_at, f, index) for f in (tested, reference)), a, exponent)


# --- methods ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REDUCIBLE)
def test_reduce_over_dtypes(name: str) -> None:
    is_vector = generated() and name in ("arctan2", "power")
    if is_vector and not all(folds(name, numpy.array([3, 0.5, 2], t)) for t in "fd"):
        pytest.skip("NumPy's vector instructions fold the first element with the last one alone here")
    tested, reference = UNIQUE[name], getattr(numpy, name)
    for k, dtype in enumerate(DTYPES):
        x = abs(sample(dtype, (2, 5, 3), k, 1, 4))
        for axis in (0, -1, None):
            check(tested.reduce, reference.reduce, x, axis, ulp=64)
        check(tested.accumulate, reference.accumulate, x, 1, ulp=64)
        check(tested.reduceat, reference.reduceat, x, [0, 3, 1], 1, ulp=64)


REDUCE_OPTIONS: list[dict[str, Any]] = [
    {"axis": (0, 2)},
    {"axis": ()},
    {"axis": 3},
    {"axis": (0, 0)},
    {"axis": "x"},
    {"axis": 1, "keepdims": True},
    {"axis": None, "keepdims": True},
    {"dtype": "f4"},
    {"dtype": "i1"},
    {"dtype": bool},
    {"initial": 3},
    {"initial": 2.5, "axis": None},
    {"initial": 1000, "dtype": "i1"},
    {"initial": None},
    {"initial": 2, "axis": ()},
    {"where": numpy.array([True, False, True])},
    {"where": numpy.True_, "initial": 2},
    {"where": numpy.False_, "initial": 2, "axis": 1},
    {"where": numpy.array([True, False, True]), "initial": 2},
    {"where": numpy.array([[True], [False], [True], [True]]), "initial": 2, "axis": 1},
    {"where": numpy.array([True, False, True]), "initial": 2, "axis": ()},
    {"where": numpy.ones((1, 1, 1, 1), bool)},
    {"out": numpy.zeros((4, 3))},
    {"out": numpy.zeros((4, 3), "D")},
    {"out": numpy.zeros((4,))},
]


@pytest.mark.parametrize("options", REDUCE_OPTIONS, ids=str)
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "logical_and", "subtract", "divide", "bitwise_or"])
def test_reduce_options(name: str, options: dict[str, Any]) -> None:
    for dtype in ("i1", "d", "?"):
        x = abs(sample(dtype, (2, 4, 3), 0, 1, 4))
        copies = {k: v.copy() if isinstance(v, numpy.ndarray) else v for k, v in options.items()}
        check(UNIQUE[name].reduce, getattr(numpy, name).reduce, x, ulp=64, **copies)


def test_reduce_casts_into_its_output() -> None:
    # Of ufuncs that have an identity: the others begin in the output itself, in NumPy, and round at every step.
    for name in ("add", "multiply", "hypot"):
        check(UNIQUE[name].reduce, getattr(numpy, name).reduce, sample("d", (4, 3)), out=numpy.zeros(3, "i4"))


@pytest.mark.parametrize("name", ["add", "maximum", "subtract", "lcm", "logical_xor", "power"])
def test_reduce_shapes(name: str) -> None:
    tested, reference = UNIQUE[name], getattr(numpy, name)
    for shape in ((0,), (0, 3), (3, 0), (1,), (1, 3), (), (2, 0, 2)):
        x = numpy.ones(shape, "i8")
        for axis in (0, -1, None, ()):
            check(tested.reduce, reference.reduce, x, axis)
            check(tested.reduce, reference.reduce, x, axis, keepdims=True)
            check(tested.accumulate, reference.accumulate, x, axis)
            check(tested.reduceat, reference.reduceat, x, [0], axis)


def test_reduce_of_other_orders() -> None:
    x = numpy.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1)
    for axis in (0, 1, 2, (0, 1), None):
        for name in ("add", "subtract"):
            for keepdims in (False, True):
                check(UNIQUE[name].reduce, getattr(numpy, name).reduce, x, axis, keepdims=keepdims)
        check(UNIQUE["add"].reduce, numpy.add.reduce, x, axis, where=x > 4)
    made = UNIQUE["add"].reduce(from_host(x), 0)
    assert made.strides == numpy.add.reduce(x, 0).strides
    out = numpy.zeros((2, 4)).T
    check(UNIQUE["add"].reduce, numpy.add.reduce, x, 2, out=out.T.copy().T)


def test_long_folds() -> None:
    x = 1 + numpy.arange(1000.0)[::-1] / 1000
    check(UNIQUE["subtract"].reduce, numpy.subtract.reduce, x)
    check(UNIQUE["divide"].accumulate, numpy.divide.accumulate, x, ulp=1000)


@pytest.mark.parametrize("name", ["sin", "divmod", "modf"])
def test_methods_of_others_are_refused(name: str) -> None:
    x = numpy.ones(3)
    for method in ("reduce", "accumulate"):
        check(getattr(UNIQUE[name], method), getattr(getattr(numpy, name), method), x)
    check(UNIQUE[name].reduceat, getattr(numpy, name).reduceat, x, [0])
    if name != "divmod":
        check(UNIQUE[name].outer, getattr(numpy, name).outer, x, x)


@pytest.mark.parametrize(
    "indices", [[0, 9], [0, -1], 0, [], [4, 4, 0], [0.5], numpy.array([0, 2]), numpy.array([0.0])], ids=str
)
def test_reduceat_indices(indices: Any) -> None:
    check(UNIQUE["add"].reduceat, numpy.add.reduceat, numpy.arange(5), indices)


@pytest.mark.parametrize("name", BINARY)
def test_outer(name: str) -> None:
    for a, b in ((sample("i4", (2, 2)), abs(sample("i4", (3,), 1, 1))), (sample("d", ()), [1.5, 2])):
        check(UNIQUE[name].outer, getattr(numpy, name).outer, a, b)


AT_INDICES: list[Any] = [0, [0, 0, 2], slice(1, None), numpy.array([True, False, True]), numpy.array([-1, 1]), ..., [5]]


@pytest.mark.parametrize("index", AT_INDICES, ids=str)
@pytest.mark.parametrize("name", ["add", "subtract", "maximum", "divide", "multiply", "negative", "power"])
def test_at(name: str, index: Any) -> None:
    tested, its = UNIQUE[name], getattr(numpy, name)
    for dtype in ("i8", "f4", "d"):
        for operand in (2, 1.5, numpy.ones(3, "f4"), [[1], [2]]):
            data = sample(dtype, (3, 3), 2, 1)
            operands = (operand,) if tested.nin == 2 else ()

            def at(function: Any, convert: Any, data: Any = data, operands: Any = operands) -> Any:
                array = convert(data)
                function.at(array, convert(index), *map(convert, operands))
                return on_host(array)

            reference = outcome(lambda at=at: at(its, lambda x: x.copy() if isinstance(x, numpy.ndarray) else x))
            found = outcome(lambda at=at: at(tested, to_gpunumpy))
            same(found, reference, 8, f"{name}.at({data}, {index}, {operand})")


def test_at_through_a_view() -> None:
    data = numpy.arange(6.0)
    tested = from_host(data)
    UFUNCS["add"].at(make_view(tested, Layout((3,), (2,), 0)), [0, 0, 1], 10)
    numpy.add.at(data[::2], [0, 0, 1], 10)
    numpy.testing.assert_array_equal(to_host(tested), data)
    with pytest.raises(TypeError):
        UFUNCS["add"].at([1, 2], 0, 1)
    assert operator.index(UFUNCS["add"].reduce([1, 2])) == 3
    assert isinstance(tested, ndarray)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint64", "float16", "bool"])
@pytest.mark.parametrize("value", [2, -1, 300, True, 1.5])
@pytest.mark.parametrize("name", ["add", "subtract", "maximum", "bitwise_xor", "less"])
def test_at_takes_python_numbers_as_arrays(name: str, value: Any, dtype: str) -> None:
    def at(xp: Any) -> Any:
        x = xp.ones(3, dtype=dtype)
        getattr(xp, name).at(x, [0, 0, -1], value)
        return x

    same(outcome(lambda: on_host(at(gpunumpy))), outcome(lambda: at(numpy)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "signbit"])
def test_tests_of_floats_write_every_element(name: str, dtype: str) -> None:
    """NumPy's leave elements of an output with steps as they were."""
    data = numpy.ones((40, 7), dtype)
    data[::3] = -numpy.inf
    expected = getattr(numpy, name)(data)
    expected[:, 1:-1] = True
    for _ in range(5):  # what is not written has the memory's old elements
        tested = getattr(gpunumpy, name)(gpunumpy.array(data, order="F"))
        tested[:, 1:-1] = True
        numpy.testing.assert_array_equal(on_host(tested), expected)


@pytest.mark.parametrize("seed", range(20))
def test_memory_order_of_results(seed: int) -> None:
    """Operands that are broadcast leave axes undecided, so that the order in which NumPy compares axes shows."""
    source = random.Random(seed)
    for _ in range(20):
        full = [source.choice((1, 2, 3)) for _ in range(source.choice((2, 3, 4)))]
        operands = []
        for _ in range(2):
            shape = [source.choice((n, n, 1)) for n in full][source.choice((0, 0, 1)) :]
            axes = source.sample(range(len(shape)), len(shape))
            operands.append(numpy.ones([shape[axis] for axis in axes]).transpose(numpy.argsort(axes)))
        wanted = numpy.add(*operands)
        found = gpunumpy.add(*[gpunumpy.array(x, order="K") for x in operands])
        assert [s for s, n in zip(found.strides, found.shape) if n > 1] == [
            s for s, n in zip(wanted.strides, wanted.shape) if n > 1
        ]


@pytest.mark.parametrize("dtype", ["?", "i1", "i8", "u1", "f4"])
@pytest.mark.parametrize("method", ["reduce", "accumulate", "reduceat"])
def test_folds_that_loops_do_not_allow_raise_at_once(method: str, dtype: str) -> None:
    """What has operands of two dtypes, and integers to negative powers."""
    rows = numpy.array([[-3, 1, 2, 0], [3, -1, 2, 1], [2, 2, 1, -2]]).astype(dtype)
    calls: list[tuple[Any, ...]] = [(rows, axis) for axis in (0, 1)]
    if method == "reduceat":
        calls = [(x, indices, axis) for x, axis in calls for indices in ([0, 1, 2], [0, 2], [2, 0], [1], [0, 1, 0])]
    powers = (
        ["power"] if dtype == "?" or method == "accumulate" or folds("power", numpy.array([3, 0, 2], dtype)) else []
    )
    for op in (*powers, "float_power", *(["ldexp"] if method != "reduce" else [])):
        for x, *args in calls:
            for part in (slice(None), slice(0, 1), slice(1, 3)):
                run, reference = (getattr(getattr(xp, op), method) for xp in (gpunumpy, numpy))
                expected = outcome(partial(reference, x[part], *args))
                found = outcome(partial(run, from_host(x[part]), *args))
                assert isinstance(found, Exception) == isinstance(expected, Exception)
                same(on_host(found), expected, what=f"{op}.{method}({x[part]}, {args})")
