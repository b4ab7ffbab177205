"""Random integers with a bound each, and permutations from swaps, on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.graph.layout import Layout
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.program import prepare_program
from ..cuda.program_builder import ProgramBuilder

# Threads per block, and the most blocks (MAX_BLOCKS in bounded.cuh).
THREADS, _MAX_BLOCKS = 1024, 256
# Pieces of the stream per thread; the greater count from _MIN_WORDS_FOR_MORE words on.
_THREAD_PIECES, _MORE_THREAD_PIECES, _MIN_WORDS_FOR_MORE = 8, 16, 1 << 24
MAX_SHORT_ROW = 8192  # elements of a row that bounded_rows.cuh shuffles
_SHARE, _GROUP = 2048, 64  # SHARE and GROUP in bounded_rows.cuh


def bounded_draws(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Any) -> Runner:
    """Return what runs the program of `bounded_draws_program` on a device."""
    return prepare_program(
        device, bounded_draws_program(options, layouts, device.attributes.multiprocessors), len(layouts)
    )


def bounded_draws_program(options: tuple[Any, ...], layouts: Sequence[Layout], processors: int) -> Program:
    """Return the program that draws integers from 0 up to bounds, or the swaps of a shuffle, and counts their words.

    The results are the integers or swaps, and the count of words that they consume. The arguments are the words, as
    uint32, and the bounds if they are an array.

    The options are the rule, "masked" or "product"; the bits of a word that an integer consumes; the most blocks; and
    None for an array of bounds, or ``(last, rows)`` for falling bounds. Falling bounds are the places of a shuffle: in
    each row they fall from `last` to 1, or to the first place of the result. The results are then swaps (swaps.cuh) in
    the order of their places, which are counted on from row to row.

    Parameters
    ----------
    options
        As above.
    layouts
        The layouts of results and arguments.
    processors
        The count of multiprocessors of the device: all blocks must run concurrently.
    """
    rule, bits, max_blocks, falling = options
    word_count, size = layouts[2].shape[0], prod(layouts[0].shape)
    is_one_row = bool(falling) and falling[1] == 1
    has_more_pieces = rule == "masked" and is_one_row and word_count >= _MIN_WORDS_FOR_MORE
    thread_pieces = _MORE_THREAD_PIECES if has_more_pieces else _THREAD_PIECES
    builder = ProgramBuilder()
    if falling is None:
        bounds, total = ["bounds[t]", "out[t] = value"], size
    else:
        last, rows = falling
        lowest = last + 1 - size // rows  # the first place
        draws = last + 1 - max(lowest, 1)
        total = draws * rows
        top, base, row_draws, width = (builder.param(x) for x in (last, lowest, draws, size // rows))
        if is_one_row:
            bounds = ["u32(top - t)", "out[top - t - base] = u64(value) << 32 | u64(top - t)"]
        else:
            row = "const u32 row = u32(t) / u32(row_draws) * u32(width)"
            put = f"{row}, to = row + u32(top) - u32(t) % u32(row_draws)"
            bounds = ["u32(top) - u32(t) % u32(row_draws)", f"{put}; out[to] = u64(row + value) << 32 | to"]
        if lowest == 0:
            # Place 0 of each row swaps with itself, without a word.
            builder.add_loop_entry(
                "zeros", "row", rows, builder.param(rows), f"out[row * {width}] = (u64(row) << 32 | row) * {width};"
            )
    members = ["top", "base", "row_draws", "width"] if falling else []
    head = (
        f"typedef {'u64' if falling else 'u32'} Out;\n"
        f"const int THREADS = {THREADS}, THREAD_PIECES = {thread_pieces}, BITS = {bits};\n"
        f"const bool MASKED = {str(rule == 'masked').lower()}, BLOCKS_LEAVE = {str(is_one_row).lower()};\n"
        "struct Bounds {\n"
        f"  {'i64 ' + ', '.join(members) + ';' if members else 'const u32* bounds; static const u32 top = ~0u;'}\n"
        f"  __device__ u32 bound(i64 t) const {{ return {bounds[0]}; }}\n"
        f"  __device__ void put(Out* out, i64 t, u32 value) const {{ {bounds[1]}; }}\n}};\n{source('random/bounded')}"
    )
    bounds_and_count = (
        f"Bounds{{{', '.join((top, base, row_draws, width)) if falling else 'bounds'}}}, {builder.param(word_count)}"
    )
    pointers = ["Out* out", "i64* taken", "const u32* words", *([] if falling else ["const u32* bounds"])]
    if falling and not is_one_row and 1 < last + 1 <= MAX_SHORT_ROW:
        scratch = _add_short_rows(builder, bounds_and_count, total, word_count, last)
        return builder.build(pointers, scratch, head=f"{head}{source('random/bounded_rows')}")
    blocks = max(1, min(max_blocks, processors, _MAX_BLOCKS, -(-word_count // (thread_pieces * THREADS))))
    builder.add_loop_entry(
        "clear", "k", 2 * _MAX_BLOCKS, builder.param(2 * _MAX_BLOCKS), "published[k] = 0; if (k == 0) *taken = 0;"
    )
    body = f"  draw(out, taken, words, published, {bounds_and_count}, {builder.param(total)});"
    builder.add_entry("draw_bounded", body, blocks, THREADS, max_threads=THREADS)
    return builder.build(pointers, [("u64* published", 2 * _MAX_BLOCKS * 8)], head=head)


def _add_short_rows(
    builder: ProgramBuilder, bounds_and_count: str, total: int, word_count: int, row_draws: int
) -> list[tuple[str, int]]:
    """Add the entries that shuffle many short rows of `row_draws` draws each; return their scratch memory."""
    shares = -(-word_count // _SHARE)
    groups = -(-shares // _GROUP)
    words, all_shares, all_groups, cases, numbers = (
        builder.param(x) for x in (word_count, shares, groups, row_draws, total)
    )
    threads = min(-(-row_draws // 32) * 32, 1024)
    builder.add_entry("count_shares", f"  count_share(counts, words, {words}, int({cases}));", shares, threads)
    builder.add_loop_entry(
        *("count_groups", "k", groups * row_draws, builder.param(groups * row_draws)),
        f"groups[k] = u32(follow_group(counts, k / {cases}, {all_shares}, int({cases}), k % {cases}, [](i64, i64) {{}})"
        f" - k % {cases});",
    )
    builder.add_entry("follow", f"  follow_groups(starts, groups, {all_groups}, int({cases}));", 1, 1)
    builder.add_loop_entry(
        *("start_shares", "g", groups, all_groups),
        f"follow_group(counts, g, {all_shares}, int({cases}), starts[g],"
        " [=](i64 share, i64 t) { begin[share] = t; });",
    )
    body = f"  write_share(out, taken, words, {bounds_and_count}, {numbers}, begin[blockIdx.x]);"
    builder.add_entry("write_shares", body, shares, 32)
    return [
        ("u16* counts", 2 * shares * row_draws),
        ("u32* groups", 4 * groups * row_draws),
        ("i64* starts", 8 * groups),
        ("i64* begin", 8 * shares),
    ]


def permutation_of_swaps(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return the program that computes the permutation that swaps leave: the element at each place.

    The argument is the swaps, sorted; the option is the lowest place that is swapped, where the result begins.
    """
    count = prod(layouts[0].shape)
    builder = ProgramBuilder()
    total, lowest = builder.param(count), builder.param(options[0])
    builder.add_loop_entry("clear", "q", count, total, "first[q] = NONE;")
    builder.add_loop_entry("find", "q", count, total, f"find_first(first, swaps, q, {total}, u32({lowest}));")
    body = f"out[u32(swaps[q]) - {lowest}] = follow(first, swaps, q, {total}, u32({lowest}));"
    builder.add_loop_entry("finish", "q", count, total, body)
    return builder.build(["i64* out", "const u64* swaps"], [("u32* first", 4 * count)], head=source("random/swaps"))


def floyd_sample(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return the program that makes a sample without repetitions, by R. W. Floyd's algorithm (swaps.cuh).

    The arguments are the drawn integers, and the same integers sorted, as upper halves over their positions.
    """
    count = prod(layouts[0].shape)
    builder = ProgramBuilder()
    total, lowest = builder.param(count), builder.param(options[0])
    builder.add_loop_entry(
        "mark", "q", count, total, "is_repeated[u32(sorted[q])] = q && sorted[q - 1] >> 32 == sorted[q] >> 32;"
    )
    builder.add_loop_entry("finish", "t", count, total, f"out[t] = sample_at(drawn, is_repeated, t, u32({lowest}));")
    return builder.build(
        ["i64* out", "const u32* drawn", "const u64* sorted"],
        [("bool* is_repeated", count)],
        head=source("random/swaps"),
    )
