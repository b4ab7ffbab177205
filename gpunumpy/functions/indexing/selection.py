"""Functions that select elements: by what they are, by where they are, and from several arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy

from ...core import dtypes
from ...core.dtypes import BOOL, INT64
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.node import Node
from ...core.numpy_release import NUMPY_2_5
from ...core.recording import record
from ...core.recording.array import boxed, is_scalar, ndarray, to_host, wrap
from ..ufuncs.elementwise import where as _where
from ..ufuncs.output import in_place, output, write
from .elements import flattened
from .getitem import cast, fitted_to_pick, getitem, setitem, stored
from .keys import out_of_bounds, words
from .masks import Picked, ranks, unravelled

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
    if axis is None or not a.shape:
        a, axis = flattened(a), 0 if axis is None else axis
    axis = layout.normalize_axis(axis, len(a.shape))
    size = a.shape[axis]
    if mask.size > size and 0 not in a.shape[:axis]:
        beyond = Picked(getitem(mask, slice(size, None)))
        if beyond.count and not size:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        if beyond.count:
            raise out_of_bounds(size + int(to_host(wrap(beyond.positions()))[0]), axis, size)
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
    count = values.signature.shape[0]
    index = graph.map_node("remainder", (INT64,) * 3, (number, graph.scalar(count)))
    new = graph.gather(values, (index,), "")
    mask, new = record.reshaped(mask, a.shape), record.reshaped(new, a.shape)
    a.assign(graph.map_node("where", (BOOL, a.dtype, a.dtype, a.dtype), (mask, new, a.value())))


# By where they are


def _integers(indices: Any, rule: Literal["safe", "same_kind"]) -> Any:
    """Indices as an array of ours or, of int64, of the host's; arrays must be castable by a rule, lists need not."""
    given = indices if isinstance(indices, ndarray) else numpy.asarray(indices)
    if isinstance(indices, (ndarray, numpy.ndarray)) and not numpy.can_cast(given.dtype, INT64, rule):
        raise TypeError(f"Cannot cast array data from {given.dtype!r} to {INT64!r} according to the rule {rule!r}")
    return given if isinstance(given, ndarray) else given.astype(numpy.int64)


def _within(indices: Any, size: int, axis: int, mode: str, like: ndarray) -> Node:
    """The indices by a mode; those from the host are checked at once where out of bounds is an error."""
    if not isinstance(indices, ndarray):
        if mode == "raise" and indices.size and not -size <= indices.min() <= indices.max() < size:
            bad = indices[(indices < -size) | (indices >= size)].flat[0]
            raise out_of_bounds(int(bad), axis, size)
        indices = record.as_array(indices, like.device)
    return _MODES[mode](graph.cast(indices.value(), INT64), size)


def _wrapped(index: Node, size: int) -> Node:
    return graph.map_node("remainder", (INT64,) * 3, (index, graph.scalar(max(1, size))))


def _clipped(index: Node, size: int) -> Node:
    low = graph.map_node("maximum", (INT64,) * 3, (index, graph.scalar(0)))
    return graph.map_node("minimum", (INT64,) * 3, (low, graph.scalar(max(0, size - 1))))


# In the order of the numbers that C has for them.
_MODES: dict[str, Callable[[Node, int], Node]] = {
    "clip": _clipped,
    "wrap": _wrapped,
    "raise": lambda index, size: index,
}


def _mode(mode: Any) -> str:
    """What is done with indices out of bounds, by its name."""
    if isinstance(mode, str):
        if mode not in _MODES:
            raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
        return mode
    if mode is not None and not 0 <= operator.index(mode) < len(_MODES):
        raise ValueError("integer clipmode must be RAISE, WRAP, or CLIP from 'numpy._core.multiarray'")
    return "raise" if mode is None else tuple(_MODES)[mode]


def take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: Any = "raise") -> ndarray:
    """The elements at `indices` along an axis. See `numpy.take`."""
    mode = _mode(mode)
    a = record.as_array(a, indices.device if isinstance(indices, ndarray) else None)
    if axis is None:
        a, axis = flattened(a), 0
    if not a.shape:
        a = getitem(a, None)
    axis = layout.normalize_axis(axis, len(a.shape))
    chosen = _integers(indices, "same_kind")
    shape = (*a.shape[:axis], *chosen.shape, *a.shape[axis + 1 :])
    into = None if out is None else output(out)
    if into is not None:
        if into.shape != shape:
            raise ValueError("output array does not match result of ndarray.take")
        if not NUMPY_2_5 and not numpy.can_cast(into.dtype, a.dtype, "safe"):
            raise TypeError(f"Cannot cast array data from {into.dtype!r} to {a.dtype!r} according to the rule 'safe'")
    if 0 in shape:
        if 0 not in a.shape[:axis]:  # no kernel reads the indices: they are looked at here, as NumPy does
            _within(to_host(chosen) if isinstance(chosen, ndarray) else chosen, a.shape[axis], axis, mode, a)
        result = wrap(graph.fill(graph.typed_scalar(0, a.dtype), shape, a.queue))
    else:
        if not a.shape[axis]:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        index = _within(chosen, a.shape[axis], axis, mode, a)
        ndim = len(chosen.shape)
        leading = [
            graph.iota((1,) * k + (n,) + (1,) * (axis - k - 1 + ndim), k, a.queue) for k, n in enumerate(a.shape[:axis])
        ]
        result = wrap(graph.gather(a.value(), (*leading, index), record.source_location()))
    return result if into is None else write(into, result.value())


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> ndarray:
    """The elements at `indices`, which match the array in every other dimension. See `numpy.take_along_axis`."""
    arr = record.as_array(arr, indices.device if isinstance(indices, ndarray) else None)
    if axis is None:
        if len(record.as_array(indices).shape) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = flattened(arr), 0
    arr, along = _along(arr, indices, axis)
    return wrap(graph.gather(arr.value(), along, record.source_location()))


@in_place
def put_along_axis(arr: ndarray, indices: Any, values: Any, axis: int | None) -> None:
    """Write to the elements at `indices`, which match the array in every other dimension.

    See `numpy.put_along_axis`.
    """
    if axis is None:
        if len(record.as_array(indices).shape) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        position = _within(_integers(indices, "safe"), arr.size, 0, "raise", arr)
        along: Sequence[Node] = unravelled(_wrapped(position, arr.size), arr.shape)
    else:
        _, along = _along(arr, indices, axis)
    shape = layout.broadcast_shapes(*(index.signature.shape for index in along))
    value = cast(fitted_to_pick(stored(values, arr.dtype, arr.queue), shape), arr.dtype)
    arr.assign(graph.scatter(arr.value(), value, along, "", record.source_location()))


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
        layout.broadcast_shapes(*(index.signature.shape for index in along))
    except ValueError:
        shapes = " ".join(words(index.signature.shape) for index in along)
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes} "
        ) from None
    return arr, along


@in_place
def put(a: ndarray, ind: Any, v: Any, mode: Any = "raise") -> None:
    """Write values, again and again from the first one, at positions in C order. See `numpy.put`."""
    mode = _mode(mode)
    chosen = _integers(ind, "safe")
    if chosen.size and not a.size:
        raise IndexError("cannot replace elements of an empty array")
    values = cast(flattened(v, a).value(), a.dtype)
    have, count = values.signature.shape[0], chosen.size
    if not count or not have:
        return
    positions = flattened(wrap(graph.fresh(_within(chosen, a.size, 0, mode, a))))
    if have < count:
        cycle = graph.map_node("remainder", (INT64,) * 3, (graph.iota((count,), 0, a.queue), graph.scalar(have)))
        values = graph.gather(values, (cycle,), "")
    elif have > count:
        values = getitem(wrap(graph.fresh(values)), slice(count)).value()
    flat = record.reshaped(a.value(), (a.size,))
    written = graph.scatter(flat, values, (positions.value(),), "", record.source_location())
    a.assign(record.reshaped(written, a.shape))


# From several arrays


def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> ndarray:
    """For each element, that of the array of `choices` whose number it is. See `numpy.choose`."""
    mode = _mode(mode)
    if isinstance(choices, ndarray):
        choices = [getitem(choices, k) for k in range(choices.shape[0])]
    choices = list(choices)
    number = record.as_array(a, next((c.device for c in choices if isinstance(c, ndarray)), None))
    if not choices:
        raise ValueError("0-length sequence.")
    if not numpy.can_cast(number.dtype, INT64, "safe"):
        raise TypeError(f"Cannot cast array data from {number.dtype!r} to {INT64!r} according to the rule 'safe'")
    choices = [c if type(c) in _PYTHON_NUMBERS else record.as_array(c, number.device) for c in choices]
    dtype = dtypes.check(numpy.result_type(*(c if type(c) in _PYTHON_NUMBERS else c.dtype for c in choices)))
    with numpy.errstate(all="ignore"):
        arrays = [
            c if isinstance(c, ndarray) else record.as_array(numpy.asarray(c).astype(dtype), number.device)
            for c in choices
        ]
    shape = layout.broadcast_shapes(number.shape, *(c.shape for c in arrays))
    index = _MODES[mode](graph.cast(number.value(), INT64), len(arrays))
    if mode == "raise" and 0 not in shape:
        # As unsigned numbers negative ones are the greatest.
        unsigned = graph.cast(record.reshaped(index, (number.size,)), _UINT64)
        if to_host(wrap(graph.reduce("maximum", (_UINT64, _UINT64), (0,), (unsigned,)))) >= len(arrays):
            raise ValueError("invalid entry in choice array")
    numbers = wrap(graph.fresh(index))
    result = arrays[-1]
    for k in range(len(arrays) - 2, -1, -1):
        here = record.elementwise("equal", (numbers, k))
        result = record.elementwise("where", (here, arrays[k], result), (BOOL, dtype, dtype, dtype))
    if len(arrays) == 1:
        result = wrap(graph.fresh(graph.broadcast(graph.cast(result.value(), dtype), shape)))
    if out is None:
        return result
    into = output(out)
    if into.shape != result.shape:
        raise TypeError("choose: invalid shape for output array.")
    return write(into, result.value())


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> ndarray:
    """The values of functions, or constants, each where its condition is true. See `numpy.piecewise`."""
    x = record.as_array(x, condlist.device if isinstance(condlist, ndarray) else None)
    single = is_scalar(condlist) if isinstance(condlist, ndarray) else numpy.isscalar(condlist)
    if single or (not _is_list(condlist[0]) and x.ndim):
        condlist = [condlist]
    conditions = [_truth(record.as_array(c, x.device)) for c in condlist]
    n = len(conditions)
    if n == len(funclist) - 1:
        other = conditions[0]
        for condition in conditions[1:]:
            other = record.elementwise("logical_or", (other, condition))
        conditions.append(record.elementwise("logical_not", (other,)))
    elif n != len(funclist):
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    result = boxed(wrap(graph.fill(graph.typed_scalar(0, x.dtype), x.shape, x.queue)))
    for condition, function in zip(conditions, funclist, strict=True):
        if callable(function):
            chosen = getitem(x, condition)
            if chosen.size:
                setitem(result, condition, function(chosen, *args, **kw))
        else:
            setitem(result, condition, function)
    return result


def _is_list(x: Any) -> bool:
    """Whether it is a list or an array, as NumPy would have it: the elements of ours are not."""
    return isinstance(x, (list, numpy.ndarray)) or (isinstance(x, ndarray) and not is_scalar(x))


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
    plain = [c if type(c) in _PYTHON_NUMBERS else record.as_array(c) for c in choices]
    try:
        types = [c if type(c) in _PYTHON_NUMBERS else c.dtype for c in plain]
        dtype = dtypes.check(numpy.result_type(*types))
    except TypeError as error:
        raise TypeError(f"Choicelist and default value do not have a common dtype: {error}") from None
    loop = (BOOL, dtype, dtype, dtype)
    result = plain[-1]
    if type(result) in _PYTHON_NUMBERS:  # any number will do where nothing is chosen: -1 of an unsigned dtype too
        with numpy.errstate(all="ignore"):
            result = numpy.asarray(result).astype(dtype)[()]
    for condition, choice in zip(reversed(conditions), reversed(plain[:-1]), strict=True):
        result = record.elementwise("where", (condition, choice, result), loop)
    return result
