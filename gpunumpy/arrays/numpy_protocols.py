"""NumPy's protocols: a NumPy function called with an `ndarray` of this package runs the function of this package."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import numpy

from ..core._native import tell, tried_first
from ..core.late_imports import import_late
from ..core.numpy_ufuncs import UFUNCS as NUMPY_UFUNCS
from ..core.ops.special import OF_SCIPY
from ..core.recording.array import host_only_memory, ndarray, to_host
from ..core.recording.lending import host_window, window_of_storage
from ..core.recording.record import decides_about_ufuncs, refuses_ufuncs
from ..functions.fallback import asks_about_function, on_host, own_function
from ..functions.host_call import HostCall
from ..functions.subclasses import call_for_subclass, has_subclass, rule_of_ufunc
from ..functions.ufuncs.python_ufunc import ufunc_on_host
from ..functions.ufuncs.ufunc import UFUNCS
from ..functions.ufuncs.ufunc import ufunc as own_ufunc
from .namespace_info import EDITIONS

# The functions of this package by NumPy's ufuncs, once they have been called; the core looks here before it asks.
_own_functions: dict[Any, Callable[..., Any]] = {}
tell(own_functions=_own_functions)
# Functions of NumPy and SciPy, by file, that step out of what `__array__` gives them, or write to it.
_WANT_MEMORY = {"as_strided": "_stride_tricks_impl.py", "_get_output": "_ni_support.py"}
_SPECIAL_FUNCTIONS = f"{__name__.partition('.')[0]}.scipy.special"


def _package() -> ModuleType:
    """Return the top module, `gpunumpy`, which modules inside it do not import."""
    return sys.modules[__name__.partition(".")[0]]


def priority(x: ndarray) -> float:
    """Return a high priority, for array classes that let a number decide whose operators run."""
    return 1000.0


def array_namespace(x: ndarray, *, api_version: str | None = None) -> ModuleType:
    """Return `gpunumpy`, the module with the functions of the array API standard."""
    if api_version is not None and api_version not in EDITIONS:
        raise ValueError(f"edition {api_version!r} of the array API is not supported; allowed: {', '.join(EDITIONS)}")
    return _package()


def is_asked_for_memory() -> bool:
    """Return whether the caller of this function's caller, an ``__array__``, wants the memory and not the elements.

    It asks as `numpy.asarray` does, which copies, and only its code tells what it does then.
    """
    code = sys._getframe(2).f_code
    return code.co_name in _WANT_MEMORY and code.co_filename.endswith(_WANT_MEMORY[code.co_name])


def array(x: ndarray, dtype: Any = None, copy: bool | None = None) -> Any:
    """Return the elements as a NumPy array: a copy, or with ``copy=False`` the memory itself, if the host has it."""
    if copy is None and is_asked_for_memory():
        return window_of_storage(x)
    if copy is not False:
        host = to_host(x)
        return host if dtype is None else host.astype(dtype, copy=False)
    memory = host_only_memory(x)
    if dtype in (None, x.dtype) and memory is not None:
        return memory.view()
    if not x.device.shares_host_memory or dtype not in (None, x.dtype):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return host_window(x)


@tried_first
def array_ufunc(x: ndarray, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """Run a NumPy ufunc on arrays of this package.

    A ufunc that is not in NumPy's namespace runs on the host, with a `HostFallbackWarning`. Where another operand
    decides, the result is NotImplemented for a class that calls this method, and for ufuncs of this package.
    """
    outputs = options.get("out", ())
    operands = (*inputs, *outputs, options.get("where"))
    if any(map(refuses_ufuncs, operands)):
        return NotImplemented
    others = list(filter(decides_about_ufuncs, operands))
    if others:
        # A subclass has been asked, and calls this method.
        is_called_by_class = type(x).__array_ufunc__ is not ndarray.__array_ufunc__  # type: ignore[attr-defined]
        if (
            is_called_by_class
            or any(isinstance(y, ndarray) for y in others)
            or ufunc is getattr(_package(), ufunc.__name__, None)
        ):
            return NotImplemented
        # NumPy has asked those on the left of this array.
        place = next(k for k, operand in enumerate(operands) if operand is x)
        return _by_other_class(list(filter(decides_about_ufuncs, operands[place:])), ufunc, method, inputs, options)
    call = _function_for(ufunc, method)
    if not outputs:
        if "where" in options and method == "__call__":
            options["out"] = None  # NumPy removes ``out=None`` from the options: the caller may have passed it
        return call(*inputs, **options)
    return call(*inputs, **options | {"out": outputs if method == "__call__" else outputs[0]})


def _by_other_class(others: list[Any], ufunc: Any, method: str, inputs: tuple[Any, ...], options: Any) -> Any:
    """Return what other classes make of a call of a ufunc.

    Those of pandas leave a ufunc that they have no operator for to any class but NumPy's, so they are asked again with
    NumPy's arrays.
    """
    for x in others:
        result = x.__array_ufunc__(ufunc, method, *inputs, **options)
        if result is not NotImplemented:
            return result
    if any(isinstance(out, ndarray) for out in options.get("out", ())):
        return NotImplemented
    run = ufunc if method == "__call__" else getattr(ufunc, method)
    call = HostCall()
    return run(*call.to_host(inputs), **call.to_host(options))


def _function_for(ufunc: Any, method: str) -> Callable[..., Any]:
    """Return the function of this package for a ufunc of NumPy or SciPy, or for a method of the ufunc."""
    if isinstance(ufunc, own_ufunc):
        return ufunc if method == "__call__" else getattr(ufunc, method)
    name = ufunc.__name__
    if NUMPY_UFUNCS.get(name) is ufunc:
        if method == "__call__":
            return _own_functions.setdefault(ufunc, getattr(_package(), name))
        if name in UFUNCS:
            return getattr(UFUNCS[name], method)
    is_found = name in OF_SCIPY or (method == "__call__" and not name.startswith("_"))
    if is_found and getattr(sys.modules.get("scipy.special._ufuncs"), name, None) is ufunc:
        own = getattr(import_late(_SPECIAL_FUNCTIONS), OF_SCIPY.get(name, name))
        return own if method == "__call__" else getattr(own, method)
    on_host_run = ufunc_on_host(ufunc, method)
    rule = rule_of_ufunc(ufunc, method)
    return lambda *args, **options: (
        call_for_subclass(on_host_run, rule, args, options)
        if has_subclass((args, options))
        else on_host_run(*args, **options)
    )


def array_function(x: ndarray, func: Any, types: Iterable[type], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a function of NumPy, or of this package, on arrays of this package, by the function of this package.

    A function that this package does not have runs on the host, with a `HostFallbackWarning`.
    """
    if not all(issubclass(kind, (ndarray, numpy.ndarray)) for kind in types):
        return NotImplemented
    root = func.__module__.partition(".")[0]
    if root == __name__.partition(".")[0] and hasattr(func, "_implementation"):
        return func._implementation(*args, **kwargs)
    if root != "numpy":
        return NotImplemented
    if asks_about_function(func, (args, kwargs)):  # a class that NumPy does not ask about this argument
        return on_host(func._implementation, "")(*args, **kwargs)
    run = own_function(func) or on_host(func, f"{func.__module__}.{func.__name__}")
    # A subclass that calls this method has been asked already.
    return getattr(run, "_implementation", run)(*args, **kwargs)
