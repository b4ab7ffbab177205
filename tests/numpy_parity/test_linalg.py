"""Linear algebra: where it says more than NumPy does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np

from ..support.arrays import to_host
from .parity import same, sample


@pytest.fixture(autouse=True)
def order_of_eigenvalues() -> Iterator[None]:
    """Only the CPU device finds them in NumPy's order; `test_decompositions.py` has what holds on every device."""
    with np.Device("cpu"):
        yield


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4"])
def test_eigenvalues_are_complex(dtype: Any) -> None:
    for x in (numpy.eye(3, dtype=dtype), sample(dtype, (2, 4, 4))):
        reference = numpy.linalg.eig(x)
        wanted = [part.astype(numpy.result_type(part.dtype, "c8")) for part in reference]
        found = np.linalg.eig(np.asarray(x))
        assert found._fields == ("eigenvalues", "eigenvectors")
        same(to_host(found.eigenvalues), wanted[0], ulp=100)
        same(to_host(found.eigenvectors), wanted[1], ulp=100)
        same(to_host(np.linalg.eigvals(np.asarray(x))), numpy.linalg.eigvals(x).astype(wanted[0].dtype), ulp=100)
    assert np.linalg.eigvals([[2.0, 0.0], [0.0, 1.0]]).dtype == np.complex128
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.eig(np.ones((2, 3)))
