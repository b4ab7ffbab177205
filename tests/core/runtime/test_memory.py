"""Buffers of the CPU device, and the rules of allocation that every device shares."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from gpunumpy.core.runtime import evaluate, memory
from gpunumpy.core.runtime.device import CPU, Device
from gpunumpy.core.runtime.memory_copy import copy, copy_from_host, copy_to_host
from gpunumpy.core.runtime.memory_pool import FreeList, HostPool, PoolBuffer, size_class
from gpunumpy.kernels.host.threads import quietly
from tools import exact_blocks

from ...support import fake_driver


@pytest.fixture(autouse=True)
def empty_cache() -> None:
    gc.collect()
    memory.free_all_blocks("cpu")


def test_size_classes() -> None:
    sizes = [0, 1, 511, 512, 513, 4096, 4097, 10**5, 2**20, 2**24, 2**24 + 1, 2**28, 10**9, 2**33 + 5]
    for nbytes in sizes:
        size = size_class(nbytes)
        assert size >= max(nbytes, 1)
        assert size % 512 == 0
        assert size <= max(nbytes * 1.125, nbytes + 512)
        assert size_class(size) == size
    for power in range(9, 40):
        assert size_class(1 << power) == 1 << power


@pytest.mark.parametrize("nbytes", [0, 1, 63, 64, 1000, 1 << 20])
def test_a_host_buffer(nbytes: int) -> None:
    buffer = memory.allocate(CPU, nbytes)
    assert buffer.host is not None
    assert buffer.host.dtype == numpy.uint8
    assert buffer.host.size >= nbytes == buffer.nbytes
    assert buffer.ptr == buffer.host.ctypes.data
    assert buffer.ptr % 64 == 0
    assert buffer.device is CPU
    assert not buffer.exported
    buffer.host[:] = 255


def test_a_dropped_block_is_used_again() -> None:
    buffer = memory.allocate(CPU, 5000)
    ptr = buffer.ptr
    del buffer
    assert memory.allocate(CPU, 5001).ptr == ptr  # the same class
    assert memory.allocate(CPU, 5000).ptr == ptr
    assert memory.allocate(CPU, 50000).ptr != ptr


def test_blocks_for_sanitizers(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have the size that is asked for, in whole words, and are gone when the next one is made."""
    driver = fake_driver.install(monkeypatch)
    for place in exact_blocks.REPLACED:
        monkeypatch.setattr(*place)
    sizes: list[int] = []
    allocate = driver._allocated

    def note(size: int) -> Any:
        sizes.append(size)
        return allocate(size)

    monkeypatch.setattr(driver, "_allocated", note)
    device = Device("cuda:0")
    buffer = memory.allocate(device, 5001)
    del buffer
    assert "cuMemFreeAsync" not in driver.calls
    memory.allocate(device, 5005)
    assert "cuMemFreeAsync" in driver.calls
    assert sizes == [5004, 5008]


@pytest.mark.parametrize(
    "see",
    [
        lambda host: host[8:24][4:],
        lambda host: host[:16].view(numpy.float64).reshape(2, 1),
        lambda host: numpy.ndarray((2, 2), numpy.int32, host, 16, (8, 4)),
        lambda host: memoryview(host[:4]),
    ],
    ids=["slice", "view", "constructor", "memoryview"],
)
def test_a_block_that_is_still_seen_is_not_used_again(see: Callable[[object], object]) -> None:
    buffer = memory.allocate(CPU, 4096)
    view = see(buffer.host)
    taken = buffer.ptr
    del buffer
    assert memory.allocate(CPU, 4096).ptr != taken
    before = memory.memory_info("cpu")
    del view
    after = memory.memory_info("cpu")
    assert (after.used, after.cached) == (before.used, before.cached)  # NumPy has freed it


@pytest.mark.parametrize("lives", [0, 1, 2, 3])
def test_a_block_of_a_buffer_in_cycles_is_used_again_once_the_buffer_has_died(lives: int) -> None:
    """The collector finalizes a buffer in a cycle while others may use it, or make it alive again."""
    buffer = memory.allocate(CPU, 5000)
    assert buffer.host is not None
    buffer.host[:] = 7
    ptr = buffer.ptr
    saved: list[memory.Buffer] = []

    class Saving:
        def __init__(self, buffer: memory.Buffer) -> None:
            self.buffer = buffer
            self.itself = self

        def __del__(self) -> None:
            saved.append(self.buffer)

    for _ in range(lives):
        Saving(buffer)
        del buffer
        gc.collect()
        assert memory.allocate(CPU, 5000).ptr != ptr
        buffer = saved.pop()
        assert buffer.ptr == ptr
        assert buffer.host is not None
        assert (buffer.host == 7).all()
    cycle: list[object] = [buffer]
    cycle.append(cycle)
    del buffer, cycle
    gc.collect()
    assert memory.allocate(CPU, 5000).ptr == ptr


def test_a_signal_handler_may_wait_for_who_allocates(monkeypatch: pytest.MonkeyPatch) -> None:
    """A handler in the middle of an allocation waits for a queue; who holds its lock allocates too."""
    make = HostPool.new_block
    done = threading.Event()

    def hold_the_queue_and_allocate() -> None:
        with evaluate.state_of(CPU).queue.lock:
            memory.allocate(CPU, 70_000)
            done.set()

    def new_block(self: HostPool, size: int) -> Any:
        if threading.current_thread() is threading.main_thread():
            thread = threading.Thread(target=hold_the_queue_and_allocate, daemon=True)
            thread.start()
            assert done.wait(60), "the other thread waits for this one"
            thread.join()
        return make(self, size)

    monkeypatch.setattr(HostPool, "new_block", new_block)
    memory.allocate(CPU, 90_000)


@pytest.mark.parametrize("is_cyclic", [False, True])
def test_a_block_that_other_streams_use_waits_for_the_device(is_cyclic: bool) -> None:
    awaited_blocks: list[Any] = []
    free_list = FreeList(512, awaited_blocks)
    saved = [PoolBuffer(CPU, 0x1000, 512, free_list)]  # as of a GPU
    if is_cyclic:

        class Saving:
            def __init__(self, buffer: PoolBuffer) -> None:
                self.buffer = buffer
                self.itself = self

            def __del__(self) -> None:
                saved.append(self.buffer)

        Saving(saved.pop())
        gc.collect()
    saved[0].mark_used_by_other_stream()
    saved[0].mark_used_by_other_stream()
    assert not awaited_blocks
    saved.clear()
    ((waiting, block),) = awaited_blocks
    assert (waiting.free_list, block, free_list) == (free_list, 0x1000, [])


def test_a_block_of_a_buffer_in_a_cycle_is_not_used_again_while_it_is_seen() -> None:
    buffer = memory.allocate(CPU, 4096)
    assert buffer.host is not None
    taken, view = buffer.ptr, buffer.host[8:24]
    cycle: list[object] = [buffer]
    cycle.append(cycle)
    del buffer, cycle
    gc.collect()
    assert memory.allocate(CPU, 4096).ptr != taken
    before = memory.memory_info("cpu")
    del view
    after = memory.memory_info("cpu")
    assert (after.used, after.cached) == (before.used, before.cached)


def test_what_is_used_and_cached() -> None:
    start = memory.memory_info("cpu")
    assert start.cached == 0
    one, two = memory.allocate(CPU, 1 << 16), memory.allocate(CPU, 1 << 16)
    assert memory.memory_info("cpu").used == start.used + (2 << 16)
    del one
    info = memory.memory_info("cpu")
    assert (info.used, info.cached) == (start.used + (1 << 16), 1 << 16)
    memory.free_all_blocks("cpu")
    assert memory.memory_info("cpu").cached == 0
    assert two.host is not None
    assert two.host[0] >= 0


def test_the_cache_is_bounded() -> None:
    block = 1 << 20
    pool = memory.pool_of(CPU)
    limit, pool.cache_limit = pool.cache_limit, 4 * block
    try:
        buffers = [memory.allocate(CPU, block) for _ in range(40)]
        del buffers
        assert memory.memory_info("cpu").cached >= 40 * block
        several = [memory.allocate(CPU, 2 * block + n) for n in range(0, 64 * 300000, 300000)]
        assert memory.memory_info("cpu").cached < 40 * block
        del several
    finally:
        pool.cache_limit = limit


def test_out_of_memory_says_how_much() -> None:
    with pytest.raises(MemoryError, match=r"cpu: asked for 1,125,899,906,842,624 bytes; gpunumpy uses [\d,]+"):
        memory.allocate(CPU, 1 << 50)


@pytest.mark.parametrize(
    ("allocate", "asked"),
    [
        (lambda: memory.host_bytes(1 << 57), "asked for 144,115,188,075,855,872 bytes"),
        (lambda: quietly(numpy.empty, 1 << 54), "NumPy is unable to allocate 128. PiB for an array with shape"),
        (lambda: quietly(bytes, (1 << 62)), "no room for Python's objects"),
        (lambda: quietly(memory.allocate, CPU, 1 << 57), "asked for 144,115,188,075,855,872 bytes"),
    ],
    ids=["to the host", "NumPy", "Python", "a buffer"],
)
def test_every_lack_of_memory_of_the_host_says_how_much(allocate: Callable[[], object], asked: str) -> None:
    kept = memory.allocate(CPU, 1000)
    with pytest.raises(MemoryError, match=rf"^out of memory on cpu: {asked}.*; gpunumpy uses [1-9][\d,]*; [\d,]+ of"):
        allocate()
    assert memory.memory_info("cpu").cached == 0
    assert kept.nbytes == 1000


def test_the_limit_and_the_hooks() -> None:
    kept = [memory.allocate(CPU, 1 << 20) for _ in range(3)]
    used = memory.memory_info("cpu").used
    called = []

    def drop(device: object) -> None:
        called.append(device)
        kept.clear()
        with pytest.raises(MemoryError):
            memory.allocate(CPU, 1 << 30)  # in a hook, the hooks are not called again

    memory.set_memory_limit(used + (1 << 19), "cpu")
    memory.out_of_memory_hooks.append(drop)
    try:
        buffer = memory.allocate(CPU, 1 << 20)
        assert called == [CPU]
        assert buffer.nbytes == 1 << 20
        with pytest.raises(MemoryError, match=r"of the [\d,]+ that set_memory_limit allows"):
            memory.allocate(CPU, 1 << 30)
    finally:
        memory.out_of_memory_hooks.remove(drop)
        memory.set_memory_limit(None, "cpu")
    assert memory.allocate(CPU, 1 << 20).nbytes == 1 << 20
    with pytest.raises(ValueError, match="memory limit"):
        memory.set_memory_limit(-1, "cpu")


def test_cycles_are_collected_before_giving_up() -> None:
    cycle: list[object] = [memory.allocate(CPU, 1 << 22)]
    cycle.append(cycle)
    memory.set_memory_limit(memory.memory_info("cpu").used, "cpu")
    gc.disable()
    try:
        del cycle
        assert memory.allocate(CPU, 1 << 22).nbytes == 1 << 22
    finally:
        gc.enable()
        memory.set_memory_limit(None, "cpu")


def test_counters_are_zero_and_shared() -> None:
    small = memory.zeroed_scratch(CPU, 100)
    assert small.host is not None
    assert not small.host[: small.nbytes].any()
    assert memory.zeroed_scratch(CPU, small.nbytes) is small
    large = memory.zeroed_scratch(CPU, small.nbytes + 1)
    assert large.host is not None
    assert large.nbytes > small.nbytes
    assert not large.host[: large.nbytes].any()


def test_foreign_memory_keeps_its_owner() -> None:
    owner = numpy.arange(5, dtype=numpy.int16)
    buffer = memory.foreign_buffer(owner.ctypes.data, owner.nbytes, owner, CPU)
    assert buffer.exported
    assert buffer.owner is owner
    assert buffer.host is not None
    buffer.host.view(numpy.int16)[2] = 77
    assert owner[2] == 77
    empty = memory.foreign_buffer(0, 0, None, CPU)
    assert empty.host is not None
    assert empty.host.size == 0


def test_the_index_error_word() -> None:
    assert memory.take_index_error(CPU) == 0
    word = memory.host_view(memory.index_error_word(CPU), 4).view(numpy.int32)
    word[0] = 12
    assert memory.take_index_error(CPU) == 12
    assert memory.take_index_error(CPU) == 0


@pytest.mark.parametrize(
    "array",
    [
        numpy.arange(10.0),
        numpy.arange(24, dtype=numpy.int16).reshape(4, 6).T,
        numpy.array(3.5),
        numpy.empty((0, 3)),
        numpy.arange(9)[::-2],
    ],
    ids=["plain", "transposed", "0-d", "empty", "reversed"],
)
def test_copies(array: numpy.ndarray) -> None:
    buffer, other = memory.allocate(CPU, array.nbytes + 8), memory.allocate(CPU, array.nbytes + 16)
    copy_from_host(buffer, 8, array)
    copy(other, 16, buffer, 8, array.nbytes)
    result = copy_to_host(other, 16, array.nbytes)
    assert result.tobytes() == array.tobytes()
    result[:] = 0  # its own memory
    assert copy_to_host(buffer, 8, array.nbytes).tobytes() == array.tobytes()


def test_threads() -> None:
    failures: list[object] = []

    def work(seed: int) -> None:
        for n in range(300):
            size = 8 * (1 + (n * 37 + seed) % 50)
            mine = [memory.allocate(CPU, size) for _ in range(4)]
            for k, buffer in enumerate(mine):
                assert buffer.host is not None
                buffer.host[:size] = seed * 4 + k
            for k, buffer in enumerate(mine):
                assert buffer.host is not None
                if (buffer.host[:size] != seed * 4 + k).any():
                    failures.append((seed, n))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
