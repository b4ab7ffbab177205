"""Eigenvalues of small square matrices, and of stacks of them, on a GPU (`linalg_eig.cuh`): a block to each matrix."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.graph.layout import Layout
from ..codegen.program import Program
from ..cuda.routine import pointer
from .cuda_small_decompositions import Small, real_bytes

_BYTES = 200 << 10  # of shared memory that a block takes at most
_MOST_THREADS = 512
# Of few matrices, the bytes and rows of one at most, and of so many the rows; larger ones are done one after the other.
_FEW_BYTES, _FEW_ROWS = 168 << 10, 160
_MANY_ROWS = {4: 256, 16: 512}


def fits(layouts: Sequence[Layout], dtypes: Sequence[Any]) -> bool:
    """Whether matrices are small, or many."""
    *results, a = layouts
    rows, count = a.shape[-1], prod(a.shape[:-2])
    if any(count >= many and rows <= most for many, most in _MANY_ROWS.items()):
        return True
    return rows <= _FEW_ROWS and _pieces(rows, len(results) > 2)[0] * dtypes[-1].itemsize <= _FEW_BYTES


def _pieces(n: int, vectors: bool) -> tuple[int, int]:
    """The elements of a matrix, with rows for vectors of what becomes of it, and of what turns it."""
    return (n + 3 * vectors) * (n | 1), n * (n | 1) * vectors


def _beside(n: int, dtype: Any) -> int:
    """The bytes of what always is in shared memory."""
    unit = real_bytes(dtype)
    return n * (dtype.itemsize + 2 * unit) + (n + 32) * unit + 8 * n


def eig(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any], most: int = _BYTES) -> Program:
    """Complex values and `info`; and the vectors as rows, from matrices by columns.

    Where a block would share more than so many bytes, what turns its matrix lies in global memory, or that too.
    """
    *results, a = layouts
    dtype, vectors, size = dtypes[-1], len(results) > 2, a.shape[-1]
    text = Small(a, dtype)
    threads = min(_MOST_THREADS, -(-size // 32) * 32)
    n, pitch = text.param(size), text.param(size | 1)
    unit, shared, away = dtype.itemsize, _beside(size, dtype), 0
    places = []
    for piece in _pieces(size, vectors):
        if shared + piece * unit <= most:
            places.append("(T*)nullptr")
            shared += piece * unit
        else:
            places.append(f"away + {text.param(away)}")
            away += piece
    step = text.param(away)
    places = [place.replace("away", f"away + blockIdx.x * {step}") for place in places]
    body = (
        f"  const int n = (int){n};\n"
        f"  const auto at = [=](int r, int c) {{ return {text.at('c', 'r')}; }};\n"
        f"  la::Eigen<T> its(shared, {', '.join(places)}, n, {pitch}, {str(vectors).lower()});\n"
        "  const bool failed = its.run(at);\n"
        "  if (threadIdx.x == 0) la::tell(failed, info + m, told);\n  __syncthreads();\n  if (failed) continue;\n"
        f"  for (int i = threadIdx.x; i < n; i += blockDim.x) w[m * n + i] = its.values[i];\n"
    )
    names = [pointer(dtypes[0], "w", ""), "int* info"]
    if vectors:
        names.append(pointer(dtypes[0], "v", ""))
        body += (
            "  for (int k = threadIdx.x; k < n * n; k += blockDim.x)\n"
            "    v[m * n * n + k / n * n + its.origins[k % n]] = its.vector(k / n, k % n);"
        )
    methods = ["eig_balance", "eig_steps", "eig"]
    return text.made(methods, body, threads, shared, [*names, pointer(dtype, "a"), "int* told"], away * unit)
