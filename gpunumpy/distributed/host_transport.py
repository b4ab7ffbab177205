"""Collective operations through the memory of the host and sockets: for programs without GPUs, and for tests.

Every process sends to every other: simple rather than fast. Elements are reduced in the order of the processes, so all
get the same bits. Each message tells what it is of, and one that does not fit is a `ValueError` on both sides.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy

from ..core.dtypes import DType
from ..core.graph.layout import Shape
from ..core.recording.array import ndarray, to_host
from ..core.runtime.device import Device
from ..functions.creation import arrays as creation
from .meeting import Meeting
from .pieces import rows_of
from .reductions import reduce_on_host


def _bytes(x: Any) -> Any:
    """Return the elements of NumPy's array as bytes, in C order."""
    return numpy.ascontiguousarray(x).reshape(-1).view(numpy.uint8)


class HostTransport:
    """Connections with all other processes; see `Transport`."""

    def __init__(self, meeting: Meeting, device: Device) -> None:
        self._rank, self._size, self._device = meeting.place.rank, meeting.place.size, device
        self._others = meeting.connect_all()

    def empty(self, shape: Shape, dtype: DType) -> ndarray:
        """Return a new array for a result."""
        return creation.empty(shape, dtype, device=self._device)

    def all_reduce(self, x: ndarray, out: Any, op: str) -> None:
        """See `Transport`."""
        own = to_host(x)
        out[...] = reduce_on_host(self._exchange(f"all_reduce {op}", [own] * self._size), op)

    def all_gather(self, x: ndarray, out: Any) -> None:
        """See `Transport`."""
        out[...] = numpy.stack(self._exchange("all_gather", [to_host(x)] * self._size))

    def reduce_scatter(self, x: ndarray, out: Any, op: str) -> None:
        """See `Transport`."""
        out[...] = reduce_on_host(self._exchange(f"reduce_scatter {op}", [*to_host(x)]), op)

    def all_to_all(self, x: ndarray, out: Any) -> None:
        """See `Transport`."""
        out[...] = numpy.stack(self._exchange("all_to_all", [*to_host(x)]))

    def all_to_all_in_pieces(self, pieces: Iterable[ndarray], out: Any) -> None:
        """See `Transport`. A piece is made when those before are there."""
        for rows, piece in rows_of(pieces):
            out[:, rows] = numpy.stack(self._exchange("all_to_all", [*numpy.swapaxes(to_host(piece), 0, 1)]))

    def broadcast(self, x: ndarray, out: Any, root: int) -> None:
        """See `Transport`."""
        name, own = f"broadcast of {root}", to_host(x)
        if self._rank == root:
            out[...] = self._swap(name, dict.fromkeys(self._others, own), {}).get(root, own)
        else:
            out[...] = self._swap(name, {}, {root: own})[root]

    def send(self, x: ndarray, to: int) -> None:
        """See `Transport`."""
        self._swap("send", {to: to_host(x)}, {})

    def recv(self, out: Any, source: int) -> None:
        """See `Transport`."""
        out[...] = self._swap("send", {}, {source: numpy.empty(out.shape, out.dtype)})[source]

    def sendrecv(self, x: ndarray, out: Any, to: int, source: int) -> None:
        """See `Transport`."""
        own = to_host(x)
        out[...] = own if to == self._rank else self._swap("send", {to: own}, {source: own})[source]

    def barrier(self) -> None:
        """See `Transport`."""
        self._exchange("barrier", [numpy.empty(0, numpy.uint8)] * self._size)

    def close(self) -> None:
        """See `Transport`."""
        for other in self._others.values():
            other.close()

    def _exchange(self, name: str, parts: list[Any]) -> list[Any]:
        """Send the i-th part to process i, and return what each process has sent to this one."""
        wanted = dict.fromkeys(self._others, parts[self._rank])
        found = self._swap(name, {rank: parts[rank] for rank in self._others}, wanted)
        return [found.get(rank, parts[self._rank]) for rank in range(self._size)]

    def _swap(self, name: str, sent: Mapping[int, Any], wanted: Mapping[int, Any]) -> dict[int, Any]:
        """Send arrays to some processes, and return arrays like others from some. All at once: no order can block."""
        with ThreadPoolExecutor(max(1, len(sent))) as pool:
            sending = [pool.submit(self._send, name, rank, x) for rank, x in sent.items()]
            found = {rank: self._receive(name, rank, like) for rank, like in wanted.items()}
            for one in sending:
                one.result()
        return found

    def _send(self, name: str, rank: int, x: Any) -> None:
        with _with_peer(rank):
            self._others[rank].send_bytes(json.dumps([name, x.dtype.name, x.shape]).encode())
            self._others[rank].send_bytes(_bytes(x))

    def _receive(self, name: str, rank: int, like: Any) -> Any:
        with _with_peer(rank):
            told = json.loads(self._others[rank].recv_bytes())
            content = self._others[rank].recv_bytes()
        own = [name, like.dtype.name, [*like.shape]]
        if told != own:
            raise ValueError(f"process {rank} is at {_words(*told)}, process {self._rank} at {_words(*own)}")
        return numpy.ndarray(like.shape, like.dtype, bytearray(content))


def _words(name: str, dtype: str, shape: list[int]) -> str:
    return f"{name} with {dtype} of shape {tuple(shape)}"


class _with_peer:
    """Context that says which process has ended when a connection has."""

    def __init__(self, rank: int) -> None:
        self._rank = rank

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Raise ConnectionError."""
        if isinstance(error, EOFError | OSError):
            raise ConnectionError(f"process {self._rank} has ended") from error
