"""Library calls of masks on a GPU: counts of the elements that tiles select, and these elements or their positions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any

from ...core.graph.layout import Layout
from ...core.graph.library_calls.elements import MAX_UNSUMMED_TILES
from ..codegen.program import Launch, Program
from ..codegen.sources import source

# The type as which an element is moved, by its bytes: an integer, for complex128 two.
_MOVE_TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long", 16: "ulonglong2"}

_ELEMENTS = """
extern "C" __global__ void mask_elements(
    {T}* out, const {T}* values, const unsigned char* mask, const long long* offsets, long long n,
    long long is_summed) {{
  await_kernels_before();
  for_each_selected(mask, offsets, n, is_summed, [=](long long place, long long i) {{ out[place] = values[i]; }});
}}
"""

_BLOCK = (256, 1, 1)


@cache
def _source_for_tiles(size: int) -> str:
    """Return the C++ of the kernels for tiles of so many elements."""
    return f"const int TILE = {size};\n" + source("codegen/dependent", "indexing/masks")


def mask_offsets(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program for the number of selected elements of each tile, or if these are many, before it and in all."""
    n = prod(layouts[1].shape)
    tiles = layouts[0].shape[0] - 1
    launches: tuple[Launch, ...] = (Launch("mask_count", (max(tiles, 1), 1, 1), _BLOCK, waits=True),)
    if tiles > MAX_UNSUMMED_TILES:
        launches += (Launch("mask_sum", (1, 1, 1), (1024, 1, 1), waits=True),)
    return Program(_source_for_tiles(options[0]), launches, (), False, (n, tiles))


def mask_positions(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program for the positions of the selected elements."""
    return _select_program("mask_positions", _source_for_tiles(options[0]), layouts)


def mask_elements(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program for the selected elements of an array."""
    text = _source_for_tiles(options[0]) + _ELEMENTS.format(T=_MOVE_TYPES[dtypes[0].itemsize])
    return _select_program("mask_elements", text, layouts)


def _select_program(entry: str, text: str, layouts: Sequence[Layout]) -> Program:
    """Return a program with one entry that has a block to each tile, and no launch if nothing is selected."""
    mask, offsets = layouts[-2:]
    tiles = offsets.shape[0] - 1
    launches = (Launch(entry, (tiles, 1, 1), _BLOCK, waits=True),) if tiles and prod(layouts[0].shape) else ()
    return Program(text, launches, (), False, (prod(mask.shape), int(tiles > MAX_UNSUMMED_TILES)))
