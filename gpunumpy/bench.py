"""``python -m gpunumpy bench``: time a few programs on this machine beside NumPy and other libraries, and draw it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy

from .core.output_path import check_writable
from .core.pictures.bars import Bar, Group, page
from .core.runtime.device import Device
from .core.runtime.evaluate import usable_default
from .peers import NUMPY, Library, libraries

_LIMIT_S = 45.0  # for all programs and libraries; imports and data come on top
_WARM_UP_S = 0.3  # kernels are compiled meanwhile
_MAX_REPEATS = 15
_CPU_ELEMENTS = 2**20
_MAX_ELEMENTS = 2**24
_ARRAYS_IN_MEMORY = 64  # of float64, that a GPU's memory has room for
_LOOP_ELEMENTS = 2**14
_LOOP_STEPS = 50


# --- the programs: functions of a namespace and arrays, in the part of NumPy that all the libraries share -------------


def _expression(np: Any, a: Any, b: Any) -> Any:
    return np.sqrt(a * a + b * b) * np.exp(-a) + np.sin(b)


def _stencil(np: Any, a: Any) -> Any:
    return 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])


def _sum(np: Any, a: Any) -> Any:
    return np.sum(a, axis=0)


def _sort(np: Any, a: Any) -> Any:
    return np.sort(a)


def _matmul(np: Any, a: Any, b: Any) -> Any:
    return a @ b


def _fft(np: Any, a: Any) -> Any:
    return np.fft.fft(a)


def _noise(np: Any, a: Any) -> Any:
    return a + np.random.default_rng(0).standard_normal(a.shape)


def _loop(np: Any, a: Any) -> Any:
    for _ in range(_LOOP_STEPS):
        a = a + 0.1 * (np.roll(a, 1) + np.roll(a, -1) - 2.0 * a)
    return a


@dataclass(frozen=True)
class Program:
    """A program, and the arrays that it takes.

    Attributes
    ----------
    run
        A function of a namespace and arrays.
    shapes
        The shapes of the arrays, from a number of elements.
    """

    name: str
    run: Callable[..., Any]
    shapes: Callable[[int], Sequence[tuple[int, ...]]]
    dtype: str = "float64"

    def arrays(self, elements: int) -> list[numpy.ndarray]:
        """Return random arrays for the program."""
        rng = numpy.random.default_rng(1)
        return [rng.random(shape).astype(self.dtype) for shape in self.shapes(elements)]

    def describe(self, elements: int) -> str:
        """Return the shape and the dtype of the arrays."""
        return f"{' x '.join(f'{length:,}' for length in self.shapes(elements)[0])} {self.dtype}"


def _vectors(count: int) -> Callable[[int], Sequence[tuple[int, ...]]]:
    return lambda elements: [(elements,)] * count


def _matrices(count: int) -> Callable[[int], Sequence[tuple[int, ...]]]:
    return lambda elements: [(math.isqrt(elements),) * 2] * count


PROGRAMS = (
    Program("expression", _expression, _vectors(2)),
    Program("expression, float32", _expression, _vectors(2), "float32"),
    Program("stencil by slices", _stencil, _matrices(1)),
    Program("sum along an axis", _sum, _matrices(1)),
    Program("sort", _sort, _vectors(1)),
    Program("matmul", _matmul, _matrices(2)),
    Program("matmul, float32", _matmul, _matrices(2), "float32"),
    Program("fft of rows", _fft, _matrices(1)),
    Program("random normal", _noise, _vectors(1)),
    Program(f"small loop, {_LOOP_STEPS} steps", _loop, lambda elements: [(min(elements, _LOOP_ELEMENTS),)]),
)


# --- the times --------------------------------------------------------------------------------------------------------


def bench(path: Path | None = None, elements: int | None = None, limit_s: float = _LIMIT_S) -> list[str]:
    """Time the programs with every library that is here, print a table, and write a page.

    Parameters
    ----------
    path : Path, optional
        The page's file; no page if None.
    elements : int, optional
        How large the arrays are; by default as the device's memory allows.
    limit_s : float
        Seconds that all of it may take, about: programs are repeated less often if they take long.

    Returns
    -------
    list of str
        A sentence for each library that fails to run a program.

    Raises
    ------
    OSError
        If the page cannot be written.
    """
    if path is not None:
        check_writable(path)
    device = usable_default()
    compared, left_out = libraries(device.kind)
    size = elements or _elements(device)
    title = f"gpunumpy on {device} ({device.hardware})"
    versions = ", ".join(f"{library.name} {library.version}" for library in (NUMPY, *compared))
    notes = [versions, *left_out, "median times of the programs as they are written; x: as many times as fast as NumPy"]
    print("\n".join([title, *notes, ""]))
    print(" " * 46 + "".join(f"{library.name:>20}" for library in (NUMPY, *compared)), flush=True)
    groups, failures = [], []
    for program in PROGRAMS:
        arrays = program.arrays(size)
        share_s = limit_s / (len(PROGRAMS) * (1 + len(compared)))
        numpy_s = _seconds(program, NUMPY, arrays, share_s)
        print(f"{program.name:22}{program.describe(size):24}{_milliseconds(numpy_s):>20}", end="", flush=True)
        bars = []
        for library in compared:
            try:
                bars.append(_bar(numpy_s, _seconds(program, library, arrays, share_s)))
            except Exception as error:  # of another library, that is installed without a part of it, or lacks memory
                failures.append(f"{library.name} failed to run {program.name}: {error!r}")
                bars.append(Bar(1.0, "failed"))
            print(f"{bars[-1].text:>20}", end="", flush=True)
        print()
        groups.append(Group(program.name, f"{program.describe(size)}, NumPy: {_milliseconds(numpy_s)}", bars))
    if path is not None:
        path.write_text(page(title, [*notes, *failures], [each.name for each in compared], groups), encoding="utf-8")
        print(f"\npage: {path}")
    return failures


def _elements(device: Device) -> int:
    """Return how many elements arrays have on a device: a power of 2."""
    if device.shares_host_memory:
        return _CPU_ELEMENTS
    room = device.attributes.total_memory // (_ARRAYS_IN_MEMORY * 8)
    return min(_MAX_ELEMENTS, 1 << (room.bit_length() - 1))


def _seconds(program: Program, library: Library, arrays: Sequence[numpy.ndarray], limit_s: float) -> float:
    """Return the median time until the result of a program is computed, of repeats that take about `limit_s`."""
    inputs = [library.array(array) for array in arrays]

    def run() -> float:
        start = perf_counter()
        library.wait(program.run(library.np, *inputs))
        return perf_counter() - start

    end = perf_counter() + limit_s
    warm = min(end, perf_counter() + _WARM_UP_S)
    run()
    while perf_counter() < warm:
        run()
    samples = [run()]
    while len(samples) < _MAX_REPEATS and perf_counter() < end:
        samples.append(run())
    return statistics.median(samples)


def _bar(numpy_s: float, seconds: float) -> Bar:
    ratio = numpy_s / seconds
    return Bar(ratio, f"{_milliseconds(seconds)}, {_digits(ratio)} x")


def _milliseconds(seconds: float) -> str:
    return f"{_digits(seconds * 1e3)} ms"


def _digits(value: float) -> str:
    """Return a number with three digits, or with all before the point if these are more."""
    return f"{value:.3g}" if value < 999.5 else f"{value:,.0f}"
