"""Every function and method of NumPy's submodules with every parameter: what NumPy's does, in both residences."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.kernels.cuda import tiers

from .submodule_calls import calls_of, parameters_of, public_functions, values_of
from .submodule_differences import skipped_of
from .test_keywords import new_names

_TEXTS = ("bc", "a", "Ab1", "bc", "dd ", "1")
_MASK = numpy.array([[False, True, False, False], [False, False, False, True], [True, False, False, False]])
_NAMES_AFTERWARDS = ("x", "m", "w", "M", "X", "Q", "s", "R", "p", "buffer")
TOLERANCE = 1e-9  # of the largest element


class _New:
    """Makes the outputs of a call, plain and masked, and keeps them, as what is written there is compared."""

    def __init__(self, xp: Any, result: Any) -> None:
        self._xp, self.made = xp, []
        self._first: Any = result[0] if isinstance(result, tuple) and result else result

    def plain(self, dtype: Any, order: str = "C", more: int = 0) -> Any:
        shape = (2,) * more + numpy.shape(self._first)
        self.made.append(self._xp.asarray(numpy.full(shape, numpy.array(9).astype(dtype), dtype, order)))
        return self.made[-1]

    def fixed(self, dtype: Any) -> Any:
        array = self.plain(dtype)
        array.flags.writeable = False
        return array

    def masked(self, dtype: Any, order: str = "C") -> Any:
        self.plain(dtype, order)
        self.made[-1] = self._xp.ma.array(self.made[-1])
        return self.made[-1]


def _names(xp: Any, call: str, dtype: str, result: Any) -> dict[str, Any]:
    """What a call uses, new for each."""
    names = new_names(xp, dtype, None)
    new = _New(xp, result)
    masked = xp.ma.array(names["m"], mask=_MASK.copy())
    mask = numpy.array([False, True, False, False, True, False])
    names |= {"s": xp.asarray(numpy.array(_TEXTS)), "u": xp.asarray(numpy.array(_TEXTS[::-1])), "io": io}
    names |= {
        "M": masked,
        "X": xp.ma.array(names["x"], mask=mask.copy()),
        "Y": xp.ma.array(names["y"], mask=mask[::-1].copy()),
    }
    names |= {"Q": xp.ma.array(names["q"], mask=numpy.eye(3) > 0), "buffer": io.BytesIO(), "made": new.made}
    names |= {"R": xp.rec.fromarrays([names["x"], names["i"]], names="a,b")}
    names |= {"new": new.plain, "fixed": new.fixed, "masked_new": new.masked}
    names["rt"] = getattr(new._first, "dtype", numpy.dtype(dtype))
    if call.startswith("g."):
        names["g"] = xp.random.default_rng(3)
    if call.startswith("rs.") or "rs." in call:
        names["rs"] = xp.random.RandomState(3)
    if call.startswith("np.random"):
        xp.random.seed(3)
    return names


def _saved(names: dict[str, Any], x: Any) -> io.BytesIO:
    file = io.BytesIO()
    names["np"].save(file, x)
    file.seek(0)
    return file


def outcome(xp: Any, name: str, call: str, dtype: str, result: Any = None) -> list[Any]:
    """What a call returns or raises; then its arguments and outputs, and the next random number."""
    names = _names(xp, call, dtype, result)
    names["saved"] = lambda x: _saved(names, x)
    if call.startswith("p."):
        names["p"] = getattr(xp.polynomial, name.split(".")[1])([1, 2, 0.5, 3])
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found: Any = plain(eval(call, names))
        except Exception as error:
            return [error]
        after = [plain(names[n]) for n in _NAMES_AFTERWARDS if n in names] + plain(names["made"])[1]
        if "g" in names or "rs" in names:
            after.append(plain(names["g"].random() if "g" in names else names["rs"].random_sample()))
        if call.startswith("np.random"):
            after.append(plain(xp.random.random_sample()))
        return [found, *after]


def plain(x: Any) -> Any:
    """A result for comparison, with NumPy's arrays in the place of arrays."""
    if x is numpy.ma.masked:
        return "masked"
    if isinstance(x, (numpy.ma.MaskedArray, gpunumpy.ma.MaskedArray)):
        library: Any = numpy if isinstance(x, numpy.ma.MaskedArray) else gpunumpy
        return ["masked array", _host(x.data), _host(library.ma.getmaskarray(x)), repr(x.fill_value), bool(x.hardmask)]
    if isinstance(x, (gpunumpy.ndarray, numpy.ndarray, numpy.generic)):
        kind = type(x).__name__ if type(x).__name__ in ("recarray", "chararray", "matrix", "record") else "array"
        return [kind, _host(x)]
    if isinstance(x, (tuple, list)):
        return [type(x).__name__, [plain(part) for part in x]]
    if isinstance(x, dict):
        return ["dict", [[repr(key), plain(part)] for key, part in x.items()]]
    if hasattr(x, "coef") and hasattr(x, "window"):
        return [type(x).__name__, *(plain(part) for part in (x.coef, x.domain, x.window, x.symbol))]
    if isinstance(x, io.BytesIO):
        return x.getvalue()
    if isinstance(x, (float, complex)):
        return [type(x).__name__, numpy.asarray(x)]
    if isinstance(x, Iterator):
        return [plain(part) for part in x]
    return re.sub(" at 0x\\w+", "", repr(x).replace("gpunumpy", "numpy"))


def _host(x: Any) -> Any:
    return numpy.asarray(gpunumpy.asnumpy(x) if isinstance(x, gpunumpy.ndarray) else x)


def difference(found: Any, expected: Any, tolerance: float, skipped: set[str]) -> str:
    """Return how two outcomes differ, apart from what is skipped, or an empty text."""
    if isinstance(expected, Exception):
        kind = next(kind for kind in type(expected).__mro__ if kind.__module__ == "builtins")
        kind = Exception if "errors" in skipped else kind
        return "" if isinstance(found, kind) else f"{found!r} instead of {expected!r}"
    differ = f"{found!r} instead of {expected!r}"
    if "class" in skipped and found[0] in ("float", "array"):
        found, expected = found[1], expected[1]
    if isinstance(found, Exception) or type(found) is not type(expected):
        return differ
    if isinstance(expected, list):
        if expected[:1] == ["masked array"] == found[:1]:
            return _masked_difference(found, expected, tolerance, skipped)
        if len(found) != len(expected):
            return differ
        return next(filter(None, (difference(*pair, tolerance, skipped) for pair in zip(found, expected))), "")
    if isinstance(expected, numpy.ndarray):
        is_same = (found.dtype, found.shape) == (expected.dtype, expected.shape)
        return "" if is_same and ("values" in skipped or _close(found, expected, tolerance)) else differ
    return "" if found == expected else differ


def _masked_difference(found: list[Any], expected: list[Any], tolerance: float, skipped: set[str]) -> str:
    """Return how two masked arrays differ: what is beneath a mask may."""
    (_, data, mask, *more), (_, expected_data, expected_mask, *expected_more) = found, expected
    if "masks" in skipped:
        mask = expected_mask
    if more != expected_more or data.shape != expected_data.shape or not numpy.array_equal(mask, expected_mask):
        return f"{found!r} instead of {expected!r}"
    if mask.dtype == bool and mask.shape == data.shape:
        data, expected_data = data.copy(), expected_data.copy()
        data[mask] = expected_data[mask] = 0
    return difference(data, expected_data, tolerance, skipped)


def _close(found: Any, expected: Any, tolerance: float) -> bool:
    if expected.dtype.kind not in "fc":
        return bool(found.tolist() == expected.tolist())
    finite = numpy.abs(expected[numpy.isfinite(expected)])
    tolerance = max(tolerance, 400 * float(numpy.finfo(expected.dtype).eps))
    return numpy.allclose(found, expected, tolerance, tolerance * finite.max(initial=0), equal_nan=True)


def _raw(call: str, dtype: str) -> Any:
    names = _names(numpy, call, dtype, None)
    try:
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return eval(re.sub(r",? ?\b(?:out=|where=).*$", ")", call), names)
    except Exception:
        return numpy.zeros((3, 4), dtype)


def differences(name: str, dtype: str) -> Iterator[str]:
    """Yield the calls that have another outcome than NumPy's, and what differs."""
    for call in calls_of(name):
        skipped = skipped_of(name, call, dtype)
        if "all" in skipped:
            continue
        result = _raw(call, dtype) if "new(" in call or "fixed(" in call else None
        expected = outcome(numpy, name, call, dtype, result)
        found = outcome(gpunumpy, name, call, dtype, result)
        if isinstance(expected[0], Exception) or "arguments" in skipped:
            found, expected = found[:1], expected[:1]
        text = difference(found[0], expected[0], TOLERANCE, skipped)
        text = text or difference(found[1:], expected[1:], TOLERANCE, skipped & {"masks", "values"})
        if text:
            yield f"{dtype}: {call}\n    {text}"


# What older releases do not say the parameters of; and NumPy 2.3.0 writes to memory that is not there.
pytestmark = pytest.mark.skipif(
    numpy.lib.NumpyVersion(numpy.__version__) < "2.4.0", reason="NumPy's functions have no signatures"
)


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU nearly every call has a kernel of its own: all of them would be compiled for one run."""
    monkeypatch.setattr(tiers, "TIER", "interpreted")


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
@pytest.mark.sampled(30)
@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("name", sorted(public_functions()))
def test_keywords(name: str, residence: str) -> None:
    gpunumpy.set_residence(residence)  # which the fixture of all tests sets back
    is_of_numbers = residence == "auto" and name.startswith(("emath", "ma", "random", "polynomial"))
    dtypes = ("f8", "i8") if is_of_numbers else ("f8",)
    found = [difference for dtype in dtypes for difference in differences(name, dtype)]
    assert not found, "\n".join(found)


def test_every_parameter_has_values() -> None:
    for name in public_functions():
        for parameter in parameters_of(name):
            assert values_of(name, parameter.name)
