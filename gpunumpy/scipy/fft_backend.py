"""What tells `scipy.fft` of the functions here: its calls with arrays of this package run as those of this package."""

from __future__ import annotations

from typing import Any

from ..core.late_imports import import_late
from ..core.recording.array import ndarray

_MODULES = ".modules"  # which registers this backend, and is imported when it runs


class Backend:
    """A backend of `scipy.fft`, by the protocol of uarray."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_function__(method: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return what a function of `scipy.fft` gives for arrays of this package; leave others to SciPy."""
        if not any(isinstance(x, ndarray) for x in (*args, *options.values())):
            return NotImplemented
        own_functions = import_late(_MODULES, __package__).submodule("fft")
        return getattr(own_functions, method.__name__)(*args, **options)
