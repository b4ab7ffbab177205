"""Eigenvalues of small square matrices, and of stacks of larger ones, on a GPU: a block to each matrix (`eig.cuh`)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.graph.layout import Layout
from ..codegen.program import Program
from ..cuda.program_builder import pointer_declaration
from .cuda_small_decompositions import BlockPerMatrix, real_bytes

_MAX_SHARED_BYTES = 200 << 10
_MAX_THREADS = 512
# Limits of a matrix of a small stack. cuSOLVER takes larger ones, one after the other.
_MAX_FEW_BYTES, _MAX_FEW_ROWS = 168 << 10, 160
# Most rows of a matrix in a stack of at least so many matrices.
_MAX_ROWS_BY_COUNT = {4: 256, 16: 512}


def is_small(layouts: Sequence[Layout], dtypes: Sequence[Any]) -> bool:
    """Return True if the matrices are small, or so many that `eig` here is faster than cuSOLVER."""
    *results, a = layouts
    rows, count = a.shape[-1], prod(a.shape[:-2])
    if any(count >= min_count and rows <= max_rows for min_count, max_rows in _MAX_ROWS_BY_COUNT.items()):
        return True
    return rows <= _MAX_FEW_ROWS and _matrix_sizes(rows, len(results) > 2)[0] * dtypes[-1].itemsize <= _MAX_FEW_BYTES


def _matrix_sizes(n: int, has_vectors: bool) -> tuple[int, int]:
    """Return the elements of `la::Eigen`'s two matrices of n rows: the Schur form, and the basis that leads to it.

    With vectors, the first has three more rows for them; without, the second is empty.
    """
    return (n + 3 * has_vectors) * (n | 1), n * (n | 1) * has_vectors


def _fixed_shared_bytes(n: int, dtype: Any) -> int:
    """Return the bytes of what `la::Eigen` always has in shared memory."""
    real_size = real_bytes(dtype)
    return n * (dtype.itemsize + 2 * real_size) + (n + 32) * real_size + 8 * n


def eig(
    options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any], shared_limit: int = _MAX_SHARED_BYTES
) -> Program:
    """Return a program for complex eigenvalues and `info`, and for eigenvectors as rows if they are an output.

    The argument is transposed. Of a block's two matrices each one that would exceed `shared_limit` bytes of shared
    memory lies in global memory.
    """
    *results, a = layouts
    dtype, vectors, rows = dtypes[-1], len(results) > 2, a.shape[-1]
    text = BlockPerMatrix(a, dtype)
    threads = min(_MAX_THREADS, -(-rows // 32) * 32)
    n, pitch = text.param(rows), text.param(rows | 1)
    itemsize, shared, global_elements = dtype.itemsize, _fixed_shared_bytes(rows, dtype), 0
    memory = []
    for size in _matrix_sizes(rows, vectors):
        if shared + size * itemsize <= shared_limit:
            memory.append("(T*)nullptr")
            shared += size * itemsize
        else:
            memory.append(f"global_cells + {text.param(global_elements)}")
            global_elements += size
    block_elements = text.param(global_elements)
    memory = [
        pointer_text.replace("global_cells", f"global_cells + blockIdx.x * {block_elements}") for pointer_text in memory
    ]
    body = (
        f"  const int n = (int){n};\n"
        f"  const auto at = [=](int r, int c) {{ return {text.element('c', 'r')}; }};\n"
        f"  la::Eigen<T> solver(shared, {', '.join(memory)}, n, {pitch}, {str(vectors).lower()});\n"
        "  const bool failed = solver.run(at);\n"
        "  if (threadIdx.x == 0) la::report(failed, info + m, failure_word);\n"
        "  __syncthreads();\n  if (failed) continue;\n"
        f"  for (int i = threadIdx.x; i < n; i += blockDim.x) w[m * n + i] = solver.values[i];\n"
    )
    parameters = [pointer_declaration(dtypes[0], "w", ""), "int* info"]
    if vectors:
        parameters.append(pointer_declaration(dtypes[0], "v", ""))
        body += (
            "  for (int k = threadIdx.x; k < n * n; k += blockDim.x)\n"
            "    v[m * n * n + k / n * n + solver.origins[k % n]] = solver.vector(k / n, k % n);"
        )
    methods = ["eig_balance", "eig_steps", "eig"]
    parameters += [pointer_declaration(dtype, "a"), "int* failure_word"]
    return text.finish(methods, body, threads, shared, parameters, global_elements * itemsize)
