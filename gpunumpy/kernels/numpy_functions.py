"""NumPy's own functions on the CPU device: library calls over whole arrays, in less time than kernels take."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy

_MODES: tuple[Any, ...] = ("valid", "same", "full")
_BLOCK_BYTES = 1 << 14  # of packed bits


def correlate(options: tuple[Any, ...], out: Any, long: Any, short: Any) -> None:
    """Sum the products of a sequence that is not longer with each window of another."""
    (mode,) = options
    out[...] = numpy.convolve(long, short[::-1], _MODES[mode])


def packbits(options: tuple[Any, ...], out: Any, x: Any) -> None:
    """Pack truth values along an axis into the bits of bytes."""
    axis, bitorder = options
    out[...] = numpy.packbits(x, axis, bitorder)


def unpackbits(options: tuple[Any, ...], out: Any, x: Any) -> None:
    """Unpack the bits of bytes along an axis, of which the output says how many are wanted."""
    axis, bitorder = options
    if x.ndim > 1 or len(out) > 8 * len(x):
        out[...] = numpy.unpackbits(x, axis, out.shape[axis], bitorder)
        return
    for k in range(0, len(out), 8 * _BLOCK_BYTES):  # what NumPy returns of a block is copied from the cache
        bits = out[k : k + 8 * _BLOCK_BYTES]
        bits[...] = numpy.unpackbits(x[k // 8 : k // 8 + _BLOCK_BYTES], 0, len(bits), bitorder)


def place(options: tuple[Any, ...], out: Any, x: Any, mask: Any, values: Any) -> None:
    """Copy an array, and write values, repeated in order, to the elements for which a mask is true."""
    numpy.copyto(out, x)
    numpy.place(out, mask, values)


def putmask(options: tuple[Any, ...], out: Any, x: Any, mask: Any, values: Any) -> None:
    """Copy an array, and write elements of values, which are repeated to its size, where a mask is true."""
    numpy.copyto(out, x)
    numpy.putmask(out, mask, values)


def isin(options: tuple[Any, ...], out: Any, x: Any, tests: Any) -> None:
    """Find for every element whether it is among others."""
    out[...] = numpy.isin(x, tests)


def interp(options: tuple[Any, ...], out: Any, x: Any, points: Any, samples: Any, left: Any, right: Any) -> None:
    """Interpolate linearly between sample points, with a value beyond either end."""
    out[...] = numpy.interp(x, points, samples, left.item(), right.item())


def repeat(options: tuple[Any, ...], out: Any, x: Any) -> None:
    """Copy an array once for each time that its elements are repeated along an axis."""
    (axis,) = options
    times = out.shape[axis] // x.shape[axis]
    runs = out.reshape(*x.shape[: axis + 1], times, *x.shape[axis + 1 :])
    for k in range(times):
        runs[(slice(None),) * (axis + 1) + (k,)] = x


def partition(options: tuple[Any, ...], out: Any, x: Any, *kth: Any) -> None:
    """Partition every row at the positions `kth`; float16 as float32, for the reason that `kernels.sort.host` has."""
    positions = numpy.concatenate([numpy.ravel(k) for k in kth])
    if x.dtype == numpy.float16:
        out[...] = numpy.partition(x.astype(numpy.float32), positions)
    else:
        numpy.copyto(out, x)
        out.partition(positions)


def argpartition(options: tuple[Any, ...], out: Any, x: Any, *kth: Any) -> None:
    """Compute the positions that partition every row at the positions `kth`."""
    out[...] = numpy.argpartition(x.astype(numpy.float32) if x.dtype == numpy.float16 else x, kth)


def pad(options: tuple[Any, ...], out: Any, x: Any) -> None:
    """Copy an array into the middle of the output, and then borders of its elements along one axis after the other."""
    widths, mode = options
    inside = tuple(slice(before, before + n) for (before, _), n in zip(widths, x.shape, strict=True))
    out[inside] = x
    for k, width in enumerate(widths):
        rows = numpy.moveaxis(out[(slice(None),) * (k + 1) + inside[k + 1 :]], k, 0)
        for border, source in _borders(x.shape[k], width, mode):
            rows[border] = rows[source]


@lru_cache(maxsize=1024)
def _borders(n: int, width: tuple[int, int], mode: Any) -> list[tuple[slice, Any]]:
    """Return, for each border along an axis of `n` elements, its place and the positions that it is copied from."""
    before, after = width
    places = [slice(0, before), slice(before + n, before + n + after)]
    return [
        (place, before + _SOURCES[mode](numpy.arange(place.start - before, place.stop - before), n))
        for place in places
        if place.start < place.stop
    ]


def _mirrored(position: Any, n: int, repeated: int) -> Any:
    """Return positions in an array of `n` elements that is mirrored, its end elements `repeated` more times."""
    period = max(2 * (n - 1 + repeated), 1)
    position = position % period
    return numpy.minimum(position, period - repeated - position) if n > 1 else position * 0


# The position of the element that a border has at a position outside of an array of `n` elements.
_SOURCES: dict[str, Callable[[Any, int], Any]] = {
    "edge": lambda position, n: position.clip(0, n - 1),
    "wrap": lambda position, n: position % n,
    "reflect": lambda position, n: _mirrored(position, n, 0),
    "symmetric": lambda position, n: _mirrored(position, n, 1),
}
