"""Random numbers on a GPU, as programs of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy

from ..core.layout import Layout
from .codegen.program import Program
from .cuda_routine import THREADS, Routine
from .table_streams import CHUNK, CONGRUENTIAL, jump, sources, wide

# How many chunks in a row one thread finds: it jumps to the first, and steps from each to the next.
_STEPS = 16
_LEVELS = 40  # of chunks numbered by as many bits


def stream_starts(options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[numpy.dtype[Any]]) -> Program:
    """Where every chunk of words of a congruential generator starts: upper halves, lower halves, of its state."""
    text = Routine()
    chunks = prod(layouts[0].shape)
    body = start_chunks(options[0], text.param(chunks))
    text.each("starts", "t", -(-chunks // _STEPS), text.param(-(-chunks // _STEPS)), body)
    pointers = ["u64* hi", "u64* lo", "const u64* state"]
    return text.program(pointers, head=sources()["streams"] + _jumps(options[0]))


def _jumps(name: str) -> str:
    """How to jump over 2^k chunks: what x and c are multiplied by."""
    pairs = (jump(CONGRUENTIAL[name][0], CHUNK << level) for level in range(_LEVELS))
    listed = ", ".join(wide(half) for pair in pairs for half in pair)
    return f"__device__ const Wide jumps[{2 * _LEVELS}] = {{{listed}}};\n"


def start_chunks(name: str, chunks: str) -> str:
    """The body that finds the chunks of thread `t`."""
    multiplier, _, ahead = CONGRUENTIAL[name]
    power, total = jump(multiplier, ahead)
    return f"""
    const Wide c{{state[2], state[3]}};
    Wide x = op::wide_step({{state[0], state[1]}}, {wide(power)}, op::wide_times(c, {wide(total)}));
    const long long first = t * {_STEPS};
    for (int level = 0; first >> level; ++level)
      if (first >> level & 1) x = op::wide_step(x, jumps[2 * level], op::wide_times(c, jumps[2 * level + 1]));
    const Wide step = op::wide_times(c, jumps[1]);
    for (long long k = first; k < first + {_STEPS} && k < {chunks}; ++k) {{
      hi[k] = x.hi;
      lo[k] = x.lo;
      x = op::wide_step(x, jumps[0], step);
    }}
"""


PROGRAMS = (stream_starts,)
