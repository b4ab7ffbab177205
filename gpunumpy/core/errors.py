"""Exceptions and warnings of the package, and the common ending of messages."""

from __future__ import annotations

from collections.abc import Iterable


class HostFallbackWarning(UserWarning):
    """A function ran through NumPy on the host because it has no device implementation."""


class DeviceError(RuntimeError):
    """The device, its driver or its compiler refused a request."""


def allowed(names: Iterable[object]) -> str:
    """Return the end of a message that lists the accepted values."""
    return "allowed: " + ", ".join(str(name) for name in names)
