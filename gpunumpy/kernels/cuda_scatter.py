"""Indexed writes on a GPU: ``out[indices] = value``, the last of several duplicates winning, and ``ufunc.at``.

The indices and the value are read where they are, broadcast by strides. Indices out of bounds write nothing and are
reported. Duplicates are settled in a way that gives the same bits every time.

For an assignment, every index tuple bids for its cell with its position, and the highest bid writes. For ``ufunc.at``,
the tuples are sorted by cell, equal ones in order, and one thread a cell and column applies them one after the other,
which is the order of NumPy's loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

from ..core.dtypes import C_TYPE
from ..core.layout import Layout, broadcast_shapes, broadcast_strides
from . import table
from .codegen.program import Launch, Program, Scratch

_THREADS = 256
_MOST_BLOCKS = 1 << 16
_SHARE, _RADIX = 4096, 256  # as in scatter.cuh


def scatter(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """An indexed write; the arguments are the array written, the value, the indices, and the number of the site."""
    count, row, shape = options
    writer = _Writer(shape[:count], shape[count:], layouts[1], layouts[2 : 2 + count], dtypes)
    if not writer.tuples * writer.columns:
        return Program("", (), (), False, ())
    return writer.apply(row) if row else writer.assign()


class _Writer:
    """The text of one indexed write while it grows; what depends on sizes is a parameter."""

    def __init__(
        self,
        sizes: tuple[int, ...],
        row: tuple[int, ...],
        value: Layout,
        indices: Sequence[Layout],
        dtypes: Sequence[Any],
    ) -> None:
        self._dtypes = dtypes
        self._params: list[int] = []
        self._entries: list[tuple[str, str]] = []
        self._launches: list[Launch] = []
        self._indices = len(indices)
        tuples = broadcast_shapes(*(index.shape for index in indices))
        self.tuples, self.columns, self.cells = prod(tuples), prod(row), prod(sizes)
        self._n, self._width, self._end = map(self._param, (self.tuples, self.columns, self.cells))
        self._find = self._finding(tuples, sizes, indices)
        self._load = self._loading((*tuples, *row), value)

    # The text

    def _param(self, value: int) -> str:
        self._params.append(value)
        return f"p{len(self._params) - 1}"

    def _split(self, name: str, shape: Sequence[int]) -> str:
        """Take the position `name` over `shape` apart into ``x0``, ``x1``, ..."""
        text = f"long long rest = {name};"
        for axis in range(len(shape) - 1, 0, -1):
            size = self._param(shape[axis])
            text += f" const long long x{axis} = rest % {size}; rest /= {size};"
        return text + (" const long long x0 = rest;" if shape else "")

    def _offset(self, where: Layout, shape: tuple[int, ...]) -> str:
        strides = broadcast_strides(where.shape, where.strides, shape)
        terms = [f"x{axis} * {self._param(s)}" for axis, s in enumerate(strides) if s]
        return " + ".join((self._param(where.offset), *terms))

    def _finding(self, tuples: tuple[int, ...], sizes: Sequence[int], indices: Sequence[Layout]) -> str:
        """Find the `cell` of index tuple `t`; -1 if it is out of bounds."""
        text = f"long long cell = 0; {{ {self._split('t', tuples)} bool inside = true;\n"
        for k, (size, where) in enumerate(zip(sizes, indices, strict=True)):
            n = self._param(size)
            text += f"    long long j{k} = i{k}[{self._offset(where, tuples)}]; if (j{k} < 0) j{k} += {n};\n"
            text += f"    inside = inside && j{k} >= 0 && j{k} < {n}; cell = cell * {n} + j{k};\n"
        return text + "    if (!inside) { cell = -1; atomicCAS(flag, 0, (int)site); } }"

    def _loading(self, shape: tuple[int, ...], where: Layout) -> str:
        """Load the value `given` for column `c` of index tuple `t`."""
        position = f"t * {self._width} + c"
        return f"{self._split(position, shape)} const auto given = value[{self._offset(where, shape)}];"

    def _entry(self, name: str, body: str, blocks: int, threads: int = _THREADS) -> None:
        self._entries.append((name, body))
        self._launches.append(Launch(name, (blocks, 1, 1), (threads, 1, 1)))

    def _each(self, name: str, variable: str, count: int, total: str, body: str) -> None:
        """An entry that does `body` for every value of `variable` below `total`."""
        start = f"(long long)blockIdx.x * {_THREADS} + threadIdx.x"
        step = f"(long long)gridDim.x * {_THREADS}"
        text = (
            f"  for (long long {variable} = {start}; {variable} < {total}; {variable} += {step}) {{\n    {body}\n  }}"
        )
        self._entry(name, text, min(_MOST_BLOCKS, -(-count // _THREADS)))

    def _program(self, head: str, scratch: str, sizes: Sequence[int]) -> Program:
        out, given = (C_TYPE[dtype] for dtype in self._dtypes[:2])
        pointers = "".join(f"const long long* i{k}, " for k in range(self._indices))
        params = ", ".join(f"long long p{k}" for k in range(len(self._params)))
        parameters = f"{out}* out, const {given}* value, {pointers}long long site, {scratch}, int* flag, {params}"
        entries = "\n".join(
            f'extern "C" __global__ void {name}({parameters}) {{\n{body}\n}}' for name, body in self._entries
        )
        blocks = tuple(Scratch(size) for size in sizes)
        return Program(f"{head}\n{entries}\n", tuple(self._launches), blocks, True, tuple(self._params))

    # The two ways

    def assign(self) -> Program:
        """The last of several duplicates wins."""
        bid, size = ("int", 4) if self.tuples < 2**31 else ("long long", 8)
        n, width = self._n, self._width
        self._each("clear", "t", self.tuples, n, f"{self._find}\n    if (cell >= 0) bids[cell] = -1;")
        self._each("bid", "t", self.tuples, n, f"{self._find}\n    if (cell >= 0) atomicMax(bids + cell, ({bid})t);")
        write = (
            f"const long long t = e / {width}, c = e % {width};\n    {self._find}\n"
            f"    if (cell >= 0 && bids[cell] == t) {{ {self._load} out[cell * {width} + c] = given; }}"
        )
        self._each("write", "e", self.tuples * self.columns, f"{n} * {width}", write)
        return self._program(table.helpers(()), f"{bid}* bids", (self.cells * size,))

    def apply(self, row: str) -> Program:
        """``row.at``: every tuple in its turn."""
        n, width = self._n, self._width
        key, size = ("unsigned", 4) if max(self.tuples, self.cells + 1) < 2**31 else ("unsigned long long", 8)
        blocks = -(-self.tuples // _SHARE)
        # Tuples out of bounds go to a cell after the last one.
        self._each("find", "t", self.tuples, n, f"{self._find}\n    keys0[t] = cell < 0 ? {self._end} : cell;")
        here, there = 0, 1
        for turn in range(-(-self.cells.bit_length() // 8)):
            shift = 8 * turn
            self._entry(f"count{turn}", f"  count_digits(keys{here}, counts, {n}, {shift});", blocks)
            self._entry(f"sum{turn}", f"  sum_counts(counts, {self._param(_RADIX * blocks)});", 1, 1024)
            source = f"places{here}" if turn else "(const Key*)0"
            moved = f"keys{here}, {source}, keys{there}, places{there}, counts, {n}, {shift}"
            self._entry(f"move{turn}", f"  move_pairs({moved});", blocks)
            here, there = there, here
        application, helpers = self._application(row)
        body = (
            f"long long s = e / {width}; const long long c = e % {width}; const Key cell = keys{here}[s];\n"
            f"    if (cell >= {self._end} || (s > 0 && keys{here}[s - 1] == cell)) continue;\n"
            f"    {C_TYPE[self._dtypes[0]]} state = out[cell * {width} + c];\n"
            f"    for (; s < {n} && keys{here}[s] == cell; ++s) {{\n"
            f"      const long long t = places{here}[s]; {self._load}\n      {application}\n    }}\n"
            f"    out[cell * {width} + c] = state;"
        )
        self._each("apply", "e", self.tuples * self.columns, f"{n} * {width}", body)
        sort = (Path(__file__).parent / "scatter.cuh").read_text(encoding="utf-8")
        names = ("keys0", "places0", "keys1", "places1", "counts")
        pairs = self.tuples * size
        return self._program(
            f"{helpers}\ntypedef {key} Key;\n{sort}",
            ", ".join(f"Key* {name}" for name in names),
            (pairs, pairs, pairs, pairs, _RADIX * blocks * size),
        )

    def _application(self, row: str) -> tuple[str, str]:
        """One application of the row to `state` and `given`, and the helpers for it."""
        mine, other = self._dtypes[:2]
        count = len(table.loops(row)[0]) - 1
        loop = table.resolve(row, (mine, other)[:count])
        used: list[tuple[str, Any]] = [(row, loop)]
        text = ""
        for k, (name, have, want) in enumerate(zip(("state", "given"), (mine, other), loop[:-1], strict=False)):
            text += f"const {C_TYPE[want]} a{k} = {self._cast(name, have, want, used)}; "
        result = table.expression(row, loop, [f"a{k}" for k in range(count)])
        text += f"const {C_TYPE[loop[-1]]} r = {result}; state = {self._cast('r', loop[-1], mine, used)};"
        return text, table.helpers(used)

    def _cast(self, name: str, have: Any, want: Any, used: list[tuple[str, Any]]) -> str:
        if have == want:
            return name
        used.append(("cast", (have, want)))
        return table.expression("cast", (have, want), [name])
