"""The elements of an array one by one: iteration, `flat`, `item`, `tolist`, `fill`; and diagonals."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import partial
from itertools import islice
from math import prod
from types import NoneType
from typing import Any, Literal

import numpy

from ...core.errors import OnHostError
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout
from ...core.graph.node import Node
from ...core.recording import record, residence
from ...core.recording.array import (
    MADE_AS_ARRAY,
    READ_ONLY,
    as_class,
    host_only_memory,
    is_scalar,
    make_view,
    memory_on_host,
    ndarray,
    one_step,
    owner_of,
    to_host,
    wrap,
)
from ...core.recording.overlap import overlaps
from ...core.source_location import call_for_user
from ..fallback import OWN_FUNCTIONS, WRITE_TO_OVERLAP, host_fallback, on_host
from ..host_call import HostCall
from ..iterators import IteratorMeta
from ..ufuncs.output import in_place, is_writable_array
from .getitem import cast_integer, diagonal_layout, getitem, node_to_assign, setitem, value_node

__all__ = ["diagonal", "fill_diagonal"]


def flattened(a: Any, like: ndarray | None = None) -> ndarray:
    """Return the elements in C order in one dimension: a view if strides allow it, else a copy.

    Host data goes to the device of `like`.
    """
    a = record.as_array(a, None if like is None else like.device)
    if len(a.shape) == 1:
        return a
    shape, strides, offset = a.layout
    flat_strides = layout.reshape_strides(shape, strides, (a.size,))
    if flat_strides is not None:
        return make_view(a, Layout((a.size,), flat_strides, offset))
    return wrap(graph.as_new_node(record.reshaped(a.value(), (a.size,))))


def flat_values(values: Any, target: ndarray, casting: Literal["safe", "unsafe"] = "unsafe") -> Node:
    """Return values to write into an array, in its dtype and in one dimension.

    Scalars and sequences are converted as in an assignment. Raise `TypeError` if the dtype of an array of values cannot
    be cast under the rule.
    """
    is_given_as_array = isinstance(values, numpy.ndarray) or is_writable_array(values)
    if is_given_as_array and not numpy.can_cast(values.dtype, target.dtype, casting):
        raise TypeError(
            f"Cannot cast array data from {values.dtype!r} to {target.dtype!r} according to the rule {casting!r}"
        )
    given = node_to_assign(cast_integer(values, target.dtype), target.dtype, target.queue)
    node = record.cast_with_warning(given, target.dtype)
    if node.signature.queue is None:
        return graph.fill(node, (1,), target.queue)
    return record.reshaped(node, (prod(node.signature.shape),))


def iterate(a: ndarray) -> Iterator[ndarray]:
    """Return an iterator over ``a[i]`` for every i."""
    if not a.shape:
        if a._flags & MADE_AS_ARRAY:
            raise TypeError("iteration over a 0-d array")
        raise TypeError(f"'numpy.{a.dtype.type.__name__}' object is not iterable")
    memory = memory_on_host(a)
    if memory is not None and type(a) is ndarray:
        if memory.ndim == 1 and memory.dtype == object:
            return iter(memory)
        if not residence.is_auto() or memory.dtype not in residence.DTYPES:
            call = HostCall()
            return map(call.from_host, call.to_host(a))
    if type(a) is not ndarray:
        return (a.__getitem__(k) for k in range(a.shape[0]))  # type: ignore[index]
    return map(partial(operator.getitem, a), range(a.shape[0]))  # type: ignore[arg-type]


def fill(a: ndarray, value: Any, /) -> None:
    """Write one value to all elements. See `numpy.ndarray.fill`."""
    new_value = record.cast_with_warning(value_node(value, a, is_element=True), a.dtype)
    if not is_scalar(a):  # a 0-d result is immutable, as NumPy's scalars are
        a.assign(new_value)


def item(a: ndarray, *args: Any) -> Any:
    """Return an element as a Python scalar. See `numpy.ndarray.item`."""
    memory = memory_on_host(a)
    if memory is not None:
        return memory.item(*args)
    if len(args) == 1 and isinstance(args[0], tuple):
        (args,) = args
    if not args:
        if a.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return to_host(a).item()
    if len(args) not in (1, a.ndim):
        raise ValueError("incorrect number of indices for array")
    if any(isinstance(position, (bool, numpy.bool)) for position in args):
        raise TypeError("an integer is required")
    positions = tuple(map(operator.index, args))
    if len(args) != a.ndim:
        (position,), size = positions, a.size
        if not -size <= position < size:
            raise IndexError(f"index {position} is out of bounds for size {size}")
        positions = tuple(int(k) for k in numpy.unravel_index(position % size, a.shape))
    return to_host(getitem(a, positions)).item()


def tolist(a: ndarray) -> Any:
    """Return the elements as nested lists of Python scalars. See `numpy.ndarray.tolist`."""
    return to_host(a).tolist()


class flatiter(metaclass=IteratorMeta):
    """``a.flat``: the elements of an array in C order, to read, write and iterate over. See `numpy.flatiter`."""

    numpy_class = numpy.flatiter
    __module__ = "gpunumpy"

    def __init__(self, a: ndarray) -> None:
        """Start before the first element of `a`."""
        self.base = a
        self._array: Any = a if type(a) is ndarray else as_class(a, ndarray, None)
        self._size = a.size
        self._position = 0
        self._flat: Any = None  # a view in one dimension, once there is an iteration, and if there can be one
        # Of an array on the host its memory and NumPy's iterator, whose position then counts, once there is one.
        self._memory: Any = None
        self._by_numpy: Any = None

    @property
    def index(self) -> int:
        """The number of elements iterated over so far."""
        return self._position if self._by_numpy is None else int(self._by_numpy.index)

    @property
    def coords(self) -> tuple[int, ...]:
        """The index of the next element."""
        return self._coords_of(self.index)

    def _coords_of(self, position: int) -> tuple[int, ...]:
        coords: list[int] = []
        for n in reversed(self._array.shape[1:]):
            position, k = divmod(position, n or 1)
            coords.append(k)
        return (position, *reversed(coords)) if self._array.shape else ()

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        """Return an iterator over the elements that are left."""
        by_numpy = self._iterator_of_numpy()
        if by_numpy is None:
            return self
        return by_numpy if host_only_memory(self._array) is not None else self._while_on_host(by_numpy)

    def _while_on_host(self, by_numpy: Any) -> Iterator[Any]:
        """Yield the elements by NumPy's iterator, and if the array leaves the host meanwhile the rest from there."""
        owner = owner_of(self._array)
        storage = owner._base
        for element in by_numpy:
            yield element
            if owner._base is not storage:
                break
        while self.index < self._size:
            yield self.__next__()

    def __next__(self) -> Any:
        by_numpy = self._iterator_of_numpy()
        if by_numpy is not None:
            return next(by_numpy)
        position = self._position
        if position >= self._size:
            raise StopIteration
        if self._flat is None and self._array.c_contiguous:
            self._flat = self._array.reshape(-1)
        self._position = position + 1
        return self._array[self._coords_of(position)] if self._flat is None else self._flat[position]

    def _iterator_of_numpy(self) -> Any:
        """Return NumPy's iterator over the memory of an array on the host, which has this position; None of others."""
        memory = memory_on_host(self._array)
        if memory is not self._memory:
            self._position, self._memory = self.index, memory
            self._by_numpy = memory.flat if isinstance(memory, numpy.ndarray) else None
            if self._by_numpy is not None:
                next(islice(self._by_numpy, self._position, self._position), None)
        return self._by_numpy

    def copy(self) -> ndarray:
        """Return the elements as a new array."""
        return flatiter(self.base)[:]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return to_host(self.copy()).astype(dtype or self._array.dtype, copy=False)

    def __getitem__(self, key: Any) -> ndarray:
        key = self._valid_key(key)
        if not _selects_several(key):
            return self._array[self._coords_of(key % self._size)]
        memory = memory_on_host(self._array)
        if memory is not None:
            part = memory.flat[to_host(key) if isinstance(key, ndarray) else key]
            return self._of_class(residence.result_on_host(part, self._array.device))
        part = getitem(flattened(self._array), key)
        if part._base is not None:  # always a copy, as in NumPy
            part = wrap(graph.as_new_node(part.value()))
        return self._of_class(part)

    def _of_class(self, elements: ndarray) -> ndarray:
        """Return elements as an array of the class of the array."""
        base = self.base
        return elements if type(base) is ndarray else as_class(elements, type(base), base)

    def __delitem__(self, key: Any) -> None:
        raise TypeError("Cannot delete iterator elements")

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, tuple) and not key:
            call_for_user(numpy.zeros(1).flat.__setitem__, key, 0)  # an error since NumPy 2.4
        key = self._valid_key(key)
        if _selects_several(key) or overlaps(self._array):
            self._write(key, value._data if record.is_masked_class(type(value)) else value)
            return
        try:
            self._write(key, value)
        except (OverflowError, TypeError) as error:
            raise ValueError("Error setting single item of array.") from error

    def _write(self, key: Any, value: Any) -> None:
        """Write to what a valid key selects. NumPy casts values of the dtypes that no kernel computes: texts, dates."""
        try:
            self._write_numbers(key, value)
        except OnHostError:
            if host_fallback() == "error":
                raise
            _set_on_host(self._array, key, value)

    def _write_numbers(self, key: Any, value: Any) -> None:
        base = self._array
        if memory_on_host(base) is not None:
            if _selects_several(key):
                _set_on_host(base, key, value)
            else:
                base[self._coords_of(key % self._size)] = value
            return
        if overlaps(base):
            _set_overlapping(base, key, value)
            return
        positions = (
            getitem(record.as_array(numpy.arange(base.size), base.device), key) if _selects_several(key) else None
        )
        if positions is not None:
            # Too few values are repeated; of too many the last are left out.
            values = wrap(flat_values(value, base))
            if not values.size:
                return
            value_numbers = record.elementwise("remainder", (_element_numbers(positions), values.size))
            value = getitem(values, value_numbers)
        with one_step(base):
            flat = flattened(base)
            is_view = flat is base or flat._base is not None
            if not is_view:
                flat = wrap(graph.as_new_node(flat.value()))
            setitem(flat, key, value)
            if not is_view:
                base.assign(record.reshaped(flat.value(), base.shape))

    def __lt__(self, other: Any) -> Any:
        return self[:] < other

    def __le__(self, other: Any) -> Any:
        return self[:] <= other

    def __eq__(self, other: Any) -> Any:
        return self[:] == other

    def __ne__(self, other: Any) -> Any:
        return self[:] != other

    def __gt__(self, other: Any) -> Any:
        return self[:] > other

    def __ge__(self, other: Any) -> Any:
        return self[:] >= other

    __hash__ = None  # type: ignore[assignment]

    def _valid_key(self, key: Any) -> Any:
        """Return the key without a tuple around it, and begin again, as NumPy does.

        NumPy's iterator decides about keys that are no integers, slices or arrays of this package.
        """
        if isinstance(key, tuple) and len(key) == 1:
            (key,) = key
        if isinstance(key, ndarray) and not key.shape and key.dtype.kind in "iu":
            key = int(to_host(key))
        kind = numpy.asarray(key).dtype.kind if isinstance(key, (list, numpy.ndarray)) else "i"
        if kind not in "iu" or isinstance(key, _DECIDED_BY_NUMPY):
            found = call_for_user(numpy.arange(self._size).flat.__getitem__, key)
            key = int(found) if not numpy.ndim(found) else found
        self._position, size = 0, self._size
        if self._by_numpy is not None:
            self._by_numpy.__getitem__(slice(0))
        if isinstance(key, (int, numpy.integer)) and not isinstance(key, bool) and not -size <= key < size:
            raise IndexError(f"index {key} is out of bounds for size {size}")
        return key


# Keys that NumPy's iterators refuse or warn of.
_DECIDED_BY_NUMPY = (bool, numpy.bool, float, complex, str, tuple, NoneType)


def _set_by_numpy(a: Any, key: Any, value: Any) -> None:
    a.flat[key] = value


_set_on_host = on_host(_set_by_numpy, "")
_set_overlapping = on_host(_set_by_numpy, WRITE_TO_OVERLAP)


def _selects_several(key: Any) -> bool:
    """Return True unless a key of one dimension is an integer."""
    return not isinstance(key, (int, numpy.integer))


def _element_numbers(like: ndarray) -> ndarray:
    """Return the position in C order of every element of an array."""
    return wrap(graph.as_new_node(graph.iota(like.shape, 0, like.queue)))


OWN_FUNCTIONS["numpy.flatiter"] = flatiter


def get_flat(a: ndarray) -> flatiter:
    """Return ``a.flat``."""
    return flatiter(a)


def set_flat(a: ndarray, value: Any) -> None:
    """Write values to ``a.flat``, repeated in order until the array is full."""
    flatiter(a)[:] = value


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    """Return a read-only view of a diagonal, or of the diagonal of every matrix of a stack. See `numpy.diagonal`."""
    if not isinstance(a, ndarray):
        array: Any = record.placed_array(a)
        return array.diagonal(offset, axis1, axis2)
    offset = operator.index(offset)
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
    if len(shape) > 2 and len(set(shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    # With `wrap`, the diagonal of a tall matrix starts again below its end, with one row left out between.
    starts_again = wrap and len(shape) == 2 and shape[0] > shape[1]
    count = -(-a.size // (shape[1] + 1)) if starts_again else min(shape)
    values = _repeated_values(val, count, a)
    if isinstance(values, ndarray) and not values.size:
        return
    if not starts_again:
        setitem(make_view(a, Layout((count,), (sum(strides),), start)), slice(None), values)
        return
    with one_step(a):
        target = flattened(a)
        setitem(target, slice(None, None, shape[1] + 1), values)
        if target._base is None:
            a.assign(record.reshaped(target.value(), shape))


def _repeated_values(value: Any, count: int, like: ndarray) -> Any:
    """Return the values in one dimension, repeated in order up to `count` of them; a scalar as it is."""
    if isinstance(value, (bool, int, float, complex, numpy.generic)):
        return cast_integer(value, like.dtype)
    values = wrap(flat_values(value, like))
    if values.size <= 1:
        return values
    return getitem(values, numpy.arange(count) % values.size)
