"""Functions of sizes as programs of integers: what Python writes, and the compiled core evaluates too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

from .._native import compiled


class Opcode(IntEnum):
    """The instructions. Their operands are registers, but for the numbers that are named here.

    All but the tests have one result, which goes into the next register; the first registers have the arguments.
    """

    SUM = 0  # how many products; of each its coefficient, how many factors, the factors
    QUOTIENT = 1
    REMAINDER = 2
    SHIFT = 3  # to the left
    BITS = 4  # of the magnitude
    LEAST = 5  # of two
    GREATEST = 6
    CALL = 7  # the number of a function; how many arguments, the arguments
    IS_ZERO = 8  # and 0 or 1: the answer without which nothing is computed
    IS_NEGATIVE = 9


@compiled
class SizeFunction:
    """Computes numbers from others, if these pass all tests.

    Parameters
    ----------
    count
        How many arguments it looks at; there may be more.
    code
        The instructions.
    results
        The registers of the results.
    functions
        What the code calls.

    Attributes
    ----------
    parts : tuple
        The parameters.
    """

    __slots__ = ("parts",)

    def __init__(
        self, count: int, code: tuple[int, ...], results: tuple[int, ...], functions: tuple[Callable[..., int], ...]
    ) -> None:
        self.parts = count, code, results, functions

    def __call__(self, values: Sequence[int]) -> tuple[int, ...] | None:
        """Return the results for these arguments, or None if they do not pass."""
        return evaluated(*self.parts, values)


def evaluated(
    count: int,
    code: Sequence[int],
    results: Sequence[int],
    functions: Sequence[Callable[..., int]],
    values: Sequence[int],
) -> tuple[int, ...] | None:
    """Return what a `SizeFunction` of these parts gives; the core asks here for what does not fit 64 bits."""
    r = list(values[:count])
    at, end = 0, len(code)
    while at < end:
        opcode, x = code[at], code[at + 1]
        if opcode == Opcode.SUM:
            at += 2
            total = 0
            for _ in range(x):
                product, factors = code[at], code[at + 2 : at + 2 + code[at + 1]]
                for factor in factors:
                    product *= r[factor]
                total += product
                at += 2 + len(factors)
            r.append(total)
            continue
        y = code[at + 2] if opcode != Opcode.BITS else 0
        if opcode == Opcode.IS_ZERO or opcode == Opcode.IS_NEGATIVE:
            if (r[x] == 0 if opcode == Opcode.IS_ZERO else r[x] < 0) != y:
                return None
        elif opcode == Opcode.CALL:
            r.append(functions[x](*[r[k] for k in code[at + 3 : at + 3 + y]]))
            at += y
        elif opcode == Opcode.BITS:
            r.append(r[x].bit_length())
            at -= 1
        else:
            r.append(_BINARY[opcode](r[x], r[y]))
        at += 3
    return tuple([r[k] for k in results])


def equal_to(values: Sequence[int]) -> SizeFunction:
    """Return what gives None for all arguments but these."""
    count = len(values)
    code: list[int] = []
    for k, value in enumerate(values):
        code += (_SUM, 2, 1, 1, k, -value, 0, _IS_ZERO, count + k, 1)
    return SizeFunction(count, tuple(code), (), ())


# Each plan and each kernel at its first sizes has such a function, and to make a number of an opcode takes long.
_SUM, _IS_ZERO = int(Opcode.SUM), int(Opcode.IS_ZERO)


def size_function(
    count: int, code: Sequence[int], results: Sequence[int], functions: Sequence[Callable[..., int]]
) -> SizeFunction:
    """Return a `SizeFunction` of these parts, in which opcodes are numbers as any other: the core reads no others."""
    return SizeFunction(count, tuple(map(int, code)), tuple(results), tuple(functions))


def of_parts(*parts: Any) -> SizeFunction:
    """Return a `SizeFunction` of the `parts` of another one, in this process or another one."""
    return SizeFunction(*parts)


_BINARY: dict[int, Callable[[int, int], int]] = {
    Opcode.QUOTIENT: lambda x, y: x // y,
    Opcode.REMAINDER: lambda x, y: x % y,
    Opcode.SHIFT: lambda x, y: x << y,
    Opcode.LEAST: min,
    Opcode.GREATEST: max,
}
