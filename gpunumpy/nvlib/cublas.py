"""cuBLAS: matrix products of floating-point and complex numbers.

cuBLAS thinks in columns. Our results are in C order, so it is asked for the transposed product: with the operands
swapped, what is a row to us is a column to it. An operand whose columns are contiguous is one that it transposes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

from ..core.graph.layout import Layout, Shape, broadcast_shapes, broadcast_strides, c_strides
from ..core.runtime.device import Device
from ..core.runtime.plan import Runner
from .handles import handle

# dtype -> its cudaDataType, and the dtype of sums and scalars: halves are summed in float32.
TYPES: dict[str, tuple[int, str]] = {
    "float16": (2, "float32"),
    "bfloat16": (14, "float32"),
    "float32": (0, "float32"),
    "float64": (1, "float64"),
    "complex64": (4, "complex64"),
    "complex128": (5, "complex128"),
}
# What products are made of: for a precision, in the order of preference, where it is not full float32 and float64.
_FULL = {"float32": "COMPUTE_32F", "float64": "COMPUTE_64F", "complex64": "COMPUTE_32F", "complex128": "COMPUTE_64F"}
_SINGLE = {
    "high": "COMPUTE_32F_FAST_TF32",
    "medium": "COMPUTE_32F_FAST_16BF",
    "emulated": "COMPUTE_32F_EMULATED_16BFX9",
}
_DOUBLE = {"emulated": "COMPUTE_64F_EMULATED_FIXEDPOINT"}
_FASTER = {"float32": _SINGLE, "complex64": _SINGLE, "float64": _DOUBLE, "complex128": _DOUBLE}
# One and zero in host memory, which cuBLAS reads during the call.
SCALARS = {name: numpy.array([1, 0], name) for name in ("float32", "float64", "complex64", "complex128")}
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


def compute_types(dtype: str, precision: str) -> list[str]:
    """The names of the compute types for a product of a dtype; the first that the GPU has is to be taken."""
    faster = _FASTER.get(dtype, {}).get(precision)
    return [*([faster] if faster else []), _FULL[TYPES[dtype][1]]]


def gemms(out: Layout, a: Layout, b: Layout, conjugate: tuple[bool, bool] = (False, False)) -> Gemms:
    """The calls for a product of stacks of matrices; one to be conjugated has to lie by columns."""
    batch = out.shape[:-2]
    (rows, columns), inner = out.shape[-2:], a.shape[-1]
    left = broadcast_strides(a.shape[:-2], a.strides[:-2], batch)
    right = broadcast_strides(b.shape[:-2], b.strides[:-2], batch)
    first, second = _leading(b, conjugate[1]), _leading(a, conjugate[0])
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


def _leading(where: Layout, by_columns: bool) -> tuple[bool, int]:
    """Whether a matrix lies by columns (as it must to be conjugated), and the step from one row or column on."""
    (rows, columns), (down, across) = where.shape[-2:], where.strides[-2:]
    if not by_columns and (across == 1 or columns == 1) and (down >= columns or rows == 1):
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


def operations(cublas: Any, plan: Gemms, conjugate: tuple[bool, bool]) -> tuple[int, int]:
    """How the library takes its first and its second operand."""
    transposed = [int(cublas.Operation.C if wanted else cublas.Operation.T) for wanted in conjugate]
    plain = int(cublas.Operation.N)
    return transposed[1] if plan.first[0] else plain, transposed[0] if plan.second[0] else plain


def prepare_batch(
    device: Device, plan: Gemms, dtype: Any, out: Any, conjugate: tuple[bool, bool], precision: str, count: int
) -> Callable[[int, int, int], None]:
    """Equal products of matrices: ``run(results, left, right)``, over addresses of addresses in device memory.

    Those of memory have to be multiples of 16.
    """
    cublas, library = handle(device, "cublas")
    code, scalar = TYPES[dtype.name]
    made = TYPES[out.name][0]
    one = SCALARS[scalar].ctypes.data
    zero = one + SCALARS[scalar].itemsize
    names = compute_types(dtype.name, precision)
    compute_type = next(int(kind) for kind in (getattr(cublas.ComputeType, name, None) for name in names) if kind)
    (m, n, k), lda, ldb = plan.sizes, plan.first[1], plan.second[1]
    head, gemm = (library, *operations(cublas, plan, conjugate), m, n, k, one), cublas.gemm_batched_ex_64

    def run(results: int, left: int, right: int) -> None:
        device.activate()
        matrices = (right, code, lda, left, code, ldb, zero, results, made, m)
        gemm(*head, *matrices, count, compute_type, _DEFAULT_ALGORITHM)

    return run


def prepare(device: Device, plan: Gemms, dtype: Any, out: Any, conjugate: tuple[bool, bool]) -> Runner:
    """A function that makes the calls over the pointers of the result and the operands, in full precision."""
    cublas, library = handle(device, "cublas")
    code, scalar = TYPES[dtype.name]
    made = TYPES[out.name][0]
    unit, wide = dtype.itemsize, out.itemsize
    one = SCALARS[scalar].ctypes.data
    zero = one + SCALARS[scalar].itemsize
    compute_type = int(getattr(cublas.ComputeType, _FULL[scalar]))
    m, n, k = plan.sizes
    (lda, ldb, ldc), (stride_a, stride_b, stride_c) = (plan.first[1], plan.second[1], m), plan.strides
    places = [(unit * x, unit * y, wide * z) for x, y, z in plan.offsets]
    gemm, batched = cublas.gemm_ex_64, cublas.gemm_strided_batched_ex_64
    head = (library, *operations(cublas, plan, conjugate), m, n, k, one)

    def run(pointers: Sequence[Any]) -> None:
        result, left, right = pointers
        device.activate()
        for at_right, at_left, at_result in places:
            a, b, c = right + at_right, left + at_left, result + at_result
            if plan.batch == 1:
                gemm(*head, a, code, lda, b, code, ldb, zero, c, made, ldc, compute_type, _DEFAULT_ALGORITHM)
            else:
                batched(
                    *(*head, a, code, lda, stride_a, b, code, ldb, stride_b, zero, c, made, ldc, stride_c),
                    *(plan.batch, compute_type, _DEFAULT_ALGORITHM),
                )

    return run
