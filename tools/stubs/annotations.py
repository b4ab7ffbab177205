"""NumPy's annotations in the words of this package's stubs.

Dtypes and shapes are not followed: NumPy's many kinds of array-like are one, and the arrays and scalars that it returns
are arrays of this package. Literals, integers, text, functions and tuples stay.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Literal

import numpy

from .numpy_stubs import Definition, Foreign, Meaning, Scope, find_expression
from .unions import UNKNOWN, in_order, union

# What an annotation is of: a parameter, that of one overload among several, or a result.
Role = Literal["parameter", "overload", "result"]

# Names in NumPy's stubs, wherever they are defined, as the type of a parameter; "" is left out.
_NUMPY_WORDS = {
    "ArrayLike": "ArrayLike",
    "DTypeLike": "DTypeLike",
    "NDArray": "ndarray",
    "dtype": "DTypeLike",
    "ndarray": "ndarray",
    "ufunc": "ufunc",
    "_AnyShape": "_ShapeLike",
    "_CharLike_co": "str | bytes",
    "_HasDType": "DTypeLike",
    "_NDArrayLikeBool": "ArrayLike",
    "_NDArrayLikeFloat": "ndarray",
    "_NestedSequence": "ArrayLike",
    "_NoValue": "",
    "_NoValueType": "",
    "_Shape": "_ShapeLike",
    "_ShapeLike": "_ShapeLike",
    "_SupportsArray": "ArrayLike",
    "_SupportsArrayFunc": "ArrayLike",
    "_SupportsDType": "DTypeLike",
    "_VoidLike_co": "tuple[Any, ...]",
}
_NUMBERS = ("_BoolLike_co", "_UIntLike_co", "_IntLike_co", "_FloatLike_co", "_ComplexLike_co", "_NumberLike_co")
_SCALARS = ("_ScalarLike_co", "_TD64Like_co")

# Named tuples that NumPy has too; they are private in the stubs.
RESULT_CLASSES = {
    f"{name}Result": f"_{name}Result"
    for name in ("Eig", "Eigh", "QR", "SVD", "Slogdet", "UniqueAll", "UniqueCounts", "UniqueInverse")
}

# Names of Python's own modules that are written otherwise, and those that stay as they are.
_PYTHON_WORDS = {
    "Any": "Any",
    "Buffer": "ReadableBuffer",
    "Callable": "Callable[..., Any]",
    "Concatenate": "Any",
    "Incomplete": "Any",
    "Self": "Self",
    "TypeGuard": "bool",
    "TypeIs": "bool",
    "Unpack": "Any",
    "Unused": "object",
}
_KEPT = frozenset(
    (
        *("bool", "int", "float", "complex", "str", "bytes", "object", "tuple", "dict", "set", "frozenset", "slice"),
        *("range", "memoryview", "bytearray", "BaseException", "Exception"),
        *("Collection", "Generator", "Hashable", "Iterable", "Iterator", "Mapping", "Sequence"),
        *("BinaryIO", "IO", "SupportsFloat", "SupportsIndex", "SupportsInt", "SupportsComplex", "TextIO"),
        *("ConvertibleToInt", "StrOrBytesPath", "StrPath", "SupportsRead", "SupportsWrite"),
        *("AbstractContextManager", "EllipsisType", "ModuleType", "PathLike", "TracebackType"),
    )
)
# Generic types without their arguments.
_BARE = {"dict": "dict[Any, Any]", "Sequence": "Sequence[Any]", "tuple": "tuple[()]"}


class ImpossibleError(Exception):
    """An overload never returns, or is for what never is."""


def parameter(expression: ast.expr | None, scope: Scope, role: Role = "parameter") -> list[str]:
    """The members of the union that a parameter's annotation is.

    A number may be an array of no dimensions: such are the results that are scalars in NumPy. In an "overload", which
    may be told from another by what is no array, it may not.
    """
    try:
        return ["Any"] if expression is None else list(dict.fromkeys(_Reader(scope, role).members(expression)))
    except ImpossibleError:
        return []


def result(expression: ast.expr | None, scope: Scope) -> str:
    """What a function returns: arrays of this package in place of NumPy's. A scalar alone is ``numpy.generic``.

    Raises
    ------
    ImpossibleError
        If it never returns.
    """
    if expression is None:
        return "Any"
    members = dict.fromkeys(map(_returned, _Reader(scope, "result").members(expression)))
    kept = [m for m in members if m != UNKNOWN]
    if "ndarray" in kept:
        kept = [m for m in kept if m not in ("Any", "numpy.generic", "int", "float", "complex", "bool")]
    return "Any" if "Any" in kept or not kept else in_order(kept)


def _returned(member: str) -> str:
    """A member of a union of parameters' types, as the type of a result."""
    whole = {"_ShapeLike": "tuple[int, ...]", "numpy.generic": "numpy.generic"}
    if member in whole:
        return whole[member]
    member = re.sub(r"\b(ArrayLike|_HostNumber|_ShapeLike|numpy\.generic)\b", "ndarray", member)
    return re.sub(r"\bSequence\[", "list[", member).replace("DTypeLike", "numpy.dtype[Any]")


@cache
def _public_classes() -> dict[str, str]:
    """Where NumPy's public classes are to be found, by their bare names."""
    places = ("numpy.exceptions", "numpy.dtypes", "numpy.ma", "numpy.polynomial", "numpy.random", "numpy")
    return {
        name: f"{place}.{name}"
        for place in places
        for name, found in vars(import_module(place)).items()
        if isinstance(found, type) and not name.startswith("_")
    }


class _Reader:
    """Reads the annotations of one scope."""

    # The aliases that are being looked into.
    _open: list[ast.stmt] = []  # noqa: RUF012

    def __init__(self, scope: Scope, role: Role) -> None:
        self._scope = scope
        self._role = role

    def members(self, expression: ast.expr) -> Iterator[str]:
        """The members of an annotation as a union."""
        match expression:
            case ast.Constant(value=None):
                yield "None"
            case ast.Constant(value=str() as text):
                yield from self.members(ast.parse(text, mode="eval").body)
            case ast.Constant(value=value) if value is Ellipsis:
                yield "..."
            case ast.BinOp(left=left, right=right):
                yield from self.members(left)
                yield from self.members(right)
            case ast.Subscript(value=head, slice=inside):
                yield from self._named(head, list(inside.elts) if isinstance(inside, ast.Tuple) else [inside])
            case ast.Name() | ast.Attribute():
                yield from self._named(expression, [])
            case _:
                yield UNKNOWN

    def _union(self, expression: ast.expr) -> str:
        return union(list(self.members(expression)))

    def _named(self, head: ast.expr, arguments: list[ast.expr]) -> Iterator[str]:
        """The members of a name, with what stands in brackets behind it."""
        if isinstance(head, ast.Name) and head.id in self._scope.types:
            meaning = self._scope.types[head.id]
            reader = _Reader(meaning.scope, self._role)
            yield from [UNKNOWN] if meaning.expression is None else reader.members(meaning.expression)
            return
        match find_expression(self._scope.module, head):
            case Foreign(name=name):
                yield from self._pythons(name, arguments)
            case Definition() as found:
                name = head.id if isinstance(head, ast.Name) else head.attr if isinstance(head, ast.Attribute) else ""
                yield from self._of_numpy(name, found, arguments)
            case _:
                yield UNKNOWN

    def _pythons(self, name: str, arguments: list[ast.expr]) -> Iterator[str]:
        """The members of a name from outside of NumPy."""
        match name:
            case "Literal":
                for argument in arguments:
                    plain = isinstance(argument, ast.Constant | ast.UnaryOp)
                    yield from [f"Literal[{ast.unparse(argument)}]"] if plain else self.members(argument)
            case "Never" | "NoReturn":
                raise ImpossibleError
            case "Optional" | "Union" | "Final":
                for argument in arguments:
                    yield from self.members(argument)
                yield from ["None"] * (name == "Optional")
            case "SupportsLenAndGetItem":
                yield from (f"Sequence[{self._union(arguments[0])}]", "ndarray")
            case "int" if self._role == "parameter":
                yield "SupportsIndex"
            case "float" | "complex" if self._role == "parameter":
                yield "_Number"
            case "type":
                inner = {member for argument in arguments for member in self.members(argument)}
                yield "DTypeLike" if inner & {"_Number", "_HostNumber", "numpy.generic"} else "type[Any]"
            case "list":
                yield from self._pythons("Sequence", arguments)
            case _ if name in _PYTHON_WORDS:
                yield _PYTHON_WORDS[name]
            case _ if name in _KEPT:
                inside = ", ".join(map(self._union, arguments))
                yield f"{name}[{inside}]" if inside and name != "slice" else _BARE.get(name, name)
            case _:
                yield UNKNOWN

    def _of_numpy(self, name: str, found: Definition, arguments: list[ast.expr]) -> Iterator[str]:
        """The members of a name that NumPy's stubs define."""
        kind = getattr(numpy, name, None)
        loose = self._role == "parameter"
        if name in _NUMPY_WORDS:
            yield from filter(None, [_NUMPY_WORDS[name]])
        elif name in ("Generator", "RandomState"):
            yield name if self._role == "result" else f"numpy.random.{name}"
        elif name.startswith(("_ArrayLike", "_DualArrayLike")):
            yield "ArrayLike"
        elif name.startswith("_DTypeLike") or name.endswith("Codes"):
            yield "DTypeLike"
        elif name in _NUMBERS:
            yield "_Number" if loose else "_HostNumber"
        elif kind is numpy.bool and self._role != "result":
            yield "bool"
        elif name in _SCALARS or (isinstance(kind, type) and issubclass(kind, numpy.generic)):
            yield "_Scalar" if loose else "numpy.generic"
        elif (statement := found.statements[-1]) in self._open:
            yield UNKNOWN  # an alias that holds itself, as lists of lists do
        else:
            self._open.append(statement)
            try:
                yield from list(self._defined(name, statement, Scope(found.module), arguments))
            finally:
                self._open.pop()

    def _defined(self, name: str, statement: ast.stmt, scope: Scope, arguments: list[ast.expr]) -> Iterator[str]:
        """The members of an alias, of a type variable, or of a class."""
        there = _Reader(scope, self._role)
        match statement:
            case ast.Assign(value=ast.Call(func=ast.Name(id="TypeVar"), args=args, keywords=options)):
                limit = next((option.value for option in options if option.arg == "bound"), None)
                limits = args[1:] if limit is None else [limit]
                for expression in limits:
                    yield from there.members(expression)
                yield from [] if limits else [UNKNOWN]
            case ast.Assign(value=value) if not isinstance(value, ast.Call):
                yield from there.members(value)
            case ast.AnnAssign(annotation=annotation, value=ast.expr() as value):
                yield from there.members(value) if "TypeAlias" in ast.unparse(annotation) else [UNKNOWN]
            case ast.ClassDef(bases=bases):
                is_typed_dict = any(ast.unparse(base) == "TypedDict" for base in bases)
                known = RESULT_CLASSES.get(name) or _public_classes().get(name, UNKNOWN)
                yield "dict[str, Any]" if is_typed_dict else known
            case _ if hasattr(statement, "type_params") and hasattr(statement, "value"):  # type X[T] = ...
                names = [type_parameter.name for type_parameter in statement.type_params]
                types = dict.fromkeys(names, Meaning(None, scope))
                types |= {each: Meaning(given, self._scope) for each, given in zip(names, arguments)}
                yield from _Reader(Scope(scope.module, types), self._role).members(statement.value)
            case _:
                yield UNKNOWN
