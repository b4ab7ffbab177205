"""SciPy's modules for arrays of this package: what stands under each name, looked up when it is asked for."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

from ..core.extras import install_command
from ..core.late_imports import import_late
from .fft_backend import Backend
from .functions import handed_over
from .held import class_for, hold, is_held
from .host_transfer import HostTransfer
from .sparse_formats import is_class

_PACKAGE = __package__
# Modules of SciPy's that have functions of arrays.
NAMES = (
    *("cluster", "constants", "differentiate", "fft", "fftpack", "integrate", "interpolate", "linalg", "ndimage"),
    *("optimize", "signal", "sparse", "spatial", "special", "stats"),
)
# Submodules with functions of this package's own, which are folders here.
_OWN_MODULES = ("special",)
# Classes that hold no arrays: they come as they are. A sparse matrix may be a dict, and holds some.
_PLAIN_BASES = (BaseException, tuple, dict)


def _scipy(path: str = "") -> Any:
    """Import a module of SciPy's; the empty path is SciPy itself.

    Raises
    ------
    ImportError
        If SciPy is not installed.
    """
    try:
        return import_late(f"scipy.{path}" if path else "scipy")
    except ModuleNotFoundError as error:
        if error.name != "scipy":
            raise
        text = f"gpunumpy.scipy needs SciPy, which is not installed: {install_command('scipy')}"
        raise ImportError(text, name="scipy") from None


_scipy()


def submodule(name: str) -> ModuleType:
    """Return a submodule of this package.

    Raises
    ------
    AttributeError
        If there is none of that name.
    """
    if name not in NAMES:
        raise AttributeError(f"module {_PACKAGE!r} has no attribute {name!r}")
    return import_late(f".{name}", _PACKAGE) if name in _OWN_MODULES else namespace(name)


@cache
def namespace(path: str) -> ModuleType:
    """Return a module like one of SciPy's, such as "ndimage" or "sparse.linalg"."""
    scipy_module = _scipy(path)
    if path == "fft":
        scipy_module.register_backend(Backend)
    module = ModuleType(f"{_PACKAGE}.{path}", scipy_module.__doc__)

    def find(name: str) -> Any:
        value = lookup(path, name)
        vars(module)[name] = value
        return value

    module.__getattr__ = find  # type: ignore[method-assign]
    module.__dir__ = lambda: public_names(path)  # type: ignore[method-assign]
    module.__path__ = []  # a package: it may contain modules, none of which is a file
    return module


def public_names(path: str) -> list[str]:
    """Return the public names of a module of SciPy's."""
    module = _scipy(path)
    return sorted(getattr(module, "__all__", None) or (name for name in dir(module) if not name.startswith("_")))


def lookup(path: str, name: str) -> Any:
    """Return what stands for a name of one of SciPy's modules.

    Functions hand over arrays, classes make objects that hold arrays of this package, and constants are SciPy's.

    Raises
    ------
    AttributeError
        If the module has nothing of that name, or the name is private.
    """
    if name == "__all__":
        return public_names(path)
    module = _scipy(path)
    if name.startswith("_") or not hasattr(module, name):
        raise AttributeError(f"module '{_PACKAGE}.{path}' has no attribute {name!r}")
    found: Any = getattr(module, name)
    if isinstance(found, ModuleType):
        return namespace(f"{path}.{name}") if found.__name__ == f"scipy.{path}.{name}" else found
    if isinstance(found, type):
        cls: Any = found
        return cls if issubclass(found, _PLAIN_BASES) and not is_class(found) else class_for(cls)
    if is_held(found) and getattr(found, "__name__", None) is None:  # a distribution, for one
        return hold(found, HostTransfer())
    return handed_over(found, path, name) if callable(found) else found
