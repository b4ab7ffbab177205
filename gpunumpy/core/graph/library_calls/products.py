"""The records of "matmul" and "scaled_matmul": which products are worth a batch, which operations they include.

BLAS can scale a product, add a vector or a matrix to it and clamp it from below before it writes the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from ...dtypes import KIND, DType
from .. import layout
from ..layout import Shape
from ..primitives import Const, Leaf, LibraryCall, Map
from ..signature import Signature
from .record import CutAxes, Epilogue, FloatingErrors, Implementation, Record, Results

SCALED_BLOCK = 128  # numbers of a row, and rows, that have one scale in a product of float8


class Product(NamedTuple):
    """The options of the call "matmul".

    Attributes
    ----------
    precision
        How float32 and float64 may be multiplied: see `gpunumpy.linalg.matmul_precision`.
    conjugate
        Whether to conjugate the first operand, and the second.
    epilogues
        Elementwise operations on the product, in this order: "scale" or "divide" by a scalar; add a "bias" along the
        last axis or a "residual" of the product's shape, "subtract" such an array, or subtract the product from such an
        array ("subtract_from"); take the "maximum" with a scalar. Each has one further argument of the call.
    """

    precision: str = "highest"
    conjugate: tuple[bool, bool] = (False, False)
    epilogues: tuple[str, ...] = ()


def _results(options: Product, args: Sequence[Signature]) -> Results:
    """Return one output, shaped by NumPy's rules for vectors and stacks; a caller may give it another shape."""
    left, right = (a.shape for a in args[:2])
    batch = layout.broadcast_shapes(left[:-2], right[:-2])
    return (((*batch, *left[-2:-1], *(right[-1:] if len(right) > 1 else ())), args[0].dtype),)


# --- slabs ----------------------------------------------------------------------------------------------------------


def _slabs(options: Product, args: Sequence[Signature]) -> list[CutAxes | None]:
    if len(args) != 2:
        return []  # something follows the product
    left, right = (a.shape for a in args)
    stack = len(layout.broadcast_shapes(left[:-2], right[:-2]))
    cut: list[CutAxes | None] = [tuple(_stack_axis(s, k - stack - 2) for s in (left, right)) for k in range(stack)]
    rows, columns = [(len(left) - 2, None)], [(None, len(right) - 1)]
    return [*cut, *(rows if len(left) > 1 else []), *(columns if len(right) > 1 else [])]


def _stack_axis(shape: Shape, axis: int) -> int | None:
    """Return an axis of a stack, counted from the end, from the front; None if it is broadcast."""
    return len(shape) + axis if len(shape) >= -axis and shape[axis] != 1 else None


def _sums(options: Product, args: Sequence[Signature]) -> CutAxes | None:
    left, right = (len(a.shape) for a in args[:2])
    return (left - 1, max(right - 2, 0)) if len(args) == 2 else None


# --- batches --------------------------------------------------------------------------------------------------------

# Limits up to which a kernel of this package multiplies two matrices faster than a library: the longest side of the
# product, the inner side, and the multiplications of elements.
_KERNEL_MAX_SIDE, _KERNEL_MAX_INNER, _KERNEL_MAX_WORK = 256, 512, 1 << 21
# Multiplications of elements in one product, by dtype, up to which a library is faster with a batch than with single
# calls: the host makes one call, and the GPU idles less at the end of each product.
_BATCH_MAX_WORK = {
    "float16": 1 << 32,
    "bfloat16": 1 << 32,
    "float32": 1 << 32,
    "float64": 1 << 29,
    "complex64": 1 << 29,
    "complex128": 1 << 27,
}
_BATCH_MIN_SIDE = 16
_BATCH_MAX_BYTES = 1 << 24  # of one matrix


def is_small_product(shape: Sequence[int], inner: int) -> bool:
    """Return whether a kernel of this package multiplies matrices faster than a library. `shape`: of the product."""
    return max(shape) <= _KERNEL_MAX_SIDE and inner <= _KERNEL_MAX_INNER and prod(shape) * inner <= _KERNEL_MAX_WORK


def is_batch(work: int, side: int, dtype: DType, precision: str) -> bool:
    """Return whether a library multiplies equal pairs of matrices faster as a batch.

    Never with emulated precision: cuBLAS has no emulated product that takes a batch as an array of pointers.

    Parameters
    ----------
    work
        Multiplications of elements in one product.
    side
        The shortest of the three sides.
    """
    return work <= _BATCH_MAX_WORK.get(dtype.name, 0) and side >= _BATCH_MIN_SIDE and precision != "emulated"


def _is_worth_batching(call: Signature, args: Sequence[Signature]) -> bool:
    """Return whether equal products with this signature are worth a batch."""
    if (
        len(call.shape) != 2
        or any(len(arg.shape) != 2 for arg in args[:2])
        or any(isinstance(arg.primitive, Const) for arg in args)
    ):
        return False
    inner = args[0].shape[1]
    if KIND[args[0].dtype] in "ef" and is_small_product(call.shape, inner):
        return True
    assert isinstance(call.primitive, LibraryCall)
    product = Product(*call.primitive.options)
    if product.epilogues or any(prod(s.shape) * s.dtype.itemsize > _BATCH_MAX_BYTES for s in (call, *args)):
        return False
    return is_batch(prod(call.shape) * inner, min(*call.shape, inner), args[0].dtype, product.precision)


# --- epilogues ------------------------------------------------------------------------------------------------------

_FLOATS = frozenset({"float16", "bfloat16", "float32", "float64", "complex64", "complex128"})
_HALVES = frozenset({"float16", "bfloat16"})
# Epilogues with a whole array, by the operation: "subtract" and "subtract_from" are the two orders of a subtraction.
_ARRAY_EPILOGUES = {"add": "residual", "subtract": "subtract", "subtract_from": "subtract_from"}
RESIDUALS = frozenset(_ARRAY_EPILOGUES.values())
_FACTORS = frozenset({"scale", "divide"})
# The order in which BLAS applies epilogues. Those of equal rank may come in either order.
_RANK = {"scale": 0, "divide": 0, "bias": 1, "residual": 1, "subtract": 1, "subtract_from": 1, "maximum": 2}


def _with_epilogue(call: Signature, epilogue: Epilogue) -> Product | None:
    """Return the options of the product that includes a further operation, or None if BLAS cannot include it."""
    operation = epilogue.operation
    assert isinstance(call.primitive, LibraryCall)
    assert isinstance(operation.primitive, Map)
    product, operands = Product(*call.primitive.options), call.args[0].dtype
    if call.dtype.name not in _FLOATS:
        return None
    if operation.dtype != call.dtype:
        # Products of 16-bit floats are summed in float32: BLAS can write float32, or round to the operands' dtype.
        can_write = operation.dtype == operands or (operands.name in _HALVES and operation.dtype.name == "float32")
        if not can_write or not _FACTORS.issuperset(product.epilogues):
            return None
    if operation.primitive.op == "cast":
        return product
    if epilogue.other is None or set(operation.primitive.loop) != {operation.dtype}:
        return None
    name = _epilogue_name(call, epilogue, epilogue.other)
    if not name or not _follows(product.epilogues, name):
        return None
    return product._replace(epilogues=(*product.epilogues, name))


def _epilogue_name(call: Signature, epilogue: Epilogue, other: Signature) -> str:
    """Return the name, as in `Product.epilogues`, of an operation with another operand; "" if it has none."""
    operation = epilogue.operation
    assert isinstance(operation.primitive, Map)
    op, product_is_first = operation.primitive.op, epilogue.argument_number == 0
    if op == "divide" and not product_is_first:
        return ""
    if op == "subtract" and not product_is_first:
        op = "subtract_from"
    if isinstance(other.primitive, Const):
        is_real = operation.dtype.kind != "c"
        return {"multiply": "scale", "divide": "divide", "maximum": "maximum" if is_real else ""}.get(op, "")
    if op not in _ARRAY_EPILOGUES or other.dtype != operation.dtype:
        return ""
    leaf = other.primitive
    if isinstance(leaf, Leaf) and not (layout.is_c_contiguous(other.shape, leaf.strides) and leaf.aligned):
        return ""
    shape, right = operation.shape, call.args[1].shape
    if op == "add" and len(right) > 1 and right[-1:] == other.shape[-1:] == shape[-1:] and prod(other.shape[:-1]) == 1:
        return "bias"
    return _ARRAY_EPILOGUES[op] if other.shape == shape and epilogue.in_memory else ""


def _follows(epilogues: tuple[str, ...], epilogue: str) -> bool:
    """Return whether BLAS can apply an epilogue after those that the product already has."""
    if epilogue == "subtract_from" and not _FACTORS.issuperset(epilogues):
        return False  # subtracting from an array would negate what was added before
    if any(epilogue in group and group.intersection(epilogues) for group in (_FACTORS, RESIDUALS)):
        return False
    return epilogue not in epilogues and all(_RANK[s] <= _RANK[epilogue] for s in epilogues)


RECORDS = (
    Record(
        "matmul",
        {
            "host": Implementation("kernels.products.host:matmul"),
            "cuda": Implementation(
                "kernels.products.cuda:matmul",
                sized_program="kernels.products.cuda:product_program",
                batch="kernels.products.cuda_batch:matmul_batch",
            ),
        },
        results=_results,
        reads_strides=True,
        is_worth_batching=_is_worth_batching,
        with_epilogue=_with_epilogue,
        floating_errors=lambda options, dtype: FloatingErrors("matmul"),
        slabs=_slabs,
        sums=_sums,
    ),
    # CPU only: products of vectors along the last axis. The option: whether the first ones are conjugated.
    Record(
        "vecdot",
        {"host": Implementation("kernels.products.host:vecdot")},
        results=lambda options, args: ((args[0].shape[:-1], args[0].dtype),),
        reads_strides=True,
        floating_errors=lambda options, dtype: FloatingErrors("dot"),
        slabs=lambda options, args: [(k, k) for k in range(len(args[0].shape) - 1)],
        sums=lambda options, args: (len(args[0].shape) - 1,) * 2,
    ),
    # The product of a matrix and a transposed one, both of float8 and in C order, with a scale for each. The options:
    # whether a GPU may sum with fewer bits, and of what both scales are, "whole" of one element, "vectors" (by columns)
    # or "blocks" (in rows of a multiple of 4).
    Record(
        "scaled_matmul",
        {
            "host": Implementation("kernels.products.host:scaled_matmul"),
            "cuda": Implementation("nvlib.cublaslt_scaled:scaled_matmul"),
        },
    ),
)
