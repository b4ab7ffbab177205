"""Moving, picking and replacing elements on the CPU device, by NumPy."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy

from ..host.text import failures


def roll(options: tuple[Any, ...], out: Any, x: Any) -> None:
    """Blocks of `x` moved along every axis by that many places, each less than the axis is long."""
    for to, start in _moves(options, x.shape):
        out[to] = x[start]


@lru_cache(maxsize=1024)
def _moves(shifts: tuple[int, ...], shape: tuple[int, ...]) -> list[tuple[tuple[slice, ...], ...]]:
    """Where every block of a rolled array goes, and where it comes from."""
    halves = [
        [(slice(s, None), slice(0, n - s)), (slice(0, s), slice(n - s, None))] if s else [(slice(None), slice(None))]
        for s, n in zip(shifts, shape, strict=True)
    ]
    return [tuple(zip(*block, strict=True)) for block in product(*halves)]


def scatter(options: tuple[Any, ...], out: Any, value: Any, *rest: Any) -> None:
    """``out[indices] = value``, or ``row.at(out, indices, value)``; nothing is written if an index is out of bounds."""
    _, op, _ = options
    *indices, source_location = rest
    try:
        if op:
            function = getattr(numpy, op)
            # NumPy's quick loop for one index array reads past the end of values that broadcast.
            shape = numpy.broadcast_shapes(*(i.shape for i in indices)) + out.shape[len(indices) :]
            operands = (numpy.broadcast_to(value, shape),) if function.nin == 2 else ()
            function.at(out, tuple(indices), *operands)
        else:
            out[tuple(indices)] = value
    except IndexError as error:
        failures.append((str(error), source_location))


def mask_offsets(options: tuple[Any, ...], out: Any, mask: Any) -> None:
    """How many elements the tiles before each one pick; here the total alone, since NumPy needs no tiles."""
    out[:-1] = 0
    out[-1] = numpy.count_nonzero(mask)


def mask_positions(options: tuple[Any, ...], out: Any, mask: Any, offsets: Any) -> None:
    out[...] = numpy.flatnonzero(mask)


def mask_elements(options: tuple[Any, ...], out: Any, values: Any, mask: Any, offsets: Any) -> None:
    numpy.compress(mask, values, out=out)
