"""Symbolic sizes compute what integers do, and their guards hold for whatever answers them alike."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpunumpy.core import _native
from gpunumpy.core.graph import bounded_table
from gpunumpy.core.schedule import variants as variants_module
from gpunumpy.core.schedule.size_functions import Opcode, SizeFunction, equal_to, evaluated
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
    assert trace.guard_function()(first) == ()
    if len(other) == len(first) and trace.guard_function()(other) is not None:
        assert formulas(other) == tuple(run(program, other))


@given(programs, sizes, st.lists(st.integers(0, 5), min_size=2, max_size=4))
def test_0_and_1_in_the_place_of_symbols(program: Any, first: list[int], other: list[int]) -> None:
    trace = Trace()
    made = run(program, [trace.symbol(n) for n in first])
    formulas, serves = trace.formulas(made), trace.guard_function(is_wide=True)
    assert serves(first) == ()
    if len(other) != len(first) or any(other[one] == other[two] for one, two in trace.apart):
        return
    if serves(other) is not None:
        assert formulas(other) == tuple(run(program, other))


def test_what_is_so_for_all_symbols_is_noted() -> None:
    trace = Trace()
    n, m = trace.symbol(7), trace.symbol(5)
    assert n != 1
    assert n * m >= 0
    assert not trace.guards
    serves = trace.guard_function(is_wide=True)
    assert serves((0, 1)) == ()
    assert serves((1, 0)) is None


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
    assert serves((7, 5)) == ()
    assert serves((7, 6)) is None
    assert serves((8, 5)) is None


def test_functions_are_called_again() -> None:
    trace = Trace()
    n = trace.symbol(10)
    half = trace.call(lambda x: x // 2, n, bound=1)
    assert trace.formulas([half, half * 3])((31,)) == (15, 45)
    formulas = Formulas(trace)
    assert formulas.add(half) == 0
    assert formulas.add(4) == 1
    assert formulas.numbers()((8,)) == (4, 4)


EVALUATORS = {"python": evaluated, "core": lambda *parts: SizeFunction(*parts[:4])(parts[4])}


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_programs_of_integers(evaluator: str) -> None:
    """What does not fit 64 bits is Python's, and so are errors."""
    evaluate = EVALUATORS[evaluator]
    code = (
        *(Opcode.SUM, 2, 3, 2, 0, 1, -5, 0),
        *(Opcode.QUOTIENT, 2, 1, Opcode.REMAINDER, 2, 1),
        *(Opcode.BITS, 2, Opcode.LEAST, 3, 4, Opcode.GREATEST, 3, 4),
        *(Opcode.SHIFT, 1, 1, Opcode.CALL, 0, 2, 3, 4),
    )
    for x, y in ((7, 5), (-7, 5), (7, -5), (-7, -1), (2**40, 2**31), (2**62, 3)):
        total = 3 * x * y - 5
        shifted = [y << y] if 0 <= y < 64 else []
        parts = code if shifted else code[:-8]
        expected = [total, total // y, total % y, total.bit_length(), *sorted([total // y, total % y]), *shifted]
        results = (*range(2, 2 + len(expected)), *([9] if shifted else []))
        found = evaluate(2, parts, results, (lambda a, b: a * 2**40 - b,), (x, y, 99))
        assert found == (*expected, *([(total // y) * 2**40 - total % y] if shifted else []))
    with pytest.raises(ZeroDivisionError):
        evaluate(2, code, (2,), (max,), (1, 0))
    with pytest.raises(ValueError, match="negative"):
        evaluate(2, (Opcode.SHIFT, 0, 1), (2,), (), (1, -1))
    with pytest.raises(KeyError):
        evaluate(1, (Opcode.CALL, 0, 1, 0), (1,), ({}.__getitem__,), (1,))
    tests = (Opcode.IS_NEGATIVE, 0, 1, Opcode.IS_ZERO, 1, 0, Opcode.QUOTIENT, 0, 1)
    assert evaluate(2, tests, (2,), (), (-7, 2)) == (-4,)
    assert evaluate(2, tests, (2,), (), (7, 2)) is None
    assert evaluate(2, tests, (2,), (), (-7, 0)) is None, "before it is divided by"
    assert evaluate(1, (Opcode.SUM, 1, 2**70, 1, 0), (1,), (), (3,)) == (3 * 2**70,)


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
    assert [find(4, 4), find(5, 5), find(16, 16)] == [8, 10, 32]
    assert len(calls) == len(variants) == 3, "nobody asks whether they are equal"


def test_equal_numbers_count_where_it_is_asked_for() -> None:
    calls: list[list[Any]] = []

    def make(trace: Trace, numbers: list[Any]) -> Callable[[Sequence[int]], tuple[int, ...]]:
        calls.append(numbers)
        n, m, other = numbers
        return trace.formulas([0 if n == m else n - m, n + other])

    variants = Variants(make)

    def find(*numbers: int) -> tuple[int, ...]:
        made, values = variants.find(numbers)
        return made(values)

    assert [find(7, 5, 3), find(8, 6, 4)] == [(2, 10), (2, 12)]
    assert [find(8, 6, 8), find(9, 6, 6), find(3, 5, 3)] == [(2, 16), (3, 15), (-2, 6)]
    assert len(calls) == len(variants) == 2
    assert [find(6, 6, 4), find(6, 6, 6), find(5, 5, 2), find(4, 4, 4), find(3, 5, 3)] == [
        *((0, 10), (0, 12), (0, 7), (0, 8)),
        (-2, 6),
    ]
    assert len(calls) == len(variants) == 3, "what is made of (6, 6, 4) serves further equal ones"
    assert find(7, 5, 1) == (2, 8)
    assert find(-7, 5, 3) == (-12, -4)
    assert len(calls) == len(variants) == 4, "signs are parts of a pattern; 1 stands for a symbol"


def test_symbols_come_with_the_second_numbers_that_have_one_wherever_others_have() -> None:
    """The first rounds of a loop have 0 and 1 at places that change."""
    made: list[bool] = []
    variants = Variants(lambda trace, numbers: made.append(bool(trace.symbols)))
    for k in range(6):
        variants.find([9, k, 9 - k])
    assert made == [False, False, True], "0 and 1 alone, and what serves 2 and more"
    variants.find([9, 8, 1])
    assert made[3:] == [], "as nobody asks whether a size is 1"
    variants.find([-9, 2, 7])
    assert made[3:] == [False]


@pytest.mark.parametrize("expects_others", [False, True])
def test_many_numbers_are_taken_as_they_are(expects_others: bool) -> None:
    seen: list[Any] = []
    variants = Variants(lambda trace, numbers: seen.append(numbers))
    if expects_others:
        variants.expect_others()
    for shift in (0, 0, 1):
        variants.find(range(2 + shift, 3 + MAX_SYMBOLS + shift))
    assert seen == [list(range(2 + shift, 3 + MAX_SYMBOLS + shift)) for shift in (0, 1)]


def test_variants_come_while_a_pattern_is_compared_with_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of a flush by a signal handler, which may come between any two bytecodes."""
    variants = Variants(lambda trace, numbers: len(numbers))
    for n in range(2, 6):
        variants.find([7] * n)
    covers, added = variants_module._covers, iter(range(6, 9))

    def interrupted(places: tuple[int, ...], other: tuple[int, ...]) -> bool:
        for n in added:
            variants.find([7] * n)
        return covers(places, other)

    monkeypatch.setattr(variants_module, "_covers", interrupted)
    assert variants.find([1] * 9)[0] == 9
    assert len(variants) == len(variants.all_made()) == 8


def test_variants_count_in_the_limit_of_all_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_table, "MAX_ENTRIES", 100_000)
    bounded_table.forget_all()
    structures: bounded_table.BoundedTable[str, Variants[int]] = bounded_table.BoundedTable()
    for n in range(2, 2002):
        variants = structures.find("a structure") or structures.keep("a structure", Variants(lambda trace, numbers: 1))
        variants.find([n + k for k in range(MAX_SYMBOLS + 1)])  # so many numbers are served as they are alone
    assert len(variants) <= 100_000 // 50


@pytest.mark.skipif(not _native.IS_COMPILED, reason="the core is not built for this Python")
def test_the_core_evaluates_what_python_writes() -> None:
    """It does not ask Python to, as it does where numbers are too large."""
    trace = Trace()
    a, b = trace.symbol(12), trace.symbol(5)
    formulas = trace.formulas([a * b - 3, a // b, a % 7])
    assert a > b
    called: list[str] = []
    for function in (formulas, trace.guard_function(), equal_to((12, 5))):
        sys.setprofile(lambda frame, event, arg: called.append(frame.f_code.co_name) if event == "call" else None)
        try:
            function((12, 5))
        finally:
            sys.setprofile(None)
    assert not called
