"""Signatures without their sizes: a number for the structure, and the sizes that were taken out of it.

Strides and offsets follow from sizes: a stride over the C order of an argument is a sum of multiples of the strides of
its dimensions. These multiples are what is taken out, so that ``a[1:, 1:]`` is one structure for all shapes of `a`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import count
from math import prod
from typing import Any, Protocol

from ..dtypes import DType
from . import layout
from .bounded_table import BoundedTable
from .layout import Shape
from .primitives import Leaf, LibraryCall, Primitive, Update, View
from .queue import Queue


class Sized(Protocol):
    """What a `Signature` is to this module, which signatures are derived by."""

    @property
    def primitive(self) -> Primitive:
        """The kind of node."""

    @property
    def args(self) -> Sequence[Sized]:
        """The signatures of the arguments."""

    @property
    def shape(self) -> Shape:
        """The sizes of the value."""

    @property
    def dtype(self) -> DType:
        """The type of the elements."""

    @property
    def queue(self) -> Queue | None:
        """The queue of the device."""

    @property
    def generator(self) -> bool:
        """Whether it costs less to compute the value than to read it."""


# Numbers of signatures without sizes: a graph is found by these in less time than by what they stand for. They are not
# used again, so that one that outlives its entry stands for nothing else.
NUMBERS: BoundedTable[Hashable, int] = BoundedTable()
_new_numbers = count()


def structure_of(f: Sized) -> tuple[int, tuple[int, ...]]:
    """Return the number of a signature without sizes, and its sizes: of the shape, then of the primitive."""
    key, sizes = without_sizes(f)
    number = NUMBERS.find(key)
    if number is None:
        number = NUMBERS.keep(key, next(_new_numbers))
    return number, sizes


def without_sizes(f: Sized) -> tuple[tuple[Hashable, ...], tuple[int, ...]]:
    """Return a signature without sizes, the queue as its last but one part, and its sizes."""
    kind, sizes = _taken_out(f)
    shape = f.shape
    products = products_in(f)
    if products:
        shape = tuple([0 if d in products else n for d, n in enumerate(shape)])
        kind = (kind, *products.items())
    return (kind, len(f.args), len(shape), f.dtype, f.queue, f.generator), (*shape, *sizes)


def products_in(f: Sized) -> dict[int, tuple[int, int]]:
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


def _taken_out(f: Sized) -> tuple[Hashable, Sequence[int]]:
    """Return a primitive without its sizes, and these."""
    primitive = f.primitive
    if isinstance(primitive, Leaf):
        if is_dense(f):
            return (Leaf, primitive.aligned, "C"), ()
        order, strides = stride_order(f), primitive.strides
        return (Leaf, primitive.aligned, *order), [*strides, *digits(primitive.origin, [strides[d] for d in order])]
    if isinstance(primitive, View):
        return View, _coordinates(primitive.strides, primitive.offset, f.args[0].shape)
    if isinstance(primitive, Update):
        shape, strides, offset = primitive.region
        return (Update, len(shape)), [*shape, *_coordinates(strides, offset, f.args[0].shape)]
    if isinstance(primitive, LibraryCall):
        kinds = [(len(shape), dtype) for shape, dtype in primitive.results]
        return (LibraryCall, primitive.name, primitive.options, *kinds), [n for s, _ in primitive.results for n in s]
    return primitive, ()


def _coordinates(strides: Sequence[int], offset: int, shape: Sequence[int]) -> list[int]:
    flat = layout.c_strides(shape)  # type: ignore[arg-type]
    numbers = []
    for number in (*strides, offset):
        numbers += digits(number, flat)
    return numbers


def is_dense(f: Sized) -> bool:
    """Return whether a leaf is all of its memory in C order, so that its strides follow from its shape."""
    assert isinstance(f.primitive, Leaf)
    return f.primitive.strides == layout.c_strides(f.shape) and not f.primitive.origin


def stride_order(f: Sized) -> list[int]:
    """Return the dimensions of a leaf from the longest stride on."""
    assert isinstance(f.primitive, Leaf)
    lengths = [abs(s) for s in f.primitive.strides]
    return sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True)


def steps_of(f: Sized, shape: Sequence[Any], strides: Sequence[Any]) -> Sequence[Any]:
    """Return the strides of a leaf, the longest first, where its shape and strides may be symbolic."""
    return layout.c_strides(shape) if is_dense(f) else [strides[d] for d in stride_order(f)]  # type: ignore[arg-type]


def digits(number: int, steps: Sequence[int]) -> list[int]:
    """Return multiples of steps, the longest of which come first, and a rest, that add up to a number."""
    if not number:
        return [0] * (len(steps) + 1)
    sign = -1 if number < 0 else 1
    number *= sign
    found = []
    for step in steps:
        digit = number // abs(step) if step else 0
        found.append(sign * digit if step > 0 else -sign * digit)
        number -= digit * abs(step)
    return [*found, sign * number]
