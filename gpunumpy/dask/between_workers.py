"""Arrays go from a GPU to that of another worker of the same machine directly: by CUDA's inter-process communication.

A worker that fetches results tells by which serializers it can read them. One of these stands for the memory of GPUs of
this machine: what is sent then is not the elements but a handle of memory, from which the worker copies them to its own
GPU as it reads the message. The sender has the memory back once the worker has said that it has all, or is gone. All
others (the client, workers of other machines) do not know that serializer, and are sent pickles.
"""

from __future__ import annotations

import os
import pickle
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path
from typing import Any
from weakref import WeakSet

from distributed.protocol.serialize import families, register_serialization_family

from ..core.errors import DeviceError
from ..core.recording.array import ndarray
from ..core.recording.between_processes import LentArray, borrowed_copy, lend
from ..core.runtime.device import default_device
from ..core.runtime.shared_blocks import Handle
from .completion import work_before

_MIN_BYTES = 1 << 20  # to open the memory of another process takes about as long as to send so much
_OTHERS = ("dask", "pickle", "error")  # serializers that all workers have
# What the message that is being made has lent. Outside of answers to workers nothing is.
_lent: ContextVar[list[LentArray] | None] = ContextVar("gpunumpy_lent_to_a_worker", default=None)
_connections: WeakSet[Any] = WeakSet()  # of workers that read handles


def serializer_of_machine() -> str | None:
    """Return the name of the serializer of handles, which differs where memory can't be shared; None if unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        spaces = [os.readlink(f"/proc/self/ns/{kind}") for kind in ("ipc", "pid")]
    except OSError:
        return None
    return f"gpunumpy on {sha256(repr((boot, spaces)).encode()).hexdigest()[:16]}"


def handle_of(x: Any) -> tuple[dict[str, Any], list[bytes]]:
    """Return a description of an array with the handle of memory that its elements are in, and no frames.

    Raises
    ------
    NotImplementedError
        If the array is not on a GPU, or is small. Then `distributed` takes its next serializer.
    """
    lent_before = _lent.get()
    if lent_before is None or not isinstance(x, ndarray) or not x.device.has_stream or x.nbytes < _MIN_BYTES:
        raise NotImplementedError(f"{type(x).__name__} is sent by its bytes")
    try:
        lent = lend(x, work_before(x))
    except (DeviceError, MemoryError) as error:
        raise NotImplementedError(str(error)) from error
    if lent is None:
        raise NotImplementedError(f"an array on {x.device} has moved to the host")
    lent_before.append(lent)
    return {"handle": lent.block.handle, "shape": x.shape, "dtype": pickle.dumps(x.dtype)}, []


def array_of_handle(description: dict[str, Any], frames: list[Any]) -> ndarray:
    """Return an array on this worker's GPU with the elements that another worker has lent.

    Raises
    ------
    OSError
        If this GPU can't reach the memory. Then `distributed` fetches the result again, and gets its bytes.
    """
    shape, dtype = tuple(description["shape"]), pickle.loads(description["dtype"])
    try:
        return borrowed_copy(Handle(*description["handle"]), shape, dtype, default_device())
    except DeviceError as error:
        for connection in _connections:
            connection.deserializers = None
        warnings.warn(f"arrays come from other workers by way of the host: {error}", RuntimeWarning, stacklevel=2)
        raise OSError(f"the memory of another worker can't be read: {error}") from error


def _with_handles(send: Callable[..., Any]) -> Callable[..., Any]:
    """Return what sends results to whom asks, as `Worker.get_data` does, and takes back what was lent for that."""

    async def get_data(comm: Any, keys: Any, who: Any = None, serializers: Any = None) -> Any:
        known = [name for name in serializers or () if name in families] or None
        lent: list[LentArray] = []
        token = _lent.set(lent)
        try:
            return await send(comm, keys, who=who, serializers=known)
        finally:
            _lent.reset(token)
            for each in lent:
                each.end()

    return get_data


def connect(worker: Any) -> None:
    """Have a worker with a GPU send arrays to workers of this machine by handles, and fetch them so.

    A protocol that sends the memory of GPUs by itself (UCX) is left as it is.
    """
    name = serializer_of_machine()
    if name is None or not default_device().has_stream or not worker.address.startswith(("tcp://", "tls://")):
        return
    register_serialization_family(name, handle_of, array_of_handle)
    worker.handlers["get_data"] = _with_handles(worker.get_data)
    if worker.rpc.deserializers is None:
        worker.rpc.deserializers = (name, *_OTHERS)
        _connections.add(worker.rpc)
