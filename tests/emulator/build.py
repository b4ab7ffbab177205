"""From CUDA text to a loaded shared library, by way of g++, a precompiled header and a cache on disk."""

from __future__ import annotations

import ctypes
import functools
import getpass
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

SHIM = Path(__file__).parent / "shim"

# Contraction and reordering would change the bits. Signed overflow wraps, as on the device. The two sanitizers trap
# on a misaligned vector access and on an index outside an array of known size.
_KERNEL_FLAGS = (
    *("-std=gnu++17", "-O1", "-fPIC", "-w", "-DGPUNUMPY_HOST"),
    *("-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-fno-math-errno", "-fno-exceptions"),
    *("-fsanitize=alignment,bounds", "-fsanitize-undefined-trap-on-error"),
)
_RUNTIME_FLAGS = ("-std=c++17", "-O2", "-fPIC", "-shared", "-Wall", "-Werror", "-fno-exceptions")

_DYNAMIC_SHARED = re.compile(r"\bextern\s+__shared__\s+(?:__align__\s*\([^)]*\)\s*)?([^;\[\]]*?)\b(\w+)\s*\[\s*\]\s*;")
_ENTRY_LINKAGE = re.compile(r'\bextern\s+"C"(?!\s*\{)')
# A library that needs none of these functions of the runtime never waits: its threads need no stacks of their own.
_WAITS = re.compile(rb"_ZN8emulator\d+(barrier|exchange|ballot|alive|lane|pause)E")


class CompileError(Exception):
    """The host's compiler refused the text of a kernel."""


@dataclass(frozen=True)
class Module:
    """A compiled text: its library, its entries' names, and whether its threads wait for each other."""

    library: ctypes.CDLL
    runtime: ctypes.CDLL
    entries: tuple[str, ...]
    fibers: bool


def available() -> bool:
    """Whether this machine has the compiler that the emulator needs."""
    return shutil.which("g++") is not None


def cache_folder() -> Path:
    """Where compiled kernels are kept: ``GPUNUMPY_EMULATOR_CACHE``, or a folder of the user's among temporary files."""
    given = os.environ.get("GPUNUMPY_EMULATOR_CACHE")
    return Path(given) if given else Path(tempfile.gettempdir()) / f"gpunumpy-emulator-{getpass.getuser()}"


def compile_text(text: str, entries: Sequence[str]) -> Module:
    """Compile and load `text`, whose kernels are `entries`."""
    return _load(text, tuple(entries))


def precompile(texts: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Compile many (text, entries), as many at a time as there are processors, for `compile_text` to find."""
    _machine()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(lambda item: _compile(item[0], tuple(item[1])), texts))


@functools.lru_cache(maxsize=4096)
def _load(text: str, entries: tuple[str, ...]) -> Module:
    machine, path = runtime(), _compile(text, entries)
    return Module(ctypes.CDLL(str(path)), machine, entries, bool(_WAITS.search(path.read_bytes())))


def _compile(text: str, entries: tuple[str, ...]) -> Path:
    """The path of the library made from `text`; made now if the cache lacks it."""
    machine = _machine()
    key = hashlib.sha256("\0".join((text, *entries)).encode()).hexdigest()[:32]
    target = machine / f"{key}.so"
    if not target.exists():
        header = machine / "cuda.h"
        command = ["g++", *_KERNEL_FLAGS, "-include", str(header), "-x", "c++", "-", "-shared", "-nostdlib", "-lgcc"]
        _produce(target, lambda path: _call([*command, "-o", str(path)], _translation_unit(text, entries)))
    return target


def _translation_unit(text: str, entries: Sequence[str]) -> str:
    """`text` as C++: see shim/cuda.h for the unnamed namespace and the lines after it."""
    text = _ENTRY_LINKAGE.sub("", text)
    text = _DYNAMIC_SHARED.sub(r"\1* const \2 = (\1*)emulator::dynamic_shared;", text)
    exports = [f"EMULATOR_ENTRY({entry})" for entry in entries]
    return "\n".join(["namespace {", '#line 1 "kernel.cu"', text, "}", *exports, "EMULATOR_SHARED", ""])


@functools.cache
def runtime() -> ctypes.CDLL:
    """The machine that runs kernels. Global: the kernels' libraries find it, and the C library's mathematics, there."""
    return ctypes.CDLL(str(_machine() / "runtime.so"), mode=ctypes.RTLD_GLOBAL)


@functools.cache
def _machine() -> Path:
    """The folder that holds the shim, precompiled, its runtime, and everything compiled with them."""
    version = subprocess.run(["g++", "-v"], capture_output=True, text=True, check=True).stderr
    digest = hashlib.sha256("\0".join((version, *_KERNEL_FLAGS, *_RUNTIME_FLAGS)).encode())
    for source in sorted(SHIM.iterdir()):
        digest.update(source.name.encode() + source.read_bytes())
    folder = cache_folder() / digest.hexdigest()[:16]
    if not folder.exists():
        _produce(folder, _build_machine)
    return folder


def _build_machine(folder: Path) -> None:
    shutil.copytree(SHIM, folder)
    header, source = folder / "cuda.h", folder / "runtime.cpp"
    _call(["g++", *_KERNEL_FLAGS, "-x", "c++-header", str(header), "-o", f"{header}.gch"])
    libraries = ["-Wl,--no-as-needed", "-lm", "-lrt"]
    _call(["g++", *_RUNTIME_FLAGS, str(source), "-o", str(folder / "runtime.so"), *libraries])


def _produce(target: Path, make: Callable[[Path], None]) -> None:
    """Make a file or folder elsewhere, then move it to `target` in one step: other processes may be at it too."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="making-") as scratch:
        made = Path(scratch) / target.name
        make(made)
        try:
            made.rename(target)
        except OSError:
            if not target.exists():
                raise


def _call(command: list[str], text: str | None = None) -> None:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError(f"{done.stderr.strip()}\n\nin the text:\n{text}" if text else done.stderr)
