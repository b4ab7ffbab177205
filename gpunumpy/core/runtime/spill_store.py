"""Where values go for which a device has no room: page-locked memory of the host, other memory, files.

Page-locked memory comes first, as a GPU copies to it at the full rate of the link. No other program can use it, so a
quarter of the machine's memory stays free of it; it is kept for later values, since to lock pages takes longer than to
copy to them. Then comes
pageable memory as long as the machine has enough, and then a file in the folder that ``GPUNUMPY_SPILL_DIR`` names. A
value of the CPU device goes to a file at once if there is a folder: memory of the host is what it leaves.
"""

from __future__ import annotations

import mmap
import os
import weakref
from collections import defaultdict
from contextlib import suppress
from typing import NamedTuple

import numpy

from ..fork import fork_count
from ..late_imports import import_late
from .device import CPU, Device
from .memory import address, host_view, pinned
from .memory_pool import size_class
from .moves import PinnedBlock

# Of the memory of the machine: what stays free of page-locked values, and of all if there is a folder.
_UNLOCKED_SHARE = 1 / 4
_FREE_SHARE = 1 / 8
# What a container may use and uses, as Linux tells it in versions 2 and 1 of control groups.
_CONTAINER_FILES = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


class Place(NamedTuple):
    """Bytes of the host for a value, and the page-locked memory that they are in, if it is such."""

    content: numpy.ndarray
    pinned: PinnedBlock | None


class SpillStore:
    """The places for values of one device."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._pinned_limit = 0 if device is CPU else 1 << 62
        self._pinned_bytes = 0
        self._free: defaultdict[int, list[PinnedBlock]] = defaultdict(list)  # page-locked blocks, by size class
        self._shared: list[PinnedBlock] = []  # that a forked child may read: not for other values
        self.why_full = ""  # the reason why the last value found no place

    def place(self, nbytes: int, to_lock: bool = True) -> Place | None:
        """Return a place for so many bytes, or None if there is none; it is free when nobody refers to its content."""
        block = self._pinned_block(size_class(nbytes)) if to_lock else None
        if block is not None:
            content = host_view(address(block.host), nbytes)
            weakref.finalize(content.base, self._release, block, fork_count()).atexit = False
            return Place(content, block)
        folder = os.environ.get("GPUNUMPY_SPILL_DIR")
        free, total = _memory_bytes()
        if not folder or (self._device is not CPU and free - nbytes > total * _FREE_SHARE):
            try:
                return Place(numpy.empty(nbytes, numpy.uint8), None)
            except MemoryError:
                self.why_full = "the host has no memory for values that would make room"
                if not folder:
                    self.why_full += ": GPUNUMPY_SPILL_DIR names a folder for them"
        if folder:
            try:
                return Place(_file_bytes(folder, nbytes), None)
            except OSError as error:
                self.why_full = f"GPUNUMPY_SPILL_DIR={folder} takes no more values: {error}"
        return None

    def _release(self, block: PinnedBlock, forks: int) -> None:
        """Keep a block for another value; not one that had its value before a fork, as the child has that value too."""
        (self._free[block.host.size] if forks == fork_count() else self._shared).append(block)

    def _unlock(self, blocks: list[PinnedBlock]) -> None:
        while blocks:
            block = blocks.pop()
            block.wait()
            self._pinned_bytes -= block.host.size

    def _pinned_block(self, size: int) -> PinnedBlock | None:
        self._unlock(self._shared)
        with suppress(IndexError):
            return self._free[size].pop()
        if not self._may_lock(size):
            for blocks in list(self._free.values()):  # a signal handler may move values of other sizes meanwhile
                self._unlock(blocks)
        if self._may_lock(size):
            try:
                block = PinnedBlock(pinned(size, self._device))
            except MemoryError:  # the system locks no more pages, and to ask again each time would take long
                self._pinned_limit = self._pinned_bytes
            else:
                self._pinned_bytes += size
                return block
        return None

    def _may_lock(self, size: int) -> bool:
        if self._pinned_bytes + size > self._pinned_limit:
            return False
        free, total = _memory_bytes()
        return free - size > total * _UNLOCKED_SHARE


def _file_bytes(folder: str, nbytes: int) -> numpy.ndarray:
    """Return the bytes of a new file that has no name, so that it goes with the process, however that ends."""
    with import_late("tempfile").TemporaryFile(prefix="gpunumpy-", dir=folder) as file:
        # The disk's space is taken now: a page for which there was none later would end the process.
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, max(nbytes, 1))
        else:
            for start in range(0, nbytes, 1 << 20):
                file.write(bytes(min(1 << 20, nbytes - start)))
            file.flush()
        return numpy.frombuffer(mmap.mmap(file.fileno(), max(nbytes, 1)), numpy.uint8, nbytes)


def _memory_bytes() -> tuple[int, int]:
    """Return how many bytes of the machine's memory programs can have, and how many it has."""
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        free, total = os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page
    except (AttributeError, ValueError, OSError):  # the system does not tell: as if there were enough
        return 1 << 62, 1 << 35
    with suppress(OSError, ValueError, IndexError), open("/proc/meminfo", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("MemAvailable:"):  # with what caches of files would give back
                free = int(line.split()[1]) << 10
    for limit_file, used_file in _CONTAINER_FILES:
        with suppress(OSError, ValueError), open(limit_file, encoding="ascii") as limit, open(used_file) as used:
            of_container = min(total, int(limit.read()))  # a text if there is no limit
            free, total = min(free, of_container - int(used.read())), of_container
    return free, total
