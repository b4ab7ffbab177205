"""How an anchor joins a kernel that there is already, so that what both read is read once."""

from __future__ import annotations

from math import prod

from ..graph.primitives import Reduce
from . import kernel as ir
from .groups import Group, Placement
from .limits import fits_row
from .lower import IndexMap, Refused, identity


def join(placement: Placement, a: int, *, reduced: bool = False) -> str:
    """Put an anchor into a group that there is; the empty string, or the reason why none takes it."""
    item = placement.items[a]
    domain = (placement.items[item.args[0]] if reduced else item).signature.shape
    first = max((placement.home[p] for p in placement.graph.reads[a] if p in placement.home), default=0)
    reason = "its loops are those of no kernel before it"
    for group in reversed(placement.groups):
        if not isinstance(group, Group) or group.closed:
            continue
        if group.number < first:
            if group.domain == domain:
                return "it reads what is computed later"
            continue
        refusal = _try(placement, group, a, reduced)
        if not refusal:
            return ""
        if refusal != "loops":
            reason = refusal
    return reason


def _try(placement: Placement, group: Group, a: int, reduced: bool) -> str:
    item = placement.items[a]
    f = item.signature
    if reduced:
        assert isinstance(f.primitive, Reduce)
        domain = placement.items[item.args[0]].signature.shape
        same = group.reduced == len(f.primitive.axes) and group.places == loop_places(len(domain), f.primitive.axes)
        if group.domain != domain or not same or not group.reduced:
            return "loops"
        outer = len(group.loops) - group.reduced
        at = identity(len(group.loops), range(outer))
    else:
        found = _stand(group, f.shape)
        if found is None:
            return "loops"
        at = found
    if group.is_full():
        return "the kernel before it is large enough"
    loaded = set(placement.loaded)
    mark = group.builder.mark()
    try:
        value = group.builder.reduction(a, group.places) if reduced else group.builder.value(a, at)
        if group.reduced and _is_rowwise(group) and not _row_fits(group):
            raise Refused("a row does not fit into a block")
    except Refused as refusal:
        group.builder.rollback(mark)
        placement.loaded = loaded
        return str(refusal)
    group.anchors[a] = (value, at)
    placement.home[a] = group.number
    return ""


def _is_rowwise(group: Group) -> bool:
    """Whether some full-level value depends on a reduction."""
    kernel = ir.Kernel(group.loops, group.reduced, tuple(x for _, x in group.arg_list), group.builder.body())
    level = ir.row_level(kernel, kernel.body)
    tainted: list[bool] = []
    for number, instr in enumerate(kernel.body.instrs):
        args = instr.args if isinstance(instr, (ir.Apply, ir.ReduceLoops, ir.ScanLoop)) else getattr(instr, "index", ())
        after = any(tainted[i] for i in args)
        if isinstance(instr, ir.ReduceLoops):
            if after:
                return True
            after = True
        elif after and not level[number]:
            return True
        tainted.append(after)
    return False


def _row_fits(group: Group) -> bool:
    if not group.trailing:
        return False
    itemsize = max((arg.dtype.itemsize for _, arg in group.arg_list if arg.kind != "scalar"), default=8)
    return fits_row(itemsize, prod(group.loops[len(group.loops) - group.reduced :]))


def _stand(group: Group, shape: tuple[int, ...]) -> IndexMap | None:
    """The map at which an elementwise result of `shape` stands in a group, or None where it has no place there."""
    loops = len(group.loops)
    if shape == group.domain:
        return identity(loops, group.places)
    if not group.reduced:
        return None
    outer = loops - group.reduced
    places = []
    k = 0
    for n in shape:  # sizes of 1 do not count: a reduction with keepdims has the outer shape too
        while k < outer and group.loops[k] == 1 and n != 1:
            k += 1
        if n == 1:
            places.append(-1)
        elif k < outer and group.loops[k] == n:
            places.append(k)
            k += 1
        else:
            return None
    if any(group.loops[j] != 1 for j in range(k, outer)):
        return None
    return identity(loops, places)


def convert(placement: Placement, a: int, primitive: Reduce) -> bool:
    """Make an elementwise kernel over the reduction's domain one with the reduction, so that it is read once."""
    domain = placement.items[placement.items[a].args[0]].signature.shape
    for index, old in enumerate(placement.groups):
        if not isinstance(old, Group) or old.closed or old.reduced or old.domain != domain or not domain:
            continue
        if old.is_full() or not _shares(placement, a, old):
            continue
        loaded, home = set(placement.loaded), dict(placement.home)
        outer = tuple(d for d in range(len(domain)) if d not in primitive.axes)
        group = Group(tuple(domain[d] for d in outer + primitive.axes), len(primitive.axes), index, old.reason)
        group.builder = placement.builder(group, group.loops)
        group.domain, group.places = domain, loop_places(len(domain), primitive.axes)
        group.trailing = are_trailing(primitive.axes, len(domain))
        for anchor in old.anchors:
            del placement.home[anchor]
        try:
            full = identity(len(group.loops), group.places)
            for anchor in old.anchors:
                group.anchors[anchor] = (group.builder.value(anchor, full), full)
                placement.home[anchor] = index
            at = identity(len(group.loops), range(len(outer)))
            group.anchors[a] = (group.builder.reduction(a, group.places), at)
        except Refused:
            placement.loaded, placement.home = loaded, home
            continue
        placement.home[a] = index
        placement.groups[index] = group
        return True
    return False


def _shares(placement: Placement, a: int, group: Group) -> bool:
    """Whether an anchor reads an anchor or a leaf that the group has at hand."""
    at_hand = {source.position for source, _ in group.arg_list if source.kind == "leaf"} | group.anchors.keys()
    return not at_hand.isdisjoint(placement.graph.reads[a])


def loop_places(ndim: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    """For every dimension of a reduced domain, the loop that it runs along: outer loops first, then the reduced."""
    order = [d for d in range(ndim) if d not in axes] + list(axes)
    return tuple(order.index(d) for d in range(ndim))


def are_trailing(axes: tuple[int, ...], ndim: int) -> bool:
    """Whether axes are the last ones."""
    return axes == tuple(range(ndim - len(axes), ndim))
