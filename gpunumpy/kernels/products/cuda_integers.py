"""Matrix products of integers and booleans, for which BLAS has no routines: tiles of both operands in shared memory.

Sums wrap around as in NumPy. They are unsigned numbers, of 64 bits if the result has 64 bits and else of 32.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...core.graph.layout import Layout, broadcast_strides
from ..codegen.program import Launch, Program

TILE = 16  # elements of the result along either side of a block's tile
_LARGE_TILE = 64  # the same where each thread computes 4 x 4 elements
_MIN_LARGE_TILES = 64  # tiles of a result from which on large tiles are used
_MAX_BLOCKS_Z = 65_535  # CUDA's limit of a grid's third size

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

# A block computes one tile of the result, for one matrix of the stack after the other.
_KERNEL_HEAD = """
extern "C" __global__ void matmul({T}* out, const {T}* a, const {T}* b, long long rows, long long columns,
    long long inner, long long tiles, long long stack, long long a0, long long ar, long long ac, long long b0,
    long long br, long long bc{params}) {{
  alignas(16) __shared__ {S} left[16][{tile} + {padding}];
  alignas(16) __shared__ {S} right[16][{tile} + {padding}];
  const int x = threadIdx.x, y = threadIdx.y;
  const long long top = (long long)blockIdx.x / tiles * {tile}, start = (long long)blockIdx.x % tiles * {tile};
  for (long long z = blockIdx.z; z < stack; z += gridDim.z) {{
    long long pa = a0, pb = b0, rest = z;
    {offsets}
"""
_SMALL_TILE_BODY = """
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
# The left tile is transposed, so that a thread reads neighbouring elements of both tiles.
_LARGE_TILE_BODY = """
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
        {S} lefts[4], rights[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {{ lefts[j] = left[i][4 * y + j]; rights[j] = right[i][4 * x + j]; }}
#pragma unroll
        for (int p = 0; p < 4; ++p)
#pragma unroll
          for (int q = 0; q < 4; ++q) sum[p][q] {add} lefts[p] {times} rights[q];
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
    """Return the program of the product of two stacks of matrices of one dtype.

    Parameters
    ----------
    layouts
        Layouts of the result, in C order, and of the operands, all with two dimensions or more.
    dtypes
        Their dtypes.
    """
    out, a, b = layouts
    dtype = dtypes[0]
    batch = out.shape[:-2]
    (rows, columns), inner = out.shape[-2:], a.shape[-1]
    strides = [broadcast_strides(operand.shape[:-2], operand.strides[:-2], batch) for operand in (a, b)]
    # The dimensions of the stack, from the last to the first: a size and a stride in each operand.
    offsets, values = "", []
    for d in range(len(batch) - 1, -1, -1):
        offsets += f"{{ const long long at = rest % n{d}; rest /= n{d}; pa += at * sa{d}; pb += at * sb{d}; }}\n    "
        values += [batch[d], strides[0][d], strides[1][d]]
    params = "".join(f", long long n{d}, long long sa{d}, long long sb{d}" for d in range(len(batch) - 1, -1, -1))
    stack = prod(batch)
    large = 2 * min(rows, columns) > _LARGE_TILE and rows * columns * stack >= _MIN_LARGE_TILES * _LARGE_TILE**2
    tile = _LARGE_TILE if large else TILE
    is_64_bit = dtype.itemsize == 8
    is_bool = dtype.kind == "b"
    text = (_KERNEL_HEAD + (_LARGE_TILE_BODY if large else _SMALL_TILE_BODY)).format(
        T=_NAMES[dtype.name],
        S="unsigned long long" if is_64_bit else "unsigned",
        tile=tile,
        padding=4 if large else 1,
        params=params,
        offsets=offsets,
        add="|=" if is_bool else "+=",
        times="&" if is_bool else "*",
    )
    across, down = -(-columns // tile), -(-rows // tile)
    grid = (across * down, 1, min(stack, _MAX_BLOCKS_Z))
    operands = (a.offset, *a.strides[-2:], b.offset, *b.strides[-2:])
    return Program(
        text,
        (Launch("matmul", grid, (TILE, TILE, 1), 0),),
        (),
        False,
        (rows, columns, inner, across, stack, *operands, *values),
    )
