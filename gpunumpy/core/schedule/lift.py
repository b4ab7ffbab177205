"""A graph without its sizes, and the same graph with symbolic ones: what plans are found by, and made of."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice
from math import prod

from .._native import tried_first
from ..graph import layout
from ..graph.layout import Layout
from ..graph.node import Node
from ..graph.primitives import Leaf, LibraryCall, Output, Primitive, Update, View
from ..graph.signature import Signature
from ..graph.structure import digits, is_dense, products_in, steps_of
from .analysis import topological_order
from .lower import Item
from .sizes import LEAST, Integer
from .substitute import in_primitive, looked_up, taken_out


@tried_first
def lowered(nodes: Sequence[Node]) -> tuple[tuple[int, ...], list[int]]:
    """Return the structure of a graph, and its sizes."""
    position_of = {node: k for k, node in enumerate(nodes)}
    structure: list[int] = []
    sizes: list[int] = []
    buffers: dict[int, tuple[int, int]] = {}
    for node in nodes:
        signature, data = node.signature, node.data
        structure.append(signature.structure)  # it stands for how many numbers follow
        sizes += signature.sizes
        if data is None:
            structure += [position_of[argument] for argument in node.args]
        elif signature.queue is not None:
            first = buffers.get(id(data))
            if first is None:
                first = buffers[id(data)] = (len(buffers), node.offset)
            else:
                strides = signature.primitive.strides  # type: ignore[union-attr]
                sizes += digits(node.offset - first[1], steps_of(signature, signature.shape, strides))
            structure.append(first[0])
    return tuple(structure), sizes


@tried_first
def has_many_sizes(nodes: Sequence[Node], many: int) -> bool:
    """Return whether a graph has at least so many different sizes besides -1, 0 and 1."""
    return len({abs(size) for size in lowered(nodes)[1]}.difference(range(LEAST))) >= many


def items_in(structure: Sequence[int], sizes: Sequence[int], signatures: Sequence[Signature]) -> list[Item]:
    """Return the items of a graph from its signatures and what `lowered` returns, as its nodes may be leaves by now."""
    items = []
    seen: set[int] = set()
    at = start = 0
    new = tuple.__new__  # as in `items_of`
    for signature in signatures:
        start += len(signature.sizes)
        begin, at = at + 1, at + 1 + count_of_places(signature)
        primitive = signature.primitive
        if not isinstance(primitive, Leaf):
            items.append(new(Item, (signature, structure[begin:at], -1, 0)))
            continue
        buffer, offset = structure[begin], 0
        if buffer in seen:
            steps = steps_of(signature, signature.shape, primitive.strides)
            offset = _sum(iter(sizes[start : start + len(steps) + 1]), steps)  # type: ignore[assignment]
            start += len(steps) + 1
        seen.add(buffer)
        items.append(new(Item, (signature, (), buffer, offset)))
    return items


def count_of_places(signature: Signature) -> int:
    """Return how many places follow the number of a signature in what `lowered` returns: a buffer, or its arguments."""
    return 1 if isinstance(signature.primitive, Leaf) else len(signature.args)


def lifted(items: Sequence[Item], sizes: Sequence[Integer]) -> list[Item]:
    """Return a graph with other sizes, in the order of `lowered`.

    Its signatures are not interned, but equal ones of the graph are one object, as they are among those that are.
    """
    starts, total = [], 0
    seen = {-1}
    has_offset = []
    for item in items:
        starts.append(total)
        total += len(item.signature.sizes)
        has_offset.append(item.buffer in seen and item.buffer >= 0)  # of the first leaf in a buffer, it is 0
        if has_offset[-1]:
            total += len(item.signature.shape) + 1
        seen.add(item.buffer)
    result: list[Item] = list(items)
    made: dict[Hashable, Signature] = {}
    for p in topological_order(items, range(len(items))):
        item = items[p]
        rest = iter(sizes[starts[p] :])
        args = tuple([result[a].signature for a in item.args])
        products = products_in(item.signature)
        own = enumerate(islice(rest, len(item.signature.shape)))
        shape = tuple([prod(args[0].shape[slice(*products[d])]) if d in products else n for d, n in own])
        primitive = _put_in(item.signature, rest, shape, args)
        key = (primitive, args, shape, item.signature.dtype)
        found = made.get(key)
        if found is None:
            if isinstance(primitive, Output):
                found = args[0].outputs[primitive.number]  # they are found by identity
            else:
                found = item.signature.with_sizes(primitive, args, shape)  # type: ignore[arg-type]
            made[key] = found
        offset: Integer = item.offset
        if has_offset[p]:
            assert isinstance(primitive, Leaf)
            offset = _sum(rest, steps_of(item.signature, shape, primitive.strides))
        result[p] = Item(found, item.args, item.buffer, offset)  # type: ignore[arg-type]
    return result


def sizes_in(items: Sequence[Item]) -> Iterator[Integer]:
    """Return all sizes of a graph, some of them more than once."""
    for item in items:
        yield from item.signature.shape
        yield from taken_out(item.signature.primitive, in_primitive)[1]
        yield item.offset


def with_sizes(items: Sequence[Item], sizes: Mapping[Integer, int]) -> list[Item]:
    """Return a graph with numbers for its symbolic sizes."""
    result, change = list(items), looked_up(sizes)
    for p in topological_order(items, range(len(items))):
        item = items[p]
        args = tuple([result[a].signature for a in item.args])
        primitive = in_primitive(item.signature.primitive, change)
        shape = change(item.signature.shape)
        if isinstance(primitive, Output):
            signature = args[0].outputs[primitive.number]
        else:
            signature = item.signature.with_sizes(primitive, args, shape)
        result[p] = item._replace(signature=signature, offset=sizes[item.offset])
    return result


# --- the sizes of one primitive ---------------------------------------------------------------------------------------


def _put_in(f: Signature, sizes: Iterator[Integer], shape: Sequence[Integer], args: Sequence[Signature]) -> Primitive:
    """Return the primitive of a signature with other sizes, over a shape and arguments with others."""
    primitive = f.primitive
    if isinstance(primitive, Leaf):
        if is_dense(f):
            return Leaf(layout.c_strides(shape), 0, primitive.aligned)  # type: ignore[arg-type]
        strides = tuple([next(sizes) for _ in primitive.strides])
        return Leaf(strides, _sum(sizes, steps_of(f, shape, strides)), primitive.aligned)  # type: ignore[arg-type]
    if isinstance(primitive, View):
        return View(*_from_coordinates(sizes, len(shape), args[0].shape))  # type: ignore[arg-type]
    if isinstance(primitive, Update):
        region = tuple([next(sizes) for _ in primitive.region.shape])
        return Update(Layout(region, *_from_coordinates(sizes, len(region), args[0].shape)))  # type: ignore[arg-type]
    if isinstance(primitive, LibraryCall):
        results = tuple((tuple([next(sizes) for _ in s]), dtype) for s, dtype in primitive.results)
        return LibraryCall(primitive.name, primitive.options, results)  # type: ignore[arg-type]
    return primitive


def _from_coordinates(
    sizes: Iterator[Integer], count: int, shape: Sequence[int]
) -> tuple[tuple[Integer, ...], Integer]:
    flat = layout.c_strides(shape)  # type: ignore[arg-type]
    strides = tuple([_sum(sizes, flat) for _ in range(count)])
    return strides, _sum(sizes, flat)


def _sum(digits: Iterator[Integer], steps: Sequence[Integer]) -> Integer:
    total: Integer = 0
    for step in steps:
        total = total + next(digits) * step
    return total + next(digits)
