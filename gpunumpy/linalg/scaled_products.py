"""`scaled_matmul`: products of float8 matrices with scales."""

from __future__ import annotations

from typing import Any

import numpy

from ..core.dtypes import FLOAT32, DType, check, float8_e4m3fn, float8_e5m2
from ..core.errors import DeviceError, allowed
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.node import Node
from ..core.graph.primitives import Const, Leaf
from ..core.recording.array import ndarray, wrap
from ..core.recording.record import as_array, as_dtype, elementwise, reshaped
from ..functions.manipulation.shape import transpose
from ..functions.products.operands import as_two_arrays

__all__ = ["scaled_matmul"]

_FORMATS = (float8_e4m3fn, float8_e5m2)
_RESULTS = ("bfloat16", "float16", "float32")
# cuBLASLt reads 16 bytes at a time, along the rows of the first matrix, and of the second and the result.
_MULTIPLE = 16
_MIN_CAPABILITY = (8, 9)  # of GPUs that multiply float8


def scaled_matmul(
    a: Any,
    b: Any,
    /,
    scale_a: Any = 1.0,
    scale_b: Any = 1.0,
    *,
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
        The scale of all numbers of a matrix (a number, or one element), or of each row of `a`, of shape (m, 1), and of
        each column of `b`, of shape (1, n). They are read as float32. Scales of rows and columns are applied to a
        float32 product, by a kernel that fuses with what follows.
    out_dtype : dtype, optional
        bfloat16, float16 or float32.
    fast_accumulation : bool, optional
        Whether a GPU may sum with fewer bits, where that is faster.

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
        If the GPU does not multiply float8.
    """
    left, right = as_two_arrays(a, b)
    dtype = _checked_result(out_dtype)
    _check_operands(left, right)
    (m, k), n = left.shape, right.shape[1]
    capability = left.device.attributes.capability if left.device.has_stream else _MIN_CAPABILITY
    if capability < _MIN_CAPABILITY:
        needed, found = (".".join(map(str, numbers)) for numbers in (_MIN_CAPABILITY, capability))
        raise DeviceError(f"products of float8 need compute capability {needed}; that of {left.device} is {found}")
    scales = [_scale(scale_a, left, (m, 1), "scale_a"), _scale(scale_b, left, (1, n), "scale_b")]
    if not m * n * k:
        return wrap(graph.fill(graph.typed_scalar(0, dtype), (m, n), left.queue))
    whole = [scale if scale.size == 1 else _scale(1.0, left, (1, 1), "") for scale in scales]
    values = (left.value(), transpose(right).value(), *(reshaped(scale.value(), (1,)) for scale in whole))
    others = [scale for scale in scales if scale.size > 1]
    product = graph.library_call(
        "scaled_matmul", (bool(fast_accumulation),), [*map(_in_memory, values)], ((m, n), FLOAT32 if others else dtype)
    )
    result = wrap(product)
    for scale in others:
        result = elementwise("multiply", [result, scale])
    return wrap(as_dtype(result.value(), dtype)) if others else result


def _checked_result(out_dtype: Any) -> DType:
    dtype = check(out_dtype)
    if dtype.name not in _RESULTS:
        raise TypeError(f"out_dtype is {dtype}; {allowed(_RESULTS)}")
    return dtype


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


def _scale(scale: Any, like: ndarray, shape: tuple[int, int], name: str) -> ndarray:
    """Return a scale as float32: of one element, or of the shape that has an element for each row or column."""
    array = as_array(scale, like.device)
    if numpy.result_type(array.dtype, FLOAT32).kind != "f":
        raise TypeError(f"{name} is of {array.dtype}, which is no real number")
    if array.size != 1 and array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}, not () or {shape}")
    return wrap(as_dtype(array.value(), FLOAT32))


def _in_memory(node: Node) -> Node:
    """Return a value as the library reads it: in C order, in memory that begins at a multiple of 16 bytes."""
    primitive, shape = node.signature.primitive, node.signature.shape
    if isinstance(primitive, Leaf):
        is_ready = primitive.aligned and layout.is_c_contiguous(shape, primitive.strides)
    else:  # what is computed for a call has memory of its own; a number would be passed by value
        is_ready = not isinstance(primitive, Const)
    return node if is_ready else graph.as_new_node(node)
