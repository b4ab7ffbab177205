"""Every public function with every keyword beside NumPy: values, dtypes, shapes, memory order and types of errors."""

from __future__ import annotations

import re
import warnings
from fnmatch import fnmatchcase
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.numpy_release import RELEASE
from gpunumpy.kernels.cuda import tiers

from .keyword_calls import CALLS, calls_with_keywords, keywords, public_functions
from .keyword_differences import DIFFERENCES
from .keywords import NOT_CALLED

DTYPES = ("?", "u1", "i8", "f4", "f8", "c16")
_NUMBERS = numpy.array([3, 1, 0, 3, 7, 4])


def _data(dtype: str) -> dict[str, Any]:
    """The arrays that calls use, as NumPy's."""
    kind = numpy.dtype(dtype).kind
    numbers: Any = _NUMBERS
    if kind in "if":
        numbers = numbers * [1, -1, 1, 1, 1, -1]
    if kind in "fc":
        numbers = numbers / 2
    if kind == "c":
        numbers = numbers + 1j * numbers[::-1]
    x = numbers.astype(dtype)
    m = numpy.resize(x, (3, 4))
    q = numpy.array([[4, 1, 0], [1, 5, 2], [0, 1, 3]]).astype(dtype)
    return {
        "x": x,
        "y": x[[1, 0, 2, 5, 4, 3]],
        "z": x[::-1].copy(),
        "m": m,
        "w": m[::-1, ::-1].copy(),
        "f": numpy.asfortranarray(numpy.resize(x[::-1], (3, 4))),
        "row": x[[5, 0, 1, 1]],
        "q": q,
        "h": numpy.array([[4, 1, 0], [1, 5, 1], [0, 1, 3]]).astype(dtype),
        "c": numpy.resize(x, (2, 3, 4)),
        "zero": numpy.array(x[0]),
        "none": x[:0],
        "b": numpy.array([True, False, True, True, False, False]),
        "bm": numpy.array([[True, False, True, True], [False, True, True, False], [True, True, True, False]]),
        "i": numpy.array([5, 0, 2, 2, 1, 3]),
    }


class _New:
    """Makes the arrays of `out` and keeps them, so that what is written into them can be compared."""

    def __init__(self, xp: Any, result: Any) -> None:
        self.xp, self.made, self.first = xp, [], result[0] if isinstance(result, tuple) and result else result

    def __call__(self, dtype: Any, order: str = "C", more: int = 0, larger: int = 0) -> Any:
        shape = (2,) * more + tuple(n + larger for n in numpy.shape(self.first))
        self.made.append(self.xp.asarray(numpy.full(shape, 9, dtype, order)))
        return self.made[-1]

    def fixed(self, dtype: Any) -> Any:
        """Make an array that cannot be written to."""
        array = self(dtype)
        array.flags.writeable = False
        return array


def new_names(xp: Any, dtype: str, reference: Any) -> dict[str, Any]:
    """Return what calls use, with new arrays; `reference` is the result of the call without an output."""
    new = _New(xp, reference)
    result_dtype = getattr(new.first, "dtype", numpy.dtype(dtype))
    names = {"np": xp, "numpy": numpy, "t": dtype, "new": new, "fixed": new.fixed, "rt": result_dtype}
    names["rts"] = [getattr(x, "dtype", None) for x in reference] if isinstance(reference, tuple) else [result_dtype]
    return names | {name: xp.asarray(x.copy("K")) for name, x in _data(dtype).items()}


def _outcome(xp: Any, call: str, dtype: str, reference: Any) -> list[Any]:
    """What a call returns or raises, and what its arguments are afterwards."""
    names = new_names(xp, dtype, reference)
    try:
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result: Any = _plain(eval(call, names))
    except Exception as error:
        result = error
    return [result, *map(_plain, names["new"].made), *(_plain(names[name]) for name in ("x", "m", "w", "q", "f"))]


def _plain(x: Any) -> Any:
    """A result with NumPy's arrays and flags of memory order in place of arrays."""
    if isinstance(x, (gpunumpy.ndarray, numpy.ndarray, numpy.generic)):
        order = x.flags.c_contiguous, x.flags.f_contiguous
        return gpunumpy.asnumpy(x) if isinstance(x, gpunumpy.ndarray) else numpy.asarray(x), order
    if isinstance(x, (tuple, list)):
        return [_plain(part) for part in x]
    return x


def _difference(found: list[Any], expected: list[Any], skipped: set[str]) -> str:
    """Return how two outcomes differ, apart from what is skipped, or an empty text."""
    if "all" in skipped:
        return ""
    if difference := _difference_of(found[0], expected[0], skipped):
        return difference
    if isinstance(expected[0], Exception) or "arguments" in skipped:
        return ""
    return _difference_of(found[1:], expected[1:], skipped & {"single"})


def _difference_of(found: Any, expected: Any, skipped: set[str]) -> str:
    if isinstance(expected, Exception):
        kind = next(kind for kind in type(expected).__mro__ if kind.__module__ == "builtins")
        kind = Exception if "errors" in skipped else kind
        return "" if isinstance(found, kind) else f"{found!r} instead of {expected!r}"
    if isinstance(found, Exception):
        return f"{found!r} instead of {expected!r}"
    if isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            return f"{found!r} instead of {expected!r}"
        differences = (_difference_of(*pair, skipped) for pair in zip(found, expected))
        return next(filter(None, differences), "")
    if isinstance(expected, tuple) and isinstance(expected[0], numpy.ndarray):
        if not isinstance(found, tuple) or not isinstance(found[0], numpy.ndarray):
            return f"{found!r} instead of {expected!r}"
        (x, order), (reference, reference_order) = found, expected
        if (x.dtype, x.shape) != (reference.dtype, reference.shape):
            return f"{x!r} of {x.dtype} instead of {reference!r} of {reference.dtype}"
        if order != reference_order and "order" not in skipped:
            return f"(c_contiguous, f_contiguous) is {order} instead of {reference_order}"
        tolerance = 2e-5 if "single" in skipped else 0.0
        return "" if "values" in skipped or _close(x, reference, tolerance) else f"{x!r} instead of {reference!r}"
    if found is gpunumpy.ndarray and expected is numpy.ndarray:
        return ""
    return "" if type(found) is type(expected) and repr(found) == repr(expected) else f"{found!r}, not {expected!r}"


def _close(x: Any, reference: Any, tolerance: float) -> bool:
    if reference.dtype.kind not in "fc":
        return bool(numpy.array_equal(x, reference))
    finite = numpy.abs(reference[numpy.isfinite(reference)])
    tolerance = max(tolerance, 200 * float(numpy.finfo(reference.dtype).eps))
    largest = min(finite.max(initial=0), numpy.finfo(reference.dtype).max)  # of complex extremes it is infinite
    return numpy.allclose(x, reference, tolerance, tolerance * largest, equal_nan=True)


def _documented(call: str, dtype: str) -> set[str]:
    text = f"{dtype}: {call}".replace("[", "(").replace("]", ")")
    skipped = {
        difference.what
        for difference in DIFFERENCES
        if fnmatchcase(text, difference.pattern) and (not difference.before or difference.before > RELEASE)
    }
    return skipped | {"single"} if "f4" in text else skipped


def differences(name: str, dtype: str) -> list[str]:
    """Return the calls of a function that have another outcome than NumPy's, with what differs."""
    found = []
    for call in calls_with_keywords(name):
        reference = None
        if "new(" in call or "fixed(" in call:
            without = re.sub(r",? ?\bout=.*$", ")", call)
            reference = _raw(without, dtype)
        expected = _outcome(numpy, call, dtype, reference)
        found_here = _outcome(gpunumpy, call, dtype, reference)
        if difference := _difference(found_here, expected, _documented(call, dtype)):
            found.append(f"{dtype}: {call}\n    {difference}")
    return found


def _raw(call: str, dtype: str) -> Any:
    try:
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return eval(call, {"np": numpy, "numpy": numpy, "t": dtype} | _data(dtype))
    except Exception:
        return numpy.zeros((3, 4), dtype)


# Of these NumPy (2.5.5) leaves an exception behind that the next call of whatever raises.
LEAVING_EXCEPTIONS = frozenset(
    f"{op}.{method}" for op in ("ldexp", "pow", "power") for method in ("accumulate", "reduce", "reduceat")
)


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU nearly every call has a kernel of its own: all of them would be compiled for one run."""
    monkeypatch.setattr(tiers, "TIER", "interpreted")


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
@pytest.mark.sampled(60)
@pytest.mark.parametrize("name", sorted(CALLS.keys() - LEAVING_EXCEPTIONS))
def test_keywords(name: str) -> None:
    found = [difference for dtype in DTYPES for difference in differences(name, dtype)]
    assert not found, "\n".join(found)


def test_every_function_is_in_the_table() -> None:
    assert public_functions().keys() - CALLS.keys() <= set(" ".join(NOT_CALLED).split())


def test_every_keyword_has_values() -> None:
    for name in CALLS:
        for keyword in keywords(name):
            assert keyword.values
