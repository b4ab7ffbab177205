"""Small matrices on a GPU: QR (`linalg_qr.cuh`), singular values (`linalg_jacobi.cuh`), eigenvalues of Hermitian ones.

Where `info` tells of a failure, so does a word that the programs take as their last argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.dtypes import C_TYPE, COMPLEX128
from ...core.graph.layout import Layout
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.routine import Routine, pointer

# At most, of a single matrix that is small and of one of many that take turns; by the bytes of a real number.
_SVD_ROWS, _SVD_MOST = {4: 128, 8: 104}, 256
# So many matrices that are too large to be shared are worth the time of one; and the blocks that have memory for them.
_SVD_MANY, _BLOCKS = 48, 264
# With more rows, of few matrices and of many, the tridiagonal ones are divided; by the bytes of a real number.
_DIVIDED = {False: {4: 8, 8: 8}, True: {4: 56, 8: 40}}
# The columns of a lane that are compiled for, in teams of eight (`linalg_reduce.cuh`).
_COLUMNS = (2, 4, 8, 12, 16)
_MOST_THREADS = 512
_BYTES = 160 << 10  # of shared memory that a block takes at most
# Of a stack of at least so many matrices, each has few threads.
_MANY = 264
_TEAMS = {True: 8, False: 32}  # lanes that share a column in QR, of one of many matrices and of one of few
_LANES = {True: 1, False: 8}  # the same for a row, for eigenvalues
_TEAM = 8  # the same for singular values: more would only repeat the numbers of a rotation


def pitch_of(width: int, unit: int) -> int:
    """The elements from a row to the next: what a team reads of neighbouring rows is in different banks."""
    period = max(32 * 4 // unit, 1)
    return width + (_TEAM - width) % period


def real_bytes(dtype: Any) -> int:
    return dtype.itemsize // (2 if dtype.kind == "c" else 1)


def svd_fits(layouts: Sequence[Layout], dtypes: Sequence[Any], shared: int) -> bool:
    """Whether matrices are small, on a GPU with so much shared memory for a block."""
    rows, count = layouts[-1].shape[-2], prod(layouts[-1].shape[:-2])
    if svd_bytes(*_svd_sizes(layouts), dtypes[-1]) <= shared:
        return count > 1 or rows <= _SVD_ROWS[real_bytes(dtypes[-1])]
    return count >= _SVD_MANY and rows <= _SVD_MOST and layouts[-1].shape[-1] <= 4 * _SVD_MOST


def _svd_sizes(layouts: Sequence[Layout]) -> tuple[int, int, int, bool]:
    """Rows and columns of a matrix, the rows of vectors that are wanted, and whether any are."""
    *sides, a = layouts[2:]
    rows, columns = a.shape[-2:]
    return rows, columns, sides[1].shape[-2] if sides else rows, bool(sides)


def eigh_fits(layouts: Sequence[Layout], dtypes: Sequence[Any], shared: int) -> bool:
    """The same for eigenvalues."""
    *results, a = layouts
    n, vectors, dtype = a.shape[-1], len(results) > 2, dtypes[-1]
    if divided(a, dtype):
        return n <= _TEAM * _COLUMNS[-1] and divided_bytes(n, vectors, dtype) <= shared
    return eigh_bytes(n, vectors, dtype) <= min(shared, _BYTES)


def divided(a: Layout, dtype: Any) -> bool:
    """Whether the tridiagonal matrices are divided (`linalg_divide.cuh`), which is long for small ones."""
    return a.shape[-1] > _DIVIDED[prod(a.shape[:-2]) >= _MANY][real_bytes(dtype)]


def qr_fits(options: tuple[str], layouts: Sequence[Layout], dtypes: Sequence[Any], shared: int) -> bool:
    """The same for QR."""
    return qr_bytes(options, layouts, dtypes[0]) <= min(shared, _BYTES)


def qr_bytes(options: tuple[str], layouts: Sequence[Layout], dtype: Any) -> int:
    """The shared memory for the factors of a matrix."""
    n, m = layouts[-1].shape[-2:]
    wanted = _columns_of_q(options, layouts)
    return ((n + wanted) * pitch_of(m, dtype.itemsize) + min(m, n)) * dtype.itemsize + 32 * real_bytes(dtype)


def _columns_of_q(options: tuple[str], layouts: Sequence[Layout]) -> int:
    return 0 if options == ("raw",) or len(layouts) < 3 else layouts[1].shape[-2]


def svd_bytes(rows: int, columns: int, kept: int, vectors: bool, dtype: Any) -> int:
    """The shared memory for the singular values of a matrix."""
    pitch = pitch_of(columns + rows * vectors, dtype.itemsize)
    return (kept * (pitch + 1)) * dtype.itemsize + (rows + 32) * real_bytes(dtype) + 4 * kept


def eigh_bytes(n: int, vectors: bool, dtype: Any) -> int:
    """The shared memory for the eigenvalues of a matrix."""
    diagonals = 2 * n * -(-n // 32) + 32
    return (n * (n | 1) * (1 + vectors) + 3 * n) * dtype.itemsize + diagonals * real_bytes(dtype) + 4 * n


def divided_bytes(n: int, vectors: bool, dtype: Any) -> int:
    """The same where tridiagonal matrices are divided."""
    unit, pitch = real_bytes(dtype), n | 1
    reals = (n + n * dtype.itemsize // unit if vectors else n + 2) * pitch + 7 * n + 32
    return 6 * _TEAM * _columns(n) * dtype.itemsize + reals * unit + 20 * n


def _columns(n: int) -> int:
    return next(k for k in _COLUMNS if _TEAM * k >= n)


def source_of(*methods: str) -> str:
    """The text of methods, with what they need."""
    return source("linalg/common", "linalg/sums", *(f"linalg/{method}" for method in methods))


class Small(Routine):
    """A program with a block to each matrix `m` of a stack, whose elements are read from any layout."""

    def __init__(self, a: Layout, dtype: Any) -> None:
        super().__init__()
        self.need("multiply", (COMPLEX128,) * 3)
        self.dtype, self.count = dtype, prod(a.shape[:-2])
        self.many = self.count >= _MANY
        start = Layout(a.shape[:-2], a.strides[:-2], a.offset)
        down, across = (self.param(s) for s in a.strides[-2:])
        self.head = (
            f"  typedef {C_TYPE[dtype]} T;\n  extern __shared__ __align__(16) unsigned char shared[];\n"
            f"  for (long long m = blockIdx.x; m < {self.param(self.count)}; m += gridDim.x) {{\n"
            f"  {self.split('m', start.shape)}\n"
            f"  const T* from = a + ({self.offset(start, start.shape)});\n"
        )
        self._steps = down, across

    def at(self, row: str, column: str) -> str:
        """An element."""
        down, across = self._steps
        return f"from[{row} * {down} + {column} * {across}]"

    def made(
        self,
        methods: Sequence[str],
        body: str,
        threads: int,
        shared: int,
        pointers: Sequence[str],
        cells: int = 0,
    ) -> Program:
        """The program; each block has so many bytes for `cells` in global memory, if any."""
        blocks = min(self.count, _BLOCKS) if cells else self.count
        scratch = [(pointer(self.dtype, "away", ""), blocks * cells)] if cells else []
        body = f"{self.head}{body}\n  __syncthreads();\n  }}"
        self.entry(f"{methods[-1]}_block", body, blocks, threads, shared, _MOST_THREADS)
        return self.program(pointers, scratch, head=source_of(*methods))


def svd(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any], most: int = _BYTES) -> Program:
    """Values and `info`; and the vectors of rows, conjugated, and of columns.

    Where a block would share more than so many bytes, its matrix lies in global memory.
    """
    a, dtype = layouts[-1], dtypes[-1]
    text = Small(a, dtype)
    rows, columns, kept, vectors = _svd_sizes(layouts)
    team = _TEAM
    threads = min(_MOST_THREADS, max(32, -(-(rows + 1) // 2 * team // 32) * 32))
    r, c, k = (text.param(n) for n in (rows, columns, kept))
    width = pitch_of(columns + rows * vectors, dtype.itemsize)
    pitch, shared = text.param(width), svd_bytes(rows, columns, kept, vectors, dtype)
    away, cells = "(T*)nullptr", 0
    if shared > most:
        away, cells = f"away + blockIdx.x * {k} * {pitch}", kept * width * dtype.itemsize
        shared -= cells
    body = (
        f"  la::Singular<T, {team}> its(shared, {away}, {r}, {c}, {k}, {pitch}, {str(vectors).lower()});\n"
        f"  const bool failed = its.run([=](int r, int c) {{ return {text.at('r', 'c')}; }});\n"
        "  if (threadIdx.x == 0) la::tell(failed, info + m, told);\n  if (failed) continue;\n"
        f"  for (int i = threadIdx.x; i < {r}; i += blockDim.x) s[m * {r} + i] = its.values[its.order[i]];\n"
    )
    names = [pointer(dtypes[0], "s", ""), "int* info"]
    if vectors:
        names += [pointer(dtype, "left", ""), pointer(dtype, "right", "")]
        body += (
            f"  for (int i = threadIdx.x; i < {r} * {r}; i += blockDim.x)\n"
            f"    left[m * {r} * {r} + i] = its.cells[its.order[i / (int){r}] * its.pitch + {c} + i % (int){r}];\n"
            f"  for (int i = threadIdx.x; i < {k} * {c}; i += blockDim.x)\n"
            f"    right[m * {k} * {c} + i] = its.cells[its.order[i / (int){c}] * its.pitch + i % (int){c}];"
        )
    return text.made(["jacobi"], body, threads, shared, [*names, pointer(dtype, "a"), "int* told"], cells)


def eigh(options: tuple[str, bool], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Values and `info`; and the vectors as rows. By columns the argument is the conjugate of its matrix."""
    triangle = options[0]
    *results, a = layouts
    dtype, vectors, size = dtypes[-1], len(results) > 2, a.shape[-1]
    text, divides = Small(a, dtype), divided(a, dtype)
    team = _TEAM if divides else _LANES[text.many]
    threads = min(_MOST_THREADS, -(-size * team // 32) * 32)
    n = text.param(size)
    element = f"la::conj({text.at('r', 'c')})" if triangle == "L" else text.at("c", "r")
    given = f"[=](int r, int c) {{ return {element}; }}"
    if divides:
        methods: tuple[str, ...] = ("tridiagonal", "reduce", "divide")
        kind = f"Divided<T, {-(-size * team // threads)}, {_columns(size)}>"
        given += f", v + m * {n} * {n}" if vectors else ", (T*)nullptr"
        shared = divided_bytes(size, vectors, dtype)
    else:
        kind, methods, shared = f"Tridiagonal<T, {team}>", ("tridiagonal",), eigh_bytes(size, vectors, dtype)
    body = (
        f"  la::{kind} its(shared, {n}, {str(vectors).lower()});\n"
        f"  const bool failed = its.run({given});\n"
        "  if (threadIdx.x == 0) la::tell(failed, info + m, told);\n  if (failed) continue;\n"
        f"  for (int i = threadIdx.x; i < {n}; i += blockDim.x) w[m * {n} + i] = its.value(i);\n"
    )
    names = [pointer(dtypes[0], "w", ""), "int* info"]
    if vectors:
        names.append(pointer(dtype, "v", ""))
        body += (
            f"  for (int i = threadIdx.x; i < {n} * {n}; i += blockDim.x)\n"
            f"    v[m * {n} * {n} + i] = its.vector(i / (int){n}, i % (int){n});"
        )
    return text.made(methods, body, threads, shared, [*names, pointer(dtype, "a"), "int* told"])


def qr(options: tuple[str], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """All by columns: factors with `tau` in the mode "raw", or R, and with it Q."""
    raw = options == ("raw",)
    first, a = layouts[0], layouts[-1]
    dtype = dtypes[0]
    text = Small(a, dtype)
    columns, rows = a.shape[-2:]
    kept = _columns_of_q(options, layouts)
    team = _TEAMS[text.many]
    threads = min(_MOST_THREADS, max(32, -(-max(columns, kept) * team // 32) * 32))
    m, n, k, least, top = (text.param(size) for size in (rows, columns, kept, min(rows, columns), first.shape[-1]))
    pitch = text.param(pitch_of(rows, dtype.itemsize))
    body = (
        f"  la::Reflections<T, {team}> its(shared, {m}, {n}, {k}, {pitch});\n"
        f"  const auto scale = its.run([=](int r, int c) {{ return {text.at('r', 'c')}; }});\n"
    )
    names = [pointer(dtype, "out", "")]
    if raw:
        names.append(pointer(dtype, "tau", ""))
        body += (
            f"  for (int i = threadIdx.x; i < {m} * {n}; i += blockDim.x) {{\n"
            f"    const int c = i / (int){m}, r = i % (int){m};\n"
            f"    const T x = its.column(c)[r];\n    out[m * {m} * {n} + i] = r <= c ? la::times(x, scale) : x;\n  }}\n"
            f"  for (int i = threadIdx.x; i < {least}; i += blockDim.x) tau[m * {least} + i] = its.tau[i];\n"
        )
    else:
        body += (
            f"  for (int i = threadIdx.x; i < {top} * {n}; i += blockDim.x) {{\n"
            f"    const int c = i / (int){top}, r = i % (int){top};\n"
            f"    out[m * {top} * {n} + i] = r <= c ? la::times(its.column(c)[r], scale) : la::of_real<T>(0);\n  }}\n"
        )
    if kept:
        names.append(pointer(dtype, "q", ""))
        body += (
            f"  for (int i = threadIdx.x; i < {k} * {m}; i += blockDim.x)\n"
            f"    q[m * {k} * {m} + i] = its.column_of_q(i / (int){m})[i % (int){m}];"
        )
    return text.made(["qr"], body, threads, qr_bytes(options, layouts, dtype), [*names, pointer(dtype, "a")])
