"""Exchange of arrays with other libraries without a copy: DLPack, ``__cuda_array_interface__``, pointers, `ctypes`.

Both libraries then see the same memory. An `ndarray` is computed before it is exported, and written in place from then
on. Pending operations that read an exported array see what the other library has written before they run.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy

from ..core import dtypes
from ..core.arguments import copy_mode
from ..core.dtypes import DType
from ..core.errors import allowed
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.layout import Layout
from ..core.recording.array import (
    ALWAYS_READ_ONLY,
    READ_ONLY,
    host_only_memory,
    is_scalar,
    make_view,
    memory_on_host,
    ndarray,
    wrap_leaf,
)
from ..core.recording.lending import export, lent_memory
from ..core.runtime import evaluate, memory
from ..core.runtime.device import CPU, Device
from ..core.runtime.memory import Buffer
from ..functions.creation import arrays as creation
from . import stream_order
from .dlpack import IS_COPIED, IS_PADDED, Description, make_capsule, open_capsule, sweep
from .dlpack import READ_ONLY as FLAG_READ_ONLY

__all__ = ["from_dlpack"]

# DLPack's codes of devices. Pinned host memory counts as host memory, and managed memory as GPU memory.
_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13
# PyTorch ends the process when it is given a capsule with a negative stride (2.13; NumPy's arrays do it too).
_BACKWARDS = (
    "the array runs backwards along an axis (a negative stride), which PyTorch and JAX cannot take: "
    "hand over x.copy(); copy=False asks for the memory as it is"
)
# DLPack's codes of types: by kind, by dtype with the number of bits, and the inverse.
_KIND_CODES = {"b": 6, "i": 0, "u": 1, "e": 2, "f": 2, "c": 5}
_CODE = {
    **{dtype: (_KIND_CODES[kind], 8 * dtype.itemsize) for dtype, kind in dtypes.KIND.items()},
    dtypes.bfloat16: (4, 16),
    dtypes.float8_e4m3fn: (10, 8),
    dtypes.float8_e5m2: (12, 8),
    dtypes.float4_e2m1fn: (17, 4),
}
_DTYPE = {code: dtype for dtype, code in _CODE.items()}
# Packages of arrays that never change. JAX's capsules are those from before DLPack 1.0, which cannot say it.
_IMMUTABLE = ("jax", "jaxlib")


def _release(device: Device) -> None:
    """Drop the memory that other libraries, or the devices' streams, have finished with."""
    sweep()
    stream_order.sweep()


memory.out_of_memory_hooks.append(_release)


# --- exports ----------------------------------------------------------------------------------------------------------


def _pointer(x: ndarray) -> tuple[int, Layout, Buffer]:
    """Export an array. Return the address of its first element, its layout and its memory."""
    node, where = export(x)
    return node.data.ptr + where.offset * x.itemsize, where, node.data


def data_ptr(x: ndarray) -> int:
    """Return the address of the first element, in the memory of the array's device.

    On a GPU, use of that memory must be ordered after the work on ``device.stream``. Work on CUDA's legacy default
    stream is ordered after it without further steps.
    """
    return _pointer(x)[0]


def dlpack_device(x: ndarray) -> tuple[int, int]:
    """Return DLPack's code of the kind of the array's device, and the number of the device."""
    device = x.device
    return device.dlpack_type, device.index


def dlpack(
    x: ndarray,
    *,
    stream: int | None = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Return a DLPack capsule of the array, for another library's `from_dlpack`.

    Parameters
    ----------
    stream : int or None
        The consumer's CUDA stream, which is made to wait for the array: a handle, None or 1 for the legacy default
        stream, 2 for the per-thread default stream, -1 for no waiting. Must be None for an array on the CPU.
    max_version : tuple or None
        The newest version of DLPack that the consumer supports. None means a version without flags.
    dl_device : tuple or None
        The device to export to, as DLPack's codes; by default the device of the array.
    copy : bool or None
        True for a copy, False for the memory of the array itself, None for a copy only if necessary.

    Raises
    ------
    BufferError
        If the request cannot be met.
    """
    memory = host_only_memory(x)
    if copy is None and x.size and any(n > 1 and step < 0 for n, step in zip(x.shape, x.strides)):
        raise BufferError(_BACKWARDS)
    if memory is not None:
        if not x.device.has_stream:
            return memory.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
        if x.dtype not in dtypes.KIND or copy is False:
            raise BufferError(f"the array, of dtype {x.dtype}, is on the host")
        x, copy = _computed_copy(memory, x.device), False
    if stream is not None and not x.device.has_stream:
        raise ValueError(f"an array on the CPU has no stream, so stream must be None, not {stream!r}")
    flags = 0
    target = x.device if dl_device is None else _device(dl_device)
    # The 0-d result of an operation must never change, so only a copy is exported, which may be written to.
    if copy or target is not x.device or is_scalar(x):
        if copy is False:
            raise BufferError(f"copy=False, but {_why_copy(x, target)}")
        x = _computed_copy(x, target)
        flags |= IS_COPIED
    versioned = max_version is not None and max_version[0] >= 1
    if not x.writeable:
        if not versioned:
            raise BufferError("the array is read-only, which DLPack can say since version 1.0: ask with max_version")
        flags |= FLAG_READ_ONLY
    if _is_padded(_CODE[x.dtype], x.dtype):
        if not versioned:
            raise BufferError(f"bytes that hold {x.dtype} can be told of since version 1.1 of DLPack")
        flags |= IS_PADDED
    ptr, where, buffer = _pointer(x)
    if target.has_stream and stream != -1:
        handle = _stream_handle(stream)
        stream_order.consumer_waits(target, handle)
        if handle != stream_order.LEGACY:
            buffer.mark_used_by_other_stream()
    device = (target.dlpack_type, target.index)
    description = Description(ptr, device, _CODE[x.dtype], where.shape, where.strides, flags)
    return make_capsule(description, versioned, buffer)


def _is_padded(code: tuple[int, int], dtype: DType) -> bool:
    """Return whether elements of a dtype have fewer bits, by their code in DLPack, than their bytes hold."""
    return code[1] < 8 * dtype.itemsize


def _why_copy(x: ndarray, target: Device) -> str:
    """Return the reason why an array cannot be exchanged without a copy, for a message."""
    if target is not x.device:
        return f"the array is on {x.device} and is wanted on {target}"
    return "the 0-d result of an operation is handed out as a copy"


def _computed_copy(x: Any, target: Device) -> ndarray:
    """Return a copy of an array, of this package or NumPy's, on a device, computed already."""
    result = creation.array(x, copy=True, device=target)
    result.computed()
    return result


def _stream_handle(stream: int | None) -> int:
    """Return the handle of the consumer's stream, by DLPack's rules for CUDA. Raise ValueError if there is none."""
    if stream is None:
        return stream_order.LEGACY
    if not isinstance(stream, int) or stream == 0 or stream < -1:
        raise ValueError(f"stream {stream!r} names no CUDA stream; {allowed(('None', -1, 1, 2, 'a stream handle'))}")
    return stream


def cuda_array_interface(x: ndarray) -> dict[str, Any]:
    """Return the description of the array's memory by version 3 of the CUDA array interface."""
    device = x.device
    if device.dlpack_type != _CUDA:
        raise AttributeError(f"__cuda_array_interface__: the array is on {device}")
    if host_only_memory(x) is not None:
        raise AttributeError("__cuda_array_interface__: the array is on the host, where other code sees its memory")
    if x.dtype in dtypes.ML_DTYPES:
        raise AttributeError(f"__cuda_array_interface__ has no type for {x.dtype}; DLPack has")
    ptr, where, _ = _pointer(x)
    packed = layout.is_c_contiguous(where.shape, where.strides)
    return {
        "version": 3,
        "shape": where.shape,
        "typestr": x.dtype.str,
        "descr": [("", x.dtype.str)],
        "data": (ptr if x.size else 0, not x.writeable or is_scalar(x)),
        "strides": None if packed else tuple(s * x.itemsize for s in where.strides),
        "stream": int(device.stream),
    }


class Ctypes:
    """``x.ctypes``: the address, shape and strides of an array in the host's memory. See `numpy.ndarray.ctypes`.

    The memory is exported when something is asked of this object, not as it is made: `hasattr` makes one.
    """

    __slots__ = ("_array",)

    def __init__(self, x: ndarray) -> None:
        self._array = x

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of NumPy's object for the same memory."""
        memory = lent_memory(self._array)
        if memory is None:
            raise _without_ctypes(self._array)
        return getattr(memory.ctypes, name)


def _without_ctypes(x: ndarray) -> AttributeError:
    return AttributeError(f"ctypes: the array is on {x.device}; x.get().ctypes is of a copy, data_ptr() its address")


def ctypes_of(x: ndarray) -> Any:
    """Return ``x.ctypes``.

    Raises
    ------
    AttributeError
        For an array in a GPU's memory: what C writes to a copy would be lost. And for results that act as NumPy's
        scalars, which have no such attribute.
    """
    memory = host_only_memory(x)
    if memory is not None:
        return memory.ctypes
    if is_scalar(x):
        raise AttributeError("the 0-d result of an operation has no attribute 'ctypes'")
    if not x.device.shares_host_memory and memory_on_host(x) is None:
        raise _without_ctypes(x)
    return Ctypes(x)


def array_interface(x: ndarray) -> NoReturn:
    """Raise AttributeError: there is no ``__array_interface__``.

    NumPy would take it in the place of ``__array__``. With the array's memory in it `numpy.asarray` would not copy, and
    with a copy ``numpy.asarray(x, copy=False)`` would return that copy silently.
    """
    raise AttributeError("an array of gpunumpy has no __array_interface__; x.get(), which is NumPy's array, has one")


# --- imports ----------------------------------------------------------------------------------------------------------


def _device(code: tuple[int, int]) -> Device:
    """Return the device with DLPack's code and number. Raise BufferError for an unsupported kind of device."""
    kind, index = int(code[0]), int(code[1])
    if kind in (_CUDA, _CUDA_MANAGED):
        return Device(f"cuda:{index}")
    if kind in (_CPU, _CUDA_HOST):
        return CPU
    raise BufferError(f"DLPack's device {kind} is none that gpunumpy reaches; {allowed((_CPU, _CUDA))}")


def from_dlpack(x: Any, /, *, device: Device | str | int | None = None, copy: bool | None = None) -> ndarray:
    """Make an array over the memory of another library's array. See `numpy.from_dlpack`.

    Parameters
    ----------
    x : object
        An object with ``__dlpack__`` and ``__dlpack_device__``.
    device : Device, str, int or None
        The device of the result; by default the device of `x`.
    copy : bool or None
        True for a copy, False for the memory of `x` itself, None for a copy only if necessary.

    Raises
    ------
    BufferError
        If the request cannot be met.
    """
    copy = copy_mode(copy)
    sweep()
    stream_order.sweep()
    if isinstance(x, ndarray):
        result = make_view(x, x.layout)  # a view: aliasing between the two arrays stays known
        source = x.device
    else:
        if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
            raise TypeError(f"{type(x).__name__!r} has no __dlpack__ and __dlpack_device__; asarray takes other data")
        source = _device(x.__dlpack_device__())
        options = {"stream": int(source.stream)} if source.has_stream else {}
        changes = type(x).__module__.partition(".")[0] not in _IMMUTABLE
        result = _from_capsule(_capsule(x, options), source, changes)
    target = source if device is None else Device(device)
    if copy or target is not source:
        if copy is False:
            raise BufferError(f"copy=False, but {_why_copy(result, target)}")
        return _computed_copy(result, target)
    return result


def _capsule(x: Any, options: dict[str, Any]) -> Any:
    """Return a capsule from another library's array, with flags if that library supports them."""
    try:
        return x.__dlpack__(max_version=(1, 0), **options)
    except TypeError:  # a producer from before DLPack 1.0
        return x.__dlpack__(**options)


def _from_capsule(capsule: Any, device: Device, changes: bool) -> ndarray:
    """Open a capsule and return an array over its memory, on `device`, which may be written if it `changes`."""
    tensor, owner = open_capsule(capsule)
    if _device(tensor.device) is not device:
        raise BufferError(f"__dlpack_device__ says {device} and the capsule {_device(tensor.device)}")
    dtype = _DTYPE.get(tensor.dtype)
    if dtype is None:
        raise BufferError(f"DLPack's type {tensor.dtype} (code, bits) is not supported; {allowed(dtypes.NAMES)}")
    if _is_padded(tensor.dtype, dtype) and not tensor.flags & IS_PADDED:
        raise BufferError(f"elements of {dtype} that share a byte are not supported, only one byte for each")
    writeable = changes and not tensor.flags & FLAG_READ_ONLY
    borrowed = stream_order.Borrowed(device, owner)
    return array_over(tensor.ptr, tensor.shape, tensor.strides, dtype, device, borrowed, writeable)


def from_interface(x: Any) -> ndarray | None:
    """Return an array over the memory of an object with ``__cuda_array_interface__``; None for other objects."""
    interface = getattr(x, "__cuda_array_interface__", None)
    if interface is None or isinstance(x, ndarray):
        return None
    stream_order.sweep()
    if interface.get("mask") is not None:
        raise BufferError("__cuda_array_interface__ with a mask is not supported")
    if not numpy.dtype(interface["typestr"]).isnative:
        raise BufferError(f"bytes in the order of {interface['typestr']!r} are not supported")
    dtype = dtypes.check(interface["typestr"])
    shape = tuple(interface["shape"])
    ptr, read_only = interface["data"]
    told = getattr(x, "device", None)  # the driver does not tell the GPU of a program's constants
    device = told if isinstance(told, Device) else stream_order.device_of(ptr)
    stream = interface.get("stream")
    if stream is not None:
        stream_order.wait_for(device, _stream_handle(stream))
    byte_strides = interface.get("strides")
    if byte_strides is None:
        strides = layout.c_strides(shape)
    elif any(s % dtype.itemsize for s in byte_strides):
        raise BufferError(
            f"strides {byte_strides} that are no whole elements of {dtype.itemsize} bytes are not supported"
        )
    else:
        strides = tuple(s // dtype.itemsize for s in byte_strides)
    borrowed = stream_order.Borrowed(device, x)
    return array_over(ptr, shape, strides, dtype, device, borrowed, not read_only)


creation.DEVICE_ARRAY_IMPORTERS.append(from_interface)


def array_over(
    ptr: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: DType,
    device: Device,
    owner: object,
    writeable: bool,
) -> ndarray:
    """Return an array over another library's memory, which `owner` keeps alive; strides in elements."""
    queue = evaluate.queue_of(device)
    if 0 in shape:
        empty = graph.leaf(memory.allocate(device, 0), dtype, Layout(shape, layout.c_strides(shape), 0), queue)
        return wrap_leaf(empty)
    where = Layout(shape, strides, 0)
    low, high = where.low(), where.high()
    first = ptr + low * dtype.itemsize
    if first % dtype.alignment and device is not CPU:
        raise BufferError(f"memory at {first:#x} is not aligned for {dtype.name}")
    buffer = memory.foreign_buffer(first, (high - low + 1) * dtype.itemsize, owner, device)
    packed = layout.is_c_contiguous(shape, strides)
    buffer_shape = shape if packed else (high - low + 1,)
    # Booleans are a view of bytes: see `core.recording.array`.
    owner_dtype = numpy.dtype(numpy.uint8) if dtype == dtypes.BOOL else dtype
    array = wrap_leaf(graph.leaf(buffer, owner_dtype, Layout(buffer_shape, layout.c_strides(buffer_shape), 0), queue))
    if not writeable:
        array._flags |= READ_ONLY | ALWAYS_READ_ONLY
    if owner_dtype != dtype:
        return make_view(array, Layout(shape, strides, -low), "view", dtype)
    return array if packed else make_view(array, Layout(shape, strides, -low))
