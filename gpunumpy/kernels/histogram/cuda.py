"""Counts and sums of weights by bin on a GPU: `bincount`, and histograms, whose kernels find the bins themselves.

Counts are integers, so that atomic additions in any order give the same. They are made in shared memory where the bins
fit, and in the result's memory elsewhere. Weights are added in a fixed order: where bins are few, by every warp to sums
of its own, which are added up in the end; else after a sort of the elements by bin.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.dtypes import BOOL, C_TYPE, FLOAT64, INT64
from ...core.graph.layout import Layout
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.routine import NOTHING, THREADS, Routine, pointer
from ..indexing.cuda_scatter import SORT, pairs_scratch, sort_pairs
from ..search.cuda import HEAD as SEARCH

HEAD = f"{SEARCH}\n{source('histogram/histogram')}"

# The shared memory of a block, and as much of it as its counters take where several share a bin.
_SHARED, _COUNTERS = 48 << 10, 24 << 10
_MOST_COPIES = 32
_WARPS, _AT_ONCE = THREADS // 32, 8  # as in histogram.cuh
_RUN = 1024
# Every multiprocessor of the largest GPUs has eight such blocks; a block counts as much as it writes, at least.
_MOST_BLOCKS = 1056


def bincount(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """How many of the integers have each value, or the sums of their weights; those beyond the bins do not count."""
    _, x, *weights = layouts
    text = _Bins(layouts[0].shape[0], prod(x.shape), dtypes[1], dtypes[2] if weights else None)
    find = f"const long long b = (long long)v; return (u64)b < (u64){text.bins} ? b : -1;"
    return text.made([pointer(dtypes[1], "x")], find)


def histogram(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """How many of the values are in each bin, or the sums of their weights.

    The arguments are the values, the edges, for uniform bins the width of them all in the dtype to divide in, and the
    weights, if any. The options say whether the bins are uniform, and give the least and the greatest integer that
    count where the edges cannot tell (or None).
    """
    uniform, limits = options
    rest = dtypes[4 if uniform else 3 :]
    text = _Bins(layouts[0].shape[0], prod(layouts[1].shape), dtypes[1], rest[0] if rest else None, dtypes[2])
    pointers = [pointer(dtypes[1], "x"), pointer(dtypes[2], "given")]
    if not uniform:
        return text.made(pointers, text.searched())
    return text.made([*pointers, pointer(dtypes[3], "width")], text.computed(dtypes[3], limits))


class _Bins(Routine):
    """A program that counts or adds up by bin while it grows."""

    def __init__(self, bins: int, count: int, dtype: Any, weight: Any, edge: Any = None) -> None:
        super().__init__()
        self._bins, self._count, self._dtype, self._weight, self._edge = bins, count, dtype, weight, edge
        self.bins, self._n = self.param(bins), self.param(count)
        self._known = ""  # what a thread reads before it looks at elements

    # which bin

    def searched(self) -> str:
        """The bin of `v`, found among the edges; the last edge is inside the last bin."""
        return (
            f"const {C_TYPE[self._edge]} e = {self.cast('v', self._dtype, self._edge)};\n"
            f"      const long long found = passed<true>(edges, {self.bins} + 1, e);\n"
            f"      if (found <= {self.bins}) return found - 1;\n"
            f"      return before(edges[{self.bins}], e) ? -1 : {self.bins} - 1;"
        )

    def computed(self, wide: Any, limits: tuple[int, int] | None) -> str:
        """The bin of `v` as NumPy computes it for uniform ones, and as it corrects that by the edges."""
        edge, own = self._edge, self._dtype
        self._known = (
            f"  const {C_TYPE[edge]} low = given[0], high = given[{self.bins}];\n"
            f"  const {C_TYPE[wide]} span = width[0];\n"
        )
        if limits:
            bounds = [f"({C_TYPE[own]}){self.param(k if k < 2**63 else k - 2**64)}" for k in limits]
            inside = f"v >= {bounds[0]} && v <= {bounds[1]}"
        else:
            inside = f"{self._compare('greater_equal', 'e', 'low')} && {self._compare('less_equal', 'e', 'high')}"
        from_first = self.cast(self.apply("subtract", (edge, edge, edge), ["e", "low"]), edge, wide)
        share = self.apply("divide", (wide, wide, wide), [from_first, "span"])
        place = self.apply("multiply", (wide, wide, wide), [share, self.cast(self.bins, INT64, wide)])
        return (
            f"const {C_TYPE[edge]} e = {self.cast('v', own, edge)};\n"
            f"      if (!({inside})) return -1;\n"
            f"      long long b = {self.cast(place, wide, INT64)};\n"
            f"      b = b < 0 ? 0 : b < {self.bins} ? b : {self.bins} - 1;\n"
            f"      if ({self._compare('less', 'e', 'edges[b]')}) return b - 1;\n"
            f"      return b + ({self._compare('greater_equal', 'e', 'edges[b + 1]')} && b != {self.bins} - 1);"
        )

    def _compare(self, op: str, a: str, b: str) -> str:
        return self.apply(op, (self._edge, self._edge, BOOL), [a, b])

    # what is done with it

    def made(self, pointers: Sequence[str], find: str) -> Program:
        """The program; `find` is the body of a function of an element `v` that returns its bin."""
        out = pointer(INT64 if self._weight is None else FLOAT64, "out", "")
        pointers = [out, *pointers]
        if self._weight is not None:
            pointers.append(pointer(self._weight, "weights"))
        if not self._bins:
            return NOTHING
        if not self._count:
            self._clear()
            return self.program(pointers)
        load = "[=](long long i) { return x[i]; }"
        bin_of = f"[=]({C_TYPE[self._dtype]} v) -> long long {{\n      {find}\n    }}"
        if self._weight is None:
            return self._counted(pointers, load, bin_of)
        value = self.cast("weights[i]", self._weight, FLOAT64)
        weight = f"[=](long long i) -> f64 {{ return {value}; }}"
        few = self._bins * _WARPS * FLOAT64.itemsize
        if few <= _SHARED:
            return self._summed(pointers, load, bin_of, weight, few)
        return self._sorted(pointers, bin_of, value)

    def _clear(self) -> None:
        self.each("clear", "b", self._bins, self.bins, "out[b] = 0;")

    def _edges(self, taken: int) -> tuple[str, int]:
        """Declare the `edges`, in shared memory after `taken` bytes if there is room; and all the bytes then taken."""
        if self._edge is None:
            return "", taken
        kind = C_TYPE[self._edge]
        start = -(-taken // 16) * 16
        total = start + (self._bins + 1) * self._edge.itemsize
        if total > _SHARED:
            return f"{self._known}  const {kind}* edges = given;\n", taken
        return (
            f"{self._known}  {kind}* edges = ({kind}*)((char*)shared + {self.param(start)});\n"
            f"  for (int k = threadIdx.x; k <= {self.bins}; k += {THREADS}) edges[k] = given[k];\n  __syncthreads();\n"
        ), total

    def _blocks(self) -> int:
        """How many blocks go through the elements."""
        return max(1, min(_MOST_BLOCKS, -(-self._count // (THREADS * _AT_ONCE)), self._count // self._bins))

    def _counted(self, pointers: list[str], load: str, bin_of: str) -> Program:
        size = self._bins * 4
        if size > _SHARED:
            self._clear()
            body = f"{self._edges(_SHARED)[0]}  count_in_memory(out, {self._n}, {load},\n    {bin_of});"
            self.entry("count", body, min(_MOST_BLOCKS, -(-self._count // (THREADS * _AT_ONCE))))
            return self.program(pointers, head=HEAD)
        copies = _MOST_COPIES
        while copies > 1 and copies * size > _COUNTERS:
            copies //= 2
        edges, shared = self._edges(copies * size)
        blocks = self._blocks()
        if blocks > 1:
            self._clear()
        body = (
            f"  extern __shared__ unsigned long long shared[];\n{edges}"
            f"  count_in_blocks(out, (unsigned*)shared, {self._n}, {self.bins}, {self.param(copies)}, {load},\n"
            f"    {bin_of});"
        )
        self.entry("count", body, blocks, shared=shared)
        return self.program(pointers, head=HEAD)

    def _summed(self, pointers: list[str], load: str, bin_of: str, weight: str, size: int) -> Program:
        """By every warp."""
        edges, shared = self._edges(size)
        blocks = self._blocks()
        body = (
            f"  extern __shared__ unsigned long long shared[];\n{edges}"
            f"  sum_in_warps(partial, (f64*)shared, {self._n}, {self.bins}, {load},\n    {bin_of},\n    {weight});"
        )
        self.entry("sum", body, blocks, shared=shared)
        self.entry(
            "sum_blocks", f"  sum_partial(out, partial, {self.param(blocks)}, {self.bins});", self._teams(self._bins)
        )
        return self.program(pointers, [("f64* partial", blocks * self._bins * 8)], head=HEAD)

    def _sorted(self, pointers: list[str], bin_of: str, value: str) -> Program:
        """After a sort by bin."""
        key, size = ("unsigned", 4) if max(self._count, self._bins + 1) < 2**31 else ("unsigned long long", 8)
        # Elements in no bin come after all others.
        find = f"const long long b = ({bin_of})(x[i]);\n    keys0[i] = Key(b < 0 ? {self.bins} : b);"
        body = f"{self._edges(_SHARED)[0]}    {find}"
        self.each("find", "i", self._count, self._n, body)
        here = sort_pairs(self, self._count, self._n, self._bins)
        runs = self._count // _RUN
        weight = f"[=](long long s) -> f64 {{ const long long i = places{here}[s]; return {value}; }}"
        if runs:
            self.entry("add_runs", f"  sum_runs(runs, {self.param(runs)}, {weight});", self._teams(runs))
        body = f"  sum_bins(out, keys{here}, runs, {self._n}, {self.bins}, {weight});"
        self.entry("add_bins", body, self._teams(self._bins))
        scratch = [*pairs_scratch(self._count, size), ("f64* runs", max(1, runs) * 8)]
        return self.program(pointers, scratch, head=f"typedef {key} Key;\n{SORT}\n{HEAD}")

    def _teams(self, count: int) -> int:
        """The blocks for a warp each."""
        return min(1 << 16, -(-count // _WARPS))
