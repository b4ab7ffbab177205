"""Random numbers on a GPU, as programs of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod, sqrt
from pathlib import Path
from typing import Any

import numpy

from ..core.dtypes import C_TYPE
from ..core.layout import Layout
from .codegen.program import Program
from .cuda_routine import Routine
from .table_streams import CHUNK, CONGRUENTIAL, jump, sources, wide
from .table_ziggurats import tables

# How many chunks in a row one thread finds: it jumps to the first, and steps from each to the next.
_STEPS = 16
_LEVELS = 40  # of chunks numbered by as many bits


def stream_starts(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[numpy.dtype[Any]]) -> Program:
    """Where every chunk of words of a congruential generator starts: upper halves, lower halves, of its state."""
    text = Routine()
    chunks = prod(layouts[0].shape)
    body = start_chunks(options[0], text.param(chunks))
    text.each("starts", "t", -(-chunks // _STEPS), text.param(-(-chunks // _STEPS)), body)
    pointers = ["u64* hi", "u64* lo", "const u64* state"]
    return text.program(pointers, head=sources()["streams"] + _jumps(options[0]))


def _jumps(name: str) -> str:
    """How to jump over 2^k chunks: what x and c are multiplied by."""
    pairs = (jump(CONGRUENTIAL[name][0], CHUNK << level) for level in range(_LEVELS))
    listed = ", ".join(wide(half) for pair in pairs for half in pair)
    return f"__device__ const Wide jumps[{2 * _LEVELS}] = {{{listed}}};\n"


def start_chunks(name: str, chunks: str) -> str:
    """The body that finds the chunks of thread `t`."""
    multiplier, _, ahead = CONGRUENTIAL[name]
    power, total = jump(multiplier, ahead)
    return f"""
    const Wide c{{state[2], state[3]}};
    Wide x = op::wide_step({{state[0], state[1]}}, {wide(power)}, op::wide_times(c, {wide(total)}));
    const long long first = t * {_STEPS};
    for (int level = 0; first >> level; ++level)
      if (first >> level & 1) x = op::wide_step(x, jumps[2 * level], op::wide_times(c, jumps[2 * level + 1]));
    const Wide step = op::wide_times(c, jumps[1]);
    for (long long k = first; k < first + {_STEPS} && k < {chunks}; ++k) {{
      hi[k] = x.hi;
      lo[k] = x.lo;
      x = op::wide_step(x, jumps[0], step);
    }}
"""


# What draws make: which sampler it is, and what one number takes on average, in pieces.
_SAMPLERS = {"integers": ("Integers", 0), "normal": ("Normal", 1), "exponential": ("Exponential", 2)}
_ZIGGURAT_SHARE = 1.03
DRAW_THREADS, PIECES = 128, 16  # a block's threads, and what each of them works up
_JOINING = 1024


def stream_draws(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[numpy.dtype[Any]]) -> Program:
    """Numbers of which the words decide how many of these they take, and how many that were, of a state.

    The options are the bit generator and what to draw; of integers also the bits of the words, and how many words are
    taken for 64 integers.
    """
    name, what, *rest = options
    count, dtype = prod(layouts[0].shape), dtypes[0]
    bits = rest[0] if rest else 8 * dtype.itemsize
    share = rest[1] / 64 if rest else _ZIGGURAT_SHARE
    per, tile = 64 // bits, DRAW_THREADS * PIECES
    # What is still missing after these (one time in many), one thread draws.
    tiles = -(-int(count * share + 8 * sqrt(count) + 32) // tile)
    text = Routine()
    n, many = text.param(count), text.param(tiles)
    chunks = -(-(tiles * tile // per + CHUNK) // CHUNK) if name in CONGRUENTIAL else 1
    total = text.param(chunks)
    sampler, ziggurat = _SAMPLERS[what]
    head = [
        *(sources()["streams"], _words(name)),
        f"typedef {C_TYPE[dtype]} Value;\ntypedef u{bits} Piece;\n",
        f"const int BITS = {bits}, DRAW_THREADS = {DRAW_THREADS}, STEPS = {PIECES // per};\n",
        f"const bool ALONE = {str(not ziggurat).lower()};\n",
        f"#define ZIGGURAT {ziggurat}\n{tables(what, bits == 32)}" if ziggurat else "",
        f"{_text('samplers')}\ntypedef {sampler} Number;\n{_text('draws')}",
    ]
    if name in CONGRUENTIAL:
        threads = -(-chunks // _STEPS)
        text.each("starts", "t", threads, text.param(threads), start_chunks(name, total))
    pieces = f"Pieces(state, hi, lo, {total})"
    text.entry("count", f"  count_tile({pieces}, counts, exits, steady);", tiles, DRAW_THREADS)
    join = f"  join_tiles(out, taken, {pieces}, counts, exits, steady, entries, bases, {many}, {n});"
    text.entry("join", join, 1, _JOINING)
    text.entry("write", f"  write_tile(out, taken, {pieces}, entries, bases, {n});", tiles, DRAW_THREADS)
    entries = 32 if ziggurat else 1
    scratch = [
        *(("u64* hi", 8 * chunks), ("u64* lo", 8 * chunks), ("int* counts", 4 * entries * tiles)),
        *(("int* exits", 4 * entries * tiles), ("int* steady", 4 * tiles)),
        *(("int* entries", 4 * tiles), ("i64* bases", 8 * tiles)),
    ]
    return text.program(["Value* out", "i64* taken", "const u64* state"], scratch, head="".join(head))


def _words(name: str) -> str:
    """The function `word_at`: a word of the stream from the state on, and what it is made of."""
    parameters = "(i64 w, const u64* hi, const u64* lo, i64 chunks, const u64* c, const u64* state)"
    begin = f"__device__ __forceinline__ u64 word_at{parameters} {{\n"
    if name == "philox":
        return f"{begin}  return op::philox(w + i64(state[6]), c[0], c[1], c[2], c[3], c[4], c[5]);\n}}\n"
    multiplier, output, _ = CONGRUENTIAL[name]
    level = CHUNK.bit_length() - 1
    return f"""{sources()[name]}{_jumps(name)}{begin}
  const i64 chunk = w >> {level};
  if (chunk < chunks) return op::{name}(w, hi[chunk], lo[chunk], c[2], c[3]);
  // Far behind what was asked for, where one thread looks for the last numbers.
  Wide x{{hi[chunks - 1], lo[chunks - 1]}};
  for (i64 k = (chunks - 1) << {level}; k < w; ++k) x = op::wide_step(x, {wide(multiplier)}, {{c[2], c[3]}});
  return op::{output}(x);
}}
"""


@cache
def _text(name: str) -> str:
    return (Path(__file__).parent / f"{name}.cuh").read_text(encoding="utf-8")


PROGRAMS = (stream_draws, stream_starts)
