"""Other shapes, axis orders and dtypes of the same elements: views wherever NumPy gives views."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import lru_cache
from inspect import isclass
from math import prod
from typing import Any

import numpy

from ...core import dtypes
from ...core.arguments import copy_mode, is_copied, is_set, memory_order
from ...core.errors import OnHostError
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout, Shape, normalize_axes, normalize_axis
from ...core.graph.node import Node
from ...core.recording.array import (
    ORDERED,
    READ_ONLY,
    as_class,
    host_only_memory,
    is_scalar,
    make_view,
    memory_on_host,
    ndarray,
    on_host_memory,
    owner_of,
    scalar_of,
    wrap,
)
from ...core.recording.record import as_array, cast_with_warning, is_masked_array, placed_array
from ...core.recording.residence import DTYPES, host_bytes, result_on_host
from ..creation.arrays import array_in_memory_order, as_shape, asarray, axes_in_memory, is_in_order
from .same_value import check_values_fit

__all__ = [
    "astype",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_to",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "isfortran",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "ravel",
    "reshape",
    "rollaxis",
    "rot90",
    "squeeze",
    "swapaxes",
    "transpose",
]


def array_in_shape(node: Node, shape: Shape) -> ndarray:
    """Return the elements of a value, computed in C order, in another shape of the same size."""
    owner = array_in_memory_order(node, None)
    if shape == owner.shape:
        return owner
    view = make_view(owner, Layout(shape, layout.c_strides(shape), 0))
    view._flags |= ORDERED
    return view


def isfortran(a: Any) -> bool:
    """Return whether an array is contiguous in Fortran order and not in C order. See `numpy.isfortran`."""
    return bool(a.flags.fnc)


# --- reshape ---------------------------------------------------------------------------------------------------------


def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> ndarray:
    """Return the elements in another shape: a view if strides allow it. See `numpy.reshape`."""
    x = as_array(a)
    return scalar_of(reshaped(x, new_shape(x, shape), order, copy), x)


def new_shape(x: ndarray, shape: Any) -> Shape:
    """Return a shape for the elements of an array as a tuple: its own for None."""
    return x.shape if shape is None else as_shape_with_unknown(shape, x.size)


def as_shape_with_unknown(shape: Any, size: int) -> Shape:
    """Return a shape for `size` elements as a tuple; one of the given dimensions may be -1."""
    if type(shape) is int:
        return _shape_with_unknown((shape,), size)
    if type(shape) is tuple and _EXACT.issuperset(map(type, shape)):
        return _shape_with_unknown(shape, size)
    if isinstance(shape, (tuple, list)) or numpy.ndim(shape):
        if any(isinstance(n, (bool, numpy.bool)) for n in shape):
            raise TypeError("an integer is required")
        return _shape_with_unknown(tuple(operator.index(n) for n in shape), size)
    return _shape_with_unknown((operator.index(shape),), size)


_EXACT = frozenset((int,))  # no bools, which are equal to integers


@lru_cache(1 << 12)
def _shape_with_unknown(dims: Shape, size: int) -> Shape:
    unknown = [k for k, n in enumerate(dims) if n < 0]
    if len(unknown) > 1:
        raise ValueError("can only specify one unknown dimension")
    known_size = prod(n for n in dims if n >= 0)
    if (size != known_size) if not unknown else (known_size == 0 or size % known_size):
        raise ValueError(f"cannot reshape array of size {size} into shape {_shape_text(dims)}")
    if unknown:
        k = unknown[0]
        dims = (*dims[:k], size // known_size, *dims[k + 1 :])
    return dims


def _shape_text(shape: Shape) -> str:
    """Return a shape as NumPy's messages print it."""
    return "(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def reshaped(x: ndarray, shape: Shape, order: str = "C", copy: bool | None = None) -> ndarray:
    """Return the array in a shape of the same size, its elements read and placed in `order`.

    The result is a view if strides allow it and `copy` is not True.
    """
    old_layout = x.layout
    order, copy = memory_order(order, "C"), copy_mode(copy)
    if order == "K":
        raise ValueError("order 'K' is not permitted for reshaping")
    if order == "A":
        order = "F" if x.f_contiguous and not x.c_contiguous else "C"
    if order == "F":
        in_c_order = reshaped(transpose(x), shape[::-1], "C", copy)
        result = transpose(in_c_order)
        if owner_of(in_c_order) is not owner_of(x):
            result._flags |= ORDERED
        return result
    where = None if copy else layout.reshaped(old_layout, shape)
    if where is not None:
        return make_view(x, where)
    if copy is False:
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return array_in_shape(x.value(), shape)


def ravel(a: Any, order: str = "C") -> ndarray:
    """Return the elements in one dimension: a view if they lie in that order already. See `numpy.ravel`."""
    x, order = as_array(a), memory_order(order, "C")
    if order == "K":
        x, order = _in_memory_order(x), "C"
    in_order = is_in_order(x, order) and (order != "A" or is_in_order(x, "C") or is_in_order(x, "F"))
    return reshaped(x, (x.size,), order, None if in_order else True)


def _in_memory_order(x: ndarray) -> ndarray:
    """Return the view of the array with its axes from slowest to fastest.

    Unlike in a copy of order "K", axes of stride 0 keep their place.
    """
    axes = layout.memory_order([(x.shape, x.layout.strides)], x.ndim)
    return x if axes is None else permuted(x, axes)


def flatten(x: ndarray, order: str = "C") -> ndarray:
    """Return a copy of the elements in one dimension. See `numpy.ndarray.flatten`."""
    order = memory_order(order, "C")
    if order == "K":
        x, order = _in_memory_order(x), "C"
    return reshaped(x, (x.size,), order, True)


# --- order of the axes -----------------------------------------------------------------------------------------------


def permuted(x: ndarray, axes: Sequence[int]) -> ndarray:
    """Return the view whose dimension k is axis ``axes[k]``."""
    return make_view(x, layout.permuted(x.layout, tuple(axes)))


def transpose(a: Any, axes: Any = None) -> ndarray:
    """Return a view with the axes in another order, reversed by default. See `numpy.transpose`."""
    x = as_array(a)
    if axes is None:
        return x if is_scalar(x) else permuted(x, range(x.ndim)[::-1])
    given = axes if isinstance(axes, (tuple, list)) or hasattr(axes, "__iter__") else (axes,)
    return scalar_of(permuted(x, _order_of_axes(tuple(map(operator.index, given)), x.ndim)), x)


@lru_cache(1 << 12)
def _order_of_axes(axes: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    if len(axes) != ndim:
        raise ValueError("axes don't match array")
    order = tuple(normalize_axis(k, ndim) for k in axes)
    if len(set(order)) != len(order):
        raise ValueError("repeated axis in transpose")
    return order


permute_dims = transpose


def matrix_transpose(x: Any, /) -> ndarray:
    """Return a view with the last two axes swapped. See `numpy.matrix_transpose`."""
    x = as_array(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return swapaxes(x, -1, -2)


def matrix_view(x: ndarray) -> ndarray:
    """Return ``x.mT``."""
    if x.ndim < 2:
        raise ValueError("matrix transpose with ndim < 2 is undefined")
    return swapaxes(x, -1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> ndarray:
    """Return a view with two axes swapped. See `numpy.swapaxes`."""
    x = as_array(a)
    order = list(range(x.ndim))
    i, j = (_named_axis(k, x.ndim, name) for k, name in ((axis1, "axis1"), (axis2, "axis2")))
    order[i], order[j] = order[j], order[i]
    return permuted(x, order)


def _named_axis(axis: Any, ndim: int, name: str) -> int:
    """Return the axis counted from the front; an `AxisError` names the argument."""
    position = operator.index(axis)
    if not -ndim <= position < ndim:
        raise numpy.exceptions.AxisError(position, ndim, name)
    return position % ndim


def moveaxis(a: Any, source: Any, destination: Any) -> ndarray:
    """Return a view with some axes moved to other positions. See `numpy.moveaxis`."""
    x = as_array(a)
    start, end = (_named_axes(axes, x.ndim, name) for axes, name in ((source, "source"), (destination, "destination")))
    if len(start) != len(end):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [k for k in range(x.ndim) if k not in start]
    for position, axis in sorted(zip(end, start, strict=True)):
        order.insert(position, axis)
    return permuted(x, order)


def _named_axes(axes: Any, ndim: int, name: str) -> tuple[int, ...]:
    """Return different axes, one or several, counted from the front; errors name the argument."""
    sequence = axes if numpy.iterable(axes) else (axes,)
    normalized = tuple(_named_axis(k, ndim, name) for k in sequence)
    if len(set(normalized)) != len(normalized):
        raise ValueError(f"repeated axis in `{name}` argument")
    return normalized


def rollaxis(a: Any, axis: int, start: int = 0) -> ndarray:
    """Return a view with one axis moved before another. See `numpy.rollaxis`."""
    x = as_array(a)
    n = x.ndim
    axis = normalize_axis(axis, n)
    if start < 0:
        start += n
    if not 0 <= start < n + 1:
        raise numpy.exceptions.AxisError(f"'start' arg requires {-n} <= start < {n + 1}, but {start} was passed in")
    order = [k for k in range(n) if k != axis]
    order.insert(start - 1 if axis < start else start, axis)
    return permuted(x, order)


# --- number of dimensions --------------------------------------------------------------------------------------------


def squeeze(a: Any, axis: Any = None) -> ndarray:
    """Return a view without dimensions of size 1. See `numpy.squeeze`."""
    x = as_array(a)
    shape, strides, offset = x.layout
    if axis in (0, -1, (0,), (-1,)) and not shape:
        axis = ()
    removed = tuple(k for k, n in enumerate(shape) if n == 1) if axis is None else layout.checked_axes(axis, x.ndim)
    if axis is None and not removed:
        return x
    if any(shape[k] != 1 for k in removed):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    kept = [k for k in range(x.ndim) if k not in removed]
    return scalar_of(make_view(x, Layout(tuple(shape[k] for k in kept), tuple(strides[k] for k in kept), offset)), x)


def expand_dims(a: Any, axis: Any) -> ndarray:
    """Return a view with dimensions of size 1 at the positions `axis` of the result. See `numpy.expand_dims`."""
    x = as_array(a)
    given_axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    ndim = x.ndim + len(given_axes)
    new_axes = tuple(normalize_axis(k, ndim) for k in given_axes)
    if len(set(new_axes)) != len(new_axes):
        raise ValueError("repeated axis")
    shape, strides, offset = x.layout
    old_dims = iter(zip(shape, strides, strict=True))
    dims = [(1, 0) if k in new_axes else next(old_dims) for k in range(ndim)]
    return make_view(x, Layout(tuple(n for n, _ in dims), tuple(s for _, s in dims), offset))


def _with_unit_dimensions(x: ndarray, leading: int, trailing: int) -> ndarray:
    """Return a view with dimensions of size 1 before and after the others."""
    shape, strides, offset = x.layout
    return make_view(
        x, Layout((1,) * leading + shape + (1,) * trailing, (0,) * leading + strides + (0,) * trailing, offset)
    )


def _all_at_least(arrays: Sequence[Any], unit_dimensions: dict[int, tuple[int, int]]) -> Any:
    """Return the arrays with dimensions of size 1 added; a single array alone, several in a tuple.

    `unit_dimensions`: how many leading and trailing ones to add, by the number of dimensions that an array has.
    """
    given = [as_array(a) for a in arrays]
    result = tuple(
        _with_unit_dimensions(x, *unit_dimensions[x.ndim]) if x.ndim in unit_dimensions else x for x in given
    )
    return result[0] if len(result) == 1 else result


def atleast_1d(*arys: Any) -> Any:
    """Return arrays with at least one dimension. See `numpy.atleast_1d`."""
    return _all_at_least(arys, {0: (0, 1)})


def atleast_2d(*arys: Any) -> Any:
    """Return arrays with at least two dimensions. See `numpy.atleast_2d`."""
    return _all_at_least(arys, {0: (1, 1), 1: (1, 0)})


def atleast_3d(*arys: Any) -> Any:
    """Return arrays with at least three dimensions. See `numpy.atleast_3d`."""
    return _all_at_least(arys, {0: (1, 2), 1: (1, 1), 2: (0, 1)})


# --- broadcasting ----------------------------------------------------------------------------------------------------


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> ndarray:
    """Return a read-only view of the array repeated over a shape. See `numpy.broadcast_to`."""
    x, dims = placed_array(array), as_shape(shape)
    memory = memory_on_host(x)
    if memory is not None and memory.dtype in DTYPES and memory.itemsize * prod(dims) <= host_bytes(x.device):
        shown = numpy.broadcast_to(memory, dims)
        return result_on_host(shown, x.device) if is_scalar(x) else on_host_memory(shown, x.device, owner_of(x))
    old_layout = x.layout
    lead = len(dims) - x.ndim
    if lead < 0 or any(n not in (1, m) for n, m in zip(x.shape, dims[lead:], strict=True)):
        if x.ndim and not dims:
            raise ValueError("cannot broadcast a non-scalar to a scalar array")
        if lead < 0:
            raise ValueError("input operand has more dimensions than allowed by the axis remapping")
        raise ValueError(
            "operands could not be broadcast together with remapped shapes [original->remapped]: "
            f"{_shape_text(x.shape)}  and requested shape {_shape_text(dims)}"
        )
    view = make_view(
        x, Layout(dims, layout.broadcast_strides(old_layout.shape, old_layout.strides, dims), old_layout.offset)
    )
    view._flags |= READ_ONLY
    return view


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[ndarray, ...]:
    """Return the arrays repeated over their common shape, as read-only views. See `numpy.broadcast_arrays`."""
    arrays = [placed_array(a) for a in args]
    try:
        shape = layout.broadcast_shapes(*(x.shape for x in arrays))
    except ValueError:
        numpy.broadcast_shapes(*(x.shape for x in arrays))  # its message names the arguments that do not agree
        raise
    return tuple(x if x.shape == shape else broadcast_to(x, shape) for x in arrays)


# --- direction -------------------------------------------------------------------------------------------------------


def sliced_view(x: ndarray, axis: int, start: int, stop: int, step: int = 1) -> ndarray:
    """Return the view ``x[..., start:stop:step, ...]`` along an axis, with bounds as `slice.indices` returns them."""
    shape, strides, offset = x.layout
    count = len(range(start, stop, step))
    if count:
        offset += start * strides[axis]
    dims = (*shape[:axis], count, *shape[axis + 1 :])
    return make_view(x, Layout(dims, (*strides[:axis], strides[axis] * step, *strides[axis + 1 :]), offset))


def flip(m: Any, axis: Any = None) -> ndarray:
    """Return a view with the elements in reverse order along axes. See `numpy.flip`."""
    x = as_array(m)
    for k in normalize_axes(axis, x.ndim):
        x = sliced_view(x, k, x.shape[k] - 1, -1, -1)
    return x if x is not m else make_view(x, x.layout)


def flipud(m: Any) -> ndarray:
    """Return a view with the elements in reverse order along the first axis. See `numpy.flipud`."""
    x = as_array(m)
    if x.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(x, 0)


def fliplr(m: Any) -> ndarray:
    """Return a view with the elements in reverse order along the second axis. See `numpy.fliplr`."""
    x = as_array(m)
    if x.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(x, 1)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> ndarray:
    """Return a view rotated by quarter turns in the plane of two axes. See `numpy.rot90`."""
    x = as_array(m)
    plane = tuple(axes)
    if len(plane) != 2:
        raise ValueError("len(axes) must be 2.")
    if plane[0] == plane[1] or abs(plane[0] - plane[1]) == x.ndim:
        raise ValueError("Axes must be different.")
    if any(not -x.ndim <= axis < x.ndim for axis in plane):
        raise ValueError(f"Axes={plane} out of range for array of ndim={x.ndim}.")
    first, second = (axis % x.ndim for axis in plane)
    turns = k % 4
    if turns == 0:
        return make_view(x, x.layout)
    if turns == 2:
        return flip(x, (first, second))
    if turns == 1:
        return swapaxes(flip(x, second), first, second)
    return flip(swapaxes(x, first, second), second)


# --- dtype -----------------------------------------------------------------------------------------------------------


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Cast the elements to a dtype. See `numpy.astype`."""
    if not (isinstance(x, (ndarray, numpy.ndarray)) or is_masked_array(x) or numpy.isscalar(x)):
        raise TypeError(f"Input should be a NumPy array or scalar. It is a {type(x)} instead.")
    if type(x) is numpy.ndarray or isinstance(x, numpy.generic):
        x = as_array(x)
    elif not isinstance(x, ndarray):
        return x.astype(dtype, copy=copy)
    result = cast_to(x, dtype, copy=copy)
    return result if device is None else asarray(result, device=device)


def cast_to(
    x: ndarray, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
) -> ndarray:
    """Cast the elements to a dtype. See `numpy.ndarray.astype`."""
    target = dtypes.check(dtype)
    if casting == "same_value":
        check_values_fit(x, target)
    elif casting != "unsafe" and not numpy.can_cast(x.dtype, target, casting):  # type: ignore[arg-type]
        raise TypeError(f"Cannot cast array data from {x.dtype!r} to {target!r} according to the rule '{casting}'")
    order = memory_order(order)
    is_set(subok)  # there are no subclasses to keep
    is_copied_for_order = order == "A" and not (x.c_contiguous or x.f_contiguous)
    if not is_copied(copy) and target == x.dtype and is_in_order(x, order) and not is_copied_for_order:
        return x
    node = cast_with_warning(x.value(), target)
    if is_scalar(x):
        return wrap(graph.as_new_node(node) if node is x.value() else node)
    return array_in_memory_order(node, axes_in_memory(order, x.shape, x.element_strides))


def view_method(x: ndarray, dtype: Any = None, type: Any = None) -> ndarray:
    """Return a view of the same memory, as elements of another dtype or as an array of a class. See `ndarray.view`.

    NumPy makes views of its own classes, such as `recarray`. A class of masked arrays of this package makes one of the
    array, which holds it. The `ndarray` of scripts stands for this package's class.
    """
    dtype, type = (getattr(cls, "stands_for", cls) for cls in (dtype, type))
    if hasattr(dtype if type is None else type, "is_masked_array"):
        cls, dtype = (dtype, None) if type is None else (type, dtype)
        return cls._view_of(x if dtype is None else view_method(x, dtype))
    for cls in (dtype, type):
        if isclass(cls) and issubclass(cls, numpy.ndarray):
            raise OnHostError(f"arrays of the class {cls.__name__} are on the host")
    if type is None and isclass(dtype) and issubclass(dtype, ndarray):  # NumPy takes the class in the place of `dtype`
        dtype, type = None, dtype
    if type is not None and not (isclass(type) and issubclass(type, ndarray)):
        raise ValueError("Type must be a sub-type of ndarray type")
    if dtype is not None and (type is not None or x.__class__ is not ndarray):
        plain: Any = as_class(x, ndarray, None)
        view = plain.view(dtype)  # which may be NumPy's work
    elif dtype is None and memory_on_host(x) is not None:
        view = as_class(x, ndarray, None)
    elif (memory := host_only_memory(x)) is None:
        view = scalar_of(viewed_as_dtype(x, dtype), x)
    else:
        view = on_host_memory(memory.view(dtype), x.device, owner_of(x))
    cls = x.__class__ if type is None else type
    return view if cls is ndarray else as_class(view, cls, x)


def viewed_as_dtype(x: ndarray, dtype: Any = None) -> ndarray:
    """Return a view of the same memory as elements of another dtype, as an array of this package's class."""
    shape, strides = x.shape, x.strides
    wanted = x.dtype if dtype is None else dtypes.from_user(dtype)
    if x.itemsize != wanted.itemsize and wanted.itemsize:  # texts of any length have none
        shape, strides = _resized(shape, strides, x.itemsize, wanted.itemsize)
    target = dtypes.check(wanted)
    if target == x.dtype:
        return make_view(x, x.layout)
    return view_at_bytes(x, shape, strides, 0, target)


def view_at_bytes(x: ndarray, shape: Shape, strides: Shape, offset: int, target: dtypes.DType) -> ndarray:
    """Return a view with strides in bytes that begins `offset` bytes after the first element, of another dtype.

    Raises
    ------
    ValueError
        If elements of that dtype cannot be counted from the beginning of the memory.
    """
    first, new_bytes = x.layout.offset, target.itemsize
    if x._base is None or not x._component:
        unit_bytes = x.itemsize if x._base is None else x._base.itemsize
    else:
        unit_bytes = x.itemsize if x._component == "view" else 2 * x.itemsize
        offset += x.itemsize * (x._component == "imag")
    first_byte = first * unit_bytes + offset
    if 0 in shape:
        return make_view(x, Layout(shape, layout.c_strides(shape), 0), "view", target)
    if first_byte % new_bytes or any(s % new_bytes for n, s in zip(shape, strides, strict=True) if n > 1):
        raise ValueError(f"a view as {target} would begin between two elements of {new_bytes} bytes")
    unit_strides = tuple(s // new_bytes for s in strides)
    return make_view(x, Layout(shape, unit_strides, first_byte // new_bytes), "view", target)


def _resized(shape: Shape, strides: Shape, old_bytes: int, new_bytes: int) -> tuple[Shape, Shape]:
    """Return shape and strides in bytes for elements of `old_bytes` bytes read as elements of `new_bytes` bytes."""
    if not shape:
        raise ValueError("Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
    if shape[-1] > 1 and strides[-1] != old_bytes and 0 not in shape:
        raise ValueError("To change to a dtype of a different size, the last axis must be contiguous")
    if new_bytes < old_bytes and old_bytes % new_bytes:
        raise ValueError("When changing to a smaller dtype, its size must be a divisor of the size of original dtype")
    if new_bytes > old_bytes and shape[-1] * old_bytes % new_bytes:
        raise ValueError(
            "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis "
            "of the array."
        )
    return (*shape[:-1], shape[-1] * old_bytes // new_bytes), (*strides[:-1], new_bytes)
