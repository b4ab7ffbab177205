"""The stubs of `gpunumpy.scipy`: names, parameters and defaults as SciPy's functions tell them.

SciPy has no types of its own. A parameter is `Any`; a result is an array where the docstring promises that and nothing
else; a class keeps the parameters that make an object, and anything may be done with the object.
"""

from __future__ import annotations

import inspect
import keyword
import re
import types
from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy
import scipy  # type: ignore[import-untyped]

import gpunumpy.scipy as package
from gpunumpy.core.recording.array import ndarray
from gpunumpy.functions.ufuncs.ufunc import ufunc
from gpunumpy.scipy import modules

from .signatures import StubFunction, StubParameter
from .source import completed

FOLDERS = ("", "cluster", "optimize", "signal", "sparse", "spatial", "special", "stats")
NESTED = (
    *("cluster.hierarchy", "cluster.vq", "optimize.elementwise", "signal.windows", "sparse.csgraph", "sparse.linalg"),
    *("spatial.distance", "spatial.transform", "stats.contingency", "stats.mstats", "stats.qmc"),
)
_MODULES = (*modules.NAMES, *NESTED)
# Modules that SciPy documents and lists in no ``__all__``.
_UNLISTED = {"linalg": ("blas", "lapack")}
_NOTICE = (
    f"# Made by tools/stubs with SciPy {scipy.__version__}; CONTRIBUTING.md says how.\n"
    # Classes are of anything, as their methods are SciPy's, and so is what some constants hide.
    '# mypy: disable-error-code="misc, override"\n'
)
_UFUNC_CLASSES = {1: "_Unary", 2: "_Binary"}
_ONE_ARRAY = re.compile(r"(?:ndarray|array)\b(?!.*\b(?:or|scalar|float|int|list)\b)")
_PLAIN = (bool, int, float, complex, str)


def scipy_stubs() -> dict[str, str]:
    """The source of every stub, not formatted, by its path inside of the package."""
    return {path_of(module): _NOTICE + _stub(module) for module in ("", *_MODULES)}


def path_of(module: str) -> str:
    """Return where the stub of a module of SciPy's is, inside of the package."""
    base = f"scipy/{module.replace('.', '/')}".rstrip("/")
    return f"{base}/__init__.pyi" if module in FOLDERS else f"{base}.pyi"


def public_names(module: str) -> list[str]:
    """Return the names in a stub: modules that SciPy keeps for old names are left out."""
    if not module:
        return sorted(modules.NAMES)
    listed = {"special": package.special.__all__}.get(module) or modules.public_names(module)
    return sorted({*(name for name in listed if not _is_old_module(module, name)), *_UNLISTED.get(module, ())})


def found_at(module: str, name: str = "") -> Any:
    """Return what the package has under a name of a module of SciPy's."""
    return reduce(getattr, [part for part in (*module.split("."), name) if part], package)


def _is_old_module(module: str, name: str) -> bool:
    return isinstance(found_at(module, name), types.ModuleType) and f"{module}.{name}" not in NESTED


def _stub(module: str) -> str:
    names = public_names(module)
    lines = [line for name in names for line in _lines(module, name)]
    return completed("\n".join([*lines, f"__all__ = {names!r}"]), depth=path_of(module).count("/"))


def _lines(module: str, name: str) -> Iterator[str]:
    found = found_at(module, name)
    if isinstance(found, types.ModuleType):
        yield f"from . import {name} as {name}" if f"{module}.{name}".lstrip(".") in _MODULES else f"{name}: ModuleType"
    elif isinstance(found, ufunc):
        yield f"{name}: {_UFUNC_CLASSES[found.nin]}"
    elif isinstance(found, type):
        base = next((kind.__name__ for kind in (Warning, Exception) if issubclass(found, kind)), "Any")
        yield f"class {name}({base}):"
        made = parameters(found)
        yield "    ..." if made is None else f"    {StubFunction(made, 'None').text('__init__', method=True)}"
    elif isinstance(found, _PLAIN):
        yield f"{name}: {type(found).__name__}"
    elif callable(found) and (made := parameters(found)) is not None:
        yield StubFunction(made, result(found)).text(name, method=False)
    else:
        yield f"{name}: Any"


def parameters(function: Any) -> tuple[StubParameter, ...] | None:
    """Return the parameters of a function, or of what makes an object; None if it does not tell them."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(keyword.iskeyword(p.name) for p in found):
        return None
    return tuple(StubParameter(p.name, p.kind, "Any", _default(p.default)) for p in found)


def _default(value: Any) -> str | None:
    if value is inspect.Parameter.empty:
        return None
    is_literal = value is None or (type(value) in _PLAIN and numpy.isfinite(value if type(value) is not str else 0))
    return repr(value) if is_literal else "..."


def result(function: Any) -> str:
    """Return `ndarray` if a docstring in NumPy's form names one result, which is an array; else `Any`."""
    if getattr(function, "__annotations__", {}).get("return") in (ndarray, "ndarray"):
        return "ndarray"
    text = inspect.getdoc(function) or ""
    section = re.search(r"^Returns\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    entries = re.findall(r"^(?:\w+ ?: ?)?(\S.*)$", section[1], re.MULTILINE) if section else []
    return "ndarray" if len(entries) == 1 and _ONE_ARRAY.match(entries[0]) else "Any"
