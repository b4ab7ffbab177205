"""The record of "matmul": which small products are worth a batch, and what a product does besides.

BLAS scales what it has summed, adds a row or a matrix to it and clamps it from below before it writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from ...dtypes import KIND, DType
from .. import layout
from ..primitives import Const, Leaf, LibraryCall, Map
from ..signature import Signature
from .record import Epilogue, FloatingErrors, Implementation, Record, Results


class Product(NamedTuple):
    """The options of the call "matmul".

    Attributes
    ----------
    precision
        How float32 and float64 may be multiplied: see `gpunumpy.linalg.matmul_precision`.
    conjugate
        Which of the operands is conjugated.
    after
        What is done to the product, in this order: "scale" or "divide" by a scalar, add a "bias" along the last axis
        or a "residual" of the product's shape, subtract such an array ("less") or subtract from it ("from"), take the
        "maximum" with a scalar. For each there is one argument more.
    """

    precision: str = "highest"
    conjugate: tuple[bool, bool] = (False, False)
    after: tuple[str, ...] = ()


def _results(options: Product, args: Sequence[Signature]) -> Results:
    """One value by NumPy's rules for vectors and stacks; a call may give it another shape of as many elements."""
    left, right = (a.shape for a in args[:2])
    batch = layout.broadcast_shapes(left[:-2], right[:-2])
    return (((*batch, *left[-2:-1], *(right[-1:] if len(right) > 1 else ())), args[0].dtype),)


# --- batches --------------------------------------------------------------------------------------------------------

# The longest sides, and the most products of elements, of matrices that a kernel multiplies sooner than a library.
_SIDE, _INNER, _WORK = 256, 512, 1 << 21
# The most products of elements of matrices that a library multiplies sooner as a batch: the host asks for it once, and
# the GPU has less that waits for the last of each.
_BATCH_WORK = {
    "float16": 1 << 32,
    "bfloat16": 1 << 32,
    "float32": 1 << 32,
    "float64": 1 << 29,
    "complex64": 1 << 29,
    "complex128": 1 << 27,
}
_BATCH_MIN_SIDE = 16
_BATCH_BYTES = 1 << 24  # of the largest matrix


def is_small_product(shape: Sequence[int], inner: int) -> bool:
    """Whether a kernel multiplies two matrices sooner than a library; `shape` is that of their product."""
    return max(shape) <= _SIDE and inner <= _INNER and prod(shape) * inner <= _WORK


def is_batch(work: int, side: int, dtype: DType, precision: str) -> bool:
    """Whether matrices are multiplied sooner as some of a batch; `work` is how many products of elements there are.

    Of batches by addresses there is none that emulates.
    """
    return work <= _BATCH_WORK.get(dtype.name, 0) and side >= _BATCH_MIN_SIDE and precision != "emulated"


def _is_small(made: Signature, args: Sequence[Signature]) -> bool:
    if (
        len(made.shape) != 2
        or any(len(f.shape) != 2 for f in args[:2])
        or any(isinstance(f.primitive, Const) for f in args)
    ):
        return False
    inner = args[0].shape[1]
    if KIND[args[0].dtype] in "ef" and is_small_product(made.shape, inner):
        return True
    assert isinstance(made.primitive, LibraryCall)
    product = Product(*made.primitive.options)
    if product.after or any(prod(f.shape) * f.dtype.itemsize > _BATCH_BYTES for f in (made, *args)):
        return False
    return is_batch(prod(made.shape) * inner, min(*made.shape, inner), args[0].dtype, product.precision)


# --- epilogues ------------------------------------------------------------------------------------------------------

_FLOATS = frozenset({"float16", "bfloat16", "float32", "float64", "complex64", "complex128"})
_HALVES = frozenset({"float16", "bfloat16"})
_SUMS = {"add": "residual", "less": "less", "from": "from"}
RESIDUALS = frozenset(_SUMS.values())
_FACTORS = frozenset({"scale", "divide"})
# The order in which BLAS does them. A bias and a residual may come in any order.
_ORDER = {"scale": 0, "divide": 0, "bias": 1, "residual": 1, "less": 1, "from": 1, "maximum": 2}


def _with_epilogue(call: Signature, epilogue: Epilogue) -> Product | None:
    """The product with an operation more; None if BLAS does not do that."""
    operation = epilogue.operation
    assert isinstance(call.primitive, LibraryCall)
    assert isinstance(operation.primitive, Map)
    product, operands = Product(*call.primitive.options), call.args[0].dtype
    if call.dtype.name not in _FLOATS:
        return None
    if operation.dtype != call.dtype:
        # What is summed in float32 may be written so, or rounded after all.
        fine = operation.dtype == operands or (operands.name in _HALVES and operation.dtype.name == "float32")
        if not fine or not _FACTORS.issuperset(product.after):
            return None
    if operation.primitive.op == "cast":
        return product
    if epilogue.other is None or set(operation.primitive.loop) != {operation.dtype}:
        return None
    step = _step(call, epilogue, epilogue.other)
    return product._replace(after=(*product.after, step)) if step and _follows(product.after, step) else None


def _step(call: Signature, epilogue: Epilogue, other: Signature) -> str:
    """What an operation with another operand is to a product, or an empty string."""
    operation = epilogue.operation
    assert isinstance(operation.primitive, Map)
    op, first = operation.primitive.op, epilogue.place == 0
    if op == "subtract":
        op = "less" if first else "from"
    elif op == "divide" and not first:
        return ""
    if isinstance(other.primitive, Const):
        real = operation.dtype.kind != "c"
        return {"multiply": "scale", "divide": "divide", "maximum": "maximum" if real else ""}.get(op, "")
    if op not in _SUMS or other.dtype != operation.dtype:
        return ""
    leaf = other.primitive
    if isinstance(leaf, Leaf) and not (layout.is_c(other.shape, leaf.strides) and leaf.aligned):
        return ""
    shape, right = operation.shape, call.args[1].shape
    if op == "add" and len(right) > 1 and right[-1:] == other.shape[-1:] == shape[-1:] and prod(other.shape[:-1]) == 1:
        return "bias"
    return _SUMS[op] if other.shape == shape and epilogue.in_memory else ""


def _follows(after: tuple[str, ...], step: str) -> bool:
    """Whether a step can come after those that there are."""
    if step == "from" and not _FACTORS.issuperset(after):
        return False  # it would change the sign of what has been added
    if any(step in group and group.intersection(after) for group in (_FACTORS, RESIDUALS)):
        return False
    return step not in after and all(_ORDER[s] <= _ORDER[step] for s in after)


RECORDS = (
    Record(
        "matmul",
        {
            "host": Implementation("kernels.products.host:matmul"),
            "cuda": Implementation("kernels.products.cuda:matmul", batch="kernels.products.cuda_batch:matmul_batch"),
        },
        results=_results,
        reads_strides=True,
        is_small=_is_small,
        with_epilogue=_with_epilogue,
        floating_errors=lambda options, dtype: FloatingErrors("matmul"),
    ),
)
