"""Matrix products on the CPU device, with what is done to them in one go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ...core.dtypes import FLOAT32, KIND
from ...core.graph.library_calls.products import Product

_AFTER: dict[str, Callable[..., Any]] = {
    "scale": numpy.multiply,
    "divide": numpy.divide,
    "bias": numpy.add,
    "residual": numpy.add,
    "less": numpy.subtract,
    "from": lambda made, operand: operand - made,
    "maximum": numpy.maximum,
}


def matmul(options: tuple[Any, ...], out: Any, a: Any, b: Any, *rest: Any) -> None:
    """The product, of which `out` may have any shape."""
    product = Product(*options)
    a, b = (x.conj() if wanted else x for x, wanted in zip((a, b), product.conjugate, strict=True))
    batch = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = (*batch, *a.shape[-2:-1], *(b.shape[-1:] if b.ndim > 1 else ()))
    half = KIND[a.dtype] == "e"
    if not product.after and not half:
        numpy.matmul(a, b, out=out.reshape(shape))
        return
    # Rounded once, at the end, as on a GPU.
    wide = FLOAT32 if half else a.dtype
    made = numpy.matmul(a, b, dtype=wide).reshape(out.shape)
    for step, operand in zip(product.after, rest, strict=True):
        made = _AFTER[step](made, numpy.asarray(operand, wide))
    numpy.copyto(out, made, casting="same_kind")
