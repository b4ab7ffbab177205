"""Fourier transforms on the CPU device, by NumPy."""

from __future__ import annotations

from typing import Any

from numpy import fft as numpy_fft

from ...core.graph.library_calls.transforms import Transform


def fft(options: Transform, out: Any, x: Any) -> None:
    """Transform `x` without a factor."""
    kind, axes, sizes, inverse = options
    if kind == "c2r":
        for axis in axes[:-1]:
            x = numpy_fft.ifft(x, None, axis, "forward")
        numpy_fft.irfft(x, sizes[-1], axes[-1], "forward", out)
        return
    if kind == "r2c":
        numpy_fft.rfft(x, None, axes[-1], None, out)
        x, axes = out, axes[:-1]
    for axis in reversed(axes):
        if inverse:
            numpy_fft.ifft(x, None, axis, "forward", out)
        else:
            numpy_fft.fft(x, None, axis, None, out)
        x = out
