"""The transforms, recorded: cropping and padding, casts and factors as operations, which fuse, around the call "fft".

A transform along several axes is one step after another, as NumPy defines it. Steps along axes that differ are one
call, up to three of them, which is as many as a plan of cuFFT has.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import prod
from operator import index
from typing import Any, NamedTuple

import numpy

from ..core import layout
from ..core import node as graph
from ..core.array import ndarray, wrap, wrap_ordered
from ..core.dtypes import BOOL, COMPLEX128, INT64, KIND
from ..core.layout import Layout, Shape
from ..core.node import Call, DType, Leaf, Node, Part, Update, View
from ..core.record import as_array, remembered, reshaped, transposed
from ..core.transforms import Transform, passes, result_shape
from ..ufunc_output import output, write

__all__ = [
    *("fft", "fft2", "fftn", "hfft", "ifft", "ifft2", "ifftn", "ihfft"),
    *("irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftn"),
]

_COMPLEX64 = numpy.dtype(numpy.complex64)
_RANK = 3  # axes that a plan of cuFFT has at most
# Executions of a plan are better than a copy in another order, if there are a few or if each has so many elements.
_FEW = 4
_MANY = 1 << 21
# Arrays of so many elements are worth kernels and layouts of their own: the transformed axis is the fastest one in the
# result, which saves a tenth of the time, and a plan follows an axis through its stride up to so many points, where a
# copy would not be quicker.
_LARGE = 1 << 20
_STRIDED = {"c2c": 1024, "r2c": 0, "c2r": 0}
_ALIGNMENT = 16  # bytes: what the routine reads begins at a multiple of it

_SWAPPED = {"backward": "forward", None: "forward", "ortho": "ortho", "forward": "backward"}


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


# --- one axis -------------------------------------------------------------------------------------------------------


@remembered
def fft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ndarray:
    """The transform along an axis. See `numpy.fft.fft`."""
    return _along(as_array(a), n, axis, norm, out, "c2c", inverse=False)


@remembered
def ifft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ndarray:
    """The inverse transform along an axis. See `numpy.fft.ifft`."""
    return _along(as_array(a), n, axis, norm, out, "c2c", inverse=True)


@remembered
def rfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ndarray:
    """The transform of real numbers along an axis: the half that is not redundant. See `numpy.fft.rfft`."""
    return _along(as_array(a), n, axis, norm, out, "r2c", inverse=False)


@remembered
def irfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ndarray:
    """The real numbers whose transform along an axis has this half. See `numpy.fft.irfft`."""
    return _along(as_array(a), n, axis, norm, out, "c2r", inverse=True)


def hfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ndarray:
    """The transform, which is real, of what has Hermitian symmetry along an axis. See `numpy.fft.hfft`."""
    x = as_array(a)
    points = _default_points(x, n, axis, "c2r")
    return irfft(_conjugate(x), points, axis, _swap(norm), out)


def ihfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> ndarray:
    """The inverse of `hfft`. See `numpy.fft.ihfft`."""
    x = as_array(a)
    points = _default_points(x, n, axis, "r2c")
    return _finish(_conjugate(rfft(x, points, axis, _swap(norm))), out)


def _along(x: ndarray, n: Any, axis: Any, norm: Any, out: Any, kind: str, inverse: bool) -> ndarray:
    points = _default_points(x, n, axis, kind)
    return _finish(_transformed(x, [(kind, inverse, points, axis)], norm), out)


def _default_points(x: ndarray, n: Any, axis: Any, kind: str) -> Any:
    if n is not None:
        return n
    return (x.shape[axis] - 1) * 2 if kind == "c2r" else x.shape[axis]


def _swap(norm: Any) -> str:
    """The mode of a transform whose direction is the other one."""
    try:
        return _SWAPPED[norm]
    except KeyError:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".') from None


def _conjugate(x: ndarray) -> ndarray:
    dtype = x.dtype
    return wrap(graph.map_node("conjugate", (dtype, dtype), (x.value(),))) if KIND[dtype] == "c" else x


# --- several axes ---------------------------------------------------------------------------------------------------


def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> ndarray:
    """The transform along several axes, all of them by default. See `numpy.fft.fftn`."""
    _tell(s, axes)
    return _fftn(a, s, axes, norm, out)


@remembered
def _fftn(a: Any, s: Any, axes: Any, norm: Any, out: Any) -> ndarray:
    x = as_array(a)
    return _complex_axes(x, *_cooked(x, s, axes), norm, out, inverse=False)


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> ndarray:
    """The inverse transform along several axes. See `numpy.fft.ifftn`."""
    _tell(s, axes)
    return _ifftn(a, s, axes, norm, out)


@remembered
def _ifftn(a: Any, s: Any, axes: Any, norm: Any, out: Any) -> ndarray:
    x = as_array(a)
    return _complex_axes(x, *_cooked(x, s, axes), norm, out, inverse=True)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> ndarray:
    """The transform of real numbers along several axes, halved along the last. See `numpy.fft.rfftn`."""
    _tell(s, axes)
    return _rfftn(a, s, axes, norm, out)


@remembered
def _rfftn(a: Any, s: Any, axes: Any, norm: Any, out: Any) -> ndarray:
    x = as_array(a)
    sizes, axes = _cooked(x, s, axes)
    steps = [("r2c", False, sizes[-1], axes[-1])]
    steps += [("c2c", False, n, axis) for n, axis in zip(sizes[-2::-1], axes[-2::-1], strict=True)]
    return _finish(_transformed(x, steps, norm), out)


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> ndarray:
    """The inverse of `rfftn`. See `numpy.fft.irfftn`."""
    _tell(s, axes)
    return _irfftn(a, s, axes, norm, out)


@remembered
def _irfftn(a: Any, s: Any, axes: Any, norm: Any, out: Any) -> ndarray:
    x = as_array(a)
    sizes, axes = _cooked(x, s, axes, real=True)
    steps = [("c2c", True, n, axis) for n, axis in zip(sizes[:-1], axes[:-1], strict=True)]
    return _finish(_transformed(x, [*steps, ("c2r", True, sizes[-1], axes[-1])], norm), out)


def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> ndarray:
    """The transform along two axes. See `numpy.fft.fft2`."""
    _tell(s, axes)
    return _fftn(a, s, axes, norm, out)


def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> ndarray:
    """The inverse transform along two axes. See `numpy.fft.ifft2`."""
    _tell(s, axes)
    return _ifftn(a, s, axes, norm, out)


def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> ndarray:
    """The transform of real numbers along two axes. See `numpy.fft.rfft2`."""
    _tell(s, axes)
    return _rfftn(a, s, axes, norm, out)


def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> ndarray:
    """The inverse of `rfft2`. See `numpy.fft.irfft2`."""
    _tell(s, axes)
    return _irfftn(a, s, axes, norm, out)


def _complex_axes(x: ndarray, sizes: list[Any], axes: list[Any], norm: Any, out: Any, *, inverse: bool) -> ndarray:
    if not axes:
        return x
    steps = [("c2c", inverse, n, axis) for n, axis in zip(sizes[::-1], axes[::-1], strict=True)]
    return _finish(_transformed(x, steps, norm), out)


def _cooked(x: ndarray, s: Any, axes: Any, real: bool = False) -> tuple[list[Any], list[Any]]:
    """The points along each axis, and the axes, as NumPy finds them."""
    if s is not None:
        sizes = list(s)
    else:
        sizes = list(x.shape) if axes is None else [x.shape[axis] for axis in axes]
    axes = list(range(-len(sizes), 0) if axes is None else axes)
    if len(sizes) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    if real and s is None:
        sizes[-1] = (x.shape[axes[-1]] - 1) * 2
    last = len(sizes) - 1
    for k, (n, axis) in enumerate(zip(sizes, axes, strict=True)):
        if n is None:
            sizes[k] = _default_points(x, None, axis, "c2r" if real and k == last else "c2c")
        elif n == -1:
            sizes[k] = x.shape[axis]
    return sizes, axes


def _tell(s: Any, axes: Any) -> None:
    """Warn of what NumPy has deprecated."""
    if s is None:
        return
    if axes is None:
        _deprecated(
            "`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0). In a future version of NumPy, "
            "this will raise an error and `s[i]` will correspond to the size along the transformed axis specified by "
            "`axes[i]`. To retain current behaviour, pass a sequence [0, ..., k-1] to `axes` for an array of "
            "dimension k."
        )
    if None in s:
        _deprecated(
            "Passing an array containing `None` values to `s` is deprecated in NumPy 2.0 and will raise an error in a "
            "future version of NumPy. To use the default behaviour of the corresponding 1-D transform, pass the value "
            "matching the default for its `n` parameter. To use the default behaviour for every axis, the `s` argument "
            "can be omitted."
        )


def _deprecated(text: str) -> None:
    warnings.warn(text, DeprecationWarning, stacklevel=4)


# --- what all of them do --------------------------------------------------------------------------------------------


def _finish(result: ndarray, out: Any) -> ndarray:
    """The result, or the array that it was asked to be written to."""
    into = output(out)
    if into is None:
        return result
    if into.shape != result.shape:
        raise ValueError("output array has wrong shape.")
    if not numpy.can_cast(result.dtype, into.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast ufunc 'fft' output from {result.dtype!r} to {into.dtype!r} with casting rule 'same_kind'"
        )
    return write(into, result.value())


def _transformed(x: ndarray, given: Sequence[tuple[str, bool, Any, Any]], norm: Any) -> ndarray:
    """One transform after another: kind, direction, points and axis of each."""
    dtype, factor, steps = x.dtype, 1.0, []
    for kind, inverse, n, axis in given:
        points = _points(n)
        real = _real(dtype)
        factor *= _factor(points, norm, inverse, real)
        if kind == "r2c" and KIND[dtype] == "c":
            raise TypeError(
                "ufunc 'rfft' not supported for the input types, and the inputs could not be safely coerced to any "
                "supported types according to the casting rule ''safe''"
            )
        steps.append(Step(kind, inverse, points, layout.normalize_axis(axis, x.ndim)))
        dtype = real if kind == "c2r" else numpy.result_type(dtype, 1j)
        if len(steps) == 1:
            # Half precision is computed in single precision.
            work = COMPLEX128 if dtype in (COMPLEX128, numpy.float64) else _COMPLEX64
    shape = x.shape
    for step in steps:
        shape = (*shape[: step.axis], step.made, *shape[step.axis + 1 :])
    queue = x.queue
    if not prod(shape):
        return wrap(graph.fill(graph.typed_scalar(dtype.type(0), dtype), shape, queue))
    value = Value(x.value())
    groups = _groups(steps)
    alone = len(groups) == 1
    mirrored = alone and KIND[x.dtype] != "c" and all(step.kind == "c2c" for step in steps)
    if mirrored and prod(shape) >= _LARGE and _is_long(steps):
        factor = value.transform_real(steps, work, factor)
    else:
        for group in groups:
            factor = value.transform(group, work, factor, alone=alone)
    value.scale(factor)
    value.node = graph.cast(value.node, dtype)
    return wrap_ordered(value.node, value.order if value.order != tuple(range(x.ndim)) else None)


def _is_long(steps: Sequence[Step]) -> bool:
    return min(step.points for step in steps) > 1


def _points(n: Any) -> int:
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    if isinstance(n, bool):
        raise TypeError("an integer is required")
    return index(n)


def _real(dtype: DType) -> DType:
    """The dtype of real results."""
    return numpy.result_type(numpy.empty(0, dtype).real.dtype, 1.0)


def _factor(points: int, norm: Any, inverse: bool, dtype: DType) -> float:
    """What a step multiplies with, as exact as NumPy has it; in single precision where half has no such number."""
    if inverse:
        norm = _swap(norm)
    if norm is None or norm == "backward":
        return 1.0
    if norm not in ("ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')
    if dtype == numpy.float16 and points > numpy.finfo(dtype).max:
        dtype = numpy.dtype(numpy.float32)
    divisor = numpy.sqrt(points, dtype=dtype) if norm == "ortho" else points
    return float(numpy.reciprocal(divisor, dtype=dtype))


def _groups(steps: Sequence[Step]) -> list[list[Step]]:
    """The steps that are taken together: along axes that differ."""
    groups: list[list[Step]] = []
    for step in steps:
        last = groups[-1] if groups else []
        together = last and len(last) < _RANK and step.axis not in [s.axis for s in last]
        if together:
            last.append(step)
        else:
            groups.append([step])
    return groups


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
        shape, strides = node.form.shape, node.form.strides
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
        if options is not None and shape == shape_of(self.node) and kind != "c2r":
            if alone and len(axes) == 1 and prod(shape) >= _LARGE:
                options = self._axes_last(options)
            if _is_readable(self.node, options):
                self._call(options, real, work)
                return factor
        # A kernel makes the elements in memory: the factor costs nothing there.
        if options is not None and not _is_few(options, layout.c_layout(shape)):
            options = self._axes_last(options)
        self.scale(factor)
        if options is not None and kind == "c2r":
            even = work == _COMPLEX64 and options.axes[-1] == len(shape) - 1
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
        self._call(options, real, work)
        return 1.0

    def _is_joint(self, steps: Sequence[Step], halved: Step) -> bool:
        """Whether steps along several axes, `halved` to or from real numbers, are one plan.

        Of a plan the halved axis is the last one in memory. An inverse needs some kernels more, which small arrays are
        not worth.
        """
        if max(self.order.index(step.axis) for step in steps) != self.order.index(halved.axis):
            return False
        return halved.kind == "r2c" or (_is_long(steps) and prod(self._taken(steps)) >= _LARGE)

    def transform_real(self, steps: Sequence[Step], work: DType, factor: float) -> float:
        """Take complex steps of real numbers: half of the results are computed, and are those of the other half."""
        last = max(steps, key=lambda step: self.order.index(step.axis))
        others = [step for step in steps if step is not last]
        halved = [Step("r2c", False, last.points, last.axis), *(step._replace(inverse=False) for step in others)]
        factor = self.transform(halved, work, factor, alone=True)
        f = self.node.form
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

    def _call(self, options: Transform, real: DType, work: DType) -> None:
        made = real if options.kind == "c2r" else work
        self.node = graph.call("fft", options, (self.node,), result_shape(options, shape_of(self.node)), made)

    def _axes_last(self, options: Transform) -> Transform:
        """Have the transformed axes be the last ones."""
        ndim, count = len(self.order), len(options.axes)
        self._reorder([*(d for d in range(ndim) if d not in options.axes), *options.axes])
        return options._replace(axes=tuple(range(ndim - count, ndim)))

    def _make_hermitian(self, options: Transform) -> None:
        """Leave no imaginary part where real numbers have none in their transform: NumPy does not look at it there.

        Neither does cuFFT for some sizes, while for others its results depend on it.
        """
        f, (axis,), (points,) = self.node.form, options.axes, options.sizes
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
        f = self.node.form
        whole, node = f.shape, self.node
        if isinstance(f.op, View) and isinstance(f.args[0].op, Update):  # with an element to spare in every row
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
            dtype = self.node.form.dtype
            scalar = graph.typed_scalar(dtype.type(factor), dtype)
            self.node = graph.map_node("multiply", (dtype,) * 3, (self.node, scalar))

    def _reorder(self, order: Sequence[int]) -> None:
        self.node = transposed(self.node, order)
        self.order = tuple(self.order[k] for k in order)

    def _crop(self, sizes: dict[int, int]) -> None:
        shape = shape_of(self.node)
        part = tuple(min(n, sizes.get(d, n)) for d, n in enumerate(shape))
        if part != shape:
            self.node = graph.view(self.node, Layout(part, layout.c_strides(shape), 0))

    def _taken(self, steps: Sequence[Step]) -> Shape:
        """The shape that the steps take."""
        taken = {step.axis: step.taken for step in steps}
        return tuple(taken.get(axis, n) for axis, n in zip(self.order, shape_of(self.node), strict=True))

    def _pad(self, shape: Shape, *, even: bool = False) -> None:
        """Have zeros after the elements up to a shape; in memory that has an even number of elements a row, if asked.

        cuFFT 12.0 gives wrong results for single-precision "c2r" of 8,192 and of 16,384 points where the rows of a
        batch begin at odd elements.
        """
        part, f = shape_of(self.node), self.node.form
        wide = (*shape[:-1], shape[-1] + shape[-1] % 2) if even and prod(shape[:-1]) > 1 else shape
        if wide == part:
            return
        assert f.queue is not None
        zeros = graph.fill(graph.typed_scalar(f.dtype.type(0), f.dtype), wide, f.queue)
        inside = Layout(part, layout.c_strides(wide), 0)
        self.node = graph.update(zeros, inside, self.node) if prod(part) else graph.fresh(zeros)
        if wide != shape:
            self.node = graph.view(self.node, Layout(shape, layout.c_strides(wide), 0))


def shape_of(node: Node) -> Shape:
    """The shape of a value."""
    return node.form.shape


def _number(value: int) -> Node:
    return graph.typed_scalar(value, INT64)


def _where(mask: Node, value: Node, other: Node) -> Node:
    dtype = value.form.dtype
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
        short = options.sizes[0] <= _STRIDED[options.kind]
        quick = short or found.plan.source.stride == 1 or prod(where.shape) < _LARGE
    return quick and (count <= _FEW or prod(where.shape) // count >= _MANY)


def _is_stored(node: Node) -> bool:
    """Whether the elements are in memory, or will be, whoever reads them."""
    f = node.form
    inner = f.args[0].op if isinstance(f.op, View) else f.op
    return isinstance(inner, (Leaf, Call, Part, Update))


def _is_readable(node: Node, options: Transform) -> bool:
    """Whether the elements are in memory when the routine is called, in a way that it can take."""
    f, op = node.form, node.form.op
    if not _is_stored(node):
        return False
    if isinstance(op, Leaf):
        return op.aligned and _is_few(options, Layout(f.shape, op.strides, op.origin))
    whole = layout.c_layout(f.shape)
    if not isinstance(op, View):
        return _is_few(options, whole)
    if op.offset * f.dtype.itemsize % _ALIGNMENT:
        return False
    # Whether a part is read where it is or from a copy is the scheduler's choice.
    return all(_is_few(options, where) for where in (Layout(f.shape, op.strides, op.offset), whole))
