"""Dtypes and type promotion. Constants and dtype names are NumPy's own objects, found by `fallback`."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy

from .core.array import is_scalar, ndarray
from .core.dtypes import bfloat16 as _bfloat16

__all__ = [
    "bfloat16",
    "broadcast_shapes",
    "can_cast",
    "common_type",
    "finfo",
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


def finfo(dtype: Any) -> Any:
    """The limits of a floating dtype, or of an array's. See `numpy.finfo`."""
    wanted = _type_of(dtype)
    if wanted is bfloat16 or wanted == _bfloat16 or wanted == "bfloat16":
        return ml_dtypes.finfo(_bfloat16)
    return numpy.finfo(wanted)


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


def size(a: Any, axis: int | tuple[int, ...] | None = None) -> int:
    """The number of elements, along one axis or several or all. See `numpy.size`."""
    return numpy.size(numpy.broadcast_to(0, a.shape) if hasattr(a, "shape") else a, axis)


def mintypecode(typechars: Any, typeset: str = "GDFgdf", default: str = "d") -> str:
    """The character of the smallest type. See `numpy.mintypecode`."""
    return numpy.mintypecode([_promotes_as(t) for t in typechars], typeset, default)


def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """The shape that shapes broadcast to. See `numpy.broadcast_shapes`."""
    return numpy.broadcast_shapes(*args)
