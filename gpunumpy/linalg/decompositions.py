"""Decompositions of matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from ..core.array import ndarray
from ..fallback import namespace
from ..shape import astype

_host = namespace("numpy.linalg")


class EigResult(NamedTuple):
    """What `eig` returns."""

    eigenvalues: ndarray
    eigenvectors: ndarray


def eig(a: Any) -> EigResult:
    """The eigenvalues and right eigenvectors of square matrices, always complex. See `numpy.linalg.eig`."""
    return EigResult(*map(_as_complex, _host.eig(a)))


def eigvals(a: Any) -> ndarray:
    """The eigenvalues of square matrices, always complex. See `numpy.linalg.eigvals`."""
    return _as_complex(_host.eigvals(a))


def _as_complex(x: Any) -> ndarray:
    """NumPy before 2.5 lets the values decide the dtype: complex, or real where they all are; a GPU cannot."""
    return astype(x, numpy.result_type(x.dtype, numpy.complex64), copy=False)
