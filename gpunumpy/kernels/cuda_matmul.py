"""Matrix products of integers and booleans, which BLAS does not have: tiles of both operands in shared memory.

Sums wrap around as NumPy's do, so they are kept as unsigned numbers of 32 bits, or of 64 where the result needs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..core.layout import Layout, broadcast_strides
from .codegen.program import Launch, Program

TILE = 16
_MOST_BLOCKS_Z = 65_535

_NAMES = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned",
    "uint64": "unsigned long long",
}

# Every block makes one tile of the result, for one matrix of the stack after the other.
_TEXT = """
extern "C" __global__ void matmul({T}* out, const {T}* a, const {T}* b, long long rows, long long columns,
    long long inner, long long tiles, long long stack, long long a0, long long ar, long long ac, long long b0,
    long long br, long long bc{params}) {{
  __shared__ {S} left[{tile}][{tile} + 1];
  __shared__ {S} right[{tile}][{tile} + 1];
  const int x = threadIdx.x, y = threadIdx.y;
  const long long row = (long long)blockIdx.x / tiles * {tile} + y, column = (long long)blockIdx.x % tiles * {tile} + x;
  for (long long z = blockIdx.z; z < stack; z += gridDim.z) {{
    long long pa = a0, pb = b0, rest = z;
    {offsets}
    {S} sum = 0;
    for (long long k = 0; k < inner; k += {tile}) {{
      left[y][x] = row < rows && k + x < inner ? ({S})a[pa + row * ar + (k + x) * ac] : ({S})0;
      right[y][x] = k + y < inner && column < columns ? ({S})b[pb + (k + y) * br + column * bc] : ({S})0;
      __syncthreads();
      for (int i = 0; i < {tile}; ++i) sum {add};
      __syncthreads();
    }}
    if (row < rows && column < columns) out[(z * rows + row) * columns + column] = ({T})sum;
  }}
}}
"""


def matmul(layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Program:
    """The product of two stacks of matrices of one dtype.

    Parameters
    ----------
    layouts
        Those of the result, in C order, and of the operands, all with two dimensions or more.
    dtypes
        Their dtypes.
    """
    out, a, b = layouts
    dtype = dtypes[0]
    batch = out.shape[:-2]
    (rows, columns), inner = out.shape[-2:], a.shape[-1]
    strides = [broadcast_strides(where.shape[:-2], where.strides[:-2], batch) for where in (a, b)]
    # The dimensions of the stack, from the last to the first: a size and a stride in either operand.
    offsets, values = "", []
    for d in range(len(batch) - 1, -1, -1):
        offsets += f"{{ const long long at = rest % n{d}; rest /= n{d}; pa += at * sa{d}; pb += at * sb{d}; }}\n    "
        values += [batch[d], strides[0][d], strides[1][d]]
    params = "".join(f", long long n{d}, long long sa{d}, long long sb{d}" for d in range(len(batch) - 1, -1, -1))
    wide = dtype.itemsize == 8
    truth = dtype.kind == "b"
    text = _TEXT.format(
        T=_NAMES[dtype.name],
        S="unsigned long long" if wide else "unsigned",
        tile=TILE,
        params=params,
        offsets=offsets,
        add="|= left[y][i] & right[i][x]" if truth else "+= left[y][i] * right[i][x]",
    )
    across, down, stack = -(-columns // TILE), -(-rows // TILE), prod(batch)
    grid = (across * down, 1, min(stack, _MOST_BLOCKS_Z))
    operands = (a.offset, *a.strides[-2:], b.offset, *b.strides[-2:])
    return Program(
        text,
        (Launch("matmul", grid, (TILE, TILE, 1), 0),),
        (),
        False,
        (rows, columns, inner, across, stack, *operands, *values),
    )
