"""Reading and writing parts of arrays: ``a[key]`` and ``a[key] = value``.

Integers and slices select a view. Index arrays become one gather or scatter, whose indices broadcast to the leading
dimensions of the result: one index for every dimension up to the last that an index array picks from. A dimension
before that one that is taken whole is indexed by an `Iota`, which costs no memory, and leaves the result in C order
without a transposition.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy

from ...core._native import tried_first
from ...core.dtypes import BOOL, INT64, DType
from ...core.floating_errors import silent_unless_asked
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout, Shape
from ...core.graph.node import Node
from ...core.graph.queue import Queue
from ...core.recording import record
from ...core.recording.array import is_scalar, make_view, mark_as_array, ndarray, one_step, to_host, wrap
from ...core.runtime.device import Device
from ...core.source_location import source_location
from .keys import (
    FancyIndex,
    Selection,
    basic_window,
    check_result_dimensions,
    out_of_bounds_error,
    resolve_key,
    shape_text,
)
from .masks import mask_on_device, picked_before, selection_of


@tried_first
def getitem(a: ndarray, key: Any) -> ndarray:
    """Return ``a[key]``: a view, or a new array if `key` holds index arrays or selects a single element."""
    if type(key) is ndarray and key.shape:  # one mask or one index array, in a tenth of the time of any key
        if key.shape == a.shape and key.dtype == BOOL:
            return wrap(selection_of(key).elements(a.value()))
        if _is_index_of_rows(key, a):
            return wrap(graph.gather(a.value(), (graph.cast(key.value(), INT64),), source_location()))
    array_layout = a.layout
    window = basic_window(array_layout, key)
    if window is None:
        selection = resolve_key(array_layout, key, True)
        if selection.fancy:
            picked = _read_fancy(a, selection)
            return mark_as_array(picked) if _has_ellipsis(key) else picked
        window = selection.window
    if window.shape or _has_ellipsis(key):
        return make_view(a, window)
    # A single element is a copy: later writes to the array do not change it.
    return wrap(graph.as_new_node(make_view(a, window).value()))


def _is_index_of_rows(key: ndarray, a: ndarray) -> bool:
    """Return whether a key with dimensions is an index array that only kernels check; raise if it makes too many."""
    if key.dtype.kind not in "iu" or not a.shape or 0 in a.shape:
        return False
    check_result_dimensions(len(a.shape) + len(key.shape) - 1)
    return True


def _has_ellipsis(key: Any) -> bool:
    """Return True if ``...`` is in a key, which makes the result an array even if it is 0-d."""
    return key is Ellipsis or (type(key) is tuple and any(item is Ellipsis for item in key))


def _read_fancy(a: ndarray, selection: Selection) -> ndarray:
    """Return the elements that a selection with fancy indices picks, as a new array."""
    view = make_view(a, selection.window)
    mask = _leading_mask(selection)
    if mask is not None and _mask_fits(mask, view, 0):
        mask = mask_on_device(mask, a)
        picked, base = selection_of(mask), view.value()
        if mask.shape == base.signature.shape:
            return wrap(picked.elements(base))
        rows = record.reshaped(base, (mask.size, *base.signature.shape[len(mask.shape) :]))
        return wrap(graph.gather(rows, (picked.positions(),), ""))
    indices = _indices(view, selection)
    _check_bounds(view, selection, indices)
    return wrap(graph.gather(view.value(), indices, source_location()))


def _leading_mask(selection: Selection) -> Any:
    """Return the mask that indexes the leading dimensions and is the only fancy index; None for another selection."""
    if len(selection.fancy) == 1 and selection.fancy[0].axis == 0 and selection.fancy[0].is_mask:
        return selection.fancy[0].index
    return None


def _mask_fits(mask: Any, view: ndarray, axis: int) -> bool:
    """Return True if a mask has the sizes of the dimensions that it indexes.

    NumPy also takes a size of 0, which picks nothing; such a mask is indexed as index arrays are.
    """
    return mask.shape == view.shape[axis : axis + len(mask.shape)]


# Index arrays


def _indices(view: ndarray, selection: Selection) -> list[Node]:
    """Return the int64 indices of a gather from a window, which broadcast to the leading dimensions of the result."""
    index_of_axis: dict[int, Node] = {}
    for fancy in selection.fancy:
        if fancy.is_mask:
            index_of_axis.update(enumerate(selection_of(mask_on_device(fancy.index, view)).indices(), fancy.axis))
        else:
            index_of_axis[fancy.axis] = _index_node(fancy, view)
    shapes = [index.signature.shape for index in index_of_axis.values()]
    try:
        index_shape = layout.broadcast_shapes(*shapes)
    except ValueError:
        joined = " ".join(map(shape_text, shapes))
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {joined} "
        ) from None
    whole_axes = [axis for axis in range(max(index_of_axis)) if axis not in index_of_axis]
    if selection.index_dimensions_first:
        # The result has the dimensions of the index arrays, then those that are taken whole.
        index_of_axis = {
            axis: _with_unit_dimensions(index, len(index_shape), len(whole_axes))
            for axis, index in index_of_axis.items()
        }
        first_whole = len(index_shape)
    else:
        first_whole = 0
    ndim = len(index_shape) + len(whole_axes)
    for place, axis in enumerate(whole_axes, first_whole):
        shape = tuple(view.shape[axis] if k == place else 1 for k in range(ndim))
        index_of_axis[axis] = graph.iota(shape, place, view.queue)
    return [index_of_axis[axis] for axis in sorted(index_of_axis)]


def _with_unit_dimensions(index: Node, ndim: int, trailing: int) -> Node:
    """Return an index array in `ndim` dimensions, of which leading ones have size 1, and `trailing` more of size 1."""
    shape = index.signature.shape
    return record.reshaped(index, (1,) * (ndim - len(shape)) + shape + (1,) * trailing)


def _index_node(fancy: FancyIndex, view: ndarray) -> Node:
    """Return an index array as an int64 node on the device of the window."""
    index = fancy.index
    if not isinstance(index, ndarray):
        index = record.as_array(index.astype(numpy.int64), view.device)
    return graph.cast(index.value(), INT64)


def _check_bounds(view: ndarray, selection: Selection, indices: Sequence[Node]) -> None:
    """Raise `IndexError` for indices out of bounds: host indices, and device indices into an empty window.

    Other device indices are checked by the kernel that reads them. As in NumPy, nothing is checked if an index array
    has no elements.
    """
    if any(0 in indices[fancy.axis].signature.shape for fancy in selection.fancy):
        return
    is_empty = 0 in view.shape
    for fancy in selection.fancy:
        if not fancy.is_mask and (is_empty or not isinstance(fancy.index, ndarray)):
            index = to_host(fancy.index) if isinstance(fancy.index, ndarray) else fancy.index
            size = view.shape[fancy.axis]
            if not -size <= index.min() <= index.max() < size:
                raise out_of_bounds_error(int(index[(index < -size) | (index >= size)].flat[0]), fancy.axis, size)


# Writing


@tried_first
def setitem(a: ndarray, key: Any, value: Any) -> None:
    """Write ``a[key] = value``."""
    if not a.writeable:
        raise ValueError("assignment destination is read-only")
    if is_scalar(a):
        with one_step(a):
            mark_as_array(a)  # once written to, it is an array, and no longer acts as a NumPy scalar
    if type(key) is ndarray and key.shape == a.shape != () and key.dtype == BOOL and isinstance(value, _SCALAR_TYPES):
        number = record.cast_with_warning(value_node(cast_integer(value, a.dtype), a, False), a.dtype)
        with one_step(a):
            a.assign(_where(mask_on_device(key, a).value(), number, a.value()))
        return
    if type(key) is ndarray and key.shape and _is_index_of_rows(key, a):
        rows = value.value() if type(value) is ndarray else value_node(cast_integer(value, a.dtype), a, False)
        with one_step(a):
            _write_picked(a, [graph.cast(key.value(), INT64)], fit_to_index_result(rows, key.shape + a.shape[1:]))
        return
    window = basic_window(a.layout, key)
    if window is None:
        selection = resolve_key(a.layout, key, False)
        if selection.fancy:
            is_element = (
                len(selection.fancy) == len(selection.window.shape)
                and not any(fancy.index.shape for fancy in selection.fancy)
                and not _has_ellipsis(key)
            )
            value = value_node(cast_integer(value, a.dtype), a, is_element)
            with one_step(a):  # elements not picked are read and written back: no other write may come between
                _write_fancy(make_view(a, selection.window), selection, value, a.shape)
            return
        window = selection.window
    node = None
    if type(value) is ndarray:
        if value._base is not None and _shows(value, a, window):
            return  # the second half of ``a[i:j] += b``
        node = value.value()
    if node is None or node.signature.shape != window.shape or not window.shape:
        given = value_node(value, a, not window.shape and not _has_ellipsis(key))
        if isinstance(value, (list, tuple)) and len(given.signature.shape) > len(window.shape):
            raise ValueError(
                "setting an array element with a sequence. The requested array would exceed the maximum number of "
                f"dimension of {len(window.shape)}."
            )
        node = fit_to_shape(given, window.shape)
    a.assign(node if node.signature.dtype == a.dtype else record.cast_with_warning(node, a.dtype), window)


def _shows(view: ndarray, a: ndarray, window: Layout) -> bool:
    """Return whether a view shows just a window of an array."""
    owner = view._base
    if owner is None or (owner is not a and owner is not a._base) or view._layout != window:
        return False
    return view._component == ("" if a._base is None else a._component) and view._node.signature.dtype == a.dtype


def value_node(value: Any, a: ndarray, is_element: bool) -> Node:
    """Return the value as a node to write into `a`.

    For a single element an array with dimensions is refused, in NumPy's words for the dtype; but a truth value is taken
    from an array of one element, as `bool` takes it.
    """
    node = node_to_assign(value, a.dtype, a.queue, is_element)
    if not is_element or not node.signature.shape:
        return node
    if a.dtype.kind == "b" and prod(node.signature.shape) == 1:
        return record.reshaped(node, ())
    if a.dtype.kind == "c":
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    raise ValueError("setting an array element with a sequence.")


def cast_integer(value: Any, dtype: DType) -> Any:
    """Return a NumPy scalar as an array of it would be cast to an integer dtype, and any other value as it is.

    So NumPy writes to picked elements; assignments to a window refuse what the dtype has no value for.
    """
    if not isinstance(value, numpy.number) or dtype.kind not in "iu":
        return value
    if isinstance(value, numpy.complexfloating):
        record.warn_of_lost_parts()
        value = value.real
    with silent_unless_asked():
        return value.astype(dtype)


_SCALAR_TYPES = (bool, int, float, complex, numpy.generic)


def node_to_assign(value: Any, dtype: DType, queue: Queue, is_element: bool = False) -> Node:
    """Return the node of a value to write into an array of `dtype`, or into one element of it.

    Scalars and sequences are converted to `dtype`; arrays keep their own dtype, for `cast_with_warning` to convert.
    """
    if isinstance(value, ndarray):
        return value.value()
    if isinstance(value, _SCALAR_TYPES) or (is_element and not hasattr(value, "__array__")):
        # NumPy converts the scalar, so that it refuses and warns as in an assignment of its own.
        if isinstance(value, numpy.complexfloating) and dtype.kind not in "cb":
            record.warn_of_lost_parts()
            value = value.real
        cell = numpy.empty(1, dtype)
        with silent_unless_asked():
            cell[0] = value
        return graph.typed_scalar(cell[0], dtype)
    if isinstance(value, (list, tuple)):
        return _sequence_to_assign(value, dtype, queue.device).value()
    return record.as_node(value, queue)


def _sequence_to_assign(value: Any, dtype: DType, device: Device | None) -> ndarray:
    """Return nested sequences as an array of `dtype`, which refuses Python's numbers and casts what arrays hold."""
    if isinstance(value, ndarray):
        return value
    if isinstance(value, (list, tuple)) and record.holds_arrays(value):
        return record.stacked(value, dtype, lambda part, on: _sequence_to_assign(part, dtype, on or device))
    try:
        with silent_unless_asked():
            data = numpy.asarray(value, dtype)
        return record.as_array(data, device)
    except ValueError:
        held = record.with_held_arrays(value)
        if held is value:
            raise
        return _sequence_to_assign(held, dtype, device)


def fit_to_shape(value: Node, shape: Shape) -> Node:
    """Return the value without the leading dimensions of size 1 that the target lacks.

    Raise `ValueError` if it does not broadcast to the target's shape.
    """
    given_shape = fitted_shape = value.signature.shape
    if given_shape == shape:
        return value
    while len(fitted_shape) > len(shape) and fitted_shape[0] == 1:
        fitted_shape = fitted_shape[1:]
    if not _broadcasts_to(fitted_shape, shape):
        raise ValueError(
            f"could not broadcast input array from shape {shape_text(fitted_shape)} into shape {shape_text(shape)}"
        )
    return value if fitted_shape == given_shape else record.reshaped(value, fitted_shape)


def _broadcasts_to(shape: Shape, to: Shape) -> bool:
    """Return True if a shape broadcasts to another."""
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(shape, to[len(to) - len(shape) :], strict=True))


def _write_fancy(view: ndarray, selection: Selection, value: Node, array_shape: Shape) -> None:
    """Write to what fancy indices pick from a window of an array of shape `array_shape`."""
    mask = selection.fancy[0].index if len(selection.fancy) == 1 and selection.fancy[0].is_mask else None
    axis = selection.fancy[0].axis
    if mask is not None and _mask_fits(mask, view, axis):
        mask = mask_on_device(mask, view)
        is_whole_key = not axis and mask.shape == view.shape == array_shape
        if is_whole_key and len(value.signature.shape) > 1:
            raise TypeError(
                "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, "
                f"input has {len(value.signature.shape)} dimensions"
            )
        row_shape = view.shape[axis + len(mask.shape) :]
        if prod(value.signature.shape) == 1 or (not axis and _is_one_row(value.signature.shape, row_shape)):
            broadcast_mask = record.reshaped(mask.value(), mask.shape + (1,) * len(row_shape))
            value_shape = value.signature.shape[-len(row_shape) :] if row_shape else ()
            value = record.cast_with_warning(
                value if value.signature.shape == value_shape else record.reshaped(value, value_shape), view.dtype
            )
            view.assign(_where(broadcast_mask, value, view.value()))
            return
        if not axis:
            _write_by_rank(view, mask, row_shape, value, is_whole_key)
            return
    indices = _indices(view, selection)
    shape = layout.broadcast_shapes(*(index.signature.shape for index in indices)) + view.shape[len(indices) :]
    value = fit_to_index_result(value, shape)
    _check_bounds(view, selection, indices)
    _write_picked(view, indices, value)


def _write_picked(view: ndarray, indices: Sequence[Node], value: Node) -> None:
    """Write a value, of the shape that indices of leading dimensions make, to what the indices pick."""
    if value.signature.dtype != view.dtype:
        value = record.cast_with_warning(value, view.dtype)
    view.assign(graph.scatter(view.value(), value, indices, "", source_location()))


def _is_one_row(shape: Shape, row_shape: Shape) -> bool:
    """Return True if a value of this shape gives the same row to every element that a mask picks."""
    leading_shape = shape[: max(0, len(shape) - len(row_shape))]
    return prod(leading_shape) == 1 and _broadcasts_to(shape[len(leading_shape) :], row_shape)


def _write_by_rank(view: ndarray, mask: ndarray, row_shape: Shape, value: Node, is_whole_key: bool) -> None:
    """Write to each element that a mask picks a row of its own: the one whose number is the element's rank among them.

    `is_whole_key`: the mask is the whole key, for which NumPy demands a value for each element.
    """
    count = selection_of(mask).count
    if not is_whole_key:
        value = fit_to_index_result(value, (count, *row_shape))
    elif value.signature.shape != (count,):
        raise ValueError(
            f"NumPy boolean array indexing assignment cannot assign {value.signature.shape[0]} input values to the "
            f"{count} output values where the mask is true"
        )
    value = record.cast_with_warning(value, view.dtype)
    if not count:
        return
    flat_mask = record.reshaped(mask.value(), (mask.size,))
    # Elements that are not picked read row 0, and keep their own value: their rank may be out of bounds.
    rank = _where(flat_mask, picked_before(flat_mask), graph.scalar(0), INT64)
    rank = record.reshaped(rank, mask.shape)
    broadcast_mask = record.reshaped(mask.value(), mask.shape + (1,) * len(row_shape))
    new = graph.gather(graph.broadcast(value, (count, *row_shape)), (rank,), "")
    view.assign(_where(broadcast_mask, new, view.value()))


def _where(condition: Node, x: Node, y: Node, dtype: DType | None = None) -> Node:
    """Return the elementwise `where` of nodes, in the dtype of `y` by default."""
    dtype = dtype or y.signature.dtype
    return graph.map_node("where", (BOOL, dtype, dtype, dtype), (condition, x, y))


def fit_to_index_result(value: Node, shape: Shape) -> Node:
    """Return the value as `fit_to_shape` does, with NumPy's message for index arrays."""
    try:
        return fit_to_shape(value, shape)
    except ValueError:
        raise ValueError(
            f"shape mismatch: value array of shape {shape_text(value.signature.shape)} "
            f"could not be broadcast to indexing result of shape {shape_text(shape)}"
        ) from None


def diagonal_layout(array_layout: Layout, offset: int, axis1: int, axis2: int) -> Layout:
    """Return the layout of the diagonal of two dimensions, which becomes the last dimension.

    `axis1` and `axis2` are not negative.
    """
    shape, strides, start = array_layout
    down, across = strides[axis1], strides[axis2]
    count = max(0, min(shape[axis1] + min(offset, 0), shape[axis2] - max(offset, 0)))
    if count:
        start += offset * across if offset > 0 else -offset * down
    rest = [k for k in range(len(shape)) if k not in (axis1, axis2)]
    return Layout((*(shape[k] for k in rest), count), (*(strides[k] for k in rest), down + across), start)
