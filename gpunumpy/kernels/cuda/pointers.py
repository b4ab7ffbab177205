"""Selection of the pointers that one launch takes, among all pointers of a batch of library calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TypeAlias

from ...core.schedule.batch import MAX_BATCH

# A function from all pointers of a batch to the pointers of one launch.
Pick: TypeAlias = Callable[[Sequence[int]], Sequence[int]]


def picked(words: Sequence[tuple[int, int]], per_call: int = 1) -> Pick:
    """Return a function that selects pointers, and pads them to `MAX_BATCH` calls with the pointers of the first call.

    Parameters
    ----------
    words
        The position of each pointer in the batch, and bytes to add to it.
    per_call
        The number of pointers of a call.
    """
    words = [*words, *list(words[:per_call]) * (MAX_BATCH - len(words) // per_call)]
    if not any(nbytes for _, nbytes in words):
        return itemgetter(*[position for position, _ in words])
    return lambda pointers: [pointers[position] + nbytes for position, nbytes in words]
