"""Functions of ours that the kernels of a cuFFT plan call where they read and write (LTO callbacks)."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, NamedTuple

import numpy

from ..core.runtime import memory, memory_copy
from ..core.runtime.device import Device
from .handles import bindings

_OLDEST = 11300  # of cuFFT: earlier ones give the functions other names


class Functions(NamedTuple):
    """Compiled functions, LTO-IR, empty where there is none, and how many 8-byte words of memory each reads."""

    load: bytes = b""
    store: bytes = b""
    words: tuple[int, int] = (0, 0)


class Linked:
    """The functions of one plan, and the words that they read; whoever sets them has the lock of the plans."""

    def __init__(self, device: Device, functions: Functions) -> None:
        self._functions = functions
        self._words = memory.allocate(device, 8 * max(1, sum(functions.words)))
        self._last = b""

    def link(self, library: Any, handle: int, kind: str, double: bool) -> object:
        """Give the functions to a plan that is not made yet; what is returned has to live until it is."""
        kept = []
        at = self._words.ptr
        ways = (("LD", kind == "r2c", self._functions.load), ("ST", kind == "c2r", self._functions.store))
        for (way, real, image), count in zip(ways, self._functions.words, strict=True):
            if image:
                name = f"{way}_{'REAL' if real else 'COMPLEX'}{'_DOUBLE' if double else ''}"
                kept.append(info := (ctypes.c_void_p * 1)(at))
                which = int(library.XtCallbackType[name])
                library.xt_set_jit_callback(handle, 0, image, len(image), which, ctypes.addressof(info))
            at += 8 * count
        return kept

    def set(self, words: bytes) -> None:
        """Change the words, for the executions that are queued from now on."""
        if words != self._last:
            memory_copy.copy_from_host(self._words, 0, numpy.frombuffer(words, numpy.uint8))
            self._last = words


@cache
def available() -> bool:
    """Whether cuFFT can link functions that our compiler makes."""
    try:
        from cuda.bindings import nvjitlink, nvrtc

        # Loaded here, where the linker is found whether or not the library looks in its folder. It reads what older
        # compilers have made.
        linker = tuple(nvjitlink.version())
        status, *compiler = nvrtc.nvrtcVersion()
        return not status and tuple(compiler) <= linker and bindings("cufft").get_version() >= _OLDEST
    except Exception:  # a missing library raises a class that differs between versions of cuda-bindings
        return False


def load_name(kind: str, double: bool) -> str:
    """What the function that reads for a plan of this kind is to be called."""
    return f"cufftJITCallbackLoad{_words(kind == 'r2c', double)}"


def store_name(kind: str, double: bool) -> str:
    """What the function that writes for a plan of this kind is to be called."""
    return f"cufftJITCallbackStore{_words(kind == 'c2r', double)}"


def _words(real: bool, double: bool) -> str:
    return ("Double" if double else "") + ("Real" if real else "Complex")
