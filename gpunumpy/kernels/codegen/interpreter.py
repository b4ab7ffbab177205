"""Elementwise kernels as data: one program, compiled once, runs their bodies before they are compiled themselves.

The C expression of each operation is the one that a generated kernel has (`op_code.expression`), and neither contracts
operations, so both give the same bits. What the interpreter reads are words of 8 bytes, all of them parameters of the
launch: the arguments of the kernel, as any kernel takes them, then places, instructions and, last, the head
(interpreter.cuh describes them).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TypeAlias

from ...core.dtypes import BOOL, C_TYPE, COMPLEX128, DTYPES, FLOAT64, KIND, DType, check
from ...core.ops.table import ELEMENTWISE, Loop, loops
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
from . import op_code
from .collapse import bodies, collapse
from .program import Launch, Program
from .shape import ceil_div, product
from .sources import source

ENTRY = "interpret"
WORDS = 512  # 8 bytes each: the parameters that every GPU takes
POINTS = 4  # of a thread
_HEAD = 8  # words of the head
GROUP = 40  # operations of a function
THREADS = 64  # of a block
_SIZES = {"WORDS": WORDS, "POINTS": POINTS, "THREADS": THREADS, "HEAD": _HEAD, "GROUP": GROUP}
# A value of a block's points takes a slot of shared memory, of which every GPU has 64 KB for a block.
_SLOT_BYTES = POINTS * THREADS * 8
_MAX_SLOTS = (64 << 10) // _SLOT_BYTES
# With these dtypes nearly all programs compute. Each further one has some hundred operations to compile.
_DTYPES: tuple[DType, ...] = tuple(map(check, ("?", "u1", "i4", "i8", "f4", "f8", "c8", "c16")))
_LETTERS = "xyz"
_GROUP = """\
FUNCTION group_%d(int operation, int to, int a, int b, int c) {
  COLUMNS;
  switch (operation) {
%s
  }
}"""

_Opcodes: TypeAlias = dict[object, int]


@cache
def opcodes() -> _Opcodes:
    """Return the number of every operation: of accesses by the bytes of an element, of the others by dtypes.

    Elementwise operations follow the others, from `GROUP` on.
    """
    accesses: list[object] = [(kind, nbytes) for kind in ("load", "store", "gather") for nbytes in (1, 2, 4, 8, 16)]
    accesses += ["index", *(("scalar", dtype) for dtype in DTYPES)]
    assert len(accesses) <= GROUP
    found = {key: number for number, key in enumerate(accesses)}
    found.update((key, GROUP + number) for number, key in enumerate(_elementwise()))
    return found


def _elementwise() -> Iterator[tuple[str, Loop]]:
    for name in ELEMENTWISE:
        for loop in loops(name):
            # The functions of complex numbers are several of real ones each.
            is_too_long = any(KIND[dtype] == "c" for dtype in loop) and op_code.is_long(name, loop)
            if all(dtype in _DTYPES for dtype in loop) and not is_too_long:
                yield name, loop


@cache
def text() -> str:
    """Return the CUDA C++ of the interpreter.

    The compiler takes long for large functions: operations of much code are functions, and others are in groups.
    """
    functions: list[str] = []
    lines: dict[int, list[str]] = {}
    for key, number in opcodes().items():
        if number < GROUP:
            code = _access(key)
        else:
            assert isinstance(key, tuple)
            name, loop = key
            if op_code.is_long(name, loop):
                functions.append(_function(number, name, loop))
            code = _operation(number, name, loop)
        lines.setdefault(number // GROUP, []).append(f"    case {number}: {code} break;")
    accesses, *groups = ("\n".join(found) for found in lines.values())
    calls = "\n".join(f"    case {n}: group_{n}(operation, to, a, b, c); break;" for n in range(1, len(lines)))
    head, tail = source("codegen/wrap", "codegen/interpreter").split("// Groups\n")
    parts = [
        op_code.helpers([*_elementwise(), *(("cast", (FLOAT64, dtype)) for dtype in DTYPES)]),
        *(f"#define {name} {value}" for name, value in _SIZES.items()),
        head,
        *functions,
        *(_GROUP % (n, cases) for n, cases in enumerate(groups, 1)),
        tail.replace("    // accesses", accesses).replace("    // calls", calls),
    ]
    return "\n".join(parts)


def _access(key: object) -> str:
    """Return the C of an instruction that reads or writes an argument, or makes an index."""
    if key == "index":
        return "places(at, w, b, dims, cells); EACH put(CELL(to), at[v]);"
    assert isinstance(key, tuple)
    kind, what = key
    if kind == "scalar":
        return f"{{ const {C_TYPE[what]} x = {_scalar(what)}; EACH put(CELL(to), x); }}"
    bits = f"u{8 * what}" if what <= 8 else "Pair"
    return f"{kind}<{bits}>(w, to, a, b, c, dims, mask, cells);"


def _function(number: int, name: str, loop: Loop) -> str:
    """Return the function of an elementwise operation of much code."""
    letters = _LETTERS[: len(loop) - 1]
    parameters = ", ".join(f"{C_TYPE[dtype]} {x}" for x, dtype in zip(letters, loop, strict=False))
    result = op_code.expression(name, loop, letters)
    return f"__device__ __noinline__ {C_TYPE[loop[-1]]} operation_{number}({parameters}) {{ return {result}; }}"


def _operation(number: int, name: str, loop: Loop) -> str:
    """Return the C of an elementwise instruction; that of few machine instructions is there for each point."""
    letters = _LETTERS[: len(loop) - 1]
    result = op_code.expression(name, loop, letters)
    each = "EACH" if not any(part in result for part in ("op::", "/", "sqrt", "next")) else "EACH_ALONE"
    if op_code.is_long(name, loop):
        each, result = "EACH_ALONE", f"operation_{number}({', '.join(letters)})"
    values = " ".join(
        f"const {C_TYPE[dtype]} {x} = get<{C_TYPE[dtype]}>(CELL({slot}));"
        for x, slot, dtype in zip(letters, "abc", loop, strict=False)
    )
    return f"{each} {{ {values} put(CELL(to), {result}); }}"


def _scalar(dtype: DType) -> str:
    """Return the C expression of a scalar argument, as `Unit.scalar` has it, of the words that hold it."""
    if dtype == BOOL:
        return "w[a] != 0"
    have: DType = FLOAT64
    value = "op::bit_cast<f64>(w[a])"
    if KIND[dtype] == "c":
        value = op_code.expression("complex", (FLOAT64, FLOAT64, COMPLEX128), [value, "op::bit_cast<f64>(w[a + 1])"])
        have = COMPLEX128
    elif KIND[dtype] not in "ef":
        return f"{C_TYPE[dtype]}(w[a])"
    return value if dtype == have else op_code.expression("cast", (have, dtype), [value])


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
        if self._slots > _MAX_SLOTS or used > WORDS - _HEAD:
            return None
        count = product(kernel.shape)
        head = [
            count,
            len(kernel.shape),
            sizes,
            region,
            *(code + end for end in (ends[0], ends[1], ends[-2], ends[-1])),
        ]
        params = (*self._words, *self._code, *[0] * (WORDS - _HEAD - used), *head)
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
