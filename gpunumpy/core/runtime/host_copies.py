"""Residence: which memory has the bytes of a buffer, that of its device, that of the host, or both.

A look at a value of a GPU (`float`, `print`, an element in a loop) needs bytes on the host. The host keeps a copy of a
small buffer from the first look on, and further looks are free until the device overwrites the buffer. Copies never
decide where an operation runs: looking changes no result.

Some bytes are on the host alone, until the device asks for their address: small data that the program gave, of which
the GPU, perhaps without a context yet, need not know; and a value that is computed because the program looks at it. Its
kernel stores that to memory of the host, so the look waits for the kernel and copies nothing.
"""

from __future__ import annotations

from typing import Any

import numpy
from numpy.lib.stride_tricks import as_strided

from ..graph.layout import Layout
from .device import CPU, Device, check, driver, is_lost, refuse_capture
from .memory import Buffer, address, allocate_for_all_work, pinned, pool_of, staying
from .memory_copy import copy_to_host, fill_new
from .memory_pool import BufferState

# A buffer up to this size is copied as a whole at the first look at a part of it: the time is that of the wait.
COPIED_BYTES = 1 << 14
_SLOT_BYTES = 64  # of memory of the host that a GPU writes a value to: a cache line
_PAGE_SLOTS = 64
_STATE: Any = BufferState  # the fields of buffers, of which those below compute one


class HostCopy:
    """The bytes of a buffer of a GPU on the host.

    The copy belongs to the buffer before its content is fetched. So a write that comes in between, after which the
    buffer drops its copy, cannot leave an old content valid.

    Attributes
    ----------
    content : numpy.ndarray or None
        The bytes; None until they are fetched.
    is_in_memory : bool
        Whether the content is there as a whole, and not made of what is read for each look.
    """

    is_in_memory = True

    __slots__ = ("content",)

    def __init__(self, content: numpy.ndarray | None = None) -> None:
        self.content = content

    @property
    def nbytes(self) -> int:
        """The number of bytes of the content; 0 until it is fetched."""
        return 0 if self.content is None else self.content.nbytes

    def part(self, start: int, stop: int) -> numpy.ndarray:
        """Return the bytes from `start` to before `stop`, once the content is there."""
        assert self.content is not None
        return self.content[start:stop]

    def window(self, dtype: Any, where: Layout) -> numpy.ndarray:
        """Return the elements that a layout over elements of `dtype` selects."""
        low, itemsize = where.low(), dtype.itemsize
        elements = self.part(low * itemsize, (where.high() + 1) * itemsize).view(dtype)[where.offset - low :]
        return as_strided(elements, where.shape, [stride * itemsize for stride in where.strides], writeable=False)


def bytes_on_host(buffer: Buffer) -> numpy.ndarray | None:
    """Return the bytes of a buffer on the host, to be read only.

    Waits for the device where the host has no valid copy. None for a buffer that is too large, or that code outside of
    the package can write to.
    """
    if isinstance(copy := buffer.owner, HostCopy):  # the bytes were moved there
        return copy.content if copy.is_in_memory else None
    if buffer.host is not None:
        return buffer.host
    if buffer.exported:
        return None
    copy = buffer.copy
    if copy is None:
        if buffer.nbytes > COPIED_BYTES:
            return None
        copy = buffer.copy = HostCopy()
    if copy.content is None:
        copy.content = copy_to_host(buffer, 0, buffer.nbytes)
    return copy.content


def is_on_host(buffer: Buffer, content: numpy.ndarray) -> bool:
    """Return whether what `bytes_on_host` returned is still what the buffer has."""
    copy = buffer.owner if buffer.is_spilled else buffer.copy
    if isinstance(copy, HostCopy) and copy.is_in_memory and copy.content is content:
        return True
    return not buffer.is_spilled and buffer.host is content


class _BufferOnHost(Buffer):
    """A buffer of a GPU whose bytes are on the host, until the device asks for their address."""

    __slots__ = ("_blocks",)

    def __init__(self, device: Device, nbytes: int) -> None:
        self._blocks: list[Buffer] = []
        self.device = device
        self.phase = 0
        self.nbytes = nbytes
        self.host = None
        self.copy = None
        self.exported = False
        self.owner = None

    def __repr__(self) -> str:
        """Return the size and the device; the address would move the bytes."""
        return f"<{self.nbytes} bytes of the host for {self.device}>"

    def _address(self, content: numpy.ndarray | None) -> int:
        """Return the address of the bytes on the device, to which `content` is copied if they are not there yet."""
        blocks = self._blocks
        if not blocks:
            assert content is not None
            block = allocate_for_all_work(self.device, self.nbytes)
            block.exported = True  # it stays where it is
            fill_new(block, content, borrow=True)  # a few bytes that nobody changes
            blocks.append(block)  # a signal handler or another thread may have come first: then its block is the one
            del blocks[1:]
            _STATE.ptr.__set__(self, blocks[0].ptr)  # where the compiled core reads it from now on
        return blocks[0].ptr

    def mark_used_by_other_stream(self) -> None:
        for block in self._blocks:
            block.mark_used_by_other_stream()


class GivenBuffer(_BufferOnHost):
    """Bytes that the program gave."""

    __slots__ = ("_content",)

    def __init__(self, device: Device, content: numpy.ndarray) -> None:
        super().__init__(device, content.nbytes)
        self._content: numpy.ndarray | None = content
        self.copy = HostCopy(content)

    @property
    def ptr(self) -> int:  # type: ignore[override]
        """The address on the device."""
        address = self._address(self._content)
        self._content = None
        return address

    def awaited(self, start: int = 0, stop: int | None = None) -> numpy.ndarray | None:
        """Return the bytes; None once they are in the device's memory, where others may be."""
        content = self._content
        return None if self._blocks or content is None else content[start:stop]


def buffer_with(data: numpy.ndarray, device: Device) -> Buffer:
    """Return a buffer of a device with the bytes of an array in C order, which may be changed afterwards."""
    if device is not CPU and data.nbytes <= COPIED_BYTES and not is_lost(device):
        return GivenBuffer(device, data.reshape(-1).view(numpy.uint8).copy())
    buffer = allocate_for_all_work(device, data.nbytes)
    with staying(buffer):
        fill_new(buffer, data)
        buffer.copy = None  # another thread may have moved the buffer before it was filled, which leaves a copy
    if device.has_spilled:
        pool_of(device).note_uses((buffer,))
    return buffer


class VisibleBuffer(_BufferOnHost):
    """A few bytes for a value that the host is about to read: memory of the host, to which a GPU writes them.

    Attributes
    ----------
    is_read
        Whether the host has read the value. From then on `ptr` is in memory of the device, where kernels read faster.
    """

    __slots__ = ("_slot", "is_read")

    def __init__(self, device: Device, nbytes: int) -> None:
        super().__init__(device, nbytes)
        self.is_read = False
        self._slot = _take_slot(device)

    def __del__(self) -> None:  # type: ignore[override]
        """Release the memory of the host. Work that is queued for it comes before that of its next user."""
        try:
            _free_slots[self.device].append(self._slot)
        except (AttributeError, KeyError):  # an exception ended `__init__`, or this is a forked child
            return

    @property
    def ptr(self) -> int:  # type: ignore[override]
        """The address for the device."""
        return self._address(self._slot[0][: self.nbytes]) if self.is_read else self._slot[1]

    def awaited(self, start: int = 0, stop: int | None = None) -> numpy.ndarray | None:
        """Wait for the device and return the bytes; None once they are in the device's memory, where others may be."""
        if self._blocks:
            return None
        refuse_capture(self.device, "a look at a value")
        self.device.activate()
        check(driver().cuStreamSynchronize(self.device.stream))
        self.is_read = True
        return self._slot[0][start : self.nbytes if stop is None else stop]


# The bytes of a slot, and their address for the device.
_Slot = tuple[numpy.ndarray, int]
_free_slots: dict[Device, list[_Slot]] = {}


def _take_slot(device: Device) -> _Slot:
    """Return memory of the host that a GPU can write to."""
    try:
        return _free_slots[device].pop()
    except (KeyError, IndexError):
        pass
    page = pinned(_PAGE_SLOTS * _SLOT_BYTES, device)
    start = int(check(driver().cuMemHostGetDevicePointer(address(page), 0)))
    slots = [(page[k : k + _SLOT_BYTES], start + k) for k in range(0, page.size, _SLOT_BYTES)]
    _free_slots.setdefault(device, []).extend(slots[1:])
    return slots[0]
