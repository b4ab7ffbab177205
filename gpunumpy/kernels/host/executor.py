"""The executor of the CPU device: kernels by NumPy in blocks, library calls by NumPy's own functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ...core.graph.layout import Layout
from ...core.runtime.device import Device
from ...core.runtime.memory import Buffer
from ..source_locations import SourceLocations
from . import loops as host
from .calls import CALLS
from .text import failures
from .threads import quietly


class HostExecutor:
    fuses = None

    def __init__(self, device: Device) -> None:
        self.device = device
        self._locations = SourceLocations()
        self.source_location = self._locations.number

    def bind(self, buffer: Buffer, dtype: Any, offset: int) -> Any:
        assert buffer.host is not None
        flat = buffer.host.view(dtype)
        return flat[offset:] if offset else flat

    def prepare(self, kernel: Any) -> Callable[[Sequence[Any]], None]:
        return host.prepare(kernel)

    def routine(self, step: Any, results: Sequence[tuple[Layout, Any]]) -> Callable[[Sequence[Any]], None]:
        function = CALLS[step.name]
        read = zip((where for _, where in step.args), step.dtypes, strict=True)
        windows = [_window(dtype, where) for where, dtype in (*results, *read)]
        options = step.options

        def run(values: Sequence[Any]) -> None:
            # The number of a site, and a scalar, stand among the arrays as they are.
            quietly(function, options, *[see(v) if type(v) is numpy.ndarray else v for v, see in zip(values, windows)])

        return run

    def take_error(self) -> str:
        first = failures[:1]
        if not first:
            return ""
        failures.clear()  # another thread may have done so since
        words, source_location = first[0]
        return f"{words} ({self._locations.text(source_location)})"


def _window(dtype: Any, where: Layout) -> Callable[[Any], Any]:
    """What makes an array of a layout from a flat one over the whole buffer."""
    unit = dtype.itemsize
    offset, strides = where.offset * unit, tuple(s * unit for s in where.strides)
    return lambda flat: numpy.ndarray(where.shape, dtype, flat, offset, strides)
