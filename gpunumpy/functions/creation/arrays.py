"""Making arrays: from other data, and of one value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ...core import dtypes
from ...core.dtypes import DType
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout, Shape
from ...core.graph.node import Node
from ...core.graph.primitives import LibraryCall
from ...core.graph.queue import Queue
from ...core.graph.signature import signature
from ...core.recording.array import (
    BOX,
    READ_ONLY,
    boxed,
    from_host,
    is_scalar,
    make_view,
    ndarray,
    to_host,
    wrap,
    wrap_ordered,
)
from ...core.recording.record import as_array, as_dtype, as_node, check_class, given_by, transposed
from ...core.runtime.device import Device, default_device
from ...core.runtime.evaluate import queue_of
from ..indexing.getitem import fitted

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
    "frombuffer",
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

# Readers of other libraries' device arrays, tried in turn on what is none of ours; each gives None for other things.
READERS: list[Callable[[Any], ndarray | None]] = []

_ORDERS = ("C", "F", "A", "K")
MAX_DIMENSIONS = 64


# --- memory order ----------------------------------------------------------------------------------------------------


def axes_in_memory(order: str | None, shape: Shape, strides: Sequence[int]) -> tuple[int, ...] | None:
    """The axes from slowest to fastest that NumPy's `order` asks for, given a model's strides; None for C order."""
    order = "K" if order is None else order.upper()
    if order not in _ORDERS:
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if order != "F" and layout.is_c(shape, strides):
        return None
    if order == "A":
        order = "F" if layout.is_f(shape, strides) and not layout.is_c(shape, strides) else "C"
    if order == "K":
        return layout.copied_order(shape, strides)
    return tuple(reversed(range(len(shape)))) if order == "F" and len(shape) > 1 else None


def laid_out(node: Node, order: tuple[int, ...] | None) -> ndarray:
    """A new array of a value, with its axes in memory from slowest to fastest as `order` says."""
    if order is not None:
        node = transposed(node, order)
    return made(wrap_ordered(graph.fresh(node) if node.owner is not None else node, order))


def made(array: ndarray) -> ndarray:
    """The array, and its owner, marked as made as an array."""
    if array.base is not None:
        boxed(array.base)
    return boxed(array)


def follows(array: ndarray, order: str | None) -> bool:
    """Whether the array lies in memory as `order` asks."""
    where = array.layout
    order = "K" if order is None else order.upper()
    if order not in _ORDERS:
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if order == "C":
        return layout.is_c(where.shape, where.strides)
    return order != "F" or layout.is_f(where.shape, where.strides)


# --- from other data -------------------------------------------------------------------------------------------------


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
) -> ndarray:
    """Make an array of anything that NumPy makes one of, on a device. See `numpy.array`.

    Parameters
    ----------
    subok : bool
        True refuses the masked arrays and matrices of NumPy's, whose classes there are not here; False drops the class.
    copy : bool or None
        False raises ValueError where a copy cannot be avoided, as it never can for what is not on the device yet.
    device : Device, str, int or None
        Where to; by default where `object` is if it is an array of ours, else on the default device.
    """
    wanted = None if dtype is None else dtypes.check(dtype)
    place = None if device is None else Device(device)
    if subok:
        check_class(object)
    if not isinstance(object, ndarray):
        shared = next((found for reader in READERS if (found := reader(object)) is not None), None)
        if shared is None and copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        object = _read(object, wanted, order, ndmax, place, bool(copy)) if shared is None else shared
        if shared is None and copy:
            copy = None  # what is read is a copy
    if place is not None and object.device is not place:
        if copy is False:
            raise ValueError(f"Unable to avoid copy: the array is on {object.device} and is wanted on {place}")
        object = from_host(to_host(object), place)
    if wanted is None:
        wanted = object.dtype
    if copy or is_scalar(object) or wanted != object.dtype or not follows(object, order):
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        where = object.layout
        object = laid_out(as_dtype(object.value(), wanted), axes_in_memory(order, where.shape, where.strides))
    if object.ndim < ndmin:
        where = object.layout
        lead = ndmin - object.ndim
        object = make_view(object, Layout((1,) * lead + where.shape, (0,) * lead + where.strides, where.offset))
    return object


def _read(x: Any, dtype: DType | None, order: str | None, ndmax: int, place: Device | None, copy: bool) -> ndarray:
    """An array of something that is none of ours, and lies on no device; `copy` is for one of ours that it gives."""
    if isinstance(x, (list, tuple)) and _holds_ours(x):
        return _stack(x, dtype)
    options: dict[str, Any] = {"order": order or "K", **({"ndmax": ndmax} if ndmax else {})}
    try:
        data = numpy.array(x, dtype, copy=None, **options)
    except ValueError:
        found = given_by(x)
        if found is None:
            raise
        return array(found, dtype, copy=copy or None, order=order, ndmax=ndmax)
    return from_host(data, place)


def _holds_ours(x: Sequence[Any]) -> bool:
    """Whether an array of ours is somewhere in nested sequences."""
    kinds = set(map(type, x))  # quick for long lists of numbers
    return any(issubclass(kind, (ndarray, list, tuple)) for kind in kinds) and any(map(_is_ours, x))


def _is_ours(part: Any) -> bool:
    return isinstance(part, ndarray) or (isinstance(part, (list, tuple)) and _holds_ours(part))


def _stack(x: Sequence[Any], dtype: DType | None) -> ndarray:
    """An array of nested sequences that hold arrays of ours, without a look at their elements."""
    found = {k: array(part, copy=None) for k, part in enumerate(x) if _is_ours(part)}
    queue = next(iter(found.values())).queue
    parts = [found[k] if k in found else array(part, dtype, device=queue.device) for k, part in enumerate(x)]
    shapes = {part.shape for part in parts}
    if len(shapes) > 1:
        raise ValueError(
            "setting an array element with a sequence. The requested array has an inhomogeneous shape after 1 "
            f"dimensions. The detected shape was ({len(parts)},) + inhomogeneous part."
        )
    wanted = dtype or numpy.result_type(*(part.dtype for part in parts))
    inner = parts[0].shape
    count = parts[0].size
    node = uninitialized((len(parts), *inner), wanted, queue)
    for k, part in enumerate(parts):
        where = Layout(inner, layout.c_strides(inner), k * count)
        node = graph.update(node, where, as_dtype(part.value(), wanted))
    return boxed(wrap(node))


def asarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    device: Device | str | int | None = None,
    copy: bool | None = None,
    like: Any = None,
) -> ndarray:
    """The array itself where it is as asked for, else a new one. See `numpy.asarray`."""
    if type(a) is ndarray and dtype is None and order is None and device is None and copy is None and a._flags & BOX:
        return a
    return array(a, dtype, copy=copy, order=order, device=device)


def asanyarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    device: Device | str | int | None = None,
    copy: bool | None = None,
    like: Any = None,
) -> ndarray:
    """`asarray`, but NumPy's masked arrays and matrices are refused, since there are no such classes here."""
    check_class(a)
    return asarray(a, dtype, order, device=device, copy=copy)


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None, device: Any = None) -> ndarray:
    """An array of at least one dimension in C order. See `numpy.ascontiguousarray`."""
    return array(a, dtype, copy=None, order="C", ndmin=1, device=device)


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None, device: Any = None) -> ndarray:
    """An array of at least one dimension in Fortran order. See `numpy.asfortranarray`."""
    return array(a, dtype, copy=None, order="F", ndmin=1, device=device)


def asarray_chkfinite(a: Any, dtype: Any = None, order: str | None = None) -> ndarray:
    """`asarray`, and a ValueError if an element is infinite or NaN. See `numpy.asarray_chkfinite`."""
    result = asarray(a, dtype, order)
    if result.dtype.kind in "fcV":
        value = result.value()
        zero = graph.map_node("subtract", (result.dtype,) * 3, (value, value))  # NaN exactly where it is not finite
        same = graph.map_node("equal", (result.dtype, result.dtype, dtypes.BOOL), (zero, zero))
        axes = tuple(range(result.ndim))
        if not to_host(wrap(graph.reduce("logical_and", (dtypes.BOOL, dtypes.BOOL), axes, (same,)))):
            raise ValueError("array must not contain infs or NaNs")
    return result


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> ndarray:
    """An array that meets requirements on its memory. See `numpy.require`."""
    given = [requirements] if isinstance(requirements, str) else requirements or ()
    wanted = {_REQUIREMENTS[str(r).upper()] for r in given}
    if wanted >= {"C", "F"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = "C" if "C" in wanted else "F" if "F" in wanted else "A"
    result = array(a, dtype, copy=None, order=order, subok="E" not in wanted)
    must_own = "O" in wanted and result.base is not None
    must_write = "W" in wanted and not result.writeable
    return copy(result) if must_own or must_write else result


_REQUIREMENTS = {
    **dict.fromkeys(("C", "C_CONTIGUOUS", "CONTIGUOUS"), "C"),
    **dict.fromkeys(("F", "F_CONTIGUOUS", "FORTRAN"), "F"),
    **dict.fromkeys(("A", "ALIGNED"), "A"),
    **dict.fromkeys(("W", "WRITEABLE"), "W"),
    **dict.fromkeys(("O", "OWNDATA"), "O"),
    **dict.fromkeys(("E", "ENSUREARRAY"), "E"),
}


def copy(a: Any, order: str = "K", subok: bool = False) -> ndarray:
    """A new array with the elements of another. See `numpy.copy`."""
    return array(a, order=order, subok=subok)


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0, *, like: Any = None) -> ndarray:
    """A new array with the contents of a buffer. See `numpy.frombuffer`.

    It is read-only: the contents are copied to the device, so that the buffer would not see what is written, as it does
    with NumPy where it can be written. A copy of the array is not.
    """
    made = from_host(numpy.frombuffer(buffer, dtypes.check(dtype), count, offset))
    made._flags |= READ_ONLY
    return made


def fromiter(iter: Any, dtype: Any, count: int = -1, *, like: Any = None) -> ndarray:
    """A new array of what an iterable yields. See `numpy.fromiter`."""
    return from_host(numpy.fromiter(iter, dtypes.check(dtype), count))


def fromstring(string: Any, dtype: Any = float, count: int = -1, *, sep: str = "", like: Any = None) -> ndarray:
    """A new array of the numbers in a text. See `numpy.fromstring`."""
    return from_host(numpy.fromstring(string, dtypes.check(dtype), count, sep=sep))


# --- of one value ----------------------------------------------------------------------------------------------------


def as_shape(shape: Any) -> Shape:
    """A shape as a tuple, in NumPy's terms."""
    if isinstance(shape, (bool, numpy.bool)):
        raise TypeError(f"expected a sequence of integers or a single integer, got '{shape}'")
    try:
        dims = (shape.__index__(),)
    except (AttributeError, TypeError):
        if isinstance(shape, ndarray):
            shape = to_host(shape).tolist()
        try:
            dims = tuple(n.__index__() for n in shape)
        except AttributeError:
            kind = next((type(n).__name__ for n in shape if not hasattr(n, "__index__")), type(shape).__name__)
            raise TypeError(f"'{kind}' object cannot be interpreted as an integer") from None
        except TypeError:
            raise TypeError(f"expected a sequence of integers or a single integer, got '{shape!r}'") from None
    layout.check_dimensions(dims)
    if any(n < 0 for n in dims):
        raise ValueError("negative dimensions are not allowed")
    if len(dims) > MAX_DIMENSIONS:
        raise ValueError(f"maximum supported dimension for an ndarray is currently {MAX_DIMENSIONS}, found {len(dims)}")
    return dims


def place_of(device: Device | str | int | None, model: ndarray | None = None) -> Queue:
    """The queue of a device, or of a model's, or of the default one."""
    if device is None:
        return model.queue if model is not None else queue_of(default_device())
    return queue_of(Device(device))


def uninitialized(shape: Shape, dtype: DType, queue: Queue) -> Node:
    """Memory that is allocated and not written: what parts are put together in by updates."""
    return Node(signature(LibraryCall("empty"), (), shape, dtype, queue), ())


def constant(value: Any, shape: Shape, dtype: DType, queue: Queue) -> Node:
    """One value everywhere, as a generator."""
    return graph.fill(graph.typed_scalar(value, dtype), shape, queue)


def _ordered(make: Callable[[Shape], Node], shape: Shape, order: tuple[int, ...] | None) -> ndarray:
    """An array whose elements do not depend on the index, in a memory order."""
    return made(wrap_ordered(make(shape if order is None else tuple(shape[k] for k in order)), order))


def _plain_order(order: str, shape: Shape) -> tuple[int, ...] | None:
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    return tuple(reversed(range(len(shape)))) if order == "F" and len(shape) > 1 else None


def _new(value: Any, shape: Any, dtype: Any, order: str, device: Any) -> ndarray:
    dims, wanted, queue = as_shape(shape), dtypes.check(dtype), place_of(device)
    return _ordered(lambda s: constant(value, s, wanted, queue), dims, _plain_order(order, dims))


def zeros(shape: Any, dtype: Any = float, order: str = "C", *, device: Any = None, like: Any = None) -> ndarray:
    """An array of zeros. See `numpy.zeros`."""
    return _new(0, shape, float if dtype is None else dtype, order, device)


def ones(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> ndarray:
    """An array of ones. See `numpy.ones`."""
    return _new(1, shape, float if dtype is None else dtype, order, device)


def empty(shape: Any, dtype: Any = float, order: str = "C", *, device: Any = None, like: Any = None) -> ndarray:
    """An array whose elements are not set. See `numpy.empty`."""
    dims, wanted, queue = as_shape(shape), dtypes.check(float if dtype is None else dtype), place_of(device)
    return _ordered(lambda s: uninitialized(s, wanted, queue), dims, _plain_order(order, dims))


def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> ndarray:
    """An array of one value (or of one row, which is repeated). See `numpy.full`."""
    dims, queue = as_shape(shape), place_of(device, fill_value if isinstance(fill_value, ndarray) else None)
    node = as_node(fill_value, queue)
    wanted = node.signature.dtype if dtype is None else dtypes.check(dtype)
    return _filled(node, dims, wanted, queue, _plain_order(order, dims))


def _filled(node: Node, shape: Shape, dtype: DType, queue: Queue, order: tuple[int, ...] | None) -> ndarray:
    """An array of the value of a node, cast and broadcast."""
    node = as_dtype(node, dtype)
    if node.signature.queue is None:
        return _ordered(lambda s: graph.fill(node, s, queue), shape, order)
    return laid_out(graph.broadcast(fitted(node, shape), shape), order)


def _like(a: Any, dtype: Any, order: str | None, shape: Any, device: Any) -> tuple[Any, ...]:
    """Shape, dtype, queue and memory order of an array like another."""
    model = as_array(a)
    where = model.layout
    dims = model.shape if shape is None else as_shape(shape)
    wanted = model.dtype if dtype is None else dtypes.check(dtype)
    if shape is not None and len(dims) != model.ndim and (order or "K").upper() == "K":
        order = "C"
    axes = axes_in_memory(order, where.shape, where.strides)
    if axes is not None and len(axes) != len(dims):
        axes = tuple(reversed(range(len(dims)))) if len(dims) > 1 else None
    return dims, wanted, place_of(device, model if isinstance(a, ndarray) else None), axes


def zeros_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> ndarray:
    """An array of zeros like another. See `numpy.zeros_like`."""
    dims, wanted, queue, axes = _like(a, dtype, order, shape, device)
    return _ordered(lambda s: constant(0, s, wanted, queue), dims, axes)


def ones_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> ndarray:
    """An array of ones like another. See `numpy.ones_like`."""
    dims, wanted, queue, axes = _like(a, dtype, order, shape, device)
    return _ordered(lambda s: constant(1, s, wanted, queue), dims, axes)


def empty_like(
    prototype: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> ndarray:
    """An array like another whose elements are not set. See `numpy.empty_like`."""
    dims, wanted, queue, axes = _like(prototype, dtype, order, shape, device)
    return _ordered(lambda s: uninitialized(s, wanted, queue), dims, axes)


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
    """An array of one value like another. See `numpy.full_like`."""
    dims, wanted, queue, axes = _like(a, dtype, order, shape, device)
    return _filled(as_node(fill_value, queue), dims, wanted, queue, axes)
