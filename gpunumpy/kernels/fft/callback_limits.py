"""Measured limits within which fusing elementwise kernels into a transform makes it faster.

`benchmarks/fft_callbacks.py` measures them, and docs/performance/libraries.md tells. cuFFT has few kinds of kernels
that call callbacks, so a transform of several passes is often slower with them, as are all transforms outside of these
limits.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...core.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits within which a fused kernel makes a transform faster, by 5 % or more.

    "Points" are the points of a transform along an axis. A kernel "before" computes what the transform reads, a kernel
    "after" computes the result from what it writes.

    Attributes
    ----------
    gpu
        The GPU of the measurements.
    min_elements
        Fewest elements of all transforms of a call: a plan with callbacks takes tenths of a second to make, once.
    max_operations, max_arguments
        Most instructions and arguments of a kernel: beyond, its work takes longer than its element takes to arrive.
    one_pass, one_pass_strided
        Most points that cuFFT transforms in one pass: contiguous in memory, or not.
    one_pass_store
        Most points of a transform with a kernel after it that reads another array, if they are not a power of 2.
    slow_store
        Bytes of an element and points for which such a kernel is slower.
    slow_points
        Points for which every callback is slower, unlike for neighbouring numbers; the reason is unknown.
    axes, halved_axes
        Most points of an axis, by the number of axes; and the same with a kernel after a transform of real numbers.
    long_points, long_bytes
        Fewest points, or where the points are a power of 2 fewest bytes of real numbers, for which cuFFT computes the
        complex side of a real transform along one axis in a separate pass.
    short_before, short_after
        Most points of shorter real transforms (one pass where the points are a power of 2) with a kernel before or
        after, by kind and bytes of a real number.
    slow_after
        Points for which a kernel after such a transform is not faster.
    """

    gpu: str
    min_elements: int
    max_operations: int
    max_arguments: int
    one_pass: int
    one_pass_strided: int
    one_pass_store: int
    slow_store: tuple[int, int]
    slow_points: int
    axes: Mapping[int, int]
    halved_axes: Mapping[int, int]
    long_points: int
    long_bytes: int
    short_before: Mapping[tuple[str, int], int]
    short_after: Mapping[tuple[str, int], int]
    slow_after: Mapping[tuple[str, int], int]


# All GPUs use these limits until others are measured.
LIMITS = Limits(
    gpu="NVIDIA H200",
    min_elements=1 << 22,
    max_operations=24,
    max_arguments=10,
    one_pass=8192,
    one_pass_strided=512,
    one_pass_store=4096,
    slow_store=(8, 256),
    slow_points=768,
    axes={2: 1024, 3: 128},
    halved_axes={2: 256, 3: 64},
    long_points=1 << 16,
    long_bytes=1 << 16,
    short_before={("r2c", 4): 2048, ("r2c", 8): 8192, ("c2r", 4): 1024, ("c2r", 8): 512},
    short_after={("r2c", 4): 512, ("r2c", 8): 512, ("c2r", 4): 1024, ("c2r", 8): 256},
    slow_after={("r2c", 4): 256, ("r2c", 8): 128},
)
