"""What `ndarray` has as methods in other words than the function of that name, and what only it has."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from math import prod
from typing import Any

import numpy

from ..core.graph import layout
from ..core.graph.layout import Layout
from ..core.numpy_release import NUMPY_2_5
from ..core.recording.array import BOX, READ_ONLY, from_host, is_scalar, make_view, ndarray, to_host
from ..core.recording.record import reshaped as in_shape
from ..core.runtime.device import Device
from ..functions.creation.arrays import array, as_shape
from ..functions.manipulation.repeating import grown
from ..functions.manipulation.shape import as_shape_with_unknown, reshaped, transpose
from ..functions.ufuncs.ufunc import UFUNCS


def reshape_method(x: ndarray, *shape: Any, order: str = "C", copy: bool | None = None) -> ndarray:
    """The elements in another shape: a view where strides allow it. See `numpy.ndarray.reshape`."""
    if not shape:
        raise TypeError("reshape() takes exactly 1 argument (0 given)")
    given = shape[0] if len(shape) == 1 else shape
    return reshaped(x, as_shape_with_unknown(given, x.size), order, copy)


def transpose_method(x: ndarray, *axes: Any) -> ndarray:
    """The axes in another order: a view. See `numpy.ndarray.transpose`."""
    return transpose(x, axes[0] if len(axes) == 1 else axes or None)


def copy_method(x: ndarray, order: str = "C") -> ndarray:
    """A new array with the same elements. See `numpy.ndarray.copy`."""
    result = array(x, order=order)
    if is_scalar(x):
        result._flags &= ~BOX
    return result


def conjugate_method(x: ndarray, out: Any = None) -> ndarray:
    """The complex conjugate; an array that is not complex is returned itself. See `numpy.ndarray.conjugate`."""
    return x if out is None and x.dtype.kind != "c" else UFUNCS["conjugate"](x, out=out)


def resize_method(x: ndarray, *new_shape: Any, refcheck: bool = True) -> None:
    """Change the shape and the number of elements in place. See `numpy.ndarray.resize`.

    Whatever `refcheck` says, a view made before shows the array as it is afterwards; and ValueError is raised where
    elements go that a view may show.
    """
    given = new_shape[0] if len(new_shape) == 1 else new_shape
    dims = x.shape if given is None or given == () else as_shape(given)
    if is_scalar(x):
        return  # it does not change, as NumPy's scalars do not
    if x.base is not None:
        raise ValueError("cannot resize this array: it does not own its data")
    if prod(dims) < x.size and any(isinstance(held, ndarray) for held in gc.get_referrers(x)):
        raise ValueError("cannot resize an array to fewer elements while there is a view of it; use resize(a, shape)")
    x._set(grown(x, dims))


def set_shape(x: ndarray, shape: Any) -> None:
    """``x.shape = shape``: the array itself in another shape, never a copy. See `numpy.ndarray.shape`."""
    if is_scalar(x):
        raise AttributeError("attribute 'shape' of the 0-d result of an operation is not writable")
    if NUMPY_2_5:
        warnings.warn("setting the shape of an array is deprecated; use reshape", DeprecationWarning, stacklevel=2)
    dims = as_shape_with_unknown(shape, x.size)
    with x.queue.lock:
        where = x.layout
        strides = layout.reshape_strides(where.shape, where.strides, dims)
        if strides is None:
            raise AttributeError(
                "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape."
            )
        if dims != x.shape and x.base is None:
            x._set(in_shape(x.value(), dims))  # of what is computed, a window of the same memory
        elif dims != x.shape:
            turned = make_view(x, Layout(dims, strides, where.offset))
            x._layout, x._node, x._source = turned._layout, turned._node, turned._source
        x._flags |= BOX


def delete_item(x: ndarray, key: Any) -> None:
    """``del x[key]``"""
    if is_scalar(x):
        raise TypeError(f"'numpy.{x.dtype.type.__name__}' object does not support item deletion")
    raise ValueError("cannot delete array elements")


# What NumPy's scalars have and its arrays have not.
SCALAR_NAMES = ("is_integer", "as_integer_ratio", "hex", "bit_count", "numerator", "denominator")


def of_scalar(name: str) -> Callable[[ndarray], Any]:
    """The attribute of that name of NumPy's scalar, for the 0-d results of operations alone."""

    def read(x: ndarray) -> Any:
        if not is_scalar(x) or not hasattr(x.dtype.type, name):
            raise AttributeError(f"{type(x).__name__!r} object of dtype {x.dtype} has no attribute {name!r}")
        return getattr(to_host(x)[()], name)

    return read


# --- copies and transfer ----------------------------------------------------------------------------------------------


def copied(x: ndarray) -> ndarray:
    """``copy.copy(x)``"""
    return copy_method(x, "K")


def deep_copied(x: ndarray, memo: dict[int, Any]) -> ndarray:
    """``copy.deepcopy(x)``"""
    return copy_method(x, "K")


def reduced(x: ndarray) -> tuple[Any, ...]:
    """What `pickle` stores: the elements on the host, and where they were."""
    device = x.device
    return _restored, (_in_memory_order(x), str(device), x._flags & (READ_ONLY | BOX))


def _in_memory_order(x: ndarray) -> Any:
    """The elements on the host, in Fortran order where they lie so."""
    where = x.layout
    host = to_host(x)
    turned = layout.is_f(where.shape, where.strides) and not layout.is_c(where.shape, where.strides)
    return numpy.asfortranarray(host) if turned else host


def _restored(host: Any, device: str, flags: int) -> ndarray:
    """An array from a pickle: on its device if there is such a one here, else on the default device."""
    try:
        place: Device | None = Device(device)
    except RuntimeError:
        place = None
    x = from_host(host, place)
    x._flags = flags
    return x


def to_device(x: ndarray, device: Device | str | int, /, *, stream: Any = None) -> ndarray:
    """The array on a device: itself if it is there.

    Parameters
    ----------
    device : Device, str or int
        Where to.
    stream : None
        For the Array API standard; other values are refused.
    """
    if stream is not None:
        raise ValueError("stream must be None: copies are ordered with all other work of the array")
    place = Device(device)
    return x if x.device is place else from_host(to_host(x), place)


def asnumpy(x: Any, order: str = "C") -> Any:
    """The elements as a new NumPy array on the host.

    Parameters
    ----------
    x : array_like
        An array, or anything that NumPy makes one of.
    order : {"C", "F", "A", "K"}
        Its memory order.
    """
    host: Any = to_host(x) if isinstance(x, ndarray) else numpy.array(x)
    return host.copy(order) if order != "C" or not host.flags.c_contiguous else host


def tobytes(x: ndarray, order: str = "C") -> bytes:
    """The bytes of the elements. See `numpy.ndarray.tobytes`."""
    if order in ("A", "K"):
        return _in_memory_order(x).tobytes("A")
    return to_host(x).tobytes(order)


# --- flags ----------------------------------------------------------------------------------------------------------


class Flags:
    """How an array lies in memory. See `numpy.ndarray.flags`."""

    __slots__ = ("_array",)

    def __init__(self, x: ndarray) -> None:
        self._array = x

    @property
    def c_contiguous(self) -> bool:
        where = self._array.layout
        return layout.is_c(where.shape, where.strides) and self._dense()

    @property
    def f_contiguous(self) -> bool:
        where = self._array.layout
        return layout.is_f(where.shape, where.strides) and self._dense()

    def _dense(self) -> bool:
        """Whether elements are not parts of wider ones."""
        x = self._array
        return x.size < 2 or x.base is None or x._part not in ("real", "imag")

    @property
    def owndata(self) -> bool:
        return self._array.base is None

    @property
    def writeable(self) -> bool:
        return self._array.writeable and not is_scalar(self._array)

    @writeable.setter
    def writeable(self, value: Any) -> None:
        setflags(self._array, write=value)

    @property
    def aligned(self) -> bool:
        return True

    @property
    def writebackifcopy(self) -> bool:
        return False

    @property
    def contiguous(self) -> bool:
        return self.c_contiguous

    @property
    def fortran(self) -> bool:
        return self.f_contiguous

    @property
    def fnc(self) -> bool:
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self) -> bool:
        return self.f_contiguous or self.c_contiguous

    @property
    def behaved(self) -> bool:
        return self.writeable

    @property
    def carray(self) -> bool:
        return self.writeable and self.c_contiguous

    @property
    def farray(self) -> bool:
        return not self.c_contiguous  # NumPy asks for any one of the flags, and "aligned" is one

    def __getitem__(self, name: str) -> bool:
        found = _FLAG_NAMES.get(name) if isinstance(name, str) else None
        if found is None:
            raise KeyError("Unknown flag")
        return getattr(self, found)

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in ("WRITEABLE", "W"):
            raise KeyError("Unknown flag")
        self.writeable = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Flags, type(numpy.empty(0).flags))):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _SHOWN)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "".join(f"  {name.upper()} : {getattr(self, name)}\n" for name in _SHOWN)


_SHOWN = ("c_contiguous", "f_contiguous", "owndata", "writeable", "aligned", "writebackifcopy")
_FLAG_NAMES = {
    name.upper(): name for name in (*_SHOWN, "contiguous", "fortran", "fnc", "forc", "behaved", "carray", "farray")
}
_FLAG_NAMES |= {"C": "c_contiguous", "F": "f_contiguous", "O": "owndata", "W": "writeable", "A": "aligned"}
_FLAG_NAMES |= {"X": "writebackifcopy", "B": "behaved", "CA": "carray", "FA": "farray"}


def setflags(x: ndarray, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """Set whether the array can be written. See `numpy.ndarray.setflags`."""
    if uic:
        raise ValueError("cannot set WRITEBACKIFCOPY flag to True")
    if write is None:
        return
    if not write:
        x._flags |= READ_ONLY
    elif x.base is not None and not x.base.writeable:
        raise ValueError("cannot set WRITEABLE flag to True of this array")
    else:
        x._flags &= ~READ_ONLY
