"""NCCL's bindings as nccl4py 0.6 has them, for one process of two that hold the same and call the same.

Parameters have nccl4py's names and order, which a test compares with it. Work is done in memory of the host, at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from gpunumpy.core.runtime import memory

SIZE = 2
RANK = 0
# Of NCCL's numbers.
DTYPES = {0: "i1", 1: "u1", 2: "i4", 3: "u4", 4: "i8", 5: "u8", 6: "f2", 7: "f4", 8: "f8", 9: "u2"}
REDUCTIONS: dict[int, Callable[..., Any]] = {
    0: numpy.add,
    1: numpy.multiply,
    2: numpy.fmax,
    3: numpy.fmin,
    4: lambda a, b: (a + b) / 2,
}


def elements(address: int, count: int, datatype: int) -> Any:
    dtype = numpy.dtype(DTYPES[datatype])
    return memory.host_view(address, count * dtype.itemsize).view(dtype)


class Handle:
    """A handle, as the bindings give and take it."""


class Identity:
    """What processes know a communicator by."""

    def __init__(self, content: bytes = bytes(128)) -> None:
        self.content = content

    def __bytes__(self) -> bytes:
        return self.content

    @staticmethod
    def from_buffer(buffer: bytes) -> Identity:
        assert len(buffer) == 128
        return Identity(bytes(buffer))


class Failure(Exception):
    """An error of a call."""


class FakeNccl:
    """In the place of `nccl.bindings.nccl`.

    Attributes
    ----------
    calls
        The names of all calls.
    failing
        The name of the call that fails.
    failed
        The number of the error that an operation has ended with since.
    streams
        Those of messages that were sent.
    """

    Comm = Handle
    UniqueId = Identity
    NCCLError = Failure

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.failing = ""
        self.failed = 0
        self.streams: list[int] = []
        self._group: list[tuple[int, int, int]] | None = None

    def _called(self, name: str, comm: Any = None, stream: Any = 0) -> None:
        self.calls.append(name)
        assert comm is None or type(comm) is Handle
        assert type(stream) is int
        if name == self.failing:
            raise Failure("InvalidUsage (5): invalid usage")

    def get_unique_id(self) -> Identity:
        self._called("get_unique_id")
        return Identity(bytes(range(128)))

    def comm_init_rank(self, nranks: int, comm_id: Identity, rank: int) -> Handle:
        self._called("comm_init_rank")
        assert (nranks, rank, bytes(comm_id)) == (SIZE, RANK, bytes(range(128)))
        return Handle()

    def comm_destroy(self, comm: Handle) -> None:
        self._called("comm_destroy", comm)

    def comm_abort(self, comm: Handle) -> None:
        self._called("comm_abort", comm)

    def comm_get_async_error(self, comm: Handle) -> int:
        self._called("comm_get_async_error", comm)
        return self.failed

    def get_error_string(self, result: int) -> str:
        return f"error {result}"

    def get_last_error(self, comm: Handle) -> str:
        assert type(comm) is Handle
        return "Duplicate GPU detected"

    def all_reduce(
        self, sendbuff: int, recvbuff: int, count: int, datatype: int, op: int, comm: Handle, stream: int
    ) -> None:
        self._called("all_reduce", comm, stream)
        x = elements(sendbuff, count, datatype).copy()
        with numpy.errstate(all="ignore"):
            elements(recvbuff, count, datatype)[:] = REDUCTIONS[op](x, x)

    def reduce_scatter(
        self, sendbuff: int, recvbuff: int, recvcount: int, datatype: int, op: int, comm: Handle, stream: int
    ) -> None:
        self._called("reduce_scatter", comm, stream)
        x = elements(sendbuff, SIZE * recvcount, datatype)[:recvcount].copy()
        with numpy.errstate(all="ignore"):
            elements(recvbuff, recvcount, datatype)[:] = REDUCTIONS[op](x, x)

    def all_gather(
        self, sendbuff: int, recvbuff: int, sendcount: int, datatype: int, comm: Handle, stream: int
    ) -> None:
        self._called("all_gather", comm, stream)
        x = elements(sendbuff, sendcount, datatype).copy()
        elements(recvbuff, SIZE * sendcount, datatype)[:] = numpy.tile(x, SIZE)

    def broadcast(
        self, sendbuff: int, recvbuff: int, count: int, datatype: int, root: int, comm: Handle, stream: int
    ) -> None:
        self._called("broadcast", comm, stream)
        assert 0 <= root < SIZE
        elements(recvbuff, count, datatype)[:] = elements(sendbuff, count, datatype).copy()

    def group_start(self) -> None:
        self._called("group_start")
        self._group = []

    def group_end(self) -> None:
        self._called("group_end")
        assert self._group is not None
        messages, self._group = self._group, None
        sent: dict[int, list[Any]] = {RANK: [], SIZE - 1: []}
        for peer, address, count in messages:
            if count > 0:
                sent[peer].append(elements(address, count, 1).copy())
        for peer in sent:
            received = [(address, -count) for other, address, count in messages if other == peer and count < 0]
            # What the other sends to this one is what this one sends to itself.
            content = sent[RANK] or sent[peer] or [7] * len(received)
            for (address, count), x in zip(received, content, strict=False):
                elements(address, count, 1)[:] = x

    def send(self, sendbuff: int, count: int, datatype: int, peer: int, comm: Handle, stream: int) -> None:
        self._called("send", comm, stream)
        assert self._group is not None
        assert datatype == 1
        self.streams.append(stream)
        self._group.append((peer, sendbuff, count))

    def recv(self, recvbuff: int, count: int, datatype: int, peer: int, comm: Handle, stream: int) -> None:
        self._called("recv", comm, stream)
        assert self._group is not None
        assert datatype == 1
        self._group.append((peer, recvbuff, -count))
