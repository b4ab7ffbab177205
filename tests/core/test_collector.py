"""Python's garbage collector and the objects that imports make."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

import pytest

from gpunumpy.core import collector
from gpunumpy.core.collector import take_for_old, without_collector
from gpunumpy.core.graph import bounded_table

needs_generations = pytest.mark.skipif(
    not collector._HAS_GENERATIONS, reason="the collector of a Python without the GIL has no generations"
)


@pytest.fixture(autouse=True)
def nothing_was_taken(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As other tests may have taken so much for old as one process may, and the tests themselves are frozen."""
    monkeypatch.setattr(collector, "_times", 0)
    gc.unfreeze()
    yield
    gc.freeze()


@needs_generations
def test_objects_are_taken_for_old_without_a_look() -> None:
    found: list[str] = []

    class Ring:
        def __init__(self) -> None:
            self.ring = self

        def __del__(self) -> None:
            found.append("collected")

    kept = [[k] for k in range(100)]
    Ring()
    take_for_old()
    young = {id(x) for x in gc.get_objects(generation=0)}
    assert not young.intersection(map(id, kept))
    assert not found
    assert gc.get_freeze_count() < 2000, "Python 3.12 freezes some of its own"
    gc.collect()
    assert found == ["collected"], "what nothing refers to is collected later"


@needs_generations
def test_no_look_at_all_objects_is_near() -> None:
    """The collector counts what it did since it looked at all objects last."""
    gc.collect(1)
    assert gc.get_count()[2]
    take_for_old()
    assert gc.get_count()[1:] == (0, 0)


def test_what_a_program_has_frozen_stays_so() -> None:
    """But for a few objects that end meanwhile, as other threads let go of them."""
    gc.freeze()
    count = gc.get_freeze_count()
    take_for_old()
    assert 0.99 * count < gc.get_freeze_count() <= count


@needs_generations
def test_what_a_program_has_frozen_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python walks all of it: a million objects would take a tenth of a second for each plan."""
    counted: list[int] = []
    gc.freeze()
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counted.append(0) or 1_000_000)
    for _ in range(10):
        take_for_old()
    assert len(counted) == 1


@needs_generations
def test_what_a_plan_is_made_of_is_taken_for_old() -> None:
    """If it is much: the collector would look at all of it as soon as it works again."""
    looked: list[str] = []
    kept: list[list[list[int]]] = []
    gc.enable()  # Dask may have left it off in this process

    def made(count: int) -> list[list[int]]:
        gc.collect(0)
        looked.clear()
        return [[k] for k in range(count)]

    def note(phase: str, info: dict[str, int]) -> None:
        looked.append(phase)

    gc.callbacks.append(note)
    try:
        for count, looks in ((collector._MANY_OBJECTS + 100, False), (2000, True)):
            kept.append(without_collector(made, count))
            kept.append([[k] for k in range(500)])
            assert bool(looked) == looks
    finally:
        gc.callbacks.remove(note)


def test_an_exception_as_a_pause_ends_does_not_leave_the_collector_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal handler's may come before the first line of what ends a pause; the next pause ends both."""
    thresholds = gc.get_threshold()

    def interrupted(pause: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(collector, "_end", interrupted)
        with pytest.raises(KeyboardInterrupt):
            without_collector(int)
    assert not gc.get_threshold()[0]
    without_collector(int)
    assert gc.get_threshold() == thresholds


def test_what_tables_keep_is_taken_for_old_as_they_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each size that they come to, however often they are emptied."""
    taken: list[int] = []
    monkeypatch.setattr(bounded_table, "take_for_old", lambda: taken.append(bounded_table._count))
    monkeypatch.setattr(bounded_table, "_settled", 0)
    settling = bounded_table._SETTLING_ENTRIES
    for entries in (10 * settling, 10 * settling, 12 * settling):
        bounded_table.forget_all()
        for _ in range(entries):
            bounded_table.count(1)
    assert taken == [n * settling for n in range(1, 13)]
    bounded_table.forget_all()


def test_without_generations_no_objects_are_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen: list[int] = []
    monkeypatch.setattr(collector, "_HAS_GENERATIONS", False)
    monkeypatch.setattr(gc, "freeze", partial(frozen.append, 0))
    take_for_old()
    assert frozen == []


@needs_generations
def test_young_objects_are_taken_for_old_a_bounded_number_of_times() -> None:
    """A program that never settles would keep what it drops in cycles."""
    frozen: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "freeze", lambda: frozen.append(0))
        for _ in range(collector._MOST_TIMES + 10):
            take_for_old()
    assert len(frozen) == collector._MOST_TIMES


# What makes the import run, what it may not change, and what it may not do.
IMPORT = """
import gc, sys, numpy
thresholds = gc.get_threshold()
looks = []
gc.callbacks.append(lambda phase, info: looks.append(phase))
{prepare}
try:
    import gpunumpy
except ImportError as error:
    print("failed")
assert gc.get_threshold() == thresholds, gc.get_threshold()
assert gc.get_freeze_count() < 2000
print(looks.count("start") <= {most_looks})
"""


@pytest.mark.parametrize(
    ("prepare", "most_looks", "expected"),
    [
        ("", 1, "True\n"),
        ("sys.modules['gpunumpy.functions.reductions'] = None", 1, "failed\nTrue\n"),
        ("gc.set_threshold(0); thresholds = gc.get_threshold()", 0, "True\n"),
    ],
    ids=["as it is", "that fails", "with the collector turned off"],
)
def test_the_collector_is_at_rest_during_the_import(prepare: str, most_looks: int, expected: str) -> None:
    program = IMPORT.format(prepare=prepare, most_looks=most_looks)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, expected), done.stderr[-2000:]
