"""What pandas finds out about its caller, where the function that hands NumPy's arrays over stands between them.

pandas warns of assignments to values that nobody has kept (`df["a"].fillna(0, inplace=True)`): it counts references,
looks at the variables and at the instruction of the caller, and names a line by the number of frames above it.
"""

from __future__ import annotations

import sys
import warnings
from types import FrameType, ModuleType
from typing import Any

from . import handing_over


def _beyond(frame: FrameType | None) -> tuple[FrameType | None, int]:
    """Return the first frame, from one on, that hands nothing over, and how many do before it."""
    count = 0
    while frame is not None and frame.f_code.co_filename == handing_over.__file__:
        frame, count = frame.f_back, count + 1
    return frame, count


def _getframe(depth: int = 0) -> FrameType | None:
    return _beyond(sys._getframe(depth + 1))[0]


def _warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **options: Any) -> None:
    frame: FrameType | None = sys._getframe(1)
    for _ in range(stacklevel - 1):
        frame = frame and frame.f_back
    warnings.warn(message, category, stacklevel + 1 + _beyond(frame)[1], source, **options)


def adapt_looks_at_callers(common: Any) -> None:
    """Have the functions that look at a caller's variables and instruction look at the script's."""
    common.sys = _with(sys, _getframe=_getframe)


def adapt_warnings(module: Any) -> None:
    """Have a module count the references that handing over holds, and name the script's line.

    They are those of a tuple of arguments, and of a copy of it that Python 3.11 makes of a call with keywords:
    "inplace" of the methods in one module is always one.
    """
    copies = sys.version_info < (3, 12) and module.__name__ == "pandas.core.generic"
    for name in ("REF_COUNT", "REF_COUNT_METHOD"):
        if hasattr(module, name):
            setattr(module, name, getattr(module, name) + 1 + copies)
    module.warnings = _with(warnings, warn=_warn)


def _with(module: ModuleType, **changed: Any) -> ModuleType:
    """Return a module that has what another has, but for some names."""
    copy = ModuleType(module.__name__)
    vars(copy).update(vars(module) | changed)
    return copy
