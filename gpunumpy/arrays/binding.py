"""The tables of `ndarray`'s operators, methods and properties; importing this module binds them to the class.

A bound function takes the array as its first argument. The class itself is in a lower layer, `core.recording`, so that
these functions can import it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import GenericAlias
from typing import Any

from ..core.recording.array import ndarray
from ..functions.creation.arrays import DEVICE_ARRAY_IMPORTERS
from ..functions.fallback import HOST_METHODS, on_host_method
from ..functions.indexing.elements import diagonal, fill, get_flat, item, iterate, set_flat, tolist
from ..functions.indexing.getitem import getitem, setitem
from ..functions.indexing.selection import choose_method, compress, nonzero, put, take
from ..functions.manipulation import repeating, shape
from ..functions.manipulation.strides import construct_ndarray
from ..functions.products import tensor_products
from ..functions.reductions import reductions, scans
from ..functions.sorting import sort
from ..functions.sorting.searching import searchsorted
from ..functions.statistics import averages
from ..functions.ufuncs import elementwise
from . import exchange, methods, numpy_protocols, printing
from .operators import OPERATORS

METHODS: dict[str, Any] = {
    "__class_getitem__": classmethod(GenericAlias),
    "__delitem__": methods.delete_item,
    "__getitem__": getitem,
    "__setitem__": setitem,
    "__iter__": iterate,
    "__new__": staticmethod(construct_ndarray),
    "choose": choose_method,
    "compress": lambda a, condition, axis=None, out=None: compress(condition, a, axis, out),
    "diagonal": diagonal,
    "fill": fill,
    "item": item,
    "nonzero": nonzero,
    "put": put,
    "searchsorted": searchsorted,
    "take": take,
    "tolist": tolist,
    # shape and copies
    "__bytes__": methods.tobytes,
    "__copy__": methods.shallow_copy,
    "__deepcopy__": methods.deep_copy,
    "__dir__": methods.names_of_array,
    "__format__": printing.formatted,
    "__reduce__": methods.reduce_for_pickle,
    "__repr__": printing.representation,
    "__str__": printing.array_str,
    "astype": shape.cast_to,
    "copy": methods.copy_method,
    "flatten": shape.flatten,
    "get": methods.asnumpy,
    "ravel": shape.ravel,
    "repeat": repeating.repeat,
    "reshape": methods.reshape_method,
    "resize": methods.resize_method,
    "setflags": methods.setflags,
    "squeeze": shape.squeeze,
    "swapaxes": shape.swapaxes,
    "to_device": methods.to_device,
    "tobytes": methods.tobytes,
    "transpose": methods.transpose_method,
    "view": shape.viewed_as_dtype,
    # elementwise
    "clip": elementwise.clip_method,
    "conj": methods.conjugate_method,
    "conjugate": methods.conjugate_method,
    "round": elementwise.round,
    # reductions and scans
    "all": reductions.all,
    "any": reductions.any,
    "argmax": reductions.argmax,
    "argmin": reductions.argmin,
    "cumprod": scans.cumprod,
    "cumsum": scans.cumsum,
    "dot": tensor_products.dot,
    "max": reductions.max,
    "mean": averages.mean,
    "min": reductions.min,
    "prod": reductions.prod,
    "std": averages.std,
    "sum": reductions.sum,
    "trace": tensor_products.trace,
    "var": averages.var,
    # sorting
    "argpartition": sort.argpartition,
    "argsort": sort.argsort,
    "partition": sort.partition_in_place,
    "sort": sort.sort_in_place,
    # on the host
    **{name: on_host_method(name) for name in HOST_METHODS},
    # other libraries
    "__array__": numpy_protocols.array,
    "__array_function__": numpy_protocols.array_function,
    "__array_namespace__": numpy_protocols.array_namespace,
    "__array_ufunc__": numpy_protocols.array_ufunc,
    "__dlpack__": exchange.dlpack,
    "__dlpack_device__": exchange.dlpack_device,
    "data_ptr": exchange.data_ptr,
}

# The function that reads a property, and the function that writes it, if any.
PROPERTIES: dict[str, tuple[Callable[..., Any], Callable[..., Any] | None]] = {
    "__array_priority__": (numpy_protocols.priority, None),
    "__cuda_array_interface__": (exchange.cuda_array_interface, None),
    "T": (shape.transpose, None),
    "flags": (methods.Flags, None),
    "flat": (get_flat, set_flat),
    "mT": (shape.matrix_view, None),
    "real": (elementwise.real_parts, elementwise.set_real),
    "imag": (elementwise.imaginary_parts, elementwise.set_imag),
    "shape": (ndarray.shape.fget, methods.set_shape),  # type: ignore[attr-defined]
    **{name: (methods.scalar_attribute(name), None) for name in methods.SCALAR_NAMES},
}


def _bind() -> None:
    """Set the operators, methods and properties as attributes of `ndarray`."""
    for name, function in (OPERATORS | METHODS).items():
        setattr(ndarray, name, function if hasattr(function, "__get__") else _method(function))
    for name, (read, write) in PROPERTIES.items():
        setattr(ndarray, name, property(read, write))


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function, which binds to an array as a method, for a callable that does not bind."""

    def method(self: ndarray, *args: Any, **options: Any) -> Any:
        return function(self, *args, **options)

    method.__name__ = getattr(function, "__name__", "method")
    method.__doc__ = function.__doc__
    return method


_bind()
DEVICE_ARRAY_IMPORTERS.append(exchange.from_interface)
