"""Modules and handles of the libraries: one handle for each GPU and library, used by all threads, on its stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.errors import DeviceError
from ..core.extras import install_command
from ..core.late_imports import import_late
from ..core.runtime.device import Device

_handles: dict[tuple[Device, str], tuple[Any, int]] = {}


def bindings(library: str) -> Any:
    """Return the module of a library in `nvmath.bindings`.

    Raises
    ------
    DeviceError
        If nvmath-python cannot be imported.
    """
    try:
        # The code of nvmath imports all of it, for 0.2 s and more.
        return import_late(f"nvmath.bindings.{library}", alone=True)
    except ImportError as error:
        raise DeviceError(
            f"{library} on a GPU needs nvmath-python, which cannot be imported ({error}); "
            f"{install_command('cu13')} (or cu12)"
        ) from error


def handle(device: Device, library: str) -> tuple[Any, int]:
    """Return the module of a library, and its handle for a GPU."""
    found = _handles.get((device, library))
    if found is None:
        module = bindings(library)
        device.activate()
        new = module.create()
        if hasattr(module, "set_stream"):
            module.set_stream(new, int(device.stream))
        if library in _SETTINGS:
            _SETTINGS[library](module, new)
        found = _handles.setdefault((device, library), (module, new))  # another thread may have been first
        if found[1] is not new:
            module.destroy(new)
    return found


def _exact_sums(cublas: Any, handle: int) -> None:
    """Forbid reductions in 16-bit floats: products of these are summed in float32."""
    cublas.set_math_mode(handle, int(cublas.Math.DISALLOW_REDUCED_PRECISION_REDUCTION))


# Settings of a new handle, by library.
_SETTINGS: dict[str, Callable[[Any, int], None]] = {"cublas": _exact_sums}
