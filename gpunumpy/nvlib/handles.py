"""The libraries' modules and handles: one handle for a GPU and a library, for all threads, on the device's stream."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..core.errors import DeviceError
from ..core.runtime.device import Device

_handles: dict[tuple[Device, str], tuple[Any, int]] = {}
_lock = threading.Lock()


def bindings(library: str) -> Any:
    """The module of a library in `nvmath.bindings`.

    Raises
    ------
    DeviceError
        If nvmath-python cannot be imported.
    """
    try:
        return import_module(f"nvmath.bindings.{library}")
    except ImportError as error:
        raise DeviceError(
            f"{library} on a GPU needs nvmath-python, which cannot be imported ({error}); "
            "install gpunumpy[cu13] or gpunumpy[cu12]"
        ) from error


def handle(device: Device, library: str) -> tuple[Any, int]:
    """The module of a library, and its handle of a GPU."""
    found = _handles.get((device, library))
    if found is None:
        module = bindings(library)
        with _lock:
            found = _handles.get((device, library))
            if found is None:
                device.activate()
                made = module.create()
                if hasattr(module, "set_stream"):
                    module.set_stream(made, int(device.stream))
                if library in _SETTINGS:
                    _SETTINGS[library](module, made)
                found = _handles[device, library] = module, made
    return found


def _exact_sums(cublas: Any, handle: int) -> None:
    """Halves are summed in float32 to the end."""
    cublas.set_math_mode(handle, int(cublas.Math.DISALLOW_REDUCED_PRECISION_REDUCTION))


# What a new handle is told.
_SETTINGS: dict[str, Callable[[Any, int], None]] = {"cublas": _exact_sums}
