"""A process of two over NCCL's bindings, which pretend: arguments of every call, errors, and how it ends."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.dtypes import KIND
from gpunumpy.core.errors import DeviceError
from gpunumpy.core.runtime import device, evaluate, memory
from gpunumpy.core.runtime.device import CPU, Device
from gpunumpy.distributed import nccl_transport
from gpunumpy.distributed.environment import Place
from gpunumpy.distributed.nccl_transport import NcclTransport
from gpunumpy.distributed.reductions import OPERATIONS
from gpunumpy.nvlib import nccl

from ..support import fake_driver
from . import fake_nccl
from .fake_nccl import FakeNccl

pytestmark = pytest.mark.on_device


class Alone:
    """A meeting of which all have said the same."""

    place = Place(fake_nccl.RANK, fake_nccl.SIZE, 0, "127.0.0.1", 0, b"")

    def exchange(self, value: Any) -> list[Any]:
        return [value] * fake_nccl.SIZE

    def together(self, begin: Callable[[], Any]) -> Any:
        return begin()


class NoGpu:
    """What a communicator asks of its device."""

    stream = 5

    def activate(self) -> None:
        """Do nothing."""


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> FakeNccl:
    made = FakeNccl()
    monkeypatch.setattr(nccl, "library", lambda: made)
    monkeypatch.setattr(nccl_transport, "library", lambda: made)
    return made


@pytest.fixture
def transport(library: FakeNccl) -> Iterator[Any]:
    """One whose arrays are of the CPU, so that they can be computed."""
    made = NcclTransport.__new__(NcclTransport)
    made._rank, made._size, made._device = fake_nccl.RANK, fake_nccl.SIZE, Device("cpu")
    made._queue = evaluate.queue_of(made._device)
    made._communicator = nccl.Communicator(NoGpu(), made._rank, made._size, nccl.new_id())  # type: ignore[arg-type]
    with Device("cpu"):
        yield made


@pytest.fixture
def on_gpu(library: FakeNccl, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """One of a GPU that is not there."""
    fake_driver.install(monkeypatch)
    with Device("cuda:0"):
        yield NcclTransport(Alone(), Device("cuda:0"))


FLOATS = ("float16", "float8_e4m3fn", "float8_e5m2", "float32", "float64", "complex64", "complex128")
INTEGERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
REDUCTIONS = [
    (op, name) for op in OPERATIONS for name in (*INTEGERS, *FLOATS) if KIND[np.dtype(name)] in OPERATIONS[op][0]
]


@pytest.mark.parametrize(("op", "name"), REDUCTIONS)
def test_reductions(transport: Any, op: str, name: str) -> None:
    """Of two equal arrays. NaN stays, infinity is reached, and integers wrap around, as in NumPy."""
    dtype = np.dtype(name)
    values = numpy.array([[0, 1, 3], [100, 7, 2]]).astype(dtype)
    if name in FLOATS:
        values[0] = numpy.array([numpy.nan, -2.5, 448]).astype(dtype)
    if name in INTEGERS and name != "bool":
        values[0, 0] = numpy.iinfo(dtype).max
    with numpy.errstate(all="ignore"):
        expected = values if op == "avg" else OPERATIONS[op][1](values, values)
    for x in (np.asarray(values), np.asarray(numpy.repeat(values, 2, 1))[:, ::2]):
        out = transport.empty(x.shape, x.dtype)
        transport.all_reduce(x, out, op)
        assert numpy.array_equal(out.get().astype(complex), expected.astype(complex), equal_nan=True)
        row = transport.empty(x.shape[1:], x.dtype)
        transport.reduce_scatter(x, row, op)
        assert numpy.array_equal(row.get().astype(complex), expected[0].astype(complex), equal_nan=True)
    transport.all_reduce(x, x, op)
    assert numpy.array_equal(x.get().astype(complex), expected.astype(complex), equal_nan=True)


def test_least_and_greatest_of_signs_and_infinities(transport: Any) -> None:
    x = np.asarray(numpy.array([-0.0, 0.0, numpy.inf, -numpy.inf, -1e-310, numpy.nan, -numpy.nan]))
    for op in ("min", "max"):
        out = transport.empty(x.shape, x.dtype)
        transport.all_reduce(x, out, op)
        assert out.get()[:5].tobytes() == x.get()[:5].tobytes()
        assert numpy.isnan(out.get()[5:]).all()


def test_moves(transport: Any, library: FakeNccl) -> None:
    values = numpy.arange(8.0).reshape(2, 4)
    x = np.asarray(values)
    out = transport.empty((2, 2, 4), x.dtype)
    transport.all_gather(x, out)
    assert numpy.array_equal(out.get(), [values, values])
    transport.broadcast(x + 1, x, 1)
    assert numpy.array_equal(x.get(), values + 1)
    transport.all_to_all(x, x)
    assert numpy.array_equal(x.get(), [values[0] + 1] * 2)
    out = transport.empty((4,), x.dtype)
    transport.sendrecv(x[0], out, 1, 1)
    assert numpy.array_equal(out.get(), values[0] + 1)
    transport.sendrecv(x[0] * 2, out, 0, 0)
    assert numpy.array_equal(out.get(), 2 * (values[0] + 1))
    transport.send(x[0], 1)
    transport.recv(out, 1)
    assert (out.get().view("u1") == 7).all()
    assert library.calls.count("group_start") == library.calls.count("group_end") == 5


@pytest.mark.parametrize("count", [100_000, 5, 0])
def test_pieces(on_gpu: Any, library: FakeNccl, count: int) -> None:
    """They go on a stream of their own, which waits for the device, and the device for it at the end."""
    values = numpy.arange(3.0 * 2 * count).reshape(3, 2, count)
    places = [slice(0, 1), slice(1, 1), slice(1, 2), slice(2, 3)]
    for out in (np.empty((2, 3, count)), np.empty((2, 3, 2 * count))[:, :, ::2]):
        library.streams.clear()
        driver = device.driver()
        driver.calls.clear()
        on_gpu.all_to_all_in_pieces((np.asarray(values[rows]) for rows in places), out)
        assert driver.calls.count("cuStreamWaitEvent") >= (4 if count else 1)
        assert len(library.streams) == 6 * (count > 0)
        assert int(on_gpu._device.stream) not in library.streams
        if out.c_contiguous:  # nothing that a kernel would have to copy
            assert numpy.array_equal(out.get(), [values[:, 0]] * 2)


def test_pieces_of_several_rows(transport: Any, library: FakeNccl, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a message for each process, whatever the number of its rows."""
    for name in ("consumer_waits", "wait_for"):
        monkeypatch.setattr(nccl_transport, name, lambda *args: None)
    transport._beside = SimpleNamespace(ptr=9)
    values = numpy.arange(7.0 * 2 * 5).reshape(7, 2, 5)
    for out in (np.empty((2, 7, 5)), np.empty((2, 7, 10))[:, :, ::2]):
        library.calls.clear()
        transport.all_to_all_in_pieces((np.asarray(values[rows]) for rows in (slice(0, 3), slice(3, 7))), out)
        assert library.calls.count("send") == library.calls.count("recv") == 2 * fake_nccl.SIZE
        assert numpy.array_equal(out.get(), [values[:, 0]] * 2)


def test_what_pieces_are_made_of_stays(on_gpu: Any, library: FakeNccl) -> None:
    """Until the device waits for the stream, no memory is given to others, or moves."""
    seen: list[bool] = []

    def count() -> int:
        return sum(map(len, memory._staying.values()))

    others = count()

    def pieces() -> Iterator[Any]:
        for k in range(3):
            yield np.asarray(numpy.full((1, 2, 50_000), float(k)))
            seen.append(count() >= others + 2 * (k + 1))

    out = np.empty((2, 3, 50_000))
    on_gpu.all_to_all_in_pieces(pieces(), out)
    assert seen == [True] * 3
    assert count() == others
    assert numpy.array_equal(out.get()[0, :, 0], numpy.arange(3.0))

    def failing() -> Iterator[Any]:
        yield np.asarray(numpy.zeros((1, 2, 50_000)))
        raise KeyError

    with pytest.raises(KeyError):
        on_gpu.all_to_all_in_pieces(failing(), out)
    assert count() == others


def test_what_is_pending_comes_first(transport: Any) -> None:
    for size in (6, 100_000):
        values = numpy.arange(float(size))
        x = np.asarray(values)
        copied, before, seen = x.copy(), x + 1, x[2:]
        transport.all_reduce(x, x, "sum")
        x += before
        assert numpy.array_equal(copied.get(), values)
        assert numpy.array_equal(before.get(), values + 1)
        assert numpy.array_equal(x.get(), 2 * values + values + 1)
        assert numpy.array_equal(seen.get(), x.get()[2:])


def test_arrays_that_have_moved_to_the_host(transport: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """They come back, and stay where they are until NCCL has its work."""
    n = 1 << 17
    monkeypatch.setattr(CPU, "has_spilled", True)  # so that uses are noted from the beginning
    memory.free_all_blocks("cpu")
    np.set_memory_limit(memory.memory_info("cpu").used + 5 * 8 * n, "cpu")
    try:
        arrays = [np.asarray(numpy.full(n, float(k))) for k in range(8)]
        for x in arrays:
            x += 1
            np.synchronize()
        assert any(x._node.data.is_spilled for x in arrays)
        for k, x in enumerate(arrays):
            out = transport.empty(x.shape, x.dtype)
            transport.all_reduce(x, out, "sum")
            assert out.get()[0] == 2 * (k + 1)
            transport.all_reduce(x, x, "sum")
        assert [x.get()[-1] for x in arrays] == [2 * (k + 1) for k in range(8)]
    finally:
        np.set_memory_limit(None, "cpu")


def test_errors_have_what_nccl_says(transport: Any, library: FakeNccl) -> None:
    x = np.zeros(4)
    library.failing = "all_reduce"
    with pytest.raises(DeviceError, match=r"^NCCL: InvalidUsage \(5\): invalid usage: Duplicate GPU detected$"):
        transport.all_reduce(x, x, "sum")
    library.failing = "send"
    with pytest.raises(DeviceError, match="Duplicate GPU"):
        transport.send(x, 1)
    assert library.calls[-1] == "group_end"  # the next operation is of no group
    library.failing = ""
    library.failed = 6
    with pytest.raises(DeviceError, match="error 6: Duplicate GPU"):
        transport.barrier()


def test_the_end(on_gpu: Any, library: FakeNccl) -> None:
    on_gpu.close()
    assert library.calls[-1] == "comm_destroy"


def test_the_end_after_an_error(on_gpu: Any, library: FakeNccl) -> None:
    """What has failed is not waited for."""
    library.failed = 6
    with pytest.raises(DeviceError, match="error 6"):
        on_gpu.close()
    assert library.calls[-1] == "comm_abort"


def test_a_graph_takes_no_operations(on_gpu: Any, library: FakeNccl) -> None:
    x = np.asarray(numpy.arange(4.0))
    captured = np.graph(lambda x: on_gpu.all_reduce(x, x, "sum"))
    captured(x)  # as an ordinary function
    before = list(library.calls)
    with pytest.raises(DeviceError, match="an operation of several processes"):
        captured(x)
    assert library.calls == before


def test_nccl_is_for_gpus(library: FakeNccl) -> None:
    with pytest.raises(ValueError, match="'nccl' is for GPUs, and the device is cpu"):
        NcclTransport(Alone(), Device("cpu"))


def test_a_process_without_its_gpu_is_not_waited_for(on_gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails before it has told the others that it is ready, as NCCL would have them wait for it."""

    class Told(Alone):
        def exchange(self, value: Any) -> list[Any]:
            raise AssertionError("told the others")

    def fails(self: Device) -> None:
        raise DeviceError("no context")

    monkeypatch.setattr(Device, "activate", fails)
    with pytest.raises(DeviceError, match="no context"):
        NcclTransport(Told(), Device("cuda:0"))


def test_calls_are_those_of_the_bindings() -> None:
    bindings = pytest.importorskip("nccl.bindings.nccl", reason="nccl4py is not installed")
    compared = 0
    for name, function in inspect.getmembers(FakeNccl, inspect.isfunction):
        if not name.startswith("_"):
            words = re.match(r"\w+\(([^)]*)\)", getattr(bindings, name).__doc__)
            assert words is not None
            real = [word.split()[-1] for word in words[1].split(",") if word]
            assert [*inspect.signature(function).parameters][1:] == real, name
            compared += 1
    assert compared == 15
    assert bytes(bindings.UniqueId.from_buffer(bytes(range(128)))) == bytes(range(128))
