"""Where a pending graph that has grown too large is flushed: at one place of a loop, so that its plans repeat."""

from __future__ import annotations

import sys
from types import CodeType, FrameType

# Values that may be recorded while the place is waited for.
MAX_WAIT = 256


class LoopCut:
    """The place in the program where the pending graphs of a queue are flushed for their size.

    A loop that looks at no value makes a graph that grows until it is flushed. Were it flushed as soon as it is too
    large, each flush would come at another place of the loop, and have a plan of its own. So the second and every later
    flush waits until the program comes to where it was at the flush before: the graphs in between hold whole rounds of
    the loop, and equal ones.
    """

    def __init__(self) -> None:
        self._place: tuple[CodeType, int] | None = None
        self._left = 0

    def is_here(self, waited: bool) -> bool:
        """Return whether to flush a graph that is too large, which `waited` for the place; if not, it waits from now.

        A place in a function that is not being called is not waited for.
        """
        here = _user_place()
        if waited or self._place is None or self._place == here or not _is_called(self._place[0]):
            self._place = here
            return True
        self._left = MAX_WAIT
        return False

    def is_ahead(self) -> bool:
        """Return whether the place is not yet reached; called with every value recorded while it is waited for.

        After `MAX_WAIT` values, the place is taken to be reached.
        """
        self._left -= 1
        return self._left > 0 and self._place != _user_place()


def _is_called(code: CodeType) -> bool:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def _user_place() -> tuple[CodeType, int]:
    """Return the code of the innermost frame outside the package, and the instruction that it is at."""
    frame = sys._getframe(1)
    package = __name__.partition(".")[0]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame = frame.f_back
    return frame.f_code, frame.f_lasti
