"""Inspection of the namespace, as the array API standard defines it."""

from __future__ import annotations

from typing import Any

import numpy

from ..core.graph.layout import MAX_DIMENSIONS
from ..core.runtime.device import Device, default_device, devices

# The editions of the standard that the namespace implements. Each includes the previous ones.
EDITIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
__array_api_version__ = EDITIONS[-1]

_NUMPY_INFO: Any = numpy.__array_namespace_info__()


class __array_namespace_info__:
    """What the namespace can do, on which devices, with which dtypes. See `numpy.__array_namespace_info__`."""

    def capabilities(self) -> dict[str, Any]:
        """Return the optional features of the standard: all are supported, with NumPy's limit on dimensions."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": MAX_DIMENSIONS,
        }

    def default_device(self) -> Device:
        """Return the device that new arrays are made on."""
        return default_device()

    def devices(self) -> tuple[Device, ...]:
        """Return all devices."""
        return tuple(devices())

    def default_dtypes(self, *, device: Device | str | int | None = None) -> dict[str, Any]:
        """Return the dtypes used by default, which are the same on every device."""
        Device(device)
        return _NUMPY_INFO.default_dtypes()

    def dtypes(
        self, *, device: Device | str | int | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, Any]:
        """Return the dtypes of the given kinds, which are the same on every device."""
        Device(device)
        return _NUMPY_INFO.dtypes(kind=kind)
