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
    """The limits of a floating dtype, or of an array's. See `numpy.finfo`.

    The numbers are Python floats, as the array API standard has them: in promotion they adapt to the dtype that they
    are the limits of.
    """

    def __init__(self, dtype: Any) -> None:
        wanted = _type_of(dtype)
        self._limits: Any = ml_dtypes.finfo(_bfloat16) if _is_bfloat16(wanted) else numpy.finfo(wanted)

    def __getattr__(self, name: str) -> Any:
        if name == "_limits":  # a copy in the making has none yet
            raise AttributeError(name)
        value = getattr(self._limits, name)
        return float(value) if isinstance(value, _NARROW) else value

    def __repr__(self) -> str:
        return repr(self._limits)

    def __str__(self) -> str:
        return str(self._limits)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


# Scalars that are no Python floats, as float64's are, and that a Python float holds.
_NARROW = (numpy.float16, numpy.float32, bfloat16)


def _is_bfloat16(x: Any) -> bool:
    return x is bfloat16 or (isinstance(x, numpy.dtype) and x == _bfloat16) or (isinstance(x, str) and x == "bfloat16")


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind, or of one of several; bfloat16 is a "real floating" one. See `numpy.isdtype`."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    others = tuple(k for k in kinds if not _is_bfloat16(k))
    if _is_bfloat16(dtype):
        words = tuple(k for k in others if isinstance(k, str))
        return len(others) < len(kinds) or numpy.isdtype(numpy.float32, words)
    return numpy.isdtype(dtype, kind if len(others) == len(kinds) else others)


def _type_of(x: Any) -> Any:
    """The dtype of an array of ours; anything else as it is."""
    return x.dtype if isinstance(x, ndarray) else x


def _promotes_as(x: Any) -> Any:
    return numpy.empty((), x.dtype) if isinstance(x, ndarray) else x


def result_type(*arrays_and_dtypes: Any) -> numpy.dtype[Any]:
    """The dtype that promotion gives. See `numpy.result_type`."""
    return numpy.result_type(*map(_promotes_as, arrays_and_dtypes))


def promote_types(type1: Any, type2: Any) -> numpy.dtype[Any]:
    """The smallest dtype that both can be cast to. See `numpy.promote_types`."""
    return numpy.promote_types(_type_of(type1), _type_of(type2))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Whether a cast is allowed. See `numpy.can_cast`."""
    return numpy.can_cast(_type_of(from_), _type_of(to), casting)


def min_scalar_type(a: Any) -> numpy.dtype[Any]:
    """The smallest dtype that holds a scalar; an array's own dtype. See `numpy.min_scalar_type`."""
    return a.dtype if isinstance(a, ndarray) else numpy.min_scalar_type(a)


def common_type(*arrays: Any) -> type:
    """The inexact scalar type common to arrays. See `numpy.common_type`."""
    return numpy.common_type(*(numpy.empty(0, a.dtype) if isinstance(a, ndarray) else a for a in arrays))


def isscalar(element: Any) -> bool:
    """Whether it is a scalar; the 0-d result of an operation is one. See `numpy.isscalar`."""
    if isinstance(element, ndarray):
        return is_scalar(element)
    return numpy.isscalar(element)


def iterable(y: Any) -> bool:
    """Whether it can be iterated over. See `numpy.iterable`."""
    try:
        iter(y)
    except TypeError:
        return False
    return True


def ndim(a: Any) -> int:
    """The number of dimensions. See `numpy.ndim`."""
    return a.ndim if hasattr(a, "ndim") else numpy.ndim(a)


def shape(a: Any) -> tuple[int, ...]:
    """The size of every dimension. See `numpy.shape`."""
    return a.shape if hasattr(a, "shape") else numpy.shape(a)


def size(a: Any, axis: Any = None) -> int:
    """The number of elements, along one axis or several or all. See `numpy.size`."""
    return numpy.size(numpy.broadcast_to(0, a.shape) if hasattr(a, "shape") else a, axis)


def mintypecode(typechars: Any, typeset: str = "GDFgdf", default: str = "d") -> str:
    """The character of the smallest type. See `numpy.mintypecode`."""
    return numpy.mintypecode([_promotes_as(t) for t in typechars], typeset, default)


def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """The shape that shapes broadcast to. See `numpy.broadcast_shapes`."""
    return numpy.broadcast_shapes(*args)
