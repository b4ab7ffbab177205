# ruff: noqa: F401
"""NumPy on NVIDIA GPUs: ``import gpunumpy as np``, and the same program runs there, fused into few kernels."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any

import numpy as _numpy

from . import fft, linalg, random
from ._version import __version__
from .array_methods import asnumpy
from .array_namespace import __array_api_version__, __array_namespace_info__
from .calculus import *
from .core import attach as _attach  # the operators and methods of arrays
from .core.array import ndarray
from .core.device import Device, default_device, devices
from .core.errors import DeviceError, HostFallbackWarning
from .core.evaluate import synchronize
from .core.explain import explain
from .core.interop import from_dlpack
from .core.memory import free_all_blocks, memory_info, set_memory_limit
from .core.profile import profile
from .creation import *
from .distinct import *
from .docstrings import describe as _describe
from .editing import *
from .einsum import *
from .elementwise import (
    allclose,
    angle,
    array_equal,
    array_equiv,
    clip,
    fix,
    i0,
    imag,
    isclose,
    iscomplex,
    iscomplexobj,
    isneginf,
    isposinf,
    isreal,
    isrealobj,
    nan_to_num,
    real,
    real_if_close,
    round,
    sinc,
    unwrap,
)
from .fallback import host_fallback
from .fallback import lookup as _lookup
from .fallback import public as _public
from .floating_errors import *
from .histograms import *
from .indexing_elements import *
from .indexing_grids import *
from .joining import *
from .names import *
from .nanfunctions import *
from .padding import *
from .printing import *
from .products import *
from .products_stacked import *
from .quantiles import *
from .ranges import *
from .reduction import *
from .repeating import *
from .scans import *
from .searching import *
from .selection import *
from .sets import *
from .shape import *
from .sorting import *
from .statistics import *
from .strides import *
from .submodules import make_importable as _make_importable
from .ufunc import UFUNCS as _UFUNCS
from .ufunc import ufunc

globals().update(_UFUNCS)
around = round
_describe(globals(), _numpy)
_make_importable()

# Names of ours that NumPy does not have.
_OURS = (
    "Device",
    "DeviceError",
    "HostFallbackWarning",
    "asnumpy",
    "bfloat16",
    "default_device",
    "devices",
    "explain",
    "free_all_blocks",
    "host_fallback",
    "memory_info",
    "profile",
    "set_memory_limit",
    "synchronize",
)
__all__ = [*_numpy.__all__, *_OURS]


def __getattr__(name: str) -> Any:
    """Every public name of NumPy's is here: its constants and dtypes, and what no room above defines on the host."""
    found = _import_module(".testing", __name__) if name == "testing" else _lookup("numpy", name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_public("numpy")})
