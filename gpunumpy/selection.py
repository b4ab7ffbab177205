"""Functions that select elements: by what they are, by where they are, and from several arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .core import dtypes, layout, record
from .core import node as graph
from .core.array import ndarray, to_host, wrap
from .core.dtypes import BOOL, INT64
from .core.node import Node
from .elementwise import where as _where
from .indexing import cast, fitted_to_pick, getitem, stored
from .indexing_elements import flattened
from .indexing_keys import out_of_bounds, words
from .indexing_masks import Picked, ranks, unravelled
from .ufunc_output import in_place, output, write

__all__ = [
    "argwhere",
    "choose",
    "compress",
    "extract",
    "flatnonzero",
    "nonzero",
    "place",
    "put",
    "put_along_axis",
    "putmask",
    "select",
    "take",
    "take_along_axis",
    "where",
]

# By what the elements are


def _truth(a: ndarray) -> ndarray:
    return a if a.dtype == BOOL else wrap(graph.cast(a.value(), BOOL))


def nonzero(a: Any) -> tuple[ndarray, ...]:
    """The indices of the elements that are not zero, an array for each dimension. See `numpy.nonzero`."""
    a = record.as_array(a)
    if not a.shape:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    return tuple(wrap(index) for index in Picked(_truth(a)).indices())


def flatnonzero(a: Any) -> ndarray:
    """The positions of the elements that are not zero, in C order. See `numpy.flatnonzero`."""
    return wrap(Picked(_truth(record.as_array(a))).positions())


def argwhere(a: Any) -> ndarray:
    """The indices of the elements that are not zero, a row for each element. See `numpy.argwhere`."""
    a = record.as_array(a)
    picked = Picked(_truth(a))
    columns = picked.indices() if a.shape else ()
    shape = (picked.count, len(columns))
    axis = graph.iota(shape, 1, a.queue)
    result = graph.fill(graph.typed_scalar(0, INT64), shape, a.queue)
    for k, column in enumerate(columns):
        here = graph.map_node("equal", (INT64, INT64, BOOL), (axis, graph.scalar(k)))
        index = record.reshaped(column, (picked.count, 1))
        result = graph.map_node("where", (BOOL, INT64, INT64, INT64), (here, index, result))
    return wrap(result)


def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Elements of `x` where the condition is true, of `y` elsewhere; `nonzero` of a condition alone.

    See `numpy.where`.
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    return _where(condition, x, y)


def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> ndarray:
    """The slices along an axis for which a one-dimensional condition is true. See `numpy.compress`."""
    a = record.as_array(a)
    mask = record.as_array(condition, a.device)
    if len(mask.shape) != 1:
        raise ValueError("condition must be a 1-d array")
    mask = _truth(mask)
    size = a.size if axis is None else a.shape[layout.normalize_axis(axis, len(a.shape))]
    if mask.size > size:
        if Picked(getitem(mask, slice(size, None))).count:
            raise IndexError(f"index {size} is out of bounds for axis {axis or 0} with size {size}")
        mask = getitem(mask, slice(size))
    return take(a, wrap(Picked(mask).positions()), axis, out)


def extract(condition: Any, arr: Any) -> ndarray:
    """The elements for which a condition is true, in one dimension. See `numpy.extract`."""
    return compress(flattened(condition), flattened(arr))


@in_place
def place(arr: ndarray, mask: Any, vals: Any) -> None:
    """Write values, again and again from the first one, where a mask is true. See `numpy.place`."""
    chosen = _truth(flattened(mask, arr))
    if chosen.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    values = flattened(vals, arr)
    if not values.size:
        if Picked(chosen).count:
            raise ValueError("Cannot insert from an empty array!")
        return
    # Elements that keep their value have a rank too.
    _write_masked(arr, chosen.value(), cast(values.value(), arr.dtype), ranks(chosen.value()))


@in_place
def putmask(a: ndarray, mask: Any, values: Any) -> None:
    """Write values, repeated to the size of the array, where a mask is true. See `numpy.putmask`."""
    chosen = _truth(flattened(mask, a))
    if chosen.size != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    given = flattened(values, a)
    if given.size:
        _write_masked(a, chosen.value(), cast(given.value(), a.dtype), graph.iota(chosen.shape, 0, a.queue))


def _write_masked(a: ndarray, mask: Node, values: Node, number: Node) -> None:
    """Write value ``number % size`` where a flat mask is true."""
    count = values.form.shape[0]
    index = graph.map_node("remainder", (INT64,) * 3, (number, graph.scalar(count)))
    new = graph.gather(values, (index,), "")
    mask, new = record.reshaped(mask, a.shape), record.reshaped(new, a.shape)
    a.assign(graph.map_node("where", (BOOL, a.dtype, a.dtype, a.dtype), (mask, new, a.value())))


# By where they are


def _checked(indices: Any, size: int, axis: int, mode: str, like: ndarray) -> Node:
    """Indices as int64 values; those from the host are checked at once where out of bounds is an error."""
    if mode not in _MODES:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    if not isinstance(indices, ndarray):
        host = numpy.asarray(indices).astype(numpy.int64)
        if mode == "raise" and host.size and not -size <= host.min() <= host.max() < size:
            bad = host[(host < -size) | (host >= size)].flat[0]
            raise out_of_bounds(int(bad), axis, size)
        indices = record.as_array(host, like.device)
    return _MODES[mode](graph.cast(indices.value(), INT64), size)


def _require_integers(dtype: Any) -> None:
    if not numpy.can_cast(dtype, INT64, "safe"):
        raise TypeError(f"Cannot cast array data from {dtype!r} to {INT64!r} according to the rule 'safe'")


def _wrapped(index: Node, size: int) -> Node:
    return graph.map_node("remainder", (INT64,) * 3, (index, graph.scalar(max(1, size))))


def _clipped(index: Node, size: int) -> Node:
    low = graph.map_node("maximum", (INT64,) * 3, (index, graph.scalar(0)))
    return graph.map_node("minimum", (INT64,) * 3, (low, graph.scalar(max(0, size - 1))))


_MODES = {"raise": lambda index, size: index, "wrap": _wrapped, "clip": _clipped}


def take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> ndarray:
    """The elements at `indices` along an axis. See `numpy.take`."""
    a = record.as_array(a, indices.device if isinstance(indices, ndarray) else None)
    if axis is None:
        a, axis = flattened(a), 0
    if not a.shape:
        a = getitem(a, None)
    axis = layout.normalize_axis(axis, len(a.shape))
    index = _checked(indices, a.shape[axis], axis, mode, a)
    if not a.shape[axis] and 0 not in index.form.shape:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    ndim = len(index.form.shape)
    leading = [
        graph.iota((1,) * k + (n,) + (1,) * (axis - k - 1 + ndim), k, a.queue) for k, n in enumerate(a.shape[:axis])
    ]
    result = wrap(graph.gather(a.value(), (*leading, index), record.caller()))
    return result if out is None else _delivered(result, out)


def _delivered(result: ndarray, out: Any) -> ndarray:
    """Write a result to `out`."""
    into = output(out)
    if into.shape != result.shape:
        raise ValueError("output array does not match result of ndarray.take")
    return write(into, result.value())


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> ndarray:
    """The elements at `indices`, which match the array in every other dimension. See `numpy.take_along_axis`."""
    arr = record.as_array(arr, indices.device if isinstance(indices, ndarray) else None)
    if axis is None:
        if len(record.as_array(indices).shape) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = flattened(arr), 0
    arr, along = _along(arr, indices, axis)
    return wrap(graph.gather(arr.value(), along, record.caller()))


@in_place
def put_along_axis(arr: ndarray, indices: Any, values: Any, axis: int | None) -> None:
    """Write to the elements at `indices`, which match the array in every other dimension.

    See `numpy.put_along_axis`.
    """
    if axis is None:
        if len(record.as_array(indices).shape) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        position = _checked(indices, arr.size, 0, "raise", arr)
        along: Sequence[Node] = unravelled(_wrapped(position, arr.size), arr.shape)
    else:
        _, along = _along(arr, indices, axis)
    shape = layout.broadcast_shapes(*(index.form.shape for index in along))
    value = cast(fitted_to_pick(stored(values, arr.dtype, arr.queue), shape), arr.dtype)
    arr.assign(graph.scatter(arr.value(), value, along, "", record.caller()))


def _along(arr: ndarray, indices: Any, axis: int) -> tuple[ndarray, list[Node]]:
    """An index for every dimension: the given one along the axis, an arange along each other."""
    axis = layout.normalize_axis(axis, len(arr.shape))
    indices = record.as_array(indices, arr.device)
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if len(indices.shape) != len(arr.shape):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    ndim = len(arr.shape)
    along = [graph.iota((1,) * k + (n,) + (1,) * (ndim - k - 1), k, arr.queue) for k, n in enumerate(arr.shape)]
    along[axis] = graph.cast(indices.value(), INT64)
    try:
        layout.broadcast_shapes(*(index.form.shape for index in along))
    except ValueError:
        shapes = " ".join(words(index.form.shape) for index in along)
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes} "
        ) from None
    return arr, along


@in_place
def put(a: ndarray, ind: Any, v: Any, mode: str = "raise") -> None:
    """Write values, again and again from the first one, at positions in C order. See `numpy.put`."""
    positions = flattened(wrap(graph.fresh(_checked(ind, a.size, 0, mode, a))))
    count = positions.size
    values = cast(flattened(v, a).value(), a.dtype)
    have = values.form.shape[0]
    if not count or not have:
        return
    if not a.size:
        raise IndexError("cannot replace elements of an empty array")
    if have < count:
        cycle = graph.map_node("remainder", (INT64,) * 3, (graph.iota((count,), 0, a.queue), graph.scalar(have)))
        values = graph.gather(values, (cycle,), "")
    elif have > count:
        values = getitem(wrap(graph.fresh(values)), slice(count)).value()
    flat = record.reshaped(a.value(), (a.size,))
    written = graph.scatter(flat, values, (positions.value(),), "", record.caller())
    a.assign(record.reshaped(written, a.shape))


# From several arrays


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> ndarray:
    """For each element, that of the array of `choices` whose number it is. See `numpy.choose`."""
    if isinstance(choices, ndarray):
        choices = [getitem(choices, k) for k in range(choices.shape[0])]
    choices = list(choices)
    number = record.as_array(a, next((c.device for c in choices if isinstance(c, ndarray)), None))
    choices = [record.as_array(c, number.device) for c in choices]
    if not choices:
        raise ValueError("0-length sequence.")
    _require_integers(number.dtype)
    index = _MODES[mode](graph.cast(number.value(), INT64), len(choices))
    if mode == "raise" and number.size:
        flat = record.reshaped(index, (number.size,))
        lowest, highest = (
            int(to_host(wrap(graph.reduce(row, (INT64, INT64), (0,), (flat,))))) for row in ("minimum", "maximum")
        )
        if lowest < 0 or highest >= len(choices):
            raise ValueError("invalid entry in choice array")
    dtype = dtypes.check(numpy.result_type(*(c.dtype for c in choices)))
    numbers = wrap(graph.fresh(index))
    result = choices[-1]
    for k in range(len(choices) - 2, -1, -1):
        here = record.elementwise("equal", (numbers, k))
        result = record.elementwise("where", (here, choices[k], result), (BOOL, dtype, dtype, dtype))
    if len(choices) == 1:
        shape = layout.broadcast_shapes(number.shape, result.shape)
        result = wrap(graph.fresh(graph.broadcast(graph.cast(result.value(), dtype), shape)))
    return result if out is None else _delivered(result, out)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> ndarray:
    """Elements of the first choice whose condition is true. See `numpy.select`."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    conditions = [record.as_array(c) for c in condlist]
    for k, condition in enumerate(conditions):
        if condition.dtype != BOOL:
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    choices = [*choicelist, default]
    plain = [c if type(c) in (int, float, complex) else record.as_array(c) for c in choices]
    try:
        types = [c if type(c) in (int, float, complex) else c.dtype for c in plain]
        dtype = dtypes.check(numpy.result_type(*types))
    except TypeError as error:
        raise TypeError(f"Choicelist and default value do not have a common dtype: {error}") from None
    loop = (BOOL, dtype, dtype, dtype)
    result = plain[-1]
    for condition, choice in zip(reversed(conditions), reversed(plain[:-1]), strict=True):
        result = record.elementwise("where", (condition, choice, result), loop)
    return result
