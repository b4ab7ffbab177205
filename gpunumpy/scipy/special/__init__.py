"""`scipy.special` for arrays of this package."""

from typing import Any as _Any

from .. import modules as _modules

__all__ = _modules.public_names("special")


def __getattr__(name: str) -> _Any:
    """Return a function of SciPy's that hands over arrays."""
    value = _modules.lookup("special", name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names of SciPy's module."""
    return __all__
