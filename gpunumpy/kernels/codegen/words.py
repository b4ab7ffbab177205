"""The words of a kernel that is interpreted: where its elements are, and its instructions; see interpreter.cuh."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from math import prod
from operator import or_
from typing import NamedTuple

from ...core.dtypes import COMPLEX128, FLOAT64, KIND, DType
from ...core.schedule.kernel import (
    Affine,
    Apply,
    Body,
    Instruction,
    Kernel,
    Load,
    LoadIndexed,
    LoopIndex,
    ReduceLoops,
    Scalar,
    ScanLoop,
    Store,
    value_dtypes,
)
from .collapse import bodies
from .interpreter import (
    ACCUMULATIONS,
    ARRAYS,
    ENTRY,
    POINTS,
    RESULTS,
    THREADS,
    WORDS,
    Reduction,
    can_apply,
    cast_operations,
    opcodes,
    reduction,
    widened,
)
from .program import Launch, Program, Scratch
from .shape import ceil_div

# A value of a block's points takes a slot of shared memory. Every GPU has 64 KB for a block; `last_block` takes some.
_SLOT_BYTES = POINTS * THREADS * 8
_SHARED_BYTES = 63 << 10


class CannotInterpret(Exception):
    """The kernel has an operation that is not there, or more instructions or values at once than there is room for."""


class Accumulated(NamedTuple):
    """A reduction that accumulates a value of a kernel.

    Attributes
    ----------
    value
        The number of the reduction's argument.
    reduces
        The number of the reduction, among the values of the kernel.
    array
        The length of the arrays of elements that a thread of the compiled kernel accumulates; 1 if it accumulates one
        element after the other.
    """

    value: int
    reduces: int
    array: int


class Words:
    """The words of one kernel, and the slots that its values take: columns of shared memory.

    The first slots hold the indices of the loops.

    Parameters
    ----------
    kernel : Kernel
        With its sizes; its loops are collapsed.
    scratch : sequence of Scratch
        What its launch takes besides its arguments.
    states : dict of int to int, optional
        The number of the state of each reduction of its body.
    """

    def __init__(self, kernel: Kernel, scratch: Sequence[Scratch] = (), states: dict[int, int] | None = None) -> None:
        instructions = [instr for body in bodies(kernel) for instr in body.instructions]
        if not all(map(_is_known, instructions)):
            raise CannotInterpret
        self._kernel = kernel
        self._scratch = tuple(scratch)
        self._states = states or {}
        shape, outer = kernel.shape, len(kernel.shape) - kernel.reduced
        self._position = Affine(0, (0,) * outer + tuple(prod(shape[d + 1 :]) for d in range(outer, len(shape))))
        self._words: list[int] = []
        self._code: list[int] = []
        self._places: dict[Affine, int] = {}
        self._slots = max(1, len(kernel.shape))
        self._flag = any(isinstance(instr, LoadIndexed) for instr in instructions)
        self._arguments = []  # the word of each argument
        self._first = 0
        for arg in kernel.args:
            self._arguments.append(self._first)
            self._first += 2 if arg.kind == "scalar" and KIND[arg.dtype] == "c" else 1
        self.first_scratch = self._first
        self._flag_word = self._first + len(scratch)
        self._first = self._flag_word + self._flag

    def program(self, blocks: int, state_cells: int, head: Sequence[int]) -> Program:
        """Return the program without its text, for blocks that have states of so many cells.

        Raises
        ------
        CannotInterpret
            If there is no room for so many words, or in shared memory.
        """
        shared = self._slots * _SLOT_BYTES + state_cells * 8
        left = WORDS - self.first_instruction - len(self._code) - len(head)
        if shared > _SHARED_BYTES or left < 0:
            raise CannotInterpret
        launch = Launch(ENTRY, (blocks, 1, 1), (THREADS, 1, 1), shared, is_packed=True, waits=True)
        return Program("", (launch,), self._scratch, self._flag, (*self._words, *self._code, *[0] * left, *head))

    @property
    def first_instruction(self) -> int:
        """The word of the first instruction, once all other words are there."""
        return self._first + len(self._words)

    @property
    def first_state(self) -> int:
        """The first cell of shared memory behind those of the slots, once all instructions are there."""
        return self._slots * _SLOT_BYTES // 8

    def add(self, *words: int) -> int:
        """Add words, and return where they begin."""
        start = self._first + len(self._words)
        self._words += words
        if start + len(words) > WORDS:
            raise CannotInterpret
        return start

    def encode(
        self,
        body: Body,
        stores: Sequence[Store],
        accumulated: Sequence[Accumulated] = (),
        order: Sequence[int] | None = None,
    ) -> tuple[int, int]:
        """Encode stores and accumulations of a body, with the values that they need, in their order or another one.

        What is cheap to have, a scalar, an index or the result of a reduction, is had anew wherever it is used. Values
        do not outlive these instructions, so what is encoded next uses their slots again.

        Returns
        -------
        begin, end : int
            The number of the first of the instructions, and of the one behind the last.
        """
        begin = len(self._code)
        kernel, instructions = self._kernel, body.instructions
        dtypes, operands = value_dtypes(kernel, body), list(map(_operands, instructions))
        uses = [0] * len(instructions)
        for used_value in (*(store.value for store in stores), *(one.value for one in accumulated)):
            uses[used_value] += 1
        for value in range(len(instructions) - 1, -1, -1):
            instr = instructions[value]
            if isinstance(instr, ReduceLoops):  # had anew wherever it is used
                for arg in set(instr.args[1:]):
                    uses[arg] += uses[value]
            elif uses[value]:
                for arg in operands[value]:
                    uses[arg] += 1
        # What is overwritten in place is read first, whatever instruction reads it.
        stores_last = any(arg.kind == "out" and arg.alias >= 0 for arg in kernel.args)
        written: dict[int, list[Store]] = {}
        for store in stores:
            written.setdefault(len(instructions) if stores_last else store.value, []).append(store)
        slots: dict[int, int] = {}
        free: dict[int, list[int]] = {1: [], 2: []}  # by how many slots a value takes

        taken = max(1, len(kernel.shape))

        def new_slots(count: int) -> int:
            nonlocal taken
            taken += count
            self._slots = max(self._slots, taken)
            return taken - count

        def new_slot(dtype: DType) -> int:
            width = _width(dtype)
            return free[width].pop() if free[width] else new_slots(width)

        def free_slot(slot: int, dtype: DType) -> None:
            free[_width(dtype)].append(slot)

        def cast(slot: int, have: DType, wanted: DType, to: int) -> None:
            for operation in cast_operations(have, wanted):
                self._emit(operation, to, slot)
                slot = to

        def slot_of(value: int) -> int:
            """Return the slot of a value, which is computed now if it was put off."""
            if value not in slots:
                slots[value] = to = new_slot(dtypes[value])
                instr = instructions[value]
                if isinstance(instr, Load):
                    access = opcodes()["load", dtypes[value].itemsize]
                    self._emit(access, to, self._arguments[instr.arg], self._place(instr.at))
                elif isinstance(instr, LoopIndex):
                    self._emit(opcodes()["index"], to, 0, self._place(instr.at))
                elif isinstance(instr, ReduceLoops):
                    reduction = reduction_of(kernel, value)
                    found = to if reduction.result == dtypes[value] else new_slot(reduction.result)
                    self._emit(RESULTS + reduction.reducer, found, self._states[value], ddof(instr))
                    if found != to:
                        cast(found, reduction.result, dtypes[value], to)
                        free_slot(found, reduction.result)
                else:
                    assert isinstance(instr, Scalar)
                    if ("scalar", dtypes[value]) not in opcodes():
                        raise CannotInterpret
                    self._emit(opcodes()["scalar", dtypes[value]], to, self._arguments[instr.arg])
            return slots[value]

        def ddof(instr: ReduceLoops) -> int:
            """Return the slot of what a reduction takes besides elements, as float64; 0 if it takes nothing else."""
            to = 0
            for value in instr.args[1:]:
                slot = to = slot_of(value)
                if dtypes[value] != FLOAT64:
                    to = new_slot(FLOAT64)
                    cast(slot, dtypes[value], FLOAT64, to)
                    free_slot(to, FLOAT64)
                used(value)
            return to

        def used(value: int) -> None:
            uses[value] -= 1
            if not uses[value] or isinstance(instructions[value], (Scalar, LoopIndex, ReduceLoops)):
                slot = slots.pop(value, None)
                if slot is not None:
                    free_slot(slot, dtypes[value])

        def write(key: int) -> None:
            found = [(store, slot_of(store.value)) for store in written.get(key, ())]
            for store, slot in found:
                if kernel.args[store.arg].dtype != dtypes[store.value]:
                    raise CannotInterpret
                access = opcodes()["store", dtypes[store.value].itemsize]
                self._emit(access, 0, slot, self._arguments[store.arg], self._place(store.at))
            for store, _ in found:
                used(store.value)

        def accumulate(one: Accumulated, slot: int) -> None:
            reduction, have, last = reduction_of(kernel, one.reduces), dtypes[one.value], slot
            for dtype in reduction.casts:
                if dtype != have:
                    to = new_slot(dtype)
                    cast(last, have, dtype, to)
                    if last != slot:
                        free_slot(last, have)
                    last, have = to, dtype
            if reduction.takes_arrays and one.array > 1:
                kept = new_slots(_width(have) * ceil_div(one.array, POINTS))
                self._emit(ARRAYS + reduction.reducer, self._states[one.reduces], last, 0, kept)
            else:
                number = ACCUMULATIONS + 2 * reduction.reducer + (one.array > 1)
                self._emit(number, self._states[one.reduces], last, self._place(self._position))
            if last != slot:
                free_slot(last, have)

        for value in range(len(instructions)) if order is None else order:
            instr = instructions[value]
            if isinstance(instr, (Apply, LoadIndexed)) and uses[value]:
                args = [slot_of(arg) for arg in operands[value]]
                gathered = self._gather(instr, args) if isinstance(instr, LoadIndexed) else 0
                wide = widened(instr.loop) if isinstance(instr, Apply) and instr.op != "cast" else ()
                temporary = []
                for n, dtype in enumerate(wide[:-1]):
                    have, slot = dtypes[operands[value][n]], args[n]
                    if dtype != have:
                        args[n] = new_slot(dtype)
                        temporary.append(args[n])
                        cast(slot, have, dtype, args[n])
                for arg in operands[value]:
                    used(arg)
                slots[value] = to = new_slot(dtypes[value])
                if isinstance(instr, LoadIndexed):
                    access = opcodes()["gather", dtypes[value].itemsize]
                    self._emit(access, to, self._arguments[instr.arg], self._place(instr.at), gathered)
                elif instr.op == "cast":
                    cast(args[0], instr.loop[0], instr.loop[1], to)
                else:
                    self._emit(opcodes()[instr.op, wide], to, *args)
                    if wide[-1] != dtypes[value]:
                        cast(to, wide[-1], dtypes[value], to)
                    free[1] += temporary
            for one in accumulated:
                if one.value == value:
                    accumulate(one, slot_of(value))
                    used(value)
            write(value)
        write(len(instructions))
        return begin, len(self._code)

    def _emit(self, operation: int, to: int = 0, a: int = 0, b: int = 0, c: int = 0) -> None:
        word = operation | to << 16 | a << 28 | b << 40 | c << 52
        self._code.append(word - (1 << 64) if word >> 63 else word)

    def _place(self, at: Affine) -> int:
        found = self._places.get(at)
        if found is None:
            found = self._places[at] = self.add(at.offset, *at.coef)
        return found

    def _gather(self, instr: LoadIndexed, slots: Sequence[int]) -> int:
        """Add the words of a gather's indices, and return where they begin."""
        words = [len(slots), self._flag_word, self._arguments[instr.source_location]]
        for slot, size, stride in zip(slots, instr.dims, instr.strides, strict=True):
            words += (slot, size, stride)
        return self.add(*words)


def most_needed_first(body: Body) -> list[int]:
    """Return an order of the values of a body: of operands, and of results, what is made of most values comes first.

    Where each step of a loop adds to a sum what it has of another result (a mask is counted), few values are alive in
    this order, as the sum follows the other result step by step; else what each step adds may be alive to the end.
    """
    operands = list(map(_operands, body.instructions))
    needed: list[int] = []  # a bit for each value that a value is made of
    for value, args in enumerate(operands):
        needed.append(reduce(or_, (needed[arg] for arg in args), 1 << value))

    def by_need(values: Iterable[int]) -> list[int]:
        return sorted(values, key=lambda value: needed[value].bit_count())

    found: dict[int, None] = {}
    stack = by_need(store.value for store in body.stores)
    while stack:
        missing = by_need(arg for arg in operands[stack[-1]] if arg not in found)
        if missing:
            stack += missing
        else:
            found[stack.pop()] = None
    return list(found)


def reduction_of(kernel: Kernel, value: int) -> Reduction:
    """Return how the interpreter reduces what is a value of the kernel."""
    instr = kernel.body.instructions[value]
    assert isinstance(instr, ReduceLoops)
    found = reduction(instr.op, instr.loop)
    if found is None:
        raise CannotInterpret
    return found


def _is_known(instr: Instruction) -> bool:
    if isinstance(instr, Apply):
        return can_apply(instr.op, instr.loop)
    if isinstance(instr, ReduceLoops):
        return reduction(instr.op, instr.loop) is not None
    return not isinstance(instr, ScanLoop)


def _operands(instr: Instruction) -> tuple[int, ...]:
    if isinstance(instr, Apply):
        return instr.args
    return instr.index if isinstance(instr, LoadIndexed) else ()


def _width(dtype: DType) -> int:
    """Return how many slots a value takes."""
    return 1 + (dtype == COMPLEX128)
