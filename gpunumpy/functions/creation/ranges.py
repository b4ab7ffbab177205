"""Arrays that are computed from the index alone: ranges, grids and triangles. They cost no memory until written."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ...core import dtypes
from ...core.dtypes import BOOL, INT64, DType
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout, Shape
from ...core.graph.node import Node
from ...core.graph.queue import Queue
from ...core.ops import table
from ...core.recording.array import is_scalar, make_view, ndarray, to_host, wrap
from ...core.recording.record import as_array, as_dtype, elementwise, to_numpy
from ..indexing.elements import diagonal
from ..manipulation.shape import broadcast_arrays, moveaxis, reshaped
from .arrays import as_shape, laid_out, made, place_of, uninitialized

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


# NumPy's own, which takes more than its annotations say.
_numpy_arange: Any = numpy.arange


def host_scalar(x: Any) -> Any:
    """A scalar that decides a shape, on the host."""
    return to_host(x)[()] if isinstance(x, ndarray) else x


def applied(row: str, *args: Node) -> Node:
    """A row over values, in the loop of their dtypes."""
    loop = table.resolve(row, tuple(a.signature.dtype for a in args))
    return graph.map_node(row, loop, args)


def number(value: int, dtype: DType = INT64) -> Node:
    """A scalar of a dtype as a value."""
    return graph.typed_scalar(value, dtype)


# --- ranges ----------------------------------------------------------------------------------------------------------


def arange(
    start: Any = None, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None, like: Any = None
) -> ndarray:
    """Evenly spaced values in a half-open interval. See `numpy.arange`."""
    if start is None and stop is None:
        raise TypeError("arange() requires stop to be specified.")
    start, stop, step = host_scalar(start), host_scalar(stop), host_scalar(step)
    if stop is None:
        start, stop = 0, start
    start = 0 if start is None else start
    step = 1 if step is None else step
    # NumPy says what the dtype is, and refuses what it refuses, without an array being made.
    if dtype is None:
        model = numpy.result_type(_numpy_arange(start, start, step), _numpy_arange(stop, stop, step))
    else:
        model = dtypes.check(dtype)
    count = _length(start, stop, step)
    wanted = dtypes.check(model)
    if wanted == BOOL and count > 2:
        raise TypeError("arange() is only supported for booleans when the result has at most length 2.")
    # NumPy writes the first two values itself, refuses what it refuses, and goes on from their difference.
    few = _numpy_arange(start, stop if count < 64 else start + 8 * step, step, wanted)[:2]
    return made(wrap(_progression(few, count, wanted, place_of(device))))


def _length(start: Any, stop: Any, step: Any) -> int:
    """The number of values, by NumPy's arithmetic."""
    span = stop - start
    try:
        steps = span / step
    except OverflowError:  # Python integers
        raise ValueError("Maximum allowed size exceeded") from None
    if not steps and span:  # the quotient underflowed
        return int(not math.copysign(1, steps) < 0)
    if isinstance(steps, complex) or numpy.iscomplexobj(steps):
        return max(0, min(math.ceil(steps.real), math.ceil(steps.imag)))
    if math.isnan(steps):
        raise ValueError("arange: cannot compute length")
    if math.isinf(steps) or abs(steps) > layout.MAX_SIZE:
        raise ValueError("Maximum allowed size exceeded")
    return max(0, math.ceil(steps))


# The dtype that a progression is computed in, where it is not its own.
_COMPUTED_IN = {numpy.dtype(numpy.float16): numpy.dtype(numpy.float32), dtypes.bfloat16: numpy.dtype(numpy.float32)}


def _progression(few: Any, count: int, dtype: DType, queue: Queue) -> Node:
    """`count` values that begin with those of `few`, with the arithmetic of NumPy's dtype."""
    if count < 2:
        return graph.fill(number(few[0] if count else 0, dtype), (count,), queue)
    index = graph.iota((count,), 0, queue)
    inner = _COMPUTED_IN.get(dtype, numpy.dtype(numpy.uint8) if dtype == BOOL else dtype)
    start, second = few.astype(inner)
    with numpy.errstate(all="ignore"):
        delta = second - start
        computed = (start + numpy.arange(2).astype(inner) * delta).astype(dtype)
    node = graph.cast(index, inner)
    if delta != 1:
        node = applied("multiply", node, number(delta, inner))
    if start != 0:
        node = applied("add", node, number(start, inner))
    node = graph.cast(node, dtype)
    for k in range(2):
        if computed[k] != few[k]:  # the difference is rounded, or infinite
            node = applied("where", applied("equal", index, number(k)), number(few[k], dtype), node)
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
    """Evenly spaced values in an interval. See `numpy.linspace`."""
    num = operator.index(host_scalar(num))
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    parts = num - 1 if endpoint else num
    model = next((x for x in (start, stop) if isinstance(x, ndarray)), None)
    queue = place_of(device, model)
    inner = _inexact(start, stop)
    wanted = inner if dtype is None else dtypes.check(dtype)
    if model is None:
        low, high = (numpy.asarray(x).astype(inner) if numpy.ndim(x) else inner.type(x) for x in (start, stop))
        delta = high - low
        step = delta / inner.type(parts) if parts > 0 else numpy.nan
        tiny = parts > 0 and bool(numpy.any(numpy.asarray(step) == 0))
        shape = numpy.shape(delta)
    else:
        low, high = (elementwise("positive", [_cast(x, inner, queue)]) for x in (start, stop))
        delta = elementwise("subtract", [high, low])
        step = elementwise("divide", [delta, inner.type(parts)]) if parts > 0 else numpy.nan
        tiny, shape = False, delta.shape
    index = made(wrap(graph.cast(graph.iota((num, *(1 for _ in shape)), 0, queue), inner)))
    if parts <= 0 or tiny:
        scaled = elementwise("divide", [index, inner.type(parts)]) if parts > 0 else index
        y = elementwise("multiply", [scaled, delta])
    else:
        y = elementwise("multiply", [index, step])
    y = elementwise("add", [y, low])
    if endpoint and num > 1:
        last = elementwise("equal", [index, inner.type(num - 1)])
        y = elementwise("where", [last, high, y], (BOOL, inner, inner, inner))
    if wanted.kind in "iu":
        y = elementwise("floor", [y])
    y = made(wrap(graph.cast(y.value(), wanted)) if wanted != inner else y)
    if axis != 0:
        y = moveaxis(y, 0, axis)
    return (y, step) if retstep else y


def _inexact(*values: Any) -> DType:
    """The floating or complex dtype that values are computed in."""
    kinds = [_model(x) for x in values]
    found = numpy.result_type(*kinds)
    return dtypes.check(found if found.kind in "fcV" else numpy.result_type(*kinds, 0.0))


def _model(x: Any) -> Any:
    """Something on the host that promotes as a value does."""
    if isinstance(x, ndarray):
        return x.dtype.type(0) if is_scalar(x) else numpy.empty(0, x.dtype)
    return x if numpy.isscalar(x) else to_numpy(x)


def _cast(x: Any, dtype: DType, queue: Queue) -> ndarray:
    return wrap(graph.fresh(as_dtype(as_array(x, queue.device).value(), dtype)))


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
    """Values spaced evenly on a logarithmic scale. See `numpy.logspace`."""
    if numpy.ndim(base) and not numpy.isscalar(base):
        start, stop, base = broadcast_arrays(start, stop, base)
        base = reshaped(base, (1, *base.shape))
        base = moveaxis(base, 0, axis)
    y = linspace(start, stop, num, endpoint, axis=axis, device=device)
    result = elementwise("power", [base, y])
    return made(result if dtype is None else wrap(graph.cast(result.value(), dtypes.check(dtype))))


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
    """Values spaced evenly by ratio. See `numpy.geomspace`."""
    low, high = (to_numpy(host_scalar(x)) for x in (start, stop))
    if numpy.any(low == 0) or numpy.any(high == 0):
        raise ValueError("Geometric sequence cannot include zero")
    inner = numpy.result_type(low, high, float(host_scalar(num)), numpy.zeros((), dtype))
    wanted = dtypes.check(inner if dtype is None else dtype)
    low, high = low.astype(inner), high.astype(inner)
    sign = numpy.sign(low)
    low, high = low / sign, high / sign
    result = logspace(numpy.log10(low), numpy.log10(high), num, endpoint, 10.0, inner, device=device)
    count = result.shape[0]
    index = made(wrap(graph.iota((count, *(1 for _ in low.shape)), 0, result.queue)))
    ends = [(0, low)] if count else []
    if count > 1 and endpoint:
        ends.append((count - 1, high))
    for place, value in ends:
        here = elementwise("equal", [index, place])
        result = elementwise("where", [here, value[()], result])
    result = elementwise("multiply", [result, sign[()]])
    result = made(wrap(graph.cast(result.value(), wanted)) if wanted != inner else result)
    return moveaxis(result, 0, axis) if axis != 0 else result


# --- matrices --------------------------------------------------------------------------------------------------------


def _offset_index(shape: Shape, k: int, queue: Queue) -> tuple[Node, Node]:
    """Row number plus `k`, and column number, over the last two of the dimensions.

    All diagonals outside of the matrix are as one beside it: the sum cannot overflow.
    """
    k = min(max(k, -shape[-2]), shape[-1])
    row = graph.iota(shape, len(shape) - 2, queue)
    return applied("add", row, number(k)) if k else row, graph.iota(shape, len(shape) - 1, queue)


def eye(
    N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: str = "C", *, device: Any = None, like: Any = None
) -> ndarray:
    """Ones on a diagonal, zeros elsewhere. See `numpy.eye`."""
    n = operator.index(host_scalar(N))
    shape = as_shape((n, n if M is None else operator.index(host_scalar(M))))
    row, column = _offset_index(shape, operator.index(host_scalar(k)), place_of(device))
    node = graph.cast(applied("equal", row, column), dtypes.check(float if dtype is None else dtype))
    return laid_out(node, (1, 0) if order == "F" else None)


def identity(n: Any, dtype: Any = None, *, device: Any = None, like: Any = None) -> ndarray:
    """The square matrix with ones on its main diagonal. See `numpy.identity`."""
    return eye(n, dtype=dtype, device=device)


def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, *, device: Any = None, like: Any = None) -> ndarray:
    """Ones at and below a diagonal, zeros above. See `numpy.tri`."""
    n = max(0, operator.index(host_scalar(N)))
    shape = (n, n if M is None else max(0, operator.index(host_scalar(M))))
    row, column = _offset_index(shape, operator.index(host_scalar(k)), place_of(device))
    return made(
        wrap(graph.cast(applied("greater_equal", row, column), dtypes.check(float if dtype is None else dtype)))
    )


def _triangle(m: Any, k: Any, keep: str) -> ndarray:
    x = as_array(m)
    if x.ndim == 0:
        raise ValueError("m must be at least 1-dimensional")  # NumPy's is an index error deep inside
    if x.ndim == 1:
        x = make_view(x, Layout((x.size, x.size), (0, x.layout.strides[0]), x.layout.offset))
    row, column = _offset_index(x.shape, operator.index(host_scalar(k)), x.queue)
    kept = applied(keep, row, column)
    return made(elementwise("where", [wrap(kept), x, x.dtype.type(0)]))


def tril(m: Any, k: Any = 0) -> ndarray:
    """The array with zeros above a diagonal. See `numpy.tril`."""
    return _triangle(m, k, "greater_equal")


def triu(m: Any, k: Any = 0) -> ndarray:
    """The array with zeros below a diagonal. See `numpy.triu`.

    Parameters
    ----------
    m : array_like, shape (..., M, N)
        The array.
    k : int, optional
        The diagonal below which there are zeros: 0 is the main one, negative numbers are below it.

    Returns
    -------
    ndarray
        A new array of the same shape and dtype.
    """
    return _triangle(m, k, "less_equal")


def diag(v: Any, k: Any = 0) -> ndarray:
    """The diagonal of a matrix (a read-only view), or the matrix of a diagonal. See `numpy.diag`."""
    x = as_array(v)
    k = operator.index(host_scalar(k))
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = x.size + abs(k)
    zero = graph.fill(number(0, x.dtype), (n, n), x.queue)
    where = Layout(x.shape, (n + 1,), k if k >= 0 else -k * n)
    return made(wrap(graph.update(zero, where, x.value())))


def diagflat(v: Any, k: Any = 0) -> ndarray:
    """The matrix with the elements of an array on a diagonal. See `numpy.diagflat`."""
    x = as_array(v)
    return diag(reshaped(x, (x.size,)), k)


def vander(x: Any, N: Any = None, increasing: bool = False) -> ndarray:
    """Powers of a vector as columns. See `numpy.vander`."""
    vector = as_array(x)
    if vector.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = vector.size if N is None else operator.index(host_scalar(N))
    dtype = numpy.promote_types(vector.dtype, int)
    shape = as_shape((vector.size, n))
    column = graph.iota(shape, 1, vector.queue)
    base = graph.broadcast(reshaped(vector, (vector.size, 1)).value(), shape)
    # One in the first column and the vector in the others: the running product is the powers.
    factor = applied("where", applied("equal", column, number(0)), number(1, dtype), graph.cast(base, dtype))
    powers = made(wrap(graph.scan("multiply", (dtype, dtype), 1, factor)))
    if increasing:
        return powers
    return make_view(powers, Layout(shape, (max(n, 1), -1), max(n - 1, 0)))


# --- grids -----------------------------------------------------------------------------------------------------------


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[ndarray, ...]:
    """Coordinate arrays from coordinate vectors. See `numpy.meshgrid`."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    ndim = len(xi)
    output = []
    for k, x in enumerate(map(as_array, xi)):
        place = 1 - k if indexing == "xy" and ndim > 1 and k < 2 else k
        output.append(reshaped(x, tuple(x.size if d == place else 1 for d in range(ndim))))
    if not sparse:
        output = list(broadcast_arrays(*output))
    return tuple(laid_out(x.value(), None) if copy else x for x in output)


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False, *, device: Any = None) -> Any:
    """The index of every element along every axis. See `numpy.indices`."""
    shape = as_shape(tuple(dimensions))
    wanted, queue, ndim = dtypes.check(dtype), place_of(device), len(shape)
    if sparse:
        return tuple(
            made(wrap(graph.cast(graph.iota(tuple(n if d == k else 1 for d in range(ndim)), k, queue), wanted)))
            for k, n in enumerate(shape)
        )
    whole = (ndim, *shape)
    if not ndim:
        return made(wrap(uninitialized(whole, wanted, queue)))
    return made(wrap(graph.cast(_stacked_index(whole, queue), wanted)))


def _stacked_index(whole: Shape, queue: Queue) -> Node:
    """Along the first axis, the index along each of the others."""
    which = graph.iota(whole, 0, queue)
    node = graph.iota(whole, len(whole) - 1, queue)
    for k in range(len(whole) - 2, 0, -1):
        node = applied("where", applied("equal", which, number(k - 1)), graph.iota(whole, k, queue), node)
    return node


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, device: Any = None, like: Any = None, **kwargs: Any
) -> Any:
    """A function of the coordinates of every element. See `numpy.fromfunction`."""
    grid = indices(shape, dtype=dtype, device=device)
    where = grid.layout
    parts = [
        make_view(grid, Layout(where.shape[1:], where.strides[1:], k * where.strides[0])) for k in range(grid.shape[0])
    ]
    return function(*parts, **kwargs)


class _Grid:
    """What ``mgrid[...]`` and ``ogrid[...]`` look up. See `numpy.mgrid`."""

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            return _points([_Span(key)], False, place_of(None))[0]
        spans, queue = [_Span(part) for part in key], place_of(None)
        points = _points(spans, self._sparse, queue)
        if self._sparse:
            return tuple(points)
        shape = tuple(span.count for span in spans)
        dtype = points[0].dtype if points else INT64
        node = uninitialized((len(points), *shape), dtype, queue)
        for k, grid in enumerate(points):
            node = graph.update(
                node, Layout(shape, layout.c_strides(shape), k * grid.size), as_dtype(grid.value(), dtype)
            )
        return made(wrap(node))


class _Span:
    """One slice of a grid; an imaginary step is a number of points, the last one included."""

    def __init__(self, part: slice) -> None:
        self.start = 0 if part.start is None else host_scalar(part.start)
        step: Any = 1 if part.step is None else host_scalar(part.step)
        stop = host_scalar(part.stop)
        if isinstance(step, (complex, numpy.complexfloating)):
            self.count = int(abs(complex(step)))
            self.numbers = (self.start, stop, abs(step))
            self.step = 1 if self.count == 1 else (stop - self.start) / float(self.count - 1)
        else:
            self.count = max(0, math.ceil((stop - self.start) / step))
            self.numbers = (self.start, stop, step)
            self.step = step


def _points(spans: Sequence[_Span], sparse: bool, queue: Queue) -> list[ndarray]:
    """The coordinates along every axis of a grid."""
    numbers: list[Any] = [n for span in spans for n in span.numbers]
    dtype = dtypes.check(numpy.result_type(*numbers)) if spans else INT64
    points = []
    for k, span in enumerate(spans):
        shape = tuple(other.count if not sparse or other is span else 1 for other in spans)
        index = wrap(graph.fresh(graph.cast(graph.iota(shape, k, queue), dtype)))
        points.append(made(elementwise("add", [elementwise("multiply", [index, span.step]), span.start])))
    return points


mgrid = _Grid(sparse=False)
ogrid = _Grid(sparse=True)
