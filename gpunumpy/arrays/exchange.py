"""Arrays to and from other libraries without a copy: DLPack, ``__cuda_array_interface__``, raw pointers.

Both sides then see one memory. Ours are computed before they are handed out and written in place from then on; what is
recorded from such an array and still pending sees what the other library has written meanwhile.
"""

from __future__ import annotations

from typing import Any

import numpy

from ..core import dtypes
from ..core.dtypes import DType
from ..core.errors import allowed
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.layout import Layout
from ..core.graph.node import Node
from ..core.recording.array import READ_ONLY, is_scalar, make_view, ndarray, wrap_leaf
from ..core.runtime import evaluate, memory
from ..core.runtime.device import CPU, Device
from ..functions.creation import arrays as creation
from . import stream_order
from .dlpack import IS_COPIED, Description, Taken, make_capsule, open_capsule, sweep
from .dlpack import READ_ONLY as FLAG_READ_ONLY

__all__ = ["from_dlpack"]

# DLPack's numbers: pinned host memory and managed memory are reached as the host's and the GPU's own.
_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13
_CODES = {"b": 6, "i": 0, "u": 1, "e": 2, "f": 2, "c": 5}
_CODE = {
    dtype: (4 if dtype == dtypes.bfloat16 else _CODES[kind], 8 * dtype.itemsize) for dtype, kind in dtypes.KIND.items()
}
_DTYPE = {code: dtype for dtype, code in _CODE.items()}


def _release(device: Device) -> None:
    """Drop the memory that other libraries, or our streams, have finished with."""
    sweep()
    stream_order.sweep()


memory.out_of_memory_hooks.append(_release)


# --- out --------------------------------------------------------------------------------------------------------------


def _shared(x: ndarray) -> tuple[Node, Layout]:
    """The computed value of an array whose memory someone else is about to see, and where it lies."""
    node = x.computed()
    evaluate.check_errors(x.queue)
    node.data.exported = True
    return node, graph.leaf_layout(node)


def _pointer(x: ndarray) -> tuple[int, Layout]:
    node, where = _shared(x)
    return node.data.ptr + where.offset * x.itemsize, where


def data_ptr(x: ndarray) -> int:
    """The address of the first element, on the array's device.

    Whoever writes there must order that after the work on our stream; the legacy default stream is ordered by itself.
    """
    return _pointer(x)[0]


def host_window(x: ndarray) -> Any:
    """The memory of an array of the CPU device, as a NumPy array."""
    node, where = _shared(x)
    unit = x.itemsize
    strides = tuple(s * unit for s in where.strides)
    window = numpy.ndarray(where.shape, x.dtype, node.data.host, where.offset * unit, strides)
    window.flags.writeable = x.writeable and not is_scalar(x)
    return window


def dlpack_device(x: ndarray) -> tuple[int, int]:
    """The kind and the number of the array's device, as DLPack counts them."""
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
    """The array in a DLPack capsule, for another library's `from_dlpack`.

    Parameters
    ----------
    stream : int or None
        The consumer's CUDA stream, which will wait for ours: None or 1 for the legacy default one, 2 for the
        per-thread one, -1 for no waiting. None for the CPU.
    max_version : tuple or None
        The newest DLPack that the consumer knows; without it, it knows no flags.
    dl_device : tuple or None
        The device that it is wanted on, if not the array's own.
    copy : bool or None
        True for memory of its own, False for none but the array's, None for the array's where that can be.

    Raises
    ------
    BufferError
        If it cannot be had as asked.
    """
    if stream is not None and not x.device.has_stream:
        raise ValueError(f"an array on the CPU has no stream, so stream must be None, not {stream!r}")
    flags = 0
    target = x.device if dl_device is None else _device(dl_device)
    # The 0-d result of an operation never changes, so no one gets its own memory to write to.
    if copy or target is not x.device or is_scalar(x):
        if copy is False:
            raise BufferError(f"copy=False, but {_why_copy(x, target)}")
        x = _copied(x, target)
        flags |= IS_COPIED
    versioned = max_version is not None and max_version[0] >= 1
    if not x.writeable:
        if not versioned:
            raise BufferError("the array is read-only, which DLPack can say since version 1.0: ask with max_version")
        flags |= FLAG_READ_ONLY
    ptr, where = _pointer(x)
    buffer = x.computed().data
    if target.has_stream and stream != -1:
        handle = _stream(stream)
        stream_order.consumer_waits(target, handle)
        if handle != stream_order.LEGACY:
            buffer.used_elsewhere()
    what = Description(ptr, (target.dlpack_type, target.index), _CODE[x.dtype], where.shape, where.strides, flags)
    return make_capsule(what, versioned, buffer)


def _why_copy(x: ndarray, target: Device) -> str:
    if target is not x.device:
        return f"the array is on {x.device} and is wanted on {target}"
    return "the 0-d result of an operation is handed out as a copy"


def _copied(x: ndarray, target: Device) -> ndarray:
    made = creation.array(x, copy=True, device=target)
    made.computed()
    return made


def _stream(stream: int | None) -> int:
    """The handle of the consumer's stream, by DLPack's rules for CUDA."""
    if stream is None:
        return stream_order.LEGACY
    if not isinstance(stream, int) or stream == 0 or stream < -1:
        raise ValueError(f"stream {stream!r} names no CUDA stream; {allowed(('None', -1, 1, 2, 'a stream handle'))}")
    return stream


def cuda_array_interface(x: ndarray) -> dict[str, Any]:
    """The array's memory, as version 3 of the CUDA array interface describes it."""
    device = x.device
    if device.dlpack_type != _CUDA:
        raise AttributeError(f"__cuda_array_interface__: the array is on {device}")
    if x.dtype == dtypes.bfloat16:
        raise AttributeError("__cuda_array_interface__ has no type for bfloat16; DLPack has")
    ptr, where = _pointer(x)
    packed = layout.is_c(where.shape, where.strides)
    return {
        "version": 3,
        "shape": where.shape,
        "typestr": x.dtype.str,
        "descr": [("", x.dtype.str)],
        "data": (ptr if x.size else 0, not x.writeable or is_scalar(x)),
        "strides": None if packed else tuple(s * x.itemsize for s in where.strides),
        "stream": int(device.stream),
    }


# --- in ---------------------------------------------------------------------------------------------------------------


def _device(code: tuple[int, int]) -> Device:
    kind, index = int(code[0]), int(code[1])
    if kind in (_CUDA, _CUDA_MANAGED):
        return Device(f"cuda:{index}")
    if kind in (_CPU, _CUDA_HOST):
        return CPU
    raise BufferError(f"DLPack's device {kind} is none that gpunumpy reaches; {allowed((_CPU, _CUDA))}")


def from_dlpack(x: Any, /, *, device: Device | str | int | None = None, copy: bool | None = None) -> ndarray:
    """An array over the memory of another library's array. See `numpy.from_dlpack`.

    Parameters
    ----------
    x : object
        Anything with ``__dlpack__`` and ``__dlpack_device__``.
    device : Device, str, int or None
        Where it is wanted; by default where it is.
    copy : bool or None
        True for memory of its own, False for none but `x`'s, None for `x`'s where that can be.

    Raises
    ------
    BufferError
        If it cannot be had as asked.
    """
    sweep()
    stream_order.sweep()
    if isinstance(x, ndarray):
        made = make_view(x, x.layout)  # the very same memory, and known as such
        source = x.device
    else:
        if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
            raise TypeError(f"{type(x).__name__!r} has no __dlpack__ and __dlpack_device__")
        source = _device(x.__dlpack_device__())
        options = {"stream": int(source.stream)} if source.has_stream else {}
        made = _opened(_capsule(x, options), source)
    target = source if device is None else Device(device)
    if copy or target is not source:
        if copy is False:
            raise BufferError(f"copy=False, but {_why_copy(made, target)}")
        return _copied(made, target)
    return made


def _capsule(x: Any, options: dict[str, Any]) -> Any:
    try:
        return x.__dlpack__(max_version=(1, 0), **options)
    except TypeError:  # a producer from before DLPack 1.0
        return x.__dlpack__(**options)


def _opened(capsule: Any, device: Device) -> ndarray:
    what, taken = open_capsule(capsule)
    if _device(what.device) is not device:
        raise BufferError(f"__dlpack_device__ says {device} and the capsule {_device(what.device)}")
    dtype = _DTYPE.get(what.dtype)
    if dtype is None:
        raise BufferError(f"DLPack's type {what.dtype} (code, bits) is not supported; {allowed(dtypes.NAMES)}")
    return _over(what.ptr, what.shape, what.strides, dtype, device, taken, not what.flags & FLAG_READ_ONLY)


def from_interface(x: Any) -> ndarray | None:
    """An array over the memory of an object with ``__cuda_array_interface__``; None if it has none."""
    found = getattr(x, "__cuda_array_interface__", None)
    if found is None or isinstance(x, ndarray):
        return None
    stream_order.sweep()
    if found.get("mask") is not None:
        raise BufferError("__cuda_array_interface__ with a mask is not supported")
    if not numpy.dtype(found["typestr"]).isnative:
        raise BufferError(f"bytes in the order of {found['typestr']!r} are not supported")
    dtype = dtypes.check(found["typestr"])
    shape = tuple(found["shape"])
    ptr, read_only = found["data"]
    device = stream_order.device_of(ptr)
    stream = found.get("stream")
    if stream is not None:
        stream_order.wait_for(device, _stream(stream))
    strides = found.get("strides")
    if strides is None:
        steps = layout.c_strides(shape)
    elif any(s % dtype.itemsize for s in strides):
        raise BufferError(f"strides {strides} that are no whole elements of {dtype.itemsize} bytes are not supported")
    else:
        steps = tuple(s // dtype.itemsize for s in strides)
    return _over(ptr, shape, steps, dtype, device, x, not read_only)


creation.READERS.append(from_interface)


def _over(
    ptr: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: DType,
    device: Device,
    thing: Taken | object,
    writeable: bool,
) -> ndarray:
    """An array over memory that `thing` keeps alive; strides in elements."""
    queue = evaluate.queue_of(device)
    if 0 in shape:
        empty = graph.leaf(memory.allocate(device, 0), dtype, Layout(shape, layout.c_strides(shape), 0), queue)
        return wrap_leaf(empty)
    where = Layout(shape, strides, 0)
    low, high = where.low(), where.high()
    first = ptr + low * dtype.itemsize
    if first % dtype.alignment and device is not CPU:
        raise BufferError(f"memory at {first:#x} is not aligned for {dtype.name}")
    owner = stream_order.Borrowed(device, thing)
    buffer = memory.foreign(first, (high - low + 1) * dtype.itemsize, owner, device)
    packed = layout.is_c(shape, strides)
    whole = shape if packed else (high - low + 1,)
    array = wrap_leaf(graph.leaf(buffer, dtype, Layout(whole, layout.c_strides(whole), 0), queue))
    if not writeable:
        array._flags |= READ_ONLY
    return array if packed else make_view(array, Layout(shape, strides, -low))
