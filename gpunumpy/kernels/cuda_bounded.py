"""Random integers whose bounds differ, and the order that random swaps leave, on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

from ..core.device import Device
from ..core.layout import Layout
from .codegen.program import Program
from .cuda_program import Prepared, prepared
from .cuda_routine import Routine

# A block's threads, with 8 pieces each; and how many blocks there may be.
THREADS, _MOST_BLOCKS = 1024, 256
TILE = 8 * THREADS


def bounded_draws(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Any) -> Prepared:
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
    text = Routine()
    if falling is None:
        bounds, total = ["bounds[t]", "out[t] = value"], size
    else:
        last, rows = falling
        lowest = last + 1 - size // rows  # the first place
        draws = last + 1 - max(lowest, 1)
        total = draws * rows
        top, base, each, width = (text.param(x) for x in (last, lowest, draws, size // rows))
        if rows == 1:
            bounds = ["u32(top - t)", "out[top - t - base] = u64(value) << 32 | u64(top - t)"]
        else:
            put = "const i64 row = t / each * width, to = row + top - t % each"
            bounds = ["u32(top - t % each)", f"{put}; out[to] = u64(row + value) << 32 | u64(to)"]
        if lowest == 0:
            text.each("zeros", "row", rows, text.param(rows), f"out[row * {width}] = (u64(row) << 32 | row) * {width};")
    members = ["top", "base", "each", "width"] if falling else []
    head = (
        f"typedef {'u64' if falling else 'u32'} Out;\nconst int THREADS = {THREADS}, BITS = {bits};\n"
        f"const bool MASKED = {str(rule == 'masked').lower()}, LEAVES = {str(bool(falling) and rows == 1).lower()};\n"
        "struct Bounds {\n"
        f"  {'i64 ' + ', '.join(members) + ';' if members else 'const u32* bounds; static const u32 top = ~0u;'}\n"
        f"  __device__ u32 bound(i64 t) const {{ return {bounds[0]}; }}\n"
        f"  __device__ void put(Out* out, i64 t, u32 value) const {{ {bounds[1]}; }}\n}};\n{_text('bounded')}"
    )
    blocks = max(1, min(blocks, processors, _MOST_BLOCKS, -(-count // TILE)))
    text.each("clear", "k", 2 * _MOST_BLOCKS, text.param(2 * _MOST_BLOCKS), "told[k] = 0; if (k == 0) *taken = 0;")
    given = f"Bounds{{{', '.join((top, base, each, width)) if falling else 'bounds'}}}"
    many, wanted = text.param(count), text.param(total)
    body = f"  draw(out, taken, words, told, {given}, {many}, {wanted});"
    text.entry("draw_bounded", body, blocks, THREADS, most=THREADS)
    pointers = ["Out* out", "i64* taken", "const u32* words", *([] if falling else ["const u32* bounds"])]
    return text.program(pointers, [("u64* told", 2 * _MOST_BLOCKS * 8)], head=head)


def swapped(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """The order of elements after swaps: which element each place ends up with, from the lowest place on.

    The argument are the swaps, sorted.
    """
    n = prod(layouts[0].shape)
    text = Routine()
    total, lowest = text.param(n), text.param(options[0])
    text.each("clear", "q", n, total, "first[q] = NONE;")
    text.each("find", "q", n, total, f"find_first(first, swaps, q, {total}, u32({lowest}));")
    body = f"out[u32(swaps[q]) - {lowest}] = follow(first, swaps, q, {total}, u32({lowest}));"
    text.each("finish", "q", n, total, body)
    return text.program(["i64* out", "const u64* swaps"], [("u32* first", 4 * n)], head=_text("swaps"))


def sampled(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """A sample of a population, of integers that were drawn, and the same sorted, each above its position."""
    n = prod(layouts[0].shape)
    text = Routine()
    total, lowest = text.param(n), text.param(options[0])
    text.each("mark", "q", n, total, "again[u32(sorted[q])] = q && sorted[q - 1] >> 32 == sorted[q] >> 32;")
    text.each("finish", "t", n, total, f"out[t] = sampled(drawn, again, t, u32({lowest}));")
    return text.program(
        ["i64* out", "const u32* drawn", "const u64* sorted"], [("bool* again", n)], head=_text("swaps")
    )


@cache
def _text(name: str) -> str:
    return (Path(__file__).parent / f"{name}.cuh").read_text(encoding="utf-8")
