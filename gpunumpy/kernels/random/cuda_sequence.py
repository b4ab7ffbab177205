"""Numbers that take as many words of a stream as they need, on a GPU, as a program of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy

from ...core.dtypes import C_TYPE
from ...core.graph.layout import Layout
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.routine import Routine
from .mt19937_jumps import KEEPS
from .ziggurats import ziggurat

TILE, THREADS = 1024, 128  # a block's words, and its threads
_ENTRIES = 4096  # of all tiles of a group: see sequence.cuh


def stream_sequence(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[numpy.dtype[Any]]) -> Program:
    """Numbers of a sampler, over the words of a stream and the sampler's parameters; and four counts.

    The counts are how many words the numbers take, for how many numbers there are words, the word at which the
    first attempt begins that has too few of them, or is too long, and the word of the normal numbers of which one is
    left, or -1. The options are the files of the sampler, the name of its class, how many words an attempt takes at
    most, how many numbers it makes, and whether the words are pairs; then, of normal numbers that come in pairs, how
    many phases there are, or 0, and how many numbers may come of an attempt. These have one argument more, the state
    before the words.
    """
    file, sampler, max_words, width, paired, given_phases, max_numbers = options
    phases = max(given_phases, 1)
    max_words *= phases
    end = prod(layouts[2].shape)
    tiles = -(-end * phases // TILE)
    groups = -(-tiles * max_words // _ENTRIES)
    text = Routine()
    count, all_tiles, last, all_groups = (text.param(x) for x in (prod(layouts[0].shape) // width, tiles, end, groups))
    single = dtypes[0] == numpy.float32
    head = [
        f"typedef {C_TYPE[dtypes[0]]} Value;\ntypedef u{8 * dtypes[2].itemsize} Word;\n",
        f"typedef {'u32' if single else 'u64'} Piece;\ntypedef {'f32' if single else 'f64'} Real;\n",
        f"const int TILE = {TILE}, MAX_WORDS = {max_words}, WIDTH = {width}, PHASES = {phases};\n",
        f"const int COUNT_DIGITS = {max_numbers.bit_length()};\n",
        f"const bool PAIRED = {str(paired).lower()}, HAS_PHASES = {str(given_phases > 0).lower()};\n",
        source("random/ziggurat"),
        *(ziggurat(shape, single) for shape in ("normal", "exponential")),
        *(source(f"random/{name}") for name in ("polar", "sequence_words", "sequence", *file.split())),
        f"typedef {sampler} Number;\n",
    ]
    number = "const Number number(params);"
    measured = f"  {number}\n  measure(number, words, codes, values, tables, blockIdx.x, {last});"
    text.entry("measure_tiles", measured, tiles, THREADS)
    text.entry("compose_groups", f"  compose_group(tables, groups, blockIdx.x, {all_tiles});", groups, THREADS)
    if given_phases:
        has, left = KEEPS["has"], KEEPS["left"]
        kept = f"state[{has}] != 0, op::bit_cast<f64>(u64(state[{left + 1}]) << 32 | state[{left}])"
        opened = f"open_sequence(number, words, {kept}, opening, out, counts, {last}, {count});"
        text.entry("open", f"  {number}\n  {opened}", 1, THREADS)
    opening = "opening" if given_phases else "nullptr"
    text.entry("compose_tiles", f"  compose_all(groups, begins, {opening}, counts, {all_groups});", 1, 4 * THREADS)
    text.entry("spread_groups", f"  spread_group(tables, begins, starts, blockIdx.x, {all_tiles});", groups, THREADS)
    made = (
        f"  {number}\n  make_numbers(number, words, codes, values, starts, out, counts, blockIdx.x, {last}, {count});"
    )
    text.entry("make_tiles", made, tiles, THREADS)
    scratch = [
        *(("u16* codes", 2 * TILE * tiles), ("u32* tables", 4 * max_words * tiles), ("u64* starts", 8 * tiles)),
        ("Value* values", dtypes[0].itemsize * TILE * tiles if width == 1 and not given_phases else 0),
        *(("u32* groups", 4 * max_words * groups), ("u64* begins", 8 * groups), ("u64* opening", 8)),
    ]
    pointers = ["Value* out", "i64* counts", "const Word* words", "const f64* params"]
    pointers += ["const u32* state"] * (given_phases > 0)
    return text.program(pointers, scratch, head="".join(head))
