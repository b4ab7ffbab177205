"""Which modules import this package in place of NumPy: those in the user's own files, or those that the user names."""

from __future__ import annotations

import os
import sys
from functools import cache
from glob import escape, iglob
from typing import NamedTuple

# The folders of an installation of Python that hold installed packages have one of these names.
_INSTALLED = frozenset(("site-packages", "dist-packages"))
_LIBRARIES = tuple(
    os.path.join(os.path.realpath(folder), "")
    for folder in (
        os.path.dirname(os.__file__),  # Python's library; `sysconfig` is slow to import
        os.path.join(os.path.dirname(__file__), os.pardir),  # this package
    )
)
_VARIABLE = "GPUNUMPY_SCRIPTS"


class Selection(NamedTuple):
    """The modules that import this package in place of NumPy.

    Parameters
    ----------
    only : tuple of str
        If there are any: these modules and what is in them, wherever they are, and no others.
    exclude : tuple of str
        Modules that are left out, with what is in them.
    """

    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def has(self, module: str, path: str) -> bool:
        """Return whether a module, in the file of that path, is selected."""
        if _is_named(module, self.exclude):
            return False
        return _is_named(module, self.only) if self.only else is_own(path)

    @classmethod
    def from_environment(cls) -> Selection:
        """Return the selection that the environment has from `to_environment` of another process."""
        words = os.environ.get(_VARIABLE, ";").split(";")
        only, exclude = (tuple(names.split(",")) if names else () for names in words)
        return cls(only, exclude)

    def to_environment(self) -> None:
        """Put the selection into the environment, for processes that this one starts."""
        os.environ[_VARIABLE] = ";".join(map(",".join, self))


def _is_named(module: str, names: tuple[str, ...]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in names)


# The selection that import statements are compiled by; None where `import numpy` imports NumPy.
in_force: Selection | None = None


@cache
def is_own(path: str) -> bool:
    """Return whether a file is the user's own: none of an installed package, of Python's library or of this package.

    A package that is installed as "editable" is where the user edits it, and so the user's own.
    """
    path = os.path.realpath(path)
    if not _INSTALLED.isdisjoint(path.split(os.sep)) or path.startswith(_LIBRARIES):
        return False
    folders = (os.path.join(os.path.realpath(folder), "") for folder in sys.path)
    return not any(
        path.startswith(folder) and path[len(folder) :].split(os.sep)[0] in _recorded(folder) for folder in folders
    )


@cache
def _recorded(folder: str) -> frozenset[str]:
    """Return the names in a folder of what is installed there, by ``pip install --target``, beside a user's files."""
    names: set[str] = set()
    for record in iglob(os.path.join(escape(folder), "*.dist-info", "RECORD")):
        with open(record, encoding="utf-8") as lines:
            names.update(line.partition(",")[0].partition("/")[0] for line in lines)
    return frozenset(names)
