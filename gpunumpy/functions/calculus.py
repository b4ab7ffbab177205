"""Differences, derivatives, integrals and convolutions of sampled values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from ..core.dtypes import BOOL, FLOAT64, INT64, KIND, ML_DTYPES, DType
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.layout import Layout
from ..core.ops import table
from ..core.recording.array import ndarray, ordered_view, wrap, wrap_ordered
from ..core.recording.calls import memoize_inside
from ..core.recording.record import as_array, as_dtype, elementwise, elementwise_value, ndim_of
from ..core.runtime.device import Device
from ..core.runtime.evaluate import traits_of
from ..core.runtime.memory import memory_limit
from ..core.runtime.numpy_calls import calls_numpy
from .indexing.slices import element, filled_like, flat_array, laid_along_axis, sliced, sliced_copy
from .manipulation.joining import concatenate
from .manipulation.shape import flip, permuted
from .reductions.reductions import all
from .ufuncs.errstate import ignoring
from .ufuncs.methods import NO_VALUE, reduce_ufunc, wrapped_scalar

__all__ = ["convolve", "correlate", "diff", "ediff1d", "gradient", "trapezoid"]


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE) -> Any:
    """Calculate the n-th discrete difference along an axis. See `numpy.diff`."""
    if n == 0:
        return a
    array = as_array(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    if array.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = layout.normalize_axis(axis, array.ndim)
    if prepend is not NO_VALUE or append is not NO_VALUE:
        ends = [_edge_values(array, axis, end) for end in (prepend, append)]
        array = concatenate([part for part in (ends[0], array, ends[1]) if part is not None], axis)
    op = "not_equal" if array.dtype == BOOL else "subtract"
    for _ in range(n):
        length = array.shape[axis]
        neighbours = sliced(array, axis, 1, length), sliced(array, axis, 0, length - 1)
        array = wrap_ordered(*elementwise_value(op, neighbours))
    return array


def _edge_values(array: ndarray, axis: int, argument: Any) -> ndarray | None:
    """Return the values before or after the array along an axis, or None; a scalar is repeated along the other axes."""
    if argument is NO_VALUE:
        return None
    end = as_array(argument, array.device)
    if end.ndim:
        return end
    return wrap(graph.broadcast(end.value(), (*array.shape[:axis], 1, *array.shape[axis + 1 :])))


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> ndarray:
    """Return the differences of consecutive elements in C order, between given ends. See `numpy.ediff1d`."""
    array = flat_array(as_array(ary))
    parts: list[ndarray] = []
    for name, end in (("to_begin", to_begin), ("", None), ("to_end", to_end)):
        if not name:
            length = array.size
            neighbours = sliced_copy(array, 0, 1, length), sliced_copy(array, 0, 0, length - 1)
            parts.append(elementwise("subtract", neighbours))
        elif end is not None:
            part = flat_array(as_array(end, array.device))
            if not numpy.can_cast(part.dtype, array.dtype, casting="same_kind"):
                raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
            parts.append(wrap(as_dtype(part.value(), array.dtype)))
    return parts[0] if len(parts) == 1 else concatenate(parts, 0)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> ndarray:
    """Integrate along an axis by the trapezoidal rule. See `numpy.trapezoid`."""
    values = as_array(y)
    axis = layout.checked_axis(axis, values.ndim)
    step = dx
    if x is not None:
        points = as_array(x, values.device)
        step = diff(points, axis=-1 if points.ndim == 1 else axis)
        if points.ndim == 1:
            step = laid_along_axis(step, axis, values.ndim)
    length = values.shape[axis]
    neighbours = sliced(values, axis, 1, length), sliced(values, axis, 0, length - 1)
    pairs = wrap_ordered(*elementwise_value("add", neighbours))
    return reduce_ufunc("add", elementwise("divide", (elementwise("multiply", (step, pairs)), 2.0)), axis)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return derivatives by central differences, one-sided at the ends. See `numpy.gradient`."""
    array = as_array(f)
    axes = layout.normalize_axes(axis, array.ndim)
    steps = _steps(array, axes, varargs)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    dtype = array.dtype if KIND[array.dtype] in "efc" else FLOAT64
    order = layout.copied_order(array.shape, array.layout.strides)  # in which the derivatives lie in memory too
    if order is not None:
        array = permuted(array, order)
        axes = tuple(order.index(d) for d in axes)
    if KIND[array.dtype] in "iu":
        array = wrap(graph.cast(array.value(), FLOAT64))
    derivatives = tuple(_derivative(array, d, step, edge_order, dtype) for d, step in zip(axes, steps, strict=True))
    if order is not None:
        derivatives = tuple(ordered_view(derivative, order) for derivative in derivatives)
    return derivatives[0] if len(derivatives) == 1 else derivatives


def _steps(array: ndarray, axes: tuple[int, ...], spacings: tuple[Any, ...]) -> list[Any]:
    """Return for each axis a scalar, or an array of the distances between neighbours."""
    if not spacings:
        return [1.0] * len(axes)
    if len(spacings) == 1 and ndim_of(spacings[0]) == 0:
        return [spacings[0]] * len(axes)
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    steps: list[Any] = []
    for d, spacing in zip(axes, spacings, strict=True):
        if ndim_of(spacing) == 0:
            steps.append(spacing)
            continue
        points = as_array(spacing, array.device)
        if points.ndim != 1:
            raise ValueError("distances must be either scalars or 1d")
        if points.size != array.shape[d]:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        if KIND[points.dtype] in "iu":
            points = wrap(graph.cast(points.value(), FLOAT64))
        steps.append(diff(points))
    return steps


@memoize_inside
def _derivative(array: ndarray, axis: int, step: Any, edge_order: int, dtype: DType) -> ndarray:
    """Return the derivative along one axis, for a scalar `step` or an array of distances."""
    length = array.shape[axis]
    if length < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, "
            "at least (edge_order + 1) elements are required."
        )
    uniform = not isinstance(step, ndarray) or step.ndim == 0
    first, last = (step, step) if uniform else (element(step, 0), element(step, step.size - 1))
    ends = []
    for position, inward, step_at_end in ((0, 1, first), (length - 1, -1, last)):
        points = [
            sliced_copy(array, axis, position + k * inward, position + k * inward + 1) for k in range(edge_order + 1)
        ]
        if edge_order == 1:
            pair = points[::-1] if inward > 0 else points
            ends.append(_divide(_subtract(*pair), step_at_end))
        else:
            next_step = step if uniform else element(step, 1 if inward > 0 else step.size - 2)
            ends.append(_weighted(_one_sided(step_at_end, next_step, inward), points))
    middle = []
    if length > 2:
        before, here, after = (sliced_copy(array, axis, k, length - 2 + k) for k in range(3))
        double = _multiply(2.0, first)
        differences = _divide(_subtract(after, before), double)
        if not uniform:
            d1, d2 = (laid_along_axis(sliced_copy(step, 0, k, step.size - 1 + k), axis, array.ndim) for k in (0, 1))
            both_steps = _add(d1, d2)
            weights = (
                _negative(_divide(d2, _multiply(d1, both_steps))),
                _divide(_subtract(d2, d1), _multiply(d1, d2)),
                _divide(d1, _multiply(d2, both_steps)),
            )
            # Equal distances give the plain difference, as in NumPy: a weight 0 would make NaN of an infinity.
            is_uniform = all(elementwise("equal", (step, first)))
            differences = elementwise("where", (is_uniform, differences, _weighted(weights, (before, here, after))))
        middle = [differences]
    parts = [wrap(as_dtype(part.value(), dtype)) for part in (ends[0], *middle, ends[1])]
    return concatenate(parts, axis)


def _one_sided(step_at_end: Any, next_step: Any, inward: int) -> tuple[Any, ...]:
    """Return the weights of the end element and the two next to it, for a one-sided derivative of second order.

    `inward` is 1 at the first element and -1 at the last.
    """
    both_steps = _add(step_at_end, next_step)
    weights = (
        _negative(_divide(_add(_multiply(2.0, step_at_end), next_step), _multiply(step_at_end, both_steps))),
        _divide(both_steps, _multiply(step_at_end, next_step)),
        _negative(_divide(step_at_end, _multiply(next_step, both_steps))),
    )
    return weights if inward > 0 else tuple(_negative(w) for w in weights)


def _weighted(weights: Any, values: Any) -> ndarray:
    """Return the weighted sum of three values."""
    a, b, c = (_multiply(w, v) for w, v in zip(weights, values, strict=True))
    return _add(_add(a, b), c)


def _arithmetic(op: str, on_host: Callable[..., Any]) -> Callable[..., Any]:
    """Return an operation that computes scalars on the host, so that they stay weak in type promotion."""

    def apply(*args: Any) -> Any:
        if not isinstance(args[0], ndarray) and not isinstance(args[-1], ndarray):
            return on_host(*args)
        return elementwise(op, args)

    return apply


_add = _arithmetic("add", operator.add)
_subtract = _arithmetic("subtract", operator.sub)
_multiply = _arithmetic("multiply", operator.mul)
_divide = _arithmetic("divide", operator.truediv)
_negative = _arithmetic("negative", operator.neg)


# --- convolution ----------------------------------------------------------------------------------------------------


@ignoring(all="ignore")
def convolve(a: Any, v: Any, mode: Any = "full") -> ndarray:
    """Return the discrete convolution of two one-dimensional sequences. See `numpy.convolve`."""
    longer, shorter = as_array(a), as_array(v)
    longer, shorter = _sequence(longer), _sequence(shorter)
    if shorter.size > longer.size:
        longer, shorter = shorter, longer
    if longer.size == 0:
        raise ValueError("a cannot be empty")
    if shorter.size == 0:
        raise ValueError("v cannot be empty")
    return _windows(longer, flip(shorter), _mode(mode))


@ignoring(all="ignore")
def correlate(a: Any, v: Any, mode: Any = "valid") -> ndarray:
    """Return the cross-correlation of two one-dimensional sequences. See `numpy.correlate`."""
    first, second = as_array(a), as_array(v)
    if not (first.ndim and second.ndim):
        raise ValueError("object of too small depth for desired array")
    first, second = _sequence(first), _sequence(second)
    if first.size == 0:
        raise ValueError("first array argument cannot be empty")
    if second.size == 0:
        raise ValueError("second array argument cannot be empty")
    if second.dtype.kind == "c":
        second = elementwise("conjugate", (second,))
    if second.size > first.size:
        found = _windows(second, first, _mode(mode))
        return wrap(graph.view(found.value(), Layout(found.shape, (-1,), found.size - 1)))
    return _windows(first, second, _mode(mode))


_MODES = {"valid": 0, "same": 1, "full": 2}


def _mode(mode: Any) -> int:
    """Return the mode as 0, 1 or 2; raise `ValueError` for any other."""
    if mode is None:
        raise TypeError("convolve/correlate mode not understood")
    number = _MODES.get(mode, mode)
    if number not in (0, 1, 2):
        if not isinstance(number, str):
            raise ValueError("integer convolve/correlate mode must be 0, 1, or 2")
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    return int(number)


def _sequence(array: ndarray) -> ndarray:
    """Return the array in one dimension; raise `ValueError` if it has more."""
    if array.ndim > 1:
        raise ValueError("object too deep for desired array")
    return flat_array(array)


def _has_kernel(device: Device, width: int, dtype: DType) -> bool:
    """Return whether a kernel for correlations computes one; under a limit of memory, parts are computed by others."""
    is_worth_it = KIND[dtype] in "iufc" and width >= traits_of(device).correlated_taps
    return is_worth_it and memory_limit(device) is None


def _windows(long: ndarray, short: ndarray, mode: int) -> ndarray:
    """Record the sum of products of `short` with each window of `long`, zero-padded in the modes "same" and "full"."""
    loop = table.resolve("multiply", (long.dtype, short.dtype))
    dtype = loop[-1]
    width = short.size
    zeros_before = (0, width // 2, width - 1)[mode]
    count = (long.size - width + 1, long.size, long.size + width - 1)[mode]
    if dtype not in ML_DTYPES and (calls_numpy(long.device) or _has_kernel(long.device, width, dtype)):
        values = [graph.cast(x.value(), dtype) for x in (long, short)]
        return wrap(graph.library_call("correlate", (mode,), values, ((count,), dtype)))
    zeros = [filled_like(long, 0, 0, n) for n in (zeros_before, width - 1)]
    value = concatenate((zeros[0], long, zeros[1]), 0).value() if mode else long.value()
    where = Layout((count, width), (1, 1), 0)
    products = graph.map_node("multiply", loop, (graph.view(value, where), short.value()))
    if mode and KIND[dtype] in "efc":
        # Infinity and NaN in `short` do not meet the zeros: NumPy sums over the overlap alone.
        number = graph.iota(value.signature.shape, 0, long.queue)
        edges = (zeros_before, zeros_before + long.size)
        is_at_or_after, is_before = (
            graph.map_node(op, (INT64, INT64, BOOL), (number, graph.scalar(edge)))
            for op, edge in zip(("greater_equal", "less"), edges, strict=True)
        )
        is_inside = graph.view(graph.map_node("logical_and", (BOOL,) * 3, (is_at_or_after, is_before)), where)
        products = graph.map_node("where", (BOOL, dtype, dtype, dtype), (is_inside, products, wrapped_scalar(0, dtype)))
    return wrap(graph.reduce("add", (dtype, dtype), (1,), (products,)))
