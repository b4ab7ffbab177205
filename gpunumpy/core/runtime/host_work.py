"""What the host does for a program, as `profile` and the report of a script observe it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import Any, TypeAlias

# Called with the kind of work, its name, when it began and how long it took, in seconds of `perf_counter`, and its
# bytes.
WorkObserver: TypeAlias = Callable[[str, str, float, float, int], None]

# Installed by `profile`: called with copies, plans, compilations, flushes, and functions without a device
# implementation as they end, in whichever thread.
observer: WorkObserver | None = None
_UNOBSERVED = nullcontext()

# How often the package has looked at elements: what depends on them is recorded anew every time.
look_count = 0


def observed(kind: str, *words: object, nbytes: int = 0) -> AbstractContextManager[Any]:
    """Return a context manager to do some work in, which tells the observer of it if there is one.

    The words are its name. They are joined only where somebody observes.
    """
    observe = observer
    return _UNOBSERVED if observe is None else _Observed(observe, kind, " ".join(map(str, words)), nbytes)


class _Observed:
    """Tells an observer how long the block took."""

    def __init__(self, observe: WorkObserver, kind: str, name: str, nbytes: int) -> None:
        self._observe, self._work, self._nbytes = observe, (kind, name), nbytes

    def __enter__(self) -> None:
        self._start = perf_counter()

    def __exit__(self, *error: object) -> None:
        self._observe(*self._work, self._start, perf_counter() - self._start, self._nbytes)


def bytes_of(data: Iterable[Any]) -> int:
    """Return the bytes of arguments and results, of which arrays and scalars have some."""
    return sum([n for x in data if isinstance(n := getattr(x, "nbytes", 0), int)])


class HostCalls:
    """Calls that are NumPy's, of small arrays on the host: how often, how long and over how many bytes, by function.

    `functions.placement` calls it with every such call. The compiled core does what `__call__` does by itself where
    nobody observes: a call of a Python function would take longer than what it notes.

    Parameters
    ----------
    observe : callable, optional
        Called with every call, as `observer` is.
    """

    __slots__ = ("counts", "nbytes", "observe", "seconds")

    def __init__(self, observe: WorkObserver | None = None) -> None:
        self.observe = observe
        self.counts: Counter[str] = Counter()
        self.seconds: dict[str, float] = {}
        self.nbytes: Counter[str] = Counter()

    def __call__(self, name: str, seconds: float, nbytes: int) -> None:
        """Note a call of a function that has just ended, and the bytes of its arguments and its result."""
        self.add(name, 1, seconds, nbytes)
        if self.observe is not None:
            self.observe("numpy", name, perf_counter() - seconds, seconds, nbytes)

    def add(self, name: str, count: int, seconds: float, nbytes: int) -> None:
        """Add calls of a function."""
        self.counts[name] += count
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self.nbytes[name] += nbytes

    def count_in(self, other: HostCalls) -> None:
        """Count the calls that follow among those of `other`."""
        self.counts, self.seconds, self.nbytes = other.counts, other.seconds, other.nbytes

    def __bool__(self) -> bool:
        """Return whether there were calls."""
        return bool(self.counts)

    def update(self, other: HostCalls) -> None:
        """Add the calls of `other`."""
        for name, count in other.counts.items():
            self.add(name, count, other.seconds[name], other.nbytes[name])

    def numbers(self) -> tuple[dict[str, int], dict[str, float], dict[str, int]]:
        """Return counts, seconds and bytes by function."""
        return self.counts, self.seconds, self.nbytes
