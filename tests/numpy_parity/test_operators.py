"""Operators of arrays, and their conversions to Python scalars."""

from __future__ import annotations

import array
import datetime
import decimal
import fractions
import math
import operator
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from ml_dtypes import bfloat16

import gpunumpy as np
from gpunumpy.core._native import IS_COMPILED
from gpunumpy.functions.ufuncs.ufunc import UFUNCS

from ..support.arrays import from_host, mark_as_array, ndarray, to_host, wrap
from .parity import DTYPES, check, generated, on_host, outcome, same, sample, to_gpunumpy

BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.lshift,
    operator.rshift,
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    divmod,
]
IN_PLACE = [
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
    operator.ifloordiv,
    operator.imod,
    operator.ipow,
    operator.iand,
    operator.ior,
    operator.ixor,
    operator.ilshift,
    operator.irshift,
]
UNARY = [operator.neg, operator.pos, operator.abs, operator.invert]
SCALARS = [2, 300, -1, 0, 0.5, 2.0, True, 1 + 2j, numpy.float32(2.5), numpy.int8(3), 2**40, 2**63]


def both(call: Callable[..., Any], *args: Any, ulp: float = 8) -> None:
    check(call, call, *args, ulp=ulp)


@pytest.mark.parametrize("call", BINARY)
def test_binary(call: Callable[..., Any]) -> None:
    for k, dtype in enumerate(DTYPES):
        x = sample(dtype, (3, 4), k)
        both(call, x, abs(sample(DTYPES[(7 * k + 3) % len(DTYPES)], (4,), k + 1, 1)))
        for scalar in SCALARS:
            if dtype == "?" and scalar == 2**63:
                continue  # which NumPy refuses to compare with a bool
            if call is operator.pow and dtype in "FD" and abs(scalar) > 100 and generated():
                continue  # through the logarithm: its last bit times such an exponent leaves no digit to compare
            both(call, x, scalar)
            if isinstance(scalar, (bool, int, float, complex)) and not isinstance(scalar, numpy.generic):
                both(call, scalar, abs(x))


@pytest.mark.parametrize("call", BINARY)
def test_binary_with_what_is_no_array(call: Callable[..., Any]) -> None:
    x = sample("i4", (3,), 5, 1)
    for y in ([1, 2, 3], (1, 2, 3), numpy.array([3, 2, 1]), [1, 2], 1, None, "text", object()):
        if call in (operator.eq, operator.ne) and type(y) is object:
            continue
        reference = outcome(lambda y=y: call(x, y))
        same(outcome(lambda y=y: on_host(call(from_host(x), y))), reference, 4, f"{call}({y})")


@pytest.mark.parametrize("call", UNARY)
def test_unary(call: Callable[..., Any]) -> None:
    for k, dtype in enumerate((*DTYPES, bfloat16)):
        both(call, sample(dtype, (3, 4), k))
        both(call, sample(dtype, (3, 4), k).T)


@pytest.mark.parametrize("call", IN_PLACE)
def test_in_place(call: Callable[..., Any]) -> None:
    operands = (*SCALARS, numpy.ones(3, "f4"), [1, 2, 3], numpy.ones((2, 3), "i8"), "text", None)
    for k, dtype in enumerate(DTYPES):
        for y in operands:
            if dtype == "?" and call is operator.ipow:
                continue  # always refused, for one reason or another
            data = abs(sample(dtype, (2, 3), k, 1))
            tested = from_host(data)
            reference = outcome(lambda y=y, data=data: call(data, gpunumpy_or_numpy(y, False)))
            found = outcome(lambda y=y, tested=tested: call(tested, gpunumpy_or_numpy(y, True)))
            if isinstance(found, ndarray):
                assert found is tested
            same(to_host(tested), data, 8, f"{call}({dtype}, {y!r}): {found!r}")
            if isinstance(reference, Exception):
                same(found, reference, 8, f"{call}({dtype}, {y!r})")


def test_in_place_shapes() -> None:
    for shape in ((2,), (4, 3), (1, 3), (2, 1), (1, 2, 3), ()):
        for own in ((2, 3), (1, 3), (3,)):
            data, y = numpy.ones(own), numpy.ones(shape)
            tested = from_host(data)
            reference = outcome(lambda data=data, y=y: operator.iadd(data, y))
            found = outcome(lambda tested=tested, y=y: on_host(operator.iadd(tested, from_host(y))))
            same(found, reference, what=f"{own} += {shape}")


def gpunumpy_or_numpy(y: Any, converts: bool) -> Any:
    return to_gpunumpy(y) if converts else y


def test_in_place_is_seen_through_views_and_not_by_values_read_before() -> None:
    data = numpy.arange(12.0).reshape(3, 4)
    tested = from_host(data)
    row, before = tested[1], tested + 0
    tested *= 2
    row += 100
    numpy.testing.assert_array_equal(to_host(before), data)
    data *= 2
    data[1] += 100
    numpy.testing.assert_array_equal(to_host(tested), data)
    tested[1:] += tested[:-1]
    data[1:] += data[:-1].copy()
    numpy.testing.assert_array_equal(to_host(tested), data)


def test_in_place_on_a_result_binds_the_name_anew() -> None:
    total = UFUNCS["add"].reduce([1.0, 2.0])
    same_total = total
    total += 1
    assert (float(total), float(same_total)) == (4, 3)
    array = mark_as_array(wrap(from_host(numpy.array(3.0)).value()))
    same_array = array
    array += 1
    assert array is same_array
    assert float(same_array) == 4


def test_powers() -> None:
    for dtype in ("i4", "u1", "f4", "d", "D", "?"):
        x = sample(dtype, (6,), 3, 1)
        for exponent in (0, 1, 2, 3, -1, 0.5, -0.5, 2.0, 1.0, -1.0, 1j, numpy.int64(2), numpy.array([1, 2, 3] * 2)):
            both(operator.pow, x, exponent)
        both(operator.pow, 2, x)
        both(operator.pow, 2.5, x)
    both(operator.pow, 2, numpy.array([1, -1]))
    both(operator.pow, numpy.array([2]), numpy.array([-1]))
    with pytest.raises(TypeError):
        pow(from_host(numpy.arange(3)), 2, 5)


@pytest.mark.parametrize("dtype", ["e", "f", "d"])
def test_powers_that_a_float_holds_are_exact(dtype: str) -> None:
    """Whole results that a cast to an integer must not make one less, negative bases, roots of squares."""
    bases = numpy.concatenate([numpy.arange(-12, 13), [0.5, 0.25, 2.25, 6.25, 1024, -0.0]]).astype(dtype)
    exponents = numpy.concatenate([numpy.arange(-3, 7), [0.5, 1.5, 2.5, 0.25, -0.5]]).astype(dtype)
    special = numpy.array([0.0, -0.0, 1, -1, 2, 0.5, 40, 63, numpy.inf, -numpy.inf, numpy.nan, 1e-4, 3e4], dtype)
    with numpy.errstate(all="ignore"):
        for x, y in ((bases[:, None], exponents), (special[:, None], special)):
            wanted = x**y
            got = to_host(from_host(x) ** from_host(y))
            whole = (wanted == numpy.round(wanted)) & (abs(wanted) < 2 / numpy.finfo(dtype).eps)
            numpy.testing.assert_array_equal(got[whole], wanted[whole])
            number = ~numpy.isnan(wanted)
            numpy.testing.assert_array_equal(numpy.signbit(got[number]), numpy.signbit(wanted[number]))
            numpy.testing.assert_allclose(got, wanted, rtol=4 * float(numpy.finfo(dtype).eps))


CONVERSIONS = [
    bool,
    int,
    float,
    complex,
    operator.index,
    hash,
    round,
    math.trunc,
    math.floor,
    math.ceil,
    len,
    list,
    str,
]


@pytest.mark.parametrize("convert", CONVERSIONS[:-1])
def test_conversions_of_results(convert: Callable[[Any], Any]) -> None:
    """A 0-d result converts as the scalar that NumPy has in its place."""
    for dtype in ("?", "i1", "i8", "u8", "e", "f", "d", "F"):
        value = numpy.array([3, 1]).astype(dtype) * numpy.dtype(dtype).type(0.75 if dtype in "efd" else 1)
        if convert in (math.trunc, math.floor, math.ceil) and dtype != "d":
            continue
        reference = outcome(lambda value=value: convert(value[0]))
        found = outcome(lambda value=value: convert(UFUNCS["maximum"].reduce(from_host(value))))
        if isinstance(reference, Exception):
            same(found, reference)
        else:
            assert found == reference
            assert isinstance(found, (int, float, complex, numpy.generic))


@pytest.mark.parametrize("convert", [bool, int, float, complex, operator.index, hash, round, len, math.trunc])
@pytest.mark.parametrize("shape", [(), (1,), (0,), (2,), (1, 1), (2, 2)])
def test_conversions_of_arrays(convert: Callable[[Any], Any], shape: tuple[int, ...]) -> None:
    for dtype in ("i4", "f4", "c8"):
        x = numpy.ones(shape, dtype)
        if convert in (round, math.trunc) and not shape:
            continue  # NumPy's 0-d arrays have none of these, gpunumpy's have those of a scalar
        same(outcome(lambda x=x: convert(from_host(x))), outcome(lambda x=x: convert(x)))
        with warnings.catch_warnings():  # of one element, before NumPy 2.4
            warnings.simplefilter("ignore", DeprecationWarning)
            same(outcome(lambda x=x: convert(from_host(x))), outcome(lambda x=x: convert(x)))


def test_the_truth_of_many_is_ambiguous() -> None:
    with pytest.raises(ValueError, match="ambiguous"):
        bool(from_host(numpy.ones(2)))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(from_host(numpy.ones(0)))


def test_iteration_and_membership() -> None:
    data = numpy.arange(6.0).reshape(2, 3)
    tested = from_host(data)
    assert [float(v) for row in tested for v in row] == data.reshape(-1).tolist()
    assert 4 in tested
    assert 4.5 not in tested
    assert numpy.float64(5) in tested
    with pytest.raises(TypeError):
        iter(from_host(numpy.array(1.0)))


@pytest.mark.parametrize(
    "other", [None, "a", b"a", {}, {1: 2}, {1}, pytest.param(object(), id="object"), int], ids=repr
)
def test_what_is_like_no_number(other: Any) -> None:
    for data in (numpy.arange(6.0).reshape(2, 3), numpy.zeros((2, 0)), numpy.array(1)):
        both(lambda x: other in x, data)
        for call in (operator.eq, operator.ne):
            both(lambda x, call=call: call(x, other), data)
            both(lambda x, call=call: call(other, x), data)


def test_objects_with_an_equality_of_their_own() -> None:
    class Own:
        def __eq__(self, other: object) -> Any:
            return other == 1

    class Ufuncs:
        __array_ufunc__ = None

    class Array:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return numpy.array([1.0, 2.0, 7.0])

    x = from_host(numpy.arange(3.0))
    both(lambda x: x == Own(), numpy.arange(3.0))
    assert (x == Ufuncs()) is False
    both(lambda x, y: x == y, numpy.arange(3.0), Array())
    both(lambda x, y: y in x, numpy.arange(3.0), Array())


def test_results_hash_as_scalars() -> None:
    found = {UFUNCS["add"].reduce([1, 2]): "three"}
    assert found[3] == "three"  # type: ignore[index]
    with pytest.raises(TypeError):
        hash(from_host(numpy.array(3)))


def test_operands_that_define_their_own_operators() -> None:
    class Own:
        __array_ufunc__ = None

        def __radd__(self, other: Any) -> str:
            return "mine"

    assert from_host(numpy.arange(3)) + Own() == "mine"


# What is no array, and no number of Python's: NumPy makes arrays of objects of most.
class Reflected:
    """Object that says what it was added to."""

    def __radd__(self, other: Any) -> Any:
        return "added to", other

    def __rmul__(self, other: Any) -> Any:
        return "times", other


class Decides:
    """Object of a class that ufuncs ask."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return ufunc.__name__, method, [type(x) is type(self) for x in inputs], sorted(options)

    def __radd__(self, other: Any) -> str:
        return "not asked"


class Silent(Reflected):
    """Object of a class that takes no part in ufuncs."""

    __array_ufunc__ = None


class Important(Reflected):
    """Object of a class whose operators come first."""

    __array_priority__ = 2000.0


class Convertible(Important):
    """Object of a class whose operators come first, though NumPy can convert it."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return numpy.arange(3)


OTHERS: dict[str, Callable[[], Any]] = {
    "fraction": lambda: fractions.Fraction(1, 3),
    "decimal": lambda: decimal.Decimal(2),
    "duration": lambda: datetime.timedelta(1),
    "day": lambda: datetime.date(2020, 1, 1),
    "large integer": lambda: 10**30,
    "range": lambda: range(3),
    "array of Python": lambda: array.array("i", [1, 2, 3]),
    "text": lambda: "ab",
    "bytes": lambda: b"ab",
    "dictionary": lambda: {1: 2},
    "set": lambda: {1},
    "object": lambda: object(),
    "reflected": lambda: Reflected(),
    "decides": lambda: Decides(),
    "silent": lambda: Silent(),
    "important": lambda: Important(),
    "convertible": lambda: Convertible(),
}
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    **{f.__name__: f for f in (operator.add, operator.mul, operator.sub, operator.pow, operator.truediv, divmod)},
    **{
        f.__name__: f for f in (operator.lt, operator.eq, operator.ne, operator.iadd, operator.imul, operator.ifloordiv)
    },
}


def _shown(x: Any) -> str:
    """The elements; of floats so many digits as powers have on every device."""
    return str(numpy.char.mod("%.12g", x.tolist()).tolist() if x.dtype.kind == "f" else x.tolist())


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operands_that_are_no_numbers(operation: str, other: str) -> None:
    call, made = OPERATIONS[operation], OTHERS[other]
    found, expected = [], []
    for xp, outcomes in ((np, found), (numpy, expected)):
        # Before Python 3.13 a fraction takes what is no number of Python's as an exponent of a float.
        without = ("lt", "eq", "ne", *(("pow",) if sys.version_info < (3, 13) else ()))
        scalars = () if operation in without else (xp.arange(3).sum(),)
        for x in (xp.arange(3), xp.arange(3.0), *scalars):
            for args in ((x, made()), (made(), x)):
                result = outcome(lambda args=args: call(*args))
                kind = next(t for t in type(result).__mro__ if t.__module__ == "builtins")
                if isinstance(result, Exception):
                    outcomes.append(kind)
                else:
                    outcomes.append((result.dtype, _shown(result)) if hasattr(result, "dtype") else str(result))
    assert found == expected


def test_order_of_results() -> None:
    x = numpy.arange(24.0).reshape(2, 3, 4)
    for view in (x.T, x.transpose(1, 0, 2), x[:, ::-1]):
        made, reference = from_host(view) * 2 + from_host(view), view * 2 + view
        assert made.strides == reference.strides
        same(to_host(made), reference)


def test_a_part_that_is_computed_from_itself() -> None:
    for part in (slice(1, None), slice(None, None, 2), slice(2, 0, -1)):
        data = numpy.arange(12.0).reshape(4, 3)
        tested = from_host(data)
        tested *= 2
        tested[part] = tested[part] * 3 + 1
        tested[part] = tested[part]
        tested[part] -= 4
        data *= 2
        data[part] = data[part] * 3 + 1
        data[part] -= 4
        numpy.testing.assert_array_equal(to_host(tested), data)


def test_matrix_product() -> None:
    a, b = sample("d", (3, 4)), sample("f", (4, 2), 1)
    both(operator.matmul, a, b)
    both(operator.matmul, a, b.tolist())
    both(operator.matmul, a, a)
    both(operator.matmul, a, 2)
    square = from_host(a[:, :3])
    before = square
    square @= [[1, 0, 0], [0, 2, 0], [0, 0, 3]]
    assert square is before
    same(to_host(square), a[:, :3] * [1, 2, 3])
    with pytest.raises(TypeError):
        from_host(numpy.ones((2, 2), int)).__imatmul__(numpy.ones((2, 2)))


@pytest.mark.skipif(not IS_COMPILED, reason="only a class of C can refuse: for others Python takes ``+``")
def test_concatenation() -> None:
    for combine in (operator.concat, operator.iconcat):
        for other in (np.arange(2), [1, 2], 3):
            with pytest.raises(TypeError, match="Concatenation operation is not implemented"):
                combine(np.arange(2), other)
