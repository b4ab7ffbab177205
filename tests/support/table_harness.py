"""Runs the table's C on the host: one C++ file with a loop over arrays for each op and loop, compiled by g++.

No CUDA and no emulator: `__device__` is nothing, and of the emulator's shim only the mathematical functions serve,
which are no better than the device's are documented.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy

from gpunumpy.core.dtypes import C_TYPE
from gpunumpy.core.ops import table
from gpunumpy.kernels.codegen import op_code

Case = tuple[str, table.Loop]

_DOCUMENTED = Path(__file__).parents[1] / "emulator" / "shim" / "documented.h"
_PRELUDE = (
    "#include <math.h>\n#include <stdlib.h>\n"
    "#define __device__\n#define __forceinline__ inline\n#define __noinline__ __attribute__((noinline))\n"
    f'#include "{_DOCUMENTED}"\n'
)
_PARTS = 2


def elementwise_cases() -> list[Case]:
    return [(name, loop) for name in table.ELEMENTWISE for loop in table.loops(name)]


def reduction_cases() -> list[Case]:
    return [(name, loop) for name in table.REDUCTIONS for loop in table.reduction_loops(name)]


def _loop_over(symbol: str, case: Case) -> str:
    name, loop = case
    inputs = "".join(f", const {C_TYPE[dtype]}* a{i}" for i, dtype in enumerate(loop[:-1]))
    value = op_code.expression(name, loop, [f"a{i}[i]" for i in range(len(loop) - 1)])
    return (
        f'extern "C" void {symbol}(i64 n{inputs}, {C_TYPE[loop[-1]]}* out) '
        f"{{ for (i64 i = 0; i < n; ++i) out[i] = {value}; }}\n"
    )


def _tree(symbol: str, case: Case) -> str:
    """A reduction in three pieces, one of them element by element and an empty one between."""
    name, loop = case
    code = op_code.reduction(name, loop)
    element, result = C_TYPE[loop[0]], C_TYPE[loop[-1]]
    return (
        f'extern "C" void {symbol}(i64 n, const {element}* a0, {result}* out, f64 x) {{\n'
        f"  typedef {code.state} state;\n"
        f"  state first = {code.identity}, none = {code.identity}, last = {code.identity};\n"
        f"  for (i64 i = 0; i < n / 2; ++i) first = {code.accumulate('first', ['a0[i]'], 'i')};\n"
        f"  for (i64 i = n / 2; i < n; ++i) {{\n"
        f"    state one = {code.map(['a0[i]'], 'i')};\n"
        f"    last = {code.combine('last', 'one')};\n"
        f"  }}\n"
        f"  first = {code.combine('first', 'none')};\n"
        f"  first = {code.combine('first', 'last')};\n"
        f"  out[0] = {code.finish('first', ['x'])};\n}}\n"
    )


def translation_unit(elementwise: list[Case], reductions: Iterable[Case] = ()) -> str:
    """CUDA C++ with one function for each op and loop, and the helpers that they need."""
    reductions = list(reductions)
    body = "".join(_loop_over(f"e{i}", case) for i, case in enumerate(elementwise))
    body += "".join(_tree(f"r{i}", case) for i, case in enumerate(reductions))
    return op_code.helpers([*elementwise, *reductions]) + body.replace('extern "C" void', 'extern "C" __global__ void')


class Compiled:
    """The compiled loops, by case."""

    def __init__(self, folder: Path) -> None:
        elementwise, reductions = elementwise_cases(), reduction_cases()
        helpers = op_code.helpers([*elementwise, *reductions])
        texts = [(f"e{i}", case, _loop_over) for i, case in enumerate(elementwise)]
        texts += [(f"r{i}", case, _tree) for i, case in enumerate(reductions)]
        running = []
        for part in range(_PARTS):
            source = folder / f"part{part}.cpp"
            mine = texts[part::_PARTS]
            body = "".join(write(symbol, case) for symbol, case, write in mine)
            source.write_text(_PRELUDE + helpers + body)
            library = source.with_suffix(".so")
            # To optimize takes twice as long again as to compile, and these loops run once over few numbers.
            command = ["g++", "-std=c++17", "-O0", "-w", "-ffp-contract=off", "-DGPUNUMPY_HOST", "-fPIC", "-shared"]
            process = subprocess.Popen([*command, "-o", library, source], stderr=subprocess.PIPE, text=True)
            running.append((process, library, mine))
        self._elementwise: dict[Case, Any] = {}
        self._reductions: dict[Case, Any] = {}
        for process, library, mine in running:
            _, errors = process.communicate()
            if process.returncode:
                raise RuntimeError(errors[:4000])
            loaded = ctypes.CDLL(str(library))
            for symbol, case, write in mine:
                function = getattr(loaded, symbol)
                function.restype = None
                (self._elementwise if write is _loop_over else self._reductions)[case] = function

    def apply(self, case: Case, arrays: Iterable[numpy.ndarray[Any, Any]]) -> numpy.ndarray[Any, Any]:
        """Return the op of `case` applied to equally long arrays of its loop's dtypes."""
        inputs = [numpy.ascontiguousarray(array) for array in arrays]
        out = numpy.empty(inputs[0].size, case[1][-1])
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*inputs, out)]
        self._elementwise[case](ctypes.c_longlong(out.size), *pointers)
        return out

    def reduce(self, case: Case, array: numpy.ndarray[Any, Any], extra: float = 0.0) -> Any:
        """Return the reduction of `case` over a one-dimensional array."""
        source = numpy.ascontiguousarray(array)
        out = numpy.empty(1, case[1][-1])
        pointers = [ctypes.c_void_p(one.ctypes.data) for one in (source, out)]
        self._reductions[case](ctypes.c_longlong(source.size), *pointers, ctypes.c_double(extra))
        return out[0]
