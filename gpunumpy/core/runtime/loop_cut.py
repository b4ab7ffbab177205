"""Where a pending graph that has grown too large is flushed: at one place of a loop, so that its plans repeat."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TypeAlias

from .._native import compiled
from ..graph.queue import REVIEW_INTERVAL

# Values that are recorded during a search at least, and at most; the latter may also be recorded in a wait.
MIN_SEARCH = 256
MAX_SEARCH = 1500
# Flushes in a row that had new plans, after which a better place is searched for.
PATIENCE = 4
# Places where first graphs became too large that are remembered.
_MAX_BEGINNINGS = 64

# A graph is too large when it has more nodes than this, or when it alone keeps more bytes alive than this.
NODES_LIMIT = 400
BYTES_LIMIT = 1 << 29

_PACKAGE = __name__.partition(".")[0]
_INSIDE = f"{_PACKAGE}."  # what the names of its modules begin with

# The code of a function, and an instruction in it.
_Place: TypeAlias = tuple[CodeType, int]


class _Visited:
    """What is counted of a place."""

    __slots__ = ("caller", "code", "instruction", "live_bytes", "times")

    def __init__(self, code: CodeType, instruction: int) -> None:
        self.code, self.instruction = code, instruction
        self.times = 0
        self.caller = code  # what called its function last
        self.live_bytes = 0  # of the values alive when it came up again


@compiled
class Search:
    """Counts of the places that the program comes to, until most of them came up before.

    A thorough search is one of full length.
    """

    def __init__(self, thorough: bool) -> None:
        self._length = 0  # values that were counted
        self._newest = MAX_SEARCH if thorough else 0  # those up to the last place that came up for the first time
        self._places: dict[tuple[int, int], _Visited] = {}  # by the identity of the code, as to hash it takes long

    def count(self, here: _Place, live_bytes: Callable[[], int]) -> bool:
        """Count a place; return whether the search was long enough.

        `live_bytes` returns the bytes of the values that a flush at this place would store.
        """
        code, instruction = here
        self._length += 1
        visited = self._places.setdefault((id(code), instruction), _Visited(code, instruction))
        visited.times += 1
        visited.caller = _caller_of(code)
        if visited.times == 1:
            self._newest = max(self._newest, self._length)
        elif visited.times == 2:
            visited.live_bytes = live_bytes()
        return self._length >= min(MAX_SEARCH, max(MIN_SEARCH, 2 * self._newest))

    def found(self) -> tuple[_Place | None, CodeType | None]:
        """Return a place that came up least often, but came up again, and what calls its function.

        Of places that came up about as often, once in each round of a loop, it is that with the fewest bytes alive.
        """
        places = [visited for visited in list(self._places.values()) if visited.times > 1]
        if not places:
            return None, None
        least = min([visited.times for visited in places])
        rare = [visited for visited in places if visited.times <= least + least // 4]
        place = min(rare, key=lambda visited: visited.live_bytes)
        return (place.code, place.instruction), place.caller


class LoopCut:
    """The place in the program where the pending graphs of a queue are flushed for their size.

    A loop that looks at no value makes a graph that grows until it is flushed. Were it flushed as soon as it is too
    large, each flush would come at another place of the loop, and have a plan and kernels of its own. So the first
    graph that is too large goes on growing while the places that the program comes to are counted. The one that came up
    least often, but came up again, is taken: it is in the outer loop, or in what an inner one begins or ends with. Of
    several it is the one with the fewest bytes alive, which a flush stores and the next one reads. This graph and all
    later ones are flushed there: they hold whole rounds of the loop, and equal ones.

    If flushes have new plans all the same, places are counted once more, for longer.

    A look at a value ends this. A program that runs again, and is where it was when a graph became too large, lets that
    graph grow as long as it did then: so its second run makes the plans of the first. If a look came before the flush,
    places are counted only when the graph is larger than it was at that look, for counting takes longer than recording.
    """

    __slots__ = (
        *(
            "_begin",
            "_held_bytes",
            "_is_counted",
            "_is_first",
            "_is_over",
            "_lengths",
            "_limit",
            "_looks",
            "_new_plans",
            "_place",
            "_put_off",
        ),
        *("_scope", "_search", "_waited", "_was_thorough"),
    )

    def __init__(self) -> None:
        self._place: _Place | None = None
        self._scope: CodeType | None = None  # the function that must be running for the place to be waited for
        self._search: Search | None = None
        self._was_thorough = False  # whether the last search was
        self._waited = 0  # values that were recorded in the present wait, a search included
        self._limit = 0  # of them, at most
        self._is_counted = False  # whether the limit alone ends the wait
        self._held_bytes = 0  # that the graph kept alive when the wait began
        self._is_over = False  # whether the wait has ended
        self._is_first = True  # whether no graph was flushed for its size since the last look
        self._begin: _Place | None = None  # where the first graph became too large, while it waits after a search
        self._lengths: dict[_Place, int] = {}  # for each such place, the values that were recorded from there on
        self._looks: dict[_Place, int] = {}  # the same where a look came first
        self._put_off = 0  # values of a wait that its search does not count
        self._new_plans = 0

    @property
    def is_searching(self) -> bool:
        """Whether places are counted."""
        return self._search is not None

    def is_here(self, waited: bool, held_bytes: int) -> bool:
        """Return whether to flush a graph that is too large, which `waited` for the place; if not, it waits from now.

        Without a place, or where the program has left the function that the place belongs to, a search begins. A wait
        ends early where the graph comes to keep many more bytes alive.
        """
        if waited or self.is_searching:
            return self._is_over or held_bytes > self._held_bytes + BYTES_LIMIT
        self._held_bytes = held_bytes
        here = _user_place()
        length = self._lengths.get(here) if self._is_first else None
        self._waited, self._is_over, self._is_counted = 0, False, length is not None
        if length is not None:
            self._limit = length
        elif self._is_first or self._scope is None or not _is_called(self._scope):
            self._begin = here if self._is_first else None
            self._begin_search(thorough=False)
            self._put_off = self._looks.get(here, 0) if self._is_first else 0
        else:
            self._limit, self._is_over = MAX_SEARCH, self._place == here
        return self._is_over

    def is_ahead(self, live_bytes: Callable[[], int]) -> bool:
        """Return whether the graph need not be looked at; called with every value recorded in a wait or a search.

        `live_bytes` returns the bytes of the values that a flush would store.
        """
        self._waited += 1
        search = self._search  # which a look of another thread may end
        if self._is_counted:
            self._is_over = self._waited >= self._limit
        elif search is None:
            if self._waited >= self._limit:
                self._scope = None  # the program does not come to the place any more
            self._is_over = self._scope is None or self._place == _user_place()
        elif self._waited > self._put_off and search.count(here := _user_place(), live_bytes):
            self._place, self._scope = search.found()
            self._search, self._limit = None, self._waited + MAX_SEARCH
            self._is_over = self._scope is None or self._place == here
        # What keeps many bytes alive is looked at more often: each round of a loop may add to them.
        interval = REVIEW_INTERVAL // 4 if self._held_bytes > BYTES_LIMIT else REVIEW_INTERVAL
        return not self._is_over and self._waited % interval != 0

    def looked(self) -> None:
        """Note that the graph was flushed for a look at a value."""
        if self._begin is not None:
            _remember(self._looks, self._begin, min(self._waited, MAX_SEARCH))
        self._is_first, self._begin, self._search = True, None, None

    def flushed(self, is_new: bool) -> None:
        """Note that the graph was flushed for its size, and whether a plan had to be made for it."""
        begin = self._begin
        if begin is not None and self._is_over:
            _remember(self._lengths, begin, self._waited)
        self._is_first, self._begin = False, None
        self._new_plans = self._new_plans + 1 if is_new else 0
        if self._new_plans >= PATIENCE and not self._was_thorough and not self.is_searching:
            self._begin_search(thorough=True)

    def _begin_search(self, thorough: bool) -> None:
        self._search, self._was_thorough = Search(thorough), thorough
        self._waited, self._new_plans, self._is_counted, self._is_over = 0, 0, False, False
        self._put_off = 0


def _remember(lengths: dict[_Place, int], begin: _Place, length: int) -> None:
    if len(lengths) >= _MAX_BEGINNINGS:
        lengths.clear()
    lengths[begin] = length


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
    while frame.f_back is not None:
        name = frame.f_globals.get("__name__", "")
        if not (name.startswith(_INSIDE) or name == _PACKAGE):
            break
        frame = frame.f_back
    return frame.f_code, frame.f_lasti
