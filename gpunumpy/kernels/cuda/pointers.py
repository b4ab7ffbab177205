"""Which of the pointers of a batch of calls a launch takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TypeAlias

from ...core.schedule.batch import MAX_BATCH

# Takes the pointers of one launch from all of them.
Pick: TypeAlias = Callable[[Sequence[int]], Sequence[int]]


def picked(words: Sequence[tuple[int, int]], each: int = 1) -> Pick:
    """The pointers at these places, each so many bytes on; the first call's again where there are fewer than the most.

    A call has `each` of them.
    """
    words = [*words, *list(words[:each]) * (MAX_BATCH - len(words) // each)]
    if not any(start for _, start in words):
        return itemgetter(*[place for place, _ in words])
    return lambda pointers: [pointers[place] + start for place, start in words]
