"""What neither the run time nor NumPy's stubs tell, by name."""

from __future__ import annotations

from .annotations import RESULT_CLASSES

_SENT = ("all_gather", "all_reduce", "all_to_all", "broadcast", "reduce_scatter", "send", "sendrecv")
_HOST_ARRAY = "numpy.ndarray[Any, numpy.dtype[Any]]"

# The types of parameters: of one function, wherever they stand, and where nothing else is known.
TYPES = {
    ("__delitem__", "key"): "_Index",
    ("__getitem__", "key"): "_Index",
    ("__setitem__", "key"): "_Index",
    ("__setitem__", "value"): "ArrayLike | None",
    ("arange", "start"): "_Scalar | None",
    ("arange", "start_or_stop"): "_Scalar | None",
    ("all_to_all_in_pieces", "pieces"): "Iterable[ArrayLike]",
    **{(name, "x"): "ArrayLike" for name in _SENT},
}
TYPES_EVERYWHERE = {
    "api_version": "str | None",
    "device": "_DeviceLike | None",
    "dl_device": "tuple[int, int] | None",
    "like": "Any",
}
TYPES_OTHERWISE = {"dtype": "DTypeLike | None", "out": "_Out | None"}

# The results of functions of this package that are annotated as `Any`.
RESULTS = {
    **dict.fromkeys(("__array__", "asnumpy", "get", "to_numpy"), _HOST_ARRAY),
    **dict.fromkeys(("__array_function__", "__array_ufunc__", "__dlpack__", "item", "nested_iters", "tolist"), "Any"),
    **dict.fromkeys(("__ceil__", "__floor__", "__index__", "__int__", "__round__", "__trunc__"), "int"),
    **dict.fromkeys(("__divmod__", "__rdivmod__"), "tuple[ndarray, ndarray]"),
    **dict.fromkeys(("imag", "real", "reduce", "trim_zeros"), "ndarray"),
    **dict.fromkeys(("geterr", "seterr"), "dict[str, Any]"),  # so that `seterr(**before)` is right
    "gradient": "Any",  # an array, or a tuple of one for each dimension
}
# The results of functions of NumPy that give neither arrays nor what stubs can say of them here.
HOST_RESULTS = {"frompyfunc": "numpy.ufunc"}

# Functions whose result a flag decides: the flag, the result without it, and with it.
FLAGS = {
    "average": ("returned", "ndarray", "tuple[ndarray, ndarray]"),
    "indices": ("sparse", "ndarray", "tuple[ndarray, ...]"),
    "intersect1d": ("return_indices", "ndarray", "tuple[ndarray, ndarray, ndarray]"),
    "linspace": ("retstep", "ndarray", "tuple[ndarray, ndarray]"),
    "svd": ("compute_uv", "ndarray", "_SVDResult"),
}

# Names in annotations of this package that are private in the stubs, or aliases inside of the package.
OWN_NAMES = {"DType": "numpy.dtype[Any]", "flatiter": "_Flat", "Shape": "tuple[int, ...]", **RESULT_CLASSES}

# Properties of arrays whose annotations do not tell what they give, and what some can be set to.
PROPERTIES = {"__array_priority__": "float", "dtype": "_DTypeT_co", "flags": "Flags"}
SETTABLE = {"dtype": "DTypeLike", "shape": "_ShapeLike", "strides": "_ShapeLike"}
