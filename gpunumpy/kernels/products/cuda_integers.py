"""Matrix products of integers and booleans, which BLAS does not have: tiles of both operands in shared memory.

Sums wrap around as NumPy's do, so they are kept as unsigned numbers of 32 bits, or of 64 where the result needs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.graph.layout import Layout, broadcast_strides
from ..codegen.program import Launch, Program

TILE = 16  # elements of the result along either side of a block's tile
_LARGE_TILE = 64  # the same where every thread makes 4 x 4 of them
_ENOUGH = 64  # large tiles are for results of this many
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
_HEAD = """
extern "C" __global__ void matmul({T}* out, const {T}* a, const {T}* b, long long rows, long long columns,
    long long inner, long long tiles, long long stack, long long a0, long long ar, long long ac, long long b0,
    long long br, long long bc{params}) {{
  alignas(16) __shared__ {S} left[16][{tile} + {room}];
  alignas(16) __shared__ {S} right[16][{tile} + {room}];
  const int x = threadIdx.x, y = threadIdx.y;
  const long long top = (long long)blockIdx.x / tiles * {tile}, start = (long long)blockIdx.x % tiles * {tile};
  for (long long z = blockIdx.z; z < stack; z += gridDim.z) {{
    long long pa = a0, pb = b0, rest = z;
    {offsets}
"""
_SMALL = """
    const long long row = top + y, column = start + x;
    {S} sum = 0;
    for (long long k = 0; k < inner; k += 16) {{
      left[y][x] = row < rows && k + x < inner ? ({S})a[pa + row * ar + (k + x) * ac] : ({S})0;
      right[y][x] = k + y < inner && column < columns ? ({S})b[pb + (k + y) * br + column * bc] : ({S})0;
      __syncthreads();
      for (int i = 0; i < 16; ++i) sum {add} left[y][i] {times} right[i][x];
      __syncthreads();
    }}
    if (row < rows && column < columns) out[(z * rows + row) * columns + column] = ({T})sum;
  }}
}}
"""
# The left tile is turned, so that a thread finds what it needs of both next to each other.
_LARGE = """
    {S} sum[4][4] = {{}};
    for (long long k = 0; k < inner; k += 16) {{
#pragma unroll
      for (int i = 0; i < {tile} / 16; ++i) {{
        const int j = y * 16 + x + 256 * i;
        const long long row = top + j / 16, at = k + j % 16, down = k + j / {tile}, c = start + j % {tile};
        left[j % 16][j / 16] = row < rows && at < inner ? ({S})a[pa + row * ar + at * ac] : ({S})0;
        right[j / {tile}][j % {tile}] = down < inner && c < columns ? ({S})b[pb + down * br + c * bc] : ({S})0;
      }}
      __syncthreads();
#pragma unroll
      for (int i = 0; i < 16; ++i) {{
        {S} one[4], two[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {{ one[j] = left[i][4 * y + j]; two[j] = right[i][4 * x + j]; }}
#pragma unroll
        for (int p = 0; p < 4; ++p)
#pragma unroll
          for (int q = 0; q < 4; ++q) sum[p][q] {add} one[p] {times} two[q];
      }}
      __syncthreads();
    }}
#pragma unroll
    for (int p = 0; p < 4; ++p)
#pragma unroll
      for (int q = 0; q < 4; ++q) {{
        const long long row = top + 4 * y + p, column = start + 4 * x + q;
        if (row < rows && column < columns) out[(z * rows + row) * columns + column] = ({T})sum[p][q];
      }}
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
    stack = prod(batch)
    large = 2 * min(rows, columns) > _LARGE_TILE and rows * columns * stack >= _ENOUGH * _LARGE_TILE**2
    tile = _LARGE_TILE if large else TILE
    wide = dtype.itemsize == 8
    truth = dtype.kind == "b"
    text = (_HEAD + (_LARGE if large else _SMALL)).format(
        T=_NAMES[dtype.name],
        S="unsigned long long" if wide else "unsigned",
        tile=tile,
        room=4 if large else 1,
        params=params,
        offsets=offsets,
        add="|=" if truth else "+=",
        times="&" if truth else "*",
    )
    across, down = -(-columns // tile), -(-rows // tile)
    grid = (across * down, 1, min(stack, _MOST_BLOCKS_Z))
    operands = (a.offset, *a.strides[-2:], b.offset, *b.strides[-2:])
    return Program(
        text,
        (Launch("matmul", grid, (TILE, TILE, 1), 0),),
        (),
        False,
        (rows, columns, inner, across, stack, *operands, *values),
    )
