"""``python -m gpunumpy demo``: an example on the device, the same program with NumPy, and a picture of the result."""

from __future__ import annotations

import errno
import os
import struct
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

from .core.runtime.device import Device, default_device, why_no_gpu

# An installed package carries the examples inside it; a checkout has them beside it.
_PACKED = Path(__file__).parent / "_examples"
_FOLDER = _PACKED if _PACKED.is_dir() else Path(__file__).parents[1] / "examples"
_IMPORT = "import gpunumpy as np\n"
_BAR = 40
_PIXELS = 512  # smaller pictures are enlarged to about this

# Colours from the lowest value to the highest, evenly spaced: red, green, blue.
_COLOURS = numpy.array(
    [(8, 6, 30), (32, 40, 110), (20, 110, 140), (80, 180, 110), (240, 210, 70), (255, 250, 225)], dtype=float
)


def names() -> list[str]:
    """The examples there are, in the order of the alphabet."""
    return sorted(path.stem for path in _FOLDER.glob("*.py"))


def load(name: str, library: str = "gpunumpy") -> ModuleType:
    """Run an example's file, with its one import line naming `library`, and return what it defines.

    Parameters
    ----------
    name : str
        The example, one of `names()`.
    library : str
        The module that the example is to know as ``np``.

    Returns
    -------
    module
        With ``run(size, steps, progress)`` and ``picture(result)``.
    """
    path = _FOLDER / f"{name}.py"
    source = path.read_text(encoding="utf-8")
    if source.count("gpunumpy as np") != 1 or _IMPORT not in source:
        raise ValueError(f"{path} must name the library once, in the line {_IMPORT.strip()!r}")
    module = ModuleType(name)
    module.__file__ = str(path)
    exec(compile(source.replace(_IMPORT, f"import {library} as np\n"), path, "exec"), vars(module))
    return module


def demo(
    name: str, size: int | None = None, steps: int | None = None, device: str | None = None, output: Path | None = None
) -> None:
    """Run an example on a device and with NumPy; print both times, and write a picture.

    Parameters
    ----------
    name : str
        The example, one of `names()`.
    size, steps : int, optional
        What to hand to its ``run``; by default the example's own choice.
    device : str, optional
        Where to run it, as ``"cuda:1"`` or ``"cpu"``; by default the default device.
    output : Path, optional
        The picture's file; by default ``<name>.png`` in the current folder.
    """
    path = output or Path(f"{name}.png")
    _check_place(path)
    chosen = Device(device) if device else default_device()
    with chosen:
        print(f"{name} on {_describe(chosen)}", flush=True)
        example = load(name)
        given = {key: value for key, value in (("size", size), ("steps", steps)) if value is not None}
        # Two steps first, so that the time below is the program's and not the compiler's.
        warm_up, _ = _timed(lambda: example.run(**{**given, "steps": 2}))
        ours, result = _timed(lambda: example.run(**given, progress=_bar("gpunumpy")))
        pixels = numpy.asarray(example.picture(result))
    reference = load(name, "numpy")
    numpys, expected = _timed(lambda: reference.run(**given, progress=_bar("NumPy")))

    difference = numpy.abs(numpy.asarray(result).astype(float) - expected).max()
    _write_png(path, _coloured(pixels))
    print(f"gpunumpy   {ours:8.3f} s  (first steps, with compiling: {warm_up:.3f} s)")
    print(f"NumPy      {numpys:8.3f} s  ({numpys / ours:.1f} times gpunumpy's)")
    print(f"largest difference between the two results: {difference:.2g}")
    print(f"picture: {path}")


def _describe(device: Device) -> str:
    hint = "; python -m gpunumpy info tells why no GPU is usable" if why_no_gpu() else ""
    return f"{device} ({device.hardware}{hint})"


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds until the values of what `run` returns are on the host, and what it returned."""
    start = time.perf_counter()
    result = run()
    numpy.asarray(result)
    return time.perf_counter() - start, result


def _bar(label: str) -> Callable[[int], Iterable[int]]:
    """A stand-in for `range` that draws how far the loop has come. It never goes back, so it reads well in a log."""

    def steps(count: int) -> Iterator[int]:
        print(f"{label:8} [", end="", file=sys.stderr, flush=True)
        for step in range(count):
            yield step
            done = (step + 1) * _BAR // count - step * _BAR // count
            print("#" * done, end="", file=sys.stderr, flush=True)
        print("]", file=sys.stderr)

    return steps


# The picture


def _check_place(path: Path) -> None:
    """Raise the OSError that writing the file would end in, before there is anything to write."""
    reason = None
    if path.is_dir():
        reason = errno.EISDIR
    elif not path.parent.is_dir():
        reason = errno.ENOTDIR if path.parent.exists() else errno.ENOENT
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        reason = errno.EACCES
    if reason is not None:
        raise OSError(reason, os.strerror(reason), str(path))


def _coloured(values: numpy.ndarray) -> numpy.ndarray:
    """Paint a 2-D array: height by width by red, green and blue."""
    values = values.astype(float)
    low, high = values.min(), values.max()
    place = (values - low) / (high - low or 1.0) * (len(_COLOURS) - 1)
    anchors = numpy.arange(len(_COLOURS))
    pixels = numpy.stack([numpy.interp(place, anchors, colour) for colour in _COLOURS.T], axis=-1).astype(numpy.uint8)
    times = max(1, _PIXELS // max(values.shape))
    return pixels.repeat(times, axis=0).repeat(times, axis=1)


def _write_png(path: Path, pixels: numpy.ndarray) -> None:
    """Write height by width by 3 bytes as a PNG file."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = pixels.shape
    # Eight bits a channel, three channels; every row is led by the number of its filter, 0 for none.
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = numpy.pad(pixels.reshape(height, -1), ((0, 0), (1, 0))).tobytes()
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    )
