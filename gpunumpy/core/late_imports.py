"""Imports at first use, of modules that many programs never need.

Python locks a module while a thread imports it, and in a forked child that lock of another thread would never be free.
So a late import holds a lock of this package, which a fork takes. A signal handler that computes something in the
middle of an import would find half of a module. So the import runs in a thread of its own, where no handler runs.
Such a module must not compute as it is imported. Inside an import of the program's there is no such lock: a thread that
has it may wait for the very module that is being imported.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec, resolve_name
from types import FrameType, ModuleType
from typing import Any

from .fork import take_before_fork
from .helpers import Job
from .locks import ReentrantLock

# Modules that are imported as a whole. While one is not, Python may give another thread half of it: some put another
# module in their own place as they are imported.
_complete: dict[str, Any] = {}
# Those of them that were imported ahead of the program, which has not asked for them.
_ahead: set[str] = set()
_lock = ReentrantLock()
take_before_fork(lambda: [_lock])
_IMPORT_SYSTEM = "<frozen importlib._bootstrap>"


def import_late(name: str, package: str | None = None, *, alone: bool = False) -> Any:
    """Import a module and return it; see `importlib.import_module`.

    `alone` leaves out the code of the packages that the module is in, which Python runs first and which may import much
    besides. It runs when the program imports them.
    """
    name = resolve_name(name, package)
    _ahead.discard(name)
    if name in _complete:
        return _complete[name]
    is_importing = _is_importing(sys._getframe())
    if is_importing and not alone:
        module = _complete[name] = import_module(name)
        return module
    if threading.current_thread() is threading.main_thread() and not is_importing:
        job = Job(lambda: _import(name, alone))
        job.start_alone()
        job.wait()
        try:
            if job.error is not None:
                raise job.error
        finally:
            job.error = None  # a cycle with its traceback, whose frames would stay until the next collection
        return _complete[name]
    return _import(name, alone)


def import_ahead(name: str) -> None:
    """Import a module for which the program may ask later; called in a thread beside the program.

    A module of a package that the program is importing at this moment is left to the program.
    """
    if name not in _complete and not any(map(_is_being_imported, _packages(name))):
        _ahead.add(name)
        _import(name, False)


def late_modules() -> list[str]:
    """Return the names of the modules for which the program has asked, in the order in which they were imported."""
    return [name for name in list(_complete) if name not in _ahead]


def _import(name: str, alone: bool) -> Any:
    with _lock, _without_packages(name) if alone else nullcontext():
        module = _complete[name] = import_module(name)  # a signal handler that did so in the middle had half of it
        return module


def _is_importing(frame: FrameType | None) -> bool:
    """Return whether a thread is inside an import, of a module that another thread would then wait for."""
    while frame is not None:
        if frame.f_code.co_filename == _IMPORT_SYSTEM:
            return True
        frame = frame.f_back
    return False


def _is_being_imported(name: str) -> bool:
    """Return whether a thread is inside the import of a module, which others have no more than a part of."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


def _packages(name: str) -> Iterator[str]:
    """Give the names of the packages that a module is in, the outermost first."""
    return (name[:end] for end, letter in enumerate(name) if letter == ".")


# --- packages whose code does not run --------------------------------------------------------------------------------


class _StandIn(ModuleType):
    """What stands for a package while a module in it is imported without the package's code."""

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the package itself, for which another thread of the program has asked meanwhile."""
        with _lock:
            package = import_module(self.__name__)
        if package is self:
            raise AttributeError(f"the code of {self.__name__} has not run, so it has no {name}")
        return getattr(package, name)


@contextmanager
def _without_packages(name: str) -> Iterator[None]:
    """Have other objects stand for the packages that a module is in and that are not imported."""
    stand_ins = []
    try:
        for package in _packages(name):
            if package in sys.modules:
                continue
            spec = find_spec(package)
            if spec is None:
                break
            stand_in = module_from_spec(spec)
            stand_in.__class__ = _StandIn
            stand_ins.append(stand_in)
            sys.modules.setdefault(package, stand_in)
        yield
    finally:
        _left_out.update(stand_in.__name__ for stand_in in stand_ins)
        if stand_ins and _binder not in sys.meta_path:
            sys.meta_path.insert(0, _binder)
        for stand_in in stand_ins:
            if sys.modules.get(stand_in.__name__) is stand_in:
                del sys.modules[stand_in.__name__]


# Packages of which modules have been imported without their code.
_left_out: set[str] = set()


class _Binder:
    """Finds packages that were left out, and has them have the modules that were imported before.

    Python makes a module an attribute of its package when it is imported, and at no later time.
    """

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """Find a package as Python does; see `importlib.abc.MetaPathFinder`."""
        if name not in _left_out:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = partial(_execute, spec.loader.exec_module)  # type: ignore[method-assign]
        return spec


_binder = _Binder()


def _execute(execute: Callable[[ModuleType], None], package: ModuleType) -> None:
    """Run the code of a package that has its modules already."""
    for path, module in list(sys.modules.items()):
        parent, _, name = path.rpartition(".")
        if parent == package.__name__:
            setattr(package, name, module)
    execute(package)
    _left_out.discard(package.__name__)
