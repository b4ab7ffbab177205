"""Updates and scatters: what writes into memory that may hold a value which others still read.

Where nothing else needs the old value, it is written over; else a kernel writes a fresh buffer, new values inside the
region and old ones outside.
"""

from __future__ import annotations

from math import prod

from ..graph import layout
from ..graph.layout import Layout
from ..graph.primitives import Leaf, Scatter, Update
from . import kernel as ir
from .groups import Group, Placement
from .lower import INT64, Source, compose, identity
from .steps import RunLibraryCall


def place_update(placement: Placement, a: int, primitive: Update) -> None:
    """Write an update into the memory of its base, or into memory of its own."""
    base, value = placement.items[a].args
    where = primitive.region
    source = _base(placement, base)
    box = _unit_box(placement.items[a].signature.shape, where)
    if source is not None and _may_overwrite(placement, base):
        clash = _clash(placement, a, base, where)
        if not clash:
            _write_in_place(placement, a, where, source, value)
            return
        large = 2 * prod(where.shape) >= prod(placement.items[a].signature.shape)
        if not (box is not None and large):
            # The right side reads what is overwritten: compute it before that is written.
            _write_in_place(placement, a, where, source, value, _copy_before_write(placement, value))
            return
    if box is None:
        copy = placement.new(placement.items[a].signature.shape, 0, "an update with steps copies its base first")
        at = identity(len(copy.loops), range(len(copy.loops)))
        copy.closed = True
        copy.anchors[a] = (copy.builder.value(base, at), at)
        placement.home[a] = copy.number
        _write_in_place(placement, a, where, Source("new", a), value)
        return
    _write_fresh(placement, a, where, box, base, value)


def place_scatter(placement: Placement, a: int, primitive: Scatter) -> None:
    """Write elements by index into the memory of the base, or into a copy of it."""
    item = placement.items[a]
    f = item.signature
    base = item.args[0]
    source = _base(placement, base)
    if source is not None and _may_overwrite(placement, base):
        placement.adopted[a] = source
    else:
        group = placement.new(f.shape, 0, "an indexed write that leaves the old array as it is")
        group.closed = True
        at = identity(len(f.shape), range(len(f.shape)))
        group.anchors[a] = (group.builder.operand(base, f.shape, at, f.dtype), at)
        placement.home[a] = group.number
    windows, dtypes = placement.windows(item.args[1:])
    # The last argument is the number by which an index out of bounds is reported.
    location = Source("location", a), Layout((), (), 0)
    options = primitive.count, primitive.op, f.shape
    reason = "an indexed write is a library call of its own"
    placement.home[a] = len(placement.groups)
    placement.groups.append(RunLibraryCall("scatter", options, (*windows, location), (*dtypes, INT64), a, reason))


def _base(placement: Placement, position: int) -> Source | None:
    """Where the base of an update is stored, or None if it is an expression."""
    if isinstance(placement.items[position].signature.primitive, Leaf):
        return Source("leaf", position)
    if position not in placement.graph.anchor_set:
        return None
    placement.loaded.add(position)
    return Source("new", position)


def _may_overwrite(placement: Placement, base: int) -> bool:
    """Whether nothing else needs the old value any more."""
    item = placement.items[base]
    f = item.signature
    if isinstance(f.primitive, Leaf):
        if not placement.overwrite or f.primitive.origin or not layout.is_c(f.shape, f.primitive.strides):
            return False
        same = placement.sharing[item.buffer]
    else:
        if base in placement.roots:
            return False
        same = [base]
    return not any(placement.readers[p] for p in same)


def _clash(placement: Placement, a: int, base: int, where: Layout) -> bool:
    """Whether the new value reads the base's buffer at any element but the one that it replaces."""
    probe = Group(where.shape, 0, len(placement.groups), "")
    probe.builder = placement.builder(probe, where.shape)
    loaded = set(placement.loaded)
    imap = identity(len(where.shape), range(len(where.shape)))
    f = placement.items[base].signature
    probe.builder.operand(placement.items[a].args[1], where.shape, imap, f.dtype)
    placement.loaded = loaded
    storage = placement.items[base]
    for source, at in probe.builder.reads:
        other = placement.items[source.position]
        if source.position == base or (storage.buffer >= 0 and other.buffer == storage.buffer):
            shift = other.offset - storage.offset if source.kind == "leaf" else 0
            target = ir.Affine(where.offset - shift, _still(where))
            if at != target or other.signature.dtype != f.dtype:
                return True
    return False


def _copy_before_write(placement: Placement, value: int) -> Source:
    """The value of an expression in a fresh buffer of its own."""
    f = placement.items[value].signature
    group = placement.new(f.shape, 0, "the right side reads what the left side overwrites")
    group.closed = True
    at = identity(len(f.shape), range(len(f.shape)))
    number = group.builder.value(value, at)
    source = Source("copy", value)
    group.builder.store(source, number, f.dtype, compose(layout.c_strides(f.shape), 0, at, len(f.shape)))
    return source


def _write_in_place(
    placement: Placement, a: int, where: Layout, source: Source, value: int, copy: Source | None = None
) -> None:
    group = placement.new(where.shape, 0, "it writes a part of an array in place")
    group.closed = True
    f = placement.items[a].signature
    imap = identity(len(where.shape), range(len(where.shape)))
    if copy is None:
        number = group.builder.operand(value, where.shape, imap, f.dtype)
    else:
        number = group.builder.window(copy, value, where.shape, imap)
    at = ir.Affine(where.offset, _still(where))
    alias = next(
        (n for n, (s, arg) in enumerate(group.arg_list) if arg.kind == "in" and _same(placement, s, source)), -1
    )
    group.builder.store(Source("new", a), number, f.dtype, at, alias)
    if source != Source("new", a):
        placement.adopted[a] = source
    placement.home[a] = group.number


def _same(placement: Placement, one: Source, other: Source) -> bool:
    """Whether two arguments are the same memory."""
    a, b = placement.items[one.position].buffer, placement.items[other.position].buffer
    return one == other or (one.kind == other.kind == "leaf" and a == b >= 0)


def _write_fresh(
    placement: Placement,
    a: int,
    where: Layout,
    box: tuple[tuple[tuple[int, int], ...], tuple[int, ...]],
    base: int,
    value: int,
) -> None:
    """One kernel over the whole array that writes a fresh buffer: new values in the box, old ones outside."""
    f = placement.items[a].signature
    bounds, places = box
    group = placement.new(f.shape, 0, "an update that leaves the old array as it is")
    group.closed = True
    loops = len(f.shape)
    inside = tuple(
        ir.Affine(-bounds[p][0], tuple(1 if k == p else 0 for k in range(loops)))
        if p >= 0
        else ir.Affine(0, (0,) * loops)
        for p in places
    )
    full = identity(loops, range(loops))
    at = compose(layout.c_strides(f.shape), 0, full, loops)
    number = group.builder.operand(value, where.shape, inside, f.dtype)
    group.builder.store(Source("new", a), number, f.dtype, at)
    group.outside = placement.builder(group, f.shape)
    old = group.outside.operand(base, f.shape, full, f.dtype)
    group.outside.store(Source("new", a), old, f.dtype, at)
    group.region = bounds
    placement.home[a] = group.number


def _still(where: Layout) -> tuple[int, ...]:
    return tuple(0 if n == 1 else s for n, s in zip(where.shape, where.strides, strict=True))


def _unit_box(shape: tuple[int, ...], where: Layout) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]] | None:
    """A region as a box of the array's index space.

    Returns the bounds of every dimension and, for every dimension of the region, the one of the array that it runs
    along (-1 where its size is 1); None for a region with steps.
    """
    parts = layout.decompose(shape, where.strides, where.offset, where.shape)
    if parts is None:
        return None
    starts, coefs = parts
    bounds = [(s, s + 1) for s in starts]
    places = []
    taken: set[int] = set()
    for n, coef in zip(where.shape, coefs, strict=True):
        if n == 1:
            places.append(-1)
            continue
        along = [k for k, c in enumerate(coef) if c]
        if len(along) != 1 or coef[along[0]] != 1 or along[0] in taken:
            return None
        taken.add(along[0])
        bounds[along[0]] = (starts[along[0]], starts[along[0]] + n)
        places.append(along[0])
    return tuple(bounds), tuple(places)
