"""What scripts import as `scipy`: `gpunumpy.scipy`, and SciPy's own modules where that has none, such as `io`."""

from __future__ import annotations

from typing import Any

from .. import scipy as _package
from ..core.late_imports import import_late

_scipy = import_late("scipy")
__all__ = _scipy.__all__
__version__ = _scipy.__version__
__path__: list[str] = []  # a package: its submodules are attributes


def __getattr__(name: str) -> Any:
    """Return a submodule of `gpunumpy.scipy`, or else what SciPy has."""
    value = getattr(_package if name in dir(_package) else _scipy, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return SciPy's public names."""
    return list(__all__)
