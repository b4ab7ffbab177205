"""CUDA C++ text to functions of a GPU: NVRTC through cuda.core, with its cache on disk and ours in memory.

Floating-point results are to be NumPy's, so multiplications and additions are not contracted unless `set_contraction`
says so, subnormals are kept, and division and square root are rounded right. Nothing is included from the toolkit.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from ...core.errors import DeviceError, allowed
from ...core.runtime.device import Device, check, driver
from ...core.source_location import warn

CACHE_BYTES = 1 << 29  # kept on disk; what was read longest ago goes first
_INSTALL = "install gpunumpy[cu13] or gpunumpy[cu12]"

_contraction = False
_modules: dict[tuple[Device, bool, str], Any] = {}
_functions: dict[tuple[Device, bool, str], dict[str, Any]] = {}
_lock = threading.RLock()


def set_contraction(enabled: bool) -> None:
    """Choose whether kernels compiled from now on may join ``a * b + c`` into one rounding.

    Parameters
    ----------
    enabled : bool
        False, the default, gives NumPy's results to the bit; True may be faster where arithmetic is the limit.
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
        raise DeviceError(f"NVRTC, the compiler of CUDA, cannot be loaded ({error}); {_INSTALL}") from error
    if status:
        raise DeviceError(f"NVRTC, the compiler of CUDA, does not start: {status.name}")
    return tuple(f"sm_{number}" for number in numbers)


def cache_folder() -> Path:
    """Return where compiled kernels are kept: ``GPUNUMPY_CACHE_DIR``, or a folder of the user's cache folder."""
    chosen = os.environ.get("GPUNUMPY_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "gpunumpy"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpunumpy"


@cache
def _tools() -> tuple[Any, Any, Any]:
    """Import cuda.core, which takes longer than everything else here, when the first kernel is compiled."""
    try:
        from cuda.core import Program, ProgramOptions
        from cuda.core.utils import FileStreamProgramCache
    except ImportError as error:
        raise DeviceError(f"gpunumpy needs cuda-core 1.0 or newer ({error}); {_INSTALL}") from error
    return Program, ProgramOptions, FileStreamProgramCache


@cache
def _disk(folder: Path) -> Any:
    """Open the cache on disk; None, with a warning, where the folder cannot be used."""
    open_cache = _tools()[2]
    try:
        return open_cache(folder, max_size_bytes=CACHE_BYTES)
    except OSError as error:
        _warn(folder, error)
        return None


def _warn(folder: Path, error: OSError) -> None:
    warn(
        f"compiled kernels cannot be kept in {folder} ({error}); set GPUNUMPY_CACHE_DIR to a folder that can",
        RuntimeWarning,
    )


def compile_cubin(text: str, arch: str) -> bytes:
    """Compile a program for an architecture; no GPU is needed.

    Parameters
    ----------
    text : str
        CUDA C++; the kernels are ``extern "C"``.
    arch : str
        One of `archs()`.

    Raises
    ------
    ValueError
        If the compiler does not know the architecture.
    DeviceError
        If the program does not compile; the text holds the compiler's log and the numbered source.
    """
    if arch not in archs():
        raise ValueError(f"NVRTC does not compile for {arch!r}; {allowed(archs())}")
    return _compile(text, arch, "cubin")


def compile_lto(text: str, arch: str) -> bytes:
    """Compile functions, for a library to link into its own kernels on a GPU of an architecture (LTO-IR)."""
    return _compile(text, _best(arch)[0].replace("compute", "sm"), "ltoir", link_time_optimization=True)


def _compile(text: str, arch: str, target: str, **options: Any) -> bytes:
    make_program, make_options, _ = _tools()
    folder = cache_folder()
    disk = _disk(folder)
    settings = make_options(arch=arch, std="c++17", fma=_contraction, name="gpunumpy", **options)
    program = make_program(text, "c++", settings)
    try:
        try:
            return bytes(program.compile(target, cache=disk).code)
        except OSError as error:  # of the cache: the disk is full, say
            _warn(folder, error)
            return bytes(program.compile(target).code)
    except Exception as error:  # cuda.core gives its compile errors no public class
        raise DeviceError(f"a kernel does not compile for {arch}: {error}\n{_numbered(text)}") from error
    finally:
        program.close()


def _numbered(text: str) -> str:
    return "\n".join(f"{number:4} | {line}" for number, line in enumerate(text.splitlines(), 1))


def _best(arch: str) -> tuple[str, str]:
    """Choose what to compile for a GPU: its own architecture, or the nearest that runs on it."""
    known = archs()
    if arch in known:
        return arch, "cubin"
    older = [one for one in known if int(one[3:]) < int(arch[3:])]
    if not older:
        raise DeviceError(f"the installed NVRTC is too new for {arch}; it knows {', '.join(known)}")
    newest = older[-1]
    if newest[:-1] == arch[:-1]:
        return newest, "cubin"  # machine code runs on later minor versions
    return newest.replace("sm", "compute"), "ptx"  # the driver translates it for what came after


def compile_program(text: str, entries: Iterable[str], device: Device) -> dict[str, Any]:
    """Return the functions of a program, compiled and loaded on a GPU.

    Parameters
    ----------
    text : str
        CUDA C++.
    entries : iterable of str
        The names of its ``extern "C"`` kernels.
    device : Device
        Where it is to run.

    Returns
    -------
    dict
        From each name to its CUfunction. A program that was seen before is found in memory, or else on disk.
    """
    key = (device, _contraction, text)
    functions = _functions.get(key)
    wanted = tuple(entries)
    if functions is None or not functions.keys() >= set(wanted):
        functions = _load(key, wanted)
    return {name: functions[name] for name in wanted}


def _load(key: tuple[Device, bool, str], entries: tuple[str, ...]) -> dict[str, Any]:
    device, _, text = key
    cuda = driver()
    module = _modules.get(key)
    image = None if module is not None else _compile(text, *_best(device.attributes.arch))
    # Compiling was done without the lock, so that threads compile different programs side by side.
    with _lock:
        device.activate()
        module = _modules.get(key)
        if module is None:
            module = _modules[key] = check(cuda.cuModuleLoadData(image))
        functions = {name: check(cuda.cuModuleGetFunction(module, name.encode())) for name in entries}
        functions = _functions[key] = {**_functions.get(key, {}), **functions}
        return functions
