"""Rejection sampling on a GPU, as a program of kernels: numbers that consume a variable count of words."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy

from ...core.dtypes import C_TYPE
from ...core.graph.layout import Layout
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.program_builder import ProgramBuilder
from .mt19937_jumps import STATE_POSITIONS
from .ziggurats import ziggurat

TILE, THREADS = 1024, 128  # positions per block (words times phases), and its threads
_ENTRIES = 4096  # table entries of all tiles of a group: GROUP in rejection_sampling.cuh


def rejection_sampling(
    options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[numpy.dtype[Any]]
) -> Program:
    """Return the program that draws the numbers of a sampler from words.

    The arguments are the words and the parameters of the sampler; with phases also the state before the words, which
    may hold a normal number left over. The options are those of `rejection_sampling.Sampler`.

    The results are the numbers and four counts:

    - the words that the numbers consume, -1 if there are not enough for all;
    - the numbers for which there are enough words;
    - the word at which an attempt begins that has too few words or takes too many, -1 if none does;
    - the word at which the pair of normal numbers begins of which one is left over, -1 if none is.
    """
    file, sampler, max_words, width, paired, sampler_phases, max_numbers = options
    phases = max(sampler_phases, 1)
    max_words *= phases
    word_count = prod(layouts[2].shape)
    tiles = -(-word_count * phases // TILE)
    groups = -(-tiles * max_words // _ENTRIES)
    builder = ProgramBuilder()
    count, all_tiles, end, all_groups = (
        builder.param(x) for x in (prod(layouts[0].shape) // width, tiles, word_count, groups)
    )
    is_float32 = dtypes[0] == numpy.float32
    head = [
        f"typedef {C_TYPE[dtypes[0]]} Value;\ntypedef u{8 * dtypes[2].itemsize} Word;\n",
        f"typedef {'u32' if is_float32 else 'u64'} Piece;\ntypedef {'f32' if is_float32 else 'f64'} Real;\n",
        f"const int TILE = {TILE}, MAX_WORDS = {max_words}, WIDTH = {width}, PHASES = {phases};\n",
        f"const int COUNT_DIGITS = {max_numbers.bit_length()};\n",
        f"const bool PAIRED = {str(paired).lower()}, HAS_PHASES = {str(sampler_phases > 0).lower()};\n",
        source("random/ziggurat"),
        *(ziggurat(shape, is_float32) for shape in ("normal", "exponential")),
        *(source(f"random/{name}") for name in ("polar", "attempt_words", "rejection_sampling", *file.split())),
        f"typedef {sampler} Number;\n",
    ]
    number = "const Number number(params);"
    measure = f"  {number}\n  measure(number, words, codes, values, tables, blockIdx.x, {end});"
    builder.add_entry("measure_tiles", measure, tiles, THREADS)
    builder.add_entry("compose_groups", f"  compose_group(tables, groups, blockIdx.x, {all_tiles});", groups, THREADS)
    if sampler_phases:
        has, left = STATE_POSITIONS["has_normal"], STATE_POSITIONS["normal"]
        left_over = f"state[{has}] != 0, op::bit_cast<f64>(u64(state[{left + 1}]) << 32 | state[{left}])"
        open_call = f"open_sampling(number, words, {left_over}, opening, out, counts, {end}, {count});"
        builder.add_entry("open", f"  {number}\n  {open_call}", 1, THREADS)
    opening = "opening" if sampler_phases else "nullptr"
    builder.add_entry(
        "compose_tiles", f"  compose_all(groups, begins, {opening}, counts, {all_groups});", 1, 4 * THREADS
    )
    builder.add_entry(
        "spread_groups", f"  spread_group(tables, begins, starts, blockIdx.x, {all_tiles});", groups, THREADS
    )
    make = f"  {number}\n  make_numbers(number, words, codes, values, starts, out, counts, blockIdx.x, {end}, {count});"
    builder.add_entry("make_tiles", make, tiles, THREADS)
    scratch = [
        *(("u16* codes", 2 * TILE * tiles), ("u32* tables", 4 * max_words * tiles), ("u64* starts", 8 * tiles)),
        ("Value* values", dtypes[0].itemsize * TILE * tiles if width == 1 and not sampler_phases else 0),
        *(("u32* groups", 4 * max_words * groups), ("u64* begins", 8 * groups), ("u64* opening", 8)),
    ]
    pointers = ["Value* out", "i64* counts", "const Word* words", "const f64* params"]
    pointers += ["const u32* state"] * (sampler_phases > 0)
    return builder.build(pointers, scratch, head="".join(head))
