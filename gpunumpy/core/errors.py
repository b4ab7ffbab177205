"""Exceptions and warnings of the package, how warnings are given, and the common ending of messages."""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Iterable


class HostFallbackWarning(UserWarning):
    """A function ran through NumPy on the host because it has no device implementation."""


class DeviceError(RuntimeError):
    """The device, its driver or its compiler refused a request."""


def warn_user(text: str, category: type[Warning] = RuntimeWarning) -> None:
    """Warn as if the user's line that called the package did."""
    package = __name__.partition(".")[0]
    frame: types.FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def allowed(names: Iterable[object]) -> str:
    """Return the end of a message that lists the accepted values."""
    return "allowed: " + ", ".join(str(name) for name in names)
