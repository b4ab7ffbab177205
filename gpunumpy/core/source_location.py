"""The user's line: the innermost frame outside the package, for warnings and for errors that only the device finds."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import Any

_PACKAGE = __name__.partition(".")[0]


def source_location() -> str:
    """Return file, or cell of a notebook, and line of the innermost frame outside the package."""
    frame, _ = _user_frame()
    file = frame.f_code.co_filename
    if "get_ipython" in frame.f_globals:
        file = _cell_of(frame.f_globals["get_ipython"](), file) or file
    return f"{file}:{frame.f_lineno}"


def _cell_of(shell: Any, file: str) -> str | None:
    """Return what IPython calls a cell, ``In[7]``, by the name of the file as which it is compiled."""
    named = getattr(getattr(shell, "compile", None), "format_code_name", lambda name: None)(file)
    return None if named is None else named[1]


def user_name(name: str) -> Any:
    """Return what a name is in the innermost frame outside the package, locally or globally, or None."""
    frame, _ = _user_frame()
    return frame.f_locals.get(name, frame.f_globals.get(name))


# How often the package has warned: what warns is recorded anew every time, so that it warns every time.
warning_count = 0


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the innermost frame outside the package, however deep inside the package the caller is."""
    global warning_count
    warning_count += 1
    _, level = _user_frame()
    warnings.warn(message, category, stacklevel=level)


def call_for_user(function: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
    """Call a function of NumPy's whose warnings, which point at its caller, are to point at the user's line."""
    frame, _ = _user_frame()
    code = _call.__code__
    call_line = code.co_firstlineno + 1
    at_user_line = code.replace(
        co_filename=frame.f_code.co_filename, co_firstlineno=code.co_firstlineno + frame.f_lineno - call_line
    )
    return FunctionType(at_user_line, frame.f_globals)(function, args, options)


def is_for_user(code: CodeType) -> bool:
    """Return whether code is what `call_for_user` runs, in the name of the user's file."""
    return code.co_name == _call.__name__ and code.co_code == _call.__code__.co_code


def _call(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return function(*args, **options)


def _user_frame() -> tuple[FrameType, int]:
    """Return the innermost frame outside the package, and its level as `warnings.warn` counts in the caller."""
    frame, level = sys._getframe(2), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    return frame, level
