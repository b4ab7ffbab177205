"""Every function of NumPy's submodules with arrays of every dtype: what NumPy's returns, or an error of its type."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.kernels.cuda import tiers

from .test_every_dtype import DATA as HOST_DATA
from .test_every_dtype import names_of, plain
from .test_every_number import DATA as NUMBERS
from .test_every_number import TOLERANCES, equal

MODULES = ["linalg", "fft", "emath", "lib.stride_tricks", "lib.array_utils"]
if numpy.lib.NumpyVersion(numpy.__version__) >= "2.4.0":  # NumPy 2.3.0 itself writes to memory that is not there
    MODULES += ["char", "strings", "rec"]
_SWAPPED = {"c16": NUMBERS["c16"], "M8": HOST_DATA["datetime64"], "U": HOST_DATA["str"]}
DATA: dict[str, Any] = {
    **HOST_DATA,
    **{dtype: NUMBERS[dtype] for dtype in ("?", "u1", "i8", "f4", "f8", "c16")},
    **{f"swapped {name}": x.astype(x.dtype.newbyteorder("S")) for name, x in _SWAPPED.items()},
    "nanoseconds": HOST_DATA["datetime64"].astype("M8[ns]"),
}
# Arguments for any function: what it does not take is a `TypeError` or the like in both libraries.
ARGUMENTS = (
    *("x", "m", "q", "x, y", "q, q", "q, x[:3]", "x[:3], q", "m, 1", "x, 2", "x, x[0]", "x, y, x", "x, 1, 2", "x, i"),
    *("x, [0, 1]", "x, 'a'", "x, 'a', 'b'", "x, 6, '*'", "x, 9", "[x, y]", "[q, q, q]", "zero", "none", "x, 'utf-8'"),
    *("x, y, 0", "m, (4, 3)", "x.tolist()"),
)
# What has another outcome, with the reason.
DIFFERENCES = {
    "lib.array_utils.byte_bounds": "addresses",
    "lib.stride_tricks.as_strided": "reads beyond the array in NumPy; test_views_of_memory.py",
    "linalg.eig": "eigenvectors have any signs; test_eig.py",
    "linalg.svd": "singular vectors have any signs; test_decompositions.py",
    "linalg.tensorinv": "of no dimensions NumPy calls `reshape()`; test_linalg_solvers.py",
}
if numpy.lib.NumpyVersion(numpy.__version__) < "2.5.0":
    DIFFERENCES["linalg.eigvals"] = "NumPy's eigenvalues were real where none is complex"
# Of a call: NumPy's `copy` gives texts of no characters one, numbers are truth values or results that are integers, a
# limit of singular values is one of them or nothing, roots of negative numbers have a part that is nothing but an
# error, vectors have any signs, of a double eigenvalue half the digits are right, and of several mistakes another is
# reported.
CALLS_WITH_DIFFERENCES = (
    *("strings.partition(", "strings.rpartition(", "rec.fromstring(", "fft.fftfreq(zero)", "fft.rfftfreq(zero)"),
    *("linalg.norm(x, x[0])", "linalg.norm(x, [0, 1])", "linalg.cond(", "linalg.matrix_rank(x, x[0])"),
    *("linalg.matrix_rank(q, q)", "linalg.matrix_rank(q, x[:3])", "emath.power(q, x[:3])"),
    *(f"linalg.{name}({a})" for name in ("eigh", "eigvals") for a in ("q", "[q, q, q]")),
    *(
        f"lib.stride_tricks.sliding_window_view({a})"
        for a in ("x, y", "q, q", "q, x[:3]", "x[:3], q", "x, y, x", "x, y, 0")
    ),
    *("fft.rfft(x, x[0])", "fft.ihfft(x, x[0])", "fft.irfftn(q, x[:3])", "fft.rfft(x, 1, 2)", "fft.ihfft(x, 1, 2)"),
)


def _functions() -> Iterator[str]:
    for module in MODULES:
        names = vars(_module(numpy, module)).get("__all__") or dir(_module(numpy, module))
        for name in names:
            with warnings.catch_warnings(action="ignore"):  # of `char.chararray`, a class
                function = getattr(_module(numpy, module), name)
            if callable(function) and not inspect.isclass(function) and not name.startswith(("_", "test")):
                yield f"{module}.{name}"


def _module(xp: Any, path: str) -> Any:
    for part in path.split("."):
        xp = getattr(xp, part)
    return xp


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU nearly every call has a kernel of its own: all of them would be compiled for one run."""
    monkeypatch.setattr(tiers, "TIER", "interpreted")


def _outcome(call: str, names: dict[str, Any]) -> Any:
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return plain(eval(f"np.{call}", names))
        except Exception as error:
            return error


def _is_equal(found: Any, expected: Any, tolerance: float) -> bool:
    """Return whether two outcomes agree; an error may be more than one of NumPy's type, as `AxisError` is."""
    if isinstance(expected, Exception):
        return isinstance(found, plain(expected))
    return not isinstance(found, Exception) and equal(found, expected, tolerance)


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
@pytest.mark.sampled(30)
@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("name", sorted({*_functions()} - DIFFERENCES.keys()))
def test_calls(name: str, residence: str) -> None:
    gpunumpy.set_residence(residence)  # which the fixture of all tests sets back
    for kind, data in DATA.items():
        ours, numpys = (names_of(xp, data) for xp in (gpunumpy, numpy))
        for call in (f"{name}({arguments})" for arguments in ARGUMENTS):
            if not call.startswith(CALLS_WITH_DIFFERENCES):
                found, expected = _outcome(call, ours), _outcome(call, numpys)
                tolerance = TOLERANCES.get(data.dtype.name, 1e-12)
                assert _is_equal(found, expected, tolerance), (kind, call, found, expected)
