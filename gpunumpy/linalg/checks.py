"""Checks of matrix arguments, with NumPy's error messages, and errors that depend on the computed values."""

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
from ..core.runtime.failure_words import is_failure_word_clear
from ..core.runtime.memory_copy import copy_to_host
from ..functions.reductions import reductions

INT32 = numpy.dtype(numpy.int32)

_DOUBLE = {False: numpy.dtype(numpy.float64), True: numpy.dtype(numpy.complex128)}
_SINGLE = {False: numpy.dtype(numpy.float32), True: numpy.dtype(numpy.complex64)}
# Most elements of `info` copied to the host as they are; of a larger `info` only the greatest magnitude is copied.
_MAX_COPIED_ELEMENTS = 1 << 16


def common_dtype(*arrays: ndarray) -> Any:
    """Return the dtype in which NumPy computes for these arguments: float64 for integers and booleans.

    Raises
    ------
    TypeError
        For low-precision floats.
    """
    return _common(*[array.dtype for array in arrays])


@cache
def _common(*dtypes: Any) -> Any:
    for dtype in dtypes:
        if KIND[dtype] == "e":
            raise TypeError(f"array type {dtype.name} is unsupported in linalg")
    is_single = all(dtype in _SINGLE.values() for dtype in dtypes)
    return (_SINGLE if is_single else _DOUBLE)[any(KIND[dtype] == "c" for dtype in dtypes)]


def real_dtype(dtype: Any) -> Any:
    """Return the dtype of the real parts of a floating or complex dtype."""
    return dtype.type(0).real.dtype


def check_matrices(*arrays: ndarray) -> None:
    """Raise `LinAlgError` unless every array has at least two dimensions."""
    for array in arrays:
        if array.ndim < 2:
            raise LinAlgError(f"{array.ndim}-dimensional array given. Array must be at least two-dimensional")


def check_square(*arrays: ndarray) -> None:
    """Raise `LinAlgError` unless the last two dimensions of every array are equal."""
    check_matrices(*arrays)
    for array in arrays:
        if array.shape[-1] != array.shape[-2]:
            raise LinAlgError("Last 2 dimensions of the array must be square")


def failure_word_is_clear(queue: Queue) -> bool:
    """Return True if the device's failure word is clear, so that a failure of the next library call shows in it."""
    return is_failure_word_clear(queue.device)


def raise_on_failure(info: Node, message: str, word_was_clear: bool = False) -> None:
    """Compute the output `info` of a library call, and raise `LinAlgError` unless all of it is zero.

    If the failure word was clear before the library call was computed, and still is when the device is done, no matrix
    failed, and `info` is not copied to the host.
    """
    queue = info.signature.queue
    assert queue is not None
    if word_was_clear:
        synchronize(queue.device)
        if failure_word_is_clear(queue):
            evaluate.check_errors(queue)
            return
    size = prod(info.signature.shape)
    if size > _MAX_COPIED_ELEMENTS:
        magnitudes = graph.map_node("absolute", (INT32, INT32), (info,))
        info, size = reductions.max(wrap(magnitudes)).value(), 1
    leaf = evaluate.compute(info)
    if copy_to_host(leaf.data, leaf.offset * INT32.itemsize, size * INT32.itemsize).any():
        raise LinAlgError(message)
    evaluate.check_errors(queue)
