"""Linear systems, inverses, determinants and Cholesky factors on a GPU.

Small matrices are factored by the kernels of `cuda_small`, larger ones by blocks (`cuda_lu`, `cuda_cholesky`) or by
cuSOLVER. These work in place, on a copy that a kernel makes of an argument in any layout, and store matrices by
columns: they read a copy in C order as the transposed matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from ...core.dtypes import C_TYPE, COMPLEX128
from ...core.graph.layout import Layout
from ...core.runtime import memory
from ...core.runtime.device import Device
from ...core.runtime.failure_words import solver_failure_word
from ...core.runtime.plan import Runner
from ...nvlib import cusolver
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.program import prepare_program, scratch_offsets
from ..cuda.program_builder import ProgramBuilder, pointer_declaration
from . import cuda_cholesky as blocked_cholesky
from . import cuda_lu as blocked_lu
from . import cuda_small as small

_TILE = 32  # rows and columns, as in copy.cuh
_MAX_ONE_BY_ONE = 2  # so few matrices are faster one after the other in cuSOLVER and cuBLAS than by blocks
_BLOCKED_SIDES = range(8, 513)  # counts of right-hand sides for which blocks are faster even for a single system


def cholesky(device: Device, options: tuple[bool, bool], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare Cholesky factors, upper in C order or lower in Fortran order, and `info`.

    Both are lower factors to the library, which reads matrices by columns.
    """
    upper, by_columns = options
    out, info, a = layouts
    n, dtype, count = out.shape[-1], dtypes[0], prod(info.shape)
    if small.is_small(n, dtype):
        return with_failure_word(device, small.cholesky(options, layouts, dtypes), 4)
    assert upper or by_columns, "lower factors of large matrices are in Fortran order"
    report = with_failure_word(device, failure_report(count), 2)
    copy = prepare_program(device, matrix_copy(a if upper else transposed(a), dtype, "r <= c"), 2)
    matrix_bytes = n * n * dtype.itemsize
    if count > _MAX_ONE_BY_ONE:
        factors = blocked_cholesky.prepare(device, n, count, dtype)

        def run_blocked(pointers: Sequence[Any]) -> None:
            result, failed, matrix = pointers
            copy((result, matrix))
            factors(result, failed)
            report((failed,))

        return run_blocked
    factor = cusolver.cholesky(device, n, dtype)

    def run(pointers: Sequence[Any]) -> None:
        result, failed, matrix = pointers
        scratch = memory.allocate_fixed(device, factor.nbytes)
        copy((result, matrix))
        for k in range(count):
            factor.run(result + k * matrix_bytes, failed + 4 * k, scratch.ptr)
        report((failed,))

    return run


def solve(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare solutions and `info`; each right-hand side's solution is a row of the output."""
    _, info, a, b = layouts
    if small.is_small(a.shape[-1], dtypes[0]):
        return with_failure_word(device, small.solve(options, layouts, dtypes), 5)
    if len(a.shape) == len(b.shape):
        b = transposed(b)
    else:
        b = Layout((*b.shape[:-1], 1, *b.shape[-1:]), (*b.strides[:-1], 0, *b.strides[-1:]), b.offset)
    system = _System(a.shape[-1], b.shape[-2], prod(info.shape), dtypes[0])
    return system.prepare(
        device, transposed(a), matrix_copy(b, dtypes[0], stride=system.stride, start=system.first_side)
    )


def inv(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare inverses and `info`: stored by columns, the transposed matrices give the transposed inverses."""
    out, info, a = layouts
    if small.is_small(a.shape[-1], dtypes[0]):
        return with_failure_word(device, small.inv(options, layouts, dtypes), 4)
    system = _System(a.shape[-1], a.shape[-1], prod(info.shape), dtypes[0])
    run = system.prepare(device, a, identity_matrices(out, dtypes[0], system.stride, system.first_side))
    return lambda pointers: run((*pointers, pointers[2]))


def with_failure_word(device: Device, program: Program, count: int) -> Runner:
    """Prepare a program over `count` pointers, and pass it the address of the failure word as the last one."""
    run, address = prepare_program(device, program, count), solver_failure_word(device)[1]
    return lambda pointers: run((*pointers, address))


def _solves_by_blocks(columns: int, count: int) -> bool:
    """Return True if blocks solve `count` upper systems of `columns` right-hand sides faster than one call for each."""
    return count > _MAX_ONE_BY_ONE if columns == 1 else count > 1 or columns in _BLOCKED_SIDES


class _System(NamedTuple):
    """Stack of `systems` linear systems of n equations, each with `columns` right-hand sides."""

    n: int
    columns: int
    systems: int
    dtype: Any

    @property
    def is_blocked(self) -> bool:
        """True if `cuda_lu` factors the matrices: then each one's right-hand sides follow it in memory."""
        return blocked_lu.fits_in_registers(self.n, self.dtype)

    @property
    def first_side(self) -> int:
        """The element at which the right-hand sides of the first matrix begin."""
        return self.n * self.n if self.is_blocked else 0

    @property
    def stride(self) -> int:
        """The elements from the right-hand sides of one matrix to those of the next."""
        return self.first_side + self.n * self.columns

    def prepare(self, device: Device, a: Layout, right_sides: Program) -> Runner:
        """Prepare the solution for the right-hand sides that a program writes.

        The runner takes the result, `info`, the matrices, and the argument of the program `right_sides`.
        """
        return self._by_blocks(device, a, right_sides) if self.is_blocked else self._one_by_one(device, a, right_sides)

    def _by_blocks(self, device: Device, a: Layout, right_sides: Program) -> Runner:
        n, columns, count, dtype = self
        stride, itemsize, at_sides = self.stride, dtype.itemsize, self.first_side * dtype.itemsize
        copy_matrices, write_sides = (
            prepare_program(device, matrix_copy(a, dtype, stride=stride), 2),
            prepare_program(device, right_sides, 2),
        )
        report = with_failure_word(device, failure_report(count), 2)
        factor_lu = blocked_lu.prepare(device, n, columns, count, dtype)
        by_blocks = _solves_by_blocks(columns, count)
        if by_blocks:
            substitute = blocked_lu.prepare_upper(device, n, columns, count, dtype)
        else:
            solve_one = cusolver.upper_solve(device, n, columns, dtype)
        copy_result = prepare_program(
            device, matrix_copy(Layout((count, columns, n), (stride, n, 1), self.first_side), dtype), 2
        )
        (_, at_pivots), total = scratch_offsets(count * stride * itemsize, count * n * 4)

        def run(pointers: Sequence[Any]) -> None:
            result, failed, matrices, sides = pointers
            scratch = memory.allocate_fixed(device, total)
            lu = scratch.ptr
            copy_matrices((lu, matrices))
            write_sides((lu, sides))
            factor_lu(lu, lu + at_pivots, failed)
            if by_blocks:
                substitute(lu)
            else:
                for k in range(count):
                    matrix_lu = lu + k * stride * itemsize
                    solve_one(matrix_lu, matrix_lu + at_sides)
            copy_result((result, lu))
            report((failed,))

        return run

    def _one_by_one(self, device: Device, a: Layout, right_sides: Program) -> Runner:
        n, columns, count, dtype = self
        itemsize = dtype.itemsize
        copy_matrices, write_sides = (
            prepare_program(device, matrix_copy(a, dtype), 2),
            prepare_program(device, right_sides, 2),
        )
        report = with_failure_word(device, failure_report(count), 2)
        factor, solution = cusolver.lu(device, n, dtype), cusolver.lu_solve(device, n, columns, dtype)
        (_, at_pivots, at_ignored, at_work), total = scratch_offsets(count * n * n * itemsize, n * 4, 4, factor.nbytes)

        def run(pointers: Sequence[Any]) -> None:
            result, failed, matrices, sides = pointers
            scratch = memory.allocate_fixed(device, total)
            lu, pivots, ignored, work = (scratch.ptr + at for at in (0, at_pivots, at_ignored, at_work))
            copy_matrices((lu, matrices))
            write_sides((result, sides))
            for k in range(count):
                matrix_lu = lu + k * n * n * itemsize
                factor.run(matrix_lu, pivots, failed + 4 * k, work)
                solution(matrix_lu, pivots, result + k * n * columns * itemsize, ignored)
            report((failed,))

        return run


def _lu(device: Device, n: int, count: int, dtype: Any) -> cusolver.Factoring:
    """Prepare LU factors of matrices in place: ``run(matrices, pivots, info, work)``."""
    if blocked_lu.fits_in_registers(n, dtype):
        factor_blocked = blocked_lu.prepare(device, n, 0, count, dtype)
        return cusolver.Factoring(lambda lu, pivots, info, work: factor_blocked(lu, pivots, info), 0)
    factor, matrix_bytes = cusolver.lu(device, n, dtype), n * n * dtype.itemsize

    def run(lu: int, pivots: int, info: int, work: int) -> None:
        for k in range(count):
            factor.run(lu + k * matrix_bytes, pivots + 4 * k * n, info + 4 * k, work)

    return cusolver.Factoring(run, factor.nbytes)


def slogdet(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare signs and logarithms of determinants, or determinants if there is one output."""
    a, dtype = layouts[-1], dtypes[0]
    n, count, itemsize = a.shape[-1], prod(a.shape[:-2]), dtype.itemsize
    if small.is_small(n, dtype):
        return prepare_program(device, small.slogdet(options, layouts, dtypes), len(layouts))
    factor = _lu(device, n, count, dtype)
    copy, write_results = (
        prepare_program(device, matrix_copy(a, dtype), 2),
        prepare_program(device, determinants_of_lu(n, count, dtypes[:-1]), len(layouts) + 1),
    )
    (_, at_pivots, at_ignored, at_work), total = scratch_offsets(
        count * n * n * itemsize, count * n * 4, count * 4, factor.nbytes
    )

    def run(pointers: Sequence[Any]) -> None:
        *results, matrices = pointers
        scratch = memory.allocate_fixed(device, total)
        lu, pivots, ignored, work = (scratch.ptr + at for at in (0, at_pivots, at_ignored, at_work))
        copy((lu, matrices))
        factor.run(lu, pivots, ignored, work)
        write_results((*results, lu, pivots))

    return run


# --- the kernels beside the library ---------------------------------------------------------------------------------


def transposed(layout: Layout) -> Layout:
    """Return the layout of the transposed matrices of a stack."""
    (*stack, rows, columns), (*stack_strides, row_stride, column_stride) = layout.shape, layout.strides
    return Layout((*stack, columns, rows), (*stack_strides, column_stride, row_stride), layout.offset)


def matrix_copy(layout: Layout, dtype: Any, condition: str = "true", stride: int = 0, start: int = 0) -> Program:
    """Return a program that copies matrices to C order, with zeros where a C++ condition on `r` and `c` is false.

    The first copy begins at element `start`, and each next one `stride` elements later; 0: without gaps.
    """
    builder = ProgramBuilder()
    builder.require_op("cast", (dtype, dtype))
    stack, (rows, columns), (row_stride, column_stride) = layout.shape[:-2], layout.shape[-2:], layout.strides[-2:]
    tiles = -(-rows // _TILE) * -(-columns // _TILE)
    tile_count, height, width = builder.param(tiles), builder.param(rows), builder.param(columns)
    origin = builder.offset(Layout(stack, layout.strides[:-2], layout.offset), stack)
    body = (
        f"  const long long m = blockIdx.x / {tile_count};\n  {builder.unravel('m', stack)}\n"
        f"  const {C_TYPE[dtype]}* from = x + ({origin});\n"
        f"  {C_TYPE[dtype]}* to = out + {builder.param(start)} + m * {builder.param(stride or rows * columns)};\n"
        f"  copy_tile(to, {height}, {width}, blockIdx.x % {tile_count},\n"
        f"    {'true' if abs(row_stride) < abs(column_stride) else 'false'},\n"
        f"    [=](long long r, long long c) {{\n"
        f"      return from[r * {builder.param(row_stride)} + c * {builder.param(column_stride)}]; }},\n"
        f"    [=](long long r, long long c) {{ return {condition}; }});"
    )
    builder.add_entry("copy", body, prod(stack) * tiles)
    parameters = [pointer_declaration(dtype, "out", ""), pointer_declaration(dtype, "x")]
    return builder.build(parameters, head=source("linalg/copy"))


def failure_report(count: int) -> Program:
    """Return a program that sets the failure word if any of the numbers in `info` is not zero."""
    builder = ProgramBuilder()
    builder.add_loop_entry("report", "m", count, builder.param(count), "if (info[m]) *failure_word = 1;")
    return builder.build(["const int* info", "int* failure_word"])


def identity_matrices(layout: Layout, dtype: Any, stride: int, start: int) -> Program:
    """Return a program that writes identity matrices where `matrix_copy` would; its argument `x` is not read."""
    builder = ProgramBuilder()
    builder.require_op("cast", (dtype, dtype))
    n, count = builder.param(layout.shape[-1]), prod(layout.shape)
    place = f"out[{builder.param(start)} + i / ({n} * {n}) * {builder.param(stride)} + i % ({n} * {n})]"
    body = f"{place} = {C_TYPE[dtype]}{{i / {n} % {n} == i % {n} ? 1.f : 0.f}};"
    builder.add_loop_entry("identity", "i", count, builder.param(count), body)
    return builder.build([pointer_declaration(dtype, "out", ""), pointer_declaration(dtype, "x")])


def determinants_of_lu(n: int, count: int, dtypes: Sequence[Any]) -> Program:
    """Return a program for what `slogdet` returns, from LU factors and pivots; a warp to each matrix."""
    builder = ProgramBuilder()
    pointers, write = small.determinant_outputs(dtypes)
    builder.require_op("multiply", (COMPLEX128,) * 3)
    size = builder.param(n)
    body = (
        f"const int lane = threadIdx.x % 32;\n    la::Determinant<{C_TYPE[dtypes[0]]}> determinant;\n"
        f"    for (long long k = lane; k < {size}; k += 32)\n"
        f"      determinant.multiply(lu[(m * {size} + k) * {size} + k], pivots[m * {size} + k] != k + 1);\n"
        f"    determinant.template combine<32>();\n    if (lane == 0) {write}"
    )
    builder.add_loop_entry("diagonals", "m", count, builder.param(count), body, 32)
    return builder.build(
        [*pointers, pointer_declaration(dtypes[0], "lu"), "const int* pivots"], head=source("linalg/common")
    )
