"""CuPy beside this package: whether it is there, arrays over the same memory, and its current stream.

Nothing is copied. An array that CuPy gets shows this package's memory, and an array that CuPy returns is shown by one
of this package. CuPy works on the device's stream, so neither waits for the other.
"""

from __future__ import annotations

import sys
import warnings
from functools import cache
from typing import Any, NamedTuple

from ..arrays.exchange import array_over
from ..core import dtypes
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.queue import Queue
from ..core.late_imports import import_late
from ..core.recording.array import MADE_AS_ARRAY, ndarray, wrap_leaf
from ..core.runtime import memory
from ..core.runtime.device import Device, refuse_capture
from ..core.runtime.memory import Buffer


@cache
def cupy() -> Any:
    """Return the module `cupy`, or None where it is not installed or cannot be used."""
    try:
        module = import_late("cupy")
    except ImportError:
        return None
    memory.out_of_memory_hooks.append(_give_back)
    return module


def _give_back(device: Device) -> None:
    """Have CuPy give back the free memory that it keeps for later arrays."""
    if shares_memory_of(device):
        device.activate()
        cupy().get_default_memory_pool().free_all_blocks()


@cache
def cupyx(path: str) -> Any:
    """Return a module of `cupyx.scipy`, such as "sparse.linalg", or None where CuPy or that module is missing."""
    if cupy() is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "cupyx.jit.rawkernel is experimental", FutureWarning)  # CuPy's own use
            return import_late(f"cupyx.scipy.{path}")
    except ImportError:
        return None


def shares_memory_of(device: Device) -> bool:
    """Return whether CuPy uses memory of the device's kind."""
    return device.has_stream


class _Stream:
    """The stream of a GPU, by the protocol of CUDA's Python packages."""

    def __init__(self, device: Device) -> None:
        self._handle = int(device.stream)

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return the version of the protocol, and the handle."""
        return 0, self._handle


def stream_of(device: Device) -> Any:
    """Return the stream of a GPU, which is made the current one, as CuPy's object: a context in which CuPy uses it."""
    refuse_capture(device, "a function of cupyx.scipy, whose memory is CuPy's,")
    device.activate()
    return _stream_of(device)


@cache
def _stream_of(device: Device) -> Any:
    return cupy().cuda.Stream.from_external(_Stream(device))


class Lent(NamedTuple):
    """An array that CuPy has for a call."""

    array: ndarray
    cupy_array: Any
    buffer: Buffer
    references: tuple[int, int, int]


def lend(x: ndarray, staying: memory.staying) -> Lent:
    """Return CuPy's array over the memory of an array, which stays where it is in a context.

    Raises
    ------
    TypeError
        If CuPy has no such dtype.
    """
    node = x._node
    if x._base is not None or node.data is None:
        node = x.memory()
    signature = node.signature
    dtype, shape = signature.dtype, signature.shape
    if dtype.kind not in "biufc":
        raise TypeError(f"CuPy has no dtype {dtype}")
    buffer = node.data
    buffer.awaited()
    staying.add(buffer)
    leaf: Any = signature.primitive
    itemsize, strides = dtype.itemsize, leaf.strides
    cuda = cupy().cuda
    whole = cuda.UnownedMemory(buffer.ptr, buffer.nbytes, buffer, buffer.device.index)
    first = cuda.MemoryPointer(whole, (node.offset + leaf.origin) * itemsize)
    byte_strides = None if strides == layout.c_layout(shape).strides else tuple([s * itemsize for s in strides])
    cupy_array = cupy().ndarray(shape, dtype, first, byte_strides)
    buffer.copy = None  # of the host, which does not see what CuPy writes
    del whole, first
    return Lent(x, cupy_array, buffer, _references(cupy_array))


def _references(x: Any) -> tuple[int, int, int]:
    """Return how many references there are to CuPy's array, to its pointer and to its memory."""
    pointer = x.data
    return sys.getrefcount(x), sys.getrefcount(pointer), sys.getrefcount(pointer.mem)


def take_back(lent: Lent) -> None:
    """Have memory count as exported if something of CuPy's, such as a view, still shows it after the call."""
    if _references(lent.cupy_array) != lent.references:
        lent.buffer.exported = True


def adopt(x: Any, queue: Queue) -> ndarray:
    """Return an array over the memory of CuPy's array; one without dimensions acts as a scalar."""
    dtype, shape = dtypes.check(x.dtype), x.shape
    if x.flags.c_contiguous and x.size and dtype != dtypes.BOOL:
        buffer = memory.foreign_buffer(x.data.ptr, x.nbytes, x, queue.device)
        array = wrap_leaf(graph.leaf(buffer, dtype, layout.c_layout(shape), queue))
    else:
        strides = tuple(s // dtype.itemsize for s in x.strides)
        array = array_over(x.data.ptr, shape, strides, dtype, queue.device, x, True)
    if not shape:
        array._flags &= ~MADE_AS_ARRAY
    return array
