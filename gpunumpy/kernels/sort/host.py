"""Sorting on the CPU device, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy


def sort(options: tuple[Any, ...], out: Any, x: Any) -> None:
    """Every row in order, as a stable sort leaves it.

    Only zeros of two signs and NaNs of several kinds tell a stable sort of values from NumPy's quick one, which is ten
    times as fast for wide types; they are put in their order afterwards.
    """
    (descending,) = options
    numpy.copyto(out, x)
    out.sort(kind="stable" if x.itemsize < 4 and x.dtype.kind != "f" else None)
    if descending:
        out[...] = out[..., ::-1]
    if x.dtype.kind == "f":
        for alike in (lambda values: values == 0, numpy.isnan):
            places = alike(out)
            if places.any():
                out[places] = x[alike(x)]


def argsort(options: tuple[Any, ...], out: Any, x: Any) -> None:
    """The positions that sort every row; of the reversed row, counted from its end, in descending order."""
    (descending,) = options
    if descending:
        numpy.subtract(x.shape[-1] - 1, _stable_order(x[..., ::-1])[..., ::-1], out=out)
    else:
        out[...] = _stable_order(x)


def _stable_order(x: Any) -> Any:
    """The positions that sort every row, those of equal elements in their order.

    Of wide types NumPy's quick sort is so much faster than its stable one that it is worth to set it right: where some
    elements are equal, the numbers of the groups of equal ones, with the positions as their lower halves, are sorted.
    """
    if x.itemsize < 4 or x.shape[-1] >= 2**31:
        return x.argsort(kind="stable")
    order = x.argsort()
    ordered = numpy.take_along_axis(x, order, -1)
    left, right = ordered[..., :-1], ordered[..., 1:]
    differs = left != right
    if x.dtype.kind == "f":
        differs &= ~numpy.isnan(left)  # NaNs are at the end, and one group
    if differs.all():
        return order
    key = numpy.zeros(x.shape, numpy.int64)
    numpy.cumsum(differs, axis=-1, out=key[..., 1:])
    key <<= 32
    key |= order
    key.sort()
    key &= 2**32 - 1
    return key


def sort_upper(options: tuple[Any, ...], out: Any, x: Any) -> None:
    """Numbers of 64 bits, of which the lower halves are in order, by their upper halves."""
    out[...] = numpy.sort(x)
