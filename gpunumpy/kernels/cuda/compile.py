"""Compilation of CUDA C++ text to functions of a GPU: NVRTC through cuda.core, with caches on disk and in memory.

Floating-point results must equal NumPy's results, so multiplications and additions are contracted only after
`set_contraction`, subnormals are kept, and division and square root are correctly rounded. Nothing is included from the
CUDA toolkit.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import cache
from typing import Any

from ...core.errors import DeviceError, allowed
from ...core.graph.bounded_table import ENTRY_BYTES, BoundedTable
from ...core.runtime.device import Device
from .disk_cache import INSTALL, cache_folder, cuda_core, open_cache, warn_unusable
from .module import Function, Module

_contraction = False
_modules: BoundedTable[tuple[Device, bool, str], Module] = BoundedTable()
_lock = threading.RLock()


def set_contraction(enabled: bool) -> None:
    """Choose whether kernels compiled from now on may contract ``a * b + c`` into one operation with one rounding.

    Parameters
    ----------
    enabled : bool
        False, the default, gives the same bits as NumPy; True may be faster where arithmetic is the limit.
    """
    global _contraction
    _contraction = bool(enabled)


def contraction() -> bool:
    """Return whether kernels are compiled with contraction."""
    return _contraction


@cache
def archs() -> tuple[str, ...]:
    """Return the architectures that the installed compiler knows, such as ``sm_90``, oldest first."""
    try:
        from cuda.bindings import nvrtc

        status, numbers = nvrtc.nvrtcGetSupportedArchs()
    except Exception as error:  # a missing library raises a class that differs between versions of cuda-bindings
        raise DeviceError(f"NVRTC, the compiler of CUDA, cannot be loaded ({error}); {INSTALL}") from error
    if status:
        raise DeviceError(f"NVRTC, the compiler of CUDA, does not start: {status.name}")
    return tuple(f"sm_{number}" for number in numbers)


def compile_cubin(text: str, arch: str) -> bytes:
    """Compile a program for an architecture; no GPU is needed.

    Parameters
    ----------
    text : str
        CUDA C++ whose kernels are ``extern "C"``.
    arch : str
        One of `archs()`.

    Raises
    ------
    ValueError
        If the compiler does not know the architecture.
    DeviceError
        If the program does not compile. The message has the compiler's log and the source with line numbers.
    """
    if arch not in archs():
        raise ValueError(f"NVRTC does not compile for {arch!r}; {allowed(archs())}")
    return _compile(text, arch, "cubin")


def compile_lto(text: str, arch: str) -> bytes:
    """Compile device functions to LTO-IR, which a library links into its own kernels on a GPU of this architecture."""
    return _compile(text, _compile_target(arch)[0].replace("compute", "sm"), "ltoir", link_time_optimization=True)


def _compile(text: str, arch: str, target: str, **options: Any) -> bytes:
    """Compile a program, or read it from the cache on disk. `target` is "cubin", "ptx" or "ltoir"."""
    make_program, make_options, _ = cuda_core()
    folder = cache_folder()
    disk = open_cache(folder)
    settings = make_options(arch=arch, std="c++17", fma=_contraction, name="gpunumpy", **options)
    program = make_program(text, "c++", settings)
    try:
        try:
            return bytes(program.compile(target, cache=disk).code)
        except OSError as error:  # from the cache, for example if the disk is full
            warn_unusable(folder, str(error))
            return bytes(program.compile(target).code)
    except Exception as error:  # cuda.core has no public class for compile errors
        raise DeviceError(f"a kernel does not compile for {arch}: {error}\n{_with_line_numbers(text)}") from error
    finally:
        program.close()


def _with_line_numbers(text: str) -> str:
    return "\n".join(f"{number:4} | {line}" for number, line in enumerate(text.splitlines(), 1))


def _compile_target(arch: str) -> tuple[str, str]:
    """Return the architecture and the kind of code to compile for a GPU: its own, or the newest that runs on it."""
    known = archs()
    if arch in known:
        return arch, "cubin"
    older = [other for other in known if int(other[3:]) < int(arch[3:])]
    if not older:
        raise DeviceError(f"the installed NVRTC is too new for {arch}; it knows {', '.join(known)}")
    newest = older[-1]
    if newest[:-1] == arch[:-1]:
        return newest, "cubin"  # machine code runs on later minor versions
    return newest.replace("sm", "compute"), "ptx"  # the driver translates it for newer architectures


def compile_program(text: str, entries: Iterable[str], device: Device) -> dict[str, Function]:
    """Compile a program, load it on a GPU and return its functions.

    A program that was compiled before is found in memory, or on disk.

    Parameters
    ----------
    text : str
        CUDA C++.
    entries : iterable of str
        The names of its ``extern "C"`` kernels.
    device : Device
        The GPU.

    Returns
    -------
    dict
        The function of each name.
    """
    key = (device, _contraction, text)
    module = _modules.find(key) or _load(key)
    return {name: module.function(name) for name in entries}


def _load(key: tuple[Device, bool, str]) -> Module:
    """Compile and load a program."""
    device, _, text = key
    image = _compile(text, *_compile_target(device.attributes.arch))
    # The lock is taken after compiling, so that threads can compile different programs at the same time.
    with _lock:
        module = _modules.find(key)
        if module is None:
            device.activate()
            size = 1 + (len(text) + len(image)) // ENTRY_BYTES
            module = _modules.keep(key, Module(device, image), size)
        return module
