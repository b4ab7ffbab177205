"""`numpy.ctypeslib`: arrays over memory of ctypes objects, and ctypes objects over memory of arrays."""

from __future__ import annotations

from typing import Any

import numpy

from ..core.recording.array import ndarray, on_lent_memory
from ..core.recording.lending import lent_memory
from .fallback import OWN_FUNCTIONS


def as_array(obj: Any, shape: Any = None) -> ndarray:
    """Return an array over the memory of a ctypes array or pointer, which it shares. See `numpy.ctypeslib.as_array`."""
    return obj if isinstance(obj, ndarray) else on_lent_memory(numpy.ctypeslib.as_array(obj, shape))


def as_ctypes(obj: Any) -> Any:
    """Return a ctypes object over the memory of an array, which it shares. See `numpy.ctypeslib.as_ctypes`.

    Raises
    ------
    BufferError
        If the memory is that of a GPU.
    """
    return numpy.ctypeslib.as_ctypes(_in_memory(obj))


def ndpointer(dtype: Any = None, ndim: Any = None, shape: Any = None, flags: Any = None) -> Any:
    """Return a class for `argtypes` that checks arrays and passes their memory. See `numpy.ctypeslib.ndpointer`.

    Memory of a GPU is refused, as an `ArgumentError` of the call.
    """
    checked = numpy.ctypeslib.ndpointer(dtype, ndim, shape, flags)
    return _pointers.setdefault(checked, type(checked.__name__, (_Pointer, checked), {}))


class _Pointer:
    """Base of the classes that `ndpointer` returns, in front of NumPy's class."""

    @classmethod
    def from_param(cls, obj: Any) -> Any:
        return super().from_param(_in_memory(obj))  # type: ignore[misc]


_pointers: dict[type, type] = {}  # by NumPy's class, of which there is one for equal arguments


def _in_memory(obj: Any) -> Any:
    """Return a NumPy array over the memory of an array, which is lent, and any other object as it is."""
    if not isinstance(obj, ndarray):
        return obj
    memory = lent_memory(obj)
    if memory is None:
        raise BufferError(f"the array is on {obj.device}, where the host reaches no memory")
    return memory


OWN_FUNCTIONS |= {f"numpy.ctypeslib.{function.__name__}": function for function in (as_array, as_ctypes, ndpointer)}
