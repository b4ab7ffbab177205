# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

from .. import ndarray

class AAA(Any):
    def __init__(
        self, x: Any, y: Any, *, rtol: Any = None, max_terms: Any = 100, clean_up: Any = True, clean_up_tol: Any = 1e-13
    ) -> None: ...

class Akima1DInterpolator(Any):
    def __init__(self, x: Any, y: Any, axis: Any = 0, *, method: Any = "akima", extrapolate: Any = None) -> None: ...

class BPoly(Any):
    def __init__(self, c: Any, x: Any, extrapolate: Any = None, axis: Any = 0) -> None: ...

class BSpline(Any):
    def __init__(self, t: Any, c: Any, k: Any, extrapolate: Any = True, axis: Any = 0) -> None: ...

class BarycentricInterpolator(Any):
    def __init__(
        self, xi: Any, yi: Any = None, axis: Any = 0, *, wi: Any = None, rng: Any = None, random_state: Any = None
    ) -> None: ...

class BivariateSpline(Any):
    def __init__(self) -> None: ...

class CloughTocher2DInterpolator(Any):
    def __init__(
        self,
        points: Any,
        values: Any,
        fill_value: Any = ...,
        tol: Any = 1e-06,
        maxiter: Any = 400,
        rescale: Any = False,
    ) -> None: ...

class CubicHermiteSpline(Any):
    def __init__(self, x: Any, y: Any, dydx: Any, axis: Any = 0, extrapolate: Any = None) -> None: ...

class CubicSpline(Any):
    def __init__(self, x: Any, y: Any, axis: Any = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> None: ...

class FloaterHormannInterpolator(Any):
    def __init__(self, points: Any, values: Any, *, d: Any = 3, axis: Any = 0) -> None: ...

class InterpolatedUnivariateSpline(Any):
    def __init__(
        self, x: Any, y: Any, w: Any = None, bbox: Any = ..., k: Any = 3, ext: Any = 0, check_finite: Any = False
    ) -> None: ...

class KroghInterpolator(Any):
    def __init__(self, xi: Any, yi: Any, axis: Any = 0) -> None: ...

class LSQBivariateSpline(Any):
    def __init__(
        self,
        x: Any,
        y: Any,
        z: Any,
        tx: Any,
        ty: Any,
        w: Any = None,
        bbox: Any = ...,
        kx: Any = 3,
        ky: Any = 3,
        eps: Any = None,
    ) -> None: ...

class LSQSphereBivariateSpline(Any):
    def __init__(self, theta: Any, phi: Any, r: Any, tt: Any, tp: Any, w: Any = None, eps: Any = 1e-16) -> None: ...

class LSQUnivariateSpline(Any):
    def __init__(
        self,
        x: Any,
        y: Any,
        t: Any,
        w: Any = None,
        bbox: Any = ...,
        k: Any = 3,
        ext: Any = 0,
        check_finite: Any = False,
    ) -> None: ...

class LinearNDInterpolator(Any):
    def __init__(self, points: Any, values: Any, fill_value: Any = ..., rescale: Any = False) -> None: ...

class NdBSpline(Any):
    def __init__(self, t: Any, c: Any, k: Any, *, extrapolate: Any = None) -> None: ...

class NdPPoly(Any):
    def __init__(self, c: Any, x: Any, extrapolate: Any = None) -> None: ...

class NearestNDInterpolator(Any):
    def __init__(self, x: Any, y: Any, rescale: Any = False, tree_options: Any = None) -> None: ...

class PPoly(Any):
    def __init__(self, c: Any, x: Any, extrapolate: Any = None, axis: Any = 0) -> None: ...

class PchipInterpolator(Any):
    def __init__(self, x: Any, y: Any, axis: Any = 0, extrapolate: Any = None) -> None: ...

class RBFInterpolator(Any):
    def __init__(
        self,
        y: Any,
        d: Any,
        neighbors: Any = None,
        smoothing: Any = 0.0,
        kernel: Any = "thin_plate_spline",
        epsilon: Any = None,
        degree: Any = None,
    ) -> None: ...

class Rbf(Any):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

class RectBivariateSpline(Any):
    def __init__(
        self, x: Any, y: Any, z: Any, bbox: Any = ..., kx: Any = 3, ky: Any = 3, s: Any = 0, maxit: Any = 20
    ) -> None: ...

class RectSphereBivariateSpline(Any):
    def __init__(
        self,
        u: Any,
        v: Any,
        r: Any,
        s: Any = 0.0,
        pole_continuity: Any = False,
        pole_values: Any = None,
        pole_exact: Any = False,
        pole_flat: Any = False,
    ) -> None: ...

class RegularGridInterpolator(Any):
    def __init__(
        self,
        points: Any,
        values: Any,
        method: Any = "linear",
        bounds_error: Any = True,
        fill_value: Any = ...,
        *,
        solver: Any = None,
        solver_args: Any = None,
    ) -> None: ...

class SmoothBivariateSpline(Any):
    def __init__(
        self,
        x: Any,
        y: Any,
        z: Any,
        w: Any = None,
        bbox: Any = ...,
        kx: Any = 3,
        ky: Any = 3,
        s: Any = None,
        eps: Any = 1e-16,
    ) -> None: ...

class SmoothSphereBivariateSpline(Any):
    def __init__(self, theta: Any, phi: Any, r: Any, w: Any = None, s: Any = 0.0, eps: Any = 1e-16) -> None: ...

class UnivariateSpline(Any):
    def __init__(
        self,
        x: Any,
        y: Any,
        w: Any = None,
        bbox: Any = ...,
        k: Any = 3,
        s: Any = None,
        ext: Any = 0,
        check_finite: Any = False,
    ) -> None: ...

def approximate_taylor_polynomial(f: Any, x: Any, degree: Any, scale: Any, order: Any = None) -> Any: ...
def barycentric_interpolate(xi: Any, yi: Any, x: Any, axis: Any = 0, *, der: Any = 0, rng: Any = None) -> Any: ...
def bisplev(x: Any, y: Any, tck: Any, dx: Any = 0, dy: Any = 0) -> ndarray: ...
def bisplrep(
    x: Any,
    y: Any,
    z: Any,
    w: Any = None,
    xb: Any = None,
    xe: Any = None,
    yb: Any = None,
    ye: Any = None,
    kx: Any = 3,
    ky: Any = 3,
    task: Any = 0,
    s: Any = None,
    eps: Any = 1e-16,
    tx: Any = None,
    ty: Any = None,
    full_output: Any = 0,
    nxest: Any = None,
    nyest: Any = None,
    quiet: Any = 1,
) -> Any: ...
def generate_knots(
    x: Any,
    y: Any,
    *,
    w: Any = None,
    xb: Any = None,
    xe: Any = None,
    k: Any = 3,
    s: Any = 0,
    nest: Any = None,
    bc_type: Any = None,
) -> Any: ...
def griddata(
    points: Any,
    values: Any,
    xi: Any,
    method: Any = "linear",
    fill_value: Any = ...,
    rescale: Any = False,
    simplex_tolerance: Any = 1.0,
) -> ndarray: ...
def insert(x: Any, tck: Any, m: Any = 1, per: Any = 0) -> Any: ...

class interp1d(Any):
    def __init__(
        self,
        x: Any,
        y: Any,
        kind: Any = "linear",
        axis: Any = -1,
        copy: Any = True,
        bounds_error: Any = None,
        fill_value: Any = ...,
        assume_sorted: Any = False,
    ) -> None: ...

class interp2d(Any):
    def __init__(
        self,
        x: Any,
        y: Any,
        z: Any,
        kind: Any = "linear",
        copy: Any = True,
        bounds_error: Any = False,
        fill_value: Any = None,
    ) -> None: ...

def interpn(
    points: Any, values: Any, xi: Any, method: Any = "linear", bounds_error: Any = True, fill_value: Any = ...
) -> ndarray: ...
def krogh_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: Any = 0) -> ndarray: ...
def lagrange(x: Any, w: Any) -> Any: ...
def make_interp_spline(
    x: Any, y: Any, k: Any = 3, t: Any = None, bc_type: Any = None, axis: Any = 0, check_finite: Any = True
) -> Any: ...
def make_lsq_spline(
    x: Any, y: Any, t: Any, k: Any = 3, w: Any = None, axis: Any = 0, check_finite: Any = True, *, method: Any = "qr"
) -> Any: ...
def make_smoothing_spline(x: Any, y: Any, w: Any = None, lam: Any = None, *, axis: Any = 0) -> Any: ...
def make_splprep(
    x: Any,
    *,
    w: Any = None,
    u: Any = None,
    ub: Any = None,
    ue: Any = None,
    k: Any = 3,
    s: Any = 0,
    t: Any = None,
    nest: Any = None,
    bc_type: Any = None,
) -> Any: ...
def make_splrep(
    x: Any,
    y: Any,
    *,
    w: Any = None,
    xb: Any = None,
    xe: Any = None,
    k: Any = 3,
    s: Any = 0,
    t: Any = None,
    nest: Any = None,
    bc_type: Any = None,
) -> Any: ...
def pade(an: Any, m: Any, n: Any = None) -> Any: ...
def pchip_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: Any = 0) -> Any: ...
def spalde(x: Any, tck: Any) -> Any: ...
def splantider(tck: Any, n: Any = 1) -> Any: ...
def splder(tck: Any, n: Any = 1) -> Any: ...
def splev(x: Any, tck: Any, der: Any = 0, ext: Any = 0) -> Any: ...
def splint(a: Any, b: Any, tck: Any, full_output: Any = 0) -> Any: ...
def splprep(
    x: Any,
    w: Any = None,
    u: Any = None,
    ub: Any = None,
    ue: Any = None,
    k: Any = 3,
    task: Any = 0,
    s: Any = None,
    t: Any = None,
    full_output: Any = 0,
    nest: Any = None,
    per: Any = 0,
    quiet: Any = 1,
) -> Any: ...
def splrep(
    x: Any,
    y: Any,
    w: Any = None,
    xb: Any = None,
    xe: Any = None,
    k: Any = 3,
    task: Any = 0,
    s: Any = None,
    t: Any = None,
    full_output: Any = 0,
    per: Any = 0,
    quiet: Any = 1,
) -> Any: ...
def sproot(tck: Any, mest: Any = 10) -> ndarray: ...

__all__ = [
    "AAA",
    "Akima1DInterpolator",
    "BPoly",
    "BSpline",
    "BarycentricInterpolator",
    "BivariateSpline",
    "CloughTocher2DInterpolator",
    "CubicHermiteSpline",
    "CubicSpline",
    "FloaterHormannInterpolator",
    "InterpolatedUnivariateSpline",
    "KroghInterpolator",
    "LSQBivariateSpline",
    "LSQSphereBivariateSpline",
    "LSQUnivariateSpline",
    "LinearNDInterpolator",
    "NdBSpline",
    "NdPPoly",
    "NearestNDInterpolator",
    "PPoly",
    "PchipInterpolator",
    "RBFInterpolator",
    "Rbf",
    "RectBivariateSpline",
    "RectSphereBivariateSpline",
    "RegularGridInterpolator",
    "SmoothBivariateSpline",
    "SmoothSphereBivariateSpline",
    "UnivariateSpline",
    "approximate_taylor_polynomial",
    "barycentric_interpolate",
    "bisplev",
    "bisplrep",
    "generate_knots",
    "griddata",
    "insert",
    "interp1d",
    "interp2d",
    "interpn",
    "krogh_interpolate",
    "lagrange",
    "make_interp_spline",
    "make_lsq_spline",
    "make_smoothing_spline",
    "make_splprep",
    "make_splrep",
    "pade",
    "pchip_interpolate",
    "spalde",
    "splantider",
    "splder",
    "splev",
    "splint",
    "splprep",
    "splrep",
    "sproot",
]
