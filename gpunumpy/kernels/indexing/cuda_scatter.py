"""Indexed writes on a GPU: ``out[indices] = value``, the last of several duplicates winning, and ``ufunc.at``.

The indices and the value are read where they are, broadcast by strides. Indices out of bounds write nothing and are
reported. Duplicates are settled in a way that gives the same bits every time.

For an assignment, every index tuple bids for its cell with its position, and the highest bid writes. For ``ufunc.at``,
the tuples are sorted by cell, equal ones in order, and one thread a cell and column applies them one after the other,
which is the order of NumPy's loop; where the order does not show, they are applied as they come.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.dtypes import C_TYPE, INT64
from ...core.graph.layout import Layout, broadcast_shapes
from ...core.ops import table
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.routine import NOTHING, Routine, pointer
from .cuda_unordered import HEAD, unordered

SORT = source("indexing/scatter")
_SHARE, _RADIX = 4096, 256  # as in scatter.cuh


def sort_pairs(text: Routine, count: int, n: str, largest: int) -> int:
    """Entries that sort the keys in `keys0` and their positions; returns the k of ``keys{k}, places{k}`` that has them.

    `n` is the parameter that has the count. The text needs `SORT`, a type `Key` and the memory of `pairs_scratch`.
    """
    blocks, here = -(-count // _SHARE), 0
    counted = text.param(blocks)
    for turn in range(-(-largest.bit_length() // 8)):
        shift = 8 * turn
        text.entry(f"count{turn}", f"  count_digits(keys{here}, counts, {n}, {shift});", blocks)
        text.entry(f"total{turn}", f"  sum_digits(counts, totals, {counted});", _RADIX)
        text.entry(f"sum{turn}", f"  sum_counts(counts, totals, {counted});", _RADIX)
        source = f"places{here}" if turn else "(const Key*)0"
        moved = f"keys{here}, {source}, keys{1 - here}, places{1 - here}, counts, {n}, {shift}"
        text.entry(f"move{turn}", f"  move_pairs({moved});", blocks)
        here = 1 - here
    return here


def pairs_scratch(count: int, size: int) -> list[tuple[str, int]]:
    """The memory that `sort_pairs` needs for keys of a size."""
    pairs = [(f"Key* {name}", count * size) for name in ("keys0", "places0", "keys1", "places1")]
    return [*pairs, ("Key* counts", _RADIX * -(-count // _SHARE) * size), ("Key* totals", _RADIX * size)]


def scatter(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """An indexed write; the arguments are the array written, the value, the indices, and the number of the site."""
    count, op, shape = options
    writer = _Writer(shape[:count], shape[count:], layouts[1], layouts[2 : 2 + count], dtypes)
    if not writer.tuples * writer.columns:
        return NOTHING
    return writer.at(op) if op else writer.assign()


class _Writer(Routine):
    """The text of one indexed write while it grows."""

    def __init__(
        self,
        sizes: tuple[int, ...],
        op: tuple[int, ...],
        value: Layout,
        indices: Sequence[Layout],
        dtypes: Sequence[Any],
    ) -> None:
        super().__init__()
        self._dtypes = dtypes
        self._pointers = [
            pointer(dtypes[0], "out", ""),
            pointer(dtypes[1], "value"),
            *(pointer(INT64, f"i{k}") for k in range(len(indices))),
            "long long site",
        ]
        tuples = broadcast_shapes(*(index.shape for index in indices))
        self.tuples, self.columns, self.cells = prod(tuples), prod(op), prod(sizes)
        self._n, self._width, self._end = map(self.param, (self.tuples, self.columns, self.cells))
        self._find = self._finding(tuples, sizes, indices)
        self._load = self._loading((*tuples, *op), value)

    def _finding(self, tuples: tuple[int, ...], sizes: Sequence[int], indices: Sequence[Layout]) -> str:
        """Find the `cell` of index tuple `t`; -1 if it is out of bounds."""
        text = f"long long cell = 0; {{ {self.split('t', tuples)} bool inside = true;\n"
        for k, (size, where) in enumerate(zip(sizes, indices, strict=True)):
            n = self.param(size)
            text += f"    long long j{k} = i{k}[{self.offset(where, tuples)}]; if (j{k} < 0) j{k} += {n};\n"
            text += f"    inside = inside && j{k} >= 0 && j{k} < {n}; cell = cell * {n} + j{k};\n"
        return text + "    if (!inside) { cell = -1; atomicCAS(flag, 0, (int)site); } }"

    def _loading(self, shape: tuple[int, ...], where: Layout) -> str:
        """Load the value `given` for column `c` of index tuple `t`."""
        position = f"t * {self._width} + c"
        return f"{self.split(position, shape)} const auto given = value[{self.offset(where, shape)}];"

    def _write(self, condition: str, body: str) -> None:
        """Do `body` for every element written, if its cell is inside and the condition holds."""
        text = (
            f"const long long t = e / {self._width}, c = e % {self._width};\n    {self._find}\n"
            f"    if (cell >= 0{condition}) {{\n      {self._load}\n      {body}\n    }}"
        )
        self.each("write", "e", self.tuples * self.columns, f"{self._n} * {self._width}", text)

    def assign(self) -> Program:
        """The last of several duplicates wins."""
        bid, size = ("int", 4) if self.tuples < 2**31 else ("long long", 8)
        n = self._n
        self.each("clear", "t", self.tuples, n, f"{self._find}\n    if (cell >= 0) bids[cell] = -1;")
        self.each("bid", "t", self.tuples, n, f"{self._find}\n    if (cell >= 0) atomicMax(bids + cell, ({bid})t);")
        self._write(" && bids[cell] == t", f"out[cell * {self._width} + c] = given;")
        return self.program(self._pointers, [(f"{bid}* bids", self.cells * size)], flag=True)

    def at(self, op: str) -> Program:
        """``row.at``: each tuple counts, in the order that NumPy's loop has."""
        mine, given = self._dtypes[:2]
        count = len(table.loops(op)[0]) - 1
        loop = table.resolve(op, (mine, given)[:count])
        application = unordered(self, op, mine, loop)
        if application is None:
            return self._in_order(op, loop)
        operand = f"const {C_TYPE[mine]} other = {self.cast('given', given, mine)};"
        place = f"{C_TYPE[mine]}* place = out + cell * {self._width} + c;"
        self._write("", f"{operand} {place}\n      {application}")
        return self.program(self._pointers, flag=True, head=HEAD)

    def _in_order(self, op: str, loop: tuple[Any, ...]) -> Program:
        """Every tuple in its turn."""
        n, width = self._n, self._width
        key, size = ("unsigned", 4) if max(self.tuples, self.cells + 1) < 2**31 else ("unsigned long long", 8)
        # Tuples out of bounds go to a cell after the last one.
        self.each("find", "t", self.tuples, n, f"{self._find}\n    keys0[t] = cell < 0 ? {self._end} : cell;")
        here = sort_pairs(self, self.tuples, n, self.cells)
        body = (
            f"long long s = e / {width}; const long long c = e % {width}; const Key cell = keys{here}[s];\n"
            f"    if (cell >= {self._end} || (s > 0 && keys{here}[s - 1] == cell)) continue;\n"
            f"    {C_TYPE[self._dtypes[0]]} state = out[cell * {width} + c];\n"
            f"    for (; s < {n} && keys{here}[s] == cell; ++s) {{\n"
            f"      const long long t = places{here}[s]; {self._load}\n      {self._application(op, loop)}\n    }}\n"
            f"    out[cell * {width} + c] = state;"
        )
        self.each("apply", "e", self.tuples * self.columns, f"{n} * {width}", body)
        scratch = pairs_scratch(self.tuples, size)
        return self.program(self._pointers, scratch, flag=True, head=f"typedef {key} Key;\n{SORT}")

    def _application(self, op: str, loop: tuple[Any, ...]) -> str:
        """One application of the row to `state` and `given`."""
        mine, other = self._dtypes[:2]
        text = ""
        for k, (name, have, want) in enumerate(zip(("state", "given"), (mine, other), loop[:-1], strict=False)):
            text += f"const {C_TYPE[want]} a{k} = {self.cast(name, have, want)}; "
        result = self.apply(op, loop, [f"a{k}" for k in range(len(loop) - 1)])
        return text + f"const {C_TYPE[loop[-1]]} r = {result}; state = {self.cast('r', loop[-1], mine)};"
