"""The product of two small matrices of floats with its epilogues, in one kernel.

The call of a library takes longer than such a product.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any

from ...core.dtypes import C_TYPE, KIND, DType
from ...core.graph.layout import Layout
from ...core.graph.library_calls.products import is_small_product
from ...core.schedule.batch import MAX_BATCH
from ..codegen import op_code
from ..codegen.program import Launch, Program
from ..codegen.sources import source
from ..cuda.program_builder import select_parameters
from .cuda_epilogues import SCALARS

# Elements along each side of a block's tile of the result, and along the sums at once.
_TILE, _DEPTH = 16, 32

_TEXT = """
extern "C" __global__ void small_matmul({pointers}, long long rows, long long columns, long long inner, long long tiles,
    long long a0, long long ar, long long ac, long long b0, long long br, long long bc) {{
  await_kernels_before();
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
    {epilogues}
    out[at] = ({O})sum;
  }}
}}
"""
# The text of each epilogue of `Product.epilogues`; ``x<n>`` is the scalar or pointer of step n.
EPILOGUES = {
    "scale": "sum *= ({S})x{n};",
    "divide": "sum /= ({S})x{n};",
    "bias": "sum += ({S})x{n}[column];",
    "residual": "sum += ({S})x{n}[at];",
    "subtract": "sum -= ({S})x{n}[at];",
    "subtract_from": "sum = ({S})x{n}[at] - sum;",
    "maximum": "sum = sum >= ({S})x{n} || sum != sum ? sum : ({S})x{n};",
}


def is_small(layouts: Sequence[Layout], dtype: Any) -> bool:
    """Return whether this kernel computes a product; its operands have two dimensions or more."""
    shape, inner = layouts[0].shape, layouts[1].shape[-1]
    return is_small_product(shape[-2:], inner) and prod(shape[:-2]) == 1 and KIND[dtype] in "ef"


def small_matmul(
    layouts: Sequence[Layout], dtypes: Sequence[Any], epilogues: Sequence[str], count: int = 1
) -> tuple[Program, str]:
    """Return the program, and the format of its arguments for a `Launcher`.

    Parameters
    ----------
    layouts
        Layouts of the result, in C order, and of the operands, with two dimensions or more.
    dtypes
        Their dtypes.
    epilogues
        As in `gpunumpy.core.graph.library_calls.products.Product`. Each adds a pointer or a scalar to the arguments.
    count
        Number of equal products. If there are several, the program takes the arguments of `MAX_BATCH` products, one
        product after the other.
    """
    out, a, b = layouts
    (rows, columns), inner = out.shape[-2:], a.shape[-1]
    across, down = -(-columns // _TILE), -(-rows // _TILE)
    operands = (a.offset, *a.strides[-2:], b.offset, *b.strides[-2:])
    launch = Launch("small_matmul", (across * down, count, 1), (_TILE, _TILE, 1), waits=True)
    text = _program_text(dtypes[0], dtypes[1], tuple(epilogues), count > 1)
    program = Program(text, (launch,), (), False, (rows, columns, inner, across, *operands))
    kinds = ["Q", "Q", "Q", *("d" if epilogue in SCALARS else "Q" for epilogue in epilogues)]
    return program, "".join(kinds) * (MAX_BATCH if count > 1 else 1)


@cache
def _program_text(out_dtype: DType, dtype: DType, epilogues: tuple[str, ...], is_batch: bool) -> str:
    sums = "double" if dtype.itemsize == 8 else "float"
    types = {"out": f"{C_TYPE[out_dtype]}*", "a": f"const {C_TYPE[dtype]}*", "b": f"const {C_TYPE[dtype]}*"}
    pointer = f"const {C_TYPE[out_dtype]}*"
    types |= {f"x{n}": "double" if epilogue in SCALARS else pointer for n, epilogue in enumerate(epilogues)}
    names = [f"_{k}" for k in range(MAX_BATCH)] if is_batch else [""]
    text = _TEXT.format(
        O=C_TYPE[out_dtype],
        T=C_TYPE[dtype],
        S=sums,
        tile=_TILE,
        depth=_DEPTH,
        pointers=", ".join(f"{kind} {name}{number}" for number in names for name, kind in types.items()),
        chosen=select_parameters("blockIdx.y", types, MAX_BATCH) if is_batch else "",
        epilogues="\n    ".join(EPILOGUES[epilogue].format(S=sums, n=n) for n, epilogue in enumerate(epilogues)),
    )
    return f"{op_code.helpers(())}\n{source('codegen/dependent')}\n{text}"
