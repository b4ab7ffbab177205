"""Ops that no library has, on the CPU: a loop that the host's compiler makes, called like NumPy's functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy

from ...core.dtypes import C_TYPE, DType
from ...core.graph.layout import Layout
from ..codegen.op_code import expression, helpers
from .host_compiler import library
from .loop_text import MadeLoop, layouts_of, numbers_of, shape_of, texts
from .text import macros_in


def loop_text(op: str, loop: tuple[DType, ...]) -> str:
    """Return C++ of ``run(dimensions, shape, data, strides)`` over arrays of the loop's dtypes, the result last.

    Strides are in bytes: those of the first array, of the second, and so on.
    """
    types = [C_TYPE[dtype] for dtype in loop]
    last, count = len(types) - 1, len(types)
    names = [f"x{k}" for k in range(last)]
    value = expression(op, loop, names)
    taken = " ".join(f"const {t} x{k} = *(const {t}*)(p{k} + j * s{k});" for k, t in enumerate(types[:-1]))
    taken_packed = " ".join(f"const {t} x{k} = ((const {t}*)p{k})[j];" for k, t in enumerate(types[:-1]))
    is_packed = " && ".join(f"s{k} == sizeof({t})" for k, t in enumerate(types))
    pointers = " ".join(f"char* p{k} = data[{k}];" for k in range(count))
    steps = " ".join(f"const i64 s{k} = n ? strides[{k} * n + n - 1] : 0;" for k in range(count))
    return f"""{helpers([(op, loop)])}
extern "C" void run(i64 n, const i64* shape, char* const* data, const i64* strides) {{
  {pointers}
  {steps}
  const i64 length = n ? shape[n - 1] : 1;
  i64 rows = 1, at[64] = {{0}};
  for (i64 d = 0; d + 1 < n; ++d) rows *= shape[d];
  for (i64 row = 0; row < rows; ++row) {{
    if ({is_packed}) {{
#pragma GCC ivdep
      for (i64 j = 0; j < length; ++j) {{ {taken_packed} (({types[last]}*)p{last})[j] = {value}; }}
    }} else {{
#pragma GCC ivdep
      for (i64 j = 0; j < length; ++j) {{ {taken} *({types[last]}*)(p{last} + j * s{last}) = {value}; }}
    }}
    for (i64 d = n - 2; d >= 0; --d) {{
      {" ".join(f"p{k} += strides[{k} * n + d];" for k in range(count))}
      if (++at[d] < shape[d]) break;
      {" ".join(f"p{k} -= shape[d] * strides[{k} * n + d];" for k in range(count))}
      at[d] = 0;
    }}
  }}
}}
"""


def function(op: str, loop: tuple[DType, ...]) -> Callable[..., Any]:
    """Return ``f(*args, out=None)`` over NumPy arrays and scalars."""
    run = library(loop_text(op, loop)).run
    run.restype = None
    dtypes, result = loop[:-1], loop[-1]

    def call(*args: Any, out: Any = None) -> Any:
        arrays = [numpy.asarray(x, dtype) for x, dtype in zip(args, dtypes, strict=True)]
        target = numpy.empty(numpy.broadcast_shapes(*[x.shape for x in arrays]), result) if out is None else out
        if target.size:
            _call(run, [*arrays, target], target.shape)
        return target[()] if out is None else out

    return call


def _call(run: Any, arrays: Sequence[Any], shape: tuple[int, ...]) -> None:
    """Call a loop over arrays that broadcast to a shape; neighbouring dimensions of packed ones are one."""
    if all(x.size == 1 or (x.shape == shape and x.flags.c_contiguous) for x in arrays):
        count = arrays[-1].size
        shape, strides = (count,), [0 if x.size == 1 < count else x.itemsize for x in arrays]
    else:
        strides = [step for x in arrays for step in numpy.broadcast_to(x, shape).strides]
    addresses = (ctypes.c_void_p * len(arrays))(*[x.ctypes.data for x in arrays])
    run(
        ctypes.c_longlong(len(shape)),
        (ctypes.c_longlong * len(shape))(*shape),
        addresses,
        (ctypes.c_longlong * len(strides))(*strides),
    )


def whole_loop_text(made: MadeLoop, ndims: tuple[int, ...], dimensions: int) -> str:
    """Return C++ of ``run(addresses, numbers, count)``, which runs a loop that indexes its arrays by itself.

    The addresses are those of the inputs, and then of the outputs that differ. Of the options, macros are defined.
    """
    text, function, declarations = texts(made, ndims, dimensions)
    pointers = [d.rpartition("* ")[0] for d in declarations.split(", ") if "*" in d]
    total = declarations.count(",") + 1 - len(pointers)
    addresses = zip(made.loop.arrays, pointers, strict=True)
    arguments = [f"({c_type}*)a[{k}]" for k, c_type in addresses] + [f"p[{k}]" for k in range(total)]
    return (
        f'{macros_in(made.loop.options)}{text}\nextern "C" void run(void* const* a, const i64* p, i64 n) '
        f"{{ {function}({', '.join(arguments)}, 0, 1, n); }}\n"
    )


def run_loop(options: tuple[MadeLoop, int, int], *values: Any) -> None:
    """Run a loop over NumPy arrays: the results, and the inputs."""
    made, size, _ = options
    loop = made.loop
    arrays = layouts_of(loop, [Layout(x.shape, tuple([s // x.itemsize for s in x.strides]), 0) for x in values])
    shape = shape_of(loop, arrays, size)
    results = len(values) - len(loop.inputs)
    taken = [*values[results:], *values[:results]]
    numbers = numbers_of(arrays, shape)
    run = library(whole_loop_text(made, tuple([len(x.shape) for x in arrays]), len(shape))).run
    run.restype = None
    run(
        (ctypes.c_void_p * len(taken))(*[x.ctypes.data for x in taken]),
        (ctypes.c_longlong * len(numbers))(*numbers),
        ctypes.c_longlong(prod(shape)),
    )
