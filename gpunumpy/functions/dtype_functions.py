"""Dtypes and type promotion. Constants and dtype names are NumPy's own objects, found by `fallback`."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy

from ..core.dtypes import bfloat16 as _bfloat16
from ..core.recording.array import is_scalar, ndarray

__all__ = [
    "bfloat16",
    "broadcast_shapes",
    "can_cast",
    "common_type",
    "finfo",
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

bfloat16 = _bfloat16.type


class finfo:
    """Machine limits of a floating dtype, or of the dtype of an array. See `numpy.finfo`.

    The limits are scalars of the dtype, as in NumPy; those of bfloat16 are Python floats.
    """

    def __init__(self, dtype: Any) -> None:
        wanted = _type_of(dtype)
        self._limits: Any = ml_dtypes.finfo(_bfloat16) if _is_bfloat16(wanted) else numpy.finfo(wanted)

    def __getattr__(self, name: str) -> Any:
        """Return one of the limits."""
        if name == "_limits":  # an object that is being copied has no limits yet
            raise AttributeError(name)
        value = getattr(self._limits, name)
        return float(value) if isinstance(value, bfloat16) else value

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


def _is_bfloat16(x: Any) -> bool:
    return x is bfloat16 or (isinstance(x, numpy.dtype) and x == _bfloat16) or (isinstance(x, str) and x == "bfloat16")


def isdtype(dtype: Any, kind: Any) -> bool:
    """Return whether a dtype is of a kind, or of one of several; bfloat16 is "real floating". See `numpy.isdtype`."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    others = tuple(k for k in kinds if not _is_bfloat16(k))
    if _is_bfloat16(dtype):
        kind_names = tuple(k for k in others if isinstance(k, str))
        return len(others) < len(kinds) or numpy.isdtype(numpy.float32, kind_names)
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
    return numpy.can_cast(_type_of(from_), _type_of(to), casting)


def min_scalar_type(a: Any, /) -> numpy.dtype[Any]:
    """Return the smallest dtype that holds a scalar, or the dtype of an array. See `numpy.min_scalar_type`."""
    return a.dtype if isinstance(a, ndarray) else numpy.min_scalar_type(a)


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


def ndim(a: Any) -> int:
    """Return the number of dimensions. See `numpy.ndim`."""
    return a.ndim if hasattr(a, "ndim") else numpy.ndim(a)


def shape(a: Any) -> tuple[int, ...]:
    """Return the length of each dimension. See `numpy.shape`."""
    return a.shape if hasattr(a, "shape") else numpy.shape(a)


def size(a: Any, axis: Any = None) -> int:
    """Return the number of elements along one axis, several, or all. See `numpy.size`."""
    return numpy.size(numpy.broadcast_to(0, a.shape) if hasattr(a, "shape") else a, axis)


def mintypecode(typechars: Any, typeset: str = "GDFgdf", default: str = "d") -> str:
    """Return the character of the smallest type to which all given types can be cast. See `numpy.mintypecode`."""
    return numpy.mintypecode([_promotion_operand(t) for t in typechars], typeset, default)


def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """Broadcast shapes into a single shape. See `numpy.broadcast_shapes`."""
    return numpy.broadcast_shapes(*args)
