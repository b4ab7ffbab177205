"""Elementwise kernels: kernels with no reduced loop, where every loop point is independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...core.schedule.kernel import Body, Load
from .emit import Emitter, Tile
from .shape import (
    MAX_LONG_BODY_POINTS,
    ceil_div,
    has_congruential_words,
    has_philox_blocks,
    is_light,
    most_points,
    pack_width,
    product,
    unravel,
)
from .tile import emit_transposed, find_transposed_loads
from .unit import Text, Unit

_THREADS = 256

# Blocks follow the rows if at least this share (4 of 5) of their threads has work then; else vectors of all rows are
# numbered in one sequence.
_MIN_ROW_OCCUPANCY = (4, 5)

# Bytes that a thread should have in flight at once. A copy reaches full bandwidth with half of it; a body of many
# operations gains from fewer threads, as each thread computes its indices.
_BYTES_IN_FLIGHT = 64

# Bytes of a thread's registers that loaded values may take.
_MAX_LOADED_BYTES = 256

# Points of a thread that makes random words: at once, and in all. The first word of a thread takes long to find, so a
# thread makes many, as long as this many threads are left.
_STREAM_POINTS_AT_ONCE, _MAX_STREAM_POINTS, _MIN_STREAM_THREADS = 4, 64, 1 << 19

_MAX_VECTORS = 8  # vectors of a thread at once


def emit_map(unit: Unit) -> None:
    """Emit an elementwise kernel. Neighbouring threads take neighbouring vectors of the innermost loop."""
    kernel = unit.kernel
    if not kernel.shape:
        _emit_entry(unit, Tile((), index_lines=("const int left = threadIdx.x == 0;",), whole="false"), 1)
        return
    across, loads = find_transposed_loads(unit)
    if loads:
        emit_transposed(unit, across, loads)
        return
    lane = len(kernel.shape) - 1
    if unit.is_small and not has_congruential_words(kernel.body) and not has_philox_blocks(kernel.body):
        # One point for a thread: vectors, and blocks that follow rows, gain no time that could be seen, and each needs
        # a program of its own for some sizes and alignments.
        _emit_flat(unit, 1, 1, kernel.shape[-1])
        return
    width = min(pack_width(unit, lane), 1 << (most_points(kernel.body).bit_length() - 1))
    count = _vectors_in_flight(unit, lane, width)
    vectors = ceil_div(kernel.shape[-1], width)
    share, whole = _MIN_ROW_OCCUPANCY
    if lane > 0 and whole * vectors >= share * ceil_div(vectors, _THREADS) * _THREADS:
        _emit_rows(unit, width, count, vectors)
    else:
        _emit_flat(unit, width, count, vectors)


def _vectors_in_flight(unit: Unit, lane: int, width: int) -> int:
    """Return how many vectors a thread loads before it computes; one if all of them are at once in flight anyway."""
    body, args = unit.kernel.body, unit.kernel.args
    loads = [instr for instr in body.instructions if isinstance(instr, Load) and instr.at.coef[lane] != 0]
    if lane > 0:  # loads that are the same in every row are made once
        loads = [instr for instr in loads if any(instr.at.coef[:lane])]
    # The neighbours that a stencil loads are mostly loaded by other vectors too, so they count once: by argument, or
    # by strides where the width is 1, as neighbours that prevent vector accesses may be arguments of their own.
    distinct = {instr.at.coef if width == 1 else instr.arg: args[instr.arg].dtype.itemsize for instr in loads}
    moved_bytes = width * max(sum(distinct.values()), sum(args[store.arg].dtype.itemsize for store in body.stores))
    loaded_bytes = width * sum(args[instr.arg].dtype.itemsize for instr in loads)
    if not loads and has_congruential_words(body):
        return max(1, _STREAM_POINTS_AT_ONCE // width)
    if unit.is_small:
        return 1
    light = is_light(body)
    points = min(MAX_LONG_BODY_POINTS, most_points(body))
    count = _MAX_VECTORS
    while count > 1 and (
        count * moved_bytes > _BYTES_IN_FLIGHT
        or count * loaded_bytes > _MAX_LOADED_BYTES
        or (not light and count * width > points)
    ):
        count //= 2
    return count


def _emit_flat(unit: Unit, width: int, count: int, vectors: int) -> None:
    """Emit an entry whose threads number the vectors of all rows in one sequence."""
    shape = unit.kernel.shape
    lane = len(shape) - 1
    total = product(shape[:-1]) * vectors
    names = tuple(f"i{d}" for d in range(len(shape)))
    last, size = unit.param(vectors, "vectors"), unit.size(lane)
    end = unit.param(total, "total") if lane else last
    numbered = unravel(unit, "q", range(len(shape)), [*names[:-1], "c"], vectors) if lane else ["const Int c = q;"]

    def index_lines(repeats_last: bool) -> tuple[str, ...]:
        return (
            f"const Int place = base + u * {_THREADS} + Int(threadIdx.x);",
            f"const Int q = {_at_most_last('place', end) if repeats_last else 'place'};",
            *numbered,
            f"const Int i{lane} = c * {width};",
            f"const Int left = place < {end} ? {size} - i{lane} : 0;",
        )

    tile_size = _THREADS * count
    if width == 1:
        whole = f"base + {tile_size} <= {end}"
    elif lane:
        whole = f"base + {tile_size} <= {end} && {size} % {width} == 0"
    else:
        whole = f"(base + {tile_size}) * {width} <= {size}"
    leap = (_THREADS - 1) * width + 1
    repeats_last, leaps_always = shape[lane] % width == 0, not lane
    tile = Tile(names, lane, width, count, index_lines(repeats_last), "whole", (), leap, leaps_always, repeats_last)
    if not lane and unit.kernel.region is None and has_congruential_words(unit.kernel.body):
        _emit_successive_tiles(unit, tile, tile_size, vectors, whole)
        return
    head = [f"const Int base = Int(blockIdx.x) * {tile_size};", f"const bool whole = {whole};"]
    _emit_entry(unit, tile, ceil_div(total, tile_size), head, index_lines(False))


def _emit_successive_tiles(unit: Unit, tile: Tile, size: int, vectors: int, whole: str) -> None:
    """Emit an entry whose blocks compute several tiles of `size` vectors, one after the other."""
    tiles = max(1, min(_MAX_STREAM_POINTS // (tile.count * tile.width), vectors // (tile.count * _MIN_STREAM_THREADS)))
    text = unit.entry(ceil_div(vectors, size * tiles), _THREADS)
    share, end = unit.param(size * tiles, "share"), unit.param(vectors, "vectors")
    text.line(f"const Int first = Int(blockIdx.x) * {share};")
    text.line(f"const Int end = first + {share} < {end} ? first + {share} : {end};")
    emitter = Emitter(unit, text, unit.kernel.body, tile)
    emitter.declare_streams(range(len(unit.kernel.body.instructions)), ["const Int base = first;"])
    with text.rolled("base = first", "end", size):
        text.line(f"const bool whole = {whole};")
        emitter.run([], stores=unit.kernel.body.stores)


def _at_most_last(place: str, end: str, step: int = 1) -> str:
    """Return the C expression of a place, or of the last one before the end if it is behind that.

    A load that is made in any case takes fewer instructions than one that is made if it exists.
    """
    return f"{place} < {end} ? {place} : {end} - {step}"


def _emit_rows(unit: Unit, width: int, count: int, vectors: int) -> None:
    """Emit an entry whose blocks take a segment of the innermost loop in `count` rows."""
    shape = unit.kernel.shape
    lane = len(shape) - 1
    rows = product(shape[:-1])
    segments = ceil_div(vectors, _THREADS)
    names = tuple(f"i{d}" for d in range(len(shape)))
    end, size, per_row = unit.param(rows, "rows"), unit.size(lane), unit.param(segments, "segments")
    repeats_last = shape[lane] % width == 0
    unraveled = unravel(unit, "row", range(lane), names[:-1])

    def index_lines(repeats_last: bool) -> tuple[str, ...]:
        return (
            "const Int place = row0 + u;",
            f"const Int row = {_at_most_last('place', end) if repeats_last else 'place'};",
            *unraveled,
            f"const Int left = place < {end} ? {size} - start : 0;",
        )

    head = [
        f"const Int group = {unit.quotient('Int(blockIdx.x)', segments, 'segments')};",
        f"const Int segment = Int(blockIdx.x) - group * {per_row};",
        f"const Int row0 = group * {count};",
        f"const Int start = (segment * {_THREADS} + Int(threadIdx.x)) * {width};",
        f"const Int i{lane} = {_at_most_last('start', size, width) if repeats_last else 'start'};",
        f"const bool whole = row0 + {count} <= {end} && (segment + 1) * {_THREADS * width} <= {size};",
    ]
    tile = Tile(names, lane, width, count, index_lines(repeats_last), "whole", (lane,), repeats_last=repeats_last)
    _emit_entry(unit, tile, ceil_div(rows, count) * segments, head, index_lines(False))


def _emit_entry(unit: Unit, tile: Tile, blocks: int, head: Sequence[str] = (), existing: tuple[str, ...] = ()) -> None:
    """Emit an entry: the lines of `head`, then the tile's values and stores, inside and outside of the region.

    `existing` has the index lines of the tile for vectors that exist.
    """
    text = unit.entry(blocks, _THREADS)
    for line in head:
        text.line(line)
    if unit.kernel.region is None:
        _emit_body(unit, text, unit.kernel.body, tile)
        return
    # The bodies inside and outside of the region read different elements. A thread whose points are all inside, or all
    # outside, computes them as one tile; any other thread computes its vectors one by one.
    outside = unit.kernel.outside
    assert outside is not None
    if tile.count * tile.width == 1:
        text.line("const int u = 0;")
        _emit_one_vector(unit, text, tile)
        return
    text.line("bool all_inside = true, all_outside = true;")
    with text.unrolled("u", tile.count):
        for line in tile.index_lines:
            text.line(line)
        text.line(f"const bool inside = {_inside_condition(unit, tile)};")
        text.line(f"all_inside = all_inside && left >= {tile.width} && inside;")
        text.line("all_outside = all_outside && !inside;")
    with text.block("if (all_inside)"):
        _emit_body(unit, text, unit.kernel.body, replace(tile, whole="true", index_lines=existing))
    with text.block("else if (all_outside)"):
        _emit_body(unit, text, outside, tile)
    with text.block("else"), text.rolled("r = 0", str(tile.count), 1):
        text.line("const int u = int(r);")
        _emit_one_vector(unit, text, tile)


def _emit_one_vector(unit: Unit, text: Text, tile: Tile) -> None:
    """Emit the body of vector ``u`` of a tile, inside or outside of the region."""
    outside = unit.kernel.outside
    assert outside is not None
    for line in tile.index_lines:
        text.line(line)
    one_vector = replace(tile, count=1, index_lines=(), whole="false", fixed_loops=())
    with text.block(f"if ({_inside_condition(unit, tile)})"):
        _emit_body(unit, text, unit.kernel.body, one_vector)
    with text.block("else"):
        _emit_body(unit, text, outside, one_vector)


def _inside_condition(unit: Unit, tile: Tile) -> str:
    """Return the C condition that the current indices are in the region.

    Where a vector has several lanes, the region spans their whole loop (`pack_width`).
    """
    region = unit.kernel.region
    assert region is not None
    return " && ".join(
        f"{name} >= {unit.param(low, ('low', d))} && {name} < {unit.param(high, ('high', d))}"
        for d, ((low, high), name) in enumerate(zip(region, tile.index, strict=True))
        if (low, high) != (0, unit.kernel.shape[d])
    )


def _emit_body(unit: Unit, text: Text, body: Body, tile: Tile) -> None:
    Emitter(unit, text, body, tile).run([], stores=body.stores)
