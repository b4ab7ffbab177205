"""Matrix products on the CPU device, with the epilogues of `Product` or with scales."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ...core.dtypes import FLOAT32, KIND
from ...core.graph.library_calls.products import SCALED_BLOCK, Product

_EPILOGUES: dict[str, Callable[..., Any]] = {
    "scale": numpy.multiply,
    "divide": numpy.divide,
    "bias": numpy.add,
    "residual": numpy.add,
    "subtract": numpy.subtract,
    "subtract_from": lambda result, operand: operand - result,
    "maximum": numpy.maximum,
}


def matmul(options: tuple[Any, ...], out: Any, a: Any, b: Any, *rest: Any) -> None:
    """Compute the product; `out` may have any shape of as many elements."""
    product = Product(*options)
    a, b = (x.conj() if is_conjugated else x for x, is_conjugated in zip((a, b), product.conjugate, strict=True))
    batch = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = (*batch, *a.shape[-2:-1], *(b.shape[-1:] if b.ndim > 1 else ()))
    half = KIND[a.dtype] == "e"
    if not product.epilogues and not half:
        numpy.matmul(a, b, out=out.reshape(shape))
        return
    # The result is rounded once, at the end, as on a GPU.
    sum_dtype = FLOAT32 if half else a.dtype
    result = numpy.matmul(a, b, dtype=sum_dtype).reshape(out.shape)
    for epilogue, operand in zip(product.epilogues, rest, strict=True):
        result = _EPILOGUES[epilogue](result, numpy.asarray(operand, sum_dtype))
    numpy.copyto(out, result, casting="same_kind")


def vecdot(options: tuple[Any, ...], out: Any, a: Any, b: Any) -> None:
    """Compute the products of vectors along the last axis."""
    (is_conjugated,) = options
    if a.ndim == 1 and not is_conjugated:
        out[...] = numpy.dot(a, b)  # of complex numbers too
    else:
        numpy.vecdot(a, b, out=out)


def scaled_matmul(options: tuple[Any, ...], out: Any, a: Any, b: Any, scale_a: Any, scale_b: Any) -> None:
    """Compute the product of a matrix and a transposed one, with a scale for each; it is rounded once."""
    _, *kinds = options
    sizes = a.shape, b.shape
    wide = [x.astype(FLOAT32) for x in (a, b)]
    factor = FLOAT32.type(1)
    for x, scale, kind, shape in zip(wide, (scale_a, scale_b), kinds, sizes, strict=True):
        if kind == "whole":
            factor = factor * scale
        else:
            x *= _of_elements(scale, kind, shape)
    product = numpy.matmul(wide[0], wide[1].T)
    product *= factor
    numpy.copyto(out, product.reshape(out.shape), casting="same_kind")


def _of_elements(scale: Any, kind: str, shape: tuple[int, int]) -> Any:
    """Return the scale of each element of a matrix: that of vectors is given by columns, that of blocks by rows."""
    rows, columns = shape
    by_row = scale.T if kind == "vectors" else numpy.repeat(scale, SCALED_BLOCK, axis=0)
    return numpy.repeat(by_row, SCALED_BLOCK, axis=1)[:rows, :columns]
