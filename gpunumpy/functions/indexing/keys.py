"""Index expressions: what ``a[key]`` selects, told from the shape and the key alone.

Integers, slices, ``newaxis`` and ``...`` only move the window that an array looks through. Index arrays and masks
("fancy" indices) pick elements of that window.
"""

from __future__ import annotations

from types import EllipsisType, NoneType
from typing import Any, NamedTuple

import numpy

from ...core.graph.layout import Layout, Shape
from ...core.recording.array import is_scalar, ndarray, to_host

INVALID = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
    "indices"
)
NOT_INTEGER = "arrays used as indices must be of integer (or boolean) type"


class Fancy(NamedTuple):
    """An array (ours, or NumPy's) that indexes dimension `axis` of the window, or a mask of that one and the next."""

    axis: int
    index: Any

    @property
    def mask(self) -> bool:
        return bool(self.index.dtype.kind == "b")


class Selection(NamedTuple):
    """What a key selects: elements of a window, by fancy indices.

    With `front`, the dimensions of the index arrays come first in the result, because other indices stand between
    them; otherwise they take the place of the dimensions that they index.
    """

    window: Layout
    fancy: tuple[Fancy, ...]
    front: bool


def words(shape: Shape) -> str:
    """A shape as NumPy's messages have it."""
    return "(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def out_of_bounds(index: int, axis: int, size: int) -> IndexError:
    return IndexError(f"index {index} is out of bounds for axis {axis} with size {size}")


def too_many(ndim: int, used: int) -> IndexError:
    return IndexError(f"too many indices for array: array is {ndim}-dimensional, but {used} were indexed")


def basic(where: Layout, key: Any) -> Layout | None:
    """The window of a key of plain integers, slices, ``None`` and ``...``; None for any other key."""
    if type(key) is int and where.shape and 0 <= key < where.shape[0]:
        shape, strides, offset = where
        return Layout(shape[1:], strides[1:], offset + key * strides[0])
    if type(key) is not tuple:
        key = (key,)
    used = dots = 0
    for item in key:
        kind = type(item)
        if kind is slice or kind is int or isinstance(item, numpy.integer):
            used += 1
        elif kind is EllipsisType:
            dots += 1
        elif item is not None:
            return None
    return _window(where, key, used, dots)


def _window(where: Layout, key: tuple[Any, ...], used: int, dots: int) -> Layout:
    """The window of a key whose items, `used` dimensions of them, are all basic."""
    old_shape, old_strides, offset = where
    ndim = len(old_shape)
    if used > ndim:
        raise too_many(ndim, used)
    if dots > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    shape: list[int] = []
    strides: list[int] = []
    axis = 0
    for item in key:
        if type(item) is slice:
            start, stop, by = item.indices(old_shape[axis])
            step = old_strides[axis]
            count = stop - start if by == 1 else len(range(start, stop, by))
            if count > 0:
                offset += start * step
                shape.append(count)
            else:
                shape.append(0)
            strides.append(step * by)
            axis += 1
        elif item is None:
            shape.append(1)
            strides.append(0)
        elif item is Ellipsis:
            stop = axis + ndim - used
            shape += old_shape[axis:stop]
            strides += old_strides[axis:stop]
            axis = stop
        else:
            size, index = old_shape[axis], item.__index__()
            if not -size <= index < size:
                raise out_of_bounds(index, axis, size) if -(2**63) <= index < 2**63 else IndexError(INVALID)
            offset += (index + size if index < 0 else index) * old_strides[axis]
            axis += 1
    if axis < ndim:
        shape += old_shape[axis:]
        strides += old_strides[axis:]
    return Layout(tuple(shape), tuple(strides), offset)


def select(where: Layout, key: Any, read: bool) -> Selection:
    """What any key selects; `read` says whether the result may have to be a view."""
    items = [_plain(item) for item in (key if type(key) is tuple else (key,))]
    ndim = len(where.shape)
    arrays = [item for item in items if _fancy(item)]
    used = sum(map(_consumed, items))
    single = used == ndim and not any(isinstance(item, (slice, EllipsisType, NoneType)) for item in items)
    if read and not single and all(isinstance(a, ndarray) and is_scalar(a) for a in arrays):
        # Where a result that acts as a NumPy scalar gives a view, it has to be known which one.
        items = [int(to_host(item)) if isinstance(item, ndarray) else item for item in items]
    elif single or not read:
        # A 0-d array too, though NumPy makes a copy where an integer would give a view.
        items = [int(i) if isinstance(i, numpy.ndarray) and not i.shape and i.dtype.kind != "b" else i for i in items]
    if used > ndim:
        raise too_many(ndim, used)
    window_key: list[Any] = []
    fancy: list[Fancy] = []
    places: list[int] = []  # of integers and index arrays in the key, for what stands between them
    axis = source = 0
    for place, item in enumerate(items):
        count = ndim - used if item is Ellipsis else _consumed(item)
        if _fancy(item):
            width = count
            if count == 0:
                # A truth value picks its one row, or none, of a new dimension.
                window_key.append(None)
                item, width = numpy.zeros(1 if item else 0, numpy.int64), 1
            else:
                _check_mask(item, where.shape, source)
                window_key += [slice(None)] * count
            fancy.append(Fancy(axis, item))
            axis += width
        else:
            window_key.append(item)
            if not isinstance(item, int):
                axis += 1 if item is None else count
        if _fancy(item) or isinstance(item, int):
            places.append(place)
        source += count
    window = _window(where, tuple(window_key), used, sum(item is Ellipsis for item in items))
    front = bool(places) and places[-1] - places[0] + 1 != len(places)
    return Selection(window, tuple(fancy), front)


def _fancy(item: Any) -> bool:
    return isinstance(item, (ndarray, numpy.ndarray))


def _consumed(item: Any) -> int:
    """How many dimensions an item of a key indexes."""
    if item is None or item is Ellipsis:
        return 0
    if _fancy(item) and item.dtype.kind == "b":
        return len(item.shape)
    return 1


def _plain(item: Any) -> Any:
    """An item of a key as an integer, slice, ``None``, ``...``, an array of integers or a mask."""
    if item is None or isinstance(item, (slice, EllipsisType)):
        return item
    if isinstance(item, (bool, numpy.bool_)):
        return numpy.asarray(bool(item))
    if isinstance(item, (int, numpy.integer)):
        return int(item)
    if isinstance(item, ndarray):
        kind = item.dtype.kind
        if kind not in "iub":
            raise IndexError(NOT_INTEGER)
        # A truth value decides the shape of the result, so it is looked at.
        return numpy.asarray(bool(item)) if kind == "b" and not item.shape else item
    if isinstance(item, (numpy.ndarray, list, tuple)):
        made = numpy.asarray(item)
        if not isinstance(item, numpy.ndarray) and made.size == 0:
            made = made.astype(numpy.int64)
        if made.dtype.kind not in "iub":
            raise IndexError(NOT_INTEGER if isinstance(item, numpy.ndarray) else INVALID)
        return made
    try:
        return item.__index__()
    except (AttributeError, TypeError):
        pass
    if hasattr(item, "__array__"):
        return _plain(numpy.asarray(item))
    raise IndexError(INVALID)


def _check_mask(index: Any, shape: Shape, axis: int) -> None:
    """Refuse a mask that has not the sizes of the dimensions that it indexes; as in NumPy, any may be 0."""
    if index.dtype.kind != "b":
        return
    for k, (have, want) in enumerate(zip(index.shape, shape[axis:], strict=False), axis):
        if have not in (want, 0):
            raise IndexError(
                f"boolean index did not match indexed array along axis {k}; size of axis is {want} "
                f"but size of corresponding boolean axis is {have}"
            )
