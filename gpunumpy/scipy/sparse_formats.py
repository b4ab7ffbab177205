"""Sparse matrices of SciPy as those of `cupyx.scipy`, and the other way round."""

from __future__ import annotations

from typing import Any

from ..core.late_imports import import_late
from .cupy_library import cupyx


def is_sparse(x: Any) -> bool:
    """Return whether an object is a sparse matrix, or array, of SciPy's or of `cupyx.scipy`."""
    if type(x).__module__.startswith("cupyx."):
        return bool(cupyx("sparse").issparse(x))
    return is_of_scipy(x)


def is_of_scipy(x: Any) -> bool:
    """Return whether a value is a sparse matrix, or array, of SciPy's."""
    return type(x).__module__.startswith("scipy.sparse.") and bool(import_late("scipy.sparse").issparse(x))


def is_class(cls: type) -> bool:
    """Return whether a class is one of sparse matrices, or arrays."""
    return hasattr(cls, "tocsr")


def on_gpu(x: Any) -> Any:
    """Return a sparse matrix of SciPy's as one of `cupyx.scipy` on the current GPU.

    Raises
    ------
    TypeError
        If `cupyx.scipy` has no matrices of that format.
    """
    cls = getattr(cupyx("sparse"), type(x).__name__, None)
    if cls is None:
        raise TypeError(f"cupyx.scipy.sparse has no {type(x).__name__}")
    return cls(x)


def on_host(x: Any) -> Any:
    """Return an object of `cupyx.scipy` as one of SciPy's.

    Raises
    ------
    TypeError
        If it is no sparse matrix.
    """
    if not cupyx("sparse").issparse(x):
        raise TypeError(f"{type(x).__name__} is on a GPU, and what SciPy computes on the host cannot use it")
    return x.get()
