"""The executor of the CPU device: kernels by NumPy in blocks, library calls by NumPy's own functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ...core.graph.layout import Layout
from ...core.graph.library_calls.record import Batch
from ...core.graph.library_calls.registry import record_of
from ...core.runtime.device import Device
from ...core.runtime.executors import fuses_of, implementation
from ...core.runtime.memory import Buffer
from ...core.runtime.plan import Runner
from ...core.schedule.callbacks import Fuses
from ...core.schedule.steps import RunLibraryCall
from ...core.schedule.traits import Traits
from ..source_locations import SourceLocations
from . import loops as host
from .text import failures
from .threads import quietly


class HostExecutor:
    """Runs plans on the CPU device.

    Its functions for library calls are called as ``run(options, *results, *arguments)`` with NumPy arrays.
    """

    name = "host"
    traits = Traits(copies_blocks_faster_than_elements=True)

    def __init__(self, device: Device) -> None:
        self.device = device
        self._locations = SourceLocations()
        self.source_location = self._locations.number

    def fuses(self, call: str) -> Fuses | None:
        return fuses_of(call, self.name)

    def bind(self, buffer: Buffer, dtype: Any, offset: int) -> Any:
        assert buffer.host is not None
        flat = buffer.host.view(dtype)
        return flat[offset:] if offset else flat

    def prepare(self, kernel: Any) -> Runner:
        return host.prepare(kernel)

    def library_call(self, step: RunLibraryCall, results: Sequence[tuple[Layout, Any]]) -> Runner:
        function = implementation(record_of(step.name).implementation(self.name).run)
        if isinstance(step.options, Batch):
            function = _one_by_one(function)
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


def _one_by_one(function: Callable[..., None]) -> Callable[..., None]:
    """What runs the calls of a batch."""

    def run(options: Batch, *values: Any) -> None:
        results, args = values[: options.calls], values[options.calls :]
        each = len(args) // options.calls
        for k, out in enumerate(results):
            function(options.options, out, *args[k * each : (k + 1) * each])

    return run


def _window(dtype: Any, where: Layout) -> Callable[[Any], Any]:
    """What makes an array of a layout from a flat one over the whole buffer."""
    unit = dtype.itemsize
    offset, strides = where.offset * unit, tuple(s * unit for s in where.strides)
    return lambda flat: numpy.ndarray(where.shape, dtype, flat, offset, strides)
