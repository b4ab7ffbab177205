"""The records of linear algebra, by LAPACK's names where it has one.

What can fail has an output `info` with a number for each matrix of a stack, 0 where it did not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ...dtypes import DType
from ..signature import Signature
from .record import FloatingErrors, Implementation, Record, Results

_INT32 = numpy.dtype(numpy.int32)


def _real(dtype: DType) -> DType:
    return dtype.type(0).real.dtype


def _wide(dtype: DType) -> DType:
    """The complex dtype of the same precision."""
    return numpy.result_type(dtype, numpy.complex64)


# --- results --------------------------------------------------------------------------------------------------------


def _same(options: Any, args: Sequence[Signature]) -> Results:
    (a,) = args
    return (a.shape, a.dtype), (a.shape[:-2], _INT32)


def _solve(options: Any, args: Sequence[Signature]) -> Results:
    """Solutions for several right-hand sides one after the other, as the rows of a matrix."""
    a, b = args
    shape = b.shape if len(b.shape) < len(a.shape) else (*b.shape[:-2], b.shape[-1], b.shape[-2])
    return (shape, a.dtype), (a.shape[:-2], _INT32)


def _slogdet(options: Any, args: Sequence[Signature]) -> Results:
    (a,) = args
    return (a.shape[:-2], a.dtype), (a.shape[:-2], _real(a.dtype))


def _det(options: Any, args: Sequence[Signature]) -> Results:
    (a,) = args
    return ((a.shape[:-2], a.dtype),)


def _qr(options: tuple[str], args: Sequence[Signature]) -> Results:
    """Of the transpose of matrices; by the mode of `numpy.linalg.qr`."""
    (mode,), (a,) = options, args
    *stack, n, m = a.shape
    least = min(m, n)
    if mode == "raw":
        return ((*stack, n, m), a.dtype), ((*stack, least), a.dtype)
    kept = m if mode == "complete" else least
    return (((*stack, n, kept), a.dtype), ((*stack, kept, m), a.dtype))[: 1 if mode == "r" else 2]


def _svd(options: tuple[bool, bool], args: Sequence[Signature]) -> Results:
    """Of matrices with no more rows than columns; whether there are vectors, and all those of the longer side."""
    (vectors, full), (a,) = options, args
    *stack, short, long = a.shape
    values = (((*stack, short), _real(a.dtype)), (tuple(stack), _INT32))
    sides = ((*stack, short, short), a.dtype), ((*stack, long if full else short, long), a.dtype)
    return (*values, *sides) if vectors else values


def _eigh(options: tuple[str, bool], args: Sequence[Signature]) -> Results:
    """With which triangle is read, and whether there are vectors."""
    (_, vectors), (a,) = options, args
    values = (a.shape[:-1], _real(a.dtype)), (a.shape[:-2], _INT32)
    return (*values, (a.shape, a.dtype)) if vectors else values


def _eig(options: tuple[bool], args: Sequence[Signature]) -> Results:
    (vectors,), (a,) = options, args
    wide = _wide(a.dtype)
    values = (a.shape[:-1], wide), (a.shape[:-2], _INT32)
    return (*values, (a.shape, wide)) if vectors else values


# --- records --------------------------------------------------------------------------------------------------------


def _by(host: str, cuda: str) -> dict[str, Implementation]:
    return {
        "host": Implementation(f"kernels.linalg.host_{host}"),
        "cuda": Implementation(f"kernels.linalg.cuda_{cuda}"),
    }


RECORDS = (
    Record("cholesky", _by("solvers:cholesky", "solvers:cholesky"), _same),
    Record("inv", _by("solvers:inv", "solvers:inv"), _same),
    Record("solve", _by("solvers:solve", "solvers:solve"), _solve),
    Record("slogdet", _by("solvers:slogdet", "solvers:slogdet"), _slogdet),
    Record(
        "det",
        _by("solvers:det", "solvers:slogdet"),
        _det,
        floating_errors=lambda options, dtype: FloatingErrors("det"),
    ),
    Record("qr", _by("decompositions:qr", "decompositions:qr"), _qr),
    Record("svd", _by("decompositions:svd", "decompositions:svd"), _svd),
    Record("eigh", _by("decompositions:eigh", "decompositions:eigh"), _eigh),
    Record("eig", _by("decompositions:eig", "decompositions:eig"), _eig),
)
