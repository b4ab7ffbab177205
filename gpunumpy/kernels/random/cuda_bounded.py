"""Random integers whose bounds differ, and the order that random swaps leave, on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.graph.layout import Layout
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.program import prepared
from ..cuda.routine import Routine

# A block's threads, and how many blocks there may be.
THREADS, _MAX_BLOCKS = 1024, 256
# The pieces of a thread; and those from so many words on.
_THREAD_PIECES, _MORE_THREAD_PIECES, _MIN_WORDS_FOR_MORE = 8, 16, 1 << 24
MAX_SHORT_ROW = 8192  # elements
_SHARE, _GROUP = 2048, 64  # as in bounded_rows.cuh


def bounded_draws(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Any) -> Runner:
    """Integers up to bounds, and how many words they take of those that are given."""
    return prepared(device, bounded(options, layouts, device.attributes.multiprocessors), len(layouts))


def bounded(options: tuple[Any, ...], layouts: Sequence[Layout], processors: int) -> Program:
    """The program of `bounded_draws`.

    The results are the integers and how many words they take; the arguments are the words, as uint32, and the bounds if
    they are an array. The options are the rule, "masked" or "product", of how many bits; how many blocks there are to
    be at most; and what the bounds are: None for an array, or (the last bound, how many rows there are). Then those of
    a row fall from the last place to 1, or to the first place of the result, and the results are swaps in the order of
    their places (swaps.cuh), which are counted on from row to row.
    """
    rule, bits, blocks, falling = options
    count, size = layouts[2].shape[0], prod(layouts[0].shape)
    one_row = bool(falling) and falling[1] == 1
    has_more_pieces = rule == "masked" and one_row and count >= _MIN_WORDS_FOR_MORE
    thread_pieces = _MORE_THREAD_PIECES if has_more_pieces else _THREAD_PIECES
    text = Routine()
    if falling is None:
        bounds, total = ["bounds[t]", "out[t] = value"], size
    else:
        last, rows = falling
        lowest = last + 1 - size // rows  # the first place
        draws = last + 1 - max(lowest, 1)
        total = draws * rows
        top, base, row_draws, width = (text.param(x) for x in (last, lowest, draws, size // rows))
        if one_row:
            bounds = ["u32(top - t)", "out[top - t - base] = u64(value) << 32 | u64(top - t)"]
        else:
            row = "const u32 row = u32(t) / u32(row_draws) * u32(width)"
            put = f"{row}, to = row + u32(top) - u32(t) % u32(row_draws)"
            bounds = ["u32(top) - u32(t) % u32(row_draws)", f"{put}; out[to] = u64(row + value) << 32 | to"]
        if lowest == 0:
            text.each("zeros", "row", rows, text.param(rows), f"out[row * {width}] = (u64(row) << 32 | row) * {width};")
    members = ["top", "base", "row_draws", "width"] if falling else []
    head = (
        f"typedef {'u64' if falling else 'u32'} Out;\n"
        f"const int THREADS = {THREADS}, THREAD_PIECES = {thread_pieces}, BITS = {bits};\n"
        f"const bool MASKED = {str(rule == 'masked').lower()}, BLOCKS_LEAVE = {str(one_row).lower()};\n"
        "struct Bounds {\n"
        f"  {'i64 ' + ', '.join(members) + ';' if members else 'const u32* bounds; static const u32 top = ~0u;'}\n"
        f"  __device__ u32 bound(i64 t) const {{ return {bounds[0]}; }}\n"
        f"  __device__ void put(Out* out, i64 t, u32 value) const {{ {bounds[1]}; }}\n}};\n{source('random/bounded')}"
    )
    given = f"Bounds{{{', '.join((top, base, row_draws, width)) if falling else 'bounds'}}}, {text.param(count)}"
    pointers = ["Out* out", "i64* taken", "const u32* words", *([] if falling else ["const u32* bounds"])]
    if falling and not one_row and 1 < last + 1 <= MAX_SHORT_ROW:
        return text.program(
            pointers, _short_rows(text, given, total, count, last), head=f"{head}{source('random/bounded_rows')}"
        )
    blocks = max(1, min(blocks, processors, _MAX_BLOCKS, -(-count // (thread_pieces * THREADS))))
    text.each("clear", "k", 2 * _MAX_BLOCKS, text.param(2 * _MAX_BLOCKS), "published[k] = 0; if (k == 0) *taken = 0;")
    body = f"  draw(out, taken, words, published, {given}, {text.param(total)});"
    text.entry("draw_bounded", body, blocks, THREADS, most=THREADS)
    return text.program(pointers, [("u64* published", 2 * _MAX_BLOCKS * 8)], head=head)


def _short_rows(text: Routine, given: str, total: int, count: int, most: int) -> list[tuple[str, int]]:
    """The entries for many short rows, and the memory that they need."""
    shares = -(-count // _SHARE)
    groups = -(-shares // _GROUP)
    words, all_shares, all_groups, cases, numbers = (text.param(x) for x in (count, shares, groups, most, total))
    threads = min(-(-most // 32) * 32, 1024)
    text.entry("count_shares", f"  count_share(counts, words, {words}, int({cases}));", shares, threads)
    text.each(
        *("count_groups", "k", groups * most, text.param(groups * most)),
        f"groups[k] = u32(follow_group(counts, k / {cases}, {all_shares}, int({cases}), k % {cases}, [](i64, i64) {{}})"
        f" - k % {cases});",
    )
    text.entry("follow", f"  follow_groups(starts, groups, {all_groups}, int({cases}));", 1, 1)
    text.each(
        *("start_shares", "g", groups, all_groups),
        f"follow_group(counts, g, {all_shares}, int({cases}), starts[g],"
        " [=](i64 share, i64 t) { begin[share] = t; });",
    )
    body = f"  write_share(out, taken, words, {given}, {numbers}, begin[blockIdx.x]);"
    text.entry("write_shares", body, shares, 32)
    return [
        ("u16* counts", 2 * shares * most),
        ("u32* groups", 4 * groups * most),
        ("i64* starts", 8 * groups),
        ("i64* begin", 8 * shares),
    ]


def swapped(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """The order of elements after swaps: which element each place ends up with, from the lowest place on.

    The argument is the swaps, sorted.
    """
    count = prod(layouts[0].shape)
    text = Routine()
    total, lowest = text.param(count), text.param(options[0])
    text.each("clear", "q", count, total, "first[q] = NONE;")
    text.each("find", "q", count, total, f"find_first(first, swaps, q, {total}, u32({lowest}));")
    body = f"out[u32(swaps[q]) - {lowest}] = follow(first, swaps, q, {total}, u32({lowest}));"
    text.each("finish", "q", count, total, body)
    return text.program(["i64* out", "const u64* swaps"], [("u32* first", 4 * count)], head=source("random/swaps"))


def sampled(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """A sample of a population, of integers that were drawn, and the same sorted, each above its position."""
    count = prod(layouts[0].shape)
    text = Routine()
    total, lowest = text.param(count), text.param(options[0])
    text.each("mark", "q", count, total, "is_repeated[u32(sorted[q])] = q && sorted[q - 1] >> 32 == sorted[q] >> 32;")
    text.each("finish", "t", count, total, f"out[t] = sample_at(drawn, is_repeated, t, u32({lowest}));")
    return text.program(
        ["i64* out", "const u32* drawn", "const u64* sorted"],
        [("bool* is_repeated", count)],
        head=source("random/swaps"),
    )
