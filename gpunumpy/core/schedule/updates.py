"""The placing of what writes into a base whose old value may still be needed: updates, scatters, some library calls.

If nothing else needs the old value, it is overwritten in place. Otherwise a kernel writes a fresh buffer: new values
inside the region, old values outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..dtypes import INT64
from ..graph import layout
from ..graph.layout import Layout
from ..graph.library_calls.elements import EQUAL_VALUES
from ..graph.primitives import Gather, Leaf, Map, Scatter, Update
from . import kernel as ir
from .groups import Group, Placement
from .in_place import are_apart, is_same_buffer, join_in_place, strides_of_long_dims
from .lower import IndexMap, Item, Source, compose, map_to_loops
from .steps import RunLibraryCall


def place_update(placement: Placement, anchor: int, primitive: Update) -> None:
    """Place an update: in the memory of its base, or in a buffer of its own."""
    base, value = placement.items[anchor].args
    region = primitive.region
    source = _base_source(placement, base)
    box = _as_box(placement.items[anchor].signature.shape, region)
    if source is not None and _may_overwrite(placement, base):
        if join_in_place(placement, anchor, region, source):
            return
        loaded = set(placement.loaded)
        group, number = _computed_over_region(placement, anchor, region)
        if not _reads_overwritten(placement, group, base, region):
            group.in_place[anchor] = source
            _write_in_place(placement, anchor, region, source, group, number)
            return
        placement.loaded = loaded
        if box is None or not _is_written_anew(placement, anchor, region):
            # The new value reads elements that are overwritten: compute all of it before the first write.
            copied = _copy_before_write(placement, value)
            group = _over_region(placement, region)
            number = group.builder.load_copy(copied, value, region.shape, _region_map(region))
            _write_in_place(placement, anchor, region, source, group, number)
            return
    if box is None:
        copy = placement.new_group(
            placement.items[anchor].signature.shape, 0, "an update with steps copies its base first"
        )
        at = map_to_loops(len(copy.loops), range(len(copy.loops)))
        copy.closed = True
        copy.anchors[anchor] = (copy.builder.value(base, at), at)
        placement.group_of[anchor] = copy.number
        _write_in_place(
            placement, anchor, region, Source("new", anchor), *_computed_over_region(placement, anchor, region)
        )
        return
    _write_fresh(placement, anchor, region, box, base, value)


def place_scatter(placement: Placement, anchor: int, primitive: Scatter) -> None:
    """Place a scatter: a library call that writes elements by index into the memory of the base, or into a copy."""
    item = placement.items[anchor]
    signature = item.signature
    base = item.args[0]
    source = _base_source(placement, base)
    if source is not None and _may_overwrite(placement, base):
        placement.adopted[anchor] = source
    else:
        _place_copy(placement, anchor, base, "an indexed write that leaves the old array as it is")
    windows, dtypes = placement.call_arguments(item.args[1:])
    # The last argument is the number of the source location, for the report of an index out of bounds.
    location = Source("location", anchor), Layout((), (), 0)
    op = primitive.op or (EQUAL_VALUES if _writes_equal_values(placement, item, primitive.count) else "")
    options = primitive.count, op, signature.shape
    reason = "an indexed write is a library call of its own"
    placement.group_of[anchor] = len(placement.groups)
    placement.groups.append(RunLibraryCall("scatter", options, (*windows, location), (*dtypes, INT64), anchor, reason))


def begin_outputs(placement: Placement, outputs: Sequence[int], bases: Sequence[int], inputs: Sequence[Source]) -> None:
    """Have outputs of a library call begin as the values `bases`, in the memory of these or in copies of them.

    What the call reads is not overwritten: `inputs` are their sources. Nor is it for an output that nothing needs, of
    which the graph may have no node.
    """
    touched = [*inputs]
    for output, base in zip(outputs, bases, strict=True):
        is_needed = output in placement.roots or placement.unplaced_readers[output]
        source = _base_source(placement, base)
        if (
            source is not None
            and is_needed
            and _may_overwrite(placement, base)
            and not any(is_same_buffer(placement, source, other) for other in touched)
        ):
            placement.adopted[output] = source
            touched.append(source)
        else:
            _place_copy(placement, output, base, "a kernel that leaves the old array as it is")


def _place_copy(placement: Placement, anchor: int, base: int, reason: str) -> None:
    """Place a kernel that has the memory of an anchor begin as the value of its base."""
    signature = placement.items[anchor].signature
    group = placement.new_group(signature.shape, 0, reason)
    group.closed = True
    at = map_to_loops(len(signature.shape), range(len(signature.shape)))
    group.anchors[anchor] = (group.builder.operand(base, signature.shape, at, signature.dtype), at)
    placement.group_of[anchor] = group.number


def _is_written_anew(placement: Placement, anchor: int, region: Layout) -> bool:
    """Return whether an update that reads what it overwrites is better written to a new buffer, as a whole."""
    signature = placement.items[anchor].signature
    elements = prod(signature.shape)
    return elements * signature.dtype.itemsize <= placement.rewritten_bytes or 2 * prod(region.shape) >= elements


# Values of an expression that are looked at before it counts as any other.
_MAX_LOOKED_AT = 32


def _writes_equal_values(placement: Placement, scatter: Item, count: int) -> bool:
    """Return whether an indexed assignment writes the same to an element as often as it writes to it.

    So it is if the values are computed from what the same indices pick of arrays of that length, as of ``a[i] += 1``.
    """
    items, shape = placement.items, scatter.signature.shape
    indices = [items[p] for p in scatter.args[2:]]
    pending = [scatter.args[1]]
    for looked_at, position in enumerate(pending):  # which grows
        value = items[position]
        primitive = value.signature.primitive
        if isinstance(primitive, Gather):
            picked = items[value.args[0]].signature.shape
            if picked[: primitive.count] != shape[:count] or [items[p] for p in value.args[1:]] != indices:
                return False
        elif len(value.signature.shape) > len(shape) - count:  # else it is the same for all indices
            if not isinstance(primitive, Map) or looked_at == _MAX_LOOKED_AT:
                return False
            pending += value.args
    return True


def _base_source(placement: Placement, position: int) -> Source | None:
    """Return the source of the base of an update, or None if the base is an expression that is not stored."""
    if isinstance(placement.items[position].signature.primitive, Leaf):
        return Source("leaf", position)
    if position not in placement.graph.anchor_set:
        return None
    placement.loaded.add(position)
    return Source("new", position)


def _may_overwrite(placement: Placement, base: int) -> bool:
    """Return whether the buffer of the base may be overwritten: nothing else needs its old value."""
    item = placement.items[base]
    signature = item.signature
    if isinstance(signature.primitive, Leaf):
        if (
            not placement.overwrite
            or signature.primitive.origin
            or not layout.is_c_contiguous(signature.shape, signature.primitive.strides)
        ):
            return False
        nodes_in_buffer = placement.nodes_by_buffer[item.buffer]
    else:
        if base in placement.roots:
            return False
        nodes_in_buffer = [base]
    return not any(placement.unplaced_readers[p] for p in nodes_in_buffer)


def _over_region(placement: Placement, region: Layout) -> Group:
    """Return a kernel over the region of an update, which is not placed yet."""
    group = Group(region.shape, 0, len(placement.groups), "it writes a part of an array in place")
    group.builder = placement.builder(group, region.shape)
    group.closed = True
    group.domain, group.loop_of_dim = region.shape, tuple(range(len(region.shape)))
    return group


def _region_map(region: Layout) -> IndexMap:
    return map_to_loops(len(region.shape), range(len(region.shape)))


def _computed_over_region(placement: Placement, anchor: int, region: Layout) -> tuple[Group, int]:
    """Return a kernel that computes the new value of an update, not placed yet, and the number of the value in it."""
    group, item = _over_region(placement, region), placement.items[anchor]
    return group, group.builder.operand(item.args[1], region.shape, _region_map(region), item.signature.dtype)


def _reads_overwritten(placement: Placement, group: Group, base: int, region: Layout) -> bool:
    """Return whether a kernel may read, at another element than the one that it replaces, what an update replaces."""
    base_item = placement.items[base]
    signature = base_item.signature
    for source, at in group.builder.reads:
        other = placement.items[source.position]
        if source.position == base or (base_item.buffer >= 0 and other.buffer == base_item.buffer):
            start = other.offset - base_item.offset if source.kind == "leaf" else 0
            write_index = ir.Affine(region.offset - start, strides_of_long_dims(region))
            if at is None or other.signature.dtype != signature.dtype:  # None of a gather, which may read any element
                return True
            if at != write_index and not are_apart(at, write_index, region.shape):
                return True
    return False


def _copy_before_write(placement: Placement, value: int) -> Source:
    """Place a kernel that stores the value of an expression in a buffer of its own; return its source."""
    signature = placement.items[value].signature
    group = placement.new_group(signature.shape, 0, "the right side reads what the left side overwrites")
    group.closed = True
    at = map_to_loops(len(signature.shape), range(len(signature.shape)))
    number = group.builder.value(value, at)
    source = Source("copy", value)
    group.builder.store(
        source, number, signature.dtype, compose(layout.c_strides(signature.shape), 0, at, len(signature.shape))
    )
    return source


def _write_in_place(
    placement: Placement, anchor: int, region: Layout, source: Source, group: Group, number: int
) -> None:
    """Place a kernel that has a value over a region, and have it write the region of the buffer `source`."""
    placement.groups.append(group)
    signature = placement.items[anchor].signature
    at = ir.Affine(region.offset, strides_of_long_dims(region))
    alias = next(
        (n for n, (s, arg) in enumerate(group.arg_list) if arg.kind == "in" and is_same_buffer(placement, s, source)),
        -1,
    )
    group.builder.store(Source("new", anchor), number, signature.dtype, at, alias)
    if source != Source("new", anchor):
        placement.adopted[anchor] = source
    placement.group_of[anchor] = group.number


def _write_fresh(
    placement: Placement,
    anchor: int,
    region: Layout,
    box: tuple[tuple[tuple[int, int], ...], tuple[int, ...]],
    base: int,
    value: int,
) -> None:
    """Place a kernel over the whole array that writes a fresh buffer: new values inside the box, old values outside."""
    signature = placement.items[anchor].signature
    bounds, dims_of_region = box
    group = placement.new_group(signature.shape, 0, "an update that leaves the old array as it is")
    group.closed = True
    loops = len(signature.shape)
    region_map = tuple(
        ir.Affine(-bounds[p][0], tuple(1 if k == p else 0 for k in range(loops)))
        if p >= 0
        else ir.Affine(0, (0,) * loops)
        for p in dims_of_region
    )
    whole_map = map_to_loops(loops, range(loops))
    store_index = compose(layout.c_strides(signature.shape), 0, whole_map, loops)
    number = group.builder.operand(value, region.shape, region_map, signature.dtype)
    group.builder.store(Source("new", anchor), number, signature.dtype, store_index)
    group.outside = placement.builder(group, signature.shape)
    old_value = group.outside.operand(base, signature.shape, whole_map, signature.dtype)
    group.outside.store(Source("new", anchor), old_value, signature.dtype, store_index)
    group.region = bounds
    placement.group_of[anchor] = group.number


def _as_box(shape: tuple[int, ...], region: Layout) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]] | None:
    """Return a region as a box of the index space of the array, or None if the region has steps.

    The result is the bounds of every dimension of the array and, for every dimension of the region, the dimension of
    the array that it runs along (-1 where its size is 1).
    """
    decomposed = layout.decompose(shape, region.strides, region.offset, region.shape)
    if decomposed is None:
        return None
    starts, coefs = decomposed
    bounds = [(s, s + 1) for s in starts]
    dims = []
    used_dims: set[int] = set()
    for n, coef in zip(region.shape, coefs, strict=True):
        if n == 1:
            dims.append(-1)
            continue
        along = [k for k, c in enumerate(coef) if c]
        if len(along) != 1 or coef[along[0]] != 1 or along[0] in used_dims:
            return None
        used_dims.add(along[0])
        bounds[along[0]] = (starts[along[0]], starts[along[0]] + n)
        dims.append(along[0])
    return tuple(bounds), tuple(dims)
