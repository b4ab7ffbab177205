"""Submodules of NumPy's by name: ``from gpunumpy.lib.stride_tricks import as_strided``, ``import gpunumpy.ma``.

They are no modules of this package, though it has their stubs; its attributes of these names are what an import
statement finds.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_OURS, _THEIRS = __name__.partition(".")[0], "numpy"


class _Loader(Loader):
    def __init__(self, found: ModuleType) -> None:
        self._found = found

    def exec_module(self, module: ModuleType) -> None:
        # In place of the new module, so that one of NumPy's own stays as it is.
        sys.modules[module.__name__] = self._found


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(f"{_OURS}."):
            return None
        parent, _, name = fullname.rpartition(".")
        of_package = PathFinder.find_spec(fullname, path)
        if name.startswith("_") or (of_package is not None and of_package.has_location):
            return of_package
        try:
            import_module(_THEIRS + fullname.removeprefix(_OURS))
        except ImportError:
            return None
        found = getattr(sys.modules[parent], name, None)
        return ModuleSpec(fullname, _Loader(found)) if isinstance(found, ModuleType) else None


def make_importable() -> None:
    """Let import statements find them: before Python's finder, which takes a folder of stubs for a package."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
