"""The table for what is found by signatures: interned signatures, the nodes that functions make of them, recipes."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

# How many entries all tables hold together: about 100 MB, with the signatures that they keep alive.
LIMIT = 300_000


class BoundedTable(Generic[K, V]):
    """What was worked out once, found by a key that signatures are part of; any thread may find and keep.

    All tables of the program are emptied together before they hold more than `LIMIT` entries: a signature that is met
    again after it was forgotten is a new object, so what another table still knew by the old one would never be found
    again. Forgetting is safe at any moment: an entry saves work, and what is missing is worked out again. Nobody may
    take two signatures for different values because they are different objects.

    Attributes
    ----------
    find
        The value for a key, or None.
    """

    __slots__ = ("_entries", "find")

    def __init__(self) -> None:
        """Make a table that lives as long as the program."""
        self._entries: dict[K, V] = {}
        self.find = self._entries.get
        _tables.append(self)

    def keep(self, key: K, value: V) -> V:
        """Keep the value for a key, and return it; or the one that another thread has kept for it meanwhile."""
        global _count
        if _count >= LIMIT:
            forget_all()
        _count += 1  # threads that count at once may count two entries as one: the limit needs no more
        return self._entries.setdefault(key, value)


_tables: list[BoundedTable[Any, Any]] = []
_count = 0


def forget_all() -> None:
    """Empty all tables."""
    global _count
    _count = 0
    for table in _tables:
        table._entries.clear()
