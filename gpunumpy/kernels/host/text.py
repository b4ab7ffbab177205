"""Python text for the CPU executor: a sequence of NumPy calls over a block of a loop nest.

The text depends on the structure alone: every number, dtype and function is a name that is bound when the text is run,
so nests of the same structure share one compiled code object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy

from ...core.dtypes import DType
from ...core.late_dataclasses import dataclass
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
    memory_of,
)
from ...core.schedule.sizes import Formulas, Size
from .gathers import gather, gather_run, gather_runs
from .loop_nest import Nest, ancestors, writes_along_rows
from .op_functions import accumulator, function, output_of
from .ranges import Windows
from .reduce import reducer


@lru_cache(maxsize=4096)
def _compiled(text: str) -> CodeType:
    """Return the code object of the only function in a text."""
    (code,) = [x for x in compile(text, "<gpunumpy host kernel>", "exec").co_consts if isinstance(x, CodeType)]
    return code


def affine_grid(at: Affine, shape: Sequence[int]) -> Any:
    """Return the int64 values of `at` over a block at the origin, with size 1 along dimensions where it is constant."""
    out: Any = None
    start = at.offset
    for d, c in enumerate(at.coef):
        if c:
            line = numpy.arange(start, start + c * shape[d], c, dtype=numpy.int64)
            line = line.reshape([-1 if k == d else 1 for k in range(len(shape))])
            out, start = line if out is None else out + line, 0
    return numpy.full((1,) * len(shape), start, numpy.int64) if out is None else out


# Grids of up to this many elements are kept with the text; larger ones are made in every run, as the grids of many
# plans would fill the memory.
_MAX_KEPT_GRID_ELEMENTS = 4096

# Runs of fewer elements are gathered element by element.
_MIN_RUN_ELEMENTS = 16


class _Made(NamedTuple):
    """A constant that is made by a function when the sizes in its arguments are known."""

    function: Callable[..., Any]
    args: tuple[Any, ...]


def _known(value: Any) -> Any:
    """Return a constant without symbolic sizes."""
    return value.function(*value.args) if isinstance(value, _Made) else value


class _Constants:
    """The constants of a text: those that are known, and one function that makes all others from numbers.

    Parameters
    ----------
    constants : dict
        All constants of the text by name.
    formulas : Formulas
        Takes in the sizes that constants depend on.

    Attributes
    ----------
    known : dict
        The constants without symbolic sizes.
    made : callable
        ``made(numbers)`` returns the others, from the numbers of `formulas`.
    """

    def __init__(self, constants: dict[str, Any], formulas: Formulas) -> None:
        self.made: Callable[[Sequence[int]], dict[str, Any]] = lambda numbers: {}
        if not formulas.trace.symbols:
            self.known = {name: _known(value) for name, value in constants.items()}
            return
        self._formulas = formulas
        self._scope: dict[str, Any] = {}
        self.known = {}
        entries = []
        for name, value in constants.items():
            expression, depends = self._expression(value)
            if depends:
                entries.append(f"{name!r}: {expression}, ")
            else:
                self.known[name] = _known(value)
        self.made = eval(f"lambda n: {{{''.join(entries)}}}", self._scope)

    def _expression(self, value: Any) -> tuple[str, bool]:
        """Return a constant as an expression of the numbers ``n``, and whether it depends on these."""
        if isinstance(value, Size):
            return f"n[{self._formulas.add(value)}]", True
        made = value
        if isinstance(value, slice):
            made = _Made(slice, (value.start, value.stop, value.step))
        elif isinstance(value, Affine):
            made = _Made(Affine, (value.offset, value.coef))
        if isinstance(made, tuple):
            parts = [self._expression(x) for x in (made.args if isinstance(made, _Made) else made)]
            if any(depends for _, depends in parts):
                listed = "".join(f"{text}, " for text, _ in parts)
                return (f"{self._name(made.function)}({listed})" if isinstance(made, _Made) else f"({listed})"), True
        return self._name(_known(value)), False

    def _name(self, value: Any) -> str:
        name = f"c{len(self._scope)}"
        self._scope[name] = value
        return name


# What texts call by name.
_FUNCTIONS: dict[str, Any] = {
    "ndarray": numpy.ndarray,
    "empty": numpy.empty,
    "broadcast_to": numpy.broadcast_to,
    "affine_grid": affine_grid,
    "gather": gather,
    "gather_run": gather_run,
    "gather_runs": gather_runs,
    "Windows": Windows,
}


@dataclass(slots=True)
class _Temporary:
    """A temporary array of the block, which several values use one after the other."""

    name: str
    key: tuple[DType, frozenset[int]]


class _Writer:
    """The text of a function that computes blocks of shape `block`, which divide the first `blocked` dimensions.

    With `partial`, a block holds a part of its rows: it computes only the stores along rows and the reductions, whose
    states are accumulated over the blocks and returned.

    In the text ``a<n>`` are the arguments, ``l<d>`` the low corner of the block, ``k<n>`` constants, ``g<n>`` grids,
    ``v<n>`` values, ``t<n>`` temporaries and ``s<n>`` states of reductions.
    """

    def __init__(self, nest: Nest, block: tuple[int, ...], blocked: int, partial: bool) -> None:
        self.nest, self.block, self.blocked, self.partial = nest, block, blocked, partial
        self.body = nest.body
        self.kept_stores = [s for s in self.body.stores if not partial or writes_along_rows(nest, s)]
        self.axes = tuple(sorted(nest.axes))
        self.varying = nest.varying
        # Values with one element a block are NumPy scalars, which are faster to make and to use than arrays.
        self.is_single = [all(block[d] == 1 for d in mask) for mask in self.varying]
        self.dtypes, self.operands = nest.dtypes, nest.operands
        self.functions = [function(i.op, i.loop) if isinstance(i, Apply) else None for i in self.body.instructions]
        self.bound = dict(_FUNCTIONS)
        self.constants: dict[Any, str] = {}
        self.preamble: list[str] = []
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.temporaries: dict[int, _Temporary] = {}
        self.free_temporaries: list[_Temporary] = []
        self.temporary_count = 0
        self.is_fixed = self._fixed()
        self.needed = self._needed_values()
        self.component_views = self._component_views()
        self.memory_operands = [self._memory_operands(values) for values in self.operands]
        self.direct, self.last_use = self._placement()
        self.other_outputs = self._other_outputs()

    # Decisions before any text

    def _fixed(self) -> list[bool]:
        """Return, for every value, whether it is the same in all blocks, and so computed once before them."""
        out: list[bool] = []
        if not self.blocked:
            return [False] * len(self.operands)
        for instr, values in zip(self.body.instructions, self.operands, strict=True):
            fixed = all(out[i] for i in values)
            if isinstance(instr, (Load, LoadIndexed, LoopIndex)):
                fixed = fixed and not any(d < self.blocked for d in self.varying[len(out)])
            elif isinstance(instr, ReduceLoops):
                fixed = fixed and not self.partial
            out.append(fixed)
        return out

    def _needed_values(self) -> set[int]:
        """Return the values that the stores and, if partial, the reductions depend on."""
        values = [store.value for store in self.kept_stores]
        if self.partial:
            values += [i for i, instr in enumerate(self.body.instructions) if isinstance(instr, ReduceLoops)]
        return ancestors(self.operands, values)

    def _placement(self) -> tuple[dict[int, Store], dict[int, int]]:
        """Return the values that are computed directly into an output, with their stores; and each value's last use."""
        end = len(self.body.instructions)
        last: dict[int, int] = {}
        for i in sorted(self.needed):
            for k in self.memory_operands[i]:
                last[k] = i
        if self.partial:
            for i in self.needed:
                if isinstance(self.body.instructions[i], ReduceLoops):
                    last.update(dict.fromkeys(self.operands[i][1:], end))
        direct: dict[int, Store] = {}
        for store in self.kept_stores:
            if store.value in direct or not self._can_be_direct(store):
                last[store.value] = end
            else:
                direct[store.value] = store
        # A load is a view, which is read when it is used: an output that overwrites it must not be written before its
        # last use.
        for i, store in list(direct.items()):
            source = memory_of(self.nest.args, store.arg)
            last_reads = [last.get(k, -1) for k in self.needed if self._is_load_of(k, source)]
            ufunc = isinstance(self.functions[i], numpy.ufunc)
            if last_reads and (max(last_reads) > i or (max(last_reads) == i and not ufunc)):
                del direct[i]
                last[i] = end
        return direct, last

    def _other_outputs(self) -> dict[int, int]:
        """Return, for values that are one output of a ufunc, the later values that are the other: one call makes both.

        The later output may overwrite nothing, as a value in between may still be read from there.
        """
        calls: dict[Any, tuple[int, int]] = {}
        others: dict[int, int] = {}
        for i in sorted(self.needed):
            instr = self.body.instructions[i]
            output = output_of(instr.op, instr.loop) if isinstance(instr, Apply) else None
            if output is None or self.is_fixed[i] or self.is_single[i]:
                continue
            ufunc, number = output
            first, first_number = calls.setdefault((ufunc, self.operands[i]), (i, number))
            store = self.direct.get(i)
            if number != first_number and (store is None or self.nest.args[store.arg].alias < 0):
                others.setdefault(first, i)
        return others

    def _component_views(self) -> dict[int, str]:
        """Return the values `real` and `imag` that only ufuncs read: these read views of the complex numbers."""
        components = {
            i: instr.op
            for i, instr in enumerate(self.body.instructions)
            if isinstance(instr, Apply) and instr.op in ("real", "imag") and instr.loop[0].kind == "c"
            if not self.is_fixed[i] and not self.is_single[i]
        }
        if components:
            others = {store.value for store in self.body.stores}
            for values, call in zip(self.operands, self.functions, strict=True):
                if not isinstance(call, numpy.ufunc):
                    others.update(values)
            for i in others.intersection(components):
                del components[i]
        return components

    def _memory_operands(self, values: Sequence[int]) -> set[int]:
        """Return the values whose memory is read to compute something from `values`."""
        return set(values).union(*[self.operands[k] for k in values if k in self.component_views])

    def _is_load_of(self, value: int, arg: int) -> bool:
        """Return whether the value is a load of the buffer of argument `arg`, the first one that has it."""
        instr = self.body.instructions[value]
        return isinstance(instr, Load) and memory_of(self.nest.args, instr.arg) == arg

    def _can_be_direct(self, store: Store) -> bool:
        """Return whether the value is computed by an op, or gathered, in each block for exactly the points stored."""
        stored = {d for d, c in enumerate(store.at.coef) if c}
        instr = self.body.instructions[store.value]
        if isinstance(instr, LoadIndexed):
            args = self.nest.args
            is_computed = self._is_gathered(store.value) and memory_of(args, instr.arg) != memory_of(args, store.arg)
        else:
            is_computed = isinstance(instr, Apply) and not self.is_fixed[store.value]
        return is_computed and self.varying[store.value] == stored

    def _is_gathered(self, i: int) -> bool:
        """Return whether a value is an array that is gathered in each block; a run at the only position is a view."""
        instr = self.body.instructions[i]
        if not isinstance(instr, LoadIndexed) or self.is_fixed[i] or self.is_single[i]:
            return False
        if i in self.nest.range_loads:
            return True
        cut, shape = self._run_of(instr)
        return bool(cut) or not shape

    def _run_of(self, instr: LoadIndexed) -> tuple[int, tuple[int, ...]]:
        """Return along how many dimensions an indexed load has indices, and the shape of the runs that it reads.

        Where the indices are constant along the last dimensions, whole runs of elements are gathered. The shape is
        empty if single elements are.
        """
        moving = frozenset().union(*(self.varying[k] for k in instr.index))
        cut = max((d + 1 for d in moving if self.block[d] != 1), default=0)
        coef = instr.at.coef
        shape = self.shape({d for d, c in enumerate(coef) if c})[cut:]
        return (cut, ()) if prod(shape) < _MIN_RUN_ELEMENTS or min(coef[cut:]) < 0 else (cut, shape)

    # Text

    def const(self, value: Any, key: Any = None) -> str:
        """Return a name for the constant `value` in the text. Equal keys (by default type and value) share a name."""
        key = (type(value), value) if key is None else key
        if key not in self.constants:
            self.constants[key] = name = f"k{len(self.constants)}"
            self.bound[name] = value
        return self.constants[key]

    def shape(self, mask: frozenset[int] | set[int]) -> tuple[int, ...]:
        """Return the shape over a block of a value that varies along the dimensions of `mask`."""
        return tuple(n if d in mask else 1 for d, n in enumerate(self.block))

    def offset_terms(self, at: Affine, unit: int = 1) -> list[str]:
        """Return the terms, in multiples of `unit`, by which a block's low corner offsets `at`."""
        return [f"l{d} * {self.const(at.coef[d] * unit)}" for d in range(self.blocked) if at.coef[d]]

    def view(self, arg: int, at: Affine) -> str:
        """Return the expression of a view of argument `arg` over the block."""
        shape = self.shape({d for d, c in enumerate(at.coef) if c})
        dtype = self.nest.args[arg].dtype
        if len(shape) == 1 and at.coef[0] >= 0:
            step = at.coef[0] or 1
            length = (shape[0] - 1) * step + 1 if shape[0] else 0
            terms = self.offset_terms(at)
            if not terms:
                return f"a{arg}[{self.const(slice(at.offset, at.offset + length, step), ('slice', at, length))}]"
            start = " + ".join([self.const(at.offset), *terms])
            stop = " + ".join([self.const(at.offset + length), *terms])
            return f"a{arg}[{start}:{stop}]" if step == 1 else f"a{arg}[{start}:{stop}:{self.const(step)}]"
        offset = " + ".join([self.const(at.offset * dtype.itemsize), *self.offset_terms(at, dtype.itemsize)])
        strides = tuple(c * dtype.itemsize for c in at.coef)
        return f"ndarray({self.const(shape)}, {self.const(dtype)}, a{arg}, {offset}, {self.const(strides)})"

    def element(self, arg: int, at: Affine) -> str:
        """Return the expression of the only element of argument `arg` that the block reads."""
        return f"a{arg}[{' + '.join([self.const(at.offset), *self.offset_terms(at)])}]"

    def index(self, at: Affine) -> str:
        """Return the expression of the int64 values of `at` over the block, or of one number if it is constant."""
        varies = any(c and n != 1 for c, n in zip(at.coef, self.block, strict=True))
        count = prod(n for c, n in zip(at.coef, self.block, strict=True) if c)
        if varies and count > _MAX_KEPT_GRID_ELEMENTS:
            name = self.constants.get(("grid", at))
            if name is None:
                name = self.constants["grid", at] = f"g{len(self.preamble)}"
                self.preamble.append(f"{name} = affine_grid({self.const(at)}, {self.const(self.block)})")
        else:
            grid = _Made(affine_grid, (at, self.block)) if varies else _Made(numpy.int64, (at.offset,))
            name = self.const(grid, ("grid", at))
        return " + ".join([name, *self.offset_terms(at)])

    def temporary(self, i: int, ufunc: bool) -> tuple[_Temporary, bool]:
        """Return a temporary for value `i`, and whether it is passed to the call as `out` (else the call makes it)."""
        key = (self.dtypes[i], self.varying[i])
        if ufunc:
            self.release(i)
        for temporary in self.free_temporaries:
            if temporary.key == key:
                self.free_temporaries.remove(temporary)
                break
        else:
            temporary = _Temporary(f"t{self.temporary_count}", key)
            self.temporary_count += 1
            if ufunc and not self.blocked:
                return temporary, False
            shape, dtype = self.const(self.shape(self.varying[i])), self.const(self.dtypes[i])
            self.preamble.append(f"{temporary.name} = empty({shape}, {dtype})")
        return temporary, True

    def release(self, i: int) -> None:
        """Free the temporaries whose last use is value `i`."""
        for k in self.memory_operands[i]:
            if self.last_use.get(k) == i and k in self.temporaries:
                self.free_temporaries.append(self.temporaries.pop(k))

    def apply(self, i: int, instr: Apply) -> None:
        """Write the call of an op."""
        if i in self.component_views:
            self.names[i] = f"{self.names[instr.args[0]]}.{self.component_views[i]}"
            return
        if i in self.names:  # it was made with the other output of its ufunc
            self.release(i)
            return
        args = [self.names[k] for k in instr.args]
        if i in self.other_outputs:
            self.outputs(i, instr, args)
            return
        call = self.functions[i]
        ufunc = isinstance(call, numpy.ufunc)
        f = self.const(call)
        if self.is_fixed[i] or (self.is_single[i] and i not in self.direct):
            self.assign(i, f"{f}({', '.join(args)})")
            return
        self.call(i, f, args, ufunc)

    def outputs(self, i: int, instr: Apply, args: list[str]) -> None:
        """Write the call of a ufunc that makes value `i` and, as its other output, a later one."""
        both = (i, self.other_outputs[i])
        for k in both:
            store = self.direct.get(k)
            if store is not None:
                self.assign(k, self.view(store.arg, store.at))
            else:
                self.temporaries[k], _ = self.temporary(k, False)
                self.names[k] = self.temporaries[k].name
        output = output_of(instr.op, instr.loop)
        assert output is not None
        ufunc, number = output
        names = [self.names[k] for k in (both[::-1] if number else both)]
        self.lines.append(f"{self.const(ufunc)}({', '.join(args)}, out=({', '.join(names)}))")
        self.release(i)

    def call(self, i: int, f: str, args: list[str], ufunc: bool) -> None:
        """Write the call of a function that takes an output: of the nest where it can, or else a temporary."""
        store = self.direct.get(i)
        if store is not None:
            self.assign(i, self.view(store.arg, store.at))
            args.append(f"out={self.names[i]}")
            self.lines.append(f"{f}({', '.join(args)})")
            self.release(i)
            return
        temporary, passed = self.temporary(i, ufunc)
        if passed:
            args.append(f"out={temporary.name}")
        self.names[i] = temporary.name
        self.lines.append(f"{'' if passed else temporary.name + ' = '}{f}({', '.join(args)})")
        self.release(i)
        self.temporaries[i] = temporary

    def assign(self, i: int, expression: str) -> None:
        """Write the assignment of value `i`: in the preamble if it is the same in all blocks."""
        self.names[i] = f"v{i}"
        (self.preamble if self.is_fixed[i] else self.lines).append(f"v{i} = {expression}")

    def broadcast_along_rows(self, value: int) -> str:
        """Return the expression of value `value`, broadcast to every point of its rows."""
        name, mask = self.names[value], self.varying[value]
        if not self.is_single[value] and mask.issuperset(self.axes):
            return name
        return f"broadcast_to({name}, {self.const(self.shape(mask | set(self.axes)))})"

    def reduce(self, i: int, instr: ReduceLoops) -> None:
        """Write a reduction, or if partial, the accumulation of its state over the blocks."""
        count = prod(n for n, flag in zip(self.nest.shape, self.nest.reduced, strict=True) if flag)

        def of_reducer(name: str) -> str:
            make = _Made(lambda count: getattr(reducer(instr.op, instr.loop, self.axes, count), name), (count,))
            return self.const(make, (name, i))

        args = [self.broadcast_along_rows(instr.args[0])]
        if not self.partial:
            args += [self.names[k] for k in instr.args[1:]]
            self.assign(i, f"{of_reducer('whole')}({', '.join(args)})")
            return
        inner, coef = 1, [0] * len(self.block)
        for d in reversed(self.axes):
            coef[d] = inner
            inner *= self.nest.shape[d]
        start = " + ".join(self.offset_terms(Affine(0, tuple(coef)))) or "0"
        self.preamble.append(f"s{i} = None")
        self.lines.append(f"p = {of_reducer('partial')}({args[0]}, {start})")
        self.lines.append(f"s{i} = p if s{i} is None else {of_reducer('merge')}(s{i}, p)")

    def windows(self, i: int, instr: LoadIndexed) -> None:
        """Write an indexed load at ranges of indices, and with it all that are windows of the same block."""
        if i in self.names:
            return
        load, together = self.nest.range_loads[i], self._windows_of_one_block(i)
        strides = list(load.at.coef)
        for r in load.ranges:
            strides[r.dim] += r.step * r.pitch
        moving = sum(r.dim <= self._window_dim for r in load.ranges)
        numbers = "".join(f"({self._numbers_of(k, moving)}), " for k in together)
        places = "".join(f"a{self.body.instructions[k].source_location}, " for k in together)  # type: ignore[union-attr]
        axes = tuple((r.dim, r.size, r.pitch, r.step) for r in load.ranges)
        constants = [self.const(x) for x in (self.shape(self.varying[i]), tuple(strides), axes, moving)]
        self.preamble.append(f"w{i} = Windows(a{instr.arg}, {', '.join(constants)}, ({numbers}), ({places}))")
        base = " + ".join([self.const(load.at.offset), *self.offset_terms(load.at)])
        firsts = [" + ".join([self.const(r.at.offset), *self.offset_terms(r.at)]) for r in load.ranges[:moving]]
        args = [base, f"({''.join(first + ', ' for first in firsts)})"]
        store = self.direct.get(i)
        if store is not None:
            args.append(self.view(store.arg, store.at))
        self.names.update((k, f"v{k}") for k in together)
        names = "".join(f"v{k}, " for k in together)
        lines = self.preamble if self.is_fixed[i] else self.lines
        lines.append(f"{names}= w{i}({', '.join(args)})")
        if self.is_single[i]:
            lines += [f"v{k} = v{k}[{self.const((0,) * len(self.block))}]" for k in together]

    @property
    def _window_dim(self) -> int:
        """The dimension along which blocks may have windows: the last that is cut, or the first if none is."""
        return max(self.blocked - 1, 0)

    def _windows_of_one_block(self, i: int) -> list[int]:
        """Return an indexed load at ranges of indices, and the later ones that are windows of the same block."""
        load, dim, args = self.nest.range_loads[i], self._window_dim, self.nest.args

        def memory(k: int) -> Any:
            arg = self.body.instructions[k].arg  # type: ignore[union-attr]
            return memory_of(args, arg), args[arg].dtype

        is_shared = i not in self.direct and any(r.dim == dim and r.step == 1 for r in load.ranges)
        others = [k for k in sorted(self.needed) if k > i and k in self.nest.range_loads and k not in self.direct]
        same = [k for k in others if self.nest.range_loads[k].has_windows_of(load, dim) and memory(k) == memory(i)]
        return [i, *same] if is_shared else [i]

    def _numbers_of(self, i: int, moving: int) -> str:
        """Return what is added to the indices of each moving range, and the first index of the others, as a list."""
        out = ""
        for k, r in enumerate(self.nest.range_loads[i].ranges):
            terms = [*[f" + int(a{arg})" for arg in r.added], *[f" - int(a{arg})" for arg in r.subtracted]]
            out += f"{'0' if k < moving else self.const(r.at.offset)}{''.join(terms)}, "
        return out

    def gather(self, i: int, instr: LoadIndexed) -> None:
        """Write an indexed load."""
        if i in self.nest.range_loads:
            self.windows(i, instr)
            return
        index = "".join(f"{self.names[k]}, " for k in instr.index)
        dims, strides = self.const(instr.dims), self.const(instr.strides)
        indexed = [f"({index})", dims, strides, f"a{instr.source_location}"]
        (cut, shape), coef = self._run_of(instr), instr.at.coef
        if not shape:
            args = [f"a{instr.arg}", self.index(instr.at), *indexed]
            if self._is_gathered(i):
                self.call(i, "gather", args, False)
            else:
                self.assign(i, f"gather({', '.join(args)})")
            return
        first = Affine(instr.at.offset, coef[:cut] + (0,) * len(shape))
        start = " + ".join([self.index(first), *self.offset_terms(Affine(0, (0,) * cut + coef[cut:]))])
        unit = self.nest.args[instr.arg].dtype.itemsize
        run = [self.const(shape), self.const(tuple(c * unit for c in coef[cut:]))]
        args = [f"a{instr.arg}", start, *indexed, *run]
        if i in self.direct:
            self.call(i, "gather_runs", args, False)
        else:
            self.assign(i, f"{'gather_runs' if cut else 'gather_run'}({', '.join(args)})")

    def scan(self, i: int, instr: ScanLoop) -> None:
        """Write a scan."""
        run = self.const(accumulator(instr.op, instr.loop[-1]), ("scan", i))
        axis = self.const(self.axes[0] if self.axes else None)
        self.assign(i, f"{run}({self.broadcast_along_rows(instr.args[0])}, {axis})")

    def value(self, i: int) -> None:
        """Write the computation of value `i`."""
        instr = self.body.instructions[i]
        if isinstance(instr, Apply):
            self.apply(i, instr)
            return
        if isinstance(instr, Load):
            self.assign(i, (self.element if self.is_single[i] and self.nest.count else self.view)(instr.arg, instr.at))
        elif isinstance(instr, Scalar):
            # A NumPy scalar with a dtype: operations among Python numbers alone would ignore the dtype.
            self.assign(i, f"{self.const(self.dtypes[i].type)}(a{instr.arg})")
        elif isinstance(instr, LoopIndex):
            self.assign(i, self.index(instr.at))
        elif isinstance(instr, LoadIndexed):
            self.gather(i, instr)
        elif isinstance(instr, ReduceLoops):
            self.reduce(i, instr)
        else:
            self.scan(i, instr)
        self.release(i)

    def stores(self) -> None:
        """Write the stores of values that were not computed directly into an output."""
        rest = [s for s in self.kept_stores if self.direct.get(s.value) is not s]
        if len(rest) > 1:
            overwritten = {memory_of(self.nest.args, s.arg) for s in rest}
            for k in {s.value for s in rest}:
                instr = self.body.instructions[k]
                if isinstance(instr, Load) and memory_of(self.nest.args, instr.arg) in overwritten:
                    self.lines.append(f"v{k} = v{k}.copy()")
        for store in rest:
            self.lines.append(f"{self.view(store.arg, store.at)}[...] = {self.names[store.value]}")

    def text(self) -> str:
        """Return the text of the function."""
        for i in sorted(self.needed):
            self.value(i)
        self.stores()
        lows = "".join(f"l{d}, " for d in range(self.blocked))
        names = "".join(f"a{k}, " for k in range(len(self.nest.args)))
        out = ["def run(args, blocks=()):"]
        out += [f"    {line}" for line in ([f"{names} = args"] if names else []) + self.preamble]
        if self.blocked:
            out.append(f"    for {lows} in blocks:".replace(",  in", ", in"))
        inner = "        " if self.blocked else "    "
        out += [inner + line for line in self.lines]
        if self.partial:
            states = []
            for i, instr in enumerate(self.body.instructions):
                if isinstance(instr, ReduceLoops):
                    states.append(f"(s{i}, ({''.join(self.names[k] + ', ' for k in instr.args[1:])})), ")
            out.append(f"    return ({''.join(states)})")
        return "\n".join(out) + "\n"


def block_function(
    nest: Nest, block: tuple[int, ...], blocked: int, formulas: Formulas, partial: bool = False
) -> Callable[[Sequence[int]], Callable[..., Any]]:
    """Return what takes the numbers of `formulas`, to which it adds, and returns ``run(args, blocks)``.

    That evaluates `nest` over blocks of shape `block`, each given by its low corner. With ``blocked == 0`` there is one
    block, the nest itself, and no ``blocks`` are given.
    """
    writer = _Writer(nest, block, blocked, partial)
    code = _compiled(writer.text())
    constants = _Constants(writer.bound, formulas)

    def bind(numbers: Sequence[int]) -> Callable[..., Any]:
        return FunctionType(code, constants.known | constants.made(numbers), "run", ((),))

    return bind
