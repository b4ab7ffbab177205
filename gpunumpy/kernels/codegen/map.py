"""Elementwise kernels: every loop point is computed by itself."""

from __future__ import annotations

from dataclasses import replace

from ...core.schedule.kernel import Body, Load
from .emit import Emitter, Tile
from .shape import LIGHT, ceil_div, has_walks, operations, pack_width, product, unravel
from .tile import emit_tiles, transposed
from .unit import Text, Unit

_THREADS = 256

# Threads walk along a row where at least this share of them has work there; else rows are cut up without regard.
_ROW_SHARE = 0.8

# Bytes that a thread should have on their way at once. Half of it is enough for a copy; a body of many operations
# gains from fewer threads, as each works out its indices.
_IN_FLIGHT = 64

# Bytes of registers that loads may take.
_HELD = 256

# Points of a thread that makes random words, at once; to find the first of them takes long, so it takes many in turn,
# as long as there are so many threads.
_WALKED, _TURNS, _WALKERS = 4, 64, 1 << 19

_MOST = 8  # vectors of a thread
_POINTS = 8  # points of a thread, in a body of many operations: every copy of it costs compile time


def emit_map(unit: Unit) -> None:
    """Emit an elementwise kernel, innermost loop along the threads."""
    kernel = unit.kernel
    if not kernel.shape:
        _launch(unit, Tile((), place=("const int left = threadIdx.x == 0;",), whole="false"), 1)
        return
    across, loads = transposed(unit)
    if loads:
        emit_tiles(unit, across, loads)
        return
    lane = len(kernel.shape) - 1
    width = pack_width(unit, lane)
    count = _flight(unit, lane, width)
    vectors = ceil_div(kernel.shape[-1], width)
    share = vectors / (ceil_div(vectors, _THREADS) * _THREADS)
    if lane > 0 and share >= _ROW_SHARE:
        _emit_rows(unit, width, count, vectors)
    else:
        _emit_flat(unit, width, count, vectors)


def _flight(unit: Unit, lane: int, width: int) -> int:
    """How many vectors a thread loads before it computes."""
    body, args = unit.kernel.body, unit.kernel.args
    loads = [instr for instr in body.instrs if isinstance(instr, Load) and instr.at.coef[lane] != 0]
    if lane > 0:  # what is the same in every row is loaded once
        loads = [instr for instr in loads if any(instr.at.coef[:lane])]
    # Neighbours, as of a stencil, are mostly loaded by other vectors too: they count once. Where they keep accesses
    # from being made by vectors, they are arguments of their own, which walk alike.
    distinct = {instr.at.coef if width == 1 else instr.arg: args[instr.arg].dtype.itemsize for instr in loads}
    moved = width * max(sum(distinct.values()), sum(args[store.arg].dtype.itemsize for store in body.stores))
    held = width * sum(args[instr.arg].dtype.itemsize for instr in loads)
    if not loads and has_walks(body):
        return max(1, _WALKED // width)
    light = operations(body) <= LIGHT
    count = _MOST
    while count > 1 and (count * moved > _IN_FLIGHT or count * held > _HELD or (not light and count * width > _POINTS)):
        count //= 2
    return count


def _emit_flat(unit: Unit, width: int, count: int, vectors: int) -> None:
    """Vectors of all rows in one sequence."""
    shape = unit.kernel.shape
    lane = len(shape) - 1
    total = product(shape[:-1]) * vectors
    names = tuple(f"i{d}" for d in range(len(shape)))
    last, size = unit.param(vectors, "vectors"), unit.size(lane)
    end = unit.param(total, "total") if lane else last
    place = [f"const Int q = base + u * {_THREADS} + Int(threadIdx.x);"]
    if lane:
        place += unravel(unit, "q", range(len(shape)), [*names[:-1], "c"], vectors)
    else:
        place.append("const Int c = q;")
    place.append(f"const Int i{lane} = c * {width};")
    place.append(f"const Int left = q < {end} ? {size} - i{lane} : 0;")
    tile_size = _THREADS * count
    if width == 1:
        whole = f"base + {tile_size} <= {end}"
    elif lane:
        whole = f"base + {tile_size} <= {end} && {size} % {width} == 0"
    else:
        whole = f"(base + {tile_size}) * {width} <= {size}"
    leap = (_THREADS - 1) * width + 1
    tile = Tile(names, lane, width, count, tuple(place), "whole", leap=leap, regular=not lane)
    if not lane and unit.kernel.region is None and has_walks(unit.kernel.body):
        _emit_turns(unit, tile, tile_size, vectors, whole)
        return
    head = [f"const Int base = Int(blockIdx.x) * {tile_size};", f"const bool whole = {whole};"]
    _launch(unit, tile, ceil_div(total, tile_size), head)


def _emit_turns(unit: Unit, tile: Tile, size: int, vectors: int, whole: str) -> None:
    """Several tiles of `size` vectors each in turn."""
    turns = max(1, min(_TURNS // (tile.count * tile.width), vectors // (tile.count * _WALKERS)))
    text = unit.entry(ceil_div(vectors, size * turns), _THREADS)
    share, end = unit.param(size * turns, "share"), unit.param(vectors, "vectors")
    text.line(f"const Int first = Int(blockIdx.x) * {share};")
    text.line(f"const Int stop = first + {share} < {end} ? first + {share} : {end};")
    emitter = Emitter(unit, text, unit.kernel.body, tile)
    emitter.walk(range(len(unit.kernel.body.instrs)), ["const Int base = first;"])
    with text.steps("base = first", "stop", size):
        text.line(f"const bool whole = {whole};")
        emitter.run([], stores=unit.kernel.body.stores)


def _emit_rows(unit: Unit, width: int, count: int, vectors: int) -> None:
    """A block takes a segment of the innermost loop in `count` rows."""
    shape = unit.kernel.shape
    lane = len(shape) - 1
    rows = product(shape[:-1])
    segments = ceil_div(vectors, _THREADS)
    names = tuple(f"i{d}" for d in range(len(shape)))
    end, size, across = unit.param(rows, "rows"), unit.size(lane), unit.param(segments, "segments")
    place = (
        "const Int row = row0 + u;",
        *unravel(unit, "row", range(lane), names[:-1]),
        f"const Int left = row < {end} ? {size} - i{lane} : 0;",
    )
    head = [
        f"const Int group = {unit.quotient('Int(blockIdx.x)', segments, 'segments')};",
        f"const Int segment = Int(blockIdx.x) - group * {across};",
        f"const Int row0 = group * {count};",
        f"const Int i{lane} = (segment * {_THREADS} + Int(threadIdx.x)) * {width};",
        f"const bool whole = row0 + {count} <= {end} && (segment + 1) * {_THREADS * width} <= {size};",
    ]
    tile = Tile(names, lane, width, count, place, "whole", (lane,))
    _launch(unit, tile, ceil_div(rows, count) * segments, head)


def _launch(unit: Unit, tile: Tile, blocks: int, head: list[str] | None = None) -> None:
    text = unit.entry(blocks, _THREADS)
    for line in head or []:
        text.line(line)
    if unit.kernel.region is None:
        _emit_body(unit, text, unit.kernel.body, tile)
        return
    # Inside the region and outside, other elements are read. A thread whose points are all inside loads them together,
    # and so does one whose points are all outside; elsewhere each point goes its own way.
    outside = unit.kernel.outside
    assert outside is not None
    text.line("bool within = true, without = true;")
    with text.loop("u", tile.count):
        for line in tile.place:
            text.line(line)
        text.line(f"const bool inside = {_inside(unit, tile)};")
        text.line(f"within = within && left >= {tile.width} && inside;")
        text.line("without = without && !inside;")
    with text.block("if (within)"):
        _emit_body(unit, text, unit.kernel.body, replace(tile, whole="true"))
    with text.block("else if (without)"):
        _emit_body(unit, text, outside, tile)
    with text.block("else"), text.steps("r = 0", str(tile.count), 1):
        text.line("const int u = int(r);")
        for line in tile.place:
            text.line(line)
        one = replace(tile, count=1, place=(), whole="false", steady=())
        with text.block(f"if ({_inside(unit, tile)})"):
            _emit_body(unit, text, unit.kernel.body, one)
        with text.block("else"):
            _emit_body(unit, text, outside, one)


def _inside(unit: Unit, tile: Tile) -> str:
    """The condition that the indices at hand are in the region. (Lanes are along a loop that is wholly inside.)"""
    region = unit.kernel.region
    assert region is not None
    return " && ".join(
        f"{name} >= {unit.param(low, ('low', d))} && {name} < {unit.param(high, ('high', d))}"
        for d, ((low, high), name) in enumerate(zip(region, tile.index, strict=True))
        if (low, high) != (0, unit.kernel.shape[d])
    )


def _emit_body(unit: Unit, text: Text, body: Body, tile: Tile) -> None:
    Emitter(unit, text, body, tile).run([], stores=body.stores)
