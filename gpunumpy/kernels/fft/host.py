"""Fourier transforms of the CPU device, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy
from numpy import fft as theirs

from ...core.schedule.transforms import Transform


def fft(options: Transform, out: Any, x: Any) -> None:
    """The transform of `x`, without a factor."""
    kind, axes, sizes, inverse = options
    if kind == "c2r":
        for axis in axes[:-1]:
            x = theirs.ifft(x, None, axis, "forward")
        theirs.irfft(x, sizes[-1], axes[-1], "forward", out)
        return
    if kind == "r2c":
        theirs.rfft(x, None, axes[-1], None, out)
        x, axes = out, axes[:-1]
    for axis in reversed(axes):
        if inverse:
            theirs.ifft(x, None, axis, "forward", out)
        else:
            theirs.fft(x, None, axis, None, out)
        x = out


def fft_scaled(options: Transform, out: Any, x: Any, factor: Any) -> None:
    """The transform of `x`, multiplied with a real factor."""
    fft(options, out, x)
    parts = out.view(out.real.dtype)
    numpy.multiply(parts, parts.dtype.type(factor), parts)
