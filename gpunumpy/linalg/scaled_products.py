"""`scaled_matmul`: products of float8 matrices with scales."""

from __future__ import annotations

from typing import Any

import ml_dtypes

from ..core.dtypes import FLOAT32, DType, check, float8_e4m3fn, float8_e5m2
from ..core.errors import DeviceError, allowed
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.node import Node
from ..core.graph.primitives import Const, Leaf
from ..core.recording.array import ndarray, wrap
from ..core.recording.record import as_dtype, elementwise
from ..functions.manipulation.shape import transpose
from ..functions.products.operands import as_two_arrays
from .scales import Scale, fitted, scale_of

__all__ = ["scaled_matmul"]

_FORMATS = (float8_e4m3fn, float8_e5m2)
_RESULTS = ("bfloat16", "float16", "float32", "float8_e4m3fn", "float8_e5m2")
# cuBLASLt reads 16 bytes at a time, along the rows of the first matrix, and of the second and the result.
_MULTIPLE = 16
_MIN_CAPABILITY = (8, 9)  # of GPUs that multiply float8
_BLOCKS_CAPABILITY = (9, 0)  # of GPUs that take scales of blocks in float32
_BLOCKS_MULTIPLE = 4  # of rows, where there are such scales


def scaled_matmul(
    a: Any,
    b: Any,
    /,
    scale_a: Any = 1.0,
    scale_b: Any = 1.0,
    *,
    scale_result: Any = None,
    out_dtype: Any = "bfloat16",
    fast_accumulation: bool = False,
) -> ndarray:
    """Multiply two float8 matrices whose numbers stand for so many times a scale.

    The result is ``(a * scale_a) @ (b * scale_b)``, rounded to `out_dtype`. On a GPU cuBLASLt multiplies, by tensor
    cores, which may keep fewer bits of a sum than float32 has; elsewhere float32 is summed. cuBLASLt reads `b` by
    columns: `w.T` of an array in C order is read as it lies, and what lies otherwise is copied.

    Parameters
    ----------
    a : array of shape (m, k)
        Of float8_e4m3fn or float8_e5m2.
    b : array of shape (k, n)
        Of either dtype; at most one of both is float8_e5m2. `k` and `n` are multiples of 16.
    scale_a, scale_b : float or array, optional
        The scale of all numbers of a matrix (a number, or one element); of each row of `a`, of shape (m, 1), and of
        each column of `b`, of shape (1, n); of each 128 numbers of a row, of shape (m, k / 128), or of a column, of
        shape (k / 128, n); or of each block of 128 by 128 numbers, of shape (m / 128, k / 128) or (k / 128, n / 128).
        Sizes are rounded up. They are read as float32. Scales of rows and columns are applied to a float32 product, by
        a kernel that fuses with what follows. Where one scale is of parts of a sum, `m` is a multiple of 4.
    scale_result : float or array of one element, optional
        What a float8 result is multiplied by before it is rounded. By default 1.
    out_dtype : dtype, optional
        bfloat16, float16, float32, or that of an operand. In float8, what is too large becomes the largest number.
    fast_accumulation : bool, optional
        Whether a GPU may sum with fewer bits, where that is faster; not with scales of parts of a sum.

    Returns
    -------
    array of shape (m, n)

    Raises
    ------
    TypeError
        If a dtype is none of those above.
    ValueError
        If a shape is none of those above.
    DeviceError
        If the GPU does not multiply float8, or takes no scales of parts of a sum: those of compute capability 9.0 do.
    """
    left, right = as_two_arrays(a, b)
    _check_operands(left, right)
    dtype = _checked_result(out_dtype, left, right)
    _require_capability(left, _MIN_CAPABILITY, "products of float8")
    (m, k), n = left.shape, right.shape[1]
    scales = scale_of(scale_a, left, (m, k), "scale_a"), scale_of(scale_b, left, (n, k), "scale_b", is_transposed=True)
    last = _scale_of_result(scale_result, left, dtype)
    if not m * n * k:
        return wrap(graph.fill(graph.typed_scalar(0, dtype), (m, n), left.queue))
    made = dtype if last is None else FLOAT32
    if any(scale.is_of_blocks for scale in scales):
        _check_blocks(left, fast_accumulation)
        result = wrap(_product(left, right, fitted(*scales), made, False))
    elif any(scale.kind == "rows" for scale in scales):
        one = scale_of(1.0, left, (1, 1), "")
        whole = tuple(one if scale.kind == "rows" else scale for scale in scales)
        result = wrap(_product(left, right, (whole[0], whole[1]), FLOAT32, fast_accumulation))
        for scale, is_of_columns in zip(scales, (False, True), strict=True):
            if scale.kind == "rows":
                values = transpose(scale.values) if is_of_columns else scale.values
                result = elementwise("multiply", [result, values])
    else:
        result = wrap(_product(left, right, scales, made, fast_accumulation))
    return wrap(as_dtype(result.value(), dtype)) if last is None else _in_float8(result, last, dtype)


def _product(a: ndarray, b: ndarray, scales: tuple[Scale, Scale], dtype: DType, fast: bool) -> Node:
    """Return the product that the library computes."""
    values = [a.value(), transpose(b).value(), *(scale.operand() for scale in scales)]
    options = bool(fast), scales[0].kind, scales[1].kind
    shape = a.shape[0], b.shape[1]
    return graph.library_call("scaled_matmul", options, [*map(_in_memory, values)], (shape, dtype))


def _in_float8(product: ndarray, scale: ndarray, dtype: DType) -> ndarray:
    """Return a float32 product times a scale in float8, where what is too large is the largest number."""
    largest = float(ml_dtypes.finfo(dtype).max)
    result = elementwise("multiply", [product, scale])
    result = elementwise("maximum", [elementwise("minimum", [result, largest]), -largest])
    return wrap(as_dtype(result.value(), dtype))


def _checked_result(out_dtype: Any, a: ndarray, b: ndarray) -> DType:
    dtype = check(out_dtype)
    if dtype.name not in _RESULTS:
        raise TypeError(f"out_dtype is {dtype}; {allowed(_RESULTS)}")
    if dtype in _FORMATS and dtype not in (a.dtype, b.dtype):
        raise TypeError(f"out_dtype is {dtype}, and no operand is; they are of {a.dtype} and {b.dtype}")
    return dtype


def _scale_of_result(given: Any, like: ndarray, dtype: DType) -> ndarray | None:
    """Return the scale of a float8 result, of one element; None for other results."""
    if dtype not in _FORMATS:
        if given is not None:
            raise ValueError(f"scale_result is for results of float8, and out_dtype is {dtype}")
        return None
    scale = scale_of(1.0 if given is None else given, like, (1, 1), "scale_result")
    return wrap(scale.operand())


def _require_capability(x: ndarray, needed: tuple[int, int], what: str) -> None:
    """Raise `DeviceError` on a GPU of less than a compute capability."""
    capability = x.device.attributes.capability if x.device.has_stream else needed
    if capability < needed:
        wanted, found = (".".join(map(str, numbers)) for numbers in (needed, capability))
        raise DeviceError(f"{what} need compute capability {wanted}; that of {x.device} is {found}")


def _check_blocks(a: ndarray, fast_accumulation: bool) -> None:
    """Raise what the library has against scales of parts of a sum."""
    if a.device.has_stream and a.device.attributes.capability != _BLOCKS_CAPABILITY:
        found = ".".join(map(str, a.device.attributes.capability))
        raise DeviceError(f"scales of blocks need compute capability 9.0; that of {a.device} is {found}")
    if fast_accumulation:
        raise ValueError("fast_accumulation goes with no scales of blocks")
    if a.shape[0] % _BLOCKS_MULTIPLE:
        raise ValueError(f"with scales of blocks a has {a.shape[0]} rows, which is no multiple of {_BLOCKS_MULTIPLE}")


def _check_operands(a: ndarray, b: ndarray) -> None:
    for name, x in (("a", a), ("b", b)):
        if x.dtype not in _FORMATS:
            raise TypeError(f"{name} is of {x.dtype}; {allowed([dtype.name for dtype in _FORMATS])}")
        if x.ndim != 2:
            raise ValueError(f"{name} has {x.ndim} dimensions, not 2")
    if a.dtype == b.dtype == float8_e5m2:
        raise TypeError("a and b are both of float8_e5m2, of which at most one may be")
    if a.shape[1] != b.shape[0]:
        raise ValueError(f"a has {a.shape[1]} columns and b has {b.shape[0]} rows")
    for name, size in (("rows", b.shape[0]), ("columns", b.shape[1])):
        if size % _MULTIPLE:
            raise ValueError(f"b has {size} {name}, which is no multiple of {_MULTIPLE}")


def _in_memory(node: Node) -> Node:
    """Return a value as the library reads it: in C order, in memory that begins at a multiple of 16 bytes."""
    primitive, shape = node.signature.primitive, node.signature.shape
    if isinstance(primitive, Leaf):
        is_ready = primitive.aligned and layout.is_c_contiguous(shape, primitive.strides)
    else:  # what is computed for a call has memory of its own; a number would be passed by value
        is_ready = not isinstance(primitive, Const)
    return node if is_ready else graph.as_new_node(node)
