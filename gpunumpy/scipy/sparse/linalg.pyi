# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

from ... import ndarray

class ArpackError(Exception):
    def __init__(self, info: Any, infodict: Any = None) -> None: ...

class ArpackNoConvergence(Exception):
    def __init__(self, msg: Any, eigenvalues: Any, eigenvectors: Any) -> None: ...

class LaplacianNd(Any):
    def __init__(self, grid_shape: Any, *, boundary_conditions: Any = "neumann", dtype: Any = ...) -> None: ...

class LinearOperator(Any):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class MatrixRankWarning(Warning): ...

class SuperLU(Any):
    def __init__(self) -> None: ...

def aslinearoperator(A: Any) -> Any: ...
def bicg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
) -> Any: ...
def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
) -> Any: ...
def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
) -> Any: ...
def cgs(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
) -> Any: ...
def eigs(
    A: Any,
    k: Any = 6,
    M: Any = None,
    sigma: Any = None,
    which: Any = "LM",
    v0: Any = None,
    ncv: Any = None,
    maxiter: Any = None,
    tol: Any = 0,
    return_eigenvectors: Any = True,
    Minv: Any = None,
    OPinv: Any = None,
    OPpart: Any = None,
    rng: Any = None,
) -> Any: ...
def eigsh(
    A: Any,
    k: Any = 6,
    M: Any = None,
    sigma: Any = None,
    which: Any = "LM",
    v0: Any = None,
    ncv: Any = None,
    maxiter: Any = None,
    tol: Any = 0,
    return_eigenvectors: Any = True,
    Minv: Any = None,
    OPinv: Any = None,
    mode: Any = "normal",
    rng: Any = None,
) -> Any: ...
def expm(A: Any) -> Any: ...
def expm_multiply(
    A: Any, B: Any, start: Any = None, stop: Any = None, num: Any = None, endpoint: Any = None, traceA: Any = None
) -> ndarray: ...
def factorized(A: Any) -> Any: ...
def funm_multiply_krylov(
    f: Any,
    A: Any,
    b: Any,
    *,
    assume_a: Any = "general",
    t: Any = 1.0,
    atol: Any = 0.0,
    rtol: Any = 1e-06,
    restart_every_m: Any = None,
    max_restarts: Any = 20,
) -> ndarray: ...
def gcrotmk(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    atol: Any = 0.0,
    maxiter: Any = 1000,
    M: Any = None,
    callback: Any = None,
    m: Any = 20,
    k: Any = None,
    CU: Any = None,
    discard_C: Any = False,
    truncate: Any = "oldest",
) -> Any: ...
def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    atol: Any = 0.0,
    restart: Any = None,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
    callback_type: Any = None,
) -> Any: ...
def inv(A: Any) -> Any: ...
def is_sptriangular(A: Any) -> Any: ...
def lgmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    atol: Any = 0.0,
    maxiter: Any = 1000,
    M: Any = None,
    callback: Any = None,
    inner_m: Any = 30,
    outer_k: Any = 3,
    outer_v: Any = None,
    store_outer_Av: Any = True,
    prepend_outer_v: Any = False,
) -> Any: ...
def lobpcg(
    A: Any,
    X: Any,
    B: Any = None,
    M: Any = None,
    Y: Any = None,
    tol: Any = None,
    maxiter: Any = None,
    largest: Any = True,
    verbosityLevel: Any = 0,
    retLambdaHistory: Any = False,
    retResidualNormsHistory: Any = False,
    restartControl: Any = 20,
) -> Any: ...
def lsmr(
    A: Any,
    b: Any,
    damp: Any = 0.0,
    atol: Any = 1e-06,
    btol: Any = 1e-06,
    conlim: Any = 100000000.0,
    maxiter: Any = None,
    show: Any = False,
    x0: Any = None,
) -> Any: ...
def lsqr(
    A: Any,
    b: Any,
    damp: Any = 0.0,
    atol: Any = 1e-06,
    btol: Any = 1e-06,
    conlim: Any = 100000000.0,
    iter_lim: Any = None,
    show: Any = False,
    calc_var: Any = False,
    x0: Any = None,
) -> Any: ...
def matrix_power(A: Any, power: Any) -> Any: ...
def minres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    shift: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
    show: Any = False,
    check: Any = False,
) -> Any: ...
def norm(x: Any, ord: Any = None, axis: Any = None) -> Any: ...
def onenormest(A: Any, t: Any = 2, itmax: Any = 5, compute_v: Any = False, compute_w: Any = False) -> Any: ...
def qmr(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    atol: Any = 0.0,
    maxiter: Any = None,
    M1: Any = None,
    M2: Any = None,
    callback: Any = None,
) -> Any: ...
def spbandwidth(A: Any) -> Any: ...
def spilu(
    A: Any,
    drop_tol: Any = None,
    fill_factor: Any = None,
    drop_rule: Any = None,
    permc_spec: Any = None,
    diag_pivot_thresh: Any = None,
    relax: Any = None,
    panel_size: Any = None,
    options: Any = None,
) -> Any: ...
def splu(
    A: Any,
    permc_spec: Any = None,
    diag_pivot_thresh: Any = None,
    relax: Any = None,
    panel_size: Any = None,
    options: Any = None,
) -> Any: ...
def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: Any = True) -> Any: ...
def spsolve_triangular(
    A: Any, b: Any, lower: Any = True, overwrite_A: Any = False, overwrite_b: Any = False, unit_diagonal: Any = False
) -> Any: ...
def svds(
    A: Any,
    k: Any = 6,
    ncv: Any = None,
    tol: Any = 0,
    which: Any = "LM",
    v0: Any = None,
    maxiter: Any = None,
    return_singular_vectors: Any = True,
    solver: Any = "arpack",
    rng: Any = None,
    options: Any = None,
    *,
    random_state: Any = None,
) -> Any: ...
def tfqmr(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-05,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,
    callback: Any = None,
    show: Any = False,
) -> Any: ...
def use_solver(**kwargs: Any) -> Any: ...

__all__ = [
    "ArpackError",
    "ArpackNoConvergence",
    "LaplacianNd",
    "LinearOperator",
    "MatrixRankWarning",
    "SuperLU",
    "aslinearoperator",
    "bicg",
    "bicgstab",
    "cg",
    "cgs",
    "eigs",
    "eigsh",
    "expm",
    "expm_multiply",
    "factorized",
    "funm_multiply_krylov",
    "gcrotmk",
    "gmres",
    "inv",
    "is_sptriangular",
    "lgmres",
    "lobpcg",
    "lsmr",
    "lsqr",
    "matrix_power",
    "minres",
    "norm",
    "onenormest",
    "qmr",
    "spbandwidth",
    "spilu",
    "splu",
    "spsolve",
    "spsolve_triangular",
    "svds",
    "tfqmr",
    "use_solver",
]
