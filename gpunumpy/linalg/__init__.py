"""The namespace of `numpy.linalg`. Functions without a device implementation run through NumPy on the host."""

import numpy.linalg as _numpy_linalg
from numpy.linalg import LinAlgError

from ..functions.every_dtype import take_every_dtype as _take_every_dtype
from ..functions.fallback import namespace as _namespace
from ..functions.products.precision import matmul_precision
from .decompositions import eig, eigh, eigvals, eigvalsh, qr, svd, svdvals
from .least_squares import lstsq, matrix_rank, pinv
from .norms import cond, matrix_norm, norm, vector_norm
from .products import cross, diagonal, matmul, matrix_transpose, multi_dot, outer, tensordot, trace, vecdot
from .scaled_products import scaled_matmul
from .solvers import cholesky, det, inv, matrix_power, slogdet, solve, tensorinv, tensorsolve

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matmul_precision",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "scaled_matmul",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

globals().update(_take_every_dtype(globals(), _numpy_linalg))
__getattr__ = _namespace("numpy.linalg").__getattr__


def __dir__() -> list[str]:
    """Return the names of the functions implemented here."""
    return __all__
