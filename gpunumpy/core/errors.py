"""Exceptions and warnings of the package, and the common ending of messages."""

from __future__ import annotations

from collections.abc import Iterable


class HostFallbackWarning(UserWarning):
    """A function ran through NumPy on the host because it has no device implementation."""


class PerformanceWarning(UserWarning):
    """A hint: a statement, again and again, does what is slow on a GPU. ``GPUNUMPY_HINTS=0`` silences these."""


class OnHostError(TypeError):
    """Data on the host was met where a device computes: a dtype that no kernel has, or memory of a host array.

    Public functions catch it, and let NumPy do their work (`functions.every_dtype`).
    """


class OverlapError(OnHostError):
    """A write to a view whose elements overlap was met: which of two writes comes last has no answer on a GPU."""


class MaskedOperandError(TypeError):
    """A masked array was met where an array is computed with, which would lose the mask.

    Public functions catch it, and let `gpunumpy.ma` do their work.
    """


class DeviceError(RuntimeError):
    """The device, its driver or its compiler refused a request."""


def allowed(names: Iterable[object]) -> str:
    """Return the end of a message that lists the accepted values."""
    return "allowed: " + ", ".join(str(name) for name in names)
