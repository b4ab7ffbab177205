"""Draws of a `PhiloxGPU`: what `words` has for NumPy's streams.

Every draw is a stream of its own: of Philox4x32 with a key and the upper half of a counter that are the next two words
of the bit generator.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy

from ..core.dtypes import FLOAT64, INT64, DType
from ..core.graph import node as graph
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from .stream import Stream

_UINT32, _UINT64 = numpy.dtype(numpy.uint32), numpy.dtype(numpy.uint64)
_FLOAT32 = numpy.dtype(numpy.float32)
_WORD: dict[DType, DType] = {FLOAT64: _UINT64, _FLOAT32: _UINT32}


def _drawn(op: str, dtype: DType, stream: Stream, count: int, queue: Queue, *numbers: int) -> Node:
    """What a row makes at each of `count` positions, with further numbers for arguments."""
    stream.settle()
    given = [graph.typed_scalar(number, _UINT64) for number in (*stream.bits.random_raw(2).tolist(), *numbers)]
    loop = (INT64, *(_UINT64,) * len(given), dtype)
    return graph.map_node(op, loop, (graph.iota((count,), 0, queue), *given))


def _even(dtype: DType) -> Callable[[Stream, int, Queue], Node]:
    name, word = "unit_double" if dtype == FLOAT64 else "unit_float", _WORD[dtype]
    return lambda *target: graph.map_node(name, (word, dtype), (_drawn("philox32_word", word, *target),))


def _normal(dtype: DType) -> Callable[[Stream, int, Queue], Node]:
    return lambda *target: _drawn("philox32_normal", dtype, *target)


def _exponential(dtype: DType) -> Callable[[Stream, int, Queue], Node]:
    word = _WORD[dtype]

    return lambda *target: graph.map_node("minus_log", (word, dtype), (_drawn("philox32_word", word, *target),))


EVEN = {dtype: _even(dtype) for dtype in _WORD}
NORMAL = {dtype: _normal(dtype) for dtype in _WORD}
EXPONENTIAL = {dtype: _exponential(dtype) for dtype in _WORD}


def integers(stream: Stream, count: int, queue: Queue, low: int, span: int, dtype: DType) -> Node:
    """Integers of `span` values, from `low` on, all of them alike."""
    word = _UINT64 if dtype.itemsize == 8 else _UINT32
    if span == 1 << 8 * word.itemsize:
        made = _drawn("philox32_word", word, stream, count, queue)
    else:
        least = (1 << (32 if span >> 32 == 0 else 64)) % span
        made = _drawn("philox32_below", word, stream, count, queue, span, least)
    if dtype.kind == "b":
        return graph.cast(made, dtype)
    unsigned = numpy.dtype(f"u{dtype.itemsize}")
    made = graph.cast(made, unsigned)
    if low:
        offset = graph.typed_scalar(low % (1 << 8 * dtype.itemsize), unsigned)
        made = graph.map_node("add", (unsigned,) * 3, (made, offset))
    return graph.cast(made, dtype)
