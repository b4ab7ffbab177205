"""Updates in place as a part of a kernel before them: the one that computes what they store, or one of the same loops.

Every launch costs the host and the GPU more than a small kernel computes, and ``a /= norm(a)`` reads `a` once.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..graph.layout import Layout, Shape
from . import kernel as ir
from .groups import Group, Placement
from .joining import expect_rows_fit_in_block, result_map
from .lower import Builder, CannotLower, Source, compose
from .steps import RunLibraryCall

# A kernel takes so many updates, and no update that makes it longer than so many instructions: a long text takes long
# to compile, and the first joins save the most.
_MAX_UPDATES, _MAX_INSTRUCTIONS = 4, 64

# Points of the loops up to which an update joins a kernel with which it shares no value. Beyond, a launch is short
# beside the kernel, which may be slower with the accesses of the update.
_MAX_UNRELATED_POINTS = 1 << 20


def join_in_place(placement: Placement, anchor: int, region: Layout, source: Source) -> bool:
    """Have an earlier kernel write an update into the buffer of `source`; return whether one does.

    Nothing that is placed later reads what the buffer holds before. The kernel is the last one that the update needs,
    or the last of all.
    """
    group_of, latest = placement.group_of, len(placement.groups) - 1
    needed = max((group_of[p] for p in placement.graph.reads[anchor] if p in group_of), default=latest)
    numbers = dict.fromkeys(n for n in (needed, latest) if n >= 0)
    return any(_join(placement, placement.groups[n], anchor, region, source) for n in numbers)


def _join(placement: Placement, group: Group | RunLibraryCall, anchor: int, region: Layout, source: Source) -> bool:
    base, value = placement.items[anchor].args
    if not isinstance(group, Group) or (group.closed and not group.in_place) or len(group.in_place) == _MAX_UPDATES:
        return False
    if placement.group_of.get(base) == group.number and base not in group.in_place:
        return False  # the kernel stores the base itself
    imap = result_map(group, region.shape)
    if imap is None or 0 in region.shape:
        return False
    buffer = group.in_place.get(base, source)
    names = {source, buffer, *(Source("new", update) for update, before in group.in_place.items() if before == buffer)}
    if any(_touches(placement, later, names) for later in placement.groups[group.number + 1 :]):
        return False
    builder, loaded = group.builder, set(placement.loaded)
    mark, first_read, stores = builder.mark(), len(builder.reads), tuple(builder.stores)
    dtype = placement.items[anchor].signature.dtype
    at = compose(strides_of_long_dims(region), region.offset, imap, len(group.loops))
    try:
        number = builder.operand(value, region.shape, imap, dtype)
        for store in stores:
            _expect_no_conflict(placement, group, store, builder.reads[first_read:], (buffer, number, at))
        alias = _overwritten_argument(placement, group, (buffer, number, at))
        builder.store(Source("new", anchor), number, dtype, at, alias)
        expect_rows_fit_in_block(group)
        is_large = prod(group.loops) > _MAX_UNRELATED_POINTS and not _shares_values(builder, mark, number)
        if is_large:
            raise CannotLower("a kernel of many points would be slower with it")
        if len(builder.instructions) > _MAX_INSTRUCTIONS:
            raise CannotLower("the kernel before it is large enough")
    except CannotLower:
        builder.rollback(mark)
        placement.loaded = loaded
        return False
    group.closed = True
    group.in_place[anchor] = buffer
    placement.adopted[anchor] = source
    placement.group_of[anchor] = group.number
    return True


def _shares_values(builder: Builder, mark: Sequence[int], value: int) -> bool:
    """Return whether a value is computed from values that the kernel had at a mark, or from an argument of then."""
    known, arguments = mark[0], mark[3]
    if value < known:
        return True
    for instr in builder.instructions[known:]:
        if isinstance(instr, (ir.Load, ir.LoadIndexed)) and instr.arg < arguments:
            return True
        used = [k for k in ir.operands(instr) if k < known]
        if any(not isinstance(builder.instructions[k], ir.Scalar) for k in used):
            return True
    return False


def _touches(placement: Placement, group: Group | RunLibraryCall, names: set[Source]) -> bool:
    """Return whether a kernel or call reads or writes a buffer that has these names."""
    touched = [source for source, _ in (group.arg_list if isinstance(group, Group) else group.args)]
    targets = group.targets if isinstance(group, RunLibraryCall) else ()
    return any(is_same_buffer(placement, one, name) for one in (*touched, *targets) for name in names)


def _expect_no_conflict(
    placement: Placement,
    group: Group,
    store: ir.Store,
    reads: Sequence[tuple[Source, ir.Affine | None]],
    written: tuple[Source, int, ir.Affine],
) -> None:
    """Raise `CannotLower` unless an update may be written beside an earlier one of the kernel.

    Parameters
    ----------
    store
        Of the earlier update.
    reads
        What the update reads: none of it may be what the earlier one writes.
    written
        The buffer, the value and the place of the update: it must write other elements, or the same to each.
    """
    update = group.arg_list[store.arg][0].position
    earlier, (buffer, value, at), loops = group.in_place[update], written, group.loops
    for source, read in reads:
        if is_same_buffer(placement, source, earlier):
            place = _place_in(placement, store.at, earlier, source)
            if place is None or read is None or not are_apart(read, place, loops):
                raise CannotLower("it reads what that kernel writes")
    if is_same_buffer(placement, buffer, earlier):
        is_same_value = value == store.value and _meet_at_their_start(at, store.at, loops)
        if not is_same_value and not are_apart(at, store.at, loops):
            raise CannotLower("it overwrites what that kernel writes")
    if _order(at) != _order(store.at):
        raise CannotLower("it writes in another order")


def _overwritten_argument(placement: Placement, group: Group, written: tuple[Source, int, ir.Affine]) -> int:
    """Return the argument that reads each element of a buffer where it is overwritten, or another one of the buffer.

    Raise `CannotLower` if the kernel may read an element at another point than the one at which it is overwritten.
    """
    buffer, value, at = written
    same_place = set()
    for source, read in group.builder.reads:
        if is_same_buffer(placement, source, buffer):
            place = _place_in(placement, at, buffer, source)
            if read is None or place is None or not (read == place or are_apart(read, place, group.loops)):
                raise CannotLower("it overwrites what that kernel reads")
            if read == place:
                same_place.add(source)
    arguments = [
        n
        for n, (source, arg) in enumerate(group.arg_list)
        if arg.kind == "in" and is_same_buffer(placement, source, buffer)
    ]
    if not same_place:
        return arguments[0] if arguments else -1
    outer = len(group.loops) - group.reduced
    if len(same_place) > 1 or (any(at.coef[outer:]) and not _is_in_last_pass(group, value)):
        raise CannotLower("it overwrites what that kernel reads")
    return next(n for n in arguments if group.arg_list[n][0] in same_place)


def _is_in_last_pass(group: Group, value: int) -> bool:
    """Return whether a value is computed in the last pass over the rows: no other pass reads them again."""
    body = group.builder.body()
    phases = ir.phases(body)
    passes = [n - isinstance(i, ir.ReduceLoops) for n, i in zip(phases, body.instructions, strict=True)]
    return passes[value] == max(passes)


def _place_in(placement: Placement, at: ir.Affine, buffer: Source, source: Source) -> ir.Affine | None:
    """Return where a source has an element of its buffer; None if it has elements of another dtype."""
    own, other = placement.items[buffer.position], placement.items[source.position]
    if own.signature.dtype != other.signature.dtype:
        return None
    return ir.Affine(at.offset - (other.offset - own.offset), at.coef) if source.kind == "leaf" else at


def _order(at: ir.Affine) -> list[int]:
    """Return the loops in the order of their strides: threads follow one order, and would write another in pieces."""
    return sorted(range(len(at.coef)), key=lambda loop: abs(at.coef[loop]))


def are_apart(read: ir.Affine, written: ir.Affine, shape: Shape) -> bool:
    """Return whether loops of a shape are sure to write nothing that they read.

    That is so where all that is read comes before all that is written, or behind it, and where the two lie between each
    other: the columns of a matrix, and every second element.
    """
    if len(read.coef) != len(shape):
        return False
    first_read, last_read = _reach(read, shape)
    first_written, last_written = _reach(written, shape)
    if last_read < first_written or last_written < first_read:
        return True
    steps = [abs(s) for at in (read, written) for s, n in zip(at.coef, shape, strict=True) if n != 1 and s != 0]
    least = min(steps, default=1)
    return least > 1 and not any(s % least for s in steps) and (read.offset - written.offset) % least != 0


def _meet_at_their_start(one: ir.Affine, other: ir.Affine, shape: Shape) -> bool:
    """Return whether two places are equal at the first point of the loops, and at no other two points.

    So it is with the first row of a matrix and its first column.
    """
    if one.offset != other.offset or any(s < 0 for at in (one, other) for s in at.coef):
        return False
    loops = [d for d, n in enumerate(shape) if n != 1 and (one.coef[d] or other.coef[d])]
    for steps, within in ((one, other), (other, one)):
        first, last = _reach(within, shape)
        if min((steps.coef[d] for d in loops), default=0) > last - first:
            return True
    return False


def _reach(at: ir.Affine, shape: Shape) -> tuple[int, int]:
    """Return the first and the last index that loops of a shape, none of them empty, come to."""
    first = last = at.offset
    for n, step in zip(shape, at.coef, strict=True):
        if step < 0:
            first += step * (n - 1)
        else:
            last += step * (n - 1)
    return first, last


def is_same_buffer(placement: Placement, one: Source, other: Source) -> bool:
    """Return whether two sources are one buffer."""
    a, b = placement.items[one.position].buffer, placement.items[other.position].buffer
    return one == other or (one.kind == other.kind == "leaf" and a == b >= 0)


def strides_of_long_dims(region: Layout) -> tuple[int, ...]:
    """Return the strides with 0 for dimensions of size 1, so that equal accesses have equal coefficients."""
    return tuple(0 if n == 1 else s for n, s in zip(region.shape, region.strides, strict=True))
