"""Sorts along the axis that is cut: a pass sorts each slab, and another merges what they have of one range of ranks.

Where each sorted run is divided is found by the host, in few looks at the runs; the device sorts what is between two
such places. So each pass copies every element once to the device and once back.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import numpy

from ..dtypes import INT64
from ..graph.layout import Layout, c_strides
from ..graph.node import Node, leaf, library_call
from ..graph.primitives import LibraryCall
from ..graph.slab import Cut, Slab
from .memory import Buffer
from .slab_results import SlabResult, Stretches, bytes_of, device_of
from .spill import buffer_on_host, copy_in, place_on_host


class Sorted(SlabResult):
    """The first pass of a sort, or of the positions that sort, of rows along the last axis: runs of each row."""

    passes = 2
    most_slabs = 64  # each range of ranks is looked for in the runs of all: longer runs of fewer rows are sorted else

    def __init__(self, root: Node) -> None:
        (source,) = root.args
        assert isinstance(root.signature.primitive, LibraryCall)
        super().__init__(root, source.signature.shape[-1])
        self._call = root.signature.primitive
        self._source = source
        self.count = 2 if self._call.name == "argsort" else 1
        self._runs: list[numpy.ndarray] = []  # of elements, and perhaps of their positions
        self._ends = [0]

    def nodes(self, cut: Cut, start: int, stop: int) -> list[Node]:
        """Return what is to be computed for a slab."""
        part = cut.slab(Slab(self._source, len(self._source.signature.shape) - 1, start, stop))
        return [library_call(name, self._call.options, [part]) for name in ("sort", "argsort")[: self.count]]

    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Take the runs of a slab."""
        if not self._runs:
            shape = prod(self._source.signature.shape[:-1]), self.extent
            for dtype in (self._source.signature.dtype, INT64)[: self.count]:
                place = place_on_host(device_of(self.root), prod(shape) * dtype.itemsize)
                self._runs.append(place.content.view(dtype).reshape(shape))
        for runs, buffer, first in zip(self._runs, buffers, (0, start), strict=False):
            part = bytes_of(buffer).view(runs.dtype).reshape(len(runs), -1)
            runs[:, start:stop] = part + first if first else part
        self._ends.append(stop)

    def result(self) -> SlabResult:
        """Return the merge of the runs."""
        return _Merged(self.root, self._call, self._runs, self._ends)


class _Merged(Stretches):
    """Sorted rows, of runs: a slab has the elements of some ranks."""

    def __init__(self, root: Node, call: LibraryCall, runs: Sequence[numpy.ndarray], ends: Sequence[int]) -> None:
        super().__init__(root, len(root.signature.shape) - 1)
        self._call = call
        self._keys, *self._positions = runs
        self._ends = ends
        self._divided: dict[tuple[int, int], list[int]] = {}  # by row and rank

    def _places(self, row: int, rank: int) -> list[int]:
        """Return where the elements before this rank end in each run."""
        if (row, rank) not in self._divided:
            runs = [self._keys[row, start:stop] for start, stop in pairwise(self._ends)]
            counts = divided(runs, rank)
            self._divided[row, rank] = [start + n for start, n in zip(self._ends, counts, strict=False)]
        return self._divided[row, rank]

    def _parts(self, row: int, start: int, stop: int) -> list[slice]:
        """Return which part of each run has the elements of these ranks."""
        return [slice(*ends) for ends in zip(self._places(row, start), self._places(row, stop), strict=True)]

    def _gathered(self, runs: numpy.ndarray, start: int, stop: int) -> list[numpy.ndarray]:
        """Return the elements of these ranks of each row, run by run."""
        return [
            numpy.concatenate([runs[row, part] for part in self._parts(row, start, stop)]) for row in range(len(runs))
        ]

    def nodes(self, cut: Cut, start: int, stop: int) -> list[Node]:
        """Return what is to be computed for a slab."""
        shape, dtype = (*self.root.signature.shape[:-1], stop - start), self._keys.dtype
        queue = self.root.signature.queue
        assert queue is not None
        place = place_on_host(queue.device, prod(shape) * dtype.itemsize)
        keys = place.content.view(dtype).reshape(len(self._keys), -1)
        keys[:] = self._gathered(self._keys, start, stop)
        source = buffer_on_host(queue.device, place.content.size, copy_in(place))
        return [
            library_call(
                self._call.name, self._call.options, [leaf(source, dtype, Layout(shape, c_strides(shape), 0), queue)]
            )
        ]

    def take(self, buffers: list[Buffer], start: int, stop: int) -> None:
        """Take the values of a slab."""
        if not self._positions:
            super().take(buffers, start, stop)
            return
        (buffer,), (positions,) = buffers, self._positions
        orders = bytes_of(buffer).view(INT64).reshape(len(positions), -1)
        content = self._content().reshape(positions.shape)
        for row, part, order in zip(content, self._gathered(positions, start, stop), orders, strict=True):
            row[start:stop] = part[order]


def divided(runs: Sequence[numpy.ndarray], rank: int) -> list[int]:
    """Return how many elements of each sorted run are among the first `rank` of all; of equals those of earlier runs.

    Of the middles of what is left of the runs, the median by how much is left is looked for in all of them. That tells
    on which side of it the places are, so each look leaves three quarters at most.
    """
    lows, highs = numpy.zeros(len(runs), int), numpy.array([len(run) for run in runs])
    while lows.sum() < rank:
        open_runs = numpy.flatnonzero(lows < highs).tolist()
        middles = (lows + highs) // 2
        values = numpy.array([runs[k][middles[k]] for k in open_runs])
        order = numpy.array(open_runs)[values.argsort(kind="stable")]
        left = (highs - lows)[order].cumsum()
        chosen = int(order[left.searchsorted(left[-1] / 2)])
        pivot = runs[chosen][middles[chosen]]
        before = middles.copy()
        for k in open_runs:
            if k != chosen:
                part = runs[k][lows[k] : highs[k]]
                before[k] = lows[k] + part.searchsorted(pivot, "right" if k < chosen else "left")
        if before.sum() < rank:
            before[chosen] += 1
            lows = before
        else:
            highs = before
    return [int(low) for low in lows]
