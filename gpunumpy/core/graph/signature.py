"""Signatures: the interned structure of values.

A `Signature` is the structure of a value without its data: the primitive, the signatures of its arguments, its shape
and dtype. Equal structure is the same object, so one dictionary look-up by signatures replaces type resolution,
broadcasting and signature building when an operation is recorded a second time.
"""

from __future__ import annotations

from typing import Any

from ..dtypes import DType
from ..ops.streams import STREAMS
from . import layout
from .bounded_table import BoundedTable
from .layout import Shape
from .primitives import Const, Iota, Leaf, LibraryCall, Map, Output, Primitive, View
from .queue import Queue


class Signature:
    """The interned structure of a value.

    Attributes
    ----------
    op, args, shape, dtype
        What the value is.
    strides
        Where its elements lie in memory, as far as the order "K" of a result cares.
    queue
        The queue of its device, or None for a scalar that belongs to none.
    generator
        Whether it is computed from indices and scalars alone by a few operations, cheaper than to read from memory;
        random numbers are not.
    weight
        The number of operations in it, shared ones counted each time they are used, up to a bound.
    outputs
        The signatures of the results of a library call with several. They are made and forgotten with its own: who
        looks for the outputs of a call among values that were recorded finds them by identity.
    """

    __slots__ = ("args", "dtype", "generator", "outputs", "primitive", "queue", "shape", "strides", "weight")

    generator: bool
    outputs: tuple[Signature, ...]
    weight: int

    def __init__(
        self, primitive: Primitive, args: tuple[Signature, ...], shape: Shape, dtype: DType, queue: Queue | None
    ) -> None:
        layout.check_size(shape, dtype.itemsize)
        self.primitive = primitive
        self.args = args
        self.shape = shape
        self.dtype = dtype
        self.queue = queue
        self.strides = primitive.strides if isinstance(primitive, (Leaf, View)) else layout.c_strides(shape)
        self.weight = min(10_000, 1 + sum(a.weight for a in args))
        self.generator = isinstance(primitive, (Iota, Const)) or (
            isinstance(primitive, (Map, View)) and self.weight <= 12 and all(a.generator for a in args)
        )
        if isinstance(primitive, Map) and primitive.op in STREAMS:
            self.generator = False
        self.outputs = ()
        if isinstance(primitive, LibraryCall):
            results = enumerate(primitive.results)
            self.outputs = tuple([Signature(Output(k), (self,), *result, queue) for k, result in results])

    def __repr__(self) -> str:
        return f"Signature({self.primitive}, shape={self.shape}, dtype={self.dtype})"


_signatures: BoundedTable[Any, Signature] = BoundedTable()


def signature(
    primitive: Primitive, args: tuple[Signature, ...], shape: Shape, dtype: DType, queue: Queue | None
) -> Signature:
    """The one signature of this structure."""
    key = (primitive, args, shape, dtype, queue)
    return _signatures.find(key) or _signatures.keep(key, Signature(primitive, args, shape, dtype, queue))


def outputs(library_call: Signature) -> tuple[Signature, ...]:
    """The signatures of all results of a library call with several."""
    return library_call.outputs
