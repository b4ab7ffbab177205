"""Allocations of Python's that fail one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

_testcapi = pytest.importorskip("_testcapi", reason="this Python has no faults of allocations to inject")

_MOST_ALLOCATIONS = 2000
_ALLOCATIONS_BETWEEN = 50  # two that end a call, at most


class Fault:
    """One allocation that fails.

    Attributes
    ----------
    place : int
        How many allocations come before it.
    has_failed : bool
        Whether it has ended the call with a `MemoryError`.
    """

    def __init__(self, place: int) -> None:
        self.place = place
        self.has_failed = False

    def during(self, call: Callable[[], Any], is_expected: Callable[[Exception], bool] = lambda error: False) -> Any:
        """Make a call in which the allocation fails, and return its result; None after an exception that is expected.

        `is_expected` tells of exceptions besides `MemoryError`.
        """
        _testcapi.set_nomemory(self.place, self.place + 1)
        try:
            return call()
        except MemoryError:
            self.has_failed = True
        except Exception as error:
            if not is_expected(error):
                raise
        finally:
            _testcapi.remove_mem_hooks()
        return None


def faults() -> Iterator[Fault]:
    """Return one fault for each allocation of a call, until so many have not failed it that it makes no more."""
    since = 0
    for place in range(_MOST_ALLOCATIONS):
        fault = Fault(place)
        yield fault
        since = 0 if fault.has_failed else since + 1
        if since > _ALLOCATIONS_BETWEEN:
            return
