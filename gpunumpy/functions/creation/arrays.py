"""Creation of arrays: from other data, and of one value."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ...core import dtypes
from ...core.arguments import copy_mode, is_set, memory_order
from ...core.dtypes import DType
from ...core.floating_errors import silent_unless_asked
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout, Shape
from ...core.graph.node import Node
from ...core.graph.queue import Queue
from ...core.recording.array import (
    MADE_AS_ARRAY,
    from_host,
    is_scalar,
    make_view,
    mark_as_array,
    ndarray,
    to_host,
    wrap,
    wrap_ordered,
)
from ...core.recording.between_devices import copied_to
from ...core.recording.chunked import from_chunks
from ...core.recording.record import (
    as_array,
    as_node,
    cast_with_warning,
    check_class,
    holds_arrays,
    leave_function_to_class,
    stacked,
    transposed,
    with_held_arrays,
)
from ...core.recording.residence import given, is_for_host, resident
from ...core.runtime.device import Device, default_device
from ...core.runtime.evaluate import prove, queue_of
from ..indexing.getitem import fit_to_shape
from .like import takes_like

__all__ = [
    "array",
    "asanyarray",
    "asarray",
    "asarray_chkfinite",
    "ascontiguousarray",
    "asfortranarray",
    "copy",
    "empty",
    "empty_like",
    "fromiter",
    "fromstring",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "require",
    "zeros",
    "zeros_like",
]

# Functions that import device arrays of other libraries. `array` tries them in turn on every object that is not an
# `ndarray` of this package; each returns None for an object that it does not know.
DEVICE_ARRAY_IMPORTERS: list[Callable[[Any], ndarray | None]] = []


def imported_array(x: Any) -> ndarray | None:
    """Return an array over the memory of another library's array on a device; None for other objects."""
    return next((result for reader in DEVICE_ARRAY_IMPORTERS if (result := reader(x)) is not None), None)


# --- memory order ----------------------------------------------------------------------------------------------------


def axes_in_memory(order: str | None, shape: Shape, strides: Sequence[int]) -> tuple[int, ...] | None:
    """Return the axes from slowest to fastest for NumPy's `order`, given the strides of a model; None for C order."""
    order = memory_order(order)
    if order != "F" and layout.is_c_contiguous(shape, strides):
        return None
    if order == "A":
        order = "F" if layout.is_f_contiguous(shape, strides) and not layout.is_c_contiguous(shape, strides) else "C"
    if order == "K":
        return layout.copied_order(shape, strides)
    return tuple(reversed(range(len(shape)))) if order == "F" and len(shape) > 1 else None


def array_in_memory_order(node: Node, order: tuple[int, ...] | None) -> ndarray:
    """Return a value as a new array, whose axes lie in memory from slowest to fastest as `order` says."""
    if order is not None:
        node = transposed(node, order)
    return mark_owner_as_array(wrap_ordered(graph.as_new_node(node) if node.owner is not None else node, order))


def mark_owner_as_array(array: ndarray) -> ndarray:
    """Mark the array and its owner as arrays, not 0-d results of an operation, and return the array."""
    if array._base is not None:
        mark_as_array(array._base)
    return mark_as_array(array)


def is_in_order(array: ndarray, order: str | None) -> bool:
    """Return True if the array lies in memory as `order` asks."""
    order = memory_order(order)
    return array.c_contiguous if order == "C" else order != "F" or array.f_contiguous


# --- from other data -------------------------------------------------------------------------------------------------


@takes_like
def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str | None = "K",
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int = 0,
    like: Any = None,
    device: Device | str | int | None = None,
    blocking: bool = True,
) -> ndarray:
    """Make an array of any object that NumPy makes an array of, on a device. See `numpy.array`.

    Parameters
    ----------
    subok : bool
        True refuses NumPy's masked arrays and matrices, since this package has no such classes; False drops the class.
    copy : bool or None
        False raises ValueError if a copy cannot be avoided, as it never can for data that is not on the device yet.
    device : Device, str, int or None
        The device of the result; by default that of an `ndarray`, and the default device for other objects.
    blocking : bool
        Whether `object` may be changed once the call returns. Else a GPU copies NumPy's array in page-locked memory
        (see `empty_pinned`) beside other work, and it must not be changed before that is over: see `asnumpy`.
    """
    target_dtype = None if dtype is None else dtypes.check(dtype)
    target_device = None if device is None else Device(device)
    ndmin, ndmax = _checked_dimensions(ndmin, ndmax)
    copy, order = copy_mode(copy), memory_order(order)
    if subok:
        check_class(object)
    if not isinstance(object, ndarray):
        imported = imported_array(object)
        if imported is None and copy is False:
            numpy.array((), copy=False)  # raises NumPy's error, with its advice
        object = (
            _array_from_host(object, target_dtype, order, ndmax, target_device, bool(copy), blocking)
            if imported is None
            else imported
        )
        if imported is None and copy:
            copy = None  # data from the host has just been copied
    if target_device is not None and object.device is not target_device:
        if copy is False:
            raise ValueError(f"Unable to avoid copy: the array is on {object.device} and is wanted on {target_device}")
        object, copy = copied_to(object, target_device), None
    if target_dtype is None:
        target_dtype = object.dtype
    if ndmax and object.ndim > ndmax and target_dtype != object.dtype:
        raise ValueError("object too deep for desired array")  # NumPy looks at arrays only where they are cast
    if copy or is_scalar(object) or target_dtype != object.dtype or not is_in_order(object, order):
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        object = array_in_memory_order(
            cast_with_warning(object.value(), target_dtype), axes_in_memory(order, object.shape, object.element_strides)
        )
    if object.ndim < ndmin:
        object_layout = object.layout
        leading = ndmin - object.ndim
        object = make_view(
            object,
            Layout((1,) * leading + object_layout.shape, (0,) * leading + object_layout.strides, object_layout.offset),
        )
    return object


def _checked_dimensions(ndmin: Any, ndmax: Any) -> tuple[int, int]:
    """Return the smallest and the largest number of dimensions that are allowed, 0 if there is no largest one."""
    least, most = (operator.index(n) for n in (ndmin, ndmax))
    if not 0 <= most <= layout.MAX_DIMENSIONS:
        raise ValueError(f"ndmax must be in the range [0, NPY_MAXDIMS ({layout.MAX_DIMENSIONS})] ")
    if least > (most or layout.MAX_DIMENSIONS):
        raise ValueError(f"ndmin must be <= ndmax ({most or layout.MAX_DIMENSIONS})")
    return least, most


def _array_from_host(
    x: Any, dtype: DType | None, order: str | None, ndmax: int, device: Device | None, copy: bool, blocking: bool
) -> ndarray:
    """Return an array of an object that is neither an `ndarray` nor on a device.

    `copy` is for the case that the object's ``__array__`` returns an `ndarray`.
    """
    if isinstance(x, (list, tuple)) and holds_arrays(x):
        return stacked(x, dtype, lambda part, on: array(part, dtype if on else None, copy=None, device=on))
    chunked = from_chunks(x, device)
    if chunked is not None:
        return chunked
    options: dict[str, Any] = {"order": order or "K", **({"ndmax": ndmax} if ndmax else {})}
    try:
        with silent_unless_asked():
            data = numpy.array(x, dtype, copy=None, **options)
    except ValueError:
        replaced = with_held_arrays(x)
        if replaced is x:
            raise
        return array(replaced, dtype, copy=copy or None, order=order, ndmax=ndmax)
    dtypes.check(data.dtype)  # of the other byte order too, which `from_host` would change
    if is_for_host(data, device or default_device()):
        return mark_as_array(resident(data.copy("K"), device))
    return given(from_host(data, device, blocking))


@takes_like
def asarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    device: Device | str | int | None = None,
    copy: bool | None = None,
    like: Any = None,
    blocking: bool = True,
) -> ndarray:
    """Return the array itself if it is as asked for, else a new array. See `numpy.asarray`; `array` for `blocking`."""
    if (
        type(a) is ndarray
        and dtype is None
        and order is None
        and device is None
        and copy is None
        and a._flags & MADE_AS_ARRAY
    ):
        return a
    return array(a, dtype, copy=copy, order=order, device=device, blocking=blocking)


@takes_like
def asanyarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    device: Device | str | int | None = None,
    copy: bool | None = None,
    like: Any = None,
) -> ndarray:
    """Return `asarray`, but refuse NumPy's masked arrays and matrices, since this package has no such classes."""
    check_class(a)
    return asarray(a, dtype, order, device=device, copy=copy)


@takes_like
def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None, device: Any = None) -> ndarray:
    """Return an array of at least one dimension in C order. See `numpy.ascontiguousarray`."""
    return array(a, dtype, copy=None, order="C", ndmin=1, device=device)


@takes_like
def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None, device: Any = None) -> ndarray:
    """Return an array of at least one dimension in Fortran order. See `numpy.asfortranarray`."""
    return array(a, dtype, copy=None, order="F", ndmin=1, device=device)


def asarray_chkfinite(a: Any, dtype: Any = None, order: str | None = None) -> ndarray:
    """Return `asarray`, or raise ValueError if an element is infinite or NaN. See `numpy.asarray_chkfinite`."""
    result = asarray(a, dtype, order)
    if result.dtype.kind in "fcV":
        is_finite = graph.map_node("isfinite", (result.dtype, dtypes.BOOL), (result.value(),))
        axes = tuple(range(result.ndim))
        if not to_host(wrap(graph.reduce("logical_and", (dtypes.BOOL, dtypes.BOOL), axes, (is_finite,)))):
            raise ValueError("array must not contain infs or NaNs")
    return result


@takes_like
def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> ndarray:
    """Return an array that meets requirements on its memory. See `numpy.require`."""
    required = {_REQUIREMENTS[r.upper()] for r in requirements or ()}  # a text is letters
    if required >= {"C", "F"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = "C" if "C" in required else "F" if "F" in required else "A"
    result = array(a, dtype, copy=None, order=order, subok="E" not in required)
    must_own = "O" in required and result.base is not None
    must_write = "W" in required and not result.writeable
    return copy(result, order) if must_own or must_write else result


_REQUIREMENTS = {
    **dict.fromkeys(("C", "C_CONTIGUOUS", "CONTIGUOUS"), "C"),
    **dict.fromkeys(("F", "F_CONTIGUOUS", "FORTRAN"), "F"),
    **dict.fromkeys(("A", "ALIGNED"), "A"),
    **dict.fromkeys(("W", "WRITEABLE"), "W"),
    **dict.fromkeys(("O", "OWNDATA"), "O"),
    **dict.fromkeys(("E", "ENSUREARRAY"), "E"),
}


def copy(a: Any, order: str = "K", subok: bool = False) -> ndarray:
    """Return a new array with the elements of another. See `numpy.copy`."""
    leave_function_to_class(a)
    return array(a, order=order, subok=subok)


@takes_like
def fromiter(iter: Any, dtype: Any, count: int = -1, *, like: Any = None) -> ndarray:
    """Return a new array of the values that an iterable yields. See `numpy.fromiter`."""
    with silent_unless_asked():
        data = numpy.fromiter(iter, dtypes.check(dtype), count)
    return resident(data)


@takes_like
def fromstring(string: Any, dtype: Any = float, count: int = -1, *, sep: str = "", like: Any = None) -> ndarray:
    """Return a new array of the numbers in a text. See `numpy.fromstring`."""
    with silent_unless_asked():
        data = numpy.fromstring(string, dtypes.check(dtype), count, sep=sep)
    return resident(data)


# --- of one value ----------------------------------------------------------------------------------------------------


def as_shape(shape: Any) -> Shape:
    """Return a shape as a tuple; raise NumPy's errors for anything that is none."""
    if isinstance(shape, (bool, numpy.bool)):
        raise TypeError(f"expected a sequence of integers or a single integer, got '{shape}'")
    try:
        dims = (shape.__index__(),)
    except (AttributeError, TypeError):
        if isinstance(shape, ndarray):
            shape = to_host(shape).tolist()
        if isinstance(shape, (tuple, list)) and any(isinstance(n, (bool, numpy.bool)) for n in shape):
            raise TypeError("an integer is required") from None
        try:
            dims = tuple(n.__index__() for n in shape)
        except AttributeError:
            type_name = next((type(n).__name__ for n in shape if not hasattr(n, "__index__")), type(shape).__name__)
            raise TypeError(f"'{type_name}' object cannot be interpreted as an integer") from None
        except TypeError:
            raise TypeError(f"expected a sequence of integers or a single integer, got '{shape!r}'") from None
    layout.check_dimensions(dims)
    if any(n < 0 for n in dims):
        raise ValueError("negative dimensions are not allowed")
    layout.check_dimension_count(len(dims))
    return dims


def queue_for(device: Device | str | int | None, model: ndarray | None = None) -> Queue:
    """Return the queue of a device; of the model if no device is given; of the default device if there is neither."""
    if device is None:
        return model.queue if model is not None else prove(queue_of(default_device()))
    return queue_of(Device(device))


def constant(value: Any, shape: Shape, dtype: DType, queue: Queue) -> Node:
    """Return a node with one value everywhere, which takes no memory."""
    return graph.fill(graph.typed_scalar(value, dtype), shape, queue)


def _generated(make: Callable[[Shape], Node], shape: Shape, order: tuple[int, ...] | None) -> ndarray:
    """Return the array that `make` builds for its shape, in a memory order; the elements do not depend on the index."""
    return mark_owner_as_array(wrap_ordered(make(shape if order is None else tuple(shape[k] for k in order)), order))


def axes_of_order(order: Any, shape: Shape) -> tuple[int, ...] | None:
    """Return the axes from slowest to fastest for order "C" or "F"; None for C order."""
    order = memory_order(order, "C")
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    return tuple(reversed(range(len(shape)))) if order == "F" and len(shape) > 1 else None


def _filled_with(value: Any, shape: Any, dtype: Any, order: str, device: Any) -> ndarray:
    """Return a new array of one value."""
    dims, target_dtype, queue = as_shape(shape), dtypes.check(dtype), queue_for(device)
    return _generated(lambda s: constant(value, s, target_dtype, queue), dims, axes_of_order(order, dims))


@takes_like
def zeros(shape: Any, dtype: Any = float, order: str = "C", *, device: Any = None, like: Any = None) -> ndarray:
    """Return a new array of zeros. See `numpy.zeros`."""
    return _filled_with(0, shape, float if dtype is None else dtype, order, device)


@takes_like
def ones(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> ndarray:
    """Return a new array of ones. See `numpy.ones`."""
    return _filled_with(1, shape, float if dtype is None else dtype, order, device)


@takes_like
def empty(shape: Any, dtype: Any = float, order: str = "C", *, device: Any = None, like: Any = None) -> ndarray:
    """Return a new array whose elements are not set. See `numpy.empty`."""
    dims, target_dtype, queue = as_shape(shape), dtypes.check(float if dtype is None else dtype), queue_for(device)
    return _generated(lambda s: graph.uninitialized(s, target_dtype, queue), dims, axes_of_order(order, dims))


@takes_like
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> ndarray:
    """Return a new array of one value, or of values that broadcast to its shape. See `numpy.full`."""
    dims, queue = as_shape(shape), queue_for(device, fill_value if isinstance(fill_value, ndarray) else None)
    node = as_node(fill_value, queue)
    target_dtype = node.signature.dtype if dtype is None else dtypes.check(dtype)
    return _filled_with_node(node, dims, target_dtype, queue, axes_of_order(order, dims))


def _filled_with_node(node: Node, shape: Shape, dtype: DType, queue: Queue, order: tuple[int, ...] | None) -> ndarray:
    """Return a new array of the value of a node, cast and broadcast."""
    node = cast_with_warning(node, dtype)
    if node.signature.queue is None:
        return _generated(lambda s: graph.fill(node, s, queue), shape, order)
    if node.signature.queue is not queue:
        raise graph.two_devices(queue, node.signature.queue)
    return array_in_memory_order(graph.broadcast(fit_to_shape(node, shape), shape), order)


def _properties_like(a: Any, dtype: Any, order: str | None, subok: Any, shape: Any, device: Any) -> tuple[Any, ...]:
    """Return shape, dtype, queue and memory order for an array like another; there are no subclasses to keep."""
    is_set(subok)
    if dtype is None and isinstance(a, numpy.ndarray):
        dtypes.check(a.dtype)
    model = as_array(a)
    dims = model.shape if shape is None else as_shape(shape)
    target_dtype = model.dtype if dtype is None else dtypes.check(dtype)
    order = memory_order(order)
    if shape is not None and len(dims) != model.ndim and order == "K":
        order = "C"
    axes = axes_in_memory(order, model.shape, model.element_strides)
    if len(dims) != model.ndim:
        is_fortran = len(dims) > 1 and (axes is not None or order == "F")
        axes = tuple(reversed(range(len(dims)))) if is_fortran else None
    return dims, target_dtype, queue_for(device, model if isinstance(a, ndarray) else None), axes


def zeros_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> ndarray:
    """Return an array of zeros like another array. See `numpy.zeros_like`."""
    dims, target_dtype, queue, axes = _properties_like(a, dtype, order, subok, shape, device)
    return _generated(lambda s: constant(0, s, target_dtype, queue), dims, axes)


def ones_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> ndarray:
    """Return an array of ones like another array. See `numpy.ones_like`."""
    dims, target_dtype, queue, axes = _properties_like(a, dtype, order, subok, shape, device)
    return _generated(lambda s: constant(1, s, target_dtype, queue), dims, axes)


def empty_like(
    prototype: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> ndarray:
    """Return an array like another whose elements are not set. See `numpy.empty_like`."""
    dims, target_dtype, queue, axes = _properties_like(prototype, dtype, order, subok, shape, device)
    return _generated(lambda s: graph.uninitialized(s, target_dtype, queue), dims, axes)


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> ndarray:
    """Return an array of one value like another array. See `numpy.full_like`."""
    dims, target_dtype, queue, axes = _properties_like(a, dtype, order, subok, shape, device)
    return _filled_with_node(as_node(fill_value, queue), dims, target_dtype, queue, axes)
