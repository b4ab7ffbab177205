"""Standard draws from a `PhiloxGPU`.

Every draw is a stream of its own: Philox4x32, whose key and upper half of the counter (the salt) are the next two words
of 64 bits of the bit generator.
"""

from __future__ import annotations

import numpy

from ..core.dtypes import FLOAT64, INT64, DType
from ..core.graph import node as graph
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from .stream import Stream
from .words import Draw, StandardDraws, counted_from

_UINT32, _UINT64 = numpy.dtype(numpy.uint32), numpy.dtype(numpy.uint64)
_FLOAT32 = numpy.dtype(numpy.float32)
_WORD_DTYPE: dict[DType, DType] = {FLOAT64: _UINT64, _FLOAT32: _UINT32}


def _map_positions(op: str, dtype: DType, stream: Stream, count: int, queue: Queue, *further: int) -> Node:
    """Record an op over the first `count` positions of a new stream; `further` numbers are its last arguments."""
    stream.synchronize()
    scalars = [graph.typed_scalar(number, _UINT64) for number in (*stream.bits.random_raw(2).tolist(), *further)]
    loop = (INT64, *(_UINT64,) * len(scalars), dtype)
    return graph.map_node(op, loop, (graph.iota((count,), 0, queue), *scalars))


def _uniform(dtype: DType) -> Draw:
    op, word = "unit_double" if dtype == FLOAT64 else "unit_float", _WORD_DTYPE[dtype]
    return lambda *target: graph.map_node(op, (word, dtype), (_map_positions("philox32_word", word, *target),))


def _normal(dtype: DType) -> Draw:
    return lambda *target: _map_positions("philox32_normal", dtype, *target)


def _exponential(dtype: DType) -> Draw:
    word = _WORD_DTYPE[dtype]
    return lambda *target: graph.map_node("minus_log", (word, dtype), (_map_positions("philox32_word", word, *target),))


def _integers(stream: Stream, count: int, queue: Queue, low: int, span: int, dtype: DType) -> Node:
    """Draw integers from `low` to ``low + span - 1``, all equally likely: the device redraws rejected words."""
    word = _UINT64 if dtype.itemsize == 8 else _UINT32
    if span == 1 << 8 * word.itemsize:
        values = _map_positions("philox32_word", word, stream, count, queue)
    else:
        least = (1 << (32 if span >> 32 == 0 else 64)) % span
        values = _map_positions("philox32_below", word, stream, count, queue, span, least)
    return counted_from(low, values, dtype)


PHILOX_GPU_DRAWS = StandardDraws(
    uniform={dtype: _uniform(dtype) for dtype in _WORD_DTYPE},
    normal={dtype: _normal(dtype) for dtype in _WORD_DTYPE},
    exponential={dtype: _exponential(dtype) for dtype in _WORD_DTYPE},
    integers=_integers,
)
