"""The record of "fft", and the mapping of arrays to cuFFT's data layouts: pure arithmetic over shapes and strides.

The call transforms a value along up to three axes, over all points of an axis; only the CPU device's has factors.
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
from .record import CutAxes, FloatingErrors, Implementation, Record, Results

_CUFFT_FACTORS = (2, 3, 5, 7)
_MAX_EXECUTIONS = 1 << 12  # of one plan for one call: more take longer than to copy the array into one layout


class Transform(NamedTuple):
    """The options of the call "fft".

    Attributes
    ----------
    kind
        "c2c", "r2c" or "c2r": complex to complex, real to complex, complex to real. On the complex side of the last
        two, the last of the axes has ``n // 2 + 1`` elements for ``n`` points. "c2r" of several axes may overwrite its
        source.
    axes
        The axes to transform, in memory order.
    sizes
        The points along each axis, more than one.
    inverse
        Whether the exponent is positive.
    norm
        The `norm` of a forward transform that has the factor of this one, whatever its direction: "backward" (none),
        "ortho" or "forward". Only calls of NumPy's functions have a factor.
    """

    kind: str
    axes: tuple[int, ...]
    sizes: tuple[int, ...]
    inverse: bool
    norm: str = "backward"


class Side(NamedTuple):
    """Positions of a batch's elements, in the source or in the result, in cuFFT's terms.

    Element ``(i, j, k)`` of transform b is at ``b * distance + ((i * embed[1] + j) * embed[2] + k) * stride``.
    """

    embed: tuple[int, ...]
    stride: int
    distance: int


class Plan(NamedTuple):
    """A batch of equal transforms, as cuFFT's advanced data layout describes it."""

    kind: str
    sizes: tuple[int, ...]
    source: Side
    target: Side
    batch: int


class Executions(NamedTuple):
    """A plan, and the offsets of source and result for each of its executions, in elements."""

    plan: Plan
    offsets: tuple[tuple[int, int], ...]


@lru_cache(1 << 12)
def plan_transform(options: Transform, source: Layout, target: Layout) -> Executions | None:
    """Return how to execute a transform between two layouts, or None if no plan describes them at a bearable cost."""
    axes = options.axes
    first, second = (
        _embedding([where.shape[a] for a in axes], [where.strides[a] for a in axes]) for where in (source, target)
    )
    batch_dims = _merged(
        [
            (n, s, t)
            for a, (n, s, t) in enumerate(zip(source.shape, source.strides, target.strides, strict=True))
            if a not in axes and n != 1
        ]
    )
    if first is None or second is None or any(s <= 0 for _, s, _ in batch_dims):
        return None
    single = (1, *(prod(embed) * stride for embed, stride in (first, second)))
    batch, *distances = max(batch_dims, key=lambda dim: dim[0], default=single)
    outer = [dim for dim in batch_dims if dim != (batch, *distances)]
    if prod(n for n, *_ in outer) > _MAX_EXECUTIONS:
        return None
    plan = Plan(options.kind, options.sizes, Side(*first, distances[0]), Side(*second, distances[1]), batch)
    offsets = tuple(
        (
            source.offset + sum(i * s for i, (_, s, _) in zip(index, outer, strict=True)),
            target.offset + sum(i * t for i, (_, _, t) in zip(index, outer, strict=True)),
        )
        for index in itertools.product(*(range(n) for n, *_ in outer))
    )
    if options.kind != "c2c" and any(place[options.kind == "c2r"] % 2 for place in offsets):
        return None  # cuFFT requires real data to be aligned like complex data
    return Executions(plan, offsets)


def _embedding(sizes: Sequence[int], strides: Sequence[int]) -> tuple[tuple[int, ...], int] | None:
    """Return cuFFT's `embed` and `stride`: the sizes of an array that contains the elements; None if there is none."""
    if strides[-1] <= 0:
        return None
    embed = [sizes[0]]
    for outer, inner, n in zip(strides, strides[1:], sizes[1:], strict=False):
        if outer % inner or outer // inner < n:
            return None
        embed.append(outer // inner)
    return tuple(embed), strides[-1]


def _merged(dims: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Merge adjacent dimensions (size, stride in the source, stride in the result) as far as possible."""
    merged: list[tuple[int, int, int]] = []
    for n, s, t in dims:
        if merged and merged[-1][1:] == (n * s, n * t):
            merged[-1] = (merged[-1][0] * n, s, t)
        else:
            merged.append((n, s, t))
    return merged


def is_smooth(n: int) -> bool:
    """Return whether a size has only prime factors that cuFFT has optimized code for."""
    for factor in _CUFFT_FACTORS:
        while n % factor == 0:
            n //= factor
    return n == 1


def result_shape(options: Transform, shape: Shape) -> Shape:
    """Return the shape of the result for a source of `shape`."""
    result = list(shape)
    for axis, n in zip(options.axes, options.sizes, strict=True):
        result[axis] = n
    if options.kind == "r2c":
        result[options.axes[-1]] = options.sizes[-1] // 2 + 1
    return tuple(result)


# --- the record -----------------------------------------------------------------------------------------------------

_COMPLEX64, _COMPLEX128 = numpy.dtype(numpy.complex64), numpy.dtype(numpy.complex128)
_OTHER_DTYPE: dict[DType, DType] = {
    _COMPLEX64: numpy.dtype(numpy.float32),
    _COMPLEX128: numpy.dtype(numpy.float64),
    numpy.dtype(numpy.float32): _COMPLEX64,
    numpy.dtype(numpy.float64): _COMPLEX128,
}
_BATCH_MAX_BYTES = 1 << 16  # of the argument, and of the result, of one transform in a batch
_BATCH_MAX_REAL_POINTS = 2048  # along the last axis of an "r2c" or "c2r" transform in a batch


def _results(options: Transform, args: Sequence[Signature]) -> Results:
    """Return one output in the same precision as the source."""
    (source,) = args
    dtype = source.dtype if options.kind == "c2c" else _OTHER_DTYPE[source.dtype]
    return ((result_shape(options, source.shape), dtype),)


def _is_worth_batching(call: Signature, args: Sequence[Signature]) -> bool:
    """Return whether a transform is small, and has the same bits in a batch as alone.

    cuFFT's rounding depends on the batch size unless the points have small prime factors only. It computes two real
    transforms of odd size as one complex transform, which spreads NaNs from either to both.
    """
    assert isinstance(call.primitive, LibraryCall)
    kind, axes, sizes, *_ = Transform(*call.primitive.options)
    axes_are_last = axes[0] == len(call.shape) - len(axes)
    same_bits = kind == "c2c" or (sizes[-1] % 2 == 0 and sizes[-1] <= _BATCH_MAX_REAL_POINTS)
    if kind == "c2r":
        same_bits &= prod(call.shape) == prod(sizes)  # one transform: the alignment of rows changes the bits too
    is_small = all(prod(s.shape) * s.dtype.itemsize <= _BATCH_MAX_BYTES for s in (call, *args))
    return is_small and axes_are_last and same_bits and all(map(is_smooth, sizes))


def _floating_errors(options: Transform, dtype: DType) -> FloatingErrors | None:
    """Return the name that NumPy's error message gives to a transform.

    NumPy computes a forward transform of single precision without a factor in double precision, so that its only error
    is the cast.
    """
    if options.kind == "c2r" and len(options.axes) > 1:
        return None  # the transform may overwrite its source, which a check for errors would have to read
    if not options.inverse and dtype == _COMPLEX64 and options.norm == "backward":
        return FloatingErrors("cast")
    if options.kind == "r2c":
        return FloatingErrors("rfft_n_odd" if options.sizes[-1] % 2 else "rfft_n_even")
    return FloatingErrors("irfft" if options.kind == "c2r" else "ifft" if options.inverse else "fft")


def _slabs(options: Transform, args: Sequence[Signature]) -> list[CutAxes | None]:
    return [None if axis in options.axes else (axis,) for axis in range(len(args[0].shape))]


def _passes(options: Transform) -> list[Transform]:
    """Return transforms along one axis each: real numbers are along the last axis, at the beginning or at the end."""
    kind, axes, sizes, *_ = options
    passes = [options._replace(kind="c2c", axes=(a,), sizes=(n,)) for a, n in zip(axes, sizes, strict=True)]
    passes[-1] = passes[-1]._replace(kind=kind)
    return passes if kind == "c2r" else passes[::-1]


RECORDS = (
    Record(
        "fft",
        {
            "host": Implementation("kernels.fft.host:fft"),
            "cuda": Implementation(
                "nvlib.cufft:fft",
                batch="kernels.fft.cuda_batch:fft_batch",
                run_fused="kernels.fft.cuda_callbacks:fft_fused",
                should_fuse="kernels.fft.cuda_callbacks:should_fuse",
            ),
        },
        results=_results,
        reads_strides=True,
        is_worth_batching=_is_worth_batching,
        floating_errors=_floating_errors,
        slabs=_slabs,
        passes=_passes,
    ),
)
