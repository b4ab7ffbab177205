"""The routines of masks on a GPU: counts of what tiles pick, and the picked elements or their positions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any

from ...core.graph.layout import Layout
from ..codegen.program import Launch, Program
from ..codegen.sources import source

# An element is moved as an integer of its size, and a complex128 as two.
_MOVED = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long", 16: "ulonglong2"}

_ELEMENTS = """
extern "C" __global__ void mask_elements(
    {T}* out, const {T}* values, const unsigned char* mask, const long long* offsets, long long n) {{
  pick(mask, offsets, n, [=](long long place, long long i) {{ out[place] = values[i]; }});
}}
"""

_BLOCK = (256, 1, 1)


@cache
def _source_for_tiles(size: int) -> str:
    """The kernels' text, for tiles of so many elements."""
    return f"const int TILE = {size};\n" + source("indexing/masks")


def mask_offsets(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """The tiles' counts, and their sums."""
    n = prod(layouts[1].shape)
    tiles = layouts[0].shape[0] - 1
    launches: tuple[Launch, ...] = (Launch("mask_count", (max(tiles, 1), 1, 1), _BLOCK, 0),)
    if tiles > 1:
        launches += (Launch("mask_sum", (1, 1, 1), (1024, 1, 1), 0),)
    return Program(_source_for_tiles(options[0]), launches, (), False, (n, tiles))


def mask_positions(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Where the picked elements are."""
    return _picking("mask_positions", _source_for_tiles(options[0]), layouts)


def mask_elements(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """The picked elements of an array."""
    text = _source_for_tiles(options[0]) + _ELEMENTS.format(T=_MOVED[dtypes[0].itemsize])
    return _picking("mask_elements", text, layouts)


def _picking(entry: str, text: str, layouts: Sequence[Layout]) -> Program:
    mask, offsets = layouts[-2:]
    tiles = offsets.shape[0] - 1
    launches = (Launch(entry, (tiles, 1, 1), _BLOCK, 0),) if tiles and prod(layouts[0].shape) else ()
    return Program(text, launches, (), False, (prod(mask.shape),))
