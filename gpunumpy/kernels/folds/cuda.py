"""The methods of ufuncs that walk along an axis on a GPU: left folds, their prefixes, and the folds of segments.

In a left fold every step needs the one before, so a thread takes a row and walks along the axis; neighbouring threads
take neighbouring rows, which lie next to each other in memory unless the axis is the last one. The segments of
`reduceat` by a ufunc that the table can reduce are shared out among teams of threads where they are long.
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
from ..cuda.routine import NOTHING, THREADS, Routine, pointer

DType = numpy.dtype[Any]

_FLOAT32 = numpy.dtype(numpy.float32)
# Their folds carry 16-bit floats in float32, as NumPy's do along the last axis.
_CARRIED = ("subtract", "divide")
# The threads to a segment, for segments of this average length or more. One thread will do where there are enough
# rows whose elements lie side by side.
_TEAMS = ((2048, THREADS), (16, 32))
_ENOUGH_ROWS, _SIDE_BY_SIDE = 1 << 15, 32


class _Code(NamedTuple):
    """How to fold, as C: `first` and `step` take the element `next`, `step` and `post` the state so far, `state`."""

    state: str
    first: str
    step: str
    post: str


def fold(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[DType]) -> Program:
    """The left fold along an axis; the first element always takes part, the others where the mask says."""
    op, _, axis = options
    out, x, *masks = layouts
    text = Routine()
    code = _left_fold(text, op, dtypes[0], dtypes[1], carried=True)
    find, condition = text.split("e", out.shape), ""
    for mask in masks:
        find += f" const long long mask_at = {text.offset(_without(mask, axis), out.shape)};"
        condition = f"if (mask[mask_at + i * {text.param(mask.strides[axis])}]) "
    body = (
        f"{find}\n    const {C_TYPE[dtypes[1]]}* from = x + {text.offset(_without(x, axis), out.shape)};\n"
        f"    {C_TYPE[dtypes[1]]} next = from[0]; {code.state} state = {code.first};\n"
        f"#pragma unroll 4\n    for (long long i = 1; i < {text.param(x.shape[axis])}; ++i) {{\n"
        f"      next = from[i * {text.param(x.strides[axis])}];\n      {condition}state = {code.step};\n    }}\n"
        f"    out[e] = {code.post};"
    )
    count = prod(out.shape)
    text.each("fold", "e", count, text.param(count), body)
    names = [*_arrays(dtypes), *(pointer(BOOL, "mask") for _ in masks)]
    return text.program(names) if count else NOTHING


def accumulate(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[DType]) -> Program:
    """The left folds of all beginnings of an axis."""
    op, _, axis = options
    out, x = layouts
    rows = out.shape[:axis] + out.shape[axis + 1 :]
    text = Routine()
    code = _left_fold(text, op, dtypes[0], dtypes[1], carried=False)
    body = (
        f"{text.split('e', rows)}\n    const {C_TYPE[dtypes[1]]}* from = x + {text.offset(_without(x, axis), rows)};\n"
        f"    {C_TYPE[dtypes[0]]}* to = out + {text.offset(_without(out, axis), rows)};\n"
        f"    {C_TYPE[dtypes[1]]} next = from[0]; {code.state} state = {code.first};\n    to[0] = {code.post};\n"
        f"#pragma unroll 4\n    for (long long i = 1; i < {text.param(x.shape[axis])}; ++i) {{\n"
        f"      next = from[i * {text.param(x.strides[axis])}];\n      state = {code.step};\n"
        f"      to[i * {text.param(out.strides[axis])}] = {code.post};\n    }}"
    )
    text.each("accumulate", "e", prod(rows), text.param(prod(rows)), body)
    names = _arrays(dtypes)
    return text.program(names) if prod(out.shape) else NOTHING


def reduceat(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[DType]) -> Program:
    """The folds from each start to the next, or of one element where the next start is not larger."""
    op, _, axis = options
    out, x, starts = layouts
    count, segments = prod(out.shape), starts.shape[0]
    if not count:
        return NOTHING
    text = Routine()
    team = 1
    if op in table.REDUCTIONS:
        code = _reduction(text, op, dtypes[0], dtypes[1])
        team = _team(x.shape[axis] // segments, count, prod(out.shape[axis + 1 :]))
    else:
        code = _left_fold(text, op, dtypes[0], dtypes[1], carried=True)
    # Position `x{axis}` is the number of the segment; where a segment begins is added to where its row does.
    row_strides = (*x.strides[:axis], 0, *x.strides[axis + 1 :])
    row_at = text.offset(Layout(out.shape, row_strides, x.offset), out.shape)
    n, step, many = text.param(x.shape[axis]), text.param(x.strides[axis]), text.param(segments)
    start = f"{text.param(starts.offset)} + x{axis} * {text.param(starts.strides[0])}"
    body = (
        f"{text.split('e', out.shape)}\n    const {C_TYPE[dtypes[1]]}* from = x + {row_at};\n"
        f"    const long long first = starts[{start}];\n"
        f"    long long last = x{axis} + 1 < {many} ? starts[{start} + {text.param(starts.strides[0])}] : {n};\n"
        f"    if (last <= first) last = first + 1;\n"
        f"    const int lane = threadIdx.x % {team};\n    {code.state} state;\n"
        f"    if (first + lane < last) {{\n"
        f"      {C_TYPE[dtypes[1]]} next = from[(first + lane) * {step}]; state = {code.first};\n"
        f"#pragma unroll 4\n      for (long long i = first + lane + {team}; i < last; i += {team}) {{\n"
        f"        next = from[i * {step}];\n        state = {code.step};\n      }}\n    }}\n"
        f"    {_together(op, dtypes[0], dtypes[1], code, team)}if (lane == 0) out[e] = {code.post};"
    )
    text.each("reduceat", "e", count, text.param(count), body, team)
    names = [*_arrays(dtypes), pointer(INT64, "starts")]
    return text.program(names)


def _left_fold(text: Routine, op: str, result: DType, argument: DType, carried: bool) -> _Code:
    """A step is an application of the row."""
    state = _FLOAT32 if carried and op in _CARRIED and KIND[result] == "e" else result
    other = argument if state == result else state
    first = text.cast(text.cast("next", argument, result), result, state)
    step = text.apply(op, (state, other, state), ["state", text.cast("next", argument, other)])
    return _Code(C_TYPE[state], first, step, text.cast("state", state, result))


def _reduction(text: Routine, op: str, result: DType, argument: DType) -> _Code:
    """As the table reduces, in a wider float where it does."""
    text.need(op, (argument, result))
    code = op_code.reduction(op, (argument, result))
    return _Code(code.state, code.map(["next"], "0"), code.accumulate("state", ["next"], "0"), code.post("state"))


def _together(op: str, result: DType, argument: DType, code: _Code, team: int) -> str:
    """Combine the states of a team in its first thread, in a fixed tree; threads without an element have none."""
    if team == 1:
        return ""
    combined = op_code.reduction(op, (argument, result)).combine("state", "held[threadIdx.x + step]")
    wait = "__syncwarp();" if team == 32 else "__syncthreads();"
    return (
        f"__shared__ {code.state} held[{THREADS}];\n"
        f"    if (first + lane < last) held[threadIdx.x] = state;\n    {wait}\n"
        f"    for (int step = {team // 2}; step; step /= 2) {{\n"
        f"      if (lane < step && first + lane + step < last) held[threadIdx.x] = state = {combined};\n"
        f"      {wait}\n    }}\n    "
    )


def _team(length: int, count: int, inner: int) -> int:
    """How many threads share a segment."""
    if inner >= _SIDE_BY_SIDE and count >= _ENOUGH_ROWS:
        return 1
    return next((team for least, team in _TEAMS if length >= least), 1)


def _arrays(dtypes: Sequence[DType]) -> list[str]:
    """The result and the array, which never overlap: elements are read ahead of what is written."""
    return [pointer(dtypes[0], "__restrict__ out", ""), pointer(dtypes[1], "__restrict__ x")]


def _without(where: Layout, axis: int) -> Layout:
    """The layout of the first elements along an axis."""
    shape, strides, offset = where
    return Layout(shape[:axis] + shape[axis + 1 :], strides[:axis] + strides[axis + 1 :], offset)
