"""Sorts on a GPU of the rows of an array, or of the positions that sort them: stable, NaN last.

A block sorts a short row by itself (`rows.cuh`); one launch sorts any number of rows. Longer rows are sorted by digits
of 8 bits, the least significant first (`passes.cuh`). One reading counts all digits; then a pass for each digit reads
and writes every element once. A block finds where its elements go from the counts that the blocks before it publish, as
in A. Adinets and D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs" (2022). The result does
not depend on the order in which blocks run.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy

from ...core.dtypes import KIND
from ...core.graph.layout import Layout
from ..codegen.program import Launch, Program, Scratch
from ..codegen.sources import source
from ..cuda.program_builder import EMPTY_PROGRAM


class Tile(NamedTuple):
    """Shape of a pass: threads of a block, elements of a thread, and blocks that share a multiprocessor."""

    threads: int
    items: int
    blocks: int


# By the bytes of an element, for elements alone and for elements with their positions. These tiles need at most 64 KB
# of shared memory in a block, which every GPU has, and were the fastest of a dozen on an H200.
TILES = {1: Tile(256, 32, 3), 2: Tile(256, 32, 3), 4: Tile(256, 32, 3), 8: Tile(384, 12, 3)}
PAIR_TILES = {1: Tile(256, 20, 3), 2: Tile(256, 20, 3), 4: Tile(256, 20, 3), 8: Tile(256, 14, 3)}

# (most elements of a row, threads, elements of a thread) where a block sorts a row by itself.
_BLOCK_SORTS = ((256, 128, 2), (512, 256, 2), (1024, 256, 4), (2048, 256, 8), (4096, 256, 16))
_MAX_TINY_ELEMENTS = 128  # most elements of a row that is sorted by comparing each element with all others
_MAX_ROW_BYTES = 1 << 14  # most bytes of the keys of a row that a block sorts by itself
_TINY_THREADS = 256

# With fewer elements the tiles are smaller, so that more blocks work; with more, the chain of tiles would be too long.
_FEW_ELEMENTS = 1 << 19
# The aim for the number of blocks that count digits; and the fewest and most elements that one block counts.
_COUNT_BLOCKS, _SHARE_LIMITS = 1024, (1 << 12, 1 << 16)
_RADIX = 256  # as in sort.cuh
# Elements of a row from which on counts (with two bits of state) and positions are 8 bytes wide.
_LARGE_INDEX, _LARGE_PLACE = 1 << 30, 1 << 32

_UNSIGNED = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}
_KINDS = {"b": 0, "u": 0, "i": 1, "e": 2, "f": 2}
_INFINITE = {2: "0x7c00", 4: "0x7f800000", 8: "0x7ff0000000000000"}


def sort(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program that sorts every row."""
    return _program(layouts[1], dtypes[1], options[0], positions=False)


def argsort(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program for the positions that sort every row."""
    return _program(layouts[1], dtypes[1], options[0], positions=True)


def sort_upper(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program that sorts 64-bit numbers by their upper halves; the lower halves are already in order."""
    return _program(layouts[1], dtypes[1], False, positions=False, first=4)


def _program(layout: Layout, dtype: numpy.dtype[Any], descending: bool, positions: bool, first: int = 0) -> Program:
    """Return the program for rows of a layout; passes before the digit `first` are left out."""
    rows, n, begin = prod(layout.shape[:-1]), layout.shape[-1], layout.offset
    if not rows * n:
        return EMPTY_PROGRAM
    itemsize = dtype.itemsize
    head = (
        f"typedef {_UNSIGNED[itemsize]} Raw;\ntypedef {'long long' if positions else 'Raw'} Out;\n"
        f"const int KIND = {_KINDS[KIND[dtype]]};\nconst Raw INFINITE = {_INFINITE.get(itemsize, '0')};\n"
        f"const bool DESCENDING = {str(bool(descending)).lower()}, POSITIONS = {str(positions).lower()};\n"
        f"const int FIRST_PASS = {first};\n"
    )
    if n <= _MAX_TINY_ELEMENTS:
        return _sort_tiny_rows(head, rows, n, begin)
    for max_elements, threads, items in _BLOCK_SORTS:
        if n <= max_elements and max_elements * max(itemsize, 4) <= _MAX_ROW_BYTES:
            sizes = f"#define LANES 0\nconst int THREADS = {threads}, ITEMS = {items};\n"
            text = f"{head}{sizes}{source('sort/sort', 'sort/rows')}"
            return Program(text, (Launch("sort_row", (rows, 1, 1), (threads, 1, 1)),), (), False, (rows, n, begin))
    return _sort_in_passes(head, rows, n, begin, itemsize, positions)


def _sort_tiny_rows(head: str, rows: int, n: int, start: int) -> Program:
    """Return a program with several rows in a block, and a thread to each element."""
    lanes = 1 << (n - 1).bit_length() if n <= 32 else -(-n // 32) * 32
    rows_per_block = _TINY_THREADS // lanes
    threads = rows_per_block * lanes
    text = f"{head}#define LANES {lanes}\nconst int THREADS = {threads};\n{source('sort/sort', 'sort/rows')}"
    launch = Launch("sort_tiny", (-(-rows // rows_per_block), 1, 1), (threads, 1, 1))
    return Program(text, (launch,), (), False, (rows, n, start))


def _sort_in_passes(head: str, rows: int, n: int, begin: int, itemsize: int, positions: bool) -> Program:
    """Return a program with many blocks to a row, and a pass to each digit."""
    tile = (PAIR_TILES if positions else TILES)[itemsize]
    if rows * n < _FEW_ELEMENTS:
        tile = tile._replace(items=max(tile.items // 4, 1))
    index_bytes, place_bytes = 4 if n < _LARGE_INDEX else 8, 4 if n < _LARGE_PLACE else 8
    tiles = -(-n // (tile.threads * tile.items))
    share = min(max(rows * n // _COUNT_BLOCKS, _SHARE_LIMITS[0]), _SHARE_LIMITS[1])
    text = (
        f"{head}typedef {_UNSIGNED[index_bytes]} Index;\ntypedef {_UNSIGNED[place_bytes]} Place;\n"
        f"const int THREADS = {tile.threads}, ITEMS = {tile.items}, BLOCKS = {tile.blocks};\n"
        "#define PARAMETERS Out* __restrict__ out, const Raw* __restrict__ x, void* spare, Index* counts, \\\n"
        "    Index* states, u32* passes, u32* tickets, long long rows, long long n, long long begin, \\\n"
        "    long long tiles, long long share\n"
        f"{source('sort/sort', 'sort/passes')}"
    )
    counters, state_words = rows * itemsize * _RADIX, rows * tiles * _RADIX
    scratch = (
        Scratch(rows * n * (2 * (itemsize + place_bytes) if positions else itemsize)),
        Scratch(counters * index_bytes),
        Scratch(min(itemsize, 2) * state_words * index_bytes),
        Scratch(4 * rows),
        Scratch(4),
    )
    shared = tile.threads * tile.items * (itemsize + place_bytes * positions)
    shared += _RADIX * (index_bytes + 8 * (tile.threads // 32))
    blocks, block = (rows * tiles, 1, 1), (tile.threads, 1, 1)
    launches = (
        Launch("sort_clear", (-(-max(counters, state_words) // tile.threads), 1, 1), block),
        Launch("sort_count", (rows * -(-n // share), 1, 1), (_RADIX, 1, 1)),
        *(Launch("sort_pass", blocks, block, shared) for _ in range(itemsize)),
    )
    return Program(text, launches, scratch, False, (rows, n, begin, tiles, share))
