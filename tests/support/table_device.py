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
    """The loops by case, compiled for each operation when a test first asks for it: processes share the operations."""

    def __init__(self) -> None:
        self._device = Device()
        self._device.set_current()
        self._stream = self._device.create_stream()
        self._options = ProgramOptions(arch=f"sm_{self._device.arch}", std="c++17", fma=False)
        self._kernels: dict[tuple[str, Case], Any] = {}

    def _kernel(self, kind: str, case: Case) -> Any:
        if (kind, case) not in self._kernels:
            elementwise = [each for each in elementwise_cases() if each[0] == case[0]]
            reductions = [each for each in reduction_cases() if each[0] == case[0]]
            code = Program(translation_unit(elementwise, reductions), "c++", self._options).compile("cubin")
            for letter, cases in (("e", elementwise), ("r", reductions)):
                self._kernels |= {(letter, each): code.get_kernel(f"{letter}{i}") for i, each in enumerate(cases)}
        return self._kernels[kind, case]

    def _run(
        self, kernel: Any, inputs: list[numpy.ndarray[Any, Any]], out: numpy.ndarray[Any, Any], *extra: Any
    ) -> None:
        arrays = [*inputs, out]
        buffers = [self._device.allocate(max(array.nbytes, 1), stream=self._stream) for array in arrays]
        self._stream.sync()
        for array, buffer in zip(inputs, buffers):
            if array.nbytes:
                _checked(driver.cuMemcpyHtoD(int(buffer.handle), array.ctypes.data, array.nbytes))
        _checked(driver.cuCtxSynchronize())  # a copy of few bytes may still be under way when the call returns
        launch(self._stream, LaunchConfig(grid=1, block=1), kernel, numpy.int64(inputs[0].size), *buffers, *extra)
        self._stream.sync()
        if out.nbytes:
            _checked(driver.cuMemcpyDtoH(out.ctypes.data, int(buffers[-1].handle), out.nbytes))

    def apply(self, case: Case, arrays: Iterable[numpy.ndarray[Any, Any]]) -> numpy.ndarray[Any, Any]:
        """Return the op of `case` applied to equally long arrays of its loop's dtypes."""
        inputs = [numpy.ascontiguousarray(array) for array in arrays]
        out = numpy.empty(inputs[0].size, case[1][-1])
        self._run(self._kernel("e", case), inputs, out)
        return out

    def reduce(self, case: Case, array: numpy.ndarray[Any, Any], extra: float = 0.0) -> Any:
        """Return the reduction of `case` over a one-dimensional array."""
        out = numpy.empty(1, case[1][-1])
        self._run(self._kernel("r", case), [numpy.ascontiguousarray(array)], out, numpy.float64(extra))
        return out[0]
