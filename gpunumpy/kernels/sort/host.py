"""Stable sorts on the CPU device, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy


def sort(options: tuple[Any, ...], out: Any, x: Any) -> None:
    """Sort every row, with the result of a stable sort.

    For wide types NumPy's default sort is ten times as fast as its stable one. The results differ only in the order of
    zeros of both signs and of NaNs with different bits, which are put in their order afterwards. Floats in descending
    order are sorted by their negatives, so that NaN is last. float16 is sorted as float32: NumPy's default sort, up to
    2.5.5, leaves 100,000 small whole numbers of float16 out of order on processors with AVX-512.
    """
    (descending,) = options
    is_float = x.dtype.kind == "f"
    if descending and is_float:
        numpy.negative(x, out=out)
    else:
        numpy.copyto(out, x)
    if out.dtype == numpy.float16:
        out[...] = numpy.sort(out.astype(numpy.float32))
    else:
        out.sort(kind="stable" if x.itemsize < 4 else None)
    if descending:
        out[...] = -out if is_float else out[..., ::-1]
    if is_float:
        for is_alike in (lambda values: values == 0, numpy.isnan):
            tied = is_alike(out)
            if tied.any():
                out[tied] = x[is_alike(x)]


def argsort(options: tuple[Any, ...], out: Any, x: Any) -> None:
    """Compute the positions that sort every row.

    For descending order these are the positions that sort the negatives of floats, with NaN last. For other types they
    are those that sort the reversed row, reversed and counted from its end.
    """
    (descending,) = options
    if descending and x.dtype.kind == "f":
        out[...] = _stable_order(-x)
    elif descending:
        numpy.subtract(x.shape[-1] - 1, _stable_order(x[..., ::-1])[..., ::-1], out=out)
    else:
        out[...] = _stable_order(x)


def _stable_order(x: Any) -> Any:
    """Return the positions that sort every row, with equal elements in their original order.

    For wide types it is faster to correct NumPy's default sort than to use its stable one. If some elements are equal,
    keys are sorted whose upper half is the number of the group of equal elements, and whose lower half is the position.
    """
    if x.itemsize < 4 or x.shape[-1] >= 2**31:
        return x.argsort(kind="stable")
    order = x.argsort()
    ordered = numpy.take_along_axis(x, order, -1)
    left, right = ordered[..., :-1], ordered[..., 1:]
    is_new_group = left != right
    if x.dtype.kind == "f":
        is_new_group &= ~numpy.isnan(left)  # the NaNs, at the end, are one group
    if is_new_group.all():
        return order
    keys = numpy.zeros(x.shape, numpy.int64)
    numpy.cumsum(is_new_group, axis=-1, out=keys[..., 1:])
    keys <<= 32
    keys |= order
    keys.sort()
    keys &= 2**32 - 1
    return keys


def sort_upper(options: tuple[Any, ...], out: Any, x: Any) -> None:
    """Sort 64-bit numbers by their upper halves; the lower halves are already in order."""
    out[...] = numpy.sort(x)
