"""Binary search on the CPU device, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy


def searchsorted(options: tuple[Any, ...], out: Any, ordered: Any, values: Any) -> None:
    """Find the places of values in a sorted array; the option is the side of equal elements."""
    out[...] = numpy.searchsorted(ordered, values, options[0])
