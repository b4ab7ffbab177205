"""Indexed loads whose indices are ranges, as those of a roll are: windows of the source, read without indices.

A range is an affine function of one loop index, plus numbers that are known when the kernel runs. A negative index
counts from the end, so a block of such a load is one box of the source or, where a range passes through 0, several.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, product
from typing import Any, NamedTuple, TypeAlias

import numpy

from ...core.schedule.kernel import Affine, Apply, Body, LoadIndexed, LoopIndex, Scalar
from .gathers import gather


class Range(NamedTuple):
    """Indices along an axis of `size` elements, each `pitch` elements after the one before.

    The indices are `at`, which varies along dimension `dim` alone, plus and minus the values of the scalar arguments
    `added` and `subtracted`.
    """

    dim: int
    size: int
    pitch: int
    at: Affine
    added: tuple[int, ...]
    subtracted: tuple[int, ...]

    @property
    def step(self) -> int:
        """The difference of two indices."""
        return self.at.coef[self.dim]


class RangeLoad(NamedTuple):
    """A load at ranges of indices, each along a dimension of its own; `at` is the position of the index 0 of all."""

    at: Affine
    ranges: tuple[Range, ...]

    def has_windows_of(self, other: RangeLoad, dim: int) -> bool:
        """Return whether blocks of both loads differ by an offset along dimension `dim` alone."""

        def without_numbers(load: RangeLoad) -> Any:
            return load.at, [r._replace(added=(), subtracted=()) if r.dim == dim else r for r in load.ranges]

        return without_numbers(self) == without_numbers(other)


def range_loads(body: Body, shape: Sequence[int]) -> dict[int, RangeLoad]:
    """Return the indexed loads whose indices are ranges, by their values, in a nest of this shape."""
    loads: dict[int, RangeLoad] = {}
    for i, instr in enumerate(body.instructions):
        if isinstance(instr, LoadIndexed):
            ranges = [_range_of(body, *of_axis) for of_axis in zip(instr.index, instr.dims, instr.strides, strict=True)]
            known = sorted((r for r in ranges if r is not None), key=lambda r: r.dim)
            if len({r.dim for r in known}) == len(ranges):
                loads[i] = RangeLoad(instr.at, tuple(known))
    sizes = {(r.dim, r.pitch): r for load in loads.values() for r in load.ranges if r.step == 1 and not r.at.offset}
    return {i: _with_whole_axes(load, shape, sizes) for i, load in loads.items()}


def _range_of(body: Body, value: int, size: int, pitch: int) -> Range | None:
    """Return the range that is a value; None if it is none."""
    instr = body.instructions[value]
    if isinstance(instr, LoopIndex):
        dims = [d for d, c in enumerate(instr.at.coef) if c]
        return Range(dims[0], size, pitch, instr.at, (), ()) if len(dims) == 1 else None
    if not isinstance(instr, Apply) or instr.op not in ("add", "subtract"):
        return None
    first, second = instr.args
    if instr.op == "add" and isinstance(body.instructions[first], Scalar):
        first, second = second, first
    number, rest = body.instructions[second], _range_of(body, first, size, pitch)
    if rest is None or not isinstance(number, Scalar):
        return None
    if instr.op == "add":
        return rest._replace(added=(*rest.added, number.arg))
    return rest._replace(subtracted=(*rest.subtracted, number.arg))


def _with_whole_axes(load: RangeLoad, shape: Sequence[int], ranges: dict[tuple[int, int], Range]) -> RangeLoad:
    """Return a load with its whole axes as ranges where other loads have ranges, so that they have one form."""
    at, known = load.at, {r.dim: r for r in load.ranges}
    for dim, n in enumerate(shape):
        other = ranges.get((dim, at.coef[dim]))
        if dim not in known and at.coef[dim] and other is not None and other.size == n:
            known[dim] = other._replace(added=(), subtracted=())
            at = Affine(at.offset, (*at.coef[:dim], 0, *at.coef[dim + 1 :]))
    return RangeLoad(at, tuple(known[dim] for dim in sorted(known)))


# A range at run time: the axis of the block along which it varies, and its size, pitch and step.
_Axis: TypeAlias = tuple[int, int, int, int]
# A box of a block: where it is in the block, its shape, and how far its first element is from the start in the source.
_Box: TypeAlias = tuple[tuple[slice, ...], tuple[int, ...], int]


class _Geometry:
    """Where windows are in a source; the parameters are those of `Windows`.

    Attributes
    ----------
    inner
        For each window and each range that is not moving its place, see `_place`; None if an index is out of bounds.
    joint : _Joint or None
        The block that has all windows, unless it would be much larger than one of them.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        axes: tuple[_Axis, ...],
        moving: int,
        numbers: tuple[tuple[int, ...], ...],
    ) -> None:
        self.shape, self.strides, self.axes, self.moving, self.numbers = shape, strides, axes, moving, numbers
        self.inner = [
            _all_or_none([_place(n, along, shape) for n, along in zip(of_window[moving:], axes[moving:], strict=True)])
            for of_window in numbers
        ]
        self.joint: _Joint | None = None
        if moving and len(numbers) > 1 and self.inner[0] is not None:
            self.joint = _joint_of(shape, axes[moving - 1], [of_window[moving - 1] for of_window in numbers])
        self._boxes: dict[tuple[int, tuple[int, ...], int], list[_Box]] = {}

    def start(self, window: int, base: int, firsts: Sequence[int]) -> tuple[int, int] | None:
        """Return the position of a block, and where its last moving range is cut; None if an index is out of bounds."""
        cut = 0
        for first, number, along in zip(firsts, self.numbers[window], self.axes):
            placed = _place(first + number, along, self.shape)
            if placed is None:
                return None
            base, cut = base + placed[0], placed[1]
        return base, cut

    def boxes(self, window: int, shape: tuple[int, ...], cut: int) -> list[_Box]:
        """Return the boxes of a window, or of a block of another shape in its place."""
        key = window, shape, cut
        found = self._boxes.get(key)
        if found is None:
            found = self._boxes[key] = list(self._boxes_of(*key))
        return found

    def _boxes_of(self, window: int, shape: tuple[int, ...], cut: int) -> Iterator[_Box]:
        places = self.inner[window]
        assert places is not None
        cuts = [(cut, self.axes[self.moving - 1])] if cut else []
        cuts += [(cut, along) for (_, cut), along in zip(places, self.axes[self.moving :], strict=True) if cut]
        stretches = []  # for each axis that is cut
        for cut, (axis, size, pitch, step) in cuts:
            ends = [0, *range(cut, shape[axis], size), shape[axis]]
            jump = -size * pitch if step > 0 else size * pitch
            stretches.append([(axis, first, stop, k * jump) for k, (first, stop) in enumerate(pairwise(ends))])
        for box in product(*stretches):
            extent, place, at = list(shape), [slice(None)] * len(shape), sum(at for at, _ in places)
            for axis, first, stop, jumps in box:
                extent[axis], place[axis] = stop - first, slice(first, stop)
                at += first * self.strides[axis] + jumps
            yield tuple(place), tuple(extent), at


class _Joint(NamedTuple):
    """A block that has all windows: its shape, what of it each is, and from which to which first index that is so.

    It begins `ahead` indices after the first index; along the axis where the windows differ, of `size` elements that
    are `pitch` apart, it has `extent` elements.
    """

    shape: tuple[int, ...]
    windows: list[tuple[slice, ...]]
    least: int
    most: int
    ahead: int
    size: int
    pitch: int
    extent: int


def _joint_of(shape: tuple[int, ...], along: _Axis, numbers: Sequence[int]) -> _Joint | None:
    """Return the joint block of windows that begin these numbers of indices after each other, unless it is large."""
    axis, size, pitch, step = along
    length, half = shape[axis], size // 2
    apart = [(number - numbers[0] + half) % size - half for number in numbers]
    low, extent = min(apart), max(apart) - min(apart) + length
    if extent > 2 * length or step != 1:
        return None
    windows = [(*[slice(None)] * axis, slice(n - low, n - low + length)) for n in apart]
    joint = (*shape[:axis], extent, *shape[axis + 1 :])
    least, most = -size - min(numbers), size - max(numbers) - length
    return _Joint(joint, windows, least, most, numbers[0] + low, size, pitch, extent)


def _place(first: int, along: _Axis, shape: tuple[int, ...]) -> tuple[int, int] | None:
    """Return the position of the first index of a range, and after how many elements the range goes through 0.

    That is 0 if it does not. If an index is out of bounds, return None.
    """
    axis, size, pitch, step = along
    last = first + step * (shape[axis] - 1)
    low, high = (first, last) if step > 0 else (last, first)
    if low < -size or high >= size:
        return None
    cut = 0 if low >= 0 or high < 0 else -(first // step) if step > 0 else first // -step + 1
    return (first + size if first < 0 else first) * pitch, cut


def _all_or_none(places: list[tuple[int, int] | None]) -> list[tuple[int, int]] | None:
    known = [place for place in places if place is not None]
    return known if len(known) == len(places) else None


_geometry = lru_cache(maxsize=1024)(_Geometry)


class Windows:
    """What reads blocks of a source that are windows of one block, as they differ by offsets along one axis.

    Parameters
    ----------
    source : ndarray
        The memory that is read, as a flat array.
    shape, strides : tuple of int
        The shape of a block, and the distances in the source of its elements along each axis.
    axes : tuple of tuple
        For each range the axis of the block along which it varies, its size, its pitch and its step.
    moving : int
        How many ranges, the first ones, begin at other indices in each block. In the last of these windows may differ;
        along the axes of those before, a block has one element.
    numbers : tuple of tuple of int
        For each window and each range what is added to the indices, or the first index in a range that is not moving.
    source_locations : sequence of int
        For each window the number that is reported with an index out of bounds.
    """

    def __init__(
        self,
        source: Any,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        axes: tuple[_Axis, ...],
        moving: int,
        numbers: tuple[tuple[int, ...], ...],
        source_locations: Sequence[int],
    ) -> None:
        self._source, self._source_locations = source, source_locations
        self._geometry = _geometry(shape, strides, axes, moving, numbers)
        self._bytes_apart = [s * source.itemsize for s in strides]
        self._scratch: dict[tuple[int, ...], Any] = {}

    def __call__(self, base: int, firsts: tuple[int, ...], out: Any = None) -> list[Any]:
        """Return the windows of the block whose first indices in moving ranges, but for the numbers, are `firsts`.

        They are views of the source or of scratch memory, or are in `out` if it is given.
        """
        geometry = self._geometry
        joint = geometry.joint
        if joint is not None and joint.least <= firsts[-1] <= joint.most:
            before = geometry.start(0, base, firsts[:-1])
            if before is not None:
                ahead = (firsts[-1] + joint.ahead) % joint.size
                cut = joint.size - ahead
                start = before[0] + ahead * joint.pitch
                block = self._read(0, joint.shape, start, cut if cut < joint.extent else 0, None)
                return [block[window] for window in joint.windows]
        blocks = []
        for k, inner in enumerate(geometry.inner):
            begin = geometry.start(k, base, firsts)
            if begin is None or inner is None:
                blocks.append(self._gathered(k, base, firsts, out))
            else:
                blocks.append(self._read(k, geometry.shape, *begin, out))
        return blocks

    def _read(self, window: int, shape: tuple[int, ...], start: int, cut: int, out: Any) -> Any:
        """Return a window, or a block of another shape in its place."""
        boxes, source = self._geometry.boxes(window, shape, cut), self._source
        dtype, itemsize = source.dtype, source.itemsize
        if len(boxes) == 1 and out is None:
            return numpy.ndarray(shape, dtype, source, (start + boxes[0][2]) * itemsize, self._bytes_apart)
        if out is None:
            out = self._scratch.get((window, *shape))
            if out is None:
                out = self._scratch[window, *shape] = numpy.empty(shape, dtype)
        for place, extent, at in boxes:
            out[place] = numpy.ndarray(extent, dtype, source, (start + at) * itemsize, self._bytes_apart)
        return out

    def _gathered(self, window: int, base: int, firsts: Sequence[int], out: Any) -> Any:
        """Return a window in which an index is out of bounds: element by element, which clamps and reports it."""
        geometry = self._geometry
        shape, strides, numbers = geometry.shape, list(geometry.strides), geometry.numbers[window]

        def along(axis: int, step: int, first: int = 0) -> Any:
            values = first + step * numpy.arange(shape[axis])
            return values.reshape([-1 if d == axis else 1 for d in range(len(shape))])

        index = []
        for k, (axis, _, pitch, step) in enumerate(geometry.axes):
            index.append(along(axis, step, numbers[k] + (firsts[k] if k < geometry.moving else 0)))
            strides[axis] -= step * pitch
        positions: Any = base + sum(along(axis, stride) for axis, stride in enumerate(strides))
        _, sizes, pitches, _ = zip(*geometry.axes, strict=True)
        location = self._source_locations[window]
        return gather(self._source, numpy.broadcast_to(positions, shape), index, sizes, pitches, location, out)
