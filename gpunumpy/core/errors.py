"""Exceptions, warnings and the wording of messages."""

from __future__ import annotations

from collections.abc import Iterable


class HostFallbackWarning(UserWarning):
    """A function ran through NumPy on the host because it has no device implementation."""


class DeviceError(RuntimeError):
    """The device, its driver or its compiler refused a request."""


def allowed(names: Iterable[object]) -> str:
    """Words for the end of a message: what would have been accepted."""
    return "allowed: " + ", ".join(str(name) for name in names)
