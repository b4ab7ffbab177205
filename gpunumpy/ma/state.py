"""`MaskedArray`: the state of a masked array. `binding` adds the operators and methods.

Data and mask are arrays on a device. A mask that `numpy.ma` drops if it has no true element is kept, beside a boolean
of no dimension that tells whether it has one: nobody waits for that boolean until somebody asks for the mask.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy

from ..core.dtypes import KIND
from ..core.numpy_release import NUMPY_2_5, RELEASE, SETTER_WARNINGS
from ..core.recording.array import from_host, is_scalar, mark_as_array, ndarray
from ..core.sequence_patterns import match_as_sequence
from ..core.source_location import warn
from ..functions.creation.arrays import full
from .fill_values import checked_fill_value, converted_fill_value

# NumPy's own objects, so that programs and libraries that use either package find the same ones.
masked: Any = numpy.ma.masked
nomask: Any = numpy.ma.nomask
_NUMPY_CONSTRUCTOR = numpy.ma.MaskedArray.__new__.__code__


class _MaskedType(type):
    """Metaclass of `MaskedArray`, for which NumPy's masked arrays are instances too."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> type:
        """Make a class. Raise TypeError for one of arrays and masked arrays at once."""
        arrays = [base.__name__ for base in bases if issubclass(base, ndarray)]
        if arrays:
            raise TypeError(
                f"{name!r} cannot derive from {arrays[0]!r} and from MaskedArray: masked arrays hold plain arrays, and "
                "are none. A class that derives from MaskedArray alone can have the other's methods and attributes"
            )
        return super().__new__(cls, name, bases, namespace, **options)

    def __instancecheck__(cls, x: Any) -> bool:
        """Return whether `x` is a masked array of this class, or NumPy's: of a dtype that no kernel computes."""
        return type.__instancecheck__(cls, x) or (cls is MaskedArray and isinstance(x, numpy.ma.MaskedArray))


class MaskedArray(metaclass=_MaskedType):
    """An array on a device some of whose elements are masked: computations skip them. See `numpy.ma.MaskedArray`."""

    __array_priority__ = 15
    is_masked_array = True  # by which layers below know the class

    _data: ndarray
    _stored_mask: Any  # nomask, or booleans of the shape of the data
    _has_masked: ndarray | None  # whether the mask is kept; None: it is
    _fill_value: Any  # a NumPy array of no dimension; None until somebody asks for it
    _hardmask: bool
    _sharedmask: bool
    _stored_info: dict[str, Any]

    @property
    def _mask(self) -> Any:
        """The mask, or `nomask`.

        NumPy's constructor takes it for the mask of the array that it has made of this one by `__array__`, which has
        that mask already, as a NumPy array of its shape.
        """
        caller = sys._getframe(1)
        if caller.f_code is _NUMPY_CONSTRUCTOR:
            mask = caller.f_locals["_data"]._mask
            return mask if mask is nomask else mask.view()  # whose shape it may set
        if self._has_masked is not None:
            if not bool(self._has_masked):
                self._stored_mask = nomask
            self._has_masked = None
        return self._stored_mask

    @_mask.setter
    def _mask(self, mask: Any) -> None:
        mask = mask._data if is_ours(mask) else mask
        is_of_numpy = isinstance(mask, numpy.ndarray)  # as functions of `numpy.ma` give it
        self._stored_mask, self._has_masked = from_host(mask, self._data.device) if is_of_numpy else mask, None

    @property
    def data(self) -> ndarray:
        """The elements without the mask, as an array that shares memory with this one."""
        return self._data

    @property
    def mask(self) -> Any:
        """The mask: true where an element is masked; `nomask` if there is none."""
        return self._mask

    @mask.setter
    def mask(self, mask: Any) -> None:
        set_mask(self, mask)

    @property
    def recordmask(self) -> Any:
        """The mask: there are no records here."""
        return self._mask

    @property
    def hardmask(self) -> bool:
        """Whether assignments leave masked elements masked."""
        return self._hardmask

    @property
    def sharedmask(self) -> bool:
        """Whether the mask may be that of another array too."""
        return self._sharedmask

    @property
    def baseclass(self) -> type:
        """The class of the data."""
        return ndarray

    _baseclass = numpy.ndarray  # what `numpy.ma.asarray` makes of the elements

    @property
    def _optinfo(self) -> dict[str, Any]:
        """What a subclass has stored beside the elements, which results take over as they do attributes."""
        return self.__dict__.setdefault("_stored_info", {})

    def __array_finalize__(self, obj: Any) -> None:
        """Take over attributes of `obj`, the array that a new one of a subclass was made from. Subclasses do so."""

    @property
    def fill_value(self) -> Any:
        """The value that stands in for masked elements, as a NumPy scalar."""
        if self._fill_value is None:
            self._fill_value = checked_fill_value(None, self.dtype)
        return self._fill_value[()]

    @fill_value.setter
    def fill_value(self, value: Any) -> None:
        set_fill_value(self, value)

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """The dtype of the data."""
        return self._data.dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        data: Any = self._data
        data = data.view()  # the array that the data was given as keeps its dtype
        data.dtype = dtype
        mask = self._mask
        if mask is not nomask:
            self._mask = mask.reshape(data.shape)
        self._data = data

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the data."""
        return self._data.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        if NUMPY_2_5:
            warn(SETTER_WARNINGS["shape"], DeprecationWarning)
        data: Any = self._data
        self._data = data.reshape(shape, copy=False)
        if self._mask is not nomask:
            self._mask = self._mask.reshape(shape)

    def __hash__(self) -> int:
        """Raise `TypeError`."""
        raise TypeError("unhashable type: 'MaskedArray'")


MaskedArray.__module__ = __package__
match_as_sequence(MaskedArray)


def new(
    data: Any, mask: Any = nomask, like: Any = None, has_masked: ndarray | None = None, cls: type[Any] = MaskedArray
) -> Any:
    """Return a masked array of data and a mask, which are not copied.

    Parameters
    ----------
    data
        An array of this package.
    mask
        `nomask`, or booleans of the same shape.
    like
        The masked array whose class, fill value and kind of mask the result has.
    has_masked
        A boolean that decides whether the result has the mask or `nomask`.
    """
    result = object.__new__(cls if like is None else type(like))
    result._data = as_data(data)
    store_mask(result, mask if mask is nomask else as_data(mask), has_masked)
    result._fill_value, result._hardmask, result._sharedmask = None, False, False
    if type(result) is not MaskedArray:
        result.__array_finalize__(data if like is None else like)
    if like is None:
        return result
    update_from(result, like)
    if result._fill_value is not None and like.dtype != result.dtype:
        result._fill_value = converted_fill_value(result._fill_value, result.dtype)
    return result


def store_mask(x: Any, mask: Any, has_masked: Any) -> None:
    """Give a masked array a mask, and the boolean that decides whether it is kept: None if it is.

    A mask without elements has no true one, though `all` of it is true, so nothing may be computed from it.
    """
    if has_masked is not None and not mask.size:
        mask, has_masked = nomask, None
    x._stored_mask, x._has_masked = mask, has_masked


def as_data(x: Any) -> ndarray:
    """Return an array that does not act as a NumPy scalar, so that it can be written to."""
    if is_scalar(x):
        x = mark_as_array(x[...])
    return x


def update_from(x: Any, like: Any) -> Any:
    """Give a masked array the fill value and the kind of mask of another object, and return it.

    Before 2.5.3 NumPy leaves the fill value as it is, of whatever dtype.
    """
    if isinstance(like, MaskedArray):
        fill_value = like._fill_value
        if RELEASE >= "2.5.3" and fill_value is not None and like.dtype != x.dtype:
            fill_value = converted_fill_value(fill_value, x.dtype)
        x._fill_value, x._hardmask, x._sharedmask = fill_value, like._hardmask, like._sharedmask
        if is_ours(like):
            take_attributes(x, like)
    return x


def take_attributes(x: Any, like: Any) -> None:
    """Give a masked array the attributes of another that it does not have."""
    own = vars(like).keys() - vars(x).keys()
    x.__dict__.update((name, vars(like)[name]) for name in own)
    if "_stored_info" in own:  # of which every array has its own
        x._stored_info = dict(like._stored_info)


def is_ours(x: Any) -> bool:
    """Return whether an object is a masked array of this package."""
    return type.__instancecheck__(MaskedArray, x)


def set_mask(x: Any, mask: Any) -> None:
    """Write a mask into that of a masked array."""
    mask = True if mask is masked else mask
    if x._mask is nomask:
        if mask is nomask:
            return
        x._mask = no_masked_elements(x._data)
    if x._hardmask:
        x._mask |= mask
    elif isinstance(mask, (int, float, numpy.bool, numpy.number)):
        x._mask[...] = mask
    else:
        x._mask.flat = mask


def set_fill_value(x: Any, value: Any = None) -> None:
    """Set the fill value of a masked array; None sets the default. See `numpy.ma.MaskedArray.set_fill_value`."""
    fill_value = checked_fill_value(value, x.dtype)
    if x._fill_value is None:
        x._fill_value = fill_value
    else:
        x._fill_value[()] = fill_value


def full_like_data(x: ndarray, value: bool) -> Any:
    """Return a mask of the shape of an array, on its device, whose elements are all equal."""
    return full(x.shape, value, numpy.bool, device=x.device)


def no_masked_elements(x: ndarray) -> Any:
    """Return a mask of the shape of an array, on its device, with no true element."""
    return full_like_data(x, False)


def has_kernels(dtype: Any) -> bool:
    """Return whether kernels compute a dtype, so that masked arrays of it are of this class."""
    return dtype in KIND
