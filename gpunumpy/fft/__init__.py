"""Discrete Fourier transforms, their frequencies, and the order of a spectrum."""

from __future__ import annotations

from ..functions.fallback import namespace
from .frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from .transforms import fft, fft2, fftn, hfft, ifft, ifft2, ifftn, ihfft, irfft, irfft2, irfftn, rfft, rfft2, rfftn

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

_host = namespace("numpy.fft")
__getattr__ = _host.__getattr__
__dir__ = _host.__dir__
