"""Python text for the CPU executor: one straight line of NumPy calls over a block of a loop nest.

The text depends on the structure alone; every number, dtype and function is a name bound when the text is run, so nests
of like structure share one compiled code object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from types import CodeType
from typing import Any

import numpy

from ...core.dtypes import DType
from ...core.schedule.kernel import (
    Affine,
    Apply,
    Load,
    LoadIndexed,
    LoopIndex,
    ReduceLoops,
    Scalar,
    ScanLoop,
    Store,
    value_dtypes,
)
from .loop_nest import Nest, along_rows, ancestors, masks, operands
from .op_functions import accumulator, function
from .reduce import reducer


@lru_cache(maxsize=4096)
def _compiled(text: str) -> CodeType:
    return compile(text, "<gpunumpy host kernel>", "exec")


# Indices found out of bounds: the words, and the number of the operation's site. They were clamped; the host hears of
# them when it looks at a result, as it does on a GPU.
failures: list[tuple[str, int]] = []


def _positions(
    base: Any, index: Sequence[Any], dims: Sequence[int], strides: Sequence[int], source_location: int
) -> Any:
    """``base + sum(wrap(index[k], dims[k]) * strides[k])``, with every index inside its dimension."""
    at = base
    for values, n, stride in zip(index, dims, strides, strict=True):
        values = numpy.asarray(values)
        if values.size:
            low, high = values.min(), values.max()
            if low < -n or high >= n:
                bad = low if low < -n else high
                failures.append((f"index {bad} is out of bounds for axis with size {n}", int(source_location)))
                values = values.clip(-n, n - 1)
            if low < 0:
                values = numpy.where(values < 0, values + n, values)
        at = at + values * stride
    return at


def gather(
    source: Any, base: Any, index: Sequence[Any], dims: Sequence[int], strides: Sequence[int], source_location: int
) -> Any:
    """The elements of `source` at the positions that the indices give."""
    # Every position is inside by now; "clip" only spares NumPy its own check.
    return source.take(_positions(base, index, dims, strides, source_location), mode="clip")


def gather_runs(
    source: Any,
    base: Any,
    index: Sequence[Any],
    dims: Sequence[int],
    strides: Sequence[int],
    source_location: int,
    shape: tuple[int, ...],
    steps: tuple[int, ...],
) -> Any:
    """As `gather`, with a run of elements at every position: of that shape, and of those steps in bytes."""
    at = _positions(base, index, dims, strides, source_location)
    unit = source.itemsize
    count = max(0, source.size - sum((n - 1) * step for n, step in zip(shape, steps, strict=True)) // unit)
    runs = numpy.ndarray((count, *shape), source.dtype, source, 0, (unit, *steps))
    found = runs[numpy.reshape(at, -1)]
    return found.reshape(at.shape[: at.ndim - len(shape)] + shape) if at.ndim else found[0]


def gather_run(
    source: Any,
    base: Any,
    index: Sequence[Any],
    dims: Sequence[int],
    strides: Sequence[int],
    source_location: int,
    shape: tuple[int, ...],
    steps: tuple[int, ...],
) -> Any:
    """As `gather_runs` where there is one position, with no copy: a view of `source`."""
    at = base
    for value, n, stride in zip(index, dims, strides):
        i = value.item()
        if not -n <= i < n:
            failures.append((f"index {i} is out of bounds for axis with size {n}", int(source_location)))
            i = 0 if i < 0 else max(0, n - 1)
        at += (i + n if i < 0 else i) * stride
    return numpy.ndarray(shape, source.dtype, source, at * source.itemsize, steps)


def affine_grid(at: Affine, shape: Sequence[int]) -> Any:
    """The int64 values of `at` over a block at the origin, with size 1 where it does not vary."""
    out: Any = None
    start = at.offset
    for d, c in enumerate(at.coef):
        if c:
            line = numpy.arange(start, start + c * shape[d], c, dtype=numpy.int64)
            line = line.reshape([-1 if k == d else 1 for k in range(len(shape))])
            out, start = line if out is None else out + line, 0
    return numpy.full((1,) * len(shape), start, numpy.int64) if out is None else out


# Grids of fewer elements are kept with the text; larger ones are made in every run: many plans would fill the memory.
_KEPT = 4096

# Runs of fewer elements are gathered one by one.
_RUN = 16


@dataclass(slots=True)
class _Slot:
    """A temporary of the block that values take turns in."""

    name: str
    key: tuple[DType, frozenset[int]]


class _Writer:
    """The text of one block of `nest`, of `block` points, whose place varies along the first `blocked` dimensions.

    With `partial`, the block holds a part of its rows: only what is stored along them and what the reductions need is
    computed, and the reductions' states are accumulated over the blocks and returned.
    """

    def __init__(self, nest: Nest, block: tuple[int, ...], blocked: int, partial: bool) -> None:
        self.nest, self.block, self.blocked, self.partial = nest, block, blocked, partial
        self.body = nest.body
        self.written = [s for s in self.body.stores if not partial or along_rows(nest, s)]
        self.axes = tuple(d for d, flag in enumerate(nest.reduced) if flag)
        self.masks = masks(nest)
        # Values of one element a block: NumPy scalars, which are quicker to make and to use than arrays.
        self.single = [all(block[d] == 1 for d in mask) for mask in self.masks]
        self.dtypes = value_dtypes(nest, self.body)  # type: ignore[arg-type]
        self.bound: dict[str, Any] = {"ndarray": numpy.ndarray, "empty": numpy.empty}
        self.bound.update(affine_grid=affine_grid, gather=gather, gather_run=gather_run, gather_runs=gather_runs)
        self.bound["broadcast_to"] = numpy.broadcast_to
        self.known: dict[Any, str] = {}
        self.before: list[str] = []
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.slots: dict[int, _Slot] = {}
        self.free: list[_Slot] = []
        self.made = 0
        self.fixed = self._fixed()
        self.wanted = self._wanted()
        self.parts = self._parts()
        self.direct, self.last = self._placement()

    # -- what is decided before any text --------------------------------------------------------------------------

    def _fixed(self) -> list[bool]:
        """For every value, whether it is the same in all blocks, and so computed once before them."""
        out: list[bool] = []
        for instr in self.body.instrs:
            still = all(out[i] for i in operands(instr))
            if isinstance(instr, (Load, LoadIndexed, LoopIndex)):
                still = still and not any(instr.at.coef[: self.blocked])
            elif isinstance(instr, ReduceLoops):
                still = still and not self.partial
            out.append(bool(self.blocked) and still)
        return out

    def _wanted(self) -> set[int]:
        values = [store.value for store in self.written]
        if self.partial:
            values += [i for i, instr in enumerate(self.body.instrs) if isinstance(instr, ReduceLoops)]
        return ancestors(self.body, values)

    def _placement(self) -> tuple[dict[int, Store], dict[int, int]]:
        """The values that are computed straight into an output, and every value's last use."""
        end = len(self.body.instrs)
        last: dict[int, int] = {}
        for i in sorted(self.wanted):
            for k in self.read(i):
                last[k] = i
        if self.partial:
            for i in self.wanted:
                if isinstance(self.body.instrs[i], ReduceLoops):
                    last.update(dict.fromkeys(operands(self.body.instrs[i])[1:], end))
        direct: dict[int, Store] = {}
        for store in self.written:
            if store.value in direct or not self._computed_whole(store):
                last[store.value] = end
            else:
                direct[store.value] = store
        # A load is a view, read when it is used: an output that overwrites it must wait until that is over.
        for i, store in list(direct.items()):
            source = self.nest.args[store.arg].alias
            late = [last.get(k, -1) for k in self.wanted if self._views(k, source)]
            ufunc = isinstance(self._function(i), numpy.ufunc)
            if late and (max(late) > i or (max(late) == i and not ufunc)):
                del direct[i]
                last[i] = end
        return direct, last

    def _parts(self) -> dict[int, str]:
        """The real and imaginary parts that only ufuncs read, which they do where the complex numbers are."""
        others = {store.value for store in self.body.stores}
        for i, instr in enumerate(self.body.instrs):
            if not isinstance(instr, Apply) or not isinstance(self._function(i), numpy.ufunc):
                others.update(operands(instr))
        return {
            i: instr.op
            for i, instr in enumerate(self.body.instrs)
            if isinstance(instr, Apply) and instr.op in ("real", "imag") and instr.loop[0].kind == "c"
            if i not in others and not self.fixed[i] and not self.single[i]
        }

    def read(self, i: int) -> set[int]:
        """The values whose memory value `i` is computed from."""
        found = set(operands(self.body.instrs[i]))
        return found.union(*(operands(self.body.instrs[k]) for k in found if k in self.parts))

    def _views(self, value: int, arg: int) -> bool:
        instr = self.body.instrs[value]
        return isinstance(instr, Load) and instr.arg == arg

    def _computed_whole(self, store: Store) -> bool:
        """Whether the value is computed here, for just the points that the store writes."""
        stored = {d for d, c in enumerate(store.at.coef) if c}
        applied = isinstance(self.body.instrs[store.value], Apply)
        return applied and not self.fixed[store.value] and self.masks[store.value] == stored

    def _function(self, value: int) -> Callable[..., Any]:
        instr = self.body.instrs[value]
        assert isinstance(instr, Apply)
        return function(instr.op, instr.loop)

    # -- text -----------------------------------------------------------------------------------------------------

    def const(self, value: Any, key: Any = None) -> str:
        """A name for `value` in the text."""
        key = (type(value), value) if key is None else key
        if key not in self.known:
            self.known[key] = name = f"k{len(self.known)}"
            self.bound[name] = value
        return self.known[key]

    def shape(self, mask: frozenset[int] | set[int]) -> tuple[int, ...]:
        return tuple(n if d in mask else 1 for d, n in enumerate(self.block))

    def moved(self, at: Affine, unit: int = 1) -> list[str]:
        """The terms by which a block's place moves `at`."""
        return [f"l{d} * {self.const(at.coef[d] * unit)}" for d in range(self.blocked) if at.coef[d]]

    def view(self, arg: int, at: Affine) -> str:
        """A view of argument `arg` over the block."""
        shape = self.shape({d for d, c in enumerate(at.coef) if c})
        dtype = self.nest.args[arg].dtype
        if len(shape) == 1 and at.coef[0] >= 0:
            step = at.coef[0] or 1
            length = (shape[0] - 1) * step + 1 if shape[0] else 0
            terms = self.moved(at)
            if not terms:
                return f"a{arg}[{self.const(slice(at.offset, at.offset + length, step), ('slice', at, length))}]"
            start = " + ".join([self.const(at.offset), *terms])
            stop = " + ".join([self.const(at.offset + length), *terms])
            return f"a{arg}[{start}:{stop}]" if step == 1 else f"a{arg}[{start}:{stop}:{self.const(step)}]"
        offset = " + ".join([self.const(at.offset * dtype.itemsize), *self.moved(at, dtype.itemsize)])
        strides = tuple(c * dtype.itemsize for c in at.coef)
        return f"ndarray({self.const(shape)}, {self.const(dtype)}, a{arg}, {offset}, {self.const(strides)})"

    def element(self, arg: int, at: Affine) -> str:
        """The one element of argument `arg` that the block sees."""
        return f"a{arg}[{' + '.join([self.const(at.offset), *self.moved(at)])}]"

    def index(self, at: Affine) -> str:
        """The int64 values of `at` over the block, or one number where it does not vary."""
        varies = any(c and n != 1 for c, n in zip(at.coef, self.block, strict=True))
        count = prod(n for c, n in zip(at.coef, self.block, strict=True) if c)
        if varies and count > _KEPT:
            name = self.known.get(("grid", at))
            if name is None:
                name = self.known["grid", at] = f"g{len(self.before)}"
                self.before.append(f"{name} = affine_grid({self.const(at)}, {self.const(self.block)})")
        else:
            name = self.const(affine_grid(at, self.block) if varies else numpy.int64(at.offset), ("grid", at))
        return " + ".join([name, *self.moved(at)])

    def owned(self, i: int, ufunc: bool) -> tuple[_Slot, bool]:
        """A temporary for value `i`, and whether it must be given to the call (or else the call makes it)."""
        key = (self.dtypes[i], self.masks[i])
        if ufunc:
            self.release(i)
        for slot in self.free:
            if slot.key == key:
                self.free.remove(slot)
                break
        else:
            slot = _Slot(f"t{self.made}", key)
            self.made += 1
            if ufunc and not self.blocked:
                return slot, False
            shape, dtype = self.const(self.shape(self.masks[i])), self.const(self.dtypes[i])
            self.before.append(f"{slot.name} = empty({shape}, {dtype})")
        return slot, True

    def release(self, i: int) -> None:
        """Free the temporaries whose last use is value `i`."""
        for k in self.read(i):
            if self.last.get(k) == i and k in self.slots:
                self.free.append(self.slots.pop(k))

    def apply(self, i: int, instr: Apply) -> None:
        if i in self.parts:
            self.names[i] = f"{self.names[instr.args[0]]}.{self.parts[i]}"
            return
        call = self._function(i)
        ufunc = isinstance(call, numpy.ufunc)
        f = self.const(call)
        given = [self.names[k] for k in instr.args]
        store = self.direct.get(i)
        if self.fixed[i] or (self.single[i] and store is None):
            self.emit(i, f"{f}({', '.join(given)})")
            return
        if store is not None:
            self.emit(i, self.view(store.arg, store.at))
            given.append(f"out={self.names[i]}")
            self.lines.append(f"{f}({', '.join(given)})")
            self.release(i)
            return
        slot, passed = self.owned(i, ufunc)
        if passed:
            given.append(f"out={slot.name}")
        self.names[i] = slot.name
        self.lines.append(f"{'' if passed else slot.name + ' = '}{f}({', '.join(given)})")
        self.release(i)
        self.slots[i] = slot

    def emit(self, i: int, expression: str) -> None:
        self.names[i] = f"v{i}"
        (self.before if self.fixed[i] else self.lines).append(f"v{i} = {expression}")

    def spread(self, value: int) -> str:
        """Value `value`, made to stand at every point of its rows."""
        name, mask = self.names[value], self.masks[value]
        if not self.single[value] and mask.issuperset(self.axes):
            return name
        return f"broadcast_to({name}, {self.const(self.shape(mask | set(self.axes)))})"

    def reduce(self, i: int, instr: ReduceLoops) -> None:
        count = prod(n for n, flag in zip(self.nest.shape, self.nest.reduced, strict=True) if flag)
        rows = reducer(instr.op, instr.loop, self.axes, count)
        given = [self.spread(instr.args[0])]
        if not self.partial:
            given += [self.names[k] for k in instr.args[1:]]
            self.emit(i, f"{self.const(rows.whole, ('whole', i))}({', '.join(given)})")
            return
        inner, coef = 1, [0] * len(self.block)
        for d in reversed(self.axes):
            coef[d] = inner
            inner *= self.nest.shape[d]
        start = " + ".join(self.moved(Affine(0, tuple(coef)))) or "0"
        self.before.append(f"s{i} = None")
        self.lines.append(f"p = {self.const(rows.part, ('part', i))}({given[0]}, {start})")
        self.lines.append(f"s{i} = p if s{i} is None else {self.const(rows.merge, ('merge', i))}(s{i}, p)")

    def gather(self, instr: LoadIndexed) -> str:
        given = "".join(f"{self.names[k]}, " for k in instr.index)
        dims, strides = self.const(instr.dims), self.const(instr.strides)
        # Along the last dimensions the indices may stand still: whole runs of elements are picked then.
        moving = frozenset().union(*(self.masks[k] for k in instr.index))
        cut = max((d + 1 for d in moving if self.block[d] != 1), default=0)
        coef = instr.at.coef
        shape = self.shape({d for d, c in enumerate(coef) if c})[cut:]
        if prod(shape) < _RUN or min(coef[cut:]) < 0:
            return (
                f"gather(a{instr.arg}, {self.index(instr.at)}, ({given}), {dims}, {strides}, a{instr.source_location})"
            )
        first = Affine(instr.at.offset, coef[:cut] + (0,) * len(shape))
        start = " + ".join([self.index(first), *self.moved(Affine(0, (0,) * cut + coef[cut:]))])
        unit = self.nest.args[instr.arg].dtype.itemsize
        run = f"{self.const(shape)}, {self.const(tuple(c * unit for c in coef[cut:]))}"
        name = "gather_runs" if cut else "gather_run"
        return f"{name}(a{instr.arg}, {start}, ({given}), {dims}, {strides}, a{instr.source_location}, {run})"

    def scan(self, i: int, instr: ScanLoop) -> None:
        run = self.const(accumulator(instr.op, instr.loop[-1]), ("scan", i))
        axis = self.const(self.axes[0] if self.axes else None)
        self.emit(i, f"{run}({self.spread(instr.args[0])}, {axis})")

    def value(self, i: int) -> None:
        instr = self.body.instrs[i]
        if isinstance(instr, Apply):
            self.apply(i, instr)
            return
        if isinstance(instr, Load):
            self.emit(i, (self.element if self.single[i] and self.nest.count else self.view)(instr.arg, instr.at))
        elif isinstance(instr, Scalar):
            # A typed scalar: a Python number would be weak among scalars alone.
            self.emit(i, f"{self.const(self.dtypes[i].type)}(a{instr.arg})")
        elif isinstance(instr, LoopIndex):
            self.emit(i, self.index(instr.at))
        elif isinstance(instr, LoadIndexed):
            self.emit(i, self.gather(instr))
        elif isinstance(instr, ReduceLoops):
            self.reduce(i, instr)
        else:
            self.scan(i, instr)
        self.release(i)

    def stores(self) -> None:
        """The stores of what was not computed in its place."""
        rest = [s for s in self.written if self.direct.get(s.value) is not s]
        if len(rest) > 1:
            overwritten = {self.nest.args[s.arg].alias for s in rest}
            for k in {s.value for s in rest}:
                instr = self.body.instrs[k]
                if isinstance(instr, Load) and instr.arg in overwritten:
                    self.lines.append(f"v{k} = v{k}.copy()")
        for store in rest:
            self.lines.append(f"{self.view(store.arg, store.at)}[...] = {self.names[store.value]}")

    def text(self) -> str:
        for i in sorted(self.wanted):
            self.value(i)
        self.stores()
        lows = "".join(f"l{d}, " for d in range(self.blocked))
        names = "".join(f"a{k}, " for k in range(len(self.nest.args)))
        out = ["def run(args, blocks=()):"]
        out += [f"    {line}" for line in ([f"{names} = args"] if names else []) + self.before]
        if self.blocked:
            out.append(f"    for {lows} in blocks:".replace(",  in", ", in"))
        inner = "        " if self.blocked else "    "
        out += [inner + line for line in self.lines]
        if self.partial:
            states = []
            for i, instr in enumerate(self.body.instrs):
                if isinstance(instr, ReduceLoops):
                    states.append(f"(s{i}, ({''.join(self.names[k] + ', ' for k in instr.args[1:])})), ")
            out.append(f"    return ({''.join(states)})")
        return "\n".join(out) + "\n"


def block_function(nest: Nest, block: tuple[int, ...], blocked: int, partial: bool = False) -> Callable[..., Any]:
    """``run(args, blocks)``: evaluate `nest` over blocks of `block` points, each given by its low corner.

    With ``blocked == 0`` there is one block, the nest itself, and no ``blocks`` are given.
    """
    writer = _Writer(nest, block, blocked, partial)
    code = _compiled(writer.text())
    exec(code, writer.bound)
    run: Callable[..., Any] = writer.bound["run"]
    return run
