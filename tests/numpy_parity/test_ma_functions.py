"""Functions of `numpy.ma` that NumPy writes in Python, beside NumPy: its code over arrays of this package."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.ma.numpy_code import NAMES

from .test_ma import check_equal, observed, outcome

pytestmark = pytest.mark.filterwarnings("ignore")

MASKS: tuple[Any, ...] = (numpy.ma.nomask, [0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0], [1, 0, 0, 0, 0, 1], [1] * 6)
# Calls with `np`, the arrays `x` and `y` of six elements, and `m` of two dimensions.
CALLS: dict[str, tuple[str, ...]] = {
    "apply_along_axis": (
        *("lambda r: r.sum(), 1, m", "lambda r: r * 2, 0, m", "lambda r: r[0], -1, m", "lambda r: r.max(), 0, x"),
        *("lambda r: r[:2], 0, m", "lambda r, k: r + k, 1, m, 3", "lambda r: r, 2, m"),
    ),
    "apply_over_axes": ("np.ma.sum, m, [0, 1]", "np.ma.max, m, 0", "np.ma.sum, m, -1"),
    "clump_masked": ("x",),
    "clump_unmasked": ("x",),
    "common_fill_value": ("x, y", "x, m", "x, np.ma.array([1, 2])"),
    "compress_cols": ("m", "x"),
    "compress_nd": ("m", "m, 0", "m, (0, 1)", "m, 3", "x"),
    "compress_rowcols": ("m", "m, 0", "m, axis=1", "x"),
    "compress_rows": ("m", "x"),
    "corrcoef": ("x", "m", "m, rowvar=False", "x, y", "m, allow_masked=False"),
    "cov": ("x", "m", "m, rowvar=False", "x, y", "m, bias=True", "m, ddof=0", "m, allow_masked=False", "m, ddof=1.5"),
    "ediff1d": ("x", "x, 5", "x, to_begin=[1, 2]", "x, to_end=np.ma.masked", "m"),
    "flatnotmasked_contiguous": ("x", "m"),
    "flatnotmasked_edges": ("x", "m"),
    "in1d": ("x, y", "x, y, True", "x, y, invert=True", "x, [1, 2]"),
    "intersect1d": ("x, y", "x, y, True", "x, m"),
    "isin": ("x, y", "m, x", "m, [1, 2]", "m, y, invert=True"),
    "notmasked_contiguous": ("x", "m", "m, 0", "m, axis=1"),
    "notmasked_edges": ("x", "m", "m, 0", "m, axis=1"),
    "polyfit": ("x, y, 1", "y, x, 2, w=[1, 2, 3, 1, 2, 3]", "x, y, 1, cov=True", "x, m, 1", "x, y[:3], 1"),
    "round_": ("x", "m, 1"),
    "set_fill_value": ("x, 3", "m, 2", "[1], 2"),
    "setdiff1d": ("x, y", "x, y, True", "x, [1, 2]"),
    "setxor1d": ("x, y", "x, y, True"),
    "union1d": ("x, y", "m, x", "x, [1, 2]"),
    "unique": ("x", "x, True", "x, return_inverse=True", "m, True, True"),
    "vander": ("x", "x, 3", "m"),
}
METHODS = (
    *("x.argpartition(2).mask", "x.data[x.argpartition(2).data][2]", "m.argpartition(1, axis=0).mask"),
    "m.argpartition(2, axis=None).mask",
    *("(lambda part: part.partition(3) or part.data[3])(x.copy())", "i.choose([x, y, 2])"),
)
# Of booleans, and of integers up to the largest, NumPy takes masked elements for the largest value: results then have
# elements twice that are beside masked ones.
REPEATING = ("in1d", "intersect1d", "isin", "setdiff1d", "setxor1d", "union1d", "unique")


def test_every_function_is_called() -> None:
    assert {name for name in NAMES if hasattr(numpy.ma, name)} <= set(CALLS)


def arrays(np: Any, dtype: str, mask: Any) -> dict[str, Any]:
    """The arrays that calls use."""
    x, y = numpy.array([3, 1, 2, 5, 3, 0]).astype(dtype), numpy.array([1, 2, 2, 9, 5, 4]).astype(dtype)
    other = mask if mask is numpy.ma.nomask else mask[::-1]
    return {
        "np": np,
        "x": np.ma.array(np.asarray(x), mask=mask),
        "y": np.ma.array(np.asarray(y), mask=other),
        "m": np.ma.array(np.asarray(numpy.stack([x, y])), mask=mask if mask is other else [mask, other]),
        "i": np.ma.array(np.asarray(x.real.astype(int) % 3), mask=mask),
    }


def both(call: str, dtype: str, mask: Any) -> tuple[Any, Any]:
    """What a call returns with each library, with the arguments afterwards, or the errors."""
    results = []
    for np in (gpunumpy, numpy):
        names = arrays(np, dtype, mask)
        results.append(
            outcome(lambda names=names: without_empty_masks(observed([eval(call, names), names["x"], names["m"]])))
        )
    return results[0], results[1]


def without_empty_masks(x: Any) -> Any:
    """What `observed` returns, with no mask in the place of one that has no true element."""
    if not isinstance(x, list):
        return x
    is_array = len(x) == 6 and isinstance(x[0], str)
    if is_array and x[2] is not None and not x[2].any():
        return [*x[:2], None, *x[3:]]
    return x if is_array else [without_empty_masks(part) for part in x]


def test_the_first_call_of_a_program() -> None:
    """Code of NumPy in C imports what it needs when it is first called, by the names built into its caller."""
    program = "import gpunumpy as np; print(np.ma.compress_rows(np.ma.array(np.eye(2), mask=[[0, 1], [0, 0]])))"
    environment = os.environ | {"GPUNUMPY_RESIDENCE": "auto"}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert (ran.stdout, ran.returncode) == ("[[0. 1.]]\n", 0), ran.stderr


@pytest.mark.parametrize("mask", MASKS, ids=str)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "c16", "?"])
@pytest.mark.parametrize("name", [name for name in CALLS if hasattr(numpy.ma, name)])
def test_functions(name: str, dtype: str, mask: Any) -> None:
    gpunumpy.host_fallback("error")
    if dtype == "?" and name in REPEATING:
        pytest.skip("elements beside masked ones are repeated")
    for arguments in CALLS[name]:
        compare(*both(f"np.ma.{name}({arguments})", dtype, mask), f"{name}({arguments})", dtype)


@pytest.mark.parametrize("mask", MASKS, ids=str)
@pytest.mark.parametrize("call", METHODS)
def test_methods(call: str, mask: Any) -> None:
    gpunumpy.host_fallback("error")
    for dtype in ("f8", "i8", "u1"):
        compare(*both(call, dtype, mask), call, dtype)


def compare(found: Any, expected: Any, call: str, dtype: str) -> None:
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected)), (call, found, expected)
    else:
        assert not isinstance(found, Exception), (call, found, expected)
        check_equal(found, expected)


def test_the_functions_take_plain_arrays_and_numpys() -> None:
    gpunumpy.host_fallback("error")
    functions: tuple[Callable[..., Any], ...] = (
        lambda np, x: np.ma.union1d(x, x + 1),
        lambda np, x: np.ma.cov(x),
        lambda np, x: np.ma.vander(x, 3),
        lambda np, x: np.ma.isin(x, [1.0]),
    )
    for function in functions:
        host = numpy.arange(4.0)
        masked = numpy.ma.array(host, mask=[0, 1, 0, 0])
        check_equal(observed(function(gpunumpy, gpunumpy.asarray(host))), observed(function(numpy, host)))
        check_equal(observed(function(gpunumpy, masked)), observed(function(numpy, masked)))


def test_of_other_dtypes_they_are_numpys() -> None:
    x = numpy.ma.array(numpy.array(["b", "a", "b"]), mask=[0, 0, 1])
    assert gpunumpy.ma.union1d(x, x).tolist() == numpy.ma.union1d(x, x).tolist()


def test_positions_of_the_sorted_are_along_the_last_axis() -> None:
    for xp in (numpy, gpunumpy):
        x = xp.ma.array([[3, 1], [1, 2]], mask=[[0, 1], [0, 0]])
        assert xp.argsort(x).tolist() == [[0, 1], [0, 1]]
        assert xp.argsort(x, axis=0).tolist() == [[1, 1], [0, 0]]
        assert xp.argsort(x, axis=None).tolist() == [2, 3, 0, 1]


@pytest.mark.parametrize("name", ["hstack", "vstack", "stack"])
def test_a_dtype_of_joined_arrays_is_not_the_masks(name: str) -> None:
    joined = [getattr(xp.ma, name)(([1], xp.ma.array([2], mask=[1])), dtype="f4") for xp in (numpy, gpunumpy)]
    assert joined[0].mask.dtype == joined[1].mask.dtype == bool
    assert joined[0].tolist() == joined[1].tolist()
    assert joined[0].dtype == joined[1].dtype


def test_keywords_of_functions_that_call_methods() -> None:
    for xp in (numpy, gpunumpy):
        x = xp.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
        assert xp.ma.ravel(x, order="F").tolist() == [1, 3, None, 4]
        assert xp.ma.ravel(x).tolist() == [1, None, 3, 4]
        assert xp.ma.clip(x, a_min=2, a_max=3).tolist() == [[2, None], [3, 3]]
        assert xp.ma.clip(x, 2, a_max=3).tolist() == [[2, None], [3, 3]]
        assert xp.ma.clip(x, min=2, max=3).tolist() == [[2, None], [3, 3]]
        with pytest.raises(TypeError, match="a_min"):
            xp.ma.clip(x, a_max=3)
        assert [getattr(xp.ma, name)(obj=[1, 3], axis=0).item() for name in ("max", "min", "ptp")] == [3, 1, 2]
        with pytest.raises(TypeError):
            xp.ma.max(a=[1, 3])
        assert xp.ma.compress([False, True], x, axis=1).tolist() == [[None], [4]]


@pytest.mark.parametrize("mask", [False, [0, 1, 0], True])
@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
def test_reductions_to_an_object(name: str, mask: Any) -> None:
    found, expected = (getattr(np.ma.array(np.arange(1, 4), mask=mask), name)(dtype=object) for np in (gpunumpy, numpy))
    assert str(found) == str(expected)


# What is in brackets behind `mr_`: masked arrays, plain ones, numbers and slices, with directives or without.
BRACKETS = (
    *("m, 0, 0, m", "m", "'1', n, n", "'0,2', m, m", "'0,2,0', m, p", "p, m", "1, 2, m", "0:3, m", "0:1:5j, m"),
    *("p, p", "1, 2, 3", "masked, m", "'a', m", "m, 'r'", "[1, 2], m", "n, n", "()", "m, True, 1j", "'m, m'", "m[:1]"),
)


@pytest.mark.parametrize("brackets", BRACKETS)
def test_arrays_joined_in_brackets(brackets: str) -> None:
    gpunumpy.host_fallback("error")
    outcomes: list[tuple[Any, ...]] = []
    for np in (numpy, gpunumpy):
        m, n = np.ma.array([1.0, 2, 3], mask=[0, 1, 0]), np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
        try:
            names = {"ma": np.ma, "masked": np.ma.masked, "m": m, "n": n, "p": np.asarray([5, 6])}
            found = eval(f"ma.mr_[{brackets}]", names)
        except Exception as error:
            outcomes.append((type(error).__name__, str(error)))
        else:
            outcomes.append((repr(found), str(found.dtype), np.ma.getmask(found) is np.ma.nomask))
            assert isinstance(found, np.ma.MaskedArray)
    assert outcomes[0] == outcomes[1]
