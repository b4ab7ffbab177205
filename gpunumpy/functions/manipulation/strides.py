"""Views by strides of the caller's own, and which arrays share memory."""

from __future__ import annotations

import operator
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy

from ...core import dtypes
from ...core.graph import layout
from ...core.graph.layout import Layout, normalize_axes
from ...core.recording.array import READ_ONLY, from_host, make_view, ndarray
from ..creation.arrays import as_shape, empty, frombuffer
from ..fallback import NATIVE
from .shape import reinterpreted

__all__ = ["may_share_memory", "shares_memory"]


# --- views ----------------------------------------------------------------------------------------------------------


def as_strided(x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True) -> ndarray:
    """A view with a shape and strides of the caller's own. See `numpy.lib.stride_tricks.as_strided`.

    Parameters
    ----------
    x : array_like
        The array. What is none of ours is copied, so that the result is read-only.
    shape : sequence of int, optional
        The shape of the view; by default the array's.
    strides : sequence of int, optional
        The steps in bytes, each of whole elements; by default the array's.
    subok : bool, optional
        For NumPy's sake; it changes nothing.
    writeable : bool, optional
        Whether the view may be written. One in which elements overlap is read-only all the same.

    Returns
    -------
    ndarray
        The view.

    Raises
    ------
    ValueError
        If an element of the view lies outside the array's memory, or between its elements.
    """
    if not isinstance(x, ndarray):
        return _read_only(from_host(numpy.lib.stride_tricks.as_strided(numpy.asarray(x), shape, strides)))
    dims = x.shape if shape is None else as_shape(shape)
    given = x.strides if strides is None else tuple(int(s) for s in strides)
    if len(given) != len(dims):
        raise ValueError(f"strides {given} are not as many as the dimensions of the shape {dims}")
    unit, owner = _unit(x), x if x.base is None else x.base
    if any(s % unit for s in given):
        raise ValueError(f"strides {given} are no whole elements of {unit} bytes")
    where = Layout(dims, tuple(s // unit for s in given), x.layout.offset)
    if 0 not in dims and not 0 <= where.low() <= where.high() < owner.nbytes // unit:
        raise ValueError(f"a view of the shape {dims} with the strides {given} goes beyond the memory of the array")
    view = make_view(x, where)
    return view if writeable and layout.are_distinct(*where[:2]) else _read_only(view)


def described(
    cls: type[ndarray],
    shape: Any,
    dtype: Any = float,
    buffer: Any = None,
    offset: Any = 0,
    strides: Any = None,
    order: str | None = None,
) -> ndarray:
    """What calling the class gives: an array whose elements are not set, or a view of a buffer. See `numpy.ndarray`.

    A buffer that is no array of ours is copied, so that the result is read-only.
    """
    if cls is not ndarray:
        raise TypeError(f"arrays are of no subclass of ndarray, such as {cls.__name__}: let one hold an array")
    dims, wanted = as_shape(shape), dtypes.check(dtype)
    if order not in (None, *"CFAK"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if buffer is None and strides is None:
        return empty(dims, wanted, order or "C")
    unit, given = wanted.itemsize, strides is not None
    if not given:
        steps = layout.c_strides(dims[::-1])[::-1] if order == "F" else layout.c_strides(dims)
        strides = [s * unit for s in steps]
    if len(strides) != len(dims):
        raise ValueError("strides, if given, must be the same length as shape")
    if buffer is None:
        words, offset = reinterpreted(empty(prod(dims), wanted), "u1"), 0
    else:
        where = buffer.layout if isinstance(buffer, ndarray) else layout.c_layout(())
        if not (layout.is_c(where.shape, where.strides) or layout.is_f(where.shape, where.strides)):
            raise ValueError("ndarray is not contiguous")
        held = buffer if isinstance(buffer, ndarray) else frombuffer(buffer, "u1")
        words = reinterpreted(make_view(held, Layout((held.size,), (1,), held.layout.offset)), "u1")
    offset = operator.index(offset)
    reach = Layout(dims, tuple(map(operator.index, strides)), offset)
    if not 0 <= offset <= words.size or (0 not in dims and not 0 <= reach.low() <= reach.high() <= words.size - unit):
        if given:
            raise ValueError("strides is incompatible with shape of requested array and size of buffer")
        raise TypeError("buffer is too small for requested array")
    nbytes = (words.size - offset) // unit * unit
    memory = reinterpreted(make_view(words, Layout((nbytes,), (1,), words.layout.offset + offset)), wanted)
    return as_strided(memory, dims, strides)


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> ndarray:
    """The view of all windows of a size. See `numpy.lib.stride_tricks.sliding_window_view`.

    Parameters
    ----------
    x : array_like
        The array.
    window_shape : int or sequence of int
        The size of the window along each axis.
    axis : int or sequence of int, optional
        The axes that it slides along; by default all of them.
    subok : bool, optional
        For NumPy's sake; it changes nothing.
    writeable : bool, optional
        Whether the view may be written. Windows that overlap are read-only all the same.

    Returns
    -------
    ndarray
        The view, with the dimensions of the windows last.
    """
    array = x if isinstance(x, ndarray) else from_host(numpy.asarray(x))
    window = tuple(window_shape) if numpy.iterable(window_shape) else (window_shape,)
    if any(n < 0 for n in window):
        raise ValueError("`window_shape` cannot contain negative values")
    shape, strides, offset = array.layout
    if axis is None:
        axes = tuple(range(len(shape)))
        if len(window) != len(axes):
            raise ValueError(
                "Since axis is `None`, must provide window_shape for all dimensions of `x`; got "
                f"{len(window)} window_shape elements and `x.ndim` is {len(shape)}."
            )
    else:
        # An axis may be named twice: windows of windows.
        axes = tuple(normalize_axes(a, len(shape))[0] for a in (axis if numpy.iterable(axis) else (axis,)))
        if len(window) != len(axes):
            raise ValueError(
                f"Must provide matching length window_shape and axis; got {len(window)} window_shape elements and "
                f"{len(axes)} axes elements."
            )
    places = list(shape)
    for a, n in zip(axes, window, strict=True):
        if places[a] < n:
            raise ValueError("window shape cannot be larger than input array shape")
        places[a] -= n - 1
    dims = (*places, *window)
    steps = (*strides, *(strides[a] for a in axes))
    view = make_view(array, Layout(dims, steps, offset))
    return view if writeable and array is x and layout.are_distinct(dims, steps) else _read_only(view)


def _read_only(view: ndarray) -> ndarray:
    view._flags |= READ_ONLY
    return view


def _unit(x: ndarray) -> int:
    """The bytes that the strides of its layout count."""
    return x.itemsize if x.base is None or x._part not in ("real", "imag") else x.base.itemsize


NATIVE["numpy.lib.stride_tricks.as_strided"] = as_strided
NATIVE["numpy.lib.stride_tricks.sliding_window_view"] = sliding_window_view


# --- sharing --------------------------------------------------------------------------------------------------------


def shares_memory(a: Any, b: Any, /, max_work: int = -1) -> bool:
    """Whether an element of one array is in memory that is another's too. See `numpy.shares_memory`.

    Parameters
    ----------
    a, b : array_like
        The arrays. One on a device shares no memory with one of NumPy's, unless it was handed out on the CPU device.
    max_work : int, optional
        How many candidates to try: -1 for an exact answer, 0 to compare where the memory begins and ends.

    Returns
    -------
    bool
    """
    return _compared(numpy.shares_memory, a, b, max_work)


def may_share_memory(a: Any, b: Any, /, max_work: int = 0) -> bool:
    """Whether two arrays may share memory, by where their memory begins and ends. See `numpy.may_share_memory`.

    Parameters
    ----------
    a, b : array_like
        The arrays, as for `shares_memory`.
    max_work : int, optional
        As for `shares_memory`.

    Returns
    -------
    bool
    """
    return _compared(numpy.may_share_memory, a, b, max_work)


def _compared(compare: Any, a: Any, b: Any, max_work: int) -> bool:
    arrays = [x for x in (a, b) if isinstance(x, ndarray)]
    owners = {id(x if x.base is None else x.base) for x in arrays}
    if len(arrays) == 2 and len(owners) == 1:
        start = 1 << 40  # any address: nothing is read there
        return bool(compare(_stand_in(a, start), _stand_in(b, start), max_work=max_work))
    known = [_address(x) for x in arrays]
    devices = {x.device for x in arrays}
    if None in known or len(devices) > 1 or (len(arrays) == 1 and not devices.pop().shares_host_memory):
        return False
    starts = iter(known)
    stand_ins = (_stand_in(x, next(starts)) if isinstance(x, ndarray) else x for x in (a, b))
    return bool(compare(*stand_ins, max_work=max_work))


def _address(x: ndarray) -> int | None:
    """Where the memory of the array's owner begins, if it stays there since others know it."""
    node = (x if x.base is None else x.base)._node
    data = node.data
    if data is None or not getattr(data, "exported", False):
        return None
    return int(data.ptr) + node.offset * node.signature.dtype.itemsize


def _stand_in(x: ndarray, start: Any) -> Any:
    """An array of NumPy's that lies as ours does in memory that begins at an address, and is never looked at."""
    first = start + x.layout.offset * _unit(x) + (x.itemsize if x.base is not None and x._part == "imag" else 0)
    where = {"version": 3, "typestr": f"|V{x.itemsize}", "shape": x.shape, "strides": x.strides, "data": (first, True)}
    return numpy.asarray(SimpleNamespace(__array_interface__=where))
