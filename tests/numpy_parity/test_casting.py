"""Which casts a call allows, and what it makes of scalars: `casting`, `dtype`, `out`, and values that are written."""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.numpy_release import RELEASE

from ..emulator.emulated import emulated
from .parity import on_host, outcome, same

OPERAND_ERRORS = (TypeError, ValueError, OverflowError)
CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
OPERANDS = (2, 2.5, 1j, True, "f4", "i8", "u1", "D", "?")
UFUNCS = (
    "add",
    "divide",
    "divmod",
    "frexp",
    "less",
    "logical_xor",
    "power",
    "sqrt",
    "left_shift",
    "arctan2",
    "negative",
)
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"dtype": "f4"},
    {"dtype": "i8"},
    {"dtype": "?"},
    {"out": "f4"},
    {"out": "i8"},
)


def described(call: Callable[[], Any]) -> Any:
    """Dtypes and shapes of the results, or the builtin class of the exception."""
    found = outcome(call)
    if isinstance(found, Exception):
        return next(t for t in type(found).__mro__ if t.__module__ == "builtins")
    results = found if isinstance(found, tuple) else (found,)
    return [(numpy.dtype(x.dtype), x.shape) for x in results]


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("casting", CASTINGS)
@pytest.mark.parametrize("name", UFUNCS)
def test_casts_of_ufuncs(name: str, casting: str) -> None:
    """Python scalars count too: NumPy up to 2.5.2 ends the process if asked for the dtypes of some."""
    ufunc = getattr(numpy, name)
    for operands, options in itertools.product(itertools.product(OPERANDS, repeat=ufunc.nin), OPTIONS):

        def call(xp: Any, operands: Any = operands, options: Any = options) -> Any:
            args = [xp.ones(2, x) if isinstance(x, str) else x for x in operands]
            out = {"out": (xp.zeros(2, options["out"]),) + (None,) * (ufunc.nout - 1)} if "out" in options else {}
            return getattr(xp, name)(*args, casting=casting, **(options | out))

        expected, found = described(lambda: call(numpy)), described(lambda: call(np))
        assert found == expected, (operands, options)


# NumPy's objects, which hold an integer beyond every dtype, are not supported: it is no operand by itself here.
PYTHON_SCALARS: tuple[Any, ...] = (True, 2, -3, 300, 2**63, 2**70, 10**400, 1.5, -2.5, 1e300, 1.5 + 1j)
DTYPES = (None, "?", "i1", "u8", "f2", "f4", "D")
ALL_UFUNCS = [name for name in sorted(numpy.__all__) if isinstance(vars(np).get(name), type(np.add))]


@pytest.mark.parametrize("name", ALL_UFUNCS)
def test_ufuncs_of_python_scalars(name: str) -> None:
    """Values, dtypes and errors over Python scalars alone, for each rule of casting and dtype of the loop."""
    ufunc = getattr(numpy, name)
    scalars = [s for s in PYTHON_SCALARS if ufunc.nin > 1 or (s != 2**70 and s != 10**400)]
    calls = list(itertools.product(itertools.product(scalars, repeat=ufunc.nin), CASTINGS, DTYPES))
    for operands, casting, dtype in random.Random(name).sample(calls, min(len(calls), 150)):
        options = {"casting": casting} | ({} if dtype is None else {"dtype": dtype})
        expected, found = (on_host(outcome(lambda: getattr(xp, name)(*operands, **options))) for xp in (numpy, np))  # noqa: B023
        if isinstance(expected, OPERAND_ERRORS) and isinstance(found, OPERAND_ERRORS):
            continue  # of two that apply NumPy's releases raise one or the other
        if name == "expm1" and dtype == "D" and numpy.isinf(expected.real):
            continue  # NumPy multiplies infinity by the sine of zero
        # Complex powers go through the logarithm, whose last bit is multiplied by the exponent.
        ulp = 4 * 300 if name in ("pow", "power") and operands[1] == 300 else 4
        same(found, expected, ulp, f"{operands} {options}")


SCALARS = (True, 3, -1, 300, 2**40, 2**63, 2**70, 10**400, 1.5, -2.7, 1e300, numpy.inf, numpy.nan, 1.5 + 2j,
           numpy.float32(1.5), numpy.int8(-3), numpy.complex64(1 + 2j))  # fmt: skip


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "i8", "e", "f", "D"])
@pytest.mark.parametrize("name", ["add", "maximum", "logical_and", "bitwise_and"])
def test_scalars_of_another_kind_than_the_loop(name: str, dtype: str) -> None:
    for scalar, is_first in itertools.product(SCALARS, (True, False)):

        def call(xp: Any, scalar: Any = scalar, is_first: bool = is_first) -> Any:
            array = xp.asarray(numpy.array([1, 2], dtype))
            result = getattr(xp, name)(
                *((scalar, array) if is_first else (array, scalar)), dtype=dtype, casting="unsafe"
            )
            return result.get() if xp is np else result

        same(outcome(lambda: call(np)), outcome(lambda: call(numpy)), 0, f"{scalar!r}")


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_scalars_of_another_kind_in_kernels() -> None:
    """A kernel's launch refuses a scalar that is not of the kind of its parameter."""
    calls: tuple[Callable[[Any], Any], ...] = (
        lambda xp: xp.power(1.5, 2.8, dtype=numpy.intp, casting="unsafe"),
        lambda xp: xp.add(xp.arange(3), 2.7, dtype="i2", casting="unsafe"),
        lambda xp: xp.add(xp.arange(3), 2j, dtype="f", casting="unsafe"),
        lambda xp: xp.logical_and(xp.arange(3), 2.5),
        lambda xp: xp.clip(xp.arange(3.0), 1, numpy.int8(2)),
        lambda xp: xp.where(xp.arange(3) > 1, 2, 1j),
    )
    expected = [call(numpy) for call in calls]
    with emulated():
        found = [call(np).get() for call in calls]
    for one, other in zip(found, expected, strict=True):
        same(one, other, 0)


VALUES = (1.5, numpy.float64(1.5), [1.5], numpy.array(1.5), numpy.array([1.5, 2]), 1j, [1j], numpy.complex64(1j),
          numpy.array([1j]), 300, [300], numpy.int64(300), numpy.array([300]), -1, True, [])  # fmt: skip
WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "putmask": lambda xp, x, v: xp.putmask(x, xp.asarray([[True, False, True]] * 3), v),
    "place": lambda xp, x, v: xp.place(x, xp.asarray([[True, False, True]] * 3), v),
    "put": lambda xp, x, v: xp.put(x, [0, 4], v),
    "put_along_axis": lambda xp, x, v: xp.put_along_axis(x, xp.asarray([[0], [1], [2]]), v, 1),
    "fill_diagonal": lambda xp, x, v: xp.fill_diagonal(x, v),
    "copyto": lambda xp, x, v: xp.copyto(x, v),
    "setitem": lambda xp, x, v: x.__setitem__(slice(None), v),
    "element": lambda xp, x, v: x.__setitem__((0, 1), v),
    "index": lambda xp, x, v: x.__setitem__([0, 2], v),
    "mask": lambda xp, x, v: x.__setitem__(xp.asarray([True, False, True]), v),
    "fill": lambda xp, x, v: x.fill(v),
    "flat": lambda xp, x, v: setattr(x, "flat", v),
    "flat index": lambda xp, x, v: x.flat.__setitem__([1, 2], v),
}


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", ["u1", "f4"])
@pytest.mark.parametrize("name", WRITES)
def test_values_that_are_written(name: str, dtype: str) -> None:
    """Arrays are cast by the function's rule, scalars and sequences converted as in an assignment of NumPy's own."""
    for value in VALUES:

        def call(xp: Any, value: Any = value) -> Any:
            x = xp.zeros((3, 3), dtype)
            WRITES[name](xp, x, xp.asarray(value) if isinstance(value, numpy.ndarray) else value)
            return x.get() if xp is np else x

        same(outcome(lambda: call(np)), outcome(lambda: call(numpy)), 0, f"{value!r}")


@pytest.mark.parametrize("shapes", [*itertools.product([(2,), (2, 2), (2, 3), (3, 2, 2), (1, 2)], repeat=2)])
def test_in_place_operators_keep_the_shape(shapes: tuple[Any, Any]) -> None:
    for name in ("__imatmul__", "__iadd__", "__ipow__"):

        def call(xp: Any, name: str = name) -> Any:
            x, y = (xp.ones(shape) for shape in shapes)
            result = getattr(x, name)(y)
            return result.get() if xp is np else result

        same(outcome(lambda: call(np)), outcome(lambda: call(numpy)), 0, name)


# Statements that warn, each a line of a user's.
WARNINGS: dict[str, Callable[[Any], Any]] = {
    "allclose": lambda xp: xp.allclose(xp.ones(2), xp.ones(2), rtol=numpy.inf),
    "isclose": lambda xp: xp.isclose(xp.ones(2), xp.ones(2), atol=numpy.nan),
    "average": lambda xp: xp.average(xp.zeros((0, 2)), axis=0),
    "mean": lambda xp: xp.zeros(0).mean(),
    "median": lambda xp: xp.median(xp.zeros(0)),
    "nanmean": lambda xp: xp.nanmean(xp.zeros(0)),
    "nanmedian": lambda xp: xp.nanmedian(xp.zeros(0)),
    "nanquantile": lambda xp: xp.nanquantile(xp.zeros(0), 0.5),
    "nanvar": lambda xp: xp.nanvar(xp.zeros(3), ddof=3),
    "nanstd": lambda xp: xp.nanstd(xp.zeros(0)),
    "std": lambda xp: xp.zeros(1).std(ddof=1),
    "var": lambda xp: xp.var(xp.zeros(3), ddof=4),
    "cov, on the host": lambda xp: xp.cov(xp.zeros((3, 1))),
    "polyfit, on the host": lambda xp: xp.polyfit(xp.ones(4), xp.ones(4), 2),
    "astype": lambda xp: xp.ones(2, complex).astype(float),
    "out": lambda xp: xp.add(xp.ones(2), 1j, out=xp.zeros(2), casting="unsafe"),
    "dtype": lambda xp: xp.add(1j, 2, dtype=float, casting="unsafe"),
    "reduce": lambda xp: xp.add.reduce(xp.ones(2, complex), dtype=float),
    "accumulate": lambda xp: xp.add.accumulate(xp.ones(2, complex), dtype=float),
    "setitem": lambda xp: xp.zeros(2).__setitem__(slice(None), xp.ones(2, complex)),
    "element": lambda xp: xp.zeros(2).__setitem__(0, numpy.complex64(1)),
    "put": lambda xp: xp.put(xp.zeros(2), [0], xp.ones(2, complex)),
    "array": lambda xp: xp.array(xp.ones(2, complex), dtype=float),
    "nan_to_num of a host array": lambda xp: xp.putmask(numpy.zeros(2), xp.ones(2, bool), numpy.complex64(1)),
    "fill": lambda xp: xp.zeros(2).fill(numpy.complex64(1)),
    "copyto": lambda xp: xp.copyto(xp.zeros(2), xp.ones(2, complex), casting="unsafe"),
    "full": lambda xp: xp.full(2, numpy.complex64(1), float),
    "where": lambda xp: xp.add(1, 2, where=False),
    "einsum": lambda xp: xp.einsum("i->", xp.ones(2, complex), dtype=float, casting="unsafe"),
    "qr": lambda xp: xp.linalg.qr(xp.eye(2), mode="full"),
    "fft": lambda xp: xp.fft.fftn(xp.ones((2, 2)), s=(2,), axes=None),
}


@pytest.mark.on_device
@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
@pytest.mark.parametrize("name", WARNINGS)
def test_warnings_point_at_the_line_of_the_user(name: str) -> None:
    statement = WARNINGS[name]
    np.host_fallback("ignore")
    try:
        found, expected = (_warnings(statement, xp) for xp in (np, numpy))
    finally:
        np.host_fallback("warn")
    assert {w.category for w in found} == {w.category for w in expected} or name in ("where", "einsum", "fft")
    assert found
    for warning in found:
        assert (warning.filename, warning.lineno) == (__file__, statement.__code__.co_firstlineno), warning


def _warnings(statement: Callable[[Any], Any], xp: Any) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught, numpy.errstate(divide="ignore"):
        warnings.simplefilter("always")
        statement(xp)
    return [w for w in caught if "encountered" not in str(w.message)]


NUMERIC = ("?", "i1", "i4", "i8", "u1", "u4", "u8", "e", "f", "d", "F", "D")
NUMBERS: tuple[Any, ...] = (
    *(
        0,
        -0.0,
        1,
        -1,
        0.5,
        -0.5,
        300,
        2049,
        65_472,
        65_504,
        -65_504,
        70_000,
        1e10,
        1e-7,
        1e-320,
        1e300,
        numpy.nan,
        numpy.inf,
        -numpy.inf,
    ),
    *(2.0**bits + step for bits in (7, 8, 15, 16, 31, 32, 63, 64) for step in (-1, 0)),
    *(-(2.0**bits) - step for bits in (7, 15, 31, 63) for step in (0, 1)),
    *(2**24 + 1, 2**53 + 1, 2**63 - 1, 2**64 - 1, 1j, 1 + 1j, complex(2, numpy.nan), complex(numpy.nan, 0)),
)


def values_of(dtype: str) -> list[Any]:
    """Arrays of one number of the dtype, and one of all that fit its integers."""
    d = numpy.dtype(dtype)
    numbers = [n for n in NUMBERS if d.kind == "c" or not isinstance(n, complex)]
    if d.kind in "iu":
        info = numpy.iinfo(d)
        numbers = [int(n) for n in numbers if info.min <= n <= info.max]
    with numpy.errstate(all="ignore"):
        return [numpy.array(n).astype(d) for n in numbers] + [numpy.array([[0, 1], [2, 3]]).astype(d).T]


@pytest.mark.skipif(RELEASE < "2.4.0", reason="NumPy has the rule same_value from 2.4 on")
@pytest.mark.parametrize("target", NUMERIC)
@pytest.mark.parametrize("source", NUMERIC)
def test_casts_that_may_change_no_value(source: str, target: str) -> None:
    for data in values_of(source):
        expected = outcome(lambda: data.astype(target, casting="same_value"))  # noqa: B023
        found = outcome(lambda: on_host(np.asarray(data).astype(target, casting="same_value")))  # noqa: B023
        same(found, expected, what=f"{data!r} to {target}")
        if isinstance(expected, Exception):
            assert str(found) == str(expected)


@pytest.mark.skipif(RELEASE < "2.4.0", reason="NumPy has the rule same_value from 2.4 on")
def test_the_first_value_that_changes_is_named() -> None:
    data = numpy.array([[1, 2 + 1j], [0.5, 3]])
    for view in (data, data[::-1].copy()):
        with pytest.warns(numpy.exceptions.ComplexWarning), pytest.raises(ValueError, match="same_value") as expected:
            view.astype("i4", casting="same_value")
        with pytest.warns(numpy.exceptions.ComplexWarning), pytest.raises(ValueError, match="same_value") as found:
            np.asarray(view).astype("i4", casting="same_value")
        assert str(found.value) == str(expected.value)
    whole = np.asarray(data.real * 2).astype("i4", casting="same_value", copy=False)
    same(on_host(whole), (data.real * 2).astype("i4"))


@pytest.mark.parametrize("target", ["f4", ml_dtypes.bfloat16])
def test_dtypes_without_the_rule(target: Any) -> None:
    """NumPy's error, of its dtypes before 2.4 too."""
    source = numpy.ones(2, ml_dtypes.bfloat16 if target == "f4" else "f4")
    expected = outcome(lambda: source.astype(target, casting="same_value"))
    found = outcome(lambda: np.asarray(source).astype(target, casting="same_value"))
    assert (type(found), str(found)) == (type(expected), str(expected))


CONVERTED: dict[str, Callable[[Any], Any]] = {
    "an array of NumPy": lambda xp: xp.astype(numpy.array([1, 2]), "f4"),
    "texts of NumPy": lambda xp: xp.astype(numpy.array(["1", "2"]), "f4"),
    "a number of NumPy": lambda xp: xp.astype(numpy.float64(3), "i2"),
    "a matrix": lambda xp: xp.astype(numpy.matrix([[1, 2]]), "f4"),
    "a masked array": lambda xp: xp.astype(xp.ma.array([1, 2], mask=[0, 1]), "f4"),
    "a masked array as texts": lambda xp: xp.astype(xp.ma.array([1, 2], mask=[0, 1]), "S4"),
    "a list": lambda xp: xp.astype([1, 2], "f4"),
    "a number": lambda xp: xp.astype(1, "f4"),
}


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("call", CONVERTED.values(), ids=CONVERTED)
def test_what_astype_takes(call: Callable[[Any], Any], residence: str) -> None:
    np.set_residence(residence)
    outcomes: list[Any] = []
    for xp in (np, numpy):
        try:
            result: Any = call(xp)
            outcomes.append((type(result).__name__ == "matrix", result.dtype, result.shape, result.tolist()))
        except (TypeError, AttributeError) as error:
            outcomes.append((type(error), str(error)))
    assert outcomes[0] == outcomes[1]


LOST_PARTS: dict[str, Callable[[Any, Any], Any]] = {
    "a sum in floats": lambda np, z: np.add(z, 1, dtype=float, casting="unsafe"),
    "a sum in a loop of floats": lambda np, z: np.add(z.real, z, signature="ff->f", casting="unsafe"),
    "a sum of booleans": lambda np, z: np.add(z, 1, dtype=bool, casting="unsafe"),
    "a sum in complex numbers": lambda np, z: np.add(z, 1, dtype="F", casting="unsafe"),
    "linspace": lambda np, z: np.linspace(1, z[0], 3, dtype=float),
    "logspace": lambda np, z: np.logspace(1, z[0], 3, dtype=float),
    "geomspace": lambda np, z: np.geomspace(1, z[0], 3, dtype=float),
}


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("name", LOST_PARTS)
def test_a_cast_to_floats_warns_of_imaginary_parts(name: str, residence: str) -> None:
    np.set_residence(residence)
    warned = []
    for xp in (numpy, np):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            LOST_PARTS[name](xp, xp.array([2 + 1j, 3]))
        warned.append(any(warning.category is numpy.exceptions.ComplexWarning for warning in caught))
    assert warned[1] == warned[0]
