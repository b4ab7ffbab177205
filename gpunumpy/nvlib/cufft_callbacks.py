"""LTO callbacks: functions in LTO-IR that the kernels of a cuFFT plan call where they read and write elements."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, NamedTuple

import numpy

from ..core.runtime import memory, memory_copy
from ..core.runtime.device import Device
from .handles import bindings

_MIN_CUFFT_VERSION = 11300  # earlier versions require other names of the functions


class Functions(NamedTuple):
    """Compiled callbacks (LTO-IR, empty if there is none), and the number of 8-byte words that each reads."""

    load: bytes = b""
    store: bytes = b""
    words: tuple[int, int] = (0, 0)


class Linked:
    """The callbacks of one plan, and the device memory of the words that they read.

    `set` is called with the lock of `cufft.Plans` held.
    """

    def __init__(self, device: Device, functions: Functions) -> None:
        self._device = device
        self._functions = functions
        self._words = memory.allocate_fixed(device, 8 * max(1, sum(functions.words)))
        self._last = b""
        self._is_captured = False

    def link(self, library: Any, handle: int, kind: str, double: bool) -> object:
        """Add the callbacks to a plan that is not made yet; the returned object must live until the plan is made."""
        infos = []
        address = self._words.ptr
        callbacks = (("LD", kind == "r2c", self._functions.load), ("ST", kind == "c2r", self._functions.store))
        for (direction, real, image), count in zip(callbacks, self._functions.words, strict=True):
            if image:
                name = f"{direction}_{'REAL' if real else 'COMPLEX'}{'_DOUBLE' if double else ''}"
                infos.append(info := (ctypes.c_void_p * 1)(address))
                callback_type = int(library.XtCallbackType[name])
                library.xt_set_jit_callback(handle, 0, image, len(image), callback_type, ctypes.addressof(info))
            address += 8 * count
        return infos

    def set(self, words: bytes) -> None:
        """Set the words that the executions queued from now on read."""
        self._is_captured |= self._device.capture is not None  # a graph sets them whenever it is launched
        if words != self._last or self._is_captured:
            memory_copy.copy_from_host(self._words, 0, numpy.frombuffer(words, numpy.uint8))
            self._last = words


@cache
def available() -> bool:
    """Return whether cuFFT can link the LTO-IR that the installed NVRTC makes."""
    try:
        from cuda.bindings import nvjitlink, nvrtc

        # cuda.bindings finds and loads the linker here, since cuFFT may not look in its folder. A linker reads LTO-IR
        # of its own version and older.
        linker = tuple(nvjitlink.version())
        status, *compiler = nvrtc.nvrtcVersion()
        return not status and tuple(compiler) <= linker and bindings("cufft").get_version() >= _MIN_CUFFT_VERSION
    except Exception:  # a missing library raises a class that differs between versions of cuda-bindings
        return False


def load_name(kind: str, double: bool) -> str:
    """Return the name that cuFFT requires of the load callback of a plan of this kind."""
    return f"cufftJITCallbackLoad{_element_name(kind == 'r2c', double)}"


def store_name(kind: str, double: bool) -> str:
    """Return the name that cuFFT requires of the store callback of a plan of this kind."""
    return f"cufftJITCallbackStore{_element_name(kind == 'c2r', double)}"


def _element_name(real: bool, double: bool) -> str:
    """Return cuFFT's name of an element type."""
    return ("Double" if double else "") + ("Real" if real else "Complex")
