"""The hand-over to `cupyx.scipy`, to a stand-in of it: what it gets, in which memory, and what comes back."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import scipy

import gpunumpy as np
import gpunumpy.scipy as sp

from .beside import agree
from .cases import TABLES
from .stand_in import Array, Library, library

__all__ = ["library"]


def address(x: Any) -> int:
    return x.__array_interface__["data"][0]


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, table in TABLES.items() for name in table])
def test_a_call(library: Library, module: str, name: str) -> None:
    np.host_fallback("ignore")
    agree(TABLES[module][name])


def test_memory_is_shared(library: Library) -> None:
    x = np.arange(12.0).reshape(3, 4) * 2
    before = x.data_ptr()
    y = sp.ndimage.gaussian_filter(x, 1.0)
    (name, (given, _), _), *_ = library.calls
    assert name == "ndimage.gaussian_filter"
    assert type(given) is Array
    assert address(given) == before
    assert library.streams == [x.device]
    assert type(y) is np.ndarray
    y += 1
    numpy.testing.assert_allclose(np.asnumpy(y), scipy.ndimage.gaussian_filter(np.asnumpy(x), 1.0) + 1)
