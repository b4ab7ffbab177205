"""Elementwise kernels with transposed inputs: a block takes a square of two loops.

An input that is contiguous along another loop than the innermost one is read along that loop into shared memory, and
read from there along the innermost loop. So every access to global memory is contiguous.
"""

from __future__ import annotations

from ...core.dtypes import C_TYPE
from ...core.schedule.kernel import Load
from .emit import Emitter, Tile, is_vector_access
from .shape import accesses, ceil_div, product, unravel
from .unit import Unit

_SIDE = 32  # points along each side of a square
_THREADS = 128

# Lanes of a vector at most. With four, the threads of a warp access different banks of a square along both loops.
_MAX_LANES = 4

# Bytes of shared memory that the squares of a block may take: every device has enough of them for several blocks.
_SHARED_BYTES = 1 << 15


def find_transposed_loads(unit: Unit) -> tuple[int, list[int]]:
    """Return the loop along which most transposed inputs are contiguous, and the values of their loads.

    The list is empty if direct access is as good: without transposed inputs, with short loops or with a region.
    """
    kernel = unit.kernel
    lane = len(kernel.shape) - 1
    best: tuple[int, list[int]] = (-1, [])
    if kernel.region is not None or lane < 1:
        return best
    for d in range(lane):
        loads: list[int] = []
        bytes_left = _SHARED_BYTES
        for n, instr in enumerate(kernel.body.instructions):
            if isinstance(instr, Load) and instr.at.coef[d] == 1 and abs(instr.at.coef[lane]) > 1:
                bytes_left -= _SIDE * (_SIDE + 1) * kernel.args[instr.arg].dtype.itemsize
                if bytes_left >= 0:
                    loads.append(n)
        if len(loads) > len(best[1]) and kernel.shape[d] >= _SIDE // 2 and kernel.shape[lane] >= _SIDE // 2:
            best = (d, loads)
    return best


def emit_transposed(unit: Unit, across: int, loads: list[int]) -> None:
    """Emit a kernel over squares of loop `across` and the innermost loop. `loads` are contiguous along `across`."""
    kernel, body = unit.kernel, unit.kernel.body
    lane = len(kernel.shape) - 1
    others = [d for d in range(lane) if d != across]
    names = tuple(f"i{d}" for d in range(len(kernel.shape)))
    squares_down, squares_across = ceil_div(kernel.shape[across], _SIDE), ceil_div(kernel.shape[lane], _SIDE)
    width = _width(unit, across, loads)
    vectors = _SIDE // width
    lines = _THREADS // vectors
    text = unit.entry(product([kernel.shape[d] for d in others]) * squares_down * squares_across, _THREADS)
    text.line(f"const int x = threadIdx.x % {vectors} * {width}, y = threadIdx.x / {vectors};")
    text.line(f"const Int band = {unit.quotient('Int(blockIdx.x)', squares_across, 'squares_across')};")
    text.line(
        f"const Int column0 = (Int(blockIdx.x) - band * {unit.param(squares_across, 'squares_across')}) * {_SIDE};"
    )
    text.line(f"const Int plane = {unit.quotient('band', squares_down, 'squares_down')};")
    text.line(f"const Int row0 = (band - plane * {unit.param(squares_down, 'squares_down')}) * {_SIDE};")
    for line in unravel(unit, "plane", others, [names[d] for d in others]):
        text.line(line)
    text.line(f"const bool whole = row0 + {_SIDE} <= {unit.size(across)} && column0 + {_SIDE} <= {unit.size(lane)};")

    line = f"y + u * {lines}"

    def tile(along: int, other: int, row: str, column: str) -> Tile:
        """Return the tile of vectors along loop `along`, one of the two."""
        index_lines = (
            f"const Int i{across} = row0 + {row};",
            f"const Int i{lane} = column0 + {column};",
            f"const Int left = i{other} < {unit.size(other)} ? {unit.size(along)} - i{along} : 0;",
        )
        return Tile(names, along, width, _SIDE // lines, index_lines, "whole")

    emitter = Emitter(unit, text, body, tile(lane, across, line, "x"))
    source = Emitter(unit, text, body, tile(across, lane, "x", line), "s")
    for n in loads:
        text.line(f"__shared__ {C_TYPE[emitter.dtypes[n]]} square{n}[{_SIDE}][{_SIDE + 1}];")

    def fill_squares() -> None:
        for n in loads:
            text.line(f"square{n}[{line}][x + v] = {source.known[n]};")

    source.run(loads, consume=fill_squares)
    text.line("__syncthreads();")
    emitter.known.update({n: f"square{n}[x + v][{line}]" for n in loads})
    emitter.run([], stores=body.stores)


def _width(unit: Unit, across: int, loads: list[int]) -> int:
    """Return the lanes of the vectors along both loops: 1 unless every access can be made by whole vectors."""
    lane = len(unit.kernel.shape) - 1
    transposed = [(instr.arg, instr.at) for n in loads if isinstance(instr := unit.kernel.body.instructions[n], Load)]
    walks = [(*access, across if access in transposed else lane) for access in accesses(unit)]
    walks = [(arg, at, along) for arg, at, along in walks if at.coef[along] != 0]
    width = _MAX_LANES
    while width > 1 and any(
        width * unit.kernel.args[arg].dtype.itemsize > 16 or not is_vector_access(unit, arg, at, along, width)
        for arg, at, along in walks
    ):
        width //= 2
    return width
