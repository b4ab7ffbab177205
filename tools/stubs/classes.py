"""The stubs of classes: `ndarray` from the tables that bind its methods, others from what they have at run time."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy

from gpunumpy import ufunc
from gpunumpy.arrays.binding import METHODS, PROPERTIES
from gpunumpy.arrays.operators import OPERATORS
from gpunumpy.ma import construction
from gpunumpy.ma.binding import METHODS as MASKED_METHODS
from gpunumpy.ma.operators import OPERATORS as MASKED_OPERATORS

from . import decisions, numpy_stubs
from .signatures import definition, result_annotation

# Methods with underscores that classes of this package have for programs to use.
_SPECIAL = (
    *("__array__", "__call__", "__enter__", "__exit__", "__getitem__", "__iter__", "__len__", "__next__"),
    "__setitem__",
)


def array_class() -> Iterator[str]:
    """The lines of `ndarray`: what the class itself holds is inherited, the rest is what is bound to it."""
    yield "class ndarray(_State, Generic[_ShapeT_co, _DTypeT_co]):"
    create = _method_lines("__new__", METHODS["__new__"], "ndarray")
    yield from _indented(line.replace("(self", "(cls").replace("-> ndarray", "-> Self") for line in create)
    yield from _indented(_property_lines("base", "ndarray | None"))
    for name, (read, write) in sorted(PROPERTIES.items()):
        given = decisions.PROPERTIES.get(name) or result_annotation(read)
        yield from _indented(_property_lines(name, given, write and decisions.SETTABLE.get(name, "ArrayLike")))
    for name, function in sorted((METHODS | OPERATORS).items()):
        if name in OPERATORS and "y" in inspect.signature(function).parameters:
            yield from _indented([_operator_line(name)])
        elif name not in ("__new__", "__class_getitem__"):
            yield from _indented(_method_lines(name, function, "ndarray"))


def _operator_line(name: str) -> str:
    """The line of an operator with another operand: whatever an array can be made of."""
    operand = "object" if name in ("__eq__", "__ne__", "__contains__") else "ArrayLike"
    given = "bool" if name == "__contains__" else decisions.RESULTS.get(name, "ndarray")
    modulus = ", modulus: None = None" if "pow" in name else ""  # `__ipow__` is to checkers what `__pow__` is
    return f"def {name}(self, y: {operand}{modulus}, /) -> {given}: ..."


def _method_lines(name: str, function: Callable[..., Any], within: str, module: str = "numpy") -> list[str]:
    """The lines of a method; `within` is the class of NumPy that has it too, and `module` where that stands."""
    source = numpy_stubs.module(module)
    assert source is not None
    return definition(name, function, numpy_stubs.method_overloads(source, within, name), method=True)


def _property_lines(name: str, given: str, settable: str | None = None) -> Iterator[str]:
    """The lines of a property that gives a type, and can be set to another if there is one."""
    yield "@property"
    yield f"def {name}(self) -> {given}: ..."
    if settable:
        yield f"@{name}.setter"
        yield f"def {name}(self, value: {settable}) -> None: ..."


def tuple_class(name: str, found: Any) -> Iterator[str]:
    """The lines of a named tuple of arrays."""
    yield f"class {name}(NamedTuple):"
    yield from _indented(f"{field}: ndarray" for field in found._fields)


def own_class(name: str, found: type, base: str = "", module: str = "numpy") -> Iterator[str]:
    """The lines of a class of this package; NumPy's of that name is in the stub of `module`."""
    yield f"class {name}({base}):" if base else f"class {name}:"
    names = [n for n in dir(found) if not n.startswith("_") or (n in _SPECIAL and _is_defined_here(found, n))]
    for member in ("__init__", *names):
        value = inspect.getattr_static(found, member)
        if isinstance(value, property):
            yield from _indented(_property_lines(member, result_annotation(value.fget) if value.fget else "Any"))
        elif callable(value):
            lines = _method_lines(member, value, name, module)
            yield from _indented(line.replace("-> Any", "-> None") if member == "__init__" else line for line in lines)


_OF_ONE_OPERAND = {
    **dict.fromkeys(("__abs__", "__invert__", "__neg__", "__pos__"), "Any"),
    **dict.fromkeys(("__index__", "__int__", "__len__"), "int"),
    "__bool__": "bool",
    "__complex__": "complex",
    "__float__": "float",
}


def masked_array_class(found: type) -> Iterator[str]:
    """The lines of `MaskedArray`, whose operators take anything that an array can be made of."""
    yield "class MaskedArray:"
    create = _method_lines("__new__", construction.create, "MaskedArray", "numpy.ma")
    yield from _indented(line.replace("(self", "(cls").partition("->")[0] + "-> Self: ..." for line in create)
    for name in sorted(n for n in dir(found) if not n.startswith("_") and n not in MASKED_METHODS):
        member = inspect.getattr_static(found, name)
        if isinstance(member, property):
            given = result_annotation(member.fget) if member.fget else "Any"
            yield from _indented(_property_lines(name, given, "Any" if member.fset else None))
    for name, function in sorted(MASKED_METHODS.items()):
        yield from _indented(definition(name, function, [], method=True, overloaded=False))
    yield "    def __getitem__(self, key: Any) -> Any: ..."
    yield "    def __setitem__(self, key: Any, value: object) -> None: ..."
    yield "    def __iter__(self) -> Iterator[Any]: ..."
    for name in sorted(MASKED_OPERATORS):
        operand = "" if name in _OF_ONE_OPERAND else ", y: object, /"
        given = "bool" if name == "__contains__" else _OF_ONE_OPERAND.get(name, "Any")
        yield f"    def {name}(self{operand}) -> {given}: ..."


def _is_defined_here(found: type, name: str) -> bool:
    return any(name in vars(c) and c.__module__.startswith("gpunumpy") for c in found.__mro__)


def ufunc_class() -> Iterator[str]:
    """The lines of `ufunc`, whose attributes are of each object."""
    yield "class ufunc:"
    kinds = {"nin": "int", "nout": "int", "nargs": "int", "ntypes": "int", "types": "list[str]", "__name__": "str"}
    yield from _indented(f"{name}: {kind}" for name, kind in kinds.items())
    yield from _indented(("identity: Any", "signature: None"))
    yield "    def __call__(self, *args: ArrayLike, **options: Any) -> Any: ..."
    for name in ("accumulate", "at", "outer", "reduce", "reduceat", "resolve_dtypes"):
        yield from _indented(_method_lines(name, getattr(ufunc, name), "ufunc"))


def limits_class() -> Iterator[str]:
    """The lines of `finfo`, whose numbers are Python's own."""
    limits = numpy.finfo("f8")
    yield "class finfo:"
    yield "    def __init__(self, dtype: ArrayLike | DTypeLike) -> None: ..."
    for name in dir(limits):
        value = getattr(limits, name)
        if not name.startswith("_") and not callable(value):
            kind = next((k.__name__ for k in (int, float, str) if isinstance(value, k)), "numpy.dtype[Any]")
            yield from _indented(_property_lines(name, kind))


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)
