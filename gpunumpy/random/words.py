"""NumPy's random words, and standard numbers made of them, as values of the graph.

Words are functions of their positions, so that they are made where they are used. Every function takes the next words
of a stream, and moves it on by as many as NumPy takes for so many results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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

# The dtypes of what words are made of: their position, and the state.
_WORD_ARGUMENTS = {"philox": (INT64, *(_UINT64,) * 7), **dict.fromkeys(CONGRUENTIAL, (INT64, *(_UINT64,) * 5))}

Draw = Callable[[Stream, int, Queue], Node]


@dataclass(frozen=True)
class StandardDraws:
    """How the numbers of a stream are made from which most others are.

    Attributes
    ----------
    uniform, normal, exponential
        By dtype: numbers in [0, 1), standard normal ones and standard exponential ones.
    integers
        Integers of `span` values, from `low` on, of a dtype: ``integers(stream, count, queue, low, span, dtype)``.
    """

    uniform: Mapping[DType, Draw]
    normal: Mapping[DType, Draw]
    exponential: Mapping[DType, Draw]
    integers: Callable[[Stream, int, Queue, int, int, DType], Node]


# --- words ------------------------------------------------------------------------------------------------------------


def words64(stream: Stream, count: int, queue: Queue) -> Node:
    """Words of 64 bits."""
    if stream.memory_source:
        return stream.memory_source.words64(count, queue)
    state = stream.state_words()
    stream.skip(count)
    return _word(stream.kind, state, graph.iota((count,), 0, queue))


def words32(stream: Stream, count: int, queue: Queue) -> Node:
    """Words of 32 bits."""
    if stream.memory_source:
        return stream.memory_source.words32(count, queue)
    return _half(stream, count, 1, queue)[0]


def small_words(stream: Stream, count: int, bits: int, queue: Queue) -> Node:
    """Words of 1 to 16 bits, cut from the lower end of those of 32; what is left of the last of these is lost."""
    if stream.memory_source:
        return stream.memory_source.small_words(count, bits, queue)
    per_word = 32 // bits
    half, place = _half(stream, count, per_word, queue)
    shift = _integer("left_shift", _integer("bitwise_and", place, per_word - 1), bits.bit_length() - 1)
    shifted = map_node("right_shift", (_UINT32,) * 3, (half, graph.cast(shift, _UINT32)))
    return map_node("bitwise_and", (_UINT32,) * 3, (shifted, graph.typed_scalar((1 << bits) - 1, _UINT32)))


def _half(stream: Stream, count: int, per_word: int, queue: Queue) -> tuple[Node, Node]:
    """The words of 32 bits for `count` small words, so many of them in each, and the places of these.

    The first one may be left of an earlier draw; then places are counted from the word on that ends with it.
    """
    state = stream.state_words()
    stream.skip_halves(-(-count // per_word))
    has = bool(state[KEEPS["has"]])
    first = per_word if has else 0
    place = graph.view(graph.iota((first + count,), 0, queue), Layout((count,), (1,), first))
    at = place if per_word == 1 else _integer("right_shift", place, per_word.bit_length() - 1)
    word = _word(stream.kind, state, map_node("stream_place", (INT64, INT64), (at,)), has)
    if not has:
        return map_node("stream_half", (INT64, _UINT64, _UINT32), (at, word)), place
    left = graph.typed_scalar(state[KEEPS["left"]], _UINT64)
    return map_node("stream_half_after", (INT64, _UINT64, _UINT64, _UINT32), (at, word, left)), place


def _word(kind: str, state: Any, place: Node, before: bool = False) -> Node:
    """The words at places of a stream in a state, or in the one before."""
    if kind == "philox":
        place = _integer("add", place, state[KEEPS["first"]] - before)
        return map_node(kind, _WORD_ARGUMENTS[kind], (place, *_scalars(state[:6])))
    multiplier, _, ahead = CONGRUENTIAL[kind]
    power, total = jump(multiplier, (ahead - before) % (1 << 128))
    x, c = (state[k] << 64 | state[k + 1] for k in (0, 2))
    x = (power * x + total * c) % (1 << 128)
    begin = _scalars((x >> 64, x % (1 << 64), *state[2:4]))
    return map_node(kind, _WORD_ARGUMENTS[kind], (place, *begin))


def _scalars(numbers: Any) -> list[Node]:
    return [graph.typed_scalar(number, _UINT64) for number in numbers]


def _integer(op: str, x: Node, y: int) -> Node:
    return map_node(op, (INT64,) * 3, (x, graph.typed_scalar(y, INT64)))


# --- numbers ----------------------------------------------------------------------------------------------------------


def _float64_uniform(stream: Stream, count: int, queue: Queue) -> Node:
    if stream.memory_source:
        return stream.memory_source.uniforms(count, queue)
    return map_node("unit_double", (_UINT64, FLOAT64), (words64(stream, count, queue),))


def _float32_uniform(stream: Stream, count: int, queue: Queue) -> Node:
    return map_node("unit_float", (_UINT32, _FLOAT32), (words32(stream, count, queue),))


def _integers(stream: Stream, count: int, queue: Queue, low: int, span: int, dtype: DType) -> Node:
    """Return integers of `span` values, from `low` on."""
    bits = _bits_of_integer(span, dtype)
    if span & (span - 1):
        return _by_products(stream, count, queue, low, span, dtype)
    if bits == 64:
        words = words64(stream, count, queue)
    else:
        words = words32(stream, count, queue) if bits == 32 else small_words(stream, count, bits, queue)
    have = words.signature.dtype
    shift = bits - (span.bit_length() - 1)  # a product with the span, less its lower half
    if shift:
        words = map_node("right_shift", (have,) * 3, (words, graph.typed_scalar(shift, have)))
    return counted_from(low, words, dtype)


def counted_from(low: int, words: Node, dtype: DType) -> Node:
    """Return words as integers of a dtype, counted from `low` on; as they are if that is bool."""
    if dtype.kind == "b":
        return graph.cast(words, dtype)
    unsigned = numpy.dtype(f"u{dtype.itemsize}")
    words = graph.cast(words, unsigned)
    if low:
        offset = graph.typed_scalar(low % (1 << 8 * dtype.itemsize), unsigned)
        words = map_node("add", (unsigned,) * 3, (words, offset))
    return graph.cast(words, dtype)


def _bits_of_integer(span: int, dtype: DType) -> int:
    """How many bits NumPy takes for an integer at first."""
    if dtype.kind == "b":
        return 1
    return 32 if dtype.itemsize == 8 and span <= 1 << 32 else 8 * dtype.itemsize


# --- draws that reject words ------------------------------------------------------------------------------------------


def _by_products(stream: Stream, count: int, queue: Queue, low: int, span: int, dtype: DType) -> Node:
    """Integers of a span that is no power of two: of a word's product with it, the upper half, if the lower one is
    large enough.
    """
    bits = _bits_of_integer(span, dtype)
    least = (1 << bits) % span
    words_of_64 = -((-64 << bits) // ((1 << bits) - least))  # that 64 integers take on average, rounded up
    bounds = _bounds(queue, span, least, low % (1 << 64))
    return _drawn(stream, count, queue, ("integers", bits, words_of_64), dtype, bounds)


@lru_cache(maxsize=256)
def _bounds(queue: Queue, *bounds: int) -> Node:
    """The bounds of integers, for a library call."""
    return from_host(numpy.array(bounds, numpy.uint64), queue.device).value()


def _normals(dtype: DType) -> Draw:
    return lambda stream, count, queue: _drawn(stream, count, queue, ("normal",), dtype)


def _exponentials(dtype: DType) -> Draw:
    return lambda stream, count, queue: _drawn(stream, count, queue, ("exponential",), dtype)


def _drawn(stream: Stream, count: int, queue: Queue, options: tuple[Any, ...], dtype: DType, *given: Node) -> Node:
    """The results of a library call that takes as many words as it needs, and leaves the state after them."""
    if stream.memory_source:
        return stream.memory_source.numbers(options, dtype, count, queue, *given)
    results = (((count,), dtype), ((WORDS,), _UINT64))
    values, after = graph.library_call_outputs(
        "stream_draws", (stream.kind, *options), (stream.state_on_device(queue), *given), results
    )
    stream.move_to(wrap(after))
    return values


_DTYPES = (FLOAT64, _FLOAT32)
NUMPY_DRAWS = StandardDraws(
    uniform={FLOAT64: _float64_uniform, _FLOAT32: _float32_uniform},
    normal={dtype: _normals(dtype) for dtype in _DTYPES},
    exponential={dtype: _exponentials(dtype) for dtype in _DTYPES},
    integers=_integers,
)
