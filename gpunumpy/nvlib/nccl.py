"""NCCL through nccl4py: one communicator for each process, whose operations go to the stream of the device."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy

from ..core import dtypes
from ..core.dtypes import DType
from ..core.errors import DeviceError
from ..core.extras import install_command
from ..core.late_imports import import_late
from ..core.runtime.device import Device

# NCCL's numbers of the dtypes that it reduces here, and how many numbers an element has.
TYPES: dict[DType, tuple[int, int]] = {
    dtypes.BOOL: (1, 1),
    numpy.dtype("int8"): (0, 1),
    numpy.dtype("uint8"): (1, 1),
    numpy.dtype("int32"): (2, 1),
    numpy.dtype("uint32"): (3, 1),
    numpy.dtype("int64"): (4, 1),
    numpy.dtype("uint64"): (5, 1),
    numpy.dtype("float16"): (6, 1),
    numpy.dtype("float32"): (7, 1),
    numpy.dtype("float64"): (8, 1),
    dtypes.bfloat16: (9, 1),
    numpy.dtype("complex64"): (7, 2),
    numpy.dtype("complex128"): (8, 2),
}
OPERATIONS = {"sum": 0, "prod": 1, "max": 2, "min": 3, "avg": 4}
# Bools are bytes of 0 and 1: NumPy's sum of them is "or", its product "and".
_OF_BOOLS = {"sum": "max", "prod": "min"}
_BYTE = 1  # the number of uint8
# Ranks of other processes, each with the address of what is sent to it, or received.
Messages: TypeAlias = Sequence[tuple[int, int]]


@cache
def library() -> Any:
    """Return the bindings.

    Raises
    ------
    DeviceError
        If nccl4py or NCCL cannot be loaded.
    """
    # Multicast of NVLink can leave GPUs out of service after a crash: only who sets it has it.
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
    try:
        nccl = import_late("nccl.bindings.nccl")
        nccl.get_version()
    except (ImportError, OSError, RuntimeError) as error:
        raise DeviceError(
            f"several GPUs need NCCL and nccl4py, which cannot be loaded ({error}); {install_command('cu13-nccl')} "
            "(or cu12-nccl), or take backend='host'"
        ) from error
    return nccl


class _told:
    """Context that raises NCCL's errors as `DeviceError`."""

    __slots__ = ()

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Raise `DeviceError` for an error of NCCL."""
        if error is not None and isinstance(error, library().NCCLError):
            raise DeviceError(_failure(str(error))) from error


def _failure(error: str) -> str:
    """Return the message of an error, with what NCCL says of its reason."""
    reason = library().get_last_error(library().Comm())  # the last one of all communicators
    return f"NCCL: {error}" + (f": {reason}" if reason else "")


def new_id() -> bytes:
    """Return what the processes of a new communicator know it by."""
    with _told():
        return bytes(library().get_unique_id())


def operation(op: str, dtype: DType) -> int:
    """Return NCCL's number of an operation."""
    return OPERATIONS[_OF_BOOLS.get(op, op) if dtype == dtypes.BOOL else op]


class Communicator:
    """The processes of a program, each with a GPU of its own.

    Arguments are addresses in the GPU's memory. Counts are of the elements that one process has or gets.

    Parameters
    ----------
    device : Device
        The GPU of this process.
    rank, size : int
        The number of this process, and that of all.
    identity : bytes
        What `new_id` gave process 0.
    """

    def __init__(self, device: Device, rank: int, size: int, identity: bytes) -> None:
        self._nccl = nccl = library()
        self._device, self._rank, self._size = device, rank, size
        self._stream = int(device.stream)
        with self._work():
            self._handle = nccl.comm_init_rank(size, nccl.UniqueId.from_buffer(identity), rank)

    def all_reduce(self, source: int, target: int, count: int, dtype: DType, op: str) -> None:
        """Reduce elements of all processes."""
        number, words = TYPES[dtype]
        with self._work():
            self._nccl.all_reduce(
                source, target, count * words, number, operation(op, dtype), self._handle, self._stream
            )

    def reduce_scatter(self, source: int, target: int, count: int, dtype: DType, op: str) -> None:
        """Reduce elements of all processes, of which each gets its part."""
        number, words = TYPES[dtype]
        with self._work():
            self._nccl.reduce_scatter(
                source, target, count * words, number, operation(op, dtype), self._handle, self._stream
            )

    def all_gather(self, source: int, target: int, nbytes: int) -> None:
        """Join the bytes of all processes."""
        with self._work():
            self._nccl.all_gather(source, target, nbytes, _BYTE, self._handle, self._stream)

    def broadcast(self, source: int, target: int, nbytes: int, root: int) -> None:
        """Copy the bytes of one process to all."""
        with self._work():
            self._nccl.broadcast(source, target, nbytes, _BYTE, root, self._handle, self._stream)

    def send_and_receive(self, sent: Messages, received: Messages, nbytes: int, stream: int | None = None) -> None:
        """Send bytes at some addresses to some processes, and receive from some, all at once.

        Messages between two processes are received in the order in which they are sent.
        """
        stream = self._stream if stream is None else stream
        with self._work():
            self._nccl.group_start()
            try:
                for rank, address in sent:
                    self._nccl.send(address, nbytes, _BYTE, rank, self._handle, stream)
                for rank, address in received:
                    self._nccl.recv(address, nbytes, _BYTE, rank, self._handle, stream)
            finally:
                self._nccl.group_end()

    def check(self) -> None:
        """Raise `DeviceError` if an operation has failed since."""
        with _told():
            failed = self._nccl.comm_get_async_error(self._handle)
        if failed:
            raise DeviceError(_failure(self._nccl.get_error_string(failed)))

    def close(self) -> None:
        """Give back what NCCL holds, once the operations are over. All processes of a machine wait for each other."""
        with self._work():
            self._nccl.comm_destroy(self._handle)

    def abort(self) -> None:
        """End the operations that are under way, and give back what NCCL holds."""
        with self._work():
            self._nccl.comm_abort(self._handle)

    def _work(self) -> _told:
        """Return a context in which NCCL is called."""
        self._device.activate()
        return _told()
