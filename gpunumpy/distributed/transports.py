"""What carries arrays between processes: the interface, and the table of those that there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from ..core.dtypes import DType
from ..core.graph.layout import Shape
from ..core.recording.array import ndarray
from ..core.runtime.device import Device
from .host_transport import HostTransport
from .meeting import Meeting
from .nccl_transport import NcclTransport


class Transport(Protocol):
    """Collective operations between two processes and more: shapes, dtypes and ranks are checked before."""

    def empty(self, shape: Shape, dtype: DType) -> ndarray:
        """Return a new array for a result."""

    def all_reduce(self, x: ndarray, out: Any, op: str) -> None:
        """Reduce the arrays of all processes to one."""

    def all_gather(self, x: ndarray, out: Any) -> None:
        """Stack the arrays of all processes."""

    def reduce_scatter(self, x: ndarray, out: Any, op: str) -> None:
        """Reduce the arrays of all processes, of which process i gets the i-th row."""

    def all_to_all(self, x: ndarray, out: Any) -> None:
        """Send the i-th row to process i, and stack what comes."""

    def all_to_all_in_pieces(self, pieces: Iterable[ndarray], out: Any) -> None:
        """Send from each piece the i-th slice along its second axis to process i, while the next piece is made."""

    def broadcast(self, x: ndarray, out: Any, root: int) -> None:
        """Copy the array of one process to all."""

    def send(self, x: ndarray, to: int) -> None:
        """Send to a process that receives."""

    def recv(self, out: Any, source: int) -> None:
        """Receive from a process that sends."""

    def sendrecv(self, x: ndarray, out: Any, to: int, source: int) -> None:
        """Send to one process and receive from one, at once."""

    def barrier(self) -> None:
        """Wait for all processes."""

    def close(self) -> None:
        """Wait for what is under way, and close connections."""


TRANSPORTS: dict[str, Callable[[Meeting, Device], Transport]] = {"nccl": NcclTransport, "host": HostTransport}


def default_backend(device: Device) -> str:
    """Return the transport for arrays of a device."""
    return "nccl" if device.has_stream else "host"
