"""What the rows of Philox4x32 are on the CPU device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ...core.ops.philox32 import elements_of_block
from .host_words import made_by

_HALF = numpy.uint64(32)
_LOW = numpy.uint64(0xFFFFFFFF)


def _blocks(number: Any, attempt: int, key: Any, salt: Any) -> Any:
    """The words of blocks: one row a block."""
    c0, c1 = number & _LOW, number >> _HALF ^ numpy.uint64(attempt << 20 & 0xFFFFFFFF)
    c2, c3, k0, k1 = (numpy.uint64(half) for x in (int(salt), int(key)) for half in (x & 0xFFFFFFFF, x >> 32))
    for _ in range(10):
        first, second = c0 * numpy.uint64(0xD2511F53), c2 * numpy.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = second >> _HALF ^ c1 ^ k0, second & _LOW, first >> _HALF ^ c3 ^ k1, first & _LOW
        k0, k1 = k0 + numpy.uint64(0x9E3779B9) & _LOW, k1 + numpy.uint64(0xBB67AE85) & _LOW
    return numpy.stack([c0, c1, c2, c3], -1).astype(numpy.uint32)


def _shared(dtype: Any, place: Any, key: Any, salt: Any, make: Callable[[Any], Any], attempt: int = 0) -> Any:
    """Elements at places: each of its block."""
    per = elements_of_block(dtype)
    place = numpy.asarray(place)
    number = place // per
    first, last = (int(number.min()), int(number.max())) if number.size else (0, -1)
    if last - first < number.size:  # neighbours: every block once
        made = make(_blocks(numpy.arange(first, last + 1).astype(numpy.uint64), attempt, key, salt))
        return made.reshape(-1)[place - first * per]
    made = make(_blocks(number.astype(numpy.uint64), attempt, key, salt))
    return numpy.take_along_axis(made, (place % per)[..., None], -1)[..., 0]


def _minus_log(word: Any) -> Any:
    if word.dtype.itemsize == 4:
        return 0 - numpy.log(word.astype(numpy.float32) * numpy.float32(2.0**-32) + numpy.float32(2.0**-33))
    return 0 - numpy.log(1 - (word >> numpy.uint64(12)) * 2.0**-52)


def _angle(word: Any) -> Any:
    """A quarter of a turn for the upper two bits, and what is left of one, less the half of a quarter, for the rest."""
    bits = 8 * word.dtype.itemsize
    kept = 23 if bits == 32 else 52
    rest = word >> word.dtype.type(bits - 2 - kept) & word.dtype.type((1 << kept) - 1)
    return ((word >> word.dtype.type(bits - 2)) + (rest * 2.0**-kept - 0.5)) * (numpy.pi / 2)


def _normals(dtype: Any) -> Callable[[Any], Any]:
    word = numpy.dtype(f"u{dtype.itemsize}")

    def make(words: Any) -> Any:
        pairs = words.view(word)
        radius, angle = numpy.sqrt(2 * _minus_log(pairs[..., ::2])), _angle(pairs[..., 1::2])
        made = numpy.empty(pairs.shape, dtype)
        made[..., ::2], made[..., 1::2] = radius * numpy.cos(angle), radius * numpy.sin(angle)
        return made

    return make


def _word(dtype: Any) -> Callable[..., Any]:
    return lambda place, key, salt: _shared(dtype, place, key, salt, lambda words: words.view(dtype))


def _normal(dtype: Any) -> Callable[..., Any]:
    make = _normals(dtype)
    return lambda place, key, salt: _shared(dtype, place, key, salt, make)


def _product(word: Any, span: int) -> tuple[Any, Any]:
    """The upper and the lower half of a product."""
    if span >> 32 == 0:  # half a word will do
        product = (word & word.dtype.type(0xFFFFFFFF)) * numpy.uint64(span)
        return (product >> _HALF).astype(word.dtype), product & _LOW
    low, high, s_low, s_high = word & _LOW, word >> _HALF, numpy.uint64(span & 0xFFFFFFFF), numpy.uint64(span >> 32)
    middle = high * s_low + (low * s_low >> _HALF)
    return high * s_high + (middle >> _HALF) + ((middle & _LOW) + low * s_high >> _HALF), word * numpy.uint64(span)


def _below(dtype: Any) -> Callable[..., Any]:
    take = _word(dtype)

    def below(place: Any, key: Any, salt: Any, span: Any, least: Any) -> Any:
        span, least = int(span), numpy.uint64(least)
        value, low = _product(take(place, key, salt), span)
        attempt = 0
        while numpy.any(lost := low < least):
            attempt += 1
            again = _shared(dtype, place, key, salt, lambda words: words.view(dtype), attempt)
            new, rest = _product(again, span)
            value, low = numpy.where(lost, new, value), numpy.where(lost, rest, low)
        return value

    return below


ROWS: dict[str, Callable[[Any], Callable[..., Any]]] = {
    "philox32_word": made_by(_word),
    "philox32_normal": made_by(_normal),
    "philox32_below": made_by(_below),
    "minus_log": made_by(lambda dtype: _minus_log),
}
