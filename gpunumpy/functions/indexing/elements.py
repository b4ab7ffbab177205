"""The elements of an array one by one: iteration, `flat`, `item`, `tolist`, `fill`; and diagonals."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy

from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout
from ...core.recording import record
from ...core.recording.array import BOX, READ_ONLY, is_scalar, make_view, ndarray, to_host, wrap
from ..ufuncs.output import in_place
from .getitem import cast, diagonal_layout, getitem, setitem, stored
from .keys import INVALID

__all__ = ["diagonal", "fill_diagonal"]


def flattened(a: Any, like: ndarray | None = None) -> ndarray:
    """The elements in C order in one dimension: a view where there is one. Host data goes where `like` is."""
    a = record.as_array(a, None if like is None else like.device)
    if len(a.shape) == 1:
        return a
    shape, strides, offset = a.layout
    flat = layout.reshape_strides(shape, strides, (a.size,))
    if flat is not None:
        return make_view(a, Layout((a.size,), flat, offset))
    return wrap(graph.fresh(record.reshaped(a.value(), (a.size,))))


def iterate(a: ndarray) -> Iterator[ndarray]:
    """``iter(a)``: what ``a[i]`` is, for every i."""
    if not a.shape:
        if a._flags & BOX:
            raise TypeError("iteration over a 0-d array")
        raise TypeError(f"'numpy.{a.dtype.type.__name__}' object is not iterable")
    return (getitem(a, k) for k in range(a.shape[0]))


def fill(a: ndarray, value: Any) -> None:
    """Write one value to all elements. See `numpy.ndarray.fill`."""
    new = cast(stored(value, a.dtype, a.queue, element=True), a.dtype)
    if not is_scalar(a):  # which does not change, as NumPy's do not
        a.assign(new)


def item(a: ndarray, *args: Any) -> Any:
    """An element as a Python scalar. See `numpy.ndarray.item`."""
    if len(args) == 1 and isinstance(args[0], tuple):
        (args,) = args
    if not args:
        if a.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return to_host(a).item()
    if len(args) == 1 and len(a.shape) != 1:
        size = a.size
        position = args[0].__index__()
        if not -size <= position < size:
            raise IndexError(f"index {position} is out of bounds for size {size}")
        args = tuple(int(k) for k in numpy.unravel_index(position % size, a.shape))
    if len(args) != len(a.shape):
        raise ValueError("incorrect number of indices for array")
    return to_host(getitem(a, args)).item()


def tolist(a: ndarray) -> Any:
    """The elements as nested lists of Python scalars."""
    return to_host(a).tolist()


class Flat:
    """``a.flat``: the elements of an array in C order, to read, write and run over."""

    def __init__(self, a: ndarray) -> None:
        self.base = a
        self._next = 0

    @property
    def index(self) -> int:
        """How many elements were run over."""
        return self._next

    @property
    def coords(self) -> tuple[int, ...]:
        """The index of the element that comes next."""
        shape = self.base.shape
        if self._next >= self.base.size:
            return (shape[0], *(0 for _ in shape[1:])) if shape else ()
        return tuple(int(k) for k in numpy.unravel_index(self._next, shape))

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Flat:
        return self

    def __next__(self) -> ndarray:
        if self._next >= self.base.size:
            raise StopIteration
        found = getitem(flattened(self.base), self._next)
        self._next += 1
        return found

    def copy(self) -> ndarray:
        """The elements as a new array."""
        return wrap(graph.fresh(flattened(self.base).value()))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return to_host(self.copy()).astype(dtype or self.base.dtype, copy=False)

    def __getitem__(self, key: Any) -> ndarray:
        found = getitem(flattened(self.base), self._checked(key))
        # A copy always: writes to it are not seen by the array.
        return found if found._base is None else wrap(graph.fresh(found.value()))

    def __setitem__(self, key: Any, value: Any) -> None:
        base = self.base
        key = self._checked(key)
        flat = flattened(base)
        mine = flat is base or flat._base is not None
        if not mine:
            flat = wrap(graph.fresh(flat.value()))
        chosen = getitem(record.as_array(numpy.arange(flat.size), base.device), key) if _many(key) else None
        if chosen is not None:
            # Too few values are taken again and again, too many are left out.
            given = flattened(value, base)
            if not given.size:
                return
            order = record.elementwise("remainder", (_count(chosen), given.size))
            value = getitem(given, order)
        setitem(flat, key, value)
        if not mine:
            base.assign(record.reshaped(flat.value(), base.shape))

    def _checked(self, key: Any) -> Any:
        if isinstance(key, tuple) and len(key) == 1:
            (key,) = key
        if isinstance(key, tuple):
            raise IndexError("unsupported iterator index")
        if isinstance(key, (float, complex, str)):
            raise IndexError(INVALID)
        size = self.base.size
        if isinstance(key, (int, numpy.integer)) and not isinstance(key, bool) and not -size <= key < size:
            raise IndexError(f"index {key} is out of bounds for size {size}")
        return key


def _many(key: Any) -> bool:
    return not isinstance(key, (int, numpy.integer))


def _count(like: ndarray) -> ndarray:
    return wrap(graph.fresh(graph.iota(like.shape, 0, like.queue)))


def flat_of(a: ndarray) -> Flat:
    """The attribute `flat`."""
    return Flat(a)


def set_flat(a: ndarray, value: Any) -> None:
    """``a.flat = value``: values again and again from the first one, until the array is full."""
    Flat(a)[:] = value


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    """A read-only view of a diagonal, or of that of every matrix of a stack. See `numpy.diagonal`."""
    a, offset = record.as_array(a), operator.index(offset)
    if len(a.shape) < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    axis1, axis2 = (layout.normalize_axis(axis, len(a.shape)) for axis in (axis1, axis2))
    if axis1 == axis2:
        raise ValueError("axis1 and axis2 cannot be the same")
    view = make_view(a, diagonal_layout(a.layout, offset, axis1, axis2))
    view._flags |= READ_ONLY
    return view


@in_place
def fill_diagonal(a: ndarray, val: Any, wrap: bool = False) -> None:
    """Write to the main diagonal, where all indices are equal. See `numpy.fill_diagonal`."""
    shape, strides, start = a.layout
    if len(shape) < 2:
        raise ValueError("array must be at least 2-d")
    if len(shape) == 2:
        rows, columns = shape
        # With `wrap`, the diagonal of a tall matrix begins again below the last one and a row left out.
        if wrap and rows > columns:
            whole = -(-a.size // (columns + 1))
            target = flattened(a)
            setitem(target, slice(None, None, columns + 1), _cycled(val, whole, a))
            if target._base is None:
                a.assign(record.reshaped(target.value(), shape))
            return
    elif len(set(shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    count = min(shape)
    setitem(make_view(a, Layout((count,), (sum(strides),), start)), slice(None), _cycled(val, count, a))


def _cycled(value: Any, count: int, like: ndarray) -> Any:
    """The values in one dimension, again and again from the first one, `count` of them."""
    if isinstance(value, (bool, int, float, complex, numpy.generic)):
        return value
    given = flattened(value, like)
    if given.size == 1:
        return given
    return getitem(given, numpy.arange(count) % max(1, given.size))
