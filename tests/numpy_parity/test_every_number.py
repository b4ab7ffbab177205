"""Arrays of every dtype that kernels compute: every function and method does what NumPy's does, in both residences."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.kernels.cuda import tiers

from .calls import CALLS
from .parity import folds
from .test_every_dtype import outcome_of

_INTEGERS = numpy.array([3, 1, -2, 3, 7, 4])
_FLOATS = numpy.array([1.5, -2, 0, 1.5, 3, 2])
DATA: dict[str, Any] = {
    "?": numpy.array([True, False, True, True, False, False]),
    **{dtype: _INTEGERS.astype(dtype) for dtype in ("i1", "i2", "i4", "i8")},
    **{dtype: abs(_INTEGERS)[[1, 0, 2, 3, 4, 5]].astype(dtype) for dtype in ("u1", "u2", "u4", "u8")},
    **{dtype: _FLOATS.astype(dtype) for dtype in ("f2", "f4", "f8")},
    **{dtype: (_FLOATS + 1j * _FLOATS[::-1]).astype(dtype) for dtype in ("c8", "c16")},
}
# Calls with a documented difference: NumPy's class, read-only results, partitions that are sorted.
DIFFERENCES = frozenset(("np.asmatrix(m)", "np.broadcast_arrays(x, one)", "x.partition(2)"))
# Digits that functions of a GPU, and the other order of a sum, may change, by the dtype of the result.
TOLERANCES = {"float16": 2e-3, "float32": 2e-6, "complex64": 2e-6}
# A double root has half of the digits.
CALL_TOLERANCES = {"np.roots(x)": 1e-6}


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU nearly every call has a kernel of its own: all of them would be compiled for one run."""
    monkeypatch.setattr(tiers, "TIER", "interpreted")


def equal(found: Any, expected: Any, tolerance: float) -> bool:
    """Return whether two outcomes agree: the texts of their elements too, but for the last digits."""
    if isinstance(expected, dict):
        return all(equal(found[name], part, tolerance) for name, part in expected.items())
    if type(found) is not type(expected):
        return False
    if isinstance(expected, (list, tuple)):
        if expected and isinstance(expected[0], str):
            tolerance = max(tolerance, TOLERANCES.get(expected[0], 0))
        return len(found) == len(expected) and all(equal(*pair, tolerance) for pair in zip(found, expected))
    if found == expected or not isinstance(expected, str):
        return bool(found == expected)
    try:
        numbers = [numpy.array(eval(text, {"nan": numpy.nan, "inf": numpy.inf})) for text in (found, expected)]
        return numpy.allclose(*numbers, rtol=tolerance, atol=tolerance, equal_nan=True)
    except (NameError, SyntaxError, TypeError, ValueError):  # no elements, but other text
        return False


def _is_wrong_in_numpy(call: str, data: numpy.ndarray) -> bool:
    name, _, method = call.removeprefix("np.").partition(".")
    if name not in ("pow", "power", "atan2", "arctan2", "ldexp") or not method.startswith("reduce"):
        return False
    try:
        return not folds(name, data)
    except (TypeError, ValueError):  # as in NumPy's own call
        return False


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
@pytest.mark.sampled(60)
@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str, residence: str) -> None:
    gpunumpy.set_residence(residence)  # which the fixture of all tests sets back
    for dtype, data in DATA.items():
        for call in CALLS[name]:
            if call not in DIFFERENCES and not _is_wrong_in_numpy(call, data):
                found, expected = (outcome_of(xp, call, data) for xp in (gpunumpy, numpy))
                if isinstance(expected[0], type):  # an error, before which NumPy may have written something
                    found, expected = found[:1], expected[:1]
                tolerance = CALL_TOLERANCES.get(call, TOLERANCES.get(data.dtype.name, 1e-12))
                assert equal(found, expected, tolerance), (dtype, call, found[0], expected[0])
