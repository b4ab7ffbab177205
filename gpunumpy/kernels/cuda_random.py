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
from .table_streams import CONGRUENTIAL, jump, sources, wide
from .table_ziggurats import tables

# Words are found from where chunks of so many start, and from by how much the state grows there. One thread finds the
# starts of several chunks in a row: it jumps to the first, and steps from each to the next.
CHUNK, _STEPS = 256, 16
_WARP = 32
_LEVELS = 40  # of chunks numbered by as many bits


def _jumps(name: str) -> str:
    """How to jump over 2^k chunks: what x and c are multiplied by. And inside a chunk, by how much x grows: so many
    times ``(a - 1) * x + c``.
    """
    multiplier, _, _ = CONGRUENTIAL[name]
    pairs = (jump(multiplier, CHUNK << level) for level in range(_LEVELS))
    listed = ", ".join(wide(half) for pair in pairs for half in pair)
    sums = ", ".join(wide(jump(multiplier, place)[1]) for place in range(CHUNK))
    return f"""
__device__ const Wide jumps[{2 * _LEVELS}] = {{{listed}}};
__device__ const Wide sums_in_chunk[{CHUNK}] = {{{sums}}};
"""


def _start_chunks(name: str, chunks: str, leads: str) -> str:
    """The body that finds the chunks of thread `t`, from one word earlier on if something `leads`."""
    multiplier, _, ahead = CONGRUENTIAL[name]
    late, early = (", ".join(map(wide, jump(multiplier, (ahead - before) % (1 << 128)))) for before in (0, 1))
    return f"""
    const Wide c{{state[2], state[3]}}, late[2] = {{{late}}}, early[2] = {{{early}}};
    const bool leads = {leads};
    const Wide begin = op::wide_times(c, leads ? early[1] : late[1]);
    Wide x = op::wide_step({{state[0], state[1]}}, leads ? early[0] : late[0], begin);
    const long long first = t * {_STEPS};
    for (int level = 0; first >> level; ++level)
      if (first >> level & 1) x = op::wide_step(x, jumps[2 * level], op::wide_times(c, jumps[2 * level + 1]));
    const Wide step = op::wide_times(c, jumps[1]);
    for (long long k = first; k < first + {_STEPS} && k < {chunks}; ++k) {{
      starts[2 * k] = x;
      starts[2 * k + 1] = op::wide_step(x, {wide(multiplier - 1)}, c);
      x = op::wide_step(x, jumps[0], step);
    }}
    if (t == 0) starts[2 * {chunks}] = op::wide_times(c, {wide(jump(multiplier, _WARP)[1])});
"""


# What draws make: which sampler it is, and what one number takes on average, in pieces.
_SAMPLERS = {"integers": ("Integers", 0), "normal": ("Normal", 1), "exponential": ("Exponential", 2)}
_ZIGGURAT_SHARES = {"normal": 1.023, "exponential": 1.035}
DRAW_THREADS = 128  # of a block
PIECES = {64: 16, 32: 32, 16: 32, 8: 32}  # that a thread works up, by their bits: 32 at most
SLOTS = 8  # one in so many pieces, and some more, may be other than quick


def stream_draws(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[numpy.dtype[Any]]) -> Program:
    """Numbers of which the words decide how many of these they take, and how many that were, of a state.

    The options are the bit generator and what to draw; of integers also the bits of the words, and how many words are
    taken for 64 integers.
    """
    name, what, *rest = options
    count, dtype = prod(layouts[0].shape), dtypes[0]
    bits = rest[0] if rest else 8 * dtype.itemsize
    share = rest[1] / 64 if rest else _ZIGGURAT_SHARES[what]
    per, row = 64 // bits, _WARP * PIECES[bits]
    tile = DRAW_THREADS // _WARP * row
    # What is still missing after these (one time in many), one thread draws.
    tiles = -(-int(count * share + 8 * sqrt(count) + 32) // tile)
    text = Routine()
    n, many = text.param(count), text.param(tiles)
    chunks = -(-(tiles * tile // per + CHUNK) // CHUNK) if name in CONGRUENTIAL else 1
    total = text.param(chunks)
    sampler, ziggurat = _SAMPLERS[what]
    head = [
        f"{sources()['streams']}\n",
        f"typedef {C_TYPE[dtype]} Value;\ntypedef u{bits} Piece;\n",
        f"const int BITS = {bits}, DRAW_THREADS = {DRAW_THREADS}, STEPS = {PIECES[bits] // per};\n",
        f"const int SLOTS = {row // SLOTS + _WARP};\n",
        f"const bool ALONE = {str(not ziggurat).lower()};\n",
        f"#define ZIGGURAT {ziggurat}\n{tables(what, bits == 32)}" if ziggurat else "",
        f"{_text('samplers')}\ntypedef {sampler} Number;\n{_words(name)}{_text('draws')}{_first_words(name)}",
    ]
    text.each("clear", "t", tiles + 1, text.param(tiles), "exits[t] = 0; sums[t] = 0; if (t == 0) *tickets = 0;")
    if name in CONGRUENTIAL:
        threads = -(-chunks // _STEPS)
        text.each("starts", "t", threads, text.param(threads), _start_chunks(name, total, "Pieces::leads(state)"))
    pieces = f"Pieces(state, starts, {total})"
    text.entry("draw", f"  draw_tile(out, taken, {pieces}, exits, sums, tickets, {n});", tiles, DRAW_THREADS)
    text.entry("rest", f"  draw_rest(out, taken, {pieces}, exits, sums, {many}, {n});", 1, 32)
    scratch = [
        ("Wide* starts", 16 * (2 * chunks + 1)),
        *(("u64* exits", 8 * tiles), ("u64* sums", 8 * tiles), ("u32* tickets", 4)),
    ]
    return text.program(["Value* out", "i64* taken", "const u64* state"], scratch, head="".join(head))


def _words(name: str) -> str:
    """Words of the stream: one, and then the next one (`step`) or the one after a warp's (`leap`)."""
    if name == "philox":
        return f"""
struct Pieces;
struct Words {{
  const u64* state;
  i64 at;
  __device__ Words(const Pieces& pieces, i64 w);
  __device__ u64 word() const {{
    return op::philox(at, state[0], state[1], state[2], state[3], state[4], state[5]);
  }}
  __device__ void step() {{ ++at; }}
  __device__ void leap() {{ at += {_WARP}; }}
}};
"""
    multiplier, output, _ = CONGRUENTIAL[name]
    power, _ = jump(multiplier, _WARP)
    return f"""{_jumps(name)}
struct Pieces;
struct Words {{
  Wide x, c, leap_c;
  __device__ Words(const Pieces& pieces, i64 w);
  __device__ u64 word() const {{ return op::{output}(x); }}
  __device__ void step() {{ x = op::wide_step(x, {wide(multiplier)}, c); }}
  __device__ void leap() {{ x = op::wide_step(x, {wide(power)}, leap_c); }}
}};
"""


def _first_words(name: str) -> str:
    """What was only declared there: how to find the first one."""
    begin = "__device__ __forceinline__ Words::Words(const Pieces& pieces, i64 w)\n    : "
    if name == "philox":
        return f"{begin}state(pieces.state), at(w - pieces.lead + i64(pieces.state[6])) {{}}\n"
    level = CHUNK.bit_length() - 1
    return f"""{begin}c{{pieces.state[2], pieces.state[3]}}, leap_c(pieces.starts[2 * pieces.chunks]) {{
  const i64 chunk = min(w >> {level}, pieces.chunks - 1);
  const Wide* start = pieces.starts + 2 * chunk;
  i64 left = w - (chunk << {level});
  x = op::wide_step(sums_in_chunk[min(left, i64({CHUNK - 1}))], start[1], start[0]);
  // Far behind what was asked for, where one thread looks for the last numbers.
  for (; left >= {CHUNK}; --left) step();
}}
"""


@cache
def _text(name: str) -> str:
    return (Path(__file__).parent / f"{name}.cuh").read_text(encoding="utf-8")


PROGRAMS = (stream_draws,)
