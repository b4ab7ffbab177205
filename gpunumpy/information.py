"""``python -m gpunumpy info``: the versions, devices and libraries here, and what to install."""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from ._version import __version__
from .configuration import describe, describe_core, describe_gil
from .core.disk_cache import cache_folder, why_unsafe
from .core.extras import install_command
from .core.runtime.device import devices, why_no_gpu
from .core.runtime.evaluate import usable_default
from .kernels.cuda.precompiled import FOLDER, compilers

# The purpose of each distribution, and its names: for CUDA 13 (or any version), and for CUDA 12.
_LIBRARIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("CUDA driver interface", ("cuda-bindings",)),
    ("compiler (NVRTC)", ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12")),
    ("library interface", ("nvmath-python",)),
    ("matrix products (cuBLAS)", ("nvidia-cublas", "nvidia-cublas-cu12")),
    ("Fourier transforms (cuFFT)", ("nvidia-cufft", "nvidia-cufft-cu12")),
    ("linear algebra (cuSOLVER)", ("nvidia-cusolver", "nvidia-cusolver-cu12")),
    ("random numbers (cuRAND)", ("nvidia-curand", "nvidia-curand-cu12")),
    ("sparse matrices (cuSPARSE)", ("nvidia-cusparse", "nvidia-cusparse-cu12")),
    ("tensor contractions (cuTENSOR)", ("cutensor-cu13", "cutensor-cu12")),
)
# What `gpunumpy.scipy` calls.
_OF_SCIPY = (("SciPy", ("scipy",)), ("SciPy's functions on GPUs", ("cupy-cuda13x", "cupy-cuda12x", "cupy")))


def info() -> list[str]:
    """Return the lines of the command ``info``: versions, devices, libraries and what to install."""
    driver = _driver_version()
    lines = [
        _line("gpunumpy", __version__),
        _line("Python", f"{platform.python_version()} on {platform.platform()}"),
        *(_line(name, _installed((name,)) or "missing") for name in ("numpy", "ml_dtypes")),
        _line("core", describe_core()),
        _line("GIL", describe_gil()),
        _line("CUDA driver", f"for CUDA {driver[0]}.{driver[1]} and older" if driver else "missing"),
    ]
    lines += [_line(str(device), describe(device)) for device in devices()]

    installed = {use: _installed(packages) for use, packages in _LIBRARIES}
    lines += [_line(use, text or "missing") for use, text in installed.items()]
    lines += [_line(use, _installed(packages) or "missing") for use, packages in _OF_SCIPY]
    unsafe = why_unsafe(cache_folder())
    lines.append(_line("kernels of the package", _fixed_kernels(installed["compiler (NVRTC)"])))
    lines.append(_line("cache of compiled kernels", f"{cache_folder()}{f' (not used: {unsafe})' if unsafe else ''}"))
    lines += _advice(driver, [use for use, text in installed.items() if not text])
    device = usable_default()
    return [*lines, "", f"Programs run on {device} here: {describe(device)}."]


def _line(name: str, text: str) -> str:
    return f"{name:32}{text}"


def _installed(packages: Sequence[str]) -> str | None:
    """Return name and version of the first distribution that is installed, or None."""
    for package in packages:
        try:
            return f"{package} {version(package)}"
        except PackageNotFoundError:
            continue
    return None


def _fixed_kernels(compiler: str | None) -> str:
    """Return what the package holds compiled, and whether it is for the installed compiler."""
    found = compilers(FOLDER)
    if not found:
        return "none is compiled: each is when it is first needed"
    texts = [
        f"{max(archs.values())} programs by NVRTC {major}.{minor} for {', '.join(archs)}"
        for (major, minor), archs in sorted(found.items())
    ]
    words = (compiler or "").split(" ")[-1].split(".")
    is_used = len(words) > 1 and (int(words[0]), int(words[1])) in found
    return "; ".join(texts) + ("" if is_used or not compiler else f" (not used: {compiler} is another)")


def _driver_version() -> tuple[int, int] | None:
    """Return the newest version of CUDA that the driver supports, or None without a driver.

    The driver's library is called directly, as the Python packages for CUDA may be missing.
    """
    try:
        library = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
    except OSError:
        return None
    number = ctypes.c_int()
    if library.cuDriverGetVersion(ctypes.byref(number)) != 0:
        return None
    return number.value // 1000, number.value % 1000 // 10


def _advice(driver: tuple[int, int] | None, missing: Sequence[str]) -> list[str]:
    """Return lines that say how to make a GPU usable; none if a GPU is used and no library is missing."""
    reason = why_no_gpu()
    lines = ["", f"No GPU is used: {reason}"] if reason else []
    if driver is None:
        lines.append("For a GPU, install NVIDIA's driver: https://www.nvidia.com/drivers")
    if missing:
        extra = "cu12" if driver and driver < (13, 0) else "cu13"
        lines.append(f"For {', '.join(missing)}: {install_command(extra)}")
    return lines
