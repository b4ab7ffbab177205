"""Methods of `ndarray` that differ from the function of the same name, or that have no such function."""

from __future__ import annotations

import operator
from collections.abc import Callable
from copy import deepcopy
from math import prod
from typing import Any

import numpy

from ..core import dtypes
from ..core.arguments import is_set, memory_order
from ..core.errors import OnHostError
from ..core.graph import layout
from ..core.graph.layout import Layout, Shape
from ..core.numpy_release import NUMPY_2_5, RELEASE, SETTER_WARNINGS
from ..core.recording.array import (
    ALWAYS_READ_ONLY,
    MADE_AS_ARRAY,
    ON_HOST,
    ORDERED,
    READ_ONLY,
    as_class,
    from_numpy,
    has_views,
    host_only_memory,
    is_scalar,
    make_view,
    mark_as_array,
    memory_on_host,
    ndarray,
    on_host_memory,
    one_step,
    require_device,
    scalar_of,
    show,
    to_host,
    wrap,
    wrap_leaf,
    wrap_ordered,
)
from ..core.recording.async_reads import read_later
from ..core.recording.between_devices import copied_to
from ..core.recording.record import reshaped as in_shape
from ..core.recording.residence import host_bytes, resident
from ..core.recording.states import take_state
from ..core.runtime import evaluate
from ..core.runtime.async_copies import wait_for_memory
from ..core.runtime.device import Device
from ..core.runtime.host_work import observed
from ..core.source_location import call_for_user, warn
from ..functions.creation.arrays import array_in_memory_order, as_shape, axes_in_memory
from ..functions.fallback import host_fallback
from ..functions.manipulation.repeating import zero_padded_node
from ..functions.manipulation.shape import as_shape_with_unknown, new_shape, reshaped, transpose, viewed_as_dtype
from ..functions.manipulation.strides import view_by_strides
from ..functions.subclasses import wrapped_result
from ..functions.ufuncs.ufunc import UFUNCS
from . import missing
from .stream_order import handle_on, wait_for, waits_for_copies


def reshape_method(x: ndarray, *shape: Any, order: str = "C", copy: bool | None = None) -> ndarray:
    """Return the elements in another shape, as a view if the strides allow it. See `numpy.ndarray.reshape`."""
    if not shape:
        raise TypeError("reshape() takes exactly 1 argument (0 given)")
    return scalar_of(reshaped(x, new_shape(x, shape[0] if len(shape) == 1 else shape), order, copy), x)


def transpose_method(x: ndarray, *axes: Any) -> ndarray:
    """Return a view with the axes in another order. See `numpy.ndarray.transpose`."""
    return transpose(x, axes[0] if len(axes) == 1 else axes or None)


def copy_method(x: ndarray, order: str = "C") -> ndarray:
    """Return a new array with the same elements. See `numpy.ndarray.copy`."""
    order = memory_order(order, "C")
    axes = None if x._base is None and order != "F" else axes_in_memory(order, x.shape, x.element_strides)
    result = array_in_memory_order(x.value(), axes)
    if is_scalar(x):
        result._flags &= ~MADE_AS_ARRAY
    return result


def conjugate_method(x: ndarray, out: Any = None) -> ndarray:
    """Return the complex conjugate, or the array itself if it is not complex. See `numpy.ndarray.conjugate`."""
    require_device(x)
    return x if out is None and x.dtype.kind != "c" else UFUNCS["conjugate"](x, out=out)


def resize_method(x: ndarray, *new_shape: Any, refcheck: bool = True) -> None:
    """Change the shape and the number of elements in place. See `numpy.ndarray.resize`.

    Raises
    ------
    ValueError
        If the elements are not contiguous; or if their number would change, and the array does not own its data or
        there is a view of it. With ``refcheck=False`` a view on the device may see an array that grows.
    """
    is_checked = is_set(refcheck)
    requested = new_shape[0] if len(new_shape) == 1 else new_shape
    dims = x.shape if not new_shape or requested is None else as_shape(requested)
    if is_scalar(x):
        return  # NumPy's scalars do not change either
    if not (x.c_contiguous or x.f_contiguous):
        raise ValueError("resize only works on single-segment arrays")
    memory = memory_on_host(x)
    if prod(dims) == x.size:
        if memory is None:
            strides = layout.c_strides(dims) if x.c_contiguous else layout.c_strides(dims[::-1])[::-1]
            with one_step(x):
                _show_in_shape(x, dims, strides)
        else:
            shown = memory.view()
            shown.resize(dims, refcheck=False)
            show(x, shown)
        return
    if x.base is not None:
        raise ValueError("cannot resize this array: it does not own its data")
    is_viewed = has_views(x)
    if is_viewed and is_checked:
        raise ValueError(
            "cannot resize an array that references or is referenced\n"
            "by another object in this way.\n"
            "Use the np.resize function or refcheck=False"
        )
    is_for_host = host_only_memory(x) is not None
    if is_for_host and is_viewed:
        raise ValueError("cannot resize an array on the host while there is a view of it; use resize(a, shape)")
    if is_for_host or (memory is not None and not is_viewed and prod(dims) * x.itemsize <= host_bytes(x.device)):
        resized = memory.copy("K")
        resized.resize(dims, refcheck=False)
        show(x, resized)
        return
    require_device(x)
    with one_step(x):
        is_owner = x._base is None
        if is_viewed and (prod(dims) < x.size or not is_owner):
            raise ValueError(
                "cannot resize an array to fewer elements while there is a view of it; use resize(a, shape)"
            )
        if is_owner:
            x._set(zero_padded_node(x, dims))
        elif x.c_contiguous:
            take_state(x, mark_as_array(wrap(zero_padded_node(x, dims))))
        else:
            take_state(x, wrap_ordered(zero_padded_node(transpose(x), dims[::-1]), tuple(range(len(dims)))[::-1]))
            x._flags |= MADE_AS_ARRAY


def set_dtype(x: ndarray, dtype: Any) -> None:
    """Show the same memory as elements of another dtype (``x.dtype = dtype``). See `numpy.ndarray.dtype`.

    With a dtype that no kernel computes the array moves to the host.

    Raises
    ------
    ValueError
        If the memory has no such view, or the array shares it with others, which show elements of its dtype.
    """
    if is_scalar(x):
        raise AttributeError("attribute 'dtype' of the 0-d result of an operation is not writable")
    require_device(x)
    if NUMPY_2_5:
        warn(SETTER_WARNINGS["dtype"], DeprecationWarning)
    if numpy.dtype(dtype).hasobject:
        raise TypeError("Cannot change data-type for array of references.")
    try:
        on_device = dtypes.check(dtype) is not None
    except OnHostError:
        if host_fallback() == "error":
            raise
        on_device = False
    with one_step(x):
        if not on_device and x._base is not None:
            raise ValueError(f"cannot set the dtype of a view to {dtype}, which the host alone has; use x.view(dtype)")
        if x._base is None:
            if has_views(x):
                raise ValueError("cannot set the dtype of an array while there is a view of it; use x.view(dtype)")
            if on_device:
                take_state(x, make_view(wrap_leaf(x.computed()), x.layout))
        if on_device:
            take_state(x, viewed_as_dtype(x, dtype))
        else:
            take_state(x, on_host_memory(to_host(x).view(dtype), x.device))


def set_shape(x: ndarray, shape: Any) -> None:
    """Change the shape of the array in place (``x.shape = shape``), without a copy. See `numpy.ndarray.shape`."""
    if is_scalar(x):
        raise AttributeError("attribute 'shape' of the 0-d result of an operation is not writable")
    if host_only_memory(x) is not None:
        require_device(x)  # raises: NumPy does the work
    if NUMPY_2_5:
        warn(SETTER_WARNINGS["shape"], DeprecationWarning)
    dims = as_shape_with_unknown(shape, x.size)
    with one_step(x):
        memory = memory_on_host(x)
        where = x.layout if memory is None else memory
        strides = layout.reshape_strides(where.shape, where.strides, dims)
        if strides is None:
            raise AttributeError(
                "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape."
            )
        if memory is None:
            _show_in_shape(x, dims, strides)
        else:
            show(x, memory.reshape(dims))
        x._flags |= MADE_AS_ARRAY


def _show_in_shape(x: ndarray, dims: Shape, strides: Shape) -> None:
    """Have an array on the device show its elements in another shape, by strides over its owner's elements."""
    if dims == x.shape:
        return
    if x._base is None:
        x._set(in_shape(x.value(), dims))  # if computed, a window of the same memory
    else:
        view = make_view(x, Layout(dims, strides, x.layout.offset))
        x._layout, x._node, x._source = view._layout, view._node, view._source


def set_strides(x: ndarray, strides: Any) -> None:
    """Show other elements of the same memory (``x.strides = ...``), by steps in bytes. See `numpy.ndarray.strides`.

    Raises
    ------
    ValueError
        If the elements would lie outside the memory or between its elements, or the array has the memory and there are
        views of it.
    """
    if is_scalar(x):
        raise AttributeError("attribute 'strides' of the 0-d result of an operation is not writable")
    memory = host_only_memory(x)
    if memory is not None:
        shown = memory.view()
        call_for_user(numpy.ndarray.strides.__set__, shown, strides)  # type: ignore[attr-defined]
        show(x, shown)
        return
    if RELEASE >= "2.4.0":
        warn(SETTER_WARNINGS["strides"], DeprecationWarning)
    steps = (strides,) if hasattr(strides, "__index__") else tuple(strides)
    if len(steps) != x.ndim:
        raise ValueError(f"strides must be  same length as shape ({x.ndim})")
    require_device(x)
    with one_step(x):
        is_owner = x._base is None
        if is_owner and has_views(x):
            raise ValueError("cannot set the strides of an array while there is a view of it; use as_strided")
        owner = make_view(wrap_leaf(x.computed()), x.layout) if is_owner else x
        view = view_by_strides(owner, x.shape, tuple(map(operator.index, steps)), x.writeable)
        view._flags |= x._flags & READ_ONLY | (ORDERED if is_owner else x._flags & ORDERED)
        take_state(x, view)


def delete_item(x: ndarray, key: Any) -> None:
    """Raise the error of ``del x[key]``: arrays have no deletion of elements."""
    if is_scalar(x):
        raise TypeError(f"'numpy.{x.dtype.type.__name__}' object does not support item deletion")
    raise ValueError("cannot delete array elements")


# Attributes of NumPy's scalars that its arrays do not have.
SCALAR_NAMES = ("is_integer", "as_integer_ratio", "hex", "bit_count", "numerator", "denominator")


def scalar_attribute(name: str) -> Callable[[ndarray], Any]:
    """Return the getter of an attribute of NumPy's scalars, which only the 0-d results of operations have."""

    def read(x: ndarray) -> Any:
        if not is_scalar(x) or not hasattr(x.dtype.type, name):
            raise AttributeError(f"{type(x).__name__!r} object of dtype {x.dtype} has no attribute {name!r}")
        return getattr(to_host(x)[()], name)

    return read


# --- copies and transfer ----------------------------------------------------------------------------------------------


def size_of(x: ndarray) -> int:
    """Return what `sys.getsizeof` counts: as in NumPy, the memory on the host of an array that is no view, too."""
    memory, size = memory_on_host(x), object.__sizeof__(x)
    return size if memory is None or x._owner is not None else size + int(memory.nbytes)


def shallow_copy(x: ndarray) -> ndarray:
    """Return ``copy.copy(x)``."""
    return copy_method(x, "K")


# What the class has for the layers above it or for an error, and users have no need of.
_INTERNAL_NAMES = frozenset(vars(ndarray)) - frozenset(dir(numpy.ndarray)) - {"device"} | frozenset(missing.INSTEAD)


def names_of_array(x: ndarray) -> list[str]:
    """Return ``dir(x)``: the names that are meant for users."""
    return sorted(set(object.__dir__(x)) - _INTERNAL_NAMES)


def deep_copy(x: ndarray, memo: dict[int, Any]) -> ndarray:
    """Return ``copy.deepcopy(x)``."""
    if x.dtype.hasobject:
        return on_host_memory(deepcopy(host_only_memory(x), memo), x.device)
    copied: ndarray = x.copy("K")  # type: ignore[attr-defined]
    return copied


def reduce_for_pickle(x: ndarray) -> tuple[Any, ...]:
    """Return what `pickle` stores: the elements as a NumPy array, the name of the device, flags, a class if its own.

    NumPy decides whether a read-only array is still so when it is unpickled, and whether it keeps another byte order:
    one that is contiguous along some order of its axes is and does, from protocol 5 on.
    """
    host = _in_memory_order(x)
    if host is None:
        host = to_host(x)
        host = host.astype(host.dtype.newbyteorder("=")) if host.dtype.byteorder in "<>" else host
    elif not x.writeable:
        host.flags.writeable = False
    stored = host, str(x.device), x._flags & MADE_AS_ARRAY
    return (_restored, stored) if type(x) is ndarray else (_empty_of_class, (type(x),), stored)


def set_state(x: ndarray, state: tuple[Any, ...]) -> None:
    """Have an array be what was stored; a subclass that stores more calls this. See `numpy.ndarray.__setstate__`."""
    take_state(x, as_class(_restored(*state), ndarray, None))


def _empty_of_class(cls: type[ndarray]) -> Any:
    """Return an array of a subclass, which gets its elements next. Pickles refer to this function by name."""
    return as_class(from_numpy(numpy.empty(0)), cls, None)


def _in_memory_order(x: ndarray) -> Any:
    """Return the elements as a NumPy array with the strides of one that is contiguous along some order of its axes.

    None for any other array.
    """
    axes = sorted(range(x.ndim), key=lambda k: -x.strides[k])
    if x.c_contiguous:
        return to_host(x)
    if x.f_contiguous:
        return numpy.asfortranarray(to_host(x))
    if not x.transpose(axes).c_contiguous:  # type: ignore[attr-defined]
        return None
    return numpy.ascontiguousarray(to_host(x).transpose(axes)).transpose(numpy.argsort(axes))


def _restored(host: Any, device: str, flags: int) -> ndarray:
    """Return an array from a pickle: on its device if this machine has that device, else on the default device.

    Pickles refer to this function by name.
    """
    try:
        target: Device | None = Device(device)
    except RuntimeError:
        target = None
    x = resident(host if flags & MADE_AS_ARRAY else host[()], target)
    x._flags = x._flags & (ON_HOST | ORDERED) | (flags if host.flags.writeable else flags | READ_ONLY)
    return x


def to_device(x: ndarray, device: Device | str | int, /, *, stream: Any = None) -> ndarray:
    """Return a copy of the array, of its class, on a device, or the array itself if it is on that device.

    Parameters
    ----------
    device : Device, str or int
        The target device.
    stream : None
        Exists for the Array API standard. Must be None.
    """
    if stream is not None:
        raise ValueError("stream must be None: copies are ordered with all other work of the array")
    target = Device(device)
    return x if x.device is target else wrapped_result(x, copied_to(x, target))


def asnumpy(
    x: Any, stream: Any = None, order: str = "C", out: numpy.ndarray[Any, Any] | None = None, *, blocking: bool = True
) -> Any:
    """Copy the elements to a NumPy array. See `cupy.asnumpy`.

    Parameters
    ----------
    x : array_like
        An array, or anything that NumPy can make an array of.
    stream : object or int, optional
        A CUDA stream, or its handle, whose work comes before the copy, and whose later work comes after it.
    order : {"C", "F", "A", "K"}
        The memory order of the result.
    out : numpy.ndarray, optional
        Where to write the elements. By default to a new array.
    blocking : bool
        Whether the elements are there when the call returns. Else they are there once `synchronize` has returned, or
        the `synchronize` of `stream`, of the current stream, or of an event that is recorded on it later; until then
        the memory must not be read or written. The new array is in page-locked memory. The call waits all the same
        where `out` is not page-locked (see `empty_pinned`) or not in C order, and for small arrays.

    Raises
    ------
    TypeError
        If `out` is no NumPy array, or `stream` no stream.
    ValueError
        If `out` has another shape.
    """
    if out is not None:
        if not isinstance(out, numpy.ndarray):
            raise TypeError(f"out is a NumPy array, not {type(out).__name__!r}")
        if out.shape != numpy.shape(x):
            raise ValueError(f"out has shape {out.shape}, the array {numpy.shape(x)}")
    if not isinstance(x, ndarray):
        host: Any = numpy.array(x)
    else:
        handle = handle_on(stream, x.device)
        if handle is not None:
            wait_for(x.device, handle)
        if (not blocking or out is not None) and (found := _read_later(x, order, out)) is not None:
            if handle is not None:
                waits_for_copies(x.device, handle)
            if blocking:  # the GPU writes page-locked memory itself
                with observed("copy", "from", x.device, nbytes=x.nbytes):
                    wait_for_memory(found, to_write=True)
                evaluate.check_errors(x.queue)
            return found
        host = to_host(x)
    if out is not None:
        wait_for_memory(out, to_write=True)
        call_for_user(numpy.copyto, out, host)
        return out
    return host.copy(order) if order != "C" or not host.flags.c_contiguous else host


def _read_later(x: ndarray, order: str, out: Any) -> Any:
    """Return `read_later` for a memory order, which a given result has already."""
    order = memory_order(order)
    is_reversed = order == "F" or (order in ("A", "K") and x.f_contiguous and not x.c_contiguous)
    if out is not None or not is_reversed:
        return read_later(x, out)
    found = read_later(transpose(x), None)
    return None if found is None else found.T


def to_bytes(x: ndarray) -> bytes:
    """Return ``bytes(x)``: of what Python takes for an integer, a 0-d array too, so many zeros."""
    if not x.ndim and x.dtype.kind in "iu":
        return bytes(to_host(x).item())
    memory = host_only_memory(x)
    return tobytes(x) if memory is None else bytes(memory)


def tobytes(x: ndarray, order: str = "C") -> bytes:
    """Return the bytes of the elements. See `numpy.ndarray.tobytes`."""
    memory = host_only_memory(x)
    if memory is not None:  # a copy would have other bytes between the fields of records
        return memory.tobytes(memory_order(order, "C"))
    if memory_order(order, "C") == "A":
        return (numpy.asfortranarray(to_host(x)) if x.f_contiguous else to_host(x)).tobytes("A")
    return to_host(x).tobytes("F" if memory_order(order, "C") == "F" else "C")


# --- flags ----------------------------------------------------------------------------------------------------------


def flags_of(x: ndarray) -> Any:
    """Return ``x.flags``: of an array on the host, the flags of its memory."""
    memory = host_only_memory(x)
    return Flags(x) if memory is None else memory.flags


_FLAG_BITS = {"c_contiguous": 1, "f_contiguous": 2, "owndata": 4, "aligned": 0x100, "writeable": 0x400}


class Flags:
    """The memory layout of an array, as flags. See `numpy.ndarray.flags`."""

    __slots__ = ("_array",)

    def __init__(self, x: ndarray) -> None:
        self._array = x

    @property
    def c_contiguous(self) -> bool:
        """Whether the elements are contiguous, in C order."""
        return self._array.c_contiguous

    @property
    def f_contiguous(self) -> bool:
        """Whether the elements are contiguous, in Fortran order."""
        return self._array.f_contiguous

    @property
    def owndata(self) -> bool:
        """Whether the array is no view of another array."""
        return self._array.base is None

    @property
    def writeable(self) -> bool:
        """Whether the elements can be written."""
        return self._array.writeable and not is_scalar(self._array)

    @writeable.setter
    def writeable(self, value: Any) -> None:
        self._array.setflags(write=bool(value))  # type: ignore[attr-defined]

    @property
    def aligned(self) -> bool:
        """Whether the memory is aligned for the dtype: always."""
        return True

    @aligned.setter
    def aligned(self, value: Any) -> None:
        self._array.setflags(align=bool(value))  # type: ignore[attr-defined]

    @property
    def writebackifcopy(self) -> bool:
        """Whether the array is a temporary copy to be written back: never."""
        return False

    @writebackifcopy.setter
    def writebackifcopy(self, value: Any) -> None:
        self._array.setflags(uic=bool(value))  # type: ignore[attr-defined]

    @property
    def num(self) -> int:
        """The flags as bits, as NumPy has them."""
        return sum(bit for name, bit in _FLAG_BITS.items() if getattr(self, name))

    @property
    def contiguous(self) -> bool:
        """The same as `c_contiguous`."""
        return self.c_contiguous

    @property
    def fortran(self) -> bool:
        """The same as `f_contiguous`."""
        return self.f_contiguous

    @property
    def fnc(self) -> bool:
        """Whether the elements are contiguous in Fortran order and not in C order."""
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self) -> bool:
        """Whether the elements are contiguous in Fortran order or in C order."""
        return self.f_contiguous or self.c_contiguous

    @property
    def behaved(self) -> bool:
        """Whether the array is aligned and writeable."""
        return self.writeable

    @property
    def carray(self) -> bool:
        """Whether the array is aligned, writeable and `c_contiguous`."""
        return self.writeable and self.c_contiguous

    @property
    def farray(self) -> bool:
        """Whether the array is not `c_contiguous`: NumPy tests for any of its flags here, and "aligned" is one."""
        return not self.c_contiguous

    def __getitem__(self, name: str) -> bool:
        """Return a flag by NumPy's upper-case name or abbreviation."""
        attribute = _FLAG_NAMES.get(name) if isinstance(name, str) else None
        if attribute is None:
            raise KeyError("Unknown flag")
        return getattr(self, attribute)

    def __setitem__(self, name: str, value: Any) -> None:
        """Set a flag, as an attribute of it does."""
        attribute = _FLAG_NAMES.get(name)
        if attribute not in ("aligned", "writeable", "writebackifcopy"):
            raise KeyError("Unknown flag")
        setattr(self, attribute, value)

    def __eq__(self, other: object) -> bool:
        """Return whether all printed flags equal those of other flags, of this class or NumPy's class."""
        if not isinstance(other, (Flags, type(numpy.empty(0).flags))):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _PRINTED)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the flags as NumPy prints them."""
        return "".join(f"  {name.upper()} : {getattr(self, name)}\n" for name in _PRINTED)


_PRINTED = ("c_contiguous", "f_contiguous", "owndata", "writeable", "aligned", "writebackifcopy")
_FLAG_NAMES = {
    name.upper(): name for name in (*_PRINTED, "contiguous", "fortran", "fnc", "forc", "behaved", "carray", "farray")
}
_FLAG_NAMES |= {"C": "c_contiguous", "F": "f_contiguous", "O": "owndata", "W": "writeable", "A": "aligned"}
_FLAG_NAMES |= {"X": "writebackifcopy", "B": "behaved", "CA": "carray", "FA": "farray"}


def setflags(x: ndarray, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """Make the array writeable or read-only. See `numpy.ndarray.setflags`."""
    if uic:
        raise ValueError("cannot set WRITEBACKIFCOPY flag to True")
    if write is None:
        return
    require_device(x)
    with one_step(x):
        if not write:
            x._flags |= READ_ONLY
        elif x._flags & ALWAYS_READ_ONLY or (x.base is not None and not x.base.writeable):
            raise ValueError("cannot set WRITEABLE flag to True of this array")
        else:
            x._flags &= ~READ_ONLY
