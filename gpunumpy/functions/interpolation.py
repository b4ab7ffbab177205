"""Piecewise linear interpolation."""

from __future__ import annotations

from typing import Any

import numpy

from ..core.dtypes import COMPLEX128, FLOAT64, INT64, DType
from ..core.graph import node as graph
from ..core.graph.node import Node
from ..core.numpy_release import NUMPY_2_5
from ..core.recording.array import from_host, is_scalar, ndarray, wrap
from ..core.recording.record import as_array, as_dtype, cast_with_warning, elementwise
from ..core.runtime.numpy_calls import calls_numpy
from ..core.source_location import call_for_user, source_location
from .indexing.slices import element, sliced_copy
from .manipulation.joining import concatenate
from .sorting.searching import check_vector, insertion_positions
from .sorting.sort import argsort
from .ufuncs.errstate import ignoring
from .ufuncs.ufunc import add, bitwise_and, divide, equal, greater, isnan, less, multiply, remainder, subtract

__all__ = ["interp"]


@ignoring(all="ignore")
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> ndarray:
    """Interpolate linearly between sample points. See `numpy.interp`."""
    device = next((a.device for a in (x, xp, fp) if isinstance(a, ndarray)), None)
    values, points, samples = (as_array(a, device) for a in (x, xp, fp))
    dtype = COMPLEX128 if samples.dtype.kind == "c" else FLOAT64
    if period is None:
        samples, points, values = _safely_cast(samples, dtype), _safely_cast(points), _safely_cast(values)
        for array in (samples, points):
            check_vector(array)
    else:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        if points.ndim != 1 or samples.ndim != 1:
            raise ValueError("Data points must be 1-D sequences")
    if not points.size and (values.size or not NUMPY_2_5):
        raise ValueError("array of sample points is empty")
    if points.size != samples.size:
        raise ValueError("fp and xp are not of the same length.")
    if not points.size:
        return from_host(numpy.empty(values.shape, dtype), values.device)
    if period is None:
        return _interpolated(values, points, samples, _outside(left, dtype), _outside(right, dtype))
    values, points = (wrap(cast_with_warning(a.value(), FLOAT64)) for a in (values, points))
    samples = wrap(as_dtype(samples.value(), dtype))
    return _interpolated(*_one_period(values, points, samples, abs(period)), None, None)


def _safely_cast(x: ndarray, dtype: DType = FLOAT64) -> ndarray:
    """Return the array in a dtype; raise `TypeError` if that may lose something."""
    if not numpy.can_cast(x.dtype, dtype, "safe"):
        raise TypeError(f"Cannot cast array data from {x.dtype!r} to {dtype!r} according to the rule 'safe'")
    return x if x.dtype == dtype else wrap(graph.cast(x.value(), dtype))


def _outside(value: Any, dtype: DType) -> Any:
    """Return the value beyond one end as a scalar operand of a dtype; None for the sample at that end."""
    if value is None:
        return None
    if isinstance(value, ndarray):
        if value.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        if value.dtype.kind == "c" and dtype == FLOAT64 and not is_scalar(value):
            raise TypeError("float() argument must be a string or a real number, not 'complex'")
        return wrap(cast_with_warning(value.value(), dtype))
    if isinstance(value, (str, list, tuple)) or (dtype == FLOAT64 and type(value) is complex):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    return complex(value) if dtype == COMPLEX128 else call_for_user(float, value)  # NumPy warns of its complex scalars


def _one_period(values: ndarray, points: ndarray, samples: ndarray, period: Any) -> tuple[ndarray, ndarray, ndarray]:
    """Return values and points of one period, the points sorted and continued by one point on either side."""
    values, points = remainder(values, period), remainder(points, period)
    order = argsort(points).value()
    points, samples = (wrap(_gathered(a, order)) for a in (points, samples))
    n = points.size
    (first, last), (first_sample, last_sample) = (
        (sliced_copy(a, 0, 0, 1), sliced_copy(a, 0, n - 1, n)) for a in (points, samples)
    )
    points = concatenate((subtract(last, period), points, add(first, period)))
    return values, points, concatenate((last_sample, samples, first_sample))


def _interpolated(x: ndarray, points: ndarray, samples: ndarray, left: Any, right: Any) -> ndarray:
    """Return the interpolated values, `left` and `right` beyond the ends."""
    n = points.size
    first_sample, last_sample = element(samples, 0), element(samples, n - 1)
    left, right = (first_sample if left is None else left), (last_sample if right is None else right)
    if calls_numpy(x.device):
        ends = (as_dtype(as_array(end, x.device).value(), samples.dtype) for end in (left, right))
        return wrap(graph.library_call("interp", (), (*(a.value() for a in (x, points, samples)), *ends)))
    first, last = element(points, 0), element(points, n - 1)
    if n == 1:
        return _where(less(x, first), left, _where(greater(x, first), right, first_sample))
    place = insertion_positions(points.value(), x.value(), "right")
    after = graph.map_node("clip", (INT64,) * 4, (place, graph.scalar(1), graph.scalar(n - 1)))
    before = graph.map_node("subtract", (INT64,) * 3, (after, graph.scalar(1)))
    x0, x1, y0, y1 = (wrap(_gathered(a, k)) for a in (points, samples) for k in (before, after))
    interpolate = _on_line if samples.dtype == FLOAT64 else _on_complex_line
    result = interpolate(x, x0, x1, y0, y1)
    # A sample point has its sample, whatever lies next to it.
    result = _where(equal(x, last), last_sample, _where(equal(x, x0), y0, result))
    result = _where(less(x, first), left, _where(greater(x, last), right, result))
    return _where(isnan(x), x, result)


def _where(condition: ndarray, x: Any, y: Any) -> ndarray:
    """Return elements of `x` where the condition holds and of `y` elsewhere; without dimensions, as a scalar."""
    return elementwise("where", (condition, x, y))


def _gathered(array: ndarray, position: Node) -> Node:
    """Return the elements of a vector at positions within its bounds."""
    return graph.gather(array.value(), (position,), source_location())


def _on_line(x: ndarray, x0: ndarray, x1: ndarray, y0: ndarray, y1: ndarray) -> ndarray:
    """Return the values at `x` of the lines through two points."""
    slope = divide(subtract(y1, y0), subtract(x1, x0))
    return _from_either_end(slope, x, x0, x1, y0, y1)


def _on_complex_line(x: ndarray, x0: ndarray, x1: ndarray, y0: ndarray, y1: ndarray) -> ndarray:
    """Return the values at `x` of the lines through two points with complex samples, whose parts stay apart."""
    inverse = divide(1.0, subtract(x1, x0))
    parts = []
    for component in ("real", "imag"):
        start, end = elementwise(component, (y0,)), elementwise(component, (y1,))
        slope = multiply(subtract(end, start), inverse)
        parts.append(_from_either_end(slope, x, x0, x1, start, end))
    return elementwise("complex", parts)


def _from_either_end(slope: ndarray, x: ndarray, x0: ndarray, x1: ndarray, y0: ndarray, y1: ndarray) -> ndarray:
    """Return the values at `x` of lines from their first point; of one where infinities make that NaN, from the other.

    Between equal samples the value is theirs even if neither end gives a number.
    """
    from_start = add(multiply(slope, subtract(x, x0)), y0)
    from_end = add(multiply(slope, subtract(x, x1)), y1)
    from_end = _where(bitwise_and(isnan(from_end), equal(y0, y1)), y0, from_end)
    return _where(isnan(from_start), from_end, from_start)
