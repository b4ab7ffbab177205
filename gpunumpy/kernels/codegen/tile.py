"""Elementwise kernels with transposed inputs: a block takes a square of the two loops that matter.

An input whose neighbours lie along another loop than the innermost one is read along that loop, into shared memory,
and taken from there along the innermost one; so every access to global memory is of neighbours.
"""

from __future__ import annotations

from ...core.dtypes import C_TYPE
from ...core.schedule.kernel import Load
from .emit import Emitter, Tile, packs
from .shape import accesses, ceil_div, product, unravel
from .unit import Unit

_SIDE = 32
_THREADS = 128

# The widest vectors. With four lanes the threads of a warp are at different banks of a square, whichever way they
# walk it.
_LANES = 4

# Bytes of shared memory that the squares may take: what every device gives, with room for several blocks.
_SHARED = 1 << 15


def transposed(unit: Unit) -> tuple[int, list[int]]:
    """The loop along which the most inputs lie that do not lie along the innermost one, and those inputs' values.

    There are none if a direct access is as good: short loops, or a region.
    """
    kernel = unit.kernel
    lane = len(kernel.shape) - 1
    best: tuple[int, list[int]] = (-1, [])
    if kernel.region is not None or lane < 1 or kernel.shape[lane] < _SIDE // 2:
        return best
    for d in range(lane):
        found: list[int] = []
        room = _SHARED
        for n, instr in enumerate(kernel.body.instrs):
            if isinstance(instr, Load) and instr.at.coef[d] == 1 and abs(instr.at.coef[lane]) > 1:
                room -= _SIDE * (_SIDE + 1) * kernel.args[instr.arg].dtype.itemsize
                if room >= 0:
                    found.append(n)
        if kernel.shape[d] >= _SIDE // 2 and len(found) > len(best[1]):
            best = (d, found)
    return best


def emit_tiles(unit: Unit, across: int, loads: list[int]) -> None:
    """Emit squares of loop `across` and the innermost one; `loads` lie along `across`."""
    kernel, body = unit.kernel, unit.kernel.body
    lane = len(kernel.shape) - 1
    others = [d for d in range(lane) if d != across]
    names = tuple(f"i{d}" for d in range(len(kernel.shape)))
    high, wide = ceil_div(kernel.shape[across], _SIDE), ceil_div(kernel.shape[lane], _SIDE)
    width = _width(unit, across, loads)
    vectors = _SIDE // width
    lines = _THREADS // vectors
    text = unit.entry(product([kernel.shape[d] for d in others]) * high * wide, _THREADS)
    text.line(f"const int x = threadIdx.x % {vectors} * {width}, y = threadIdx.x / {vectors};")
    text.line(f"const Int band = {unit.quotient('Int(blockIdx.x)', wide, 'wide')};")
    text.line(f"const Int left0 = (Int(blockIdx.x) - band * {unit.param(wide, 'wide')}) * {_SIDE};")
    text.line(f"const Int plane = {unit.quotient('band', high, 'high')};")
    text.line(f"const Int top0 = (band - plane * {unit.param(high, 'high')}) * {_SIDE};")
    for line in unravel(unit, "plane", others, [names[d] for d in others]):
        text.line(line)
    text.line(f"const bool whole = top0 + {_SIDE} <= {unit.size(across)} && left0 + {_SIDE} <= {unit.size(lane)};")

    line = f"y + u * {lines}"

    def tile(along: int, other: int, row: str, column: str) -> Tile:
        """Vectors along one of the two loops."""
        place = (
            f"const Int i{across} = top0 + {row};",
            f"const Int i{lane} = left0 + {column};",
            f"const Int left = i{other} < {unit.size(other)} ? {unit.size(along)} - i{along} : 0;",
        )
        return Tile(names, along, width, _SIDE // lines, place, "whole")

    emitter = Emitter(unit, text, body, tile(lane, across, line, "x"))
    source = Emitter(unit, text, body, tile(across, lane, "x", line), "s")
    for n in loads:
        text.line(f"__shared__ {C_TYPE[emitter.dtypes[n]]} square{n}[{_SIDE}][{_SIDE + 1}];")

    def fill() -> None:
        for n in loads:
            text.line(f"square{n}[{line}][x + v] = {source.known[n]};")

    source.run(loads, consume=fill)
    text.line("__syncthreads();")
    emitter.known.update({n: f"square{n}[x + v][{line}]" for n in loads})
    emitter.run([], stores=body.stores)


def _width(unit: Unit, across: int, loads: list[int]) -> int:
    """How many lanes the vectors along both loops have: one, unless every access can be made by vectors."""
    lane = len(unit.kernel.shape) - 1
    turned = [(instr.arg, instr.at) for n in loads if isinstance(instr := unit.kernel.body.instrs[n], Load)]
    walks = [(*walk, across if walk in turned else lane) for walk in accesses(unit)]
    walks = [(arg, at, along) for arg, at, along in walks if at.coef[along] != 0]
    width = _LANES
    while width > 1 and any(
        width * unit.kernel.args[arg].dtype.itemsize > 16 or not packs(unit, arg, at, along, width)
        for arg, at, along in walks
    ):
        width //= 2
    return width
