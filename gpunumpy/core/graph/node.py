"""The expression graph: immutable nodes, their interned forms, and the queue of values not computed yet.

A `Form` is the structure of a value without its data: the operation, the forms of its arguments, its shape and dtype.
Forms are interned, so equal structure is the same object and one dictionary look-up by forms replaces type
resolution, broadcasting and signature building when an operation is recorded a second time.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy

from ..ops.streams import STREAMS
from . import layout
from .layout import Layout, Shape

DType: TypeAlias = "numpy.dtype[Any]"


@dataclass(frozen=True, slots=True)
class Leaf:
    """Computed data: a strided window of a buffer. `origin` is its first element, counted from the lowest one."""

    strides: tuple[int, ...]
    origin: int
    aligned: bool


@dataclass(frozen=True, slots=True)
class Const:
    """A scalar passed by value. `weak` names the class of a Python scalar, or is empty for a typed one."""

    weak: str


@dataclass(frozen=True, slots=True)
class Iota:
    """The int64 index along `axis`."""

    axis: int


@dataclass(frozen=True, slots=True)
class Map:
    """The table's elementwise row over broadcast arguments; `loop` is the argument dtypes and the result dtype."""

    row: str
    loop: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class View:
    """Elements ``offset + sum(strides[d] * i[d])`` of the argument in C order."""

    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Update:
    """The first argument with the elements of the layout (over its C order) replaced by the second argument."""

    region: Layout


@dataclass(frozen=True, slots=True)
class Gather:
    """``base[i1, ..., ik]`` with k = `count` broadcast int64 index arrays for the leading dimensions of the base."""

    count: int


@dataclass(frozen=True, slots=True)
class Scatter:
    """``base[i1, ..., ik] = value`` (arguments: base, value, indices).

    `row` is "" for assignment, where the last of several duplicates wins, or the elementwise row of ``ufunc.at``.
    """

    count: int
    row: str


@dataclass(frozen=True, slots=True)
class Reduce:
    """The table's reduction over `axes`; `loop` as for `Map`. Arguments after the first are scalars for its end."""

    row: str
    axes: tuple[int, ...]
    loop: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class Scan:
    """The inclusive scan along `axis` by a reduction row."""

    row: str
    axis: int
    loop: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A library routine or a kernel of its own, by name, over computed arguments; `options` are static and hashable.

    A routine with several results, of the shapes and dtypes `results`, has no value itself; its parts have.
    """

    name: str
    options: tuple[Any, ...] = ()
    results: tuple[tuple[Shape, DType], ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One of the results of the routine that is the argument."""

    number: int


Op: TypeAlias = Leaf | Const | Iota | Map | View | Update | Gather | Scatter | Reduce | Scan | Call | Part


class Queue:
    """The values of one device that are recorded and not computed: weak references to their owning arrays.

    `state` is whatever the evaluation keeps for the device.
    """

    state: Any

    def __init__(self, device: Any, review: Callable[[Queue, Node], None]) -> None:
        self.device = device
        self.pending: list[weakref.ref[Any]] = []
        self.lock = threading.RLock()
        self.limit = CHECK_EVERY
        self.review = review


# After this many recordings the queue is reviewed: dead entries go, and a graph that has grown too large is flushed.
CHECK_EVERY = 128


class Form:
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
    """

    __slots__ = ("args", "dtype", "generator", "op", "queue", "shape", "strides", "weight")

    generator: bool
    weight: int

    def __init__(self, op: Op, args: tuple[Form, ...], shape: Shape, dtype: DType, queue: Queue | None) -> None:
        self.op = op
        self.args = args
        self.shape = shape
        self.dtype = dtype
        self.queue = queue
        self.strides = op.strides if isinstance(op, (Leaf, View)) else layout.c_strides(shape)
        self.weight = min(10_000, 1 + sum(a.weight for a in args))
        self.generator = isinstance(op, (Iota, Const)) or (
            isinstance(op, (Map, View)) and self.weight <= 12 and all(a.generator for a in args)
        )
        if isinstance(op, Map) and op.row in STREAMS:
            self.generator = False

    def __repr__(self) -> str:
        return f"Form({self.op}, shape={self.shape}, dtype={self.dtype})"


_forms: dict[Any, Form] = {}
_FORMS_LIMIT = 200_000


def form(op: Op, args: tuple[Form, ...], shape: Shape, dtype: DType, queue: Queue | None) -> Form:
    """The one form of this structure."""
    key = (op, args, shape, dtype, queue)
    found = _forms.get(key)
    if found is None:
        layout.check_size(shape, dtype.itemsize)
        if len(_forms) > _FORMS_LIMIT:
            # Forgetting is safe: a form met again is only another object, and what is cached by it is made anew.
            _forms.clear()
        found = _forms.setdefault(key, Form(op, args, shape, dtype, queue))
    return found


# Forms by what they were made from, for the makers of nodes below: the operation itself, and a key of interned forms,
# tuples and dtypes, which is quicker to hash than an operation is to make.
_known: dict[tuple[Any, ...], Form] = {}


def _remember(key: tuple[Any, ...], made: Form) -> Form:
    if len(_known) > _FORMS_LIMIT:
        _known.clear()
    _known[key] = made
    return made


class Node:
    """A value of the graph.

    `data` is the buffer (a computed value), the scalar (a Const) or None (pending). Computing a pending node turns it
    into a leaf in place, for all who hold it. `offset` is the lowest element of a leaf in its buffer. `site` tells
    where an operation that can fail on its data was recorded. `bound` is what kernels take for a leaf, once one has.
    """

    __slots__ = ("args", "bound", "data", "form", "offset", "owner", "site")

    form: Form
    args: tuple[Node, ...]
    bound: Any
    data: Any
    offset: int
    owner: weakref.ref[Any] | None
    site: str

    def __init__(self, form: Form, args: tuple[Node, ...], data: Any = None) -> None:
        self.form = form
        self.args = args
        self.data = data
        self.owner = None


def leaf(buffer: Any, dtype: DType, where: Layout, queue: Queue) -> Node:
    """A window of a buffer as a value; `where` in elements of `dtype`."""
    shape, strides, offset = where
    low = offset if not strides or min(strides) >= 0 else where.low()
    aligned = (buffer.ptr + low * dtype.itemsize) % 16 == 0
    key = Leaf, shape, strides, offset - low, aligned, dtype, queue
    made = _known.get(key)
    if made is None:
        made = _remember(key, form(Leaf(strides, offset - low, aligned), (), shape, dtype, queue))
    node = Node(made, (), buffer)
    node.offset = low
    node.bound = None
    return node


def leaf_layout(node: Node) -> Layout:
    """The layout of a computed node in its buffer."""
    op = node.form.op
    assert isinstance(op, Leaf)
    return Layout(node.form.shape, op.strides, node.offset + op.origin)


# scalars

_WEAK_DTYPE = {"bool": numpy.bool_, "float": numpy.float64, "complex": numpy.complex128}


def _weak(weak: str, dtype: Any) -> Form:
    return form(Const(weak), (), (), numpy.dtype(dtype), None)


_BOOL, _FLOAT, _COMPLEX = (_weak(name, dtype) for name, dtype in _WEAK_DTYPE.items())
# Python integers are told apart by the narrowest integer type that holds them, since that decides what NumPy refuses.
_INTS = tuple(_weak(f"int:{name}", numpy.int64) for name in ("u7", "i8", "u8", "i16", "u16", "i32", "u32", "i64"))
_INT_SMALL, _INT_NEGATIVE = _INTS[0], _INTS[1]
_INT_U64 = _weak("int:u64", numpy.uint64)
_INT_BIG = _weak("int:big", numpy.int64)
_FITS = (
    (-(2**7), 2**7 - 1, _INT_NEGATIVE),
    (0, 2**8 - 1, _INTS[2]),
    (-(2**15), 2**15 - 1, _INTS[3]),
    (0, 2**16 - 1, _INTS[4]),
    (-(2**31), 2**31 - 1, _INTS[5]),
    (0, 2**32 - 1, _INTS[6]),
    (-(2**63), 2**63 - 1, _INTS[7]),
    (0, 2**64 - 1, _INT_U64),
)


def scalar(value: bool | int | float | complex) -> Node:
    """A Python scalar as a value (weak in type promotion)."""
    kind = type(value)
    if kind is float:
        return Node(_FLOAT, (), value)
    if kind is int:
        if 0 <= value <= 127:  # type: ignore[operator]
            return Node(_INT_SMALL, (), value)
        for low, high, fits in _FITS:
            if low <= value <= high:  # type: ignore[operator]
                return Node(fits, (), value)
        return Node(_INT_BIG, (), value)
    if kind is bool:
        return Node(_BOOL, (), value)
    return Node(_COMPLEX, (), value)


def typed_scalar(value: Any, dtype: DType) -> Node:
    """A scalar of a dtype (a NumPy scalar) as a value."""
    made = _known.get((Const, dtype)) or _remember((Const, dtype), form(Const(""), (), (), dtype, None))
    return Node(made, (), value.item() if hasattr(value, "item") else value)


# making nodes


def common_queue(forms: Sequence[Form]) -> Queue | None:
    """The queue of all the arguments; ValueError where they live on two devices."""
    found: Queue | None = None
    for f in forms:
        if f.queue is not None and f.queue is not found:
            if found is not None:
                raise ValueError(
                    f"operands are on two devices, {found.device} and {f.queue.device}; move one with to_device()"
                )
            found = f.queue
    return found


def map_node(row: str, loop: tuple[DType, ...], args: Sequence[Node], shape: Shape | None = None) -> Node:
    """The elementwise row over the arguments; `loop` was resolved by the caller."""
    forms = tuple(a.form for a in args)
    if shape is None:
        shape = layout.broadcast_shapes(*(f.shape for f in forms))
    return Node(form(Map(row, loop), forms, shape, loop[-1], common_queue(forms)), tuple(args))


def cast(node: Node, dtype: DType) -> Node:
    """The value in another dtype."""
    f = node.form
    op = f.op
    if f.dtype == dtype and not (type(op) is Const and op.weak):
        return node
    key = (Map, f, dtype)
    made = _known.get(key)
    if made is None:
        made = _remember(key, form(Map("cast", (f.dtype, dtype)), (f,), f.shape, dtype, f.queue))
    return Node(made, (node,))


def iota(shape: Shape, axis: int, queue: Queue) -> Node:
    """The int64 index along an axis, over a shape."""
    return Node(form(Iota(axis), (), shape, numpy.dtype(numpy.int64), queue), ())


class _Window(NamedTuple):
    """What `view` makes of a form and a layout, so that it is worked out once.

    A window of a buffer begins `step` elements after the node's own; its form depends on whether it is `aligned`.
    Of a pending value it is a node of that form over the node (`nested`), or over what the node is a view of.
    """

    form: Form
    odd: Form
    step: int
    nested: bool


_windows: dict[tuple[Form, Layout], _Window | None] = {}


def view(node: Node, where: Layout) -> Node:
    """Elements of a value by an affine map over its C order."""
    data, f, args = node.data, node.form, node.args
    if data is None and (node.data is not None or type(f.op) is Leaf):
        # Another thread has just computed it; the lock is free when all of that can be seen.
        with f.queue.lock:  # type: ignore[union-attr]
            data, f, args = node.data, node.form, node.args
    key = (f, where)
    try:
        window = _windows[key]
    except KeyError:
        if len(_windows) > _FORMS_LIMIT:
            _windows.clear()
        window = _windows[key] = _window(f, where)
    if window is None:
        return node
    if data is None or type(f.op) is Const:
        return Node(window.form, (node,) if window.nested else args)
    if window.nested:
        # No strides over this leaf would do: its elements in C order first, as an expression that views do not look
        # through.
        return view(map_node("cast", (f.dtype, f.dtype), (node,)), where)
    offset = node.offset + window.step
    aligned = (data.ptr + offset * f.dtype.itemsize) % 16 == 0
    made = Node(window.form if aligned else window.odd, (), data)
    made.offset = offset
    made.bound = None
    return made


def _window(f: Form, where: Layout) -> _Window | None:
    """How a form is seen through a layout; None where it is the same."""
    shape = where.shape
    if shape == f.shape and where.offset == 0 and layout.is_c(shape, where.strides):
        return None
    if 0 in shape:  # no element: any strides are right, and zeros stay inside whatever is below
        where = Layout(shape, (0,) * len(shape), 0)
    op = f.op
    inner: Layout | None = where
    if isinstance(op, (Leaf, View)):
        start = op.origin if isinstance(op, Leaf) else op.offset
        if layout.is_c(f.shape, op.strides):
            inner = Layout(shape, where.strides, where.offset + start)
        else:
            inner = layout.compose(Layout(f.shape, op.strides, start), where)
        if inner is None and prod(shape) == prod(f.shape) and layout.is_c(shape, where.strides):
            strides = layout.reshape_strides(f.shape, op.strides, shape)
            inner = None if strides is None else Layout(shape, strides, start)
    if isinstance(op, Leaf) and inner is not None:
        low = inner.low()
        forms = [form(Leaf(inner.strides, inner.offset - low, a), (), shape, f.dtype, f.queue) for a in (True, False)]
        return _Window(forms[0], forms[1], low, False)
    nested = inner is None or not isinstance(op, View) or not _reaches(f.args[0], inner)
    args = (f,) if nested else f.args
    seen = inner or where
    made = form(View(seen.strides, seen.offset), args, shape, f.dtype, f.queue)
    return _Window(made, made, 0, nested)


def _reaches(f: Form, where: Layout) -> bool:
    """Whether a layout over the C order of a form can be read from it: a leaf with strides needs an index map."""
    op = f.op
    if not isinstance(op, Leaf) or layout.is_c(f.shape, op.strides):
        return True
    return layout.decompose(f.shape, where.strides, where.offset, where.shape) is not None


def broadcast(node: Node, shape: Shape) -> Node:
    """The value repeated over a shape that it broadcasts to."""
    f = node.form
    if f.shape == shape:
        return node
    return view(node, Layout(shape, layout.broadcast_strides(f.shape, layout.c_strides(f.shape), shape), 0))


def fill(value: Node, shape: Shape, queue: Queue) -> Node:
    """A scalar repeated over a shape, as a value of a device that no array owns."""
    f = value.form
    key = (View, f, shape, queue)
    made = _known.get(key)
    if made is None:
        made = _remember(key, form(View((0,) * len(shape), 0), (f,), shape, f.dtype, queue))
    return Node(made, (value,))


def fresh(node: Node) -> Node:
    """The value as a node that will have a buffer of its own."""
    f = node.form
    key = (View, f)
    made = _known.get(key)
    if made is None:
        made = _remember(key, form(View(layout.c_strides(f.shape), 0), (f,), f.shape, f.dtype, f.queue))
    return Node(made, (node,))


def update(base: Node, region: Layout, value: Node) -> Node:
    """The base with a region (over its C order) replaced by `value`, which has the region's shape and base's dtype."""
    key = (Update, base.form, value.form, region)
    made = _known.get(key)
    if made is None:
        forms = key[1:3]
        made = _remember(key, form(Update(region), forms, forms[0].shape, forms[0].dtype, common_queue(forms)))
    return Node(made, (base, value))


def gather(base: Node, indices: Sequence[Node], site: str) -> Node:
    """``base[indices]`` over the leading dimensions; the indices are int64 and broadcast together."""
    args = (base, *indices)
    forms = tuple([a.form for a in args])
    made = _known.get((Gather, forms))
    if made is None:
        shape = layout.broadcast_shapes(*(f.shape for f in forms[1:])) + forms[0].shape[len(indices) :]
        op = Gather(len(indices))
        made = _remember((Gather, forms), form(op, forms, shape, forms[0].dtype, common_queue(forms)))
    node = Node(made, args)
    node.site = site
    return node


def scatter(base: Node, value: Node, indices: Sequence[Node], row: str, site: str) -> Node:
    """``base[indices] = value`` (or ``row.at``); value broadcasts to the shape that a gather would have."""
    queue = common_queue([base.form, value.form, *(i.form for i in indices)])
    assert queue is not None
    # A routine takes its arguments from memory, scalars too.
    args = [fill(a, (), queue) if a.form.queue is None else a for a in (base, value, *indices)]
    forms = tuple(a.form for a in args)
    node = Node(form(Scatter(len(indices), row), forms, base.form.shape, base.form.dtype, queue), tuple(args))
    node.site = site
    return node


def reduce(row: str, loop: tuple[DType, ...], axes: tuple[int, ...], args: Sequence[Node]) -> Node:
    """The reduction of ``args[0]`` over `axes`, which disappear."""
    forms = tuple(a.form for a in args)
    shape = tuple(n for axis, n in enumerate(forms[0].shape) if axis not in axes)
    return Node(form(Reduce(row, axes, loop), forms, shape, loop[-1], common_queue(forms)), tuple(args))


def scan(row: str, loop: tuple[DType, ...], axis: int, arg: Node) -> Node:
    """The inclusive scan of a value along an axis."""
    return Node(form(Scan(row, axis, loop), (arg.form,), arg.form.shape, loop[-1], arg.form.queue), (arg,))


def call(name: str, options: tuple[Any, ...], args: Sequence[Node], shape: Shape, dtype: DType) -> Node:
    """A library routine over computed arguments, with a C-ordered result of the given shape and dtype."""
    forms = tuple([a.form for a in args])
    key = (Call, name, options, forms, shape, dtype)
    made = _known.get(key)
    if made is None:
        made = _remember(key, form(Call(name, options), forms, shape, dtype, common_queue(forms)))
    return Node(made, tuple(args))


def routine(
    name: str, options: tuple[Any, ...], args: Sequence[Node], results: Sequence[tuple[Shape, DType]]
) -> list[Node]:
    """The results of a library routine over computed arguments, all C-ordered; their shapes and dtypes are given."""
    forms = tuple([a.form for a in args])
    key = (Part, name, options, forms, *results)
    call = _known.get(key)
    if call is None:
        op = Call(name, options, tuple(results))
        call = _remember(key, form(op, forms, (), results[0][1], common_queue(forms)))
    node = Node(call, tuple(args))
    return [Node(part, (node,)) for part in parts(call)]


@lru_cache(maxsize=4096)
def parts(call: Form) -> tuple[Form, ...]:
    """The forms of all results of a routine with several."""
    assert isinstance(call.op, Call)
    return tuple(form(Part(k), (call,), *result, call.queue) for k, result in enumerate(call.op.results))
