"""The tables of `ndarray`'s operators, methods and properties; importing this module binds them to the class.

A bound function takes the array as its first argument. The class itself is in a lower layer, `core.recording`, so that
these functions can import it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import FunctionType, GenericAlias
from typing import Any

import numpy

from ..core._native import (
    ATTRIBUTES,
    LOOKS,
    PublicFunction,
    attribute,
    bind,
    in_front_of,
    refuse_concatenation,
    set_operators,
)
from ..core.ops import table
from ..core.recording.array import is_scalar, ndarray
from ..core.recording.record import decides_about_ufuncs
from ..core.source_location import call_for_user
from ..functions.bits import byteswap, getfield, setfield
from ..functions.creation.arrays import DEVICE_ARRAY_IMPORTERS
from ..functions.every_dtype import (
    cast_on_host,
    construct_on_host,
    fill_on_host,
    get_item_on_host,
    operator_of_every_dtype,
    set_item_on_host,
    takes_every_dtype,
)
from ..functions.fallback import HOST_METHODS, late_on_host, on_host_method
from ..functions.indexing.elements import diagonal, fill, get_flat, item, iterate, set_flat, tolist
from ..functions.indexing.getitem import getitem, setitem
from ..functions.indexing.selection import choose_method, compress, nonzero, put, take
from ..functions.manipulation import repeating, shape
from ..functions.manipulation.strides import construct_ndarray
from ..functions.placement import Placement, placed, placed_attribute, placed_method, placed_ufunc
from ..functions.products import tensor_products
from ..functions.reductions import reductions, scans
from ..functions.repeated_calls import repeated
from ..functions.sorting import sort
from ..functions.sorting.searching import searchsorted
from ..functions.statistics import averages
from ..functions.subclasses import rule_of, rule_of_ufunc, wrapped_result
from ..functions.ufuncs import elementwise
from ..functions.ufuncs.ufunc import UFUNCS
from . import buffers, exchange, host_protocols, methods, missing, numpy_protocols, printing
from .operators import OPERATORS, UFUNC_OF_OPERATOR

_PACKAGE = __name__.partition(".")[0]

METHODS: dict[str, Any] = {
    "__class_getitem__": classmethod(GenericAlias),
    "__delitem__": methods.delete_item,
    "__getitem__": getitem,
    "__setitem__": setitem,
    "__iter__": iterate,
    "__new__": staticmethod(takes_every_dtype(construct_ndarray, construct_on_host)),
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
    "__buffer__": buffers.lend,
    "__bytes__": methods.to_bytes,
    "__copy__": methods.shallow_copy,
    "__deepcopy__": methods.deep_copy,
    "__dir__": methods.names_of_array,
    "__format__": printing.formatted,
    "__reduce__": methods.reduce_for_pickle,
    "__repr__": printing.representation,
    "_repr_html_": printing.rich_representation,
    "__setstate__": methods.set_state,
    "__sizeof__": methods.size_of,
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
    "view": shape.view_method,
    "byteswap": byteswap,
    "getfield": getfield,
    "setfield": setfield,
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
    "__array_wrap__": wrapped_result,
    "__arrow_array__": host_protocols.arrow_array,
    "__dlpack__": exchange.dlpack,
    "__dlpack_device__": exchange.dlpack_device,
    "data_ptr": exchange.data_ptr,
    "to_numpy": host_protocols.to_numpy,
}

# The function that reads a property, and the function that writes it, if any.
PROPERTIES: dict[str, tuple[Callable[..., Any], Callable[..., Any] | None]] = {
    "__array_interface__": (exchange.array_interface, None),
    "__array_priority__": (numpy_protocols.priority, None),
    "__cuda_array_interface__": (exchange.cuda_array_interface, None),
    "T": (shape.transpose, None),
    "ctypes": (exchange.ctypes_of, None),
    "data": (buffers.memory_view, None),
    "flags": (methods.flags_of, None),
    "flat": (get_flat, set_flat),
    "mT": (shape.matrix_view, None),
    "real": (elementwise.real_parts, elementwise.set_real),
    "imag": (elementwise.imaginary_parts, elementwise.set_imag),
    "dtype": (ndarray.dtype.fget, methods.set_dtype),  # type: ignore[attr-defined]
    "shape": (ndarray.shape.fget, methods.set_shape),  # type: ignore[attr-defined]
    "strides": (ndarray.strides.fget, methods.set_strides),  # type: ignore[attr-defined]
    **{name: (methods.scalar_attribute(name), None) for name in methods.SCALAR_NAMES},
}


# What means the same for arrays on the host, or tells how an array is exchanged.
_FOR_EVERY_DTYPE = frozenset(
    (
        *(
            "__array__",
            "__array_function__",
            "__array_interface__",
            "__array_namespace__",
            "__array_priority__",
            "__array_ufunc__",
            "__array_wrap__",
            "__arrow_array__",
        ),
        *("__class_getitem__", "__dir__", "__dlpack__", "__dlpack_device__", "__hash__", "__iter__", "__reduce__"),
        *(
            "__buffer__",
            "__new__",
            "__setstate__",
            "__sizeof__",
            "ctypes",
            "data",
            "flags",
            "resize",
            "to_device",
            "to_numpy",
            *HOST_METHODS,
        ),
    )
)
_ON_HOST: dict[str, Callable[..., Any]] = {
    "__getitem__": get_item_on_host,
    "__setitem__": set_item_on_host,
    "astype": cast_on_host,
    "fill": fill_on_host,
}
# What Python calls with one or two arguments.
_PLAIN_OPERATORS = (OPERATORS.keys() | {"__getitem__"}) - {"__pow__", "__rpow__"}


# Those of shape and dtype change the array itself.
_PLACED_SETTERS = {name: placed(getattr(numpy.ndarray, name).__set__, name) for name in ("flat", "imag", "real")}


def _bind() -> None:
    """Set the operators, methods and properties as attributes of `ndarray`."""
    for name, function in (OPERATORS | METHODS).items():
        method = function if hasattr(function, "__get__") else _method(function)
        by_numpy = None if name in _FOR_EVERY_DTYPE else getattr(numpy.ndarray, name, None)
        if by_numpy is not None:
            wrap = operator_of_every_dtype if name in _PLAIN_OPERATORS else takes_every_dtype
            op, operands = UFUNC_OF_OPERATOR.get(name, ("", ""))
            rule = rule_of(name, UFUNCS, is_method=True)
            if op:
                rule = rule_of_ufunc(UFUNCS.get(op, op), operands=operands or "in order")
            if name in ("__ipow__", "__pow__", "clip"):  # whose ufunc the arguments decide
                rule = rule._replace(asked_of=by_numpy)
            operation = _operator(name)
            if operation is None:
                place = placed_method(name)
            elif op in UFUNCS:
                place = placed_ufunc(table.ufunc_of(op), operation, name, operands)
            else:
                place = Placement(operation, name, ufunc=(None, operands if name == "__rmatmul__" else ""))
            if operation is not None:
                by_numpy = _asking_classes(table.ufunc_of(op), late_on_host(operation), operands)
            else:
                by_numpy = _ON_HOST.get(name) or late_on_host(by_numpy)
            method = wrap(repeated(method, name), by_numpy, rule, place)
            _name(method, name)
            method = in_front_of(method, function)
        else:
            found = method if isinstance(method, FunctionType) else getattr(method, "__wrapped__", None)
            if isinstance(found, (FunctionType, PublicFunction)):
                _name(found, name)
        if name in LOOKS:
            bind(name, method)
        else:
            setattr(ndarray, name, method)
    for name, (read, write) in PROPERTIES.items():
        by_numpy = None if name in _FOR_EVERY_DTYPE else getattr(numpy.ndarray, name, None)
        if by_numpy is not None:
            if name not in ("dtype", "flat", "shape", "strides"):  # which know arrays on the host
                rule = rule_of(name, is_method=True)
                read = takes_every_dtype(
                    repeated(read, name), late_on_host(by_numpy.__get__), rule, placed_attribute(name)
                )
            write = write and takes_every_dtype(
                write, late_on_host(by_numpy.__set__), rule_of(name, is_method=True), _PLACED_SETTERS.get(name)
            )
        setattr(ndarray, name, property(read, write))
    for name in ATTRIBUTES:
        setattr(ndarray, name, attribute(name, getattr(ndarray, name)))
    for name, instead in missing.INSTEAD.items():
        setattr(ndarray, name, missing.MissingMethod(name, instead))
    refuse_concatenation()
    set_operators({name: table.ufunc_of(op) for name, (op, _) in UFUNC_OF_OPERATOR.items()})


def _name(method: Any, name: str) -> None:
    """Have a method say that it is one of `ndarray`, to readers, to pickles and to a profile; operators as NumPy's."""
    method.__name__, method.__qualname__, method.__module__ = name, f"ndarray.{name}", _PACKAGE
    original = getattr(numpy.ndarray, name, None) if name in OPERATORS else None
    if original is not None:
        method.__doc__ = original.__doc__


def _asking_classes(ufunc: Any, by_numpy: Callable[..., Any], operands: str) -> Callable[..., Any]:
    """Return what does an operator's work by NumPy: the ufunc, where the class of the operand decides about it."""

    def run(x: Any, *other: Any) -> Any:
        if not other or not decides_about_ufuncs(other[0]):
            return by_numpy(x, *other)
        args = (other[0], x) if operands == "swapped" else (x, other[0])
        return call_for_user(ufunc, *args, **({"out": (x,)} if operands == "in place" and not is_scalar(x) else {}))

    return run


def _operator(name: str) -> Callable[..., Any] | None:
    """Return what an operator does that a ufunc stands for, by the classes of both operands; None of other methods.

    The class may be one of NumPy's, such as `matrix`, which decides what its product with an array is.
    """
    if name not in UFUNC_OF_OPERATOR:
        return None
    _, operands = UFUNC_OF_OPERATOR[name]
    plain_name = f"__{name[3:]}" if operands == "swapped" else name
    function: Callable[..., Any] = divmod if plain_name == "__divmod__" else getattr(operator, plain_name)
    run: Any = (lambda x, y: function(y, x)) if operands == "swapped" else function
    if operands == "swapped":
        run.__qualname__ = f"ndarray.{name}"  # as messages call it
    return run


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function, which binds to an array as a method, for a callable that does not bind."""

    def method(self: ndarray, *args: Any, **options: Any) -> Any:
        return function(self, *args, **options)

    method.__name__ = getattr(function, "__name__", "method")
    method.__doc__ = function.__doc__
    return method


_bind()
DEVICE_ARRAY_IMPORTERS.append(exchange.from_interface)
