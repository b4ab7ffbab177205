"""QR, singular values and Hermitian eigenvalues of small matrices on a GPU, a block to each matrix.

QR by Householder reflections (`qr.cuh`), singular values by Jacobi rotations (`jacobi.cuh`), eigenvalues by way of
tridiagonal matrices, with QL steps (`tridiagonal.cuh`) or divide and conquer (`reduce.cuh`, `divide.cuh`). A program
that writes `info` also sets the device's failure word, its last argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.dtypes import C_TYPE, COMPLEX128
from ...core.graph.layout import Layout
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.program_builder import ProgramBuilder, pointer_declaration

# Most rows of a single matrix in shared memory, by the bytes of a real number; most rows of a matrix in global memory.
_MAX_SINGLE_SVD_ROWS, _MAX_SVD_ROWS = {4: 128, 8: 104}, 256
# Fewest matrices in global memory that are faster here than one after the other in cuSOLVER.
_MIN_GLOBAL_SVD_MATRICES = 48
# Most blocks with matrices in global memory; more matrices take turns.
_MAX_GLOBAL_BLOCKS = 264
# Most rows of a tridiagonal matrix that is not divided, by the bytes of a real number. True: with `_MANY_MATRICES`.
_MAX_UNDIVIDED_ROWS = {False: {4: 8, 8: 8}, True: {4: 56, 8: 40}}
# Columns of a lane for which kernels are compiled, in teams of eight lanes (`reduce.cuh`).
_COLUMNS_PER_LANE = (2, 4, 8, 12, 16)
_MAX_THREADS = 512
_MAX_SHARED_BYTES = 160 << 10
# A stack of at least so many matrices fills the GPU, and each matrix gets few threads.
_MANY_MATRICES = 264
_QR_TEAM_LANES = {True: 8, False: 32}  # lanes that share a column in QR, with many matrices and with few
_EIGH_TEAM_LANES = {True: 1, False: 8}  # lanes that share a row in QL steps, with many matrices and with few
_TEAM_LANES = 8  # lanes that share a pair of rows in Jacobi's method, or a row of a division


def padded_pitch(width: int, itemsize: int) -> int:
    """Return the elements from one row to the next: at least `width`, and neighbouring rows start in other banks."""
    bank_period = max(32 * 4 // itemsize, 1)
    return width + (_TEAM_LANES - width) % bank_period


def real_bytes(dtype: Any) -> int:
    """Return the bytes of the real part of a number."""
    return dtype.itemsize // (2 if dtype.kind == "c" else 1)


def is_small_svd(layouts: Sequence[Layout], dtypes: Sequence[Any], shared_limit: int) -> bool:
    """Return True if `svd` here is faster than cuSOLVER; `shared_limit` is the GPU's shared memory for a block."""
    rows, count = layouts[-1].shape[-2], prod(layouts[-1].shape[:-2])
    if svd_bytes(*_svd_sizes(layouts), dtypes[-1]) <= shared_limit:
        return count > 1 or rows <= _MAX_SINGLE_SVD_ROWS[real_bytes(dtypes[-1])]
    return count >= _MIN_GLOBAL_SVD_MATRICES and rows <= _MAX_SVD_ROWS and layouts[-1].shape[-1] <= 4 * _MAX_SVD_ROWS


def _svd_sizes(layouts: Sequence[Layout]) -> tuple[int, int, int, bool]:
    """Return the rows and columns of a matrix, the rows of right vectors to keep, and whether vectors are wanted."""
    *sides, a = layouts[2:]
    rows, columns = a.shape[-2:]
    return rows, columns, sides[1].shape[-2] if sides else rows, bool(sides)


def is_small_eigh(layouts: Sequence[Layout], dtypes: Sequence[Any], shared_limit: int) -> bool:
    """Return True if `eigh` of a matrix fits in the shared memory of a block; `shared_limit` is the GPU's."""
    *results, a = layouts
    n, vectors, dtype = a.shape[-1], len(results) > 2, dtypes[-1]
    if is_divided(a, dtype):
        return n <= _TEAM_LANES * _COLUMNS_PER_LANE[-1] and divided_eigh_bytes(n, vectors, dtype) <= shared_limit
    return eigh_bytes(n, vectors, dtype) <= min(shared_limit, _MAX_SHARED_BYTES)


def is_divided(a: Layout, dtype: Any) -> bool:
    """Return True if the tridiagonal matrices are divided (`divide.cuh`): QL steps are faster for small ones."""
    return a.shape[-1] > _MAX_UNDIVIDED_ROWS[prod(a.shape[:-2]) >= _MANY_MATRICES][real_bytes(dtype)]


def is_small_qr(options: tuple[str], layouts: Sequence[Layout], dtypes: Sequence[Any], shared_limit: int) -> bool:
    """Return True if `qr` of a matrix fits in the shared memory of a block; `shared_limit` is the GPU's."""
    return qr_bytes(options, layouts, dtypes[0]) <= min(shared_limit, _MAX_SHARED_BYTES)


def qr_bytes(options: tuple[str], layouts: Sequence[Layout], dtype: Any) -> int:
    """Return the shared memory of `la::Reflections` for a matrix, in bytes."""
    n, m = layouts[-1].shape[-2:]
    q_columns = _columns_of_q(options, layouts)
    return ((n + q_columns) * padded_pitch(m, dtype.itemsize) + min(m, n)) * dtype.itemsize + 32 * real_bytes(dtype)


def _columns_of_q(options: tuple[str], layouts: Sequence[Layout]) -> int:
    """Return how many columns of Q are wanted: 0 in the modes "raw" and "r"."""
    return 0 if options == ("raw",) or len(layouts) < 3 else layouts[1].shape[-2]


def svd_bytes(rows: int, columns: int, kept: int, vectors: bool, dtype: Any) -> int:
    """Return the shared memory of `la::Singular` for a matrix, in bytes."""
    pitch = padded_pitch(columns + rows * vectors, dtype.itemsize)
    return (kept * (pitch + 1)) * dtype.itemsize + (rows + 32) * real_bytes(dtype) + 4 * kept


def eigh_bytes(n: int, vectors: bool, dtype: Any) -> int:
    """Return the shared memory of `la::Tridiagonal` for a matrix of n rows, in bytes."""
    diagonals = 2 * n * -(-n // 32) + 32
    return (n * (n | 1) * (1 + vectors) + 3 * n) * dtype.itemsize + diagonals * real_bytes(dtype) + 4 * n


def divided_eigh_bytes(n: int, vectors: bool, dtype: Any) -> int:
    """Return the shared memory of `la::Divided` for a matrix of n rows, in bytes."""
    real_size, pitch = real_bytes(dtype), n | 1
    reals = (n + n * dtype.itemsize // real_size if vectors else n + 2) * pitch + 7 * n + 32
    return 6 * _TEAM_LANES * _columns_per_lane(n) * dtype.itemsize + reals * real_size + 20 * n


def _columns_per_lane(n: int) -> int:
    """Return the columns of a lane in the smallest compiled kernel for n columns."""
    return next(k for k in _COLUMNS_PER_LANE if _TEAM_LANES * k >= n)


def kernel_source(*methods: str) -> str:
    """Return the C++ of methods, named by their files, with what they need."""
    return source("linalg/common", "linalg/sums", *(f"linalg/{method}" for method in methods))


class BlockPerMatrix(ProgramBuilder):
    """Builder of a program with a block to each matrix `m` of a stack in any layout."""

    def __init__(self, a: Layout, dtype: Any) -> None:
        super().__init__()
        self.require_op("multiply", (COMPLEX128,) * 3)
        self.dtype, self.count = dtype, prod(a.shape[:-2])
        self.has_many = self.count >= _MANY_MATRICES
        stack_layout = Layout(a.shape[:-2], a.strides[:-2], a.offset)
        row_stride, column_stride = (self.param(s) for s in a.strides[-2:])
        self.head = (
            f"  typedef {C_TYPE[dtype]} T;\n  extern __shared__ __align__(16) unsigned char shared[];\n"
            f"  for (long long m = blockIdx.x; m < {self.param(self.count)}; m += gridDim.x) {{\n"
            f"  {self.unravel('m', stack_layout.shape)}\n"
            f"  const T* matrix = a + ({self.offset(stack_layout, stack_layout.shape)});\n"
        )
        self._strides = row_stride, column_stride

    def element(self, row: str, column: str) -> str:
        """Return the C++ of an element of matrix `m`."""
        row_stride, column_stride = self._strides
        return f"matrix[{row} * {row_stride} + {column} * {column_stride}]"

    def finish(
        self,
        methods: Sequence[str],
        body: str,
        threads: int,
        shared: int,
        pointers: Sequence[str],
        global_bytes: int = 0,
    ) -> Program:
        """Return the program; each block has `global_bytes` of memory of its own in `global_cells`."""
        blocks = min(self.count, _MAX_GLOBAL_BLOCKS) if global_bytes else self.count
        scratch = [(pointer_declaration(self.dtype, "global_cells", ""), blocks * global_bytes)] if global_bytes else []
        body = f"{self.head}{body}\n  __syncthreads();\n  }}"
        self.add_entry(f"{methods[-1]}_block", body, blocks, threads, shared, _MAX_THREADS)
        return self.build(pointers, scratch, head=kernel_source(*methods))


def svd(
    options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any], shared_limit: int = _MAX_SHARED_BYTES
) -> Program:
    """Return a program for singular values and `info`, and if they are outputs for the adjoint of U and for Vh.

    A matrix that needs more shared memory than `shared_limit` lies in global memory.
    """
    a, dtype = layouts[-1], dtypes[-1]
    text = BlockPerMatrix(a, dtype)
    rows, columns, right_rows, vectors = _svd_sizes(layouts)
    team = _TEAM_LANES
    threads = min(_MAX_THREADS, max(32, -(-(rows + 1) // 2 * team // 32) * 32))
    r, c, k = (text.param(n) for n in (rows, columns, right_rows))
    pitch_elements = padded_pitch(columns + rows * vectors, dtype.itemsize)
    pitch, shared = text.param(pitch_elements), svd_bytes(rows, columns, right_rows, vectors, dtype)
    global_cells, global_bytes = "(T*)nullptr", 0
    if shared > shared_limit:
        global_cells = f"global_cells + blockIdx.x * {k} * {pitch}"
        global_bytes = right_rows * pitch_elements * dtype.itemsize
        shared -= global_bytes
    body = (
        f"  la::Singular<T, {team}> svd(shared, {global_cells}, {r}, {c}, {k}, {pitch}, {str(vectors).lower()});\n"
        f"  const bool failed = svd.run([=](int r, int c) {{ return {text.element('r', 'c')}; }});\n"
        "  if (threadIdx.x == 0) la::report(failed, info + m, failure_word);\n  if (failed) continue;\n"
        f"  for (int i = threadIdx.x; i < {r}; i += blockDim.x) s[m * {r} + i] = svd.values[svd.order[i]];\n"
    )
    parameters = [pointer_declaration(dtypes[0], "s", ""), "int* info"]
    if vectors:
        parameters += [pointer_declaration(dtype, "left", ""), pointer_declaration(dtype, "right", "")]
        body += (
            f"  for (int i = threadIdx.x; i < {r} * {r}; i += blockDim.x)\n"
            f"    left[m * {r} * {r} + i] = svd.cells[svd.order[i / (int){r}] * svd.pitch + {c} + i % (int){r}];\n"
            f"  for (int i = threadIdx.x; i < {k} * {c}; i += blockDim.x)\n"
            f"    right[m * {k} * {c} + i] = svd.cells[svd.order[i / (int){c}] * svd.pitch + i % (int){c}];"
        )
    parameters += [pointer_declaration(dtype, "a"), "int* failure_word"]
    return text.finish(["jacobi"], body, threads, shared, parameters, global_bytes)


def eigh(options: tuple[str, bool], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program for eigenvalues and `info`, and for eigenvectors as rows if they are an output.

    The argument is the conjugate of the Hermitian matrix, so that its columns are the rows of the matrix.
    """
    triangle = options[0]
    *results, a = layouts
    dtype, vectors, size = dtypes[-1], len(results) > 2, a.shape[-1]
    text, divides = BlockPerMatrix(a, dtype), is_divided(a, dtype)
    team = _TEAM_LANES if divides else _EIGH_TEAM_LANES[text.has_many]
    threads = min(_MAX_THREADS, -(-size * team // 32) * 32)
    n = text.param(size)
    element = f"la::conj({text.element('r', 'c')})" if triangle == "L" else text.element("c", "r")
    arguments = f"[=](int r, int c) {{ return {element}; }}"
    if divides:
        methods: tuple[str, ...] = ("tridiagonal", "reduce", "divide")
        solver_type = f"Divided<T, {-(-size * team // threads)}, {_columns_per_lane(size)}>"
        arguments += f", v + m * {n} * {n}" if vectors else ", (T*)nullptr"
        shared = divided_eigh_bytes(size, vectors, dtype)
    else:
        solver_type, methods, shared = f"Tridiagonal<T, {team}>", ("tridiagonal",), eigh_bytes(size, vectors, dtype)
    body = (
        f"  la::{solver_type} solver(shared, {n}, {str(vectors).lower()});\n"
        f"  const bool failed = solver.run({arguments});\n"
        "  if (threadIdx.x == 0) la::report(failed, info + m, failure_word);\n  if (failed) continue;\n"
        f"  for (int i = threadIdx.x; i < {n}; i += blockDim.x) w[m * {n} + i] = solver.value(i);\n"
    )
    parameters = [pointer_declaration(dtypes[0], "w", ""), "int* info"]
    if vectors:
        parameters.append(pointer_declaration(dtype, "v", ""))
        body += (
            f"  for (int i = threadIdx.x; i < {n} * {n}; i += blockDim.x)\n"
            f"    v[m * {n} * {n} + i] = solver.vector(i / (int){n}, i % (int){n});"
        )
    return text.finish(
        methods, body, threads, shared, [*parameters, pointer_declaration(dtype, "a"), "int* failure_word"]
    )


def qr(options: tuple[str], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program for QR. The argument and the outputs are transposed matrices.

    The outputs are packed factors and `tau` in the mode "raw", else R, and Q if it is wanted.
    """
    raw = options == ("raw",)
    first, a = layouts[0], layouts[-1]
    dtype = dtypes[0]
    text = BlockPerMatrix(a, dtype)
    columns, rows = a.shape[-2:]
    q_columns = _columns_of_q(options, layouts)
    team = _QR_TEAM_LANES[text.has_many]
    threads = min(_MAX_THREADS, max(32, -(-max(columns, q_columns) * team // 32) * 32))
    sizes = (rows, columns, q_columns, min(rows, columns), first.shape[-1])
    m, n, k, shorter, r_rows = (text.param(size) for size in sizes)
    pitch = text.param(padded_pitch(rows, dtype.itemsize))
    body = (
        f"  la::Reflections<T, {team}> reflections(shared, {m}, {n}, {k}, {pitch});\n"
        f"  const auto scale = reflections.run([=](int r, int c) {{ return {text.element('r', 'c')}; }});\n"
    )
    parameters = [pointer_declaration(dtype, "out", "")]
    if raw:
        parameters.append(pointer_declaration(dtype, "tau", ""))
        body += (
            f"  for (int i = threadIdx.x; i < {m} * {n}; i += blockDim.x) {{\n"
            f"    const int c = i / (int){m}, r = i % (int){m};\n"
            f"    const T x = reflections.column(c)[r];\n"
            f"    out[m * {m} * {n} + i] = r <= c ? la::times(x, scale) : x;\n  }}\n"
            f"  for (int i = threadIdx.x; i < {shorter}; i += blockDim.x)\n"
            f"    tau[m * {shorter} + i] = reflections.tau[i];\n"
        )
    else:
        body += (
            f"  for (int i = threadIdx.x; i < {r_rows} * {n}; i += blockDim.x) {{\n"
            f"    const int c = i / (int){r_rows}, r = i % (int){r_rows};\n"
            f"    out[m * {r_rows} * {n} + i] =\n"
            f"      r <= c ? la::times(reflections.column(c)[r], scale) : la::of_real<T>(0);\n  }}\n"
        )
    if q_columns:
        parameters.append(pointer_declaration(dtype, "q", ""))
        body += (
            f"  for (int i = threadIdx.x; i < {k} * {m}; i += blockDim.x)\n"
            f"    q[m * {k} * {m} + i] = reflections.column_of_q(i / (int){m})[i % (int){m}];"
        )
    return text.finish(
        ["qr"], body, threads, qr_bytes(options, layouts, dtype), [*parameters, pointer_declaration(dtype, "a")]
    )
