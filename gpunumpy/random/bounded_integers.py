"""Integers each with a bound of its own, and what is made of them: permutations, and samples without replacement.

NumPy draws an integer up to a bound by masking a word ("masked") where it shuffles arrays, and by the upper half of a
product ("product") where it draws integers or samples. Both reject some words. The bound that a word is tested against
depends on how many earlier words were accepted; the library call "bounded_draws" resolves that. The library call
"permutation_of_swaps" turns the swaps of a shuffle into the permutation that they leave, after a sort.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, prod, sqrt
from typing import Any

import numpy

from ..core.dtypes import BOOL, INT64, DType
from ..core.graph import node as graph
from ..core.graph.layout import Layout, Shape
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.recording.array import from_host, ndarray, to_host, wrap
from ..core.recording.record import as_array, elementwise, reshaped
from ..functions.indexing.selection import take
from ..functions.manipulation.joining import concatenate
from ..functions.reductions.reductions import all as all_of
from ..functions.reductions.reductions import max as max_of
from ..functions.reductions.reductions import min as min_of
from ..functions.sets.unique import unique
from ..functions.sorting.searching import searchsorted
from ..functions.sorting.sort import sort
from . import words
from .stream import Stream

_UINT32, _UINT64 = numpy.dtype(numpy.uint32), numpy.dtype(numpy.uint64)

# Limits of the thread blocks that draw concurrently: as many as the device runs, or one block for this many words, so
# that few words of each block are rejected.
_ALL_BLOCKS, _WORDS_PER_BLOCK = 1 << 20, 1 << 13


# --- words ------------------------------------------------------------------------------------------------------------


def words_to_shuffle(count: int, rows: int = 1) -> int:
    """Return a count of words of 32 bits that suffices to shuffle rows of `count` elements, but once in 10^30 times.

    The expected count plus twelve standard deviations. Bounds with the same mask are summed as an integral.
    """
    mean = variance = 0.0
    for bits in range(1, (count - 1).bit_length() + 1):
        values, smallest, greatest = 1 << bits, 1 << bits - 1, min(1 << bits, count) - 1
        harmonic = 1 / (smallest + 1) + log((greatest + 1) / (smallest + 1))
        squares = 1 / (smallest + 1) ** 2 + 1 / (smallest + 1) - 1 / (greatest + 1)
        mean += values * harmonic
        variance += max(values * values * squares - values * harmonic, 0)
    return int(rows * mean + 12 * sqrt(rows * variance)) + 128


def _words_for_products(count: int, max_bound: int, bits: int) -> int:
    """Return a count of words that suffices for `count` integers by products, but once in 10^30 times."""
    rejected = min((max_bound + 1) / (1 << bits), 0.5)
    return int(count / (1 - rejected) + 12 * sqrt(count * rejected) / (1 - rejected)) + 128


def _max_blocks(max_bound: int, bits: int) -> int:
    """Return how many blocks are to draw integers by products: so many that few words of a stage are rejected."""
    return max(1, (2 << bits) // ((max_bound + 1) * _WORDS_PER_BLOCK))


# --- permutations -----------------------------------------------------------------------------------------------------


def order_of_words(words32: Node, count: int, rows: int = 1) -> tuple[Node, Node]:
    """Return the permutation that shuffles rows of `count` elements in turn, and how many words that consumes.

    The permutation has the positions of all rows, counted from the first element of the first row.
    """
    blocks = _ALL_BLOCKS if rows == 1 else max(1, count // _WORDS_PER_BLOCK)
    swaps, words_taken = _swaps(words32, "masked", blocks, count - 1, count, rows)
    return _order_after(swaps, 0), words_taken


def draw_order(stream: Stream, count: int, queue: Queue, rows: int = 1) -> Node:
    """Draw the permutation that NumPy's `shuffle` applies to rows of `count` elements in turn; advance the stream."""
    words32 = stream.peek(words.words32, words_to_shuffle(count, rows), queue)
    order, words_taken = order_of_words(words32, count, rows)
    stream.move_by(wrap(words_taken), 32)
    return order


def _swaps(words32: Node, rule: str, blocks: int, last: int, count: int, rows: int) -> list[Node]:
    """Return the swaps that shuffle the last `count` places of each row, and how many words they consume."""
    results: Any = (((rows * count,), _UINT64), ((), INT64))
    return graph.library_call_outputs("bounded_draws", (rule, 32, blocks, (last, rows)), (words32,), results)


def _order_after(swaps: Node, lowest: int) -> Node:
    """Return the permutation that swaps leave of the places from `lowest` on."""
    return graph.library_call("permutation_of_swaps", (lowest,), (graph.library_call("sort_upper", (), (swaps,)),))


def _above_positions(x: Node) -> Node:
    """Return uint64 numbers with the integers of `x` in their upper halves and their positions in the lower halves."""
    shape, queue = x.signature.shape, x.signature.queue
    assert queue is not None
    position = graph.cast(graph.iota(shape, 0, queue), _UINT64)
    upper = graph.map_node("left_shift", (_UINT64,) * 3, (graph.cast(x, _UINT64), graph.typed_scalar(32, _UINT64)))
    return graph.map_node("bitwise_or", (_UINT64,) * 3, (upper, position))


# --- samples ----------------------------------------------------------------------------------------------------------


def draw_sample(stream: Stream, population: int, count: int, shuffle: bool, queue: Queue) -> Node | None:
    """Draw `count` distinct integers below `population`; None where the host is to draw them."""
    if population >= 1 << 32:
        return None
    # NumPy's rule for its two methods.
    if population > 10000 and count > population // (50 if shuffle else 20):
        return _first_of_shuffled(stream, population, count, queue)
    return None if population == count else _sample_by_floyd(stream, population, count, shuffle, queue)


def _first_of_shuffled(stream: Stream, population: int, count: int, queue: Queue) -> Node:
    """Draw a sample as the last places of a population of which only these places are shuffled."""
    last, lowest = population - 1, population - count
    draws = count - (lowest == 0)
    words32 = stream.peek(words.words32, _words_for_products(draws, last, 32), queue)
    swaps, words_taken = _swaps(words32, "product", _max_blocks(last, 32), last, count, 1)
    stream.move_by(wrap(words_taken), 32)
    return _order_after(swaps, lowest)


def _sample_by_floyd(stream: Stream, population: int, count: int, shuffle: bool, queue: Queue) -> Node:
    """Draw a sample by R. W. Floyd's algorithm, and shuffle it if asked for.

    Number t is an integer drawn from 0 to ``lowest + t``, or ``lowest + t`` if the sample already has that integer.
    """
    last, lowest, draws = population - 1, population - count, 2 * count - 1 if shuffle else count
    place = wrap(graph.iota((draws,), 0, queue))
    falling = elementwise("subtract", [2 * count - 1, place])
    bounds = elementwise("where", [elementwise("less", [place, count]), elementwise("add", [place, lowest]), falling])
    words32 = stream.peek(words.words32, _words_for_products(draws, last, 32), queue)
    integers, words_taken = _integers_up_to(words32, graph.cast(bounds.value(), _UINT32), 32, _max_blocks(last, 32))
    stream.move_by(wrap(words_taken), 32)
    drawn = graph.view(integers, Layout((count,), (1,), 0))
    ordered = graph.library_call("sort_upper", (), (_above_positions(drawn),))
    sample = graph.library_call("floyd_sample", (lowest,), (drawn, ordered))
    if not shuffle:
        return sample
    # The rest of the integers are the swaps of places count - 1 to 1; place 0 swaps with itself.
    zero = wrap(graph.fill(graph.typed_scalar(0, _UINT32), (1,), queue))
    ascending = graph.view(integers, Layout((count - 1,), (-1,), draws - 1))
    swaps = _above_positions(concatenate([zero, wrap(ascending)]).value())
    return take(wrap(sample), wrap(_order_after(swaps, 0))).value()


def chosen_by_weight(weights: Any, uniforms: ndarray) -> ndarray:
    """Return for each uniform number the position of a weight, with probabilities in proportion to the weights.

    The weights are accumulated on the host in NumPy's order, which decides the last bits of the sums.
    """
    sums = numpy.cumsum(weights, dtype=numpy.float64)
    return searchsorted(from_host(sums / sums[-1], uniforms.device), uniforms, "right")


def draw_weighted_sample(draw: Callable[..., Any], p: Any, shape: Shape, queue: Queue) -> ndarray:
    """Draw distinct positions in `p`, by these probabilities, as an array of `shape`.

    ``draw(count)`` draws uniform numbers. As in NumPy, positions drawn twice count once, and the rest is drawn again
    with the probabilities of those found set to 0.
    """
    weights, found = numpy.array(p, numpy.float64), numpy.empty(0, numpy.int64)
    while found.size < prod(shape):
        uniforms = as_array(draw(prod(shape) - found.size), queue.device)
        weights[found] = 0
        chosen = chosen_by_weight(weights, uniforms)
        _, first = unique(chosen, return_index=True)
        found = numpy.concatenate([found, to_host(take(chosen, sort(first)))])
    return from_host(found.reshape(shape), queue.device)


def _integers_up_to(words: Node, bounds: Node, bits: int, blocks: int) -> list[Node]:
    """Return integers from 0 up to each of the bounds, by products, and how many words they consume."""
    results: Any = ((bounds.signature.shape, _UINT32), ((), INT64))
    return graph.library_call_outputs("bounded_draws", ("product", bits, blocks, None), (words, bounds), results)


# --- integers ---------------------------------------------------------------------------------------------------------

# The bits of a word that an integer consumes, by its size in bytes.
_BITS_OF_INTEGER = {8: 32, 4: 32, 2: 16, 1: 8}
# Share of rejected words from which on the host draws integers faster.
MAX_REJECTED = 1 / 32


def draw_integers(
    stream: Stream, low: ndarray, high: ndarray, shape: Shape, dtype: DType, closed: bool
) -> ndarray | None:
    """Draw integers from `low` to `high`, int64 arrays; None where the host is to draw, or to raise.

    `high` is included if `closed`. The device draws only where ``high - low`` fits into int64 everywhere.
    """
    least, greatest = (0, 1) if dtype.kind == "b" else (numpy.iinfo(dtype).min, numpy.iinfo(dtype).max)
    last = high if closed else elementwise("subtract", [high, 1])
    ends = [graph.broadcast(x.value(), shape) for x in (last, low)]
    spread = wrap(graph.map_node("subtract", (INT64,) * 3, ends))
    is_valid = elementwise("less", [low, last])
    for op, x, y in (("less", low, high), ("greater_equal", low, least), ("less_equal", last, greatest)):
        is_valid = elementwise("logical_and", [is_valid, elementwise(op, [x, y])])
    is_valid = elementwise("logical_and", [all_of(is_valid), elementwise("greater", [min_of(spread), 0])])
    widest = int(to_host(max_of(spread)))
    bits = 1 if dtype == BOOL else _BITS_OF_INTEGER[dtype.itemsize]
    if not is_valid or (bits > 1 and widest >= MAX_REJECTED * (1 << bits)):
        return None
    queue = low.queue
    count = prod(shape)
    word_count = _words_for_products(count, widest, bits) if bits > 1 else count
    if bits == 32:
        next_words = stream.peek(words.words32, word_count, queue)
    else:
        next_words = stream.peek(words.small_words, word_count, bits, queue)
    bounds = graph.cast(reshaped(spread.value(), (count,)), _UINT32)
    offsets, words_taken = _integers_up_to(next_words, bounds, bits, _max_blocks(widest, bits))
    stream.move_by(wrap(words_taken), bits)
    integers = elementwise("add", [wrap(reshaped(graph.cast(offsets, INT64), shape)), low])
    return wrap(graph.cast(integers.value(), dtype))
