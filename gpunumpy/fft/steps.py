"""Steps of transforms: operations recorded around the library call "fft", in the memory layout that runs fastest.

Cropping and padding, casts and factors are recorded as operations, which fuse. Steps along different axes become one
library call, up to three of them, which is the most that a plan of cuFFT has.
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
from ..core.graph.library_calls.transforms import Transform, plan_transform, result_shape
from ..core.graph.node import Node
from ..core.graph.primitives import Leaf, LibraryCall, Output, Update, View
from ..core.recording.record import reshaped, transposed
from ..core.runtime.evaluate import traits_of

COMPLEX64 = numpy.dtype(numpy.complex64)
_MAX_RANK = 3  # axes of a plan of cuFFT
# Several executions of a plan are faster than a copy in another order if there are at most so many, or if each
# transforms at least so many elements.
_FEW_EXECUTIONS = 4
_LARGE_EXECUTION_ELEMENTS = 1 << 21
# Arrays of at least so many elements are worth kernels and layouts of their own. The transformed axis becomes the
# contiguous one of the result, which saves a tenth of the time. A plan reads an axis through a stride if the number of
# its points is in these ranges; otherwise a copy is faster.
_LARGE_ELEMENTS = 1 << 20
_STRIDED_POINTS = {"c2c": range(512, 4097), "r2c": range(0), "c2r": range(0)}
_ALIGNMENT_BYTES = 16  # of the address that the library call reads from


class Step(NamedTuple):
    """Transform along one axis.

    Attributes
    ----------
    kind
        "c2c", "r2c" or "c2r".
    inverse
        Whether the exponent is positive.
    points
        The length of the axis in the result, or in the source if the source is real and the result complex.
    axis
        Counted from the front.
    """

    kind: str
    inverse: bool
    points: int
    axis: int

    @property
    def result_length(self) -> int:
        """Length of the axis in the result."""
        return self.points // 2 + 1 if self.kind == "r2c" else self.points

    @property
    def source_length(self) -> int:
        """Length of the axis in the source."""
        return self.points // 2 + 1 if self.kind == "c2r" else self.points


def _steps_by_call(steps: Sequence[Step]) -> list[list[Step]]:
    """Return the steps in groups of one library call each: consecutive steps along different axes."""
    groups: list[list[Step]] = []
    for step in steps:
        last_group = groups[-1] if groups else []
        joins_last = last_group and len(last_group) < _MAX_RANK and step.axis not in [s.axis for s in last_group]
        if joins_last:
            last_group.append(step)
        else:
            groups.append([step])
    return groups


def record_steps(node: Node, steps: Sequence[Step], work_dtype: DType, factor: float, norm: str) -> TransformedValue:
    """Record the steps over a value, and the multiplication with a factor that the calls of `norm` do not have.

    The transforms run in the complex dtype `work_dtype` or its real counterpart.
    """
    value = TransformedValue(node, norm)
    groups = _steps_by_call(steps)
    is_only_group = len(groups) == 1
    if (
        is_only_group
        and KIND[node.signature.dtype] != "c"
        and all(step.kind == "c2c" for step in steps)
        and value.is_large(steps)
    ):
        factor = value.transform_real(steps, work_dtype, factor)
    else:
        for group in groups:
            factor = value.transform(group, work_dtype, factor, is_only_group=is_only_group)
    value.scale(factor)
    return value


class TransformedValue:
    """Value that is transformed step by step.

    Attributes
    ----------
    node
        The elements.
    order
        The axis that each dimension of the node is. As in NumPy, results have the memory order of the array.
    norm
        The `Transform.norm` of calls.
    """

    def __init__(self, node: Node, norm: str) -> None:
        self.norm = norm
        shape, strides = node.signature.shape, node.signature.strides
        self.node, self.order = node, tuple(range(len(shape)))
        order = layout.memory_order([(shape, strides)], len(shape))
        if order is not None:
            self._reorder(order)

    def transform(self, steps: Sequence[Step], work_dtype: DType, factor: float, *, is_only_group: bool) -> float:
        """Record steps along different axes; return the factor that is still to be multiplied with.

        The factor is applied here if it costs nothing. `is_only_group` says that no other steps come before or after.
        """
        steps_by_dim = {self.order.index(step.axis): step for step in steps}
        (halved,) = [step for step in steps if step.kind != "c2c"] or steps[:1]
        kind = halved.kind
        if len(steps) > 1 and kind != "c2c" and not self._is_joint(steps, halved):
            first_count = 1 if kind == "r2c" else len(steps) - 1
            factor = self.transform(steps[:first_count], work_dtype, factor, is_only_group=False)
            return self.transform(steps[first_count:], work_dtype, factor, is_only_group=False)
        self._crop({dim: step.source_length for dim, step in steps_by_dim.items()})
        is_trivial = halved.points == 1
        real_dtype = numpy.empty(0, work_dtype).real.dtype
        self.node = graph.cast(self.node, real_dtype if kind == "r2c" and not is_trivial else work_dtype)
        options = None
        axes = tuple(sorted(dim for dim, step in steps_by_dim.items() if step.points > 1))
        if axes:
            kind = "c2c" if is_trivial else kind
            options = Transform(kind, axes, tuple(steps_by_dim[a].points for a in axes), steps[0].inverse, self.norm)
        shape = self._source_shape(steps)
        if options is not None and shape == _shape(self.node) and kind != "c2r":
            if is_only_group and len(axes) == 1 and prod(shape) >= _LARGE_ELEMENTS:
                options = self._axes_last(options)
            if _is_readable(self.node, options):
                self._call(options)
                return factor
        # A kernel writes the elements that the call reads: there the factor costs nothing.
        if options is not None and not _is_fast(options, layout.c_layout(shape)):
            options = self._axes_last(options)
        self.scale(factor)
        if options is not None and kind == "c2r" and not self._is_for_numpy():
            has_even_rows = work_dtype == COMPLEX64 and options.axes[-1] == len(shape) - 1
            if len(options.axes) == 1:
                self._make_hermitian(options)
                self._pad(self._source_shape(steps), has_even_rows=has_even_rows)
            else:
                stored = self._pad(self._source_shape(steps), has_even_rows=has_even_rows)
                self._make_planes_hermitian(stored, options)
        else:
            self._pad(self._source_shape(steps))
        if options is None:
            if kind == "c2r":
                self.node = graph.map_node("real", (work_dtype, real_dtype), (self.node,))
            return 1.0
        if _is_stored(self.node) and not _is_readable(self.node, options):
            self.node = graph.as_new_node(self.node)
        self._call(options)
        return 1.0

    def _is_for_numpy(self) -> bool:
        """Return whether the device computes transforms to real numbers as NumPy does, whatever the spectrum is."""
        queue = self.node.signature.queue
        return queue is not None and traits_of(queue.device).ignores_imaginary_ends

    def _is_joint(self, steps: Sequence[Step], halved: Step) -> bool:
        """Return whether steps along several axes are one plan; `halved` is the step to or from real numbers.

        The halved axis of a plan is the last one in memory. An inverse needs additional kernels, which pay for large
        arrays only.
        """
        if max(self.order.index(step.axis) for step in steps) != self.order.index(halved.axis):
            return False
        return halved.kind == "r2c" or self.is_large(steps)

    def is_large(self, steps: Sequence[Step]) -> bool:
        """Return whether the elements are many, and every axis has more than one point."""
        return prod(self._source_shape(steps)) >= _LARGE_ELEMENTS and min(step.points for step in steps) > 1

    def transform_real(self, steps: Sequence[Step], work_dtype: DType, factor: float) -> float:
        """Record complex steps of real numbers: compute half of the results, and mirror that half into the other."""
        last = max(steps, key=lambda step: self.order.index(step.axis))
        others = [step for step in steps if step is not last]
        halved = [Step("r2c", False, last.points, last.axis), *(step._replace(inverse=False) for step in others)]
        factor = self.transform(halved, work_dtype, factor, is_only_group=True)
        signature = self.node.signature
        assert signature.queue is not None
        points = {self.order.index(step.axis): step.points for step in steps}
        halved_dim = self.order.index(last.axis)
        index_dims = max(points) + 1
        index_shape = tuple(points.get(d, n) for d, n in enumerate(signature.shape[:index_dims]))
        indices = [graph.iota(index_shape, d, signature.queue) for d in range(index_dims)]
        is_mirrored = graph.map_node(
            "greater_equal", (INT64, INT64, BOOL), (indices[halved_dim], _number(signature.shape[halved_dim]))
        )
        source_indices = [
            _where(is_mirrored, _opposite(index, points[d], d != halved_dim), index) if d in points else index
            for d, index in enumerate(indices)
        ]
        mask = reshaped(is_mirrored, (*index_shape, *(1 for _ in signature.shape[index_dims:])))
        # Two gathers of the same elements, which the kernel merges: one value that is used twice would be stored.
        gathered, gathered_again = (graph.gather(self.node, source_indices, "") for _ in range(2))
        conjugate = graph.map_node("conjugate", (work_dtype, work_dtype), (gathered_again,))
        self.node = _where(mask, gathered, conjugate) if last.inverse else _where(mask, conjugate, gathered)
        return factor

    def _call(self, options: Transform) -> None:
        self.node = graph.library_call("fft", options, (self.node,))

    def _axes_last(self, options: Transform) -> Transform:
        """Reorder the dimensions so that the transformed ones are last; return the options for that order."""
        ndim, count = len(self.order), len(options.axes)
        self._reorder([*(d for d in range(ndim) if d not in options.axes), *options.axes])
        return options._replace(axes=tuple(range(ndim - count, ndim)))

    def _make_hermitian(self, options: Transform) -> None:
        """Drop the imaginary parts that a transform of real numbers does not have.

        NumPy ignores them. cuFFT ignores them for some sizes, and for others its results depend on them.
        """
        signature, (axis,), (points,) = self.node.signature, options.axes, options.sizes
        assert signature.queue is not None
        real_dtype = numpy.empty(0, signature.dtype).real.dtype
        index = graph.iota(signature.shape, axis, signature.queue)
        are_ends = [graph.map_node("equal", (INT64, INT64, BOOL), (index, _number(0)))]
        if points % 2 == 0:
            are_ends.append(graph.map_node("equal", (INT64, INT64, BOOL), (index, _number(points // 2))))
        is_end = are_ends[0] if len(are_ends) == 1 else graph.map_node("logical_or", (BOOL,) * 3, are_ends)
        real_part = graph.cast(graph.map_node("real", (signature.dtype, real_dtype), (self.node,)), signature.dtype)
        self.node = _where(is_end, real_part, self.node)

    def _make_planes_hermitian(self, stored: Node, options: Transform) -> None:
        """Make opposite elements conjugates in the planes where the transform of real numbers has conjugates.

        `stored` is the value as `_pad` returns it. The planes are those of frequency 0 and, for an even number of
        points, of the highest frequency of the halved axis. The result has memory of its own, as cuFFT overwrites the
        source of an inverse along several axes.
        """
        signature = self.node.signature
        node = stored
        assert signature.queue is not None
        plane_shape, dtype = signature.shape[:-1], signature.dtype
        strides = layout.c_strides(_shape(stored))
        sizes = dict(zip(options.axes, options.sizes, strict=True))
        indices = [graph.iota(plane_shape, d, signature.queue) for d in range(len(plane_shape))]
        opposite = [_opposite(index, sizes[d], True) if d in sizes else index for d, index in enumerate(indices)]
        half = graph.typed_scalar(dtype.type(0.5), dtype)
        planes = []
        for offset in (0, options.sizes[-1] // 2)[: 2 - options.sizes[-1] % 2]:
            plane_layout = Layout(plane_shape, strides[:-1], offset)
            plane = graph.view(node, plane_layout)
            conjugates = graph.map_node("conjugate", (dtype, dtype), (graph.gather(plane, opposite, ""),))
            sums = graph.map_node("add", (dtype,) * 3, (plane, conjugates))
            planes.append((plane_layout, graph.map_node("multiply", (dtype,) * 3, (sums, half))))
        for plane_layout, averaged in planes:
            node = graph.update(node, plane_layout, averaged)
        self.node = graph.view(node, Layout(signature.shape, strides, 0))

    def scale(self, factor: float) -> None:
        """Multiply with a factor."""
        if factor != 1.0:
            self.node = _scaled(self.node, factor)

    def _reorder(self, order: Sequence[int]) -> None:
        self.node = transposed(self.node, order)
        self.order = tuple(self.order[k] for k in order)

    def _crop(self, lengths: dict[int, int]) -> None:
        """Crop each dimension in `lengths` that is longer than its length there."""
        shape = _shape(self.node)
        cropped = tuple(min(n, lengths.get(d, n)) for d, n in enumerate(shape))
        if cropped != shape:
            self.node = graph.view(self.node, Layout(cropped, layout.c_strides(shape), 0))

    def _source_shape(self, steps: Sequence[Step]) -> Shape:
        """Return the shape that the steps transform."""
        lengths = {step.axis: step.source_length for step in steps}
        return tuple(lengths.get(axis, n) for axis, n in zip(self.order, _shape(self.node), strict=True))

    def _pad(self, shape: Shape, *, has_even_rows: bool = False) -> Node:
        """Pad with zeros up to a shape; with `has_even_rows`, every row of a batch begins at an even element of memory.

        What is returned is the value as it is stored, whose rows may be longer by one element then.

        cuFFT 12.0 gives wrong results for single-precision "c2r" of 8,192 and of 16,384 points where the rows of a
        batch begin at odd elements.
        """
        unpadded, signature = _shape(self.node), self.node.signature
        stored_shape = (*shape[:-1], shape[-1] + shape[-1] % 2) if has_even_rows and prod(shape[:-1]) > 1 else shape
        if stored_shape == unpadded:
            return self.node
        assert signature.queue is not None
        zeros = graph.fill(graph.typed_scalar(signature.dtype.type(0), signature.dtype), stored_shape, signature.queue)
        inside = Layout(unpadded, layout.c_strides(stored_shape), 0)
        stored = graph.update(zeros, inside, self.node) if prod(unpadded) else graph.as_new_node(zeros)
        self.node = stored
        if stored_shape != shape:
            self.node = graph.view(stored, Layout(shape, layout.c_strides(stored_shape), 0))
        return stored


def _shape(node: Node) -> Shape:
    """Return the shape of a value."""
    return node.signature.shape


def _number(value: int) -> Node:
    return graph.typed_scalar(value, INT64)


def _scaled(node: Node, factor: float) -> Node:
    """Record the multiplication of a value with a real factor."""
    dtype = node.signature.dtype
    real_dtype = numpy.empty(0, dtype).real.dtype
    scalar = graph.typed_scalar(real_dtype.type(factor), real_dtype)
    return graph.map_node("multiply" if real_dtype == dtype else "scaled", (dtype, real_dtype, dtype), (node, scalar))


def _where(mask: Node, value: Node, other: Node) -> Node:
    dtype = value.signature.dtype
    return graph.map_node("where", (BOOL, dtype, dtype, dtype), (mask, value, other))


def _opposite(index: Node, points: int, may_be_zero: bool) -> Node:
    """Return the index of the negative frequency. `may_be_zero` says that `index` may be 0, whose opposite is 0."""
    opposite = graph.map_node("subtract", (INT64,) * 3, (_number(points), index))
    if not may_be_zero:
        return opposite
    return _where(graph.map_node("equal", (INT64, INT64, BOOL), (index, _number(0))), _number(0), opposite)


def _is_fast(options: Transform, source_layout: Layout) -> bool:
    """Return whether a fast plan transforms elements of this layout in few executions."""
    executions = plan_transform(options, source_layout, layout.c_layout(result_shape(options, source_layout.shape)))
    if executions is None:
        return False
    rank, ndim, execution_count = len(options.axes), len(source_layout.shape), len(executions.offsets)
    if rank > 1:  # axes other than the last ones are slow
        is_fast_plan = options.axes[0] == ndim - rank and executions.plan.source.stride == 1
    else:
        is_fast_access = executions.plan.source.stride == 1 or prod(source_layout.shape) < _LARGE_ELEMENTS
        is_fast_plan = is_fast_access or options.sizes[0] in _STRIDED_POINTS[options.kind]
    return is_fast_plan and (
        execution_count <= _FEW_EXECUTIONS or prod(source_layout.shape) // execution_count >= _LARGE_EXECUTION_ELEMENTS
    )


def _is_stored(node: Node) -> bool:
    """Return whether the elements are in memory, or will be whatever reads them."""
    signature = node.signature
    primitive = signature.args[0].primitive if isinstance(signature.primitive, View) else signature.primitive
    return isinstance(primitive, (Leaf, LibraryCall, Output, Update))


def _is_readable(node: Node, options: Transform) -> bool:
    """Return whether the library call can read the elements where they are in memory, and fast."""
    signature, primitive = node.signature, node.signature.primitive
    if not _is_stored(node):
        return False
    if isinstance(primitive, Leaf):
        return primitive.aligned and _is_fast(options, Layout(signature.shape, primitive.strides, primitive.origin))
    contiguous = layout.c_layout(signature.shape)
    if not isinstance(primitive, View):
        return _is_fast(options, contiguous)
    if primitive.offset * signature.dtype.itemsize % _ALIGNMENT_BYTES:
        return False
    # The scheduler chooses whether the call reads a view in place or from a copy, so that both must be fast.
    return all(
        _is_fast(options, candidate)
        for candidate in (Layout(signature.shape, primitive.strides, primitive.offset), contiguous)
    )
