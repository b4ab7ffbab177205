"""Decompositions on the CPU device, by NumPy; arguments and results are laid out as GPU libraries want them."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.linalg import LinAlgError


def _transposed(x: Any) -> Any:
    """Return a view of transposed matrices."""
    return x.swapaxes(-1, -2)


def qr(options: tuple[str], first: Any, *rest: Any) -> None:
    """Compute QR of transposed matrices: packed factors and `tau` in the mode "raw", or R and perhaps Q, transposed."""
    raw = options == ("raw",)
    *others, columns = rest
    a = _transposed(columns)
    if raw:
        first[...], others[0][...] = numpy.linalg.qr(a, "raw")
    elif not others:
        first[...] = _transposed(numpy.linalg.qr(a, "r"))
    else:
        complete = first.shape[-1] > min(a.shape[-2:])
        q, r = numpy.linalg.qr(a, "complete" if complete else "reduced")
        first[...] = _transposed(r)
        others[0][...] = _transposed(q)


def _fill_with_nan(*results: Any) -> None:
    """Fill the results of a decomposition that failed with NaN."""
    for result in results:
        result[...] = numpy.nan


def svd(options: tuple[Any, ...], s: Any, info: Any, *rest: Any) -> None:
    """Compute the singular values of matrices with no more rows than columns, and perhaps the adjoint of U, and Vh.

    If any number is infinite or NaN all matrices fail, whether LAPACK returns or not.
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
        left[...] = _transposed(u).conj()
    except LinAlgError:
        info[...] = 1
        _fill_with_nan(s, *sides)


def eigh(options: tuple[Any, ...], w: Any, info: Any, *rest: Any) -> None:
    """Compute the eigenvalues of Hermitian matrices, given their conjugates, and perhaps eigenvectors as rows."""
    triangle = options[0]
    *wanted, x = rest
    a = x.conj()
    info[...] = 0
    try:
        if not wanted:
            w[...] = numpy.linalg.eigvalsh(a, triangle)
            return
        w[...], v = numpy.linalg.eigh(a, triangle)
        wanted[0][...] = _transposed(v)
    except LinAlgError:
        info[...] = 1
        _fill_with_nan(w, *wanted)


def eig(options: tuple[Any, ...], w: Any, info: Any, *rest: Any) -> None:
    """Compute the eigenvalues of transposed matrices, and perhaps eigenvectors as rows."""
    *wanted, columns = rest
    a = _transposed(columns)
    info[...] = 0
    try:
        if not wanted:
            w[...] = numpy.linalg.eigvals(a)
            return
        w[...], v = numpy.linalg.eig(a)
        wanted[0][...] = _transposed(v)
    except LinAlgError:
        info[...] = 1
        _fill_with_nan(w, *wanted)
