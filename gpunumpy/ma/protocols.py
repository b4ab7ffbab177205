"""Functions for plain arrays, of this package or NumPy's, called with masked arrays: they do what NumPy's do."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any

import numpy

from ..core.errors import MaskedOperandError, OnHostError
from ..core.nesting import leaves
from ..core.recording.array import from_host, ndarray
from ..functions.creation import arrays, ranges
from ..functions.dtype_functions import can_cast, common_type, min_scalar_type, result_type
from ..functions.fallback import holds_masked_array, host_fallback, is_on_device, on_host, own_function
from ..functions.manipulation.insert_delete import copyto
from ..functions.manipulation.repeating import roll
from ..functions.manipulation.strides import frombuffer, may_share_memory, shares_memory
from ..functions.sets.operations import isin
from ..functions.ufuncs.elementwise import array_equal, array_equiv
from ..functions.ufuncs.python_ufunc import ufunc_on_host
from ..functions.ufuncs.ufunc import UFUNCS
from .averages import diff, limited
from .construction import asanyarray, create
from .fill_values import converted_fill_value
from .masks import combined_masks, getmaskarray, taken
from .numpy_code import Copies
from .operators import OPERATORS, PRODUCTS, apply_ufunc
from .shapes import expand_dims
from .state import MaskedArray, full_like_data, is_ours, new, nomask

# NumPy's functions that call the array's method of their name, or of another.
_METHODS = {
    **{
        name: name
        for name in (
            *("all", "any", "argmax", "argmin", "argpartition", "compress", "cumprod", "cumsum", "diagonal"),
            *("max", "mean", "min", "nonzero", "prod", "ravel", "repeat", "round"),
            *("searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace", "var"),
        )
    },
    "amax": "max",
    "amin": "min",
    "around": "round",
}


# What functions raise that leave arguments to NumPy.
_FOR_NUMPY = (MaskedOperandError, OnHostError)


def _by_method(name: str) -> Callable[..., Any]:
    """Return a function that calls a method of its first argument."""

    def run(a: Any, *args: Any, **options: Any) -> Any:
        x = taken(a)
        if not is_ours(x):
            return NotImplemented
        given = {key: value for key, value in options.items() if value is not numpy._NoValue}
        return getattr(x, name)(*map(taken, args), **given)

    return run


def _chosen(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Return elements of arrays by their numbers, with the mask of the numbers; masks of the choices are left out."""
    x = taken(a)
    return x.choose(choices, out=out, mode=mode) if is_ours(x) else _chosen_by_indices(x, choices, out=out, mode=mode)


def _chosen_by_indices(a: Any, *choices: Any, **options: Any) -> Any:
    """Return elements of the data of arrays by their numbers, which have no mask."""
    cls: Any = ndarray
    return _of_data(cls.choose)(arrays.asarray(a), *choices, **options)


def _reshaped(a: Any, shape: Any = None, order: str = "C", **options: Any) -> Any:
    """Return an array of another shape."""
    given = {name: value for name, value in options.items() if value is not None}
    return NotImplemented if shape is None or given.keys() - {"copy"} else taken(a).reshape(shape, order=order, **given)


def _put(a: Any, ind: Any, v: Any, mode: str = "raise") -> Any:
    """Write elements at positions of the flattened array."""
    x = taken(a)
    return x.put(taken(ind), taken(v), mode=mode) if is_ours(x) else NotImplemented


def _transposed(a: Any, axes: Any = None) -> Any:
    """Return an array with its axes in another order."""
    x = taken(a)
    return x.transpose(axes) if is_ours(x) else NotImplemented


def _sorted(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, **options: Any) -> Any:
    """Return a sorted copy."""
    x = taken(a)
    x, axis = (x.flatten(), -1) if axis is None else (x.copy(), axis)
    x.sort(axis=axis, kind=kind, order=order, **options)
    return x


def _positions_of_sorted(a: Any, axis: Any = -1, **options: Any) -> Any:
    """Return the positions that sort an array, along its last axis by default, where the method sorts all elements."""
    return taken(a).argsort(axis, **options)


def _any_array(a: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
    """Return an object as an array; a masked array keeps its mask."""
    return asanyarray(a, dtype) if is_ours(taken(a)) else arrays.asanyarray(a, dtype, *args, **options)


def _array(a: Any, dtype: Any = None, *args: Any, copy: Any = True, subok: bool = False, **options: Any) -> Any:
    """Return an object as a new array; a masked array keeps its mask with `subok`."""
    x = taken(a)
    if not is_ours(x) or not subok or args:
        return _of_data(arrays.array)(a, dtype, *args, copy=copy, subok=subok, **options)
    return create(type(x), x, dtype=dtype, copy=copy, ndmin=options.get("ndmin", 0), order=options.get("order"))


def _required(a: Any, dtype: Any = None, requirements: Any = None, **options: Any) -> Any:
    """Return an object as an array that meets requirements; a masked array keeps its mask, unless it may not."""
    x, required = taken(a), _of_data(arrays.require)(a, dtype, requirements, **options)
    if not is_ours(x) or {"E", "ENSUREARRAY"} & {r.upper() for r in requirements or ()}:
        return required
    return x if required is x._data else _array(x, dtype, subok=True, order="F" if required.flags.fnc else "C")


def _of_data(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of this package that takes masked arrays without their masks, as NumPy's does.

    It raises `MaskedOperandError` for what has no such data: `masked`, and a masked array as the result.
    """

    def run(*args: Any, **options: Any) -> Any:
        elements, named = tuple(map(_elements, args)), {name: _elements(x) for name, x in options.items()}
        if holds_masked_array((elements, named, options.get("out"))):
            raise MaskedOperandError("NumPy decides what becomes of a masked array here")
        return function(*elements, **named)

    return run


def _elements(x: Any) -> Any:
    """Return a masked array, or those in lists and tuples, without masks."""
    if type(x) in (list, tuple) and holds_masked_array(x):
        return type(x)(map(_elements, x))
    x = taken(x)
    return x._data if is_ours(x) else x


def _public(by_numpy: Any) -> Callable[..., Any]:
    """Return a function that calls this package's of the name of one of NumPy's."""
    return lambda *args, **options: own_function(by_numpy)(*args, **options)


def _joined(name: str) -> Callable[..., Any]:
    """Return a function that joins arrays; the result is masked, and has no mask."""
    join = _of_data(_public(getattr(numpy, name)))

    def run(*args: Any, **options: Any) -> Any:
        is_of_other_class = any(is_ours(x) and type(x) is not MaskedArray for x in leaves((args, options)))
        return NotImplemented if is_of_other_class or "out" in options else new(join(*args, **options))

    return run


def _rolled(a: Any, *args: Any, **options: Any) -> Any:
    """Return an array whose elements, with their masks, have moved along an axis."""
    x = taken(a)
    if not is_ours(x):
        return NotImplemented
    mask = x._stored_mask
    moved = mask if mask is nomask else roll(mask, *args, **options)
    return new(roll(x._data, *args, **options), moved, x, x._has_masked)


def _like(name: str) -> Callable[..., Any]:
    """Return a function that makes an array like another one; with the shape of that it has the mask too."""
    make = _public(getattr(numpy, name))

    def run(a: Any, *args: Any, **options: Any) -> Any:
        x = taken(a)
        if not is_ours(x) or holds_masked_array((args, options)):
            return NotImplemented
        made = make(x._data, *args, **options)
        return _shaped_like(made, x) if options.get("subok", True) else made

    return run


def _shaped_like(data: Any, x: Any) -> Any:
    """Return data as a masked array like another one, with a copy of its mask if both have one size."""
    if x._stored_mask is nomask or data.size != x.size:
        return new(data, nomask, x)
    return new(data, x._stored_mask.copy().reshape(data.shape), x, x._has_masked)


def _product_of_data(name: str) -> Callable[..., Any]:
    """Return a product that takes no heed of masks, whose result NumPy makes like the first masked operand."""
    multiply = _public(getattr(numpy, name))

    def run(a: Any, b: Any, out: Any = None) -> Any:
        x, y = taken(a), taken(b)
        like = x if is_ours(x) else y
        if type(like) is not MaskedArray or out is not None:
            return NotImplemented
        data = multiply(_elements(x), _elements(y))
        return _shaped_like(data, like) if data.ndim else data

    return run


def _broadcast(name: str) -> Callable[..., Any]:
    """Return a function that broadcasts the data of arrays, which NumPy does unless the class is asked for."""
    broadcast = _of_data(_public(getattr(numpy, name)))

    def run(*args: Any, subok: bool = False, **options: Any) -> Any:
        if not subok:
            return broadcast(*args, **options)
        made = broadcast(*args, **options)
        if name == "broadcast_to":
            x = taken(args[0] if args else options["array"])
            is_alike = is_ours(x) and x.shape == made.shape
            return new(made, x._stored_mask, x, x._has_masked) if is_alike else _with_class_of(x, made)
        given = [taken(x) for x in args]
        return tuple(
            x if numpy.shape(x) == y.shape and is_ours(x) else _with_class_of(x, y) for x, y in zip(given, made)
        )

    return run


def _with_class_of(like: Any, x: Any) -> Any:
    """Return an array without a mask, of the class and with the fill value of another array."""
    like = taken(like)
    return new(x, nomask, like) if is_ours(like) else x


def _wrapped(name: str, are_wrapped: Sequence[bool] = (), second: str = "") -> Callable[..., Any]:
    """Return a function of the data of arrays whose results NumPy gives the class of an argument, and no mask.

    Parameters
    ----------
    name
        The function, in `numpy`.
    are_wrapped
        Which of several results have that class; by default there is one result.
    second
        The name of the argument, which is the second; by default it is the first that is a masked array.
    """
    by_numpy = operator.attrgetter(name)(numpy)
    compute = _of_data(_public(by_numpy))

    def run(*args: Any, **options: Any) -> Any:
        found = compute(*args, **options)
        given = [*args, *options.values()]
        if second:
            given = [options[second] if second in options else args[1]]
        like = next(filter(is_ours, map(taken, given)), None)
        if not are_wrapped:
            return _with_class_of(like, found)
        if not isinstance(found, tuple):  # singular values alone
            return found
        results = [_with_class_of(like, x) if is_wrapped else x for x, is_wrapped in zip(found, are_wrapped)]
        return type(found)(*results) if hasattr(found, "_fields") else tuple(results)

    return run


def _orthogonal_factors(a: Any, mode: str = "reduced") -> Any:
    """Return the factors of a matrix, which are masked arrays without masks."""
    return _wrapped("linalg.qr", {"raw": (True, False), "r": ()}.get(mode, (True, True)))(a, mode)


def _masked_without_mask(name: str) -> Callable[..., Any]:
    """Return a function of the data of arrays whose result is masked, has no mask, and the default fill value."""
    compute = _of_data(_public(getattr(numpy, name)))
    return lambda *args, **options: new(compute(*args, **options))


def _range_of_data(a: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
    """Return the range of the elements, masked ones too, as an array without a mask."""
    x = taken(a)
    if out is not None or type(x) is not MaskedArray:
        return NotImplemented
    return new(_public(numpy.ptp)(x._data, axis, **options), nomask, x)


_copies = Copies({})


def _of_numpys_code(name: str) -> Callable[..., Any]:
    """Return a function that runs a copy of the code of NumPy's; where this fails NumPy itself says what is wrong.

    A function of the program is not called again: what it raises comes out.
    """
    by_numpy = operator.attrgetter(name)(numpy)
    return _copies.function(by_numpy) if name.startswith("apply_") else _by_copy(by_numpy, name in _OF_MANY_STEPS)


def _by_copy(by_numpy: Any, is_of_many_steps: bool) -> Callable[..., Any]:
    """Return a function that runs a copy of the code of one of NumPy's; with the host forbidden, if that fails too.

    One `is_of_many_steps` leaves arrays that are on the host to NumPy.
    """
    copied = _copies.function(by_numpy)

    def run(*args: Any, **options: Any) -> Any:
        if is_of_many_steps and not any(map(is_on_device, leaves((args, options)))):
            return NotImplemented
        try:
            result = copied(*args, **options)
        except Exception as error:
            if host_fallback() == "error" and not isinstance(error.__cause__ or error, _FOR_NUMPY):
                raise
            return NotImplemented
        return from_host(result) if isinstance(result, numpy.generic) else result

    return run


@cache
def _of_polynomials(by_numpy: Any) -> Callable[..., Any]:
    """Return what runs instead of a function of `numpy.polynomial`, a module that is imported when it is asked for.

    NumPy leaves out the masks of coefficients, and keeps those of points that it computes with as they are.
    """
    is_by_copy = _KEEPS_POINTS.fullmatch(by_numpy.__name__)
    return _by_copy(by_numpy, True) if is_by_copy else _of_data(_public(by_numpy))


def _vectorized(function: Any, *args: Any, **options: Any) -> Any:
    """Return what a function that only calculates gives for all elements, masked ones too; masked where an operand is.

    See `numpy.vectorize`.
    """
    given = [taken(x) for x in function.operands(args, options)]
    like = next(filter(is_ours, given), None)
    if type(like) is not MaskedArray or not any(map(is_on_device, given)):
        return NotImplemented
    results = function.calculated(tuple(map(_elements, args)), {name: _elements(x) for name, x in options.items()})
    if results is None:
        return NotImplemented
    made = [_masked_by(data, given, like) for data in (results if isinstance(results, tuple) else (results,))]
    return tuple(made) if isinstance(results, tuple) else made[0]


def _masked_by(data: Any, given: Iterable[Any], like: Any) -> Any:
    """Return data masked where an operand is, with a whole mask in any case."""
    mask = combined_masks(data.shape, *given)[0]
    made = new(data, full_like_data(data, False) if mask is nomask else mask, like)
    if made._fill_value is not None:
        made._fill_value = converted_fill_value(made._fill_value, made.dtype)
    return made


def _distinct(ar: Any, *flags: Any, **options: Any) -> Any:
    """Return the distinct elements; distinct parts along an axis are those of the data."""
    axis = flags[3] if len(flags) > 3 else options.get("axis")
    has_parts = axis is not None and numpy.ndim(taken(ar)) > 1
    return (_of_data(_public(numpy.unique)) if has_parts else _distinct_elements)(ar, *flags, **options)


_distinct_elements = _by_copy(numpy.unique, True)


def _histogram_of_points(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """Return the histogram of all points, masked ones too, whose edges are by default those of what is not masked."""
    points = taken(sample)
    if not is_ours(points):  # coordinates in a list, whose masks are left out
        return _of_data(_public(numpy.histogramdd))(sample, bins, range, density, weights)
    if points.ndim != 2:
        points = points.reshape(-1, 1) if points.ndim == 1 else points
    lowest, highest = points.min(0), points.max(0)
    if getmaskarray(lowest).any():
        return NotImplemented
    ends = list(zip(lowest._data.get(), highest._data.get(), strict=True))
    if range is not None and len(range) == len(ends):
        range = [own if given is None else given for own, given in zip(ends, range, strict=True)]
    return _of_data(_public(numpy.histogramdd))(points, bins, ends if range is None else range, density, weights)


def _differences(a: Any, n: int = 1, axis: int = -1, **ends: Any) -> Any:
    """Return differences of neighbours, which are masked where one of these is; with more at the ends without masks."""
    if ends:
        return _differences_between_ends(a, n, axis, **ends)
    return diff(a, n, axis) if type(taken(a)) is MaskedArray else NotImplemented


_differences_between_ends = _by_copy(numpy.diff, False)


def _of_ufunc(name: str) -> Callable[..., Any]:
    """Return the function for a ufunc of NumPy."""
    nin = getattr(numpy, name).nin

    def run(*args: Any, **options: Any) -> Any:
        if len(args) > nin:
            args, options = args[:nin], options | {"out": args[nin:]}
        return apply_ufunc(name, args, options)

    return run


def _of_operator(name: str) -> Callable[..., Any]:
    """Return the function for an operator of arrays: with a masked array it is the masked array's."""
    base = name.removeprefix("__").removesuffix("__")
    is_reflected = base not in ("rshift",) and base.startswith("r") and f"__{base[1:]}__" in OPERATORS
    plain = base[1:] if is_reflected else base

    def run(x: Any, y: Any, *modulus: Any) -> Any:
        try:
            x, y = taken(x), taken(y)
        except OnHostError:
            by_python: Any = getattr(operator, _PYTHON_NAMES.get(plain, plain), divmod)
            return on_host(by_python, "")(*((y, x) if is_reflected else (x, y)))
        if is_ours(x):
            return OPERATORS[name](x, y)
        if base in _MIRRORED:
            return OPERATORS[f"__{_MIRRORED[base]}__"](y, x)
        return OPERATORS[f"__{base[1:]}__" if is_reflected else f"__r{base}__"](y, x)

    return run


_PYTHON_NAMES = {"and": "and_", "or": "or_"}
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
_OF_DATA = (
    *(array_equal, array_equiv, can_cast, common_type, copyto, isin, may_share_memory, min_scalar_type, result_type),
    shares_memory,
)
# Functions that NumPy begins with `asarray`, or writes in C, so that masks make no difference to them.
_OF_DATA_BY_NAME = {
    numpy: (
        *("bincount", "convolve", "corrcoef", "cov", "cross", "digitize", "einsum", "einsum_path", "histogram"),
        *(
            "histogram2d",
            "histogram_bin_edges",
            "interp",
            "lexsort",
            "outer",
            "pad",
            "place",
            "polyfit",
            "putmask",
            "sort_complex",
        ),
        "tensordot",
        *("tril", "triu", "unravel_index", "unwrap", "vander", "vdot", "where"),
    ),
    numpy.fft: (
        *("fft", "fft2", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft"),
        *("irfft2", "irfftn", "rfft", "rfft2", "rfftn"),
    ),
    numpy.linalg: (
        *("cond", "cross", "det", "eigvals", "eigvalsh", "matrix_norm", "matrix_rank", "norm", "outer", "slogdet"),
        *("svdvals", "tensordot", "tensorinv", "vector_norm"),
    ),
    numpy.emath: ("arccos", "arcsin", "arctanh", "log", "log10", "log2", "logn", "power", "sqrt"),
}
_JOINERS = ("append", "column_stack", "concatenate", "dstack", "hstack", "stack", "vstack")
# Operators that write to a plain array, whose elements have no mask.
_WRITERS = (
    *(operator.iadd, operator.iand, operator.ifloordiv, operator.ilshift, operator.imatmul, operator.imod),
    *(operator.imul, operator.ior, operator.ipow, operator.irshift, operator.isub, operator.itruediv, operator.ixor),
)
# What makes arrays like a masked one (`like=`) makes plain arrays.
_CREATION = (
    *(arrays.asarray, arrays.ascontiguousarray, arrays.asfortranarray, arrays.empty, arrays.fromiter),
    *(arrays.fromstring, arrays.full, arrays.ones, arrays.zeros, frombuffer),
    *(ranges.arange, ranges.eye, ranges.fromfunction, ranges.identity, ranges.tri),
)
# Functions that NumPy writes in Python, of indexing, methods and other functions: its code does the same here.
_OF_NUMPYS_CODE = (
    *("allclose", "angle", "apply_along_axis", "apply_over_axes", "argwhere", "array_split", "atleast_1d"),
    *("atleast_2d", "atleast_3d", "average", "block", "compress", "count_nonzero", "cumulative_prod"),
    *("cumulative_sum", "delete", "diag", "diag_indices_from", "diagflat", "dsplit", "ediff1d", "extract"),
    *("fill_diagonal", "flatnonzero", "flip", "fliplr", "flipud", "geomspace", "gradient", "hsplit", "i0", "imag"),
    *("insert", "intersect1d", "isclose", "iscomplex", "isneginf", "isposinf", "isreal", "ix_", "kron", "linspace"),
    *("logspace", "matrix_transpose", "median", "meshgrid", "moveaxis", "nan_to_num", "nanargmax", "nanargmin"),
    *("nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanprod", "nanquantile"),
    *("nanstd", "nansum", "nanvar", "partition", "percentile", "piecewise", "poly", "polyadd", "polyder", "polydiv"),
    *("polyint", "polymul", "polysub", "polyval", "put_along_axis", "quantile", "real", "real_if_close", "resize"),
    *("rollaxis", "roots", "rot90", "select", "setdiff1d", "setxor1d", "sinc", "split", "take_along_axis", "tile"),
    "trapezoid",
    *("tril_indices_from", "trim_zeros", "triu_indices_from", "union1d", "unique_all", "unique_counts"),
    *("unique_inverse", "unique_values", "unstack", "vsplit"),
)
# Those of many steps, of which none gives views: NumPy does all of them at once where arrays are on the host.
_OF_MANY_STEPS = frozenset(
    (
        *("median", "nanmean", "nanmedian", "nanpercentile", "nanquantile", "nanstd", "nanvar", "percentile"),
        *("quantile", "roots", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
    )
)
_OF_NUMPYS_LINALG = ("diagonal", "matmul", "matrix_power", "matrix_transpose", "multi_dot", "tensorsolve", "trace")
# Correlations, factors, and solutions of equations, of the class of an argument: which results have it, and the
# name of the argument if it is the second.
_OF_WRAPPERS: dict[str, tuple[Any, ...]] = {
    "correlate": (),
    **{f"linalg.{name}": () for name in ("cholesky", "inv", "pinv")},
    **{f"linalg.{name}": ((False, True),) for name in ("eig", "eigh")},
    "linalg.lstsq": ((True, True, False, False), "b"),
    "linalg.solve": ((), "b"),
    "linalg.svd": ((True, False, True),),
}
# Functions of the modules of `numpy.polynomial` whose results have the class of the points, or of a given sequence.
_KEEPS_POINTS = re.compile(r"[a-z]+(val|grid)(\dd|nd)?|[a-z]+weight|polyvalfromroots|mapdomain|mapparms|trimseq")
# Functions of texts, which never are on a device.
_PRINTING = (numpy.array2string, numpy.array_repr, numpy.array_str)
_BINARY = [n for n in OPERATORS if n.removeprefix("__").removesuffix("__") in _MIRRORED or f"__r{n[2:]}" in OPERATORS]

# What runs instead of a function of NumPy that is called with a masked array.
_IMPLEMENTED: dict[Any, Callable[..., Any]] = {
    **{getattr(numpy, name): _of_ufunc(found.__name__) for name, found in UFUNCS.items() if hasattr(numpy, name)},
    **{getattr(numpy, name): _by_method(method) for name, method in _METHODS.items()},
    **{getattr(numpy, function.__name__): _of_data(function) for function in (*_OF_DATA, *_CREATION)},
    **{
        getattr(module, name): _of_data(_public(getattr(module, name)))
        for module, names in _OF_DATA_BY_NAME.items()
        for name in names
    },
    **{function: _of_data(function) for function in _WRITERS},
    **{getattr(numpy.ndarray, name): _of_operator(name) for name in _BINARY},
    **{getattr(operator, name): _of_operator(name) for name in _BINARY if hasattr(operator, name)},
    **{
        getattr(numpy.ndarray, f"__r{n[2:]}"): _of_operator(f"__r{n[2:]}")
        for n in _BINARY
        if f"__r{n[2:]}" in OPERATORS
    },
    **{getattr(numpy, name): _of_numpys_code(name) for name in _OF_NUMPYS_CODE if hasattr(numpy, name)},
    **{getattr(numpy.linalg, name): _of_numpys_code(f"linalg.{name}") for name in _OF_NUMPYS_LINALG},
    **{operator.attrgetter(name)(numpy): _wrapped(name, *how) for name, how in _OF_WRAPPERS.items()},
    **{getattr(numpy, name): _masked_without_mask(name) for name in ("packbits", "ravel_multi_index", "unpackbits")},
    **{getattr(numpy, name): _like(name) for name in ("empty_like", "full_like", "ones_like", "zeros_like")},
    **{getattr(numpy, name): _broadcast(name) for name in ("broadcast_arrays", "broadcast_to")},
    **{getattr(numpy, name): _product_of_data(name) for name in ("dot", "inner")},
    numpy.argsort: _positions_of_sorted,
    numpy.asanyarray: _any_array,
    numpy.choose: _chosen,
    numpy.ndarray.choose: _chosen_by_indices,
    numpy.array: _array,
    numpy.ndarray.__setitem__: _of_data(operator.setitem),
    numpy.ndarray.fill: _of_data(lambda a, value: a.fill(value)),
    **{getattr(numpy, name): _joined(name) for name in _JOINERS},
    numpy.clip: limited,
    numpy.diff: _differences,
    numpy.histogramdd: _histogram_of_points,
    numpy.ptp: _range_of_data,
    numpy.linalg.vecdot: _of_ufunc("vecdot"),
    numpy.linalg.qr: _orthogonal_factors,
    numpy.roll: _rolled,
    **{getattr(numpy, name): _of_ufunc(name) for name in PRODUCTS if hasattr(numpy, name)},
    numpy.vectorize.__call__: _vectorized,
    numpy.vectorize._vectorize_call_with_signature: _copies.function(  # type: ignore[attr-defined]
        numpy.vectorize._vectorize_call_with_signature  # type: ignore[attr-defined]
    ),
    numpy.expand_dims: lambda a, axis: expand_dims(a, axis),
    numpy.ndim: lambda a: taken(a).ndim,
    numpy.require: _required,
    numpy.put: _put,
    numpy.reshape: _reshaped,
    numpy.shape: lambda a: taken(a).shape,
    numpy.sort: _sorted,
    numpy.transpose: _transposed,
    numpy.unique: _distinct,
}


def call(function: Any, args: Any, options: dict[str, Any]) -> Any:
    """Return what a function of NumPy gives for masked arrays; NotImplemented if NumPy itself is to compute it."""
    try:
        run = _IMPLEMENTED.get(function)
    except TypeError:  # no function that has a hash
        return NotImplemented
    if run is None and (method := getattr(function, "method_of_ufunc", "")):
        run, args = partial(_by_ufunc_method, args[0].__name__, method), args[1:]
    if run is None and (getattr(function, "__module__", None) or "").startswith("numpy.polynomial."):
        run = _of_polynomials(function)
    try:
        return NotImplemented if run is None else run(*args, **options)
    except _FOR_NUMPY:
        return NotImplemented


_STEPWISE = ("accumulate", "at", "outer", "reduce", "reduceat")


def _by_ufunc_method(name: str, method: str, *inputs: Any, **options: Any) -> Any:
    """Return what a method of a ufunc gives: of the data, without a mask; but `outer` computes as the ufunc does.

    `at` writes to the data.
    """
    given = [taken(x) for x in inputs]
    like = next((x for x in given if is_ours(x)), None)
    if type(like) is not MaskedArray or name not in UFUNCS or method not in _STEPWISE:
        return NotImplemented
    if method == "outer":
        first: Any
        first, second = (x if is_ours(x) else arrays.asarray(x) for x in given)
        return apply_ufunc(name, (first.reshape(first.shape + (1,) * second.ndim), second), dict(options))
    result = _of_data(getattr(UFUNCS[name], method))(*given, **options)
    return result if method == "at" or options.get("out") is not None else new(result, nomask, like)


class _OfClassOnly:
    """Attribute that is None for instances: by this `numpy.ma` leaves operators to the class of the other operand."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __get__(self, x: Any, cls: type | None = None) -> Any:
        """Return the function of the class, or None for an instance."""
        return self._function if x is None else None


def _array_ufunc(x: Any, ufunc: numpy.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
    """Run a ufunc of NumPy on masked arrays."""
    for operand in inputs:
        other = getattr(type(operand), "__array_ufunc__", None)
        if (
            other is not None
            and not is_ours(operand)
            and not isinstance(operand, (ndarray, numpy.ndarray, numpy.generic))
        ):
            return NotImplemented
    has_own = ufunc.__name__ in UFUNCS or ufunc.__name__ in PRODUCTS
    if method == "__call__" and getattr(numpy, ufunc.__name__, None) is ufunc and has_own:
        with suppress(OnHostError):
            return apply_ufunc(ufunc.__name__, inputs, dict(options))
    if "out" in options and method != "__call__":
        options["out"] = options["out"][0]
    if has_own:
        with suppress(OnHostError, MaskedOperandError):
            result = _by_ufunc_method(ufunc.__name__, method, *inputs, **options)
            if result is not NotImplemented:
                return result
    return ufunc_on_host(ufunc, method)(*inputs, **options)


array_ufunc = _OfClassOnly(_array_ufunc)


def array_function(x: Any, function: Any, types: Iterable[type], args: Any, options: dict[str, Any]) -> Any:
    """Run a function of NumPy on masked arrays."""
    if not all(issubclass(kind, (ndarray, numpy.ndarray)) or kind is type(x) for kind in types):
        return NotImplemented
    result = call(function, args, options)
    if result is not NotImplemented:
        return result
    name = "" if function in _PRINTING else f"{function.__module__}.{function.__name__}"
    return on_host(function, name)(*args, **options)
