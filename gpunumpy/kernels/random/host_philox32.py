"""The CPU executor's functions for the operations of Philox4x32 (`core.ops.philox32`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ...core.ops.philox32 import elements_of_block
from .host_words import host_function

_HALF = numpy.uint64(32)
_LOW = numpy.uint64(0xFFFFFFFF)


def _blocks(block: Any, attempt: int, key: Any, salt: Any) -> Any:
    """Return the four words of each block: one row per block number."""
    c0, c1 = block & _LOW, block >> _HALF ^ numpy.uint64(attempt << 20 & 0xFFFFFFFF)
    c2, c3, k0, k1 = (numpy.uint64(half) for x in (int(salt), int(key)) for half in (x & 0xFFFFFFFF, x >> 32))
    for _ in range(10):
        first, second = c0 * numpy.uint64(0xD2511F53), c2 * numpy.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = second >> _HALF ^ c1 ^ k0, second & _LOW, first >> _HALF ^ c3 ^ k1, first & _LOW
        k0, k1 = k0 + numpy.uint64(0x9E3779B9) & _LOW, k1 + numpy.uint64(0xBB67AE85) & _LOW
    return numpy.stack([c0, c1, c2, c3], -1).astype(numpy.uint32)


def _elements(dtype: Any, position: Any, key: Any, salt: Any, make: Callable[[Any], Any], attempt: int = 0) -> Any:
    """Return the elements at positions; ``make(blocks)`` returns the elements of each block as a row."""
    per_block = elements_of_block(dtype)
    position = numpy.asarray(position)
    block = position // per_block
    first, last = (int(block.min()), int(block.max())) if block.size else (0, -1)
    if last - first < block.size:  # neighboring positions: compute each block once
        elements = make(_blocks(numpy.arange(first, last + 1).astype(numpy.uint64), attempt, key, salt))
        return elements.reshape(-1)[position - first * per_block]
    elements = make(_blocks(block.astype(numpy.uint64), attempt, key, salt))
    return numpy.take_along_axis(elements, (position % per_block)[..., None], -1)[..., 0]


def _minus_log(word: Any) -> Any:
    if word.dtype.itemsize == 4:
        return 0 - numpy.log(word.astype(numpy.float32) * numpy.float32(2.0**-32) + numpy.float32(2.0**-33))
    return 0 - numpy.log(1 - (word >> numpy.uint64(12)) * 2.0**-52)


def _angle(word: Any) -> Any:
    """Return the angle of a word: the upper two bits choose the quarter turn, the next bits an angle within +-pi/4."""
    bits = 8 * word.dtype.itemsize
    fraction_bits = 23 if bits == 32 else 52
    fraction = word >> word.dtype.type(bits - 2 - fraction_bits) & word.dtype.type((1 << fraction_bits) - 1)
    return ((word >> word.dtype.type(bits - 2)) + (fraction * 2.0**-fraction_bits - 0.5)) * (numpy.pi / 2)


def _normals(dtype: Any) -> Callable[[Any], Any]:
    """Return the function that makes the normal numbers of blocks, by the method of Box and Muller (1958)."""
    word = numpy.dtype(f"u{dtype.itemsize}")

    def make(words: Any) -> Any:
        pairs = words.view(word)
        radius, angle = numpy.sqrt(2 * _minus_log(pairs[..., ::2])), _angle(pairs[..., 1::2])
        normals = numpy.empty(pairs.shape, dtype)
        normals[..., ::2], normals[..., 1::2] = radius * numpy.cos(angle), radius * numpy.sin(angle)
        return normals

    return make


def _word(dtype: Any) -> Callable[..., Any]:
    return lambda position, key, salt: _elements(dtype, position, key, salt, lambda words: words.view(dtype))


def _normal(dtype: Any) -> Callable[..., Any]:
    make = _normals(dtype)
    return lambda position, key, salt: _elements(dtype, position, key, salt, make)


def _product(word: Any, span: int) -> tuple[Any, Any]:
    """Return the upper and the lower half of the product of a word and a span."""
    if span >> 32 == 0:  # the lower half of the word suffices
        product = (word & word.dtype.type(0xFFFFFFFF)) * numpy.uint64(span)
        return (product >> _HALF).astype(word.dtype), product & _LOW
    low, high, s_low, s_high = word & _LOW, word >> _HALF, numpy.uint64(span & 0xFFFFFFFF), numpy.uint64(span >> 32)
    middle = high * s_low + (low * s_low >> _HALF)
    return high * s_high + (middle >> _HALF) + ((middle & _LOW) + low * s_high >> _HALF), word * numpy.uint64(span)


def _below(dtype: Any) -> Callable[..., Any]:
    """Return the function that draws integers below a span; a word whose product is rejected is drawn again."""
    word_at = _word(dtype)

    def below(position: Any, key: Any, salt: Any, span: Any, least: Any) -> Any:
        span, least = int(span), numpy.uint64(least)
        value, low = _product(word_at(position, key, salt), span)
        attempt = 0
        while numpy.any(is_rejected := low < least):
            attempt += 1
            word = _elements(dtype, position, key, salt, lambda words: words.view(dtype), attempt)
            new_value, new_low = _product(word, span)
            value, low = numpy.where(is_rejected, new_value, value), numpy.where(is_rejected, new_low, low)
        return value

    return below


# By operation, the function that returns its implementation for the dtypes of a loop.
OP_FUNCTIONS: dict[str, Callable[[Any], Callable[..., Any]]] = {
    "philox32_word": host_function(_word),
    "philox32_normal": host_function(_normal),
    "philox32_below": host_function(_below),
    "minus_log": host_function(lambda dtype: _minus_log),
}
