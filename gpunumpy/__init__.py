# ruff: noqa: F401
"""NumPy on NVIDIA GPUs: with ``import gpunumpy as np`` a NumPy program runs on the GPU, fused into few kernels."""

from types import ModuleType as _ModuleType
from typing import Any as _Any

from .core.collector import imports_without_collector as _imports_without_collector

with _imports_without_collector():
    import numpy as _numpy

    from . import linalg, random
    from ._version import __version__
    from .arrays import binding as _binding  # binds the operators and methods of arrays
    from .arrays.exchange import from_dlpack
    from .arrays.methods import _restored, asnumpy
    from .arrays.namespace_info import __array_api_version__, __array_namespace_info__
    from .arrays.printing import *
    from .core.errors import DeviceError, HostFallbackWarning, PerformanceWarning
    from .core.late_imports import import_late as _import_late
    from .core.recording.array import ndarray
    from .core.recording.residence import set_residence
    from .core.runtime.device import Device, default_device, devices
    from .core.runtime.evaluate import synchronize
    from .core.runtime.memory import free_all_blocks, memory_info, set_memory_limit
    from .functions import ctypes_arrays as _ctypes_arrays
    from .functions import iterators as _iterators
    from .functions import matrix_texts as _matrix_texts
    from .functions import old_names as _old_names
    from .functions.bits import *
    from .functions.calculus import *
    from .functions.creation import axis_concatenators as _axis_concatenators
    from .functions.creation.arrays import *
    from .functions.creation.ranges import *
    from .functions.creation.windows import *
    from .functions.docstrings import describe as _describe
    from .functions.docstrings import show_in as _show_in
    from .functions.dtype_functions import *
    from .functions.every_dtype import take_every_dtype as _take_every_dtype
    from .functions.fallback import host_fallback
    from .functions.fallback import lookup as _lookup
    from .functions.files import *
    from .functions.functional import *
    from .functions.indexing.elements import *
    from .functions.indexing.grids import *
    from .functions.indexing.selection import *
    from .functions.interpolation import *
    from .functions.manipulation.insert_delete import *
    from .functions.manipulation.joining import *
    from .functions.manipulation.padding import *
    from .functions.manipulation.repeating import *
    from .functions.manipulation.shape import *
    from .functions.manipulation.strides import *
    from .functions.products.einsum import *
    from .functions.products.stacked import *
    from .functions.products.tensor_products import *
    from .functions.reductions.reductions import *
    from .functions.reductions.scans import *
    from .functions.sets.operations import *
    from .functions.sets.unique import *
    from .functions.sorting.searching import *
    from .functions.sorting.sort import *
    from .functions.statistics.averages import *
    from .functions.statistics.correlation import *
    from .functions.statistics.histograms import *
    from .functions.statistics.nanfunctions import *
    from .functions.statistics.quantiles import *
    from .functions.ufuncs import python_ufunc as _python_ufunc
    from .functions.ufuncs import scimath as _scimath
    from .functions.ufuncs.elementwise import (
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
    from .functions.ufuncs.errstate import *
    from .functions.ufuncs.ufunc import UFUNCS as _UFUNCS
    from .functions.ufuncs.ufunc import ufunc
    from .polynomial.legacy import *
    from .submodules import make_importable as _make_importable

    globals().update(_UFUNCS)
    around = round
    globals().update(_take_every_dtype(globals(), _numpy))
    _describe(globals(), _numpy)
    _show_in(__name__, {name: x for name, x in globals().items() if not name.startswith("_") or x is _restored})
    _show_in(linalg.__name__, vars(linalg))
    _make_importable()

# Public names that NumPy does not have.
_ADDED_NAMES = (
    "Device",
    "DeviceError",
    "HostFallbackWarning",
    "PerformanceWarning",
    "asnumpy",
    "bfloat16",
    "cuda",
    "default_device",
    "devices",
    "float4_e2m1fn",
    "float8_e4m3fn",
    "float8_e5m2",
    "free_all_blocks",
    "host_fallback",
    "memory_info",
    "set_memory_limit",
    "set_residence",
    "synchronize",
)
# Public names whose modules are loaded on first access. CuPy has all but the first three, too.
_LATE_NAMES = {
    "show_config": ".configuration",
    **{name: f".core.runtime.{name}" for name in ("explain", "profile")},
    "ElementwiseKernel": ".custom.elementwise",
    "ReductionKernel": ".custom.reduction",
    **dict.fromkeys(("RawKernel", "RawModule"), ".custom.raw"),
    **dict.fromkeys(
        (
            *("clear_memo", "fuse", "get_array_module", "memoize"),
            *("scatter_add", "scatter_max", "scatter_min"),
        ),
        ".custom.cupy_names",
    ),
    **dict.fromkeys(("get_default_memory_pool", "get_default_pinned_memory_pool"), ".cuda.memory"),
    **dict.fromkeys(("empty_like_pinned", "empty_pinned", "zeros_like_pinned", "zeros_pinned"), ".cuda.pinned"),
    **dict.fromkeys(("Event", "Stream"), ".cuda.stream"),
    "graph": ".cuda.graph",
    "is_available": ".cuda.runtime",
}
# NumPy lists its old module `core`; the folder of that name here is an internal layer.
__all__ = sorted({*_numpy.__all__, *_ADDED_NAMES, *_LATE_NAMES} - {"core"})

# Modules of this package, of NumPy's names and one of CuPy's; loaded on first access.
_LAZY_MODULES = ("cuda", "fft", "ma", "testing", "typing")
# What IPython calls for ``%load_ext gpunumpy``.
_IPYTHON_NAMES = ("load_ipython_extension", "unload_ipython_extension")


def __getattr__(name: str) -> _Any:
    """Return a NumPy name that no import above defines: a constant, a dtype, or a function that runs on the host."""
    if name in _LAZY_MODULES:
        value = _import_late(f".{name}", __name__)
    elif name in _IPYTHON_NAMES:
        value = getattr(_import_late(".scripts.notebook", __name__), name)
    elif name in _LATE_NAMES:
        value = getattr(_import_late(_LATE_NAMES[name], __name__), name)
        _show_in(__name__, {name: value})
    else:
        value = _lookup("numpy", name)
        _describe({name: value}, _numpy)
        _show_in(__name__, {name: value})
    if name in __all__ or isinstance(value, _ModuleType):  # of others NumPy warns each time
        globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names only."""
    return __all__
