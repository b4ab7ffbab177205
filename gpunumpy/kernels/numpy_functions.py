"""NumPy's own functions on the CPU device: library calls over whole arrays, in less time than kernels take."""

from __future__ import annotations

from typing import Any

import numpy

_MODES: tuple[Any, ...] = ("valid", "same", "full")
_BLOCK_BYTES = 1 << 14  # of packed bits


def convolve(options: tuple[Any, ...], out: Any, long: Any, short: Any) -> None:
    """Compute the discrete convolution of a sequence and one that is not longer."""
    (mode,) = options
    out[...] = numpy.convolve(long, short, _MODES[mode])


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


def partition(options: tuple[Any, ...], out: Any, x: Any, *kth: Any) -> None:
    """Partition every row at the positions `kth`; float16 as float32, for the reason that `kernels.sort.host` has."""
    if x.dtype == numpy.float16:
        out[...] = numpy.partition(x.astype(numpy.float32), kth)
    else:
        numpy.copyto(out, x)
        out.partition(kth)


def argpartition(options: tuple[Any, ...], out: Any, x: Any, *kth: Any) -> None:
    """Compute the positions that partition every row at the positions `kth`."""
    out[...] = numpy.argpartition(x.astype(numpy.float32) if x.dtype == numpy.float16 else x, kth)
