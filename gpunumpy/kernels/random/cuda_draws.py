"""Integers and ziggurat numbers on a GPU, as programs of kernels: draws.cuh, with the words of a bit generator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod, sqrt
from typing import Any

import numpy

from ...core.dtypes import C_TYPE
from ...core.graph.layout import Layout
from ...core.ops.streams import CONGRUENTIAL, jump, multiples
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.program import prepare_program
from ..cuda.program_builder import ProgramBuilder
from .stream_code import wide
from .ziggurats import ziggurat

# Words of a congruential generator are found from the state at the start of their chunk, of CHUNK words. The number of
# a chunk is read as _DIGITS digits of _DIGIT_BITS bits, with a jump for each value of each digit.
CHUNK, _DIGITS, _DIGIT_BITS = 512, 5, 6
_WARP = 32


def _comma_separated(numbers: Iterable[int]) -> str:
    return ", ".join(map(wide, numbers))


def _jumps(name: str) -> str:
    """Return the tables of jumps as CUDA C++.

    `jumps` has for each value of each digit the factor and the summand that lead over as many chunks. `sums_in_chunk`
    has for each position in a chunk how many times ``(a - 1) * x + c`` the state x has grown there.
    """
    multiplier, _, _ = CONGRUENTIAL[name]
    places = [multiples(multiplier, CHUNK << _DIGIT_BITS * place, 1 << _DIGIT_BITS) for place in range(_DIGITS)]
    over = _comma_separated(x for place in places for leap in place for x in leap)
    inside = _comma_separated(total for _, total in multiples(multiplier, 1, CHUNK))
    return f"""
__device__ const Wide jumps[{2 * _DIGITS << _DIGIT_BITS}] = {{{over}}};
__device__ const Wide sums_in_chunk[{CHUNK}] = {{{inside}}};
"""


def _start_chunk(name: str, leads: str) -> str:
    """Return the body that finds the start of chunk `t`; one word earlier if the C expression `leads` holds."""
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


# Expected count of pieces that a ziggurat number consumes, rounded up.
_PIECES_PER_NUMBER = {"normal": 1.023, "exponential": 1.035}
THREAD_PIECES = 32  # pieces per thread
QUICK_PIECES_PER_SLOW = 32  # a row has memory for one slow piece in this many, and for two more per thread
LAYER_BYTES = 32  # all copies of the tables' entries for one layer of a ziggurat
# The most warps of a block, besides the warp that places the rows of the others.
WARPS = {"integers": 16, "normal": 5, "exponential": 5}
_MAX_BLOCKS = 2048  # more than a device runs concurrently: blocks that find no tile left exit
_MIN_RESIDENT_THREADS = 864  # threads per multiprocessor, if shared memory allows


def piecewise_draws(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Any) -> Runner:
    """Return what runs the program of `piecewise_draws_program` on a device."""
    return prepare_program(
        device, piecewise_draws_program(options, layouts, dtypes, device.attributes.shared_per_block), len(layouts)
    )


def piecewise_draws_program(
    options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[numpy.dtype[Any]], max_shared_bytes: int
) -> Program:
    """Return the program that draws integers or ziggurat numbers, with the state after them, from a state.

    The arguments are the state and, for integers, their bounds. The options are the bit generator and the distribution
    ("integers", "normal" or "exponential"); for integers also the bits of a piece, and how many pieces 64 integers
    consume on average. A block has at most `max_shared_bytes` of shared memory.
    """
    name, distribution, *integer_options = options
    count, dtype = prod(layouts[0].shape), dtypes[0]
    bits = integer_options[0] if integer_options else 8 * dtype.itemsize
    pieces_per_number = integer_options[1] / 64 if integer_options else _PIECES_PER_NUMBER[distribution]
    is_ziggurat = distribution != "integers"
    slots = _WARP * THREAD_PIECES // QUICK_PIECES_PER_SLOW + 2 * _WARP if is_ziggurat else 1
    copies = LAYER_BYTES // (2 * dtype.itemsize) if is_ziggurat else 0
    held_bytes = dtype.itemsize if is_ziggurat else bits // 8
    warps = min(WARPS[distribution], 32 // held_bytes) if distribution == "integers" else WARPS[distribution]
    while warps > 1 and _shared_bytes(warps, slots, held_bytes, is_ziggurat) > max_shared_bytes:
        warps -= 1
    threads, shared_bytes = _WARP * (warps + 1), _shared_bytes(warps, slots, held_bytes, is_ziggurat)
    tile = _WARP * warps * THREAD_PIECES
    # Enough tiles but for rare cases, in which one thread draws the missing numbers.
    tiles = -(-int(count * pieces_per_number + 8 * sqrt(count) + 32) // tile)
    builder = ProgramBuilder()
    all_numbers, all_tiles = builder.param(count), builder.param(tiles)
    chunks = -(-(tiles * tile * bits // 64 + CHUNK) // CHUNK) if name in CONGRUENTIAL else 1
    all_chunks = builder.param(chunks)
    head = [
        f"{source('random/streams')}\n",
        f"typedef {C_TYPE[dtype]} Value;\ntypedef u{bits} Piece;\n",
        f"const int BITS = {bits}, THREADS = {threads}, THREAD_PIECES = {THREAD_PIECES};\n",
        f"const int SLOTS = {slots}, COPIES = {copies};\n",
        f"const unsigned SHARED = {shared_bytes};\n",
        f"const bool SINGLE_PIECES = {str(not is_ziggurat).lower()};\n",
        _ziggurat_number(distribution, bits == 32) if is_ziggurat else source("random/draws_integers"),
        "\ntypedef Number::Held Held;\n",
        f"{_words(name)}{source('random/draws')}{_first_words(name)}",
    ]
    clear = f"if (t < {all_tiles}) {{\n      sums[t] = 0;\n      exits[t] = 0;\n    }}\n    if (t == 0) *tickets = 0;"
    if name in CONGRUENTIAL:
        clear += f"\n    if (t >= {all_chunks}) continue;{_start_chunk(name, 'Pieces::leads(state)')}"
    tiles_or_chunks = max(tiles, chunks)
    builder.add_loop_entry("begin", "t", tiles_or_chunks, builder.param(tiles_or_chunks), clear)
    draw = f"""  extern __shared__ __align__(16) unsigned char memory[];
  const Pieces pieces(state, starts, {all_chunks});
  const Number number({"bounds" if distribution == "integers" else "0"});
  draw(out, after, pieces, number, {all_tiles}, {all_numbers}, exits, sums, tickets, memory);"""
    resident = max(1, min(_MIN_RESIDENT_THREADS // threads, max_shared_bytes // shared_bytes))
    builder.add_entry(
        "draw_tiles", draw, min(tiles, _MAX_BLOCKS), threads, shared_bytes, max_threads=threads, resident=resident
    )
    scratch = [
        ("Wide* starts", 32 * chunks),
        *(("u32* exits", 4 * tiles), ("u64* sums", 8 * tiles), ("u32* tickets", 4)),
    ]
    bounds = ["const u64* bounds"] if distribution == "integers" else []
    pointers = ["Value* out", "u64* after", "const u64* state", *bounds]
    return builder.build(pointers, scratch, head="".join(head))


def _ziggurat_number(distribution: str, single: bool) -> str:
    """Return the C++ class `Number` of a ziggurat."""
    return (
        f"typedef Value Real;\n{source('random/ziggurat')}{ziggurat(distribution, single)}"
        f"typedef {distribution.capitalize()}Shape Shape;\n{source('random/draws_ziggurat')}"
    )


def _words(name: str) -> str:
    """Return the C++ class `Words`: a position in the stream, its word, and the step to the next."""
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
    """Return the definitions that `_words` only declares, which need `Pieces` of draws.cuh.

    The constructor of `Words` finds word `w`; `leave` writes the state in which word `w` is the next.
    """
    begin = "__device__ __forceinline__ Words::Words(const Pieces& pieces, i64 w)\n    : "
    if name == "philox":
        return f"""{begin}state(pieces.state), at(w - pieces.lead + i64(pieces.state[6])) {{}}
__device__ __forceinline__ void leave(u64* after, const Pieces& pieces, i64 w) {{
  const i64 at = Words(pieces, w).at;
  u64 carry = at > 0 ? u64(at - 1) / 4 : 0;  // whole blocks, added to the counter with carry
  after[6] = u64(at) - 4 * carry;  // consumed words of the block after those
  for (int k = 0; k < 4; ++k) {{
    after[k] = pieces.state[k] + carry;
    carry = after[k] < carry;
  }}
  for (int k = 4; k < 6; ++k) after[k] = pieces.state[k];
}}
"""
    level = CHUNK.bit_length() - 1
    return f"""{begin}c{{pieces.state[2], pieces.state[3]}} {{
  const i64 chunk = min(w >> {level}, pieces.chunks - 1);
  const Wide* start = pieces.starts + 2 * chunk;
  i64 place = w - (chunk << {level});
  x = op::wide_step(sums_in_chunk[min(place, i64({CHUNK - 1}))], start[1], start[0]);
  // Beyond the last chunk, where one thread draws the missing numbers.
  for (; place >= {CHUNK}; --place) step();
}}
__device__ __forceinline__ void leave(u64* after, const Pieces& pieces, i64 w) {{
  const Words words(pieces, w - {CONGRUENTIAL[name][2]});
  const u64 state[7] = {{words.x.hi, words.x.lo, words.c.hi, words.c.lo, 0, 0, 0}};
  for (int k = 0; k < 7; ++k) after[k] = state[k];
}}
"""


def _shared_bytes(warps: int, slots: int, held_bytes: int, is_ziggurat: bool) -> int:
    """Return the bytes of shared memory of a block: the size of `Block` in draws.cuh.

    `slots` is the memory of a row for slow pieces; `held_bytes` is what a number occupies until it is written.
    """
    row_bytes = 8 * THREAD_PIECES + 3 * slots + 12 + held_bytes * _WARP * (THREAD_PIECES + 1)
    return 256 * LAYER_BYTES * is_ziggurat + 2 * warps * (-(-row_bytes // 16) * 16 + 4) + 64
