"""Linear systems, inverses, determinants and Cholesky factors on the CPU device, by NumPy.

Where NumPy raises for one matrix of a stack, `info` is 1 and the result NaN for all of them, except in `inv`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy


def _run(call: Callable[..., Any], out: Any, info: Any, *args: Any, **options: Any) -> None:
    """Write the result of a NumPy function and 0 to `info`; if it raises `LinAlgError`, NaN and 1."""
    try:
        out[...] = call(*args, **options)
        info[...] = 0
    except numpy.linalg.LinAlgError:
        out[...] = numpy.nan
        info[...] = 1


def cholesky(options: tuple[bool, bool], out: Any, info: Any, a: Any) -> None:
    """Compute upper or lower factors, in Fortran or C order."""
    upper, by_columns = options
    _run(numpy.linalg.cholesky, out.swapaxes(-1, -2) if by_columns else out, info, a, upper=upper)


def inv(options: tuple[Any, ...], out: Any, info: Any, a: Any) -> None:
    """Compute inverses; `info` is 1 for the singular matrices of a stack alone, as `cond` needs it."""
    _run(numpy.linalg.inv, out, info, a)
    if info.ndim and info.any():
        for k in numpy.ndindex(info.shape):
            _run(numpy.linalg.inv, out[k], info[(*k, ...)], a[k])


def solve(options: tuple[Any, ...], out: Any, info: Any, a: Any, b: Any) -> None:
    """Solve for vectors, or for matrices of right-hand sides, whose solutions are written transposed."""
    if a.ndim == b.ndim:
        _run(numpy.linalg.solve, out.swapaxes(-1, -2), info, a, b)
    else:
        _run(numpy.linalg.solve, out[..., None], info, a, b[..., None])


def slogdet(options: tuple[Any, ...], sign: Any, logarithm: Any, a: Any) -> None:
    """Compute the signs of determinants and the logarithms of their absolute values."""
    sign[...], logarithm[...] = numpy.linalg.slogdet(a)


def det(options: tuple[Any, ...], out: Any, a: Any) -> None:
    """Compute determinants."""
    out[...] = numpy.linalg.det(a)


def lstsq(
    options: tuple[Any, ...], solution: Any, squares: Any, rank: Any, s: Any, a: Any, b: Any, cutoff_ratio: Any
) -> None:
    """Solve by least squares; where NumPy raises the rank is -1, and all else NaN."""
    solution[...] = squares[...] = s[...] = numpy.nan
    rank[...] = -1
    with suppress(numpy.linalg.LinAlgError):
        solution[...], found, rank[...], s[...] = numpy.linalg.lstsq(a, b, cutoff_ratio)
        if found.size:  # NumPy has none of a matrix of less than full rank
            squares[...] = found
