"""Reductions made at run time, on the CPU: loops that the host's compiler makes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ...core.dtypes import C_TYPE, DType
from ...core.ops.made import MadeReduction
from ..codegen.op_code import helpers
from .host_compiler import library


def reduction_loops_text(op: MadeReduction, loop: tuple[DType, ...]) -> str:
    """Return C++ of the size of a state, and of functions that begin, accumulate, merge and finish arrays of states."""
    stored, returned = (C_TYPE[dtype] for dtype in loop)
    return f"""{helpers([(op, loop)])}
typedef {op}::State State;
extern "C" i64 state_bytes() {{ return sizeof(State); }}
extern "C" void begin(i64 count, State* s) {{ for (i64 k = 0; k < count; ++k) s[k] = {op}::identity(); }}
extern "C" void merge(i64 count, const State* a, const State* b, State* s) {{
  for (i64 k = 0; k < count; ++k) s[k] = {op}::combine(a[k], b[k]);
}}
extern "C" void finish(i64 count, const State* s, {returned}* y) {{
  for (i64 k = 0; k < count; ++k) y[k] = {op}::finish(s[k]);
}}
// Elements have strides in bytes, and states in states: 0 along reduced dimensions.
extern "C" void accumulate(i64 n, const i64* shape, const char* x, const i64* steps, State* s, const i64* places) {{
  const i64 length = shape[n - 1], step = steps[n - 1], place = places[n - 1];
  i64 rows = 1, at[64] = {{0}};
  for (i64 d = 0; d + 1 < n; ++d) rows *= shape[d];
  for (i64 row = 0; row < rows; ++row) {{
    if (place == 0) {{
      State state = *s;
      for (i64 j = 0; j < length; ++j) state = {op}::combine(state, {op}::map(*(const {stored}*)(x + j * step)));
      *s = state;
    }} else {{
      for (i64 j = 0; j < length; ++j) {{
        s[j * place] = {op}::combine(s[j * place], {op}::map(*(const {stored}*)(x + j * step)));
      }}
    }}
    for (i64 d = n - 2; d >= 0; --d) {{
      x += steps[d];
      s += places[d];
      if (++at[d] < shape[d]) break;
      x -= shape[d] * steps[d];
      s -= shape[d] * places[d];
      at[d] = 0;
    }}
  }}
}}
"""


def reducer_functions(
    op: MadeReduction, loop: tuple[DType, ...], axes: tuple[int, ...]
) -> tuple[Callable[..., Any], ...]:
    """Return ``whole``, ``partial``, ``merge`` and ``finish`` of a reduction over axes; see `kernels.host.reduce`."""
    made = library(reduction_loops_text(op, loop))
    made.state_bytes.restype = ctypes.c_longlong
    state = numpy.dtype(f"V{made.state_bytes()}")
    dtype, result = loop

    def partial(x: Any, start: int) -> tuple[Any]:
        x = numpy.asarray(x, dtype)
        states = numpy.empty([1 if d in axes else n for d, n in enumerate(x.shape)], state)
        made.begin(ctypes.c_longlong(states.size), _address(states))
        shape, steps = x.shape or (1,), x.strides or (0,)
        kept = [s // state.itemsize for s in states.strides] or [0]
        places = [0 if d in axes else s for d, s in enumerate(kept)]
        if x.size:
            made.accumulate(
                *(ctypes.c_longlong(len(shape)), _numbers(shape), _address(x), _numbers(steps)),
                *(_address(states), _numbers(places)),
            )
        return (states,)

    def merge(s: tuple[Any], t: tuple[Any]) -> tuple[Any]:
        both = numpy.empty_like(s[0])
        made.merge(ctypes.c_longlong(both.size), *map(_address, (s[0], t[0], both)))
        return (both,)

    def finish(s: tuple[Any]) -> Any:
        values = numpy.empty(s[0].shape, result)
        made.finish(ctypes.c_longlong(values.size), _address(s[0]), _address(values))
        return values

    return lambda x: finish(partial(x, 0)), partial, merge, finish


def _address(x: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(x.ctypes.data)


def _numbers(values: Sequence[int]) -> Any:
    return (ctypes.c_longlong * len(values))(*values)
