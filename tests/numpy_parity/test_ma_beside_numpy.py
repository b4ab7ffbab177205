"""Masked arrays of this package as arguments of NumPy's own functions, subclasses of them, and their fill values."""

from __future__ import annotations

import pickle
import re
import sys
from typing import Any

import numpy
import pytest

import gpunumpy

pytestmark = pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning", "ignore::DeprecationWarning")

BY_NUMPY = (
    *("unique(m)", "squeeze(m)", "clip(m, 0, 3)", "union1d(m, m)", "intersect1d(m, m)", "setdiff1d(m, m[0])"),
    *("setxor1d(m, m[0])", "zeros_like(m)", "median(m)", "array(m) + 1", "asanyarray(m).sum()", "masked_invalid(m)"),
    *("filled(masked_invalid(m), 0)", "cov(m)", "array(m).mean(0)", "where(m > 2, m, 0)", "stack([m, m])", "mean(m)"),
    *("sum([m, m])", "average([m, m])", "count([m, m])", "array([m, m])", "std([m, m])", "sort([m, m])", "dot(m, m)"),
    *("cumsum([m, m])", "masked_where(m > 2, m)", "masked_inside(m, 2, 4)", "corrcoef(m)", "vstack([m, m])"),
    *(
        "isin(m, [1, 2])",
        "isin(m[0], m[1])",
        "ediff1d(m)",
        "ediff1d(m, 1, 2)",
        "diff(m)",
        "diff(m, axis=0)",
        "ravel(m)",
    ),
    *("compressed(m)", "apply_along_axis(sum, 0, m)", "notmasked_contiguous(m, axis=0)", "cov(m[0], m[0])"),
    *("array(m, ndmin=3, copy=True).mask", "sqrt(m, m)", "arccos(m, m)", "log(m, out=m)", "array(m[0], ndmin=2) + m"),
)


def masked(np: Any) -> Any:
    return np.ma.array([[1.0, 2.0, 5.0], [3, 4, 2], [9, 8, 7]], mask=[[0, 1, 0], [0, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize("call", BY_NUMPY)
def test_functions_of_numpy_ma(call: str) -> None:
    """As libraries call them: matplotlib masks what is invalid."""
    found, expected = (eval(call, {**vars(numpy.ma), "m": masked(np)}) for np in (gpunumpy, numpy))
    assert str(found) == str(expected)


# Arguments of every function. Those without a value, or that tell classes and addresses, are left out.
FORMS = ("m", "m, m", "m, 2", "2, m", "m, [1, 2]", "[m, m]", "m[0], m[0]", "m, n", "n, m", "m, axis=0", "m > 2, m, m")
LEFT_OUT = (
    *("ids", "isMA", "isMaskedArray", "isarray", "empty", "empty_like", "masked_all", "masked_all_like"),
    "ndenumerate",
)
FUNCTIONS = [name for name in numpy.ma.__all__ if callable(getattr(numpy.ma, name)) and name not in LEFT_OUT]


_LONG_NUMBER = re.compile(r"\d+\.\d{11,}(e[-+]\d+)?")


def rounded(text: str) -> str:
    """Return a text with numbers of ten digits, which are those of every device, and single spaces."""
    return " ".join(_LONG_NUMBER.sub(lambda number: f"{float(number[0]):.10g}", text).split())


def shown(x: Any) -> str:
    """Return the elements of a result as text, with its dtype, and without the class."""
    if isinstance(x, (list, tuple)):
        return str([shown(part) for part in x])
    return f"{x}, {x.dtype}" if hasattr(x, "dtype") and numpy.ndim(x) else str(x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_of_numpy_ma(name: str) -> None:
    """With masked arrays of this package it does what it does with NumPy's: to its arguments, too."""
    if name in ("frombuffer", "fromflex") and sys.version_info < (3, 12):
        pytest.skip("before Python 3.12 masked arrays are no buffers")
    for form in FORMS:
        outcomes: list[Any] = []
        for np in (numpy, gpunumpy):
            m, n = masked(np), numpy.ma.array([[1.0, 0, 2], [3, 4, 5], [6, 7, 8]], mask=[[1, 0, 0], [0] * 3, [0] * 3])
            try:
                result = eval(f"{name}({form})", {**vars(numpy.ma), "m": m, "n": n})
                outcomes.append(tuple(map(rounded, (shown(result), str(m), str(n)))))
            except Exception as error:
                outcomes.append(error)
        if not isinstance(outcomes[0], Exception):
            assert outcomes[1] == outcomes[0], form


def test_conversions() -> None:
    m = masked(gpunumpy)
    kept = numpy.asanyarray(m)
    assert type(kept) is numpy.ma.MaskedArray
    numpy.testing.assert_array_equal(kept.mask, masked(numpy).mask)
    assert type(numpy.asarray(m)) is type(numpy.array(m)) is numpy.ndarray
    assert type(m.view(numpy.ma.MaskedArray)) is gpunumpy.ma.MaskedArray
    assert numpy.asarray(m, dtype="f4").dtype == numpy.float32


JOINED = (
    *("concatenate([s, s])", "stack([s, s])", "diff(s)", "roll(s, 1)", "vstack([s, s])", "flip(s)", "tile(s, 2)"),
    *("unique(s)", "append(s, s)", "sort(s)", "cumsum(s)", "where(s > 1, s, s)", "ma.concatenate([s, s])"),
)


@pytest.mark.parametrize("call", JOINED)
def test_results_of_a_subclass(call: str) -> None:
    outcomes = []
    for np in (gpunumpy, numpy):

        class Own(np.ma.MaskedArray):  # type: ignore[name-defined, misc]
            pass

        result = eval(f"np.{call}", {"np": np, "s": masked(np).view(Own)})
        outcomes.append((type(result).__name__, str(result)))
    assert outcomes[0] == outcomes[1]


WRAPPED = (
    *("np.sqrt(s)", "np.add(s, 1)", "s + 1", "s % 2", "-s", "abs(s)", "np.divmod(s, 2)", "np.modf(s)", "np.isnan(s)"),
    *("np.add(np.ma.array([1, 2, 3]), s)", "np.add(s, np.ma.array([1, 2, 3]))", "np.ma.array([1, 2, 3]) % s", "s < 2"),
    *("np.sqrt(s[:1].reshape(()))", "np.sqrt(s[2:].reshape(()))", "np.ma.sqrt(s)", "np.divide(s, 0)", "np.less(s, 2)"),
    *(
        "s.__array_wrap__(np.array([5.0, 6.0, 7.0]))",
        "s.__array_wrap__(s)",
        "s.__array_wrap__(np.ma.array([1, 2], mask=[1, 0]))",
    ),
    *("np.ma.array([1.0, 2], mask=[0, 1]).__array_wrap__(np.array([5.0, 6.0]))", "pickle.loads(pickle.dumps(s))"),
)


@pytest.mark.parametrize("call", WRAPPED)
def test_methods_that_a_subclass_of_masked_arrays_calls(call: str) -> None:
    """It adds an attribute to results and pickles, by `__array_wrap__`, `__reduce__` and `__setstate__`."""
    outcomes = []
    for np in (numpy, gpunumpy):
        calls: list[Any] = []

        class Own(np.ma.MaskedArray):  # type: ignore[name-defined, misc]
            def __array_finalize__(self, obj: Any) -> None:
                super().__array_finalize__(obj)
                self.info = getattr(obj, "info", None)

            def __array_wrap__(self, obj: Any, context: Any = None, return_scalar: bool = False) -> Any:
                calls.append((context and (context[0].__name__, context[2]), return_scalar))  # noqa: B023
                result = super().__array_wrap__(obj, context, return_scalar)
                if result is not numpy.ma.masked:
                    result.info = "wrapped"
                return result

            def __reduce__(self) -> Any:
                make, args, state = super().__reduce__()
                return make, args, (*state, self.info)

            def __setstate__(self, state: Any) -> None:
                super().__setstate__(state[:-1])
                self.info = f"{state[-1]}, restored"

        Own.__qualname__, Own.__module__ = "_Own", __name__
        globals()["_Own"] = Own
        s = np.ma.array([4.0, -1, 9], mask=[0, 0, 1]).view(Own)
        s.info = "made"
        with numpy.errstate(all="ignore"):
            result = eval(call, {"np": np, "s": s, "pickle": pickle})
        parts = result if isinstance(result, tuple) else (result,)
        outcomes.append(([(type(x).__name__, str(x), getattr(x, "info", None)) for x in parts], calls[:1]))
    assert outcomes[0] == outcomes[1]


def test_arrays_have_no_array_interface() -> None:
    with pytest.raises(AttributeError, match="NumPy's array"):
        getattr(gpunumpy.ma.array([1]), "__array_interface__")  # noqa: B009


FILLED = (
    *("np.sqrt(m)", "m * 1.5", "m / 2", "m.astype(float)", "np.isnan(m)", "np.log(m)", "np.ma.exp(m)", "m > 1"),
    *("np.greater(m, 1)", "np.ma.logical_not(m)", "m.cumsum()", "m.reshape(1, 2)", "np.signbit(m)", "m.astype('c16')"),
    *("np.ma.add(m, .5)", "np.ma.where(m > 1, m, .5)", "m.std(keepdims=True)", "m.astype('U3')", "m.astype('f4')"),
    *("np.ma.concatenate([m, m * 2.5])", "np.sqrt(m).copy()", "(m * 1.5)[:1]", "m.astype(int)", "m.astype(bool)"),
    *("np.ma.setxor1d(m.astype('u1'), [1])", "np.ma.apply_over_axes(np.ma.sum, m.astype('f4'), 0)"),
    *("np.ma.unique(m)", "np.ma.unique(m, True)[0]", "np.ma.unique(m.data)"),
    *("np.ma.filled(m * 1.5)", "m // 2.", "np.sqrt(m).filled()", "m.astype(int).filled()"),
)


@pytest.mark.parametrize("values", [[1, 2], [1.0, 2.5]])
@pytest.mark.parametrize("call", FILLED)
def test_fill_values_after_printing(call: str, values: list[float]) -> None:
    texts = []
    for np in (gpunumpy, numpy):
        m = np.ma.array(values, mask=[0, 1])
        repr(m)
        with numpy.errstate(all="ignore"):
            result = eval(call, {"np": np, "m": m})
        texts.append((repr(result), str(getattr(result, "fill_value", None))))
    assert texts[0] == texts[1]


PLAIN = (
    *("array_equal(m, n)", "array_equal(m, m.data, equal_nan=True)", "array_equiv(m, m[0])", "array_equal(x, m[0])"),
    *("isin(m, [1, 2])", "isin(x, m)", "isin(m, n, invert=True)", "result_type(m, 1)", "result_type('f4', m)"),
    *("common_type(m, x)", "min_scalar_type(m)", "may_share_memory(m, m.data)", "shares_memory(m, m[1:])"),
    *("shares_memory(m, n)", "array_repr(m)", "array_str(m[0])", "array2string(m, precision=1)", "copyto(m, n)"),
    *("copyto(x, m[0])", "copyto(m, 7, where=[True, False, False])", "array_equal(numpy_m, m)", "isin(numpy_m, x)"),
    "ma.make_mask_descr('i4,f4')",
)


@pytest.mark.parametrize("call", PLAIN)
def test_plain_functions_of_masked_arrays(call: str) -> None:
    gpunumpy.host_fallback("error")
    texts = []
    for np in (gpunumpy, numpy):
        names = {"m": masked(np), "n": masked(np)[::-1], "x": np.arange(3.0), "numpy_m": masked(numpy)}
        found = eval(f"np.{call}", {"np": np, **names})
        texts.append((repr(found).replace("gpunumpy", "numpy"), str(names["m"]), str(names["x"])))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("dtype", ["i8", "f4", "c8", "?"])
@pytest.mark.parametrize("mask", [numpy.ma.nomask, [0, 1]], ids=["without a mask", "with a mask"])
def test_another_dtype_in_place(dtype: str, mask: Any) -> None:
    outcomes: list[Any] = []
    for np in (gpunumpy, numpy):
        x = np.arange(2.0)
        m = np.ma.array(x, mask=mask, copy=False)
        try:
            m.dtype = dtype
            outcomes.append((str(m), m.shape, str(m.dtype), str(m.fill_value)))
        except ValueError:
            outcomes.append(ValueError)
        outcomes[-1] = outcomes[-1], x.dtype, x.tolist()
    assert outcomes[0] == outcomes[1]


def test_a_dtype_that_no_kernel_computes_is_refused() -> None:
    m = gpunumpy.ma.array([1.0, 2.0], mask=[0, 1])
    with pytest.raises(ValueError, match=r"x\.view"):
        m.dtype = "M8[s]"
    assert m.tolist() == [1, None]


@pytest.mark.parametrize("call", ["i.choose(0, 1, 2, 3)", "i.choose([0, 1, 2, 3])", "i.choose(5, 6, mode='clip')"])
def test_choices_of_the_method(call: str) -> None:
    found, expected = (str(eval(call, {"i": np.ma.array([0, 3, 1], mask=[0, 0, 1])})) for np in (gpunumpy, numpy))
    assert found == expected
