"""CuPy beside this package: whether it is there, arrays over the same memory, and its current stream.

Nothing is copied. An array that CuPy gets shows this package's memory, and an array that CuPy returns is shown by one
of this package. CuPy works on the device's stream, so neither waits for the other.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any, NamedTuple

from ..arrays.exchange import array_over
from ..core import dtypes
from ..core.graph import node as graph
from ..core.late_imports import import_late
from ..core.recording.array import MADE_AS_ARRAY, ndarray
from ..core.runtime import memory
from ..core.runtime.device import Device
from ..core.runtime.memory import Buffer


@cache
def cupy() -> Any:
    """Return the module `cupy`, or None where it is not installed or cannot be used."""
    try:
        return import_late("cupy")
    except ImportError:
        return None


@cache
def cupyx(path: str) -> Any:
    """Return a module of `cupyx.scipy`, such as "sparse.linalg", or None where CuPy or that module is missing."""
    if cupy() is None:
        return None
    try:
        return import_late(f"cupyx.scipy.{path}")
    except ImportError:
        return None


def shares_memory_of(device: Device) -> bool:
    """Return whether CuPy uses memory of the device's kind."""
    return device.has_stream


@cache
def stream_of(device: Device) -> Any:
    """Return the stream of a GPU as CuPy's object, which is a context in which CuPy works on that stream."""
    return cupy().cuda.ExternalStream(int(device.stream), device.index)


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
    library = cupy()
    dtype = x.dtype
    if dtype.kind not in "biufc":
        raise TypeError(f"CuPy has no dtype {dtype}")
    node = x.memory()
    buffer = node.data
    buffer.awaited()
    staying.add(buffer)
    where = graph.leaf_layout(node)
    itemsize = dtype.itemsize
    whole = library.cuda.UnownedMemory(buffer.ptr, buffer.nbytes, buffer, x.device.index)
    first = library.cuda.MemoryPointer(whole, where.offset * itemsize)
    cupy_array = library.ndarray(where.shape, dtype, first, tuple(s * itemsize for s in where.strides))
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


def adopt(x: Any, device: Device) -> ndarray:
    """Return an array over the memory of CuPy's array; one without dimensions acts as a scalar."""
    dtype = dtypes.check(x.dtype)
    strides = tuple(s // dtype.itemsize for s in x.strides)
    array = array_over(x.data.ptr, x.shape, strides, dtype, device, x, True)
    if not x.shape:
        array._flags &= ~MADE_AS_ARRAY
    return array
