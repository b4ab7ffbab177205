"""Correlation in one dimension on a GPU, by the sums themselves: as exact as those of NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import C_TYPE
from ...core.graph.layout import Layout
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.program_builder import EMPTY_PROGRAM, THREADS, ProgramBuilder, pointer_declaration

CORRELATION = source("correlation/correlation")
_TILE, _MAX_BLOCKS = 8 * THREADS, 1 << 12  # as in correlation.cuh


def correlate(options: tuple[int], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program for the sums of products of a vector, the taps, with each window of one that is not shorter.

    The option is the mode of `numpy.convolve` as a number: 0 is "valid", 1 is "same", 2 is "full".
    """
    (mode,), (out, x, taps), dtype = options, layouts, dtypes[0]
    count, width, ctype = out.shape[0], taps.shape[0], C_TYPE[dtypes[0]]
    if not count:
        return EMPTY_PROGRAM
    builder = ProgramBuilder()
    zeros = (0, width // 2, width - 1)[mode]
    vectors = [
        f"Elements<{ctype}>{{{name} + {builder.param(first)}, {builder.param(stride)}, {builder.param(begin)},"
        f" {builder.param(begin + size)}}}"
        for name, (first, stride), begin, size in (
            ("x", (x.offset, x.strides[0]), zeros, x.shape[0]),
            ("taps", (taps.offset, taps.strides[0]), 0, width),
        )
    ]
    multiply, add = (
        f"[=]({ctype} a, {ctype} b) {{ return {builder.apply(op, (dtype,) * 3, ['a', 'b'])}; }}"
        for op in ("multiply", "add")
    )
    total = builder.param(count)
    body = f"  correlate(out, {total}, {vectors[0]}, {vectors[1]}, {multiply}, {add});"
    builder.add_entry("sums", body, min(_MAX_BLOCKS, -(-count // _TILE)))
    pointers = [pointer_declaration(dtype, "out", ""), *(pointer_declaration(dtype, n) for n in ("x", "taps"))]
    return builder.build(pointers, head=f"const int THREADS = {THREADS};\n{CORRELATION}")
