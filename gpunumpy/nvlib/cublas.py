"""cuBLAS: matrix products of floating-point and complex numbers.

cuBLAS thinks in columns. Our results are in C order, so it is asked for the transposed product: with the operands
swapped, what is a row to us is a column to it. An operand whose columns are contiguous is one that it transposes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

from ..core.device import Device
from ..core.layout import Layout, Shape, broadcast_shapes, broadcast_strides, c_strides
from .handles import handle

Prepared = Callable[[Sequence[Any]], None]

# dtype -> its cudaDataType, the compute type, the dtype of alpha and beta. Halves are summed in float32, and float32
# in full precision: no TF32.
_TYPES: dict[str, tuple[int, str, str]] = {
    "float16": (2, "COMPUTE_32F", "float32"),
    "bfloat16": (14, "COMPUTE_32F", "float32"),
    "float32": (0, "COMPUTE_32F", "float32"),
    "float64": (1, "COMPUTE_64F", "float64"),
    "complex64": (4, "COMPUTE_32F", "complex64"),
    "complex128": (5, "COMPUTE_64F", "complex128"),
}
# One and zero in host memory, which cuBLAS reads during the call.
_SCALARS = {name: numpy.array([1, 0], name) for name in ("float32", "float64", "complex64", "complex128")}
_DEFAULT_ALGORITHM = -1


def as_matrices(out: Layout, a: Layout, b: Layout) -> tuple[Layout, Layout, Layout]:
    """The layouts of a product in two dimensions or more: a vector is a matrix with a dimension of size 1.

    The result, which is in C order, may have been given in any shape.
    """
    if len(a.shape) == 1:
        a = Layout((1, *a.shape), (0, *a.strides), a.offset)
    if len(b.shape) == 1:
        b = Layout((*b.shape, 1), (*b.strides, 0), b.offset)
    shape = (*broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    return Layout(shape, c_strides(shape), out.offset), a, b


class Gemms(NamedTuple):
    """The calls that make one product; the first operand of cuBLAS is our second. Strides and offsets in elements.

    Attributes
    ----------
    sizes
        m, n and k: columns, rows and the length of the sums.
    first, second
        For the second and the first operand of the product: whether cuBLAS transposes it, and its leading dimension.
    strides, batch
        From one matrix of a batch to the next in the second operand, the first one and the result; how many there are.
    offsets
        For every call, where the second operand, the first one and the result begin.
    """

    sizes: tuple[int, int, int]
    first: tuple[bool, int]
    second: tuple[bool, int]
    strides: tuple[int, int, int]
    batch: int
    offsets: tuple[tuple[int, int, int], ...]


def gemms(out: Layout, a: Layout, b: Layout) -> Gemms:
    """The calls for a product of stacks of matrices."""
    batch = out.shape[:-2]
    (rows, columns), inner = out.shape[-2:], a.shape[-1]
    left = broadcast_strides(a.shape[:-2], a.strides[:-2], batch)
    right = broadcast_strides(b.shape[:-2], b.strides[:-2], batch)
    first, second = _leading(b), _leading(a)
    dims = _merged(batch, right, left)
    # One matrix for a whole stack: the rows of the stack are the rows of one large matrix.
    if len(dims) == 1 and dims[0][1] == 0 and not second[0] and dims[0][2] == rows * second[1]:
        rows *= dims[0][0]
        dims = []
    count, *steps = dims.pop() if dims else (1, 0, 0)
    size = rows * columns
    places = [size * count * n for n in c_strides(tuple(n for n, *_ in dims))]
    offsets = tuple(
        (
            b.offset + sum(i * d[1] for i, d in zip(index, dims, strict=True)),
            a.offset + sum(i * d[2] for i, d in zip(index, dims, strict=True)),
            out.offset + sum(i * s for i, s in zip(index, places, strict=True)),
        )
        for index in itertools.product(*(range(n) for n, *_ in dims))
    )
    return Gemms((columns, rows, inner), first, second, (steps[0], steps[1], size), count, offsets)


def _leading(where: Layout) -> tuple[bool, int]:
    """Whether a matrix lies by columns, and the step from one row (or column) to the next."""
    (rows, columns), (down, across) = where.shape[-2:], where.strides[-2:]
    if (across == 1 or columns == 1) and (down >= columns or rows == 1):
        return False, down if rows > 1 else columns
    assert down == 1 or rows == 1, "an operand that BLAS cannot read was to be copied"
    return True, across if columns > 1 else rows


def _merged(batch: Shape, right: Sequence[int], left: Sequence[int]) -> list[tuple[int, int, int]]:
    """The dimensions of a stack (size, step in the second operand, step in the first), as few as possible."""
    dims: list[tuple[int, int, int]] = []
    for n, r, s in zip(batch, right, left, strict=True):
        if n == 1:
            continue
        if dims and dims[-1][1] == r * n and dims[-1][2] == s * n:
            dims[-1] = (dims[-1][0] * n, r, s)
        else:
            dims.append((n, r, s))
    return dims


def prepare(device: Device, plan: Gemms, dtype: Any) -> Prepared:
    """A function that makes the calls over the pointers of the result and the operands."""
    cublas, library = handle(device, "cublas")
    code, compute, scalar = _TYPES[dtype.name]
    unit = dtype.itemsize
    one = _SCALARS[scalar].ctypes.data
    zero = one + _SCALARS[scalar].itemsize
    transposes = [
        int(cublas.Operation.T if by_columns else cublas.Operation.N) for by_columns in (plan.first[0], plan.second[0])
    ]
    compute_type = int(getattr(cublas.ComputeType, compute))
    m, n, k = plan.sizes
    (lda, ldb, ldc), (stride_a, stride_b, stride_c) = (plan.first[1], plan.second[1], m), plan.strides
    places = [tuple(unit * o for o in offsets) for offsets in plan.offsets]
    gemm, batched = cublas.gemm_ex_64, cublas.gemm_strided_batched_ex_64

    def run(pointers: Sequence[Any]) -> None:
        result, left, right = pointers
        device.activate()
        head = (library, *transposes, m, n, k, one)
        for at_right, at_left, at_result in places:
            a, b, c = right + at_right, left + at_left, result + at_result
            if plan.batch == 1:
                gemm(*head, a, code, lda, b, code, ldb, zero, c, code, ldc, compute_type, _DEFAULT_ALGORITHM)
            else:
                batched(
                    *(*head, a, code, lda, stride_a, b, code, ldb, stride_b, zero, c, code, ldc, stride_c),
                    *(plan.batch, compute_type, _DEFAULT_ALGORITHM),
                )

    return run
