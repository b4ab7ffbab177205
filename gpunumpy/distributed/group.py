"""The processes of a program as one of them sees them: `init` to `finalize`."""

from __future__ import annotations

import os

from ..core.errors import allowed
from ..core.late_dataclasses import dataclass
from ..core.runtime.device import Device, default_device, devices
from .environment import Place, place_of_process
from .meeting import Meeting
from .transports import TRANSPORTS, Transport, default_backend


@dataclass(frozen=True)
class Group:
    """All processes of a program.

    Attributes
    ----------
    place : Place
        This process.
    device : Device
        The device of this process.
    backend : str
        The name of the transport.
    transport : Transport or None
        What carries arrays between processes; None if there is one alone.
    """

    place: Place
    device: Device
    backend: str
    transport: Transport | None


_group: Group | None = None


def init(
    *,
    rank: int | None = None,
    size: int | None = None,
    address: str | None = None,
    device: Device | str | int | None = None,
    backend: str | None = None,
) -> None:
    """Begin: find the other processes of the program, and make a device of this machine the default one.

    Who starts the processes says which is which: ``python -m gpunumpy.distributed``, torchrun, mpirun and Slurm set
    variables for it. A process that nobody started so is alone, and all operations work there.

    Parameters
    ----------
    rank, size : int, optional
        The number of this process and that of all, where no launcher tells, as in workers of Dask.
    address : str, optional
        Where process 0 waits, as ``"host:port"``; by default MASTER_ADDR and MASTER_PORT of the environment, else port
        29500 of the first machine of Slurm's, or of this one.
    device : Device, str or int, optional
        The device of this process. By default the GPU with the number of the process on its machine, or the CPU where
        there is none or GPUNUMPY_DEVICE says so.
    backend : {"nccl", "host"}, optional
        What carries arrays: NCCL between GPUs, or sockets and memory of the host, for small runs without GPUs. By
        default "nccl" if the device is a GPU.

    Raises
    ------
    RuntimeError
        If it was called before, without `finalize`.
    ValueError
        If the processes do not say the same, or a name is not known.
    TimeoutError
        If others do not come, in two minutes: it names them.
    ConnectionError
        If two processes have one rank, or one ends.
    DeviceError
        If NCCL cannot be loaded.

    Examples
    --------
    >>> import gpunumpy as np
    >>> import gpunumpy.distributed as dist
    >>> dist.init()
    >>> total = dist.all_reduce(np.arange(3))
    >>> dist.finalize()
    """
    global _group
    if _group is not None:
        raise RuntimeError("gpunumpy.distributed.init() was called before; finalize() ends what it began")
    place = place_of_process(rank, size, address)
    own = _device_of(place.local_rank) if device is None else Device(device)
    backend = default_backend(own) if backend is None else backend
    if backend not in TRANSPORTS:
        raise ValueError(f"there is no backend {backend!r}; {allowed(TRANSPORTS)}")
    transport = None if place.size == 1 else _transport(place, own, backend)
    default_device(own)
    _group = Group(place, own, backend, transport)


def _device_of(local_rank: int) -> Device:
    """Return the device of a process by its number on its machine. It uses no GPU."""
    gpus = devices()[:-1]
    if os.environ.get("GPUNUMPY_DEVICE") == "cpu" or not gpus:
        return Device("cpu")
    return gpus[local_rank % len(gpus)]


def _transport(place: Place, device: Device, backend: str) -> Transport:
    meeting = Meeting(place)
    try:
        said = meeting.exchange(backend)
        if any(other != backend for other in said):
            raise ValueError(f"processes have different backends, in their order: {said}")
        return TRANSPORTS[backend](meeting, device)
    finally:
        meeting.close()


def current() -> Group:
    """Return the group of this process.

    Raises
    ------
    RuntimeError
        Before `init`.
    """
    if _group is None:
        raise RuntimeError("call gpunumpy.distributed.init() first")
    return _group


def is_initialized() -> bool:
    """Return whether `init` was called, and `finalize` was not."""
    return _group is not None


def rank() -> int:
    """Return the number of this process, from 0."""
    return current().place.rank


def size() -> int:
    """Return the number of processes."""
    return current().place.size


def local_rank() -> int:
    """Return the number of this process among those of its machine."""
    return current().place.local_rank


def finalize() -> None:
    """End what `init` began, after all operations of this process. All processes call it, or end."""
    global _group
    group, _group = current(), None
    if group.transport is not None:
        group.transport.close()
