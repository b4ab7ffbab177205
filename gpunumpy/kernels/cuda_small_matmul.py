"""The product of two small matrices of floats, with what comes after: one short kernel that costs the host little.

A library takes longer to be called than such a product takes to be made.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..core.dtypes import C_TYPE, KIND
from ..core.layout import Layout
from . import table
from .codegen.program import Launch, Program
from .cuda_after import SCALARS

_TILE, _DEPTH = 16, 32
# The longest sides that this is for, and the greatest number of products of elements.
_SIDE, _INNER, _WORK = 256, 512, 1 << 21

_TEXT = """
extern "C" __global__ void small_matmul({O}* out, const {T}* a, const {T}* b{pointers}, long long rows,
    long long columns, long long inner, long long tiles, long long a0, long long ar, long long ac, long long b0,
    long long br, long long bc) {{
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
    rows, columns = shape[-2:]
    fits = max(rows, columns) <= _SIDE and inner <= _INNER and rows * columns * inner <= _WORK
    return fits and prod(shape[:-2]) == 1 and KIND[dtype] in "ef"


def small_matmul(layouts: Sequence[Layout], dtypes: Sequence[Any], after: Sequence[str]) -> tuple[Program, str]:
    """The program, and the letters of its arguments as a `Launcher` takes them.

    Parameters
    ----------
    layouts
        Those of the result, in C order, and of the operands, with two dimensions or more.
    dtypes
        Their dtypes.
    after
        As in `gpunumpy.core.epilogues.Product`; a pointer or a scalar for each is an argument more.
    """
    out, a, b = layouts
    made, dtype = dtypes[:2]
    (rows, columns), inner = out.shape[-2:], a.shape[-1]
    sums = "double" if dtype.itemsize == 8 else "float"
    pointers = "".join(
        f", double x{n}" if step in SCALARS else f", const {C_TYPE[made]}* x{n}" for n, step in enumerate(after)
    )
    text = _TEXT.format(
        O=C_TYPE[made],
        T=C_TYPE[dtype],
        S=sums,
        tile=_TILE,
        depth=_DEPTH,
        pointers=pointers,
        after="\n    ".join(_AFTER[step].format(S=sums, n=n) for n, step in enumerate(after)),
    )
    across, down = -(-columns // _TILE), -(-rows // _TILE)
    operands = (a.offset, *a.strides[-2:], b.offset, *b.strides[-2:])
    launch = Launch("small_matmul", (across * down, 1, 1), (_TILE, _TILE, 1), 0)
    program = Program(f"{table.helpers(())}\n{text}", (launch,), (), False, (rows, columns, inner, across, *operands))
    return program, "QQQ" + "".join("d" if step in SCALARS else "Q" for step in after)
