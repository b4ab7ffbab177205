"""A GPU that other processes have filled: calls of the driver find no memory, one after the other or for a while.

The driver is a pretended one, whose kernels compute nothing: what is seen is that arrays are there, and what is asked
for again is launched.
"""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.arrays import stream_order
from gpunumpy.core.errors import DeviceError
from gpunumpy.core.runtime import memory, memory_copy
from gpunumpy.core.runtime.device import CPU, check, why_no_gpu
from gpunumpy.core.runtime.memory_copy import CHUNK_BYTES
from gpunumpy.core.runtime.memory_pool import FreeList
from gpunumpy.kernels.cuda import compile as compile_module
from gpunumpy.kernels.cuda import executor
from gpunumpy.kernels.cuda.dropped import dropped_on

from ...support import fake_driver

pytest.importorskip("cuda.bindings.nvrtc")

VALUES = numpy.arange(9000.0)
LARGE = numpy.arange(CHUNK_BYTES // 4, dtype="f8")  # two chunks
# Calls of the driver that may need memory, each of which fails here.
CALLS = frozenset(
    f"cu{name}"
    for name in (
        *("MemAllocFromPoolAsync", "MemHostAlloc", "MemsetD8Async", "EventCreate", "ModuleLoadData"),
        *("ModuleGetFunction", "LaunchKernelEx", "MemcpyHtoDAsync", "MemcpyDtoHAsync", "MemcpyDtoDAsync"),
    )
)
OUT_OF_MEMORY, UNKNOWN = "CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_UNKNOWN"


def install(patch: pytest.MonkeyPatch, folder: Path) -> fake_driver.FakeDriver:
    """Have the process see a GPU that it has not used.

    Garbage is then looked for hundreds of times, so what tests have left until now is left out of that.
    """
    gc.freeze()
    patch.setenv("GPUNUMPY_CACHE_DIR", str(folder))
    patch.setattr(compile_module, "_compile", lambda text, *target: b"image")
    return fake_driver.install(patch)


@pytest.fixture(autouse=True, scope="module")
def _frozen_as_before() -> Iterator[None]:
    """What these tests have left is looked at once; the tests themselves stay frozen: see tests/conftest.py."""
    yield
    gc.unfreeze()
    gc.collect()
    gc.freeze()


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_driver.FakeDriver:
    gc.collect()  # what is left of a GPU that is there dies by its own driver
    return install(monkeypatch, tmp_path)


class Program:
    """Statements that can be repeated after an error, and what they have made."""

    def __init__(self) -> None:
        self.made: dict[str, Any] = {}

    def statements(self) -> list[Callable[[], Any]]:
        made = self.made
        return [
            lambda: made.update(x=np.asarray(VALUES)),
            lambda: made.update(large=np.asarray(LARGE)),
            lambda: made.update(y=(made["x"] + 1) * made["x"].sum(), z=np.cumsum(made["x"])),
            lambda: made.update(kept=made["x"] * 1),
            lambda: made["kept"].computed(),
            lambda: made["y"].computed(),
            lambda: float(made["y"][3]),
            lambda: made.update(fresh=made["x"][::-1] - 2),
            np.synchronize,
            lambda: made["z"].get(),
            lambda: (made["fresh"] + made["z"]).get(),
        ]

    def check(self) -> None:
        numpy.testing.assert_array_equal(self.made["x"].get(), VALUES)
        numpy.testing.assert_array_equal(self.made["large"].get(), LARGE)
        assert all(array._node.data is not None for array in self.made.values())


def refuse_some(gpu: fake_driver.FakeDriver, error: str, first: int, last: int) -> list[str]:
    """Have the calls that may need memory fail from the first to the last number; return them as they come."""
    seen: list[str] = []

    def refuse(name: str) -> str | None:
        if name not in CALLS:
            return None
        seen.append(name)
        return error if first <= len(seen) <= last else None

    gpu.free_bytes = fake_driver.MEMORY_BYTES if error == OUT_OF_MEMORY else 10 << 20
    gpu.refuse = refuse
    return seen


def launches_of(gpu: fake_driver.FakeDriver) -> list[bytes]:
    return [name for _, name in gpu.launched]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("error", "failures"), [(OUT_OF_MEMORY, 1), (OUT_OF_MEMORY, 2), (UNKNOWN, 1)])
def test_any_call_may_find_no_memory_once_or_twice(
    error: str, failures: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is unused makes room, and the program does not notice."""
    names: set[str] = set()
    wanted: list[bytes] = []
    for place in range(200):
        with monkeypatch.context() as patch:
            driver = install(patch, tmp_path)
            seen = refuse_some(driver, error, place, place + failures - 1 if place else 0)
            program = Program()
            for statement in program.statements():
                statement()
            program.check()
            if not place:
                wanted = launches_of(driver)
                assert len(wanted) > 4
                continue
            assert launches_of(driver) == wanted, place
            if len(seen) < place:
                break
            assert "cuMemPoolTrimTo" in driver.calls
            names.add(seen[place - 1])
            program.made.clear()
    assert names >= CALLS - {"cuMemsetD8Async", "cuMemcpyDtoDAsync"}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("error", [OUT_OF_MEMORY, UNKNOWN])
def test_any_call_may_find_no_memory_until_arrays_are_deleted(
    error: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is a `MemoryError` with all numbers, the other arrays are there, and the statement can be repeated."""
    words = r"^out of memory on (cuda:0|cpu): .*; gpunumpy uses [\d,]+(.*)?; [\d,]+ of the device's [\d,]+ are free$"
    for place in range(1, 200):
        with monkeypatch.context() as patch:
            driver = install(patch, tmp_path)
            seen = refuse_some(driver, error, place, 10**9)
            program, errors = Program(), []
            for statement in (*program.statements(), program.check):
                try:
                    statement()
                except MemoryError as raised:
                    errors.append(raised)
                    driver.refuse = lambda name: None
                    statement()
            if len(seen) < place:
                assert not errors
                break
            assert [bool(re.match(words, str(raised))) for raised in errors] == [True], (place, errors)
            assert not isinstance(errors[0].__context__, LookupError)
            program.made.clear()
    assert place > 10


def test_what_is_dropped_is_destroyed_without_room_for_an_event(gpu: fake_driver.FakeDriver) -> None:
    """The hook that makes room waits for the GPU then; the statement's own error says what there was no room for."""
    device = np.Device("cuda")
    x = np.asarray(VALUES)
    handle = gpu.cuModuleLoadData(b"image")[1]
    dropped_on(device).append(("cuModuleUnload", handle))
    gpu.busy = True
    refuse_some(gpu, OUT_OF_MEMORY, 1, 10**9)
    with pytest.raises(MemoryError, match=r"^out of memory on cuda:0: .*; gpunumpy uses"):
        memory.allocate(device, LARGE.nbytes)
    assert handle not in gpu.modules
    assert gpu.calls.index("cuStreamSynchronize") < gpu.calls.index("cuModuleUnload")
    gpu.refuse = lambda name: None
    numpy.testing.assert_array_equal(x.get(), VALUES)


def test_borrowed_memory_is_kept_without_room_for_an_event(
    gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A finalizer waits for the work that may read it, and raises nothing."""
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    borrowed = stream_order.Borrowed(np.Device("cuda"), object())
    np.asarray(VALUES)
    gpu.busy = True
    refuse_some(gpu, OUT_OF_MEMORY, 1, 10**9)
    waited = gpu.calls.count("cuStreamSynchronize")
    del borrowed
    assert gpu.calls.count("cuStreamSynchronize") == waited + 1
    assert not unraisable


@pytest.mark.parametrize("wait", [lambda: np.cuda.Event(), lambda: stream_order.consumer_waits(np.Device("cuda"), 77)])
def test_an_event_that_finds_no_memory_once(gpu: fake_driver.FakeDriver, wait: Callable[[], Any]) -> None:
    np.asarray(VALUES)
    seen = refuse_some(gpu, OUT_OF_MEMORY, 1, 1)
    wait()
    assert seen[:2] == ["cuEventCreate", "cuEventCreate"]


def test_a_download_that_finds_no_memory_midway(gpu: fake_driver.FakeDriver) -> None:
    """The GPU may still write to the memory that it has begun with, so that is neither given back nor lost."""
    x = np.asarray(LARGE)
    stage = memory_copy._stages[np.Device("cuda:0")]
    made = len(stage.made)
    gpu.busy = True
    allocated = gpu.calls.count("cuMemHostAlloc")
    gpu.refuse = lambda name: (
        OUT_OF_MEMORY if name == "cuMemHostAlloc" and gpu.calls.count(name) > allocated + 1 else None
    )
    with pytest.raises(MemoryError, match=r"asked for [\d,]+ bytes that stay in memory"):
        x.get()
    assert len(stage.made) == made + 1
    assert len(stage.busy) == made + 1
    assert not stage.free
    assert "cuMemFreeHost" not in gpu.calls
    gpu.refuse = lambda name: None
    numpy.testing.assert_array_equal(x.get(), LARGE)


def test_what_is_unknown_on_a_gpu_that_is_not_full_is_no_lack_of_memory(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(VALUES)
    (x + 1).computed()
    gpu.refuse = lambda name: UNKNOWN if name == "cuLaunchKernelEx" else None
    with pytest.raises(DeviceError, match="a kernel cannot be launched on cuda:0: CUDA_ERROR_UNKNOWN: what"):
        (x + 2).computed()
    assert "cuMemPoolTrimTo" not in gpu.calls
    gpu.refuse = lambda name: None
    (x + 2).computed()


def test_a_gpu_without_room_for_the_process_is_not_used(gpu: fake_driver.FakeDriver) -> None:
    gpu.refuse = lambda name: OUT_OF_MEMORY if name == "cuDevicePrimaryCtxRetain" else None
    with pytest.warns(RuntimeWarning, match="arrays go to cpu, those of cuda:0 too: cuda:0 has no room"):
        x = np.asarray(LARGE)
    assert x.device is np.default_device() is CPU
    numpy.testing.assert_array_equal((x + 1).get(), LARGE + 1)
    assert re.search(r"cuda:0 has no room for this process \(out of memory .*OUT_OF_MEMORY: what", str(why_no_gpu()))


def test_any_lack_of_memory_is_a_memory_error(gpu: fake_driver.FakeDriver) -> None:
    memory.allocate(np.Device("cuda"), 8)
    with pytest.raises(MemoryError, match="out of memory on cuda:0: CUDA_ERROR_OUT_OF_MEMORY: what"):
        check((gpu.CUresult.CUDA_ERROR_OUT_OF_MEMORY,))


class LibraryError(Exception):
    """Of a library of CUDA."""


@pytest.mark.parametrize("words", ["NOT_INITIALIZED (1)", "INTERNAL_ERROR (14)", "EXECUTION_FAILED (13)"])
def test_what_libraries_say_on_a_full_gpu(gpu: fake_driver.FakeDriver, words: str) -> None:
    device = np.Device("cuda")

    def fail(*args: Any) -> None:
        raise LibraryError(words)

    with pytest.raises(LibraryError):
        executor._prepared(device, lambda: fail)(())
    gpu.free_bytes = 6 << 20
    with pytest.raises(MemoryError, match="cuda:0: no room for a library call"):
        executor._prepared(device, lambda: fail)(())
    with pytest.raises(MemoryError, match="cuda:0: no room for a library call"):
        executor._prepared(device, fail)


def test_blocks_that_other_streams_used_are_reclaimed_once(
    gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A finalizer that allocates may come in the middle."""
    device = np.Device("cuda")
    for _ in range(3):
        buffer = memory.allocate(device, 5000)
        buffer.mark_used_by_other_stream()
        del buffer
    pool = memory.pool_of(device)
    free_list, append = pool.free_list(5000), FreeList.append
    inside: list[int] = []

    def append_and_reclaim(blocks: Any, block: int) -> None:
        append(blocks, block)
        if not inside:
            inside.append(block)
            pool.reclaim_awaited()  # type: ignore[attr-defined]

    monkeypatch.setattr(FreeList, "append", append_and_reclaim, raising=False)
    pool.reclaim_awaited()  # type: ignore[attr-defined]
    assert len(set(free_list)) == len(free_list) == 1
    assert not pool.awaited_blocks


def test_what_is_pending_is_computed_for_the_memory_of_its_operands() -> None:
    """They may be all that is left to free."""
    size = 1 << 20
    with np.Device("cpu"):
        np.synchronize()
        gc.collect()
        memory.free_all_blocks("cpu")
        x = np.asarray(numpy.ones(size // 8))
        total = (x + 1).sum()
        del x
        np.set_memory_limit(memory.memory_info("cpu").used + size // 4, "cpu")
        try:
            y = np.asarray(numpy.ones(size // 16))
        finally:
            np.set_memory_limit(None, "cpu")
        assert total._node.data is not None
        assert float(total) == size / 4
        assert float(y[5]) == 1


def test_large_blocks_of_different_sizes_stay(gpu: fake_driver.FakeDriver) -> None:
    """To give a block back and to make another one takes the driver long: it does so only for much free memory."""
    with np.Device("cuda:0") as device:
        room = memory.pool_of(device).cache_limit
        sizes = (room // 3, room // 2)  # together they fit into what may be free

        def use() -> None:
            for size in sizes:
                memory.allocate(device, size)

        use()
        gpu.calls.clear()
        use()
        assert not {"cuMemAllocFromPoolAsync", "cuMemFreeAsync"} & set(gpu.calls)
        memory.allocate(device, room)
        assert gpu.calls.count("cuMemFreeAsync") == len(sizes)
