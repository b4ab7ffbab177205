"""Signatures: the interned structure of values.

A `Signature` is the structure of a value without its data: the primitive, the signatures of its arguments, its shape,
dtype and queue. Equal structures share one object, so a dictionary look-up by signatures replaces type resolution,
broadcasting and construction of the result's signature when an operation is recorded again.
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
    primitive, args, shape, dtype
        The kind of node, the signatures of its arguments, and what its value looks like.
    strides
        The strides that the value has in memory, as an input of the order "K" of a result.
    queue
        The queue of the device, or None for a scalar that belongs to no device.
    generator
        Whether the value is computed from indices and scalars alone by a few operations, which costs less than to read
        it from memory. Random numbers are not generators in this sense.
    weight
        The number of operations in the expression, up to a bound. Shared operations count at every use.
    outputs
        The signatures of the outputs of a library call with several. They are made once, with the signature of the
        call: outputs among recorded values are found by identity.
    """

    __slots__ = ("args", "dtype", "generator", "outputs", "primitive", "queue", "shape", "strides", "weight")

    generator: bool
    outputs: tuple[Signature, ...]
    weight: int

    def __init__(
        self, primitive: Primitive, args: tuple[Signature, ...], shape: Shape, dtype: DType, queue: Queue | None
    ) -> None:
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

    def with_sizes(self, primitive: Primitive, args: tuple[Signature, ...], shape: Shape) -> Signature:
        """Return a signature of this structure with other sizes, which is not interned."""
        made = Signature(primitive, args, shape, self.dtype, self.queue)
        made.weight, made.generator = self.weight, self.generator
        return made

    def __repr__(self) -> str:
        """Return the structure as text, without the arguments."""
        return f"Signature({self.primitive}, shape={self.shape}, dtype={self.dtype})"


_signatures: BoundedTable[Any, Signature] = BoundedTable()


def intern_signature(
    primitive: Primitive, args: tuple[Signature, ...], shape: Shape, dtype: DType, queue: Queue | None
) -> Signature:
    """Return the interned signature of this structure."""
    key = (primitive, args, shape, dtype, queue)
    found = _signatures.find(key)
    if found is None:
        layout.check_size(shape, dtype.itemsize)
        found = _signatures.keep(key, Signature(primitive, args, shape, dtype, queue))
    return found


def outputs(library_call: Signature) -> tuple[Signature, ...]:
    """Return the signatures of all outputs of a library call with several."""
    return library_call.outputs
