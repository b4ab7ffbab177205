"""The text of a program, which is known by its digest: what is compiled already is found without it."""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from ...core.disk_cache import cache_folder, open_cache
from ...core.graph.bounded_table import ENTRY_BYTES, BoundedTable


class Source(NamedTuple):
    """CUDA C++. Equal ones have equal digests.

    Attributes
    ----------
    digest
        What stands for the text.
    text
        The text; None where it is left on disk, as the program is compiled.
    """

    digest: bytes
    text: str | None

    def __eq__(self, other: object) -> bool:
        """Return whether the other is the same text."""
        return isinstance(other, Source) and self.digest == other.digest

    def __ne__(self, other: object) -> bool:
        """Return whether the other is another text."""
        return not self == other

    def __hash__(self) -> int:
        """Return the hash of the digest."""
        return hash(self.digest)


_sources: BoundedTable[str, Source] = BoundedTable()


def source_of(text: str | Source) -> Source:
    """Return a text with its digest."""
    if isinstance(text, Source):
        return text
    found = _sources.find(text)
    if found is None:
        made = Source(sha256(text.encode()).digest(), text)
        found = _sources.keep(text, made, 1 + len(text) // ENTRY_BYTES)
    return found


def kept_on_disk(text: str) -> Source:
    """Keep a text for other processes, and return what they find it by."""
    digest, _ = source_of(text)
    disk = open_cache(cache_folder())
    assert disk is not None  # who asks keeps a plan there
    key = _key(digest)
    if disk.find(key) is None:
        disk.keep(key, text.encode())
    return Source(digest, None)


def read_from_disk(source: Source) -> Source | None:
    """Return what `kept_on_disk` has returned with its text; None if that is gone."""
    disk = open_cache(cache_folder())
    entry = None if disk is None else disk.find(_key(source.digest))
    return None if entry is None else Source(source.digest, entry.decode())


def _key(digest: bytes) -> bytes:
    return sha256(b"text" + digest).digest()
