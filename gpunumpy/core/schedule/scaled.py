"""Small transforms with a factor: one call where nothing else is computed, a call and an operation elsewhere.

A program that looks at one small ``ifft`` after the other pays for what the host does: one call is less of that than
two steps. An operation fuses with others, and those of several transforms are one kernel; and a large transform may
take it in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from ..graph.primitives import LibraryCall, Map
from ..graph.signature import signature
from .lower import Item

NAME = "fft_scaled"  # of the call: a transform, multiplied with its second argument
_MOST = 1 << 20  # elements: the host asks for two steps while the GPU works at more of them


def unfuse(items: Sequence[Item]) -> list[Item]:
    """The graph with such calls as a transform and an operation, but for one that is all there is.

    New items go to the end, so that positions stay.
    """
    result = list(items)
    for p, item in enumerate(items):
        f = item.signature
        if not isinstance(f.primitive, LibraryCall) or f.primitive.name != NAME:
            continue
        if len(items) == 1 + len(item.args) and prod(f.shape) <= _MOST:
            continue
        source, factor = item.args
        real = items[factor].signature
        call = signature(replace(f.primitive, name="fft"), (items[source].signature,), f.shape, f.dtype, f.queue)
        op = "multiply" if real.dtype == f.dtype else "scaled"
        scaled = signature(Map(op, (f.dtype, real.dtype, f.dtype)), (call, real), f.shape, f.dtype, f.queue)
        result[p] = replace(item, signature=scaled, args=(len(result), factor))
        result.append(Item(call, (source,)))
    return result
