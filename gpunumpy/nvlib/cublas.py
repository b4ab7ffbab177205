"""cuBLAS: matrix products of floating-point and complex numbers.

cuBLAS takes matrices in Fortran order. Results here are in C order, so cuBLAS computes the transposed product, with the
operands swapped: its first operand A is the product's second operand, its B the product's first. An operand whose
columns are contiguous is transposed by cuBLAS.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy

from ..core.graph.layout import Layout, Shape, broadcast_shapes, broadcast_strides, c_strides
from ..core.runtime.device import Device
from ..core.runtime.plan import Runner
from .handles import handle

# dtype -> its cudaDataType, and the dtype of sums and scalars: 16-bit floats are summed in float32.
TYPES: dict[str, tuple[int, str]] = {
    "float16": (2, "float32"),
    "bfloat16": (14, "float32"),
    "float32": (0, "float32"),
    "float64": (1, "float64"),
    "complex64": (4, "complex64"),
    "complex128": (5, "complex128"),
}
# Compute types of products: by the dtype of the sums at full precision, and by dtype and precision where the precision
# asks for another one.
_FULL = {"float32": "COMPUTE_32F", "float64": "COMPUTE_64F", "complex64": "COMPUTE_32F", "complex128": "COMPUTE_64F"}
_SINGLE = {
    "high": "COMPUTE_32F_FAST_TF32",
    "medium": "COMPUTE_32F_FAST_16BF",
    "emulated": "COMPUTE_32F_EMULATED_16BFX9",
}
_DOUBLE = {"emulated": "COMPUTE_64F_EMULATED_FIXEDPOINT"}
_FASTER = {"float32": _SINGLE, "complex64": _SINGLE, "float64": _DOUBLE, "complex128": _DOUBLE}
# One and zero in host memory, from which cuBLAS reads them during the call.
SCALARS = {name: numpy.array([1, 0], name) for name in ("float32", "float64", "complex64", "complex128")}
SCALAR_ADDRESSES = {name: scalars.ctypes.data for name, scalars in SCALARS.items()}
_DEFAULT_ALGORITHM = -1


@lru_cache(maxsize=64)
def name_of(dtype: Any) -> str:
    """Return the name of a dtype, which NumPy puts together whenever it is asked."""
    return str(dtype.name)


def as_matrices(out: Layout, a: Layout, b: Layout) -> tuple[Layout, Layout, Layout]:
    """Return the layouts of a product in two or more dimensions: a vector becomes a matrix with a dimension of size 1.

    The result is in C order and may have any shape of as many elements.
    """
    if len(a.shape) == 1:
        a = Layout((1, *a.shape), (0, *a.strides), a.offset)
    if len(b.shape) == 1:
        b = Layout((*b.shape, 1), (*b.strides, 0), b.offset)
    shape = (*broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    return Layout(shape, c_strides(shape), out.offset), a, b


class Gemms(NamedTuple):
    """The calls of cuBLAS that compute one product. Strides and offsets are in elements.

    Attributes
    ----------
    sizes
        m, n and k: columns, rows and the length of the sums.
    blas_a, blas_b
        Of cuBLAS's operands A and B (the product's second and first): whether it is transposed, and its leading
        dimension.
    strides
        Steps between the matrices of a batch in A, B and the result.
    batch
        Number of matrices of a call.
    offsets
        Offsets of A, B and the result in every call.
    """

    sizes: tuple[int, int, int]
    blas_a: tuple[bool, int]
    blas_b: tuple[bool, int]
    strides: tuple[int, int, int]
    batch: int
    offsets: tuple[tuple[int, int, int], ...]


def compute_types(dtype: str, precision: str) -> list[str]:
    """Return the names of the compute types for a product of a dtype, in order of preference."""
    faster = _FASTER.get(dtype, {}).get(precision)
    return [*([faster] if faster else []), _FULL[TYPES[dtype][1]]]


def gemms(out: Layout, a: Layout, b: Layout, conjugate: tuple[bool, bool] = (False, False)) -> Gemms:
    """Return the calls for a product of stacks of matrices. An operand to conjugate must be contiguous by columns."""
    batch = out.shape[:-2]
    (rows, columns), inner = out.shape[-2:], a.shape[-1]
    blas_a, blas_b = _leading(b, conjugate[1]), _leading(a, conjugate[0])
    if not batch:
        starts = b.offset, a.offset, out.offset
        return Gemms((columns, rows, inner), blas_a, blas_b, (0, 0, rows * columns), 1, (starts,))
    left = broadcast_strides(a.shape[:-2], a.strides[:-2], batch)
    right = broadcast_strides(b.shape[:-2], b.strides[:-2], batch)
    dims = _merged(batch, right, left)
    # If the second operand is one matrix for the whole stack, the rows of the stack are the rows of one large matrix.
    if len(dims) == 1 and dims[0][1] == 0 and not blas_b[0] and dims[0][2] == rows * blas_b[1]:
        rows *= dims[0][0]
        dims = []
    count, *steps = dims.pop() if dims else (1, 0, 0)
    size = rows * columns
    result_steps = [size * count * n for n in c_strides(tuple(n for n, *_ in dims))]
    offsets = tuple(
        (
            b.offset + sum(i * d[1] for i, d in zip(index, dims, strict=True)),
            a.offset + sum(i * d[2] for i, d in zip(index, dims, strict=True)),
            out.offset + sum(i * s for i, s in zip(index, result_steps, strict=True)),
        )
        for index in itertools.product(*(range(n) for n, *_ in dims))
    )
    return Gemms((columns, rows, inner), blas_a, blas_b, (steps[0], steps[1], size), count, offsets)


def _leading(layout: Layout, conjugated: bool) -> tuple[bool, int]:
    """Return whether cuBLAS transposes a matrix (its columns are contiguous, not its rows), and its leading dimension.

    A `conjugated` matrix is always transposed, as cuBLAS conjugates no other.
    """
    (rows, columns), (row_stride, column_stride) = layout.shape[-2:], layout.strides[-2:]
    if not conjugated and (column_stride == 1 or columns == 1) and (row_stride >= columns or rows == 1):
        return False, row_stride if rows > 1 else columns
    assert row_stride == 1 or rows == 1, "an operand that BLAS cannot read must be copied before"
    return True, column_stride if columns > 1 else rows


def _merged(batch: Shape, right: Sequence[int], left: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return the dimensions of a stack, as few as possible: (size, step in the second operand, step in the first)."""
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
    """Return cuBLAS's codes of whether its operands A and B are transposed and conjugated."""
    transposed = [int(cublas.Operation.C if conjugated else cublas.Operation.T) for conjugated in conjugate]
    plain = int(cublas.Operation.N)
    return transposed[1] if plan.blas_a[0] else plain, transposed[0] if plan.blas_b[0] else plain


def prepare_batch(
    device: Device, plan: Gemms, dtype: Any, out: Any, conjugate: tuple[bool, bool], precision: str, count: int
) -> Callable[[int, int, int], None]:
    """Prepare equal products of matrices: ``run(results, left, right)``.

    Each argument is the address of an array in device memory, which has the addresses of the matrices. These must be
    multiples of 16.
    """
    cublas, library = handle(device, "cublas")
    code, scalar = TYPES[dtype.name]
    out_code = TYPES[out.name][0]
    one = SCALARS[scalar].ctypes.data
    zero = one + SCALARS[scalar].itemsize
    names = compute_types(dtype.name, precision)
    compute_type = next(int(kind) for kind in (getattr(cublas.ComputeType, name, None) for name in names) if kind)
    (m, n, k), lda, ldb = plan.sizes, plan.blas_a[1], plan.blas_b[1]
    head, gemm = (library, *operations(cublas, plan, conjugate), m, n, k, one), cublas.gemm_batched_ex_64

    def run(results: int, left: int, right: int) -> None:
        device.activate()
        matrices = (right, code, lda, left, code, ldb, zero, results, out_code, m)
        gemm(*head, *matrices, count, compute_type, _DEFAULT_ALGORITHM)

    return run


def prepare(device: Device, plan: Gemms, dtype: Any, out: Any, conjugate: tuple[bool, bool]) -> Runner:
    """Return a function of the pointers of the result and the operands, which makes the calls in full precision."""
    cublas, library = handle(device, "cublas")
    code, scalar = TYPES[dtype.name]
    out_code = TYPES[out.name][0]
    itemsize, out_itemsize = dtype.itemsize, out.itemsize
    one = SCALARS[scalar].ctypes.data
    zero = one + SCALARS[scalar].itemsize
    compute_type = int(getattr(cublas.ComputeType, _FULL[scalar]))
    m, n, k = plan.sizes
    (lda, ldb, ldc), (stride_a, stride_b, stride_c) = (plan.blas_a[1], plan.blas_b[1], m), plan.strides
    offsets = [(itemsize * a, itemsize * b, out_itemsize * c) for a, b, c in plan.offsets]
    gemm, batched = cublas.gemm_ex_64, cublas.gemm_strided_batched_ex_64
    head = (library, *operations(cublas, plan, conjugate), m, n, k, one)

    def run(pointers: Sequence[Any]) -> None:
        result, left, right = pointers
        device.activate()
        for offset_a, offset_b, offset_c in offsets:
            a, b, c = right + offset_a, left + offset_b, result + offset_c
            if plan.batch == 1:
                gemm(*head, a, code, lda, b, code, ldb, zero, c, out_code, ldc, compute_type, _DEFAULT_ALGORITHM)
            else:
                batched(
                    *(*head, a, code, lda, stride_a, b, code, ldb, stride_b, zero, c, out_code, ldc, stride_c),
                    *(plan.batch, compute_type, _DEFAULT_ALGORITHM),
                )

    return run
