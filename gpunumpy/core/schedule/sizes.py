"""Symbolic sizes: integers that remember how they follow from the sizes of a graph.

The scheduler and the code generators are written for integers. Run over `Size` objects instead, they make a plan for
all graphs of one structure: every number in it is a formula of the graph's sizes, and every question that they asked
about a number (is it zero? are these equal? which is less?) is a *guard*. Another graph of the structure may use the
plan if its sizes answer the guards in the same way.

A size is a polynomial with integer coefficients over *atoms*: symbols, which stand for the different values among the
sizes of the graph, and results of operations that are no polynomials (a quotient that is not exact, a remainder).
Equal polynomials are one object, so the structure alone answers many questions, and these need no guard. Nor do those
that a bound answers: a symbol is at least `LEAST`. Such an answer is noted if it might be another one where a symbol is
0 or 1, as a graph with 0 or 1 in the place of a symbol may use the plan too if it answers all that alike. What takes a
number and nothing else (an index, a `range`, a text) gets the value that the size has now, and guards it.

What is to be computed again for other sizes is written as a `SizeFunction` (core/schedule/size_functions.py).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from .size_functions import Opcode, SizeFunction, size_function

# A product of atoms, by their numbers in ascending order, and the coefficients of such products: a polynomial.
Monomial: TypeAlias = tuple[int, ...]
Polynomial: TypeAlias = dict[Monomial, int]
Integer: TypeAlias = "int | Size"
# What gives as many numbers for all values of the symbols.
NumbersOf: TypeAlias = Callable[[Sequence[int]], tuple[int, ...]]

# The least value of a symbol: 0, 1 and -1 stay numbers, since most plans depend on them, and a symbol is positive.
LEAST = 2


class Bounds(NamedTuple):
    """What a size is not below: while symbols are at least `LEAST`, and while they are not negative."""

    usual: int
    wide: int


class Trace:
    """The symbols of one graph, the sizes that were computed from them, and what was asked about these.

    Attributes
    ----------
    symbols : list of Size
        One for each different value; no two have the same.
    results : dict
        What operations on sizes gave, by their names and operands.
    answers : dict
        To what was asked about sizes: for `"<"` and `"=="`, whether a size is less than, or equal to, 0.
    assumed : set
        Those of them that are so for all symbols of at least `LEAST`.
    apart : set
        The pairs of symbols, by their numbers, of which it was asked whether they are equal.
    """

    def __init__(self) -> None:
        self.symbols: list[Size] = []
        self.answers: dict[tuple[str, Size], bool] = {}
        self.assumed: set[tuple[str, Size]] = set()
        self.apart: set[tuple[int, int]] = set()
        self._sizes: dict[Hashable, Size] = {}
        self.results: dict[Hashable, Any] = {}
        # Of every atom: its value, its bounds (None if there are none), the number of its symbol or None, and else the
        # operation that it is the result of.
        self._values: list[int] = []
        self._bounds: list[Bounds | None] = []
        self._numbers: list[int | None] = []
        self._operations: list[_Operation | None] = []
        self._atoms: dict[Hashable, Size] = {}

    def symbol(self, value: int) -> Size:
        """Return a new symbol for a value of at least `LEAST` that no other symbol has."""
        made = self._atom(value, Bounds(LEAST, 0), len(self.symbols), None)
        self.symbols.append(made)
        return made

    def _atom(self, value: int, bounds: Bounds | None, number: int | None, operation: _Operation | None) -> Size:
        self._values.append(value)
        self._bounds.append(bounds)
        self._numbers.append(number)
        self._operations.append(operation)
        made = self.polynomial({(len(self._values) - 1,): 1})
        assert isinstance(made, Size)
        return made

    def operation(self, opcode: Opcode, *args: Integer, bounds: Bounds | None = None) -> Integer:
        """Return the result of an operation that is no polynomial; of numbers alone it is a number."""
        return self._operation(opcode, _COMPUTE[opcode], args, bounds)

    def call(self, function: Callable[..., int], *args: Integer, bound: int | None = None) -> Integer:
        """Return what a function of numbers gives for sizes; it is called again for every graph.

        `bound` is what the result is not below, while symbols are at least `LEAST`; it is never negative.
        """
        bounds = None if bound is None else Bounds(bound, 0)
        return self._operation(Opcode.CALL, function, args, bounds)

    def _operation(
        self, opcode: Opcode, function: Callable[..., int], args: Sequence[Integer], bounds: Bounds | None
    ) -> Integer:
        if not any(isinstance(x, Size) for x in args):
            return function(*args)
        key = (opcode, function, *args)
        found = self._atoms.get(key)
        if found is None:
            operation = _Operation(opcode, function, args)
            found = self._atoms[key] = self._atom(function(*map(value_of, args)), bounds, None, operation)
        return found

    def polynomial(self, terms: Polynomial) -> Integer:
        """Return the one size of a polynomial without zero coefficients; a number if it is constant."""
        if not terms:
            return 0
        if len(terms) == 1 and () in terms:
            return terms[()]
        key = frozenset(terms.items())
        found = self._sizes.get(key)
        if found is None:
            found = self._sizes[key] = Size(self, terms)
        return found

    def known(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return the result that `key` stands for, computed the first time."""
        found = self.results.get(key)
        if found is None:
            found = self.results[key] = compute()
        return found

    def has_symbols_only(self, x: Integer) -> bool:
        """Return whether no atom of an integer is the result of an operation."""
        return all(self._numbers[atom] is not None for monomial in _polynomial(x) for atom in monomial)

    def evaluate(self, terms: Polynomial) -> int:
        """Return the value that a polynomial has now."""
        total = 0
        for monomial, coefficient in terms.items():
            for atom in monomial:
                coefficient *= self._values[atom]
            total += coefficient
        return total

    def bounds(self, terms: Polynomial) -> Bounds | None:
        """Return bounds that a polynomial is not below, or None if none are known."""
        usual = wide = 0
        for monomial, coefficient in terms.items():
            if monomial and coefficient < 0:
                return None
            widest = coefficient
            for atom in monomial:
                bounds = self._bounds[atom]
                if bounds is None:
                    return None
                coefficient *= bounds.usual
                widest *= bounds.wide
            usual += coefficient
            wide += widest
        return Bounds(usual, wide)

    def text(self, terms: Polynomial) -> str:
        """Return a polynomial for a reader: symbols as ``s0``, the results of operations as ``r3``."""
        names = [f"r{atom}" if number is None else f"s{number}" for atom, number in enumerate(self._numbers)]
        return " + ".join(
            "*".join([*([str(c)] if c != 1 or not m else []), *(names[a] for a in m)]) for m, c in terms.items()
        )

    @property
    def guards(self) -> dict[tuple[str, Size], bool]:
        """The answers that may be other ones for other values of the symbols, of at least `LEAST`."""
        return {question: answer for question, answer in self.answers.items() if question not in self.assumed}

    def ask(self, relation: str, size: Size) -> bool:
        """Return whether a size is less than 0, or equal to it, and guard the answer."""
        key = (relation, size)
        found = self.answers.get(key)
        if found is None:
            found = self.answers[key] = size.value < 0 if relation == "<" else size.value == 0
        return found

    def assume(self, relation: str, size: Size, answer: bool) -> bool:
        """Return an answer that is so for all symbols of at least `LEAST`, and note it."""
        self.answers[relation, size] = answer
        self.assumed.add((relation, size))
        return answer

    def guard_function(self, is_wide: bool = False) -> SizeFunction:
        """Return what gives None for values of the symbols that do not answer all guards in the same way.

        If it `is_wide`, the values may be 0 and 1 too; else they are at least `LEAST`.
        """
        code = _Code(self)
        for (relation, size), answer in (self.answers if is_wide else self.guards).items():
            code.test(relation, size, answer)
        return code.function(())

    def formulas(self, sizes: Iterable[Integer]) -> NumbersOf:
        """Return what computes sizes from values of the symbols: a `SizeFunction` without tests, or the numbers."""
        if not self.symbols:
            numbers = tuple([x.value if isinstance(x, Size) else x for x in sizes])
            return lambda values: numbers
        return cast(NumbersOf, _Code(self).function(list(sizes)))

    def are_apart(self, terms: Polynomial) -> bool:
        """Return whether a polynomial is the difference of two symbols, which never have one value; note that."""
        if len(terms) != 2 or sorted(terms.values()) != [-1, 1] or not all(len(m) == 1 for m in terms):
            return False
        one, other = [self._numbers[m[0]] for m in terms]
        if one is None or other is None:
            return False
        self.apart.add((one, other))
        return True

    def terms_of(self, atom: int) -> tuple[int | None, _Operation | None]:
        """Return the number of the symbol that an atom is, or the operation that it is the result of."""
        return self._numbers[atom], self._operations[atom]


class _Operation(NamedTuple):
    """What gives an atom that is no symbol."""

    opcode: Opcode
    function: Callable[..., int]
    args: Sequence[Integer]


_COMPUTE: dict[Opcode, Callable[..., int]] = {
    Opcode.QUOTIENT: operator.floordiv,
    Opcode.REMAINDER: operator.mod,
    Opcode.SHIFT: operator.lshift,
    Opcode.BITS: int.bit_length,
    Opcode.LEAST: min,
    Opcode.GREATEST: max,
}


class _Code:
    """The code of a `SizeFunction`, written from sizes of one trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._count = len(trace.symbols)
        self._code: list[int] = []
        self._functions: list[Callable[..., int]] = []
        self._registers: dict[Size, int] = {}
        self._constants: dict[int, int] = {}

    def function(self, results: Sequence[Integer]) -> SizeFunction:
        """Return the function that computes sizes, after the tests."""
        registers = [self._register(x) for x in results]
        return size_function(len(self._trace.symbols), self._code, registers, self._functions)

    def test(self, relation: str, size: Size, answer: bool) -> None:
        """Have the function give None unless a guard has this answer."""
        register = self._register(size)
        self._code += (Opcode.IS_NEGATIVE if relation == "<" else Opcode.IS_ZERO, register, answer)

    def _register(self, x: Integer) -> int:
        """Return the register that has a size."""
        # Two tables: a number that is looked for among sizes could be compared with one, which asks.
        registers: dict[Any, int] = self._registers if isinstance(x, Size) else self._constants
        found = registers.get(x)
        if found is None:
            found = registers[x] = self._computed(_polynomial(x))
        return found

    def _computed(self, terms: Polynomial) -> int:
        if len(terms) == 1:
            ((monomial, coefficient),) = terms.items()
            if len(monomial) == 1 and coefficient == 1:
                return self._atom(*monomial)
        code: list[int] = [Opcode.SUM, len(terms)]
        for monomial, coefficient in terms.items():
            factors = [self._register(self._trace.polynomial({(atom,): 1})) for atom in monomial]
            code += (coefficient, len(factors), *factors)
        return self._add(code)

    def _atom(self, atom: int) -> int:
        number, operation = self._trace.terms_of(atom)
        if operation is None:
            assert number is not None
            return number
        args = [self._register(x) for x in operation.args]
        if operation.opcode is not Opcode.CALL:
            return self._add([operation.opcode, *args])
        self._functions.append(operation.function)
        return self._add([Opcode.CALL, len(self._functions) - 1, len(args), *args])

    def _add(self, code: Sequence[int]) -> int:
        self._code += code
        self._count += 1
        return self._count - 1


class Formulas:
    """Sizes of one trace that are to be computed together, once nothing is asked about them any more."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._sizes: list[Integer] = []

    def add(self, size: Integer) -> int:
        """Take a size in, and return its place among the numbers."""
        self._sizes.append(size)
        return len(self._sizes) - 1

    def numbers(self) -> NumbersOf:
        """Return what computes all the numbers from values of the trace's symbols."""
        return self.trace.formulas(self._sizes)


def _polynomial(x: Integer) -> Polynomial:
    return x.terms if isinstance(x, Size) else {(): x} if x else {}


def value_of(x: Integer) -> int:
    """Return the value that an integer has now, without a guard."""
    return x.value if isinstance(x, Size) else x


def _arithmetic(name: str, combine: Callable[[Polynomial, Polynomial], Polynomial]) -> Callable[[Any, Any], Any]:
    """Return a method that combines the polynomials of a size and of another or a number."""

    def method(self: Size, other: Any) -> Any:
        known = self.trace.results
        key = (name, self, other)
        found = known.get(key)
        if found is None:
            if type(other) is not Size and type(other) is not int:
                return NotImplemented
            found = known[key] = self.trace.polynomial(combine(self.terms, _polynomial(other)))
        return found

    return method


def _sum(x: Polynomial, y: Polynomial, sign: int = 1) -> Polynomial:
    total = dict(x)
    for monomial, coefficient in y.items():
        value = total.get(monomial, 0) + sign * coefficient
        if value:
            total[monomial] = value
        else:
            total.pop(monomial, None)
    return total


def _difference(x: Polynomial, y: Polynomial) -> Polynomial:
    return _sum(x, y, -1)


def _product(x: Polynomial, y: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for m, c in x.items():
        for n, d in y.items():
            monomial = tuple(sorted(m + n)) if m and n else m or n
            value = total.get(monomial, 0) + c * d
            if value:
                total[monomial] = value
            else:
                total.pop(monomial, None)
    return total


def _long_division(x: Polynomial, y: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return the terms of a polynomial that one of a single term divides, divided, and the other terms."""
    if len(y) != 1:
        return ({(): 1}, {}) if x == y else ({}, x)
    ((divisor, d),) = y.items()
    exact: Polynomial = {}
    rest: Polynomial = {}
    for monomial, coefficient in x.items():
        left = None if coefficient % d else _without(monomial, divisor)
        if left is None:
            rest[monomial] = coefficient
        else:
            exact[left] = coefficient // d
    return exact, rest


def _without(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """Return the atoms of a product that are left when those of another are taken away; None where one is missing."""
    left = list(monomial)
    for atom in divisor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


class Size:
    """An integer that is a polynomial of the sizes of a graph: see the module.

    Attributes
    ----------
    trace : Trace
        What it belongs to. Sizes of two traces are never equal.
    terms : dict
        The polynomial.
    value : int
        What it is for the graph that is being planned.
    """

    __slots__ = ("_bounds", "terms", "trace", "value")

    def __init__(self, trace: Trace, terms: Polynomial) -> None:
        self.trace = trace
        self.terms = terms
        self.value = trace.evaluate(terms)
        self._bounds = trace.bounds(terms)

    # arithmetic

    __add__ = __radd__ = _arithmetic("+", _sum)
    __sub__ = _arithmetic("-", _difference)
    __rsub__ = _arithmetic("r-", lambda x, y: _difference(y, x))
    __mul__ = __rmul__ = _arithmetic("*", _product)

    def __neg__(self) -> Integer:
        return self * -1

    def __pos__(self) -> Size:
        return self

    def __abs__(self) -> Integer:
        return -self if self < 0 else self

    def __floordiv__(self, other: Integer) -> Integer:
        return self._divmod(self, other)[0]

    def __rfloordiv__(self, other: Integer) -> Integer:
        return self._divmod(other, self)[0]

    def __mod__(self, other: Integer) -> Integer:
        return self._divmod(self, other)[1]

    def __rmod__(self, other: Integer) -> Integer:
        return self._divmod(other, self)[1]

    def __divmod__(self, other: Integer) -> tuple[Integer, Integer]:
        return self._divmod(self, other)

    def __rdivmod__(self, other: Integer) -> tuple[Integer, Integer]:
        return self._divmod(other, self)

    def _divmod(self, x: Integer, y: Integer) -> tuple[Integer, Integer]:
        """Return quotient and remainder: as polynomials where what does not divide is less than the divisor."""
        trace = self.trace
        if isinstance(y, int) and not y:
            raise ZeroDivisionError("division by zero")

        def compute() -> tuple[Integer, Integer]:
            exact, rest = _long_division(_polynomial(x), _polynomial(y))
            quotient, remainder = trace.polynomial(exact), trace.polynomial(rest)
            if not rest:
                return quotient, 0
            if self.trace.has_symbols_only(x) and y > 0:
                if 0 <= remainder < y:
                    return quotient, remainder
                if remainder < 0 <= remainder + y:
                    return quotient - 1, remainder + y
            of_x, is_positive, divisor = _bounds_of(x), is_known_not_negative(y), y if type(y) is int else 0
            bounds = None
            if of_x is not None and is_positive:
                bounds = Bounds(*[n // divisor if divisor else min(n, 0) for n in of_x])
            return (
                trace.operation(Opcode.QUOTIENT, x, y, bounds=bounds),
                trace.operation(Opcode.REMAINDER, x, y, bounds=Bounds(0, 0) if is_positive else None),
            )

        return trace.known(("divmod", x, y), compute)

    def __rlshift__(self, other: Integer) -> Integer:
        return self.trace.operation(Opcode.SHIFT, other, self, bounds=Bounds(1, 1))

    def bit_length(self) -> Integer:
        """Return the number of bits of its magnitude, as `int.bit_length` does."""
        return self.trace.operation(Opcode.BITS, self, bounds=Bounds(0, 0))

    # questions

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        if type(other) is not int and (type(other) is not Size or other.trace is not self.trace):
            return NotImplemented
        difference = self - other
        if type(difference) is int:
            return difference == 0
        return difference._is_zero()

    def _is_zero(self) -> bool:
        bounds = self._bounds
        if bounds is None or bounds.usual <= 0:
            bounds = _bounds_of(-self)
        if bounds is not None and bounds.usual > 0:
            return bounds.wide <= 0 and self.trace.assume("==", self, False)
        return not self.trace.are_apart(self.terms) and self.trace.ask("==", self)

    def _is_negative(self) -> bool:
        bounds = self._bounds
        if bounds is not None and bounds.usual >= 0:
            return bounds.wide < 0 and self.trace.assume("<", self, False)
        opposite = _bounds_of(-self)
        if opposite is not None and opposite.usual > 0:
            return opposite.wide > 0 or self.trace.assume("<", self, True)
        return self.trace.ask("<", self)

    def __lt__(self, other: Integer) -> bool:
        difference = self - other
        return difference < 0 if type(difference) is int else difference._is_negative()

    def __gt__(self, other: Integer) -> bool:
        difference = other - self
        return difference < 0 if type(difference) is int else difference._is_negative()

    def __le__(self, other: Integer) -> bool:
        return not self > other

    def __ge__(self, other: Integer) -> bool:
        return not self < other

    def __bool__(self) -> bool:
        return not self._is_zero()

    __hash__ = object.__hash__  # equal polynomials of a trace are one object

    # numbers

    def __index__(self) -> int:
        difference = self - self.value
        assert isinstance(difference, Size)
        self.trace.ask("==", difference)
        return self.value

    __int__ = __index__

    def __str__(self) -> str:
        return str(int(self))

    def __format__(self, spec: str) -> str:
        return format(int(self), spec)

    def __repr__(self) -> str:
        return f"<{self.trace.text(self.terms)} = {self.value}>"


def _bounds_of(x: Integer) -> Bounds | None:
    return x._bounds if isinstance(x, Size) else Bounds(x, x) if x >= 0 else None


def is_known_not_negative(x: Integer) -> bool:
    """Return whether a size is 0 or more whatever its symbols are, as far as its terms tell."""
    bounds = _bounds_of(x)
    return bounds is not None and bounds.wide >= 0
