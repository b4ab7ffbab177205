"""Allocations of Python's that fail one after the other."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextvars import copy_context
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

        `is_expected` tells of exceptions besides `MemoryError`. The call has a context of its own: what `errstate` and
        the like have set stays set where their end fails.
        """
        context = copy_context()
        _testcapi.set_nomemory(self.place, self.place + 1)
        try:
            return context.run(call)
        except MemoryError:
            self.has_failed = True
        except Exception as error:
            if not is_expected(error):
                raise
        finally:
            _testcapi.remove_mem_hooks()
        return None


def faults(step: int = 1) -> Iterator[Fault]:
    """Return a fault for each `step`-th allocation of a call, until so many have not failed that it makes no more."""
    since = 0
    for place in itertools.count(0, step):
        assert place < _MOST_ALLOCATIONS * step, "the call makes too many allocations"
        fault = Fault(place)
        yield fault
        since = 0 if fault.has_failed else since + step
        if since > _ALLOCATIONS_BETWEEN * step:
            return
