"""Transforms that are multiplied with a factor, in the memory of their result."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy

from ...core.graph.layout import Layout
from ...core.runtime.device import Device
from ...core.schedule import kernel as ir
from ...core.schedule.transforms import Transform
from ...nvlib import cufft
from ..codegen import generate
from ..cuda.compile import compile_program
from ..cuda.launch import Launcher
from ..cuda.program import Prepared
from ..products.cuda_after import after


def fft_scaled(device: Device, options: Transform, layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Prepared:
    """Prepare a transform and, over its result, the multiplication with a real number."""
    transform = cufft.fft(device, options, layouts[:2], dtypes[:2])
    program = generate(scaling(layouts[0].shape, dtypes[0]), device.attributes.multiprocessors)
    (launch,) = program.launches
    function = compile_program(program.text, (launch.entry,), device)[launch.entry]
    scale = Launcher(device, function, launch.grid, launch.block, launch.shared, "QQd", program.params)

    def run(pointers: Sequence[Any]) -> None:
        result, value, factor = pointers
        transform((result, value))
        scale((result, result, factor))

    return run


def scaling(shape: Sequence[int], dtype: Any) -> ir.Kernel:
    """The kernel over a result in C order, twice, and a factor: complex numbers are two real ones each."""
    real = numpy.empty(0, dtype).real.dtype
    return after((1, prod(shape) * (dtype.itemsize // real.itemsize)), real, ("scale",))
