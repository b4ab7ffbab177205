"""Fourier transforms, convolution and image subtraction beside their peers: docs/performance/libraries.md.

Run on a machine with a GPU: ``python benchmarks/fft.py [--only NAME;NAME] [--peers gpunumpy,CuPy]``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf
from typing import Any

from beside import Row, main, normal

from gpunumpy.demo import load

N = 1 << 26
SIZE = 4096
MANY = 100
HOST_BOUND = {"CuPy": 0.5, "torch": 0.5}
NO_GOAL = {"CuPy": inf, "torch": inf}
BEST = {"CuPy": 1.02, "torch": 1.02, "jax.jit": 1.02}


def along(axis: int) -> Callable[[Any, Any], Any]:
    """`fft` along an axis, which PyTorch calls `dim`."""
    return lambda xp, a: xp.fft.fft(a, None, axis)


def many(xp: Any, *arrays: Any) -> Any:
    """One transform of each array, as a program has them that looks at none of the results meanwhile."""
    return tuple([xp.fft.fft(a) for a in arrays])


def fft2(xp: Any, a: Any) -> Any:
    return xp.fft.fft2(a)


def rfft(xp: Any, a: Any) -> Any:
    return xp.fft.rfft(a)


def convolved(xp: Any, x: Any, h: Any) -> Any:
    return xp.fft.irfft(xp.fft.rfft(x) * h)


@cache
def example(library: str) -> Any:
    return load("image_subtraction", library)


def subtracted(xp: Any, earlier: Any, later: Any) -> Any:
    return example(xp.__name__).subtract(earlier, later, 2)[0]


def exposures() -> tuple[Any, ...]:
    """The two images of the example, made by CuPy for the sake of speed."""
    import cupy

    return tuple(cupy.asnumpy(x) for x in example("cupy").exposures(SIZE))


def data(*shapes: tuple[int, ...], dtype: str) -> Callable[[], tuple[Any, ...]]:
    return lambda: tuple(normal(*shape, dtype=dtype) for shape in shapes)


def filtered() -> tuple[Any, ...]:
    return normal(N), normal(N // 2 + 1, dtype="complex64")


ROWS = (
    *(
        Row(f"fft of {n:,} complex64, {MANY} in a row", many, data(*[(n,)] * MANY, dtype="complex64"), HOST_BOUND, MANY)
        for n in (1024, 8192)
    ),
    Row("fft of 1,024 complex64, each computed at once", along(-1), data((1024,), dtype="complex64"), NO_GOAL),
    *(
        Row(f"fft along axis {axis} of 512^3 complex64", along(axis), data((512, 512, 512), dtype="complex64"), BEST)
        for axis in range(3)
    ),
    Row("fft2 of 4096^2 complex128", fft2, data((SIZE, SIZE), dtype="complex128"), BEST),
    Row("rfft of 2^26 float32", rfft, data((N,), dtype="float32"), BEST),
    Row("rfft of 65,536 x 1,024 float32", rfft, data((1 << 16, 1024), dtype="float32"), BEST),
    Row("irfft(rfft(x) * h), 2^26 float32", convolved, filtered, {"CuPy": 0.8}),
    Row("image subtraction, two of 4096^2", subtracted, exposures, {"CuPy": 0.6}),
)

if __name__ == "__main__":
    main(__doc__, ROWS)
