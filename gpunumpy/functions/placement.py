"""Placement: calls whose array arguments are all small and on the host are NumPy's, at once.

`core.recording.residence` says which arrays are on the host.

A call is placed by the largest of its operands, its result and its work, all known from shapes and arguments: an outer
product of small arrays is on the device. What is not plain here (other classes, texts of other libraries, lists with
arrays of a device) is left to the function of this package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from itertools import takewhile
from math import ceil, inf, isfinite, prod
from operator import attrgetter
from time import perf_counter
from typing import Any

import numpy

from ..core._native import has_met_device, host_call, tell
from ..core.dtypes import KIND, check
from ..core.floating_errors import IGNORING, SETTINGS, silent_unless_asked
from ..core.graph import layout
from ..core.graph.queue import Queue
from ..core.ops.operators import POWERS
from ..core.recording.array import (
    from_host,
    is_scalar,
    memory_on_host,
    ndarray,
    on_host_memory,
    owner_of,
    require_device,
)
from ..core.recording.calls import CallMemo
from ..core.recording.residence import DTYPES, host_bytes, result_on_host
from ..core.runtime import evaluate
from ..core.runtime.device import Device, default_device
from ..core.runtime.host_work import bytes_of
from ..core.source_location import call_for_user
from .fallback import host_fallback
from .silent_statistics import METHODS_OF_MASKS, OF_MASKS, OF_NUMBERS

ELSEWHERE: Any = object()  # what is returned for a call that is not for the host

# The plain arguments, besides arrays: what NumPy takes as it is, and what cannot hold an array.
_PLAIN = frozenset((bool, int, float, complex, str, type(None), slice, type(Ellipsis), range))
# Functions take dtypes as the types of their elements.
_SCALAR_TYPES = frozenset((bool, int, float, complex, *(dtype.type for dtype in DTYPES)))
# Of a list or tuple that is looked through for arrays, unless it begins with them: then their elements are no more than
# those of so many arrays.
_MAX_PARTS = 64


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Functions whose results can be larger than the broadcast of their operands, or whose work grows faster: as many
# elements as the product of all sizes and integers among the arguments; of a summary as the largest of them, of a
# square as the square of the largest integer or vector, of `einsum` as the product of the sizes of its labels.
_GROWING = _names("""
    bartlett bincount blackman broadcast_arrays broadcast_to convolve corrcoef correlate cov diag diag_indices diagflat
    einsum eye fft fft2 fftfreq fftn hamming hanning hfft histogram histogram2d histogram_bin_edges histogramdd
    identity ifft ifft2 ifftn ihfft indices irfft irfft2 irfftn ix_ kaiser kron mask_indices meshgrid outer pad
    percentile polyfit polymul polyval quantile repeat resize rfft rfft2 rfftfreq rfftn sliding_window_view tensordot
    tensorinv tensorsolve tile tri tril_indices trim_zeros triu_indices unpackbits vander
""")
# So do those of polynomials in any basis.
_GROWING |= {
    prefix + suffix
    for prefix in _names("cheb herm herme lag leg poly")
    for suffix in _names("""
        add companion der div fit fromroots grid2d grid3d gridnd int mul mulx pow roots sub trim val val2d val3d valnd
        vander vander2d vander3d vandernd
    """)
}
_SUMMARIES = _names("""
    chebfit corrcoef cov hermefit hermfit histogram histogram_bin_edges lagfit legfit percentile polyfit quantile
""")
_SQUARES = _names("diag diagflat eye identity tri tril_indices triu_indices")
_GROWN = 1 << 16
# Products: of stacks of matrices, one matrix of each by one of the other, and of all rows and columns.
_STACKED_PRODUCTS = _names("__imatmul__ __matmul__ __rmatmul__ matmul matvec vecdot vecmat")
_PRODUCTS = _STACKED_PRODUCTS | _names("dot inner vdot")
# Those that are `matmul` of two vectors; where the name says so, of stacks of matrices too.
_MATMULS = _names("__matmul__ __rmatmul__ dot matmul")
# Functions that warn of numbers that are not finite.
_OF_FINITE_NUMBERS = frozenset(("allclose", "isclose"))
# Functions of arrays that NumPy has take no lists.
_OF_ARRAYS = _names("""
    diag_indices_from dsplit hsplit rollaxis split take_along_axis tril_indices_from triu_indices_from unstack vsplit
""")
# What shows its operands in another way, or says where they are: of arrays alone.
_SHOWING = _names("T mT broadcast_arrays broadcast_to diagonal may_share_memory shares_memory sliding_window_view")
# Functions that write to their first argument, as scalars and copies cannot be written to: NumPy's do not all refuse.
_WRITING = _names("at copyto fill_diagonal place put put_along_axis putmask")
# Functions that call back or say where data are.
_NOT_PLACED = _names("""
    apply_along_axis apply_over_axes as_strided from_dlpack frombuffer fromfunction fromiter fromstring load vectorize
""")


# What is known of functions, as bits that the compiled core knows too (core/_native/operands.hpp).
_IS_METHOD, _IS_OPERATOR, _IS_GROWING, _IS_OF_MASKS, _IS_OF_FINITE, _IS_QUIET = (1 << k for k in range(6))
(
    _IS_SWAPPED,
    _IS_IN_PLACE,
    _IS_WRITING,
    _IS_OF_SHAPE,
    _IS_OF_RANGE,
    _IS_OF_SAMPLES,
    _IS_OF_DATA,
    _IS_PRODUCT,
    _IS_SHOWING,
    _IS_ATTRIBUTE,
    _IS_STACKED,
    _IS_ASSIGNMENT,
    _IS_OF_PYTHON,
    _IS_LIKE,
    _IS_CAST,
    _IS_SUMMARY,
    _IS_SQUARE,
) = (1 << k for k in range(6, 23))
# The ufuncs of one operand that powers with some exponents are, as NumPy has it.
_POWERS = {exponent: getattr(numpy, name) for exponent, name in POWERS.items()}
# Functions without floating-point errors that are called often.
_QUIET = _names("""
    T __bool__ __float__ __getitem__ __index__ __int__ __len__ argmax argmin argsort copy count_nonzero diagonal
    expand_dims flatnonzero flatten flip item moveaxis nonzero ravel repeat reshape roll searchsorted sort squeeze
    swapaxes take tolist transpose
""")
_OF_ITEMS = frozenset(("__call__", "__getitem__", "__setitem__"))
_LEFT_BY_CORE = frozenset(("device", "like", "shape"))  # options that the core does not look at
# Functions with the options `device` or `like`, besides those that make arrays.
_OF_OPTIONS = _names("astype fftfreq require rfftfreq")


class _Call:
    """The arguments of one call as NumPy takes them, and the arrays among them."""

    __slots__ = (
        "arrays",
        "elements",
        "has_copies",
        "has_data",
        "is_elsewhere",
        "is_operator",
        "is_product",
        "is_showing",
        "memories",
    )

    def __init__(self, name: str = "") -> None:
        self.is_operator = name.startswith("__") and name not in _OF_ITEMS
        self.is_showing = name in _SHOWING
        self.is_product = name in _PRODUCTS
        self.arrays: list[ndarray] = []
        self.memories: list[numpy.ndarray | None] = []  # of those arrays, which another thread may move meanwhile
        self.elements = 0  # of all arrays
        self.has_copies = False  # of NumPy arrays
        self.has_data = False  # of the host that are no arrays of this package
        self.is_elsewhere = False

    def taken(self, x: Any, depth: int = 0) -> Any:
        """Return an argument, or what is so deep in sequences, with the memory of arrays in their place."""
        kind = type(x)
        if self.is_elsewhere:
            return x
        if kind is ndarray:
            memory = memory_on_host(x)
            if memory is not None and memory.dtype in DTYPES and memory.nbytes <= self._most_bytes(x):
                self.arrays.append(x)
                self.memories.append(memory)
                self.elements += memory.size
                if len(self.arrays) <= _MAX_PARTS or self.elements <= _MAX_PARTS * (self.host_bytes // 8):
                    return memory
        elif kind in _PLAIN or isinstance(x, (numpy.generic, numpy.dtype)) or (kind is type and x in _SCALAR_TYPES):
            self.has_data = self.has_data or kind in _NUMBERS or isinstance(x, numpy.generic)
            return x
        elif kind is numpy.ndarray and not self.is_showing and x.dtype in DTYPES and x.nbytes <= self.host_bytes:
            self.has_data = self.has_copies = True
            copy = x.copy("K")
            copy.flags.writeable = False  # a function that writes to it, as to a NumPy array, is left to this package
            return copy
        elif kind is list and self.is_operator and self.arrays and is_scalar(self.arrays[0]):
            self.is_elsewhere = True  # a product with a scalar repeats a list, perhaps in place
            return x
        elif kind in (list, tuple) and depth < layout.MAX_DIMENSIONS and _may_hold_arrays(x):
            self.has_data = self.has_data or x == []
            return kind([self.taken(part, depth + 1) for part in x])
        elif self._is_long_list_of_numbers(x):
            self.has_data = True
            return numpy.array(x)
        self.is_elsewhere = True
        return x

    def _is_long_list_of_numbers(self, x: Any) -> bool:
        if type(x) is not list or self.is_showing or len(x) > self.host_bytes // 8:
            return False
        return _NUMBERS.issuperset(map(type, x))

    def _most_bytes(self, x: ndarray) -> float:
        """Return the bytes of the largest arrays like `x`; products in the host's memory are NumPy's work anyway."""
        return inf if self.is_product and x.queue.shares_memory else x.queue.host_bytes

    @property
    def device(self) -> Device:
        """The device of the first array, or the default device."""
        return self.arrays[0].device if self.arrays else default_device()

    @property
    def host_bytes(self) -> int:
        """The bytes of the largest arrays of that device that are placed on the host."""
        return host_bytes(self.device)

    def returned(self, x: Any, device: Device) -> Any:
        """Return a result with arrays of this package in place of NumPy arrays; an argument comes back as itself."""
        kind = type(x)
        if kind is numpy.ndarray:
            return self._array(x, device)
        if isinstance(x, numpy.generic):
            return on_host_memory(x, device) if x.dtype in KIND else x
        if kind is tuple or kind is list:
            return kind([self.returned(part, device) for part in x])
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return kind(*[self.returned(part, device) for part in x])
        return x

    def _array(self, x: Any, device: Device) -> ndarray:
        base = x.base
        for array, memory in zip(self.arrays, self.memories, strict=True):
            if memory is x:
                return array
            if memory is not None and base is not None and (base is memory or base is memory.base):
                if array._base is not memory:
                    self.is_elsewhere = True  # it shows what is the array's no more
                return on_host_memory(x, device, owner_of(array))
        if x.dtype in KIND:
            if x.nbytes > host_bytes(device):
                self._meet_device()
                return from_host(x, device)
        elif host_fallback() == "error":
            self.is_elsewhere = True
        if self.has_copies and not x.flags.writeable:
            if base is None:
                x.flags.writeable = True  # it may be a copy, that nobody else has
            else:
                x = x.copy("K")  # it shows such a copy
        return result_on_host(x, device)

    def _meet_device(self) -> None:
        """Have arrays that were moved to the host go back if they make large results again and again."""
        for array in self.arrays:
            if has_met_device(array):
                require_device(array)


def _may_hold_arrays(parts: Any) -> bool:
    """Return whether a list or tuple is short, or its first part that is no number is an array or a row with one."""
    if len(parts) <= _MAX_PARTS:
        return True
    first: Any = next((part for part in parts[:_MAX_PARTS] if type(part) not in _NUMBERS), None)
    row = first[:_MAX_PARTS] if type(first) in (list, tuple) else [first]
    return ndarray in map(type, row)


_ACCESSES = ("__getitem__", "__setitem__")


class Placement:
    """What runs NumPy's function, of a name, on the host where a call is placed there. Errors are NumPy's."""

    def __init__(
        self, function: Callable[..., Any], name: str, kind: str = "function", ufunc: tuple[Any, str] = (None, "")
    ) -> None:
        """Place a function, or the "method" or the "attribute" of that name of what is given first.

        `ufunc` does the same; it is given the operands "swapped", or writes to the first one, "in place".
        """
        given, operands = ufunc
        self._ufunc: Any = numpy.matmul if name in _MATMULS else given
        self._function, self._name, self._kind = function, name, kind
        self._with_mask = (METHODS_OF_MASKS if kind == "method" else OF_MASKS).get(name)
        self._has_own_options = name in _COUNTS or name in MAKERS or name in _LIKE or name in _OF_OPTIONS
        self.rules = (
            _IS_METHOD * (kind == "method")
            | _IS_ATTRIBUTE * (kind == "attribute")
            | _IS_OPERATOR * (name.startswith("__") and name not in _OF_ITEMS)
            | _IS_GROWING * (name in _GROWING)
            | _IS_OF_MASKS * (name in OF_MASKS)
            | _IS_OF_FINITE * (name in _OF_FINITE_NUMBERS)
            | _IS_PRODUCT * (name in _PRODUCTS)
            | _IS_STACKED * (name in _STACKED_PRODUCTS)
            | _IS_QUIET * (name in _QUIET)
            | _IS_WRITING * (name in _WRITING)
            | _IS_ASSIGNMENT * (name == "__setitem__")
            | _IS_OF_PYTHON * (name in ("item", "tolist"))
            | _IS_SWAPPED * (operands == "swapped")
            | _IS_IN_PLACE * (operands == "in place")
            | _IS_SHOWING * (name in _SHOWING)
            | _IS_OF_SHAPE * (_COUNTS.get(name) is _count_of_shape)
            | _IS_OF_RANGE * (_COUNTS.get(name) is _count_of_range)
            | _IS_OF_SAMPLES * (_COUNTS.get(name) is _count_of_samples)
            | _IS_OF_DATA * (name in MAKERS)
            | _IS_LIKE * (name in _LIKE)
            | _IS_CAST * (name in ("astype", "fill"))
            | _IS_SUMMARY * (name in _SUMMARIES)
            | _IS_SQUARE * (name in _SQUARES)
        )

    def __call__(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return the result of a call on the host, or `ELSEWHERE`."""
        start = 0.0 if evaluate.host_calls is None else perf_counter()
        result = ELSEWHERE
        given = options
        if not _LEFT_BY_CORE.isdisjoint(options):
            if not self._has_own_options and ("device" in options or "like" in options):
                return ELSEWHERE  # the function of this package has no such option
            options = {key: x for key, x in options.items() if not self._makes_no_difference(key, x)}
        if self._name in _LIKE and "shape" in options:
            result = _try_to_make_like(self._name, args, options)
        elif self._name in _COUNTS:
            result = _try_to_make(self._function, self._name, args, options)
        elif self._with_mask is not None and "where" in options:
            result = _try_operands(self._with_mask, self._name, args, options)
        elif not self._is_compiled or self._name in _COUNTED_HERE or len(options) < len(given) or "device" in options:
            result = _try_operands(self._function, self._name, args, options)
        if result is ELSEWHERE and self._name in MAKERS:
            result = _try_host_data(self._function, MAKERS[self._name], args, options)
        if result is not ELSEWHERE and evaluate.host_calls is not None:
            data = args[2:] if self._name in _ACCESSES else args  # of accesses, what is read or written
            evaluate.host_calls(self._name, perf_counter() - start if start else 0.0, bytes_of((*data, result)))
        return result

    def _makes_no_difference(self, option: str, x: Any) -> bool:
        """Return whether an option that the core leaves to this object is given as if it were not."""
        if option == "like":
            return x is None or isinstance(x, ndarray)
        return x is None and (option == "device" or (option == "shape" and self._name in _LIKE))

    _is_compiled = False

    def is_asked(self, options: Any = None) -> bool:
        """Return whether the core, which stands before this object, leaves it a call with these options."""
        if not self._is_compiled or self._name in _MADE_HERE or self._name in _COUNTED_HERE:
            return True
        return bool(options) and (self._has_own_options or (self._with_mask is not None and "where" in options))

    def in_front_of(self, function: Callable[..., Any], memo: CallMemo | None = None) -> Callable[..., Any]:
        """Return a function that the compiled core places, and that else calls `function`, which asks this object.

        With a memo the core repeats what is known of calls that are on a device.
        """
        called = self._function if self._kind == "function" else self._name
        is_power = self._ufunc is numpy.power and self._name.startswith("__")
        known = None if self._name in _MADE_HERE else memo  # which this object may place on the host
        found = host_call(function, called, self._ufunc, _POWERS if is_power else None, self.rules, known)
        self._is_compiled = found is not None
        return function if found is None else found


def _argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, **options: Any) -> Any:
    """Return NumPy's order, in which equal elements keep theirs, as in all sorts of this package."""
    if kind is None and options.get("stable") is None:
        options["stable"] = True
    return numpy.argsort(a, axis, kind, order, **options)


def _as_complex(x: Any) -> Any:
    return x.astype(numpy.result_type(x.dtype, "c8"), copy=False)


def _eigvals(a: Any) -> Any:
    """Return NumPy's eigenvalues, which are complex whatever they are, as all of this package."""
    return _as_complex(numpy.linalg.eigvals(a))


def _eig(a: Any) -> Any:
    """Return NumPy's eigenvalues and eigenvectors; see `_eigvals`."""
    found = numpy.linalg.eig(a)
    return type(found)(*map(_as_complex, found))


def _unique_values(x: Any) -> Any:
    """Return the different elements in order, as this package does; NumPy leaves their order open."""
    return numpy.unique(x, equal_nan=False)


def _of_array(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of an array that takes lists of numbers too, as this package does."""

    @wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        if args and type(args[0]) is list and (array := numpy.array(args[0])).dtype in DTYPES:
            args = (array, *args[1:])
        return function(*args, **options)

    return run


# What stands for functions and methods of NumPy whose results it leaves open, or lets the elements decide, for those
# that warn of slices in which all is NaN, and for those that take no lists.
_DECIDED: dict[str, Callable[..., Any]] = {
    "argsort": _argsort,
    "eig": _eig,
    "eigvals": _eigvals,
    "unique_values": _unique_values,
    **OF_NUMBERS,
    **{name: _of_array(getattr(numpy, name)) for name in _OF_ARRAYS},
}


def placed(function: Callable[..., Any], name: str) -> Placement | None:
    """Return the placement of a function of NumPy's; None if its calls are never on the host."""
    return None if name in _NOT_PLACED else Placement(_DECIDED.get(name, function), name)


def placed_ufunc(
    ufunc: Any, function: Callable[..., Any] | None = None, name: str = "", operands: str = ""
) -> Placement:
    """Return the placement of a ufunc of NumPy's, or of an operator that does the same; see `Placement`."""
    return Placement(function or ufunc, name or ufunc.__name__, ufunc=(ufunc, operands))


def placed_method(name: str) -> Placement:
    """Return the placement of the method of a name of NumPy's arrays, and of its scalars where they have it."""
    if name in _DECIDED:
        return Placement(_DECIDED[name], name)
    return Placement(lambda x, *args, **options: getattr(x, name)(*args, **options), name, "method")


def placed_attribute(name: str) -> Placement:
    """Return the placement of what reads the attribute of a name of NumPy's arrays and scalars."""
    return Placement(attrgetter(name), name, "attribute")


def host_shape(x: Any) -> tuple[int, ...] | None:
    """Return the shape of an operand that is small and on the host, or data of the host; None of any other."""
    call = _Call()
    taken = call.taken(x)
    return None if call.is_elsewhere else numpy.shape(taken)


def _try_operands(function: Callable[..., Any], name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what NumPy's function returns for arrays on the host; `ELSEWHERE` if some are not, or are large."""
    call = _Call(name)
    host_args = [call.taken(x) for x in args]
    host_options = {key: call.taken(x) for key, x in options.items() if key != "device"}
    if call.is_elsewhere or "like" in options or Device(options.get("device", call.device)) is not call.device:
        return ELSEWHERE
    if not call.arrays and (not call.has_data or call.is_showing):
        return ELSEWHERE
    memories = [*call.memories, *_numpy_arrays((*host_args, *host_options.values()))]
    if name in _WRITING and not _writes_to_array(args, options):
        return ELSEWHERE
    sizes = [memory.size for memory in memories]
    if name in _OF_FINITE_NUMBERS and not all(isfinite(x) for x in (*args, *options.values()) if type(x) is float):
        return ELSEWHERE
    # What is written to a part of an array has as many elements as the part, if perhaps in another shape.
    written = host_args[-1] if name == "__setitem__" else None
    shapes = {memory.shape for memory in memories if memory is not written}
    if len(shapes) > 1 and name not in _WRITING and _broadcast_size(shapes) > max(call.host_bytes // 8, *sizes):
        return ELSEWHERE
    if name in _PRODUCTS:
        limit = evaluate.queue_of(call.device).host_multiplications
        if _multiplications(name, (*host_args, *host_options.values())) > limit:
            return ELSEWHERE
    grown = max(_GROWN, call.host_bytes // 8)
    if name in _GROWING:
        if name in _SQUARES:
            sizes = [memory.size for memory in memories if memory.ndim == 1]
        counts = _sizes_of_labels(*args) if name == "einsum" and args and type(args[0]) is str else None
        counts = counts or [1, *sizes, *_integers(args), *_integers(options.values())]
        count = (max if name in _SUMMARIES | _SQUARES else prod)(filter(None, counts))
        if (count**2 if name in _SQUARES else count) > grown:
            return ELSEWHERE
    if name == "fill" and len(memories) > 1 and memories[0].dtype == object:
        return ELSEWHERE  # the array itself becomes the elements
    try:
        with silent_unless_asked():
            result = call_for_user(function, *host_args, **host_options)
    except (AttributeError, TypeError):  # scalars lack some methods; the function of this package may take more
        return ELSEWHERE
    except ValueError:
        if call.has_copies or (name == "astype" and memories[0].dtype == object):
            return ELSEWHERE
        raise
    returned = call.returned(result, call.device)
    return ELSEWHERE if call.is_elsewhere else returned


def _writes_to_array(args: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Return whether a function that writes to its first parameter is given an array there."""
    written = args[0] if args else next((options[name] for name in ("a", "arr", "dst") if name in options), None)
    return isinstance(written, ndarray) and not is_scalar(written)


def _returned(x: Any, arrays: tuple[ndarray, ...], queue: Queue, has_copies: bool) -> Any:
    """Return a result of NumPy's, of a call with these arrays and perhaps with copies, with arrays of this package."""
    call = _Call()
    call.arrays += arrays
    call.memories += [array._base for array in arrays]
    call.has_copies = has_copies
    returned = call.returned(x, queue.device)
    if call.is_elsewhere:
        check(x.dtype)  # raises, as the program has functions of the host raise
    return returned


tell(returned=_returned, errors=(SETTINGS, IGNORING))


_WRITEABLE = 0x400  # `flags.writeable` itself warns of arrays that `numpy.broadcast_arrays` makes


def _numpy_arrays(arguments: Iterable[Any]) -> list[Any]:
    """Return the copies of NumPy arrays among some arguments, which are read-only."""
    found: list[Any] = []
    for x in arguments:
        if type(x) is numpy.ndarray and not x.flags.num & _WRITEABLE:
            found.append(x)
        elif type(x) in (tuple, list):
            found += _numpy_arrays(x)
    return found


def _multiplications(name: str, arguments: Iterable[Any]) -> int:
    """Return how many multiplications a product makes: with a vector, as many as the other operand has elements."""
    matrices = [x for x in arguments if type(x) is numpy.ndarray and x.ndim > 1][:2]
    if len(matrices) < 2:
        return matrices[0].size if matrices else 1
    a, b = reversed(matrices) if name == "__rmatmul__" else matrices
    if name in _STACKED_PRODUCTS:
        return int(max(a.size * b.shape[-1], b.size * a.shape[-2]))
    return int(a.size // max(a.shape[-1], 1) * b.size)


def _sizes_of_labels(subscripts: str, *operands: Any) -> list[int]:
    """Return the sizes of the labels of an `einsum`; of one with an ellipsis, or with errors, none."""
    terms = subscripts.replace(" ", "").partition("->")[0].split(",")
    try:
        shapes = [numpy.shape(x) for x in operands]
    except ValueError:  # of a list of texts and results, for which the function itself has an error
        return []
    if "." in subscripts or list(map(len, terms)) != list(map(len, shapes)):
        return []
    return list({label: n for term, shape in zip(terms, shapes) for label, n in zip(term, shape)}.values())


def _broadcast_size(shapes: set[tuple[int, ...]]) -> int:
    try:
        return prod(layout.broadcast_shapes(*shapes))
    except ValueError:
        return 0


def _integers(arguments: Iterable[Any]) -> list[int]:
    """Return the magnitudes of the integers among some arguments."""
    found: list[int] = []
    for x in arguments:
        if type(x) is int:
            found.append(abs(x))
        elif type(x) in (tuple, list):
            found += _integers(x)
    return found


# --- new arrays of no operand -----------------------------------------------------------------------------------------


def _count_of_shape(shape: Any, *_: Any) -> float:
    return prod(map(int, shape)) if hasattr(shape, "__len__") else shape


def _count_of_range(start: Any, stop: Any = None, step: Any = 1, *_: Any) -> float:
    return ceil(((start if stop is None else stop) - (0 if stop is None else start)) / (1 if step is None else step))


def _count_of_samples(start: Any, stop: Any, num: Any = 50, *_: Any) -> float:
    return num * numpy.size(start) * numpy.size(stop)


def _count_of_square(n: Any, m: Any = None, *_: Any) -> float:
    return n * (n if m is None else m)


_COUNTED_HERE = ("einsum",)  # where the compiled core, which reads no labels, finds too much work
_MADE_HERE = ("eye", "identity", "tri")  # of numbers, and not by the compiled core
# The number of elements that functions make, by their positional arguments.
_COUNTS: dict[str, Callable[..., float]] = {
    **dict.fromkeys(("empty", "full", "ones", "zeros"), _count_of_shape),
    **dict.fromkeys(("eye", "tri", "identity"), _count_of_square),
    **dict.fromkeys(("linspace", "logspace", "geomspace"), _count_of_samples),
    "arange": _count_of_range,
}
# The names of the arguments that decide it, and of those among them.
_COUNTED = {
    **dict.fromkeys(("empty", "ones", "zeros"), ("shape",)),
    "full": ("shape", "fill_value"),
    "identity": ("n",),
    **dict.fromkeys(("eye", "tri"), ("N", "M")),
    **dict.fromkeys(("linspace", "logspace", "geomspace"), ("start", "stop", "num")),
    "arange": ("start", "stop", "step"),
}


def _try_to_make(function: Callable[..., Any], name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what NumPy's function makes of a shape or of numbers; `ELSEWHERE` if that is large, or is not plain."""
    if "like" in options:
        return ELSEWHERE
    device, call = Device(options.get("device")), _Call(name)
    host_args = [call.taken(x) for x in args]
    host_options = {key: call.taken(x) for key, x in options.items() if key != "device"}
    given = takewhile(host_options.__contains__, _COUNTED[name][len(args) :])
    counted = [*host_args, *(host_options[parameter] for parameter in given)]
    if not counted or call.is_elsewhere or (call.arrays and call.device is not device):
        return ELSEWHERE
    try:
        if _COUNTS[name](*counted) > host_bytes(device) // 8:
            return ELSEWHERE
        with silent_unless_asked():
            result = function(*host_args, **host_options)
    except Exception:  # the function of this package says what is wrong
        return ELSEWHERE
    if type(result) is tuple:  # samples, and the step between them
        samples, step = (x if isinstance(x, float) else _placed_if_small(x, device, None) for x in result)
        return ELSEWHERE if samples is ELSEWHERE or step is ELSEWHERE else (samples, step)
    return _placed_if_small(result, device, None)


# Functions that make an array like another one, or of another shape.
_LIKE = _names("empty_like full_like ones_like zeros_like")


def _try_to_make_like(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return an array of a shape like another one, which has the order of axes; `ELSEWHERE` if one of both is large."""
    call = _Call(name)
    host_args = [call.taken(x) for x in args]
    host_options = {key: call.taken(x) for key, x in options.items() if key != "device"}
    if call.is_elsewhere or Device(options.get("device", call.device)) is not call.device:
        return ELSEWHERE
    try:
        if _count_of_shape(options["shape"]) > host_bytes(call.device) // 8:
            return ELSEWHERE
        with silent_unless_asked():
            result = getattr(numpy, name)(*host_args, **host_options)
    except Exception:  # the function of this package says what is wrong
        return ELSEWHERE
    return _placed_if_small(result, call.device, None)


def _placed_if_small(result: Any, device: Device, data: Any) -> Any:
    if type(result) is not numpy.ndarray or result.dtype not in DTYPES or result.nbytes > host_bytes(device):
        return ELSEWHERE
    is_new = result is not data and result.base is None
    return on_host_memory(result if is_new else result.copy("K"), device)


_NUMBERS = frozenset((bool, int, float, complex))
# Functions that make an array of their first argument, and its name.
MAKERS = {"array": "object", **dict.fromkeys(("asanyarray", "asarray", "ascontiguousarray", "asfortranarray"), "a")}


def _try_host_data(function: Callable[..., Any], parameter: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what NumPy's function makes of host data without arrays; `ELSEWHERE` if that is large, or is not plain."""
    if not args and parameter in options:
        args, options = (options[parameter],), {key: x for key, x in options.items() if key != parameter}
    if not args or "like" in options or options.get("copy", True) is False:
        return ELSEWHERE
    device = Device(options.get("device"))
    numpy_options = {key: x for key, x in options.items() if key != "device"}
    if not all(map(_is_plain, (*args[1:], *numpy_options.values()))) or not is_plain_data(args[0]):
        return ELSEWHERE
    try:
        with silent_unless_asked():
            result = function(*args, **numpy_options)
    except Exception:  # the function of this package says what is wrong
        return ELSEWHERE
    return _placed_if_small(result, device, args[0])


def _is_plain(x: Any) -> bool:
    """Return whether an argument is a number, a text, a dtype, or a shape."""
    kind = type(x)
    if kind in _PLAIN or isinstance(x, numpy.dtype) or (kind is type and x in _SCALAR_TYPES):
        return True
    return kind in (tuple, list) and all(type(n) is int or isinstance(n, numpy.integer) for n in x)


def is_plain_data(x: Any) -> bool:
    """Return whether an object is a NumPy array, or a number, or nested sequences of numbers alone."""
    kind = type(x)
    if kind is list or kind is tuple:
        try:
            return _NUMBERS.issuperset(map(type, x)) or all(map(_is_part_of_plain_data, x))
        except RecursionError:  # it holds itself
            return False
    return kind is range or kind is numpy.ndarray or kind in _NUMBERS or isinstance(x, numpy.generic)


def _is_part_of_plain_data(x: Any) -> bool:
    return is_plain_data(x) and type(x) is not numpy.ndarray
