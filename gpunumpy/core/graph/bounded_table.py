"""`BoundedTable`: the cache for what graphs are made into, with one size limit for all caches together."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from .._native import forget
from ..collector import take_for_old

K = TypeVar("K")
V = TypeVar("V")

# The entries of all tables, added up: about 100 MB, counting the signatures that the entries keep alive.
MAX_ENTRIES = 300_000
ENTRY_BYTES = 350  # of an entry, about
# Each time the tables have so many entries more than ever, some 10,000 objects have come to stay.
_SETTLING_ENTRIES = 2000


class BoundedTable(Generic[K, V]):
    """Cache whose keys are signatures, texts, or contain them. Any thread may call `find` and `keep` at any time.

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

    def keep(self, key: K, value: V, size: int = 1) -> V:
        """Store the value for a key and return it; if another thread was first, return the value of that thread.

        `size` is the number of entries that it counts for, if it takes more than `ENTRY_BYTES`.
        """
        count(size)
        return self._entries.setdefault(key, value)

    def __len__(self) -> int:
        """Return the number of values that are kept."""
        return len(self._entries)

    def clear(self) -> None:
        """Empty this table alone, and what the core has found in it."""
        self._entries.clear()
        forget()

    def values(self) -> list[V]:
        """Return all values that are kept."""
        return list(self._entries.values())


_tables: list[BoundedTable[Any, Any]] = []
_count = 0
_settled = 0  # so many entries at most have been there, when what they keep was taken for old


def count(size: int) -> None:
    """Count entries, or what a value that is kept grows by. Empty all tables if there are too many then."""
    global _count, _settled
    if _count + size > MAX_ENTRIES:
        forget_all()
    _count += size  # threads may race and count two entries as one: the limit need not be exact
    if _count >= _settled + _SETTLING_ENTRIES:
        _settled = _count
        take_for_old()


def forget_all() -> None:
    """Empty all tables."""
    global _count
    _count = 0
    for table in _tables:
        table._entries.clear()
    forget()
