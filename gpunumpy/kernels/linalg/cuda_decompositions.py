"""QR, singular values and eigenvalues on a GPU, of matrices as `linalg.decompositions` lays them out.

Small matrices have kernels of our own (`cuda_decompositions_small`), the others cuSOLVER, which is handed nothing that
is not finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.dtypes import C_TYPE, COMPLEX128, FLOAT64
from ...core.graph.layout import Layout
from ...core.runtime import memory
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ...nvlib import cusolver_decompositions as library
from ...nvlib.cusolver import LOWER, UPPER
from ..codegen.program import Program
from ..cuda.program import pieces, prepared
from ..cuda.routine import Routine, pointer
from . import cuda_eig as general
from . import cuda_small_decompositions as small
from .cuda_solvers import copied, telling


def qr(device: Device, options: tuple[str], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """All by columns: factors with `tau` in the mode "raw", or R, and with it Q."""
    raw = options == ("raw",)
    first, *others, a = layouts
    if small.qr_fits(options, layouts, dtypes, device.attributes.shared_per_block):
        return prepared(device, small.qr(options, layouts, dtypes), len(layouts))
    (n, m), dtype, unit = a.shape[-2:], dtypes[0], dtypes[0].itemsize
    count, least = prod(a.shape[:-2]), min(m, n)
    wanted = 0 if raw or not others else others[0].shape[-2]
    copy = prepared(device, copied(a, dtype), 2)
    factor = library.qr(device, m, n, wanted, dtype)
    finish = None if raw else prepared(device, triangle(first, m, dtype), 2)
    (_, at_tau, at_info, at_work), total = pieces(
        0 if raw else count * m * n * unit, 0 if raw else count * least * unit, 4, factor.nbytes
    )

    def run(pointers: Sequence[Any]) -> None:
        result, *rest, matrix = pointers
        held = memory.allocate(device, total)
        packed, tau = (result, rest[0]) if raw else (held.ptr, held.ptr + at_tau)
        copy((packed, matrix))
        for k in range(count):
            q = rest[0] + k * wanted * m * unit if wanted else 0
            here = packed + k * m * n * unit
            factor.run(here, tau + k * least * unit, q, held.ptr + at_info, held.ptr + at_work)
        if finish:
            finish((result, packed))

    return run


def svd(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Values and `info`; and the vectors of rows, conjugated, and of columns: by columns the matrix is its transpose.

    The fast way is one of double precision; in single it takes nearly as long, and moves matrices that are merely
    ill-conditioned. Where it has moved a matrix, because it is all but singular, the exact one is gone.
    """
    *sides, a = layouts[2:]
    shared = device.attributes.shared_per_block
    if small.svd_fits(layouts, dtypes, shared):
        return telling(device, small.svd(options, layouts, dtypes, shared), len(layouts) + 1)
    (r, c), dtype, real = a.shape[-2:], dtypes[-1], dtypes[0]
    wide = COMPLEX128 if dtype.kind == "c" else FLOAT64
    count, unit, single = prod(a.shape[:-2]), dtype.itemsize, dtype != wide
    kept, vectors = sides[1].shape[-2] if sides else r, bool(sides)
    copy, tell = prepared(device, cleaned(a, dtype), 3), telling(device, failures(count), 3)
    widen = prepared(device, converted(r * c, wide, dtype), 2)
    casts = [(r, real, FLOAT64), (r * r, dtype, wide), (kept * c, dtype, wide)][: 3 if vectors else 1]
    narrow = [prepared(device, converted(*cast), 2) for cast in casts] if single else []
    one = Layout((r, r), (r, 1), 0)
    adjoint = prepared(device, conjugate_transpose(one, dtype), 2) if sides else None
    fast = library.svd_polar(device, c, r, wide, kept > r)
    exact = library.svd(device, c, r, dtype, vectors, kept > r)
    matrix_bytes = r * c * unit
    (_, at_again, at_values, at_left, at_right, at_bad, at_work), total = pieces(
        *(count * matrix_bytes, r * c * wide.itemsize, r * FLOAT64.itemsize, r * r * wide.itemsize),
        kept * c * wide.itemsize if single or not vectors else 0,
        *(4 * count, max(fast.nbytes, exact.nbytes)),
    )

    def run(pointers: Sequence[Any]) -> None:
        values, info, *made, matrix = pointers
        held = memory.allocate(device, total)
        here, again, bad, work = (held.ptr + at for at in (0, at_again, at_bad, at_work))
        spare = held.ptr + at_values, held.ptr + at_left, held.ptr + at_right
        copy((here, bad, matrix))
        for k in range(count):
            start, to, told = here + k * matrix_bytes, values + k * r * real.itemsize, info + 4 * k
            left, right = (made[0] + k * r * r * unit, made[1] + k * kept * c * unit) if made else spare[1:]
            s, v, u = spare if single else (to, left, right)
            widen((again, start))
            if fast.run(again, s, u, v, told, work) == 0:
                for cast, pair in zip(narrow, ((to, s), (left, v), (right, u))):
                    cast(pair)
                continue
            exact.run(start, to, right, spare[1], told, work)
            if adjoint:
                adjoint((left, spare[1]))
        tell((info, bad))

    return run


def eigh(device: Device, options: tuple[str, bool], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Values and `info`; and the vectors as rows. By columns the argument is the conjugate of its matrix."""
    triangle = options[0]
    *results, a = layouts
    if small.eigh_fits(layouts, dtypes, device.attributes.shared_per_block):
        return telling(device, small.eigh(options, layouts, dtypes), len(layouts) + 1)
    n, dtype = a.shape[-1], dtypes[-1]
    count, unit, vectors = prod(a.shape[:-2]), dtype.itemsize, len(results) > 2
    fill = UPPER if triangle == "L" else LOWER
    copy = prepared(device, cleaned(a, dtype, "row >= column" if triangle == "L" else "row <= column"), 3)
    tell = telling(device, failures(count), 3)
    if count > 1:
        factor = library.eigh_stack(device, n, count, dtype, vectors, fill)
    else:
        factor = library.eigh(device, n, dtype, vectors, fill)
    (_, at_bad, at_work), total = pieces(0 if vectors else count * n * n * unit, 4 * count, factor.nbytes)

    def run(pointers: Sequence[Any]) -> None:
        values, info, *rows, matrix = pointers
        held = memory.allocate(device, total)
        here, bad = rows[0] if rows else held.ptr, held.ptr + at_bad
        copy((here, bad, matrix))
        factor.run(here, values, info, held.ptr + at_work)
        tell((info, bad))

    return run


def eig(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Complex values and `info`; and the vectors as rows, from matrices by columns; large ones one after the other."""
    *results, a = layouts
    if general.fits(layouts, dtypes):
        program = general.eig(options, layouts, dtypes, device.attributes.shared_per_block)
        return telling(device, program, len(layouts) + 1)
    n, dtype, wide = a.shape[-1], dtypes[-1], dtypes[0]
    count, unit, vectors = prod(a.shape[:-2]), dtype.itemsize, len(results) > 2
    factor = library.eig(device, n, dtype, vectors)
    copy, tell = prepared(device, cleaned(a, dtype), 3), telling(device, failures(count), 3)
    paired = vectors and dtype.kind != "c"
    finish = prepared(device, conjugate_pairs(n, count, wide, dtype), 3) if paired else None
    size = count * n * n * unit
    (_, at_right, at_bad, at_work), total = pieces(size, size if paired else 0, 4 * count, factor.nbytes)

    def run(pointers: Sequence[Any]) -> None:
        values, info, *rows, matrix = pointers
        held = memory.allocate(device, total)
        bad, right = held.ptr + at_bad, held.ptr + at_right if paired else rows[0] if rows else 0
        copy((held.ptr, bad, matrix))
        for k in range(count):
            step = k * n * n * unit
            factor.run(
                held.ptr + step,
                values + k * n * wide.itemsize,
                right and right + step,
                info + 4 * k,
                held.ptr + at_work,
            )
        if finish:
            finish((rows[0], values, right))
        tell((info, bad))

    return run


# --- the kernels beside the library ---------------------------------------------------------------------------------


def cleaned(where: Layout, dtype: Any, kept: str = "") -> Program:
    """A copy in C order with zeros for what is not finite, or not `kept`; and of every matrix whether it had such.

    The library does not come back from some matrices with NaN.
    """
    text = Routine()
    rank, count = len(where.shape), prod(where.shape)
    size, matrices = where.shape[-1] * where.shape[-2], prod(where.shape[:-2])
    text.each("clear", "k", matrices, text.param(matrices), "bad[k] = 0;")
    condition = f"({kept.replace('row', f'x{rank - 2}').replace('column', f'x{rank - 1}')})" if kept else "true"
    finite = "isfinite(v.re) && isfinite(v.im)" if dtype.kind == "c" else "isfinite(v)"
    body = (
        f"{text.split('i', where.shape)}\n    out[i] = {C_TYPE[dtype]}{{}};\n    if ({condition}) {{\n"
        f"      const {C_TYPE[dtype]} v = x[{text.offset(where, where.shape)}];\n"
        f"      if ({finite}) out[i] = v; else bad[i / {text.param(size)}] = 1;\n    }}"
    )
    text.each("copy", "i", count, text.param(count), body)
    return text.program([pointer(dtype, "out", ""), "int* bad", pointer(dtype, "x")])


def converted(count: int, dtype: Any, have: Any) -> Program:
    """So many numbers that lie one after the other, as another dtype."""
    text = Routine()
    body = f"const auto v = x[i]; out[i] = {text.cast('v', have, dtype)};"
    text.each("convert", "i", count, text.param(count), body)
    return text.program([pointer(dtype, "out", ""), pointer(have, "x")])


def triangle(where: Layout, rows: int, dtype: Any) -> Program:
    """The upper triangles of matrices, by columns of so many rows; the result has fewer."""
    text = Routine()
    n, kept, count = text.param(where.shape[-2]), text.param(where.shape[-1]), prod(where.shape)
    body = (
        f"const long long r = i % {kept}, c = i / {kept};\n"
        f"    out[i] = r <= c % {n} ? x[c * {text.param(rows)} + r] : {C_TYPE[dtype]}{{}};"
    )
    text.each("triangle", "i", count, text.param(count), body)
    return text.program([pointer(dtype, "out", ""), pointer(dtype, "x")])


def failures(count: int) -> Program:
    """What failed because a matrix was not finite; and whether anything failed."""
    text = Routine()
    text.each("tell", "k", count, text.param(count), "if (bad[k]) info[k] = 1; if (info[k]) *told = 1;")
    return text.program(["int* info", "const int* bad", "int* told"])


def conjugate_transpose(where: Layout, dtype: Any) -> Program:
    """Of one square matrix in C order."""
    text = Routine()
    n, count = text.param(where.shape[-1]), prod(where.shape)
    value = "{v.re, -v.im}" if dtype.kind == "c" else "v"
    body = f"const auto v = x[i % {n} * {n} + i / {n}]; out[i] = {value};"
    text.each("adjoint", "i", count, text.param(count), body)
    return text.program([pointer(dtype, "out", ""), pointer(dtype, "x")])


def conjugate_pairs(n: int, count: int, dtype: Any, real: Any) -> Program:
    """Complex eigenvectors from real ones: of a conjugate pair these are real parts, and then imaginary parts."""
    text = Routine()
    size, total = text.param(n), count * n * n
    body = (
        f"const long long row = i / {size};\n    const auto sign = values[row].im;\n"
        f"    if (sign == 0) out[i] = {{x[i], 0}};\n"
        f"    else if (sign > 0) out[i] = {{x[i], x[i + {size}]}};\n"
        f"    else out[i] = {{x[i - {size}], -x[i]}};"
    )
    text.each("pairs", "i", total, text.param(total), body)
    return text.program([pointer(dtype, "out", ""), pointer(dtype, "values"), pointer(real, "x")])
