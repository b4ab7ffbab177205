"""The kernel, as pure data: the scheduler makes it, an executor runs it.

A kernel is a loop nest over `shape`. The last `reduced` loop dimensions are reduced. A value that does not depend on
them (a `ReduceLoops`, or a value computed from row-level values alone) is at *row level*: it is computed once for every
point of the outer dimensions. Every other value is at *full level*, computed at every loop point.

A value is named by the position of its instruction in `Body.instructions`, which is in topological order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import NamedTuple, Protocol, TypeAlias

import numpy

from ..dtypes import DType
from ..late_dataclasses import dataclass


class Affine(NamedTuple):
    """``offset + sum(coef[d] * loop_index[d])``, in elements (not bytes)."""

    offset: int
    coef: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """The element of buffer argument `arg` at `at`."""

    arg: int
    at: Affine


@dataclass(frozen=True, slots=True)
class LoadIndexed:
    """The element at ``at + sum(wrap(index[k], dims[k]) * strides[k])`` of buffer argument `arg`.

    The index values are int64; a negative index counts from the end. An index out of bounds is clamped, and reported
    as the value of the scalar argument `source_location`: the number of the place that recorded the operation.
    """

    arg: int
    at: Affine
    index: tuple[int, ...]
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    source_location: int


@dataclass(frozen=True, slots=True)
class Scalar:
    """The value of scalar argument `arg`."""

    arg: int


@dataclass(frozen=True, slots=True)
class LoopIndex:
    """An int64 value: the affine function `at` of the loop indices."""

    at: Affine


@dataclass(frozen=True, slots=True)
class Apply:
    """The elementwise op `op` applied to the values `args`; `loop` is the argument dtypes followed by the result dtype.

    The values have the dtypes of the loop: the scheduler inserts the op ``cast`` where the dtypes differ.
    """

    op: str
    args: tuple[int, ...]
    loop: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class ReduceLoops:
    """The reduction `op` of ``args[0]`` over the reduced loop dimensions; `loop` as for `Apply`.

    The arguments after the first (a mean to subtract, a ddof) are row-level values for the map or the post of the op.
    """

    op: str
    args: tuple[int, ...]
    loop: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class ScanLoop:
    """The inclusive scan of ``args[0]`` by the reduction `op` along the one reduced loop dimension, at full level."""

    op: str
    args: tuple[int, ...]
    loop: tuple[DType, ...]


Instruction: TypeAlias = Load | LoadIndexed | Scalar | LoopIndex | Apply | ReduceLoops | ScanLoop


@dataclass(frozen=True, slots=True)
class Store:
    """A write of value `value` to buffer argument `arg` at `at`.

    Where the value is at row level, the coefficients of `at` for the reduced dimensions are zero.
    """

    arg: int
    value: int
    at: Affine


@dataclass(frozen=True, slots=True)
class Body:
    """The instructions of a kernel in topological order, and the stores of their values."""

    instructions: tuple[Instruction, ...]
    stores: tuple[Store, ...]


@dataclass(frozen=True, slots=True)
class Arg:
    """A kernel argument: `kind` is "in" or "out" (a pointer to `dtype`) or "scalar" (a value of `dtype`).

    `aligned` promises that the address is a multiple of 16 bytes. `alias` is the number of an "in" argument of the same
    buffer, or -1 if there is none: of an "out" argument that overwrites it in place, each element where it was read; or
    of an "in" argument that is not the first one.
    """

    kind: str
    dtype: DType
    aligned: bool = True
    alias: int = -1


def memory_of(args: Sequence[Arg], number: int) -> int:
    """Return the number of the first argument that has the buffer of an argument."""
    while (alias := args[number].alias) >= 0:
        number = alias
    return number


@dataclass(frozen=True, slots=True)
class Kernel:
    """One fused kernel.

    `region`, if given, is a box ``((low, high), ...)`` of the loop space: `body` runs inside the box, `outside`
    elsewhere. (An update of a part of an array that writes a fresh buffer: new values inside, old values outside.)
    """

    shape: tuple[int, ...]
    reduced: int
    args: tuple[Arg, ...]
    body: Body
    region: tuple[tuple[int, int], ...] | None = None
    outside: Body | None = None
    name: str = field(default="kernel", compare=False)


def map_affines(body: Body, change: Callable[[Affine], Affine]) -> Body:
    """Return a body with `change` applied to every affine function in it."""
    instructions: list[Instruction] = []
    for instr in body.instructions:
        if type(instr) is Load:
            instr = Load(instr.arg, change(instr.at))
        elif type(instr) is LoopIndex:
            instr = LoopIndex(change(instr.at))
        elif type(instr) is LoadIndexed:
            at = change(instr.at)
            instr = LoadIndexed(instr.arg, at, instr.index, instr.dims, instr.strides, instr.source_location)
        instructions.append(instr)
    stores = tuple([Store(store.arg, store.value, change(store.at)) for store in body.stores])
    return Body(tuple(instructions), stores)


class HasArgs(Protocol):
    """What has the arguments of a kernel."""

    @property
    def args(self) -> tuple[Arg, ...]:
        """The arguments, in the order of their numbers."""


def value_dtypes(kernel: HasArgs, body: Body) -> list[DType]:
    """Return the dtype of every value of `body`."""
    dtypes: list[DType] = []
    for instr in body.instructions:
        if isinstance(instr, Apply):
            dtypes.append(instr.loop[-1])
        elif isinstance(instr, (Load, LoadIndexed, Scalar)):
            dtypes.append(kernel.args[instr.arg].dtype)
        elif isinstance(instr, LoopIndex):
            dtypes.append(numpy.dtype(numpy.int64))
        else:
            dtypes.append(instr.loop[-1])
    return dtypes


def operands(instr: Instruction) -> tuple[int, ...]:
    """Return the values from which an instruction computes its own."""
    if isinstance(instr, (Apply, ReduceLoops, ScanLoop)):
        return instr.args
    return instr.index if isinstance(instr, LoadIndexed) else ()


def phases(body: Body) -> list[int]:
    """Return, for every value, its phase: the length of the longest chain of reductions up to and including it."""
    out: list[int] = []
    for instr in body.instructions:
        out.append(max((out[k] for k in operands(instr)), default=0) + isinstance(instr, ReduceLoops))
    return out


def are_row_level(kernel: Kernel, body: Body) -> list[bool]:
    """Return for every value of `body` whether it is at row level, and so computed once a row."""
    outer = len(kernel.shape) - kernel.reduced
    is_row_level: list[bool] = []
    for instr in body.instructions:
        if isinstance(instr, Apply):
            is_row_level.append(False not in [is_row_level[i] for i in instr.args])
        elif isinstance(instr, Scalar):
            is_row_level.append(True)
        elif isinstance(instr, (Load, LoopIndex)):
            is_row_level.append(not any(instr.at.coef[outer:]))
        elif isinstance(instr, LoadIndexed):
            is_row_level.append(not any(instr.at.coef[outer:]) and all(is_row_level[i] for i in instr.index))
        else:
            is_row_level.append(isinstance(instr, ReduceLoops))
    return is_row_level
