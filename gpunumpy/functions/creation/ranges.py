"""Arrays computed from the index alone: ranges, grids and triangles. They cost no memory until computed."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy

from ...core import dtypes
from ...core.arguments import whole_number
from ...core.dtypes import BOOL, INT64, DType
from ...core.errors import OnHostError
from ...core.floating_errors import silent_unless_asked
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout, Shape
from ...core.graph.node import Node
from ...core.graph.queue import Queue
from ...core.numpy_release import NUMPY_2_5
from ...core.ops import table
from ...core.recording.array import is_scalar, make_view, memory_on_host, ndarray, to_host, wrap
from ...core.recording.memo import MemoizedOperation
from ...core.recording.record import (
    as_array,
    as_dtype,
    as_nodes,
    cast_with_warning,
    elementwise,
    elementwise_value,
    leave_function_to_class,
    ndim_of,
    to_numpy,
)
from ...core.recording.residence import DTYPES, host_bytes, is_auto, resident
from ...core.runtime.device import Device, default_device
from ..indexing.elements import diagonal
from ..manipulation.shape import broadcast_arrays, moveaxis, reshaped
from .arrays import array_in_memory_order, as_shape, axes_of_order, mark_owner_as_array, queue_for
from .like import takes_like

__all__ = [
    "arange",
    "diag",
    "diagflat",
    "eye",
    "fromfunction",
    "geomspace",
    "identity",
    "indices",
    "linspace",
    "logspace",
    "meshgrid",
    "mgrid",
    "ogrid",
    "tri",
    "tril",
    "triu",
    "vander",
]


_NOT_GIVEN: Any = object()  # None is a start that NumPy refuses
# Untyped, as `numpy.arange` takes more than its annotations say.
_numpy_arange: Any = numpy.arange


def host_scalar(x: Any) -> Any:
    """Return a scalar that decides a shape, on the host."""
    return to_host(x)[()] if isinstance(x, ndarray) else x


def apply_op(op: str, *args: Node) -> Node:
    """Return an op over values, in the loop that their dtypes resolve to."""
    loop = table.resolve(op, tuple(a.signature.dtype for a in args))
    return graph.map_node(op, loop, args)


def scalar_node(value: int, dtype: DType = INT64) -> Node:
    """Return a scalar of a dtype as a node."""
    return graph.typed_scalar(value, dtype)


# --- ranges ----------------------------------------------------------------------------------------------------------


@takes_like
def arange(
    start_or_stop: Any = _NOT_GIVEN,
    /,
    stop: Any = None,
    step: Any = None,
    dtype: Any = None,
    *,
    device: Any = None,
    like: Any = None,
    start: Any = _NOT_GIVEN,
) -> ndarray:
    """Return evenly spaced values in a half-open interval. See `numpy.arange`."""
    if start is not _NOT_GIVEN and start_or_stop is not _NOT_GIVEN:
        raise TypeError("argument for arange() given by name ('start') and position (position 0)")
    if start_or_stop is _NOT_GIVEN and stop is None:
        raise TypeError("arange() requires stop to be specified.")
    first = start_or_stop if start is _NOT_GIVEN else start
    is_of_host = all(not isinstance(x, ndarray) or memory_on_host(x) is not None for x in (first, stop, step))
    start, stop, step = 0 if first is _NOT_GIVEN else host_scalar(first), host_scalar(stop), host_scalar(step)
    if stop is None:
        start, stop = 0, start
    if _is_truth_value(start) != _is_truth_value(stop):  # of which NumPy subtracts none from another
        start, stop = (int(x) if _is_truth_value(x) else x for x in (start, stop))
    if start is None:
        _numpy_arange(start, stop)  # raises NumPy's error
    if dtype is None:
        # NumPy decides the dtype, or raises, over ranges without elements. Between dates a step of 1 has no unit.
        given_step = () if step is None else (step,)
        dtype = numpy.result_type(*(_numpy_arange(end, end, *given_step) for end in (start, stop)))
    target_dtype = dtypes.check(dtype)
    step = 1 if step is None else step
    count = _range_length(start, stop, step)
    if target_dtype == BOOL and count > 2:
        raise TypeError("arange() is only supported for booleans when the result has at most length 2.")
    queue = queue_for(device)
    is_small = count * target_dtype.itemsize <= queue.host_bytes and target_dtype in DTYPES
    if is_of_host and is_small and is_auto():
        with silent_unless_asked():
            return resident(_numpy_arange(start, stop, step, target_dtype), queue.device)
    # NumPy sets the first two values, or raises, and continues with their difference: so does `_progression`.
    with silent_unless_asked():
        first_values = _numpy_arange(start, stop if count < 64 else start + 8 * step, step, target_dtype)[:2]
    return mark_owner_as_array(wrap(_progression(first_values, count, target_dtype, queue)))


def _is_truth_value(x: Any) -> bool:
    return isinstance(x, (numpy.bool, numpy.ndarray)) and x.dtype == BOOL


def _range_length(start: Any, stop: Any, step: Any) -> int:
    """Return the number of values in a range, by NumPy's arithmetic."""
    span = stop - start
    try:
        steps = span / step
    except OverflowError:  # Python integers
        raise ValueError("Maximum allowed size exceeded") from None
    if not steps and span:  # the quotient underflowed
        return int(not math.copysign(1, steps) < 0)
    if isinstance(steps, complex):
        return max(0, min(math.ceil(steps.real), math.ceil(steps.imag)))
    steps = steps.real  # of complex64, which is no Python complex, NumPy takes the real part
    if math.isnan(steps):
        raise ValueError("arange: cannot compute length")
    if math.isinf(steps) or abs(steps) > layout.MAX_SIZE:
        raise ValueError("Maximum allowed size exceeded")
    return max(0, math.ceil(steps))


# The dtype that a progression is computed in, if that is not its own dtype.
_PROGRESSION_DTYPE = {dtype: numpy.dtype(numpy.float32) for dtype, kind in dtypes.KIND.items() if kind == "e"}


def _progression(first_values: Any, count: int, dtype: DType, queue: Queue) -> Node:
    """Return `count` values that begin with `first_values`, with the arithmetic of NumPy's dtype."""
    if count < 2:
        return graph.fill(scalar_node(first_values[0] if count else 0, dtype), (count,), queue)
    index = graph.iota((count,), 0, queue)
    computed_dtype = _PROGRESSION_DTYPE.get(dtype, numpy.dtype(numpy.uint8) if dtype == BOOL else dtype)
    start, second = first_values.astype(computed_dtype)
    with numpy.errstate(all="ignore"):
        delta = second - start
        computed = (start + numpy.arange(2).astype(computed_dtype) * delta).astype(dtype)
    node = graph.cast(index, computed_dtype)
    if delta != 1:
        node = apply_op("multiply", node, scalar_node(delta, computed_dtype))
    if start != 0:
        node = apply_op("add", node, scalar_node(start, computed_dtype))
    node = graph.cast(node, dtype)
    for k in range(2):
        if computed[k] != first_values[k]:  # the difference is rounded, or infinite
            node = apply_op(
                "where", apply_op("equal", index, scalar_node(k)), scalar_node(first_values[k], dtype), node
            )
    return node


def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Return evenly spaced values in an interval. See `numpy.linspace`."""
    leave_function_to_class(start)
    leave_function_to_class(stop)
    num = operator.index(host_scalar(num))
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    interval_count = num - 1 if endpoint else num
    model = next((x for x in (start, stop) if isinstance(x, ndarray)), None)
    queue = queue_for(device, model)
    computed_dtype = _inexact_dtype(start, stop)
    target_dtype = computed_dtype if dtype is None else dtypes.check(dtype)
    if model is None:
        ends: list[Any] = [numpy.asarray(x) for x in (start, stop)]
        for end in ends:
            dtypes.of_data(end.dtype)  # integers beyond uint64 are objects
        with silent_unless_asked():
            low, high = (end.astype(computed_dtype)[()] for end in ends)
            delta = high - low
            step = delta / computed_dtype.type(interval_count) if interval_count > 0 else numpy.nan
        step_is_zero = interval_count > 0 and bool(numpy.any(numpy.asarray(step) == 0))
        shape = numpy.shape(delta)
    else:
        low, high = (elementwise("positive", [_cast_on_queue(x, computed_dtype, queue)]) for x in (start, stop))
        delta = elementwise("subtract", [high, low])
        step = elementwise("divide", [delta, computed_dtype.type(interval_count)]) if interval_count > 0 else numpy.nan
        step_is_zero, shape = False, delta.shape
    index = mark_owner_as_array(wrap(graph.cast(graph.iota((num, *(1 for _ in shape)), 0, queue), computed_dtype)))
    if interval_count <= 0:
        y = elementwise("multiply", [index, delta])
    elif model is None:
        y = _shares(index, interval_count, delta) if step_is_zero else elementwise("multiply", [index, step])
    else:
        y = elementwise(
            "where",
            [_any_zero(step), _shares(index, interval_count, delta), elementwise("multiply", [index, step])],
            (BOOL, computed_dtype, computed_dtype, computed_dtype),
        )
    y = elementwise("add", [y, low])
    if endpoint and num > 1:
        is_last = elementwise("equal", [index, computed_dtype.type(num - 1)])
        y = elementwise("where", [is_last, high, y], (BOOL, computed_dtype, computed_dtype, computed_dtype))
    if target_dtype.kind in "iu":
        y = elementwise("floor", [y])
    y = mark_owner_as_array(wrap(cast_with_warning(y.value(), target_dtype)) if target_dtype != computed_dtype else y)
    if axis != 0:
        y = moveaxis(y, 0, axis)
    return (y, step) if retstep else y


def _shares(index: ndarray, interval_count: int, delta: Any) -> ndarray:
    """Return the distances of values from the first one, in an interval whose steps may be zero though it is not.

    NumPy computes all values so where one step is zero.
    """
    share = elementwise("divide", [index, index.dtype.type(interval_count)])
    return elementwise("multiply", [share, delta])


def _any_zero(values: Any) -> ndarray:
    """Return whether any value is zero, as an array without dimensions."""
    is_zero = elementwise("equal", [values, values.dtype.type(0)]).value()
    axes = tuple(range(values.ndim))
    return wrap(graph.reduce("logical_or", (BOOL, BOOL), axes, (is_zero,)) if axes else is_zero)


def _inexact_dtype(*values: Any) -> DType:
    """Return the floating or complex dtype in which values are computed."""
    stand_ins = [_promotion_stand_in(x) for x in values]
    dtype = numpy.result_type(*stand_ins)
    return dtypes.check(dtype if dtype.kind in "fcV" else numpy.result_type(*stand_ins, 0.0))


def _promotion_stand_in(x: Any) -> Any:
    """Return an object on the host that promotes as a value does."""
    if isinstance(x, ndarray):
        return x.dtype.type(0) if is_scalar(x) else numpy.empty(0, x.dtype)
    return x if numpy.isscalar(x) else to_numpy(x)


def _cast_on_queue(x: Any, dtype: DType, queue: Queue) -> ndarray:
    """Return a value as an array of a dtype, on the device of a queue."""
    return wrap(graph.as_new_node(as_dtype(as_array(x, queue.device).value(), dtype)))


def logspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> ndarray:
    """Return values spaced evenly on a logarithmic scale. See `numpy.logspace`."""
    if ndim_of(base) and not numpy.isscalar(base):
        start, stop, base = broadcast_arrays(start, stop, base)
        base = reshaped(base, (1, *base.shape))
        base = moveaxis(base, 0, axis)
    y = linspace(start, stop, num, endpoint, axis=axis, device=device)
    result = elementwise("power", [base, y])
    return mark_owner_as_array(
        result if dtype is None else wrap(cast_with_warning(result.value(), dtypes.check(dtype)))
    )


def geomspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> ndarray:
    """Return values spaced evenly by ratio. See `numpy.geomspace`."""
    low, high = (to_numpy(host_scalar(x)) for x in (start, stop))
    if numpy.any(low == 0) or numpy.any(high == 0):
        raise ValueError("Geometric sequence cannot include zero")
    computed_dtype = numpy.result_type(low, high, float(host_scalar(num)), numpy.zeros((), dtype))
    target_dtype = dtypes.check(computed_dtype if dtype is None else dtype)
    low, high = (ends.astype(computed_dtype) for ends in numpy.broadcast_arrays(low, high))
    with silent_unless_asked():
        sign = numpy.sign(low)
        low, high = low / sign, high / sign
        powers = numpy.log10(low), numpy.log10(high)
    result = logspace(*powers, num, endpoint, 10.0, computed_dtype, device=device)
    count = result.shape[0]
    index = mark_owner_as_array(wrap(graph.iota((count, *(1 for _ in low.shape)), 0, result.queue)))
    ends = [(0, low)] if count else []
    if count > 1 and endpoint:
        ends.append((count - 1, high))
    for position, value in ends:
        is_end = elementwise("equal", [index, position])
        result = elementwise("where", [is_end, value[()], result])
    result = elementwise("multiply", [result, sign[()]])
    result = mark_owner_as_array(
        wrap(cast_with_warning(result.value(), target_dtype)) if target_dtype != computed_dtype else result
    )
    return moveaxis(result, 0, axis) if axis != 0 else result


# --- matrices --------------------------------------------------------------------------------------------------------


def _diagonal_indices(shape: Shape, k: int, queue: Queue) -> tuple[Node, Node]:
    """Return the row number plus `k` and the column number, over the last two dimensions: equal on diagonal `k`.

    `k` is limited to the first diagonal outside of the matrix, so that the sum cannot overflow.
    """
    k = min(max(k, -shape[-2]), shape[-1])
    row = graph.iota(shape, len(shape) - 2, queue)
    return apply_op("add", row, scalar_node(k)) if k else row, graph.iota(shape, len(shape) - 1, queue)


@takes_like
def eye(
    N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: str = "C", *, device: Any = None, like: Any = None
) -> ndarray:
    """Return a matrix with ones on a diagonal, zeros elsewhere. See `numpy.eye`."""
    n = operator.index(host_scalar(N))
    shape = as_shape((n, n if M is None else operator.index(host_scalar(M))))
    row, column = _diagonal_indices(shape, operator.index(host_scalar(k)), queue_for(device))
    node = graph.cast(apply_op("equal", row, column), dtypes.check(float if dtype is None else dtype))
    return array_in_memory_order(node, axes_of_order(order, shape))


@takes_like
def identity(n: Any, dtype: Any = None, *, device: Any = None, like: Any = None) -> ndarray:
    """Return the square matrix with ones on its main diagonal. See `numpy.identity`."""
    return eye(n, dtype=dtype, device=device)


@takes_like
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, *, device: Any = None, like: Any = None) -> ndarray:
    """Return a matrix with ones at and below a diagonal, zeros above. See `numpy.tri`."""
    n = max(0, operator.index(host_scalar(N)))
    shape = (n, n if M is None else max(0, operator.index(host_scalar(M))))
    row, column = _diagonal_indices(shape, whole_number(host_scalar(k)), queue_for(device))
    return mark_owner_as_array(
        wrap(graph.cast(apply_op("greater_equal", row, column), dtypes.check(float if dtype is None else dtype)))
    )


def _masked_triangle(m: Any, k: Any, comparison: str) -> ndarray:
    """Return the array with zeros where row number plus `k` and column number do not compare as the op says."""
    x = as_array(m)
    if x.ndim == 0:
        raise TypeError("m must be at least 1-dimensional")
    if x.ndim == 1:
        x = make_view(x, Layout((x.size, x.size), (0, x.layout.strides[0]), x.layout.offset))
    row, column = _diagonal_indices(x.shape, whole_number(host_scalar(k)), x.queue)
    value, zero = as_nodes((x, x.dtype.type(0)))
    return mark_owner_as_array(_record_where((apply_op(comparison, row, column), value, zero)))


_record_where = MemoizedOperation(partial(elementwise_value, "where"))


def tril(m: Any, k: Any = 0) -> ndarray:
    """Return the array with zeros above a diagonal. See `numpy.tril`."""
    return _masked_triangle(m, k, "greater_equal")


def triu(m: Any, k: Any = 0) -> ndarray:
    """Return the array with zeros below a diagonal. See `numpy.triu`.

    Parameters
    ----------
    m : array_like, shape (..., M, N)
        The array.
    k : int, optional
        The diagonal below which there are zeros: 0 is the main diagonal, negative numbers are diagonals below it.

    Returns
    -------
    ndarray
        A new array of the same shape and dtype.
    """
    return _masked_triangle(m, k, "less_equal")


def diag(v: Any, k: Any = 0) -> ndarray:
    """Return the diagonal of a matrix, as a read-only view, or the matrix of a diagonal. See `numpy.diag`."""
    x = as_array(v)
    k = operator.index(host_scalar(k))
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = x.size + abs(k)
    zeros = graph.fill(scalar_node(0, x.dtype), (n, n), x.queue)
    diagonal_region = Layout(x.shape, (n + 1,), k if k >= 0 else -k * n)
    return mark_owner_as_array(wrap(graph.update(zeros, diagonal_region, x.value())))


def diagflat(v: Any, k: Any = 0) -> ndarray:
    """Return the matrix with the elements of an array on a diagonal. See `numpy.diagflat`."""
    x = as_array(v)
    return diag(reshaped(x, (x.size,)), k)


def vander(x: Any, N: Any = None, increasing: bool = False) -> ndarray:
    """Return the powers of a vector as columns. See `numpy.vander`."""
    vector = as_array(x)
    if vector.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = vector.size if N is None else operator.index(host_scalar(N))
    dtype = numpy.promote_types(vector.dtype, int)
    shape = as_shape((vector.size, n))
    rows = graph.cast(reshaped(vector, (vector.size, 1)).value(), dtype)
    if dtype.kind == "c" and n > 1:  # one times a complex infinity has a NaN
        products = graph.scan("multiply", (dtype, dtype), 1, graph.broadcast(rows, (vector.size, n - 1)))
        ones = graph.fill(scalar_node(1, dtype), shape, vector.queue)
        node = graph.update(ones, Layout((vector.size, n - 1), (n, 1), 1), products)
    else:
        # Ones in the first column and the vector in the others: the running products are the powers.
        is_first = apply_op("equal", graph.iota(shape, 1, vector.queue), scalar_node(0))
        factor = apply_op("where", is_first, scalar_node(1, dtype), graph.broadcast(rows, shape))
        node = graph.scan("multiply", (dtype, dtype), 1, factor)
    powers = mark_owner_as_array(wrap(node))
    if increasing:
        return powers
    return array_in_memory_order(make_view(powers, Layout(shape, (max(n, 1), -1), max(n - 1, 0))).value(), None)


# --- grids -----------------------------------------------------------------------------------------------------------


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Sequence[ndarray]:
    """Return coordinate arrays from coordinate vectors. See `numpy.meshgrid`."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    ndim = len(xi)
    output = []
    for k, x in enumerate(map(as_array, xi)):
        axis = 1 - k if indexing == "xy" and ndim > 1 and k < 2 else k
        output.append(reshaped(x, tuple(x.size if d == axis else 1 for d in range(ndim))))
    grids = output if sparse else broadcast_arrays(*output)
    if copy:
        return tuple(array_in_memory_order(x.value(), None) for x in grids)
    return tuple(grids) if NUMPY_2_5 else grids


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False, *, device: Any = None) -> Any:
    """Return the index of every element along every axis. See `numpy.indices`."""
    shape = as_shape(tuple(dimensions))
    target_dtype, queue, ndim = dtypes.check(dtype), queue_for(device), len(shape)
    if target_dtype == dtypes.BOOL and any(n > 2 for n in shape):
        raise TypeError("arange() is only supported for booleans when the result has at most length 2.")
    if sparse:
        return tuple(
            mark_owner_as_array(
                wrap(graph.cast(graph.iota(tuple(n if d == k else 1 for d in range(ndim)), k, queue), target_dtype))
            )
            for k, n in enumerate(shape)
        )
    stacked_shape = as_shape((ndim, *shape))
    if not ndim:
        return mark_owner_as_array(wrap(graph.uninitialized(stacked_shape, target_dtype, queue)))
    return mark_owner_as_array(wrap(graph.cast(_stacked_index(stacked_shape, queue), target_dtype)))


def _stacked_index(stacked_shape: Shape, queue: Queue) -> Node:
    """Return the index along axis k + 1 at place k of the first axis."""
    axis_number = graph.iota(stacked_shape, 0, queue)
    node = graph.iota(stacked_shape, len(stacked_shape) - 1, queue)
    for k in range(len(stacked_shape) - 2, 0, -1):
        node = apply_op(
            "where", apply_op("equal", axis_number, scalar_node(k - 1)), graph.iota(stacked_shape, k, queue), node
        )
    return node


@takes_like
def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, device: Any = None, like: Any = None, **kwargs: Any
) -> Any:
    """Call a function with the coordinates of every element. See `numpy.fromfunction`."""
    dims, target_dtype, target = as_shape(tuple(shape)), dtypes.check(dtype), Device(device)
    if is_auto() and len(dims) * prod(dims) * target_dtype.itemsize <= host_bytes(target):
        return function(*(resident(part.copy(), target) for part in numpy.indices(dims, target_dtype)), **kwargs)
    grid = indices(dims, dtype=target_dtype, device=device)
    grid_layout = grid.layout
    coordinates = [
        make_view(grid, Layout(grid_layout.shape[1:], grid_layout.strides[1:], k * grid_layout.strides[0]))
        for k in range(grid.shape[0])
    ]
    return function(*coordinates, **kwargs)


class _Grid:
    """The object `mgrid` or `ogrid`, whose slices give coordinates. See `numpy.mgrid`."""

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        spans = [_Span(part) for part in (key if isinstance(key, tuple) else (key,))]
        nbytes = len(spans) * prod(span.count for span in spans) * INT64.itemsize
        is_small = is_auto() and nbytes <= host_bytes(default_device())
        if is_small or _dtype_of(spans) not in dtypes.KIND:
            given = tuple(span.slice for span in spans)
            found = (numpy.ogrid if self._sparse else numpy.mgrid)[given if isinstance(key, tuple) else given[0]]
            return tuple(map(resident, found)) if isinstance(found, tuple) else resident(found)
        queue = queue_for(None)
        if not isinstance(key, tuple):
            (span,) = spans
            if span.counts:
                return _coordinates(spans, False, queue)[0]
            numbers = span.start, span.slice.stop, span.step
            try:
                return arange(*numbers)
            except OnHostError:  # of integers too large for another dtype than that of objects
                return resident(_numpy_arange(*numbers))
        coordinates = _coordinates(spans, self._sparse, queue)
        if self._sparse:
            return tuple(coordinates)
        shape = tuple(span.count for span in spans)
        dtype = coordinates[0].dtype if coordinates else INT64
        node = graph.uninitialized((len(coordinates), *shape), dtype, queue)
        for k, grid in enumerate(coordinates):
            node = graph.update(
                node, Layout(shape, layout.c_strides(shape), k * grid.size), as_dtype(grid.value(), dtype)
            )
        return mark_owner_as_array(wrap(node))


class _Span:
    """One slice of a grid. An imaginary step is a number of points, of which `stop` is the last."""

    def __init__(self, part: slice) -> None:
        self.start = 0 if part.start is None else host_scalar(part.start)
        step: Any = 1 if part.step is None else host_scalar(part.step)
        stop = host_scalar(part.stop)
        self.slice = slice(self.start, stop, step)
        self.counts = isinstance(step, (complex, numpy.complexfloating))
        if self.counts:
            self.count = int(abs(complex(step)))
            self.given_numbers = (self.start, stop, abs(step))
            self.step = 1 if self.count == 1 else (stop - self.start) / float(self.count - 1)
        else:
            self.count = max(0, math.ceil((stop - self.start) / step))
            self.given_numbers = (self.start, stop, step)
            self.step = step


def _dtype_of(spans: Sequence[_Span]) -> DType:
    given_numbers: list[Any] = [value for span in spans for value in span.given_numbers]
    return numpy.result_type(*given_numbers) if spans else INT64


def _coordinates(spans: Sequence[_Span], sparse: bool, queue: Queue) -> list[ndarray]:
    """Return the coordinates along every axis of a grid."""
    dtype = _dtype_of(spans)
    coordinates = []
    for k, span in enumerate(spans):
        shape = tuple(other.count if not sparse or other is span else 1 for other in spans)
        index = wrap(graph.as_new_node(graph.cast(graph.iota(shape, k, queue), dtype)))
        coordinates.append(
            mark_owner_as_array(elementwise("add", [elementwise("multiply", [index, span.step]), span.start]))
        )
    return coordinates


mgrid = _Grid(sparse=False)
ogrid = _Grid(sparse=True)
