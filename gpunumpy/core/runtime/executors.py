"""The registry of executors: what runs the plans of each kind of device.

Executors stand above the engine, so they are registered by name, and imported when a device of their kind is first
used: a machine without a GPU never loads what generates CUDA.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .device import Device
from .plan import Executor

# The class that is made for a device of each kind: its module below the package, and its name there.
EXECUTORS = {
    "cpu": "kernels.host.executor:HostExecutor",
    "cuda": "kernels.cuda.executor:CudaExecutor",
}

_PACKAGE = __name__.partition(".")[0]


def implementation(name: str) -> Any:
    """Return the attribute that ``"module:attribute"`` names below the package."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(f"{_PACKAGE}.{module}"), attribute)


def executor_for(device: Device) -> Executor:
    """Return a new executor for a device."""
    made: Executor = implementation(EXECUTORS[device.kind])(device)
    return made
