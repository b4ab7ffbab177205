"""The executor of the CPU device: kernels by NumPy in blocks, library calls by NumPy's own functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ..core.layout import Layout
from ..core.memory import Buffer
from . import host
from .host_calls import CALLS
from .host_text import failures
from .host_threads import quietly
from .sites import Sites


class HostExecutor:
    def __init__(self) -> None:
        self._sites = Sites()
        self.site = self._sites.number

    def bind(self, buffer: Buffer, dtype: Any, offset: int) -> Any:
        assert buffer.host is not None
        flat = buffer.host.view(dtype)
        return flat[offset:] if offset else flat

    def prepare(self, kernel: Any) -> Callable[[Sequence[Any]], None]:
        return host.prepare(kernel)

    def routine(self, step: Any, out: Layout, dtype: Any) -> Callable[[Sequence[Any]], None]:
        function = CALLS[step.name]
        layouts = [out, *(where for _, where in step.args)]

        def run(values: Sequence[Any]) -> None:
            arrays = [_window(flat, where) for flat, where in zip(values, layouts, strict=True)]
            quietly(function, step.options, *arrays)

        return run

    def take_error(self) -> str:
        first = failures[:1]
        if not first:
            return ""
        failures.clear()  # another thread may have done so since
        words, site = first[0]
        return f"{words} ({self._sites.text(site)})"


def _window(flat: Any, where: Layout) -> Any:
    if isinstance(flat, int):  # the number of a site
        return flat
    unit = flat.itemsize
    return numpy.ndarray(where.shape, flat.dtype, flat, where.offset * unit, tuple(s * unit for s in where.strides))
