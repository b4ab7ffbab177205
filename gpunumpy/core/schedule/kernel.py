"""The kernel: what the scheduler hands to an executor, as pure data.

A kernel is a loop nest over `shape`. The last `reduced` loop dimensions are reduced: a value that does not depend on
them (a `Reduce`, or anything computed from row-level values alone) stands at *row level* and is computed once for
every point of the outer dimensions; everything else stands at *full level*.

A value is named by its position in `Body.instrs`, which is a topological order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy

from ..dtypes import DType


@dataclass(frozen=True, slots=True)
class Affine:
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

    The index values are int64; a negative one counts from the end. One out of bounds is clamped and reported with the
    number of the scalar argument `site` that names the operation.
    """

    arg: int
    at: Affine
    index: tuple[int, ...]
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    source_location: int


@dataclass(frozen=True, slots=True)
class Scalar:
    """Scalar argument `arg`, passed by value."""

    arg: int


@dataclass(frozen=True, slots=True)
class LoopIndex:
    """An int64 value: the affine function `at` of the loop indices."""

    at: Affine


@dataclass(frozen=True, slots=True)
class Apply:
    """The table's elementwise row `row`; `loop` is its argument dtypes followed by its result dtype.

    The arguments have the loop's dtypes already: the scheduler inserts rows ``cast`` where they do not.
    """

    op: str
    args: tuple[int, ...]
    loop: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class ReduceLoops:
    """The table's reduction `row` of `args` over the reduced loop dimensions; `loop` as for `Apply`.

    Row-level arguments after the first (a mean to subtract, a ddof) are used where the row's map or post needs them.
    """

    op: str
    args: tuple[int, ...]
    loop: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class ScanLoop:
    """The inclusive scan by reduction `row` of `args[0]` along the one reduced loop dimension; a full-level value."""

    op: str
    args: tuple[int, ...]
    loop: tuple[DType, ...]


Instruction: TypeAlias = Load | LoadIndexed | Scalar | LoopIndex | Apply | ReduceLoops | ScanLoop


@dataclass(frozen=True, slots=True)
class Store:
    """Write value `value` to buffer argument `arg` at `at` (a row-level value has zero coefficients where reduced)."""

    arg: int
    value: int
    at: Affine


@dataclass(frozen=True, slots=True)
class Body:
    instrs: tuple[Instruction, ...]
    stores: tuple[Store, ...]


@dataclass(frozen=True, slots=True)
class Arg:
    """A kernel argument: ``kind`` is "in" or "out" (a pointer to `dtype`) or "scalar" (one value of `dtype`).

    `aligned` promises a pointer to a multiple of 16 bytes. `alias` is the number of the "in" argument whose buffer
    this "out" argument overwrites in place at the very elements that were read, or -1.
    """

    kind: str
    dtype: DType
    aligned: bool = True
    alias: int = -1


@dataclass(frozen=True, slots=True)
class Kernel:
    """One fused kernel.

    `region`, if given, is a box ``((low, high), ...)`` of the loop space: `body` runs inside it, `outside` elsewhere.
    (An update of a part of an array that writes a fresh buffer: the new values inside, the old ones outside.)
    `count` is the number of loop points.
    """

    shape: tuple[int, ...]
    reduced: int
    args: tuple[Arg, ...]
    body: Body
    region: tuple[tuple[int, int], ...] | None = None
    outside: Body | None = None
    name: str = field(default="kernel", compare=False)


def value_dtypes(kernel: Kernel, body: Body) -> list[DType]:
    """The dtype of every value of `body`."""
    out: list[DType] = []
    for instr in body.instrs:
        if isinstance(instr, (Load, LoadIndexed, Scalar)):
            out.append(kernel.args[instr.arg].dtype)
        elif isinstance(instr, LoopIndex):
            out.append(numpy.dtype(numpy.int64))
        else:
            out.append(instr.loop[-1])
    return out


def row_level(kernel: Kernel, body: Body) -> list[bool]:
    """For every value of `body`, whether it is computed once a row instead of once a loop point."""
    outer = len(kernel.shape) - kernel.reduced
    level: list[bool] = []
    for instr in body.instrs:
        if isinstance(instr, Scalar):
            level.append(True)
        elif isinstance(instr, (Load, LoopIndex)):
            level.append(not any(instr.at.coef[outer:]))
        elif isinstance(instr, LoadIndexed):
            level.append(not any(instr.at.coef[outer:]) and all(level[i] for i in instr.index))
        elif isinstance(instr, Apply):
            level.append(all(level[i] for i in instr.args))
        else:
            level.append(isinstance(instr, ReduceLoops))
    return level
