"""Arrays from NumPy's files. What reads and writes other files runs through NumPy as it is."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.lib.npyio import NpzFile

from ..core.recording.residence import resident

__all__ = ["load"]


class _ArchiveOfArrays(NpzFile):
    """An open ``.npz`` file whose members are arrays of this package."""

    def __getitem__(self, key: str) -> Any:
        """Read a member: an array, or bytes if the file has something else under this name."""
        member = super().__getitem__(key)
        return resident(member) if isinstance(member, numpy.ndarray) else member


def load(
    file: Any,
    mmap_mode: Any = None,
    allow_pickle: Any = False,
    fix_imports: Any = True,
    encoding: Any = "ASCII",
    *,
    max_header_size: Any = 10_000,
) -> Any:
    """Load arrays from a ``.npy`` or ``.npz`` file, or an object from a pickle. See `numpy.load`.

    A file that is mapped into memory (`mmap_mode`) stays on the host, as NumPy's `memmap`. Functions of this package
    take it as an operand; if it is larger than half of the device's memory they read it part by part.
    """
    options = {"mmap_mode": mmap_mode, "allow_pickle": allow_pickle, "fix_imports": fix_imports, "encoding": encoding}
    loaded: Any = numpy.load(file, **options, max_header_size=max_header_size)
    if isinstance(loaded, NpzFile):
        loaded.__class__ = _ArchiveOfArrays
    return resident(loaded) if type(loaded) is numpy.ndarray else loaded
