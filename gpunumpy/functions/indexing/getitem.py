"""Reading and writing parts of arrays: ``a[key]`` and ``a[key] = value``.

What integers and slices select is a view. What index arrays select is gathered: the result's leading dimensions run
over index arrays, one for every dimension up to the last one that is picked from; a dimension among them that is taken
whole gets an arange, which costs nothing and leaves the result in C order without a transposition.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy

from ...core.dtypes import BOOL, INT64, DType
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout, Shape
from ...core.graph.node import Node
from ...core.graph.queue import Queue
from ...core.recording import record
from ...core.recording.array import boxed, is_scalar, make_view, ndarray, to_host, wrap
from .keys import Fancy, Selection, basic, out_of_bounds, select, words
from .masks import Picked, as_mask, ranks


def getitem(a: ndarray, key: Any) -> ndarray:
    """``a[key]``: a view, or a new array where `key` holds index arrays."""
    if type(key) is ndarray and key.shape and a.shape and key.dtype.kind in "iu" and 0 not in a.shape:
        return wrap(graph.gather(a.value(), (graph.cast(key.value(), INT64),), record.source_location()))
    here = a.layout
    where = basic(here, key)
    if where is None:
        chosen = select(here, key, True)
        if chosen.fancy:
            picked = _picked(a, chosen)
            return boxed(picked) if _dotted(key) else picked
        where = chosen.window
    if where.shape or _dotted(key):
        return make_view(a, where)
    # An element is a value: what is written to the array later does not change it.
    return wrap(graph.fresh(make_view(a, where).value()))


def _dotted(key: Any) -> bool:
    """Whether ``...`` is in a key, which makes the result an array even where it is 0-d."""
    return key is Ellipsis or (type(key) is tuple and any(item is Ellipsis for item in key))


def _picked(a: ndarray, chosen: Selection) -> ndarray:
    view = make_view(a, chosen.window)
    mask = _leading_mask(chosen)
    if mask is not None and _covers(mask, view, 0):
        mask = as_mask(mask, a)
        picked, base = Picked(mask), view.value()
        if mask.shape == base.signature.shape:
            return wrap(picked.elements(base))
        rows = record.reshaped(base, (mask.size, *base.signature.shape[len(mask.shape) :]))
        return wrap(graph.gather(rows, (picked.positions(),), ""))
    indices = _indices(view, chosen)
    _check_bounds(view, chosen, indices)
    return wrap(graph.gather(view.value(), indices, record.source_location()))


def _leading_mask(chosen: Selection) -> Any:
    """The mask that alone picks from the leading dimensions; None for anything else."""
    if len(chosen.fancy) == 1 and chosen.fancy[0].axis == 0 and chosen.fancy[0].mask:
        return chosen.fancy[0].index
    return None


def _covers(mask: Any, view: ndarray, axis: int) -> bool:
    """Whether a mask has the sizes of the dimensions that it indexes: NumPy has one of size 0 pick nothing anywhere."""
    return mask.shape == view.shape[axis : axis + len(mask.shape)]


# Index arrays


def _indices(view: ndarray, chosen: Selection) -> list[Node]:
    """The int64 indices of a gather from a window, which broadcast to the leading dimensions of the result."""
    picked: dict[int, Node] = {}
    for one in chosen.fancy:
        if one.mask:
            picked.update(enumerate(Picked(as_mask(one.index, view)).indices(), one.axis))
        else:
            picked[one.axis] = _index(one, view)
    shapes = [index.signature.shape for index in picked.values()]
    try:
        block = layout.broadcast_shapes(*shapes)
    except ValueError:
        joined = " ".join(map(words, shapes))
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {joined} "
        ) from None
    whole = [axis for axis in range(max(picked)) if axis not in picked]
    if chosen.front:
        # The dimensions of the index arrays, then those taken whole.
        picked = {axis: _padded(index, len(block), len(whole)) for axis, index in picked.items()}
        first = len(block)
    else:
        first = 0
    rank = len(block) + len(whole)
    for place, axis in enumerate(whole, first):
        shape = tuple(view.shape[axis] if k == place else 1 for k in range(rank))
        picked[axis] = graph.iota(shape, place, view.queue)
    return [picked[axis] for axis in sorted(picked)]


def _padded(index: Node, ndim: int, trailing: int) -> Node:
    """The index array in `ndim` dimensions and `trailing` more of size 1."""
    shape = index.signature.shape
    return record.reshaped(index, (1,) * (ndim - len(shape)) + shape + (1,) * trailing)


def _index(one: Fancy, view: ndarray) -> Node:
    """An index array as an int64 value on the device of the window."""
    index = one.index
    if not isinstance(index, ndarray):
        index = record.as_array(index.astype(numpy.int64), view.device)
    return graph.cast(index.value(), INT64)


def _check_bounds(view: ndarray, chosen: Selection, indices: Sequence[Node]) -> None:
    """Refuse indices that are out of bounds: those from the host, and where no kernel reads them those of the device.

    As in NumPy none is refused where index arrays without elements leave nothing of the others.
    """
    if any(0 in indices[one.axis].signature.shape for one in chosen.fancy):
        return
    unread = 0 in view.shape
    for one in chosen.fancy:
        if not one.mask and (unread or not isinstance(one.index, ndarray)):
            index = to_host(one.index) if isinstance(one.index, ndarray) else one.index
            size = view.shape[one.axis]
            if not -size <= index.min() <= index.max() < size:
                raise out_of_bounds(int(index[(index < -size) | (index >= size)].flat[0]), one.axis, size)


# Writing


def setitem(a: ndarray, key: Any, value: Any) -> None:
    """``a[key] = value``."""
    if not a.writeable:
        raise ValueError("assignment destination is read-only")
    if is_scalar(a):
        boxed(a)  # what is written to is an array
    where = basic(a.layout, key)
    if where is None:
        chosen = select(a.layout, key, False)
        if chosen.fancy:
            element = len(chosen.fancy) == len(chosen.window.shape) and not any(f.index.shape for f in chosen.fancy)
            value = _given(value, a, element)
            with a.queue.lock:  # what stays is read and written again: no other thread's write may come between
                _put(make_view(a, chosen.window), chosen, value, a.shape)
            return
        where = chosen.window
    node = value.value() if type(value) is ndarray else None
    if node is None or node.signature.shape != where.shape or not where.shape:
        node = fitted(_given(value, a, not where.shape and not _dotted(key)), where.shape)
    a.assign(node if node.signature.dtype == a.dtype else cast(node, a.dtype), where)


def _given(value: Any, a: ndarray, element: bool) -> Node:
    node = stored(value, a.dtype, a.queue, element)
    if element and node.signature.shape:
        raise ValueError("setting an array element with a sequence.")
    return node


_SCALARS = (bool, int, float, complex, numpy.generic)


def stored(value: Any, dtype: DType, queue: Queue, element: bool = False) -> Node:
    """What is to be written into an array of `dtype`, or into one `element` of it; arrays are not `cast` yet."""
    if isinstance(value, ndarray):
        return value.value()
    if isinstance(value, _SCALARS) or (element and not hasattr(value, "__array__")):
        # NumPy itself says what a scalar becomes: which are refused, and where it warns.
        box = numpy.empty(1, dtype)
        box[0] = value
        return graph.typed_scalar(box[0], dtype)
    if isinstance(value, (list, tuple)):
        value = numpy.asarray(value, dtype)
    return record.as_node(value, queue)


def cast(node: Node, dtype: DType) -> Node:
    """What is written, cast as an assignment casts: with a warning where imaginary parts go."""
    if node.signature.dtype.kind == "c" and dtype.kind not in "cb":
        warnings.warn(
            "Casting complex values to real discards the imaginary part", numpy.exceptions.ComplexWarning, stacklevel=3
        )
    return graph.cast(node, dtype)


def fitted(value: Node, shape: Shape) -> Node:
    """The value without the leading dimensions of size 1 that the target lacks; ValueError where it does not fit."""
    have = trimmed = value.signature.shape
    while len(trimmed) > len(shape) and trimmed[0] == 1:
        trimmed = trimmed[1:]
    if not _fits(trimmed, shape):
        raise ValueError(f"could not broadcast input array from shape {words(trimmed)} into shape {words(shape)}")
    return value if trimmed == have else record.reshaped(value, trimmed)


def _fits(shape: Shape, to: Shape) -> bool:
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(shape, to[len(to) - len(shape) :], strict=True))


def _put(view: ndarray, chosen: Selection, value: Node, indexed: Shape) -> None:
    """Write to what fancy indices pick from a window of an array of the shape `indexed`."""
    mask = chosen.fancy[0].index if len(chosen.fancy) == 1 and chosen.fancy[0].mask else None
    axis = chosen.fancy[0].axis
    if mask is not None and _covers(mask, view, axis):
        mask = as_mask(mask, view)
        alone = not axis and mask.shape == view.shape == indexed
        if alone and len(value.signature.shape) > 1:
            raise TypeError(
                "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, "
                f"input has {len(value.signature.shape)} dimensions"
            )
        rest = view.shape[axis + len(mask.shape) :]
        if prod(value.signature.shape) == 1 or (not axis and _uniform(value.signature.shape, rest)):
            whole = record.reshaped(mask.value(), mask.shape + (1,) * len(rest))
            row = value.signature.shape[-len(rest) :] if rest else ()
            value = cast(value if value.signature.shape == row else record.reshaped(value, row), view.dtype)
            view.assign(_where(whole, value, view.value()))
            return
        if not axis:
            _put_ranked(view, mask, rest, value, alone)
            return
    indices = _indices(view, chosen)
    shape = layout.broadcast_shapes(*(index.signature.shape for index in indices)) + view.shape[len(indices) :]
    value = fitted_to_pick(value, shape)
    _check_bounds(view, chosen, indices)
    value = cast(value, view.dtype)
    view.assign(graph.scatter(view.value(), value, indices, "", record.source_location()))


def _uniform(shape: Shape, rest: Shape) -> bool:
    """Whether every element that a mask picks gets the same row of a value."""
    lead = shape[: max(0, len(shape) - len(rest))]
    return prod(lead) == 1 and _fits(shape[len(lead) :], rest)


def _put_ranked(view: ndarray, mask: ndarray, rest: Shape, value: Node, alone: bool) -> None:
    """Write a value of its own to each element that a mask picks; `alone` says that the mask is the whole key."""
    count = Picked(mask).count
    if not alone:
        value = fitted_to_pick(value, (count, *rest))
    elif value.signature.shape != (count,):
        raise ValueError(
            f"NumPy boolean array indexing assignment cannot assign {value.signature.shape[0]} input values to the "
            f"{count} output values where the mask is true"
        )
    value = cast(value, view.dtype)
    if not count:
        return
    flat = record.reshaped(mask.value(), (mask.size,))
    # Elements that keep their value have a rank too, which may be one too many.
    rank = _where(flat, ranks(flat), graph.scalar(0), INT64)
    rank = record.reshaped(rank, mask.shape)
    whole = record.reshaped(mask.value(), mask.shape + (1,) * len(rest))
    new = graph.gather(graph.broadcast(value, (count, *rest)), (rank,), "")
    view.assign(_where(whole, new, view.value()))


def _where(condition: Node, x: Node, y: Node, dtype: DType | None = None) -> Node:
    dtype = dtype or y.signature.dtype
    return graph.map_node("where", (BOOL, dtype, dtype, dtype), (condition, x, y))


def fitted_to_pick(value: Node, shape: Shape) -> Node:
    """As `fitted`, in the words that NumPy has for index arrays."""
    try:
        return fitted(value, shape)
    except ValueError:
        raise ValueError(
            f"shape mismatch: value array of shape {words(value.signature.shape)} "
            f"could not be broadcast to indexing result of shape {words(shape)}"
        ) from None


def diagonal_layout(where: Layout, offset: int, axis1: int, axis2: int) -> Layout:
    """The layout of the diagonal of two dimensions (both counted from the front), which becomes the last one."""
    shape, strides, start = where
    down, across = strides[axis1], strides[axis2]
    count = max(0, min(shape[axis1] + min(offset, 0), shape[axis2] - max(offset, 0)))
    if count:
        start += offset * across if offset > 0 else -offset * down
    rest = [k for k in range(len(shape)) if k not in (axis1, axis2)]
    return Layout((*(shape[k] for k in rest), count), (*(strides[k] for k in rest), down + across), start)
