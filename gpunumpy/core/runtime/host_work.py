"""What the host does for a program, as `profile` and the report of a script observe it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
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


class HostCalls:
    """Calls that are NumPy's, of small arrays on the host: how often, how long and over how many bytes, by function.

    The compiled core and `functions.placement` call it with every such call.

    Parameters
    ----------
    observe : callable, optional
        Called with every call, as `observer` is.
    """

    def __init__(self, observe: WorkObserver | None = None) -> None:
        self._observe = observe
        self.counts: Counter[str] = Counter()
        self.seconds: dict[str, float] = {}
        self.nbytes: Counter[str] = Counter()

    def __call__(self, name: str, seconds: float, data: Sequence[Any]) -> None:
        """Note a call of a function, and its arguments and result, of which arrays and scalars have bytes."""
        end = perf_counter()
        nbytes = sum([n for x in data if isinstance(n := getattr(x, "nbytes", 0), int)])
        self.add(name, 1, seconds, nbytes)
        if self._observe is not None:
            self._observe("numpy", name, end - seconds, seconds, nbytes)

    def add(self, name: str, count: int, seconds: float, nbytes: int) -> None:
        """Add calls of a function."""
        self.counts[name] += count
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self.nbytes[name] += nbytes

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

    def clear(self) -> None:
        """Forget all calls."""
        for numbers in self.numbers():
            numbers.clear()
