"""Dtypes and type promotion. Constants and dtype names are NumPy's own objects, found by `fallback`."""

from __future__ import annotations

from types import GenericAlias
from typing import Any

import ml_dtypes
import numpy

from ..core import dtypes as _dtypes
from ..core.recording.array import is_scalar, ndarray, to_host
from ..core.recording.record import as_array, holds_arrays

__all__ = [
    "bfloat16",
    "broadcast_shapes",
    "can_cast",
    "common_type",
    "finfo",
    "float4_e2m1fn",
    "float8_e4m3fn",
    "float8_e5m2",
    "isdtype",
    "isscalar",
    "iterable",
    "min_scalar_type",
    "mintypecode",
    "ndim",
    "promote_types",
    "result_type",
    "shape",
    "size",
]

bfloat16 = _dtypes.bfloat16.type
float8_e4m3fn = _dtypes.float8_e4m3fn.type
float8_e5m2 = _dtypes.float8_e5m2.type
float4_e2m1fn = _dtypes.float4_e2m1fn.type


class finfo:
    """Machine limits of a floating dtype, or of the dtype of an array: one object for each. See `numpy.finfo`.

    The limits are scalars of the dtype, as in NumPy; those of bfloat16, float8 and float4 are Python floats.
    """

    _limits: Any

    __class_getitem__: Any = classmethod(GenericAlias)  # as NumPy's, for annotations

    def __new__(cls, dtype: Any) -> finfo:
        """Return the object of a dtype, which is made once."""
        wanted = _type_of(dtype)
        of_ml_dtypes = _of_ml_dtypes(wanted)
        limits = numpy.finfo(wanted) if of_ml_dtypes is None else ml_dtypes.finfo(of_ml_dtypes)
        made = object.__new__(cls)
        made._limits = limits
        return _finfos.setdefault(limits.dtype, made)

    def __reduce__(self) -> tuple[type, tuple[Any]]:
        """Return how copies and pickles find the object again."""
        return finfo, (self.dtype,)

    def __getattr__(self, name: str) -> Any:
        """Return one of the limits."""
        value = getattr(self._limits, name)
        return float(value) if _of_ml_dtypes(type(value)) else value

    def __repr__(self) -> str:
        """Return NumPy's text."""
        return repr(self._limits)

    def __str__(self) -> str:
        """Return NumPy's table of limits."""
        return str(self._limits)

    def __eq__(self, other: object) -> bool:
        """Return whether both describe the same dtype."""
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        """Return the hash of the dtype."""
        return hash(self.dtype)


_finfos: dict[numpy.dtype[Any], finfo] = {}
_ML_DTYPES = {key: dtype for dtype in _dtypes.ML_DTYPES for key in (dtype, dtype.type, dtype.name)}


def _of_ml_dtypes(x: Any) -> numpy.dtype[Any] | None:
    """Return the dtype of ml_dtypes that a dtype, a type or a name stands for; None for others."""
    return _ML_DTYPES.get(x) if isinstance(x, (numpy.dtype, type, str)) else None


def isdtype(dtype: Any, kind: Any) -> bool:
    """Return whether a dtype is of a kind, or of one of several. See `numpy.isdtype`.

    bfloat16, float8 and float4 are "real floating".
    """
    kinds = kind if isinstance(kind, tuple) else (kind,)
    others = tuple(k for k in kinds if _of_ml_dtypes(k) is None)
    found = _of_ml_dtypes(dtype)
    if found is not None:
        kind_names = tuple(k for k in others if isinstance(k, str))
        return found in map(_of_ml_dtypes, kinds) or numpy.isdtype(numpy.float32, kind_names)
    return numpy.isdtype(dtype, kind if len(others) == len(kinds) else others)


def _type_of(x: Any) -> Any:
    """Return the dtype of a gpunumpy array, and anything else unchanged."""
    return x.dtype if isinstance(x, ndarray) else x


def _promotion_operand(x: Any) -> Any:
    """Return a 0-d NumPy array for a gpunumpy array, and anything else unchanged: promotion treats both alike."""
    return numpy.empty((), x.dtype) if isinstance(x, ndarray) else x


def result_type(*arrays_and_dtypes: Any) -> numpy.dtype[Any]:
    """Return the dtype that results from type promotion of the arguments. See `numpy.result_type`."""
    return numpy.result_type(*map(_promotion_operand, arrays_and_dtypes))


def promote_types(type1: Any, type2: Any, /) -> numpy.dtype[Any]:
    """Return the smallest dtype to which both dtypes can be cast safely. See `numpy.promote_types`."""
    return numpy.promote_types(_type_of(type1), _type_of(type2))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Return whether a cast is allowed by a casting rule. See `numpy.can_cast`."""
    rule = () if casting == "safe" else (casting,)  # a class that is asked gets what the program has given
    return numpy.can_cast(_type_of(from_), _type_of(to), *rule)


def min_scalar_type(a: Any, /) -> numpy.dtype[Any]:
    """Return the smallest dtype that holds a scalar, or the dtype of an array. See `numpy.min_scalar_type`."""
    if isinstance(a, ndarray):
        return numpy.min_scalar_type(to_host(a)) if not a.ndim else a.dtype
    return numpy.min_scalar_type(a)


def common_type(*arrays: Any) -> type:
    """Return the inexact scalar type common to the arrays. See `numpy.common_type`."""
    return numpy.common_type(*(numpy.empty(0, a.dtype) if isinstance(a, ndarray) else a for a in arrays))


def isscalar(element: Any) -> bool:
    """Return whether the argument is a scalar, as the 0-d result of an operation is. See `numpy.isscalar`."""
    if isinstance(element, ndarray):
        return is_scalar(element)
    return numpy.isscalar(element)


def iterable(y: Any) -> bool:
    """Return whether the argument can be iterated over. See `numpy.iterable`."""
    try:
        iter(y)
    except TypeError:
        return False
    return True


def _joined(a: Any) -> Any:
    """Return an array of nested sequences that hold arrays, whose elements the host need not read; else `a`."""
    return as_array(a) if isinstance(a, (list, tuple)) and holds_arrays(a) else a


def ndim(a: Any) -> int:
    """Return the number of dimensions. See `numpy.ndim`."""
    return a.ndim if hasattr(a, "ndim") else numpy.ndim(_joined(a))


def shape(a: Any) -> tuple[int, ...]:
    """Return the length of each dimension. See `numpy.shape`."""
    return a.shape if hasattr(a, "shape") else numpy.shape(_joined(a))


def size(a: Any, axis: Any = None) -> int:
    """Return the number of elements along one axis, several, or all. See `numpy.size`."""
    a = _joined(a)
    a = numpy.broadcast_to(0, a.shape) if hasattr(a, "shape") else a
    return numpy.size(a) if axis is None else numpy.size(a, axis)


def mintypecode(typechars: Any, typeset: str = "GDFgdf", default: str = "d") -> str:
    """Return the character of the smallest type to which all given types can be cast. See `numpy.mintypecode`."""
    return numpy.mintypecode([_promotion_operand(t) for t in typechars], typeset, default)


def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """Broadcast shapes into a single shape. See `numpy.broadcast_shapes`."""
    return numpy.broadcast_shapes(*args)
