"""Where a transform is faster with elementwise kernels in it: the table of what was measured.

`benchmarks/fft_callbacks.py` measures it, and docs/performance.md has the figures. cuFFT has few kinds of kernels that
call functions, so a transform of several passes is often slower with them; so is what the limits leave out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits within which a kernel less makes a transform faster, by a twentieth or more.

    Attributes
    ----------
    gpu
        What they were measured on.
    min_elements
        Of all transforms together: to make such a plan takes tenths of a second, once.
    max_operations, max_arguments
        Of a kernel: what takes longer than its element takes to arrive is not free.
    one_pass, one_pass_strided
        The most points that cuFFT transforms in one pass: next to each other in memory, or not.
    one_pass_store
        The most points, if they are no power of 2, of a transform with a kernel after it that reads another array.
    slow_store
        Bytes of an element and points for which such a kernel is slower.
    slow_points
        Points for which any function is slower, unlike their neighbours; why, we do not know.
    axes, halved_axes
        The longest of so many axes; and with a kernel after a transform of real numbers.
    long_points, long_bytes
        From where on the complex side of a real transform along one axis is a pass of its own: points, or bytes of
        real numbers where the points are a power of 2.
    short_before, short_after
        Of shorter such transforms, which are one pass where the points are a power of 2, the most points with a kernel
        before or after it, by kind and bytes of a real number.
    slow_after
        Points for which a kernel after such a transform is no faster.
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


# Other GPUs go by these too, until they are measured.
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
