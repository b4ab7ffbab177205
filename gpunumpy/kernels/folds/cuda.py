"""The `reduce`, `accumulate` and `reduceat` of ufuncs on a GPU as folds along an axis.

In a left fold every step needs the step before, so a thread takes a row and walks along the axis. Neighbouring threads
take neighbouring rows, which are adjacent in memory unless the axis is the last one. `reduceat` by a ufunc that is a
reduction in the table of operations has teams of threads share long segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy

from ...core.dtypes import BOOL, C_TYPE, INT64, KIND
from ...core.graph.layout import Layout
from ...core.ops import table
from ..codegen import op_code
from ..codegen.program import Program
from ..cuda.program_builder import EMPTY_PROGRAM, THREADS, ProgramBuilder, pointer_declaration

DType = numpy.dtype[Any]

_FLOAT32 = numpy.dtype(numpy.float32)
# Ops whose folds of low-precision floats have a float32 state, as NumPy's folds have along the last axis.
_WIDE_STATE_OPS = ("subtract", "divide")
# (average length, threads) of a segment from that length on. One thread takes a segment if there are enough rows, and
# enough of them are adjacent in memory.
_TEAM_THREADS = ((2048, THREADS), (16, 32))
_MIN_SINGLE_ROWS, _MIN_ADJACENT_ROWS = 1 << 15, 32


class _Code(NamedTuple):
    """C++ of a fold: the type of `state`, and expressions of `state` and the element `next`.

    `first` is the state after the first element, `step` the state after another, `finish` the result.
    """

    state: str
    first: str
    step: str
    finish: str


def fold(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[DType]) -> Program:
    """Return a program for the left fold along an axis.

    The first element always takes part, the others where the mask is set.
    """
    op, _, axis = options
    out, x, *masks = layouts
    builder = ProgramBuilder()
    code = _left_fold(builder, op, dtypes[0], dtypes[1], wide_state=True)
    find, condition = builder.unravel("e", out.shape), ""
    for mask in masks:
        find += f" const long long mask_at = {builder.offset(_first_along(mask, axis), out.shape)};"
        condition = f"if (mask[mask_at + i * {builder.param(mask.strides[axis])}]) "
    body = (
        f"{find}\n    const {C_TYPE[dtypes[1]]}* row = x + {builder.offset(_first_along(x, axis), out.shape)};\n"
        f"    {C_TYPE[dtypes[1]]} next = row[0]; {code.state} state = {code.first};\n"
        f"#pragma unroll 4\n    for (long long i = 1; i < {builder.param(x.shape[axis])}; ++i) {{\n"
        f"      next = row[i * {builder.param(x.strides[axis])}];\n      {condition}state = {code.step};\n    }}\n"
        f"    out[e] = {code.finish};"
    )
    count = prod(out.shape)
    builder.add_loop_entry("fold", "e", count, builder.param(count), body)
    parameters = [*_arrays(dtypes), *(pointer_declaration(BOOL, "mask") for _ in masks)]
    return builder.build(parameters) if count else EMPTY_PROGRAM


def accumulate(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[DType]) -> Program:
    """Return a program for the left folds of all prefixes of an axis."""
    op, _, axis = options
    out, x = layouts
    rows = out.shape[:axis] + out.shape[axis + 1 :]
    builder = ProgramBuilder()
    code = _left_fold(builder, op, dtypes[0], dtypes[1], wide_state=False)
    body = (
        f"{builder.unravel('e', rows)}\n"
        f"    const {C_TYPE[dtypes[1]]}* row = x + {builder.offset(_first_along(x, axis), rows)};\n"
        f"    {C_TYPE[dtypes[0]]}* out_row = out + {builder.offset(_first_along(out, axis), rows)};\n"
        f"    {C_TYPE[dtypes[1]]} next = row[0]; {code.state} state = {code.first};\n    out_row[0] = {code.finish};\n"
        f"#pragma unroll 4\n    for (long long i = 1; i < {builder.param(x.shape[axis])}; ++i) {{\n"
        f"      next = row[i * {builder.param(x.strides[axis])}];\n      state = {code.step};\n"
        f"      out_row[i * {builder.param(out.strides[axis])}] = {code.finish};\n    }}"
    )
    builder.add_loop_entry("accumulate", "e", prod(rows), builder.param(prod(rows)), body)
    parameters = _arrays(dtypes)
    return builder.build(parameters) if prod(out.shape) else EMPTY_PROGRAM


def reduceat(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[DType]) -> Program:
    """Return a program for the folds from each start to the next, or of one element if the next start is not larger."""
    op, _, axis = options
    out, x, starts = layouts
    count, segments = prod(out.shape), starts.shape[0]
    if not count:
        return EMPTY_PROGRAM
    builder = ProgramBuilder()
    team = 1
    if op in table.REDUCTIONS:
        code = _reduction(builder, op, dtypes[0], dtypes[1])
        team = _team_size(x.shape[axis] // segments, count, prod(out.shape[axis + 1 :]))
    else:
        code = _left_fold(builder, op, dtypes[0], dtypes[1], wide_state=True)
    # Coordinate `x{axis}` is the number of the segment. `row_offset` is where the row begins, without its segments.
    row_strides = (*x.strides[:axis], 0, *x.strides[axis + 1 :])
    row_offset = builder.offset(Layout(out.shape, row_strides, x.offset), out.shape)
    n, step, total = builder.param(x.shape[axis]), builder.param(x.strides[axis]), builder.param(segments)
    start = f"{builder.param(starts.offset)} + x{axis} * {builder.param(starts.strides[0])}"
    body = (
        f"{builder.unravel('e', out.shape)}\n    const {C_TYPE[dtypes[1]]}* row = x + {row_offset};\n"
        f"    const long long first = starts[{start}];\n"
        f"    long long last = x{axis} + 1 < {total} ? starts[{start} + {builder.param(starts.strides[0])}] : {n};\n"
        f"    if (last <= first) last = first + 1;\n"
        f"    const int lane = threadIdx.x % {team};\n    {code.state} state;\n"
        f"    if (first + lane < last) {{\n"
        f"      {C_TYPE[dtypes[1]]} next = row[(first + lane) * {step}]; state = {code.first};\n"
        f"#pragma unroll 4\n      for (long long i = first + lane + {team}; i < last; i += {team}) {{\n"
        f"        next = row[i * {step}];\n        state = {code.step};\n      }}\n    }}\n"
        f"    {_combine_team(op, dtypes[0], dtypes[1], code, team)}if (lane == 0) out[e] = {code.finish};"
    )
    builder.add_loop_entry("reduceat", "e", count, builder.param(count), body, team)
    parameters = [*_arrays(dtypes), pointer_declaration(INT64, "starts")]
    return builder.build(parameters)


def _left_fold(builder: ProgramBuilder, op: str, result: DType, argument: DType, wide_state: bool) -> _Code:
    """Return a fold in which every step applies the op; with `wide_state` some ops widen low-precision floats."""
    state = _FLOAT32 if wide_state and op in _WIDE_STATE_OPS and KIND[result] == "e" else result
    operand = argument if state == result else state
    first = builder.cast(builder.cast("next", argument, result), result, state)
    step = builder.apply(op, (state, operand, state), ["state", builder.cast("next", argument, operand)])
    return _Code(C_TYPE[state], first, step, builder.cast("state", state, result))


def _reduction(builder: ProgramBuilder, op: str, result: DType, argument: DType) -> _Code:
    """Return a fold by the reduction in the table of operations, in a wider float where that has one."""
    builder.require_op(op, (argument, result))
    code = op_code.reduction(op, (argument, result))
    return _Code(code.state, code.map(["next"], "0"), code.accumulate("state", ["next"], "0"), code.finish("state"))


def _combine_team(op: str, result: DType, argument: DType, code: _Code, team: int) -> str:
    """Return C++ that combines the states of a team in its first thread, in a fixed tree.

    Threads without an element have no state.
    """
    if team == 1:
        return ""
    combined = op_code.reduction(op, (argument, result)).combine("state", "states[threadIdx.x + step]")
    barrier = "__syncwarp();" if team == 32 else "__syncthreads();"
    return (
        f"__shared__ {code.state} states[{THREADS}];\n"
        f"    if (first + lane < last) states[threadIdx.x] = state;\n    {barrier}\n"
        f"    for (int step = {team // 2}; step; step /= 2) {{\n"
        f"      if (lane < step && first + lane + step < last) states[threadIdx.x] = state = {combined};\n"
        f"      {barrier}\n    }}\n    "
    )


def _team_size(length: int, count: int, adjacent_rows: int) -> int:
    """Return how many threads share a segment."""
    if adjacent_rows >= _MIN_ADJACENT_ROWS and count >= _MIN_SINGLE_ROWS:
        return 1
    return next((team for least, team in _TEAM_THREADS if length >= least), 1)


def _arrays(dtypes: Sequence[DType]) -> list[str]:
    """Return the parameters of the result and the array, of which the result is no part."""
    return [pointer_declaration(dtypes[0], "__restrict__ out", ""), pointer_declaration(dtypes[1], "x")]


def _first_along(layout: Layout, axis: int) -> Layout:
    """Return the layout of the first elements along an axis, without that axis."""
    shape, strides, offset = layout
    return Layout(shape[:axis] + shape[axis + 1 :], strides[:axis] + strides[axis + 1 :], offset)
