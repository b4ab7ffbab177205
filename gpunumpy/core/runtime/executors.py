"""The registry of executors: what runs the plans of each kind of device.

Executors and their functions for library calls stand above the engine, so they are registered by name, and imported
when first used: a machine without a GPU never loads what generates CUDA.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..graph.library_calls.registry import record_of
from ..schedule.callbacks import Fuses
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


def fuses_of(call: str, executor: str) -> Fuses | None:
    """Return what tells whether an executor takes kernels into library calls of a name; None if it never does."""
    found = record_of(call).implementations.get(executor)
    return implementation(found.fuses) if found is not None and found.fuses else None
