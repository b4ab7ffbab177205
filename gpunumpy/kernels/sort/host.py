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
        _stable_order(-x, out)
    elif descending:
        _stable_order(x[..., ::-1], out)
        out[...] = x.shape[-1] - 1 - out[..., ::-1]
    else:
        _stable_order(x, out)


def _stable_order(x: Any, out: Any) -> None:
    """Compute the positions that sort every row, with equal elements in their original order.

    For wide types NumPy's sort of numbers, on vectors, takes a fraction of the time of its sorts of positions: keys are
    sorted that begin with the rank of an element, or as much of it as there is room for, and end with its position.
    """
    length = x.shape[-1]
    if x.itemsize < 4 or length >= 2**31 or not x.size:
        out[...] = x.argsort(kind="stable")
        return
    if x.size == length:
        x, out = x.reshape(-1), out.reshape(-1)
    position_bits = (length - 1).bit_length()
    position_mask = (1 << position_bits) - 1
    ranks = _ranks(x, out)
    if (ranks[..., :-1] <= ranks[..., 1:]).all():
        out[...] = numpy.arange(length)
        return
    low = ranks.min()
    key_bits = (int(ranks.max()) - int(low)).bit_length() + position_bits
    fits = key_bits <= 63
    keys = numpy.empty(x.shape, numpy.int32) if key_bits <= 31 else out
    if fits:
        numpy.subtract(ranks, low, out=keys, dtype=keys.dtype)
        keys <<= position_bits
    else:
        numpy.bitwise_and(ranks, ~position_mask, out=keys)
    keys |= numpy.arange(length, dtype=keys.dtype)
    keys.sort()
    numpy.bitwise_and(keys, position_mask, out=out)
    if not fits:
        _sort_by_lower_bits(out, ranks, ~position_mask)


def _ranks(x: Any, scratch: Any) -> Any:
    """Return signed integers of the size of the elements, in their order; all NaNs, at the end, are equal.

    The other array is written to: memory that is asked of the system takes longer than all that is done to it.
    """
    signed = numpy.dtype(f"i{x.itemsize}")
    limits = numpy.iinfo(signed)
    if x.dtype.kind == "u":
        return x.view(signed) ^ signed.type(limits.min)
    if x.dtype.kind != "f":
        return x
    ranks = (x + x.dtype.type(0)).view(signed)  # zeros of both signs are equal
    # The larger a negative number, the smaller are its bits but the sign.
    changed = scratch.reshape(-1).view(signed)[: x.size].reshape(x.shape)
    numpy.right_shift(ranks, limits.bits - 1, out=changed)
    changed &= limits.max
    ranks ^= changed
    ranks[numpy.isnan(x)] = limits.max
    return ranks


def _sort_by_lower_bits(order: Any, ranks: Any, upper_mask: int) -> None:
    """Change positions that sort rows by the upper bits of ranks into those that sort them by all bits."""
    ordered = _taken(ranks, order)
    is_wrong = ordered[..., :-1] > ordered[..., 1:]
    if not is_wrong.any():
        return
    if ranks.ndim > 1:
        rows = is_wrong.any(-1)
        order[rows] = _order_by_groups(ranks[rows])
        return
    ordered &= upper_mask
    is_alike = ordered[:-1] == ordered[1:]
    places = numpy.flatnonzero(numpy.append(is_alike, False) | numpy.append(False, is_alike))
    some = order[places]
    order[places] = some.take(_order_by_groups(ranks.take(some)))


def _order_by_groups(x: Any) -> Any:
    """Return the positions that sort every row of integers, by keys of the number of a group of equal elements."""
    order = x.argsort()
    ordered = _taken(x, order)
    keys = numpy.zeros(x.shape, numpy.int64)
    numpy.cumsum(ordered[..., :-1] != ordered[..., 1:], axis=-1, out=keys[..., 1:])
    keys <<= 32
    keys |= order
    keys.sort()
    keys &= 2**32 - 1
    return keys


def _taken(x: Any, order: Any) -> Any:
    """Return the elements of every row at positions of the row."""
    return x.take(order) if x.ndim == 1 else numpy.take_along_axis(x, order, -1)


def sort_upper(options: tuple[Any, ...], out: Any, x: Any) -> None:
    """Sort 64-bit numbers by their upper halves; the lower halves are already in order."""
    out[...] = numpy.sort(x)
