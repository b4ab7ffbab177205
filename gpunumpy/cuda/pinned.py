"""NumPy arrays in page-locked memory, under the names of `cupyx`: GPUs copy to them and from them beside the host."""

from __future__ import annotations

from typing import Any

import numpy

from ..core.arguments import memory_order
from ..core.runtime.device import default_device
from ..core.runtime.page_locked import new_array
from ..functions.creation.arrays import as_shape


def empty_pinned(shape: Any, dtype: Any = float, order: str = "C") -> numpy.ndarray[Any, Any]:
    """Return NumPy's array in page-locked memory; its content is undefined. See `cupyx.empty_pinned`.

    Without a GPU, or where the CPU is the default device, the memory is ordinary. A forked child may share page-locked
    memory with its parent: what the one writes to such an array the other then finds in it.

    Parameters
    ----------
    shape : int or tuple of int
        The shape.
    dtype : dtype
        The type of the elements, any but objects.
    order : {"C", "F"}
        The memory order.

    Raises
    ------
    MemoryError
        If the system cannot lock so many bytes.
    TypeError
        If elements are Python's objects.
    """
    dtype = numpy.dtype(dtype)
    if dtype.hasobject:
        raise TypeError(f"page-locked memory holds bytes, not elements of {dtype}")
    dims = as_shape(shape)
    if memory_order(order) == "F":
        return new_array(dims[::-1], dtype, default_device()).T
    return new_array(dims, dtype, default_device())


def zeros_pinned(shape: Any, dtype: Any = float, order: str = "C") -> numpy.ndarray[Any, Any]:
    """Return NumPy's array of zeros in page-locked memory. See `cupyx.zeros_pinned`, and `empty_pinned`.

    Parameters
    ----------
    shape : int or tuple of int
        The shape.
    dtype : dtype, optional
        The type of the elements, float64 by default.
    order : {"C", "F"}
        The memory order.

    Returns
    -------
    numpy.ndarray
        The array.
    """
    result = empty_pinned(shape, dtype, order)
    result[...] = numpy.zeros((), result.dtype)
    return result


def empty_like_pinned(
    a: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None
) -> numpy.ndarray[Any, Any]:
    """Return NumPy's array in page-locked memory with the shape and dtype of another array. See `empty_pinned`.

    Parameters
    ----------
    a : array
        The model, on any device.
    dtype : dtype, optional
        Another type of the elements.
    order : {"C", "F", "A", "K"}
        The memory order; "A" and "K" for that of `a` where it is C or F.
    subok : None
        Exists for the signature of `cupyx.empty_like_pinned`.
    shape : int or tuple of int, optional
        Another shape.
    """
    if subok:
        raise TypeError("subok must be None or False: page-locked arrays are of NumPy's own class")
    order = memory_order(order)
    if order in ("A", "K"):
        order = "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"
    return empty_pinned(a.shape if shape is None else shape, a.dtype if dtype is None else dtype, order)


def zeros_like_pinned(
    a: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None
) -> numpy.ndarray[Any, Any]:
    """Return NumPy's array of zeros in page-locked memory, like another array. See `empty_like_pinned`.

    Parameters
    ----------
    a : array
        The model, on any device.
    dtype : dtype, optional
        Another type of the elements.
    order : {"C", "F", "A", "K"}
        The memory order; "A" and "K" for that of `a` where it is C or F.
    subok : None
        Exists for the signature of `cupyx.zeros_like_pinned`.
    shape : int or tuple of int, optional
        Another shape.

    Returns
    -------
    numpy.ndarray
        The array.
    """
    result = empty_like_pinned(a, dtype, order, subok, shape)
    result[...] = numpy.zeros((), result.dtype)
    return result


__all__ = ["empty_like_pinned", "empty_pinned", "zeros_like_pinned", "zeros_pinned"]
