"""Sorts on a GPU: the rows of an array, or the positions that sort them; stable, NaN last.

A short row is sorted by one block (`sort_rows.cuh`), in one launch however many there are. Longer ones are sorted by
their digits of 8 bits, the least significant first (`sort_passes.cuh`). All digits are counted in one reading; then a
pass for each digit reads and writes every element once: a block finds where its elements go from what the blocks
before it have published, as in A. Adinets and D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for
GPUs" (2022). Nothing depends on the order in which blocks run, so results are the same every time.
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
from ..cuda.routine import NOTHING


class Tile(NamedTuple):
    """What a block moves in a pass: its threads, the elements of a thread, and how many blocks share a processor."""

    threads: int
    items: int
    blocks: int


# By the bytes of an element, for elements alone and for elements with their positions. A block may have 64 KB of shared
# memory on every GPU; these were the fastest of a dozen on an H200.
TILES = {1: Tile(256, 32, 3), 2: Tile(256, 32, 3), 4: Tile(256, 32, 3), 8: Tile(384, 12, 3)}
PAIR_TILES = {1: Tile(256, 20, 3), 2: Tile(256, 20, 3), 4: Tile(256, 20, 3), 8: Tile(256, 14, 3)}

# Threads and elements of a thread for rows of so many elements, which a block sorts by itself.
_ROWS = ((256, 128, 2), (512, 256, 2), (1024, 256, 4), (2048, 256, 8), (4096, 256, 16))
_TINY = 128  # elements of a row at most, that are compared with each other
_ROW_BYTES = 1 << 14  # of the keys of such a row
_TINY_THREADS = 256

# Below so many elements the tiles are smaller, so that there are more of them; above, their chain would be too long.
_FEW = 1 << 19
# The blocks that count are to be so many, if each has this many elements at least, and at most.
_COUNTING, _SHARES = 1024, (1 << 12, 1 << 16)
_RADIX = 256  # as in sort.cuh
_LARGE_INDEX, _LARGE_PLACE = 1 << 30, 1 << 32

_UNSIGNED = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}
_KINDS = {"b": 0, "u": 0, "i": 1, "e": 2, "f": 2}
_INFINITE = {2: "0x7c00", 4: "0x7f800000", 8: "0x7ff0000000000000"}


def sort(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """The elements of every row in order."""
    return _program(layouts[1], dtypes[1], options[0], positions=False)


def argsort(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """The positions that sort every row."""
    return _program(layouts[1], dtypes[1], options[0], positions=True)


def sort_upper(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Numbers of 64 bits, of which the lower halves are in order, by their upper halves."""
    return _program(layouts[1], dtypes[1], False, positions=False, first=4)


def _program(where: Layout, dtype: numpy.dtype[Any], descending: bool, positions: bool, first: int = 0) -> Program:
    rows, n, begin = prod(where.shape[:-1]), where.shape[-1], where.offset
    if not rows * n:
        return NOTHING
    size = dtype.itemsize
    head = (
        f"typedef {_UNSIGNED[size]} Raw;\ntypedef {'long long' if positions else 'Raw'} Out;\n"
        f"const int KIND = {_KINDS[KIND[dtype]]};\nconst Raw INFINITE = {_INFINITE.get(size, '0')};\n"
        f"const bool DESCENDING = {str(bool(descending)).lower()}, POSITIONS = {str(positions).lower()};\n"
        f"const int FIRST_PASS = {first};\n"
    )
    if n <= _TINY:
        return _tiny(head, rows, n, begin)
    for longest, threads, items in _ROWS:
        if n <= longest and longest * max(size, 4) <= _ROW_BYTES:
            sizes = f"#define LANES 0\nconst int THREADS = {threads}, ITEMS = {items};\n"
            text = f"{head}{sizes}{source('sort/sort', 'sort/rows')}"
            return Program(text, (Launch("sort_row", (rows, 1, 1), (threads, 1, 1)),), (), False, (rows, n, begin))
    return _passes(head, rows, n, begin, size, positions)


def _tiny(head: str, rows: int, n: int, begin: int) -> Program:
    """Several rows a block, a thread an element."""
    lanes = 1 << (n - 1).bit_length() if n <= 32 else -(-n // 32) * 32
    taken = _TINY_THREADS // lanes
    threads = taken * lanes
    text = f"{head}#define LANES {lanes}\nconst int THREADS = {threads};\n{source('sort/sort', 'sort/rows')}"
    launch = Launch("sort_tiny", (-(-rows // taken), 1, 1), (threads, 1, 1))
    return Program(text, (launch,), (), False, (rows, n, begin))


def _passes(head: str, rows: int, n: int, begin: int, size: int, positions: bool) -> Program:
    """Many blocks a row."""
    tile = (PAIR_TILES if positions else TILES)[size]
    if rows * n < _FEW:
        tile = tile._replace(items=max(tile.items // 4, 1))
    index, place = 4 if n < _LARGE_INDEX else 8, 4 if n < _LARGE_PLACE else 8
    tiles = -(-n // (tile.threads * tile.items))
    share = min(max(rows * n // _COUNTING, _SHARES[0]), _SHARES[1])
    text = (
        f"{head}typedef {_UNSIGNED[index]} Index;\ntypedef {_UNSIGNED[place]} Place;\n"
        f"const int THREADS = {tile.threads}, ITEMS = {tile.items}, BLOCKS = {tile.blocks};\n"
        "#define PARAMETERS Out* __restrict__ out, const Raw* __restrict__ x, void* spare, Index* counts, \\\n"
        "    Index* states, u32* passes, u32* tickets, long long rows, long long n, long long begin, \\\n"
        "    long long tiles, long long share\n"
        f"{source('sort/sort', 'sort/passes')}"
    )
    words, states = rows * size * _RADIX, rows * tiles * _RADIX
    scratch = (
        Scratch(rows * n * (2 * (size + place) if positions else size)),
        Scratch(words * index),
        Scratch(min(size, 2) * states * index),
        Scratch(4 * rows),
        Scratch(4),
    )
    shared = tile.threads * tile.items * (size + place * positions) + _RADIX * (index + 8 * (tile.threads // 32))
    blocks, block = (rows * tiles, 1, 1), (tile.threads, 1, 1)
    launches = (
        Launch("sort_clear", (-(-max(words, states) // tile.threads), 1, 1), block),
        Launch("sort_count", (rows * -(-n // share), 1, 1), (_RADIX, 1, 1)),
        *(Launch("sort_pass", blocks, block, shared) for _ in range(size)),
    )
    return Program(text, launches, scratch, False, (rows, n, begin, tiles, share))
