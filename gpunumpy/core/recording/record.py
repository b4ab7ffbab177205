"""Recording: from arrays, scalars and whatever NumPy takes to nodes, and from an operation on nodes to a new array."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple

import numpy

from .. import dtypes
from ..dtypes import DType
from ..graph import layout
from ..graph import node as graph
from ..graph.layout import Layout, Shape
from ..graph.node import Node
from ..graph.primitives import Const, Gather, Leaf, Scatter
from ..graph.queue import Queue
from ..graph.signature import Signature, signature
from ..ops import table
from ..runtime import evaluate
from ..runtime.device import Device, default_device
from .array import from_host, is_scalar, make_view, ndarray, wrap, wrap_ordered

_PYTHON_SCALARS = frozenset((bool, int, float, complex))


def as_array(x: Any, device: Device | None = None) -> ndarray:
    """An array of anything that NumPy makes an array of; an `ndarray` is returned as it is."""
    if type(x) is ndarray or isinstance(x, ndarray):
        return x
    try:
        host = to_numpy(x)
    except ValueError:
        found = given_by(x)
        if found is None:
            raise
        return found
    return from_host(host, device)


def given_by(x: Any) -> ndarray | None:
    """The array of ours that ``x.__array__()`` returns, which NumPy takes for none; None if there is no such."""
    found = x.__array__() if hasattr(type(x), "__array__") else None
    return found if isinstance(found, ndarray) else None


def to_numpy(x: Any) -> Any:
    """A NumPy array of anything but our arrays, of a supported dtype; nested sequences may hold our 0-d arrays."""
    check_class(x)
    made = numpy.asarray(x)
    dtypes.of_data(made.dtype)
    return made


def check_class(x: Any) -> None:
    """Refuse the arrays of NumPy's that mean something else than their elements."""
    if not isinstance(x, numpy.ndarray) or type(x) is numpy.ndarray:
        return
    if isinstance(x, numpy.ma.MaskedArray):
        raise TypeError(
            "a masked array would lose its mask here: the functions of numpy.ma keep it; asarray(x) or x.filled(...) "
            "gives an array without one"
        )
    if isinstance(x, numpy.matrix):
        raise TypeError("a matrix would lose its meaning of * and ** here: asarray(x) makes an array of it")


def as_node(x: Any, queue: Queue | None = None) -> Node:
    """The value of an operand: an array, a scalar, or anything that NumPy makes an array of.

    Host data goes to the device of `queue` (the default device if None).
    """
    if type(x) is ndarray:
        return x.value()
    if type(x) in _PYTHON_SCALARS:
        return graph.scalar(x)
    if isinstance(x, numpy.generic):
        return graph.typed_scalar(x, dtypes.of_data(x.dtype))
    if isinstance(x, ndarray):
        return x.value()
    if isinstance(x, (bool, int, float, complex)):  # subclasses: IntEnum and the like
        kinds: tuple[Any, ...] = (bool, int, float, complex)
        return graph.scalar(next(k for k in kinds if isinstance(x, k))(x))
    return as_array(x, queue.device if queue is not None else None).value()


def as_nodes(args: Sequence[Any]) -> list[Node]:
    """The values of the operands of one operation; host data goes to where the arrays among them are."""
    queue = next((a.queue for a in args if isinstance(a, ndarray)), None)
    return [as_node(a, queue) for a in args]


def weak_types(nodes: Sequence[Node]) -> tuple[Any, ...]:
    """The dtype of every operand, or the type of a Python scalar, as type promotion takes them."""
    return tuple(_promotes_as(n.signature) for n in nodes)


def _promotes_as(signature: Signature) -> Any:
    primitive = signature.primitive
    if isinstance(primitive, Const) and primitive.weak and primitive.weak != "bool":
        return int if primitive.weak.startswith("int") else float if primitive.weak == "float" else complex
    return signature.dtype


# Comparisons take Python integers that the other operand's dtype does not hold.
_COMPARISONS = frozenset(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"))


def _fit_scalars(op: str, nodes: Sequence[Node], loop: tuple[DType, ...]) -> tuple[list[Node], tuple[DType, ...]]:
    """Refuse Python integers that the loop's dtype does not hold, in NumPy's words."""
    fitted = list(nodes)
    for k, (node, dtype) in enumerate(zip(nodes, loop, strict=False)):
        primitive = node.signature.primitive
        if not (isinstance(primitive, Const) and primitive.weak.startswith("int")) or dtype.kind not in "iu":
            continue
        limits = numpy.iinfo(dtype)
        if limits.min <= node.data <= limits.max:
            continue
        if op in _COMPARISONS:
            # Any value of the dtype compares with infinity as it does with a number beyond its range.
            fitted[k] = graph.scalar(float("inf") if node.data > 0 else float("-inf"))
            loop = tuple(dtypes.FLOAT64 for _ in loop[:-1]) + loop[-1:]
        else:
            raise OverflowError(f"Python integer {node.data} out of bounds for {dtype.name}")
    return fitted, loop


def elementwise(op: str, args: Sequence[Any], loop: tuple[DType, ...] | None = None) -> ndarray:
    """Record an elementwise row over operands, laid out in memory as NumPy's order "K" would.

    Parameters
    ----------
    row
        A name of the table.
    args
        Arrays, scalars, or what NumPy makes arrays of.
    loop
        Argument dtypes and result dtype, if not those that NumPy's promotion gives.
    """
    nodes = as_nodes(args)
    if loop is None:
        loop = table.resolve(op, weak_types(nodes))
    nodes, loop = _fit_scalars(op, nodes, loop)
    shape = layout.broadcast_shapes(*(n.signature.shape for n in nodes))
    order = None
    if len(shape) > 1:
        operands = [
            (shape, layout.broadcast_strides(n.signature.shape, n.signature.strides, shape))
            for n in nodes
            if n.signature.shape
        ]
        order = layout.memory_order(operands, len(shape))
        if order is not None:
            nodes = [transposed(graph.broadcast(n, shape), order) if n.signature.shape else n for n in nodes]
            shape = tuple(shape[k] for k in order)
    node = graph.map_node(op, loop, nodes, shape)
    if node.signature.queue is None:
        # Scalars alone: the result lives on the default device.
        queue = evaluate.queue_of(default_device())
        node = Node(signature(node.signature.primitive, node.signature.args, shape, loop[-1], queue), node.args)
    return wrap_ordered(node, order)


def transposed(node: Node, order: Sequence[int]) -> Node:
    """The value with axis ``order[k]`` as its dimension k."""
    strides = layout.c_strides(node.signature.shape)
    shape = tuple(node.signature.shape[k] for k in order)
    return graph.view(node, Layout(shape, tuple(strides[k] for k in order), 0))


def reshaped(node: Node, shape: Shape) -> Node:
    """The value in another shape, in C order."""
    return graph.view(node, Layout(shape, layout.c_strides(shape), 0))


def as_dtype(node: Node, dtype: DType) -> Node:
    """The value in another dtype; a Python integer that it does not hold is refused as NumPy refuses it."""
    primitive = node.signature.primitive
    if isinstance(primitive, Const) and primitive.weak:
        if dtype.kind in "iu" and primitive.weak.startswith("int"):
            _fit_scalars("cast", [node], (dtype, dtype))
        with numpy.errstate(all="ignore"):
            return graph.typed_scalar(numpy.asarray(node.data).astype(dtype)[()], dtype)
    return graph.cast(node, dtype)


def unary(op: str) -> Callable[[ndarray], ndarray]:
    """A fast recorder of a row over one array: the operator ``-a`` and its like."""
    cache: dict[tuple[Signature, ...], Signature] = {}

    def record(x: ndarray) -> ndarray:
        a = x._node if x._base is None else x.value()
        key = (a.signature,)
        signature = cache.get(key)
        if signature is None:
            return _first(cache, key, op, (x,))
        return wrap(Node(signature, (a,)))

    return record


def binary(op: str, reflected: bool = False) -> Callable[[ndarray, Any], Any]:
    """A fast recorder of a row over an array and an operand: the operators ``a + b`` and ``b + a``."""
    cache: dict[tuple[Signature, ...], Signature] = {}
    repeats = op == "multiply"  # of a scalar and a sequence, the product repeats the sequence, and Python does so

    def record(x: ndarray, y: Any) -> Any:
        a = x._node if x._base is None else x.value()
        kind = type(y)
        if kind is ndarray:
            b = y._node if y._base is None else y.value()
        elif kind in _PYTHON_SCALARS:
            b = graph.scalar(y)
        else:
            if not operand(y) or (repeats and isinstance(y, (list, tuple)) and is_scalar(x)):
                return NotImplemented
            b = as_node(y, x.queue)
        nodes = (b, a) if reflected else (a, b)
        key = (nodes[0].signature, nodes[1].signature)
        signature = cache.get(key)
        if signature is None:
            return _first(cache, key, op, (y, x) if reflected else (x, y))
        return wrap(Node(signature, nodes))

    return record


def operand(y: Any) -> bool:
    """Whether an operator takes `y`, rather than to leave it to the other operand's class."""
    if isinstance(y, (ndarray, numpy.generic, numpy.ndarray, bool, int, float, complex, list, tuple)):
        return True
    return not hasattr(type(y), "__array_ufunc__") and hasattr(type(y), "__array__")


_RECORDERS_LIMIT = 20_000
_RECIPE_LIMIT = 100  # operations


def _first(cache: dict[Any, Signature], key: tuple[Signature, ...], op: str, args: tuple[Any, ...]) -> ndarray:
    """Record by the general way, and remember the form."""
    result = elementwise(op, args)
    remember(cache, key, result)
    return result


def remember(cache: dict[Any, Signature], key: tuple[Signature, ...], result: ndarray) -> None:
    """Remember the form of what was recorded from operands of the forms `key`, if the next time is sure to be the same.

    What counts is the form itself: another thread may have computed an operand since its form was read for `key`. And
    where scalars alone go, another device may be the default one.
    """
    signature = result._node.signature
    if result._base is None and signature.args == key and any(f.queue is not None for f in key):
        if len(cache) > _RECORDERS_LIMIT:
            cache.clear()
        cache[key] = signature


class _Window(NamedTuple):
    """A window of a computed argument, `step` elements after its own beginning."""

    signature: Signature
    place: int
    step: int

    def of(self, made: Sequence[Node]) -> Node:
        """The window of the argument at hand."""
        whole = made[self.place]
        data = whole.data
        if data is None:  # another thread has just computed it; the lock is free when all of that can be seen
            with whole.signature.queue.lock:  # type: ignore[union-attr]
                data = whole.data
        node = Node(self.signature, (), data)
        node.offset = whole.offset + self.step
        node.bound = None
        return node


class _Recipe(NamedTuple):
    """How a result was recorded: `scalars` and `windows` besides the arguments, then each form and where its own are.

    `whole` is the form of a result that is one operation on the arguments as they are given. A result that is a view
    has the layout `where` over the value.
    """

    scalars: tuple[Node, ...]
    windows: tuple[_Window, ...]
    steps: tuple[tuple[Signature, tuple[int, ...]], ...]
    flags: int
    whole: Signature | None
    where: Layout | None

    def recorded(self, nodes: tuple[Node, ...]) -> ndarray:
        """The result for other arguments of the same forms."""
        if self.whole is not None:
            result = wrap(Node(self.whole, nodes))
        else:
            made = [*nodes, *self.scalars]
            if self.windows:
                made += [window.of(made) for window in self.windows]
            for signature, places in self.steps:
                if len(places) == 1:
                    node = Node(signature, (made[places[0]],))
                else:
                    node = Node(signature, tuple([made[p] for p in places]))
                if type(signature.primitive) is Gather:
                    node.source_location = ""
                made.append(node)
            result = wrap(made[-1])
        if self.where is not None:
            result = make_view(result, self.where)
        result._flags = self.flags
        return result


def _recipe(result: ndarray, nodes: Sequence[Node], signatures: Sequence[Signature]) -> _Recipe | None:
    """How to record the result again; None where it is not made of operations on all the arguments and on scalars."""
    owner = result if result._base is None else result._base
    where = None if owner is result else result._layout
    if owner._node.data is not None or len(set(nodes)) < len(nodes) or (where is not None and result._part):
        return None
    # What counts are the forms themselves: another thread may compute a value while it is looked at.
    found: dict[Node, tuple[Signature, tuple[Node, ...]]] = {n: (f, ()) for n, f in zip(nodes, signatures, strict=True)}
    order: list[Node] = []
    windows: dict[Node, _Window] = {}
    stack = [(owner._node, owner._node.signature)]
    while stack:
        node, signature = stack.pop()
        if node in found:
            if found[node][0] is not signature:
                return None
            continue
        args = node.args
        if isinstance(signature.primitive, Leaf):
            window = _window(node, signature, nodes, signatures)
            if window is None:
                return None
            windows[node] = window
        elif isinstance(signature.primitive, Scatter) or (
            isinstance(signature.primitive, Gather) and node.source_location
        ):
            return None
        if len(args) != len(signature.args) or len(order) > _RECIPE_LIMIT:
            return None
        found[node] = signature, args
        order.append(node)
        stack.extend(zip(args, signature.args, strict=True))
    used = {a for n in order for a in found[n][1]} | {nodes[w.place] for w in windows.values()}
    if not used.issuperset(nodes) or not nodes:
        return None  # it depends on an argument's value, or on none of them
    scalars = [n for n in order if isinstance(found[n][0].primitive, Const)]
    pending = [n for n in order if n not in windows and not isinstance(found[n][0].primitive, Const)]
    place = {n: k for k, n in enumerate((*nodes, *scalars, *windows))}
    steps: list[tuple[Signature, tuple[int, ...]]] = []
    while pending:
        ready = next(n for n in reversed(pending) if all(a in place for a in found[n][1]))
        pending.remove(ready)
        signature, args = found[ready]
        steps.append((signature, tuple(place[a] for a in args)))
        place[ready] = len(place)
    if not steps:
        return None
    whole = steps[0][0] if len(steps) == 1 and steps[0][1] == tuple(range(len(nodes))) else None
    return _Recipe(tuple(scalars), tuple(windows.values()), tuple(steps), result._flags, whole, where)


def _window(node: Node, signature: Signature, nodes: Sequence[Node], signatures: Sequence[Signature]) -> _Window | None:
    """How a leaf is a window of an argument; None where another argument could have another one."""
    found = [place for place, whole in enumerate(nodes) if whole.data is node.data]
    if len(found) == 1:
        its = signatures[found[0]]
        if isinstance(its.primitive, Leaf) and its.primitive.aligned and its.dtype == signature.dtype:
            return _Window(signature, found[0], node.offset - nodes[found[0]].offset)
    return None


def remembered(record: Callable[..., ndarray]) -> Callable[..., ndarray]:
    """The function, which remembers how its result is made of its arguments, as far as operations make it."""
    cache: dict[Any, _Recipe] = {}
    alone: dict[
        Signature, Signature | _Recipe
    ] = {}  # for an array and nothing else; a form where that is all of the recipe

    @wraps(record)
    def run(*args: Any, **options: Any) -> ndarray:
        if len(args) == 1 and not options:
            (x,) = args
            if type(x) is ndarray:
                node = x._node if x._base is None else x.value()
                made = alone.get(node.signature)
                if isinstance(made, Signature):
                    return wrap(Node(made, (node,)))
                if made is not None:
                    return made.recorded((node,))
        nodes = tuple([x._node if x._base is None else x.value() for x in args if type(x) is ndarray])
        signatures = tuple([n.signature for n in nodes])
        key: Any = signatures
        if options or len(nodes) < len(args):
            # With the types of what a tuple holds: (2, 2) equals (2.0, 2.0), and is another argument.
            given = [
                ndarray if (t := type(x)) is ndarray else (t, x) if t is not tuple else (x, *map(type, x)) for x in args
            ]
            named = [(k, t, x) if (t := type(x)) is not tuple else (k, x, *map(type, x)) for k, x in options.items()]
            key = (signatures, *given, *named)
        try:
            known = cache.get(key)
        except TypeError:  # something is not hashable
            return record(*args, **options)
        if known is not None:
            return known.recorded(nodes)
        result = record(*args, **options)
        if any(result is x for x in args):
            return result
        if any(type(x) is tuple and tuple in map(type, x) for x in (*args, *options.values())):
            return result  # the types of what those hold are not in the key
        recipe = _recipe(result, nodes, signatures)
        if recipe is not None:
            if len(cache) > _RECORDERS_LIMIT:
                cache.clear()
            cache[key] = recipe
            if key is signatures and len(signatures) == 1:
                if len(alone) > _RECORDERS_LIMIT:
                    alone.clear()
                plain = recipe.whole is not None and recipe.where is None and not recipe.flags
                alone[signatures[0]] = recipe.steps[0][0] if plain else recipe
        return result

    return run


def source_location() -> str:
    """Where the user's program is: the nearest line outside the package, for messages about what only data decides."""
    frame = sys._getframe(1)
    package = __name__.partition(".")[0]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
