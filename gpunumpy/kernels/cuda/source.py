"""The text of a program, which is known by its digest: what is compiled already is found without it."""

from __future__ import annotations

from hashlib import sha256

from ...core.disk_cache import cache_folder, open_cache
from ...core.graph.bounded_table import ENTRY_BYTES, BoundedTable
from ..codegen.program import Source

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


def kept_on_disk(text: str | Source) -> Source:
    """Keep a text for other processes, and return what they find it by; without a disk they find nothing."""
    digest, content = source_of(text)
    disk = open_cache(cache_folder())
    key = _key(digest)
    if disk is not None and content is not None and disk.find(key) is None:
        disk.keep(key, content.encode())
    return Source(digest, None)


def read_from_disk(source: Source) -> Source | None:
    """Return what `kept_on_disk` has returned with its text; None if that is gone."""
    disk = open_cache(cache_folder())
    entry = None if disk is None else disk.find(_key(source.digest))
    return None if entry is None else Source(source.digest, entry.decode())


def _key(digest: bytes) -> bytes:
    return sha256(b"text" + digest).digest()
