"""The operators, methods and properties of `MaskedArray`, and the functions of `numpy.ma` by name.

Importing this module binds the first to the class.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy

from ..arrays.exchange import array_interface
from ..arrays.host_protocols import arrow_array
from ..functions.creation.arrays import DEVICE_ARRAY_IMPORTERS
from ..functions.every_dtype import takes_every_dtype
from ..functions.fallback import on_host, on_host_method
from . import (
    averages,
    conditions,
    construction,
    conversions,
    fill_values,
    indexing,
    masks,
    memory,
    numpy_code,
    operations,
    operators,
    protocols,
    reductions,
    selecting,
    shapes,
    sorting,
    statistics,
)
from .state import MaskedArray, nomask, set_fill_value, set_mask, update_from


def _set_hardmask(value: bool) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        self._hardmask = value
        return self

    method.__doc__ = f"Have assignments {'leave masked elements masked' if value else 'unmask elements'}."
    return method


def _unshare_mask(self: Any) -> Any:
    """Copy the mask if other arrays may have it too. See `numpy.ma.MaskedArray.unshare_mask`."""
    if self._sharedmask:
        mask = self._mask
        self._mask = mask if mask is nomask else mask.copy()
        self._sharedmask = False
    return self


def _of_data(name: str) -> property:
    """Return a property that is the data's."""
    return property(lambda x: getattr(x._data, name))


METHODS: dict[str, Callable[..., Any]] = {
    **reductions.METHODS,
    **shapes.METHODS,
    "argsort": sorting.argsort_method,
    **sorting.PARTITION_METHODS,
    "choose": selecting.choose_method,
    "compress": indexing.compress_method,
    "compressed": selecting.compressed_method,
    "fill": indexing.fill_method,
    "filled": selecting.filled_method,
    "get": conversions.to_numpy,
    "get_fill_value": lambda self: self.fill_value,
    "get_imag": shapes.part("imag"),
    "get_real": shapes.part("real"),
    "harden_mask": _set_hardmask(True),
    "item": indexing.item_method,
    "nonzero": selecting.nonzero_method,
    "put": indexing.put_method,
    "searchsorted": sorting.searchsorted_method,
    "set_fill_value": set_fill_value,
    "shrink_mask": conditions.shrink_mask_method,
    "soften_mask": _set_hardmask(False),
    "sort": sorting.sort_method,
    "take": indexing.take_method,
    "tobytes": conversions.to_bytes,
    "to_numpy": conversions.to_numpy,
    "tolist": indexing.to_list,
    "unshare_mask": _unshare_mask,
}
METHODS["conj"] = METHODS["conjugate"] = shapes.conjugate_method
METHODS["dot"] = lambda self, b, out=None, strict=False: statistics.dot(self, b, strict, out)

_SPECIAL: dict[str, Any] = {
    "__array__": conversions.as_numpy_array,
    "__array_function__": protocols.array_function,
    "__array_ufunc__": protocols.array_ufunc,
    "__array_wrap__": operators.array_wrap,
    "__arrow_array__": arrow_array,
    "__copy__": lambda x: x.copy(),
    "__deepcopy__": conversions.deep_copy,
    "__format__": conversions.formatted,
    "__getitem__": indexing.get_item,
    "__iter__": indexing.iterate,
    "__reduce__": conversions.reduce_for_pickle,
    "__repr__": conversions.representation,
    "__setitem__": indexing.set_item,
    "__setstate__": conversions.set_state,
    "__str__": conversions.to_text,
    "_hosted": conversions.hosted,
    "__setmask__": lambda self, mask, copy=False: set_mask(self, mask),
    "_update_from": update_from,  # by which functions of `numpy.ma` take over arrays of this class
    "_written_back": conversions.written_back,
}

_PROPERTIES: dict[str, property] = {
    "__array_interface__": property(array_interface),
    **{name: _of_data(name) for name in ("ctypes", "device", "flags", "itemsize", "nbytes", "ndim", "size", "strides")},
    "T": property(lambda x: x.transpose()),
    "base": property(lambda x: x._data),
    "flat": property(indexing.flat, indexing.set_flat),
    "imag": property(shapes.part("imag"), shapes.set_part("imag")),
    "mT": property(shapes.matrix_transpose_of),
    "real": property(shapes.part("real"), shapes.set_part("real")),
}

# Methods of NumPy's class that run on the host.
_HOST_METHODS = ("ids", "toflex", "torecords", "tofile", "dumps", "dump")


def _bind() -> None:
    """Set the operators, methods and properties as attributes of the class."""
    numpy_class = numpy.ma.MaskedArray
    for name, method in (METHODS | operators.OPERATORS).items():
        by_numpy = getattr(numpy_class, name, None)
        setattr(MaskedArray, name, _method(method, by_numpy) if by_numpy is not None else method)
    for name, method in (_SPECIAL | memory.METHODS | _PROPERTIES).items():
        setattr(MaskedArray, name, method)
    for name in _HOST_METHODS:
        setattr(MaskedArray, name, on_host_method(name, numpy_class, "ma.MaskedArray"))
    construct: Any = takes_every_dtype(construction.create, lambda cls, *a, **o: _numpy_class(*a, **o))
    MaskedArray.__new__ = construct  # type: ignore[method-assign]
    MaskedArray._view_of = classmethod(construct)  # type: ignore[attr-defined]  # by which arrays are seen as masked


def _concatenator(copies: numpy_code.Copies, concatenate: Callable[..., Any]) -> Any:
    """Return `numpy.ma.mr_`, which joins arrays by an index expression, over functions of this package."""
    by_numpy = type(numpy.ma.mr_)
    joined = copies.function(type(numpy.r_).__getitem__)  # which calls `concatenate` of its object

    def get_item(self: Any, key: Any) -> Any:
        if isinstance(key, str):
            raise numpy.ma.MAError("Unavailable for masked array.")
        return joined(self, key)

    names = {"__doc__": by_numpy.__doc__, "__getitem__": get_item, "concatenate": staticmethod(concatenate)}
    return type(by_numpy.__name__, (by_numpy,), names)()


_numpy_class = on_host(numpy.ma.MaskedArray, "")


def _method(method: Callable[..., Any], by_numpy: Any) -> Callable[..., Any]:
    """Return a method for which NumPy's method computes where data is on the host."""
    return takes_every_dtype(method, on_host(by_numpy, ""))


def _of_method(name: str) -> Callable[..., Any]:
    """Return the function that calls a method of its first argument."""
    method = METHODS[name]

    def run(a: Any, *args: Any, **options: Any) -> Any:
        x = masks.taken(a)
        if not isinstance(x, MaskedArray):
            x = construction.asanyarray(x)
        return getattr(x, name)(*args, **options)

    first = next(iter(inspect.signature(getattr(numpy.ma, name)).parameters))
    by_first_name = {
        "obj": lambda obj, *args, **options: run(obj, *args, **options),
        "x": lambda x, *args, **options: run(x, *args, **options),
    }
    function: Any = by_first_name.get(first, run)
    _, *parameters = inspect.signature(method).parameters.values()
    named = inspect.Parameter(first, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    function.__signature__ = inspect.Signature([named, *parameters])
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{(method.__doc__ or '').partition(' See ')[0]} See `numpy.ma.{name}`."
    return function


_FROM_METHODS = (
    *(
        "all",
        "any",
        "anom",
        "argmax",
        "argmin",
        "compressed",
        "copy",
        "count",
        "cumprod",
        "cumsum",
        "diagonal",
        "harden_mask",
        "max",
    ),
    *("mean", "min", "nonzero", "prod", "product", "ptp", "ravel", "repeat", "soften_mask", "std"),
    *("sum", "swapaxes", "trace", "var"),
)


def _functions() -> dict[str, Any]:
    """Return the functions by their names in `numpy.ma`."""
    found: dict[str, Any] = {name: _of_method(name) for name in _FROM_METHODS}
    found["anomalies"] = found["anom"]
    found |= shapes.FUNCTIONS | conditions.FUNCTIONS_BY_NAME | statistics.FUNCTIONS | averages.FUNCTIONS
    for module in (construction, fill_values, indexing, masks, operations, selecting, sorting):
        for name, x in vars(module).items():
            is_own = isinstance(x, FunctionType) and x.__module__ == module.__name__
            if is_own and not name.startswith("_") and hasattr(numpy.ma, name):
                found[name] = x
    return found | operations.FUNCTIONS | operations.REDUCTIONS


# Functions that never compute, and so need no other way.
_PLAIN = frozenset(("isMA", "isMaskedArray", "isarray", "is_mask", "default_fill_value"))


def _public() -> dict[str, Any]:
    """Return all names, with functions that take data on the host too."""
    public: dict[str, Any] = {"MaskedArray": MaskedArray, "masked_array": MaskedArray}
    copies = numpy_code.Copies(public)
    for name, function in (_functions() | copies.functions()).items():
        x = function
        if isinstance(x, FunctionType) and name not in _PLAIN:
            x = takes_every_dtype(function, on_host(getattr(numpy.ma, name), ""))
        public[name] = x
    return public | {"mr_": _concatenator(copies, public["concatenate"])}


_bind()
DEVICE_ARRAY_IMPORTERS.insert(0, conversions.converted)
NAMES: dict[str, Any] = _public()
