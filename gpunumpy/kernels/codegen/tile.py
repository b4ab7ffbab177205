"""Elementwise kernels with transposed inputs: a block takes a square of the two loops that matter.

An input whose neighbours lie along another loop than the innermost one is read along that loop, into shared memory,
and taken from there along the innermost one; so every access to global memory is of neighbours.
"""

from __future__ import annotations

from ...core.dtypes import C_TYPE
from ...core.kernel import Load
from .emit import Emitter, Tile
from .shape import ceil_div, product, unravel
from .unit import Unit

_SIDE = 32
_LINES = 8  # threads of a block across the square; each takes every eighth line of it

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
    text = unit.entry(product([kernel.shape[d] for d in others]) * high * wide, _SIDE * _LINES)
    text.line(f"const int x = threadIdx.x % {_SIDE}, y = threadIdx.x / {_SIDE};")
    text.line(f"const Int band = Int(blockIdx.x) / {unit.param(wide)};")
    text.line(f"const Int left0 = (Int(blockIdx.x) - band * {unit.param(wide)}) * {_SIDE};")
    text.line(f"const Int plane = band / {unit.param(high)};")
    text.line(f"const Int top0 = (band - plane * {unit.param(high)}) * {_SIDE};")
    for line in unravel(unit, "plane", others, [names[d] for d in others]):
        text.line(line)
    text.line(f"const bool whole = top0 + {_SIDE} <= {unit.size(across)} && left0 + {_SIDE} <= {unit.size(lane)};")

    def place(row: str, column: str) -> tuple[str, ...]:
        return (
            f"const Int i{across} = top0 + {row};",
            f"const Int i{lane} = left0 + {column};",
            f"const int left = i{across} < {unit.size(across)} && i{lane} < {unit.size(lane)};",
        )

    count = _SIDE // _LINES
    line = f"y + u * {_LINES}"
    emitter = Emitter(unit, text, body, Tile(names, lane, 1, count, place(line, "x"), "whole"))
    source = Emitter(unit, text, body, Tile(names, across, 1, count, place("x", line), "whole"), "s")
    for n in loads:
        text.line(f"__shared__ {C_TYPE[emitter.dtypes[n]]} square{n}[{_SIDE}][{_SIDE + 1}];")

    def fill() -> None:
        for n in loads:
            text.line(f"square{n}[{line}][x] = {source.known[n]};")

    source.run(loads, consume=fill)
    text.line("__syncthreads();")
    emitter.known.update({n: f"square{n}[x][{line}]" for n in loads})
    emitter.run([], stores=body.stores)
