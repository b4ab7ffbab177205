# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from types import ModuleType
from typing import Any

from .. import ndarray

class LinAlgError(Exception): ...
class LinAlgWarning(Warning): ...

def bandwidth(a: Any) -> Any: ...

blas: ModuleType

def block_diag(*arrs: Any) -> ndarray: ...
def cdf2rdf(w: Any, v: Any) -> Any: ...
def cho_factor(a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any: ...
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: Any = False, check_finite: Any = True) -> ndarray: ...
def cho_solve_banded(cb_and_lower: Any, b: Any, overwrite_b: Any = False, check_finite: Any = True) -> ndarray: ...
def cholesky(a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any: ...
def cholesky_banded(ab: Any, overwrite_ab: Any = False, lower: Any = False, check_finite: Any = True) -> Any: ...
def circulant(c: Any) -> Any: ...
def clarkson_woodruff_transform(input_matrix: Any, sketch_size: Any, rng: Any = None, *, seed: Any = None) -> Any: ...
def companion(a: Any) -> Any: ...
def convolution_matrix(a: Any, n: Any, mode: Any = "full") -> Any: ...
def coshm(A: Any) -> Any: ...
def cosm(A: Any) -> Any: ...
def cossin(
    X: Any,
    p: Any = None,
    q: Any = None,
    separate: Any = False,
    swap_sign: Any = False,
    compute_u: Any = True,
    compute_vh: Any = True,
) -> Any: ...
def det(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any: ...
def dft(n: Any, scale: Any = None) -> Any: ...
def diagsvd(s: Any, M: Any, N: Any) -> Any: ...
def eig(
    a: Any,
    b: Any = None,
    left: Any = False,
    right: Any = True,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    homogeneous_eigvals: Any = False,
) -> Any: ...
def eig_banded(
    a_band: Any,
    lower: Any = False,
    eigvals_only: Any = False,
    overwrite_a_band: Any = False,
    select: Any = "a",
    select_range: Any = None,
    max_ev: Any = 0,
    check_finite: Any = True,
) -> Any: ...
def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: Any = True,
    eigvals_only: Any = False,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    type: Any = 1,
    check_finite: Any = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any: ...
def eigh_tridiagonal(
    d: Any,
    e: Any,
    eigvals_only: Any = False,
    select: Any = "a",
    select_range: Any = None,
    check_finite: Any = True,
    tol: Any = 0.0,
    lapack_driver: Any = "auto",
) -> Any: ...
def eigvals(
    a: Any,
    b: Any = None,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    homogeneous_eigvals: Any = False,
) -> Any: ...
def eigvals_banded(
    a_band: Any,
    lower: Any = False,
    overwrite_a_band: Any = False,
    select: Any = "a",
    select_range: Any = None,
    check_finite: Any = True,
) -> Any: ...
def eigvalsh(
    a: Any,
    b: Any = None,
    *,
    lower: Any = True,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    type: Any = 1,
    check_finite: Any = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any: ...
def eigvalsh_tridiagonal(
    d: Any,
    e: Any,
    select: Any = "a",
    select_range: Any = None,
    check_finite: Any = True,
    tol: Any = 0.0,
    lapack_driver: Any = "auto",
) -> Any: ...
def expm(A: Any) -> ndarray: ...
def expm_cond(A: Any, check_finite: Any = True) -> Any: ...
def expm_frechet(A: Any, E: Any, method: Any = None, compute_expm: Any = True, check_finite: Any = True) -> Any: ...
def fiedler(a: Any) -> Any: ...
def fiedler_companion(a: Any) -> Any: ...
def find_best_blas_type(arrays: Any = ..., dtype: Any = None) -> Any: ...
def fractional_matrix_power(A: Any, t: Any) -> Any: ...
def funm(A: Any, func: Any, disp: Any = True) -> Any: ...
def get_blas_funcs(names: Any, arrays: Any = ..., dtype: Any = None, ilp64: Any = "preferred") -> Any: ...
def get_lapack_funcs(names: Any, arrays: Any = ..., dtype: Any = None, ilp64: Any = "preferred") -> Any: ...
def hadamard(n: Any, dtype: Any = ...) -> Any: ...
def hankel(c: Any, r: Any = None) -> Any: ...
def helmert(n: Any, full: Any = False) -> ndarray: ...
def hessenberg(a: Any, calc_q: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any: ...
def hilbert(n: Any) -> Any: ...
def inv(
    a: Any, overwrite_a: Any = False, check_finite: Any = True, *, assume_a: Any = None, lower: Any = False
) -> ndarray: ...
def invhilbert(n: Any, exact: Any = False) -> Any: ...
def invpascal(n: Any, kind: Any = "symmetric", exact: Any = True) -> Any: ...
def ishermitian(a: Any, atol: Any = None, rtol: Any = None) -> Any: ...
def issymmetric(a: Any, atol: Any = None, rtol: Any = None) -> Any: ...
def khatri_rao(a: Any, b: Any) -> Any: ...

lapack: ModuleType

def ldl(
    A: Any, lower: Any = True, hermitian: Any = True, overwrite_a: Any = False, check_finite: Any = True
) -> Any: ...
def leslie(f: Any, s: Any) -> Any: ...
def logm(A: Any) -> Any: ...
def lstsq(
    a: Any,
    b: Any,
    cond: Any = None,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    lapack_driver: Any = None,
) -> Any: ...
def lu(
    a: Any, permute_l: Any = False, overwrite_a: Any = False, check_finite: Any = True, p_indices: Any = False
) -> Any: ...
def lu_factor(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any: ...
def lu_solve(
    lu_and_piv: Any, b: Any, trans: Any = 0, overwrite_b: Any = False, check_finite: Any = True
) -> ndarray: ...
def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: Any = False, workers: Any = None) -> Any: ...
def matrix_balance(
    A: Any, permute: Any = True, scale: Any = True, separate: Any = False, overwrite_a: Any = False
) -> Any: ...
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: Any = False, check_finite: Any = True) -> Any: ...
def null_space(
    A: Any, rcond: Any = None, *, overwrite_a: Any = False, check_finite: Any = True, lapack_driver: Any = "gesdd"
) -> Any: ...
def ordqz(
    A: Any,
    B: Any,
    sort: Any = "lhp",
    output: Any = "real",
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
) -> Any: ...
def orth(A: Any, rcond: Any = None) -> Any: ...
def orthogonal_procrustes(A: Any, B: Any, check_finite: Any = True) -> Any: ...
def pascal(n: Any, kind: Any = "symmetric", exact: Any = True) -> Any: ...
def pinv(a: Any, *, atol: Any = None, rtol: Any = None, return_rank: Any = False, check_finite: Any = True) -> Any: ...
def pinvh(
    a: Any, atol: Any = None, rtol: Any = None, lower: Any = True, return_rank: Any = False, check_finite: Any = True
) -> Any: ...
def polar(a: Any, side: Any = "right") -> Any: ...
def qr(
    a: Any,
    overwrite_a: Any = False,
    lwork: Any = ...,
    mode: Any = "full",
    pivoting: Any = False,
    check_finite: Any = True,
) -> Any: ...
def qr_delete(
    Q: Any, R: Any, k: Any, p: Any = 1, which: Any = "row", overwrite_qr: Any = False, check_finite: Any = True
) -> Any: ...
def qr_insert(
    Q: Any,
    R: Any,
    u: Any,
    k: Any,
    which: Any = "row",
    rcond: Any = None,
    overwrite_qru: Any = False,
    check_finite: Any = True,
) -> Any: ...
def qr_multiply(
    a: Any,
    c: Any,
    mode: Any = "right",
    pivoting: Any = False,
    conjugate: Any = False,
    overwrite_a: Any = False,
    overwrite_c: Any = False,
) -> Any: ...
def qr_update(Q: Any, R: Any, u: Any, v: Any, overwrite_qruv: Any = False, check_finite: Any = True) -> Any: ...
def qz(
    A: Any,
    B: Any,
    output: Any = "real",
    lwork: Any = None,
    sort: Any = None,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
) -> Any: ...
def rq(a: Any, overwrite_a: Any = False, lwork: Any = None, mode: Any = "full", check_finite: Any = True) -> Any: ...
def rsf2csf(T: Any, Z: Any, check_finite: Any = True) -> Any: ...
def schur(
    a: Any,
    output: Any = "real",
    lwork: Any = None,
    overwrite_a: Any = False,
    sort: Any = None,
    check_finite: Any = True,
) -> Any: ...
def signm(A: Any) -> Any: ...
def sinhm(A: Any) -> Any: ...
def sinm(A: Any) -> Any: ...
def solve(
    a: Any,
    b: Any,
    lower: Any = False,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    assume_a: Any = None,
    transposed: Any = False,
) -> Any: ...
def solve_banded(
    l_and_u: Any, ab: Any, b: Any, overwrite_ab: Any = False, overwrite_b: Any = False, check_finite: Any = True
) -> Any: ...
def solve_circulant(
    c: Any, b: Any, singular: Any = "raise", tol: Any = None, caxis: Any = -1, baxis: Any = 0, outaxis: Any = 0
) -> ndarray: ...
def solve_continuous_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: Any = True) -> Any: ...
def solve_continuous_lyapunov(a: Any, q: Any) -> ndarray: ...
def solve_discrete_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: Any = True) -> Any: ...
def solve_discrete_lyapunov(a: Any, q: Any, method: Any = None) -> ndarray: ...
def solve_lyapunov(a: Any, q: Any) -> ndarray: ...
def solve_sylvester(a: Any, b: Any, q: Any) -> Any: ...
def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: Any = True) -> Any: ...
def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: Any = False,
    unit_diagonal: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
) -> Any: ...
def solveh_banded(
    ab: Any, b: Any, overwrite_ab: Any = False, overwrite_b: Any = False, lower: Any = False, check_finite: Any = True
) -> Any: ...
def sqrtm(A: Any) -> ndarray: ...
def subspace_angles(A: Any, B: Any) -> ndarray: ...
def svd(
    a: Any,
    full_matrices: Any = True,
    compute_uv: Any = True,
    overwrite_a: Any = False,
    check_finite: Any = True,
    lapack_driver: Any = "gesdd",
) -> Any: ...
def svdvals(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any: ...
def tanhm(A: Any) -> Any: ...
def tanm(A: Any) -> Any: ...
def toeplitz(c: Any, r: Any = None) -> Any: ...

__all__ = [
    "LinAlgError",
    "LinAlgWarning",
    "bandwidth",
    "blas",
    "block_diag",
    "cdf2rdf",
    "cho_factor",
    "cho_solve",
    "cho_solve_banded",
    "cholesky",
    "cholesky_banded",
    "circulant",
    "clarkson_woodruff_transform",
    "companion",
    "convolution_matrix",
    "coshm",
    "cosm",
    "cossin",
    "det",
    "dft",
    "diagsvd",
    "eig",
    "eig_banded",
    "eigh",
    "eigh_tridiagonal",
    "eigvals",
    "eigvals_banded",
    "eigvalsh",
    "eigvalsh_tridiagonal",
    "expm",
    "expm_cond",
    "expm_frechet",
    "fiedler",
    "fiedler_companion",
    "find_best_blas_type",
    "fractional_matrix_power",
    "funm",
    "get_blas_funcs",
    "get_lapack_funcs",
    "hadamard",
    "hankel",
    "helmert",
    "hessenberg",
    "hilbert",
    "inv",
    "invhilbert",
    "invpascal",
    "ishermitian",
    "issymmetric",
    "khatri_rao",
    "lapack",
    "ldl",
    "leslie",
    "logm",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul_toeplitz",
    "matrix_balance",
    "norm",
    "null_space",
    "ordqz",
    "orth",
    "orthogonal_procrustes",
    "pascal",
    "pinv",
    "pinvh",
    "polar",
    "qr",
    "qr_delete",
    "qr_insert",
    "qr_multiply",
    "qr_update",
    "qz",
    "rq",
    "rsf2csf",
    "schur",
    "signm",
    "sinhm",
    "sinm",
    "solve",
    "solve_banded",
    "solve_circulant",
    "solve_continuous_are",
    "solve_continuous_lyapunov",
    "solve_discrete_are",
    "solve_discrete_lyapunov",
    "solve_lyapunov",
    "solve_sylvester",
    "solve_toeplitz",
    "solve_triangular",
    "solveh_banded",
    "sqrtm",
    "subspace_angles",
    "svd",
    "svdvals",
    "tanhm",
    "tanm",
    "toeplitz",
]
