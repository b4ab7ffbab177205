"""Domains of polynomials: the interval or rectangle of points, and linear maps between two."""

from __future__ import annotations

from typing import Any

from ..core.recording.record import as_array
from ..functions.manipulation.joining import stack
from .operands import Array, as_series


def domain_of(x: Any) -> Array:
    """Return the ends of the interval, or two corners of the rectangle, that holds points."""
    points: Array = as_series(x, trim=False)[0]

    def ends(values: Array) -> Array:
        return stack([values.min(), values.max()])

    return ends(points.real) + 1j * ends(points.imag) if points.dtype.kind == "c" else ends(points)


def parameters(old: Any, new: Any) -> tuple[Any, Any]:
    """Return the offset and the scale of the linear map between two domains."""
    old_length, new_length = old[1] - old[0], new[1] - new[0]
    return (old[1] * new[0] - old[0] * new[1]) / old_length, new_length / old_length


def mapped(x: Any, old: Any, new: Any) -> Any:
    """Return points mapped as a domain is mapped to another."""
    offset, scale = parameters(old, new)
    return offset + scale * (as_array(x) if isinstance(x, (list, tuple)) else x)
