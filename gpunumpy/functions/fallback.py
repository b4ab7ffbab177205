"""NumPy's functions on the host, for names that have no device implementation; a warning says which.

A wrapped function gets NumPy arrays in place of gpunumpy arrays and returns gpunumpy arrays in place of NumPy arrays:
see `host_call`.
"""

from __future__ import annotations

import inspect
import os
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import date, timedelta
from functools import cache, partial, wraps
from typing import Any

import numpy

from ..core import dtypes
from ..core._native import tell
from ..core.class_stand_ins import StandInMeta
from ..core.errors import HostFallbackWarning, allowed
from ..core.late_imports import import_late
from ..core.nesting import leaf_types, leaves
from ..core.recording.array import (
    ON_HOST,
    SUBCLASSES,
    host_only_memory,
    ndarray,
)
from ..core.recording.record import (
    decides_about_functions,
    decides_about_ufuncs,
    is_masked_class,
)
from ..core.runtime import host_work
from ..core.runtime.device import Device
from ..core.source_location import call_for_user, warn
from .host_call import HostCall, arrays_in
from .subclasses import by_override, by_subclass, deciding_subclasses, subclasses_first
from .successors import SUCCESSORS

__all__ = ["host_fallback"]

# How the error begins where no class that is asked about a function has an answer.
_NO_ANSWER = ("no implementation found", "operand type(s) all returned NotImplemented from __array_ufunc__")
# What messages call a write that NumPy does, one element after the other.
WRITE_TO_OVERLAP = "a write to a view whose elements overlap"

_ACTIONS = ("warn", "error", "ignore")
_action = os.environ.get("GPUNUMPY_HOST_FALLBACK") or "warn"
if _action not in _ACTIONS:
    raise ValueError(f"GPUNUMPY_HOST_FALLBACK={_action!r}; {allowed(_ACTIONS)}")
tell(fallback_refused=_action == "error")
_warned: set[str] = set()
# Installed by the report of a script: called with what runs on the host, by which library and why, at every call.
observer: Callable[[str, str, str], None] | None = None

# Names that neither take nor make gpunumpy arrays.
_PLAIN = frozenset(
    (
        *("base_repr", "binary_repr", "format_float_positional", "format_float_scientific", "format_parser"),
        *("get_printoptions", "printoptions", "set_printoptions", "getbufsize", "setbufsize", "geterr", "seterr"),
        *("geterrcall", "seterrcall", "get_include", "issubdtype", "show_runtime"),
        *(
            "make_mask_descr",
            "normalize_axis_index",
            "normalize_axis_tuple",
            "opt_func_info",
            "set_default_printstyle",
            "typename",
        ),
        *("as_ctypes_type", "load_library", "ndpointer"),
    )
)
# Names and modules for what never is on a device: files, texts, dates, records. They run without a warning.
_HOST_NAMES = frozenset(
    (
        *("busday_count", "busday_offset", "chararray", "datetime_as_string", "datetime_data", "is_busday", "isnat"),
        *("array2string", "array_repr", "array_str"),
        *("flatten_mask", "frompyfunc", "info", "memmap", "ndenumerate", "poly1d", "recarray"),
        *("fromfile", "fromregex", "genfromtxt", "load", "loadtxt", "save", "savetxt", "savez", "savez_compressed"),
        *("dump", "dumps", "toflex", "tofile", "torecords"),
    )
)
_HOST_MODULES = frozenset(
    ("numpy.char", "numpy.rec", "numpy.strings", "numpy.lib.format", "numpy.lib.npyio", "numpy.lib.recfunctions")
)
# Modules in which NumPy defines what programs find in the one around it.
_INNER = ("core", "extras")
# Classes that hold arrays: what they hold are NumPy arrays. Calls of `matrix` alone are reported: the others are of
# files and records, look at elements one by one as the program asks, or hold a few coefficients.
_HOLDERS = frozenset(("chararray", "matrix", "memmap", "ndenumerate", "poly1d", "recarray"))
# Implementations of this package for functions in NumPy's inner modules, and for objects, by NumPy's full name.
OWN_FUNCTIONS: dict[str, Any] = {}
# What runs for masked arrays: a layer above, imported at first need.
_MASKED_CALLS = "..ma.protocols"
# Functions and methods whose results show the memory of their argument, as a dtype or a class of NumPy's.
_MAKERS_OF_VIEWS = (numpy.ndarray.view, numpy.ndarray.getfield, numpy.asmatrix)
# Values of keywords that NumPy shows under private names: the modes of `copy=`, and what stands for none at all.
_KEYWORD_NAMES = ("_CopyMode", "_NoValue")
# Modules in which nothing takes an array.
_PLAIN_MODULES = frozenset(("dtypes", "exceptions", "version"))


def host_fallback(action: str | None = None) -> str:
    """Return what happens when a function runs through NumPy on the host; with an argument, set that first.

    Parameters
    ----------
    action : {"warn", "error", "ignore"}, optional
        "warn" issues a `HostFallbackWarning` once per function, "error" raises it. The environment variable
        ``GPUNUMPY_HOST_FALLBACK`` sets the initial action.
    """
    global _action
    if action is not None:
        if action not in _ACTIONS:
            raise ValueError(f"{action!r} is no action; {allowed(_ACTIONS)}")
        _action = action
        tell(fallback_refused=_action == "error")
    return _action


_WHY_NONE = "it has no device implementation yet"
_WHY_NONE_OF_MASKED = "it has no device implementation for masked arrays"


def report(name: str, library: str = "NumPy", reason: str = _WHY_NONE) -> None:
    """Warn, once per name, that a function runs on the host; raise the warning if the action is "error".

    Parameters
    ----------
    name : str
        The function.
    library : str
        What computes it.
    reason : str
        Why it is not computed on the device.
    """
    if observer is not None:
        observer(name, library, reason)
    if _action == "error":
        raise HostFallbackWarning(f"{name} would run through {library} on the host: {reason}")
    if _action == "warn" and name not in _warned:
        text = (
            f"{name} runs through {library} on the host: {reason}. "
            "gpunumpy.host_fallback(action) silences this, or makes it an error"
        )
        warn(text, HostFallbackWarning)
        _warned.add(name)  # not before: a warning that a filter makes an error is one every time


def observed_fallback(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> AbstractContextManager[Any]:
    """Return a context manager in which a function that was reported runs; without a name, nothing is told of it."""
    if not name or host_work.observer is None:
        return nullcontext()
    return host_work.observed("fallback", name, nbytes=sum(x.nbytes for x in arrays_in((*args, *options.values()))))


def holds_host_data(x: Any) -> bool:
    """Return whether an argument is on the host for its dtype, or holds such data in lists, tuples or dicts."""
    return any(map(_is_host_data, leaves(x)))


def _is_host_data(x: Any) -> bool:
    if isinstance(x, ndarray):
        return host_only_memory(x) is not None
    if isinstance(x, (numpy.ndarray, numpy.generic)):
        return x.dtype not in dtypes.KIND
    return isinstance(x, (date, timedelta))


def holds_masked_array(x: Any) -> bool:
    """Return whether an argument is a masked array, or holds one in lists, tuples or dicts."""
    return any(map(is_masked_class, leaf_types(x)))


def _name_with_masked(function: Any, x: Any) -> str:
    """Return what messages call a function of arguments some of which are masked arrays; "" if none is on the device.

    What makes texts and files says nothing.
    """
    if isinstance(function, (types.MethodWrapperType, types.MethodType)):  # of attributes, or objects as `ma.around`
        function = function.__self__ if hasattr(function.__self__, "__name__") else function
    if function.__name__ in _HOST_NAMES or not any(map(is_on_device, leaves(x))):
        return ""
    module = getattr(function, "__module__", None) or "numpy"
    public = ".".join(part for part in module.split(".") if not part.startswith("_") and part not in _INNER)
    name = getattr(function, "__qualname__", function.__name__).removesuffix(".__call__")
    return f"{_own_module(public)}.{name}" if public.startswith("numpy") else name


def is_on_device(x: Any) -> bool:
    """Return whether an object is an array, masked or not, whose data is on a device."""
    data = x._data if hasattr(type(x), "is_masked_array") else x
    return isinstance(data, ndarray) and not data._flags & ON_HOST


def asks_a_class(args: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Return whether a ufunc leaves a call to the class of an argument, which then gets the arrays themselves."""
    out = options.get("out")
    return any(map(decides_about_ufuncs, (*args, *(out if isinstance(out, tuple) else (out,)), options.get("where"))))


def asks_about_function(function: Any, x: Any) -> bool:
    """Return whether NumPy's function leaves a call to the class of an argument, also of one in lists and the like."""
    return hasattr(function, "_implementation") and any(map(decides_about_functions, _asked(x)))


def _asked(x: Any) -> Iterator[Any]:
    """Yield the arguments, also in lists and the like, that have an ``__array_function__``."""
    return (part for part in leaves(x) if hasattr(type(part), "__array_function__"))


def by_other_class(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any], **like: Any) -> Any:
    """Return what the class of an argument makes of a call of NumPy's function or ufunc.

    A class of the program may know the function of this package instead, by the name that the program calls it.
    """
    try:
        return call_for_user(function, *args, **options, **like)
    except TypeError as error:
        if not str(error).startswith(_NO_ANSWER):
            raise
        if isinstance(function, numpy.ufunc):
            return by_override((own_function(function), "__call__", ""), args, options)
        own, asked = own_function(function), list(_asked((like, args, options)))
        types = tuple(dict.fromkeys(map(type, asked)))
        for x in subclasses_first(filter(decides_about_functions, asked)):
            result = x.__array_function__(own, types, args, options)
            if result is not NotImplemented:
                return result
        raise


def has_unasked_class(error: Exception, x: Any) -> bool:
    """Return whether an argument is of a class that decides about functions, and whose answer the error is not."""
    if not any(map(decides_about_functions, _asked(x))) or str(error).startswith(_NO_ANSWER):
        return False
    step = error.__traceback__
    while step is not None and step.tb_frame.f_code.co_name != "__array_function__":
        step = step.tb_next
    return step is None


def own_function(function: Any) -> Any:
    """Return what this package has under the name of a function of NumPy; None if it has nothing."""
    found: Any = sys.modules[__name__.partition(".")[0]]
    for name in (*function.__module__.split(".")[1:], function.__name__):
        found = getattr(found, name, None)
    return found


def _for_scalar(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Return a function; if it is a method of arrays and the first argument a NumPy scalar, the scalar's method."""
    if args and isinstance(args[0], numpy.generic) and isinstance(function, types.MethodDescriptorType):
        return getattr(type(args[0]), function.__name__)
    return function


def on_host(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a function that runs NumPy's `function` over gpunumpy arrays.

    Messages call it `name`. Without a name there are none, but of masked arrays on the device, for which functions that
    the device has run on the host. An argument `device` says where results go.
    """

    @wraps(function, updated=())
    def run(*args: Any, **options: Any) -> Any:
        if SUBCLASSES and asks_classes and (asked := deciding_subclasses((args, options))):
            return by_subclass(run, asked, args, options)
        if SUBCLASSES and (asked := deciding_subclasses(options.get("like"))):  # of readers of files
            others = {option: x for option, x in options.items() if option != "like"}
            return by_subclass(function, asked, args, others)
        return unasked(*args, **options)

    def unasked(*args: Any, **options: Any) -> Any:
        is_masked = holds_masked_array((args, options))
        if is_masked:
            result = import_late(_MASKED_CALLS, __package__).call(function, args, options)
            if result is not NotImplemented:
                return result
        is_ufunc = isinstance(function, numpy.ufunc)
        if asks_a_class(args, options) if is_ufunc else asks_about_function(function, (args, options)):
            return by_other_class(function, args, options)
        reported = name or (_name_with_masked(function, (args, options)) if is_masked else "")
        if holds_host_data((args, options)):
            reported = ""
        if reported:
            report(reported, reason=_WHY_NONE if name else _WHY_NONE_OF_MASKED)
        device = options.pop("device", None)
        with observed_fallback(reported, args, options):
            call = HostCall(None if device is None else Device(device), lends=function in _MAKERS_OF_VIEWS)
            host_args, host_options = call.arguments(args, options)
            result = call.run(_for_scalar(function, host_args), host_args, host_options)
            call.write_back()
            return call.from_host(result)

    asks_classes = hasattr(function, "_implementation")
    if asks_classes:
        run._implementation = unasked  # type: ignore[attr-defined]
    return run


@cache
def _made_on_host(function: Callable[..., Any]) -> Callable[..., Any]:
    return on_host(function, "")


def _run_on_host(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    return _made_on_host(function)(*args, **options)


def late_on_host(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `on_host` of a function, without messages, that is made at its first call: most are never called."""
    return partial(_run_on_host, function)


class _ReportingMeta(StandInMeta):
    """Metaclass of classes that stand for a NumPy class: they make, and recognize, instances of that class."""

    ORIGINAL = "numpy_class"
    numpy_class: type

    def __call__(cls, *args: Any, **options: Any) -> Any:
        """Report, and return an instance of the NumPy class, which holds copies of gpunumpy arrays."""
        reported = ""
        if cls.__name__ not in _HOST_NAMES and not holds_host_data((args, options)):
            reported = f"{cls.__module__}.{cls.__name__}"
            report(reported)
        with observed_fallback(reported, args, options):
            host_args, host_options = HostCall().arguments(args, options)
            return call_for_user(cls.numpy_class, *host_args, **host_options)

    def __instancecheck__(cls, x: Any) -> bool:
        """Return whether `x` is an instance of the NumPy class."""
        return isinstance(x, cls.numpy_class)

    def __subclasscheck__(cls, subclass: type) -> bool:
        """Return whether a class is a subclass of the NumPy class."""
        return subclass is cls or issubclass(subclass, cls.numpy_class)


@cache
def _reporting(numpy_class: type) -> type:
    """Return a class that stands for a NumPy class and reports its calls: a mere look at its name says nothing.

    It is a subclass, for ``x.view(matrix)``.
    """
    namespace: dict[str, Any] = {"numpy_class": numpy_class, "__doc__": numpy_class.__doc__}
    namespace["__module__"] = _own_module(numpy_class.__module__)
    namespace["__signature__"] = inspect.signature(numpy_class)
    return _ReportingMeta(numpy_class.__name__, (numpy_class,), namespace)


# The array methods that run through NumPy on the host.
HOST_METHODS = ("dump", "dumps", "tofile")


def on_host_method(name: str, cls: type = numpy.ndarray, class_name: str = "ndarray") -> Callable[..., Any]:
    """Return a method of NumPy's arrays, or of another class of NumPy, for gpunumpy arrays."""
    return on_host(getattr(cls, name), "" if name in _HOST_NAMES else f"{class_name}.{name}")


# What `lookup` has found, by NumPy's module and the name.
_FOUND: dict[tuple[str, str], Any] = {}


def lookup(module: str, name: str) -> Any:
    """Return what a NumPy module has under a name, with functions wrapped to run on the host.

    Raises
    ------
    AttributeError
        If the module has nothing of that name, or the name is private.
    """
    original = _original(module, name)
    if (module, name) not in _FOUND:
        _FOUND[module, name] = _own(module, name, original)
    return _FOUND[module, name]


def _original(module: str, name: str) -> Any:
    """Return what a NumPy module itself has under a name. It may warn of a name whenever it is asked for it."""
    numpy_module = import_late(module)
    missing = f"module {_own_module(module)!r} has no attribute {name!r}"
    if name.startswith("_") and name not in _KEYWORD_NAMES:
        raise AttributeError(missing)
    if name in vars(numpy_module):
        return vars(numpy_module)[name]
    try:
        return call_for_user(getattr, numpy_module, name)
    except AttributeError as error:
        # NumPy tells what has taken the place of a name that it has removed, such as ``float_``.
        advice = str(error)
        is_told = any(word in advice for word in ("removed", "deprecated", "private"))
        successor = SUCCESSORS.get(module, {}).get(name)
        advice = advice if is_told else f"{missing}; use {successor}" if successor else missing
        raise AttributeError(advice) from None


def _own(module: str, name: str, original: Any) -> Any:
    """Return what stands here for what a NumPy module has under a name."""
    native = OWN_FUNCTIONS.get(f"{module}.{name}")
    if native is not None:
        return native
    if isinstance(original, types.ModuleType):
        return original if name in _PLAIN_MODULES else namespace(original.__name__)
    if isinstance(original, type):
        return _reporting(original) if name in _HOLDERS else original
    if not callable(original) or name in _PLAIN:
        return original
    if module != "numpy" and original is vars(numpy).get(name):  # as `numpy.strings.add` is `numpy.add`
        return getattr(sys.modules[__name__.partition(".")[0]], name)
    reported = "" if name in _HOST_NAMES or module in _HOST_MODULES else f"{_own_module(module)}.{name}"
    return on_host(original, reported)


def _own_module(module: str) -> str:
    """Return the name of the module that stands here for a module of NumPy."""
    return "gpunumpy" + module.removeprefix("numpy")


def namespace(module: str) -> types.ModuleType:
    """Return a module like a NumPy module, whose functions run on the host and take and return gpunumpy arrays."""

    def find(name: str) -> Any:
        return import_late(module).__all__ if name == "__all__" else lookup(module, name)

    own_module = types.ModuleType(_own_module(module))
    own_module.__getattr__ = find  # type: ignore[method-assign]
    own_module.__dir__ = lambda: public_names(module)  # type: ignore[method-assign]
    own_module.__path__ = []  # a package: it may contain modules, none of which is a file
    return own_module


def public_names(module: str) -> list[str]:
    """Return the public names of a NumPy module."""
    return [name for name in dir(import_late(module)) if not name.startswith("_")]
