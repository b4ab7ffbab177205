"""Random numbers on a GPU, as programs of kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod, sqrt
from typing import Any

import numpy

from ...core.dtypes import C_TYPE
from ...core.graph.layout import Layout
from ...core.ops.streams import CONGRUENTIAL, jump
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.program import prepared
from ..cuda.routine import Routine
from .stream_code import wide
from .ziggurats import ziggurat

# Words are found from where chunks of so many start, and from by how much the state grows there. A chunk's number has
# so many digits, of so many bits each.
CHUNK, _DIGITS, _DIGIT_BITS = 512, 5, 6
_WARP = 32


def _comma_separated(numbers: Iterable[int]) -> str:
    return ", ".join(map(wide, numbers))


def _jumps(name: str) -> str:
    """How to jump over as many chunks as a digit says: what the sum so far is multiplied by, and what is added. And
    inside a chunk, by how much x grows: so many times ``(a - 1) * x + c``.
    """
    multiplier, _, _ = CONGRUENTIAL[name]
    counts = (CHUNK * (digit << _DIGIT_BITS * place) for place in range(_DIGITS) for digit in range(1 << _DIGIT_BITS))
    over = _comma_separated(x for count in counts for x in jump(multiplier, count))
    inside = _comma_separated(jump(multiplier, place)[1] for place in range(CHUNK))
    return f"""
__device__ const Wide jumps[{2 * _DIGITS << _DIGIT_BITS}] = {{{over}}};
__device__ const Wide sums_in_chunk[{CHUNK}] = {{{inside}}};
"""


def _start_chunk(name: str, leads: str) -> str:
    """The body that finds chunk `t`, from one word earlier on if something `leads`."""
    multiplier, _, ahead = CONGRUENTIAL[name]
    late, early = (_comma_separated(jump(multiplier, (ahead - before) % (1 << 128))) for before in (0, 1))
    return f"""
    const Wide c{{state[2], state[3]}}, late[2] = {{{late}}}, early[2] = {{{early}}};
    const bool leads = {leads};
    const Wide begin = op::wide_times(c, leads ? early[1] : late[1]);
    const Wide first = op::wide_step({{state[0], state[1]}}, leads ? early[0] : late[0], begin);
    const Wide* jump = jumps;
    Wide sum{{0, 0}};
    for (long long k = t; k; k >>= {_DIGIT_BITS}, jump += {2 << _DIGIT_BITS}) {{
      const int digit = int(k & {(1 << _DIGIT_BITS) - 1});
      sum = op::wide_step(sum, jump[2 * digit], jump[2 * digit + 1]);
    }}
    const Wide x = op::wide_step(sum, op::wide_step(first, {wide(multiplier - 1)}, c), first);
    starts[2 * t] = x;
    starts[2 * t + 1] = op::wide_step(x, {wide(multiplier - 1)}, c);
"""


# What one number of a ziggurat takes on average, in pieces.
_ZIGGURAT_SHARES = {"normal": 1.023, "exponential": 1.035}
THREAD_PIECES = 32  # pieces of a thread
QUICK_PIECES_PER_SLOW = 32  # one in so many pieces, and two for each thread, may be other than quick
LAYER_BYTES = 32  # of all copies of what belongs to a layer of a ziggurat
# Warps of a block, at most, besides the one that places the rows of the others.
WARPS = {"integers": 16, "normal": 5, "exponential": 5}
_MAX_BLOCKS = 2048  # more than run at a time: those that find nothing to do leave
_MIN_RESIDENT_THREADS = 864  # of a processor, where there is memory for as many


def stream_draws(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Any) -> Runner:
    """Numbers of which the words decide how many of these they take, and the state after them, of a state."""
    return prepared(device, draws(options, layouts, dtypes, device.attributes.shared_per_block), len(layouts))


def draws(
    options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[numpy.dtype[Any]], most_shared: int
) -> Program:
    """The program of `stream_draws`, of blocks that have so much shared memory.

    The options are the bit generator and what to draw; of integers also the bits of the words, and how many words are
    taken for 64 integers.
    """
    name, what, *rest = options
    count, dtype = prod(layouts[0].shape), dtypes[0]
    bits = rest[0] if rest else 8 * dtype.itemsize
    share = rest[1] / 64 if rest else _ZIGGURAT_SHARES[what]
    layered = what != "integers"
    slots = _WARP * THREAD_PIECES // QUICK_PIECES_PER_SLOW + 2 * _WARP if layered else 1
    copies = LAYER_BYTES // (2 * dtype.itemsize) if layered else 0
    held = dtype.itemsize if layered else bits // 8
    warps = min(WARPS[what], 32 // held) if what == "integers" else WARPS[what]
    while warps > 1 and _shared(warps, slots, held, layered) > most_shared:
        warps -= 1
    threads, shared = _WARP * (warps + 1), _shared(warps, slots, held, layered)
    tile = _WARP * warps * THREAD_PIECES
    # What is still missing after these (one time in many), one thread draws.
    tiles = -(-int(count * share + 8 * sqrt(count) + 32) // tile)
    text = Routine()
    all_numbers, all_tiles = text.param(count), text.param(tiles)
    chunks = -(-(tiles * tile * bits // 64 + CHUNK) // CHUNK) if name in CONGRUENTIAL else 1
    all_chunks = text.param(chunks)
    head = [
        f"{source('random/streams')}\n",
        f"typedef {C_TYPE[dtype]} Value;\ntypedef u{bits} Piece;\n",
        f"const int BITS = {bits}, THREADS = {threads}, THREAD_PIECES = {THREAD_PIECES};\n",
        f"const int SLOTS = {slots}, COPIES = {copies};\n",
        f"const unsigned SHARED = {shared};\n",
        f"const bool SINGLE_PIECES = {str(not layered).lower()};\n",
        _ziggurat_number(what, bits == 32) if layered else source("random/draws_integers"),
        "\ntypedef Number::Held Held;\n",
        f"{_words(name)}{source('random/draws')}{_first_words(name)}",
    ]
    begin = f"if (t < {all_tiles}) {{\n      sums[t] = 0;\n      exits[t] = 0;\n    }}\n    if (t == 0) *tickets = 0;"
    if name in CONGRUENTIAL:
        begin += f"\n    if (t >= {all_chunks}) continue;{_start_chunk(name, 'Pieces::leads(state)')}"
    starts = max(tiles, chunks)
    text.each("begin", "t", starts, text.param(starts), begin)
    draw = f"""  extern __shared__ __align__(16) unsigned char memory[];
  const Pieces pieces(state, starts, {all_chunks});
  const Number number({"bounds" if what == "integers" else "0"});
  draw(out, after, pieces, number, {all_tiles}, {all_numbers}, exits, sums, tickets, memory);"""
    resident = max(1, min(_MIN_RESIDENT_THREADS // threads, most_shared // shared))
    text.entry("draw_tiles", draw, min(tiles, _MAX_BLOCKS), threads, shared, most=threads, resident=resident)
    scratch = [
        ("Wide* starts", 32 * chunks),
        *(("u32* exits", 4 * tiles), ("u64* sums", 8 * tiles), ("u32* tickets", 4)),
    ]
    pointers = ["Value* out", "u64* after", "const u64* state", *(["const u64* bounds"] if what == "integers" else [])]
    return text.program(pointers, scratch, head="".join(head))


def _ziggurat_number(what: str, single: bool) -> str:
    """The `Number` of a ziggurat."""
    return (
        f"typedef Value Real;\n{source('random/ziggurat')}{ziggurat(what, single)}"
        f"typedef {what.capitalize()}Shape Shape;\n{source('random/draws_ziggurat')}"
    )


def _words(name: str) -> str:
    """Words of the stream: one, and then the next one."""
    if name == "philox":
        return """
struct Pieces;
__device__ __forceinline__ void leave(u64* after, const Pieces& pieces, i64 w);
struct Words {
  const u64* state;
  i64 at;
  op::Four four;
  __device__ Words(const Pieces& pieces, i64 w);
  __device__ u64 word() {
    return op::philox(four, at, state[0], state[1], state[2], state[3], state[4], state[5]);
  }
  __device__ void step() { ++at; }
};
"""
    multiplier, output, _ = CONGRUENTIAL[name]
    return f"""{_jumps(name)}
struct Pieces;
__device__ __forceinline__ void leave(u64* after, const Pieces& pieces, i64 w);
struct Words {{
  Wide x, c;
  __device__ Words(const Pieces& pieces, i64 w);
  __device__ u64 word() const {{ return op::{output}(x); }}
  __device__ void step() {{ x = op::wide_step(x, {wide(multiplier)}, c); }}
}};
"""


def _first_words(name: str) -> str:
    """What was only declared there: how to find the first one; and how to leave a state before another one."""
    begin = "__device__ __forceinline__ Words::Words(const Pieces& pieces, i64 w)\n    : "
    if name == "philox":
        return f"""{begin}state(pieces.state), at(w - pieces.lead + i64(pieces.state[6])) {{}}
__device__ __forceinline__ void leave(u64* after, const Pieces& pieces, i64 w) {{
  const i64 at = Words(pieces, w).at;
  u64 more = at > 0 ? u64(at - 1) / 4 : 0;  // blocks; of the last one as many words are gone:
  after[6] = u64(at) - 4 * more;
  for (int k = 0; k < 4; ++k) {{
    after[k] = pieces.state[k] + more;
    more = after[k] < more;
  }}
  for (int k = 4; k < 6; ++k) after[k] = pieces.state[k];
}}
"""
    level = CHUNK.bit_length() - 1
    return f"""{begin}c{{pieces.state[2], pieces.state[3]}} {{
  const i64 chunk = min(w >> {level}, pieces.chunks - 1);
  const Wide* start = pieces.starts + 2 * chunk;
  i64 left = w - (chunk << {level});
  x = op::wide_step(sums_in_chunk[min(left, i64({CHUNK - 1}))], start[1], start[0]);
  // Far behind what was asked for, where one thread looks for the last numbers.
  for (; left >= {CHUNK}; --left) step();
}}
__device__ __forceinline__ void leave(u64* after, const Pieces& pieces, i64 w) {{
  const Words words(pieces, w - {CONGRUENTIAL[name][2]});
  const u64 its[7] = {{words.x.hi, words.x.lo, words.c.hi, words.c.lo, 0, 0, 0}};
  for (int k = 0; k < 7; ++k) after[k] = its[k];
}}
"""


def _shared(warps: int, slots: int, held: int, layered: bool) -> int:
    """How many bytes of shared memory a block needs, in which each number takes `held` while it waits: see `Block`."""
    row = 8 * THREAD_PIECES + 3 * slots + 12 + held * _WARP * (THREAD_PIECES + 1)
    return 256 * LAYER_BYTES * layered + 2 * warps * (-(-row // 16) * 16 + 4) + 64
