"""The table of supported dtypes: NumPy dtype objects, their C types and their kinds."""

from __future__ import annotations

from typing import Any, TypeAlias

import ml_dtypes
import numpy

from .errors import OnHostError, allowed

DType: TypeAlias = "numpy.dtype[Any]"

bfloat16 = numpy.dtype(ml_dtypes.bfloat16)
float8_e4m3fn = numpy.dtype(ml_dtypes.float8_e4m3fn)
float8_e5m2 = numpy.dtype(ml_dtypes.float8_e5m2)
float4_e2m1fn = numpy.dtype(ml_dtypes.float4_e2m1fn)  # a byte for each element

# Name, NumPy type, C type in generated kernels, kind.
# Kinds: b bool, i signed, u unsigned, e low-precision float (16 bits or fewer), f float, c complex.
_TABLE: tuple[tuple[str, Any, str, str], ...] = (
    ("bool", numpy.bool_, "bool", "b"),
    ("int8", numpy.int8, "i8", "i"),
    ("int16", numpy.int16, "i16", "i"),
    ("int32", numpy.int32, "i32", "i"),
    ("int64", numpy.int64, "i64", "i"),
    ("uint8", numpy.uint8, "u8", "u"),
    ("uint16", numpy.uint16, "u16", "u"),
    ("uint32", numpy.uint32, "u32", "u"),
    ("uint64", numpy.uint64, "u64", "u"),
    ("float16", numpy.float16, "f16", "e"),
    ("bfloat16", bfloat16, "bf16", "e"),
    ("float8_e4m3fn", float8_e4m3fn, "f8e4m3", "e"),
    ("float8_e5m2", float8_e5m2, "f8e5m2", "e"),
    ("float4_e2m1fn", float4_e2m1fn, "f4e2m1", "e"),
    ("float32", numpy.float32, "f32", "f"),
    ("float64", numpy.float64, "f64", "f"),
    ("complex64", numpy.complex64, "c64", "c"),
    ("complex128", numpy.complex128, "c128", "c"),
)

NAMES: tuple[str, ...] = tuple(row[0] for row in _TABLE)
_ALLOWED = allowed(NAMES)
DTYPES: tuple[numpy.dtype[Any], ...] = tuple(numpy.dtype(row[1]) for row in _TABLE)
C_TYPE: dict[numpy.dtype[Any], str] = {numpy.dtype(row[1]): row[2] for row in _TABLE}


class _Kinds(dict[DType, str]):
    """The kinds of the supported dtypes; to ask for that of another dtype raises `OnHostError`."""

    def __missing__(self, dtype: DType) -> str:
        check(dtype)
        raise KeyError(dtype)


KIND: dict[DType, str] = _Kinds({numpy.dtype(row[1]): row[3] for row in _TABLE})

# The dtypes that NumPy has from ml_dtypes: it computes them by that package's loops, and cannot sort them.
ML_DTYPES: frozenset[DType] = frozenset(dtype for dtype in DTYPES if dtype.type.__module__ == ml_dtypes.__name__)
# Those of one byte. Kernels have their C types only where they use them.
BYTE_FLOATS: frozenset[DType] = frozenset(dtype for dtype in ML_DTYPES if dtype.itemsize == 1)

BOOL = numpy.dtype(numpy.bool_)
INT64 = numpy.dtype(numpy.int64)
FLOAT32 = numpy.dtype(numpy.float32)
FLOAT64 = numpy.dtype(numpy.float64)
COMPLEX128 = numpy.dtype(numpy.complex128)

# The supported dtype of every key that `check` finds in one look-up: dtypes, their classes, NumPy types, Python types.
_known: dict[Any, numpy.dtype[Any]] = {key: dtype for dtype in DTYPES for key in (dtype, dtype.type, type(dtype))}
_known.update((kind, numpy.dtype(kind)) for kind in (bool, int, float, complex))
_known.update((dtype.name, dtype) for dtype in ML_DTYPES)  # names that older releases of ml_dtypes do not tell NumPy


def check(dtype: Any) -> numpy.dtype[Any]:
    """Return `dtype` as a supported, native NumPy dtype.

    Raises
    ------
    TypeError
        If it is no dtype.
    OnHostError
        If no kernel computes it, as none does one of the other byte order.
    """
    try:
        return _known[dtype]
    except (KeyError, TypeError):
        pass
    requested = from_user(dtype)
    supported = _known.get(requested)
    if supported is not None:
        return supported
    who = "NumPy does on the host, unless host_fallback('error') forbids it"
    raise OnHostError(f"no kernel computes dtype {str(requested)!r}, which {who}; {_ALLOWED}")


def from_user(dtype: Any) -> numpy.dtype[Any]:
    """Return ``numpy.dtype(dtype)``, which would take the dtype of an array of this package, as of no array of its own.

    Raises
    ------
    TypeError
        If it is an array, or no dtype.
    """
    if hasattr(type(dtype), "__array_namespace__") and dtype.shape:
        raise TypeError("Cannot construct a dtype from an array")
    return numpy.dtype(dtype)


def of_data(dtype: numpy.dtype[Any]) -> numpy.dtype[Any]:
    """Return the dtype that stores data of a NumPy dtype: the same in the machine's byte order. See `check`."""
    return check(dtype if dtype.isnative else dtype.newbyteorder("="))
