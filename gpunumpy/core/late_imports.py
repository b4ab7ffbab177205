"""Imports at first use, of modules that many programs never need.

Python locks a module while a thread imports it, and in a forked child that lock of another thread would never be free.
So a late import holds a lock of this package, which a fork takes. A signal handler that computes something in the
middle of an import would find half of a module. So the import runs in a thread of its own, where no handler runs.
Such a module must not compute as it is imported.
"""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from importlib.util import resolve_name
from types import FrameType
from typing import Any

from .fork import take_before_fork
from .helpers import Job

# Modules that are imported as a whole. While one is not, Python may give another thread half of it: some put another
# module in their own place as they are imported.
_complete: dict[str, Any] = {}
_lock = threading.RLock()
take_before_fork(lambda: [_lock])
_IMPORT_SYSTEM = "<frozen importlib._bootstrap>"


def import_late(name: str, package: str | None = None) -> Any:
    """Import a module and return it; see `importlib.import_module`."""
    name = resolve_name(name, package)
    if name in _complete:
        return _complete[name]
    if threading.current_thread() is threading.main_thread() and not _is_importing(sys._getframe()):
        job = Job(lambda: _import(name))
        job.start_alone()
        job.wait()
        if job.error is not None:
            raise job.error
        return _complete[name]
    return _import(name)


def _import(name: str) -> Any:
    with _lock:
        module = _complete[name] = import_module(name)  # a signal handler that did so in the middle had half of it
        return module


def _is_importing(frame: FrameType | None) -> bool:
    """Return whether a thread is inside an import, of a module that another thread would then wait for."""
    while frame is not None:
        if frame.f_code.co_filename == _IMPORT_SYSTEM:
            return True
        frame = frame.f_back
    return False
