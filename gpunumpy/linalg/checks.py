"""What functions of matrices ask of their arguments, in NumPy's words, and what they raise for the values."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy
from numpy.linalg import LinAlgError

from .. import reduction
from ..core import node as graph
from ..core.array import ndarray, to_host, wrap
from ..core.dtypes import KIND
from ..core.node import Node

INT32 = numpy.dtype(numpy.int32)

_DOUBLE = {False: numpy.dtype(numpy.float64), True: numpy.dtype(numpy.complex128)}
_SINGLE = {False: numpy.dtype(numpy.float32), True: numpy.dtype(numpy.complex64)}
# More numbers than this are looked at by their greatest.
_LOOKED_AT = 1 << 16


def common_dtype(*arrays: ndarray) -> Any:
    """The dtype of the results: float64 for integers and booleans.

    Raises
    ------
    TypeError
        For 16-bit floats.
    """
    for array in arrays:
        if KIND[array.dtype] == "e":
            raise TypeError(f"array type {array.dtype.name} is unsupported in linalg")
    single = all(array.dtype in _SINGLE.values() for array in arrays)
    return (_SINGLE if single else _DOUBLE)[any(KIND[array.dtype] == "c" for array in arrays)]


def real_dtype(dtype: Any) -> Any:
    """The dtype of the real parts."""
    return dtype.type(0).real.dtype


def check_matrices(*arrays: ndarray) -> None:
    """Refuse what has no rows and columns."""
    for array in arrays:
        if array.ndim < 2:
            raise LinAlgError(f"{array.ndim}-dimensional array given. Array must be at least two-dimensional")


def check_square(*arrays: ndarray) -> None:
    """Refuse what are no square matrices."""
    check_matrices(*arrays)
    for array in arrays:
        if array.shape[-1] != array.shape[-2]:
            raise LinAlgError("Last 2 dimensions of the array must be square")


def look(info: Node, message: str) -> None:
    """Compute what a routine has found, and raise `LinAlgError` if that is anything but zeros."""
    found = wrap(info)
    if prod(info.form.shape) > _LOOKED_AT:
        found = reduction.max(wrap(graph.map_node("absolute", (INT32, INT32), (found.value(),))))
    if to_host(found).any():
        raise LinAlgError(message)
