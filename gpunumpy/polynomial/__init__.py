"""The namespace of `numpy.polynomial`. Its classes are NumPy's; of the functions some run through NumPy on the host."""

from typing import Any as _Any

from ..core.late_imports import import_late as _import_late
from ..functions.fallback import namespace as _namespace

_numpys = _namespace("numpy.polynomial")


def __getattr__(name: str) -> _Any:
    """Return a name of `numpy.polynomial`, after the functions of its modules have been registered."""
    if not name.startswith("__"):
        _import_late(".namespace", __name__)
        _import_late(".classes", __name__)
    return getattr(_numpys, name)


def __dir__() -> list[str]:
    """Return the public names."""
    return dir(_numpys)
