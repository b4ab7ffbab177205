"""Runs the table's C on the GPU, one thread an op and loop; the counterpart of `table_harness.Compiled`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

from .table_harness import Case, elementwise_cases, reduction_cases, translation_unit


def _checked(result: tuple[Any, ...]) -> None:
    if result[0] != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(result[0]))


class OnDevice:
    """The compiled loops, by case."""

    def __init__(self) -> None:
        self._device = Device()
        self._device.set_current()
        self._stream = self._device.create_stream()
        elementwise, reductions = elementwise_cases(), reduction_cases()
        options = ProgramOptions(arch=f"sm_{self._device.arch}", std="c++17", fma=False)
        self._code = Program(translation_unit(elementwise, reductions), "c++", options).compile("cubin")
        self._symbols = {("e", case): f"e{i}" for i, case in enumerate(elementwise)}
        self._symbols |= {("r", case): f"r{i}" for i, case in enumerate(reductions)}

    def _run(
        self, symbol: str, inputs: list[numpy.ndarray[Any, Any]], out: numpy.ndarray[Any, Any], *extra: Any
    ) -> None:
        arrays = [*inputs, out]
        buffers = [self._device.allocate(max(array.nbytes, 1), stream=self._stream) for array in arrays]
        self._stream.sync()
        for array, buffer in zip(inputs, buffers):
            if array.nbytes:
                _checked(driver.cuMemcpyHtoD(int(buffer.handle), array.ctypes.data, array.nbytes))
        _checked(driver.cuCtxSynchronize())  # a copy of few bytes may still be under way when the call returns
        kernel = self._code.get_kernel(symbol)
        launch(self._stream, LaunchConfig(grid=1, block=1), kernel, numpy.int64(inputs[0].size), *buffers, *extra)
        self._stream.sync()
        if out.nbytes:
            _checked(driver.cuMemcpyDtoH(out.ctypes.data, int(buffers[-1].handle), out.nbytes))

    def apply(self, case: Case, arrays: Iterable[numpy.ndarray[Any, Any]]) -> numpy.ndarray[Any, Any]:
        """Return the op of `case` applied to equally long arrays of its loop's dtypes."""
        inputs = [numpy.ascontiguousarray(array) for array in arrays]
        out = numpy.empty(inputs[0].size, case[1][-1])
        self._run(self._symbols["e", case], inputs, out)
        return out

    def reduce(self, case: Case, array: numpy.ndarray[Any, Any], extra: float = 0.0) -> Any:
        """Return the reduction of `case` over a one-dimensional array."""
        out = numpy.empty(1, case[1][-1])
        self._run(self._symbols["r", case], [numpy.ascontiguousarray(array)], out, numpy.float64(extra))
        return out[0]
