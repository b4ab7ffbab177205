"""Linear algebra, as `numpy.linalg` has it; what has no device implementation runs through NumPy on the host."""

from __future__ import annotations

from numpy.linalg import LinAlgError

from ..fallback import namespace
from .decompositions import eig, eigvals
from .solvers import cholesky, det, inv, matrix_power, slogdet, solve, tensorinv, tensorsolve

__all__ = [
    "LinAlgError",
    "cholesky",
    "det",
    "eig",
    "eigvals",
    "inv",
    "matrix_power",
    "slogdet",
    "solve",
    "tensorinv",
    "tensorsolve",
]

_host = namespace("numpy.linalg")
__getattr__ = _host.__getattr__
__dir__ = _host.__dir__
