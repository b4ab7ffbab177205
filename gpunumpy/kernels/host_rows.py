"""The NumPy functions behind the table's rows, as the CPU executor calls them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy

from ..core.kernel import DType
from .table import host


def _cast(loop: tuple[DType, ...]) -> Callable[..., Any]:
    """A conversion straight into the output, silent about an imaginary part lost: that was told when recorded."""
    real = loop[0].kind == "c" and loop[1].kind not in "bc"
    dtype = loop[1]

    def cast(x: Any, out: Any = None) -> Any:
        if real:
            x = x.real
        if out is None:
            return x.astype(dtype)
        numpy.copyto(out, x, casting="unsafe")
        return out

    return cast


def _where(condition: Any, x: Any, y: Any, out: Any = None) -> Any:
    """As ``numpy.where``, with no temporary when there is an output."""
    if out is None:
        return numpy.where(condition, x, y)
    numpy.copyto(out, y)
    numpy.copyto(out, x, where=condition)
    return out


@lru_cache(maxsize=4096)
def function(row: str, loop: tuple[DType, ...]) -> Callable[..., Any]:
    """The NumPy callable of `row`, ``f(*args, out=None)``; a ufunc wherever there is one."""
    if row == "cast":
        return _cast(loop)
    if row == "where":
        return _where
    return host(row, loop)


def accumulator(row: str, dtype: DType) -> Callable[[Any, int | None], Any]:
    """The inclusive scan by `row`: ``f(values, axis)``; with no axis there is one value a row, its own scan."""
    accumulate = getattr(numpy, row).accumulate

    def scan(x: Any, axis: int | None) -> Any:
        return x.astype(dtype) if axis is None else accumulate(x, axis, dtype)

    return scan
