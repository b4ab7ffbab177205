"""Sequence patterns (``case [a, b]:``): which classes match them."""

from __future__ import annotations

from abc import ABCMeta

import numpy

_SEQUENCE_FLAG = 1 << 5  # Py_TPFLAGS_SEQUENCE


class _MatchedAsSequence(metaclass=ABCMeta):  # noqa: B024 - classes are only registered with it
    """Class whose registered classes match sequence patterns (``case [a, b]:``), as NumPy's arrays do since 2.5.

    Registration gives a class Python's flag for these patterns. `collections.abc.Sequence` would do so too, but NumPy's
    arrays are no instances of it.
    """

    __abc_tpflags__ = _SEQUENCE_FLAG


def match_as_sequence(cls: type) -> None:
    """Have the instances of a class match sequence patterns if NumPy's arrays do."""
    if numpy.ndarray.__flags__ & _SEQUENCE_FLAG:
        _MatchedAsSequence.register(cls)
