"""Guarded copies of host buffers: what a kernel may touch ends where readable memory ends."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence
from types import TracebackType

import numpy

_PAGE = mmap.PAGESIZE
_GUARD = max(_PAGE, 1 << 20)  # of address space alone: nothing ever lives there
_PROTECTION = {"none": 0, "read": mmap.PROT_READ, "write": mmap.PROT_READ | mmap.PROT_WRITE}
_RED = 0xA5  # fills what lies between a buffer and its pages' ends

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


class GuardedBuffer:
    """A copy of `nbytes` at `address` that ends, up to 16-byte alignment, where inaccessible memory begins.

    An access past the end, or more than a page before the start, faults; a write nearby is found by `check`.
    """

    def __init__(self, address: int, nbytes: int, writable: bool = True) -> None:
        self._home, self.nbytes, self._writable = address, nbytes, writable
        # The copy keeps the original's place within 16 bytes, on which the alignment of its views depends.
        skew = address % 16
        body = -(-(skew + nbytes) // 16) * 16
        pages = max(1, -(-body // _PAGE)) * _PAGE
        self._map = mmap.mmap(-1, pages + 2 * _GUARD)
        self._view = numpy.frombuffer(self._map, numpy.uint8)
        self._base = self._view.ctypes.data
        self._start = _GUARD + pages - body + skew
        self._inner = slice(_GUARD, _GUARD + pages)
        self._view[self._inner] = _RED
        self._content[:] = _bytes_at(address, nbytes)
        self._protect(0, _GUARD, "none")
        self._protect(_GUARD, pages, "write" if writable else "read")
        self._protect(_GUARD + pages, _GUARD, "none")

    @property
    def _content(self) -> numpy.ndarray:
        return self._view[self._start : self._start + self.nbytes]

    @property
    def address(self) -> int:
        """Where the copy begins."""
        return self._base + self._start

    def translate(self, address: int) -> int:
        """The place in the copy of an `address` in the original."""
        return address - self._home + self.address

    def damage(self) -> str | None:
        """What was written around the buffer, in words, or None."""
        start, stop = self._inner.start, self._inner.stop
        before = numpy.flatnonzero(self._view[start : self._start] != _RED)
        after = numpy.flatnonzero(self._view[self._start + self.nbytes : stop] != _RED)
        if len(before):
            return f"a write {self._start - start - int(before[-1])} bytes before its start"
        if len(after):
            return f"a write {int(after[0]) + 1} bytes past its end"
        return None

    def copy_back(self) -> None:
        """Copy what the kernel wrote to the original."""
        if self._writable:
            _bytes_at(self._home, self.nbytes)[:] = self._content

    def close(self) -> None:
        """Give the pages back."""
        del self._view
        self._map.close()

    def _protect(self, start: int, nbytes: int, how: str) -> None:
        if _libc.mprotect(self._base + start, nbytes, _PROTECTION[how]):
            raise OSError(ctypes.get_errno(), "mprotect")


class Staging:
    """The guarded copies of all the memory that `arrays` are views of; without `guard`, the originals themselves.

    Used as a context: on the way out the copies are written back, unless an error is on its way, and given back.
    """

    def __init__(self, arrays: Sequence[numpy.ndarray], guard: bool) -> None:
        wanted: dict[tuple[int, int], bool] = {}
        if guard:
            for array in arrays:
                key = _memory(array)
                wanted[key] = wanted.get(key, False) or array.flags.writeable
        self._buffers = {key: GuardedBuffer(*key, writable) for key, writable in wanted.items()}

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for buffer in self._buffers.values():
            if error is None:
                buffer.copy_back()
            buffer.close()

    def address(self, array: numpy.ndarray) -> int:
        """The address, for a kernel, of the first element of one of the arrays."""
        buffer = self._buffers.get(_memory(array))
        return buffer.translate(array.ctypes.data) if buffer else array.ctypes.data

    def damages(self) -> list[str]:
        """What was written outside the buffers, in words."""
        found = ((buffer.nbytes, buffer.damage()) for buffer in self._buffers.values())
        return [f"of {nbytes} bytes, {damage}" for nbytes, damage in found if damage]


def _memory(array: numpy.ndarray) -> tuple[int, int]:
    """The address and the size of the memory that `array` is a view of."""
    while isinstance(array.base, numpy.ndarray):
        array = array.base
    return array.ctypes.data, array.nbytes


def _bytes_at(address: int, nbytes: int) -> numpy.ndarray:
    return numpy.frombuffer((ctypes.c_ubyte * nbytes).from_address(address), numpy.uint8, nbytes)
