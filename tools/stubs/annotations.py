"""NumPy's annotations in the words of our stubs.

Dtypes and shapes are not followed, so NumPy's many kinds of array-like are one, and its arrays and scalars as results
are our arrays. The rest of an annotation stays: literals, integers, text, functions, tuples.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache
from typing import Literal

import numpy

from .numpy_stubs import Meaning, Scope, dotted

UNKNOWN = "?"

# What an annotation is of: a parameter, that of one overload among several, or a result.
Role = Literal["parameter", "overload", "result"]

# Names in NumPy's stubs, wherever they are defined, and what they become as the type of a parameter.
_WORDS = {
    "ArrayLike": "ArrayLike",
    "_SupportsArray": "ArrayLike",
    "_SupportsArrayFunc": "ArrayLike",
    "_NestedSequence": "ArrayLike",
    "_NDArrayLikeBool": "ArrayLike",
    "_NDArrayLikeFloat": "ndarray",
    "NDArray": "ndarray",
    "ndarray": "ndarray",
    "DTypeLike": "DTypeLike",
    "dtype": "DTypeLike",
    "_HasDType": "DTypeLike",
    "_SupportsDType": "DTypeLike",
    "_ShapeLike": "_ShapeLike",
    "_Shape": "_ShapeLike",
    "_AnyShape": "_ShapeLike",
    "_CharLike_co": "str | bytes",
    "_VoidLike_co": "tuple[Any, ...]",
    "ufunc": "ufunc",
    "_NoValueType": "",
    "_NoValue": "",
    "Generator": "numpy.random.Generator",
    "RandomState": "numpy.random.RandomState",
}
_NUMBERS = ("_BoolLike_co", "_UIntLike_co", "_IntLike_co", "_FloatLike_co", "_ComplexLike_co", "_NumberLike_co")
_SCALARS = ("_ScalarLike_co", "_TD64Like_co", "_DT64Like_co")

# Named tuples of ours that NumPy has too; they are private in the stubs.
RESULT_CLASSES = {
    f"{name}Result": f"_{name}Result"
    for name in ("Eig", "Eigh", "QR", "SVD", "Slogdet", "UniqueAll", "UniqueCounts", "UniqueInverse")
}

# Names of Python's own modules that mean something else in our stubs; the others stand for themselves.
_PYTHON = {
    "Any": "Any",
    "Incomplete": "Any",
    "Unused": "object",
    "Unpack": "Any",
    "Concatenate": "Any",
    "TypeIs": "bool",
    "TypeGuard": "bool",
    "Buffer": "ReadableBuffer",
    "LiteralString": "str",
    "Callable": "Callable[..., Any]",
    "Self": "Self",
}
_BUILTINS = frozenset(
    (
        *("bool", "int", "float", "complex", "str", "bytes", "object", "type", "list", "tuple", "dict", "set"),
        *("frozenset", "slice", "range", "memoryview", "bytearray", "ellipsis", "BaseException", "Exception"),
    )
)
_KEPT = {
    "collections.abc": ("Collection", "Generator", "Hashable", "Iterable", "Iterator", "Mapping", "Sequence"),
    "typing": ("BinaryIO", "IO", "SupportsFloat", "SupportsIndex", "SupportsInt", "TextIO", "SupportsComplex"),
    "_typeshed": ("StrOrBytesPath", "StrPath", "SupportsRead", "SupportsWrite", "ConvertibleToInt"),
    "os": ("PathLike",),
    "types": ("EllipsisType", "ModuleType", "NotImplementedType", "TracebackType"),
    "contextlib": ("_GeneratorContextManager", "AbstractContextManager"),
}


class ImpossibleError(Exception):
    """An overload that never returns."""


@cache
def public_classes() -> dict[str, str]:
    """Where NumPy's public classes are to be found, by their bare names."""
    places = ("numpy", "numpy.random", "numpy.polynomial", "numpy.ma", "numpy.dtypes", "numpy.exceptions")
    return {
        name: f"{place}.{name}"
        for place in reversed(places)
        for name, found in vars(__import__(place, fromlist=["_"])).items()
        if isinstance(found, type) and not name.startswith("_")
    }


def parameter(expression: ast.expr | None, scope: Scope, role: Role = "parameter") -> list[str]:
    """The members of the union that a parameter's annotation is.

    A number may be an array of no dimensions: results are such arrays, where NumPy's are scalars. In an "overload",
    which may be told from another by what is no array, it may not.
    """
    try:
        return ["Any"] if expression is None else list(dict.fromkeys(_members(expression, scope, role)))
    except ImpossibleError:
        return []


def _members(expression: ast.expr, scope: Scope, role: Role) -> Iterable[str]:
    match expression:
        case ast.Constant(value=None):
            yield "None"
        case ast.Constant(value=str() as text):
            yield from _members(ast.parse(text, mode="eval").body, scope, role)
        case ast.Constant(value=value) if value is Ellipsis:
            yield "..."
        case ast.BinOp(left=left, right=right):
            yield from _members(left, scope, role)
            yield from _members(right, scope, role)
        case ast.Subscript(value=head, slice=inside):
            elements = list(inside.elts) if isinstance(inside, ast.Tuple) else [inside]
            yield from _named(head, elements, scope, role)
        case ast.Name() | ast.Attribute():
            yield from _named(expression, [], scope, role)
        case ast.List():
            yield "..."
        case ast.Starred(value=value):
            yield from _members(value, scope, role)
        case _:
            yield UNKNOWN


def _named(head: ast.expr, elements: list[ast.expr], scope: Scope, role: Role) -> Iterable[str]:
    """The members of a name, with what stands in brackets behind it."""
    name = head.id if isinstance(head, ast.Name) else head.attr if isinstance(head, ast.Attribute) else ""
    if isinstance(head, ast.Name) and name in scope.types:
        meaning = scope.types[name]
        yield from [UNKNOWN] if meaning.expression is None else _members(meaning.expression, meaning.scope, role)
        return
    found = dotted(scope.module, head)
    if found is None:
        yield from _python("builtins", name, elements, scope, role)
    elif isinstance(found[0], str):
        assert isinstance(found[1], str)
        yield from _python(found[0], found[1], elements, scope, role)
    else:
        assert not isinstance(found[1], str)
        yield from _numpys(found[0], name, found[1][-1], elements, scope, role)


def _python(module: str, name: str, elements: list[ast.expr], scope: Scope, role: Role) -> Iterable[str]:
    """A name from outside of NumPy."""
    if name == "Literal":
        for element in elements:
            if isinstance(element, ast.Constant | ast.UnaryOp):
                yield f"Literal[{ast.unparse(element)}]"
            else:  # another alias of literals
                yield from _members(element, scope, role)
    elif name in ("Never", "NoReturn"):
        raise ImpossibleError
    elif name in ("Optional", "Union", "Annotated", "Final", "ClassVar"):
        for element in elements[: 1 if name == "Annotated" else None]:
            yield from _members(element, scope, role)
        if name == "Optional":
            yield "None"
    elif name in _PYTHON:
        yield _PYTHON[name]
    elif name == "SupportsLenAndGetItem":
        yield from (f"Sequence[{_union(_members(elements[0], scope, role))}]", "ndarray")
    elif name == "int" and role == "parameter":
        yield "SupportsIndex"
    elif name in ("float", "complex") and role == "parameter":
        yield "_Number"
    elif name == "type":
        inner = [member for element in elements for member in _members(element, scope, role)]
        yield "DTypeLike" if {"_Number", "_HostNumber", "numpy.generic"} & set(inner) else "type[Any]"
    elif name == "slice":
        yield "slice"
    elif name in _BUILTINS or name in _KEPT.get(module, ()) or name in _KEPT["collections.abc"]:
        inside = ", ".join(_union(_members(element, scope, role)) for element in elements)
        plain = {"list": "Sequence"}.get(name, name)
        bare = {
            "list": "Sequence[Any]",
            "dict": "dict[Any, Any]",
            "Sequence": "Sequence[Any]",
            "tuple": "tuple[()]",
        }.get(name, plain)
        yield f"{plain}[{inside}]" if inside else bare
    else:
        yield UNKNOWN


def _numpys(
    module: object, name: str, definition: ast.stmt, elements: list[ast.expr], scope: Scope, role: Role
) -> Iterable[str]:
    """A name that NumPy's stubs define."""
    kind = getattr(numpy, name, None)
    if name in _WORDS:
        if _WORDS[name]:
            yield _WORDS[name]
    elif name.startswith(("_ArrayLike", "_DualArrayLike")):
        yield "ArrayLike"
    elif name.startswith("_DTypeLike") or name.endswith("Codes"):
        yield "DTypeLike"
    elif name in _NUMBERS:
        yield "_HostNumber" if role != "parameter" else "_Number"
    elif kind is numpy.bool and role != "result":
        yield "bool"
    elif name in _SCALARS or (isinstance(kind, type) and issubclass(kind, numpy.generic)):
        yield "numpy.generic" if role != "parameter" else "_Scalar"
    else:
        yield from _defined(module, name, definition, elements, scope, role)


def _defined(
    module: object, name: str, definition: ast.stmt, elements: list[ast.expr], scope: Scope, role: Role
) -> Iterable[str]:
    """What an alias, a type variable or a class in NumPy's stubs stands for."""
    if definition in _open:
        yield UNKNOWN  # an alias that holds itself: lists of lists
        return
    _open.append(definition)
    try:
        yield from list(_meant(module, name, definition, elements, scope, role))
    finally:
        _open.pop()


# The definitions that are being looked into.
_open: list[ast.stmt] = []


def _meant(
    module: object, name: str, definition: ast.stmt, elements: list[ast.expr], scope: Scope, role: Role
) -> Iterable[str]:
    where = Scope(module)  # type: ignore[arg-type]
    match definition:
        case ast.Assign(value=ast.Call(func=ast.Name(id="TypeVar"), args=args, keywords=options)):
            limit = next((option.value for option in options if option.arg == "bound"), None)
            for expression in args[1:] if limit is None else [limit]:
                yield from _members(expression, where, role)
            if limit is None and len(args) < 2:
                yield UNKNOWN
        case ast.Assign(value=ast.Call()):
            yield UNKNOWN
        case ast.Assign(value=value):
            yield from _members(value, where, role)
        case ast.AnnAssign(annotation=annotation, value=value):
            alias = value is not None and "TypeAlias" in ast.unparse(annotation)
            yield from _members(value, where, role) if alias and value is not None else [UNKNOWN]
        case ast.ClassDef(bases=bases):
            keys = any(ast.unparse(base) == "TypedDict" for base in bases)
            yield "dict[str, Any]" if keys else RESULT_CLASSES.get(name) or public_classes().get(name, UNKNOWN)
        case _ if hasattr(definition, "type_params") and hasattr(definition, "value"):
            names = [parameter.name for parameter in definition.type_params]
            meanings = {each: Meaning(given, scope) for each, given in zip(names, elements)}
            meanings |= {each: Meaning(None, where) for each in names[len(elements) :]}
            yield from _members(definition.value, Scope(where.module, meanings), role)
        case _:
            yield UNKNOWN


_PLAIN = re.compile(r"[\[\],. |]|SupportsIndex|ArrayLike|ndarray|Sequence|tuple|list|_Number|_HostNumber|_Scalar|numpy.generic"
                    r"|\b(int|float|complex|bool|str|bytes|Any|\?)\b")  # fmt: skip
_NUMBERS_IN_ROWS = re.compile(r"(Sequence\[)+(float|complex|_Number|_HostNumber|_Scalar|numpy\.generic|Any)( \|.*)?\]+")
_ORDER = ("bool", "SupportsIndex", "int", "float", "complex", "str", "bytes", "ndarray", "ArrayLike")


def _union(members: Iterable[str]) -> str:
    return union(list(members))


def union(members: list[str]) -> str:
    """The union of some types of parameters, without what others of them include."""
    flat = list(dict.fromkeys(members))
    if "Any" in flat or (UNKNOWN in flat and not set(flat) - {UNKNOWN, "None"}):
        return "Any"
    if "object" in flat:
        return "object"
    if "ndarray" in flat and any(m.startswith("Sequence[") and "ArrayLike" in m for m in flat):
        flat = ["ArrayLike", *flat]
    kept = ["ArrayLike" if _NUMBERS_IN_ROWS.fullmatch(m) else m for m in flat if m != UNKNOWN]
    if "DTypeLike" in kept:
        kept = [m for m in kept if m not in ("type[Any]", "str")]
    if "ArrayLike" in kept:
        kept = [m for m in kept if m in ("ArrayLike", "None") or _PLAIN.sub("", m)]
    if "_Scalar" in kept:
        kept = [
            m for m in kept if m not in ("ndarray", "_Number", "_HostNumber", "SupportsIndex", "float", "int", "bool")
        ]
    if "_Number" in kept:
        kept = [m for m in kept if m not in ("_HostNumber", "SupportsIndex", "float", "int", "bool")]
    if "Sequence[SupportsIndex]" in kept:
        kept = [m for m in kept if not m.startswith("tuple") or _PLAIN.sub("", m)]
    if "_ShapeLike" in kept:
        kept = [m for m in kept if m == "_ShapeLike" or _PLAIN.sub("", m)]
    return " | ".join(sorted(_joined(kept), key=_place))


# Choices that many functions offer.
CHOICES = {
    "_Order": ("C", "F", "A", "K"),
    "_OrderCF": ("C", "F"),
    "_OrderACF": ("A", "C", "F"),
    "_Casting": ("no", "equiv", "safe", "same_kind", "same_value", "unsafe"),
    "_Mode": ("raise", "wrap", "clip"),
    "_SortKind": (
        *("Q", "quick", "quicksort", "M", "merge", "mergesort", "H", "heap", "heapsort"),
        *("S", "stable", "stablesort"),
    ),
    "_Method": (
        *("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen"),
        *("weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest"),
    ),
    "_Norm": ("backward", "ortho", "forward"),
    "_OnError": ("ignore", "warn", "raise", "call", "print", "log"),
}
_BY_VALUES = {frozenset(map(repr, values)): name for name, values in CHOICES.items()}


def _joined(members: list[str]) -> list[str]:
    """With one literal in place of several."""
    values = [v for m in members if m.startswith("Literal[") for v in _values(m)]
    rest = [m for m in members if not m.startswith("Literal[")]
    if {"True", "False"} <= set(values) or ("bool" in rest and {"True", "False"} & set(values)):
        values = [v for v in values if v not in ("True", "False")]
        rest = [*rest, "bool"] if "bool" not in rest else rest
    if "str" in rest:
        values = [v for v in values if not v.startswith(("'", '"'))]
    if {"SupportsIndex", "int", "_Number"} & set(rest):
        values = [v for v in values if not v.lstrip("-").isdigit()]
    if "None" in values:
        values, rest = [v for v in values if v != "None"], [*rest, "None"]
    text = f"Literal[{', '.join(dict.fromkeys(values))}]"
    literal = [_BY_VALUES.get(frozenset(values), text)] if values else []
    return list(dict.fromkeys([*rest, *literal]))


def _values(literal: str) -> list[str]:
    tree = ast.parse(literal, mode="eval").body
    assert isinstance(tree, ast.Subscript)
    inside = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    return [ast.unparse(value) for value in inside]


def _place(member: str) -> tuple[int, int]:
    """Where a member stands in its union: None last."""
    return (member == "None", _ORDER.index(member) if member in _ORDER else len(_ORDER))


def result(expression: ast.expr | None, scope: Scope) -> str:
    """What a function returns: our arrays in place of NumPy's, and of its scalars.

    A scalar alone is ``numpy.generic``, where Python's own are told from it.

    Raises
    ------
    ImpossibleError
        If it never returns.
    """
    if expression is None:
        return "Any"
    members = [_returned(m) for m in dict.fromkeys(_members(expression, scope, "result"))]
    kept = list(dict.fromkeys(m for m in members if m != UNKNOWN))
    if "ndarray" in kept:
        kept = [m for m in kept if m not in ("Any", "numpy.generic", "int", "float", "complex", "bool")]
    if "Any" in kept or not kept:
        return "Any"
    return " | ".join(sorted(kept, key=_place))


_ARRAYS = re.compile(r"\b(ArrayLike|_HostNumber|_ShapeLike|numpy\.generic)\b")


def _returned(member: str) -> str:
    """A member of a union of parameters' types, as the type of a result."""
    if member == "numpy.generic":
        return member
    if member == "_ShapeLike":
        return "tuple[int, ...]"
    if member == "DTypeLike":
        return "numpy.dtype[Any]"
    if member in ("numpy.random.Generator", "numpy.random.RandomState"):
        return member.rpartition(".")[2]
    made = _ARRAYS.sub("ndarray", member).replace("DTypeLike", "numpy.dtype[Any]")
    return re.sub(r"\bSequence\[", "list[", made)
