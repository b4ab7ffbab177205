"""Integers whose bounds differ from one to the next, and what is made of them: orders, and samples of a population.

NumPy finds an integer up to a bound by masks ("masked") where it shuffles arrays, and by products ("product") where it
draws integers or samples. Which words make integers depends on how many come before (library call "bounded_draws"). An
order is what swaps with the places drawn leave ("swapped"), which takes a sort.
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

# How many blocks draw side by side: as many as the device has, or so many that few of a block's words are rejected.
_ALL_BLOCKS, _WORDS_PER_BLOCK = 1 << 20, 1 << 13


# --- words ------------------------------------------------------------------------------------------------------------


def words_to_shuffle(count: int, rows: int = 1) -> int:
    """Return how many words of 32 bits are enough to shuffle rows of so many elements, but for one time in 10^30."""
    mean = variance = 0.0
    for bits in range(1, (count - 1).bit_length() + 1):
        values, least, most = 1 << bits, 1 << bits - 1, min(1 << bits, count) - 1
        harmonic = 1 / (least + 1) + log((most + 1) / (least + 1))
        squares = 1 / (least + 1) ** 2 + 1 / (least + 1) - 1 / (most + 1)
        mean += values * harmonic
        variance += max(values * values * squares - values * harmonic, 0)
    return int(rows * mean + 12 * sqrt(rows * variance)) + 128


def _words_for_products(count: int, most: int, bits: int) -> int:
    """Return how many words are enough for integers up to `most` by products, but for one time in 10^30."""
    rejected = min((most + 1) / (1 << bits), 0.5)
    return int(count / (1 - rejected) + 12 * sqrt(count * rejected) / (1 - rejected)) + 128


def _max_blocks(most: int, bits: int) -> int:
    """Return how many blocks are to draw integers up to `most` side by side: few words are rejected in a stage."""
    return max(1, (2 << bits) // ((most + 1) * _WORDS_PER_BLOCK))


# --- orders -----------------------------------------------------------------------------------------------------------


def order_of_words(words32: Node, count: int, rows: int = 1) -> tuple[Node, Node]:
    """Return the order of the elements of rows that are shuffled one after the other, and how many words that takes.

    Positions are those of all rows.
    """
    blocks = _ALL_BLOCKS if rows == 1 else max(1, count // _WORDS_PER_BLOCK)
    swaps, taken = _swaps(words32, "masked", blocks, count - 1, count, rows)
    return _order_after(swaps, 0), taken


def draw_order(stream: Stream, count: int, queue: Queue, rows: int = 1) -> Node:
    """Return the order of elements that `shuffle` leaves."""
    words32 = stream.peek(words.words32, words_to_shuffle(count, rows), queue)
    order, taken = order_of_words(words32, count, rows)
    stream.move_by(wrap(taken), 32)
    return order


def _swaps(words32: Node, rule: str, blocks: int, last: int, count: int, rows: int) -> list[Node]:
    """Return the swaps of the last `count` places, up to `last`; and how many words that takes."""
    results: Any = (((rows * count,), _UINT64), ((), INT64))
    return graph.library_call_outputs("bounded_draws", (rule, 32, blocks, (last, rows)), (words32,), results)


def _order_after(swaps: Node, lowest: int) -> Node:
    """Return the order that swaps leave of the places from the lowest one on."""
    return graph.library_call("swapped", (lowest,), (graph.library_call("sort_upper", (), (swaps,)),))


def _above_positions(x: Node) -> Node:
    """Return integers of 32 bits, each as the upper half of a number whose lower half is its position."""
    shape, queue = x.signature.shape, x.signature.queue
    assert queue is not None
    position = graph.cast(graph.iota(shape, 0, queue), _UINT64)
    upper = graph.map_node("left_shift", (_UINT64,) * 3, (graph.cast(x, _UINT64), graph.typed_scalar(32, _UINT64)))
    return graph.map_node("bitwise_or", (_UINT64,) * 3, (upper, position))


# --- samples ----------------------------------------------------------------------------------------------------------


def draw_sample(stream: Stream, population: int, count: int, shuffle: bool, queue: Queue) -> Node | None:
    """Draw so many of the integers below the population, each at most once; None where the host is to draw them."""
    if population >= 1 << 32:
        return None
    # As NumPy decides it.
    if population > 10000 and count > population // (50 if shuffle else 20):
        return _first_of_shuffled(stream, population, count, queue)
    return None if population == count else _sample_by_floyd(stream, population, count, shuffle, queue)


def _first_of_shuffled(stream: Stream, population: int, count: int, queue: Queue) -> Node:
    """Draw a sample by shuffling the last places of the population."""
    last, lowest = population - 1, population - count
    draws = count - (lowest == 0)
    words32 = stream.peek(words.words32, _words_for_products(draws, last, 32), queue)
    swaps, taken = _swaps(words32, "product", _max_blocks(last, 32), last, count, 1)
    stream.move_by(wrap(taken), 32)
    return _order_after(swaps, lowest)


def _sample_by_floyd(stream: Stream, population: int, count: int, shuffle: bool, queue: Queue) -> Node:
    """Draw a sample by R. W. Floyd's algorithm: number t is drawn up to lowest + t, or is that itself."""
    last, lowest, draws = population - 1, population - count, 2 * count - 1 if shuffle else count
    place = wrap(graph.iota((draws,), 0, queue))
    falling = elementwise("subtract", [2 * count - 1, place])
    bounds = elementwise("where", [elementwise("less", [place, count]), elementwise("add", [place, lowest]), falling])
    words32 = stream.peek(words.words32, _words_for_products(draws, last, 32), queue)
    made, taken = _bounded(words32, graph.cast(bounds.value(), _UINT32), 32, _max_blocks(last, 32))
    stream.move_by(wrap(taken), 32)
    drawn = graph.view(made, Layout((count,), (1,), 0))
    ordered = graph.library_call("sort_upper", (), (_above_positions(drawn),))
    sample = graph.library_call("sampled", (lowest,), (drawn, ordered))
    if not shuffle:
        return sample
    none = wrap(graph.fill(graph.typed_scalar(0, _UINT32), (1,), queue))
    backward = graph.view(made, Layout((count - 1,), (-1,), draws - 1))
    swaps = _above_positions(concatenate([none, wrap(backward)]).value())
    return take(wrap(sample), wrap(_order_after(swaps, 0))).value()


def chosen_by_weight(weights: Any, uniforms: ndarray) -> ndarray:
    """Return the position of a weight for each uniform number, in proportion to the weights.

    The weights are added up on the host: a sum depends on its order.
    """
    sums = numpy.cumsum(weights, dtype=numpy.float64)
    return searchsorted(from_host(sums / sums[-1], uniforms.device), uniforms, "right")


def draw_weighted_sample(draw: Callable[..., Any], p: Any, shape: Shape, queue: Queue) -> ndarray:
    """Draw some of the integers below the size of `p`, by these probabilities, each at most once.

    `draw` makes so many uniform numbers.
    """
    weights, found = numpy.array(p, numpy.float64), numpy.empty(0, numpy.int64)
    while found.size < prod(shape):
        uniforms = as_array(draw(prod(shape) - found.size), queue.device)
        weights[found] = 0
        chosen = chosen_by_weight(weights, uniforms)
        _, first = unique(chosen, return_index=True)
        found = numpy.concatenate([found, to_host(take(chosen, sort(first)))])
    return from_host(found.reshape(shape), queue.device)


def _bounded(words: Node, bounds: Node, bits: int, blocks: int) -> list[Node]:
    """Return integers up to bounds, and how many words they take."""
    results: Any = ((bounds.signature.shape, _UINT32), ((), INT64))
    return graph.library_call_outputs("bounded_draws", ("product", bits, blocks, None), (words, bounds), results)


# --- integers ---------------------------------------------------------------------------------------------------------

# How many bits of a word an integer takes, by its bytes.
_BITS_OF_INTEGER = {8: 32, 4: 32, 2: 16, 1: 8}
# Where more than this share of the words may be rejected, the host draws integers sooner.
MAX_REJECTED = 1 / 32


def draw_integers(
    stream: Stream, low: ndarray, high: ndarray, shape: Shape, dtype: DType, closed: bool
) -> ndarray | None:
    """Draw integers from arrays `low` to `high`; None where the host is to draw them, or to refuse that.

    Both are integers of 64 bits, and so is what is in between, as far as the device draws it.
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
    enough = _words_for_products(count, widest, bits) if bits > 1 else count
    if bits == 32:
        given = stream.peek(words.words32, enough, queue)
    else:
        given = stream.peek(words.small_words, enough, bits, queue)
    bounds = graph.cast(reshaped(spread.value(), (count,)), _UINT32)
    made, taken = _bounded(given, bounds, bits, _max_blocks(widest, bits))
    stream.move_by(wrap(taken), bits)
    placed = elementwise("add", [wrap(reshaped(graph.cast(made, INT64), shape)), low])
    return wrap(graph.cast(placed.value(), dtype))
