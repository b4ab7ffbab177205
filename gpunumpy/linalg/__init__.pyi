# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, SupportsIndex, overload

from numpy.linalg import LinAlgError as LinAlgError

from .. import _Number, _Out, _ShapeLike, ndarray
from ..typing import ArrayLike, DTypeLike

class _EigResult(NamedTuple):
    eigenvalues: ndarray
    eigenvectors: ndarray

class _EighResult(NamedTuple):
    eigenvalues: ndarray
    eigenvectors: ndarray

class _QRResult(NamedTuple):
    Q: ndarray
    R: ndarray

class _SVDResult(NamedTuple):
    U: ndarray
    S: ndarray
    Vh: ndarray

class _SlogdetResult(NamedTuple):
    sign: ndarray
    logabsdet: ndarray

def cholesky(a: ArrayLike, /, *, upper: bool = False) -> ndarray: ...
def cond(x: ArrayLike, p: _Number | Literal["fro", "nuc"] | None = None) -> ndarray: ...
def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: SupportsIndex = -1) -> ndarray: ...
def det(a: ArrayLike) -> ndarray: ...
def diagonal(x: ArrayLike, /, *, offset: SupportsIndex = 0) -> ndarray: ...
def eig(a: ArrayLike) -> _EigResult: ...
def eigh(a: ArrayLike, UPLO: Literal["L", "U", "l", "u"] = "L") -> _EighResult: ...
def eigvals(a: ArrayLike) -> ndarray: ...
def eigvalsh(a: ArrayLike, UPLO: Literal["L", "U", "l", "u"] = "L") -> ndarray: ...
def inv(a: ArrayLike) -> ndarray: ...
def lstsq(a: ArrayLike, b: ArrayLike, rcond: _Number | None = None) -> tuple[ndarray, ndarray, Any, ndarray]: ...
def matmul(x1: ArrayLike, x2: ArrayLike, /) -> ndarray: ...
def matmul_precision(name: str) -> AbstractContextManager[None]: ...
def matrix_norm(
    x: ArrayLike, /, *, keepdims: bool = False, ord: _Number | Literal["fro", "nuc"] | None = "fro"
) -> ndarray: ...
def matrix_power(a: ArrayLike, n: SupportsIndex) -> ndarray: ...
def matrix_rank(
    A: ArrayLike, tol: ArrayLike | None = None, hermitian: bool = False, *, rtol: ArrayLike | None = None
) -> Any: ...
def matrix_transpose(x: ArrayLike, /) -> ndarray: ...
def multi_dot(arrays: Iterable[ArrayLike] | Sequence[ArrayLike], *, out: _Out | None = None) -> ndarray: ...
def norm(
    x: ArrayLike,
    ord: _Number | Literal["fro", "nuc"] | None = None,
    axis: SupportsIndex | tuple[SupportsIndex, SupportsIndex] | None = None,
    keepdims: bool = False,
) -> ndarray: ...
def outer(x1: ArrayLike, x2: ArrayLike, /) -> ndarray: ...
def pinv(
    a: ArrayLike, rcond: ArrayLike | None = None, hermitian: bool = False, *, rtol: ArrayLike = ...
) -> ndarray: ...
@overload
def qr(a: ArrayLike, mode: Literal["reduced", "complete"] = "reduced") -> _QRResult: ...
@overload
def qr(a: ArrayLike, mode: Literal["r"]) -> ndarray: ...
@overload
def qr(a: ArrayLike, mode: Literal["raw"]) -> tuple[ndarray, ndarray]: ...
@overload
def qr(a: ArrayLike, mode: Literal["reduced", "complete", "r", "raw"] = "reduced") -> Any: ...
def scaled_matmul(
    a: Any,
    b: Any,
    /,
    scale_a: Any = 1.0,
    scale_b: Any = 1.0,
    *,
    scale_result: Any = None,
    out_dtype: Any = "bfloat16",
    fast_accumulation: bool = False,
) -> ndarray: ...
def slogdet(a: ArrayLike) -> _SlogdetResult: ...
def solve(a: ArrayLike, b: ArrayLike) -> ndarray: ...
@overload
def svd(
    a: ArrayLike, full_matrices: bool = True, compute_uv: Literal[True] = True, hermitian: bool = False
) -> _SVDResult: ...
@overload
def svd(
    a: ArrayLike, full_matrices: bool = True, *, compute_uv: Literal[False], hermitian: bool = False
) -> ndarray: ...
@overload
def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any: ...
def svdvals(x: ArrayLike, /) -> ndarray: ...
def tensordot(
    x1: ArrayLike, x2: ArrayLike, /, *, axes: SupportsIndex | tuple[_ShapeLike, _ShapeLike] = 2
) -> ndarray: ...
def tensorinv(a: ArrayLike, ind: SupportsIndex = 2) -> ndarray: ...
def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Iterable[SupportsIndex] | None = None) -> ndarray: ...
def trace(x: ArrayLike, /, *, offset: SupportsIndex = 0, dtype: DTypeLike | None = None) -> ndarray: ...
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> ndarray: ...
def vector_norm(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex | tuple[SupportsIndex, SupportsIndex] | None = None,
    keepdims: bool = False,
    ord: _Number | None = 2,
) -> ndarray: ...

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
