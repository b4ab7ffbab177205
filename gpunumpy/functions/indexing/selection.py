"""Functions that select or write elements: by condition, by index, and from several arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Literal

import numpy

from ...core import dtypes
from ...core.dtypes import BOOL, INT64
from ...core.floating_errors import silent_unless_asked
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Shape
from ...core.graph.node import Node
from ...core.numpy_release import NUMPY_2_5
from ...core.recording import record
from ...core.recording.array import is_scalar, mark_as_array, ndarray, one_step, to_host, wrap, wrap_ordered
from ...core.recording.record import array_of_protocol
from ...core.runtime.numpy_calls import calls_numpy
from ...core.source_location import source_location
from ..creation.arrays import zeros_like as _zeros_like
from ..every_dtype import as_called
from ..manipulation.shape import astype as _astype
from ..ufuncs.elementwise import MEMO_OF_WHERE
from ..ufuncs.elementwise import where as _where
from ..ufuncs.output import checked_output, in_order, in_place, write_to_output
from .elements import flat_values, flattened
from .getitem import cast_integer, fit_to_index_result, getitem, node_to_assign
from .keys import out_of_bounds_error, shape_text
from .masks import MaskSelection, picked_before

__all__ = [
    "argwhere",
    "choose",
    "compress",
    "extract",
    "flatnonzero",
    "nonzero",
    "piecewise",
    "place",
    "put",
    "put_along_axis",
    "putmask",
    "select",
    "take",
    "take_along_axis",
    "where",
]

_PYTHON_NUMBERS = (int, float, complex)
_UINT64 = numpy.dtype(numpy.uint64)

# By condition


astype, zeros_like = as_called(_astype, _zeros_like)


def _as_bool(a: ndarray) -> ndarray:
    """Return the truth of every element."""
    return a if a.dtype == BOOL else wrap(graph.cast(a.value(), BOOL))


def nonzero(a: Any) -> tuple[ndarray, ...]:
    """Return the indices of the elements that are not zero, an array for each dimension. See `numpy.nonzero`."""
    a = record.as_array(a)
    if not a.shape:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    return tuple(wrap(index) for index in MaskSelection(_as_bool(a)).indices())


def flatnonzero(a: Any) -> ndarray:
    """Return the positions of the elements that are not zero, in C order. See `numpy.flatnonzero`."""
    return wrap(MaskSelection(_as_bool(record.as_array(a))).positions())


def argwhere(a: Any) -> ndarray:
    """Return the indices of the elements that are not zero, a row for each element. See `numpy.argwhere`."""
    a = record.as_array(a)
    selection = MaskSelection(_as_bool(a))
    columns = selection.indices() if a.shape else ()
    shape = (len(columns), selection.count)
    axis = graph.iota(shape, 0, a.queue)
    result = graph.fill(graph.typed_scalar(0, INT64), shape, a.queue)
    for column_number, column in enumerate(columns):
        is_column = graph.map_node("equal", (INT64, INT64, BOOL), (axis, graph.scalar(column_number)))
        result = graph.map_node("where", (BOOL, INT64, INT64, INT64), (is_column, column, result))
    return wrap_ordered(result, (1, 0))  # NumPy's is the transpose of `nonzero`


_NOT_GIVEN: Any = numpy._NoValue  # None is an element


def where(condition: Any, x: Any = _NOT_GIVEN, y: Any = _NOT_GIVEN, /) -> Any:
    """Return elements of `x` where the condition is true, of `y` elsewhere; for a condition alone, its `nonzero`.

    See `numpy.where`.
    """
    if x is _NOT_GIVEN and y is _NOT_GIVEN:
        return nonzero(condition)
    if x is _NOT_GIVEN or y is _NOT_GIVEN:
        raise ValueError("either both or neither of x and y should be given")
    return _where(condition, x, y)


where.call_memo = MEMO_OF_WHERE  # type: ignore[attr-defined]


def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> ndarray:
    """Return the slices along an axis for which a one-dimensional condition is true. See `numpy.compress`."""
    a = record.as_array(a)
    mask = record.as_array(condition, a.device)
    if len(mask.shape) != 1:
        raise ValueError("condition must be a 1-d array")
    mask = _as_bool(mask)
    if axis is None or not a.shape:
        a, axis = flattened(a), 0 if axis is None else axis
    axis = layout.checked_axis(axis, len(a.shape))
    size = a.shape[axis]
    if mask.size > size and 0 not in a.shape[:axis]:
        excess = MaskSelection(getitem(mask, slice(size, None)))
        if excess.count and not size:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        if excess.count:
            raise out_of_bounds_error(size + int(to_host(wrap(excess.positions()))[0]), axis, size)
        mask = getitem(mask, slice(size))
    return take(a, wrap(MaskSelection(mask).positions()), axis, out)


def extract(condition: Any, arr: Any) -> ndarray:
    """Return the elements for which a condition is true, in one dimension. See `numpy.extract`."""
    return compress(flattened(condition), flattened(arr))


@in_place
def place(arr: ndarray, mask: Any, vals: Any) -> None:
    """Write values, repeated in order, to the elements for which a mask is true. See `numpy.place`."""
    condition = _as_bool(flattened(mask, arr))
    if condition.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    values = flat_values(vals, arr, "safe")
    if not prod(values.signature.shape):
        if MaskSelection(condition).count:
            raise ValueError("Cannot insert from an empty array!")
        return
    if calls_numpy(arr.device):
        _write_by_numpy("place", arr, condition, values)
        return
    # Elements that are not picked have a rank too, which `_write_repeated` ignores.
    _write_repeated(arr, condition, values, picked_before(condition.value()))


@in_place
def putmask(a: ndarray, /, mask: Any, values: Any) -> None:
    """Write values, repeated to the size of the array, where a mask is true. See `numpy.putmask`."""
    condition = _as_bool(flattened(mask, a))
    if condition.size != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    new_values = flat_values(values, a, "safe")
    count = prod(new_values.signature.shape)
    if not count:
        return
    if not calls_numpy(a.device):
        _write_repeated(a, condition, new_values, graph.iota(condition.shape, 0, a.queue))
    elif count == a.size:
        _write_where(a, condition, new_values)
    else:
        _write_by_numpy("putmask", a, condition, new_values)


def _write_repeated(a: ndarray, mask: ndarray, values: Node, value_number: Node) -> None:
    """Write value ``value_number % size`` where a flat mask is true."""
    count = values.signature.shape[0]
    index = graph.map_node("remainder", (INT64,) * 3, (value_number, graph.scalar(count)))
    _write_where(a, mask, graph.gather(values, (index,), ""))


def _write_where(a: ndarray, mask: ndarray, values: Node) -> None:
    """Write its own value to each element for which a flat mask is true."""
    condition, new = (record.reshaped(node, a.shape) for node in (mask.value(), values))
    with one_step(a):
        a.assign(graph.map_node("where", (BOOL, a.dtype, a.dtype, a.dtype), (condition, new, a.value())))


def _write_by_numpy(name: str, a: ndarray, mask: ndarray, values: Node) -> None:
    """Write what NumPy's function of this name writes where a flat mask is true."""
    with one_step(a):
        a.assign(graph.library_call(name, (), (a.value(), record.reshaped(mask.value(), a.shape), values)))


# By index


def _as_indices(indices: Any, rule: Literal["safe", "same_kind"]) -> Any:
    """Return indices as an `ndarray`, or as a NumPy array of int64 if they are on the host.

    Raise `TypeError` if an array's dtype cannot be cast to int64 under the rule; lists and numbers are cast under any.
    """
    if isinstance(indices, ndarray) and is_scalar(indices) and indices.dtype.kind == "f":
        indices = _astype(indices, INT64)
    if not isinstance(indices, (ndarray, numpy.ndarray, numpy.generic)):
        held = array_of_protocol(indices)
        indices = indices if held is None else held
    array = indices if isinstance(indices, ndarray) else numpy.asarray(indices)
    if isinstance(indices, (ndarray, numpy.ndarray)) and not numpy.can_cast(array.dtype, INT64, rule):
        raise TypeError(f"Cannot cast array data from {array.dtype!r} to {INT64!r} according to the rule {rule!r}")
    return array if isinstance(array, ndarray) else array.astype(numpy.int64)


def _index_by_mode(indices: Any, size: int, axis: int, mode: str, like: ndarray) -> Node:
    """Return the indices along an axis as a node, wrapped or clipped if the mode says so.

    With mode "raise", host indices are checked here, device indices by the kernel that reads them.
    """
    if not isinstance(indices, ndarray):
        if mode == "raise" and indices.size and not -size <= indices.min() <= indices.max() < size:
            invalid = indices[(indices < -size) | (indices >= size)].flat[0]
            raise out_of_bounds_error(int(invalid), axis, size)
        indices = record.as_array(indices, like.device)
    return _INDEX_MODES[mode](graph.cast(indices.value(), INT64), size)


def _wrapped(index: Node, size: int) -> Node:
    """Return indices modulo the size."""
    return graph.map_node("remainder", (INT64,) * 3, (index, graph.scalar(max(1, size))))


def _clipped(index: Node, size: int) -> Node:
    """Return indices clipped to those of the first and the last element."""
    low = graph.map_node("maximum", (INT64,) * 3, (index, graph.scalar(0)))
    return graph.map_node("minimum", (INT64,) * 3, (low, graph.scalar(max(0, size - 1))))


# In the order of NumPy's C enumeration, as `mode` may be its number: NPY_CLIP = 0, NPY_WRAP = 1, NPY_RAISE = 2.
_INDEX_MODES: dict[str, Callable[[Node, int], Node]] = {
    "clip": _clipped,
    "wrap": _wrapped,
    "raise": lambda index, size: index,
}


def _mode_name(mode: Any) -> str:
    """Return the name of a mode, which NumPy also takes as a number."""
    if isinstance(mode, str):
        if mode not in _INDEX_MODES:
            raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
        return mode
    if mode is not None and not 0 <= operator.index(mode) < len(_INDEX_MODES):
        raise ValueError("integer clipmode must be RAISE, WRAP, or CLIP from 'numpy._core.multiarray'")
    return "raise" if mode is None else tuple(_INDEX_MODES)[mode]


def take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: Any = "raise") -> ndarray:
    """Return the elements at `indices` along an axis. See `numpy.take`."""
    mode = _mode_name(mode)
    a = record.as_array(a, indices.device if isinstance(indices, ndarray) else None)
    if axis is None:
        a, axis = flattened(a), 0
    if not a.shape:
        a = getitem(a, None)
    axis = layout.checked_axis(axis, len(a.shape))
    index_array = _as_indices(indices, "same_kind")
    shape = (*a.shape[:axis], *index_array.shape, *a.shape[axis + 1 :])
    layout.check_dimension_count(len(shape))
    target = None if out is None else checked_output(out)
    if target is not None:
        if target.shape != shape:
            raise ValueError("output array does not match result of ndarray.take")
        if not NUMPY_2_5 and not numpy.can_cast(target.dtype, a.dtype, "safe"):
            raise TypeError(f"Cannot cast array data from {target.dtype!r} to {a.dtype!r} according to the rule 'safe'")
    if 0 in shape:
        if 0 not in a.shape[:axis]:  # no kernel reads the indices: check them here, as NumPy does
            _index_by_mode(
                to_host(index_array) if isinstance(index_array, ndarray) else index_array, a.shape[axis], axis, mode, a
            )
        result = wrap(graph.fill(graph.typed_scalar(0, a.dtype), shape, a.queue))
    else:
        if not a.shape[axis]:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        index = _index_by_mode(index_array, a.shape[axis], axis, mode, a)
        ndim = len(index_array.shape)
        leading = [
            graph.iota((1,) * k + (n,) + (1,) * (axis - k - 1 + ndim), k, a.queue) for k, n in enumerate(a.shape[:axis])
        ]
        result = wrap(graph.gather(a.value(), (*leading, index), source_location()))
    return result if target is None else write_to_output(target, result.value())


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> ndarray:
    """Return the elements at `indices`, which match the array in every other dimension.

    See `numpy.take_along_axis`.
    """
    arr = record.as_array(arr, indices.device if isinstance(indices, ndarray) else None)
    if axis is None:
        if len(record.as_array(indices).shape) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = flattened(arr), 0
    arr, index_of_axis = _indices_along(arr, indices, axis)
    return wrap(graph.gather(arr.value(), index_of_axis, source_location()))


@in_place
def put_along_axis(arr: ndarray, indices: Any, values: Any, axis: int | None) -> None:
    """Write to the elements at `indices`, which match the array in every other dimension.

    See `numpy.put_along_axis`.
    """
    if axis is None:
        if len(record.as_array(indices).shape) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        index_of_axis: Sequence[Node] = [_index_by_mode(_as_indices(indices, "safe"), arr.size, 0, "raise", arr)]
        written_shape: Shape = (arr.size,)
    else:
        _, index_of_axis = _indices_along(arr, indices, axis)
        written_shape = arr.shape
    shape = layout.broadcast_shapes(*(index.signature.shape for index in index_of_axis))
    value = record.cast_with_warning(
        fit_to_index_result(node_to_assign(cast_integer(values, arr.dtype), arr.dtype, arr.queue), shape), arr.dtype
    )
    with one_step(arr):
        written = graph.scatter(
            record.reshaped(arr.value(), written_shape), value, index_of_axis, "", source_location()
        )
        arr.assign(record.reshaped(written, arr.shape))


def _indices_along(arr: ndarray, indices: Any, axis: int) -> tuple[ndarray, list[Node]]:
    """Return the array and an index for each of its dimensions: `indices` along the axis, `Iota` along the others."""
    axis = layout.normalize_axis(axis, len(arr.shape))
    indices = record.as_array(indices, arr.device)
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if len(indices.shape) != len(arr.shape):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    ndim = len(arr.shape)
    index_of_axis = [graph.iota((1,) * k + (n,) + (1,) * (ndim - k - 1), k, arr.queue) for k, n in enumerate(arr.shape)]
    index_of_axis[axis] = graph.cast(indices.value(), INT64)
    try:
        layout.broadcast_shapes(*(index.signature.shape for index in index_of_axis))
    except ValueError:
        shapes = " ".join(shape_text(index.signature.shape) for index in index_of_axis)
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes} "
        ) from None
    return arr, index_of_axis


@in_place
def put(a: ndarray, ind: Any, v: Any, mode: Any = "raise") -> None:
    """Write values, repeated in order, at positions in C order. See `numpy.put`."""
    if not a.writeable:
        raise ValueError("put: output array is read-only")
    mode = _mode_name(mode)
    index_array = _as_indices(ind, "safe")
    if index_array.size and not a.size:
        raise IndexError("cannot replace elements of an empty array")
    values = flat_values(v, a)
    value_count, count = values.signature.shape[0], index_array.size
    if not count or not value_count:
        return
    positions = flattened(wrap(graph.as_new_node(_index_by_mode(index_array, a.size, 0, mode, a))))
    if value_count < count:
        cycle = graph.map_node("remainder", (INT64,) * 3, (graph.iota((count,), 0, a.queue), graph.scalar(value_count)))
        values = graph.gather(values, (cycle,), "")
    elif value_count > count:
        values = getitem(wrap(graph.as_new_node(values)), slice(count)).value()
    with one_step(a):
        flat_array = record.reshaped(a.value(), (a.size,))
        written = graph.scatter(flat_array, values, (positions.value(),), "", source_location())
        a.assign(record.reshaped(written, a.shape))


# From several arrays


def choose_method(a: ndarray, *choices: Any, out: Any = None, mode: Any = "raise") -> ndarray:
    """Pick each element from the array, among all given, whose number stands at its place. See `numpy.choose`."""
    if not choices:
        raise TypeError("choose() takes exactly 1 argument (0 given)")
    return choose(a, choices[0] if len(choices) == 1 else choices, out, mode)


def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> ndarray:
    """Pick each element from the array of `choices` whose number stands in `a` at its place. See `numpy.choose`."""
    mode = _mode_name(mode)
    if isinstance(choices, ndarray):
        choices = [getitem(choices, k) for k in range(choices.shape[0])]
    choices = list(choices)
    if len(choices) >= layout.MAX_DIMENSIONS:  # NumPy's limit of arrays in one operation, the index among them
        raise ValueError(f"Need at least 0 and at most {layout.MAX_DIMENSIONS} array objects.")
    choice_index = record.as_array(a, next((choice.device for choice in choices if isinstance(choice, ndarray)), None))
    if not choices:
        raise ValueError("0-length sequence.")
    if not numpy.can_cast(choice_index.dtype, INT64, "safe"):
        raise TypeError(f"Cannot cast array data from {choice_index.dtype!r} to {INT64!r} according to the rule 'safe'")
    choices = [
        choice if type(choice) in _PYTHON_NUMBERS else record.as_array(choice, choice_index.device)
        for choice in choices
    ]
    dtype = dtypes.check(
        numpy.result_type(*(choice if type(choice) in _PYTHON_NUMBERS else choice.dtype for choice in choices))
    )
    with silent_unless_asked():
        arrays = [
            choice
            if isinstance(choice, ndarray)
            else record.as_array(numpy.asarray(choice).astype(dtype), choice_index.device)
            for choice in choices
        ]
    shape = layout.broadcast_shapes(choice_index.shape, *(choice.shape for choice in arrays))
    index = _INDEX_MODES[mode](graph.cast(choice_index.value(), INT64), len(arrays))
    if mode == "raise" and 0 not in shape:
        # Cast to unsigned, negative indices exceed every valid one: a single maximum finds both errors.
        unsigned = graph.cast(record.reshaped(index, (choice_index.size,)), _UINT64)
        if to_host(wrap(graph.reduce("maximum", (_UINT64, _UINT64), (0,), (unsigned,)))) >= len(arrays):
            raise ValueError("invalid entry in choice array")
    choice_numbers = wrap(graph.as_new_node(index))
    result = arrays[-1]
    for k in range(len(arrays) - 2, -1, -1):
        is_chosen = record.elementwise("equal", (choice_numbers, k))
        result = record.elementwise("where", (is_chosen, arrays[k], result), (BOOL, dtype, dtype, dtype))
    if len(arrays) == 1:
        result = wrap(graph.as_new_node(graph.broadcast(graph.cast(result.value(), dtype), shape)))
    if out is None:
        return result
    target = checked_output(out)
    if target.shape != result.shape:
        raise TypeError("choose: invalid shape for output array.")
    return write_to_output(target, result.value())


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> ndarray:
    """Evaluate each function, or constant, where its condition is true. See `numpy.piecewise`."""
    x = record.placed_array(x, condlist if isinstance(condlist, ndarray) else None)
    is_single = is_scalar(condlist) if isinstance(condlist, ndarray) else numpy.isscalar(condlist)
    if is_single or (not _is_list_or_array(condlist[0]) and x.ndim):
        condlist = [condlist]
    conditions: list[Any] = [astype(record.placed_array(condition, x), BOOL) for condition in condlist]
    count = len(conditions)
    if count == len(funclist) - 1:
        any_condition = conditions[0]
        for condition in conditions[1:]:
            any_condition = any_condition | condition
        conditions.append(~any_condition)
    elif count != len(funclist):
        raise ValueError(f"with {count} condition(s), either {count} or {count + 1} functions are expected")
    result = zeros_like(x)
    for condition, function in zip(conditions, funclist, strict=True):
        if callable(function):
            selected = x[condition]
            if selected.size:
                result[condition] = function(selected, *args, **kw)
        else:
            result[condition] = function
    return result


def _is_list_or_array(x: Any) -> bool:
    """Return True for a list or an array; elements of an array, which are 0-d `ndarray` results, are neither."""
    return isinstance(x, (list, numpy.ndarray)) or (isinstance(x, ndarray) and not is_scalar(x))


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> ndarray:
    """Return for each element that of the first choice whose condition is true. See `numpy.select`."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    conditions = [record.as_array(c) for c in condlist]
    for k, condition in enumerate(conditions):
        if condition.dtype != BOOL:
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    choices = [*choicelist, default]
    operands = [c if type(c) in _PYTHON_NUMBERS else record.as_array(c) for c in choices]
    try:
        types = [c if type(c) in _PYTHON_NUMBERS else c.dtype for c in operands]
        dtype = dtypes.check(numpy.result_type(*types))
    except TypeError as error:
        raise TypeError(f"Choicelist and default value do not have a common dtype: {error}") from None
    loop = (BOOL, dtype, dtype, dtype)
    with silent_unless_asked():  # a Python number may wrap around, as -1 in an unsigned dtype
        operands = [numpy.asarray(c).astype(dtype)[()] if type(c) in _PYTHON_NUMBERS else c for c in operands]
    result = operands[-1]
    for condition, choice in zip(reversed(conditions), reversed(operands[:-1]), strict=True):
        result = record.elementwise("where", (condition, choice, result), loop)
    return mark_as_array(in_order(result, "C"))
