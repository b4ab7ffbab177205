"""The sample that the short suite runs, and the shards of a suite."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import pytest

from ..support import suites


class Item:
    """As much of a collected test as the selection looks at."""

    def __init__(self, nodeid: str, **marks: Any) -> None:
        self.nodeid, self.marks = nodeid, marks

    def get_closest_marker(self, name: str) -> Any:
        return self.marks.get(name)


def cases(name: str, count: int, **marks: Any) -> list[Any]:
    return [Item(f"test_file.py::{name}[{k}]", **marks) for k in range(count)]


def names(items: list[Any]) -> list[str]:
    return [item.nodeid.partition("::")[2] for item in items]


def test_a_test_with_few_cases_keeps_them() -> None:
    few = [*cases("test_few", suites.MAX_CASES), Item("test_file.py::test_alone")]
    assert suites.shorten(few) == few


def test_a_test_with_many_cases_keeps_a_spread_sample() -> None:
    many = cases("test_many", 400)
    kept = suites.shorten(many)
    places = [many.index(item) for item in kept]
    assert len(kept) == suites.MAX_CASES
    assert (places[0], places[-1]) == (0, 399)
    assert all(0 < after - before < 2 * 400 / suites.MAX_CASES for before, after in pairwise(places))
    assert suites.shorten(many) == kept


def test_a_sample_of_a_product_has_every_value() -> None:
    many = [Item(f"test_file.py::test_many[{dtype}-{n}]") for n, dtype in product(range(100), "abcd")]
    assert {item.nodeid.partition("[")[2][0] for item in suites.shorten(many)} == set("abcd")


def test_emulated_tests_keep_fewer() -> None:
    emulated = [Item(f"tests/emulator/{item.nodeid}") for item in cases("test_many", 60)]
    assert len(suites.shorten(emulated)) == suites.MAX_CASES_EMULATED < suites.MAX_CASES


@pytest.mark.parametrize("count", [1, 2, 3, 5, 12, 20])
def test_the_mark_says_how_many(count: int) -> None:
    kept = suites.shorten(cases("test_many", 20, sampled=pytest.mark.sampled(count).mark))
    assert len(kept) == count


def test_cases_of_a_gpu_are_sampled_apart() -> None:
    both = [item for pair in zip(cases("test_many", 60), cases("test_many", 60, gpu=True)) for item in pair]
    kept: list[Any] = suites.shorten(both)
    assert sum("gpu" in item.marks for item in kept) == suites.MAX_CASES == len(kept) / 2


def test_what_is_of_the_full_suite_is_left_out() -> None:
    assert names(suites.shorten([Item("f.py::test_a"), Item("f.py::test_b", full=True)])) == ["test_a"]


def test_shards_are_parts_of_the_suite() -> None:
    both = [item for pair in zip(cases("test_a", 500), cases("test_b", 500)) for item in pair]
    shards = [suites.shard(both, f"{k}/3") for k in (1, 2, 3)]
    assert sorted(name for shard in shards for name in names(shard)) == sorted(names(both))
    assert all(280 < len(shard) < 390 for shard in shards)
    assert suites.shard(both, "1/1") == both


@pytest.mark.parametrize("which", ["0/2", "3/2", "1", "", "a/b", "1/2/3"])
def test_what_is_no_shard(which: str) -> None:
    with pytest.raises(pytest.UsageError, match="a shard is given as"):
        suites.shard([], which)
