"""The finder of selected modules: they are loaded as by Python, but for what their import statements import."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from . import selection
from .adapters import ADAPTERS
from .imports import compile_file
from .selection import Selection

# What is compiled is kept beside what Python keeps, under a name of its own. The number changes with `imports`.
_KEPT = ".gpunumpy-1.pyc"


class _Loader(SourceFileLoader):
    """Loads a source file, with imports of this package."""

    def source_to_code(  # type: ignore[override]
        self, data: Any, path: Any, *, _optimize: int = -1
    ) -> CodeType:
        """Compile the file."""
        return compile_file(data, path, optimize=_optimize)

    def get_data(self, path: str) -> bytes:
        """Read the source, or what was compiled of it."""
        return super().get_data(_kept(path))

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        """Keep what was compiled."""
        super().set_data(_kept(path), data, _mode=_mode)


def _kept(path: str) -> str:
    return path.removesuffix(".pyc") + _KEPT if path.endswith(".pyc") else path


class _Finder:
    """Finds modules as the finders after it do, has selected ones loaded by `_Loader`, and adapts a few of Python's."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module, or None; see `importlib.abc.MetaPathFinder`."""
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                self._replace_loader(spec)
                return spec
        return None

    def _replace_loader(self, spec: ModuleSpec) -> None:
        loader: Any = spec.loader
        if type(loader) is not SourceFileLoader:
            return
        if spec.name in ADAPTERS:
            spec.loader = _AdaptingLoader(spec.name, loader.path)
        elif selection.in_force is not None and selection.in_force.has(spec.name, loader.path):
            spec.loader = _Loader(spec.name, loader.path)


class _AdaptingLoader(SourceFileLoader):
    """Loads a module that compiles files or starts processes, and adapts it."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code, and adapt it."""
        super().exec_module(module)
        _adapt(module)


def _adapt(module: ModuleType) -> None:
    if module.__name__ not in _adapted:
        _adapted.add(module.__name__)
        ADAPTERS[module.__name__](module, install)


_finder: Any = _Finder()
_adapted: set[str] = set()


def install(selected: Selection) -> None:
    """Have modules that are selected, and not imported yet, import this package in place of NumPy and SciPy."""
    is_first = selection.in_force is None
    selection.in_force = selected
    if not is_first:
        return
    sys.meta_path.insert(0, _finder)
    for name in ADAPTERS.keys() & sys.modules.keys():
        _adapt(sys.modules[name])


def uninstall() -> None:
    """Have modules that are not imported yet import NumPy and SciPy."""
    if selection.in_force is not None:
        selection.in_force = None
        sys.meta_path.remove(_finder)
