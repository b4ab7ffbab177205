"""Loop nests for the CPU executor: boxes of a kernel's loop space, with dimensions in memory order and merged.

A NumPy call can reduce any axis, so the reduced dimensions are marked here and stand where memory order puts them; in
a kernel they come last. A value that does not vary along a dimension has size 1 there and broadcasts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from math import prod

from ...core.dtypes import DType
from ...core.late_dataclasses import dataclass
from ...core.schedule.kernel import (
    Affine,
    Apply,
    Arg,
    Body,
    Instruction,
    Kernel,
    Load,
    LoadIndexed,
    LoopIndex,
    ReduceLoops,
    Scalar,
    ScanLoop,
    Store,
    map_affines,
    memory_of,
    operands,
    value_dtypes,
)
from .ranges import RangeLoad, range_loads

# Reductions whose result is a position in C order, so that it depends on the order of the reduced dimensions.
POSITIONAL = frozenset({"argmax", "argmin"})


@dataclass(frozen=True)
class Nest:
    """A box of loop points and the body that runs over it. `reduced` marks the reduced dimensions."""

    shape: tuple[int, ...]
    reduced: tuple[bool, ...]
    args: tuple[Arg, ...]
    body: Body

    @property
    def count(self) -> int:
        """The number of loop points."""
        return prod(self.shape)

    @cached_property
    def operands(self) -> list[tuple[int, ...]]:
        """For every value, the values from which it is computed: a load at ranges of indices computes no indices."""
        return [() if i in self.range_loads else operands(instr) for i, instr in enumerate(self.body.instructions)]

    @cached_property
    def range_loads(self) -> dict[int, RangeLoad]:
        """The indexed loads whose indices are ranges."""
        return range_loads(self.body, self.shape)

    @cached_property
    def needed(self) -> set[int]:
        """The values that stores depend on: all but the indices that are ranges."""
        return ancestors(self.operands, [store.value for store in self.body.stores])

    @cached_property
    def dtypes(self) -> list[DType]:
        """The dtype of every value."""
        return value_dtypes(self, self.body)

    @cached_property
    def axes(self) -> frozenset[int]:
        """The reduced dimensions."""
        return frozenset([d for d, flag in enumerate(self.reduced) if flag])

    @cached_property
    def varying(self) -> list[frozenset[int]]:
        """For every value, the dimensions along which it varies."""
        nowhere: frozenset[int] = frozenset()
        out: list[frozenset[int]] = []
        for instr, values in zip(self.body.instructions, self.operands, strict=True):
            mask = nowhere.union(*[out[i] for i in values])
            if isinstance(instr, (Load, LoadIndexed, LoopIndex)):
                mask = mask.union([d for d, c in enumerate(instr.at.coef) if c])
                if len(out) in self.range_loads:
                    mask = mask.union([r.dim for r in self.range_loads[len(out)].ranges])
            elif isinstance(instr, ReduceLoops):
                mask -= self.axes
            elif isinstance(instr, ScanLoop):
                mask |= self.axes
            out.append(mask)
        return out

    @cached_property
    def needs_whole_rows(self) -> bool:
        """Whether a block must hold whole rows: some value along the row depends on a reduction of the row."""
        dependent: set[int] = set()  # the reductions, and what depends on them
        for i, instr in enumerate(self.body.instructions):
            if isinstance(instr, ScanLoop):
                return True
            is_reduction = isinstance(instr, ReduceLoops)
            if not dependent.isdisjoint(self.operands[i]):
                if is_reduction or not self.axes.isdisjoint(self.varying[i]):
                    return True
                dependent.add(i)
            elif is_reduction:
                dependent.add(i)
        return any(store.value in dependent and writes_along_rows(self, store) for store in self.body.stores)


def affines(body: Body) -> Iterator[Affine]:
    """Yield every affine function of the loop indices in `body`."""
    for instr in body.instructions:
        if isinstance(instr, (Load, LoadIndexed, LoopIndex)):
            yield instr.at
    for store in body.stores:
        yield store.at


def permuted(nest: Nest, order: Sequence[int]) -> Nest:
    """Return `nest` with its dimensions in `order`. Dimensions left out must have one point, or stride 0 everywhere."""
    if list(order) == list(range(len(nest.shape))):
        return nest

    def pick(at: Affine) -> Affine:
        return Affine(at.offset, tuple([at.coef[d] for d in order]))

    shape, reduced = tuple([nest.shape[d] for d in order]), tuple([nest.reduced[d] for d in order])
    return Nest(shape, reduced, nest.args, map_affines(nest.body, pick))


def _has_larger_inner_strides(maps: list[Affine], outer: int, inner: int) -> bool:
    """Return whether more operands have a larger stride along `inner` than along `outer` than the reverse."""
    vote = 0
    for at in maps:
        outer_stride, inner_stride = abs(at.coef[outer]), abs(at.coef[inner])
        if outer_stride and inner_stride:
            vote += (inner_stride > outer_stride) - (inner_stride < outer_stride)
    return vote > 0


def memory_order(nest: Nest, free: bool) -> list[int]:
    """Return the dimensions of more than one point, by falling stride.

    Reduced dimensions stay after the others unless `free`.
    """
    maps = list(affines(nest.body))
    has_positional = any(isinstance(i, ReduceLoops) and i.op in POSITIONAL for i in nest.body.instructions)
    order: list[int] = []
    for d in (d for d, n in enumerate(nest.shape) if n != 1):
        at = len(order)
        while at:
            before = order[at - 1]
            same = nest.reduced[before] == nest.reduced[d]
            is_fixed = not (same or free) or (has_positional and same and nest.reduced[d])
            if is_fixed or not _has_larger_inner_strides(maps, before, d):
                break
            at -= 1
        order.insert(at, d)
    return order


def merged(nest: Nest) -> Nest:
    """Return `nest` with neighbouring dimensions merged wherever every operand steps through both as through one."""
    shape, reduced = list(nest.shape), list(nest.reduced)
    body = nest.body
    for d in range(len(shape) - 2, -1, -1):
        inner = shape[d + 1]
        if reduced[d] == reduced[d + 1] and all(at.coef[d] == at.coef[d + 1] * inner for at in affines(body)):
            body = map_affines(body, lambda at, d=d: Affine(at.offset, at.coef[:d] + at.coef[d + 1 :]))  # type: ignore[misc]
            shape[d : d + 2] = [shape[d] * inner]
            del reduced[d]
    return nest if body is nest.body else Nest(tuple(shape), tuple(reduced), nest.args, body)


def writes_along_rows(nest: Nest, store: Store) -> bool:
    """Return whether `store` writes every point of a row, instead of one value a row."""
    return any(c and flag for c, flag in zip(store.at.coef, nest.reduced, strict=True))


def bytes_per_point(nest: Nest) -> Callable[[Sequence[int]], float]:
    """Return what takes the shape of a nest in numbers, and returns the bytes that a block touches for each point.

    A block touches its arguments and its temporaries. An array that does not vary along a dimension is divided by that
    dimension's size: a value that is one number a row hardly counts.
    """
    body, varying = nest.body, nest.varying
    last = {k: i for i, values in enumerate(nest.operands) for k in values}
    # Bytes are counted apart for each set of dimensions: those of an argument, and the temporaries alive at one time.
    arguments: dict[int, set[tuple[frozenset[int], int]]] = {}
    live: Counter[frozenset[int]] = Counter()
    temporaries: dict[tuple[tuple[frozenset[int], int], ...], None] = {}
    for i in sorted(nest.needed):
        instr = body.instructions[i]
        if isinstance(instr, Load) or (isinstance(instr, LoadIndexed) and i in nest.range_loads):
            arguments.setdefault(instr.arg, set()).add((varying[i], nest.args[instr.arg].dtype.itemsize))
        if isinstance(instr, Apply) or (i in nest.range_loads and i in last):
            live[varying[i]] += nest.dtypes[i].itemsize
            temporaries[tuple(live.items())] = None
        for k in set(nest.operands[i]):
            if last[k] == i and (isinstance(body.instructions[k], Apply) or k in nest.range_loads):
                live[varying[k]] -= nest.dtypes[k].itemsize
    for store in body.stores:
        arguments.setdefault(store.arg, set()).add((varying[store.value], nest.args[store.arg].dtype.itemsize))

    masks = set(varying)

    def at(shape: Sequence[int]) -> float:
        shares = {mask: prod([1 / n for d, n in enumerate(shape) if d not in mask and n]) for mask in masks}
        read = sum(max(shares[mask] * size for mask, size in parts) for parts in arguments.values())
        held = max((sum(shares[mask] * size for mask, size in parts) for parts in temporaries), default=0)
        return read + held

    return at


def widest_item(nest: Nest) -> int:
    """Return the bytes of the largest item among the values that vary, which are arrays in a block."""
    return max((nest.dtypes[i].itemsize for i in nest.needed if nest.varying[i]), default=1)


def ordered(nest: Nest) -> Nest:
    """Return `nest` with its dimensions in memory order and merged; at least one dimension is left."""
    is_free = not any(nest.reduced) or not nest.needs_whole_rows
    nest = merged(permuted(nest, memory_order(nest, is_free)))
    if nest.shape:
        return nest
    body = map_affines(nest.body, lambda at: Affine(at.offset, (0,)))
    return replace(nest, shape=(1,), reduced=(False,), body=body)


def _sub_box(kernel: Kernel, body: Body, box: Sequence[tuple[int, int]]) -> Nest:
    """Return the nest of a pruned body over a box ``((low, high), ...)`` of the kernel's loop space."""

    def shift(at: Affine) -> Affine:
        return Affine(at.offset + sum([c * low for c, (low, _) in zip(at.coef, box, strict=True) if low]), at.coef)

    outer = len(kernel.shape) - kernel.reduced
    reduced = tuple([d >= outer for d in range(len(kernel.shape))])
    shifted = map_affines(body, shift) if any(type(low) is not int or low for low, _ in box) else body
    return Nest(tuple([high - low for low, high in box]), reduced, kernel.args, shifted)


def nests(kernel: Kernel) -> list[Nest]:
    """Return the nests that make up `kernel`: one, or the region and the slabs around it."""
    whole = tuple((0, n) for n in kernel.shape)
    out = [_sub_box(kernel, pruned(kernel.body), kernel.region or whole)]
    if kernel.region is not None and kernel.outside is not None:
        outside = pruned(kernel.outside)
        # The slabs of dimension d: inside the region along the dimensions before d, outside of it along d, and of full
        # size along the dimensions after d.
        for d, (low, high) in enumerate(kernel.region):
            for side in ((0, low), (high, kernel.shape[d])):
                if side[0] != side[1]:
                    out.append(_sub_box(kernel, outside, (*kernel.region[:d], side, *whole[d + 1 :])))
    return [nest for nest in out if nest.count or _has_results_without_points(nest)]


def _has_results_without_points(nest: Nest) -> bool:
    """Return whether a nest without points has results: reductions of empty rows."""
    rows = all(n for n, flag in zip(nest.shape, nest.reduced, strict=True) if not flag)
    return rows and any(isinstance(i, ReduceLoops) for i in nest.body.instructions)


def row_level_rest(nest: Nest) -> tuple[Nest, list[int], list[int]]:
    """Return the nest of the row-level values and stores that follow the reductions, and the reductions.

    The nest's reductions are computed, and its stores along rows are made, before it. Each reduction becomes a load
    from an argument of its own, in the order of the returned values. Before these come the arguments that the rest
    still uses, whose numbers are returned last: so equal rests of different nests are equal.
    """
    keep = [d for d, flag in enumerate(nest.reduced) if not flag]
    shape = tuple(nest.shape[d] for d in keep)
    at = Affine(0, tuple(prod(shape[k + 1 :]) for k in range(len(keep))))
    args, reduces = list(nest.args), []
    rest = permuted(nest, keep)
    instructions = list(rest.body.instructions)
    for i, instr in enumerate(instructions):
        if isinstance(instr, ReduceLoops):
            instructions[i] = Load(len(args), at)
            args.append(Arg("in", instr.loop[-1]))
            reduces.append(i)
    pairs = zip(nest.body.stores, rest.body.stores, strict=True)
    stores = tuple(permuted_store for store, permuted_store in pairs if not writes_along_rows(nest, store))
    body = pruned(Body(tuple(instructions), stores))
    used = sorted({arg for arg in _arguments(body) if arg < len(nest.args)})
    numbers = {old: new for new, old in enumerate((*used, *range(len(nest.args), len(args))))}
    kept = [replace(args[k], alias=numbers.get(_other_of_buffer(args, k, used), -1)) for k in numbers]
    return Nest(rest.shape, rest.reduced, tuple(kept), _with_arguments(body, numbers)), reduces, used


def _other_of_buffer(args: Sequence[Arg], number: int, used: Sequence[int]) -> int:
    """Return the first argument in use that has the buffer of an argument, if that is another one, else -1."""
    memory = memory_of(args, number)
    inputs = (n for n in used if args[n].kind == "in" and memory_of(args, n) == memory)
    first = next(inputs, -1)
    return -1 if first == number else first


def _arguments(body: Body) -> Iterator[int]:
    """Yield the numbers of the arguments that a body uses."""
    for instr in body.instructions:
        if isinstance(instr, (Load, LoadIndexed, Scalar)):
            yield instr.arg
        if isinstance(instr, LoadIndexed):
            yield instr.source_location
    for store in body.stores:
        yield store.arg


def _with_arguments(body: Body, numbers: Mapping[int, int]) -> Body:
    """Return a body whose arguments have other numbers."""
    instructions: list[Instruction] = []
    for instr in body.instructions:
        if isinstance(instr, LoadIndexed):
            instr = replace(instr, arg=numbers[instr.arg], source_location=numbers[instr.source_location])
        elif isinstance(instr, (Load, Scalar)):
            instr = replace(instr, arg=numbers[instr.arg])
        instructions.append(instr)
    return Body(tuple(instructions), tuple([Store(numbers[s.arg], s.value, s.at) for s in body.stores]))


def pruned(body: Body) -> Body:
    """Return `body` without the values that no store depends on."""
    needed = ancestors(list(map(operands, body.instructions)), [store.value for store in body.stores])
    if len(needed) == len(body.instructions):
        return body
    number = {old: new for new, old in enumerate(sorted(needed))}
    instructions: list[Instruction] = []
    for old in number:
        instr = body.instructions[old]
        if isinstance(instr, (Apply, ReduceLoops, ScanLoop)):
            instr = replace(instr, args=tuple(number[k] for k in instr.args))
        elif isinstance(instr, LoadIndexed):
            instr = replace(instr, index=tuple(number[k] for k in instr.index))
        instructions.append(instr)
    return Body(tuple(instructions), tuple(replace(store, value=number[store.value]) for store in body.stores))


def ancestors(operands: Sequence[Sequence[int]], values: Sequence[int]) -> set[int]:
    """Return `values` and all values that they depend on, given the operands of every value."""
    found: set[int] = set()
    todo = list(values)
    while todo:
        i = todo.pop()
        if i not in found:
            found.add(i)
            todo.extend(operands[i])
    return found


def block_corners(shape: Sequence[int], block: Sequence[int], blocked: int) -> list[list[tuple[int, ...]]]:
    """Return the low corners of the blocks over the first `blocked` dimensions: of full blocks, and of shorter ones.

    Only the last of these dimensions has blocks of more than one point, so there are at most two sizes.
    """
    last = blocked - 1
    cut = shape[last] - shape[last] % block[last]
    lead = [range(n) for n in shape[:last]]
    full = list(product(*lead, range(0, cut, block[last])))
    tail = list(product(*lead, range(cut, shape[last], block[last])))
    return [full, tail]
