"""The user's line: the innermost frame outside the package, for warnings and for errors that only the device finds."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

_PACKAGE = __name__.partition(".")[0]


def source_location() -> str:
    """Return file and line of the innermost frame outside the package."""
    frame, _ = _user_frame()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the innermost frame outside the package, however deep inside the package the caller is."""
    _, level = _user_frame()
    warnings.warn(message, category, stacklevel=level)


def _user_frame() -> tuple[FrameType, int]:
    """Return the innermost frame outside the package, and its level as `warnings.warn` counts in the caller."""
    frame, level = sys._getframe(2), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    return frame, level
