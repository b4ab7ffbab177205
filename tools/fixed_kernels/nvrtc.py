"""NVRTC by its path, so that one build compiles with several versions of it."""

from __future__ import annotations

import ctypes
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

# The packages of NVRTC for CUDA 12 and 13, and the library's file in each, on Linux and on Windows.
_PACKAGES = ("nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc")
_PATTERNS = ("libnvrtc.so.*", "nvrtc64_*_0.dll")


def installed() -> list[Path]:
    """The libraries of the packages that are installed."""
    found = []
    for package in _PACKAGES:
        try:
            listed = files(package) or []
        except PackageNotFoundError:
            continue
        found += [
            Path(str(file.locate()))
            for file in listed
            if any(file.match(pattern) for pattern in _PATTERNS) and "alt" not in file.name
        ]
    return found


class NVRTC:
    """One version of the compiler."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        self.version = major.value, minor.value

    def _call(self, name: str, *args: object) -> None:
        status = getattr(self._library, name)(*args)
        if status:
            raise RuntimeError(f"{name} returns error {status}")

    def compile(self, text: str, options: list[bytes]) -> bytes:
        """The machine code of a program."""
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        self._call("nvrtcCreateProgram", ctypes.byref(program), text.encode(), b"gpunumpy", 0, None, None)
        try:
            try:
                self._call("nvrtcCompileProgram", program, len(options), (ctypes.c_char_p * len(options))(*options))
            except RuntimeError as error:
                self._call("nvrtcGetProgramLogSize", program, ctypes.byref(size))
                log = ctypes.create_string_buffer(size.value)
                self._call("nvrtcGetProgramLog", program, log)
                raise RuntimeError(f"{error}:\n{log.value.decode()}") from None
            self._call("nvrtcGetCUBINSize", program, ctypes.byref(size))
            image = ctypes.create_string_buffer(size.value)
            self._call("nvrtcGetCUBIN", program, image)
            return image.raw
        finally:
            self._call("nvrtcDestroyProgram", ctypes.byref(program))
