# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

from ... import ndarray

class BFGS(Any):
    def __init__(
        self, exception_strategy: Any = "skip_update", min_curvature: Any = None, init_scale: Any = "auto"
    ) -> None: ...

class Bounds(Any):
    def __init__(self, lb: Any = ..., ub: Any = ..., keep_feasible: Any = False) -> None: ...

class BroydenFirst(Any):
    def __init__(self, alpha: Any = None, reduction_method: Any = "restart", max_rank: Any = None) -> None: ...

class HessianUpdateStrategy(Any):
    def __init__(self) -> None: ...

class InverseJacobian(Any):
    def __init__(self, jacobian: Any) -> None: ...

class KrylovJacobian(Any):
    def __init__(
        self,
        rdiff: Any = None,
        method: Any = "lgmres",
        inner_maxiter: Any = 20,
        inner_M: Any = None,
        outer_k: Any = 10,
        **kw: Any,
    ) -> None: ...

class LbfgsInvHessProduct(Any):
    def __init__(self, sk: Any, yk: Any) -> None: ...

class LinearConstraint(Any):
    def __init__(self, A: Any, lb: Any = ..., ub: Any = ..., keep_feasible: Any = False) -> None: ...

class NoConvergence(Exception): ...

class NonlinearConstraint(Any):
    def __init__(
        self,
        fun: Any,
        lb: Any,
        ub: Any,
        jac: Any = "2-point",
        hess: Any = None,
        keep_feasible: Any = False,
        finite_diff_rel_step: Any = None,
        finite_diff_jac_sparsity: Any = None,
    ) -> None: ...

class OptimizeResult(Any): ...
class OptimizeWarning(Warning): ...

class RootResults(Any):
    def __init__(self, root: Any, iterations: Any, function_calls: Any, flag: Any, method: Any) -> None: ...

class SR1(Any):
    def __init__(self, min_denominator: Any = 1e-08, init_scale: Any = "auto") -> None: ...

def anderson(
    F: Any,
    xin: Any,
    iter: Any = None,
    alpha: Any = None,
    w0: Any = 0.01,
    M: Any = 5,
    verbose: Any = False,
    maxiter: Any = None,
    f_tol: Any = None,
    f_rtol: Any = None,
    x_tol: Any = None,
    x_rtol: Any = None,
    tol_norm: Any = None,
    line_search: Any = "armijo",
    callback: Any = None,
    **kw: Any,
) -> ndarray: ...
def approx_fprime(xk: Any, f: Any, epsilon: Any = ..., *args: Any) -> ndarray: ...
def basinhopping(
    func: Any,
    x0: Any,
    niter: Any = 100,
    T: Any = 1.0,
    stepsize: Any = 0.5,
    minimizer_kwargs: Any = None,
    take_step: Any = None,
    accept_test: Any = None,
    callback: Any = None,
    interval: Any = 50,
    disp: Any = False,
    niter_success: Any = None,
    rng: Any = None,
    *,
    target_accept_rate: Any = 0.5,
    stepwise_factor: Any = 0.9,
    seed: Any = None,
) -> Any: ...
def bisect(
    f: Any,
    a: Any,
    b: Any,
    args: Any = ...,
    xtol: Any = 2e-12,
    rtol: Any = ...,
    maxiter: Any = 100,
    full_output: Any = False,
    disp: Any = True,
) -> Any: ...
def bracket(
    func: Any, xa: Any = 0.0, xb: Any = 1.0, args: Any = ..., grow_limit: Any = 110.0, maxiter: Any = 1000
) -> Any: ...
def brent(
    func: Any, args: Any = ..., brack: Any = None, tol: Any = 1.48e-08, full_output: Any = 0, maxiter: Any = 500
) -> Any: ...
def brenth(
    f: Any,
    a: Any,
    b: Any,
    args: Any = ...,
    xtol: Any = 2e-12,
    rtol: Any = ...,
    maxiter: Any = 100,
    full_output: Any = False,
    disp: Any = True,
) -> Any: ...
def brentq(
    f: Any,
    a: Any,
    b: Any,
    args: Any = ...,
    xtol: Any = 2e-12,
    rtol: Any = ...,
    maxiter: Any = 100,
    full_output: Any = False,
    disp: Any = True,
) -> Any: ...
def broyden1(
    F: Any,
    xin: Any,
    iter: Any = None,
    alpha: Any = None,
    reduction_method: Any = "restart",
    max_rank: Any = None,
    verbose: Any = False,
    maxiter: Any = None,
    f_tol: Any = None,
    f_rtol: Any = None,
    x_tol: Any = None,
    x_rtol: Any = None,
    tol_norm: Any = None,
    line_search: Any = "armijo",
    callback: Any = None,
    **kw: Any,
) -> ndarray: ...
def broyden2(
    F: Any,
    xin: Any,
    iter: Any = None,
    alpha: Any = None,
    reduction_method: Any = "restart",
    max_rank: Any = None,
    verbose: Any = False,
    maxiter: Any = None,
    f_tol: Any = None,
    f_rtol: Any = None,
    x_tol: Any = None,
    x_rtol: Any = None,
    tol_norm: Any = None,
    line_search: Any = "armijo",
    callback: Any = None,
    **kw: Any,
) -> ndarray: ...
def brute(
    func: Any,
    ranges: Any,
    args: Any = ...,
    Ns: Any = 20,
    full_output: Any = 0,
    finish: Any = ...,
    disp: Any = False,
    workers: Any = 1,
) -> Any: ...
def check_grad(
    func: Any,
    grad: Any,
    x0: Any,
    *args: Any,
    epsilon: Any = ...,
    direction: Any = "all",
    rng: Any = None,
    seed: Any = None,
) -> Any: ...
def curve_fit(
    f: Any,
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: Any = False,
    check_finite: Any = None,
    bounds: Any = ...,
    method: Any = None,
    jac: Any = None,
    *,
    full_output: Any = False,
    nan_policy: Any = None,
    **kwargs: Any,
) -> Any: ...
def diagbroyden(
    F: Any,
    xin: Any,
    iter: Any = None,
    alpha: Any = None,
    verbose: Any = False,
    maxiter: Any = None,
    f_tol: Any = None,
    f_rtol: Any = None,
    x_tol: Any = None,
    x_rtol: Any = None,
    tol_norm: Any = None,
    line_search: Any = "armijo",
    callback: Any = None,
    **kw: Any,
) -> ndarray: ...
def differential_evolution(
    func: Any,
    bounds: Any,
    args: Any = ...,
    strategy: Any = "best1bin",
    maxiter: Any = 1000,
    popsize: Any = 15,
    tol: Any = 0.01,
    mutation: Any = ...,
    recombination: Any = 0.7,
    rng: Any = None,
    callback: Any = None,
    disp: Any = False,
    polish: Any = True,
    init: Any = "latinhypercube",
    atol: Any = 0,
    updating: Any = "immediate",
    workers: Any = 1,
    constraints: Any = ...,
    x0: Any = None,
    *,
    integrality: Any = None,
    vectorized: Any = False,
    seed: Any = None,
) -> Any: ...
def direct(
    func: Any,
    bounds: Any,
    *,
    args: Any = ...,
    eps: Any = 0.0001,
    maxfun: Any = None,
    maxiter: Any = 1000,
    locally_biased: Any = True,
    f_min: Any = ...,
    f_min_rtol: Any = 0.0001,
    vol_tol: Any = 1e-16,
    len_tol: Any = 1e-06,
    callback: Any = None,
) -> Any: ...
def dual_annealing(
    func: Any,
    bounds: Any,
    args: Any = ...,
    maxiter: Any = 1000,
    minimizer_kwargs: Any = None,
    initial_temp: Any = 5230.0,
    restart_temp_ratio: Any = 2e-05,
    visit: Any = 2.62,
    accept: Any = -5.0,
    maxfun: Any = 10000000.0,
    rng: Any = None,
    no_local_search: Any = False,
    callback: Any = None,
    x0: Any = None,
    *,
    seed: Any = None,
) -> Any: ...
def excitingmixing(
    F: Any,
    xin: Any,
    iter: Any = None,
    alpha: Any = None,
    alphamax: Any = 1.0,
    verbose: Any = False,
    maxiter: Any = None,
    f_tol: Any = None,
    f_rtol: Any = None,
    x_tol: Any = None,
    x_rtol: Any = None,
    tol_norm: Any = None,
    line_search: Any = "armijo",
    callback: Any = None,
    **kw: Any,
) -> ndarray: ...
def fixed_point(
    func: Any, x0: Any, args: Any = ..., xtol: Any = 1e-08, maxiter: Any = 500, method: Any = "del2"
) -> ndarray: ...
def fmin(
    func: Any,
    x0: Any,
    args: Any = ...,
    xtol: Any = 0.0001,
    ftol: Any = 0.0001,
    maxiter: Any = None,
    maxfun: Any = None,
    full_output: Any = 0,
    disp: Any = 1,
    retall: Any = 0,
    callback: Any = None,
    initial_simplex: Any = None,
) -> Any: ...
def fmin_bfgs(
    f: Any,
    x0: Any,
    fprime: Any = None,
    args: Any = ...,
    gtol: Any = 1e-05,
    norm: Any = ...,
    epsilon: Any = ...,
    maxiter: Any = None,
    full_output: Any = 0,
    disp: Any = 1,
    retall: Any = 0,
    callback: Any = None,
    xrtol: Any = 0,
    c1: Any = 0.0001,
    c2: Any = 0.9,
    hess_inv0: Any = None,
) -> Any: ...
def fmin_cg(
    f: Any,
    x0: Any,
    fprime: Any = None,
    args: Any = ...,
    gtol: Any = 1e-05,
    norm: Any = ...,
    epsilon: Any = ...,
    maxiter: Any = None,
    full_output: Any = 0,
    disp: Any = 1,
    retall: Any = 0,
    callback: Any = None,
    c1: Any = 0.0001,
    c2: Any = 0.4,
) -> Any: ...
def fmin_cobyla(
    func: Any,
    x0: Any,
    cons: Any,
    args: Any = ...,
    consargs: Any = None,
    rhobeg: Any = 1.0,
    rhoend: Any = 0.0001,
    maxfun: Any = 1000,
    disp: Any = None,
    catol: Any = 0.0002,
    *,
    callback: Any = None,
) -> ndarray: ...
def fmin_l_bfgs_b(
    func: Any,
    x0: Any,
    fprime: Any = None,
    args: Any = ...,
    approx_grad: Any = 0,
    bounds: Any = None,
    m: Any = 10,
    factr: Any = 10000000.0,
    pgtol: Any = 1e-05,
    epsilon: Any = 1e-08,
    maxfun: Any = 15000,
    maxiter: Any = 15000,
    callback: Any = None,
    maxls: Any = 20,
) -> Any: ...
def fmin_ncg(
    f: Any,
    x0: Any,
    fprime: Any,
    fhess_p: Any = None,
    fhess: Any = None,
    args: Any = ...,
    avextol: Any = 1e-05,
    epsilon: Any = ...,
    maxiter: Any = None,
    full_output: Any = 0,
    disp: Any = 1,
    retall: Any = 0,
    callback: Any = None,
    c1: Any = 0.0001,
    c2: Any = 0.9,
) -> Any: ...
def fmin_powell(
    func: Any,
    x0: Any,
    args: Any = ...,
    xtol: Any = 0.0001,
    ftol: Any = 0.0001,
    maxiter: Any = None,
    maxfun: Any = None,
    full_output: Any = 0,
    disp: Any = 1,
    retall: Any = 0,
    callback: Any = None,
    direc: Any = None,
) -> Any: ...
def fmin_slsqp(
    func: Any,
    x0: Any,
    eqcons: Any = ...,
    f_eqcons: Any = None,
    ieqcons: Any = ...,
    f_ieqcons: Any = None,
    bounds: Any = ...,
    fprime: Any = None,
    fprime_eqcons: Any = None,
    fprime_ieqcons: Any = None,
    args: Any = ...,
    iter: Any = 100,
    acc: Any = 1e-06,
    iprint: Any = 1,
    disp: Any = None,
    full_output: Any = 0,
    epsilon: Any = ...,
    callback: Any = None,
) -> Any: ...
def fmin_tnc(
    func: Any,
    x0: Any,
    fprime: Any = None,
    args: Any = ...,
    approx_grad: Any = 0,
    bounds: Any = None,
    epsilon: Any = 1e-08,
    scale: Any = None,
    offset: Any = None,
    messages: Any = 15,
    maxCGit: Any = -1,
    maxfun: Any = None,
    eta: Any = -1,
    stepmx: Any = 0,
    accuracy: Any = 0,
    fmin: Any = 0,
    ftol: Any = -1,
    xtol: Any = -1,
    pgtol: Any = -1,
    rescale: Any = -1,
    disp: Any = None,
    callback: Any = None,
) -> Any: ...
def fminbound(
    func: Any,
    x1: Any,
    x2: Any,
    args: Any = ...,
    xtol: Any = 1e-05,
    maxfun: Any = 500,
    full_output: Any = 0,
    disp: Any = 1,
) -> Any: ...
def fsolve(
    func: Any,
    x0: Any,
    args: Any = ...,
    fprime: Any = None,
    full_output: Any = False,
    col_deriv: Any = False,
    xtol: Any = 1.49012e-08,
    maxfev: Any = 0,
    band: Any = None,
    epsfcn: Any = None,
    factor: Any = 100,
    diag: Any = None,
) -> Any: ...
def golden(
    func: Any, args: Any = ..., brack: Any = None, tol: Any = ..., full_output: Any = 0, maxiter: Any = 5000
) -> Any: ...
def isotonic_regression(y: Any, *, weights: Any = None, increasing: Any = True) -> Any: ...
def least_squares(
    fun: Any,
    x0: Any,
    jac: Any = "2-point",
    bounds: Any = ...,
    method: Any = "trf",
    ftol: Any = 1e-08,
    xtol: Any = 1e-08,
    gtol: Any = 1e-08,
    x_scale: Any = None,
    loss: Any = "linear",
    f_scale: Any = 1.0,
    diff_step: Any = None,
    tr_solver: Any = None,
    tr_options: Any = None,
    jac_sparsity: Any = None,
    max_nfev: Any = None,
    verbose: Any = 0,
    args: Any = ...,
    kwargs: Any = None,
    callback: Any = None,
    workers: Any = None,
) -> Any: ...
def leastsq(
    func: Any,
    x0: Any,
    args: Any = ...,
    Dfun: Any = None,
    full_output: Any = False,
    col_deriv: Any = False,
    ftol: Any = 1.49012e-08,
    xtol: Any = 1.49012e-08,
    gtol: Any = 0.0,
    maxfev: Any = 0,
    epsfcn: Any = None,
    factor: Any = 100,
    diag: Any = None,
) -> Any: ...
def line_search(
    f: Any,
    myfprime: Any,
    xk: Any,
    pk: Any,
    gfk: Any = None,
    old_fval: Any = None,
    old_old_fval: Any = None,
    args: Any = ...,
    c1: Any = 0.0001,
    c2: Any = 0.9,
    amax: Any = None,
    extra_condition: Any = None,
    maxiter: Any = 10,
) -> Any: ...
def linear_sum_assignment(cost_matrix: Any, maximize: Any = False) -> Any: ...
def linearmixing(
    F: Any,
    xin: Any,
    iter: Any = None,
    alpha: Any = None,
    verbose: Any = False,
    maxiter: Any = None,
    f_tol: Any = None,
    f_rtol: Any = None,
    x_tol: Any = None,
    x_rtol: Any = None,
    tol_norm: Any = None,
    line_search: Any = "armijo",
    callback: Any = None,
    **kw: Any,
) -> ndarray: ...
def linprog(
    c: Any,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    bounds: Any = ...,
    method: Any = "highs",
    callback: Any = None,
    options: Any = None,
    x0: Any = None,
    integrality: Any = None,
) -> Any: ...
def linprog_verbose_callback(res: Any) -> Any: ...
def lsq_linear(
    A: Any,
    b: Any,
    bounds: Any = ...,
    method: Any = "trf",
    tol: Any = 1e-10,
    lsq_solver: Any = None,
    lsmr_tol: Any = None,
    max_iter: Any = None,
    verbose: Any = 0,
    *,
    lsmr_maxiter: Any = None,
) -> Any: ...
def milp(
    c: Any, *, integrality: Any = None, bounds: Any = None, constraints: Any = None, options: Any = None
) -> Any: ...
def minimize(
    fun: Any,
    x0: Any,
    args: Any = ...,
    method: Any = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = ...,
    tol: Any = None,
    callback: Any = None,
    options: Any = None,
) -> Any: ...
def minimize_scalar(
    fun: Any,
    bracket: Any = None,
    bounds: Any = None,
    args: Any = ...,
    method: Any = None,
    tol: Any = None,
    options: Any = None,
) -> Any: ...
def newton(
    func: Any,
    x0: Any,
    fprime: Any = None,
    args: Any = ...,
    tol: Any = 1.48e-08,
    maxiter: Any = 50,
    fprime2: Any = None,
    x1: Any = None,
    rtol: Any = 0.0,
    full_output: Any = False,
    disp: Any = True,
) -> Any: ...
def newton_krylov(
    F: Any,
    xin: Any,
    iter: Any = None,
    rdiff: Any = None,
    method: Any = "lgmres",
    inner_maxiter: Any = 20,
    inner_M: Any = None,
    outer_k: Any = 10,
    verbose: Any = False,
    maxiter: Any = None,
    f_tol: Any = None,
    f_rtol: Any = None,
    x_tol: Any = None,
    x_rtol: Any = None,
    tol_norm: Any = None,
    line_search: Any = "armijo",
    callback: Any = None,
    **kw: Any,
) -> ndarray: ...
def nnls(A: Any, b: Any, *, maxiter: Any = None) -> Any: ...
def quadratic_assignment(A: Any, B: Any, method: Any = "faq", options: Any = None) -> Any: ...
def ridder(
    f: Any,
    a: Any,
    b: Any,
    args: Any = ...,
    xtol: Any = 2e-12,
    rtol: Any = ...,
    maxiter: Any = 100,
    full_output: Any = False,
    disp: Any = True,
) -> Any: ...
def root(
    fun: Any,
    x0: Any,
    args: Any = ...,
    method: Any = "hybr",
    jac: Any = None,
    tol: Any = None,
    callback: Any = None,
    options: Any = None,
) -> Any: ...
def root_scalar(
    f: Any,
    args: Any = ...,
    method: Any = None,
    bracket: Any = None,
    fprime: Any = None,
    fprime2: Any = None,
    x0: Any = None,
    x1: Any = None,
    xtol: Any = None,
    rtol: Any = None,
    maxiter: Any = None,
    options: Any = None,
) -> Any: ...
def rosen(x: Any) -> Any: ...
def rosen_der(x: Any) -> Any: ...
def rosen_hess(x: Any) -> ndarray: ...
def rosen_hess_prod(x: Any, p: Any) -> ndarray: ...
def shgo(
    func: Any,
    bounds: Any,
    args: Any = ...,
    constraints: Any = None,
    n: Any = 100,
    iters: Any = 1,
    callback: Any = None,
    minimizer_kwargs: Any = None,
    options: Any = None,
    sampling_method: Any = "simplicial",
    *,
    workers: Any = 1,
) -> Any: ...
def show_options(solver: Any = None, method: Any = None, disp: Any = True) -> Any: ...
def toms748(
    f: Any,
    a: Any,
    b: Any,
    args: Any = ...,
    k: Any = 1,
    xtol: Any = 2e-12,
    rtol: Any = ...,
    maxiter: Any = 100,
    full_output: Any = False,
    disp: Any = True,
) -> Any: ...

__all__ = [
    "BFGS",
    "Bounds",
    "BroydenFirst",
    "HessianUpdateStrategy",
    "InverseJacobian",
    "KrylovJacobian",
    "LbfgsInvHessProduct",
    "LinearConstraint",
    "NoConvergence",
    "NonlinearConstraint",
    "OptimizeResult",
    "OptimizeWarning",
    "RootResults",
    "SR1",
    "anderson",
    "approx_fprime",
    "basinhopping",
    "bisect",
    "bracket",
    "brent",
    "brenth",
    "brentq",
    "broyden1",
    "broyden2",
    "brute",
    "check_grad",
    "curve_fit",
    "diagbroyden",
    "differential_evolution",
    "direct",
    "dual_annealing",
    "excitingmixing",
    "fixed_point",
    "fmin",
    "fmin_bfgs",
    "fmin_cg",
    "fmin_cobyla",
    "fmin_l_bfgs_b",
    "fmin_ncg",
    "fmin_powell",
    "fmin_slsqp",
    "fmin_tnc",
    "fminbound",
    "fsolve",
    "golden",
    "isotonic_regression",
    "least_squares",
    "leastsq",
    "line_search",
    "linear_sum_assignment",
    "linearmixing",
    "linprog",
    "linprog_verbose_callback",
    "lsq_linear",
    "milp",
    "minimize",
    "minimize_scalar",
    "newton",
    "newton_krylov",
    "nnls",
    "quadratic_assignment",
    "ridder",
    "root",
    "root_scalar",
    "rosen",
    "rosen_der",
    "rosen_hess",
    "rosen_hess_prod",
    "shgo",
    "show_options",
    "toms748",
]
