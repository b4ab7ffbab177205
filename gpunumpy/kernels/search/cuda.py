"""Binary search on a GPU: for every value, how many elements of a sorted array come before it.

Few values walk down the array where it lies. Many share an index: every block has the top of it in its shared memory,
and below are levels that each have one element in `width` of the level beneath, so that a step down reads one sector of
32 bytes and does the work of several steps of a binary search.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.dtypes import C_TYPE, INT64
from ...core.graph.layout import Layout
from ..codegen.program import Program
from ..codegen.sources import source
from ..cuda.routine import NOTHING, THREADS, Routine, pointer

HEAD = source("search/search")

# The bytes of the top of the index. From so many values on there is an index, if at most this many elements are above
# each of them (more would take longer to read once).
_TOP = 16 << 10
MANY, _ELEMENTS_A_VALUE = 1 << 16, 16
_MOST_BLOCKS = 1 << 11
# The bytes that a step down reads, and its least number of elements.
_SECTOR, _LEAST = 32, 4


def searchsorted(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """Where values belong in a sorted array of the same dtype; both lie in C order.

    The option is the side: "left" or "right" of equal elements.
    """
    values, n, dtype = prod(layouts[0].shape), layouts[1].shape[0], dtypes[1]
    if not values:
        return NOTHING
    right, kind = str(options[0] == "right").lower(), C_TYPE[dtype]
    width, top = _width(dtype.itemsize), _TOP // dtype.itemsize
    text = Routine()
    many = values >= MANY and (n <= top or n <= values * _ELEMENTS_A_VALUE)
    total, size = text.param(values), text.param(n)
    if not many:
        body = f"out[i] = passed<{right}>(sorted, {size}, values[i]);"
        text.each("search", "i", values, total, body)
        return text.program(_pointers(dtype), head=HEAD)

    levels = [n]
    while levels[-1] > top:
        levels.append(levels[-1] // width)
    sizes = [size, *map(text.param, levels[1:])]
    names = ["sorted", *(f"level{k}" for k in range(1, len(levels)))]
    if len(levels) > 1:
        write = ""  # one element to all levels that have it
        for name in reversed(names[1:]):
            write = f"if (j % {width} == 0) {{ j /= {width}; {name}[j - 1] = element; {write}}}"
        body = f"long long j = (i + 1) * {width}; const {kind} element = sorted[j - 1];\n    {write}"
        text.each("build", "i", levels[1], sizes[1], body)
    down = "".join(
        f"    found = passed_window<{right}, {width}>({names[k]}, {sizes[k]}, found, value);\n"
        for k in range(len(levels) - 2, -1, -1)
    )
    body = (
        f"  __shared__ {kind} top[{top + top // 32}];\n"
        f"  for (int k = threadIdx.x; k < {sizes[-1]}; k += {THREADS}) top[slot(k)] = {names[-1]}[k];\n"
        f"  __syncthreads();\n"
        f"  for (long long i = (long long)blockIdx.x * {THREADS} + threadIdx.x; i < {total};"
        f" i += (long long)gridDim.x * {THREADS}) {{\n"
        f"    const {kind} value = values[i];\n"
        f"    long long found = passed_by<{right}>([=](int k) {{ return top[slot(k)]; }}, (int){sizes[-1]}, value);\n"
        f"{down}"
        f"    out[i] = found;\n  }}"
    )
    text.entry("search", body, min(_MOST_BLOCKS, -(-values // THREADS)))
    scratch = [(f"{kind}* {name}", levels[k] * dtype.itemsize) for k, name in enumerate(names) if k]
    return text.program(_pointers(dtype), scratch, head=HEAD)


def _pointers(dtype: Any) -> list[str]:
    return [pointer(INT64, "out", ""), pointer(dtype, "sorted"), pointer(dtype, "values")]


def _width(itemsize: int) -> int:
    """How many elements of a level are under one of the level above."""
    return max(_LEAST, min(_SECTOR, 16 * itemsize) // itemsize)
