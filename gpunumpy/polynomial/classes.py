"""NumPy's classes of polynomials, which hold their coefficients on the host, evaluated and fitted on the device."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

import numpy.polynomial
from numpy.polynomial import polyutils

from ..core.errors import OnHostError
from ..core.recording.array import is_scalar, ndarray, to_host
from ..functions.creation.arrays import asarray
from ..functions.fallback import OWN_FUNCTIONS
from ..functions.reductions.reductions import max, min
from . import evaluation, fitting
from .bases import BASES, Basis
from .operands import Array, device_of


class _Meta(ABCMeta):
    """Metaclass of a class whose instances are those of NumPy's class, so that both kinds mix."""

    numpy_class: type

    def __instancecheck__(cls, x: Any) -> bool:
        """Return whether `x` is an instance of the NumPy class; of a program's own subclass, whether it is of that."""
        return issubclass(type(x), cls)

    def __subclasscheck__(cls, subclass: type) -> bool:
        """Return whether a class is a subclass of the NumPy class, or of a program's own."""
        return (cls.numpy_class if "numpy_class" in vars(cls) else cls) in subclass.__mro__


class _OnDevice:
    """What the class of a basis does otherwise than NumPy's class."""

    basis_of_values: Basis
    coef: Any
    domain: Any
    window: Any

    def __call__(self, arg: Any) -> Any:
        """Return the values at points."""
        if not isinstance(arg, ndarray):  # NumPy's code calls the operators of masked arrays
            return super().__call__(arg)  # type: ignore[misc]
        return evaluation.values(self.basis_of_values, _mapped(arg, self.domain, self.window), self.coef)

    def __truediv__(self, other: Any) -> Any:
        """Return the quotient by a number, which a 0-d result is too."""
        is_result = isinstance(other, ndarray) and is_scalar(other)
        return super().__truediv__(to_host(other)[()] if is_result else other)  # type: ignore[misc]

    @classmethod
    def fit(
        cls,
        x: Any,
        y: Any,
        deg: Any,
        domain: Any = None,
        rcond: Any = None,
        full: bool = False,
        w: Any = None,
        window: Any = None,
        symbol: str = "x",
    ) -> Any:
        """Return the polynomial that fits values at points best. See `numpy.polynomial.Polynomial.fit`.

        As in NumPy masks are not looked at.
        """
        device = device_of(x, y, w)
        try:
            points: Array | None = None if device is None else asarray(x, device=device)
        except OnHostError:  # of points that no kernel computes
            points = None
        if points is None:
            options = {"domain": domain, "rcond": rcond, "full": full, "w": w, "window": window, "symbol": symbol}
            return super().fit(x, y, deg, **options)  # type: ignore[misc]
        y, w = (None if values is None else asarray(values, device=device) for values in (y, w))
        if domain is None:
            domain = _domain_of(points)
        elif isinstance(domain, list) and not domain:
            domain = cls.domain
        window = cls.window if window is None else window
        fitted = fitting.fit(cls.basis_of_values, _mapped(points, domain, window), y, deg, rcond, full, w)
        coefficients, *status = fitted if full else (fitted,)
        polynomial = cls(to_host(coefficients), domain=domain, window=window, symbol=symbol)  # type: ignore[call-arg]
        return (polynomial, *status) if full else polynomial


def _mapped(x: Array, domain: Any, window: Any) -> Array:
    """Return points mapped as the domain is mapped to the window."""
    offset, scale = polyutils.mapparms(domain, window)
    return offset + scale * x


def _domain_of(points: Array) -> Any:
    """Return the interval, or the corners of the rectangle, that holds points, which the host reads."""
    if points.ndim > 1:
        raise ValueError("Coefficient array is not 1-d")
    ends = [reduction(points.real) for reduction in (min, max)]
    corners = numpy.asarray([to_host(end) for end in ends])
    if points.dtype.kind == "c":
        corners = corners + 1j * numpy.asarray([to_host(reduction(points.imag)) for reduction in (min, max)])
    return polyutils.getdomain(corners)


def _register(basis: Basis) -> None:
    """Register the class of a basis in the places where NumPy has it."""
    numpy_class: Any = getattr(numpy.polynomial, basis.class_name)
    namespace = {
        "basis_of_values": basis,
        "numpy_class": numpy_class,
        "__doc__": numpy_class.__doc__,
        "__module__": "gpunumpy.polynomial",
    }
    found = _Meta(basis.class_name, (_OnDevice, numpy_class), namespace)
    for module in ("numpy.polynomial", f"numpy.polynomial.{basis.module}"):
        OWN_FUNCTIONS[f"{module}.{basis.class_name}"] = found


for _basis in BASES:
    _register(_basis)
