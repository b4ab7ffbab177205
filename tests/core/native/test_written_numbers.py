"""Numbers that are written to parts of arrays: NumPy's values, errors and warnings, and recorded in the core."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core._native import IS_COMPILED
from gpunumpy.functions.indexing import getitem

from ...support.arrays import to_host

DTYPES = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")
_EDGES = [sign * 2**bits + k for bits in (7, 8, 15, 16, 24, 31, 32, 53, 63, 64) for sign in (1, -1) for k in (-1, 0, 1)]
NUMBERS: list[Any] = [0, 3, True, *_EDGES, 10**400]
NUMBERS += [0.1, -0.0, 2.5, 1e-40, 1e-60, 3.4028235e38, 3.4028236e38, 1e300, numpy.inf, -numpy.inf, numpy.nan]
NUMBERS += [numpy.float64(0.1), numpy.float64(1e39), numpy.float32(0.1), numpy.int16(-1), 1 + 2j]


def written(np: Any, dtype: str, key: Any, number: Any) -> Any:
    """What an array has after a write, or the class of the exception, and the texts of the warnings."""
    array = np.asarray(numpy.zeros((3, 4), dtype))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            array[key] = number
        except Exception as error:
            return type(error), []
    host = to_host(array) if isinstance(array, gpunumpy.ndarray) else array
    return host.tobytes(), [str(w.message) for w in warned if w.category is not RuntimeWarning]


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_errors_and_warnings(dtype: str) -> None:
    for number in NUMBERS:
        for key in ((slice(None), 1), 2, (1, 2), ...):
            found, expected = (written(np, dtype, key, number) for np in (gpunumpy, numpy))
            assert found == expected, (number, key)


@pytest.mark.skipif(not IS_COMPILED, reason="the core in Python asks Python")
@pytest.mark.parametrize("dtype", [*DTYPES[1:9], *DTYPES[10:]])
def test_the_core_records_them(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    array, expected = gpunumpy.asarray(numpy.zeros((3, 4), dtype)), numpy.zeros((3, 4), dtype)

    def refused(*args: Any) -> None:
        raise AssertionError("the core has asked Python")

    monkeypatch.setattr(getitem, "node_to_assign", refused)
    for written_to in (array, expected):
        written_to[:, 1] = 7
        written_to[1:, ::2] = 2
        if expected.dtype.kind in "fc":
            written_to[2] = 0.1
            written_to[0, 0] = numpy.float64(-2.5)
    monkeypatch.undo()
    numpy.testing.assert_array_equal(to_host(array), expected)
