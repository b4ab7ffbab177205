"""Differences of neighbours, derivatives, integrals and convolutions of sampled values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from ..core.dtypes import BOOL, FLOAT64, KIND, DType
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.layout import Layout
from ..core.ops import table
from ..core.recording.array import ndarray, wrap
from ..core.recording.record import as_array, as_dtype, elementwise
from .indexing.slices import along, filled_like, flat, sliced
from .manipulation.joining import concatenate
from .reductions.reductions import all
from .ufuncs.methods import NO_VALUE, reduce_ufunc

__all__ = ["convolve", "correlate", "diff", "ediff1d", "gradient", "trapezoid"]


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE) -> ndarray:
    """The n-th differences of neighbours along an axis; see `numpy.diff`."""
    array = as_array(a)
    if n == 0:
        return array
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    if array.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = layout.normalize_axis(axis, array.ndim)
    if prepend is not NO_VALUE or append is not NO_VALUE:
        ends = [_end(array, axis, end) for end in (prepend, append)]
        array = concatenate([part for part in (ends[0], array, ends[1]) if part is not None], axis)
    op = "not_equal" if array.dtype == BOOL else "subtract"
    for _ in range(n):
        length = array.shape[axis]
        array = elementwise(op, (sliced(array, axis, 1, length), sliced(array, axis, 0, length - 1)))
    return array


def _end(array: ndarray, axis: int, given: Any) -> ndarray | None:
    """What stands before or after the array: a scalar is repeated along the other axes."""
    if given is NO_VALUE:
        return None
    end = as_array(given, array.device)
    if end.ndim:
        return end
    return wrap(graph.broadcast(end.value(), (*array.shape[:axis], 1, *array.shape[axis + 1 :])))


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> ndarray:
    """Differences of neighbours in C order, with something before and after them; see `numpy.ediff1d`."""
    array = flat(as_array(ary))
    parts: list[ndarray] = []
    for name, given in (("to_begin", to_begin), ("", None), ("to_end", to_end)):
        if not name:
            length = array.size
            ends = sliced(array, 0, 1, length), sliced(array, 0, 0, length - 1)
            parts.append(elementwise("subtract", ends))
        elif given is not None:
            part = flat(as_array(given, array.device))
            if not numpy.can_cast(part.dtype, array.dtype, casting="same_kind"):
                raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
            parts.append(wrap(as_dtype(part.value(), array.dtype)))
    return parts[0] if len(parts) == 1 else concatenate(parts, 0)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> ndarray:
    """Integral along an axis by the trapezoidal rule; see `numpy.trapezoid`."""
    values = as_array(y)
    axis = layout.normalize_axis(axis, values.ndim)
    step = dx
    if x is not None:
        points = as_array(x, values.device)
        step = diff(points, axis=-1 if points.ndim == 1 else axis)
        if points.ndim == 1:
            step = along(step, axis, values.ndim)
    length = values.shape[axis]
    pairs = elementwise("add", (sliced(values, axis, 1, length), sliced(values, axis, 0, length - 1)))
    return reduce_ufunc("add", elementwise("divide", (elementwise("multiply", (step, pairs)), 2.0)), axis)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Derivatives by central differences, one-sided at the ends; see `numpy.gradient`."""
    array = as_array(f)
    axes = layout.normalize_axes(axis, array.ndim)
    steps = _steps(array, axes, varargs)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    result = array.dtype if KIND[array.dtype] in "efc" else FLOAT64
    if KIND[array.dtype] in "iu":
        array = wrap(graph.cast(array.value(), FLOAT64))
    found = tuple(_derivative(array, d, step, edge_order, result) for d, step in zip(axes, steps, strict=True))
    return found[0] if len(found) == 1 else found


def _steps(array: ndarray, axes: tuple[int, ...], given: tuple[Any, ...]) -> list[Any]:
    """For every axis a scalar, or an array of the distances between neighbours."""
    if not given:
        return [1.0] * len(axes)
    if len(given) == 1 and numpy.ndim(given[0]) == 0:
        return [given[0]] * len(axes)
    if len(given) != len(axes):
        raise TypeError("invalid number of arguments")
    steps: list[Any] = []
    for d, one in zip(axes, given, strict=True):
        if numpy.ndim(one) == 0:
            steps.append(one)
            continue
        points = as_array(one, array.device)
        if points.ndim != 1:
            raise ValueError("distances must be either scalars or 1d")
        if points.size != array.shape[d]:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        if KIND[points.dtype] in "iu":
            points = wrap(graph.cast(points.value(), FLOAT64))
        steps.append(diff(points))
    return steps


def _derivative(array: ndarray, axis: int, step: Any, edge_order: int, result: DType) -> ndarray:
    length = array.shape[axis]
    if length < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, "
            "at least (edge_order + 1) elements are required."
        )
    uniform = not isinstance(step, ndarray) or step.ndim == 0
    first, last = (step, step) if uniform else (_element(step, 0), _element(step, step.size - 1))
    ends = []
    for at, inward, near in ((0, 1, first), (length - 1, -1, last)):
        points = [sliced(array, axis, at + k * inward, at + k * inward + 1) for k in range(edge_order + 1)]
        if edge_order == 1:
            pair = points[::-1] if inward > 0 else points
            ends.append(_divide(_subtract(*pair), near))
        else:
            second = step if uniform else _element(step, 1 if inward > 0 else step.size - 2)
            ends.append(_weighted(_one_sided(near, second, inward), points))
    middle = []
    if length > 2:
        before, here, after = (sliced(array, axis, k, length - 2 + k) for k in range(3))
        double = _multiply(2.0, first)
        inner = _divide(_subtract(after, before), double)
        if not uniform:
            d1, d2 = (along(sliced(step, 0, k, step.size - 1 + k), axis, array.ndim) for k in (0, 1))
            both = _add(d1, d2)
            weights = (
                _negative(_divide(d2, _multiply(d1, both))),
                _divide(_subtract(d2, d1), _multiply(d1, d2)),
                _divide(d1, _multiply(d2, both)),
            )
            # Equal distances give the plain difference, as in NumPy, with no weight 0 to make NaN of an infinity.
            equal = all(elementwise("equal", (step, first)))
            inner = elementwise("where", (equal, inner, _weighted(weights, (before, here, after))))
        middle = [inner]
    parts = [wrap(as_dtype(part.value(), result)) for part in (ends[0], *middle, ends[1])]
    return concatenate(parts, axis)


def _one_sided(near: Any, second: Any, inward: int) -> tuple[Any, ...]:
    """The weights of the end and the two elements next to it, for a derivative of second order."""
    both = _add(near, second)
    weights = (
        _negative(_divide(_add(_multiply(2.0, near), second), _multiply(near, both))),
        _divide(both, _multiply(near, second)),
        _negative(_divide(near, _multiply(second, both))),
    )
    return weights if inward > 0 else tuple(_negative(w) for w in weights)


def _weighted(weights: Any, values: Any) -> ndarray:
    """The weighted sum of three values."""
    a, b, c = (_multiply(w, v) for w, v in zip(weights, values, strict=True))
    return _add(_add(a, b), c)


def _element(array: ndarray, k: int) -> ndarray:
    return wrap(graph.view(array.value(), Layout((), (), k)))


def _arithmetic(op: str, on_host: Callable[..., Any]) -> Callable[..., Any]:
    """An operation that leaves scalars on the host, where they stay weak in type promotion."""

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


def convolve(a: Any, v: Any, mode: Any = "full") -> ndarray:
    """Discrete convolution of two sequences; see `numpy.convolve`."""
    one, two = as_array(a), as_array(v)
    one, two = _sequence(one), _sequence(two)
    if two.size > one.size:
        one, two = two, one
    if one.size == 0:
        raise ValueError("a cannot be empty")
    if two.size == 0:
        raise ValueError("v cannot be empty")
    return _windows(one, _reversed(two), _mode(mode))


def correlate(a: Any, v: Any, mode: Any = "valid") -> ndarray:
    """Cross-correlation of two sequences; see `numpy.correlate`."""
    one, two = _sequence(as_array(a)), _sequence(as_array(v))
    if one.size == 0:
        raise ValueError("first array argument cannot be empty")
    if two.size == 0:
        raise ValueError("second array argument cannot be empty")
    if two.dtype.kind == "c":
        two = elementwise("conjugate", (two,))
    if two.size > one.size:
        return _reversed(_windows(two, one, _mode(mode)))
    return _windows(one, two, _mode(mode))


_MODES = {"valid": 0, "same": 1, "full": 2}


def _mode(mode: Any) -> int:
    found = _MODES.get(mode, mode)
    if found not in (0, 1, 2):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    return int(found)


def _sequence(array: ndarray) -> ndarray:
    if array.ndim > 1:
        raise ValueError("object too deep for desired array")
    return flat(array)


def _reversed(array: ndarray) -> ndarray:
    """The elements from the last to the first."""
    return wrap(graph.view(array.value(), Layout(array.shape, (-1,), array.size - 1)))


def _windows(long: ndarray, short: ndarray, mode: int) -> ndarray:
    """The sums of products of `short` with every window of its length of `long`, which zeros surround."""
    loop = table.resolve("multiply", (long.dtype, short.dtype))
    dtype = loop[-1]
    width = short.size
    before = (0, width // 2, width - 1)[mode]
    count = (long.size - width + 1, long.size, long.size + width - 1)[mode]
    zeros = [filled_like(long, 0, 0, n) for n in (before, width - 1)]
    value = concatenate((zeros[0], long, zeros[1]), 0).value() if mode else long.value()
    windows = graph.view(value, Layout((count, width), (1, 1), 0))
    products = graph.map_node("multiply", loop, (windows, short.value()))
    return wrap(graph.reduce("add", (dtype, dtype), (1,), (products,)))
