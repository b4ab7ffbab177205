"""A graph without its sizes, and the same graph with symbolic ones: what plans are found by, and made of.

Strides and offsets follow from sizes: a stride over the C order of an argument is a sum of multiples of the strides of
its dimensions. These multiples are what is taken out, so that ``a[1:, 1:]`` is one structure for all shapes of `a`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import count, islice
from math import prod
from typing import Any, NamedTuple

from ..graph import layout
from ..graph.bounded_table import BoundedTable
from ..graph.layout import Layout
from ..graph.node import Node
from ..graph.primitives import Leaf, LibraryCall, Map, Output, Primitive, Update, View
from ..graph.signature import Signature
from .analysis import topological_order
from .lower import Item
from .sizes import Integer
from .substitute import in_primitive, taken_out


class _Structure(NamedTuple):
    """A signature without sizes, as a number, and its sizes: those of the shape, then those of the primitive."""

    number: int
    sizes: tuple[int, ...]


_structures: BoundedTable[Signature, _Structure] = BoundedTable()
# Numbers of signatures without sizes: a graph is found by these in less time than by what they stand for.
_numbers: BoundedTable[Hashable, int] = BoundedTable()
_new_numbers = count()


def _structure(f: Signature) -> _Structure:
    found = _structures.find(f)
    if found is None:
        kind, sizes = _taken_out(f)
        shape = f.shape
        if type(f.primitive) is View:
            products = _products(f)
            if products:
                shape = tuple([0 if d in products else n for d, n in enumerate(shape)])
                kind = (kind, *products.items())
        key = (kind, len(f.args), len(shape), f.dtype, f.queue, f.generator)
        number = _numbers.find(key)
        if number is None:
            number = _numbers.keep(key, next(_new_numbers))
        found = _structures.keep(f, _Structure(number, (*shape, *sizes)))
    return found


def _products(f: Signature) -> dict[int, tuple[int, int]]:
    """Return the dimensions of a view that are several neighbouring ones of its argument, as a range of these."""
    found: dict[int, tuple[int, int]] = {}
    if isinstance(f.primitive, View):
        whole = f.args[0].shape
        for d, n in enumerate(f.shape):
            if n > 1 and n not in whole:
                ranges = ((i, j) for i in range(len(whole)) for j in range(i + 2, len(whole) + 1))
                fitting = next((ends for ends in ranges if prod(whole[slice(*ends)]) == n), None)
                if fitting is not None:
                    found[d] = fitting
    return found


def lowered(nodes: Sequence[Node]) -> tuple[Hashable, list[int]]:
    """Return the structure of a graph, and its sizes."""
    position_of = {node: k for k, node in enumerate(nodes)}
    structure: list[int] = []
    sizes: list[int] = []
    buffers: dict[int, tuple[int, int]] = {}
    for node in nodes:
        signature, data = node.signature, node.data
        number, numbers = _structure(signature)
        structure.append(number)  # it stands for how many numbers follow
        sizes += numbers
        if data is None:
            structure += [position_of[argument] for argument in node.args]
        elif signature.queue is not None:
            first = buffers.get(id(data))
            if first is None:
                first = buffers[id(data)] = (len(buffers), node.offset)
            else:
                strides = signature.primitive.strides  # type: ignore[union-attr]
                sizes += _digits(node.offset - first[1], _steps(signature, signature.shape, strides))
            structure.append(first[0])
    return tuple(structure), sizes


def lifted(items: Sequence[Item], sizes: Sequence[Integer]) -> list[Item]:
    """Return a graph with other sizes, in the order of `lowered`.

    Its signatures are not interned, but equal ones of the graph are one object, as they are among those that are.
    """
    starts, total = [], 0
    seen = {-1}
    has_offset = []
    for item in items:
        starts.append(total)
        total += len(_structure(item.signature).sizes)
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
        products = _products(item.signature)
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
            offset = _sum(rest, _steps(item.signature, shape, primitive.strides))
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
    result = list(items)
    for p in topological_order(items, range(len(items))):
        item = items[p]
        args = tuple([result[a].signature for a in item.args])
        primitive = in_primitive(item.signature.primitive, sizes.__getitem__)
        shape = tuple([sizes[n] for n in item.signature.shape])
        if isinstance(primitive, Output):
            signature = args[0].outputs[primitive.number]
        else:
            signature = item.signature.with_sizes(primitive, args, shape)
        result[p] = item._replace(signature=signature, offset=sizes[item.offset])
    return result


# --- the sizes of one primitive ---------------------------------------------------------------------------------------


def _taken_out(f: Signature) -> tuple[Hashable, Sequence[int]]:
    primitive = f.primitive
    if type(primitive) is Map:  # the most frequent one
        return primitive, ()
    if isinstance(primitive, Leaf):
        if _is_dense(f):
            return (Leaf, primitive.aligned, "C"), ()
        order, strides = _order(f), primitive.strides
        return (Leaf, primitive.aligned, *order), [*strides, *_digits(primitive.origin, [strides[d] for d in order])]
    if isinstance(primitive, View):
        return View, _coordinates(primitive.strides, primitive.offset, f.args[0].shape)
    if isinstance(primitive, Update):
        shape, strides, offset = primitive.region
        return (Update, len(shape)), [*shape, *_coordinates(strides, offset, f.args[0].shape)]
    if isinstance(primitive, LibraryCall):
        kinds = [(len(shape), dtype) for shape, dtype in primitive.results]
        return (LibraryCall, primitive.name, primitive.options, *kinds), [n for s, _ in primitive.results for n in s]
    return primitive, ()


def _put_in(f: Signature, sizes: Iterator[Integer], shape: Sequence[Integer], args: Sequence[Signature]) -> Primitive:
    """Return the primitive of a signature with other sizes, over a shape and arguments with others."""
    primitive = f.primitive
    if isinstance(primitive, Leaf):
        if _is_dense(f):
            return Leaf(layout.c_strides(shape), 0, primitive.aligned)  # type: ignore[arg-type]
        strides = tuple([next(sizes) for _ in primitive.strides])
        return Leaf(strides, _sum(sizes, _steps(f, shape, strides)), primitive.aligned)  # type: ignore[arg-type]
    if isinstance(primitive, View):
        return View(*_from_coordinates(sizes, len(shape), args[0].shape))  # type: ignore[arg-type]
    if isinstance(primitive, Update):
        region = tuple([next(sizes) for _ in primitive.region.shape])
        return Update(Layout(region, *_from_coordinates(sizes, len(region), args[0].shape)))  # type: ignore[arg-type]
    if isinstance(primitive, LibraryCall):
        results = tuple((tuple([next(sizes) for _ in s]), dtype) for s, dtype in primitive.results)
        return LibraryCall(primitive.name, primitive.options, results)  # type: ignore[arg-type]
    return primitive


def _coordinates(strides: Sequence[int], offset: int, shape: Sequence[int]) -> list[int]:
    flat = layout.c_strides(shape)  # type: ignore[arg-type]
    digits = []
    for number in (*strides, offset):
        digits += _digits(number, flat)
    return digits


def _from_coordinates(
    sizes: Iterator[Integer], count: int, shape: Sequence[int]
) -> tuple[tuple[Integer, ...], Integer]:
    flat = layout.c_strides(shape)  # type: ignore[arg-type]
    strides = tuple([_sum(sizes, flat) for _ in range(count)])
    return strides, _sum(sizes, flat)


def _is_dense(f: Signature) -> bool:
    """Return whether a leaf is all of its memory in C order, so that its strides follow from its shape."""
    assert isinstance(f.primitive, Leaf)
    return f.primitive.strides == layout.c_strides(f.shape) and not f.primitive.origin


def _order(f: Signature) -> list[int]:
    """Return the dimensions of a leaf from the longest stride on."""
    assert isinstance(f.primitive, Leaf)
    lengths = [abs(s) for s in f.primitive.strides]
    return sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True)


def _steps(f: Signature, shape: Sequence[Any], strides: Sequence[Any]) -> Sequence[Any]:
    """Return the strides of a leaf, the longest first, where its shape and strides may be symbolic."""
    return layout.c_strides(shape) if _is_dense(f) else [strides[d] for d in _order(f)]  # type: ignore[arg-type]


def _digits(number: int, steps: Sequence[int]) -> list[int]:
    """Return multiples of steps, the longest of which come first, and a rest, that add up to a number."""
    if not number:
        return [0] * (len(steps) + 1)
    sign = -1 if number < 0 else 1
    number *= sign
    digits = []
    for step in steps:
        digit = number // abs(step) if step else 0
        digits.append(sign * digit if step > 0 else -sign * digit)
        number -= digit * abs(step)
    return [*digits, sign * number]


def _sum(digits: Iterator[Integer], steps: Sequence[Integer]) -> Integer:
    total: Integer = 0
    for step in steps:
        total = total + next(digits) * step
    return total + next(digits)
