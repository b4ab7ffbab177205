"""Interruptions at chosen lines of the package: an exception, or a call, where Python could run a signal handler."""

from __future__ import annotations

import dis
import linecache
import sys
import weakref
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import gpunumpy

_PACKAGE = Path(gpunumpy.__file__).parent
# What runs, waits, publishes and records. Kernels of the CPU device are text without a file.
_FILES = [_PACKAGE / "core" / name for name in ("graph/node.py", "helpers.py", "late_imports.py")]
_FILES += [_PACKAGE / "functions" / "indexing" / "getitem.py"]
for _folder in ("core/recording", "core/runtime", "kernels/host", "kernels/cuda"):
    _FILES += (_PACKAGE / _folder).glob("*.py")
_FILES += [_PACKAGE / "arrays" / name for name in ("exchange.py", "dlpack.py", "operators.py")]
TRACED = frozenset([*map(str, _FILES), "<gpunumpy host kernel>"])


class Interruption(BaseException):
    """What a signal handler of a test raises."""


@cache
def _blind_spots(code: CodeType) -> tuple[frozenset[int], frozenset[int]]:
    """Return offsets at which a line begins though no signal handler runs there, and such where a ``with`` is left.

    Python looks at signals after calls and jumps: not at a ``try`` itself, nor before it calls ``__exit__``. An
    exception there would be outside of what the statement guards, and leave a lock taken.
    """
    nothing, exits = set(), set()
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("NOP", "POP_EXCEPT"):  # before the latter, an exception would never be left
            nothing.add(instruction.offset)
        elif instruction.opname in ("LOAD_CONST", "PUSH_EXC_INFO", "WITH_EXCEPT_START", "SWAP", "RETURN_CONST"):
            exits.add(instruction.offset)
    return frozenset(nothing), frozenset(exits)


def _can_interrupt(frame: FrameType) -> bool:
    nothing, exits = _blind_spots(frame.f_code)
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    if frame.f_lasti in nothing or (line.lstrip().startswith("with ") and frame.f_lasti in exits):
        return False
    return not is_in_finalizer(frame)


_CALL_OF_FINALIZER = weakref.finalize.__call__.__code__
_DEEPEST_FINALIZER = 4  # frames of what a finalizer calls


def is_in_finalizer(frame: FrameType | None) -> bool:
    """Return whether an exception in this frame would only be printed."""
    for _ in range(_DEEPEST_FINALIZER):
        if frame is None:
            return False
        if frame.f_code.co_name == "__del__" or frame.f_code is _CALL_OF_FINALIZER:
            return True
        frame = frame.f_back
    return False


class Tracer:
    """Call `action` at the line number `at` of those that a function runs in the package; counts these lines.

    Attributes
    ----------
    count : int
        The lines so far.
    """

    def __init__(self, at: int = -1, action: Callable[[], None] | None = None) -> None:
        self.count = 0
        self.where = ""
        self._at = at
        self._action = action

    def _local(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and _can_interrupt(frame):
            self.count += 1
            if self.count == self._at and self._action is not None:
                self.where = f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
                self._action()
        return self._local

    def _global(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._local if frame.f_code.co_filename in TRACED else None

    def run(self, function: Callable[[], Any]) -> Any:
        """Call a function and look at its lines."""
        before = sys.gettrace()
        sys.settrace(self._global)
        try:
            return function()
        finally:
            sys.settrace(before)


def interrupt() -> None:
    """Raise an `Interruption`."""
    raise Interruption
