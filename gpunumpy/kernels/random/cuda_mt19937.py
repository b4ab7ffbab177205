"""MT19937 on a GPU, as programs of kernels: its words, and numbers by attempts that are independent of each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any

import numpy

from ...core.dtypes import C_TYPE
from ...core.graph.layout import Layout
from ..codegen import op_code
from ..codegen.program import Launch, Program, Scratch
from ..codegen.sources import source
from ..cuda.routine import Routine
from .mt19937_jumps import BOUNDED, KINDS, LENGTH

_STRETCH, _SHARES, _JUMP_THREADS = 33 * LENGTH, 156, 32  # as in twister.cuh
_THREADS, _TILE = 256, 4096  # as in picks.cuh
_JUMP_BLOCKS = 2112  # that work side by side

_HEAD = "random/polar", "random/mt19937"
_WORDS = """
#define ARGUMENTS \\
  u32 *words, u32 *after, const u32 *state, const u32 *jumps, u32 *windows, u32 *stretches, \\
  i64 count, i64 length, i64 runs
extern "C" __global__ void begin(ARGUMENTS) { begin_runs(state, windows, stretches, runs); }
// The windows that level k made are as many as there were before.
extern "C" __global__ void stretch(ARGUMENTS) {
  const i64 run = gridDim.x + blockIdx.x;
  make_stretch(windows + run * LENGTH, stretches + run * STRETCH);
}
// Level k is that of 2^k windows.
extern "C" __global__ void jump(ARGUMENTS) {
  const i64 from = blockIdx.y, to = gridDim.y + from;
  if (to >= runs) return;
  const u32* terms = jumps + (__ffs(int(gridDim.y)) - 1) * LENGTH;
  jump_window(stretches + from * STRETCH, terms, windows + to * LENGTH, blockIdx.x, gridDim.x);
}
extern "C" __global__ void make(ARGUMENTS) { make_run(words, after, state, windows, count, length); }
"""


def twister_words(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[numpy.dtype[Any]]) -> Program:
    """Words after a state, alone or in pairs, and the state after them.

    The options are how many blocks a run has, and how many runs there are; the arguments are the state, and the
    polynomials that jump over one run, two, four, and so on.
    """
    length, runs = options
    levels = (runs - 1).bit_length()
    launches = [Launch("begin", (min(runs, 64), 1, 1), (_THREADS, 1, 1))]
    for level in range(levels):
        known = 1 << level
        if level:
            launches.append(Launch("stretch", (known // 2, 1, 1), (_THREADS, 1, 1)))
        shares = min(_SHARES, -(-_JUMP_BLOCKS // known))
        launches.append(Launch("jump", (shares, known, 1), (_JUMP_THREADS, 1, 1)))
    launches.append(Launch("make", (runs, 1, 1), (_THREADS, 1, 1)))
    stretches = 1 << max(levels - 1, 0)
    scratch = (Scratch(4 * LENGTH * runs), Scratch(4 * _STRETCH * stretches))
    count = prod(layouts[0].shape) * dtypes[0].itemsize // 4
    return Program(_words_text(), tuple(launches), scratch, False, (count, length, runs))


def twister_picks(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[numpy.dtype[Any]]) -> Program:
    """Numbers, and the state after them, of words with the states before and after these.

    The options are the kind of numbers, how many bits each is made of, and how many are left of earlier draws; of
    bounded ones there is one more argument: the greatest and the mask, or how many they are and the least lower half of
    a product; and what is added.
    """
    kind, bits, left = options
    number, words, _ = KINDS[kind]
    held = prod(layouts[2].shape)
    bounded = kind in BOUNDED
    attempts = held * 32 // bits if bounded else held // words
    tiles = max(1, -(-attempts // _TILE))
    text = Routine()
    count, all_attempts, begin, all_words = map(text.param, (prod(layouts[0].shape), attempts, left, held))
    all_tiles = text.param(tiles)
    given = "bounds[0], bounds[1], bounds[2]" if bounded else "0, 0, 0"
    shared = f"  const Number number({given});\n  const Attempts attempts{{words, {all_attempts}}};\n"
    shared += f"  const Out where{{out, {begin}, {count}}};\n"
    text.entry("count", f"{shared}  count_tile(number, attempts, masks, sums);", tiles, _THREADS)
    text.entry("sum", f"  sum_tiles(sums, {all_tiles});", 1, 1024)
    text.entry("put", f"{shared}  put_tile(where, last, number, attempts, masks, sums);", tiles, _THREADS)
    drawn = f"DrawnWords{{words, before, after, {all_words}}}"
    ended = f"end_picks(state, where, last, number, attempts, {drawn}, sums[{all_tiles}]);"
    text.entry("end", f"{shared}  {ended}", 1, _THREADS)
    head = f"typedef {C_TYPE[dtypes[0]]} Value;\n#define KIND {number}\nconst int BITS = {bits};\n"
    pointers = ["Value* out", "u32* state", "const u32* words", "const u32* before", "const u32* after"]
    return text.program(
        pointers + ["const u64* bounds"] * bounded,
        [("i64* sums", 8 * (tiles + 1)), ("i64* last", 8), ("u32* masks", tiles * _TILE // 8)],
        head=head + source(*_HEAD, "random/picks"),
    )


def twister_stand(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[numpy.dtype[Any]]) -> Program:
    """The state after so many words as were taken, of words with the states before and after these.

    Where `taken` has a second number, it is the word of the two normal numbers of which one is left, or -1.
    """
    text = Routine()
    count = text.param(prod(layouts[1].shape) * dtypes[1].itemsize // 4)
    body = f"  const DrawnWords drawn{{words, before, after, {count}}};\n  drawn.write_state(state, taken[0]);"
    left = "\n  drawn.leave_normal(state, taken[1]);" if prod(layouts[4].shape) == 2 else ""
    text.entry("stand", body + left, 1, _THREADS)
    pointers = ["u32* state", "const u32* words", "const u32* before", "const u32* after", "const i64* taken"]
    return text.program(pointers, head=source(*_HEAD))


@cache
def _words_text() -> str:
    return f"{op_code.helpers(())}\n{source(*_HEAD)}{_WORDS}"
