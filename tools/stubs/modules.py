"""The stub of each public module, name by name."""

from __future__ import annotations

import ast
import builtins
import inspect
import types
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

import numpy

import gpunumpy
from gpunumpy.functions.fallback import lookup
from gpunumpy.functions.indexing.elements import Flat
from gpunumpy.functions.sets import unique
from gpunumpy.functions.ufuncs.ufunc import UFUNCS
from gpunumpy.linalg import decompositions, solvers

from . import classes, numpy_stubs
from .annotations import CHOICES
from .signatures import definition

# Modules whose stub is in a file of its own. A name with a dot stands in a folder.
OWN = ("", "linalg", "fft", "random")
HOSTED = (
    *("char", "lib", "lib.array_utils", "lib.format", "lib.introspect", "lib.mixins", "lib.npyio"),
    *("lib.recfunctions", "lib.scimath", "lib.stride_tricks", "ma", "polynomial", "polynomial.chebyshev"),
    *("polynomial.hermite", "polynomial.hermite_e", "polynomial.laguerre", "polynomial.legendre"),
    *("polynomial.polynomial", "rec", "strings"),
)
# Modules that have nothing of ours in them.
NUMPYS = ("ctypeslib", "dtypes", "exceptions", "f2py", "version")
# Modules whose stub is their own file, or another's.
ELSEWHERE = {"testing": "from . import testing as testing", "typing": "from . import typing as typing",
             "emath": "from .lib import scimath as _emath\nemath = _emath"}  # fmt: skip

NOTICE = (
    f"# Made by tools/stubs with NumPy {numpy.__version__}; CONTRIBUTING.md says how.\n"
    # ``==`` gives an array; a generator gives arrays of ours where NumPy's gives its own; a number is an array too.
    '# mypy: disable-error-code="override, overload-overlap"\n'
)

# Where the words of the stubs come from.
_IMPORTS = {
    **dict.fromkeys(("Any", "BinaryIO", "Generic", "IO", "Literal", "NamedTuple"), "typing"),
    **dict.fromkeys(("SupportsFloat", "SupportsIndex", "SupportsInt", "TextIO", "TypeAlias", "overload"), "typing"),
    **dict.fromkeys(("Callable", "Collection", "Iterable", "Iterator", "Mapping", "Sequence"), "collections.abc"),
    **dict.fromkeys(("StrOrBytesPath", "StrPath", "SupportsRead", "SupportsWrite", "ReadableBuffer"), "_typeshed"),
    "ConvertibleToInt": "_typeshed",
    **dict.fromkeys(("EllipsisType", "ModuleType", "TracebackType"), "types"),
    **dict.fromkeys(("AbstractContextManager",), "contextlib"),
    "Self": "typing",
    "TypeVar": "typing_extensions",
    "PathLike": "os",
    **dict.fromkeys(("ArrayLike", "DTypeLike"), ".typing"),
    **dict.fromkeys(CHOICES, "."),
    **dict.fromkeys(
        ("ndarray", "ufunc", "Device", "_Out", "_DeviceLike", "_HostNumber", "_Number", "_Scalar", "_ShapeLike"), "."
    ),
    "DTypeLike": ".typing",
    "_State": ".core.recording.array ndarray",
    "Flags": ".arrays.methods",
    "MemoryInfo": ".core.runtime.memory",
}

_HEADER = {
    "": """
_ShapeT_co = TypeVar("_ShapeT_co", bound=tuple[int, ...], default=tuple[Any, ...], covariant=True)
_DTypeT_co = TypeVar("_DTypeT_co", bound=numpy.dtype[Any], default=numpy.dtype[Any], covariant=True)
_DeviceLike: TypeAlias = Device | str | int
_ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_OneIndex: TypeAlias = SupportsIndex | slice | EllipsisType | ndarray | numpy.ndarray[Any, Any] | None
_Index: TypeAlias = _OneIndex | Sequence[_OneIndex | list[Any] | tuple[Any, ...]]
_HostNumber: TypeAlias = complex | numpy.number[Any] | numpy.bool
_Number: TypeAlias = _HostNumber | ndarray
_Scalar: TypeAlias = complex | str | bytes | numpy.generic | ndarray
_Out: TypeAlias = ndarray | numpy.ndarray[Any, Any]
_Outs: TypeAlias = _Out | tuple[_Out | None, ...] | None
__version__: str
__array_api_version__: str
class bfloat16(numpy.generic):
    def __new__(cls, value: object = ..., /) -> Self: ...
class _MGrid:
    def __getitem__(self, key: slice | tuple[slice, ...], /) -> ndarray: ...
class _OGrid:
    @overload
    def __getitem__(self, key: slice, /) -> ndarray: ...
    @overload
    def __getitem__(self, key: tuple[slice, ...], /) -> tuple[ndarray, ...]: ...
mgrid: _MGrid
ogrid: _OGrid
""",
    "random": """
class PhiloxGPU(numpy.random.Philox): ...
""",
}

# How a ufunc is called, by the numbers of its arguments and results.
_CALLS = {
    (1, 1): ("_Unary", "x: ArrayLike, /, out: _Outs = None", "ndarray"),
    (2, 1): ("_Binary", "x1: ArrayLike, x2: ArrayLike, /, out: _Outs = None", "ndarray"),
    (1, 2): ("_UnaryPair", "x: ArrayLike, out1: _Out | None = None, out2: _Out | None = None, /, *, "
                           "out: _Outs = None", "tuple[ndarray, ndarray]"),
    (2, 2): ("_BinaryPair", "x1: ArrayLike, x2: ArrayLike, out1: _Out | None = None, out2: _Out | None = None, "
                            "/, *, out: _Outs = None", "tuple[ndarray, ndarray]"),
}  # fmt: skip
_CALL_OPTIONS = (
    'where: ArrayLike = True, casting: _Casting = "same_kind", order: _Order = "K", subok: bool = True, '
    "dtype: DTypeLike | None = None, signature: str | tuple[DTypeLike | None, ...] | None = None, "
    "sig: str | tuple[DTypeLike | None, ...] | None = None"
)


def public_names(module: str) -> list[str]:
    """The names of a public module that its stub has."""
    ours = import_module(f"gpunumpy.{module}".rstrip("."))
    listed = getattr(ours, "__all__", None) or dir(ours)
    return sorted(name for name in listed if not name.startswith("__") or name == "__array_namespace_info__")


def stub(module: str) -> str:
    """The source of a module's stub, not formatted."""
    if module in NUMPYS:
        return f"from numpy.{module} import *\n"
    lines: list[str] = []
    own: dict[str, list[str]] = {}  # re-exported, by the module that they come from
    lines += _HEADER.get(module, "").splitlines()
    if module == "":
        lines += [f"{name}: TypeAlias = Literal{list(values)}" for name, values in CHOICES.items()]
        lines += _main_classes()
    for name in public_names(module):
        lines += _lines(module, name, own)
    for place, names in sorted(own.items()):
        lines.insert(0, f"from {place} import {', '.join(f'{name} as {name}' for name in sorted(names))}")
    listed = public_names(module)
    lines.append(f"__all__ = {listed!r}")
    return completed("\n".join(lines) + "\n", module)


def _main_classes() -> Iterator[str]:
    """The classes of the namespace, and what only other stubs name."""
    yield from classes.array_class()
    yield from classes.own_class("_Flat", Flat)
    yield from classes.limits_class()
    for name in ("UniqueAllResult", "UniqueCountsResult", "UniqueInverseResult"):
        yield from classes.tuple_class(f"_{name}", getattr(unique, name))
    yield from _ufunc_classes()


def _ufunc_classes() -> Iterator[str]:
    yield "class ufunc:"
    for name, kind in {"nin": "int", "nout": "int", "nargs": "int", "ntypes": "int", "types": "list[str]"}.items():
        yield f"    {name}: {kind}"
    yield "    __name__: str"
    yield "    identity: Any"
    yield "    signature: None"
    yield "    def __call__(self, *args: ArrayLike, **options: Any) -> Any: ..."
    for name in ("accumulate", "at", "outer", "reduce", "reduceat", "resolve_dtypes"):
        for line in classes.method_lines(name, getattr(gpunumpy.ufunc, name), "ufunc"):
            yield f"    {line}"
    for name, arguments, result in _CALLS.values():
        yield f"class {name}(ufunc):"
        star = "" if "*" in arguments else "*, "
        yield f"    def __call__(self, {arguments}, {star}{_CALL_OPTIONS}) -> {result}: ..."


def _lines(module: str, name: str, own: dict[str, list[str]]) -> Iterator[str]:
    """The lines of one name; what is of another module is put into `own`."""
    place = f"gpunumpy.{module}".rstrip(".")
    theirs = f"numpy.{module}".rstrip(".")
    found = getattr(import_module(place), name)
    numpys = getattr(import_module(theirs), name, None)
    source = numpy_stubs.module(theirs)
    header = _HEADER.get(module, "")
    if f"class {name}(" in header or f"\n{name}:" in header or name in ("ndarray", "ufunc", "finfo"):
        return
    if isinstance(found, types.ModuleType):
        yield from _module_line(module, name)
    elif isinstance(found, gpunumpy.ufunc):
        yield f"{name}: {_CALLS[found.nin, found.nout][0]}"
    elif isinstance(found, type):
        yield from _class_lines(module, name, found, numpys, own)
    elif found is numpys:
        if source is not None and numpy_stubs.find(source, name) is not None:
            own.setdefault(theirs, []).append(name)
        else:
            yield f"{name}: Any"
    elif callable(found):
        assert source is not None
        yield from definition(name, found, numpy_stubs.overloads(source, name), overloaded=module in OWN)
    else:
        yield f"{name}: {type(found).__name__}"


def _module_line(module: str, name: str) -> Iterator[str]:
    inner = f"{module}.{name}".lstrip(".")
    if not module and name in ELSEWHERE:
        yield from ELSEWHERE[name].splitlines()
    elif inner in (*OWN, *HOSTED, *NUMPYS):
        yield f"from . import {name} as {name}"
    else:
        yield f"from numpy.{module} import {name} as {name}" if module else f"from numpy import {name} as {name}"


def _class_lines(module: str, name: str, found: type, numpys: Any, own: dict[str, list[str]]) -> Iterator[str]:
    theirs = f"numpy.{module}".rstrip(".")
    drawing = {"Generator": "numpy.random._generator", "RandomState": "numpy.random.mtrand"}
    if module == "random" and name in drawing:
        yield from classes.own_class(name, found, f"numpy.random.{name}", (drawing[name], name))
    elif name == "errstate":
        yield from classes.own_class(name, found, "", ("numpy", name))
    elif found is numpys or name == "nditer" or type(found).__name__ == "Numpys":
        own.setdefault(theirs, []).append(name)
    elif issubclass(found, tuple):
        yield from classes.tuple_class(name, found)
    else:
        own.setdefault("." + found.__module__.removeprefix("gpunumpy."), []).append(name)


def completed(text: str, module: str) -> str:
    """The source with what it needs imported, and Python's own types told apart from what the module has by their name."""
    tree = ast.parse(text)
    if module == "linalg":
        tuples = [f for m in (decompositions, solvers) for n, f in vars(m).items() if n.endswith("Result")]
        extra = "\n".join(line for f in tuples for line in classes.tuple_class(f"_{f.__name__}", f))
        tree = ast.parse(extra + "\n" + text)
    tree.body.sort(key=lambda statement: not isinstance(statement, ast.ImportFrom))
    defined = {name for s in tree.body for name in _bound(s)}
    _Qualified(defined).visit(tree)
    setters = {f.value.id for f in ast.walk(tree) if isinstance(f, ast.Attribute) and f.attr == "setter"
               and isinstance(f.value, ast.Name)}  # fmt: skip
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    used -= setters
    level = "." * (module.count(".") + 1 + (module in (*OWN, "lib", "polynomial") and module != ""))
    imports = {"import numpy"} if "numpy" in used else set()
    imports |= {"import builtins"} if "builtins" in used else set()
    for name in sorted(used - defined - set(vars(builtins)) - {"numpy", "builtins"}):
        place, _, other = _IMPORTS[name].partition(" ")
        if place.startswith("."):
            place = level + place[1:]
        imports.add(f"from {place} import {other} as {name}" if other else f"from {place} import {name}")
    return "\n".join(sorted(imports)) + "\n" + ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _bound(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.ImportFrom | ast.Import):
        return [alias.asname or alias.name for alias in statement.names]
    return numpy_stubs.bound(statement)


class _Qualified(ast.NodeTransformer):
    """Names of Python's own types as ``builtins.name`` where something of the same name hides them."""

    def __init__(self, hidden: Iterable[str]) -> None:
        self._hidden = set(hidden) & set(vars(builtins))

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        inner = _Qualified(self._hidden | {name for s in node.body for name in _bound(s)})
        node.body = [inner.visit(s) for s in node.body]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg):
            if arg is not None and arg.annotation is not None:
                arg.annotation = self.visit(arg.annotation)
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        node.returns = node.returns and self.visit(node.returns)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self._hidden or not isinstance(node.ctx, ast.Load):
            return node
        return ast.Attribute(ast.Name("builtins", ast.Load()), node.id, ast.Load())


def stubs() -> dict[str, str]:
    """The source of every stub, not formatted, by its path inside of the package."""
    made = {}
    for module in (*OWN, *HOSTED, *NUMPYS):
        base = module.replace(".", "/")
        folder = module in (*OWN, "lib", "polynomial")
        path = f"{base}/__init__.pyi".lstrip("/") if folder else f"{base}.pyi"
        made[path] = NOTICE + stub(module)
    return made
