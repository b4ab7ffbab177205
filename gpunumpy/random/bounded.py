"""Integers whose bounds differ from one to the next, and what is made of them: orders, and samples of a population.

NumPy finds an integer up to a bound by masks ("masked") where it shuffles arrays, and by products ("product") where it
draws integers or samples. Which words make integers depends on how many come before ("bounded_draws"). An order is what
swaps with the places drawn leave ("swapped"), which takes a sort.
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

# Blocks that draw side by side: as many as there are; or so many pieces of a block that a few of them are rejected.
_ALL, _PIECES = 1 << 20, 1 << 13


# --- words ------------------------------------------------------------------------------------------------------------


def enough_masked(count: int, rows: int = 1) -> int:
    """So many words of 32 bits are enough to shuffle rows of so many elements, but for one time in 10^30."""
    mean = spread = 0.0
    for bits in range(1, (count - 1).bit_length() + 1):
        masks, least, most = 1 << bits, 1 << bits - 1, min(1 << bits, count) - 1
        harmonic = 1 / (least + 1) + log((most + 1) / (least + 1))
        squares = 1 / (least + 1) ** 2 + 1 / (least + 1) - 1 / (most + 1)
        mean += masks * harmonic
        spread += max(masks * masks * squares - masks * harmonic, 0)
    return int(rows * mean + 12 * sqrt(rows * spread)) + 128


def _enough(count: int, most: int, bits: int) -> int:
    """So many words are enough for integers up to `most` by products, but for one time in 10^30."""
    rejected = min((most + 1) / (1 << bits), 0.5)
    return int(count / (1 - rejected) + 12 * sqrt(count * rejected) / (1 - rejected)) + 128


def _blocks(most: int, bits: int) -> int:
    """How many blocks are to draw integers up to `most` side by side: few words are rejected in a stage of theirs."""
    return max(1, (2 << bits) // ((most + 1) * _PIECES))


# --- orders -----------------------------------------------------------------------------------------------------------


def permuted(given: Node, count: int, rows: int = 1) -> tuple[Node, Node]:
    """The order of the elements of rows that are shuffled one after the other, and how many words that takes.

    The words given have 32 bits. Positions are those of all rows.
    """
    blocks = _ALL if rows == 1 else max(1, count // _PIECES)
    swaps, taken = _swaps(given, "masked", blocks, count - 1, count, rows)
    return _swapped(swaps, 0), taken


def order(stream: Stream, count: int, queue: Queue, rows: int = 1) -> Node:
    """The order of elements that `shuffle` leaves."""
    given = stream.ahead(words.halves, enough_masked(count, rows), queue)
    made, taken = permuted(given, count, rows)
    stream.moves(wrap(taken), 32)
    return made


def _swaps(given: Node, rule: str, blocks: int, last: int, count: int, rows: int) -> list[Node]:
    """The swaps of the last `count` places, up to `last`; and how many words that takes."""
    results: Any = (((rows * count,), _UINT64), ((), INT64))
    return graph.library_call_outputs("bounded_draws", (rule, 32, blocks, (last, rows)), (given,), results)


def _swapped(swaps: Node, lowest: int) -> Node:
    return graph.library_call("swapped", (lowest,), (graph.library_call("sort_upper", (), (swaps,)),))


def _above_positions(x: Node) -> Node:
    """Integers of 32 bits, each as the upper half of a number whose lower one is its position."""
    shape, queue = x.signature.shape, x.signature.queue
    assert queue is not None
    position = graph.cast(graph.iota(shape, 0, queue), _UINT64)
    upper = graph.map_node("left_shift", (_UINT64,) * 3, (graph.cast(x, _UINT64), graph.typed_scalar(32, _UINT64)))
    return graph.map_node("bitwise_or", (_UINT64,) * 3, (upper, position))


# --- samples ----------------------------------------------------------------------------------------------------------


def sample(stream: Stream, many: int, count: int, shuffle: bool, queue: Queue) -> Node | None:
    """So many of the integers below `many`, each at most once; None where the host is to draw them."""
    if many >= 1 << 32:
        return None
    # As NumPy decides it.
    if many > 10000 and count > many // (50 if shuffle else 20):
        lowest = many - count
        draws = count - (lowest == 0)
        given = stream.ahead(words.halves, _enough(draws, many - 1, 32), queue)
        swaps, taken = _swaps(given, "product", _blocks(many - 1, 32), many - 1, count, 1)
        stream.moves(wrap(taken), 32)
        return _swapped(swaps, lowest)
    if many == count:
        return None
    # R. W. Floyd's algorithm: the integer at t is drawn up to lowest + t, and is that if it was there already.
    lowest, draws = many - count, 2 * count - 1 if shuffle else count
    place = wrap(graph.iota((draws,), 0, queue))
    falling = elementwise("subtract", [2 * count - 1, place])
    bounds = elementwise("where", [elementwise("less", [place, count]), elementwise("add", [place, lowest]), falling])
    given = stream.ahead(words.halves, _enough(draws, many - 1, 32), queue)
    made, taken = _drawn(given, graph.cast(bounds.value(), _UINT32), 32, _blocks(many - 1, 32))
    stream.moves(wrap(taken), 32)
    drawn = graph.view(made, Layout((count,), (1,), 0))
    ordered = graph.library_call("sort_upper", (), (_above_positions(drawn),))
    sampled = graph.library_call("sampled", (lowest,), (drawn, ordered))
    if not shuffle:
        return sampled
    none = wrap(graph.fill(graph.typed_scalar(0, _UINT32), (1,), queue))
    backward = graph.view(made, Layout((count - 1,), (-1,), draws - 1))
    swaps = _above_positions(concatenate([none, wrap(backward)]).value())
    return take(wrap(sampled), wrap(_swapped(swaps, 0))).value()


def weighted(draw: Callable[..., Any], p: Any, shape: Shape, queue: Queue) -> ndarray:
    """Some of the integers below the size of `p`, by these probabilities, each at most once; `draw` makes so many even
    numbers.

    The probabilities are added up on the host: a sum depends on its order.
    """
    weights, found = numpy.array(p, numpy.float64), numpy.empty(0, numpy.int64)
    while found.size < prod(shape):
        evenly = as_array(draw(prod(shape) - found.size), queue.device)
        weights[found] = 0
        upto = numpy.cumsum(weights)
        chosen = searchsorted(from_host(upto / upto[-1], queue.device), evenly, "right")
        _, first = unique(chosen, return_index=True)
        found = numpy.concatenate([found, to_host(take(chosen, sort(first)))])
    return from_host(found.reshape(shape), queue.device)


def _drawn(given: Node, bounds: Node, bits: int, blocks: int) -> list[Node]:
    """Integers up to bounds, and how many words they take."""
    results: Any = ((bounds.signature.shape, _UINT32), ((), INT64))
    return graph.library_call_outputs("bounded_draws", ("product", bits, blocks, None), (given, bounds), results)


# --- integers ---------------------------------------------------------------------------------------------------------

# How many bits of a word an integer takes, by its bytes. Where more than a share of the words may be rejected, the host
# draws integers sooner.
_BITS = {8: 32, 4: 32, 2: 16, 1: 8}
REJECTED = 1 / 32


def integers(stream: Stream, low: ndarray, high: ndarray, shape: Shape, dtype: DType, closed: bool) -> ndarray | None:
    """Integers from arrays `low` to `high`; None where the host is to draw them, or to refuse that.

    Both are integers of 64 bits, and so is what is in between, as far as the device draws it.
    """
    least, greatest = (0, 1) if dtype.kind == "b" else (numpy.iinfo(dtype).min, numpy.iinfo(dtype).max)
    last = high if closed else elementwise("subtract", [high, 1])
    ends = [graph.broadcast(x.value(), shape) for x in (last, low)]
    spread = wrap(graph.map_node("subtract", (INT64,) * 3, ends))
    fine = elementwise("less", [low, last])
    for op, x, y in (("less", low, high), ("greater_equal", low, least), ("less_equal", last, greatest)):
        fine = elementwise("logical_and", [fine, elementwise(op, [x, y])])
    fine = elementwise("logical_and", [all_of(fine), elementwise("greater", [min_of(spread), 0])])
    most = int(to_host(max_of(spread)))
    bits = 1 if dtype == BOOL else _BITS[dtype.itemsize]
    if not fine or (bits > 1 and most >= REJECTED * (1 << bits)):
        return None
    queue = low.queue
    count = prod(shape)
    enough = _enough(count, most, bits) if bits > 1 else count
    if bits == 32:
        given = stream.ahead(words.halves, enough, queue)
    else:
        given = stream.ahead(words.pieces, enough, bits, queue)
    bounds = graph.cast(reshaped(spread.value(), (count,)), _UINT32)
    made, taken = _drawn(given, bounds, bits, _blocks(most, bits))
    stream.moves(wrap(taken), bits)
    wide = wrap(reshaped(graph.cast(made, INT64), shape))
    placed = elementwise("add", [wide, low])
    return wrap(graph.cast(placed.value(), dtype))
