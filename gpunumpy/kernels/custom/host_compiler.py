"""The compiler of the host: from C++ to a library that is loaded, with a cache on disk."""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import tempfile
from functools import cache
from hashlib import sha256

from ...core.disk_cache import cache_folder, open_cache
from ...core.errors import DeviceError
from ...core.graph.bounded_table import ENTRY_BYTES, BoundedTable
from ...core.runtime.host_work import observed
from ..codegen.sources import source

# Results must equal those of a GPU: no contraction, and integers that wrap.
_FLAGS = (
    *("-std=c++17", "-O3", "-fPIC", "-shared", "-w", "-ffp-contract=off", "-fwrapv", "-fno-math-errno"),
    *("-fno-strict-aliasing", "-fno-exceptions", "-x", "c++", "-"),
)
_COMPILERS = ("g++", "clang++", "c++")

_libraries: BoundedTable[str, ctypes.CDLL] = BoundedTable()


class HostCompileError(DeviceError):
    """The host's compiler refused a text; `log` is what it said."""

    def __init__(self, log: str) -> None:
        super().__init__(f"an operation does not compile for the CPU:\n{log}")
        self.log = log


def library(text: str) -> ctypes.CDLL:
    """Compile a text after the words of CUDA C++, load it and return it.

    Raises
    ------
    HostCompileError
        If it does not compile.
    DeviceError
        If there is no compiler.
    """
    found = _libraries.find(text)
    if found is None:
        image = _image(f"{source('custom/host')}\n{text}")
        found = _libraries.keep(text, _loaded(image), 1 + (len(text) + len(image)) // ENTRY_BYTES)
    return found


def _image(text: str) -> bytes:
    """Return the library of a text, from the cache on disk if it is there."""
    command = _compiler()
    disk = open_cache(cache_folder())
    key = sha256(repr((_version(command), _FLAGS, text)).encode()).digest()
    image = None if disk is None else disk.find(key)
    if image is None:
        image = _compiled(command, text)
        if disk is not None:
            disk.keep(key, image)
    return image


def _compiled(command: tuple[str, ...], text: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="gpunumpy-") as folder:
        path = os.path.join(folder, "library.so")
        arguments = [*command, *_FLAGS, "-o", path]
        with observed("compile", os.path.basename(command[0])):
            done = subprocess.run(arguments, input=text, capture_output=True, text=True, check=False)
        if done.returncode:
            raise HostCompileError(done.stderr.strip())
        with open(path, "rb") as file:
            return file.read()


def _loaded(image: bytes) -> ctypes.CDLL:
    """Load a library from its bytes."""
    with tempfile.TemporaryDirectory(prefix="gpunumpy-") as folder:
        path = os.path.join(folder, "library.so")
        with open(path, "wb") as file:
            file.write(image)
        return ctypes.CDLL(path)  # which stays mapped without the file


@cache
def _compiler() -> tuple[str, ...]:
    """Return the command of the compiler: ``CXX``, or the first of those that are known."""
    given = shlex.split(os.environ.get("CXX", ""))
    names = given[:1] or _COMPILERS
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        raise DeviceError(
            f"the CPU device has operations in C++ compiled, and no compiler was found ({', '.join(names)}); install "
            "one, or set CXX"
        )
    return (found, *given[1:])


@cache
def _version(command: tuple[str, ...]) -> str:
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    return done.stdout
