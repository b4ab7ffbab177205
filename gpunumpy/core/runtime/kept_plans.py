"""Plans on disk: what a process has planned is read by later ones instead of being planned again.

What is read is plain data (core/runtime/plain_data.py). A plan that has anything else in it is not kept. A plan is
found by all that it follows from: the structure of the graph, its sizes, the files of this package, and what the
executor says of itself. Those with symbols for sizes are found together, by what all sizes share, and so are the
programs of kernels.

A process leaves a list of the plans that it needed. The next one of the same program reads these ahead of its graphs,
in a thread, as soon as it has a context.

Executors for GPUs alone import this module: what it imports takes a tenth of the time of an import of the package.
"""

from __future__ import annotations

import atexit
import marshal
import sys
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from ..disk_cache import cache_folder, open_cache, package_digest
from ..graph.signature import Signature
from ..graph.structure import without_sizes
from ..schedule.lift import count_of_places
from ..schedule.variants import Variant
from .plain_data import NotPlain, read, told_of, written

T = TypeVar("T")

MAX_KEPT_VARIANTS = 24  # of one thing
MAX_READ_AHEAD = 128  # graphs


class KeptVariants(Generic[T]):
    """Variants with symbols of one thing on disk, in one entry.

    Parameters
    ----------
    plans, key
        Where the entry is.
    plain
        Returns something made as plain data.
    of_plain
        Makes it of that, and of its pattern.
    """

    def __init__(
        self, plans: KeptPlans, key: bytes, plain: Callable[[T], Any], of_plain: Callable[[Any, tuple[int, ...]], T]
    ) -> None:
        self._plans, self._key, self._plain, self._of_plain = plans, key, plain, of_plain
        self._entries: list[bytes] = []

    def read(self) -> list[tuple[tuple[int, ...], Variant[T]]]:
        """Return the variants that other processes have kept, and their patterns."""
        self._entries, known = self._plans.find_variants(self._key)
        found = []
        for places, guards, apart, wide_guards, made in known:
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
        self._plans.keep(self._key, self._entries)


class KeptPlans:
    """The plans of one executor on disk.

    Parameters
    ----------
    identity : str
        What plans depend on besides graphs and this package.
    device : str
        The device of the executor: what is made ahead runs on no other, though an equal one finds the same on disk.
    """

    def __init__(self, identity: str, device: str) -> None:
        self._identity = f"{identity} {package_digest()}"
        self._disk = open_cache(cache_folder())
        self._ahead: dict[bytes, Any] = {}  # what was read ahead, by keys
        self._needed: dict[bytes, None] = {}  # keys of plans, in the order in which they were needed
        self._needed_before: set[bytes] = set()
        program = getattr(sys.modules.get("__main__"), "__file__", None)
        self._key_of_needed = sha256(f"{self._identity} needed by {program} on {device}".encode()).digest()

    def key(
        self, structure: Sequence[int], signatures: Sequence[Signature], count: int, overwrite: bool
    ) -> bytes | None:
        """Return the key of the plans for all sizes of a graph of which `lowered` returns the structure; or None.

        The numbers in a structure are those of this process. In the key, digests stand for them.
        """
        if self._disk is None:
            return None
        tokens = list(structure)
        found: dict[int, Signature] = {}
        places: dict[int, int] = {}
        at = 0
        for signature in signatures:
            number = tokens[at]
            place = places.get(number)
            if place is None:
                place = places[number] = len(places)
                found[number] = signature
            tokens[at] = place
            at += 1 + count_of_places(signature)
        try:
            digests = [_digests.get(number) or _digest(number, found[number]) for number in places]
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
        return KeptVariants(self, key, plain, of_plain)

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
        return self._ahead.pop(key) if key in self._ahead else self._read(key)

    def find_variants(self, key: bytes) -> tuple[list[bytes], list[Any]]:
        """Return the variants that are kept by a key, each as plain data, and as it is on disk before."""
        return self._ahead.pop(key) or ([], []) if key in self._ahead else _with_variants(self._read(key) or [])

    def _read(self, key: bytes) -> Any:
        assert self._disk is not None
        entry = self._disk.find(key)
        return None if entry is None else read(entry)

    def note_need(self, key: bytes) -> None:
        """Have the next process of this program read ahead what is kept of plans by a key."""
        if len(self._needed) < MAX_READ_AHEAD:
            self._needed[key] = None

    def read_ahead(self, prepare: Callable[[Any], Any]) -> None:
        """Read what the last process of this program needed, and what `prepare` makes of it is found in its place."""
        needed = self._read(self._key_of_needed) if self._disk is not None else None
        self._needed_before.update(needed or ())
        for key in needed or ():
            if key in self._needed:
                continue
            found = self._read(key)
            if isinstance(found, list):
                entries, variants = _with_variants(found)
                self._ahead[key] = entries, [(*answers, prepare(made)) for *answers, made in variants]
            else:
                self._ahead[key] = found and prepare(found)

    def keep_needed(self) -> None:
        """Keep the list of what this process needed, if it is not that of the last one."""
        if self._disk is not None and self._needed.keys() != self._needed_before:
            self.keep(self._key_of_needed, list(self._needed))

    def keep(self, key: bytes, thing: Any) -> None:
        """Keep what is plain data; anything else is made anew by each process."""
        assert self._disk is not None
        try:
            entry = written(thing)
        except NotPlain:
            return
        self._disk.keep(key, entry)


def _with_variants(entries: list[bytes]) -> tuple[list[bytes], list[Any]]:
    return entries, [read(entry) for entry in entries]


@cache
def kept_plans(identity: str, device: str) -> KeptPlans:
    """Return the plans of the executor of a device; see `KeptPlans`."""
    plans = KeptPlans(identity, device)
    _in_use.add(plans)
    return plans


_in_use: WeakSet[KeptPlans] = WeakSet()


@atexit.register
def keep_needed() -> None:
    """Keep the list of what this process needed for the next one of this program."""
    for plans in list(_in_use):
        plans.keep_needed()


# What stands for structures of signatures in every process, by their numbers in this one.
_digests: dict[int, bytes] = {}


def _digest(number: int, signature: Signature) -> bytes:
    """Find what stands for the structure of a signature in every process."""
    *before, queue, generator = without_sizes(signature)[0]
    told = told_of((*before, queue is not None, generator))
    found = _digests[number] = sha256(marshal.dumps(told, 2)).digest()
    return found
