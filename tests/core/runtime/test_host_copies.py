"""What the host knows of arrays on a GPU: looks that copy nothing, and copies that end when the GPU writes."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime import evaluate, host_copies, memory_copy

from ...support import fake_driver

VALUES = numpy.arange(12.0)
FETCH, STORE, WAIT = "cuMemcpyDtoHAsync", "cuMemcpyHtoDAsync", "cuStreamSynchronize"
ALLOCATE = "cuMemAllocFromPoolAsync"


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_driver.FakeDriver:
    pytest.importorskip("cuda.bindings.nvrtc")
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path / "kernels"))
    return fake_driver.install(monkeypatch)


def storing(value: float, *inputs: Any) -> Any:
    """Return the work of a kernel over these computed arrays that stores a float64."""
    known = {x._node.data.ptr for x in inputs}

    def work(arguments: Any) -> None:
        (address,) = {arguments[k][0] for k in range(len(known) + 1)} - known
        ctypes.c_double.from_address(address).value = value

    return work


def test_what_came_from_the_host_is_known_there(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(VALUES)
    gpu.calls.clear()
    assert [float(x[k]) for k in range(12)] == VALUES.tolist()
    assert str(x[::-2]) == str(VALUES[::-2])
    numpy.testing.assert_array_equal(x.reshape(3, 4).T.get(), VALUES.reshape(3, 4).T)
    assert FETCH not in gpu.calls
    assert not gpu.launched
    found = x.get()
    found[:] = 7  # a copy, as ever
    assert x.tolist() == VALUES.tolist()


def test_what_came_from_the_host_stays_there_until_the_device_reads_it(gpu: fake_driver.FakeDriver) -> None:
    np.default_device()
    gpu.calls.clear()
    x = np.asarray(VALUES)
    views = x[2:], x.reshape(3, 4).T, x.view("i8")
    pending = x + 1
    assert not {ALLOCATE, STORE} & {*gpu.calls}
    pending.get()
    x.sum().get()
    assert gpu.calls.count(STORE) == 1
    buffer = x._node.data
    kept = (ctypes.c_double * 12).from_address(buffer.ptr)
    assert list(kept) == VALUES.tolist()
    del views
    assert "12" not in repr(np.asarray(VALUES[:3])._node.data)  # and telling moves nothing


def test_memory_of_what_came_from_the_host_is_given_back(gpu: fake_driver.FakeDriver) -> None:
    (np.asarray(VALUES) + 1).get()
    used = np.memory_info().used
    x = np.asarray(VALUES)
    assert np.memory_info().used == used
    (x + 1).get()
    assert np.memory_info().used == used + 512  # a block of the smallest class
    del x
    assert np.memory_info().used == used


def test_an_export_for_which_there_is_no_room(gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was lent, so the host goes on knowing the elements."""

    def refuse(device: Any, nbytes: int) -> Any:
        raise MemoryError

    x = np.asarray(VALUES)
    with monkeypatch.context() as patch:
        patch.setattr(host_copies, "allocate_for_all_work", refuse)
        with pytest.raises(MemoryError):
            x.data_ptr()
    assert [float(value) for value in x] == VALUES.tolist()
    assert not gpu.launched
    assert x.data_ptr() == x._node.data.ptr


def test_one_of_two_moves_decides(gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal handler, or another thread, moves the bytes in the middle of a move, and writes to them there."""
    buffer = np.asarray(VALUES)._node.data
    addresses: list[int] = []
    copy = memory_copy.fill_new

    def interrupted(block: Any, content: Any, borrow: bool) -> None:
        monkeypatch.setattr(host_copies, "fill_new", copy)
        addresses.append(buffer.ptr)
        copy(block, content, borrow)

    monkeypatch.setattr(host_copies, "fill_new", interrupted)
    assert buffer.ptr == buffer.ptr == addresses[0]
    assert buffer.awaited() is None


def test_the_source_may_change(gpu: fake_driver.FakeDriver) -> None:
    host = VALUES.copy()
    x = np.asarray(host)
    host[:] = 0
    assert x.tolist() == VALUES.tolist()


def test_a_computed_array_is_fetched_once(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(VALUES) + 1
    np.synchronize()
    gpu.calls.clear()
    for _ in range(3):
        for k in range(12):
            float(x[k])
    assert gpu.calls.count(FETCH) == 1


@pytest.mark.parametrize("shape", [(1024,), (16, 128), (host_copies.COPIED_BYTES // 8,)])
@pytest.mark.parametrize(
    "look", [str, repr, format, np.array2string, lambda x: np.array2string(x, threshold=5), lambda x: x._repr_html_()]
)
def test_prints_of_a_small_array_fetch_it_once(gpu: fake_driver.FakeDriver, look: Any, shape: tuple[int, ...]) -> None:
    """Also where NumPy leaves elements out."""
    x = np.asarray(numpy.zeros(shape)) + 1
    for _ in range(2):
        np.synchronize()
        gpu.calls.clear()
        gpu.launched.clear()
        loaded = len(gpu.modules)
        texts = {look(x) for _ in range(3)}
        float(x.reshape(-1)[5])
        assert len(texts) == 1
        assert gpu.calls.count(FETCH) == 1
        assert (gpu.launched, len(gpu.modules)) == ([], loaded)
        x += 1  # the device writes it again


def test_prints_of_a_large_array_fetch_the_corners(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(numpy.zeros(host_copies.COPIED_BYTES // 8 + 1)) + 1
    np.synchronize()
    gpu.launched.clear()
    assert "..." in str(x)
    assert gpu.launched


def test_a_write_ends_a_copy(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(VALUES)
    x[2:4] = 5.0
    np.synchronize()
    assert x._node.data.copy is None
    gpu.calls.clear()
    assert x.tolist() == VALUES.tolist()  # these kernels write nothing
    assert float(x[3]) == 3
    assert gpu.calls.count(FETCH) == 1


def test_an_interrupted_write_ends_a_copy(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(VALUES)
    buffer = x._node.data

    def interrupt(arguments: Any) -> None:
        raise KeyboardInterrupt

    gpu.work = interrupt
    x[2:4] = 5.0
    with pytest.raises(KeyboardInterrupt):
        np.synchronize()
    assert buffer.copy is None


def test_large_arrays_have_no_copy(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(numpy.zeros(host_copies.COPIED_BYTES // 8 + 1))
    gpu.calls.clear()
    assert float(x[3]) == float(x[3]) == 0
    assert x._node.data.copy is None
    assert gpu.calls.count(WAIT) == 2


def test_memory_that_others_write_to_has_no_copy(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(VALUES)
    for value in (3.0, 4.0):
        ctypes.c_double.from_address(x.__cuda_array_interface__["data"][0]).value = value
        assert x.tolist()[0] == value
    assert x._node.data.copy is None


def test_a_value_that_is_looked_at_is_not_copied(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(VALUES)
    gpu.work = storing(42.0, x)
    gpu.calls.clear()
    total = x.sum()
    assert float(total) == 42
    assert FETCH not in gpu.calls
    assert gpu.calls.count(WAIT) == 1
    assert float(total) == 42
    assert gpu.calls.count(WAIT) == 1


def test_a_value_that_was_looked_at_moves_to_the_device(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(VALUES)
    gpu.work = storing(42.0, x)
    total = x.sum()
    assert float(total) == 42
    buffer = total._node.data
    visible = buffer._slot[1]
    gpu.calls.clear()
    gpu.work = None
    (x * total).get()
    assert gpu.calls.count(STORE) == 1
    assert buffer.ptr != visible
    assert ctypes.c_double.from_address(buffer.ptr).value == 42
    total_of_two = x.sum() + total
    float(total_of_two)
    assert gpu.calls.count(STORE) == 1


def test_a_write_over_a_value_that_was_looked_at(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(VALUES)
    gpu.work = storing(42.0, x)
    total = np.asarray(x.sum())
    assert float(total) == 42
    buffer = total._node.data
    ctypes.c_double.from_address(buffer.ptr).value = 43.0  # as a kernel does that overwrites it
    buffer.copy = None
    assert float(total) == 43


def test_what_another_step_reads_stays_on_the_device(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(numpy.ones(100_000))
    total = x.sum()
    scaled = x / total
    float(total)
    assert type(total._node.data) is not host_copies.VisibleBuffer
    assert scaled._node.data is not None


def test_memory_of_the_host_is_used_again(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(VALUES)
    float(x.sum())
    (free,) = host_copies._free_slots.values()
    count = len(free)
    for _ in range(3 * count):
        float(x.sum())
    assert len(free) == count
    kept = []
    for _ in range(count + 5):
        float(total := x.sum())
        kept.append(total)
    kept.clear()
    del total
    assert len(free) > count


def test_an_exported_value_stays_where_it_is(gpu: fake_driver.FakeDriver) -> None:
    """Even if the look that it was computed for was interrupted, and it is read later."""
    x = np.asarray(VALUES)
    gpu.work = storing(42.0, x)
    total = np.asarray(x.sum())
    evaluate.compute_to_look(total._node)
    assert type(total._node.data) is host_copies.VisibleBuffer
    address = total.__cuda_array_interface__["data"][0]
    assert float(total) == 42
    assert address == total.__cuda_array_interface__["data"][0] != total._node.data._slot[1]
    ctypes.c_double.from_address(address).value = 43.0
    assert float(total) == 43


def counting(gpu: fake_driver.FakeDriver, *counts: int) -> Any:
    """Return the work of kernels of which those that count a mask store these numbers, one after the other."""
    left = list(counts)

    def work(arguments: Any) -> None:
        if gpu.launched[-1][1] == b"mask_offsets":
            _, count = arguments[0][0], arguments[1][0]
            ctypes.c_int64.from_address(count).value = left.pop(0)

    return work


def names_of(gpu: fake_driver.FakeDriver) -> list[str]:
    return [name.decode() for _, name in gpu.launched]


def test_a_mask_is_counted_without_a_copy(gpu: fake_driver.FakeDriver) -> None:
    """Also one of many tiles. What is picked by it later waits for nothing."""
    x, y = np.asarray(numpy.ones(10_000_000)), np.asarray(numpy.arange(10_000_000))
    x.computed()
    gpu.work = counting(gpu, 3)
    gpu.calls.clear()
    gpu.launched.clear()
    mask = x > 0
    parts = [x[mask], y[mask], (x + 1)[mask]]
    assert [part.shape for part in parts] == [(3,)] * 3
    assert FETCH not in gpu.calls
    assert gpu.calls.count(WAIT) == 1
    assert len(names_of(gpu)) == 2
    np.synchronize()
    assert names_of(gpu).count("mask_offsets") == 1
    assert names_of(gpu).count("mask_elements") == 3


def test_masks_of_a_loop_wait_once_in_each_step(gpu: fake_driver.FakeDriver) -> None:
    z, alive = np.asarray(numpy.ones(10_000)), np.arange(10_000) + 0
    counts = np.zeros(10_000, numpy.int64) + 0
    np.synchronize()
    gpu.work = counting(gpu, 9000, 700, 2)
    gpu.calls.clear()
    gpu.launched.clear()
    for _ in range(3):
        mask = np.abs(z) <= 2
        z, alive = z[mask], alive[mask]
        counts[alive] += 1
    assert z.shape == (2,)
    assert FETCH not in gpu.calls
    assert gpu.calls.count(WAIT) == 3
    np.synchronize()
    assert len(names_of(gpu)) == 3 * 6  # to compute the mask, to count, to pick twice, to add one, and to write


def test_an_interrupted_count_is_made_again(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(numpy.ones(10_000))
    mask = x > 0
    gpu.work = counting(gpu, 5, 5)
    gpu.refuse = lambda name: "CUDA_ERROR_NOT_READY" if name == WAIT else None
    with pytest.raises(np.DeviceError):
        x[mask]
    gpu.refuse = lambda name: None
    assert x[mask].shape == (5,)
    assert FETCH not in gpu.calls
