"""The stub of each public module, name by name."""

from __future__ import annotations

import inspect
import sys
import types
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy

import gpunumpy
from gpunumpy.functions.indexing.elements import flatiter
from gpunumpy.functions.sets import unique
from gpunumpy.linalg import decompositions, solvers
from gpunumpy.random.seeding import SEEDED

from . import classes, numpy_stubs
from .signatures import definition
from .source import completed
from .unions import CHOICES

# Public modules: folders of this package, of which NumPy has none of some; modules of NumPy whose functions take and
# give arrays of this package; and modules with nothing in them that does.
WITHOUT_NUMPY = ("distributed",)
OWN = ("", "linalg", "fft", "random", *WITHOUT_NUMPY)
HOSTED = (
    *("char", "lib", "lib.array_utils", "lib.format", "lib.introspect", "lib.mixins", "lib.npyio"),
    *("lib.recfunctions", "lib.scimath", "lib.stride_tricks", "ma", "polynomial", "polynomial.chebyshev"),
    *("polynomial.hermite", "polynomial.hermite_e", "polynomial.laguerre", "polynomial.legendre"),
    *("polynomial.polynomial", "rec", "strings"),
)
NUMPY_MODULES = ("ctypeslib", "dtypes", "exceptions", "f2py", "version")
_FOLDERS = (*OWN, "lib", "ma", "polynomial")

# Modules that have no stub of their own: files of this package, and another's second name.
_MODULES = {
    "cuda": ("from . import cuda as cuda",),
    "emath": ("from .lib import scimath as _emath", "emath = _emath"),
    "testing": ("from . import testing as testing",),
    "typing": ("from . import typing as typing",),
}

_NOTICE = (
    f"# Made by tools/stubs with NumPy {numpy.__version__}; CONTRIBUTING.md says how.\n"
    # ``==`` gives an array; generators give arrays of this package where NumPy's give its own; numbers are array-like.
    '# mypy: disable-error-code="override, overload-overlap"\n'
)
_HEAD = Path(__file__).with_name("head.pyi.in").read_text(encoding="utf-8")
_WRITTEN_BY_HAND = ("bfloat16", "float4_e2m1fn", "float8_e4m3fn", "float8_e5m2", "mgrid", "ogrid")

# The classes in `head.pyi.in` whose calls are those of a ufunc, by the numbers of its arguments and results.
_UFUNC_CLASSES = {(1, 1): "_Unary", (2, 1): "_Binary", (1, 2): "_UnaryPair", (2, 2): "_BinaryPair"}


def stubs() -> dict[str, str]:
    """The source of every stub, not formatted, by its path inside of the package."""
    return {_path(module): _NOTICE + _stub(module) for module in (*OWN, *HOSTED, *NUMPY_MODULES)}


def _path(module: str) -> str:
    base = module.replace(".", "/")
    return f"{base}/__init__.pyi".lstrip("/") if module in _FOLDERS else f"{base}.pyi"


def _stub(module: str) -> str:
    if module in NUMPY_MODULES:
        return f"from numpy.{module} import *\n"
    names = _public_names(module)
    again: dict[str, list[str]] = defaultdict(list)  # names that are imported, by the modules that have them
    lines = [*_first_lines(module), *(line for name in names for line in _lines(module, name, again))]
    if module == "ma":  # whose class is not NumPy's
        lines = [line.replace("numpy.ma.MaskedArray", "MaskedArray") for line in lines]
    lines += (f"from {place} import {', '.join(f'{n} as {n}' for n in found)}" for place, found in again.items())
    return completed("\n".join([*lines, f"__all__ = {names!r}"]), depth=_path(module).count("/"))


def _public_names(module: str) -> list[str]:
    found = import_module(f"gpunumpy.{module}".rstrip("."))
    listed = getattr(found, "__all__", None) or dir(found)
    return sorted(name for name in listed if not name.startswith("__") or name == "__array_namespace_info__")


def _first_lines(module: str) -> Iterator[str]:
    """The lines of what has no public name, and of classes that no rule makes."""
    if module == "":
        yield from (_HEAD, "from . import version as version")
        yield from (f"{name}: TypeAlias = Literal{list(values)}" for name, values in CHOICES.items())
        yield from classes.array_class()
        yield from (*classes.own_class("_Flat", flatiter), "    base: ndarray")
        yield from classes.ufunc_class()
        yield from classes.limits_class()
    elif module == "random":
        yield "class PhiloxGPU(numpy.random.Philox): ..."
    for place in {"": (unique,), "linalg": (decompositions, solvers)}.get(module, ()):
        for name in sorted(vars(place)):
            if name.endswith("Result") and vars(place)[name].__module__ == place.__name__:
                yield from classes.tuple_class(f"_{name}", vars(place)[name])


def _lines(module: str, name: str, again: dict[str, list[str]]) -> Iterator[str]:
    """The lines of one name; one that is only to be imported is added to `again`."""
    place, numpy_module = f"gpunumpy.{module}".rstrip("."), f"numpy.{module}".rstrip(".")
    found = getattr(import_module(place), name)
    if module in WITHOUT_NUMPY:
        yield from definition(name, found, ())
        return
    numpy_object = getattr(import_module(numpy_module), name, None)
    source = numpy_stubs.module(numpy_module)
    assert source is not None
    if isinstance(found, types.ModuleType):
        yield from _module_lines(module, name)
    elif isinstance(found, gpunumpy.ufunc) and found.signature is None:
        yield f"{name}: {_UFUNC_CLASSES[found.nin, found.nout]}"
    elif isinstance(found, type):
        yield from _class_lines(module, name, found, numpy_object, again)
    elif name in _WRITTEN_BY_HAND:
        return
    elif found is numpy_object or (not callable(found) and isinstance(found, type(numpy_object))):
        known = isinstance(numpy_stubs.find(source, name), numpy_stubs.Definition)
        again[numpy_module].extend([name] * known)
        yield from [] if known else [f"{name}: Any"]
    elif callable(found):
        yield from definition(name, found, numpy_stubs.overloads(source, name), overloaded=module in OWN)
    else:
        yield f"{name}: {type(found).__name__}"


def _module_lines(module: str, name: str) -> tuple[str, ...]:
    inner = f"{module}.{name}".lstrip(".")
    if inner in (*OWN, *HOSTED, *NUMPY_MODULES):
        return (f"from . import {name} as {name}",)
    return _MODULES.get(inner) or (f"from numpy.{module} import {name} as {name}",)


def _class_lines(module: str, name: str, found: type, numpy_object: Any, again: dict[str, list[str]]) -> Iterator[str]:
    numpy_module = f"numpy.{module}".rstrip(".")
    if name in ("ndarray", "ufunc", "finfo", "PhiloxGPU", *_WRITTEN_BY_HAND):
        return
    if name == "errstate":
        yield from classes.own_class(name, found)
    elif module == "random" and name in ("Generator", "RandomState"):
        yield from classes.own_class(name, found, f"numpy.random.{name}", numpy_object.__module__)
    elif name in ("MaskedArray", "masked_array") and module == "ma":
        yield from ("masked_array = MaskedArray",) if name == "masked_array" else classes.masked_array_class(found)
    elif getattr(found, "numpy_class", found) is numpy_object or name == "nditer" or found in SEEDED.values():
        again[numpy_module].append(name)  # what it makes are NumPy's
    else:
        again["." + _defining_module(found).removeprefix("gpunumpy.")].append(name)


def _defining_module(found: type) -> str:
    """Return the module whose text defines a class: a public class says that it is of the module of its users."""
    texts = ((name, inspect.getsource(module)) for name, module in sorted(sys.modules.items()) if _has(module, found))
    return next(name for name, text in texts if f"\nclass {found.__name__}" in text)


def _has(module: types.ModuleType, found: type) -> bool:
    return module.__name__.startswith("gpunumpy.") and vars(module).get(found.__name__) is found
