"""NumPy's random words, and standard numbers made of them, as nodes of the graph.

Words are functions of their positions, so that a kernel computes them where it uses them. Every function consumes the
next words of a stream and advances it by as many as NumPy would consume for the same results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy

from ..core.dtypes import FLOAT64, INT64, DType
from ..core.graph import node as graph
from ..core.graph.layout import Layout
from ..core.graph.node import Node, map_node
from ..core.graph.queue import Queue
from ..core.late_dataclasses import dataclass
from ..core.ops.streams import CONGRUENTIAL, STATE_POSITIONS, STATE_WORDS, jump
from ..core.recording.array import from_host, wrap
from .stream import Stream

_UINT32, _UINT64 = numpy.dtype(numpy.uint32), numpy.dtype(numpy.uint64)
_FLOAT32 = numpy.dtype(numpy.float32)

# The dtypes of the arguments of the operations that compute words: the position, then the words of the state.
_WORD_ARGUMENTS = {"philox": (INT64, *(_UINT64,) * 7), **dict.fromkeys(CONGRUENTIAL, (INT64, *(_UINT64,) * 5))}

Draw = Callable[[Stream, int, Queue], Node]


@dataclass(frozen=True)
class StandardDraws:
    """Functions that draw the standard numbers of a stream, from which most distributions are made.

    Attributes
    ----------
    uniform, normal, exponential
        By dtype, the function that draws uniform numbers in [0, 1), standard normal numbers, and standard exponential
        numbers.
    integers
        ``integers(stream, count, queue, low, span, dtype)`` draws integers from `low` to ``low + span - 1``.
    """

    uniform: Mapping[DType, Draw]
    normal: Mapping[DType, Draw]
    exponential: Mapping[DType, Draw]
    integers: Callable[[Stream, int, Queue, int, int, DType], Node]


# --- words ------------------------------------------------------------------------------------------------------------


def words64(stream: Stream, count: int, queue: Queue) -> Node:
    """Draw `count` words of 64 bits."""
    if stream.memory_source:
        return stream.memory_source.words64(count, queue)
    state = stream.state_words()
    stream.skip(count)
    return _word(stream.kind, state, graph.iota((count,), 0, queue))


def words32(stream: Stream, count: int, queue: Queue) -> Node:
    """Draw `count` words of 32 bits."""
    if stream.memory_source:
        return stream.memory_source.words32(count, queue)
    return _half_words(stream, count, 1, queue)[0]


def small_words(stream: Stream, count: int, bits: int, queue: Queue) -> Node:
    """Draw `count` words of 1 to 16 bits, cut from words of 32 bits, lowest first; the rest of the last is dropped."""
    if stream.memory_source:
        return stream.memory_source.small_words(count, bits, queue)
    per_word = 32 // bits
    halves, position = _half_words(stream, count, per_word, queue)
    shift = _map_with_scalar(
        "left_shift", _map_with_scalar("bitwise_and", position, per_word - 1), bits.bit_length() - 1
    )
    shifted = map_node("right_shift", (_UINT32,) * 3, (halves, graph.cast(shift, _UINT32)))
    return map_node("bitwise_and", (_UINT32,) * 3, (shifted, graph.typed_scalar((1 << bits) - 1, _UINT32)))


def _half_words(stream: Stream, count: int, per_word: int, queue: Queue) -> tuple[Node, Node]:
    """Draw the words of 32 bits that hold `count` pieces, `per_word` in each.

    Returns for each piece the word of 32 bits that holds it, and its position among the pieces. If the first half of a
    word of 64 bits went to an earlier draw, its other half comes first, and positions count from the first half on.
    """
    state = stream.state_words()
    stream.skip_halves(-(-count // per_word))
    has_half = bool(state[STATE_POSITIONS["has_half"]])
    skipped = per_word if has_half else 0
    position = graph.view(graph.iota((skipped + count,), 0, queue), Layout((count,), (1,), skipped))
    half_index = position if per_word == 1 else _map_with_scalar("right_shift", position, per_word.bit_length() - 1)
    word = _word(stream.kind, state, map_node("stream_place", (INT64, INT64), (half_index,)), has_half)
    if not has_half:
        return map_node("stream_half", (INT64, _UINT64, _UINT32), (half_index, word)), position
    left_half = graph.typed_scalar(state[STATE_POSITIONS["half"]], _UINT64)
    return map_node("stream_half_after", (INT64, _UINT64, _UINT64, _UINT32), (half_index, word, left_half)), position


def _word(kind: str, state: Any, position: Node, before: bool = False) -> Node:
    """Return the words of 64 bits at positions from a state on; from one word earlier if `before`."""
    if kind == "philox":
        position = _map_with_scalar("add", position, state[STATE_POSITIONS["used_words"]] - before)
        return map_node(kind, _WORD_ARGUMENTS[kind], (position, *_scalars(state[:6])))
    multiplier, _, ahead = CONGRUENTIAL[kind]
    power, total = jump(multiplier, (ahead - before) % (1 << 128))
    x, c = (state[k] << 64 | state[k + 1] for k in (0, 2))
    x = (power * x + total * c) % (1 << 128)
    begin = _scalars((x >> 64, x % (1 << 64), *state[2:4]))
    return map_node(kind, _WORD_ARGUMENTS[kind], (position, *begin))


def _scalars(numbers: Any) -> list[Node]:
    return [graph.typed_scalar(number, _UINT64) for number in numbers]


def _map_with_scalar(op: str, x: Node, y: int) -> Node:
    """Record an operation between int64 positions and an integer constant."""
    return map_node(op, (INT64,) * 3, (x, graph.typed_scalar(y, INT64)))


# --- numbers ----------------------------------------------------------------------------------------------------------


def _float64_uniform(stream: Stream, count: int, queue: Queue) -> Node:
    if stream.memory_source:
        return stream.memory_source.uniforms(count, queue)
    return map_node("unit_double", (_UINT64, FLOAT64), (words64(stream, count, queue),))


def _float32_uniform(stream: Stream, count: int, queue: Queue) -> Node:
    return map_node("unit_float", (_UINT32, _FLOAT32), (words32(stream, count, queue),))


def _integers(stream: Stream, count: int, queue: Queue, low: int, span: int, dtype: DType) -> Node:
    """Draw integers from `low` to ``low + span - 1``."""
    bits = _bits_of_integer(span, dtype)
    if span & (span - 1):
        return _integers_by_products(stream, count, queue, low, span, dtype)
    if bits == 64:
        words = words64(stream, count, queue)
    else:
        words = words32(stream, count, queue) if bits == 32 else small_words(stream, count, bits, queue)
    word_dtype = words.signature.dtype
    shift = bits - (span.bit_length() - 1)  # the upper half of the product with a power of two
    if shift:
        words = map_node("right_shift", (word_dtype,) * 3, (words, graph.typed_scalar(shift, word_dtype)))
    return counted_from(low, words, dtype)


def counted_from(low: int, words: Node, dtype: DType) -> Node:
    """Return ``low + words`` in a dtype, modulo its range; the words themselves as bool."""
    if dtype.kind == "b":
        return graph.cast(words, dtype)
    unsigned = numpy.dtype(f"u{dtype.itemsize}")
    words = graph.cast(words, unsigned)
    if low:
        offset = graph.typed_scalar(low % (1 << 8 * dtype.itemsize), unsigned)
        words = map_node("add", (unsigned,) * 3, (words, offset))
    return graph.cast(words, dtype)


def _bits_of_integer(span: int, dtype: DType) -> int:
    """Return the count of bits that NumPy consumes for the first attempt at an integer."""
    if dtype.kind == "b":
        return 1
    return 32 if dtype.itemsize == 8 and span <= 1 << 32 else 8 * dtype.itemsize


# --- draws that reject some words -------------------------------------------------------------------------------------


def _integers_by_products(stream: Stream, count: int, queue: Queue, low: int, span: int, dtype: DType) -> Node:
    """Draw integers of a span that is not a power of two, by products (D. Lemire, 2019).

    An integer is the upper half of a word's product with the span; the word is rejected if the lower half is less than
    `least`.
    """
    bits = _bits_of_integer(span, dtype)
    least = (1 << bits) % span
    words_per_64_integers = -((-64 << bits) // ((1 << bits) - least))  # the expected count, rounded up
    bounds = _bounds(queue, span, least, low % (1 << 64))
    return _draw_with_rejection(stream, count, queue, ("integers", bits, words_per_64_integers), dtype, bounds)


@lru_cache(maxsize=256)
def _bounds(queue: Queue, *bounds: int) -> Node:
    """Return the bounds of integers as an argument of a library call."""
    return from_host(numpy.array(bounds, numpy.uint64), queue.device).value()


def _normal(dtype: DType) -> Draw:
    return lambda stream, count, queue: _draw_with_rejection(stream, count, queue, ("normal",), dtype)


def _exponential(dtype: DType) -> Draw:
    return lambda stream, count, queue: _draw_with_rejection(stream, count, queue, ("exponential",), dtype)


def _draw_with_rejection(
    stream: Stream, count: int, queue: Queue, options: tuple[Any, ...], dtype: DType, *bounds: Node
) -> Node:
    """Draw numbers that reject some words: the library call "piecewise_draws", which also returns the state after."""
    if stream.memory_source:
        return stream.memory_source.numbers(options, dtype, count, queue, *bounds)
    results = (((count,), dtype), ((STATE_WORDS,), _UINT64))
    values, after = graph.library_call_outputs(
        "piecewise_draws", (stream.kind, *options), (stream.state_on_device(queue), *bounds), results
    )
    stream.move_to(wrap(after))
    return values


_DTYPES = (FLOAT64, _FLOAT32)
NUMPY_DRAWS = StandardDraws(
    uniform={FLOAT64: _float64_uniform, _FLOAT32: _float32_uniform},
    normal={dtype: _normal(dtype) for dtype in _DTYPES},
    exponential={dtype: _exponential(dtype) for dtype in _DTYPES},
    integers=_integers,
)
