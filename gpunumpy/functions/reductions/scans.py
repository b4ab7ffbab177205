"""Cumulative sums and products along an axis."""

from __future__ import annotations

from typing import Any

from ...core.graph import layout
from ...core.numpy_ufuncs import UFUNCS
from ...core.recording.array import ndarray
from ...core.recording.record import as_array
from ..indexing.slices import filled_like, flat_array
from ..manipulation.joining import concatenate
from ..ufuncs.methods import accumulate_ufunc
from ..ufuncs.output import checked_output, only_output, write_to_output

__all__ = ["cumprod", "cumsum", "cumulative_prod", "cumulative_sum"]


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> ndarray:
    """Return the cumulative sum along an axis, or of all elements in C order. See `numpy.cumsum`."""
    return _scan_flattened("add", a, axis, dtype, out)


def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> ndarray:
    """Return the cumulative product along an axis, or of all elements in C order. See `numpy.cumprod`."""
    return _scan_flattened("multiply", a, axis, dtype, out)


def _scan_flattened(op: str, a: Any, axis: Any, dtype: Any, out: Any) -> ndarray:
    """Scan along an axis, or all elements in C order if `axis` is None."""
    array = as_array(a)
    if axis is None or array.ndim == 0:
        layout.checked_axis(axis or 0, 1)
        array, axis = flat_array(array), 0
    return accumulate_ufunc(op, array, layout.checked_axis(axis, array.ndim), dtype, out)


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> ndarray:
    """Return the cumulative sum along an axis, after a zero if `include_initial`. See `numpy.cumulative_sum`."""
    return _scan_with_initial("add", x, axis, dtype, out, include_initial)


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> ndarray:
    """Return the cumulative product along an axis, after a one if `include_initial`. See `numpy.cumulative_prod`."""
    return _scan_with_initial("multiply", x, axis, dtype, out, include_initial)


def _scan_with_initial(op: str, x: Any, axis: int | None, dtype: Any, out: Any, include_initial: bool) -> ndarray:
    """Scan along one axis, after the ufunc's identity if `include_initial`; `axis` may be None in one dimension."""
    array, out = as_array(x), only_output(out)
    if axis is None:
        if array.ndim >= 2:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    if array.ndim == 0:
        array = flat_array(array)
    axis = _only_axis(op, axis, array.ndim)
    if not include_initial:
        return accumulate_ufunc(op, array, axis, dtype, out)
    into = checked_output(out)
    running = accumulate_ufunc(op, array, axis, dtype if into is None or dtype is not None else into.dtype)
    first = filled_like(running, UFUNCS[op].identity, axis, 1)
    result = concatenate((first, running), axis)
    if into is None:
        return result
    if into.shape != result.shape:
        raise ValueError(
            f"output parameter for accumulate operation {op} has the shape {into.shape}, expected is {result.shape}"
        )
    return write_to_output(into, result.value())


def _only_axis(op: str, axis: Any, ndim: int) -> int:
    """Return an axis, which may be given as a tuple of one, counted from the front."""
    axes = layout.checked_axes(axis, ndim)
    if len(axes) != 1:
        raise ValueError(f"{op}.accumulate does not allow multiple axes")
    return axes[0]
