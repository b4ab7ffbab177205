"""What runs here: the core, the device, the versions of Python and NumPy; nothing is computed to tell it."""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy

from ._version import __version__
from .core import _native
from .core.errors import DeviceError
from .core.recording.residence import is_auto
from .core.runtime.device import Device, why_no_gpu
from .core.runtime.evaluate import usable_default

__all__ = ["show_config"]

_MODES = ("stdout", "dicts")


def show_config(mode: str = "stdout") -> dict[str, Any] | None:
    """Show the core, the device and the versions that programs run with.

    Where NumPy shows how it was built, this shows what decides the speed here.

    Parameters
    ----------
    mode : {"stdout", "dicts"}, optional
        "stdout" prints; "dicts" returns the same as nested dictionaries.

    Returns
    -------
    dict or None
        With the keys "gpunumpy", "device", "Python" and "NumPy". NumPy's own configuration is that of
        ``numpy.show_config(mode="dicts")``.

    Raises
    ------
    AttributeError
        If the mode is another one, as in NumPy.
    """
    if mode not in _MODES:
        raise AttributeError(f"Invalid `mode`, use one of: {', '.join(_MODES)}")
    configuration = _configuration()
    if mode == "dicts":
        return configuration
    print("\n".join(_lines(configuration)))
    return None


def _configuration() -> dict[str, dict[str, Any]]:
    device = usable_default()
    reason = why_no_gpu()
    return {
        "gpunumpy": {
            "version": __version__,
            "core": describe_core(),
            "small arrays": f"on the {'host' if is_auto() else 'device'}",
        },
        "device": {"name": str(device), "hardware": describe(device), **({"why no GPU": reason} if reason else {})},
        "Python": {"version": platform.python_version(), "GIL": describe_gil(), "system": platform.platform()},
        "NumPy": {"version": numpy.__version__, "ml_dtypes": ml_dtypes.__version__},
    }


def _lines(configuration: Mapping[str, Mapping[str, Any]]) -> list[str]:
    lines = []
    for part, facts in configuration.items():
        lines.append(f"{part}:")
        lines += [f"  {name + ':':16}{fact}" for name, fact in facts.items()]
    return lines


def describe_core() -> str:
    """Return which core runs, and what to do for the compiled one."""
    if _native.IS_COMPILED:
        return "compiled"
    if os.environ.get("GPUNUMPY_CORE") == "python":
        return "Python, as GPUNUMPY_CORE asks for"
    return "Python, slower to record; install gpunumpy again with a C++ compiler and Python's headers"


def describe_gil() -> str:
    """Return whether this Python has a GIL, and on a free-threaded build whether it is in use."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "enabled"
    return "enabled, on a free-threaded build" if sys._is_gil_enabled() else "disabled"  # type: ignore[attr-defined,unused-ignore]


def describe(device: Device) -> str:
    """Return the name of a device's hardware, or why the device is not usable."""
    try:
        return device.hardware
    except DeviceError as error:
        return f"not usable: {error}"
