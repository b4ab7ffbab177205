"""Functions of SciPy for arrays of this package: where each call runs.

Arrays in the memory of a GPU go to this package's own function where it has one, and else to the function of that name
in `cupyx.scipy`. Where that is missing or refuses the arguments, SciPy computes: on the device, if the function was
written for arrays of any library and ``SCIPY_ARRAY_API=1`` says that it may take them, and else on the host, which a
`HostFallbackWarning` tells. Arrays that are on the host are SciPy's at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

from ..core.late_imports import import_late
from ..core.source_location import call_for_user
from ..functions.fallback import report
from .counterparts import counterpart_of, own_of, why_none
from .cupy_library import cupy
from .cupy_transfer import CupyTransfer
from .held import Held
from .host_transfer import HostTransfer
from .sparse_formats import is_sparse
from .transfer import gpu_of

# What `cupyx.scipy` raises for arguments that SciPy may take. SciPy then says what is wrong with them, if anything is.
_REFUSALS = (AttributeError, NotImplementedError, TypeError, ValueError)


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

    @wraps(function, updated=())
    def run(*args: Any, **options: Any) -> Any:
        gpu = gpu_of(args) or gpu_of(options.values())
        if gpu is None:
            return HostTransfer().call(function, args, options)
        own = own_of(function, path, name)
        own_arguments = None if own is None else own.arguments(args, options)
        if own is not None and own_arguments is not None:
            return own.function(*own_arguments[0], **own_arguments[1])
        counterpart = counterpart_of(function, path, name)
        reason = why_none(path)
        if counterpart is not None:
            fitted = counterpart.arguments(args, options)
            if fitted is not None:
                transfer = CupyTransfer(gpu)
                try:
                    return transfer.call(counterpart.function, *fitted)
                except _REFUSALS as error:
                    if transfer.has_called_back:  # the error may be the program's
                        raise
                    reason = f"cupyx.scipy says {error}"
            else:
                reason = "cupyx.scipy has none of these parameters"
        elif takes_any_array(function):
            return call_for_user(function, *args, **options)
        report(f"scipy.{path}.{name}", "SciPy", reason)
        return HostTransfer(gpu).call(function, args, options)

    run.__module__, run.__qualname__ = f"gpunumpy.scipy.{path}", name
    return run


def call_method(held: Held, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call a method of an object of SciPy's or of `cupyx.scipy`, and return its result."""
    gpu = held._gpu or gpu_of(args) or gpu_of(options.values())
    if gpu is None:
        transfer = held._transfer.anew()
        return transfer.call(getattr(transfer.to_library(held), name), args, options)
    if held._gpu is None and not is_sparse(held._inner):
        reason = "its object is there"
    elif cupy() is None:
        reason = why_none("")
    else:
        on_gpu = CupyTransfer(gpu)
        try:
            return on_gpu.call(getattr(on_gpu.to_library(held), name), args, options)
        except _REFUSALS as error:
            if on_gpu.has_called_back or not is_sparse(held._inner):
                raise
            reason = f"cupyx.scipy says {error}"
    report(f"{type(held).__name__}.{name}", "SciPy", reason)
    on_host = HostTransfer(gpu)
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
