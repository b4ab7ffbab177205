"""Random words as values of the graph: functions of their position, so that they are made where they are used.

Every function takes the next words of a stream, and moves it on by as many as NumPy takes for so many results.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy

from ..core.dtypes import FLOAT64, INT64, DType
from ..core.graph import node as graph
from ..core.graph.layout import Layout
from ..core.graph.node import Node, map_node
from ..core.graph.queue import Queue
from ..core.ops.streams import CONGRUENTIAL, KEEPS, WORDS, jump
from ..core.recording.array import from_host, wrap
from .stream import Stream

_UINT32, _UINT64 = numpy.dtype(numpy.uint32), numpy.dtype(numpy.uint64)
_FLOAT32 = numpy.dtype(numpy.float32)

# The loops of words by what they are made of: their position, and the state.
_OF_STATE = {"philox": (INT64, *(_UINT64,) * 7), **dict.fromkeys(CONGRUENTIAL, (INT64, *(_UINT64,) * 5))}

Draw = Callable[[Stream, int, Queue], Node]


# --- words ------------------------------------------------------------------------------------------------------------


def words(stream: Stream, count: int, queue: Queue) -> Node:
    """Words of 64 bits."""
    if stream.own:
        made: Node = stream.own.longs(count, queue)
        return made
    state = stream.take()
    stream.skip(count)
    return _word(stream.kind, state, graph.iota((count,), 0, queue))


def halves(stream: Stream, count: int, queue: Queue) -> Node:
    """Words of 32 bits."""
    if stream.own:
        made: Node = stream.own.halves(count, queue)
        return made
    return _half(stream, count, 1, queue)[0]


def pieces(stream: Stream, count: int, bits: int, queue: Queue) -> Node:
    """Words of 16 bits or fewer, from the lower end of those of 32; what is left of the last of these is lost."""
    if stream.own:
        made: Node = stream.own.pieces(count, bits, queue)
        return made
    share = 32 // bits
    half, place = _half(stream, count, share, queue)
    turn = _integer("left_shift", _integer("bitwise_and", place, share - 1), bits.bit_length() - 1)
    turned = map_node("right_shift", (_UINT32,) * 3, (half, graph.cast(turn, _UINT32)))
    return map_node("bitwise_and", (_UINT32,) * 3, (turned, graph.typed_scalar((1 << bits) - 1, _UINT32)))


def _half(stream: Stream, count: int, share: int, queue: Queue) -> tuple[Node, Node]:
    """The words of 32 bits for `count` pieces, `share` of them in each, and the places of the pieces.

    The first one may be left of an earlier draw; then places are counted from the word on that ends with it.
    """
    state = stream.take()
    stream.skip_halves(-(-count // share))
    has = bool(state[KEEPS["has"]])
    first = share if has else 0
    place = graph.view(graph.iota((first + count,), 0, queue), Layout((count,), (1,), first))
    at = place if share == 1 else _integer("right_shift", place, share.bit_length() - 1)
    word = _word(stream.kind, state, map_node("stream_place", (INT64, INT64), (at,)), has)
    if not has:
        return map_node("stream_half", (INT64, _UINT64, _UINT32), (at, word)), place
    left = graph.typed_scalar(state[KEEPS["left"]], _UINT64)
    return map_node("stream_half_after", (INT64, _UINT64, _UINT64, _UINT32), (at, word, left)), place


def _word(kind: str, state: Any, place: Node, before: bool = False) -> Node:
    """The words at places of a stream in a state, or in the one before."""
    if kind == "philox":
        place = _integer("add", place, state[KEEPS["first"]] - before)
        return map_node(kind, _OF_STATE[kind], (place, *_scalars(state[:6])))
    multiplier, _, ahead = CONGRUENTIAL[kind]
    power, total = jump(multiplier, (ahead - before) % (1 << 128))
    x, c = (state[k] << 64 | state[k + 1] for k in (0, 2))
    x = (power * x + total * c) % (1 << 128)
    begin = _scalars((x >> 64, x % (1 << 64), *state[2:4]))
    return map_node(kind, _OF_STATE[kind], (place, *begin))


def _scalars(numbers: Any) -> list[Node]:
    return [graph.typed_scalar(number, _UINT64) for number in numbers]


def _integer(op: str, x: Node, y: int) -> Node:
    return map_node(op, (INT64,) * 3, (x, graph.typed_scalar(y, INT64)))


# --- numbers ----------------------------------------------------------------------------------------------------------


def _doubles(stream: Stream, count: int, queue: Queue) -> Node:
    if stream.own:
        made: Node = stream.own.doubles(count, queue)
        return made
    return map_node("unit_double", (_UINT64, FLOAT64), (words(stream, count, queue),))


def _floats(stream: Stream, count: int, queue: Queue) -> Node:
    return map_node("unit_float", (_UINT32, _FLOAT32), (halves(stream, count, queue),))


# Numbers that are evenly distributed between 0 and 1.
EVEN: dict[DType, Draw] = {FLOAT64: _doubles, _FLOAT32: _floats}


def integers(stream: Stream, count: int, queue: Queue, low: int, span: int, dtype: DType) -> Node:
    """Integers of `span` values, from `low` on."""
    bits = _bits(span, dtype)
    unsigned = numpy.dtype(f"u{dtype.itemsize}") if dtype.kind != "b" else dtype
    if span & (span - 1):
        return _rejecting(stream, count, queue, low, span, dtype)
    if bits == 64:
        taken = words(stream, count, queue)
    else:
        taken = halves(stream, count, queue) if bits == 32 else pieces(stream, count, bits, queue)
    have = taken.signature.dtype
    shift = bits - (span.bit_length() - 1)  # a product with the span, less its lower half
    if shift:
        taken = map_node("right_shift", (have,) * 3, (taken, graph.typed_scalar(shift, have)))
    taken = graph.cast(taken, unsigned)
    if low and dtype.kind != "b":
        offset = graph.typed_scalar(low % (1 << 8 * dtype.itemsize), unsigned)
        taken = map_node("add", (unsigned,) * 3, (taken, offset))
    return graph.cast(taken, dtype)


def _bits(span: int, dtype: DType) -> int:
    """How many bits NumPy takes for an integer at first."""
    if dtype.kind == "b":
        return 1
    return 32 if dtype.itemsize == 8 and span <= 1 << 32 else 8 * dtype.itemsize


# --- draws that reject words ------------------------------------------------------------------------------------------


def _rejecting(stream: Stream, count: int, queue: Queue, low: int, span: int, dtype: DType) -> Node:
    """Integers of a span that is no power of two: of a word's product with it, the upper half, if the lower one is
    large enough.
    """
    bits = _bits(span, dtype)
    least = (1 << bits) % span
    share = -((-64 << bits) // ((1 << bits) - least))  # of words, for 64 integers: rounded up
    bounds = _bounds(queue, span, least, low % (1 << 64))
    return _counted(stream, count, queue, ("integers", bits, share), dtype, bounds)


@lru_cache(maxsize=256)
def _bounds(queue: Queue, *bounds: int) -> Node:
    """The bounds of integers, for a routine."""
    return from_host(numpy.array(bounds, numpy.uint64), queue.device).value()


def _normals(dtype: DType) -> Draw:
    return lambda stream, count, queue: _counted(stream, count, queue, ("normal",), dtype)


def _exponentials(dtype: DType) -> Draw:
    return lambda stream, count, queue: _counted(stream, count, queue, ("exponential",), dtype)


# Standard normal and exponential numbers, by NumPy's ziggurats.
NORMAL: dict[DType, Draw] = {dtype: _normals(dtype) for dtype in (FLOAT64, _FLOAT32)}
EXPONENTIAL: dict[DType, Draw] = {dtype: _exponentials(dtype) for dtype in (FLOAT64, _FLOAT32)}


def _counted(stream: Stream, count: int, queue: Queue, options: tuple[Any, ...], dtype: DType, *given: Node) -> Node:
    """The results of a routine that takes as many words as it needs, and leaves the state after them."""
    if stream.own:
        made: Node = stream.own.numbers(options, dtype, count, queue, *given)
        return made
    results = (((count,), dtype), ((WORDS,), _UINT64))
    values, after = graph.library_call_outputs(
        "stream_draws", (stream.kind, *options), (stream.state(queue), *given), results
    )
    stream.follows(wrap(after))
    return values
