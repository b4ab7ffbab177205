"""Binary search on a GPU: for every value, how many elements of a sorted array come before it.

A few values are searched for in the array itself. Many values share an index of levels, each of which has every
`width`-th element of the level below. A block has the top level in shared memory; a step down to the next level reads
one sector of 32 bytes, and replaces several steps of a binary search.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.dtypes import C_TYPE, INT64
from ...core.graph.layout import Layout
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.program_builder import EMPTY_PROGRAM, THREADS, ProgramBuilder, pointer_declaration

SEARCH = source("search/search")

_TOP_BYTES = 16 << 10  # of the index's top level
# An index is built for at least so many values, and at most so many elements for each of them: to read more elements
# once takes longer than to search without an index.
MANY_VALUES, _MAX_ELEMENTS_PER_VALUE = 1 << 16, 16
_MAX_BLOCKS = 1 << 11
# Of the window that a step down reads: bytes, and fewest elements.
_SECTOR_BYTES, _MIN_WIDTH = 32, 4


def searchsorted(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Return a program for the places of values in a sorted array of the same dtype; both are in C order.

    The option is the side: "left" or "right" of equal elements.
    """
    values, n, dtype = prod(layouts[0].shape), layouts[1].shape[0], dtypes[1]
    if not values:
        return EMPTY_PROGRAM
    right, ctype = str(options[0] == "right").lower(), C_TYPE[dtype]
    width, top = _width(dtype.itemsize), _TOP_BYTES // dtype.itemsize
    builder = ProgramBuilder()
    use_index = values >= MANY_VALUES and (n <= top or n <= values * _MAX_ELEMENTS_PER_VALUE)
    value_count, size = builder.param(values), builder.param(n)
    if not use_index:
        body = f"out[i] = count_passed<{right}>(sorted, {size}, values[i]);"
        builder.add_loop_entry("search", "i", values, value_count, body)
        return builder.build(_pointers(dtype), head=SEARCH)

    levels = [n]
    while levels[-1] > top:
        levels.append(levels[-1] // width)
    sizes = [size, *map(builder.param, levels[1:])]
    names = ["sorted", *(f"level{k}" for k in range(1, len(levels)))]
    if len(levels) > 1:
        write = ""  # writes an element to each level that has it
        for name in reversed(names[1:]):
            write = f"if (j % {width} == 0) {{ j /= {width}; {name}[j - 1] = element; {write}}}"
        body = f"long long j = (i + 1) * {width}; const {ctype} element = sorted[j - 1];\n    {write}"
        builder.add_loop_entry("build", "i", levels[1], sizes[1], body)
    steps_down = "".join(
        f"    found = count_in_window<{right}, {width}>({names[k]}, {sizes[k]}, found, value);\n"
        for k in range(len(levels) - 2, -1, -1)
    )
    body = (
        f"  __shared__ {ctype} top[{top + top // 32}];\n"
        f"  for (int k = threadIdx.x; k < {sizes[-1]}; k += {THREADS}) top[slot(k)] = {names[-1]}[k];\n"
        f"  __syncthreads();\n"
        f"  for (long long i = (long long)blockIdx.x * {THREADS} + threadIdx.x; i < {value_count};"
        f" i += (long long)gridDim.x * {THREADS}) {{\n"
        f"    const {ctype} value = values[i];\n"
        f"    const auto at = [=](int k) {{ return top[slot(k)]; }};\n"
        f"    long long found = count_passed_by<{right}>(at, (int){sizes[-1]}, value);\n"
        f"{steps_down}"
        f"    out[i] = found;\n  }}"
    )
    builder.add_entry("search", body, min(_MAX_BLOCKS, -(-values // THREADS)))
    scratch = [(f"{ctype}* {name}", levels[k] * dtype.itemsize) for k, name in enumerate(names) if k]
    return builder.build(_pointers(dtype), scratch, head=SEARCH)


def _pointers(dtype: Any) -> list[str]:
    """Return the parameters for the result and the arguments."""
    return [
        pointer_declaration(INT64, "out", ""),
        pointer_declaration(dtype, "sorted"),
        pointer_declaration(dtype, "values"),
    ]


def _width(itemsize: int) -> int:
    """Return how many elements of a level belong to one element of the level above."""
    return max(_MIN_WIDTH, min(_SECTOR_BYTES, 16 * itemsize) // itemsize)
