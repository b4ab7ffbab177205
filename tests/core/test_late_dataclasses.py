"""Classes whose methods are made with the first instance are dataclasses in all that a program sees."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from gpunumpy.core.late_dataclasses import complete_all, dataclass


def classes(decorator: Callable[..., Any], **options: Any) -> Any:
    """Return a class of one mandatory and two optional fields, with a property and a docstring."""

    @decorator(**options)
    class Row:
        """A row."""

        name: str
        size: int = 3
        parts: dict[str, int] = dataclasses.field(default_factory=dict)

        @property
        def double(self) -> int:
            """Twice the size."""
            return 2 * self.size

    return Row


OPTIONS = [{"frozen": frozen, "slots": slots} for frozen in (False, True) for slots in (False, True)]


@pytest.mark.parametrize("options", OPTIONS)
def test_it_is_a_dataclass(options: dict[str, bool]) -> None:
    ours, pythons = (classes(d, **options) for d in (dataclass, dataclasses.dataclass))
    a, b = ours("a", parts={"x": 1}), pythons("a", parts={"x": 1})
    assert repr(a) == repr(b)
    assert (a.name, a.size, a.parts, a.double) == (b.name, b.size, b.parts, b.double)
    assert a == ours("a", 3, {"x": 1}) != ours("a", 4, {"x": 1})
    assert a != b
    assert dataclasses.asdict(a) == dataclasses.asdict(b)
    assert [f.name for f in dataclasses.fields(ours)] == [f.name for f in dataclasses.fields(pythons)]
    assert dataclasses.replace(a, size=5).size == 5
    assert copy.copy(a) == a
    assert (ours.__doc__, ours.__name__, ours.__qualname__) == (pythons.__doc__, "Row", pythons.__qualname__)
    assert hasattr(a, "__dict__") == hasattr(b, "__dict__")
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        ours()
    match a:
        case ours(name, 3):
            assert name == "a"
        case _:
            pytest.fail("no match")


@pytest.mark.parametrize("slots", [False, True])
def test_a_frozen_one_cannot_be_changed(slots: bool) -> None:
    row = classes(dataclass, frozen=True, slots=slots)("a")
    for change in (lambda: setattr(row, "name", "b"), lambda: setattr(row, "other", 1), lambda: delattr(row, "name")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    assert row.name == "a"
    hashable = classes(dataclass, frozen=True, slots=slots)
    assert hash(hashable("a", 3, ())) == hash(hashable("a", 3, ()))


@dataclass(frozen=True, slots=True)
class Pickled:
    name: str
    size: int = 3


def test_pickles_make_it_by_its_constructor() -> None:
    assert pickle.loads(pickle.dumps(Pickled("a", 4))) == Pickled("a", 4)


def test_threads_make_first_instances_together() -> None:
    for _ in range(20):
        row = classes(dataclass, frozen=True, slots=True)
        with ThreadPoolExecutor(4) as threads:
            assert len({repr(x) for x in threads.map(row, "aaaa")}) == 1


@pytest.mark.parametrize("options", OPTIONS)
def test_methods_may_be_made_before_there_is_an_instance(options: dict[str, bool]) -> None:
    row = classes(dataclass, **options)
    assert "__dataclass_fields__" not in vars(row)
    complete_all()
    constructor = row.__init__
    assert row.__match_args__ == ("name", "size", "parts")
    assert row("a") == row("a", 3)
    assert row.__init__ is constructor


def test_instances_without_a_constructor_are_compared() -> None:
    """As the compiled core makes primitives of the graph."""
    kind = classes(dataclass, frozen=True, slots=True)
    a, b = object.__new__(kind), object.__new__(kind)
    for x in (a, b):
        for name, value in (("name", "a"), ("size", 2), ("parts", ())):
            getattr(kind, name).__set__(x, value)
    assert hash(a) == hash(b)
    assert a == b == kind("a", 2, ())
    repr_first = classes(dataclass, frozen=True, slots=True)
    x = object.__new__(repr_first)
    for name, value in (("name", "a"), ("size", 2), ("parts", ())):
        getattr(repr_first, name).__set__(x, value)
    assert repr(x).endswith("Row(name='a', size=2, parts=())")
