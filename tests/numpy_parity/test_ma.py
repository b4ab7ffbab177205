"""Masked arrays: the same calls with `numpy.ma` and with `gpunumpy.ma`, over dtypes and masks."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.functions import fallback

from .parity import outcome as result_or_error

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")

DTYPES = ("f8", "f4", "i8", "u2", "c16", "?")
MASKS: dict[str, Any] = {
    "no mask": numpy.ma.nomask,
    "none masked": [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
    "some masked": [[0, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1]],
    "all masked": [[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]],
}


def operand(np: Any, dtype: str, mask: Any, turned: bool = False, shift: int = 0) -> Any:
    values = (numpy.arange(12) * 5 % 7 + shift).astype(dtype).reshape(3, 4)
    if numpy.dtype(dtype).kind in "ifc":
        values = values - 2
    mask = mask if mask is numpy.ma.nomask else np.array(numpy.array(mask, bool)[:, ::-1] if turned else mask, bool)
    return np.ma.array(np.asarray(values), mask=mask)


def observed(x: Any) -> Any:
    """What is compared of a result: NumPy's objects, with zeros in the place of masked elements."""
    if x is numpy.ma.masked:
        return "masked"
    if isinstance(x, (tuple, list)):
        return [observed(part) for part in x]
    if isinstance(x, numpy.ma.MaskedArray) or hasattr(type(x), "is_masked_array"):
        mask = x._mask
        has_mask = mask is not numpy.ma.nomask
        data = numpy.array(numpy.asarray(x.data))
        if has_mask:
            mask = numpy.asarray(mask)
            assert mask.dtype == bool
            assert mask.shape == data.shape
            data[mask] = 0
        fill = x.fill_value
        return ["masked array", data, mask if has_mask else None, fill, fill.dtype, x.hardmask]
    if isinstance(x, (gpunumpy.ndarray, numpy.ndarray, numpy.generic)):
        return ["array", numpy.asarray(x)]
    return x


def check_equal(tested: Any, expected: Any, exact: bool = False) -> None:
    assert type(tested) is type(expected) or isinstance(tested, (bool, numpy.bool)), (tested, expected)
    if isinstance(expected, list):
        assert len(tested) == len(expected), (tested, expected)
        for one, other in zip(tested, expected, strict=True):
            check_equal(one, other, exact)
    elif isinstance(expected, (numpy.ndarray, numpy.generic)):
        assert numpy.asarray(tested).dtype == expected.dtype
        assert numpy.shape(tested) == expected.shape
        if exact or expected.dtype.kind not in "fc":
            numpy.testing.assert_array_equal(tested, expected)
        else:
            numpy.testing.assert_allclose(tested, expected, rtol=1e-6, atol=1e-12)
    else:
        assert tested == expected


def outcome(run: Callable[..., Any], *args: Any) -> Any:
    try:
        with numpy.errstate(all="ignore"):
            return run(*args)
    except Exception as error:
        return error


def compare(run: Callable[..., Any], make: Callable[[Any], tuple[Any, ...]]) -> None:
    """Run a function with both packages; compare the results, and the operands after it."""
    results = []
    for np in (numpy, gpunumpy):
        args = make(np)
        result = outcome(run, np, *args)
        if isinstance(result, Exception):
            results.append((result, None))
        else:
            results.append((observed(result), observed(list(args))))
    (expected, expected_args), (tested, tested_args) = results
    if isinstance(expected, Exception) or isinstance(tested, Exception):
        assert isinstance(tested, Exception), f"NumPy raises {expected!r}"
        assert isinstance(expected, Exception), f"raises {tested!r}"
        assert isinstance(tested, type(expected)) or isinstance(expected, type(tested)), (tested, expected)
        return
    check_equal(tested, expected)
    check_equal(tested_args, expected_args)


@pytest.fixture(autouse=True)
def _on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here runs on the host, but for tests that say so."""
    monkeypatch.setattr(fallback, "_action", "error")
    monkeypatch.setattr(fallback, "_warned", set())


def _flat_writes(np: Any) -> list[Any]:
    return [(0, np.ma.masked), (slice(1, 3), np.ma.array([7, 8], mask=[1, 0])), ([4, 5], [2, 3])]


def _ctypes_shape(x: Any) -> Any:
    on_gpu = isinstance(x, gpunumpy.ma.MaskedArray) and str(x.device) != "cpu"  # which has no pointers for C
    return list((x.get() if on_gpu else x).ctypes.shape)


def _masked_part(np: Any, x: Any) -> Any:
    """Mask an element of a part of all elements, which has the mask of the whole."""
    part = x.getfield("i1")
    part[0, 0] = np.ma.masked
    return part


UNARY: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: lambda np, x, name=name: getattr(np.ma, name)(x)
        for name in (
            *("exp", "conjugate", "sin", "cos", "arctan", "arcsinh", "sinh", "cosh", "tanh", "absolute", "fabs"),
            *("negative", "floor", "ceil", "logical_not", "sqrt", "log", "log2", "log10", "tan", "arcsin", "arccos"),
            *("arccosh", "arctanh", "angle", "around", "isMaskedArray", "is_masked", "is_mask", "getmask", "getdata"),
            *("getmaskarray", "count", "ravel", "compressed", "copy", "sort", "diag", "diagflat", "atleast_3d"),
            *("nonzero", "transpose", "squeeze", "masked_invalid", "fix_invalid", "count_masked", "zeros_like"),
            *("ones_like", "ndim", "shape", "size", "minimum_fill_value", "maximum_fill_value", "default_fill_value"),
            *("asarray", "asanyarray", "filled", "make_mask", "masked_array", "array"),
        )
    },
    **{
        f"numpy's {name}": lambda np, x, name=name: getattr(np, name)(x)
        for name in (
            "sqrt",
            "log",
            "arcsin",
            "exp",
            "negative",
            "isnan",
            "sum",
            "mean",
            "max",
            "argmin",
            "ravel",
            "sort",
        )
    },
    **{
        f"{name} {axis}": lambda np, x, name=name, axis=axis: getattr(np.ma, name)(x, axis=axis)
        for name in (
            *("sum", "prod", "mean", "var", "std", "min", "max", "ptp", "any", "all", "argmin", "argmax"),
            *("cumsum", "cumprod", "count", "sort", "anom"),
        )
        for axis in (None, 0, -1)
    },
    **{
        f"{name} keepdims": lambda np, x, name=name: getattr(x, name)(axis=1, keepdims=True)
        for name in ("sum", "prod", "mean", "var", "std", "min", "max", "any", "all", "count", "argmin")
    },
    **{
        f"{name} with {value}": lambda np, x, name=name, value=value: getattr(np.ma, name)(x, value)
        for name in (
            *("masked_equal", "masked_not_equal", "masked_greater", "masked_greater_equal", "masked_less"),
            *("masked_less_equal", "masked_values", "masked_object"),
        )
        for value in (1, 100)
    },
    "sum of two axes": lambda np, x: x.sum(axis=(0, 1), keepdims=True),
    "ddof": lambda np, x: x.var(axis=0, ddof=1),
    "sums in another dtype": lambda np, x: [x.sum(dtype="f8"), x.mean(0, "f8"), x.cumsum(1, "f8")],
    "means in half precision": lambda np, x: [x.astype("f2").mean(axis=0), np.ma.average(x.astype("f2"), axis=1)],
    "masked inside": lambda np, x: [np.ma.masked_inside(x, 3, 1), np.ma.masked_outside(x, 1, 3)],
    "masked where": lambda np, x: [np.ma.masked_where(x > 1, x), np.ma.masked_where(np.zeros((3, 4), bool), x)],
    "masked where, wrong shape": lambda np, x: np.ma.masked_where([True], x),
    "masked where, no copy": lambda np, x: np.ma.masked_where(x == 2, x, copy=False),
    "negated": lambda np, x: [-x, +x, abs(x)],
    "inverted": lambda np, x: ~x,
    "power": lambda np, x: [x**2, np.ma.power(x, 0.5), x**-1.0],
    "reflected": lambda np, x: [1 + x, 2 - x, 3 * x, 1 / x, 5 // x, 2.0**x],
    "divided by zero": lambda np, x: [x / 0, x // 0, x % 3, divmod(x, 2)],
    "with a scalar": lambda np, x: [x + 1, x - 1.5, x * np.float32(2), x == 1, x != 1, x > 1, x > 1, x <= 1j],
    "and masked": lambda np, x: [x + np.ma.masked, x == np.ma.masked, np.ma.masked * x],
    "fill value": lambda np, x: [np.ma.array(x, fill_value=1).filled(), x.filled(1), np.ma.array(x, fill_value=1) + x],
    "filled wrongly": lambda np, x: x.filled("text"),
    "as another dtype": lambda np, x: [x.astype("f4"), np.ma.array(x, dtype="c16"), np.ma.array(x, "i1")],
    "with another mask": lambda np, x: [np.ma.array(x, mask=np.eye(3, 4)), np.ma.array(x, mask=True, keep_mask=False)],
    "without its mask": lambda np, x: [np.ma.array(x, keep_mask=False), np.ma.array(x, keep_mask=False, shrink=False)],
    "a mask of another size": lambda np, x: np.ma.array(x, mask=[1, 0]),
    "more dimensions": lambda np, x: np.ma.array(x, ndmin=4),
    "shapes": lambda np, x: [x.reshape(4, 3), x.reshape(-1), x.T, x.swapaxes(0, 1), x.flatten("F"), x.ravel("F")],
    "repeated": lambda np, x: [x.repeat(2), x.repeat(2, 0), x.diagonal(), np.ma.resize(x, (5, 4))],
    "taken": lambda np, x: [x.take([0, 5]), x.take([1, 0], axis=1), np.ma.take(x, 3), np.ma.take(x, [[1], [2]])],
    "compressed along": lambda np, x: [x.compress([1, 0, 1], axis=0), np.ma.compress([0, 1], x)],
    "parts": lambda np, x: [x.real, x.imag, x.conj(), x.round(0), x.clip(0, 2)],
    "joined": lambda np, x: [np.ma.concatenate([x, x]), np.ma.vstack([x, x]), np.ma.stack([x, x[::-1]], 1)],
    "joined with an array": lambda np, x: [np.ma.concatenate([x, np.ones((1, 4))]), np.ma.append(x, [1])],
    "columns": lambda np, x: [np.ma.hstack((x, x)), np.ma.column_stack((x[0], x[1])), np.ma.dstack((x, x))],
    "chosen": lambda np, x: [np.ma.where(x > 1, x, 0), np.ma.where(x > 1, x, np.ma.masked), np.ma.where(x > 1)],
    "products": lambda np, x: [np.ma.dot(x, x.T), np.ma.dot(x, x[0]), np.ma.inner(x, x), np.ma.outer(x[0], x[1])],
    "strict product": lambda np, x: np.ma.dot(x, x.T, strict=True),
    "trace": lambda np, x: [x.trace(dtype="f8"), np.ma.trace(x, 1, dtype="f8")],
    "elements": lambda np, x: [
        x[0, 0],
        x[0, 1],
        x[1],
        x[:, 1:3],
        x[[0, 2]],
        x[np.array([True, False, True])],
        x[..., 0],
    ],
    "by itself": lambda np, x: [x[x > 1], x[np.ma.array([0, 2], mask=[0, 1])]],
    "masked by its iterator": lambda np, x: [operator.setitem(x.flat, k, v) for k, v in _flat_writes(np)] and x,
    "iterated": lambda np, x: [list(x), list(x.flat), x.flat[3], x.flat[2:5]],
    "lists": lambda np, x: [x.tolist(), x.tolist(7), x.tobytes(), len(x), bool((x == x).all() is np.ma.masked)],
    "text": lambda np, x: [repr(x), str(x), repr(x[0]), f"{x[:1, :1]}"],
    "memory": lambda np, x: [bytes(x), x.iscontiguous(), x.to_device("cpu"), np.from_dlpack(x)],
    "memory of the host": lambda np, x: _ctypes_shape(x),
    "bytes swapped": lambda np, x: [x.byteswap(), x.byteswap(True) is x],
    "part of elements": lambda np, x: [x.getfield("i1"), x.setfield(1, "i1"), x],
    "part of elements, masked": lambda np, x: [_masked_part(np, x), x],
    "read-only": lambda np, x: [x.setflags(write=False), x.flags.writeable, x.setflags(write=True)],
    "deleted": lambda np, x: operator.delitem(x, 0),
    "copied": lambda np, x: [copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))],
    "reduce": lambda np, x: [np.ma.add.reduce(x), np.ma.multiply.reduce(x, 1), np.ma.logical_or.reduce(x, axis=None)],
    "extremum": lambda np, x: [np.ma.maximum(x, 2), np.ma.minimum.reduce(x, 0), np.ma.maximum.reduce(x, axis=None)],
    "accumulate": lambda np, x: np.ma.add.accumulate(x),
    "alltrue": lambda np, x: [np.ma.alltrue(x), np.ma.sometrue(x, 1)],
    **{f"argsort {a}": lambda np, x, a=a: x.argsort(axis=a, kind="stable", endwith=a == 0) for a in (None, 0, 1)},
    "average": lambda np, x: [np.ma.average(x), np.ma.average(x, 0), np.ma.average(x, 1, [1, 2, 0, 4.0])],
    "average, returned": lambda np, x: np.ma.average(x, 1, np.ma.array([1.0, 2, 3, 4]), returned=True),
    "median": lambda np, x: [np.ma.median(x), np.ma.median(x, 0), np.ma.median(x, axis=(0, 1)), np.ma.median(x, 1)],
    "median, keepdims": lambda np, x: np.ma.median(x, axis=0, keepdims=True),
    "differences": lambda np, x: [np.ma.diff(x), np.ma.diff(x, 2, axis=0), np.ma.diff(x, prepend=1)],
    "all close": lambda np, x: [np.ma.allequal(x, x), np.ma.allequal(x, x, False), np.ma.allclose(x, x + 1)],
    "rows and columns": lambda np, x: [np.ma.mask_rowcols(x), np.ma.mask_rows(x), np.ma.mask_cols(x)],
    "convolved": lambda np, x: [np.ma.convolve(x[0], [1, 2]), np.ma.correlate(x[0], [1, 2], propagate_mask=False)],
    "rounded": lambda np, x: [np.ma.round(x, 0), np.ma.amax(x), np.ma.clip(x, 0, 2)],
    "as an index": lambda np, x: x[1:].nonzero(),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("run", UNARY.values(), ids=UNARY)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning", "ignore::FutureWarning")
def test_one_operand(run: Callable[..., Any], dtype: str, mask: Any) -> None:
    compare(run, lambda np: (operand(np, dtype, mask),))


BINARY: dict[str, Callable[[Any, Any, Any], Any]] = {
    **{
        name: lambda np, x, y, name=name: getattr(np.ma, name)(x, y)
        for name in (
            *(
                "add",
                "subtract",
                "multiply",
                "divide",
                "floor_divide",
                "remainder",
                "fmod",
                "power",
                "arctan2",
                "hypot",
            ),
            *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_xor"),
            *("bitwise_and", "bitwise_or", "left_shift", "right_shift", "maximum", "minimum"),
        )
    },
    **{
        f"numpy's {name}": lambda np, x, y, name=name: getattr(np, name)(x, y)
        for name in ("add", "divide", "power", "less", "equal", "logical_or", "maximum")
    },
    **{
        f.__name__: lambda np, x, y, f=f: f(x, y)
        for f in (operator.add, operator.truediv, operator.mod, operator.and_, operator.eq, operator.ne, operator.lt)
    },
    **{
        f.__name__: lambda np, x, y, f=f: f(x, y)
        for f in (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.ipow)
    },
    "a row": lambda np, x, y: [x + y[0], x[0] * y, x[:, :1] / y],
    "an array": lambda np, x, y: [x + y.data, y.data - x, x.data == y, np.add(x.data, y)],
    "outer": lambda np, x, y: [np.ma.add.outer(x[0], y[0]), np.ma.multiply.outer(y[1], x[2])],
    "maximum outer": lambda np, x, y: np.ma.maximum.outer(x[0], y[1]),
    "mask or": lambda np, x, y: np.ma.mask_or(x.mask, y.mask),
    "assigned": lambda np, x, y: [operator.setitem(x, 0, y[0]), operator.setitem(x, (slice(None), 1), y[:, 2])],
    "assigned an array": lambda np, x, y: operator.setitem(x, slice(1), y.data[:1]),
    "assigned by a mask": lambda np, x, y: operator.setitem(x, y.data > 1, 7),
    "assigned by a masked mask": lambda np, x, y: operator.setitem(x, y > 1, 7),
    "put": lambda np, x, y: [x.put([0, 3, 5], y[0, :3]), x.put([7], [3])],
    "putmask": lambda np, x, y: np.ma.putmask(x, y.data > 2, y),
    "chosen": lambda np, x, y: np.ma.where(x > y, x, y),
    "hard": lambda np, x, y: [x.harden_mask(), operator.setitem(x, 0, y[1]), operator.setitem(x, x.data > 1, 3)],
    "hard, put": lambda np, x, y: x.ravel().harden_mask().put([0, 1, 6], y.data[0, :3]),
    "hard, unmasked": lambda np, x, y: [x.harden_mask(), setattr(x, "mask", False), setattr(x, "mask", y.mask)],
    "flat": lambda np, x, y: setattr(x, "flat", y[0]),
    "mask set": lambda np, x, y: [setattr(x, "mask", y.mask), setattr(y, "mask", True)],
    "masked by hand": lambda np, x, y: [
        operator.setitem(x, (0, 0), np.ma.masked),
        operator.setitem(y, 1, np.ma.masked),
    ],
}


@pytest.mark.parametrize(
    "masks",
    [
        ("some masked", "some masked"),
        ("no mask", "some masked"),
        ("some masked", "no mask"),
        ("no mask", "none masked"),
        ("no mask", "no mask"),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "dtypes", [("f8", "f8"), ("i8", "f4"), ("i4", "i4"), ("f4", "u1"), ("?", "u2"), ("c8", "f8")], ids=str
)
@pytest.mark.parametrize("run", BINARY.values(), ids=BINARY)
@pytest.mark.filterwarnings(
    "ignore::numpy.exceptions.ComplexWarning", "ignore::FutureWarning", "ignore::DeprecationWarning"
)
def test_two_operands(run: Callable[..., Any], dtypes: tuple[str, str], masks: tuple[str, str]) -> None:
    compare(run, lambda np: (operand(np, dtypes[0], MASKS[masks[0]]), operand(np, dtypes[1], MASKS[masks[1]], True, 1)))


# --- masked arrays given to functions for plain arrays ----------------------------------------------------------------

TAKEN: dict[str, Callable[[Any, Any, Any], Any]] = {
    "reduction": lambda np, m, g: np.sum(m),
    "ufunc": lambda np, m, g: np.sqrt(m),
    "ufunc of two": lambda np, m, g: np.add(1, m),
    "ufunc of an array": lambda np, m, g: np.add(g, m),
    "operators": lambda np, m, g: [g * m, m * g, g - m, g / m, g**2 + m, m - g],
    "comparisons": lambda np, m, g: [g < m, m < g, g == m, m != g],
    "scan": lambda np, m, g: np.cumsum(m),
    "mean": lambda np, m, g: [np.mean(m), np.std(m), np.var(m), np.max(m), np.argmax(m)],
    "where": lambda np, m, g: np.where(g > 0, np.asarray(m), g),
    "shapes": lambda np, m, g: [np.reshape(m, (5, 1)), np.ravel(m), np.expand_dims(m, 0), np.transpose(m)],
    "shapes of lists": lambda np, m, g: [np.ma.reshape([1, 2], (2, 1)), np.ma.transpose([[1, 2]]), np.ma.transpose(g)],
    "shape": lambda np, m, g: [np.shape(m), np.ndim(m), np.size(m)],
    "asarray": lambda np, m, g: [np.asarray(m), np.array(m), np.copy(m)],
    "asanyarray": lambda np, m, g: [np.asanyarray(m), np.array(m, subok=True)],
    "require": lambda np, m, g: [np.require(m), np.require(m, "f4", "F"), np.require(m, None, "E")],
    "functions of ma": lambda np, m, g: [np.ma.add(g, m), np.ma.sum(m), np.ma.filled(m, 0), np.ma.getmask(m)],
    "an array with its mask": lambda np, m, g: np.ma.array(g, mask=m.mask) + m,
    "sorted": lambda np, m, g: [np.sort(m), np.argsort(m)],
}


@pytest.mark.parametrize("is_of_numpy", [False, True], ids=["ours", "NumPy's"])
@pytest.mark.parametrize("run", TAKEN.values(), ids=TAKEN)
def test_masked_arrays_are_operands(run: Callable[..., Any], is_of_numpy: bool) -> None:
    values, mask = numpy.array([3.0, 0.0, 2.0, 4.0, 1.0]), numpy.array([0, 0, 1, 0, 1], bool)
    g = numpy.array([1.0, 2.0, 3.0, 4.0, 0.0])
    reference = numpy.ma.array(values, mask=mask)
    operand = reference.copy() if is_of_numpy else gpunumpy.ma.array(gpunumpy.asarray(values), mask=mask)
    check_equal(observed(run(gpunumpy, operand, gpunumpy.asarray(g))), observed(run(numpy, reference, g)))


def test_distinct_elements() -> None:
    """Of integers and booleans NumPy loses the mask of what it finds by hashing."""
    for mask in MASKS.values():
        compare(lambda np, x: np.ma.unique(x), lambda np, mask=mask: (operand(np, "f8", mask),))


def test_results_are_of_this_package() -> None:
    m, g = numpy.ma.array([1.0, 2.0], mask=[0, 1]), gpunumpy.ones(2)
    ours = gpunumpy.ma.array(g, mask=[1, 0])
    for made in (g * m, g + m, gpunumpy.add(g, m), ours + m, m + ours, numpy.add(ours, m), numpy.sin(ours)):
        assert type(made) is gpunumpy.ma.MaskedArray
        assert isinstance(made.data, gpunumpy.ndarray)
    assert isinstance(m, gpunumpy.ma.MaskedArray)
    assert gpunumpy.ma.masked is numpy.ma.masked


def test_data_and_masks_are_shared() -> None:
    def made(np: Any) -> Any:
        g, m = np.arange(4.0), np.array([False, True, False, False])
        x = np.ma.array(g, mask=m)
        y, z, c = x[1:], np.ma.array(x), x.copy()
        y[0] = 7
        x[3] = np.ma.masked
        z += 1
        c[0] = np.ma.masked
        x.data[2] = 9
        v = x.reshape(2, 2)
        v[0, 0] = np.ma.masked
        return [g, m, x, y, z, c, v, x.T, x.view()]

    check_equal(observed(made(gpunumpy)), observed(made(numpy)))


def test_what_runs_on_the_host_keeps_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "_action", "warn")
    x = gpunumpy.ma.array([[1.0, 5.0, 2.0], [4.0, 3.0, 9.0]], mask=[[0, 1, 0], [0, 0, 0]])
    with pytest.warns(gpunumpy.HostFallbackWarning, match="apply_along_axis"):
        made = fallback.on_host(numpy.ma.apply_along_axis, "apply_along_axis")(lambda row: row.sum(), 1, x)
    assert made.tolist() == [3.0, 16.0]
    assert type(made) is gpunumpy.ma.MaskedArray


@pytest.mark.parametrize("dtype", ["U3", "O", "M8[s]"])
def test_other_dtypes_are_of_numpys_class(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "_action", "warn")
    x = gpunumpy.ma.array(numpy.array(["1", "2"]).astype("i8").astype(dtype), mask=[0, 1])
    assert type(x) is numpy.ma.MaskedArray
    assert isinstance(x, gpunumpy.ma.MaskedArray)
    assert x[1] is gpunumpy.ma.masked


def test_the_old_modules_have_the_same_names() -> None:
    import_names = (gpunumpy.ma.core.MaskedArray, gpunumpy.ma.extras.median, gpunumpy.ma.core.add)
    assert import_names == (gpunumpy.ma.MaskedArray, gpunumpy.ma.median, gpunumpy.ma.add)


def test_testing_compares_masked_arrays() -> None:
    x = gpunumpy.ma.array([1.0, 2.0], mask=[0, 1])
    gpunumpy.testing.assert_array_equal(x, numpy.ma.array([1.0, 3.0], mask=[0, 1]))
    with pytest.raises(AssertionError):
        gpunumpy.testing.assert_array_equal(x, [2.0, 2.0])


@pytest.mark.parametrize(
    "made", ["m.astype(float)", "m.astype('c16')", "m[1:]", "np.ma.array(m, dtype=float)", "m + 1"]
)
@pytest.mark.parametrize("look", ["repr(m)", "str(m)", "m.fill_value", "m.tolist()"])
def test_fill_values_of_what_is_made_of_an_array_that_was_shown(look: str, made: str) -> None:
    found = []
    for np in (gpunumpy, numpy):
        names = {"np": np, "m": np.ma.array([1, 2, 3], mask=[0, 1, 0])}
        eval(look, names)
        result = eval(made, names)
        found.append((result.fill_value.item(), repr(result)))
    assert found[0] == found[1]


MADE: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda np: np.ma.zeros((2, 3)),
    "zeros of a fill value": lambda np: np.ma.zeros(3, "c16", fill_value=-1.0),
    "ones": lambda np: np.ma.ones(3),
    "arange": lambda np: np.ma.arange(4),
    "identity": lambda np: np.ma.identity(2),
    "indices": lambda np: np.ma.indices((2, 2)),
    "fromfunction": lambda np: np.ma.fromfunction(lambda i, j: i + j, (2, 3)),
    "frombuffer": lambda np: np.ma.frombuffer(b"0123", "u1"),
    "view": lambda np: np.arange(4.0).view(np.ma.MaskedArray),
    "view of a dtype": lambda np: np.arange(4).view("f8", np.ma.MaskedArray),
    "view by names": lambda np: np.arange(4).view(dtype="f8", type=np.ma.MaskedArray),
    "median of no rows": lambda np: np.ma.median(np.ma.array(np.zeros((1, 0))), axis=0),
    "median of nothing": lambda np: np.ma.median(np.ma.array(np.zeros((1, 0))), axis=1),
    "median of NaN": lambda np: np.isscalar(np.ma.median(np.ma.array([[1, np.nan, 3], [1, 2, 3]]))),
    "dot of a number": lambda np: np.ma.dot(5.0, operand(np, "f8", MASKS["some masked"]), strict=True),
    "dot of vectors": lambda np: np.ma.array([1.0, 2, 3], mask=[0, 0, 1]).dot(np.ma.arange(3)).mask is np.ma.nomask,
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_making(make: Callable[..., Any]) -> None:
    compare(make, lambda np: ())


def test_making_takes_the_arguments_of_numpys_functions() -> None:
    for name in ("arange", "empty", "identity", "indices", "ones", "zeros"):
        assert list(signature(getattr(gpunumpy.ma, name)).parameters)[-2:] == ["fill_value", "hardmask"]


def test_a_view_as_a_masked_array_shares_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "_action", "warn")
    for np in (numpy, gpunumpy):
        plain = np.arange(4)
        records = np.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)])
        plain.view(np.ma.MaskedArray)[0] = 7
        records.view(np.ma.MaskedArray)["a"][0] = 5
        assert plain.tolist() == [7, 1, 2, 3]
        assert records["a"].tolist() == [5, 3]


OUTPUTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "ufunc": lambda np, m, out: np.add(m, 1.0, out=out),
    "ufunc of arrays": lambda np, m, out: np.add(m.data, 1.0, out),
    "ufunc that leaves its domain": lambda np, m, out: np.sqrt(m.data - 3, out=(out,)),
    "clip": lambda np, m, out: np.clip(m, 0, 3, out=out),
    "method clip": lambda np, m, out: m.clip(0, 3, out=out),
    "round": lambda np, m, out: m.round(out=out),
    "cumsum": lambda np, m, out: m.ravel().cumsum(out=out.ravel()),
    "sum": lambda np, m, out: m.sum(axis=0, out=out[0]),
    "operand": lambda np, m, out: np.add(m, 1.0, out=m),
    "function of ma": lambda np, m, out: np.ma.add(m, 1.0, out=out),
    "function of ma of an array": lambda np, m, out: np.ma.fabs(m.data, out),
    "function of ma that leaves its domain": lambda np, m, out: np.ma.sqrt(m - 3, out),
    "quotient of ma": lambda np, m, out: np.ma.divide(m, m - 3, out),
    "rounding of ma": lambda np, m, out: [np.ma.around(m, 1, out), np.ma.around(m, 1), np.ma.around(2, 0)],
    "function of ma to data": lambda np, m, out: [np.ma.add(m, 1.0, out.data), out.data],
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("run", OUTPUTS.values(), ids=OUTPUTS)
def test_masked_outputs(run: Callable[..., Any], mask: Any) -> None:
    gpunumpy.host_fallback("ignore")  # NumPy rounds to a number of decimals

    def make(np: Any) -> tuple[Any, ...]:
        return operand(np, "f8", MASKS["some masked"]), operand(np, "f8", mask, turned=True)

    compare(run, make)


NO_ERRORS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "divide": lambda np, x, y: x / y,
    "floor_divide": lambda np, x, y: x // y,
    "remainder": lambda np, x, y: np.ma.remainder(x, y),
    "fmod": lambda np, x, y: np.ma.fmod(x, y),
    "sqrt": lambda np, x, y: np.ma.sqrt(x),
    "log": lambda np, x, y: np.ma.log(x),
    "arccosh": lambda np, x, y: np.ma.arccosh(x),
    "power": lambda np, x, y: y**-1,
    "power in place": lambda np, x, y: operator.ipow(y, -1),
    "quotient that is no subnormal": lambda np, x, y: x / 2.0,
    "mean of what is masked": lambda np, x, y: [x[1:2].mean(), np.ma.average(x[1:2]), x[1:2].std()],
}


@pytest.mark.parametrize("run", NO_ERRORS.values(), ids=NO_ERRORS)
def test_what_a_mask_leaves_out_is_no_floating_point_error(run: Callable[..., Any]) -> None:
    results = []
    for np in (numpy, gpunumpy):
        x = np.ma.array([1.0, 0.0, -4.0, 0.0], mask=[0, 1, 0, 0])
        y = np.ma.array([2.0, 0.0, 2.0, 0.0], mask=[0, 1, 0, 0])
        with np.errstate(all="raise"):
            results.append(observed(run(np, x, y)))
    check_equal(results[1], results[0])


def test_masked_arrays_are_joined_by_index_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "_action", "ignore")
    compare(
        lambda np, x: (np.ma.mr_[x[0], 0, 1:3, x[1]], np.ma.mr_["1", x, x]),
        lambda np: (operand(np, "f8", MASKS["some masked"]),),
    )


def test_masked_arrays_match_sequence_patterns_as_numpys_do() -> None:
    matched = []
    for np in (numpy, gpunumpy):
        match np.ma.array([1, 2, 3], mask=[0, 1, 0]):
            case [first, second, _]:
                matched.append((int(first), second is np.ma.masked))
            case _:
                matched.append(None)
    assert matched[0] == matched[1]


@pytest.mark.parametrize("name", ["mask_rows", "mask_cols"])
def test_axis_of_rows_is_deprecated(name: str) -> None:
    for np in (numpy, gpunumpy):
        with pytest.warns(DeprecationWarning, match="axis argument has always been ignored"):
            getattr(np.ma, name)(np.ma.zeros((2, 2)), axis=0)


WRITTEN: dict[str, Callable[[Any, Any, Any], Any]] = {
    "in place": lambda np, a, m: operator.iadd(a, m),
    "in place, by the only masked element": lambda np, a, m: operator.imul(a, np.ma.masked),
    "quotient in place": lambda np, a, m: operator.itruediv(a, m),
    "power in place": lambda np, a, m: operator.ipow(a, m),
    "output": lambda np, a, m: np.add(a, m, out=a),
    "assignment": lambda np, a, m: operator.setitem(a, slice(1, None), m[1:]),
    "copyto": lambda np, a, m: np.copyto(a, m),
    "put": lambda np, a, m: np.put(a, [0], m),
    "at": lambda np, a, m: np.add.at(a, [0, 0], m[:2]),
    "put in a masked array": lambda np, a, m: np.put(m, [1, 0], 5),
    "copyto of a masked array": lambda np, a, m: np.copyto(m, a),
    "place in a masked array": lambda np, a, m: np.place(m, a > 1, [9]),
    "at of a masked array": lambda np, a, m: np.add.at(m, [0, 1, 0], 1),
    "diagonal of a masked array": lambda np, a, m: np.fill_diagonal(m.reshape(2, 2), 8),
}


@pytest.mark.parametrize("run", WRITTEN.values(), ids=WRITTEN)
def test_writing_with_masked_arrays(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "_action", "ignore")
    outcomes = []
    for np in (numpy, gpunumpy):
        a, m = np.array([1.0, 2.0, 3.0, 4.0]), np.ma.array([5.0, 6.0, 0.0, 7.0], mask=[0, 1, 0, 0])
        with numpy.errstate(all="ignore"):
            result = run(np, a, m)
        outcomes.append([result is a, observed(result), observed(a), observed(m)])
    check_equal(outcomes[1], outcomes[0])


def test_inner_products_of_vectors_are_scalars() -> None:
    compare(
        lambda np, x: (np.ma.inner(x[0], x[1]), np.ma.inner(x, x)),
        lambda np: (operand(np, "f8", MASKS["some masked"]),),
    )


def divided(np: Any, x: Any) -> Any:
    x /= np.zeros((0, 3))
    return x


# What masks elements, of which there are none.
WITHOUT_ELEMENTS: dict[str, Callable[[Any, Any], Any]] = {
    "where": lambda np, x: np.ma.where(np.zeros((0, 3), bool), x, x),
    "masked_where": lambda np, x: np.ma.masked_where(np.zeros((0, 3), bool), x),
    "masked_where, not copied": lambda np, x: np.ma.masked_where(np.zeros((0, 3), bool), x, copy=False),
    "masked_where of an array": lambda np, x: np.ma.masked_where(np.zeros((0, 3), bool), x.data),
    "masked_equal": lambda np, x: np.ma.masked_equal(x.data, 2),
    "masked_inside": lambda np, x: np.ma.masked_inside(x.data, 1, 2),
    "masked_values": lambda np, x: np.ma.masked_values(x.data, 2.0),
    "masked_values with a mask": lambda np, x: np.ma.masked_values(x.data, 2.0, shrink=False),
    "masked_object": lambda np, x: np.ma.masked_object(x.data, 2.0),
    "masked_invalid": lambda np, x: np.ma.masked_invalid(x.data),
    "fix_invalid": lambda np, x: np.ma.fix_invalid(x.data),
    "divide in place": lambda np, x: divided(np, np.ma.array(x.data)),
    "add": lambda np, x: np.ma.add(x, x),
    "out": lambda np, x: np.add(x, x, out=np.ma.array(np.zeros((0, 3)))),
    "clip with out": lambda np, x: x.clip(0, 1, out=np.ma.array(np.zeros((0, 3)))),
}


@pytest.mark.parametrize("name", ["any", "all", "sum"])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("make", WITHOUT_ELEMENTS.values(), ids=WITHOUT_ELEMENTS)
def test_without_elements_nothing_is_masked(make: Callable[[Any, Any], Any], name: str, axis: int | None) -> None:
    def run(np: Any, x: Any) -> Any:
        return np.ma.getmaskarray(getattr(make(np, x), name)(axis=axis))

    compare(run, lambda np: (np.ma.array(np.zeros((0, 3)), mask=np.zeros((0, 3), bool)),))


@pytest.mark.parametrize("key", [slice(3, None), slice(0, 0), slice(1, 2), slice(0, 2)])
def test_hard_masks_of_few_elements(key: slice) -> None:
    def run(np: Any, x: Any) -> Any:
        x.harden_mask()
        x[key] = 7
        return x

    compare(run, lambda np: (np.ma.array(np.arange(3.0), mask=[True, False, False]),))
    compare(run, lambda np: (np.ma.array(np.arange(3.0), mask=np.zeros(3, bool)),))


def test_subclasses_take_over_what_they_store() -> None:
    for np in (numpy, gpunumpy):

        class Stored(np.ma.MaskedArray):  # type: ignore[name-defined, misc]
            def __new__(cls, info: Any = None, **options: Any) -> Any:
                made = super().__new__(cls, **options)
                made._optinfo["info"] = info
                return made

        class Finalized(np.ma.MaskedArray):  # type: ignore[name-defined, misc]
            def __array_finalize__(self, source: Any) -> None:
                super().__array_finalize__(source)
                self.unit = "m"

        x = Stored("metres", data=[1.0, 2.0], mask=[0, 1])
        for made in (x, x + 1, x[1:], x.copy(), x.reshape(2, 1), np.ma.array(x), x > 1):
            assert (type(made), made._optinfo) == (Stored, {"info": "metres"})
        x[1:]._optinfo["of"] = "a result"
        assert x._optinfo == {"info": "metres"}
        assert type(x.view(np.ma.MaskedArray)) is np.ma.MaskedArray
        y = np.arange(3.0).view(Finalized)
        for made in (y, y + 1, y[1:], y.copy(), np.sqrt(y)):
            assert (type(made), made.unit) == (Finalized, "m")


def test_classes_of_a_higher_priority_compute() -> None:
    class Other:
        __array_priority__ = 100

        def __mul__(self, x: Any) -> str:
            return "left"

        def __rmul__(self, x: Any) -> str:
            return "right"

    for np in (numpy, gpunumpy):
        x = np.ma.array([1.0, 2.0], mask=[0, 1])
        assert (x * Other(), Other() * x) == ("right", "left")


@pytest.mark.parametrize("dtype", [None, "f4"])
@pytest.mark.parametrize("name", ["asarray", "asanyarray", "array", "MaskedArray"])
def test_numpys_masked_arrays_of_ours(name: str, dtype: Any) -> None:
    """Plots make such arrays."""
    x = gpunumpy.ma.masked_greater(gpunumpy.arange(4.0), 1)
    made = getattr(numpy.ma, name)(x, dtype=dtype)
    assert repr(made) == repr(numpy.ma.array([0, 1, 2, 3], dtype or "f8", mask=[0, 0, 1, 1]))
    assert made.filled(9).tolist() == [0, 1, 9, 9]


@pytest.mark.parametrize("masks", [(0, 0), (1, 0), (0, 1), (1, 1)], ids=str)
def test_matrix_products(masks: tuple[int, int]) -> None:
    products: list[Any] = []
    for np in (numpy, gpunumpy):
        values = [[1.0, 2.0], [3.0, 4.0]]
        x, y = (
            np.ma.array(values, mask=mask if is_masked else np.ma.nomask)
            for mask, is_masked in zip(([[0, 1], [0, 0]], [[1, 0], [0, 0]]), masks, strict=True)
        )
        data, seen = x.data, x
        products.append([observed(z) for z in (x @ y, np.matmul(x, y), x @ np.array(values), np.array(values) @ y)])
        x @= y
        assert x is seen or np is numpy
        products[-1] += [observed(x), data.tolist()]
    check_equal(products[1], products[0])


def test_signs_of_zero_quotients() -> None:
    texts = []
    for np in (numpy, gpunumpy):
        x = np.ma.array([0.0, -0.0, 1.0, numpy.inf, 1e-320], mask=[0, 0, 1, 0, 0])
        y = np.ma.array([-1.0, 1, 0, 2, -1e10])
        with numpy.errstate(all="ignore"):
            texts.append([repr((x / y).data.tolist()), repr((x // y).data.tolist()), repr(np.ma.divide(x, y).tolist())])
    assert texts[0] == texts[1]


PRODUCTS: dict[str, Callable[[Any, Any], Any]] = {
    "of a matrix": lambda np, m: m @ m,
    "with a plain one": lambda np, m: m @ np.eye(2),
    "of stacks": lambda np, m: np.ma.stack([m, m]) @ m,
    "behind one of NumPy's": lambda np, m: numpy.array([[1.0, 2], [3, 4]]) @ m,
    "with a plain stack": lambda np, m: m @ np.ones((2, 2, 2)),
    "of vectors": lambda np, m: m[0] @ m[0],
    "of more columns": lambda np, m: m @ np.ones((2, 3)),
    "in place, of vectors": lambda np, m: operator.imatmul(m[0], m[0]),
}


@pytest.mark.parametrize("place", ["auto", "device"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_matrix_products_hide_what_is_masked(name: str, place: str, residence: None) -> None:
    gpunumpy.set_residence(place)
    found, expected = (
        result_or_error(lambda np=np: PRODUCTS[name](np, np.ma.array([[1.0, 2], [3, 4]], mask=[[0, 1], [0, 0]])))
        for np in (gpunumpy, numpy)
    )
    if isinstance(expected, Exception):
        assert type(found) is type(expected)
    else:
        numpy.testing.assert_array_equal(numpy.asarray(found.mask), expected.mask)
        numpy.testing.assert_array_equal(numpy.asarray(found.filled(0)), expected.filled(0))


@pytest.mark.parametrize("place", ["auto", "device"])
def test_a_masked_condition(place: str, residence: None) -> None:
    gpunumpy.set_residence(place)
    texts = []
    for np in (gpunumpy, numpy):
        x = np.ma.array([1.0, 2, 3, 4], mask=[1, 0, 0, 0])
        out = np.ma.zeros(4)
        texts.append([repr(np.multiply(x, x, out=out, where=x > 2)), repr(out)])
    assert texts[0] == texts[1]


@pytest.mark.parametrize("dtype", ["i4", "u1"])
def test_smaller_elements_have_no_mask(dtype: str) -> None:
    for np in (gpunumpy, numpy):
        x = np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
        with pytest.raises(ValueError, match="cannot reshape"):
            x.view(dtype)
        assert np.ma.array([1, 2]).view(dtype).dtype == dtype
        assert np.ma.zeros((0, 3)).view(dtype).size == 0


@pytest.mark.parametrize("place", ["auto", "device"])
@pytest.mark.parametrize("shape", [(5,), (4, 3)])
def test_shuffles_keep_every_row(shape: tuple[int, ...], place: str, residence: None) -> None:
    gpunumpy.host_fallback("ignore")  # NumPy shuffles masked arrays
    gpunumpy.set_residence(place)
    texts = []
    for np in (gpunumpy, numpy):
        values = numpy.arange(numpy.prod(shape)).reshape(shape)
        x = np.ma.array(values, mask=values % 4 == 1)
        np.random.default_rng(3).shuffle(x)
        np.random.RandomState(4).shuffle(x)
        texts.append(repr(x))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("call", ["x**2", "2**x", "np.ma.log(2**x)", "x**2 > 1"])
def test_powers_have_no_fill_value_of_their_own(call: str) -> None:
    found, expected = (eval(call, {"np": np, "x": np.ma.array([1, 2], mask=[0, 1])}) for np in (gpunumpy, numpy))
    assert found.fill_value == expected.fill_value
    assert found.filled().dtype == expected.filled().dtype
