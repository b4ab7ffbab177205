"""Ufuncs of Python functions, whose results are arrays of this package. See `numpy.frompyfunc`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ...core import dtypes
from ..fallback import OWN_FUNCTIONS, host_fallback, on_host
from ..host_call import HostCall


class PythonUfunc:
    """A ufunc of a Python function. NumPy's ufunc runs it, and asks arrays of this package among the operands."""

    def __init__(self, numpy_ufunc: Any) -> None:
        self._numpy = numpy_ufunc

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of NumPy's ufunc."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._numpy, name)

    def __repr__(self) -> str:
        """Return the text that NumPy's ufunc shows."""
        return repr(self._numpy)

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Apply the function to every element. See `numpy.ufunc`."""
        return HostCall().from_host(self._numpy(*args, **options))

    def outer(self, *args: Any, **options: Any) -> Any:
        """Apply the function to all pairs of elements. See `numpy.ufunc.outer`."""
        return HostCall().from_host(self._numpy.outer(*args, **options))

    def reduce(self, *args: Any, **options: Any) -> Any:
        """Reduce an array along axes. See `numpy.ufunc.reduce`."""
        return HostCall().from_host(self._numpy.reduce(*args, **options))

    def accumulate(self, *args: Any, **options: Any) -> Any:
        """Return all results of a reduction. See `numpy.ufunc.accumulate`."""
        return HostCall().from_host(self._numpy.accumulate(*args, **options))

    def reduceat(self, *args: Any, **options: Any) -> Any:
        """Reduce slices. See `numpy.ufunc.reduceat`."""
        return HostCall().from_host(self._numpy.reduceat(*args, **options))


def frompyfunc(func: Any, /, nin: int, nout: int, **options: Any) -> PythonUfunc:
    """Return a ufunc of a Python function. See `numpy.frompyfunc`."""
    return PythonUfunc(numpy.frompyfunc(func, nin, nout, **options))


def ufunc_on_host(ufunc: Any, method: str) -> Callable[..., Any]:
    """Return a function that runs a ufunc, or a method of it, through NumPy on the host.

    Nothing is said of one that computes objects, as those of `frompyfunc` do: these never are on a device.

    Raises
    ------
    OnHostError
        If it computes objects, and the program forbids the host.
    """
    run = ufunc if method == "__call__" else getattr(ufunc, method)
    computes_objects = all(set(loop) <= set("O->") for loop in ufunc.types)
    if computes_objects and host_fallback() == "error":
        dtypes.check(object)

    def by_numpy(*args: Any, **options: Any) -> Any:
        return run(*args, **options)

    if computes_objects:
        by_numpy.__name__ = "frompyfunc"
    return on_host(by_numpy, "" if computes_objects else f"numpy ufunc {ufunc.__name__}")


OWN_FUNCTIONS["numpy.frompyfunc"] = frompyfunc
