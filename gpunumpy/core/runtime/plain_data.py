"""Plain data for the disk: numbers, texts, collections, and what `_is_plain` names. Nothing else is read."""

from __future__ import annotations

import pickle
import sys
from functools import cache
from io import BytesIO
from operator import attrgetter
from typing import Any

import numpy

from ..dtypes import check
from ..graph import primitives
from ..schedule import kernel
from ..schedule.size_functions import SizeFunction, of_parts
from ..schedule.substitute import HOLE

# What is plain besides numbers, texts and collections: dtypes, which `check` makes, the primitives of graphs, parts of
# kernels, functions of sizes, and all classes of named tuples of this package.
_PACKAGE = __name__.partition(".")[0]
_PLAIN: frozenset[Any] = frozenset({check, range, slice, of_parts, HOLE}).union(
    *[
        [x for x in vars(module).values() if isinstance(x, type) and x.__module__ == module.__name__]
        for module in (primitives, kernel)
    ]
)


class NotPlain(Exception):
    """Something is no plain data."""


def _is_plain(thing: Any) -> bool:
    """Return whether a class is one of plain data, or a function makes such."""
    if isinstance(thing, type) and issubclass(thing, tuple):
        return thing.__module__.partition(".")[0] == _PACKAGE
    return thing in _PLAIN


class _Writer(pickle.Pickler):
    """Writes plain data, and nothing else."""

    def reducer_override(self, thing: Any) -> Any:
        kind: Any = type(thing)
        if isinstance(thing, numpy.dtype):
            return check, (_name(thing),)
        if kind is SizeFunction:
            return of_parts, thing.parts
        if not _is_plain(thing if callable(thing) else kind) and thing is not HOLE:
            raise NotPlain
        return NotImplemented


class _Reader(pickle.Unpickler):
    """Reads plain data, and calls nothing but what makes it."""

    @staticmethod
    @cache
    def find_class(module: str, name: str) -> Any:
        found = getattr(sys.modules[module], name)
        if not _is_plain(found):
            raise NotPlain
        return found


def told_of(thing: Any) -> Any:
    """Return what stands for plain data in every process, of numbers, texts and tuples; raise `NotPlain` for others."""
    kind = type(thing)
    if kind in _ATOMS:
        return thing
    if issubclass(kind, tuple) and (kind is tuple or _is_plain(kind)):
        return (kind.__name__, *map(told_of, thing))
    if isinstance(thing, numpy.dtype):
        return "dtype", _name(thing)
    if kind is type and thing in _PLAIN:
        return "type", thing.__name__
    if kind in _PLAIN and kind.__module__ == primitives.__name__:
        return (kind.__name__, *[told_of(getattr(thing, name)) for name in kind.__slots__])
    written(thing)  # the representation of anything that is not plain may differ between processes
    return repr(thing)


_ATOMS = frozenset({bool, int, float, complex, str, bytes, type(None)})
_name = cache(attrgetter("name"))  # of a dtype; NumPy makes it anew each time


def written(thing: Any) -> bytes:
    """Return plain data as bytes; raise `NotPlain` for anything else."""
    into = BytesIO()
    _Writer(into, protocol=5).dump(thing)
    return into.getvalue()


def read(entry: bytes) -> Any:
    """Return the plain data that `written` has made bytes of; raise `NotPlain` for anything else."""
    return _Reader(BytesIO(entry)).load()
