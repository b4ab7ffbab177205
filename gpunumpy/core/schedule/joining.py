"""The joining of anchors to kernels that are already being built, so that arrays that both read are read once."""

from __future__ import annotations

from math import prod

from ..graph.primitives import Reduce
from . import kernel as ir
from .groups import Group, Placement
from .limits import row_fits_in_block
from .lower import CannotLower, IndexMap, map_to_loops
from .sizes import Size


def join_group(placement: Placement, anchor: int, *, reduced: bool = False) -> str:
    """Put an anchor into the latest group that takes it.

    Parameters
    ----------
    placement
        The state of scheduling.
    anchor
        The anchor to place.
    reduced
        Whether the anchor is a reduction to be computed as one; else its elements are computed.

    Returns
    -------
    str
        An empty string, or the reason why no group takes the anchor.
    """
    item = placement.items[anchor]
    domain = (placement.items[item.args[0]] if reduced else item).signature.shape
    first_group = _first_group(placement, anchor)
    reason = "its loops are those of no kernel before it"
    for group in reversed(placement.groups):
        if not isinstance(group, Group) or group.closed:
            continue
        if group.number < first_group:
            if group.domain == domain:
                return "it reads what is computed after the kernel that has its loops"
            continue
        refusal = _try_join(placement, group, anchor, reduced)
        if not refusal:
            return ""
        if refusal != "loops":
            reason = refusal
    return reason


def _first_group(placement: Placement, anchor: int) -> int:
    """Return the number of the first group that an anchor can be put into: the last one that computes what it reads."""
    return max((placement.group_of[p] for p in placement.graph.reads[anchor] if p in placement.group_of), default=0)


def _try_join(placement: Placement, group: Group, anchor: int, reduced: bool) -> str:
    """Put an anchor into a group; return an empty string, "loops" if the loops differ, or another reason why not."""
    item = placement.items[anchor]
    signature = item.signature
    if reduced:
        assert isinstance(signature.primitive, Reduce)
        domain = placement.items[item.args[0]].signature.shape
        has_same_loops = group.reduced == len(signature.primitive.axes) and group.loop_of_dim == loops_of_dims(
            len(domain), signature.primitive.axes
        )
        if group.domain != domain or not has_same_loops or not group.reduced:
            return "loops"
        outer = len(group.loops) - group.reduced
        at = map_to_loops(len(group.loops), range(outer))
    else:
        found = result_map(group, signature.shape)
        if found is None:
            return "loops"
        at = found
    segment = placement.graph.segments.get(anchor)
    if group.is_full(segment):
        return "the kernel before it is large enough"
    loaded = set(placement.loaded)
    mark = group.builder.mark()
    try:
        value = group.builder.reduction(anchor, group.loop_of_dim) if reduced else group.builder.value(anchor, at)
        expect_rows_fit_in_block(group)
    except CannotLower as refusal:
        group.builder.rollback(mark)
        placement.loaded = loaded
        return str(refusal)
    group.anchors[anchor] = (value, at)
    group.segment = segment or group.segment
    placement.group_of[anchor] = group.number
    return ""


def expect_rows_fit_in_block(group: Group) -> None:
    """Raise `CannotLower` if the kernel uses rows again after they are reduced, and a block cannot hold a row."""
    if not group.reduced:
        return
    # What is quick to tell comes first, but of symbols, where the answer is a guard, only what it depends on.
    if Size not in map(type, group.loops) and _row_fits_in_block(group):
        return
    if _is_rowwise(group) and not _row_fits_in_block(group):
        raise CannotLower("a row does not fit into a block")


def _is_rowwise(group: Group) -> bool:
    """Return whether a full-level value or store, or another reduction, of the kernel depends on a reduction."""
    body = group.builder.body()
    is_row_level: list[bool] = []
    dependent: set[int] = set()  # the reductions, and what depends on them
    for number, instr in enumerate(body.instructions):
        is_reduction = isinstance(instr, ir.ReduceLoops)
        if dependent and not dependent.isdisjoint(ir.operands(instr)):
            if is_reduction:
                return True
            if not is_row_level:
                args = tuple([arg for _, arg in group.arg_list])
                is_row_level = ir.are_row_level(ir.Kernel(group.loops, group.reduced, args, body), body)
            if not is_row_level[number]:
                return True
            dependent.add(number)
        elif is_reduction:
            dependent.add(number)
    outer = len(group.loops) - group.reduced
    return any(store.value in dependent and any(store.at.coef[outer:]) for store in body.stores)


def _row_fits_in_block(group: Group) -> bool:
    if not group.reduces_last_axes:
        return False
    itemsize = max((arg.dtype.itemsize for _, arg in group.arg_list if arg.kind != "scalar"), default=8)
    return row_fits_in_block(itemsize, prod(group.loops[len(group.loops) - group.reduced :]))


def result_map(group: Group, shape: tuple[int, ...]) -> IndexMap | None:
    """Return the index map of an elementwise result of `shape` in a group; None if its shape does not fit the loops."""
    loops = len(group.loops)
    if shape == group.domain:
        return map_to_loops(loops, group.loop_of_dim)
    if not group.reduced:
        return None
    outer = loops - group.reduced
    loop_of_dim = []
    k = 0
    for n in shape:  # sizes of 1 are skipped: a reduction with keepdims has the outer shape too
        while k < outer and group.loops[k] == 1 and n != 1:
            k += 1
        if n == 1:
            loop_of_dim.append(-1)
        elif k < outer and group.loops[k] == n:
            loop_of_dim.append(k)
            k += 1
        else:
            return None
    if any(group.loops[j] != 1 for j in range(k, outer)):
        return None
    return map_to_loops(loops, loop_of_dim)


def convert_and_join(placement: Placement, anchor: int, primitive: Reduce) -> bool:
    """Rebuild an elementwise kernel over the domain of a reduction so that it also reduces: both read an array once.

    Return False if there is no such kernel.
    """
    domain = placement.items[placement.items[anchor].args[0]].signature.shape
    for index in range(_first_group(placement, anchor), len(placement.groups)):
        old = placement.groups[index]
        if not isinstance(old, Group) or old.closed or old.reduced or old.domain != domain or not domain:
            continue
        if old.is_full() or not _shares_input(placement, anchor, old):
            continue
        loaded, group_of = set(placement.loaded), dict(placement.group_of)
        outer = tuple(d for d in range(len(domain)) if d not in primitive.axes)
        group = Group(tuple(domain[d] for d in outer + primitive.axes), len(primitive.axes), index, old.reason)
        group.builder = placement.builder(group, group.loops)
        group.domain, group.loop_of_dim = domain, loops_of_dims(len(domain), primitive.axes)
        group.reduces_last_axes, group.segment = are_last_axes(primitive.axes, len(domain)), old.segment
        for other in old.anchors:
            del placement.group_of[other]
        try:
            domain_map = map_to_loops(len(group.loops), group.loop_of_dim)
            for other in old.anchors:
                group.anchors[other] = (group.builder.value(other, domain_map), domain_map)
                placement.group_of[other] = index
            result_map = map_to_loops(len(group.loops), range(len(outer)))
            group.anchors[anchor] = (group.builder.reduction(anchor, group.loop_of_dim), result_map)
        except CannotLower:
            placement.loaded, placement.group_of = loaded, group_of
            continue
        placement.group_of[anchor] = index
        placement.groups[index] = group
        return True
    return False


def _shares_input(placement: Placement, anchor: int, group: Group) -> bool:
    """Return whether an anchor reads an anchor that the group computes, or a leaf that it loads."""
    available = {source.position for source, _ in group.arg_list if source.kind == "leaf"} | group.anchors.keys()
    return not available.isdisjoint(placement.graph.reads[anchor])


def loops_of_dims(ndim: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the loop of every dimension of a domain that is reduced over `axes`: the reduced loops are the last."""
    order = [d for d in range(ndim) if d not in axes] + list(axes)
    return tuple(order.index(d) for d in range(ndim))


def are_last_axes(axes: tuple[int, ...], ndim: int) -> bool:
    """Return whether the axes are the last axes, in order."""
    return axes == tuple(range(ndim - len(axes), ndim))
