"""The operators, methods and properties of `ndarray`, bound from tables: one line a name.

A function that is bound takes the array first. `ndarray` itself has no mathematics, so that it stands below the
functions that work on it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import GenericAlias
from typing import Any

from .. import array_methods, elementwise, printing, products, reduction, repeating, scans, shape, sorting, statistics
from ..creation import READERS
from ..fallback import HOST_METHODS, on_host_method
from ..indexing import getitem, setitem
from ..indexing_elements import diagonal, fill, flat_of, item, iterate, set_flat, tolist
from ..operators import OPERATORS
from ..searching import searchsorted
from ..selection import choose, compress, nonzero, put, take
from ..strides import described
from . import interop, interop_numpy
from .array import ndarray

METHODS: dict[str, Any] = {
    "__class_getitem__": classmethod(GenericAlias),
    "__delitem__": array_methods.delete_item,
    "__getitem__": getitem,
    "__setitem__": setitem,
    "__iter__": iterate,
    "__new__": staticmethod(described),
    "choose": choose,
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
    "__bytes__": array_methods.tobytes,
    "__copy__": array_methods.copied,
    "__deepcopy__": array_methods.deep_copied,
    "__format__": printing.formatted,
    "__reduce__": array_methods.reduced,
    "__repr__": printing.representation,
    "__str__": printing.array_str,
    "astype": shape.cast_to,
    "copy": array_methods.copy_method,
    "flatten": shape.flatten,
    "get": array_methods.asnumpy,
    "ravel": shape.ravel,
    "repeat": repeating.repeat,
    "reshape": array_methods.reshape_method,
    "resize": array_methods.resize_method,
    "setflags": array_methods.setflags,
    "squeeze": shape.squeeze,
    "swapaxes": shape.swapaxes,
    "to_device": array_methods.to_device,
    "tobytes": array_methods.tobytes,
    "transpose": array_methods.transpose_method,
    "view": shape.reinterpreted,
    # elementwise
    "clip": elementwise.clip_method,
    "conj": array_methods.conjugate_method,
    "conjugate": array_methods.conjugate_method,
    "round": elementwise.round,
    # reductions and scans
    "all": reduction.all,
    "any": reduction.any,
    "argmax": reduction.argmax,
    "argmin": reduction.argmin,
    "cumprod": scans.cumprod,
    "cumsum": scans.cumsum,
    "dot": products.dot,
    "max": reduction.max,
    "mean": statistics.mean,
    "min": reduction.min,
    "prod": reduction.prod,
    "std": statistics.std,
    "sum": reduction.sum,
    "trace": products.trace,
    "var": statistics.var,
    # sorting
    "argpartition": sorting.argpartition,
    "argsort": sorting.argsort,
    "partition": sorting.partition_in_place,
    "sort": sorting.sort_in_place,
    # on the host
    **{name: on_host_method(name) for name in HOST_METHODS},
    # other libraries
    "__array__": interop_numpy.array,
    "__array_function__": interop_numpy.array_function,
    "__array_namespace__": interop_numpy.array_namespace,
    "__array_ufunc__": interop_numpy.array_ufunc,
    "__dlpack__": interop.dlpack,
    "__dlpack_device__": interop.dlpack_device,
    "data_ptr": interop.data_ptr,
}

# What reads each, and what writes it.
PROPERTIES: dict[str, tuple[Callable[..., Any], Callable[..., Any] | None]] = {
    "__array_priority__": (interop_numpy.priority, None),
    "__cuda_array_interface__": (interop.cuda_array_interface, None),
    "T": (shape.transpose, None),
    "flags": (array_methods.Flags, None),
    "flat": (flat_of, set_flat),
    "mT": (shape.matrix_view, None),
    "real": (elementwise.real_of, elementwise.set_real),
    "imag": (elementwise.imag_of, elementwise.set_imag),
    "shape": (ndarray.shape.fget, array_methods.set_shape),  # type: ignore[attr-defined]
    **{name: (array_methods.of_scalar(name), None) for name in array_methods.SCALAR_NAMES},
}


def _bind() -> None:
    for name, function in (OPERATORS | METHODS).items():
        setattr(ndarray, name, function if hasattr(function, "__get__") else _method(function))
    for name, (read, write) in PROPERTIES.items():
        setattr(ndarray, name, property(read, write))


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function object that binds to an array, of a callable that does not."""

    def method(self: ndarray, *args: Any, **options: Any) -> Any:
        return function(self, *args, **options)

    method.__name__ = getattr(function, "__name__", "method")
    method.__doc__ = function.__doc__
    return method


_bind()
READERS.append(interop.from_interface)
