"""The library routines of a GPU: ``CALLS[name](device, options, layouts, dtypes)`` prepares one.

`layouts` and `dtypes` are those of the result and the arguments; what is returned takes their pointers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ..core import memory
from ..core.device import Device
from ..core.layout import Layout
from ..nvlib import cufft
from .codegen.program import Program
from .compile import compile_program
from .cuda_calls_blas import matmul
from .cuda_fold import accumulate, fold, reduceat
from .cuda_histogram import bincount, histogram
from .cuda_masks import mask_elements, mask_offsets, mask_positions
from .cuda_scatter import scatter
from .cuda_search import searchsorted
from .cuda_sort import argsort, sort
from .launch import Launcher

Prepared = Callable[[Sequence[Any]], None]
CALLS: dict[str, Callable[..., Prepared]] = {}


def _empty(device: Any, options: tuple[Any, ...], layouts: Any, dtypes: Any) -> Prepared:
    """Memory alone."""
    return lambda pointers: None


CALLS["empty"] = _empty
CALLS["fft"] = cufft.fft
CALLS["matmul"] = matmul

_ALIGNED = 256  # bytes, where a piece of scratch memory begins


def _programmed(make: Callable[..., Program]) -> Callable[..., Prepared]:
    """A routine that is a program of kernels, made from the options, the layouts and the dtypes."""

    def prepare(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Prepared:
        program = make(options, layouts, dtypes)
        entries = tuple(launch.entry for launch in program.launches)
        functions = compile_program(program.text, entries, device) if entries else {}
        flag = (memory.error_word(device),) if program.flag else ()
        wire = "Q" * (len(layouts) + len(program.scratch) + len(flag))
        launchers = [
            Launcher(device, functions[x.entry], x.grid, x.block, x.shared, wire, program.params)
            for x in program.launches
        ]
        # All scratch memory is one block, its pieces one after the other.
        starts = [0, *itertools.accumulate(-(-scratch.nbytes // _ALIGNED) * _ALIGNED for scratch in program.scratch)]
        total = starts.pop()

        def run(values: Sequence[Any]) -> None:
            held = memory.allocate(device, total) if starts else None
            words = (*values, *(held.ptr + start for start in starts), *flag) if held else (*values, *flag)
            for launch in launchers:
                launch(words)

        return run

    return prepare


_PROGRAMS: tuple[Callable[..., Program], ...] = (
    *(accumulate, fold, reduceat),
    *(argsort, searchsorted, sort),
    *(bincount, histogram),
    *(mask_elements, mask_offsets, mask_positions, scatter),
)
for _make in _PROGRAMS:
    CALLS[_make.__name__] = _programmed(_make)
