"""Functions of CUDA's runtime under the names of `cupy.cuda.runtime`: those that ask, choose a device, and wait."""

from __future__ import annotations

from typing import Any

from ..core.errors import DeviceError
from ..core.runtime.device import Device, check, devices, driver, why_no_gpu

CUDARuntimeError = DeviceError
is_hip = False


def is_available() -> bool:
    """Return whether this machine has a GPU that can be used."""
    return why_no_gpu() is None


def getDeviceCount() -> int:
    """Return the number of GPUs; CUDA raises an error where there is none."""
    return len(devices()) - 1


def getDevice() -> int:
    """Return the number of the default device of this thread."""
    return Device().id


def setDevice(device: int) -> None:
    """Make a GPU the default device of this thread."""
    Device(device).use()


def deviceSynchronize() -> None:
    """Compute the pending arrays of the default device, and wait until its work is done."""
    Device().synchronize()


def memGetInfo() -> tuple[int, int]:
    """Return the bytes of the default device that are free for all programs, and all of its bytes."""
    return Device().mem_info


def driverGetVersion() -> int:
    """Return the newest version of CUDA that the driver supports, such as 13000.

    Raises
    ------
    DeviceError
        If there is no GPU.
    """
    return int(check(driver().cuDriverGetVersion()))


def getDeviceProperties(device: int) -> dict[str, Any]:
    """Return properties of a GPU, by the names of CUDA's ``cudaDeviceProp``.

    Parameters
    ----------
    device : int
        The number of the GPU.

    Raises
    ------
    DeviceError
        If there is no such GPU.
    """
    found = Device(device).attributes
    major, minor = found.capability
    return {
        "name": found.name.encode(),
        "major": major,
        "minor": minor,
        "multiProcessorCount": found.multiprocessors,
        "maxThreadsPerMultiProcessor": found.threads_per_multiprocessor,
        "sharedMemPerBlockOptin": found.shared_per_block,
        "l2CacheSize": found.l2,
        "totalGlobalMem": found.total_memory,
    }


__all__ = [
    "CUDARuntimeError",
    "deviceSynchronize",
    "driverGetVersion",
    "getDevice",
    "getDeviceCount",
    "getDeviceProperties",
    "is_available",
    "is_hip",
    "memGetInfo",
    "setDevice",
]
