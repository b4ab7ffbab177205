"""`numpy.emath`: functions whose results are complex where those of the ufuncs would be NaN.

The host looks whether an element is outside of the domain, since that decides the dtype of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ...core.dtypes import check
from ...core.recording.array import ndarray
from ...core.recording.record import as_array
from ..every_dtype import takes_every_dtype
from ..fallback import OWN_FUNCTIONS, on_host
from ..manipulation.shape import astype
from ..placement import placed
from .methods import reduce_ufunc
from .ufunc import UFUNCS

# Dtypes whose numbers become complex64.
_SINGLE = tuple(map(numpy.dtype, ("f4", "i1", "i2", "u1", "u2")))


def _is_negative_anywhere(x: ndarray) -> bool:
    """Return whether an element is a negative number."""
    return x.dtype.kind in "if" and bool(reduce_ufunc("logical_or", UFUNCS["less"](x, 0), None))


def _exceeds_one_anywhere(x: ndarray) -> bool:
    """Return whether the magnitude of an element is larger than 1."""
    return x.dtype.kind in "iuf" and bool(reduce_ufunc("logical_or", UFUNCS["greater"](UFUNCS["absolute"](x), 1), None))


def _complex_if(is_outside: Callable[[ndarray], bool], x: Any) -> ndarray:
    """Return an array, of complex numbers if an element is outside of a domain."""
    array = as_array(x)
    check(array.dtype)  # NumPy makes complex128 of others
    if not is_outside(array):
        return array
    return astype(array, "c8" if array.dtype in _SINGLE else "c16")


def _extended(name: str, is_outside: Callable[[ndarray], bool]) -> Callable[[Any], Any]:
    """Return a ufunc's function that is complex outside of its domain."""

    def run(x: Any) -> Any:
        return UFUNCS[name](_complex_if(is_outside, x))

    run.__name__ = name
    run.__doc__ = f"Return what the ufunc returns, complex outside of its domain. See `numpy.emath.{name}`."
    return run


def logn(n: Any, x: Any) -> Any:
    """Return the logarithm to a base, complex for negative numbers. See `numpy.emath.logn`."""
    number, base = (_complex_if(_is_negative_anywhere, part) for part in (x, n))
    return UFUNCS["divide"](UFUNCS["log"](number), UFUNCS["log"](base))


def power(x: Any, p: Any) -> Any:
    """Return powers, complex ones of negative numbers. See `numpy.emath.power`."""
    base, exponent = _complex_if(_is_negative_anywhere, x), as_array(p)
    if _is_negative_anywhere(exponent):
        exponent = UFUNCS["multiply"](exponent, 1.0)
    return UFUNCS["power"](base, exponent)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _extended(name, _is_negative_anywhere) for name in ("log", "log10", "log2", "sqrt")},
    **{name: _extended(name, _exceeds_one_anywhere) for name in ("arccos", "arcsin", "arctanh")},
    "logn": logn,
    "power": power,
}
for _name, _function in _FUNCTIONS.items():
    _by_numpy = on_host(getattr(numpy.emath, _name), "")
    _placement = placed(getattr(numpy.emath, _name), _name)
    OWN_FUNCTIONS[f"numpy.lib.scimath.{_name}"] = takes_every_dtype(_function, _by_numpy, place=_placement)
