"""The results of values that are computed slab by slab, put together in memory of the host.

Reductions over the axis that is cut make a result of each slab, which are combined here. The order in which elements
are added so depends on the size of the slabs, and with it on the memory that a device may have.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf, prod
from typing import Any

import numpy

from ..dtypes import FLOAT32, KIND
from ..graph.library_calls.record import CutAxes
from ..graph.node import Node, cast, library_call, output, reduce, scalar, scan
from ..graph.primitives import LibraryCall, Output, Reduce, Scan
from ..graph.slab import Cut, Slab
from .host_copies import HostCopy
from .memory import Buffer
from .memory_copy import move_to_host
from .spill import buffer_on_host, copy_in, place_on_host
from .spill_store import Place


class SlabResult(ABC):
    """A value that is computed slab by slab along an axis.

    Attributes
    ----------
    root
        The value.
    extent
        The length of the axis.
    count
        How many nodes are computed for each slab.
    operands
        Values of which the host takes parts: they are computed before.
    passes
        How many passes it takes.
    most_slabs
        How many slabs there may be for the host to put them together in no more time than they take.
    """

    count = 1
    passes = 1
    most_slabs: float = inf
    operands: tuple[Node, ...] = ()

    def __init__(self, root: Node, extent: int) -> None:
        self.root = root
        self.extent = extent

    @abstractmethod
    def nodes(self, cut: Cut, start: int, stop: int) -> list[Node]:
        """Return what is to be computed for the indices from `start` to before `stop`."""

    @abstractmethod
    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Take the values of such nodes. Slabs come in order."""

    @abstractmethod
    def result(self) -> Buffer | SlabResult:
        """Return the whole value, or the pass over the slabs that is to make it of them."""


class Stretches(SlabResult):
    """A value of which each slab is a part.

    Attributes
    ----------
    place : Place or None
        Where the parts go; None until there is one.
    """

    def __init__(self, root: Node, axis: int) -> None:
        super().__init__(root, root.signature.shape[axis])
        self._axis = axis
        self.place: Place | None = None

    def nodes(self, cut: Cut, start: int, stop: int) -> list[Node]:
        """Return what is to be computed for a slab."""
        return [cut.slab(Slab(self.root, self._axis, start, stop))]

    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Take the values of a slab."""
        shape, place = self.root.signature.shape, self._place()
        (buffer,) = buffers
        rows, row = prod(shape[: self._axis]), prod(shape[self._axis + 1 :]) * self.root.signature.dtype.itemsize
        if rows == 1:
            move_to_host(place.content[start * row : stop * row], buffer, place.pinned is not None)
        else:
            place.content.reshape(rows, -1)[:, start * row : stop * row] = bytes_of(buffer).reshape(rows, -1)

    def _place(self) -> Place:
        if self.place is None:
            signature = self.root.signature
            self.place = place_on_host(device_of(self.root), prod(signature.shape) * signature.dtype.itemsize)
        return self.place

    def _content(self) -> numpy.ndarray:
        """Return the value as an array, as far as it is there."""
        signature = self.root.signature
        return self._place().content.view(signature.dtype).reshape(signature.shape)

    def result(self) -> Buffer:
        """Return the whole value."""
        assert self.place is not None
        return buffer_on_host(device_of(self.root), self.place.content.size, copy_in(self.place))


class Shared(SlabResult):
    """An output of a call that is the same for each slab of the other outputs."""

    def __init__(self, root: Node, axis: int) -> None:
        self._call = root.args[0]
        assert isinstance(self._call.signature.primitive, LibraryCall)
        assert isinstance(root.signature.primitive, Output)
        super().__init__(root, self._call.signature.primitive.results[0][0][axis])
        self._axis = axis
        self._number = root.signature.primitive.number
        self._buffer: Buffer | None = None

    def nodes(self, cut: Cut, start: int, stop: int) -> list[Node]:
        """Return what is to be computed for a slab."""
        return [output(cut.slab(Slab(self._call, self._axis, start, stop)), self._number)]

    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Take the value that a slab has."""
        (self._buffer,) = buffers

    def result(self) -> Buffer:
        """Return the whole value."""
        assert self._buffer is not None
        return self._buffer


class Scanned(Stretches):
    """A scan along the axis that is cut: what comes before a slab is combined with all of it."""

    def __init__(self, root: Node) -> None:
        assert isinstance(root.signature.primitive, Scan)
        super().__init__(root, root.signature.primitive.axis)
        self._scan = root.signature.primitive
        self._args = root.args
        self._last: Any = None

    def nodes(self, cut: Cut, start: int, stop: int) -> list[Node]:
        """Return what is to be computed for a slab."""
        part = cut.slab(Slab(self._args[0], self._axis, start, stop))
        return [scan(self._scan.op, self._scan.loop, self._axis, part)]

    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Take the values of a slab."""
        super().take(buffers, start, stop)
        dtype = self.root.signature.dtype
        key = (slice(None),) * self._axis
        part = self._content()[(*key, slice(start, stop))]
        if KIND[dtype] in "efc":
            part = part.astype(wide_dtype(dtype))
        if self._last is not None:
            with numpy.errstate(all="ignore"):
                part = UFUNCS[self._scan.op](self._last, part)
                self._content()[(*key, slice(start, stop))] = part.astype(dtype)
        self._last = part[(*key, slice(-1, None))].copy()


class Reduced(SlabResult):
    """A reduction over the axis that is cut, and perhaps others."""

    def __init__(self, root: Node, axis: int) -> None:
        super().__init__(root, root.args[0].signature.shape[axis])
        assert isinstance(root.signature.primitive, Reduce)
        self._axis = axis
        self._args = root.args  # which the root has no more if another flush, for memory, computes it meanwhile
        self._reduction = root.signature.primitive
        self._total: Any = None

    def _part(self, cut: Cut, start: int, stop: int) -> Node:
        return cut.slab(Slab(self._args[0], self._axis, start, stop))

    def _value(self, buffer: Buffer, dtype: Any) -> numpy.ndarray:
        return bytes_of(buffer).view(dtype).reshape(self.root.signature.shape)

    def _final(self) -> Any:
        return self._total

    def result(self) -> Buffer:
        """Return the whole value."""
        final = numpy.asarray(self._final()).astype(self.root.signature.dtype)
        content = numpy.ravel(final).view(numpy.uint8)
        return buffer_on_host(device_of(self.root), content.size, HostCopy(content))


class Folded(Reduced):
    """A reduction whose partial results are combined by a ufunc, floating-point numbers in a wider dtype."""

    def __init__(self, root: Node, axis: int) -> None:
        super().__init__(root, axis)
        self._loop = self._reduction.loop
        if KIND[self._loop[-1]] == "e":  # as it is computed, so that partial results are not rounded
            self._loop = (FLOAT32,) * len(self._loop)

    def nodes(self, cut: Cut, start: int, stop: int) -> list[Node]:
        """Return what is to be computed for a slab."""
        part = self._part(cut, start, stop)
        if self._loop != self._reduction.loop:
            part = cast(cast(part, self._reduction.loop[0]), FLOAT32)
        return [reduce(self._reduction.op, self._loop, self._reduction.axes, [part])]

    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Take the values of a slab."""
        value = self._value(buffers[0], self._loop[-1])
        wide = value.astype(wide_dtype(value.dtype)) if KIND[value.dtype] in "efc" else value.copy()
        with numpy.errstate(all="ignore"):
            self._total = wide if self._total is None else UFUNCS[self._reduction.op](self._total, wide)

    def _final(self) -> Any:
        with numpy.errstate(all="ignore"):
            return self._total.astype(self.root.signature.dtype)


class Added(SlabResult):
    """A library call whose results for slabs of its arguments add up, floating-point numbers in a wider dtype."""

    def __init__(self, root: Node, axes: CutAxes) -> None:
        assert isinstance(root.signature.primitive, LibraryCall)
        self._call, self._args = root.signature.primitive, root.args  # as of a reduction
        lengths = [arg.signature.shape[axis] for arg, axis in zip(root.args, axes, strict=True) if axis is not None]
        super().__init__(root, lengths[0])
        self._axes = axes
        self._total: Any = None

    def nodes(self, cut: Cut, start: int, stop: int) -> list[Node]:
        """Return what is to be computed for a slab."""
        signature = self.root.signature
        parts = [
            cut.in_memory(arg) if axis is None else cut.slab(Slab(arg, axis, start, stop))
            for arg, axis in zip(self._args, self._axes, strict=True)
        ]
        return [library_call(self._call.name, self._call.options, parts, (signature.shape, signature.dtype))]

    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Take the values of a slab."""
        signature = self.root.signature
        value = bytes_of(buffers[0]).view(signature.dtype).reshape(signature.shape)
        wide = value.astype(wide_dtype(value.dtype)) if KIND[value.dtype] in "efc" else value
        with numpy.errstate(all="ignore"):
            self._total = wide if self._total is None else numpy.add(self._total, wide)

    def result(self) -> Buffer:
        """Return the whole value."""
        with numpy.errstate(all="ignore"):
            content = numpy.ravel(self._total.astype(self.root.signature.dtype)).view(numpy.uint8)
        return buffer_on_host(device_of(self.root), content.size, HostCopy(content))


class Position(Reduced):
    """The index of the first of the greatest or the least elements, or of the first NaN, as NumPy's."""

    count = 2

    def nodes(self, cut: Cut, start: int, stop: int) -> list[Node]:
        """Return what is to be computed for a slab."""
        reduction, part = self._reduction, self._part(cut, start, stop)
        dtype = part.signature.dtype
        best = reduce("maximum" if reduction.op == "argmax" else "minimum", (dtype, dtype), reduction.axes, [part])
        return [best, reduce(reduction.op, reduction.loop, reduction.axes, [part])]

    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Take the values of a slab."""
        shape = self._args[0].signature.shape
        value = self._value(buffers[0], self._args[0].signature.dtype).copy()
        inner = prod([shape[axis] for axis in self._reduction.axes if axis > self._axis])
        index = self._value(buffers[1], self.root.signature.dtype) + start * inner
        if self._total is None:
            self._total = value, index
        else:
            values, indices = (numpy.stack(pair) for pair in zip(self._total, (value, index), strict=True))
            which = getattr(numpy, self._reduction.op)(values, axis=0)[None]
            self._total = tuple(numpy.take_along_axis(both, which, 0)[0] for both in (values, indices))

    def _final(self) -> Any:
        return self._total[1]


class Moments(Reduced):
    """A variance, of the means and the variances of slabs.

    T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances",
    Stanford University, STAN-CS-79-773, 1979.
    """

    count = 2

    def nodes(self, cut: Cut, start: int, stop: int) -> list[Node]:
        """Return what is to be computed for a slab."""
        reduction, part = self._reduction, self._part(cut, start, stop)
        wide = wide_dtype(part.signature.dtype)
        sums = reduce("add", (wide, wide), reduction.axes, [cast(part, wide)])
        return [sums, reduce(reduction.op, reduction.loop, reduction.axes, [part, scalar(0.0)])]

    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Take the values of a slab."""
        shape = self._args[0].signature.shape
        count = (stop - start) * prod([shape[axis] for axis in self._reduction.axes if axis != self._axis])
        with numpy.errstate(all="ignore"):
            mean = self._value(buffers[0], wide_dtype(self._args[0].signature.dtype)) / count
            squares = self._value(buffers[1], self.root.signature.dtype).astype(numpy.float64) * count
            if self._total is not None:
                before, mean_before, squares_before = self._total
                gap = mean - mean_before
                squares = squares + squares_before + numpy.abs(gap) ** 2 * (before * count / (before + count))
                mean, count = mean_before + gap * (count / (before + count)), before + count
        self._total = count, mean, squares

    def _final(self) -> Any:
        count, _, squares = self._total
        degrees = count - self._args[1].data if len(self._args) > 1 else count
        with numpy.errstate(all="ignore"):
            return (squares / max(degrees, 0.0)).astype(self.root.signature.dtype)


# How partial results are combined, by the reduction.
UFUNCS = {
    **{
        name: getattr(numpy, name)
        for name in (
            *("add", "multiply", "maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or", "logical_xor"),
            *("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "hypot", "logaddexp", "logaddexp2"),
        )
    },
    "any": numpy.logical_or,
    "all": numpy.logical_and,
    "count_nonzero": numpy.add,
}


def device_of(node: Node) -> Any:
    """Return the device of a value."""
    assert node.signature.queue is not None
    return node.signature.queue.device


def wide_dtype(dtype: Any) -> Any:
    """Return the dtype in which floating-point numbers are combined."""
    return numpy.dtype(numpy.complex128 if KIND[dtype] == "c" else numpy.float64)


def bytes_of(buffer: Buffer) -> numpy.ndarray:
    """Return the bytes of a buffer in memory that nothing else has."""
    target = numpy.empty(buffer.nbytes, numpy.uint8)
    move_to_host(target, buffer, is_pinned=False)
    return target
