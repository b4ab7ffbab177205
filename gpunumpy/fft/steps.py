"""Transforms step by step: the kernels around the call "fft", and which way of laying elements out is quick.

Cropping and padding, casts and factors are recorded as operations, which fuse. Steps along axes that differ are one
call, up to three of them, which is as many as a plan of cuFFT has.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy

from ..core.dtypes import BOOL, INT64, KIND, DType
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.layout import Layout, Shape
from ..core.graph.library_calls.transforms import Transform, passes, result_shape
from ..core.graph.node import Node
from ..core.graph.primitives import Leaf, LibraryCall, Output, Update, View
from ..core.recording.record import reshaped, transposed

COMPLEX64 = numpy.dtype(numpy.complex64)
_RANK = 3  # axes that a plan of cuFFT has at most
# Executions of a plan are better than a copy in another order, if there are a few or if each has so many elements.
_FEW = 4
_MANY = 1 << 21
# Arrays of so many elements are worth kernels and layouts of their own: the transformed axis is the fastest one in the
# result, which saves a tenth of the time, and a plan follows an axis through its stride where it has so many points: a
# copy is quicker otherwise.
_LARGE = 1 << 20
_STRIDED = {"c2c": range(512, 4097), "r2c": range(0), "c2r": range(0)}
_ALIGNMENT = 16  # bytes: what the routine reads begins at a multiple of it


class Step(NamedTuple):
    """A transform along one axis.

    Attributes
    ----------
    kind
        "c2c", "r2c" or "c2r".
    inverse
        Whether the exponent is positive.
    points
        How many: the elements along the axis of the result, or along that of the source where the result is complex
        and the source real.
    axis
        Counted from the front.
    """

    kind: str
    inverse: bool
    points: int
    axis: int

    @property
    def made(self) -> int:
        """The elements that the result has along the axis."""
        return self.points // 2 + 1 if self.kind == "r2c" else self.points

    @property
    def taken(self) -> int:
        """The elements that the source has along the axis."""
        return self.points // 2 + 1 if self.kind == "c2r" else self.points


def _groups(steps: Sequence[Step]) -> list[list[Step]]:
    """The steps that are taken together: along axes that differ."""
    found: list[list[Step]] = []
    for step in steps:
        last = found[-1] if found else []
        together = last and len(last) < _RANK and step.axis not in [s.axis for s in last]
        if together:
            last.append(step)
        else:
            found.append([step])
    return found


def taken(node: Node, steps: Sequence[Step], work: DType, factor: float) -> Value:
    """What the steps make of a value, in the complex dtype `work` or its real one, multiplied with a factor."""
    value = Value(node)
    groups = _groups(steps)
    alone = len(groups) == 1
    if (
        alone
        and KIND[node.signature.dtype] != "c"
        and all(step.kind == "c2c" for step in steps)
        and value.is_large(steps)
    ):
        factor = value.transform_real(steps, work, factor)
    else:
        for group in groups:
            factor = value.transform(group, work, factor, alone=alone)
    value.scale(factor)
    return value


class Value:
    """What is transformed, step by step.

    Attributes
    ----------
    node
        The elements.
    order
        The axis that each dimension of the node is. As in NumPy, results lie in memory in the order of the array.
    """

    def __init__(self, node: Node) -> None:
        shape, strides = node.signature.shape, node.signature.strides
        self.node, self.order = node, tuple(range(len(shape)))
        order = layout.memory_order([(shape, strides)], len(shape))
        if order is not None:
            self._reorder(order)

    def transform(self, steps: Sequence[Step], work: DType, factor: float, *, alone: bool) -> float:
        """Take steps along different axes; what is left of the factor, which is multiplied with where that is free.

        `alone` says that no others come before or after them.
        """
        places = {self.order.index(step.axis): step for step in steps}
        (halved,) = [step for step in steps if step.kind != "c2c"] or steps[:1]
        kind = halved.kind
        if len(steps) > 1 and kind != "c2c" and not self._is_joint(steps, halved):
            first = 1 if kind == "r2c" else len(steps) - 1
            factor = self.transform(steps[:first], work, factor, alone=False)
            return self.transform(steps[first:], work, factor, alone=False)
        self._crop({place: step.taken for place, step in places.items()})
        trivial = halved.points == 1
        real = numpy.empty(0, work).real.dtype
        self.node = graph.cast(self.node, real if kind == "r2c" and not trivial else work)
        options = None
        axes = tuple(sorted(place for place, step in places.items() if step.points > 1))
        if axes:
            kind = "c2c" if trivial else kind
            options = Transform(kind, axes, tuple(places[a].points for a in axes), steps[0].inverse)
        shape = self._taken(steps)
        if options is not None and shape == _shape(self.node) and kind != "c2r":
            if alone and len(axes) == 1 and prod(shape) >= _LARGE:
                options = self._axes_last(options)
            if _is_readable(self.node, options):
                self._call(options)
                return factor
        # A kernel makes the elements in memory: the factor costs nothing there.
        if options is not None and not _is_few(options, layout.c_layout(shape)):
            options = self._axes_last(options)
        self.scale(factor)
        if options is not None and kind == "c2r":
            even = work == COMPLEX64 and options.axes[-1] == len(shape) - 1
            if len(options.axes) == 1:
                self._make_hermitian(options)
                self._pad(self._taken(steps), even=even)
            else:
                self._pad(self._taken(steps), even=even)
                self._make_planes_hermitian(options)
        else:
            self._pad(self._taken(steps))
        if options is None:
            if kind == "c2r":
                self.node = graph.map_node("real", (work, real), (self.node,))
            return 1.0
        if _is_stored(self.node) and not _is_readable(self.node, options):
            self.node = graph.fresh(self.node)
        self._call(options)
        return 1.0

    def _is_joint(self, steps: Sequence[Step], halved: Step) -> bool:
        """Whether steps along several axes, `halved` to or from real numbers, are one plan.

        Of a plan the halved axis is the last one in memory. An inverse needs some kernels more, which small arrays are
        not worth.
        """
        if max(self.order.index(step.axis) for step in steps) != self.order.index(halved.axis):
            return False
        return halved.kind == "r2c" or self.is_large(steps)

    def is_large(self, steps: Sequence[Step]) -> bool:
        """Whether there are many elements, and more than one point along every axis."""
        return prod(self._taken(steps)) >= _LARGE and min(step.points for step in steps) > 1

    def transform_real(self, steps: Sequence[Step], work: DType, factor: float) -> float:
        """Take complex steps of real numbers: half of the results are computed, and are those of the other half."""
        last = max(steps, key=lambda step: self.order.index(step.axis))
        others = [step for step in steps if step is not last]
        halved = [Step("r2c", False, last.points, last.axis), *(step._replace(inverse=False) for step in others)]
        factor = self.transform(halved, work, factor, alone=True)
        f = self.node.signature
        assert f.queue is not None
        points = {self.order.index(step.axis): step.points for step in steps}
        split = self.order.index(last.axis)
        count = max(points) + 1
        lead = tuple(points.get(d, n) for d, n in enumerate(f.shape[:count]))
        here = [graph.iota(lead, d, f.queue) for d in range(count)]
        mirrored = graph.map_node("greater_equal", (INT64, INT64, BOOL), (here[split], _number(f.shape[split])))
        places = [
            _where(mirrored, _opposite(at, points[d], d != split), at) if d in points else at
            for d, at in enumerate(here)
        ]
        mask = reshaped(mirrored, (*lead, *(1 for _ in f.shape[count:])))
        # Two values that are one in the kernel: a value that is used twice would be stored.
        found, same = (graph.gather(self.node, places, "") for _ in range(2))
        conjugate = graph.map_node("conjugate", (work, work), (same,))
        self.node = _where(mask, found, conjugate) if last.inverse else _where(mask, conjugate, found)
        return factor

    def _call(self, options: Transform) -> None:
        self.node = graph.library_call("fft", options, (self.node,))

    def _axes_last(self, options: Transform) -> Transform:
        """Have the transformed axes be the last ones."""
        ndim, count = len(self.order), len(options.axes)
        self._reorder([*(d for d in range(ndim) if d not in options.axes), *options.axes])
        return options._replace(axes=tuple(range(ndim - count, ndim)))

    def _make_hermitian(self, options: Transform) -> None:
        """Leave no imaginary part where real numbers have none in their transform: NumPy does not look at it there.

        Neither does cuFFT for some sizes, while for others its results depend on it.
        """
        f, (axis,), (points,) = self.node.signature, options.axes, options.sizes
        assert f.queue is not None
        real = numpy.empty(0, f.dtype).real.dtype
        here = graph.iota(f.shape, axis, f.queue)
        ends = [graph.map_node("equal", (INT64, INT64, BOOL), (here, _number(0)))]
        if points % 2 == 0:
            ends.append(graph.map_node("equal", (INT64, INT64, BOOL), (here, _number(points // 2))))
        end = ends[0] if len(ends) == 1 else graph.map_node("logical_or", (BOOL,) * 3, ends)
        part = graph.cast(graph.map_node("real", (f.dtype, real), (self.node,)), f.dtype)
        self.node = _where(end, part, self.node)

    def _make_planes_hermitian(self, options: Transform) -> None:
        """The same before an inverse of several axes: opposite elements of those planes become conjugates.

        What is written is memory of its own, as cuFFT uses that of such a source for itself.
        """
        f = self.node.signature
        whole, node = f.shape, self.node
        if isinstance(f.primitive, View) and isinstance(
            f.args[0].primitive, Update
        ):  # with an element to spare in every row
            whole, (node,) = f.args[0].shape, node.args
        assert f.queue is not None
        lead, dtype = f.shape[:-1], f.dtype
        strides = layout.c_strides(whole)
        sizes = dict(zip(options.axes, options.sizes, strict=True))
        here = [graph.iota(lead, d, f.queue) for d in range(len(lead))]
        opposite = [_opposite(at, sizes[d], True) if d in sizes else at for d, at in enumerate(here)]
        half = graph.typed_scalar(dtype.type(0.5), dtype)
        planes = []
        for offset in (0, options.sizes[-1] // 2)[: 2 - options.sizes[-1] % 2]:
            where = Layout(lead, strides[:-1], offset)
            part = graph.view(node, where)
            mirrored = graph.map_node("conjugate", (dtype, dtype), (graph.gather(part, opposite, ""),))
            both = graph.map_node("add", (dtype,) * 3, (part, mirrored))
            planes.append((where, graph.map_node("multiply", (dtype,) * 3, (both, half))))
        for where, plane in planes:
            node = graph.update(node, where, plane)
        self.node = graph.view(node, Layout(f.shape, strides, 0))

    def scale(self, factor: float) -> None:
        """Multiply with a factor."""
        if factor != 1.0:
            self.node = _scaled(self.node, factor)

    def _reorder(self, order: Sequence[int]) -> None:
        self.node = transposed(self.node, order)
        self.order = tuple(self.order[k] for k in order)

    def _crop(self, sizes: dict[int, int]) -> None:
        shape = _shape(self.node)
        part = tuple(min(n, sizes.get(d, n)) for d, n in enumerate(shape))
        if part != shape:
            self.node = graph.view(self.node, Layout(part, layout.c_strides(shape), 0))

    def _taken(self, steps: Sequence[Step]) -> Shape:
        """The shape that the steps take."""
        taken = {step.axis: step.taken for step in steps}
        return tuple(taken.get(axis, n) for axis, n in zip(self.order, _shape(self.node), strict=True))

    def _pad(self, shape: Shape, *, even: bool = False) -> None:
        """Have zeros after the elements up to a shape; in memory that has an even number of elements a row, if asked.

        cuFFT 12.0 gives wrong results for single-precision "c2r" of 8,192 and of 16,384 points where the rows of a
        batch begin at odd elements.
        """
        part, f = _shape(self.node), self.node.signature
        wide = (*shape[:-1], shape[-1] + shape[-1] % 2) if even and prod(shape[:-1]) > 1 else shape
        if wide == part:
            return
        assert f.queue is not None
        zeros = graph.fill(graph.typed_scalar(f.dtype.type(0), f.dtype), wide, f.queue)
        inside = Layout(part, layout.c_strides(wide), 0)
        self.node = graph.update(zeros, inside, self.node) if prod(part) else graph.fresh(zeros)
        if wide != shape:
            self.node = graph.view(self.node, Layout(shape, layout.c_strides(wide), 0))


def _shape(node: Node) -> Shape:
    """The shape of a value."""
    return node.signature.shape


def _number(value: int) -> Node:
    return graph.typed_scalar(value, INT64)


def _scaled(node: Node, factor: float) -> Node:
    """A multiple of a value."""
    dtype = node.signature.dtype
    real = numpy.empty(0, dtype).real.dtype
    scalar = graph.typed_scalar(real.type(factor), real)
    return graph.map_node("multiply" if real == dtype else "scaled", (dtype, real, dtype), (node, scalar))


def _where(mask: Node, value: Node, other: Node) -> Node:
    dtype = value.signature.dtype
    return graph.map_node("where", (BOOL, dtype, dtype, dtype), (mask, value, other))


def _opposite(at: Node, points: int, has_zero: bool) -> Node:
    """The index of the negative frequency, where that of zero is zero."""
    opposite = graph.map_node("subtract", (INT64,) * 3, (_number(points), at))
    if not has_zero:
        return opposite
    return _where(graph.map_node("equal", (INT64, INT64, BOOL), (at, _number(0))), _number(0), opposite)


def _is_few(options: Transform, where: Layout) -> bool:
    """Whether a few executions of a plan that is quick transform elements that lie so."""
    found = passes(options, where, layout.c_layout(result_shape(options, where.shape)))
    if found is None:
        return False
    rank, ndim, count = len(options.axes), len(where.shape), len(found.places)
    if rank > 1:  # all but the last ones are slow
        quick = options.axes[0] == ndim - rank and found.plan.source.stride == 1
    else:
        near = found.plan.source.stride == 1 or prod(where.shape) < _LARGE
        quick = near or options.sizes[0] in _STRIDED[options.kind]
    return quick and (count <= _FEW or prod(where.shape) // count >= _MANY)


def _is_stored(node: Node) -> bool:
    """Whether the elements are in memory, or will be, whoever reads them."""
    f = node.signature
    inner = f.args[0].primitive if isinstance(f.primitive, View) else f.primitive
    return isinstance(inner, (Leaf, LibraryCall, Output, Update))


def _is_readable(node: Node, options: Transform) -> bool:
    """Whether the elements are in memory when the routine is called, in a way that it can take."""
    f, primitive = node.signature, node.signature.primitive
    if not _is_stored(node):
        return False
    if isinstance(primitive, Leaf):
        return primitive.aligned and _is_few(options, Layout(f.shape, primitive.strides, primitive.origin))
    whole = layout.c_layout(f.shape)
    if not isinstance(primitive, View):
        return _is_few(options, whole)
    if primitive.offset * f.dtype.itemsize % _ALIGNMENT:
        return False
    # Whether a part is read where it is or from a copy is the scheduler's choice.
    return all(_is_few(options, where) for where in (Layout(f.shape, primitive.strides, primitive.offset), whole))
