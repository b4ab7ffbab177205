"""Indexed writes on a GPU: ``out[indices] = value``, the last of several duplicates winning, and ``ufunc.at``.

The indices and the value are read where they are, broadcast by strides. Indices out of bounds write nothing and are
reported. Duplicates are resolved so that the result has the same bits every time.

For an assignment every index tuple bids for its cell with its position, and the highest bid writes, unless duplicates
are known to write equal values. For ``ufunc.at`` the tuples are sorted by cell, stably, and one thread for each cell
and column applies them one after the other, in the order of NumPy's loop; a warp does, where they are many and columns
are few. Where the result does not depend on the order they are applied in any (`cuda_unordered`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.dtypes import C_TYPE, INT64
from ...core.graph.layout import Layout, broadcast_shapes
from ...core.graph.library_calls.elements import EQUAL_VALUES
from ...core.ops import table
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.program_builder import EMPTY_PROGRAM, ProgramBuilder, pointer_declaration
from .cuda_unordered import UNORDERED, unordered_application

SORT_PAIRS = source("indexing/scatter")
RUNS = source("indexing/runs")
_SHARE_PAIRS, _RADIX = 4096, 256  # as in scatter.cuh
_CELLS_PER_TUPLE = 8  # up to which it takes less time to write to all cells in order than to those of the tuples


def sort_pairs(builder: ProgramBuilder, count: int, n: str, largest: int) -> int:
    """Add entries that sort the keys in `keys0` with their positions; return the k of ``keys{k}, places{k}`` with them.

    `n` is the name of the count. The text needs `SORT_PAIRS`, a type `Key` and the memory of `pairs_scratch`.
    """
    blocks, buffer = -(-count // _SHARE_PAIRS), 0
    block_count = builder.param(blocks)
    for digit in range(-(-largest.bit_length() // 8)):
        shift = 8 * digit
        builder.add_entry(f"count{digit}", f"  count_digits(keys{buffer}, counts, {n}, {shift});", blocks)
        builder.add_entry(f"total{digit}", f"  sum_digits(counts, totals, {block_count});", _RADIX)
        builder.add_entry(f"sum{digit}", f"  sum_counts(counts, totals, {block_count});", _RADIX)
        positions = f"places{buffer}" if digit else "(const Key*)0"
        moved = f"keys{buffer}, {positions}, keys{1 - buffer}, places{1 - buffer}, counts, {n}, {shift}"
        builder.add_entry(f"move{digit}", f"  move_pairs({moved});", blocks)
        buffer = 1 - buffer
    return buffer


def pairs_scratch(count: int, size: int) -> list[tuple[str, int]]:
    """Return the scratch memory that `sort_pairs` needs for keys of a size in bytes."""
    pairs = [(f"Key* {name}", count * size) for name in ("keys0", "places0", "keys1", "places1")]
    return [*pairs, ("Key* counts", _RADIX * -(-count // _SHARE_PAIRS) * size), ("Key* totals", _RADIX * size)]


def scatter(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program for an indexed write, over the array, the value, the indices and the source location."""
    count, op, shape = options
    writer = _Writer(shape[:count], shape[count:], layouts[1], layouts[2 : 2 + count], dtypes)
    if not writer.tuples * writer.columns:
        return EMPTY_PROGRAM
    if op == EQUAL_VALUES:
        return writer.assign_equal_values()
    return writer.at(op) if op else writer.assign()


def sized_scatter(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program | None:
    """Return the same for symbolic sizes; None for a write of several launches, which depend on more."""
    _, op, _ = options
    return scatter(options, layouts, dtypes) if op == EQUAL_VALUES else None


class _Writer(ProgramBuilder):
    """Builder of a program for one indexed write."""

    def __init__(
        self,
        sizes: tuple[int, ...],
        cell_shape: tuple[int, ...],
        value: Layout,
        indices: Sequence[Layout],
        dtypes: Sequence[Any],
    ) -> None:
        super().__init__()
        self._dtypes = dtypes
        self.require_types(*dtypes)
        self._pointers = [
            pointer_declaration(dtypes[0], "out", ""),
            pointer_declaration(dtypes[1], "value"),
            *(pointer_declaration(INT64, f"i{k}") for k in range(len(indices))),
            "long long source_location",
        ]
        tuples = broadcast_shapes(*(index.shape for index in indices))
        self.tuples, self.columns, self.cells = prod(tuples), prod(cell_shape), prod(sizes)
        self._n, self._width, self._end = map(self.param, (self.tuples, self.columns, self.cells))
        self._find = self._finding(tuples, sizes, indices)
        self._load = self._loading((*tuples, *cell_shape), value)

    def _finding(self, tuples: tuple[int, ...], sizes: Sequence[int], indices: Sequence[Layout]) -> str:
        """Return C++ that finds the `cell` of index tuple `t`, or -1 and reports it if it is out of bounds."""
        text = f"long long cell = 0; {{ {self.unravel('t', tuples)} bool is_inside = true;\n"
        for k, (size, layout) in enumerate(zip(sizes, indices, strict=True)):
            n = self.param(size)
            text += f"    long long j{k} = i{k}[{self.offset(layout, tuples)}]; if (j{k} < 0) j{k} += {n};\n"
            text += f"    is_inside = is_inside && j{k} >= 0 && j{k} < {n}; cell = cell * {n} + j{k};\n"
        return text + "    if (!is_inside) { cell = -1; atomicCAS(flag, 0, (int)source_location); } }"

    def _loading(self, shape: tuple[int, ...], layout: Layout) -> str:
        """Return C++ that loads the value `given` for column `c` of index tuple `t`."""
        position = f"t * {self._width} + c"
        return f"{self.unravel(position, shape)} const auto given = value[{self.offset(layout, shape)}];"

    def _write(self, condition: str, body: str) -> None:
        """Add an entry that runs `body` for every element whose cell is inside the array, if a condition holds."""
        text = (
            f"const long long t = e / {self._width}, c = e % {self._width};\n    {self._find}\n"
            f"    if (cell >= 0{condition}) {{\n      {self._load}\n      {body}\n    }}"
        )
        self.add_loop_entry("write", "e", self.tuples * self.columns, f"{self._n} * {self._width}", text)

    def assign(self) -> Program:
        """Return a program for an assignment: the last of several duplicates wins."""
        bid, size = ("int", 4) if self.tuples < 2**31 else ("long long", 8)
        n = self._n
        if self.cells <= _CELLS_PER_TUPLE * self.tuples:
            self.add_loop_entry("clear", "cell", self.cells, self._end, "bids[cell] = -1;")
        else:
            self.add_loop_entry("clear", "t", self.tuples, n, f"{self._find}\n    if (cell >= 0) bids[cell] = -1;")
        self.add_loop_entry(
            "bid", "t", self.tuples, n, f"{self._find}\n    if (cell >= 0) atomicMax(bids + cell, ({bid})t);"
        )
        self._write(" && bids[cell] == t", f"out[cell * {self._width} + c] = given;")
        return self.build(self._pointers, [(f"{bid}* bids", self.cells * size)], flag=True)

    def assign_equal_values(self) -> Program:
        """Return a program for an assignment whose duplicates write the same."""
        self._write("", f"out[cell * {self._width} + c] = given;")
        return self.build(self._pointers, flag=True)

    def at(self, op: str) -> Program:
        """Return a program for ``op.at``: each tuple is applied, with the result of the order of NumPy's loop."""
        dtype, value_dtype = self._dtypes[:2]
        count = len(table.loops(op)[0]) - 1
        loop = table.resolve(op, (dtype, value_dtype)[:count])
        application = unordered_application(self, op, dtype, loop)
        if application is None:
            return self._in_order(op, loop)
        operand = f"const {C_TYPE[dtype]} other = {self.cast('given', value_dtype, dtype)};"
        place = f"{C_TYPE[dtype]}* place = out + cell * {self._width} + c;"
        self._write("", f"{operand} {place}\n      {application}")
        return self.build(self._pointers, flag=True, head=UNORDERED)

    def _in_order(self, op: str, loop: tuple[Any, ...]) -> Program:
        """Return a program that applies the tuples of a cell in order."""
        n, width = self._n, self._width
        key, size = ("unsigned", 4) if max(self.tuples, self.cells + 1) < 2**31 else ("unsigned long long", 8)
        # Tuples out of bounds get a cell after the last.
        self.add_loop_entry("find", "t", self.tuples, n, f"{self._find}\n    keys0[t] = cell < 0 ? {self._end} : cell;")
        buffer = sort_pairs(self, self.tuples, n, self.cells)
        keys, places, state = f"keys{buffer}", f"places{buffer}", C_TYPE[self._dtypes[0]]
        element, application = f"out[cell * {width} + c]", self._application(op, loop)
        value, total = C_TYPE[self._dtypes[1]], f"{n} * {width}"
        # All threads of a warp go round together, as the shared runs ask.
        body = (
            f"const int lane = threadIdx.x % 32; long long s = e / {width}, c = e % {width}; Key cell = 0;\n"
            f"    bool begins = e < {total};\n"
            f"    if (begins) {{ cell = {keys}[s]; begins = cell < {self._end} && (!s || {keys}[s - 1] != cell); }}\n"
            f"    const bool is_long = begins && {width} < 32 && s + LONG_RUN < {n} && {keys}[s + LONG_RUN] == cell;\n"
            f"    if (begins && !is_long) {{\n      {state} state = {element};\n"
            f"      for (; s < {n} && {keys}[s] == cell; ++s) {{\n"
            f"        const long long t = {places}[s]; {self._load}\n        {application}\n      }}\n"
            f"      {element} = state;\n    }}\n"
            f"    __shared__ {value} taken[WARPS][RUN_PART];\n"
            f"    for (unsigned owners = __ballot_sync(0xffffffffu, is_long); owners; owners &= owners - 1) {{\n"
            f"      const int owner = __ffs(owners) - 1; const Key its = __shfl_sync(0xffffffffu, cell, owner);\n"
            f"      const Run run = {{__shfl_sync(0xffffffffu, s, owner), {n}, its}};\n"
            f"      const long long column = __shfl_sync(0xffffffffu, c, owner);\n"
            f"      {state} state = out[run.cell * {width} + column];\n"
            f"      apply_run(run, {keys}, {places}, taken[threadIdx.x / 32],\n"
            f"          [&](long long t) {{ const long long c = column; {self._load} return given; }},\n"
            f"          [&]({value} given) {{ {application} }});\n"
            f"      if (lane == owner) out[run.cell * {width} + column] = state;\n    }}"
        )
        self.add_loop_entry("apply", "e", self.tuples * self.columns, f"({total} + 31) / 32 * 32", body)
        scratch = pairs_scratch(self.tuples, size)
        return self.build(self._pointers, scratch, flag=True, head=f"typedef {key} Key;\n{SORT_PAIRS}{RUNS}")

    def _application(self, op: str, loop: tuple[Any, ...]) -> str:
        """Return C++ that applies the op to `state` and `given`."""
        dtype, value_dtype = self._dtypes[:2]
        text = ""
        for k, (name, have, want) in enumerate(zip(("state", "given"), (dtype, value_dtype), loop[:-1], strict=False)):
            text += f"const {C_TYPE[want]} a{k} = {self.cast(name, have, want)}; "
        result = self.apply(op, loop, [f"a{k}" for k in range(len(loop) - 1)])
        return text + f"const {C_TYPE[loop[-1]]} r = {result}; state = {self.cast('r', loop[-1], dtype)};"
