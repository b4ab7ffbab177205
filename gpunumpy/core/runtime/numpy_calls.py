"""Whether a device computes with functions of NumPy's over whole arrays, which are library calls."""

from __future__ import annotations

from .device import Device
from .evaluate import traits_of
from .memory import pool_of


def calls_numpy(device: Device) -> bool:
    """Return whether a device does so in less time than with kernels.

    Not under a limit of memory: kernels compute parts of the same, which need less at once.
    """
    return traits_of(device).calls_numpy and pool_of(device).limit is None
