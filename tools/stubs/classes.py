"""The stubs of classes: `ndarray` from the tables that bind its methods, others from what they have at run time."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from gpunumpy.arrays import binding
from gpunumpy.arrays.operators import OPERATORS

from . import numpy_stubs
from .signatures import RESULTS, annotated, definition

# Methods of classes that are told apart from those of `object`.
_SPECIAL = ("__call__", "__enter__", "__exit__", "__getitem__", "__setitem__", "__iter__", "__next__", "__len__")

# What a property gives that its own annotations do not tell.
_PROPERTIES = {"flags": "Flags", "flat": "_Flat", "__array_priority__": "float"}
# What can be written to a property, where it is not what it gives.
_WRITTEN = {"shape": "_ShapeLike"}


def array_class() -> Iterator[str]:
    """The lines of `ndarray`: what the class itself holds is inherited, the rest is what is bound to it."""
    yield "class ndarray(_State, Generic[_ShapeT_co, _DTypeT_co]):"
    methods = binding.METHODS | OPERATORS
    create = definition("__new__", methods["__new__"], _of_arrays("__new__"), method=True)
    yield from _indented(line.replace("(self", "(cls").replace("-> ndarray", "-> Self") for line in create)
    yield from _indented(property_lines("dtype", "_DTypeT_co"))
    yield from _indented(property_lines("base", "ndarray | None"))
    for name, (read, write) in sorted(binding.PROPERTIES.items()):
        given = _PROPERTIES.get(name) or annotated(read)
        yield from _indented(property_lines(name, given, write and _WRITTEN.get(name, "ArrayLike")))
    for name, function in sorted(methods.items()):
        if name in OPERATORS and "y" in inspect.signature(function).parameters:
            yield f"    {operator_line(name)}"
        elif name not in ("__new__", "__class_getitem__"):
            yield from _indented(method_lines(name, function, "ndarray"))


def operator_line(name: str) -> str:
    """The line of an operator with another operand: whatever an array can be made of."""
    operand = "object" if name in ("__eq__", "__ne__", "__contains__") else "ArrayLike"
    result = RESULTS.get(name) or ("bool" if name == "__contains__" else "ndarray")
    modulus = ", modulus: None = None" if "pow" in name else ""  # `__ipow__` is to checkers what `__pow__` is
    return f"def {name}(self, y: {operand}{modulus}, /) -> {result}: ..."


def _of_arrays(name: str) -> list[numpy_stubs.Overload]:
    source = numpy_stubs.module("numpy")
    assert source is not None
    return numpy_stubs.overloads(source, name, within="ndarray")


def method_lines(name: str, function: Callable[..., Any], within: str, module: str = "numpy") -> list[str]:
    """The lines of one method, of a class that NumPy has too."""
    source = numpy_stubs.module(module)
    assert source is not None
    lines = definition(name, function, numpy_stubs.overloads(source, name, within=within), method=True)
    return lines


def property_lines(name: str, given: str, written: str | None = None) -> Iterator[str]:
    """The lines of a property that gives a type, and can be written to if there is one for that."""
    yield "@property"
    yield f"def {name}(self) -> {given}: ..."
    if written:
        yield f"@{name}.setter"
        yield f"def {name}(self, value: {written}) -> None: ..."


def tuple_class(name: str, found: type) -> Iterator[str]:
    """The lines of a named tuple."""
    yield f"class {name}(NamedTuple):"
    for field in getattr(found, "_fields"):
        yield f"    {field}: ndarray"


def own_class(name: str, found: type, base: str = "", numpys: tuple[str, str] | None = None) -> Iterator[str]:
    """The lines of a class of ours; `numpys` is NumPy's of the same methods, and the module it stands in."""
    yield f"class {name}({base}):" if base else f"class {name}:"
    module, within = numpys or ("numpy", "")
    start = found.__dict__.get("__init__")
    names = [n for n in dir(found) if not n.startswith("_") or (n in _SPECIAL and _is_own(found, n))]
    members = {n: inspect.getattr_static(found, n) for n in names}
    if start is not None:
        members = {"__init__": start} | members
    for member, value in members.items():
        if isinstance(value, property):
            hint = annotated(value.fget) if value.fget else "Any"
            yield from _indented(property_lines(member, hint, "Any" if value.fset else None))
        elif callable(value):
            lines = method_lines(member, value, within, module)
            yield from _indented(line.replace("-> Any", "-> None") if member == "__init__" else line for line in lines)


def _is_own(found: type, name: str) -> bool:
    return any(name in vars(c) and c.__module__.startswith("gpunumpy") for c in found.__mro__)


def limits_class() -> Iterator[str]:
    """The lines of `finfo`, whose numbers are Python's own."""
    limits = numpy.finfo("f8")
    yield "class finfo:"
    yield "    def __init__(self, dtype: ArrayLike | DTypeLike) -> None: ..."
    for name in dir(limits):
        value = getattr(limits, name)
        if name.startswith("_") or callable(value):
            continue
        kind = next((k.__name__ for k in (bool, int, float, str) if isinstance(value, k)), "Any")
        kind = "numpy.dtype[Any]" if isinstance(value, numpy.dtype) else kind
        kind = "float" if isinstance(value, numpy.floating) else kind
        yield from _indented(property_lines(name, kind))


def _indented(lines: Iterator[str] | list[str]) -> Iterator[str]:
    for line in lines:
        yield f"    {line}"
