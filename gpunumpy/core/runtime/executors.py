"""The registry of executors, which run the plans of each kind of device.

Executors and their functions for library calls are in layers above the engine, so they are registered by name and
imported at their first use: a machine without a GPU never loads the code that generates CUDA.
"""

from __future__ import annotations

from typing import Any

from ..graph.library_calls.registry import RECORDS, record_of
from ..late_imports import import_late
from ..schedule.callbacks import FusePredicate
from . import device as devices
from .device import Device
from .plan import Executor

# For each kind of device, the class of its executor: the module below the package, and the name in that module.
EXECUTORS = {
    "cpu": "kernels.host.executor:HostExecutor",
    "cuda": "kernels.cuda.executor:CudaExecutor",
}

_PACKAGE = __name__.partition(".")[0]


def implementation(name: str) -> Any:
    """Return the attribute that ``"module:attribute"`` names below the package."""
    module, _, attribute = name.partition(":")
    return getattr(import_late(f"{_PACKAGE}.{module}"), attribute)


def load_library_calls(executor: str) -> None:
    """Import all that runs library calls on an executor of this name."""
    for record in RECORDS.values():
        functions = record.implementations.get(executor)
        if functions is not None:
            for name in filter(None, (getattr(functions, part) for part in functions.__slots__)):
                implementation(name)


devices.beside_context = lambda: implementation("kernels.cuda.executor:load")()


def executor_for(device: Device) -> Executor:
    """Return a new executor for a device."""
    executor: Executor = implementation(EXECUTORS[device.kind])(device)
    return executor


def fuse_predicate_of(call: str, executor: str) -> FusePredicate | None:
    """Return the predicate of an executor over fused library calls of this name; None if it never fuses them."""
    functions = record_of(call).implementations.get(executor)
    return implementation(functions.should_fuse) if functions is not None and functions.should_fuse else None
