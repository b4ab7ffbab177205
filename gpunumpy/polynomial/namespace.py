"""The functions of the modules of `numpy.polynomial`, one set of them for each basis, under NumPy's names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy.polynomial

from ..core.recording.record import as_array
from ..functions.every_dtype import takes_every_dtype
from ..functions.fallback import OWN_FUNCTIONS, on_host
from ..functions.placement import placed
from . import arithmetic, calculus, domains, evaluation, fitting, roots
from .bases import BASES, CHEBYSHEV, POWERS, Basis
from .operands import as_series, device_of, trimmed

# What numpy.polynomial's functions do that take points: by what follows the prefix in the name of each.
_OF_POINTS: dict[str, Callable[..., Any]] = {
    "fit": fitting.fit,
    "val": evaluation.values,
    "val2d": lambda basis, x, y, c: evaluation.values_at_tuples(basis, (x, y), c),
    "val3d": lambda basis, x, y, z, c: evaluation.values_at_tuples(basis, (x, y, z), c),
    "valnd": lambda basis, pts, c: evaluation.values_at_tuples(basis, tuple(pts), c),
    "grid2d": lambda basis, x, y, c: evaluation.values_on_grid(basis, (x, y), c),
    "grid3d": lambda basis, x, y, z, c: evaluation.values_on_grid(basis, (x, y, z), c),
    "gridnd": lambda basis, pts, c: evaluation.values_on_grid(basis, tuple(pts), c),
    "vander": evaluation.vander,
    "vander2d": lambda basis, x, y, deg: evaluation.vander_of_products(basis, (x, y), deg),
    "vander3d": lambda basis, x, y, z, deg: evaluation.vander_of_products(basis, (x, y, z), deg),
    "vandernd": lambda basis, pts, deg: evaluation.vander_of_products(basis, tuple(pts), deg),
    "weight": lambda basis, x: basis.weight(as_array(x)),
}
# The default of `maxpower`: 16, but none for powers of x.
_POWER_LIMIT = ({"maxpower": 16}, {"maxpower": None})
# What they do with coefficients and roots. Without an array of this package among these NumPy computes the few numbers.
_OF_COEFFICIENTS: dict[str, Callable[..., Any]] = {
    "add": arithmetic.add,
    "companion": lambda basis, c: roots.companion(basis, *as_series(c)),
    "der": calculus.derivative,
    "div": arithmetic.divide,
    "fromroots": arithmetic.from_roots,
    "int": calculus.integral,
    "mul": arithmetic.multiply,
    "mulx": arithmetic.times_x,
    "pow": lambda basis, c, pow, *limit, **named_limit: arithmetic.power(
        basis, c, pow, *limit, **({} if limit else _POWER_LIMIT[basis is POWERS] | named_limit)
    ),
    "roots": roots.roots,
    "sub": arithmetic.subtract,
    "trim": lambda basis, c, tol=0: arithmetic.trim(c, tol),
}
# What takes single numbers, which decide shapes: lines, and NumPy's tables of points and weights.
_OF_NUMBERS = ("gauss", "line", "pts1", "pts2")


def _register(module: Any, name: str, function: Callable[..., Any] | None, of_points: bool) -> None:
    """Make a function, or NumPy's own for None, that of a name in a module, unless NumPy has none of that name."""
    numpy_function = getattr(module, name, None)
    if numpy_function is None:
        return
    by_numpy = on_host(numpy_function, "")

    @wraps(numpy_function, updated=())
    def run(*args: Any, **options: Any) -> Any:
        takes_part = of_points or device_of(*args, *options.values()) is not None
        return function(*args, **options) if function and takes_part else by_numpy(*args, **options)

    OWN_FUNCTIONS[f"{module.__name__}.{name}"] = takes_every_dtype(run, by_numpy, place=placed(numpy_function, name))


def _register_basis(basis: Basis) -> None:
    """Register the functions of the module of a basis."""
    module = getattr(numpy.polynomial, basis.module)
    for suffix, function in (_OF_POINTS | _OF_COEFFICIENTS).items():
        _register(module, basis.prefix + suffix, partial(function, basis), suffix in _OF_POINTS)
    for suffix in _OF_NUMBERS:
        _register(module, basis.prefix + suffix, None, False)
    if basis is CHEBYSHEV:
        as_called = OWN_FUNCTIONS[f"{module.__name__}.chebvander"]
        _register(module, "chebinterpolate", partial(fitting.interpolate, as_called), True)
    if basis is not POWERS:
        _register(module, f"poly2{basis.prefix}", lambda pol: arithmetic.converted(POWERS, basis, pol), False)
        _register(module, f"{basis.prefix}2poly", lambda c: arithmetic.converted(basis, POWERS, c), False)


# What `numpy.polynomial.polyutils` has for the modules of all bases.
_UTILITIES: dict[str, Callable[..., Any]] = {
    "as_series": lambda alist, trim=True: as_series(*alist, trim=trim),
    "getdomain": domains.domain_of,
    "mapdomain": domains.mapped,
    "mapparms": domains.parameters,
    "trimcoef": lambda c, tol=0: arithmetic.trim(c, tol),
    "trimseq": lambda seq: trimmed(seq) if len(seq) else seq,
}
for _name, _function in _UTILITIES.items():
    _register(numpy.polynomial.polyutils, _name, _function, False)
_register(numpy.polynomial.polyutils, "format_float", None, False)
_register(numpy.polynomial.polynomial, "polyvalfromroots", evaluation.values_from_roots, True)
for _basis in BASES:
    _register_basis(_basis)
