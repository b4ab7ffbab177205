"""Library calls of masks on a GPU: counts of the elements that tiles select, and these elements or their positions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any

from ...core.graph.layout import Layout
from ..codegen.program import Launch, Program, Scratch
from ..codegen.sources import source

# The type as which an element is moved, by its bytes: an integer, for complex128 two.
_MOVE_TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long", 16: "ulonglong2"}

_ELEMENTS = """
extern "C" __global__ void mask_elements(
    {T}* out, const {T}* values, const unsigned char* mask, const long long* offsets, long long n) {{
  await_kernels_before();
  for_each_selected(mask, offsets, n, [=](long long place, long long i) {{ out[place] = values[i]; }});
}}
"""

_BLOCK = (256, 1, 1)


@cache
def _source_for_tiles(size: int) -> str:
    """Return the C++ of the kernels for tiles of so many elements."""
    return f"const int TILE = {size};\n" + source("codegen/dependent", "codegen/last_block", "indexing/masks")


def mask_offsets(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program for the number of selected elements before each tile, and in all."""
    offsets, _, mask = layouts
    tiles = offsets.shape[0] - 1
    launch = Launch("mask_offsets", (max(tiles, 1), 1, 1), _BLOCK, waits=True)
    finished = Scratch(4, zeroed=True)
    return Program(_source_for_tiles(options[0]), (launch,), (finished,), False, (prod(mask.shape), tiles))


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
    return Program(text, launches, (), False, (prod(mask.shape),))
