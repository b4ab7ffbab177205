"""The short suite: every test, and of a test with many cases a sample spread over them.

Pure functions over the collected tests; `tests/conftest.py` asks them, and has the option and the marks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from zlib import crc32

import pytest

# How many cases of a test the short suite runs, unless the mark `sampled` names another number.
MAX_CASES = 12


def shorten(items: Sequence[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return what the short suite runs of the collected tests, in their order, and what it leaves out."""
    cases: dict[tuple[str, bool], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("full"):
            # Where there is no GPU, a sample of the cases of all devices would lose some to those that are skipped.
            cases[item.nodeid.partition("[")[0], bool(item.get_closest_marker("gpu"))].append(item)
    kept = {item for group in cases.values() for item in _sample(group)}
    return [item for item in items if item in kept], [item for item in items if item not in kept]


def _sample(group: list[pytest.Item]) -> list[pytest.Item]:
    mark = group[0].get_closest_marker("sampled")
    return [group[k] for k in spread([item.nodeid for item in group], mark.args[0] if mark else MAX_CASES)]


def spread(names: Sequence[str], most: int) -> list[int]:
    """Return the positions of at most `most` names: the first, the last, and one of each equal stretch between.

    Within a stretch a hash of its names decides. A fixed step would pick the same dtype again and again out of a
    product of dtypes and shapes.
    """
    count = len(names)
    if count <= most:
        return list(range(count))
    ends = [count * k // most for k in range(most + 1)]
    middle = [min(range(*ends[k : k + 2]), key=lambda i: crc32(names[i].encode())) for k in range(1, most - 1)]
    return [0, *middle, count - 1][:most]
