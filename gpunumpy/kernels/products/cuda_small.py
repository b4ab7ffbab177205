"""The product of two small matrices of floats, with what comes after: one short kernel that costs the host little.

A library takes longer to be called than such a product takes to be made.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.dtypes import C_TYPE, KIND
from ...core.graph.layout import Layout
from ...core.graph.library_calls.products import is_small_product
from ...core.schedule.batch import MAX_BATCH
from ..codegen import op_code
from ..codegen.program import Launch, Program
from ..cuda.routine import chosen
from .cuda_after import SCALARS

_TILE, _DEPTH = 16, 32

_TEXT = """
extern "C" __global__ void small_matmul({pointers}, long long rows, long long columns, long long inner, long long tiles,
    long long a0, long long ar, long long ac, long long b0, long long br, long long bc) {{
  {chosen}
  __shared__ {S} left[{tile}][{depth} + 1];
  __shared__ {S} right[{depth}][{tile} + 1];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = (int)blockIdx.x / (int)tiles * {tile} + y, column = (int)blockIdx.x % (int)tiles * {tile} + x;
  {S} sum = 0;
  for (int k = 0; k < inner; k += {depth}) {{
#pragma unroll
    for (int j = 0; j < {depth}; j += {tile}) {{
      left[y][x + j] = row < rows && k + x + j < inner ? ({S})a[a0 + row * ar + (k + x + j) * ac] : ({S})0;
      right[y + j][x] = k + y + j < inner && column < columns ? ({S})b[b0 + (k + y + j) * br + column * bc] : ({S})0;
    }}
    __syncthreads();
#pragma unroll
    for (int i = 0; i < {depth}; ++i) sum = fma(left[y][i], right[i][x], sum);
    __syncthreads();
  }}
  if (row < rows && column < columns) {{
    const long long at = (long long)row * columns + column;
    {after}
    out[at] = ({O})sum;
  }}
}}
"""
_AFTER = {
    "scale": "sum *= ({S})x{n};",
    "divide": "sum /= ({S})x{n};",
    "bias": "sum += ({S})x{n}[column];",
    "residual": "sum += ({S})x{n}[at];",
    "less": "sum -= ({S})x{n}[at];",
    "from": "sum = ({S})x{n}[at] - sum;",
    "maximum": "sum = sum >= ({S})x{n} || sum != sum ? sum : ({S})x{n};",
}


def is_small(layouts: Sequence[Layout], dtype: Any) -> bool:
    """Whether a product, of operands with two dimensions or more, is for this kernel."""
    shape, inner = layouts[0].shape, layouts[1].shape[-1]
    return is_small_product(shape[-2:], inner) and prod(shape[:-2]) == 1 and KIND[dtype] in "ef"


def small_matmul(
    layouts: Sequence[Layout], dtypes: Sequence[Any], after: Sequence[str], count: int = 1
) -> tuple[Program, str]:
    """The program, and the letters of its arguments as a `Launcher` takes them.

    Parameters
    ----------
    layouts
        Those of the result, in C order, and of the operands, with two dimensions or more.
    dtypes
        Their dtypes.
    after
        As in `gpunumpy.core.graph.library_calls.products.Product`; a pointer or a scalar for each is an argument more.
    count
        For how many products. If there are several, the arguments are those of each one after the other, as many as
        there can be at most.
    """
    out, a, b = layouts
    made, dtype = dtypes[:2]
    (rows, columns), inner = out.shape[-2:], a.shape[-1]
    sums = "double" if dtype.itemsize == 8 else "float"
    types = {"out": f"{C_TYPE[made]}*", "a": f"const {C_TYPE[dtype]}*", "b": f"const {C_TYPE[dtype]}*"}
    types |= {f"x{n}": "double" if step in SCALARS else f"const {C_TYPE[made]}*" for n, step in enumerate(after)}
    several = count > 1
    names = [f"_{k}" for k in range(MAX_BATCH)] if several else [""]
    text = _TEXT.format(
        O=C_TYPE[made],
        T=C_TYPE[dtype],
        S=sums,
        tile=_TILE,
        depth=_DEPTH,
        pointers=", ".join(f"{kind} {name}{number}" for number in names for name, kind in types.items()),
        chosen=chosen("blockIdx.y", types, MAX_BATCH) if several else "",
        after="\n    ".join(_AFTER[step].format(S=sums, n=n) for n, step in enumerate(after)),
    )
    across, down = -(-columns // _TILE), -(-rows // _TILE)
    operands = (a.offset, *a.strides[-2:], b.offset, *b.strides[-2:])
    launch = Launch("small_matmul", (across * down, count, 1), (_TILE, _TILE, 1), 0)
    program = Program(f"{op_code.helpers(())}\n{text}", (launch,), (), False, (rows, columns, inner, across, *operands))
    return program, "".join("d" if kind == "double" else "Q" for kind in types.values()) * len(names)
