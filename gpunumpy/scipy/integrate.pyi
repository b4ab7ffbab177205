# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

from .. import ndarray

class BDF(Any):
    def __init__(
        self,
        fun: Any,
        t0: Any,
        y0: Any,
        t_bound: Any,
        max_step: Any = ...,
        rtol: Any = 0.001,
        atol: Any = 1e-06,
        jac: Any = None,
        jac_sparsity: Any = None,
        vectorized: Any = False,
        first_step: Any = None,
        **extraneous: Any,
    ) -> None: ...

class DOP853(Any):
    def __init__(
        self,
        fun: Any,
        t0: Any,
        y0: Any,
        t_bound: Any,
        max_step: Any = ...,
        rtol: Any = 0.001,
        atol: Any = 1e-06,
        vectorized: Any = False,
        first_step: Any = None,
        **extraneous: Any,
    ) -> None: ...

class DenseOutput(Any):
    def __init__(self, t_old: Any, t: Any) -> None: ...

class IntegrationWarning(Warning): ...

class LSODA(Any):
    def __init__(
        self,
        fun: Any,
        t0: Any,
        y0: Any,
        t_bound: Any,
        first_step: Any = None,
        min_step: Any = 0.0,
        max_step: Any = ...,
        rtol: Any = 0.001,
        atol: Any = 1e-06,
        jac: Any = None,
        lband: Any = None,
        uband: Any = None,
        vectorized: Any = False,
        **extraneous: Any,
    ) -> None: ...

class ODEintWarning(Warning): ...

class OdeSolution(Any):
    def __init__(self, ts: Any, interpolants: Any, alt_segment: Any = False) -> None: ...

class OdeSolver(Any):
    def __init__(
        self, fun: Any, t0: Any, y0: Any, t_bound: Any, vectorized: Any, support_complex: Any = False
    ) -> None: ...

class RK23(Any):
    def __init__(
        self,
        fun: Any,
        t0: Any,
        y0: Any,
        t_bound: Any,
        max_step: Any = ...,
        rtol: Any = 0.001,
        atol: Any = 1e-06,
        vectorized: Any = False,
        first_step: Any = None,
        **extraneous: Any,
    ) -> None: ...

class RK45(Any):
    def __init__(
        self,
        fun: Any,
        t0: Any,
        y0: Any,
        t_bound: Any,
        max_step: Any = ...,
        rtol: Any = 0.001,
        atol: Any = 1e-06,
        vectorized: Any = False,
        first_step: Any = None,
        **extraneous: Any,
    ) -> None: ...

class Radau(Any):
    def __init__(
        self,
        fun: Any,
        t0: Any,
        y0: Any,
        t_bound: Any,
        max_step: Any = ...,
        rtol: Any = 0.001,
        atol: Any = 1e-06,
        jac: Any = None,
        jac_sparsity: Any = None,
        vectorized: Any = False,
        first_step: Any = None,
        **extraneous: Any,
    ) -> None: ...

class complex_ode(Any):
    def __init__(self, f: Any, jac: Any = None) -> None: ...

def cubature(
    f: Any,
    a: Any,
    b: Any,
    *,
    rule: Any = "gk21",
    rtol: Any = 1e-08,
    atol: Any = 0,
    max_subdivisions: Any = 10000,
    args: Any = ...,
    workers: Any = 1,
    points: Any = None,
) -> Any: ...
def cumulative_simpson(y: Any, *, x: Any = None, dx: Any = 1.0, axis: Any = -1, initial: Any = None) -> ndarray: ...
def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1, initial: Any = None) -> ndarray: ...
def dblquad(
    func: Any, a: Any, b: Any, gfun: Any, hfun: Any, args: Any = ..., epsabs: Any = 1.49e-08, epsrel: Any = 1.49e-08
) -> Any: ...
def fixed_quad(func: Any, a: Any, b: Any, args: Any = ..., n: Any = 5) -> Any: ...
def lebedev_rule(n: Any) -> Any: ...
def newton_cotes(rn: Any, equal: Any = 0) -> Any: ...
def nquad(func: Any, ranges: Any, args: Any = None, opts: Any = None, full_output: Any = False) -> Any: ...
def nsum(
    f: Any,
    a: Any,
    b: Any,
    *,
    step: Any = 1,
    args: Any = ...,
    kwargs: Any = None,
    log: Any = False,
    maxterms: Any = 1048576,
    tolerances: Any = None,
) -> Any: ...

class ode(Any):
    def __init__(self, f: Any, jac: Any = None) -> None: ...

def odeint(
    func: Any,
    y0: Any,
    t: Any,
    args: Any = ...,
    Dfun: Any = None,
    col_deriv: Any = 0,
    full_output: Any = 0,
    ml: Any = None,
    mu: Any = None,
    rtol: Any = None,
    atol: Any = None,
    tcrit: Any = None,
    h0: Any = 0.0,
    hmax: Any = 0.0,
    hmin: Any = 0.0,
    ixpr: Any = 0,
    mxstep: Any = 0,
    mxhnil: Any = 0,
    mxordn: Any = 12,
    mxords: Any = 5,
    printmessg: Any = 0,
    tfirst: Any = False,
) -> Any: ...
def qmc_quad(
    func: Any, a: Any, b: Any, *, n_estimates: Any = 8, n_points: Any = 1024, qrng: Any = None, log: Any = False
) -> Any: ...
def quad(
    func: Any,
    a: Any,
    b: Any,
    args: Any = ...,
    full_output: Any = 0,
    epsabs: Any = 1.49e-08,
    epsrel: Any = 1.49e-08,
    limit: Any = 50,
    points: Any = None,
    weight: Any = None,
    wvar: Any = None,
    wopts: Any = None,
    maxp1: Any = 50,
    limlst: Any = 50,
    complex_func: Any = False,
) -> Any: ...
def quad_vec(
    f: Any,
    a: Any,
    b: Any,
    epsabs: Any = 1e-200,
    epsrel: Any = 1e-08,
    norm: Any = "2",
    cache_size: Any = 100000000.0,
    limit: Any = 10000,
    workers: Any = 1,
    points: Any = None,
    quadrature: Any = None,
    full_output: Any = False,
    *,
    args: Any = ...,
) -> Any: ...
def romb(y: Any, dx: Any = 1.0, axis: Any = -1, show: Any = False) -> ndarray: ...
def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: Any = -1) -> Any: ...
def solve_bvp(
    fun: Any,
    bc: Any,
    x: Any,
    y: Any,
    p: Any = None,
    S: Any = None,
    fun_jac: Any = None,
    bc_jac: Any = None,
    tol: Any = 0.001,
    max_nodes: Any = 1000,
    verbose: Any = 0,
    bc_tol: Any = None,
) -> Any: ...
def solve_ivp(
    fun: Any,
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    dense_output: Any = False,
    events: Any = None,
    vectorized: Any = False,
    args: Any = None,
    **options: Any,
) -> Any: ...
def tanhsinh(
    f: Any,
    a: Any,
    b: Any,
    *,
    args: Any = ...,
    kwargs: Any = None,
    log: Any = False,
    maxlevel: Any = None,
    minlevel: Any = 2,
    atol: Any = None,
    rtol: Any = None,
    preserve_shape: Any = False,
    callback: Any = None,
) -> Any: ...
def tplquad(
    func: Any,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    qfun: Any,
    rfun: Any,
    args: Any = ...,
    epsabs: Any = 1.49e-08,
    epsrel: Any = 1.49e-08,
) -> Any: ...
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any: ...

__all__ = [
    "BDF",
    "DOP853",
    "DenseOutput",
    "IntegrationWarning",
    "LSODA",
    "ODEintWarning",
    "OdeSolution",
    "OdeSolver",
    "RK23",
    "RK45",
    "Radau",
    "complex_ode",
    "cubature",
    "cumulative_simpson",
    "cumulative_trapezoid",
    "dblquad",
    "fixed_quad",
    "lebedev_rule",
    "newton_cotes",
    "nquad",
    "nsum",
    "ode",
    "odeint",
    "qmc_quad",
    "quad",
    "quad_vec",
    "romb",
    "simpson",
    "solve_bvp",
    "solve_ivp",
    "tanhsinh",
    "tplquad",
    "trapezoid",
]
