"""What functions of matrices ask of their arguments, in NumPy's words, and what they raise for the values."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import numpy
from numpy.linalg import LinAlgError

from ..core.dtypes import KIND
from ..core.graph import node as graph
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.recording.array import ndarray, wrap
from ..core.runtime import evaluate
from ..core.runtime.device import synchronize
from ..core.runtime.failure_words import is_clear
from ..core.runtime.memory_copy import copy_to_host
from ..functions.reductions import reductions

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
    return _common(*[array.dtype for array in arrays])


@cache
def _common(*dtypes: Any) -> Any:
    for dtype in dtypes:
        if KIND[dtype] == "e":
            raise TypeError(f"array type {dtype.name} is unsupported in linalg")
    single = all(dtype in _SINGLE.values() for dtype in dtypes)
    return (_SINGLE if single else _DOUBLE)[any(KIND[dtype] == "c" for dtype in dtypes)]


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


def tells(queue: Queue) -> bool:
    """Whether the device's failure word is clear, so that it will tell whether the next library call fails."""
    return is_clear(queue.device)


def look(info: Node, message: str, told: bool = False) -> None:
    """Compute the `info` of a routine, and raise `LinAlgError` if it is anything but zeros.

    Where a computed routine has `told` the device's word of a failure, if there is one, that is all there is to wait
    for.
    """
    queue = info.signature.queue
    assert queue is not None
    if told:
        synchronize(queue.device)
        if tells(queue):
            evaluate.check_errors(queue)
            return
    size = prod(info.signature.shape)
    if size > _LOOKED_AT:
        sizes = graph.map_node("absolute", (INT32, INT32), (info,))
        info, size = reductions.max(wrap(sizes)).value(), 1
    found = evaluate.compute(info)
    if copy_to_host(found.data, found.offset * INT32.itemsize, size * INT32.itemsize).any():
        raise LinAlgError(message)
    evaluate.check_errors(queue)
