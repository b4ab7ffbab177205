"""Which of the collected tests run: the short suite, with a sample of the cases of tests that have many; one shard.

Pure functions over the tests; `tests/conftest.py` has the options.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from zlib import crc32

import pytest

# How many cases of a test the short suite runs, unless the mark `sampled` names another number: fewer where most of
# them have g++ compile a kernel.
MAX_CASES, MAX_CASES_EMULATED = 10, 3


def shorten(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return what the short suite runs of the collected tests."""
    cases: dict[tuple[str, bool], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("full"):
            # Where there is no GPU, a sample of the cases of all devices would lose some to those that are skipped.
            cases[item.nodeid.partition("[")[0], bool(item.get_closest_marker("gpu"))].append(item)
    kept = {item for group in cases.values() for item in _sample(group)}
    return [item for item in items if item in kept]


def _sample(group: list[pytest.Item]) -> list[pytest.Item]:
    names = [item.nodeid for item in group]
    most = MAX_CASES_EMULATED if names[0].startswith("tests/emulator/") else MAX_CASES
    if mark := group[0].get_closest_marker("sampled"):
        most = mark.args[0]
    return [group[k] for k in spread(names, most)]


def spread(names: Sequence[str], most: int) -> list[int]:
    """Return the positions of at most `most` names: the first, the last, and one of each equal stretch between.

    Within a stretch a hash of its names decides. A fixed step would pick the same dtype again and again out of a
    product of dtypes and shapes.
    """
    count = len(names)
    if count <= most:
        return list(range(count))
    ends = [count * k // most for k in range(most + 1)]
    middle = [min(range(*ends[k : k + 2]), key=lambda i: _hash(names[i])) for k in range(1, most - 1)]
    return [0, *middle, count - 1][:most]


def shard(items: Sequence[pytest.Item], which: str) -> list[pytest.Item]:
    """Return the tests of a shard, "2/3" for the second of three.

    A hash of its name decides where a test belongs, so shards are nearly equal whatever cases alternate.
    """
    number, _, count = which.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise pytest.UsageError(f"a shard is given as 1/2 or 2/2, not as {which}")
    return [item for item in items if _hash(item.nodeid) % int(count) == int(number) - 1]


def _hash(name: str) -> int:
    return crc32(name.encode())
