"""Plans on disk: what a process has planned is read by later ones instead of being planned again.

What is read is plain data: numbers, texts, collections, and what `_is_plain` names. A plan that has anything else in it
is not kept. A plan is found by all that it follows from: the structure of the graph, its sizes, the files of this
package, and what the executor says of itself.
"""

from __future__ import annotations

import marshal
import pickle
import sys
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from io import BytesIO
from typing import Any

import numpy

from ..disk_cache import cache_folder, open_cache, package_digest
from ..dtypes import check
from ..graph import primitives
from ..graph.signature import Signature
from ..graph.structure import without_sizes
from ..schedule.lower import Item

# What is plain besides numbers, texts and collections: dtypes, which `check` makes, the primitives of graphs, and all
# classes of named tuples of this package.
_PACKAGE = __name__.partition(".")[0]
_PLAIN: frozenset[Any] = frozenset(
    {check, range, slice}
    | {x for x in vars(primitives).values() if getattr(x, "__module__", "") == primitives.__name__}
)


def _is_plain(thing: Any) -> bool:
    """Return whether a class is one of plain data, or a function makes such."""
    if isinstance(thing, type) and issubclass(thing, tuple):
        return thing.__module__.partition(".")[0] == _PACKAGE
    return thing in _PLAIN


class NotPlain(Exception):
    """Something is no plain data."""


class _Writer(pickle.Pickler):
    """Writes plain data, and nothing else."""

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, numpy.dtype):
            return check, (thing.name,)
        if not _is_plain(thing if callable(thing) else type(thing)):
            raise NotPlain
        return NotImplemented


class _Reader(pickle.Unpickler):
    """Reads plain data, and calls nothing but what makes it."""

    def find_class(self, module: str, name: str) -> Any:
        found = getattr(sys.modules[module], name)
        if not _is_plain(found):
            raise NotPlain
        return found


def _written(thing: Any) -> bytes:
    into = BytesIO()
    _Writer(into, protocol=5).dump(thing)
    return into.getvalue()


class KeptPlans:
    """The plans of one executor on disk.

    Parameters
    ----------
    identity : str
        What plans depend on besides graphs and this package; see `Executor.identity`.
    """

    def __init__(self, identity: str) -> None:
        self._identity = f"{identity} {package_digest()}"
        self._disk = open_cache(cache_folder())

    def key(
        self, structure: Any, items: Sequence[Item], sizes: Sequence[Any], count: int, overwrite: bool
    ) -> bytes | None:
        """Return the key of the plan for a graph, of which `lowered` returns structure and sizes; None if it has none.

        The numbers in a structure are those of this process. In the key, digests stand for them.
        """
        if self._disk is None:
            return None
        tokens = list(structure)
        signatures: dict[int, Signature] = {}
        places: dict[int, int] = {}
        at = 0
        for item in items:
            number = tokens[at]
            signatures[number] = item.signature
            tokens[at] = places.setdefault(number, len(places))
            at += 1 + (1 if item.buffer >= 0 else len(item.args))
        try:
            digests = [_digests.get(number) or _digest(number, signatures[number]) for number in places]
        except NotPlain:
            return None
        told: Any = (self._identity, digests, tokens, sizes, count, overwrite)
        return sha256(marshal.dumps(told, 2)).digest()  # of version 2, as later ones tell which objects are the same

    def find(self, key: bytes) -> Any:
        """Return what is kept by a key, or None."""
        assert self._disk is not None
        entry = self._disk.find(key)
        return None if entry is None else _Reader(BytesIO(entry)).load()

    def keep(self, key: bytes, thing: Any) -> None:
        """Keep what is plain data; anything else is made anew by each process."""
        assert self._disk is not None
        try:
            entry = _written(thing)
        except NotPlain:
            return
        self._disk.keep(key, entry)


@cache
def kept_plans(identity: str) -> KeptPlans:
    """Return the plans of executors of an identity."""
    return KeptPlans(identity)


# What stands for structures of signatures in every process, by their numbers in this one.
_digests: dict[int, bytes] = {}


def _digest(number: int, signature: Signature) -> bytes:
    """Find what stands for the structure of a signature in every process."""
    *before, queue, generator = without_sizes(signature)[0]
    plain = *before, queue is not None, generator
    _written(plain)  # the representation of anything else may differ between processes
    found = _digests[number] = sha256(repr(plain).encode()).digest()
    return found
