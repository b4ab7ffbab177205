"""What the array API standard lets a program ask of the namespace."""

from __future__ import annotations

from typing import Any

import numpy

from ..core.runtime.device import Device, default_device, devices
from ..functions.creation.arrays import MAX_DIMENSIONS

# The editions of the standard that the namespace follows; each holds what the ones before it hold.
EDITIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
__array_api_version__ = EDITIONS[-1]

_THEIRS: Any = numpy.__array_namespace_info__()


class __array_namespace_info__:
    """What the namespace can do, on which devices, with which dtypes. See `numpy.__array_namespace_info__`."""

    def capabilities(self) -> dict[str, Any]:
        """What is supported of what the standard leaves open: all of it, up to NumPy's number of dimensions."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": MAX_DIMENSIONS,
        }

    def default_device(self) -> Device:
        """The device that new arrays go to."""
        return default_device()

    def devices(self) -> tuple[Device, ...]:
        """Every device."""
        return tuple(devices())

    def default_dtypes(self, *, device: Device | str | int | None = None) -> dict[str, Any]:
        """The dtypes that are used where none is asked for; every device has the same."""
        Device(device)
        return _THEIRS.default_dtypes()

    def dtypes(
        self, *, device: Device | str | int | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, Any]:
        """The dtypes of some kinds; every device has the same."""
        Device(device)
        return _THEIRS.dtypes(kind=kind)
