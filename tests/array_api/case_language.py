"""What the words of the tables of special cases mean."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy

Array = Any

_MAGNITUDE = re.compile(r"abs([<>]?)(\d+)")
_SIDE = re.compile(r"([<>])(-?\d+)")
_TURN = re.compile(r"(\d*)pi(?:/(\d))?")


def cases(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """The conditions and the results of each case of an entry."""
    for case in text.split(";"):
        conditions, result = case.split(":")
        yield conditions.split(), result.split()


# --- conditions ------------------------------------------------------------------------------------------------------


def holds(word: str, x: Array, other: Array) -> Array:
    """Where the condition that a word stands for holds of an operand, beside the other one."""
    if "|" in word:
        return numpy.any([holds(w, x, other) for w in word.split("|")], axis=0)
    if "&" in word:
        return numpy.all([holds(w, x, other) for w in word.split("&")], axis=0)
    if word[0] == "!":
        return ~holds(word[1:], x, other)
    if word[0] == "±":
        return holds(word[1:], abs(x), other)
    if found := _MAGNITUDE.fullmatch(word):
        return holds(found[1] + found[2], abs(x), other)
    if found := _SIDE.fullmatch(word):
        return x > float(found[2]) if found[1] == ">" else x < float(found[2])
    if word in _CONDITIONS:
        return numpy.broadcast_to(_CONDITIONS[word](x, other), x.shape)
    return same_value(x, float(word))


_CONDITIONS: dict[str, Any] = {
    "*": lambda x, y: True,
    "fin": lambda x, y: numpy.isfinite(x),
    "nz": lambda x, y: numpy.isfinite(x) & (x != 0),
    "pos": lambda x, y: numpy.isfinite(x) & (x > 0),
    "neg": lambda x, y: numpy.isfinite(x) & (x < 0),
    "int": lambda x, y: numpy.isfinite(x) & (x == numpy.trunc(x)),
    "odd": lambda x, y: numpy.isfinite(x) & (numpy.fmod(x, 2) != 0) & (x == numpy.trunc(x)),
    "half": lambda x, y: numpy.isfinite(x) & (abs(x - numpy.trunc(x)) == 0.5),
    "nan+": lambda x, y: numpy.isnan(x) & ~numpy.signbit(x),
    "nan-": lambda x, y: numpy.isnan(x) & numpy.signbit(x),
    "same": lambda x, y: numpy.signbit(x) == numpy.signbit(y),
    "eq": lambda x, y: x == y,
    "opp": lambda x, y: x == -y,
}


# --- results ---------------------------------------------------------------------------------------------------------


def same_value(x: Array, value: Any) -> Array:
    """Where numbers are the same, zeros by their sign; all NaN are one."""
    equal = (x == value) & (numpy.signbit(x) == numpy.signbit(value))
    return equal | (numpy.isnan(x) & numpy.isnan(value))


def gives(word: str, found: Array, operands: Sequence[Array]) -> Array:
    """Where a result, or a part of it, is what a word says."""
    if "," in word:
        return numpy.any([gives(w, found, operands) for w in word.split(",")], axis=0)
    if word in ("T", "F"):
        return found == (word == "T")
    if word in ("+", "-"):
        return numpy.isnan(found) | (numpy.signbit(found) == (word == "-"))
    if word in ("nan+", "nan-"):
        return numpy.isnan(found) & (numpy.signbit(found) == (word == "nan-"))
    if word[0] == "±":
        return gives(word[1:], abs(found), operands)
    if turn := _TURN.fullmatch(word.lstrip("-")):
        angle = math.pi * int(turn[1] or 1) / int(turn[2] or 1) * (-1 if word[0] == "-" else 1)
        return near(found, angle)
    return same_value(found, value_of(word, operands))


def near(found: Array, value: Any) -> Array:
    """Where numbers are within a few units in the last place of a finite one."""
    return abs(found - value) <= 4 * numpy.finfo(found.dtype).eps * numpy.abs(value)


def value_of(word: str, operands: Sequence[Array]) -> Any:
    """The number that a word stands for, or those that follow from the operands."""
    if word == "even":
        return numpy.rint(operands[0])
    if word[0] == "-" and word[1] in "xa":
        return -value_of(word[1:], operands)
    if found := re.fullmatch(r"(x|abs)([12])", word):
        operand = operands[int(found[2]) - 1]
        return abs(operand) if found[1] == "abs" else operand
    return float(word)


def complex_gives(words: Sequence[str], found: Array, operands: Sequence[Array]) -> Array:
    """Where a complex result is what two words say of its parts, or one of both."""
    if len(words) == 2:
        return gives(words[0], found.real, operands) & gives(words[1], found.imag, operands)
    size, less = re.fullmatch(r"(.*)\*cis(-1)?", words[0]).groups()  # type: ignore[union-attr]
    angle = operands[1]
    real, imag = float(size) * numpy.cos(angle), float(size) * numpy.sin(angle)
    return same_value(found.real, real - 1 if less else real) & same_value(found.imag, imag)
