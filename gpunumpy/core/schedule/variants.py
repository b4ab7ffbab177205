"""Things that are made once for all sizes of a class: plans of a structure of graphs, kernels of a structure.

What is made of a list of numbers by code that only computes with them and compares them can be made of `Size` objects
instead. It then serves all lists in which the numbers -1, 0 and 1 and equal numbers stand in the same places, and whose
sizes answer what was asked on the way (the guards) in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from .._native import tried_first
from ..collector import without_collector
from ..graph.bounded_table import count
from .sizes import LEAST, Integer, Trace

T = TypeVar("T")

# A list of more different numbers than this is taken as it is: another of its pattern is hardly ever met, and formulas
# of many symbols take long.
MAX_SYMBOLS = 48
EXACT = 1 << 70  # no place, nor a size of anything

# Where numbers of one pattern keep getting other answers, the oldest variant goes.
MAX_VARIANTS = 64

# Entries of a `BoundedTable` that a variant counts as: a plan takes about 38 kB, a kernel 20.
_VARIANT_ENTRIES = 80


@tried_first
def pattern(numbers: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return where equal numbers stand in a list, and the values of its symbols.

    The former has for every number 0, 1 or -1 itself, or ``LEAST + k`` for symbol k and the opposite for its negative;
    or `EXACT`, and then the numbers themselves.
    """
    symbols: dict[int, int] = {}
    places: list[int] = []
    for n in numbers:
        if -LEAST < n < LEAST:
            places.append(n)
        elif n > 0:
            places.append(symbols.setdefault(n, len(symbols) + LEAST))
        else:
            places.append(-symbols.setdefault(-n, len(symbols) + LEAST))
    if len(symbols) > MAX_SYMBOLS:
        return (EXACT, *numbers), ()
    return tuple(places), tuple(symbols)


class Variant(NamedTuple, Generic[T]):
    """Something that serves all numbers of a pattern which pass the guards."""

    made: T
    guards: Callable[[Sequence[int]], bool]


class Variants(Generic[T]):
    """What `make` makes of numbers, made anew only for numbers that nothing made before serves.

    The first list of numbers of a pattern is taken as it is: to make something of symbols takes several times as long,
    and most programs have one size for each structure. Symbols come with the second list.

    Parameters
    ----------
    make : callable
        Takes a `Trace` and the numbers, as sizes of it and numbers. It must ask nothing of the sizes when it is done.
    """

    __slots__ = ("_make", "_variants")

    def __init__(self, make: Callable[[Trace, list[Integer]], T]) -> None:
        self._make = make
        self._variants: dict[tuple[int, ...], list[Variant[T]]] = {}

    def find(self, numbers: Sequence[int]) -> tuple[T, tuple[int, ...]]:
        """Return what serves a list of numbers, and the values of the symbols in it."""
        places, values = pattern(numbers)
        variants = self._variants.get(places)
        if variants is None:
            variants = self._variants[places] = []
        for variant in variants:
            if variant.guards(values):
                return variant.made, values
        if variants:
            variant = without_collector(self._with_symbols, places, values)
        else:
            variant = without_collector(self._for_numbers, numbers, places, values)
        if len(variants) >= MAX_VARIANTS:
            del variants[0]
        else:
            count(_VARIANT_ENTRIES)
        variants.append(variant)
        return variant.made, values

    def _for_numbers(self, numbers: Sequence[int], places: tuple[int, ...], values: tuple[int, ...]) -> Variant[T]:
        """Return a variant that serves these numbers alone."""
        return Variant(self._make(Trace(), list(numbers)), values.__eq__)

    def _with_symbols(self, places: tuple[int, ...], values: tuple[int, ...]) -> Variant[T]:
        """Return a variant that serves the numbers of a pattern, as far as they answer its guards alike."""
        trace = Trace()
        symbols = [trace.symbol(value) for value in values]
        made = self._make(trace, [_number(place, symbols) for place in places])
        return Variant(made, trace.guard_function())

    def __len__(self) -> int:
        """Return how many things have been made."""
        return sum(map(len, self._variants.values()))


def _number(place: int, symbols: Sequence[Integer]) -> Integer:
    if place >= LEAST:
        return symbols[place - LEAST]
    return -symbols[-place - LEAST] if place <= -LEAST else place
