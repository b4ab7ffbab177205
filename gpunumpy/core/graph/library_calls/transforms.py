"""The record of "fft", and how a library lays transforms out: pure arithmetic over shapes and strides.

The call transforms a value along up to three axes, all points of them, without a factor.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy

from ...dtypes import DType
from ..layout import Layout, Shape
from ..primitives import LibraryCall
from ..signature import Signature
from .record import FloatingErrors, Implementation, Record, Results

_FACTORS = (2, 3, 5, 7)
_MOST_PLACES = 1 << 12  # executions of a plan: more take longer than any copy


class Transform(NamedTuple):
    """The options of the call "fft".

    Attributes
    ----------
    kind
        "c2c", "r2c" or "c2r": from and to complex or real numbers. Real numbers lie along the last of the axes, and
        what is complex has ``n // 2 + 1`` elements there. "c2r" of several axes may write over its source.
    axes
        In the order in which they lie in memory.
    sizes
        The points along each axis, more than one.
    inverse
        Whether the exponent is positive.
    """

    kind: str
    axes: tuple[int, ...]
    sizes: tuple[int, ...]
    inverse: bool


class Side(NamedTuple):
    """Where the elements of a batch are, in the source or in the result.

    Element ``(i, j, k)`` of transform b is ``b * distance + ((i * embed[1] + j) * embed[2] + k) * stride``.
    """

    embed: tuple[int, ...]
    stride: int
    distance: int


class Plan(NamedTuple):
    """A batch of equal transforms, as cuFFT's advanced data layout describes one."""

    kind: str
    sizes: tuple[int, ...]
    source: Side
    target: Side
    batch: int


class Passes(NamedTuple):
    """A plan, and where the source and the result of each of its executions begin, in elements."""

    plan: Plan
    places: tuple[tuple[int, int], ...]


@lru_cache(1 << 12)
def passes(options: Transform, source: Layout, target: Layout) -> Passes | None:
    """How a transform of one layout into another is executed; None where its axes cannot be described."""
    axes = options.axes
    first, second = (
        _embedding([where.shape[a] for a in axes], [where.strides[a] for a in axes]) for where in (source, target)
    )
    dims = _merged(
        [
            (n, s, t)
            for a, (n, s, t) in enumerate(zip(source.shape, source.strides, target.strides, strict=True))
            if a not in axes and n != 1
        ]
    )
    if first is None or second is None or any(s <= 0 for _, s, _ in dims):
        return None
    natural = (1, *(prod(embed) * stride for embed, stride in (first, second)))
    batch, *distances = max(dims, key=lambda dim: dim[0], default=natural)
    outer = [dim for dim in dims if dim != (batch, *distances)]
    if prod(n for n, *_ in outer) > _MOST_PLACES:
        return None
    plan = Plan(options.kind, options.sizes, Side(*first, distances[0]), Side(*second, distances[1]), batch)
    places = tuple(
        (
            source.offset + sum(i * s for i, (_, s, _) in zip(index, outer, strict=True)),
            target.offset + sum(i * t for i, (_, _, t) in zip(index, outer, strict=True)),
        )
        for index in itertools.product(*(range(n) for n, *_ in outer))
    )
    if options.kind != "c2c" and any(place[options.kind == "c2r"] % 2 for place in places):
        return None  # real numbers have to begin where a complex one could
    return Passes(plan, places)


def _embedding(sizes: Sequence[int], strides: Sequence[int]) -> tuple[tuple[int, ...], int] | None:
    """The sizes of an array that the elements are a corner of, and the step in it; None where there is none."""
    if strides[-1] <= 0:
        return None
    embed = [sizes[0]]
    for outer, inner, n in zip(strides, strides[1:], sizes[1:], strict=False):
        if outer % inner or outer // inner < n:
            return None
        embed.append(outer // inner)
    return tuple(embed), strides[-1]


def _merged(dims: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The dimensions of a batch (size, step in the source, step in the result), as few as possible."""
    merged: list[tuple[int, int, int]] = []
    for n, s, t in dims:
        if merged and merged[-1][1:] == (n * s, n * t):
            merged[-1] = (merged[-1][0] * n, s, t)
        else:
            merged.append((n, s, t))
    return merged


def is_smooth(n: int) -> bool:
    """Whether cuFFT has code for all factors of a size."""
    for factor in _FACTORS:
        while n % factor == 0:
            n //= factor
    return n == 1


def result_shape(options: Transform, shape: Shape) -> Shape:
    """The shape of the result for a source of `shape`."""
    made = list(shape)
    for axis, n in zip(options.axes, options.sizes, strict=True):
        made[axis] = n
    if options.kind == "r2c":
        made[options.axes[-1]] = options.sizes[-1] // 2 + 1
    return tuple(made)


# --- the record -----------------------------------------------------------------------------------------------------

_COMPLEX64, _COMPLEX128 = numpy.dtype(numpy.complex64), numpy.dtype(numpy.complex128)
_OTHER_DTYPE: dict[DType, DType] = {
    _COMPLEX64: numpy.dtype(numpy.float32),
    _COMPLEX128: numpy.dtype(numpy.float64),
    numpy.dtype(numpy.float32): _COMPLEX64,
    numpy.dtype(numpy.float64): _COMPLEX128,
}
_BATCH_BYTES = 1 << 16  # of the result and of the argument of a transform in a batch
_BATCH_POINTS = 2048  # of a real one


def _results(options: Transform, args: Sequence[Signature]) -> Results:
    (source,) = args
    dtype = source.dtype if options.kind == "c2c" else _OTHER_DTYPE[source.dtype]
    return ((result_shape(options, source.shape), dtype),)


def _is_small(made: Signature, args: Sequence[Signature]) -> bool:
    """Whether a transform is small, and in a batch is what it is alone.

    Of other sizes the rounding depends on how many there are, and pairs of real transforms of odd sizes are computed
    as one, so that NaNs of either are in both.
    """
    assert isinstance(made.primitive, LibraryCall)
    kind, axes, sizes, _ = Transform(*made.primitive.options)
    last = axes[0] == len(made.shape) - len(axes)
    alike = kind == "c2c" or (sizes[-1] % 2 == 0 and sizes[-1] <= _BATCH_POINTS)
    if kind == "c2r":
        alike &= prod(made.shape) == prod(sizes)  # where rows begin counts too
    small = all(prod(f.shape) * f.dtype.itemsize <= _BATCH_BYTES for f in (made, *args))
    return small and last and alike and all(map(is_smooth, sizes))


def _floating_errors(options: Transform, dtype: DType) -> FloatingErrors | None:
    """NumPy's name of a transform. A forward one in single precision is computed in double and cast."""
    if options.kind == "c2r" and len(options.axes) > 1:
        return None  # which may write over its source, so that nothing else must read that
    if not options.inverse and dtype == _COMPLEX64:
        return FloatingErrors("cast")
    if options.kind == "r2c":
        return FloatingErrors("rfft_n_odd" if options.sizes[-1] % 2 else "rfft_n_even")
    return FloatingErrors("irfft" if options.kind == "c2r" else "ifft" if options.inverse else "fft")


RECORDS = (
    Record(
        "fft",
        {
            "host": Implementation("kernels.fft.host:fft"),
            "cuda": Implementation(
                "nvlib.cufft:fft",
                batch="kernels.fft.cuda_batch:fft_batch",
                fused="kernels.fft.cuda_callbacks:fft_fused",
                fuses="kernels.fft.cuda_callbacks:fuses",
            ),
        },
        results=_results,
        reads_strides=True,
        is_small=_is_small,
        floating_errors=_floating_errors,
    ),
)
