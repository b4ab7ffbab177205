"""NumPy on NVIDIA GPUs: ``import gpunumpy as np``, and the same program runs there, fused into few kernels."""

from __future__ import annotations

from typing import Any

import numpy as _numpy

from . import fft, linalg, random
from ._version import __version__
from .core.array import ndarray
from .core.device import Device, default_device, devices, synchronize
from .core.errors import DeviceError, HostFallbackWarning
from .creation import *
from .fallback import host_fallback, lookup as _lookup, public as _public
from .names import *
from .ufunc import UFUNCS as _UFUNCS, ufunc

globals().update(_UFUNCS)

# Names of ours that NumPy does not have.
_OURS = ("Device", "DeviceError", "HostFallbackWarning", "bfloat16", "default_device", "devices", "host_fallback")
_OURS += ("synchronize",)
__all__ = [*_numpy.__all__, *_OURS]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    """Every public name of NumPy's is here: its constants and dtypes, and what no room above defines on the host."""
    found = globals()[name] = _lookup(_numpy, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_public(_numpy)})
