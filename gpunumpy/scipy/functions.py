"""Functions of SciPy for arrays of this package: where each call runs.

Arrays in the memory of a GPU go to this package's own function where it has one, and else to the function of that name
in `cupyx.scipy`. Where that is missing or refuses the arguments, SciPy computes: on the device, if the function was
written for arrays of any library and ``SCIPY_ARRAY_API=1`` says that it may take them, and else on the host, which a
`HostFallbackWarning` tells. Arrays that are on the host are SciPy's at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from types import FunctionType
from typing import Any, NamedTuple

from ..core.late_imports import import_late
from ..core.source_location import call_for_user
from ..functions.fallback import observed_fallback, report
from .counterparts import Counterpart, counterpart_of, own_of, why_none
from .cupy_library import cupy
from .cupy_transfer import CupyTransfer
from .filters import lfilter, sosfilt
from .held import Held
from .host_transfer import HostTransfer
from .sparse_formats import is_sparse
from .transfer import TwoDevicesError, gpu_of

# What a library raises for arguments that SciPy may take on the host, or for lack of a package that it needs. SciPy is
# then asked, and raises what it has against them.
_REFUSALS = (AttributeError, ImportError, NotImplementedError, RuntimeError, TypeError, ValueError)


class _Route(NamedTuple):
    """What computes a function on a GPU."""

    own: Counterpart | None
    of_cupy: Counterpart | None
    takes_any_array: bool
    with_state: Callable[..., Any] | None


# Functions of this package that begin with a state, `zi`, and call the function of `cupyx.scipy` without one.
_WITH_STATES: dict[tuple[str, str], Callable[..., Any]] = {
    ("signal", "lfilter"): lfilter,
    ("signal", "sosfilt"): sosfilt,
}
# Routes by module and name.
_routes: dict[tuple[str, str], _Route] = {}


def handed_over(function: Any, path: str, name: str) -> Callable[..., Any]:
    """Return a function, or a class, of SciPy's as a function for arrays of this package.

    Parameters
    ----------
    function : callable
        SciPy's.
    path : str
        The module that has it, such as "sparse.linalg".
    name : str
        Its name there; that of a function of a class comes after the class's.
    """
    key = path, name

    @wraps(function, updated=())
    def run(*args: Any, **options: Any) -> Any:
        gpu = gpu_of(args) or (gpu_of(options.values()) if options else None)
        if gpu is None:
            return HostTransfer().call(function, args, options)
        route = _routes.get(key) or _routes.setdefault(key, _route(function, path, name))
        reason = ""
        if route.with_state is not None:
            given = _bound(function, args, options)
            if given is not None and (made := route.with_state(run, gpu, **given)) is not None:
                return made
        if route.own is not None:
            fitted = route.own.arguments(args, options)
            if fitted is not None:
                return route.own.function(*fitted[0], **fitted[1])
        if route.of_cupy is not None:
            fitted = route.of_cupy.arguments(args, options)
            if fitted is None:
                reason = "cupyx.scipy has none of these parameters"
            else:
                transfer = CupyTransfer(gpu)
                try:
                    return transfer.call(route.of_cupy.function, *fitted)
                except _REFUSALS as error:
                    if transfer.has_called_back or isinstance(error, TwoDevicesError):  # or it may be the program's
                        raise
                    reason = f"cupyx.scipy says {error}"
        elif route.takes_any_array:
            try:
                return call_for_user(function, *args, **options)
            except _REFUSALS as error:
                reason = f"SciPy says {error}"
        report(full_name := f"scipy.{path}.{name}", "SciPy", reason or why_none())
        with observed_fallback(full_name, args, options):
            return HostTransfer(gpu).call(function, args, options)

    run.__module__, run.__qualname__ = f"gpunumpy.scipy.{path}", name
    return run


def _route(function: Any, path: str, name: str) -> _Route:
    of_cupy = counterpart_of(function, path, name)
    with_state = None if of_cupy is None else _WITH_STATES.get((path, name))
    return _Route(own_of(function, path, name), of_cupy, takes_any_array(function), with_state)


def _bound(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any] | None:
    """Return the arguments of a filter by their names; None for arguments that it does not take, or without a state."""
    try:
        given = signature(function).bind(*args, **options).arguments
    except TypeError:
        return None
    return given if given.get("zi") is not None else None


def call_method(held: Held, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call a method of an object of SciPy's or of `cupyx.scipy`, and return its result."""
    gpu = held._gpu or gpu_of(args) or gpu_of(options.values())
    if gpu is None:
        transfer = held._transfer.anew()
        return transfer.call(getattr(transfer.to_library(held), name), args, options)
    if held._gpu is None and not is_sparse(held._inner):
        reason = "its object is there"
    elif cupy() is None:
        reason = why_none()
    else:
        on_gpu = CupyTransfer(gpu)
        try:
            return on_gpu.call(getattr(on_gpu.to_library(held), name), args, options)
        except _REFUSALS as error:
            if on_gpu.has_called_back or isinstance(error, TwoDevicesError) or not is_sparse(held._inner):
                raise
            reason = f"cupyx.scipy says {error}"
    report(full_name := f"{type(held).__name__}.{name}", "SciPy", reason)
    on_host = HostTransfer(gpu)
    with observed_fallback(full_name, args, options):
        return on_host.call(getattr(on_host.to_library(held), name), args, options)


def takes_any_array(function: Any) -> bool:
    """Return whether SciPy computes a function, which is no class's, where the arrays of any library are, and may."""
    if not isinstance(function, FunctionType) or "." in function.__qualname__:
        return False
    if function.__module__.startswith("scipy.special."):  # it copies arrays of libraries that it does not know
        return False
    api = import_late("scipy._lib._array_api")
    known = getattr(api, "xp_capabilities_table", {}).get(function)
    return bool(api.SCIPY_ARRAY_API) and known is not None and not (known["cpu_only"] or known["np_only"])
