"""Signatures: the interned structure of values.

A `Signature` is the structure of a value without its data: the primitive, the signatures of its arguments, its shape,
dtype and queue. Equal structures share one object, so a dictionary look-up by signatures replaces type resolution,
broadcasting and construction of the result's signature when an operation is recorded again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .._native import tried_first
from ..dtypes import DType, check
from ..ops.streams import STREAMS
from . import layout
from .bounded_table import BoundedTable, count
from .layout import Shape
from .primitives import Const, Gather, Iota, Leaf, LibraryCall, Map, Output, Primitive, Reduce, Scatter, Update, View
from .queue import Queue
from .structure import NUMBERS, structure_of


class Signature:
    """The interned structure of a value.

    Attributes
    ----------
    primitive, args, shape, dtype
        The kind of node, the signatures of its arguments, and what its value looks like.
    strides
        The strides that the value has in memory, as an input of the order "K" of a result.
    c_ordered
        Whether no stride is longer than one before it: an elementwise result of such values alone is in C order.
    kind
        What decides, besides sizes and memory order, which operations are recorded over the value.
    queue
        The queue of the device, or None for a scalar that belongs to no device.
    index_map
        Of a view: for every dimension of its argument, the first index and the steps along its own dimensions; None if
        there is no such map (see `layout.decompose`).
    generator
        Whether the value is computed from indices and scalars alone by a few operations, which costs less than to read
        it from memory. Random numbers are not generators in this sense.
    weight
        The number of operations in the expression, as far as it decides `generator`. Shared operations count at every
        use.
    outputs
        The signatures of the outputs of a library call with several. They are made once, with the signature of the
        call: outputs among recorded values are found by identity.
    structure, sizes
        The signature without sizes, as a number, and the sizes; see `structure_of`.
    """

    __slots__ = (
        "args",
        "c_ordered",
        "dtype",
        "generator",
        "index_map",
        "kind",
        "outputs",
        "primitive",
        "queue",
        "shape",
        "sizes",
        "strides",
        "structure",
        "weight",
    )

    c_ordered: bool
    generator: bool
    index_map: tuple[tuple[int, tuple[int, ...]], ...] | None
    kind: Kind
    outputs: tuple[Signature, ...]
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    structure: int
    weight: int

    def __init__(
        self, primitive: Primitive, args: tuple[Signature, ...], shape: Shape, dtype: DType, queue: Queue | None
    ) -> None:
        self.primitive = primitive
        self.args = args
        self.shape = shape
        self.dtype = dtype
        self.queue = queue
        self.outputs = ()
        primitive_class = type(primitive)
        if primitive_class is Leaf:
            self.weight, self.generator = 1, False
            return
        weight, generator = 1, primitive_class is Map or primitive_class is View
        for arg in args:
            weight += arg.weight
            generator = generator and arg.generator
        self.weight = min(weight, _MAX_WEIGHT)
        if primitive_class is Map:
            generator = generator and primitive.op not in STREAMS  # type: ignore[union-attr]
        self.generator = (generator and weight <= _MAX_GENERATOR_WEIGHT) or primitive_class in (Iota, Const)
        if isinstance(primitive, LibraryCall):
            results = enumerate(primitive.results)
            self.outputs = tuple([Signature(Output(k), (self,), *result, queue) for k, result in results])

    def __getattr__(self, name: str) -> Any:
        """Derive an attribute that few values need, when it is asked for first."""
        value: Any
        if name == "strides":
            primitive = self.primitive
            is_constant = isinstance(primitive, View) and isinstance(self.args[0].primitive, Const)  # as of `zeros`
            has_own = isinstance(primitive, (Leaf, View)) and not is_constant
            value = primitive.strides if has_own else layout.c_strides(self.shape)  # type: ignore[union-attr]
        elif name == "c_ordered":
            value = not isinstance(self.primitive, (Leaf, View)) or layout.is_c_ordered(self.shape, self.strides)
        elif name == "kind":
            value = _kind_of(self)
        elif name in ("structure", "sizes"):
            self.structure, self.sizes = structure_of(self)
            return self.structure if name == "structure" else self.sizes
        elif name == "index_map":
            view = self.primitive
            assert isinstance(view, View)
            value = layout.decompose(self.args[0].shape, view.strides, view.offset, self.shape)
            if value is not None:
                starts, coefs = value
                value = tuple([(start, tuple([c[k] for c in coefs])) for k, start in enumerate(starts)])
        else:
            raise AttributeError(name)
        setattr(self, name, value)
        return value

    def with_sizes(self, primitive: Primitive, args: tuple[Signature, ...], shape: Shape) -> Signature:
        """Return a signature of this structure with other sizes, which is not interned."""
        made = Signature(primitive, args, shape, self.dtype, self.queue)
        made.weight, made.generator = self.weight, self.generator
        return made

    def __repr__(self) -> str:
        """Return the structure as text, without the arguments."""
        return f"Signature({self.primitive}, shape={self.shape}, dtype={self.dtype})"


_MAX_GENERATOR_WEIGHT = 12
_MAX_WEIGHT = _MAX_GENERATOR_WEIGHT + 1


class Kind(NamedTuple):
    """See `Signature.kind`. `weak` is None for anything but a scalar."""

    ndim: int
    dtype: DType
    queue: Queue | None
    weak: str | None


_kinds: BoundedTable[Kind, Kind] = BoundedTable()


def _kind_of(signature: Signature) -> Kind:
    primitive = signature.primitive
    weak = primitive.weak if isinstance(primitive, Const) else None
    kind = Kind(len(signature.shape), signature.dtype, signature.queue, weak)
    return _kinds.find(kind) or _kinds.keep(kind, kind)


_signatures: BoundedTable[Any, Signature] = BoundedTable()


def intern_signature(
    primitive: Primitive, args: tuple[Signature, ...], shape: Shape, dtype: DType, queue: Queue | None
) -> Signature:
    """Return the interned signature of this structure."""
    key = (primitive, args, shape, dtype, queue)
    found = _signatures.find(key)
    if found is None:
        check(dtype)
        layout.check_size(shape, dtype.itemsize)
        found = _signatures.keep(key, Signature(primitive, args, shape, dtype, queue))
    return found


def with_arguments(operation: Signature, args: tuple[Signature, ...]) -> Signature:
    """Return the signature of an operation on other arguments, of which all but their own arguments is the same."""
    if args == operation.args:
        return operation
    if isinstance(operation.primitive, Output):
        return args[0].outputs[operation.primitive.number]
    return intern_signature(operation.primitive, args, operation.shape, operation.dtype, operation.queue)


@tried_first
def with_operands(operation: Signature, args: tuple[Signature, ...]) -> Signature:
    """Return the signature of an operation on other arguments of the same kinds.

    The operation is elementwise, a reduction, or the product of two vectors or matrices of which the caller knows that
    they can be multiplied.

    Raises
    ------
    ValueError
        If the arguments do not broadcast, or the result is too large.
    """
    shape: Shape = ()
    itemsize = 0
    primitive = operation.primitive
    if isinstance(primitive, Reduce):
        axes = primitive.axes
        shape = tuple([n for axis, n in enumerate(args[0].shape) if axis not in axes])
    elif isinstance(primitive, LibraryCall):
        shape = (*args[0].shape[:-1], *args[1].shape[1:])
    else:
        for arg in args:
            if arg.shape and arg.shape != shape:
                if shape:
                    shape, itemsize = layout.broadcast_shapes(*[arg.shape for arg in args]), 0
                    break
                shape, itemsize = arg.shape, arg.dtype.itemsize
    if itemsize < operation.dtype.itemsize:
        layout.check_size(shape, operation.dtype.itemsize)
    made = Signature(primitive, args, shape, operation.dtype, operation.queue)
    made.kind, made.c_ordered = operation.kind, True
    return made


@tried_first
def at_new_sizes(
    find: Callable[[Any], Signature | None],
    keep: Callable[[Any, Signature], Signature],
    operands: tuple[Signature, ...],
    static: tuple[Any, ...],
) -> Signature | None:
    """Return the signature of an operation that is known for operands of the same kinds, and keep it; else None.

    Operands must be in C order and have elements.

    Parameters
    ----------
    find
        The look-up of a `BoundedTable`, by the kinds of the operands and the static arguments.
    keep
        The method of a `BoundedTable`, by the operands and the static arguments.
    """
    known = find((*[s.kind for s in operands], *static))
    if known is None or not all(s.c_ordered and 0 not in s.shape for s in operands):
        return None
    return keep((*operands, *static), with_operands(known, operands))


def outputs(library_call: Signature) -> tuple[Signature, ...]:
    """Return the signatures of all outputs of a library call with several."""
    return library_call.outputs


def objects_of_core() -> dict[str, Any]:
    """Return what the compiled core makes signatures with, by the names that it has for it."""
    return {
        "Leaf": Leaf,
        "Const": Const,
        "View": View,
        "Update": Update,
        "Reduce": Reduce,
        "Gather": Gather,
        "Scatter": Scatter,
        "Iota": Iota,
        "LibraryCall": LibraryCall,
        "Map": Map,
        "Signature": Signature,
        "kinds": _kinds.find.__self__,  # type: ignore[attr-defined]
        "structures": NUMBERS.find.__self__,  # type: ignore[attr-defined]
        "count_entries": count,
    }
