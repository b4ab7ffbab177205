"""Import of submodules by NumPy's and SciPy's names: ``from gpunumpy.lib.stride_tricks import as_strided``.

This package has stubs of these submodules but no module files. An import statement finds the attribute of the package
that has the submodule's name.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_PACKAGE = __name__.partition(".")[0]
# What scripts import as NumPy and SciPy: its submodules are attributes, whatever files those have beside them.
_FOR_SCRIPTS = {f"{_PACKAGE}.scripts.scipy.": "scipy.", f"{_PACKAGE}.scripts.numpy.": "numpy."}
# The packages whose submodules these are, by what precedes their names here; the longest comes first.
_ORIGINALS = {**_FOR_SCRIPTS, f"{_PACKAGE}.scipy.": "scipy.", f"{_PACKAGE}.": "numpy."}


# The classes of `importlib.abc` are no bases of those below: that module imports a tenth of what a small program needs.


class _Loader:
    """Loads a module that exists already."""

    def __init__(self, found: ModuleType) -> None:
        self._module = found

    def create_module(self, spec: ModuleSpec) -> None:
        """Have Python make an empty module."""

    def exec_module(self, module: ModuleType) -> None:
        """Replace the new, empty module: a module of NumPy is not modified."""
        sys.modules[module.__name__] = self._module


class _Finder:
    """Finds submodules of this package that are attributes only."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a submodule that is a file here, or an attribute that NumPy or SciPy has; else None."""
        here = next(filter(fullname.startswith, _ORIGINALS), None)
        if here is None:
            return None
        parent, _, name = fullname.rpartition(".")
        file_spec = None if here in _FOR_SCRIPTS else PathFinder.find_spec(fullname, path)
        if name.startswith("_") or (file_spec is not None and file_spec.has_location):
            return file_spec
        try:
            import_module(_ORIGINALS[here] + fullname.removeprefix(here))
        except ImportError:
            if here in _FOR_SCRIPTS:
                raise  # in the script's words
            return None
        attribute = getattr(sys.modules[parent], name, None)
        return ModuleSpec(fullname, _Loader(attribute)) if isinstance(attribute, ModuleType) else None  # type: ignore[arg-type]


def make_importable() -> None:
    """Install the finder, before Python's finder, which takes a folder of stubs for a package."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
