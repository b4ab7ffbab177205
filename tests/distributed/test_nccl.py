"""What NCCL is asked for: addresses, counts and dtypes, of memory of the CPU, by a communicator that pretends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import dtypes
from gpunumpy.core.errors import DeviceError
from gpunumpy.core.runtime import evaluate, memory
from gpunumpy.core.runtime.device import Device
from gpunumpy.distributed import nccl_operands
from gpunumpy.distributed.nccl_transport import NcclTransport
from gpunumpy.distributed.reductions import OPERATIONS
from gpunumpy.nvlib import nccl

from ..support import fake_driver

pytestmark = pytest.mark.on_device
SIZE = 2
UFUNCS: dict[str, Callable[..., Any]] = {name: ufunc for name, (_, ufunc) in OPERATIONS.items()}


def elements(address: int, count: int, dtype: Any) -> Any:
    return memory.host_view(address, count * numpy.dtype(dtype).itemsize).view(dtype)


class Twins:
    """The communicator of process 0 of two that hold the same and call the same."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def all_reduce(self, source: int, target: int, count: int, dtype: Any, op: str) -> None:
        assert dtype in nccl.TYPES
        self.calls.append((source == target, dtype.name, op))
        values = elements(source, count, dtype)
        elements(target, count, dtype)[:] = UFUNCS[op](values, values)

    def reduce_scatter(self, source: int, target: int, count: int, dtype: Any, op: str) -> None:
        self.all_reduce(source, target, count, dtype, op)

    def all_gather(self, source: int, target: int, nbytes: int) -> None:
        self.calls.append((source, target))
        values = elements(source, nbytes, "u1").copy()
        elements(target, SIZE * nbytes, "u1")[:] = numpy.tile(values, SIZE)

    def broadcast(self, source: int, target: int, nbytes: int, root: int) -> None:
        self.calls.append((source == target, root))
        elements(target, nbytes, "u1")[:] = elements(source, nbytes, "u1").copy()

    def send_and_receive(self, sent: nccl.Messages, received: nccl.Messages, nbytes: int) -> None:
        self.calls.append(([rank for rank, _ in sent], [rank for rank, _ in received], nbytes))
        read = dict(sent)
        for rank, address in received:
            elements(address, nbytes, "u1")[:] = elements(read.get(0, read.get(rank, address)), nbytes, "u1")


def pretended(device: Device) -> Any:
    made = NcclTransport.__new__(NcclTransport)
    made._rank, made._size, made._device = 0, SIZE, device
    made._queue = evaluate.queue_of(device)
    made._communicator = Twins()  # type: ignore[assignment]
    return made


@pytest.fixture
def transport() -> Any:
    with Device("cpu"):
        yield pretended(Device("cpu"))


def test_results_are_new_or_in_place(transport: Any) -> None:
    x = np.arange(6.0) + 1
    before = x * 10
    out = transport.empty((6,), x.dtype)
    transport.all_reduce(x, out, "sum")
    assert numpy.array_equal(out.get(), 2 * (numpy.arange(6.0) + 1))
    transport.all_reduce(x, x, "sum")
    assert numpy.array_equal(x.get(), out.get())
    assert numpy.array_equal(before.get(), (numpy.arange(6.0) + 1) * 10)
    assert [call[0] for call in transport._communicator.calls] == [False, True]


def test_views_are_copied(transport: Any) -> None:
    x = np.arange(12.0).reshape(3, 4)
    out = np.zeros((4, 3))
    transport.all_reduce(x.T, out, "sum")
    assert numpy.array_equal(out.get(), 2 * x.get().T)
    transport.all_reduce(x[1:], x[1:], "sum")  # a part that is contiguous, at its own address
    expected = numpy.arange(12.0).reshape(3, 4)
    expected[1:] *= 2
    assert numpy.array_equal(x.get(), expected)
    transport.all_reduce(x[:, 1], x[:, 0], "sum")
    assert numpy.array_equal(x.get()[:, 0], 2 * expected[:, 1])


def test_parts_of_what_is_written_are_copied(transport: Any) -> None:
    x = np.arange(8.0).reshape(2, 4)
    transport.all_gather(x[1], x)
    assert numpy.array_equal(x.get(), numpy.tile(numpy.arange(4.0, 8), (2, 1)))
    x = np.arange(8.0).reshape(2, 4)
    transport.all_to_all(x, x)
    assert numpy.array_equal(x.get(), numpy.tile(numpy.arange(4.0), (2, 1)))
    transport.broadcast(x, x, 1)
    assert transport._communicator.calls[1:] == [([0, 1], [0, 1], 32), (True, 1)]


def test_narrow_integers_are_reduced_as_wider_ones(transport: Any) -> None:
    for dtype, wide in (("int16", "int32"), ("uint16", "uint32")):
        x = np.full(3, numpy.iinfo(dtype).max, dtype)
        out = transport.empty((3,), x.dtype)
        transport.all_reduce(x, out, "sum")
        with numpy.errstate(over="ignore"):
            assert numpy.array_equal(out.get(), x.get() + x.get())
        assert transport._communicator.calls[-1] == (False, wide, "sum")


def test_empty_arrays_and_messages(transport: Any) -> None:
    empty = np.zeros((0, 3))
    transport.all_reduce(empty, transport.empty((0, 3), empty.dtype), "sum")
    assert transport._communicator.calls == []
    x = np.arange(3, dtype="int16")
    transport.send(x + 1, 1)
    transport.recv(x, 1)
    transport.sendrecv(x, transport.empty((3,), x.dtype), 1, 1)
    assert transport._communicator.calls == [([1], [], 6), ([], [1], 6), ([1], [1], 6)]


@pytest.mark.parametrize("where", ["auto", "device"])
def test_arrays_of_a_gpu(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """Small arrays, which are on the host, are copied to the GPU first; nothing is read back."""
    fake_driver.install(monkeypatch, 2)
    before = np.set_residence(where)
    try:
        transport = pretended(Device("cuda:1"))
        with Device("cuda:1"):
            for size in (4, 100_000):
                values = numpy.arange(float(size)).reshape(2, -1)
                x = np.asarray(values)
                out = transport.empty(x.shape, x.dtype)
                transport.all_reduce(x, out, "sum")
                assert out.device is transport._device
                assert numpy.array_equal(out.get(), 2 * values)
                transport.all_reduce(x, x, "sum")
                transport.all_reduce(x, x, "sum")
                assert numpy.array_equal(x.get(), 4 * values)
                gathered = np.asarray(values)
                transport.all_gather(np.asarray(values[1]), gathered)
                assert numpy.array_equal(gathered.get(), numpy.stack([values[1]] * 2))
                with pytest.raises(ValueError, match="two devices"):
                    transport.all_reduce(np.asarray(values, device="cuda:0"), out, "sum")
    finally:
        np.set_residence(before)


def test_every_dtype_that_is_reduced_has_a_number() -> None:
    reduced = {dtype for dtype in dtypes.KIND if dtype != dtypes.float4_e2m1fn}
    assert {nccl_operands._WIDER.get(dtype, dtype) for dtype in reduced} == nccl.TYPES.keys()


def test_numbers_are_those_of_the_bindings() -> None:
    bindings = pytest.importorskip("nccl.bindings.nccl", reason="nccl4py is not installed")
    known = {kind.name.lower(): int(kind) for kind in bindings.DataType}
    names = {"bool": "uint8", "complex64": "float32", "complex128": "float64"}
    for dtype, (number, _) in nccl.TYPES.items():
        assert number == known[names.get(dtype.name, dtype.name)]
    operations = {kind.name.lower(): int(kind) for kind in bindings.RedOp}
    assert {name: operations[name] for name in nccl.OPERATIONS} == nccl.OPERATIONS


def test_without_nccl(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError("No module named 'nccl'")

    nccl.library.cache_clear()
    monkeypatch.setattr(nccl, "import_late", missing)
    with pytest.raises(DeviceError, match="nccl4py"):
        nccl.new_id()
