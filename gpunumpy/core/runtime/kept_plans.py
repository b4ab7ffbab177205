"""Plans on disk: what a process has planned is read by later ones instead of being planned again.

What is read is plain data (core/runtime/plain_data.py). A plan that has anything else in it is not kept. A plan is
found by all that it follows from: the structure of the graph, its sizes, the files of this package, and what the
executor says of itself. Those with symbols for sizes are found together, by what all sizes share, and so are the
programs of kernels.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from typing import Any, Generic, TypeVar

from ..disk_cache import DiskCache, cache_folder, open_cache, package_digest
from ..graph.signature import Signature
from ..graph.structure import without_sizes
from ..schedule.lower import Item
from ..schedule.variants import Variant
from .plain_data import NotPlain, read, told_of, written

T = TypeVar("T")

MAX_KEPT_VARIANTS = 24  # of one thing


class KeptVariants(Generic[T]):
    """Variants with symbols of one thing on disk, in one entry.

    Parameters
    ----------
    disk, key
        Where the entry is.
    plain
        Returns something made as plain data.
    of_plain
        Makes it of that, and of its pattern.
    """

    def __init__(
        self, disk: DiskCache, key: bytes, plain: Callable[[T], Any], of_plain: Callable[[Any, tuple[int, ...]], T]
    ) -> None:
        self._disk, self._key, self._plain, self._of_plain = disk, key, plain, of_plain
        self._entries: list[bytes] = []

    def read(self) -> list[tuple[tuple[int, ...], Variant[T]]]:
        """Return the variants that other processes have kept, and their patterns."""
        entry = self._disk.find(self._key)
        self._entries = [] if entry is None else read(entry)
        found = []
        for places, guards, apart, wide_guards, made in map(read, self._entries):
            found.append((places, Variant(self._of_plain(made, places), guards, None, frozenset(apart), wide_guards)))
        return found

    def keep(self, places: tuple[int, ...], variant: Variant[T]) -> None:
        """Keep a variant beside the others, if it is plain data; of two processes that do so at once, the later one's.

        What is not kept is made anew by each process.
        """
        if len(self._entries) >= MAX_KEPT_VARIANTS:
            return
        assert variant.apart is not None
        try:
            apart = sorted(variant.apart)
            entry = written((places, variant.guards, apart, variant.wide_guards, self._plain(variant.made)))
        except NotPlain:
            return
        self._entries.append(entry)
        self._disk.keep(self._key, written(self._entries))


class KeptPlans:
    """The plans of one executor on disk.

    Parameters
    ----------
    identity : str
        What plans depend on besides graphs and this package.
    """

    def __init__(self, identity: str) -> None:
        self._identity = f"{identity} {package_digest()}"
        self._disk = open_cache(cache_folder())

    def key(self, structure: Any, items: Sequence[Item], count: int, overwrite: bool) -> bytes | None:
        """Return the key of the plans for all sizes of a graph of which `lowered` returns the structure; or None.

        The numbers in a structure are those of this process. In the key, digests stand for them.
        """
        if self._disk is None:
            return None
        tokens = list(structure)
        signatures: dict[int, Signature] = {}
        places: dict[int, int] = {}
        at = 0
        for signature, args, buffer, _ in items:
            number = tokens[at]
            place = places.get(number)
            if place is None:
                place = places[number] = len(places)
                signatures[number] = signature
            tokens[at] = place
            at += len(args) + 1 if buffer < 0 else 2
        try:
            digests = [_digests.get(number) or _digest(number, signatures[number]) for number in places]
        except NotPlain:
            return None
        told: Any = (self._identity, digests, tokens, count, overwrite)
        return sha256(marshal.dumps(told, 2)).digest()  # of version 2, as later ones tell which objects are the same

    @staticmethod
    def key_at(key: bytes, sizes: Sequence[int]) -> bytes:
        """Return the key of the plan for a graph of these sizes."""
        return sha256(key + marshal.dumps(list(sizes), 2)).digest()

    def variants(
        self, key: bytes, plain: Callable[[T], Any], of_plain: Callable[[Any, tuple[int, ...]], T]
    ) -> KeptVariants[T]:
        """Return where the variants of something are kept by a key; see `KeptVariants`."""
        assert self._disk is not None
        return KeptVariants(self._disk, key, plain, of_plain)

    def key_of(self, thing: Any) -> bytes | None:
        """Return the key of what is kept of something that is plain data; None for anything else, or without a disk."""
        if self._disk is None:
            return None
        try:
            return sha256(written((self._identity, thing))).digest()
        except NotPlain:
            return None

    def find(self, key: bytes) -> Any:
        """Return what is kept by a key, or None."""
        assert self._disk is not None
        entry = self._disk.find(key)
        return None if entry is None else read(entry)

    def keep(self, key: bytes, thing: Any) -> None:
        """Keep what is plain data; anything else is made anew by each process."""
        assert self._disk is not None
        try:
            entry = written(thing)
        except NotPlain:
            return
        self._disk.keep(key, entry)


@cache
def kept_plans(identity: str) -> KeptPlans:
    """Return the plans of executors of an identity; see `KeptPlans`."""
    return KeptPlans(identity)


# What stands for structures of signatures in every process, by their numbers in this one.
_digests: dict[int, bytes] = {}


def _digest(number: int, signature: Signature) -> bytes:
    """Find what stands for the structure of a signature in every process."""
    *before, queue, generator = without_sizes(signature)[0]
    told = told_of((*before, queue is not None, generator))
    found = _digests[number] = sha256(marshal.dumps(told, 2)).digest()
    return found
