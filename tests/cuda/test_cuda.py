"""Devices and memory under CuPy's names."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy import cuda
from gpunumpy.arrays.missing import INSTEAD as INSTEAD_OF_METHODS
from gpunumpy.core.runtime.device import CPU, Device
from gpunumpy.cuda import missing, runtime
from gpunumpy.functions.successors import SUCCESSORS

from ..support import fake_driver


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_driver.install(monkeypatch, 2)
    assert cuda.Device is np.Device
    assert runtime.getDeviceCount() == 2
    with cuda.Device(1) as device:
        assert (device.id, int(device), cuda.get_device_id(), runtime.getDevice()) == (1, 1, 1, 1)
        cuda.Device(0).use()
        assert cuda.Device().id == 0
        assert np.zeros(3).device.id == 0
        runtime.setDevice(1)
        assert cuda.get_device_id() == 1
    assert cuda.get_device_id() == 0
    assert cuda.Device(0).compute_capability == "90"
    assert cuda.Device(0).mem_info == runtime.memGetInfo() == (1 << 30, 1 << 30)
    found = runtime.getDeviceProperties(0)
    assert (found["name"], found["major"], found["multiProcessorCount"]) == (b"a GPU that is not there", 9, 132)
    assert runtime.driverGetVersion() == 13000


def test_the_cpu() -> None:
    with Device("cpu"):
        x = np.arange(4.0) + 1
        cuda.Device().synchronize()
        runtime.deviceSynchronize()
        assert x[3] == 4
        free, total = CPU.mem_info
        assert 0 < free < total
        assert not hasattr(CPU, "compute_capability")
        assert cuda.is_available() is np.is_available()


def test_a_device_that_is_not_there_raises_the_errors_of_both_names() -> None:
    with pytest.raises(runtime.CUDARuntimeError, match="there is no device"):
        cuda.Device(100)
    assert cuda.memory.OutOfMemoryError is MemoryError


@pytest.mark.on_device
def test_memory() -> None:
    pool = np.get_default_memory_pool()
    assert pool is np.get_default_memory_pool()
    x = np.array(numpy.ones(1 << 20))
    x.computed()
    assert pool.used_bytes() >= x.nbytes
    assert pool.total_bytes() == pool.used_bytes() + pool.free_bytes()
    del x
    assert pool.n_free_blocks() >= 1
    pool.free_all_blocks()
    assert (pool.n_free_blocks(), pool.free_bytes()) == (0, 0)


def test_the_limit_of_memory() -> None:
    pool = np.get_default_memory_pool()
    assert pool.get_limit() == 0
    try:
        pool.set_limit(size=1 << 40)
        assert pool.get_limit() == 1 << 40
        with pytest.raises(ValueError, match="exactly one"):
            pool.set_limit()
        with pytest.raises(ValueError, match="fraction is a part"):
            pool.set_limit(fraction=2)
    finally:
        pool.set_limit(size=0)
    assert pool.get_limit() == 0


def test_allocators() -> None:
    pool = np.get_default_memory_pool()
    cuda.set_allocator(cuda.MemoryPool().malloc)
    cuda.set_allocator(pool.malloc)
    cuda.set_allocator(cuda.get_allocator())
    for other in (None, len):
        with pytest.raises(NotImplementedError, match="one allocator"):
            cuda.set_allocator(other)  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError, match="uint8"):
        pool.malloc(4)
    pinned = np.get_default_pinned_memory_pool()
    pinned.free_all_blocks()
    assert pinned.n_free_blocks() == 0


def test_copies_to_the_host(device: str) -> None:
    with Device(device):
        x = np.arange(6.0).reshape(2, 3) + 1
        expected = numpy.arange(6.0).reshape(2, 3) + 1
        out = numpy.zeros((2, 3), numpy.float32)
        assert np.asnumpy(x, cuda.Stream.null if device != "cpu" else None, "F", out, blocking=False) is out
        assert (out == expected).all()
        assert x.get(order="F").flags.f_contiguous
        assert (x.get(out=numpy.zeros((2, 3))) == expected).all()
        with pytest.raises(ValueError, match="out has shape"):
            x.get(out=numpy.zeros(3))
        with pytest.raises(TypeError, match="out is a NumPy array"):
            np.asnumpy(x, out=x)


def test_what_is_no_stream_or_event_is_refused(device: str) -> None:
    with Device(device):
        x, stream, event = np.arange(6.0) + 1, cuda.Stream(), cuda.Event()
        plus = np.ElementwiseKernel("T x", "T y", "y = x + 1", "plus_on_a_stream")
        total = np.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total_on_a_stream")
        for call in (
            lambda: stream.wait_event(3),
            lambda: stream.wait(3),
            lambda: stream.record("x"),
            lambda: event.record("x"),
            lambda: cuda.get_elapsed_time(3.0, event),
            lambda: x.get(stream="x"),
            lambda: np.asnumpy(x, stream=2.5),
            lambda: plus(x, stream="x"),
            lambda: total(x, stream=[3]),
        ):
            with pytest.raises(TypeError, match=r"needed, not|waits for an Event or a Stream, not"):
                call()
        assert x.get(stream=cuda.Stream.null).tolist() == x.tolist()


@pytest.mark.parametrize("name", missing.INSTEAD)
def test_what_is_not_here_says_what_to_write(name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'gpunumpy.cuda' has no attribute '{name}': "):
        getattr(np.cuda, name)
    assert name not in np.cuda.__all__


@pytest.mark.parametrize("name", INSTEAD_OF_METHODS)
def test_methods_that_are_not_here_say_what_to_write(name: str) -> None:
    for x in (np.arange(3.0), np.ones((300, 300)), np.ones(3).sum()):
        advice = f"^'{type(x).__name__}' object has no attribute '{name}'; use {re.escape(INSTEAD_OF_METHODS[name])}$"
        with pytest.raises(AttributeError, match=advice):
            getattr(x, name)
        assert name not in dir(x)
    assert not hasattr(np.ndarray, name)


def test_methods_that_are_not_here_leave_their_names_to_classes_objects_and_fields() -> None:
    class Named(np.ndarray):
        def scatter_add(self) -> str:
            return "mine"

        def __getattr__(self, name: str) -> str:
            return name.upper()

    x: Any = np.arange(3.0).view(Named)
    x.set = 5
    assert (x.set, x.scatter_add(), x.toDlpack, x.other) == (5, "mine", "TODLPACK", "OTHER")
    records: Any = np.rec.fromarrays([[1, 2], [3.0, 4.0]], names="set,y")
    records.set = [5, 6]
    assert records.set.tolist() == records["set"].tolist() == [5, 6]


def test_old_names_say_what_to_write() -> None:
    for module, names in SUCCESSORS.items():
        for name, successor in names.items():
            if not hasattr(import_module(module), name):
                own = np.random if module == "numpy.random" else np
                with pytest.raises(AttributeError, match=f"has no attribute '{name}'; use {re.escape(successor)}"):
                    getattr(own, name)
