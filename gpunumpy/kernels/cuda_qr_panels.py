"""QR of a matrix of some hundred rows on a GPU: a block factors a few columns in shared memory, products do the rest.

Of the reflections of a panel the product is 1 - V T V^H (R. Schreiber and C. Van Loan, "A Storage-Efficient WY
Representation for Products of Householder Transformations", 1989), which is applied to the columns after it by three
matrix products, and to those of Q in the opposite order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.device import Device
from ..core.dtypes import C_TYPE, COMPLEX128
from ..core.layout import Layout
from ..nvlib.cublas_columns import Columns
from .codegen.program import Program
from .cuda_decompositions_small import pitch_of, real_bytes, source_of
from .cuda_linalg_solve import copied
from .cuda_program import Prepared, pieces, prepared
from .cuda_routine import Routine

_WIDTHS = (64, 32)  # of a panel, in columns
_LEAST_WIDTH = 32
_BYTES = 160 << 10  # of shared memory that a block takes at most
_THREADS = 1024


class Panels(NamedTuple):
    """How a matrix is cut."""

    rows: int
    columns: int
    width: int

    def starts(self) -> range:
        return range(0, min(self.rows, self.columns), self.width)


def panels(rows: int, columns: int, dtype: Any, shared: int) -> Panels | None:
    """The widest panels that fit in shared memory; None where the matrix is too high."""
    for width in _WIDTHS:
        if panel_bytes(rows, width, dtype) <= min(shared, _BYTES):
            return Panels(rows, columns, width)
    return None


def panel_bytes(rows: int, width: int, dtype: Any) -> int:
    """The shared memory that a panel takes."""
    return (width * pitch_of(rows, dtype.itemsize, 8) + width + 2 * width * width) * dtype.itemsize + 32 * real_bytes(
        dtype
    )


def panel(cut: Panels, dtype: Any) -> Program:
    """Factor a panel over (matrix, V, T, rows, width): by columns, the first two of as many rows as the matrix has."""
    text = Routine()
    text.need("multiply", (COMPLEX128,) * 3)
    step, pitch = text.param(cut.rows), text.param(pitch_of(cut.rows, dtype.itemsize, 8))
    body = (
        f"  typedef {C_TYPE[dtype]} T;\n  extern __shared__ __align__(16) unsigned char shared[];\n"
        f"  const int m = rows, n = width, pitch = {pitch};\n"
        f"  T* t = (T*)shared;\n  T* products = t + n * n;\n"
        f"  la::Reflections<T, 32> its(products + n * n, m, n, 0, pitch);\n"
        f"  const auto scale = its.run([=](int c, int r) {{ return a[c * {step} + r]; }});\n"
        "  its.gather(t, products);\n"
        "  for (int i = threadIdx.x; i < m * n; i += blockDim.x) {\n    const int c = i / m, r = i % m;\n"
        "    const T x = its.column(c)[r];\n"
        f"    if (r <= c) a[c * {step} + r] = la::times(x, scale);\n"
        f"    v[c * {step} + r] = r < c ? la::of_real<T>(0) : r == c ? la::of_real<T>(1) : x;\n  }}\n"
        "  for (int i = threadIdx.x; i < n * n; i += blockDim.x) all[i] = t[i];"
    )
    text.entry("panel", body, 1, _THREADS, panel_bytes(cut.rows, cut.width, dtype))
    kind = C_TYPE[dtype]
    words = [f"{kind}* a", f"{kind}* v", f"{kind}* all", "long long rows", "long long width"]
    return text.program(words, head=source_of("qr"))


def identity(rows: int, columns: int, dtype: Any) -> Program:
    """The first columns of an identity, by columns."""
    text = Routine()
    text.need("multiply", (COMPLEX128,) * 3)
    m, count = text.param(rows), rows * columns
    body = f"out[i] = la::of_real<{C_TYPE[dtype]}>(i / {m} == i % {m});"
    text.each("identity", "i", count, text.param(count), body)
    return text.program([f"{C_TYPE[dtype]}* out"], head=source_of("qr"))


def qr(device: Device, cut: Panels, a: Layout, wanted: int, dtype: Any) -> tuple[Prepared, int]:
    """What factors a matrix, over (factors by columns, Q by columns, matrix, scratch); and the bytes of its scratch."""
    (m, n, width), unit = cut, dtype.itemsize
    copy, factor = prepared(device, copied(a, dtype), 2), prepared(device, panel(cut, dtype), 5)
    start = prepared(device, identity(m, wanted, dtype), 1) if wanted else None
    columns = Columns(device, dtype)
    starts, most = cut.starts(), max(n, wanted)
    (at_v, at_t, at_one, at_two), total = pieces(
        m * n * unit, len(starts) * width * width * unit, width * most * unit, width * most * unit
    )

    def run(pointers: Sequence[Any]) -> None:
        packed, q, matrix, scratch = pointers
        one, two = scratch + at_one, scratch + at_two

        def reflect(k: int, target: int, count: int, adjoint: bool) -> None:
            """Multiply `count` columns of m - k rows by the reflections of a panel, or by their adjoint."""
            wide = min(width, min(m, n) - k)
            v, t = scratch + at_v + (k * m + k) * unit, scratch + at_t + k * width * unit
            columns.product((True, False), (wide, count, m - k), (v, m), (target, m), (one, wide))
            columns.product((adjoint, False), (wide, count, wide), (t, wide), (one, wide), (two, wide))
            columns.product((False, False), (m - k, count, wide), (v, m), (two, wide), (target, m), subtract=True)

        copy((packed, matrix))
        for k in starts:
            wide = min(width, min(m, n) - k)
            here = (k * m + k) * unit
            factor((packed + here, scratch + at_v + here, scratch + at_t + k * width * unit, m - k, wide))
            if k + wide < n:
                reflect(k, packed + ((k + wide) * m + k) * unit, n - k - wide, True)
        if start:
            start((q,))
            for k in reversed(starts):
                reflect(k, q + (k * m + k) * unit, wanted - k, False)

    return run, total
