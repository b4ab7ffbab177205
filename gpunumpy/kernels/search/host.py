"""Searching in sorted values on the CPU device, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy


def searchsorted(options: tuple[Any, ...], out: Any, ordered: Any, values: Any) -> None:
    out[...] = numpy.searchsorted(ordered, values, options[0])
