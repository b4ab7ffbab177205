"""Fourier transforms on the CPU device, by NumPy."""

from __future__ import annotations

from typing import Any

from numpy import fft as numpy_fft

from ...core.graph.library_calls.transforms import Transform

# The `norm` of a transform in one direction, by the `norm` with the same factor in the other.
_REVERSED_NORMS = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def fft(options: Transform, out: Any, x: Any) -> None:
    """Transform `x`. Of single precision, NumPy computes in double precision what has no factor."""
    kind, axes, sizes, inverse, _ = options
    norm: Any = _REVERSED_NORMS[options.norm] if inverse or kind == "c2r" else options.norm
    if kind == "c2r":
        for axis in axes[:-1]:
            x = numpy_fft.ifft(x, None, axis, norm)
        numpy_fft.irfft(x, sizes[-1], axes[-1], norm, out)
        return
    if kind == "r2c":
        numpy_fft.rfft(x, None, axes[-1], norm, out)
        x, axes = out, axes[:-1]
    transform = numpy_fft.ifft if inverse else numpy_fft.fft
    for axis in reversed(axes):
        transform(x, None, axis, norm, out)
        x = out
