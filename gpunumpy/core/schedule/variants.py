"""Things that are made once for all sizes of a class: plans of a structure of graphs, kernels of a structure.

What is made of a list of numbers by code that only computes with them and compares them can be made of `Size` objects
instead. It then serves all lists in which the numbers -1, 0 and 1 and equal numbers stand in the same places, and whose
sizes answer what was asked on the way (the guards) in the same way. It also serves lists in which further numbers are
equal by chance, where nobody asked whether these are; and lists with 0 or 1 in the place of a symbol, where everything
that was asked has the same answer, also what is so for all symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Generic, NamedTuple, Protocol, TypeVar

from .._native import tried_first
from ..collector import without_collector
from ..graph.bounded_table import count
from .size_functions import SizeFunction, equal_to
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
    """Something that serves all numbers of a pattern which pass the guards.

    Attributes
    ----------
    made
        What was made.
    guards
        Gives None for values of the symbols that do not pass.
    symbols
        Which symbols of the pattern stand for those that the thing was made of, or ``-1 - n`` for a number n; None if
        it was made for the pattern.
    apart
        The pairs of symbols that must not be equal; None if it serves only the numbers that it was made of.
    wide_guards
        The guards for symbols that may be 0 and 1; None as `apart`.
    """

    made: T
    guards: SizeFunction
    symbols: tuple[int, ...] | None
    apart: frozenset[tuple[int, int]] | None
    wide_guards: SizeFunction | None = None


class Kept(Protocol[T]):
    """Where variants with symbols are kept for other processes."""

    def read(self) -> Sequence[tuple[tuple[int, ...], Variant[T]]]:
        """Return the variants that other processes have kept, and their patterns."""

    def keep(self, places: tuple[int, ...], variant: Variant[T]) -> None:
        """Keep a variant of a pattern."""


class Variants(Generic[T]):
    """What `make` makes of numbers, made anew only for numbers that nothing made before serves.

    The first list of numbers is taken as it is: to make something of symbols takes several times as long, and most
    programs have one size for each structure. Symbols come with the second list, or with those that other processes
    have kept; but a list with 0, 1 or -1 where all others have symbols, as the last rounds of a loop have, is taken as
    it is too.

    Parameters
    ----------
    make : callable
        Takes a `Trace` and the numbers, as sizes of it and numbers. It must ask nothing of the sizes when it is done.
    """

    __slots__ = ("_expects_others", "_kept", "_make", "_variants")

    def __init__(self, make: Callable[[Trace, list[Integer]], T]) -> None:
        self._make = make
        self._expects_others = False
        self._kept: Kept[T] | None = None
        self._variants: dict[tuple[int, ...], list[Variant[T]]] = {}

    def expect_others(self) -> None:
        """Make what is new with symbols at once: there will be other numbers of its pattern."""
        self._expects_others = True

    def keep_in(self, kept: Kept[T]) -> None:
        """Take what other processes have kept, and keep variants with symbols for them."""
        known = [(places, variant) for places, of_pattern in list(self._variants.items()) for variant in of_pattern]
        self._kept = kept
        for places, variant in kept.read():
            count(_VARIANT_ENTRIES)
            self._variants.setdefault(places, []).append(variant)
        for places, variant in known:
            self._keep(places, variant)

    def known(self, numbers: Sequence[int]) -> tuple[T, tuple[int, ...]] | None:
        """Return what `find` returns, if it was made for numbers of this pattern before; else None."""
        return known_variant(self, numbers)

    def find(self, numbers: Sequence[int]) -> tuple[T, tuple[int, ...]]:
        """Return what serves a list of numbers, and the values of the symbols in it."""
        known = known_variant(self, numbers)
        if known is not None:
            return known
        places, values = pattern(numbers)
        variant = self._of_other_pattern(places, values) or without_collector(self._new, numbers, places, values)
        variants = self._variants.setdefault(places, [])
        self._keep(places, variant)
        if len(variants) >= MAX_VARIANTS:
            del variants[0]
        else:
            count(_VARIANT_ENTRIES if variant.symbols is None else 1)
        variants.append(variant)
        return variant.made, _chosen(variant.symbols, values)

    def all_made(self) -> list[T]:
        """Return all that has been made."""
        return [variant.made for variant in self._all() if variant.symbols is None]

    def drop(self, made: T) -> None:
        """Forget something that was made, for whatever numbers."""
        for variants in list(self._variants.values()):
            variants[:] = [variant for variant in variants if variant.made is not made]

    def _keep(self, places: tuple[int, ...], variant: Variant[T]) -> None:
        """Keep a variant that was made for the symbols of its pattern."""
        if self._kept is not None and variant.symbols is None and variant.apart is not None:
            self._kept.keep(places, variant)

    def _of_other_pattern(self, places: tuple[int, ...], values: tuple[int, ...]) -> Variant[T] | None:
        """Return a variant for numbers of which fewer are equal, if it serves these too."""
        for other, variants in list(self._variants.items()):
            symbols = _symbols_of(other, places) if other != places else None
            if symbols is None:
                continue
            given = _chosen(symbols, values)
            for made, guards, of_symbols, apart, wide_guards in variants:
                if of_symbols is not None or apart is None or any(given[one] == given[two] for one, two in apart):
                    continue
                needed = wide_guards if min(symbols, default=0) < 0 else guards
                if needed is not None and needed(given) is not None:
                    return Variant(made, needed, symbols, apart)
        return None

    def _new(self, numbers: Sequence[int], places: tuple[int, ...], values: tuple[int, ...]) -> Variant[T]:
        """Return a new variant: for these numbers alone, or of symbols if others that they cover were there before."""
        comes_again = self._expects_others or any(_covers(places, other) for other in list(self._variants))
        if comes_again and EXACT not in places[:1]:
            return self._with_symbols(places, values)
        return self._for_numbers(numbers, places, values)

    def _for_numbers(self, numbers: Sequence[int], places: tuple[int, ...], values: tuple[int, ...]) -> Variant[T]:
        """Return a variant that serves these numbers alone."""
        return Variant(self._make(Trace(), list(numbers)), equal_to(values), None, None)

    def _with_symbols(self, places: tuple[int, ...], values: tuple[int, ...]) -> Variant[T]:
        """Return a variant that serves the numbers of a pattern, as far as they answer its guards alike."""
        trace, numbers = with_symbols(places, values)
        made = self._make(trace, numbers)
        return Variant(made, trace.guard_function(), None, frozenset(trace.apart), trace.guard_function(is_wide=True))

    def __len__(self) -> int:
        """Return how many things have been made."""
        return sum(variant.symbols is None for variant in self._all())

    def _all(self) -> list[Variant[T]]:
        """Return all variants there are now: signal handlers and other threads may add some at any time."""
        return list(chain.from_iterable(list(self._variants.values())))


def with_symbols(places: tuple[int, ...], values: Sequence[int]) -> tuple[Trace, list[Integer]]:
    """Return the numbers of a pattern as symbols with these values."""
    trace = Trace()
    symbols = [trace.symbol(value) for value in values]
    return trace, [_number(place, symbols) for place in places]


@tried_first
def known_variant(variants: Variants[T], numbers: Sequence[int]) -> tuple[T, tuple[int, ...]] | None:
    """Return what has been made that serves a list of numbers, and the values of its symbols; None if nothing does."""
    places, values = pattern(numbers)
    for variant in variants._variants.get(places, ()):
        given = _chosen(variant.symbols, values)
        if variant.guards(given) is not None:
            return variant.made, given
    return None


def _covers(places: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Return whether a pattern has a symbol wherever another one has, and else the same numbers."""
    if EXACT in other[:1]:
        return False
    both = zip(places, other)
    return all(a == b if -LEAST < a < LEAST else -LEAST < b < LEAST or (a < 0) == (b < 0) for a, b in both)


def _number(place: int, symbols: Sequence[Integer]) -> Integer:
    if place >= LEAST:
        return symbols[place - LEAST]
    return -symbols[-place - LEAST] if place <= -LEAST else place


def _chosen(symbols: tuple[int, ...] | None, values: tuple[int, ...]) -> tuple[int, ...]:
    """Return the values of the symbols that a variant was made of."""
    return values if symbols is None else tuple([values[k] if k >= 0 else -1 - k for k in symbols])


def _symbols_of(places: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return what stands for the symbols of a pattern in another one, as `Variant` has it; None if nothing can."""
    if len(places) != len(others) or EXACT in (*places[:1], *others[:1]):
        return None
    found: dict[int, int] = {}
    for place, other in zip(places, others):
        if -LEAST < place < LEAST:
            if place != other:
                return None
            continue
        if -LEAST < other < LEAST:
            number = other if place > 0 else -other
            stands = -1 - number if number >= 0 else None
        else:
            stands = abs(other) - LEAST if (place < 0) == (other < 0) else None
        if stands is None or found.setdefault(abs(place) - LEAST, stands) != stands:
            return None
    return tuple([found[k] for k in range(len(found))])
