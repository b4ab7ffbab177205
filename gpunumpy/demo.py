"""``python -m gpunumpy demo``: run an example on a device and with NumPy, and write a picture of the result."""

from __future__ import annotations

import struct
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

from .core.output_path import check_writable
from .core.runtime.device import Device, why_no_gpu
from .core.runtime.evaluate import usable_default

# An installed package carries the examples inside it; a checkout has them beside it.
_PACKAGED = Path(__file__).parent / "_examples"
_EXAMPLES = _PACKAGED if _PACKAGED.is_dir() else Path(__file__).parents[1] / "examples"
_IMPORT = "import gpunumpy as np\n"
_BAR_CHARACTERS = 40
_PICTURE_PIXELS = 512  # longer side; smaller pictures are enlarged to at most this

# Colours from the lowest value to the highest, evenly spaced: red, green, blue.
_COLOURS = numpy.array(
    [(8, 6, 30), (32, 40, 110), (20, 110, 140), (80, 180, 110), (240, 210, 70), (255, 250, 225)], dtype=float
)


def names() -> list[str]:
    """Return the names of the examples, sorted."""
    return sorted(path.stem for path in _EXAMPLES.glob("*.py"))


def load(name: str, library: str = "gpunumpy", folder: Path = _EXAMPLES) -> ModuleType:
    """Load an example as a module, with `library` in place of gpunumpy.

    Parameters
    ----------
    name : str
        The example, one of `names()`.
    library : str
        The name of the module that the example imports as ``np``.
    folder : Path
        Where the example is.

    Returns
    -------
    module
        With ``run(size, steps, progress)`` and ``picture(result)``.
    """
    path = folder / f"{name}.py"
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
    """Run an example on a device and with NumPy, print both times and write a picture.

    Parameters
    ----------
    name : str
        The example, one of `names()`.
    size, steps : int, optional
        Arguments of the example's ``run``; by default those that the example chooses.
    device : str, optional
        The device to run on, such as ``"cuda:1"`` or ``"cpu"``; by default the default device.
    output : Path, optional
        The picture's file; by default ``<name>.png`` in the current folder.
    """
    path = output or Path(f"{name}.png")
    check_writable(path)
    chosen = Device(device) if device else usable_default()
    with chosen:
        print(f"{name} on {_describe(chosen)}", flush=True)
        example = load(name)
        options = {key: value for key, value in (("size", size), ("steps", steps)) if value is not None}
        # Two steps first, to exclude compilation from the time below.
        warm_up_s, _ = _timed(lambda: example.run(**{**options, "steps": 2}))
        gpunumpy_s, result = _timed(lambda: example.run(**options, progress=_bar("gpunumpy")))
        pixels = numpy.asarray(example.picture(result))
    reference = load(name, "numpy")
    numpy_s, expected = _timed(lambda: reference.run(**options, progress=_bar("NumPy")))

    difference = numpy.abs(numpy.asarray(result).astype(float) - expected).max()
    _write_png(path, _to_pixels(pixels))
    print(f"gpunumpy   {gpunumpy_s:8.3f} s  (first steps, with compiling: {warm_up_s:.3f} s)")
    print(f"NumPy      {numpy_s:8.3f} s  ({numpy_s / gpunumpy_s:.1f} times gpunumpy's)")
    print(f"largest difference between the two results: {difference:.2g}")
    print(f"picture: {path}")


def _describe(device: Device) -> str:
    """Return a device and its hardware, with a hint if no GPU is usable."""
    hint = "; python -m gpunumpy info tells why no GPU is usable" if why_no_gpu() else ""
    return f"{device} ({device.hardware}{hint})"


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Call `run`, and return the seconds until the values of its result are on the host, and the result."""
    start = time.perf_counter()
    result = run()
    numpy.asarray(result)
    return time.perf_counter() - start, result


def _bar(label: str) -> Callable[[int], Iterable[int]]:
    """Return a replacement for `range` that draws a progress bar on stderr by appending, which suits log files too."""

    def steps(count: int) -> Iterator[int]:
        print(f"{label:8} [", end="", file=sys.stderr, flush=True)
        for step in range(count):
            yield step
            done = (step + 1) * _BAR_CHARACTERS // count - step * _BAR_CHARACTERS // count
            print("#" * done, end="", file=sys.stderr, flush=True)
        print("]", file=sys.stderr)

    return steps


# --- the picture ------------------------------------------------------------------------------------------------------


def _to_pixels(values: numpy.ndarray) -> numpy.ndarray:
    """Return the pixels of a 2-D array in colours: height by width by (red, green, blue), enlarged by whole factors."""
    values = values.astype(float)
    low, high = values.min(), values.max()
    position = (values - low) / (high - low or 1.0) * (len(_COLOURS) - 1)
    anchors = numpy.arange(len(_COLOURS))
    pixels = numpy.stack([numpy.interp(position, anchors, colour) for colour in _COLOURS.T], axis=-1).astype(
        numpy.uint8
    )
    factor = max(1, _PICTURE_PIXELS // max(values.shape))
    return pixels.repeat(factor, axis=0).repeat(factor, axis=1)


def _write_png(path: Path, pixels: numpy.ndarray) -> None:
    """Write pixels, height by width by 3 bytes, as a PNG file."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = pixels.shape
    # Eight bits a channel, colour type 2 (red, green, blue). Each row begins with the number of its filter, 0 for none.
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = numpy.pad(pixels.reshape(height, -1), ((0, 0), (1, 0))).tobytes()
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    )
