"""Discrete Fourier transforms, their frequencies, and the order of a spectrum: the namespace of `numpy.fft`."""

import numpy.fft as _numpy_fft

from ..functions.docstrings import show_in as _show_in
from ..functions.every_dtype import take_every_dtype as _take_every_dtype
from ..functions.fallback import namespace as _namespace
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

globals().update(_take_every_dtype(globals(), _numpy_fft))
_show_in(__name__, globals())
__getattr__ = _namespace("numpy.fft").__getattr__


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
