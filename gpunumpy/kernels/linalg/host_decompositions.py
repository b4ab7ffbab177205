"""Decompositions on the CPU device: NumPy's own, laid out in memory as the libraries of a GPU have them."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.linalg import LinAlgError


def _swapped(x: Any) -> Any:
    return x.swapaxes(-1, -2)


def qr(options: tuple[str], first: Any, *rest: Any) -> None:
    """All by columns: factors with `tau` in the mode "raw", or R, and with it Q."""
    raw = options == ("raw",)
    *others, columns = rest
    a = _swapped(columns)
    if raw:
        first[...], others[0][...] = numpy.linalg.qr(a, "raw")
    elif not others:
        first[...] = _swapped(numpy.linalg.qr(a, "r"))
    else:
        complete = first.shape[-1] > min(a.shape[-2:])
        q, r = numpy.linalg.qr(a, "complete" if complete else "reduced")
        first[...] = _swapped(r)
        others[0][...] = _swapped(q)


def _fail(*results: Any) -> None:
    """Leave nothing in the results of a decomposition that failed."""
    for result in results:
        result[...] = numpy.nan


def svd(options: tuple[Any, ...], s: Any, info: Any, *rest: Any) -> None:
    """Of matrices with no more rows than columns; the left vectors are the rows of a matrix, conjugated.

    None has a decomposition where anything is infinite or NaN, whether LAPACK comes to an end of it or not.
    """
    *sides, x = rest
    info[...] = 0
    try:
        if not numpy.isfinite(x).all():
            raise LinAlgError
        if not sides:
            s[...] = numpy.linalg.svd(x, compute_uv=False)
            return
        left, right = sides
        u, s[...], right[...] = numpy.linalg.svd(x, full_matrices=right.shape[-2] > x.shape[-2])
        left[...] = _swapped(u).conj()
    except LinAlgError:
        info[...] = 1
        _fail(s, *sides)


def eigh(options: tuple[Any, ...], w: Any, info: Any, *rest: Any) -> None:
    """Of the conjugates of Hermitian matrices; the vectors are the rows of a matrix."""
    triangle = options[0]
    *wanted, x = rest
    a = x.conj()
    info[...] = 0
    try:
        if not wanted:
            w[...] = numpy.linalg.eigvalsh(a, triangle)
            return
        w[...], v = numpy.linalg.eigh(a, triangle)
        wanted[0][...] = _swapped(v)
    except LinAlgError:
        info[...] = 1
        _fail(w, *wanted)


def eig(options: tuple[Any, ...], w: Any, info: Any, *rest: Any) -> None:
    """Of matrices by columns; the vectors are the rows of a matrix."""
    *wanted, columns = rest
    a = _swapped(columns)
    info[...] = 0
    try:
        if not wanted:
            w[...] = numpy.linalg.eigvals(a)
            return
        w[...], v = numpy.linalg.eig(a)
        wanted[0][...] = _swapped(v)
    except LinAlgError:
        info[...] = 1
        _fail(w, *wanted)
