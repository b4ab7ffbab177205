"""Elementwise kernels as data: the words by which the interpreter runs a kernel that is not compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...core.dtypes import COMPLEX128, KIND
from ...core.schedule.kernel import (
    Affine,
    Apply,
    Body,
    Instruction,
    Kernel,
    Load,
    LoadIndexed,
    LoopIndex,
    Scalar,
    Store,
    value_dtypes,
)
from .collapse import bodies, collapse
from .interpreter import ENTRY, HEAD, POINTS, THREADS, WORDS, opcodes, text
from .program import Launch, Program
from .shape import ceil_div, product

# A value of a block's points takes a slot of shared memory, of which every GPU has 64 KB for a block.
_SLOT_BYTES = POINTS * THREADS * 8
_MAX_SLOTS = (64 << 10) // _SLOT_BYTES


def interpreted(kernel: Kernel) -> Program | None:
    """Return the program by which the interpreter runs a kernel, or None if it cannot.

    It takes the arguments of the kernel as the compiled program does. It cannot reduce or scan, nor compute with small
    integers other than uint8, unsigned ones, or 16-bit floats, draw random numbers, or run a body that is too long.

    Parameters
    ----------
    kernel : Kernel
        The kernel, with the sizes that it runs with.
    """
    if kernel.reduced or 0 in kernel.shape:
        return None
    return _Encoder(collapse(kernel, ordered=False)).program()


class _CannotInterpret(Exception):
    """The kernel has an operation that is not there, or more instructions or values at once than there is room for."""


class _Encoder:
    """Makes the words of one kernel. Slots are the columns of shared memory, of which the first hold the indices."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._words: list[int] = []
        self._code: list[int] = []
        self._places: dict[Affine, int] = {}
        self._slots = len(kernel.shape)
        self._flag = any(isinstance(i, LoadIndexed) for body in bodies(kernel) for i in body.instructions)
        self._arguments = []  # the word of each argument
        self._first = 0
        for arg in kernel.args:
            self._arguments.append(self._first)
            self._first += 2 if arg.kind == "scalar" and KIND[arg.dtype] == "c" else 1
        self._flag_word = self._first
        self._first += self._flag

    def program(self) -> Program | None:
        """Return the program, or None if the kernel has no room in it."""
        kernel = self._kernel
        try:
            sizes = self._add(*kernel.shape)
            region = 0 if kernel.region is None else self._add(*(n for bounds in kernel.region for n in bounds))
            ends = [0]
            for body in bodies(kernel):
                self._encode(body)
                ends.append(len(self._code))
        except _CannotInterpret:
            return None
        code = self._first + len(self._words)
        used = code + len(self._code)
        if self._slots > _MAX_SLOTS or used > WORDS - HEAD:
            return None
        count = product(kernel.shape)
        head = [
            count,
            len(kernel.shape),
            sizes,
            region,
            *(code + end for end in (ends[0], ends[1], ends[-2], ends[-1])),
        ]
        params = (*self._words, *self._code, *[0] * (WORDS - HEAD - used), *head)
        blocks = ceil_div(count, THREADS * POINTS)
        launch = Launch(ENTRY, (blocks, 1, 1), (THREADS, 1, 1), max(self._slots, 1) * _SLOT_BYTES)
        return Program(text(), (launch,), (), self._flag, params)

    def _add(self, *words: int) -> int:
        """Add words, and return where they begin."""
        start = self._first + len(self._words)
        self._words += words
        if start + len(words) > WORDS:
            raise _CannotInterpret
        return start

    def _place(self, at: Affine) -> int:
        found = self._places.get(at)
        if found is None:
            found = self._places[at] = self._add(at.offset, *at.coef)
        return found

    def _emit(self, operation: object, to: int = 0, a: int = 0, b: int = 0, c: int = 0) -> None:
        word = opcodes()[operation] | to << 16 | a << 28 | b << 40 | c << 52
        self._code.append(word - (1 << 64) if word >> 63 else word)

    def _encode(self, body: Body) -> None:
        """Encode a body. What is cheap to have, a scalar or an index, is had anew wherever it is used."""
        if not all(map(_is_known, body.instructions)):
            raise _CannotInterpret
        kernel, instructions = self._kernel, body.instructions
        dtypes = value_dtypes(kernel, body)
        uses = Counter(store.value for store in body.stores)
        for value in range(len(instructions) - 1, -1, -1):
            if uses[value]:
                uses.update(_operands(instructions[value]))
        # What is overwritten in place is read first, whatever instruction reads it.
        stores_last = any(arg.alias >= 0 for arg in kernel.args)
        stores: dict[int, list[Store]] = {}
        for store in body.stores:
            stores.setdefault(len(instructions) if stores_last else store.value, []).append(store)
        slots: dict[int, int] = {}
        free: dict[int, list[int]] = {1: [], 2: []}  # by how many slots a value takes
        width = [1 + (dtype == COMPLEX128) for dtype in dtypes]

        def new_slot(value: int) -> int:
            if free[width[value]]:
                return free[width[value]].pop()
            self._slots += width[value]
            return self._slots - width[value]

        def slot_of(value: int) -> int:
            """Return the slot of a value, which is computed now if it was put off."""
            if value not in slots:
                slots[value] = to = new_slot(value)
                instr = instructions[value]
                if isinstance(instr, Load):
                    access = ("load", dtypes[value].itemsize)
                    self._emit(access, to, self._arguments[instr.arg], self._place(instr.at))
                elif isinstance(instr, LoopIndex):
                    self._emit("index", to, 0, self._place(instr.at))
                else:
                    assert isinstance(instr, Scalar)
                    self._emit(("scalar", dtypes[value]), to, self._arguments[instr.arg])
            return slots[value]

        def used(value: int) -> None:
            uses[value] -= 1
            if not uses[value] or isinstance(instructions[value], (Scalar, LoopIndex)):
                slot = slots.pop(value, None)
                if slot is not None:
                    free[width[value]].append(slot)

        def write(key: int) -> None:
            written = [(store, slot_of(store.value)) for store in stores.get(key, ())]
            for store, slot in written:
                if kernel.args[store.arg].dtype != dtypes[store.value]:
                    raise _CannotInterpret
                access = ("store", dtypes[store.value].itemsize)
                self._emit(access, 0, slot, self._arguments[store.arg], self._place(store.at))
            for store, _ in written:
                used(store.value)

        for value, instr in enumerate(instructions):
            if isinstance(instr, (Apply, LoadIndexed)) and uses[value]:
                args = [slot_of(arg) for arg in _operands(instr)]
                gathered = self._gather(instr, args) if isinstance(instr, LoadIndexed) else 0
                for arg in _operands(instr):
                    used(arg)
                slots[value] = to = new_slot(value)
                if isinstance(instr, Apply):
                    self._emit((instr.op, instr.loop), to, *args)
                else:
                    access = ("gather", dtypes[value].itemsize)
                    self._emit(access, to, self._arguments[instr.arg], self._place(instr.at), gathered)
            write(value)
        write(len(instructions))

    def _gather(self, instr: LoadIndexed, slots: Sequence[int]) -> int:
        """Add the words of a gather's indices, and return where they begin."""
        words = [len(slots), self._flag_word, self._arguments[instr.source_location]]
        for slot, size, stride in zip(slots, instr.dims, instr.strides, strict=True):
            words += (slot, size, stride)
        return self._add(*words)


def _is_known(instr: Instruction) -> bool:
    return not isinstance(instr, Apply) or (instr.op, instr.loop) in opcodes()


def _operands(instr: object) -> tuple[int, ...]:
    if isinstance(instr, Apply):
        return instr.args
    return instr.index if isinstance(instr, LoadIndexed) else ()
