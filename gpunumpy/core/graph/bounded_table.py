"""`BoundedTable`: the cache for values whose keys contain signatures, with one size limit for all caches together."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

# The entries of all tables, added up: about 100 MB, counting the signatures that the entries keep alive.
MAX_ENTRIES = 300_000


class BoundedTable(Generic[K, V]):
    """Cache whose keys contain signatures. Any thread may call `find` and `keep` at any time.

    All tables of the program are emptied at once, before they hold more than `MAX_ENTRIES` entries in sum. Emptying
    one table alone would leave dead entries in the others: a signature that is interned again after its removal is a
    new object, and keys that contain the old object no longer match. Emptying is safe at any moment, because an entry
    only saves work. It follows that two distinct `Signature` objects may be equal in structure.

    Attributes
    ----------
    find
        ``find(key)`` returns the value for a key, or None.
    """

    __slots__ = ("_entries", "find")

    def __init__(self) -> None:
        """Make an empty table and register it, for as long as the program runs."""
        self._entries: dict[K, V] = {}
        self.find = self._entries.get
        _tables.append(self)

    def keep(self, key: K, value: V) -> V:
        """Store the value for a key and return it; if another thread was first, return the value of that thread."""
        global _count
        if _count >= MAX_ENTRIES:
            forget_all()
        _count += 1  # threads may race and count two entries as one: the limit need not be exact
        return self._entries.setdefault(key, value)

    def values(self) -> list[V]:
        """Return all values that are kept."""
        return list(self._entries.values())


_tables: list[BoundedTable[Any, Any]] = []
_count = 0


def forget_all() -> None:
    """Empty all tables."""
    global _count
    _count = 0
    for table in _tables:
        table._entries.clear()
