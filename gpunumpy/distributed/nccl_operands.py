"""What NCCL reduces in place of arrays that it does not reduce, or not as NumPy does."""

from __future__ import annotations

from typing import Any

import numpy

from ..core import dtypes
from ..core.dtypes import KIND, DType
from ..core.recording.array import ndarray
from ..functions.creation import arrays as creation
from ..functions.indexing.selection import where

# NCCL has no 16-bit integers. Its sums of 8-bit floats end at the largest number, where NumPy's go on to infinity or
# NaN, and GPUs before Hopper have none.
_WIDER: dict[DType, DType] = {
    numpy.dtype("int16"): numpy.dtype("int32"),
    numpy.dtype("uint16"): numpy.dtype("uint32"),
    dtypes.float8_e4m3fn: numpy.dtype("float16"),
    dtypes.float8_e5m2: numpy.dtype("float16"),
}
# Which integers have the order of floats.
_ORDERED: dict[DType, DType] = {dtypes.FLOAT32: numpy.dtype("int32"), dtypes.FLOAT64: numpy.dtype("int64")}


def encoded(x: ndarray, op: str) -> ndarray:
    """Return what NCCL reduces in place of an array; `decoded` has the result. It may be the array itself.

    NCCL's minimum and maximum leave NaN out. So those of floats are of integers that have their order, with NaN first
    or last.
    """
    if op not in ("min", "max") or KIND[x.dtype] not in "ef":
        wider = _WIDER.get(x.dtype, x.dtype)
        return x if wider == x.dtype else creation.array(x, wider)
    floats: Any = creation.array(x, x.dtype if x.dtype == dtypes.FLOAT64 else dtypes.FLOAT32)
    integers = _ORDERED[floats.dtype]
    limits = numpy.iinfo(integers)
    return where(floats != floats, limits.max if op == "max" else limits.min, _turned(floats.view(integers)))


def decoded(x: ndarray, op: str, dtype: DType) -> ndarray:
    """Return the result in a dtype, of what NCCL has made of an encoded array."""
    if op in ("min", "max") and KIND[dtype] in "ef":
        x = _turned(x).view(dtypes.FLOAT64 if dtype == dtypes.FLOAT64 else dtypes.FLOAT32)
    return creation.array(x, dtype)


def _turned(bits: Any) -> Any:
    """Return the bits of floats as integers of the same order, and such integers as bits: negative ones turn around."""
    return bits ^ ((bits >> (8 * bits.itemsize - 1)) & numpy.iinfo(bits.dtype).max)
