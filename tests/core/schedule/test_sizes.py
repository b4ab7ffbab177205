"""Symbolic sizes compute what integers do, and their guards hold for whatever answers them alike."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpunumpy.core.graph import bounded_table
from gpunumpy.core.schedule.sizes import LEAST, Formulas, Size, Trace
from gpunumpy.core.schedule.variants import MAX_SYMBOLS, Variants, pattern

ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "quotient": lambda x, y: x // y if y else x,
    "remainder": lambda x, y: x % y if y else y,
    "divmod": lambda x, y: sum(divmod(x, y)) if y else 0,
    "negative": lambda x, y: -x,
    "absolute": lambda x, y: abs(x - y),
    "least": min,
    "greatest": max,
    "chosen": lambda x, y: x if x < y or x == y + 1 else y - x,
    "rounded up": lambda x, y: -(-x // y) if y > 0 else x,
    "bits": lambda x, y: (x * x).bit_length() + y,
    "shift": lambda x, y: (1 << (abs(y) % 9)) + x,
    "index": lambda x, y: range(100)[abs(x) % 7] + y,
    "text": lambda x, y: int(f"{x}") - y,
    "truth": lambda x, y: y if x else 1,
}
# A program: operations over the numbers so far, by their places from the end.
programs = st.lists(st.tuples(st.sampled_from(list(ARITHMETIC)), st.integers(0, 5), st.integers(0, 5)), max_size=12)
sizes = st.lists(st.integers(LEAST, 40), min_size=2, max_size=4, unique=True)


def run(program: Sequence[tuple[str, int, int]], numbers: Sequence[Any]) -> list[Any]:
    made: list[Any] = [*numbers, 3, -1, 0]
    for name, x, y in program:
        result = ARITHMETIC[name](made[-1 - x % len(made)], made[-1 - y % len(made)])
        if abs(int(result.value if isinstance(result, Size) else result)) < 10**9:
            made.append(result)
    return made


@given(programs, sizes, sizes)
def test_programs(program: Any, first: list[int], other: list[int]) -> None:
    trace = Trace()
    made = run(program, [trace.symbol(n) for n in first])
    expected = run(program, first)
    assert [x.value if isinstance(x, Size) else x for x in made] == expected
    formulas = trace.formulas(made)
    assert formulas(first) == tuple(expected)
    assert trace.guard_function()(first)
    if len(other) == len(first) and trace.guard_function()(other):
        assert formulas(other) == tuple(run(program, other))


def test_the_structure_answers() -> None:
    trace = Trace()
    n, m = trace.symbol(7), trace.symbol(5)
    assert n * m // m is n
    assert n + m is m + n
    assert (n - m) + m is n
    assert n * m % n == 0
    assert n != m
    assert n != 1
    assert n + 1 > 1
    assert n >= LEAST
    assert -n < 0
    assert divmod(n * m + 1, n) == (m, 1)
    assert divmod(n * m - 1, n) == (m - 1, n - 1)
    assert not trace.guards


def test_numbers_are_guarded() -> None:
    trace = Trace()
    n, m = trace.symbol(7), trace.symbol(5)
    assert [*range(m)] == [0, 1, 2, 3, 4]
    assert f"{n}" == "7"
    assert n < 2 * m
    serves = trace.guard_function()
    assert serves((7, 5))
    assert not serves((7, 6))
    assert not serves((8, 5))


def test_functions_are_called_again() -> None:
    trace = Trace()
    n = trace.symbol(10)
    half = trace.call(lambda x: x // 2, n, bound=1)
    assert trace.formulas([half, half * 3])((31,)) == (15, 45)
    formulas = Formulas(trace)
    assert formulas.add(half) == 0
    assert formulas.add(4) == 1
    assert formulas.numbers()((8,)) == (4, 4)


def test_sizes_of_two_traces_are_never_equal() -> None:
    one, other = Trace().symbol(5), Trace().symbol(5)
    assert one != other
    assert len({one, other}) == 2


@pytest.mark.parametrize("zero", [operator.floordiv, operator.mod, divmod])
def test_division_by_zero(zero: Callable[..., Any]) -> None:
    with pytest.raises(ZeroDivisionError):
        zero(Trace().symbol(5), 0)


def test_patterns() -> None:
    assert pattern([7, 1, 0, 7, -7, -1, 5]) == ((2, 1, 0, 2, -2, -1, 3), (7, 5))
    assert pattern([9, 1, 0, 9, -9, -1, 2])[0] == pattern([7, 1, 0, 7, -7, -1, 5])[0]


def test_variants() -> None:
    calls: list[list[Any]] = []

    def make(trace: Trace, numbers: list[Any]) -> Callable[[Sequence[int]], tuple[int, ...]]:
        calls.append(numbers)
        n, m = numbers
        return trace.formulas([n * 2 if n < 10 else n + m])

    variants = Variants(make)

    def find(*numbers: int) -> int:
        made, values = variants.find(numbers)
        return made(values)[0]

    assert [find(4, 5), find(7, 3), find(11, 2), find(30, 40), find(9, 8), find(4, 5)] == [8, 14, 13, 70, 18, 8]
    assert calls[0] == [4, 5], "the first numbers of a pattern are taken as they are"
    assert len(calls) == len(variants) == 3
    assert [find(4, 4), find(5, 5), find(6, 6)] == [8, 10, 12]
    assert calls[3] == [4, 4]
    assert len(calls) == len(variants) == 5


def test_many_numbers_are_taken_as_they_are() -> None:
    seen: list[Any] = []
    variants = Variants(lambda trace, numbers: seen.append(numbers))
    for shift in (0, 0, 1):
        variants.find(range(2 + shift, 3 + MAX_SYMBOLS + shift))
    assert seen == [list(range(2 + shift, 3 + MAX_SYMBOLS + shift)) for shift in (0, 1)]


def test_variants_count_in_the_limit_of_all_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_table, "MAX_ENTRIES", 100_000)
    bounded_table.forget_all()
    structures: bounded_table.BoundedTable[str, Variants[int]] = bounded_table.BoundedTable()
    for n in range(2, 2002):
        variants = structures.find("a structure") or structures.keep("a structure", Variants(lambda trace, numbers: 1))
        variants.find([n + k for k in range(MAX_SYMBOLS + 1)])  # so many numbers are served as they are alone
    assert len(variants) <= 100_000 // 50
