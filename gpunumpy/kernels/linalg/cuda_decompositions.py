"""QR, singular values and eigenvalues on a GPU, of matrices as `linalg.decompositions` lays them out.

Small matrices are decomposed by the kernels of `cuda_small_decompositions` and `cuda_eig`, the others by cuSOLVER. In
the copies that cuSOLVER gets, zeros replace what is not finite.
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
from ..cuda.program import prepare_program, scratch_offsets
from ..cuda.program_builder import ProgramBuilder, pointer_declaration
from . import cuda_eig as block_eig
from . import cuda_small_decompositions as small
from .cuda_solvers import matrix_copy, with_failure_word


def qr(device: Device, options: tuple[str], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare QR of transposed matrices: packed factors and `tau` in the mode "raw", or R and perhaps Q, transposed."""
    raw = options == ("raw",)
    first, *others, a = layouts
    if small.is_small_qr(options, layouts, dtypes, device.attributes.shared_per_block):
        return prepare_program(device, small.qr(options, layouts, dtypes), len(layouts))
    (n, m), dtype, itemsize = a.shape[-2:], dtypes[0], dtypes[0].itemsize
    count, shorter = prod(a.shape[:-2]), min(m, n)
    q_columns = 0 if raw or not others else others[0].shape[-2]
    copy = prepare_program(device, matrix_copy(a, dtype), 2)
    factor = library.qr(device, m, n, q_columns, dtype)
    write_r = None if raw else prepare_program(device, upper_triangles(first, m, dtype), 2)
    (_, at_tau, at_info, at_work), total = scratch_offsets(
        0 if raw else count * m * n * itemsize, 0 if raw else count * shorter * itemsize, 4, factor.nbytes
    )

    def run(pointers: Sequence[Any]) -> None:
        result, *rest, matrix = pointers
        scratch = memory.allocate_fixed(device, total)
        packed, tau = (result, rest[0]) if raw else (scratch.ptr, scratch.ptr + at_tau)
        copy((packed, matrix))
        for k in range(count):
            q = rest[0] + k * q_columns * m * itemsize if q_columns else 0
            packed_matrix = packed + k * m * n * itemsize
            factor.run(packed_matrix, tau + k * shorter * itemsize, q, scratch.ptr + at_info, scratch.ptr + at_work)
        if write_r:
            write_r((result, packed))

    return run


def svd(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare singular values and `info`, and if they are outputs the adjoint of U, and Vh.

    `Xgesvdp` (polar decomposition) is fast. It runs in double precision, as in single precision it takes nearly as long
    and perturbs matrices that are merely ill-conditioned. In double precision it perturbs nearly singular matrices.
    When it reports a perturbation the input is already overwritten, so the matrix is kept and `gesvd` runs on the copy.
    The library reads the matrix transposed.
    """
    *sides, a = layouts[2:]
    shared = device.attributes.shared_per_block
    if small.is_small_svd(layouts, dtypes, shared):
        return with_failure_word(device, small.svd(options, layouts, dtypes, shared), len(layouts) + 1)
    (r, c), dtype, real = a.shape[-2:], dtypes[-1], dtypes[0]
    double = COMPLEX128 if dtype.kind == "c" else FLOAT64
    count, itemsize, is_single = prod(a.shape[:-2]), dtype.itemsize, dtype != double
    right_rows, vectors = sides[1].shape[-2] if sides else r, bool(sides)
    copy_finite, report = (
        prepare_program(device, finite_copy(a, dtype), 3),
        with_failure_word(device, failure_merge(count), 3),
    )
    to_double = prepare_program(device, conversion(r * c, double, dtype), 2)
    results = [(r, real, FLOAT64), (r * r, dtype, double), (right_rows * c, dtype, double)][: 3 if vectors else 1]
    from_double = [prepare_program(device, conversion(*result), 2) for result in results] if is_single else []
    square = Layout((r, r), (r, 1), 0)
    adjoint = prepare_program(device, conjugate_transpose(square, dtype), 2) if sides else None
    polar = library.svd_polar(device, c, r, double, right_rows > r)
    exact = library.svd(device, c, r, dtype, vectors, right_rows > r)
    matrix_bytes = r * c * itemsize
    (_, at_double, at_values, at_left, at_right, at_not_finite, at_work), total = scratch_offsets(
        *(count * matrix_bytes, r * c * double.itemsize, r * FLOAT64.itemsize, r * r * double.itemsize),
        right_rows * c * double.itemsize if is_single or not vectors else 0,
        *(4 * count, max(polar.nbytes, exact.nbytes)),
    )

    def run(pointers: Sequence[Any]) -> None:
        values, info, *outputs, matrix = pointers
        scratch = memory.allocate_fixed(device, total)
        copies, double_copy, not_finite, work = (scratch.ptr + at for at in (0, at_double, at_not_finite, at_work))
        double_outputs = scratch.ptr + at_values, scratch.ptr + at_left, scratch.ptr + at_right
        copy_finite((copies, not_finite, matrix))
        for k in range(count):
            matrix_k, values_k, info_k = copies + k * matrix_bytes, values + k * r * real.itemsize, info + 4 * k
            left, right = double_outputs[1:]
            if outputs:
                left, right = outputs[0] + k * r * r * itemsize, outputs[1] + k * right_rows * c * itemsize
            s, v, u = double_outputs if is_single else (values_k, left, right)
            to_double((double_copy, matrix_k))
            if polar.run(double_copy, s, u, v, info_k, work) == 0:
                for convert, pair in zip(from_double, ((values_k, s), (left, v), (right, u))):
                    convert(pair)
                continue
            exact.run(matrix_k, values_k, right, double_outputs[1], info_k, work)
            if adjoint:
                adjoint((left, double_outputs[1]))
        report((info, not_finite))

    return run


def eigh(device: Device, options: tuple[str, bool], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare eigenvalues and `info`, and eigenvectors as rows if they are an output.

    The argument is the conjugate of the Hermitian matrix, so that the library, by columns, reads the matrix itself.
    """
    triangle = options[0]
    *results, a = layouts
    if small.is_small_eigh(layouts, dtypes, device.attributes.shared_per_block):
        return with_failure_word(device, small.eigh(options, layouts, dtypes), len(layouts) + 1)
    n, dtype = a.shape[-1], dtypes[-1]
    count, itemsize, vectors = prod(a.shape[:-2]), dtype.itemsize, len(results) > 2
    fill = UPPER if triangle == "L" else LOWER
    copy_finite = prepare_program(
        device, finite_copy(a, dtype, "row >= column" if triangle == "L" else "row <= column"), 3
    )
    report = with_failure_word(device, failure_merge(count), 3)
    if count > 1:
        factor = library.eigh_stack(device, n, count, dtype, vectors, fill)
    else:
        factor = library.eigh(device, n, dtype, vectors, fill)
    (_, at_not_finite, at_work), total = scratch_offsets(
        0 if vectors else count * n * n * itemsize, 4 * count, factor.nbytes
    )

    def run(pointers: Sequence[Any]) -> None:
        values, info, *rows, matrix = pointers
        scratch = memory.allocate_fixed(device, total)
        copies, not_finite = rows[0] if rows else scratch.ptr, scratch.ptr + at_not_finite
        copy_finite((copies, not_finite, matrix))
        factor.run(copies, values, info, scratch.ptr + at_work)
        report((info, not_finite))

    return run


def eig(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare complex eigenvalues and `info` of transposed matrices, and eigenvectors as rows if they are an output."""
    *results, a = layouts
    if block_eig.is_small(layouts, dtypes):
        program = block_eig.eig(options, layouts, dtypes, device.attributes.shared_per_block)
        return with_failure_word(device, program, len(layouts) + 1)
    n, dtype, complex_dtype = a.shape[-1], dtypes[-1], dtypes[0]
    count, itemsize, vectors = prod(a.shape[:-2]), dtype.itemsize, len(results) > 2
    factor = library.eig(device, n, dtype, vectors)
    copy_finite, report = (
        prepare_program(device, finite_copy(a, dtype), 3),
        with_failure_word(device, failure_merge(count), 3),
    )
    is_packed = vectors and dtype.kind != "c"
    unpack = prepare_program(device, conjugate_pairs(n, count, complex_dtype, dtype), 3) if is_packed else None
    matrices_bytes = count * n * n * itemsize
    (_, at_packed, at_not_finite, at_work), total = scratch_offsets(
        matrices_bytes, matrices_bytes if is_packed else 0, 4 * count, factor.nbytes
    )

    def run(pointers: Sequence[Any]) -> None:
        values, info, *rows, matrix = pointers
        scratch = memory.allocate_fixed(device, total)
        not_finite = scratch.ptr + at_not_finite
        packed_vectors = scratch.ptr + at_packed if is_packed else rows[0] if rows else 0
        copy_finite((scratch.ptr, not_finite, matrix))
        for k in range(count):
            offset = k * n * n * itemsize
            factor.run(
                scratch.ptr + offset,
                values + k * n * complex_dtype.itemsize,
                packed_vectors and packed_vectors + offset,
                info + 4 * k,
                scratch.ptr + at_work,
            )
        if unpack:
            unpack((rows[0], values, packed_vectors))
        report((info, not_finite))

    return run


# --- the kernels beside the library ---------------------------------------------------------------------------------


def finite_copy(layout: Layout, dtype: Any, condition: str = "") -> Program:
    """Return a program that copies to C order, and reports for each matrix in `not_finite` if it has a NaN or infinity.

    Zeros replace what is not finite, as cuSOLVER does not return from some matrices with NaN, and elements where a
    condition on `row` and `column` is false, which are not checked either.
    """
    builder = ProgramBuilder()
    rank, count = len(layout.shape), prod(layout.shape)
    size, matrices = layout.shape[-1] * layout.shape[-2], prod(layout.shape[:-2])
    builder.add_loop_entry("clear", "k", matrices, builder.param(matrices), "not_finite[k] = 0;")
    is_kept = f"({condition.replace('row', f'x{rank - 2}').replace('column', f'x{rank - 1}')})" if condition else "true"
    finite = "isfinite(value.re) && isfinite(value.im)" if dtype.kind == "c" else "isfinite(value)"
    body = (
        f"{builder.unravel('i', layout.shape)}\n    out[i] = {C_TYPE[dtype]}{{}};\n    if ({is_kept}) {{\n"
        f"      const {C_TYPE[dtype]} value = x[{builder.offset(layout, layout.shape)}];\n"
        f"      if ({finite}) out[i] = value; else not_finite[i / {builder.param(size)}] = 1;\n    }}"
    )
    builder.add_loop_entry("copy", "i", count, builder.param(count), body)
    return builder.build([pointer_declaration(dtype, "out", ""), "int* not_finite", pointer_declaration(dtype, "x")])


def conversion(count: int, dtype: Any, source: Any) -> Program:
    """Return a program that converts `count` contiguous numbers of the dtype `source` to `dtype`."""
    builder = ProgramBuilder()
    body = f"const auto v = x[i]; out[i] = {builder.cast('v', source, dtype)};"
    builder.add_loop_entry("convert", "i", count, builder.param(count), body)
    return builder.build([pointer_declaration(dtype, "out", ""), pointer_declaration(source, "x")])


def upper_triangles(layout: Layout, rows: int, dtype: Any) -> Program:
    """Return a program that copies the upper triangles of matrices with `rows` rows; all are stored by columns.

    The copies have the layout given, and at most as many rows.
    """
    builder = ProgramBuilder()
    n, r_rows, count = builder.param(layout.shape[-2]), builder.param(layout.shape[-1]), prod(layout.shape)
    body = (
        f"const long long r = i % {r_rows}, c = i / {r_rows};\n"
        f"    out[i] = r <= c % {n} ? x[c * {builder.param(rows)} + r] : {C_TYPE[dtype]}{{}};"
    )
    builder.add_loop_entry("upper_triangles", "i", count, builder.param(count), body)
    return builder.build([pointer_declaration(dtype, "out", ""), pointer_declaration(dtype, "x")])


def failure_merge(count: int) -> Program:
    """Return a program that sets `info` to 1 for matrices that are not finite, and the failure word if any failed."""
    builder = ProgramBuilder()
    body = "if (not_finite[k]) info[k] = 1; if (info[k]) *failure_word = 1;"
    builder.add_loop_entry("report", "k", count, builder.param(count), body)
    return builder.build(["int* info", "const int* not_finite", "int* failure_word"])


def conjugate_transpose(layout: Layout, dtype: Any) -> Program:
    """Return a program that writes the conjugate transpose of one square matrix in C order."""
    builder = ProgramBuilder()
    n, count = builder.param(layout.shape[-1]), prod(layout.shape)
    value = "{v.re, -v.im}" if dtype.kind == "c" else "v"
    body = f"const auto v = x[i % {n} * {n} + i / {n}]; out[i] = {value};"
    builder.add_loop_entry("adjoint", "i", count, builder.param(count), body)
    return builder.build([pointer_declaration(dtype, "out", ""), pointer_declaration(dtype, "x")])


def conjugate_pairs(n: int, count: int, dtype: Any, real: Any) -> Program:
    """Return a program that unpacks eigenvectors of real matrices to complex ones.

    For a pair of conjugate eigenvalues the first vector holds the real parts, the second the imaginary parts.
    """
    builder = ProgramBuilder()
    size, elements = builder.param(n), count * n * n
    body = (
        f"const long long row = i / {size};\n    const auto sign = values[row].im;\n"
        f"    if (sign == 0) out[i] = {{x[i], 0}};\n"
        f"    else if (sign > 0) out[i] = {{x[i], x[i + {size}]}};\n"
        f"    else out[i] = {{x[i - {size}], -x[i]}};"
    )
    builder.add_loop_entry("pairs", "i", elements, builder.param(elements), body)
    return builder.build(
        [pointer_declaration(dtype, "out", ""), pointer_declaration(dtype, "values"), pointer_declaration(real, "x")]
    )
