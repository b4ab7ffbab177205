"""The library routines of the CPU device: ``CALLS[name](options, out, *arguments)`` over NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

CALLS: dict[str, Callable[..., None]] = {}


def _call(function: Callable[..., None]) -> Callable[..., None]:
    CALLS[function.__name__.strip("_")] = function
    return function


@_call
def matmul(options: tuple[Any, ...], out: Any, a: Any, b: Any) -> None:
    numpy.matmul(a, b, out=out)


@_call
def scatter(options: tuple[Any, ...], out: Any, value: Any, *indices: Any) -> None:
    """``out[indices] = value``, or ``row.at(out, indices, value)``; the caller checked the indices."""
    _, row, _ = options
    if row:
        getattr(numpy, row).at(out, indices, value)
    else:
        out[indices] = value
