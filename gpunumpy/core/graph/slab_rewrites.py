"""Pending graphs rewritten so that they can be cut: calls that have no slabs, as operations that have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import isqrt, pi

import numpy

from ..dtypes import FLOAT64, INT64, KIND
from .layout import Layout, c_strides
from .library_calls.registry import record_of
from .library_calls.transforms import Transform
from .node import (
    Node,
    broadcast,
    cast,
    fill,
    gather,
    iota,
    library_call,
    map_node,
    scatter,
    typed_scalar,
    uninitialized,
    update,
    view,
)
from .primitives import Gather, LibraryCall, Scatter

_COMPLEX128 = numpy.dtype(numpy.complex128)


def rewritten_for_slabs(roots: Sequence[Node], max_line_bytes: int) -> list[Node]:
    """Return pending values made of what can be cut as far as possible; others are the nodes themselves.

    Parameters
    ----------
    max_line_bytes
        What one line of a transform may have: longer ones are made of two passes over shorter lines.
    """
    rules: tuple[Callable[[Node], Node], ...] = (
        _without_elements,
        _at_one_index,
        _in_passes,
        _ascending,
        partial(_in_short_lines, max_line_bytes=max_line_bytes),
    )
    made: dict[Node, Node] = {}
    stack = list(roots)
    while stack:
        node = stack[-1]
        if node in made:
            stack.pop()
        elif node.data is not None:
            made[node] = node
        elif missing := [argument for argument in node.args if argument not in made]:
            stack += missing
        else:
            new = _with_args(node, [made[argument] for argument in node.args])
            for rule in rules:
                new = rule(new)
            made[node] = new
    return [made[root] for root in roots]


def _with_args(node: Node, args: Sequence[Node]) -> Node:
    """Return a node with other arguments of the same signatures, or itself if they are its own."""
    if all(argument is made for argument, made in zip(node.args, args, strict=True)):
        return node
    copy = Node(node.signature, tuple(args))
    if hasattr(node, "source_location"):
        copy.source_location = node.source_location
    return copy


def _without_elements(node: Node) -> Node:
    """Have a value without elements made of nothing, and what is written at no indices be as it was."""
    signature, primitive = node.signature, node.signature.primitive
    if isinstance(primitive, Scatter) and any(0 in index.signature.shape for index in node.args[2:]):
        return node.args[0]
    is_value = not isinstance(primitive, LibraryCall) or not primitive.results
    if is_value and 0 in signature.shape and signature.queue is not None:
        return uninitialized(signature.shape, signature.dtype, signature.queue)
    return node


def _at_one_index(node: Node) -> Node:
    """Have one element of each index, as of ``x[i]``, be those at indices with an axis, along which slabs are cut."""
    signature, primitive = node.signature, node.signature.primitive
    if not isinstance(primitive, (Gather, Scatter)):
        return node
    scalars, queue = node.args[-primitive.count :], signature.queue
    if any(index.signature.shape for index in scalars) or queue is None:
        return node
    base, *value = node.args[: -primitive.count]
    indices = [fill(k, (1,), queue) if k.signature.queue is None else broadcast(k, (1,)) for k in scalars]
    if isinstance(primitive, Scatter):
        return scatter(base, value[0], indices, primitive.op, node.source_location)
    return _reshaped(gather(base, indices, node.source_location), signature.shape)


def _in_passes(node: Node) -> Node:
    """Return a call along several axes, which takes them one after the other, as one call for each: transforms."""
    primitive = node.signature.primitive
    if isinstance(primitive, LibraryCall) and not primitive.results:
        passes = record_of(primitive.name).passes(primitive.options)
        if len(passes) > 1:
            (value,) = node.args
            for options in passes:
                value = library_call(primitive.name, options, [value])
            return value
    return node


def _ascending(node: Node) -> Node:
    """Return a sort in descending order as one in ascending order of elements whose order is reversed."""
    primitive = node.signature.primitive
    if not isinstance(primitive, LibraryCall) or primitive.name not in ("sort", "argsort") or not primitive.options[0]:
        return node
    (source,) = node.args
    found = library_call(primitive.name, (False,), [_in_reversed_order(source)])
    return _in_reversed_order(found) if primitive.name == "sort" else found


def _in_reversed_order(node: Node) -> Node:
    """Return the values that are less the greater the elements are, NaN for NaN: its own inverse."""
    dtype = node.signature.dtype
    return map_node("negative" if KIND[dtype] in "ef" else "invert", (dtype, dtype), [node])


# --- transforms of long lines -----------------------------------------------------------------------------------------


def _in_short_lines(node: Node, max_line_bytes: int) -> Node:
    """Return a transform along one axis as transforms along two, if a line is too long and its length has factors.

    D. H. Bailey, "FFTs in External or Hierarchical Memory", Journal of Supercomputing 4 (1990): the four-step method.
    """
    primitive = node.signature.primitive
    if not isinstance(primitive, LibraryCall) or primitive.name != "fft":
        return node
    options = Transform(*primitive.options)
    kind = options.kind
    (source,), (axis, *others), (points, *_) = node.args, options.axes, options.sizes
    if others:
        return node
    dtype = source.signature.dtype if kind != "r2c" else node.signature.dtype
    if points * dtype.itemsize <= max_line_bytes:
        return node
    rows = next(n for n in range(isqrt(points), 0, -1) if points % n == 0)
    if rows == 1 or points // rows * dtype.itemsize > max_line_bytes:
        return node
    value = cast(source, dtype) if kind == "r2c" else _both_halves(source, axis, points) if kind == "c2r" else source
    value = _four_steps(value, options._replace(kind="c2c"), rows)
    if kind == "r2c":
        return view(value, Layout(node.signature.shape, c_strides(value.signature.shape), 0))
    return map_node("real", (dtype, node.signature.dtype), [value]) if kind == "c2r" else value


def _four_steps(value: Node, options: Transform, rows: int) -> Node:
    """Return the transform of complex lines, each as a matrix of so many rows."""
    signature, (axis,) = value.signature, options.axes
    assert signature.queue is not None
    before, points, behind = signature.shape[:axis], signature.shape[axis], signature.shape[axis + 1 :]
    columns, rest = points // rows, (1,) * len(behind)
    matrices = (*before, rows, columns, *behind)
    value = library_call("fft", options._replace(sizes=(rows,)), [_reshaped(value, matrices)])
    row = iota((rows, 1, *rest), 0, signature.queue)
    column = iota((columns, *rest), 0, signature.queue)
    product = cast(map_node("multiply", (INT64,) * 3, [row, column]), FLOAT64)
    step = typed_scalar((2 if options.inverse else -2) * pi / points, FLOAT64)
    angle = map_node("multiply", (FLOAT64,) * 3, [product, step])
    parts = [map_node(op, (FLOAT64, FLOAT64), [angle]) for op in ("cos", "sin")]
    factor = cast(map_node("complex", (FLOAT64, FLOAT64, _COMPLEX128), parts), signature.dtype)
    value = map_node("multiply", (signature.dtype,) * 3, [value, factor])
    value = library_call("fft", options._replace(axes=(axis + 1,), sizes=(columns,)), [value])
    strides = list(c_strides(matrices))
    strides[axis : axis + 2] = strides[axis + 1], strides[axis]
    value = view(value, Layout((*before, columns, rows, *behind), tuple(strides), 0))
    return _reshaped(value, signature.shape)


def _both_halves(value: Node, axis: int, points: int) -> Node:
    """Return all frequencies of real numbers of so many points; `value` has those that are not negative."""
    signature = value.signature
    assert signature.queue is not None
    shape, dtype = signature.shape, signature.dtype
    together = (*shape[:axis], points, *shape[axis + 1 :])
    strides, source_strides = c_strides(together), c_strides(shape)
    result = uninitialized(together, dtype, signature.queue)
    result = update(result, Layout(shape, strides, 0), value)
    negative = (*shape[:axis], points - shape[axis], *shape[axis + 1 :])
    backwards = (*source_strides[:axis], -source_strides[axis], *source_strides[axis + 1 :])
    mirrored = view(value, Layout(negative, backwards, (points - shape[axis]) * source_strides[axis]))
    conjugate = map_node("conjugate", (dtype, dtype), [mirrored])
    return update(result, Layout(negative, strides, shape[axis] * strides[axis]), conjugate)


def _reshaped(node: Node, shape: tuple[int, ...]) -> Node:
    return view(node, Layout(shape, c_strides(shape), 0))
