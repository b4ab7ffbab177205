"""Subclasses of `ndarray`: which results are arrays of the class of an argument, by NumPy's rules.

While there is a subclass, the public functions hand calls with arrays of it over to `call_for_subclass`. It calls the
function with views of the class `ndarray`, so nothing below knows subclasses, and makes arrays of the class of results.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import signature
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy

from ..core.nesting import leaves
from ..core.recording.array import as_class, is_scalar, memory_on_host, ndarray, on_host_memory
from ..core.recording.record import array_priority, as_array, decides_about_ufuncs, is_masked_array, refuses_ufuncs
from ..core.source_location import warn


class ClassRule(NamedTuple):
    """What becomes of the class of arguments.

    Attributes
    ----------
    keeps
        Whether arrays among the results are of the class of an argument.
    keeps_at
        Of several results, the places of those that are so, if it is not the same for all.
    keeps_each
        Whether each of several results is of the class of the argument in its place.
    keeps_views
        Whether results that are views are so, and no others.
    keeps_without_dimensions
        Whether a result without dimensions is so too, and no scalar.
    converts
        Whether the function makes an array of the class `ndarray`, unless its argument `subok` is true.
    takes_array_itself
        Whether the function changes an array itself or looks at its class, so that a view will not do.
    wraps
        How many arguments ``__array_wrap__`` of the class gets, which makes the results: 3 as from ufuncs, 1 from
        functions of linear algebra; 0 if it makes none.
    asks_class
        Whether a class with a method ``__array_function__`` of its own is asked for what the function returns.
    ufunc
        What a class with a method ``__array_ufunc__`` of its own is asked for: the ufunc, the name of its method, and
        how it gets the arguments: "" as they are, or of an operator "in order", "swapped" or "in place"; None for other
        functions. A generalised ufunc is given by the name of its public function.
    method
        The method that a function calls if a class has one of its own; "" for other functions.
    method_of_others
        The method of objects that are no arrays of this package that NumPy's function calls; "" for other functions.
    deciding
        The place of the only argument whose class counts: what indexes it does not; None if all arguments count.
    asked_of
        NumPy's function, where it decides by its arguments which ufunc a class with a method ``__array_ufunc__`` is
        asked for, and with what.
    of_call
        What the other arguments of a call change in this rule: a function of the same parameters that returns the
        fields with their values; None if they change nothing.
    tells_source
        Whether ``__array_finalize__`` of the results gets the argument, and not None.
    """

    keeps: bool = False
    keeps_without_dimensions: bool = False
    converts: bool = False
    takes_array_itself: bool = False
    keeps_at: tuple[int, ...] | None = None
    keeps_each: bool = False
    keeps_views: bool = False
    wraps: int = 0
    asks_class: bool = False
    ufunc: tuple[Any, str, str] | None = None
    method: str = ""
    method_of_others: str = ""
    deciding: int | None = None
    asked_of: Callable[..., Any] | None = None
    of_call: Callable[..., dict[str, Any]] | None = None
    tells_source: bool = True


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Functions and methods whose results are of the class of an argument, also without dimensions.
_KEEPING_ALWAYS = _names("""
    all amax amin angle any around astype average byteswap clip conj conjugate copy __copy__ __deepcopy__ fix
    flatten i0 isclose isneginf isposinf isreal matmul __matmul__ __rmatmul__ matvec max mean median min nanmax
    nanmean nanmedian nanmin nanprod nanstd nansum nanvar prod ptp ravel real_if_close reshape round squeeze std sum
    transpose trapezoid var vecdot vecmat
""")
# Those whose arrays are, while results without dimensions are scalars.
_KEEPING = _names("""
    T __getitem__ argmax argmin argpartition argsort array_split asanyarray atleast_1d atleast_2d
    atleast_3d cholesky choose compress correlate count_nonzero cumprod cumsum cumulative_prod cumulative_sum delete
    diagflat diagonal diff divmod dot dsplit ediff1d empty_like expand_dims extract flip fliplr flipud full_like
    geomspace getfield gradient hsplit imag inner insert inv ix_ kron linspace logspace mT matrix_power
    matrix_transpose meshgrid moveaxis multi_dot nan_to_num nanargmax nanargmin nancumprod nancumsum nanpercentile
    nanquantile ones_like packbits partition percentile permute_dims piecewise pinv polyadd polysub polyval qr
    quantile real repeat require roll rollaxis rot90 setdiff1d solve sort split swapaxes take take_along_axis
    tensorsolve tile trace trim_zeros unique unique_values unpackbits unstack vsplit zeros_like
""")
# Those of which some results are, by their places.
_KEEPING_AT = {
    **dict.fromkeys(("eig", "eigh"), (1,)),
    **dict.fromkeys(("unique_counts", "unique_inverse"), (0,)),
    **dict.fromkeys(("lstsq", "unique_all"), (0, 1)),
    **dict.fromkeys(("histogramdd", "intersect1d", "polydiv"), (1,)),
    "svd": (0, 2),
}
# Those of which each result belongs to an argument.
_KEEPING_EACH = _names("atleast_1d atleast_2d atleast_3d ix_ meshgrid")
# Functions that make arrays of the class `ndarray`, also where they return an argument.
_CONVERSIONS = _names("""
    array as_strided asarray asarray_chkfinite ascontiguousarray asfortranarray broadcast_arrays broadcast_to copy
    sliding_window_view
""")
# Functions and methods whose results NumPy gives to `__array_wrap__`, as it calls ufuncs for them, or by itself.
_WRAPPING = _names("""
    angle around average clip count_nonzero cumulative_prod cumulative_sum delete diagflat diff ediff1d fix gradient i0
    insert isclose isneginf isposinf isreal kron matrix_power mean median nan_to_num nancumprod nancumsum nanmax
    nanmean nanmedian nanmin nanprod nanstd nansum nanvar polyadd polysub polyval ptp round setdiff1d squeeze std
    trapezoid unique unique_values var
""")
_WRAPPING_ALONE = _names("inv solve")
# Those whose first argument alone decides, and the functions of which it is the second.
_INDEXED = _names(
    "__getitem__ choose compress delete insert piecewise polydiv repeat setdiff1d take take_along_axis tensorsolve"
)
_BY_SECOND = _names("compress extract lstsq polyval solve")


def _of_round(a: Any, decimals: int = 0, out: Any = None) -> dict[str, Any]:
    # NumPy scales into an array of its own, unless it rounds to integers, copies integers or takes complex parts.
    is_scaled = (a.dtype.kind == "f" and decimals != 0) or (a.dtype.kind in "iu" and decimals < 0)
    return {"keeps": not is_scaled}


def _of_unique(ar: Any, return_index: bool = False, *_: Any, axis: Any = None, **__: Any) -> dict[str, Any]:
    is_along_axis = axis is not None and ar.ndim > 1
    return {"keeps": not is_along_axis, "keeps_at": () if is_along_axis else (0, 1) if return_index else (0,)}


def _of_product(a: Any, b: Any, out: Any = None) -> dict[str, Any]:
    return {"deciding": int(_priority(b) > _priority(a))}


def _of_joining(*args: Any, **options: Any) -> dict[str, Any]:
    # NumPy asks for a priority above that of its own arrays, and tells the class of no array that it is made from.
    return {"keeps": any(_priority(x) > 0 for x in _arrays_in((args, options))), "tells_source": False}


def _of_resize(a: Any, new_shape: Any) -> dict[str, Any]:
    # NumPy joins repetitions, unless there is nothing to repeat or to fill.
    is_joined = a.size > 0 and numpy.prod(new_shape) > 0
    return {"keeps": not is_joined or _priority(a) > 0}


def _priority(x: Any) -> float:
    """Return the ``__array_priority__`` of an operand as NumPy sees it: 0 of a class that says nothing."""
    is_said = getattr(type(x), "__array_priority__", None) is not ndarray.__array_priority__  # type: ignore[attr-defined]
    return array_priority(x) if is_said else 0.0


def _of_require(a: Any, dtype: Any = None, requirements: Any = None, **_: Any) -> dict[str, Any]:
    is_plain = not {"E", "ENSUREARRAY"}.isdisjoint(r.upper() for r in requirements or ())
    return {"keeps": not is_plain, "converts": is_plain}


_OF_CALL: dict[str, Callable[..., dict[str, Any]]] = {
    **dict.fromkeys(("around", "round"), _of_round),
    **dict.fromkeys(("dot", "inner"), _of_product),
    **dict.fromkeys(
        ("append", "block", "column_stack", "concat", "concatenate", "dstack", "hstack", "stack", "vstack"), _of_joining
    ),
    "require": _of_require,
    "resize": _of_resize,
    "unique": _of_unique,
    "qr": lambda a, mode="reduced": {"keeps_at": (0,) if mode == "raw" else None},
    # The first product of a chain begins with the first matrix.
    "multi_dot": lambda arrays, **_: {"keeps": has_subclass(arrays[0])},
}
_TAKING_ITSELF = frozenset(("apply_along_axis", "array_repr"))
_METHODS_TAKING_ITSELF = _names("__format__ __repr__ dtype flags flat resize setflags shape view")

# Functions that stand for the method of their name, or of another.
CALLING_METHODS = {
    name: name
    for name in _names("""
    all any argmax argmin argpartition argsort astype choose clip cumprod cumsum diagonal max mean min nonzero partition
    prod put ravel repeat reshape round searchsorted sort squeeze std sum swapaxes take trace transpose var
""")
} | {"amax": "max", "amin": "min", "around": "round", "permute_dims": "transpose"}
# Those that convert objects of other classes first.
_CONVERTING_FIRST = _names("astype diagonal partition ravel sort trace")

# The methods of ufuncs that functions and methods of arrays stand for.
_UFUNC_METHODS = {
    **dict.fromkeys(("sum",), ("add", "reduce")),
    **dict.fromkeys(("prod",), ("multiply", "reduce")),
    **dict.fromkeys(("max", "amax"), ("maximum", "reduce")),
    **dict.fromkeys(("min", "amin"), ("minimum", "reduce")),
    "all": ("logical_and", "reduce"),
    "any": ("logical_or", "reduce"),
    "cumsum": ("add", "accumulate"),
    "cumprod": ("multiply", "accumulate"),
}

# Generalised ufuncs, which are functions of this package.
GENERALISED_UFUNCS = _names("matmul matvec vecdot vecmat")


def rule_of(name: str, ufuncs: Mapping[str, Any] = MappingProxyType({}), is_method: bool = False) -> ClassRule:
    """Return the rule of a function, or of a method or property, by its name; `ufuncs` has the ufuncs by name."""
    converts = name in _CONVERSIONS and not is_method
    keeps_all = name in _KEEPING_ALWAYS and not converts
    op, method = _UFUNC_METHODS.get(name, ("", ""))
    ufunc = (ufuncs[op], method, "") if op in ufuncs else None
    asked_of = getattr(numpy.ndarray if is_method else numpy, name) if ufunc or name == "clip" else None
    if name in GENERALISED_UFUNCS:
        ufunc = (name, "__call__", "")
    takes_itself = name in (_METHODS_TAKING_ITSELF if is_method else _TAKING_ITSELF)
    places = None if is_method else _KEEPING_AT.get(name)
    called = "" if is_method else CALLING_METHODS.get(name, "")
    keeps = keeps_all or name in _KEEPING
    deciding = 1 if name in _BY_SECOND and not is_method else 0 if name in _INDEXED else None
    return ClassRule(
        *(keeps, keeps_all, converts, takes_itself, places, name in _KEEPING_EACH, name == "diag"),
        wraps=3 if name in _WRAPPING else int(name in _WRAPPING_ALONE),
        ufunc=ufunc, method=called, deciding=deciding, of_call=_OF_CALL.get(name),
        method_of_others="" if name in _CONVERTING_FIRST else called,
        asked_of=asked_of, tells_source=name not in ("packbits", "unpackbits"),
    )  # fmt: skip


def rule_of_ufunc(ufunc: Any, method: str = "__call__", operands: str = "") -> ClassRule:
    """Return the rule of a ufunc or of its public function's name, of a method of it, or of an operator.

    See `ClassRule.ufunc`.
    """
    return ClassRule(True, True, ufunc=(ufunc, method, operands))


def has_subclass(x: Any) -> bool:
    """Return whether an argument is, or holds, an array of a subclass."""
    return any(type(array) is not ndarray for array in _arrays_in(x))


def _arrays_in(x: Any) -> Iterator[Any]:
    return (part for part in leaves(x) if isinstance(part, ndarray))


def call_for_subclass(call: Callable[..., Any], rule: ClassRule, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what a function returns for arguments of which some are of a subclass."""
    if rule.method and args and _has_own(args[0], rule.method):
        by_numpy = getattr(numpy, call.__name__)  # which calls the method, with arguments of its own
        return getattr(by_numpy, "_implementation", by_numpy)(*args, **options)
    if rule.ufunc is not None and isinstance(rule.ufunc[0], str):
        public = getattr(sys.modules[__name__.partition(".")[0]], rule.ufunc[0])
        rule = rule._replace(ufunc=(public, *rule.ufunc[1:]))
    given = list(_arrays_in((args, options)))
    arrays = [x for x in given if type(x) is not ndarray]
    asked = deciding_subclasses(arrays)
    if asked and rule.asks_class:
        return by_subclass(call, asked, args, options)
    if asked and any(x is options.get("like") for x in asked):
        others = {name: x for name, x in options.items() if name != "like"}
        return by_subclass(getattr(numpy, call.__name__), [options["like"]], args, others)
    if rule.ufunc is not None or rule.asked_of is not None:
        overriding = [x for x in arrays if type(x).__array_ufunc__ is not ndarray.__array_ufunc__]  # type: ignore[attr-defined]
        if overriding:
            if rule.asked_of is not None:
                asked = _as_numpy_asks(rule.asked_of, args, options)
                if asked is NotImplemented:
                    return NotImplemented
                if isinstance(asked, _Asked):
                    ufunc = asked.ufunc, asked.method, rule.ufunc[2] if rule.ufunc else ""
                    return by_override(ufunc, asked.inputs, asked.options, overriding)
            elif rule.ufunc is not None:
                return by_override(rule.ufunc, args, options, overriding)
    if rule.of_call is not None:
        rule = rule._replace(**rule.of_call(*args, **options))
    if not options.get("subok", True):
        rule = rule._replace(keeps=False)
    elif rule.converts and "subok" in options:
        rule = ClassRule(True, True)
    if rule.ufunc is not None and rule.ufunc[2] == "in order" and isinstance(args[-1], numpy.matrix):
        call = rule.ufunc[0]  # a matrix's own operators come before those of `ndarray` alone
    originals: dict[int, Any] = {}
    plain_args, plain_options = _plain(args, originals), _plain(options, originals)
    result = call(*plain_args, **plain_options)
    if isinstance(result, ndarray) and result.dtype.kind == "O" and args and isinstance(args[0], (list, tuple)):
        _hold_originals(result, originals)
    if result is None and args and isinstance(args[0], ndarray) and args[0].dtype.kind == "O":
        _hold_originals(args[0], originals)  # which were written to it
    if rule.deciding is not None:
        decides = list(signature(call).bind(*args, **options).arguments.values())[rule.deciding]
        arrays = [x for x in _arrays_in(decides) if type(x) is not ndarray]
        if not arrays:
            return originals[id(result)][1] if id(result) in originals else result
    if rule.keeps_each and isinstance(result, (list, tuple)):
        own_class = rule._replace(keeps_each=False)
        pairs = zip(result, args)
        return type(result)(
            _of_class(x, a, own_class, originals, (args, given)) if has_subclass(a) else x for x, a in pairs
        )
    template = max(arrays, key=_priority)
    if isinstance(result, numpy.matrix) and rule.keeps and _priority(template) > array_priority(result):
        result = as_array(numpy.asarray(result), template.device)
    return _of_class(result, template, rule, originals, (args, given))


def _has_own(x: Any, method: str) -> bool:
    """Return whether an argument is an array of a subclass that has a method of its own in the place of the array's."""
    return isinstance(x, ndarray) and getattr(type(x), method) is not getattr(ndarray, method)


def has_method_for_numpy(x: Any, method: str) -> bool:
    """Return whether NumPy's function leaves its work to the method of `x`, an object of another class that has it.

    Arrays of other libraries that share their memory are converted, and so are NumPy's arrays of classes without a
    method of their own.
    """
    kind = type(x)
    if kind in _CONVERTED_TYPES or isinstance(x, (ndarray, numpy.generic)) or is_masked_array(x):
        return False
    if isinstance(x, numpy.ndarray):
        return getattr(kind, method) is not getattr(numpy.ndarray, method)
    return not hasattr(kind, "__dlpack__") and getattr(x, method, None) is not None


_CONVERTED_TYPES = frozenset((list, tuple, bool, int, float, complex, range, numpy.ndarray))


class _Asked(NamedTuple):
    """What NumPy asks a class with an ``__array_ufunc__`` for."""

    ufunc: Any
    method: str
    inputs: tuple[Any, ...]
    options: dict[str, Any]


class _Asking(numpy.ndarray):
    """NumPy array whose class tells which ufunc it is asked for, with which arguments."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return _Asked(ufunc, method, inputs, options)


def _as_numpy_asks(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what NumPy's function asks a class for: for ``x ** 2`` the ufunc `square`, with the argument ``x``.

    The result is no `_Asked` if it asks for nothing. NumPy's operators return NotImplemented where they leave the work
    to the other operand.
    """
    originals: dict[int, Any] = {}

    def stand_in(x: Any) -> Any:
        if not isinstance(x, ndarray):
            return x
        made = numpy.broadcast_to(numpy.zeros((), x.dtype), x.shape)
        made = made if type(x) is ndarray else made.view(_Asking)
        originals[id(made)] = made, x
        return made

    found = function(*map(stand_in, args), **{k: stand_in(x) for k, x in options.items()})
    if not isinstance(found, _Asked):
        return found

    def original(x: Any) -> Any:
        if type(x) is tuple:
            return tuple(map(original, x))
        if id(x) in originals:
            return originals[id(x)][1]
        return args[0].reshape(-1) if isinstance(x, _Asking) else x  # as those that accumulate without an axis

    public = getattr(sys.modules[__name__.partition(".")[0]], found.ufunc.__name__)
    ufunc = public if hasattr(public, "nin") else found.ufunc
    keywords = {name: original(x) for name, x in found.options.items()}
    return _Asked(ufunc, found.method, original(found.inputs), keywords)


def _plain(x: Any, originals: dict[int, Any]) -> Any:
    """Return an argument with views of the class `ndarray`; `originals` gets what they are views of, by their ids."""
    if isinstance(x, ndarray):
        if type(x) is ndarray:
            return x
        known = next((view for view, original in originals.values() if original is x), None)
        view = as_class(x, ndarray, None) if known is None else known
        originals[id(view)] = view, x
        return view
    if type(x) in (list, tuple):
        return type(x)(_plain(part, originals) for part in x)
    return {key: _plain(part, originals) for key, part in x.items()} if type(x) is dict else x


def _hold_originals(x: ndarray, originals: dict[int, Any]) -> None:
    """Have an array of objects, made of sequences, hold the arrays of subclasses that were in them."""
    objects = memory_on_host(x)
    if objects is not None:
        for position in numpy.ndindex(objects.shape):
            if id(objects[position]) in originals:
                objects[position] = originals[id(objects[position])][1]


def _of_class(
    x: Any,
    template: Any,
    rule: ClassRule,
    originals: dict[int, Any],
    call: tuple[tuple[Any, ...], list[Any]],
    position: int = 0,
) -> Any:
    """Return a result with arrays of the class of `template` where the rule says so, and arguments as they were.

    `call` has the positional arguments of the call, and all its arrays; `position` is that of the result.
    """
    if rule.keeps and rule.keeps_without_dimensions and not isinstance(x, (ndarray, list, tuple)):
        x = _element_on_host(x, template)
    if isinstance(x, ndarray):
        args, given = call
        has_context = rule.ufunc is not None and rule.ufunc[1] in ("__call__", "outer")
        context = (rule.ufunc[0], args, position) if rule.ufunc is not None and has_context else None
        if id(x) in originals and not rule.converts:
            output = originals[id(x)][1]
            return output if rule.ufunc is None else wrap(output, output, context)
        if (
            not (rule.keeps or (rule.keeps_views and x.base is not None))
            or type(x) is not ndarray
            or any(x is array for array in given)
            or (is_scalar(x) and not rule.keeps_without_dimensions)
        ):
            return x
        if rule.ufunc is not None:
            return wrap(template, x, context, not x.shape)
        if rule.wraps == 1:
            return template.__array_wrap__(x)
        if rule.wraps:
            return wrap(template, x, None, not x.shape)
        return as_class(x, type(template), template if rule.tells_source else None)
    if not isinstance(x, (list, tuple)):
        return x
    if rule.keeps_at is None:
        parts = [_of_class(part, template, rule, originals, call, k) for k, part in enumerate(x)]
    else:
        rules = [ClassRule(keeps=k in rule.keeps_at) for k in range(len(x))]
        parts = [_of_class(part, template, each, originals, call) for part, each in zip(x, rules)]
    return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts) if type(x) in (list, tuple) else x


def _element_on_host(x: Any, template: Any) -> Any:
    """Return a result of a dtype that the host alone has, a scalar of NumPy or an object, as an array."""
    if not isinstance(x, numpy.generic) and template.dtype != object:
        return x
    memory = numpy.empty((), getattr(x, "dtype", object))
    memory[()] = x
    return on_host_memory(memory, template.device)


def wrap(maker: Any, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    """Return what ``maker.__array_wrap__`` makes of a result, also where it takes only the arguments of NumPy 1."""
    try:
        return maker.__array_wrap__(array, context, return_scalar)
    except TypeError as error:
        try:
            result = maker.__array_wrap__(array, context)
        except TypeError:
            result = maker.__array_wrap__(array)
        try:
            warn(_OLD_WRAP, DeprecationWarning)
        except DeprecationWarning as warning:
            raise warning from error
        return result


_OLD_WRAP = (
    "__array_wrap__ must accept context and return_scalar arguments (positionally) in the future. "
    "(Deprecated NumPy 2.0)"
)


def wrapped_result(x: ndarray, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    """Return the result of a ufunc as an array of the class of `x`. See `numpy.ndarray.__array_wrap__`."""
    return array if type(array) is type(x) else as_class(array, type(x), x)


def subclasses_first(operands: Iterable[Any]) -> list[Any]:
    """Return one operand of each class, in the order of asking: subclasses before their bases, else from the left."""
    found: list[Any] = []
    for x in operands:
        if not any(type(x) is type(y) for y in found):
            place = next((k for k, y in enumerate(found) if issubclass(type(x), type(y))), len(found))
            found.insert(place, x)
    return found


def deciding_subclasses(x: Any) -> list[Any]:
    """Return the arrays in an argument whose classes have an ``__array_function__`` of their own."""
    return [a for a in _arrays_in(x) if type(a).__array_function__ is not ndarray.__array_function__]  # type: ignore[attr-defined]


def by_subclass(call: Callable[..., Any], asked: list[Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what classes with their own ``__array_function__`` make of a call of a function. See NEP 18.

    Arrays of other classes are asked after them: they have the function called.
    """
    arrays = list(_arrays_in((asked, args, options)))
    types = tuple(dict.fromkeys(map(type, arrays)))
    for x in subclasses_first(arrays):
        result = x.__array_function__(call, types, args, options)
        if result is not NotImplemented:
            return result
    raise TypeError(
        f"no implementation found for {call.__name__!r} on types that implement __array_function__: {list(types)}"
    )


def by_override(
    ufunc: tuple[Any, str, str], args: tuple[Any, ...], options: dict[str, Any], arrays: Iterable[Any] = ()
) -> Any:
    """Return what a class with its own ``__array_ufunc__`` makes of a call of a ufunc. See NEP 13.

    Arrays of subclasses of `ndarray` are asked if they are among `arrays`.
    """
    function, method, operands = ufunc
    inputs, keywords = args, dict(options)
    if operands == "swapped":
        inputs = args[::-1]
    elif operands == "in place":
        keywords["out"] = (args[0],)
    elif method == "__call__" and len(args) > function.nin:
        inputs, keywords["out"] = args[: function.nin], args[function.nin :]
    if keywords.get("out") is not None and not isinstance(keywords["out"], tuple):
        keywords["out"] = (keywords["out"],)
    others = (*inputs, *(keywords.get("out") or ()), keywords.get("where"))
    refusing = next(filter(refuses_ufuncs, others), None)
    if refusing is not None:
        if operands:
            return NotImplemented
        raise TypeError(f"operand {type(refusing).__name__!r} does not support ufuncs (__array_ufunc__=None)")
    deciding = [x for x in others if any(x is array for array in arrays) or decides_about_ufuncs(x)]
    for x in subclasses_first(deciding):
        result = x.__array_ufunc__(function, method, *inputs, **keywords)
        if result is not NotImplemented:
            return result
    raise TypeError(f"operand type(s) all returned NotImplemented from __array_ufunc__({function!r}, {method!r}, ...)")
