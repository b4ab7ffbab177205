"""Counts and sums of weights by bin on a GPU: `bincount`, and histograms, whose kernels find the bins themselves.

Counts are integers, so that atomic additions in any order give the same result. They are kept in shared memory if the
bins fit, else in the result's memory. Weights are added in a fixed order: with few bins each warp has its own sums,
which are combined at the end; with many the elements are sorted by bin first.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.dtypes import BOOL, C_TYPE, FLOAT64, INT64
from ...core.graph.layout import Layout
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.program_builder import EMPTY_PROGRAM, THREADS, ProgramBuilder, pointer_declaration
from ..indexing.cuda_scatter import SORT_PAIRS, pairs_scratch, sort_pairs
from ..search.cuda import SEARCH

_SOURCE = f"{SEARCH}\n{source('histogram/histogram')}"

_MAX_SHARED_BYTES = 48 << 10  # of a block
_MAX_COUNTER_BYTES = 24 << 10  # of counters, if a bin has several
_MAX_COPIES = 32  # counters of one bin
_BLOCK_WARPS, _LOADS_AT_ONCE, _RUN_ELEMENTS = THREADS // 32, 8, 1024  # as in histogram.cuh
_MAX_BLOCKS = 1056  # eight for each multiprocessor of the largest GPUs


def bincount(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program that counts integers by value, or sums their weights; integers beyond the bins do not count."""
    _, x, *weights = layouts
    text = _Bins(layouts[0].shape[0], prod(x.shape), dtypes[1], dtypes[2] if weights else None)
    find = f"const long long b = (long long)v; return (u64)b < (u64){text.bins} ? b : -1;"
    return text.finish([pointer_declaration(dtypes[1], "x")], find)


def histogram(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program that counts values by bin, or sums their weights.

    The arguments are the values, the edges, for uniform bins the range from the first edge to the last in the dtype to
    divide in, and the weights, if any. The options are whether the bins are uniform, and the least and the greatest
    integer that count, or None: the edges' dtype may be unable to represent such limits.
    """
    uniform, limits = options
    rest = dtypes[4 if uniform else 3 :]
    text = _Bins(layouts[0].shape[0], prod(layouts[1].shape), dtypes[1], rest[0] if rest else None, dtypes[2])
    pointers = [pointer_declaration(dtypes[1], "x"), pointer_declaration(dtypes[2], "all_edges")]
    if not uniform:
        return text.finish(pointers, text.search_bin())
    return text.finish([*pointers, pointer_declaration(dtypes[3], "width")], text.compute_bin(dtypes[3], limits))


class _Bins(ProgramBuilder):
    """Builder of a program that counts elements, or sums weights, by bin."""

    def __init__(self, bins: int, count: int, dtype: Any, weight: Any, edge: Any = None) -> None:
        super().__init__()
        self._bins, self._count, self._dtype, self._weight, self._edge = bins, count, dtype, weight, edge
        self.bins, self._n = self.param(bins), self.param(count)
        self._declarations = ""  # C++ that runs before the loop over elements

    # C++ that finds the bin of an element

    def search_bin(self) -> str:
        """Return C++ that finds the bin of `v` among the edges; the last edge is inside the last bin."""
        return (
            f"const {C_TYPE[self._edge]} e = {self.cast('v', self._dtype, self._edge)};\n"
            f"      const long long found = count_passed<true>(edges, {self.bins} + 1, e);\n"
            f"      if (found <= {self.bins}) return found - 1;\n"
            f"      return before(edges[{self.bins}], e) ? -1 : {self.bins} - 1;"
        )

    def compute_bin(self, division_dtype: Any, limits: tuple[int, int] | None) -> str:
        """Return C++ that computes the bin of `v` for uniform bins, and corrects it by the edges, as NumPy does."""
        edge, dtype = self._edge, self._dtype
        self._declarations = (
            f"  const {C_TYPE[edge]} low = all_edges[0], high = all_edges[{self.bins}];\n"
            f"  const {C_TYPE[division_dtype]} span = width[0];\n"
        )
        if limits:
            bounds = [f"({C_TYPE[dtype]}){self.param(k if k < 2**63 else k - 2**64)}" for k in limits]
            is_inside = f"v >= {bounds[0]} && v <= {bounds[1]}"
        else:
            is_inside = f"{self._compare('greater_equal', 'e', 'low')} && {self._compare('less_equal', 'e', 'high')}"
        from_first = self.cast(self.apply("subtract", (edge, edge, edge), ["e", "low"]), edge, division_dtype)
        loop = (division_dtype,) * 3
        share = self.apply("divide", loop, [from_first, "span"])
        bin_number = self.apply("multiply", loop, [share, self.cast(self.bins, INT64, division_dtype)])
        return (
            f"const {C_TYPE[edge]} e = {self.cast('v', dtype, edge)};\n"
            f"      if (!({is_inside})) return -1;\n"
            f"      long long b = {self.cast(bin_number, division_dtype, INT64)};\n"
            f"      b = b < 0 ? 0 : b < {self.bins} ? b : {self.bins} - 1;\n"
            f"      if ({self._compare('less', 'e', 'edges[b]')}) return b - 1;\n"
            f"      return b + ({self._compare('greater_equal', 'e', 'edges[b + 1]')} && b != {self.bins} - 1);"
        )

    def _compare(self, op: str, a: str, b: str) -> str:
        return self.apply(op, (self._edge, self._edge, BOOL), [a, b])

    # programs

    def finish(self, pointers: Sequence[str], find: str) -> Program:
        """Return the program; `find` is the body of a C++ function of an element `v` that returns its bin, or -1."""
        out = pointer_declaration(INT64 if self._weight is None else FLOAT64, "out", "")
        pointers = [out, *pointers]
        if self._weight is not None:
            pointers.append(pointer_declaration(self._weight, "weights"))
        if not self._bins:
            return EMPTY_PROGRAM
        if not self._count:
            self._add_clear()
            return self.build(pointers)
        load = "[=](long long i) { return x[i]; }"
        bin_of = f"[=]({C_TYPE[self._dtype]} v) -> long long {{\n      {find}\n    }}"
        if self._weight is None:
            return self._count_bins(pointers, load, bin_of)
        value = self.cast("weights[i]", self._weight, FLOAT64)
        weight = f"[=](long long i) -> f64 {{ return {value}; }}"
        sum_bytes = self._bins * _BLOCK_WARPS * FLOAT64.itemsize
        if sum_bytes <= _MAX_SHARED_BYTES:
            return self._sum_by_warp(pointers, load, bin_of, weight, sum_bytes)
        return self._sum_sorted(pointers, bin_of, value)

    def _add_clear(self) -> None:
        """Add an entry that clears the result."""
        self.add_loop_entry("clear", "b", self._bins, self.bins, "out[b] = 0;")

    def _declare_edges(self, used: int) -> tuple[str, int]:
        """Return C++ that declares `edges`, and the shared memory then used.

        The edges are copied to shared memory after the `used` bytes if they fit, else they are read where they are.
        """
        if self._edge is None:
            return "", used
        ctype = C_TYPE[self._edge]
        start = -(-used // 16) * 16
        total = start + (self._bins + 1) * self._edge.itemsize
        if total > _MAX_SHARED_BYTES:
            return f"{self._declarations}  const {ctype}* edges = all_edges;\n", used
        return (
            f"{self._declarations}  {ctype}* edges = ({ctype}*)((char*)shared + {self.param(start)});\n"
            f"  for (int k = threadIdx.x; k <= {self.bins}; k += {THREADS}) edges[k] = all_edges[k];\n"
            "  __syncthreads();\n"
        ), total

    def _block_count(self) -> int:
        """Return how many blocks share the elements: a block counts at least as many elements as it writes bins."""
        return max(1, min(_MAX_BLOCKS, -(-self._count // (THREADS * _LOADS_AT_ONCE)), self._count // self._bins))

    def _count_bins(self, pointers: list[str], load: str, bin_of: str) -> Program:
        """Return a program that counts, in shared memory if the bins fit."""
        size = self._bins * 4
        if size > _MAX_SHARED_BYTES:
            self._add_clear()
            edges, _ = self._declare_edges(_MAX_SHARED_BYTES)
            body = f"{edges}  count_in_memory(out, {self._n}, {load},\n    {bin_of});"
            self.add_entry("count", body, min(_MAX_BLOCKS, -(-self._count // (THREADS * _LOADS_AT_ONCE))))
            return self.build(pointers, head=_SOURCE)
        copies = _MAX_COPIES
        while copies > 1 and copies * size > _MAX_COUNTER_BYTES:
            copies //= 2
        edges, shared = self._declare_edges(copies * size)
        blocks = self._block_count()
        if blocks > 1:
            self._add_clear()
        body = (
            f"  extern __shared__ unsigned long long shared[];\n{edges}"
            f"  count_in_blocks(out, (unsigned*)shared, {self._n}, {self.bins}, {self.param(copies)}, {load},\n"
            f"    {bin_of});"
        )
        self.add_entry("count", body, blocks, shared=shared)
        return self.build(pointers, head=_SOURCE)

    def _sum_by_warp(self, pointers: list[str], load: str, bin_of: str, weight: str, size: int) -> Program:
        """Return a program in which each warp sums weights in shared memory, and the sums are combined."""
        edges, shared = self._declare_edges(size)
        blocks = self._block_count()
        body = (
            f"  extern __shared__ unsigned long long shared[];\n{edges}"
            f"  sum_in_warps(partial, (f64*)shared, {self._n}, {self.bins}, {load},\n    {bin_of},\n    {weight});"
        )
        self.add_entry("sum", body, blocks, shared=shared)
        body = f"  sum_partial(out, partial, {self.param(blocks)}, {self.bins});"
        self.add_entry("sum_blocks", body, self._warp_blocks(self._bins))
        return self.build(pointers, [("f64* partial", blocks * self._bins * 8)], head=_SOURCE)

    def _sum_sorted(self, pointers: list[str], bin_of: str, value: str) -> Program:
        """Return a program that sorts the elements by bin, and sums the weights of each bin in order."""
        key, size = ("unsigned", 4) if max(self._count, self._bins + 1) < 2**31 else ("unsigned long long", 8)
        # Elements outside all bins are sorted to the end.
        find_keys = f"const long long b = ({bin_of})(x[i]);\n    keys0[i] = Key(b < 0 ? {self.bins} : b);"
        body = f"{self._declare_edges(_MAX_SHARED_BYTES)[0]}    {find_keys}"
        self.add_loop_entry("find_keys", "i", self._count, self._n, body)
        buffer = sort_pairs(self, self._count, self._n, self._bins)
        runs = self._count // _RUN_ELEMENTS
        weight = f"[=](long long s) -> f64 {{ const long long i = places{buffer}[s]; return {value}; }}"
        if runs:
            self.add_entry("add_runs", f"  sum_runs(runs, {self.param(runs)}, {weight});", self._warp_blocks(runs))
        body = f"  sum_bins(out, keys{buffer}, runs, {self._n}, {self.bins}, {weight});"
        self.add_entry("add_bins", body, self._warp_blocks(self._bins))
        scratch = [*pairs_scratch(self._count, size), ("f64* runs", max(1, runs) * 8)]
        return self.build(pointers, scratch, head=f"typedef {key} Key;\n{SORT_PAIRS}\n{_SOURCE}")

    def _warp_blocks(self, count: int) -> int:
        """Return how many blocks give each of `count` sums a warp."""
        return min(1 << 16, -(-count // _BLOCK_WARPS))
