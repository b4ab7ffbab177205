"""Views by strides of the caller's choice, and which arrays share memory."""

from __future__ import annotations

import operator
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy
from numpy.lib.array_utils import byte_bounds

from ...core import dtypes
from ...core.dtypes import DType
from ...core.graph import layout
from ...core.graph.layout import Layout, Shape, normalize_axes
from ...core.recording.array import (
    ALWAYS_READ_ONLY,
    ON_HOST,
    READ_ONLY,
    as_class,
    from_host,
    is_scalar,
    make_view,
    memory_on_host,
    ndarray,
    on_host_memory,
    on_lent_memory,
    owner_of,
    require_device,
)
from ...core.recording.record import check_class, leave_function_to_class, placed_array
from ...core.recording.residence import host_bytes, is_auto, resident
from ...core.runtime.device import default_device
from ..creation.arrays import as_shape, empty, imported_array
from ..creation.like import takes_like
from ..every_dtype import takes_every_dtype
from ..fallback import OWN_FUNCTIONS, on_host
from .shape import viewed_as_dtype

__all__ = ["frombuffer", "may_share_memory", "shares_memory"]


# --- views ----------------------------------------------------------------------------------------------------------


def as_strided(
    x: Any,
    shape: Any = None,
    strides: Any = None,
    subok: bool = False,
    writeable: bool = True,
    *,
    check_bounds: bool | None = None,
) -> ndarray:
    """Return a view with a shape and strides of the caller's choice. See `numpy.lib.stride_tricks.as_strided`.

    Parameters
    ----------
    x : array_like
        The array. Anything but an `ndarray` of this package is copied, so that the result is read-only.
    shape : sequence of int, optional
        The shape of the view; by default the array's.
    strides : sequence of int, optional
        The steps in bytes, each of whole elements; by default the array's, and those of consecutive elements if the
        array's are.
    subok : bool, optional
        True if the view is of the class of `x`.
    writeable : bool, optional
        True if the view may be written. Where its elements overlap, NumPy writes them, on the host.
    check_bounds : bool, optional
        For compatibility with NumPy; the bounds are checked in any case.

    Returns
    -------
    ndarray
        The view.

    Raises
    ------
    ValueError
        If an element of the view lies outside the array's memory, or between its elements.
    """
    if not isinstance(x, ndarray):
        host = numpy.asarray(x)
        host_view = numpy.lib.stride_tricks.as_strided(host, shape, strides)
        while isinstance(host.base, numpy.ndarray):
            host = host.base
        _check_memory(byte_bounds(host_view), byte_bounds(host))
        return _read_only(from_host(host_view))
    dims = x.shape if shape is None else as_shape(shape)
    if strides is None:
        # Of a C-contiguous array NumPy takes none: the elements follow each other in the new shape.
        is_contiguous = x.c_contiguous
        strides = tuple(n * x.itemsize for n in layout.c_strides(dims)) if is_contiguous else x.strides
    strides_in_bytes = tuple(int(s) for s in strides)
    if len(strides_in_bytes) != len(dims):
        raise ValueError(f"strides {strides_in_bytes} are not as many as the dimensions of the shape {dims}")
    return view_by_strides(x, dims, strides_in_bytes, writeable)


def view_by_strides(x: ndarray, dims: Shape, strides_in_bytes: tuple[int, ...], writeable: bool) -> ndarray:
    """Return a view of an array by strides in bytes."""
    unit_bytes, owner = _stride_unit_bytes(x), owner_of(x)
    if any(s % unit_bytes for s in strides_in_bytes):
        raise ValueError(f"strides {strides_in_bytes} are no whole elements of {unit_bytes} bytes")
    memory = memory_on_host(x)
    if isinstance(memory, numpy.ndarray):
        host_view = numpy.lib.stride_tricks.as_strided(memory, dims, strides_in_bytes, writeable=writeable)
        _check_memory(byte_bounds(host_view), byte_bounds(owner._base))
        return on_host_memory(host_view, x.device, owner)
    view_layout = Layout(dims, tuple(s // unit_bytes for s in strides_in_bytes), x.layout.offset)
    if 0 not in dims:
        _check_memory((view_layout.low() * unit_bytes, (view_layout.high() + 1) * unit_bytes), (0, owner.nbytes))
    view = make_view(x, view_layout)
    return view if writeable else _read_only(view)


def construct_ndarray(
    cls: type[ndarray],
    shape: Any,
    dtype: Any = float,
    buffer: Any = None,
    offset: Any = 0,
    strides: Any = None,
    order: Any = None,
) -> ndarray:
    """Return ``ndarray(shape, ...)``: an array whose elements are not set, or a view of a buffer. See `numpy.ndarray`.

    An array over a buffer of another object stays on the host and shares its memory: what is written to either is seen
    by both.
    """
    if cls is not ndarray:
        return as_class(construct_ndarray(ndarray, shape, dtype, buffer, offset, strides, order), cls, None)
    dims, target_dtype = as_shape(shape), dtypes.check(dtype)
    if order not in (None, *"CFAK"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if buffer is None and strides is None:
        if is_auto() and prod(dims) * target_dtype.itemsize <= host_bytes(default_device()):
            return resident(numpy.ndarray(dims, target_dtype, order=order))
        return empty(dims, target_dtype, "F" if order == "F" else "C")
    shown = buffer if buffer is None or isinstance(buffer, ndarray) else imported_array(buffer)
    if shown is None and buffer is not None:
        return on_lent_memory(numpy.ndarray(dims, target_dtype, buffer, offset, strides, order))
    unit_bytes, has_strides = target_dtype.itemsize, strides is not None
    if not has_strides:
        steps = layout.c_strides(dims[::-1])[::-1] if order == "F" else layout.c_strides(dims)
        strides = [s * unit_bytes for s in steps]
    if hasattr(strides, "__index__"):
        strides = (strides,)
    if len(strides) != len(dims):
        raise ValueError("strides, if given, must be the same length as shape")
    if shown is None and 0 not in dims:
        dense = layout.c_strides(dims), layout.c_strides(dims[::-1])[::-1]
        own_order = next((o for o, steps in zip("CF", dense) if [s * unit_bytes for s in steps] == [*strides]), None)
        if own_order is not None:
            return construct_ndarray(cls, dims, target_dtype, order=own_order)
    if shown is None:
        memory_bytes, offset = viewed_as_dtype(empty(prod(dims), target_dtype), "u1"), 0
    else:
        if not (shown.c_contiguous or shown.f_contiguous):
            raise ValueError("ndarray is not contiguous")
        memory_bytes = viewed_as_dtype(make_view(shown, Layout((shown.size,), (1,), shown.layout.offset)), "u1")
    offset = operator.index(offset)
    reached = Layout(dims, tuple(map(operator.index, strides)), offset)
    if not 0 <= offset <= memory_bytes.size or (
        0 not in dims and not 0 <= reached.low() <= reached.high() <= memory_bytes.size - unit_bytes
    ):
        if has_strides:
            raise ValueError("strides is incompatible with shape of requested array and size of buffer")
        raise TypeError("buffer is too small for requested array")
    nbytes = (memory_bytes.size - offset) // unit_bytes * unit_bytes
    memory = viewed_as_dtype(
        make_view(memory_bytes, Layout((nbytes,), (1,), memory_bytes.layout.offset + offset)), target_dtype
    )
    return as_strided(memory, dims, strides)


@takes_like
def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0, *, like: Any = None) -> ndarray:
    """Return an array with the contents of a buffer. See `numpy.frombuffer`.

    An array over a writable buffer shares its memory, and stays on the host: what is written to either is seen by both.
    The contents of other buffers are copied to the device. The elements of an array of this package are a view of it.
    """
    if isinstance(buffer, ndarray) and not is_scalar(buffer):
        return _view_of_bytes(buffer, dtypes.check(dtype), operator.index(count), operator.index(offset))
    contents = numpy.frombuffer(buffer, dtypes.check(dtype), count, offset)
    if contents.flags.writeable:
        return on_lent_memory(contents)
    if is_auto() and contents.nbytes <= host_bytes(default_device()):
        return on_host_memory(contents, default_device())
    result = from_host(contents)
    result._flags |= READ_ONLY | ALWAYS_READ_ONLY
    return result


def _view_of_bytes(x: ndarray, dtype: DType, count: int, offset: int) -> ndarray:
    """Return a view of `count` elements of a dtype, or of all for -1, `offset` bytes into an array."""
    if not x.c_contiguous:
        raise ValueError("ndarray is not C-contiguous")
    if not 0 <= offset <= x.nbytes:
        raise ValueError(f"offset must be non-negative and no greater than buffer length ({x.nbytes})")
    whole, rest = divmod(x.nbytes - offset, dtype.itemsize)
    if count < 0 and rest:
        raise ValueError("buffer size must be a multiple of element size")
    if count > whole:
        raise ValueError("buffer is smaller than requested size")
    return construct_ndarray(ndarray, whole if count < 0 else count, dtype, x, offset)


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> ndarray:
    """Return the view of all windows of a size. See `numpy.lib.stride_tricks.sliding_window_view`.

    Parameters
    ----------
    x : array_like
        The array.
    window_shape : int or sequence of int
        The size of the window along each axis.
    axis : int or sequence of int, optional
        The axes that the window slides along; by default all of them.
    subok : bool, optional
        True if the view is of the class of `x`.
    writeable : bool, optional
        True if the view may be written. NumPy writes to windows that overlap, on the host.

    Returns
    -------
    ndarray
        The view, with the dimensions of the windows last.
    """
    array = placed_array(x)
    window = tuple(map(operator.index, window_shape if numpy.iterable(window_shape) else (window_shape,)))
    if any(n < 0 for n in window):
        raise ValueError("`window_shape` cannot contain negative values")
    shape, strides = array.shape, array.strides
    if axis is None:
        axes = tuple(range(len(shape)))
        if len(window) != len(axes):
            raise ValueError(
                "Since axis is `None`, must provide window_shape for all dimensions of `x`; got "
                f"{len(window)} window_shape elements and `x.ndim` is {len(shape)}."
            )
    else:
        # An axis may be given twice, which slides windows over windows.
        axes = tuple(normalize_axes(a, len(shape))[0] for a in (axis if numpy.iterable(axis) else (axis,)))
        if len(window) != len(axes):
            raise ValueError(
                f"Must provide matching length window_shape and axis; got {len(window)} window_shape elements and "
                f"{len(axes)} axes elements."
            )
    window_counts = list(shape)
    for a, n in zip(axes, window, strict=True):
        if window_counts[a] < n:
            raise ValueError("window shape cannot be larger than input array shape")
        window_counts[a] -= n - 1
    dims = (*window_counts, *window)
    steps = (*strides, *(strides[a] for a in axes))
    return view_by_strides(array, dims, steps, writeable and array is x)


def _check_memory(view: tuple[int, int], memory: tuple[int, int]) -> None:
    """Raise the error of NumPy's `check_bounds` for bytes of a view that lie outside of memory."""
    message = "Given shape and strides would access memory out of bounds. View"
    if view[0] < memory[0]:
        raise ValueError(f"{message} starts {memory[0] - view[0]} bytes before lowest address")
    if view[1] > memory[1]:
        raise ValueError(f"{message} ends {view[1] - memory[1]} bytes after highest address")


def _read_only(view: ndarray) -> ndarray:
    """Return the view, made read-only."""
    view._flags |= READ_ONLY
    return view


def _stride_unit_bytes(x: ndarray) -> int:
    """Return the bytes of a unit of the array's layout.

    The layout of a view of real or imaginary parts counts complex elements of the owner.
    """
    is_part = not x._flags & ON_HOST and x._base is not None and x._component in ("real", "imag")
    return x._base.itemsize if is_part else x.itemsize


for _function in (as_strided, sliding_window_view):
    _by_numpy = on_host(getattr(numpy.lib.stride_tricks, _function.__name__), "")
    OWN_FUNCTIONS[f"numpy.lib.stride_tricks.{_function.__name__}"] = takes_every_dtype(_function, _by_numpy)


# --- sharing --------------------------------------------------------------------------------------------------------


def shares_memory(a: Any, b: Any, /, max_work: int = -1) -> bool:
    """Return True if two arrays have an element whose memory overlaps. See `numpy.shares_memory`.

    Parameters
    ----------
    a, b : array_like
        The arrays. An array on a device shares no memory with a NumPy array, unless it was exported on the CPU device.
    max_work : int, optional
        The number of candidate solutions to try: -1 for an exact answer, 0 to compare the bounds of the memory only.

    Returns
    -------
    bool
        True if the arrays share memory.
    """
    return _compare_memory(numpy.shares_memory, a, b, max_work)


def may_share_memory(a: Any, b: Any, /, max_work: int = 0) -> bool:
    """Return True if the bounds of two arrays' memory overlap. See `numpy.may_share_memory`.

    Parameters
    ----------
    a, b : array_like
        The arrays, as for `shares_memory`.
    max_work : int, optional
        As for `shares_memory`.

    Returns
    -------
    bool
        True if the arrays may share memory.
    """
    return _compare_memory(numpy.may_share_memory, a, b, max_work)


def _compare_memory(compare: Any, a: Any, b: Any, max_work: int) -> bool:
    """Return NumPy's answer for NumPy arrays that lie in memory as `a` and `b` do.

    Arrays of one owner need no address. Others are compared by the addresses of exported memory: memory that was not
    exported is shared with no other array.
    """
    for x in (a, b):
        leave_function_to_class(x)
        if not isinstance(x, numpy.matrix):  # whose memory may be that of an array
            check_class(x)
    arrays = [x for x in (a, b) if isinstance(x, ndarray)]
    for x in arrays:
        require_device(x)
    owners = {id(owner_of(x)) for x in arrays}
    if len(arrays) == 2 and len(owners) == 1:
        start = 1 << 40  # any address will do: the memory is not read
        return bool(compare(_numpy_stand_in(a, start), _numpy_stand_in(b, start), max_work=max_work))
    addresses = [_owner_address(x) for x in arrays]
    devices = {x.device for x in arrays}
    if None in addresses or len(devices) > 1 or (len(arrays) == 1 and not devices.pop().shares_host_memory):
        return False
    starts = iter(addresses)
    stand_ins = (_numpy_stand_in(x, next(starts)) if isinstance(x, ndarray) else x for x in (a, b))
    return bool(compare(*stand_ins, max_work=max_work))


def _owner_address(x: ndarray) -> int | None:
    """Return the address of the owner's first element if its memory was exported and so stays there, else None."""
    node = owner_of(x)._node
    data = node.data
    if data is None or not getattr(data, "exported", False):
        return None
    return int(data.ptr) + node.offset * node.signature.dtype.itemsize


def _numpy_stand_in(x: ndarray, start: Any) -> Any:
    """Return a NumPy array, never to be read, laid out as `x` in an owner's memory that begins at address `start`."""
    address = (
        start
        + x.layout.offset * _stride_unit_bytes(x)
        + (x.itemsize if x._base is not None and x._component == "imag" else 0)
    )
    interface = {
        "version": 3,
        "typestr": f"|V{x.itemsize}",
        "shape": x.shape,
        "strides": x.strides,
        "data": (address, True),
    }
    return numpy.asarray(SimpleNamespace(__array_interface__=interface))
