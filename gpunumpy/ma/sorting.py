"""Sorting masked arrays, and what is found by sorting: medians, distinct elements."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy

from ..core.recording.array import ndarray
from ..core.source_location import warn
from ..functions.creation.arrays import array as new_array
from ..functions.indexing.selection import take_along_axis
from .fill_values import maximum_fill_value, minimum_fill_value
from .masks import taken
from .selecting import filled_for
from .state import is_ours, new, nomask

_NOT_GIVEN: Any = numpy._NoValue


def _filled_for_sorting(x: Any, endwith: bool, fill_value: Any) -> Any:
    """Return the data with masked elements as the largest or the smallest ones."""
    if fill_value is None:
        if endwith:
            fill_value = numpy.nan if numpy.issubdtype(x.dtype, numpy.floating) else minimum_fill_value(x)
        else:
            fill_value = maximum_fill_value(x)
    return filled_for(x, fill_value)


def _refuse(stable: Any, descending: Any) -> None:
    """Raise `ValueError` for what NumPy refuses for masked arrays."""
    for name, value in (("stable", stable), ("descending", descending)):
        if value:
            raise ValueError(f"`{name}` parameter is not supported for masked arrays.")


def argsort_method(
    self: Any,
    axis: Any = _NOT_GIVEN,
    kind: Any = None,
    order: Any = None,
    endwith: bool = True,
    fill_value: Any = None,
    *,
    stable: Any = False,
    descending: Any = False,
) -> Any:
    """Return the indices that sort the elements, masked ones last. See `numpy.ma.MaskedArray.argsort`."""
    _refuse(stable, descending)
    if axis is _NOT_GIVEN:
        axis = -1
        if self.ndim > 1:
            axis = None
            text = (
                "In the future the default for argsort will be axis=-1, not the current None, to match its "
                "documentation and np.argsort. Explicitly pass -1 or None to silence this warning."
            )
            warnings.warn(text, numpy.ma.core.MaskedArrayFutureWarning, stacklevel=3)
    return _filled_for_sorting(self, endwith, fill_value).argsort(axis=axis, kind=kind, order=order)


def sort_method(
    self: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    endwith: bool = True,
    fill_value: Any = None,
    *,
    stable: Any = False,
    descending: Any = False,
) -> None:
    """Sort the elements in place, masked ones last. See `numpy.ma.MaskedArray.sort`."""
    _refuse(stable, descending)
    mask = self._mask
    if mask is nomask:
        self._data.sort(axis=axis, kind=kind, order=order)
        return
    index = argsort_method(self, axis, kind, order, endwith, fill_value)
    data, ordered = take_along_axis(self._data, index, axis), take_along_axis(mask, index, axis)
    self[...] = new(data if axis is not None else data.reshape(self.shape), ordered)  # type: ignore[attr-defined]


def argsort(
    a: Any,
    axis: Any = _NOT_GIVEN,
    kind: Any = None,
    order: Any = None,
    endwith: bool = True,
    fill_value: Any = None,
    *,
    stable: Any = None,
    descending: Any = None,
) -> Any:
    """Return the indices that sort the elements, masked ones last. See `numpy.ma.argsort`."""
    a = taken(a)
    x = a if is_ours(a) else new(new_array(a, copy=None))
    return argsort_method(x, axis, kind, order, endwith, fill_value, stable=stable, descending=descending)


def sort(
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    endwith: bool = True,
    fill_value: Any = None,
    *,
    stable: Any = None,
    descending: Any = None,
) -> Any:
    """Return a sorted copy, masked elements last. See `numpy.ma.sort`."""
    a = taken(a)
    x: Any = a.copy() if is_ours(a) else new_array(a)
    if axis is None:
        x, axis = x.flatten(), 0
    if isinstance(x, ndarray):
        method: Any = x.sort  # type: ignore[attr-defined]
        method(axis=axis, kind=kind, order=order)
    else:
        sort_method(x, axis, kind, order, endwith, fill_value, stable=stable, descending=descending)
    return x


def _ignoring_mask(name: str) -> Callable[..., Any]:
    """Return a method of the data, of which NumPy warns that it ignores the mask."""

    def run(self: Any, *args: Any, **options: Any) -> Any:
        warn(f"Warning: '{name}' will ignore the 'mask' of the {type(self).__name__}.", UserWarning)
        found = getattr(self._data, name)(*args, **options)
        if found is None:
            return None
        mask = self._stored_mask
        return new(found, mask if mask is nomask else mask.reshape(found.shape), self, self._has_masked)

    run.__name__ = name
    run.__doc__ = f"Ignore the mask. See `numpy.ndarray.{name}`."
    return run


PARTITION_METHODS = {name: _ignoring_mask(name) for name in ("argpartition", "partition")}


def searchsorted_method(self: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Return where elements would be inserted; the mask is ignored. See `numpy.ndarray.searchsorted`."""
    return self._data.searchsorted(v._data if is_ours(v) else v, side, sorter)
