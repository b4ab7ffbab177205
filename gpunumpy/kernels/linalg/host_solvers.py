"""Systems, inverses, determinants and Cholesky factors on the CPU device: NumPy's.

`info` is 1 for every matrix, and the results are NaN, where NumPy raises for one of them; for that one alone of what
is to be inverted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy


def _raised(call: Callable[..., Any], out: Any, info: Any, *args: Any, **options: Any) -> None:
    try:
        out[...] = call(*args, **options)
        info[...] = 0
    except numpy.linalg.LinAlgError:
        out[...] = numpy.nan
        info[...] = 1


def cholesky(options: tuple[bool, bool], out: Any, info: Any, a: Any) -> None:
    """The upper or lower factors, by columns or as they are."""
    upper, by_columns = options
    _raised(numpy.linalg.cholesky, out.swapaxes(-1, -2) if by_columns else out, info, a, upper=upper)


def inv(options: tuple[Any, ...], out: Any, info: Any, a: Any) -> None:
    _raised(numpy.linalg.inv, out, info, a)
    if info.ndim and info.any():  # one of a stack, and which they are is to be known
        for k in numpy.ndindex(info.shape):
            _raised(numpy.linalg.inv, out[k], info[(*k, ...)], a[k])


def solve(options: tuple[Any, ...], out: Any, info: Any, a: Any, b: Any) -> None:
    """Vectors as they are; of matrices, the transposed solution."""
    if a.ndim == b.ndim:
        _raised(numpy.linalg.solve, out.swapaxes(-1, -2), info, a, b)
    else:
        _raised(numpy.linalg.solve, out[..., None], info, a, b[..., None])


def slogdet(options: tuple[Any, ...], sign: Any, logarithm: Any, a: Any) -> None:
    sign[...], logarithm[...] = numpy.linalg.slogdet(a)


def det(options: tuple[Any, ...], out: Any, a: Any) -> None:
    out[...] = numpy.linalg.det(a)
