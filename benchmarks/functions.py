"""Every real function of 2^26 numbers beside CuPy, which calls CUDA's own: what accuracy costs.

Run on a machine with a GPU: ``python benchmarks/functions.py [--only NAME;NAME]``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from beside import Row, main
from table import RANDOM

from gpunumpy.core.ops import table

N = 1 << 26
SAME = {"CuPy": 1.03}
NOT_IN_CUPY = frozenset({"float_power"})
FUNCTIONS = [op for name, op in table.ELEMENTWISE.items() if op.ulp and "f" in op.code and name not in NOT_IN_CUPY]


def calling(name: str) -> Callable[..., Any]:
    return lambda xp, *arrays: getattr(xp, name)(*arrays)


def of_domain(op: table.Op, dtype: str) -> Callable[[], tuple[Any, ...]]:
    def data() -> tuple[Any, ...]:
        low, high = op.domain
        return tuple((low + (high - low) * RANDOM.random(N, numpy.float32)).astype(dtype) for _ in range(op.arity))

    return data


ROWS = tuple(
    Row(f"{op.name} {dtype}", calling(op.name), of_domain(op, dtype), SAME)
    for op in FUNCTIONS
    for dtype in ("float32", "float64")
)

if __name__ == "__main__":
    main(__doc__, ROWS)
