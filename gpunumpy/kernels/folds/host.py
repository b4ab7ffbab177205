"""Folds of ufuncs on the CPU device, by the methods of NumPy's ufuncs."""

from __future__ import annotations

from typing import Any

from ...core.numpy_ufuncs import UFUNCS


def fold(options: tuple[Any, ...], out: Any, x: Any, *masks: Any) -> None:
    """Compute the left fold along an axis; the first element always takes part, the others where the mask is set."""
    op, _, axis = options
    reduce = UFUNCS[op].reduce
    if not masks:
        reduce(x, axis, out.dtype, out)
        return
    first, *_ = x.flat
    rest = (slice(None),) * axis + (slice(1, None),)
    reduce(x[rest], axis, out.dtype, out, initial=first, where=masks[0][rest])


def accumulate(options: tuple[Any, ...], out: Any, x: Any) -> None:
    """Compute the left folds of all prefixes of an axis."""
    op, _, axis = options
    UFUNCS[op].accumulate(x, axis, out.dtype, out)


def reduceat(options: tuple[Any, ...], out: Any, x: Any, starts: Any) -> None:
    """Compute the folds from each start to the next."""
    op, _, axis = options
    UFUNCS[op].reduceat(x, starts, axis, out.dtype, out)
