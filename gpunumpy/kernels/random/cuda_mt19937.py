"""MT19937 on a GPU, as programs of kernels: its words, and numbers drawn by independent attempts."""

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
from ..cuda.program_builder import ProgramBuilder
from .mt19937_jumps import BOUNDED, KINDS, LENGTH

_STRETCH, _SHARES, _JUMP_THREADS = 33 * LENGTH, 156, 32  # STRETCH, SHARES and the threads of a jump in mt19937.cuh
_THREADS, _TILE = 256, 4096  # ATTEMPT_THREADS and TILE in mt19937_numbers.cuh
_JUMP_BLOCKS = 2112  # blocks of a jump that are to run concurrently

_HEAD = "random/polar", "random/mt19937"
_WORDS = """
#define ARGUMENTS \\
  u32 *words, u32 *after, const u32 *state, const u32 *jumps, u32 *windows, u32 *stretches, \\
  i64 count, i64 length, i64 runs
extern "C" __global__ void begin(ARGUMENTS) { begin_runs(state, windows, stretches, runs); }
// Each level doubles the windows: those that the previous level found begin at run gridDim.x.
extern "C" __global__ void stretch(ARGUMENTS) {
  const i64 run = gridDim.x + blockIdx.x;
  make_stretch(windows + run * LENGTH, stretches + run * STRETCH);
}
// Level k jumps from 2^k windows to as many more.
extern "C" __global__ void jump(ARGUMENTS) {
  const i64 from = blockIdx.y, to = gridDim.y + from;
  if (to >= runs) return;
  const u32* terms = jumps + (__ffs(int(gridDim.y)) - 1) * LENGTH;
  jump_window(stretches + from * STRETCH, terms, windows + to * LENGTH, blockIdx.x, gridDim.x);
}
extern "C" __global__ void make(ARGUMENTS) { make_run(words, after, state, windows, count, length); }
"""


def twister_words(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[numpy.dtype[Any]]) -> Program:
    """Return the program that generates words after a state, single or in pairs, and the state after them.

    The options are the blocks per run and the count of runs; the arguments are the state, and the polynomials that jump
    over one run, two, four, and so on.
    """
    run_blocks, runs = options
    levels = (runs - 1).bit_length()
    launches = [Launch("begin", (min(runs, 64), 1, 1), (_THREADS, 1, 1))]
    for level in range(levels):
        known_windows = 1 << level
        if level:
            launches.append(Launch("stretch", (known_windows // 2, 1, 1), (_THREADS, 1, 1)))
        shares = min(_SHARES, -(-_JUMP_BLOCKS // known_windows))
        launches.append(Launch("jump", (shares, known_windows, 1), (_JUMP_THREADS, 1, 1)))
    launches.append(Launch("make", (runs, 1, 1), (_THREADS, 1, 1)))  # the words
    stretches = 1 << max(levels - 1, 0)
    scratch = (Scratch(4 * LENGTH * runs), Scratch(4 * _STRETCH * stretches))
    count = prod(layouts[0].shape) * dtypes[0].itemsize // 4
    return Program(_words_text(), tuple(launches), scratch, False, (count, run_blocks, runs))


def twister_numbers(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[numpy.dtype[Any]]) -> Program:
    """Return the program that makes numbers of words, by independent attempts, and the state after them.

    The arguments are the words, the state before them and the state after them, and for kinds in `BOUNDED` three
    numbers: the greatest integer and its mask, or the count of integers and the least accepted lower half of a product;
    then the offset that is added. The options are the kind of numbers, the bits that an attempt consumes, and how many
    numbers are left over from earlier draws.
    """
    kind, bits, left_over = options
    kind_number, words_per_attempt, _ = KINDS[kind]
    word_count = prod(layouts[2].shape)
    is_bounded = kind in BOUNDED
    attempts = word_count * 32 // bits if is_bounded else word_count // words_per_attempt
    tiles = max(1, -(-attempts // _TILE))
    builder = ProgramBuilder()
    count, all_attempts, begin, all_words = map(
        builder.param, (prod(layouts[0].shape), attempts, left_over, word_count)
    )
    all_tiles = builder.param(tiles)
    bounds = "bounds[0], bounds[1], bounds[2]" if is_bounded else "0, 0, 0"
    declarations = f"  const Number number({bounds});\n  const Attempts attempts{{words, {all_attempts}}};\n"
    declarations += f"  const Out where{{out, {begin}, {count}}};\n"
    builder.add_entry("count", f"{declarations}  count_tile(number, attempts, masks, sums);", tiles, _THREADS)
    builder.add_entry("sum", f"  sum_tiles(sums, {all_tiles});", 1, 1024)
    builder.add_entry("put", f"{declarations}  put_tile(where, last, number, attempts, masks, sums);", tiles, _THREADS)
    drawn = f"DrawnWords{{words, before, after, {all_words}}}"
    end_call = f"end_numbers(state, where, last, number, attempts, {drawn}, sums[{all_tiles}]);"
    builder.add_entry("end", f"{declarations}  {end_call}", 1, _THREADS)
    head = f"typedef {C_TYPE[dtypes[0]]} Value;\n#define KIND {kind_number}\nconst int BITS = {bits};\n"
    pointers = ["Value* out", "u32* state", "const u32* words", "const u32* before", "const u32* after"]
    return builder.build(
        pointers + ["const u64* bounds"] * is_bounded,
        [("i64* sums", 8 * (tiles + 1)), ("i64* last", 8), ("u32* masks", tiles * _TILE // 8)],
        head=head + source(*_HEAD, "random/mt19937_numbers"),
    )


def twister_advance(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[numpy.dtype[Any]]) -> Program:
    """Return the program that computes the state after the first ``taken[0]`` of some words.

    The arguments are the words, the states before and after them, and `taken`. If `taken` has a second number, that is
    the word at which the pair of normal numbers begins of which one is left over, or -1 if none is.
    """
    builder = ProgramBuilder()
    count = builder.param(prod(layouts[1].shape) * dtypes[1].itemsize // 4)
    body = f"  const DrawnWords drawn{{words, before, after, {count}}};\n  drawn.write_state(state, taken[0]);"
    normal = "\n  drawn.leave_normal(state, taken[1]);" if prod(layouts[4].shape) == 2 else ""
    builder.add_entry("advance", body + normal, 1, _THREADS)
    pointers = ["u32* state", "const u32* words", "const u32* before", "const u32* after", "const i64* taken"]
    return builder.build(pointers, head=source(*_HEAD))


@cache
def _words_text() -> str:
    return f"{op_code.helpers(())}\n{source(*_HEAD)}{_WORDS}"
