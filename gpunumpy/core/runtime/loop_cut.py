"""Where a pending graph that has grown too large is flushed: at one place of a loop, so that its plans repeat."""

from __future__ import annotations

import sys
from collections import Counter
from types import CodeType, FrameType
from typing import TypeAlias

from ..graph.queue import REVIEW_INTERVAL

# Values that may be recorded while the place is waited for.
MAX_WAIT = 256
# Flushes in a row that had new plans, after which a better place is searched for.
PATIENCE = 4
# Values that are recorded during the search, and that may be recorded while a place is waited for that it found.
SEARCH_LENGTH = 1500

# The code of a function, and an instruction in it.
_Place: TypeAlias = tuple[CodeType, int]


class LoopCut:
    """The place in the program where the pending graphs of a queue are flushed for their size.

    A loop that looks at no value makes a graph that grows until it is flushed. Were it flushed as soon as it is too
    large, each flush would come at another place of the loop, and have a plan of its own. So the second and every later
    flush waits until the program comes to where it was at the flush before: the graphs in between hold whole rounds of
    the loop, and equal ones.

    If that place is in an inner loop, flushes come in other rounds of it, and have new plans again and again. Then the
    places of the program are counted for a while, and the one that came up least often, but came up again, is taken:
    it is in the outer loop, or in what an inner one begins or ends with.
    """

    def __init__(self) -> None:
        self._place: _Place | None = None
        self._scope: CodeType | None = None  # the function that must be running for the place to be waited for
        self._was_searched = False
        self._left = 0  # values to be recorded until the graph is looked at again
        self._new_plans = 0
        self._visits: Counter[_Place] | None = None
        self._callers: dict[CodeType, CodeType] = {}

    @property
    def is_searching(self) -> bool:
        """Whether places are counted."""
        return self._visits is not None

    def is_here(self, waited: bool) -> bool:
        """Return whether to flush a graph that is too large, which `waited` for the place; if not, it waits from now.

        A place in a function that is not being called is not waited for; one that the search has found, if the function
        that calls that one is not being called either.
        """
        if self.is_searching:
            return True
        here = _user_place()
        if self._place == here:
            return True
        if self._scope is None or waited or not _is_called(self._scope):
            self._place, self._scope, self._was_searched = here, here[0], False
            return True
        self._left = SEARCH_LENGTH if self._was_searched else MAX_WAIT
        return False

    def is_ahead(self) -> bool:
        """Return whether the graph need not be looked at; called with every value recorded in a wait or a search.

        After a number of values, the place is taken to be reached.
        """
        self._left -= 1
        here = _user_place()
        if self._visits is None:
            return self._left > 0 and self._place != here
        self._visits[here] += 1
        self._callers[here[0]] = _caller_of(here[0])
        if self._visits.total() < SEARCH_LENGTH:
            if not self._left:
                self._left = REVIEW_INTERVAL
                return False
            return True
        again = [place for place, count in self._visits.items() if count > 1]
        self._place = min(again, key=self._visits.__getitem__, default=None)
        self._scope = None if self._place is None else self._callers[self._place[0]]
        self._was_searched = self._place is not None
        self._visits, self._left, self._new_plans = None, SEARCH_LENGTH, 0
        self._callers.clear()
        return True

    def flushed(self, is_new: bool) -> None:
        """Note that the graph was flushed, and whether a plan had to be made for it."""
        self._new_plans = self._new_plans + 1 if is_new else 0
        if self._new_plans >= PATIENCE and not self._was_searched and not self.is_searching:
            self._visits, self._left = Counter(), REVIEW_INTERVAL


def _is_called(code: CodeType) -> bool:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def _caller_of(code: CodeType) -> CodeType:
    """Return the code that calls a function which is being called; that of a module is its own."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return code if frame is None or frame.f_back is None or code.co_name == "<module>" else frame.f_back.f_code


def _user_place() -> _Place:
    """Return the code of the innermost frame outside the package, and the instruction that it is at."""
    frame = sys._getframe(1)
    package = __name__.partition(".")[0]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame = frame.f_back
    return frame.f_code, frame.f_lasti
