"""Systems, inverses, determinants and Cholesky factors on a GPU.

Small matrices are factored by kernels of our own (`cuda_linalg_small`), larger ones by blocks (`cuda_linalg_lu`) or by
cuSOLVER. What a library works in place on is a copy, by columns, that a kernel makes of an argument in any
layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from ...core.dtypes import C_TYPE, COMPLEX128
from ...core.graph.layout import Layout
from ...core.runtime import memory
from ...core.runtime.device import Device
from ...core.runtime.failure_words import failure_word
from ...core.runtime.plan import Runner
from ...nvlib import cusolver
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.program import pieces, prepared
from ..cuda.routine import Routine, pointer
from . import cuda_cholesky as in_blocks
from . import cuda_lu as blocked
from . import cuda_small as small

_TILE = 32  # as in linalg_copy.cuh
_FEW = 2  # matrices, which cuSOLVER and cuBLAS are quicker with one after the other
_SIDES = range(8, 513)  # right-hand sides of one system for which blocks are quicker all the same


def cholesky(device: Device, options: tuple[bool, bool], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Upper factors, or lower ones by columns, and `info`: to the library, lower factors all of them."""
    upper, by_columns = options
    out, info, a = layouts
    n, dtype, count = out.shape[-1], dtypes[0], prod(info.shape)
    if small.fits(n, dtype):
        return telling(device, small.cholesky(options, layouts, dtypes), 4)
    assert upper or by_columns, "lower factors of large matrices come by columns"
    tell = telling(device, told(count), 2)
    copy = prepared(device, copied(a if upper else turned(a), dtype, "r <= c"), 2)
    step = n * n * dtype.itemsize
    if count > _FEW:
        factors = in_blocks.prepare(device, n, count, dtype)

        def run_blocks(pointers: Sequence[Any]) -> None:
            result, failed, matrix = pointers
            copy((result, matrix))
            factors(result, failed)
            tell((failed,))

        return run_blocks
    factor = cusolver.cholesky(device, n, dtype)

    def run(pointers: Sequence[Any]) -> None:
        result, failed, matrix = pointers
        held = memory.allocate(device, factor.nbytes)
        copy((result, matrix))
        for k in range(count):
            factor.run(result + k * step, failed + 4 * k, held.ptr)
        tell((failed,))

    return run


def solve(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Solutions and `info`; those of several right-hand sides one after the other in memory."""
    _, info, a, b = layouts
    if small.fits(a.shape[-1], dtypes[0]):
        return telling(device, small.solve(options, layouts, dtypes), 5)
    if len(a.shape) == len(b.shape):
        b = turned(b)
    else:
        b = Layout((*b.shape[:-1], 1, *b.shape[-1:]), (*b.strides[:-1], 0, *b.strides[-1:]), b.offset)
    system = _System(a.shape[-1], b.shape[-2], prod(info.shape), dtypes[0])
    return system.prepared(device, turned(a), copied(b, dtypes[0], step=system.step, start=system.start))


def inv(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Inverses and `info`; by columns, the inverses of the transposed matrices."""
    out, info, a = layouts
    if small.fits(a.shape[-1], dtypes[0]):
        return telling(device, small.inv(options, layouts, dtypes), 4)
    system = _System(a.shape[-1], a.shape[-1], prod(info.shape), dtypes[0])
    run = system.prepared(device, a, identities(out, dtypes[0], system.step, system.start))
    return lambda pointers: run((*pointers, pointers[2]))


def telling(device: Device, program: Program, count: int) -> Runner:
    """A program whose last pointer is to the word for failures."""
    run, word = prepared(device, program, count), failure_word(device)[1]
    return lambda pointers: run((*pointers, word))


def _solved_by_blocks(columns: int, count: int) -> bool:
    """Whether so many upper systems are solved sooner by blocks of all than one after the other."""
    return count > _FEW if columns == 1 else count > 1 or columns in _SIDES


class _System(NamedTuple):
    """A stack of systems, of n equations each, for so many right-hand sides."""

    n: int
    columns: int
    systems: int
    dtype: Any

    @property
    def blocked(self) -> bool:
        """Whether they are solved by blocks: then the sides come after their matrix."""
        return blocked.fits(self.n, self.dtype)

    @property
    def start(self) -> int:
        """The elements of a matrix, which are before the first sides."""
        return self.n * self.n if self.blocked else 0

    @property
    def step(self) -> int:
        """From the sides of a matrix to those of the next one."""
        return self.start + self.n * self.columns

    def prepared(self, device: Device, a: Layout, begin: Program) -> Runner:
        """Solve for what the program `begin` writes; over the result, `info`, the matrices and the sides."""
        return self._by_blocks(device, a, begin) if self.blocked else self._one_by_one(device, a, begin)

    def _by_blocks(self, device: Device, a: Layout, begin: Program) -> Runner:
        n, columns, count, dtype = self
        step, unit, at_sides = self.step, dtype.itemsize, self.start * dtype.itemsize
        copy, start = prepared(device, copied(a, dtype, step=step), 2), prepared(device, begin, 2)
        tell = telling(device, told(count), 2)
        factor = blocked.prepare(device, n, columns, count, dtype)
        by_blocks = _solved_by_blocks(columns, count)
        if by_blocks:
            substitute = blocked.prepare_upper(device, n, columns, count, dtype)
        else:
            alone = cusolver.upper_solve(device, n, columns, dtype)
        finish = prepared(device, copied(Layout((count, columns, n), (step, n, 1), self.start), dtype), 2)
        (_, at_pivots), total = pieces(count * step * unit, count * n * 4)

        def run(pointers: Sequence[Any]) -> None:
            result, failed, matrix, sides = pointers
            held = memory.allocate(device, total)
            lu = held.ptr
            copy((lu, matrix))
            start((lu, sides))
            factor(lu, lu + at_pivots, failed)
            if by_blocks:
                substitute(lu)
            else:
                for k in range(count):
                    one = lu + k * step * unit
                    alone(one, one + at_sides)
            finish((result, lu))
            tell((failed,))

        return run

    def _one_by_one(self, device: Device, a: Layout, begin: Program) -> Runner:
        n, columns, count, dtype = self
        unit = dtype.itemsize
        copy, start = prepared(device, copied(a, dtype), 2), prepared(device, begin, 2)
        tell = telling(device, told(count), 2)
        factor, solution = cusolver.lu(device, n, dtype), cusolver.lu_solve(device, n, columns, dtype)
        (_, at_pivots, at_done, at_work), total = pieces(count * n * n * unit, n * 4, 4, factor.nbytes)

        def run(pointers: Sequence[Any]) -> None:
            result, failed, matrix, sides = pointers
            held = memory.allocate(device, total)
            lu, pivots, done, work = held.ptr, held.ptr + at_pivots, held.ptr + at_done, held.ptr + at_work
            copy((lu, matrix))
            start((result, sides))
            for k in range(count):
                one = lu + k * n * n * unit
                factor.run(one, pivots, failed + 4 * k, work)
                solution(one, pivots, result + k * n * columns * unit, done)
            tell((failed,))

        return run


def _lu(device: Device, n: int, count: int, dtype: Any) -> cusolver.Factoring:
    """Factor matrices where they are: ``run(matrices, pivots, infos, work)``."""
    if blocked.fits(n, dtype):
        factors = blocked.prepare(device, n, 0, count, dtype)
        return cusolver.Factoring(lambda lu, pivots, infos, work: factors(lu, pivots, infos), 0)
    factor, step = cusolver.lu(device, n, dtype), n * n * dtype.itemsize

    def run(lu: int, pivots: int, infos: int, work: int) -> None:
        for k in range(count):
            factor.run(lu + k * step, pivots + 4 * k * n, infos + 4 * k, work)

    return cusolver.Factoring(run, factor.nbytes)


def slogdet(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """The signs of determinants and the logarithms of their sizes; or the determinants, where there is one result."""
    a, dtype = layouts[-1], dtypes[0]
    n, count, unit = a.shape[-1], prod(a.shape[:-2]), dtype.itemsize
    if small.fits(n, dtype):
        return prepared(device, small.slogdet(options, layouts, dtypes), len(layouts))
    factor = _lu(device, n, count, dtype)
    copy, finish = (
        prepared(device, copied(a, dtype), 2),
        prepared(device, diagonals(n, count, dtypes[:-1]), len(layouts) + 1),
    )
    (_, at_pivots, at_done, at_work), total = pieces(count * n * n * unit, count * n * 4, count * 4, factor.nbytes)

    def run(pointers: Sequence[Any]) -> None:
        *results, matrix = pointers
        held = memory.allocate(device, total)
        lu, pivots, done, work = held.ptr, held.ptr + at_pivots, held.ptr + at_done, held.ptr + at_work
        copy((lu, matrix))
        factor.run(lu, pivots, done, work)
        finish((*results, lu, pivots))

    return run


# --- the kernels beside the library ---------------------------------------------------------------------------------


def turned(where: Layout) -> Layout:
    """The transposed matrices of a stack."""
    (*stack, rows, columns), (*steps, down, across) = where.shape, where.strides
    return Layout((*stack, columns, rows), (*steps, across, down), where.offset)


def copied(where: Layout, dtype: Any, kept: str = "true", step: int = 0, start: int = 0) -> Program:
    """A copy of matrices in C order, with zeros instead of what is not `kept`: a condition on `r` and `c`.

    The first one begins at `start`, and each `step` elements after the one before; one follows the other if that is 0.
    """
    text = Routine()
    text.need("cast", (dtype, dtype))
    stack, (rows, columns), (down, across) = where.shape[:-2], where.shape[-2:], where.strides[-2:]
    tiles = -(-rows // _TILE) * -(-columns // _TILE)
    each, height, width = text.param(tiles), text.param(rows), text.param(columns)
    origin = text.offset(Layout(stack, where.strides[:-2], where.offset), stack)
    body = (
        f"  const long long m = blockIdx.x / {each};\n  {text.split('m', stack)}\n"
        f"  const {C_TYPE[dtype]}* from = x + ({origin});\n"
        f"  {C_TYPE[dtype]}* to = out + {text.param(start)} + m * {text.param(step or rows * columns)};\n"
        f"  copy_tile(to, {height}, {width}, blockIdx.x % {each},\n"
        f"    {'true' if abs(down) < abs(across) else 'false'},\n"
        f"    [=](long long r, long long c) {{ return from[r * {text.param(down)} + c * {text.param(across)}]; }},\n"
        f"    [=](long long r, long long c) {{ return {kept}; }});"
    )
    text.entry("copy", body, prod(stack) * tiles)
    names = [pointer(dtype, "out", ""), pointer(dtype, "x")]
    return text.program(names, head=source("linalg/copy"))


def told(count: int) -> Program:
    """What `info` says of so many matrices, in a word for all."""
    text = Routine()
    text.each("tell", "m", count, text.param(count), "if (info[m]) *told = 1;")
    return text.program(["const int* info", "int* told"])


def identities(where: Layout, dtype: Any, step: int, start: int) -> Program:
    """Identity matrices in C order, where `copied` has them; there is an argument that is not looked at."""
    text = Routine()
    text.need("cast", (dtype, dtype))
    n, count = text.param(where.shape[-1]), prod(where.shape)
    place = f"out[{text.param(start)} + i / ({n} * {n}) * {text.param(step)} + i % ({n} * {n})]"
    body = f"{place} = {C_TYPE[dtype]}{{i / {n} % {n} == i % {n} ? 1.f : 0.f}};"
    text.each("identity", "i", count, text.param(count), body)
    return text.program([pointer(dtype, "out", ""), pointer(dtype, "x")])


def diagonals(n: int, count: int, dtypes: Sequence[Any]) -> Program:
    """What `slogdet` gives, from the diagonals of LU factors and the exchanges of rows; a warp to each matrix."""
    text = Routine()
    pointers, store = small.determinants(dtypes)
    text.need("multiply", (COMPLEX128,) * 3)
    size = text.param(n)
    body = (
        f"const int lane = threadIdx.x % 32;\n    la::Determinant<{C_TYPE[dtypes[0]]}> found;\n"
        f"    for (long long k = lane; k < {size}; k += 32)\n"
        f"      found.take(lu[(m * {size} + k) * {size} + k], pivots[m * {size} + k] != k + 1);\n"
        f"    found.template gather<32>();\n    if (lane == 0) {store}"
    )
    text.each("diagonals", "m", count, text.param(count), body, 32)
    return text.program([*pointers, pointer(dtypes[0], "lu"), "const int* pivots"], head=source("linalg/common"))
