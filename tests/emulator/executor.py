"""Programs and kernels, run on the emulated machine by the calling convention of generated CUDA."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Protocol

import numpy

from gpunumpy.core.dtypes import KIND
from gpunumpy.core.schedule.kernel import Kernel
from gpunumpy.kernels.codegen.generate import generate
from gpunumpy.kernels.codegen.interpreted import interpreted
from gpunumpy.kernels.cuda.launch import ARGUMENT_FORMAT
from gpunumpy.kernels.cuda.tiers import with_interpreter

from .build import compile_text
from .machine import EmulatorError, launch
from .memory import Staging


class Launch(Protocol):
    """What the emulator reads of a launch: see "Calling convention of generated CUDA" in docs/design/kernels.md."""

    @property
    def entry(self) -> str: ...
    @property
    def grid(self) -> tuple[int, int, int]: ...
    @property
    def block(self) -> tuple[int, int, int]: ...
    @property
    def shared(self) -> int: ...


class Scratch(Protocol):
    """What the emulator reads of a piece of scratch memory."""

    @property
    def nbytes(self) -> int: ...
    @property
    def zeroed(self) -> bool: ...


class Program(Protocol):
    """What the emulator reads of a program."""

    @property
    def text(self) -> str: ...
    @property
    def launches(self) -> tuple[Launch, ...]: ...
    @property
    def scratch(self) -> tuple[Scratch, ...]: ...
    @property
    def flag(self) -> bool: ...
    @property
    def params(self) -> tuple[int, ...]: ...


def scalar_words(value: Any) -> tuple[int, ...]:
    """The 8-byte parameters that pass `value`: its integer value, its float, its double, or its two doubles."""
    if isinstance(value, numpy.float32):
        return struct.unpack("<Q", struct.pack("<f4x", value))
    kind = numpy.asarray(value).dtype.kind
    if kind in "biu":
        return (int(value),)
    if kind == "c":
        return (*scalar_words(float(value.real)), *scalar_words(float(value.imag)))
    return struct.unpack("<Q", struct.pack("<d", float(value)))


def run_program(
    program: Program,
    arguments: Sequence[Any],
    *,
    guard: bool = True,
    seed: int = 0,
    timeout: float = 60.0,
) -> int:
    """Run the launches of `program` and return the flag: 0, or what the kernels stored there.

    Parameters
    ----------
    program : Program
        From `gpunumpy.kernels.codegen.generate`.
    arguments : sequence
        One a kernel argument: an array, passed as the address of its first element (so ``base[5:]`` passes an
        offset into ``base``); or a NumPy or Python scalar, of the kind that the argument has. A read-only array is
        one that the kernels must not write, unless another argument is a writable view of the same memory.
    guard : bool, optional
        Whether to run on copies with inaccessible memory around them, that accesses out of bounds are found.
    seed : int, optional
        If not 0, blocks and threads start in a random order drawn from it.
    timeout : float, optional
        Seconds that a launch may take.

    Raises
    ------
    EmulatorError
        If a kernel misbehaves, or leaves zeroed scratch memory other than zero.
    """
    module = compile_text(program.text, tuple(dict.fromkeys(one.entry for one in program.launches)))
    flag = numpy.zeros(1, numpy.int32)
    # Scratch that nobody promises to be zero is full of NaNs.
    scratch = [numpy.full(s.nbytes, 0 if s.zeroed else 0xFF, numpy.uint8) for s in program.scratch]
    arrays = [argument for argument in arguments if isinstance(argument, numpy.ndarray)]
    with Staging([*arrays, *scratch, flag], guard) as staging:
        words: list[int] = []
        for argument in arguments:
            if isinstance(argument, numpy.ndarray):
                words.append(staging.address(argument))
            else:
                words.extend(scalar_words(argument))
        words += [staging.address(block) for block in scratch]
        if program.flag:
            words.append(staging.address(flag))
        words += program.params
        for one in program.launches:
            launch(module, one.entry, one.grid, one.block, words, shared=one.shared, seed=seed, timeout=timeout)
            if damages := staging.damages():
                raise EmulatorError(f"kernel {one.entry!r} wrote out of bounds of a buffer {'; '.join(damages)}")
    for number, (block, wanted) in enumerate(zip(scratch, program.scratch)):
        if wanted.zeroed and (left := numpy.flatnonzero(block)).size:
            raise EmulatorError(f"scratch {number} must be left zero; byte {left[0]} of {wanted.nbytes} is not")
    return int(flag[0])


def run_kernel(kernel: Kernel, arguments: Sequence[Any], *, processors: int = 4, **options: Any) -> int:
    """Generate the CUDA of `kernel` and run it; returns the flag.

    Parameters
    ----------
    kernel : Kernel
        What to run.
    arguments : sequence
        One for each of ``kernel.args``: an array that begins at element 0 of the buffer, or a scalar.
    processors : int, optional
        For how many multiprocessors to generate.
    **options
        As for `run_program`.
    """
    return run_program(generate(kernel, processors), bind(kernel, arguments), **options)


def run_interpreted(kernel: Kernel, arguments: Sequence[Any], *, processors: int = 4, **options: Any) -> int:
    """Run `kernel` by the interpreter, which must be able to; as `run_kernel` otherwise."""
    program = interpreted(kernel, processors)
    assert program is not None
    return run_program(with_interpreter(program), bind(kernel, arguments), **options)


def bind(kernel: Kernel, arguments: Sequence[Any]) -> list[Any]:
    """`arguments` for `run_program`: scalars of their dtypes, inputs read-only.

    Raise what the launch of a kernel raises for a scalar of another kind than its dtype's.
    """
    bound: list[Any] = []
    for arg, value in zip(kernel.args, arguments, strict=True):
        if arg.kind == "scalar":
            format = ARGUMENT_FORMAT[KIND[arg.dtype]]
            if KIND[arg.dtype] != "b":
                struct.pack("=" + format, *((value.real, value.imag) if format == "dd" else (value,)))
            with numpy.errstate(over="ignore"):
                bound.append(arg.dtype.type(value))
        else:
            view = value.view()
            view.flags.writeable = arg.kind == "out"
            bound.append(view)
    return bound
