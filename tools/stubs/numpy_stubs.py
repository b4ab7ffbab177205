"""NumPy's installed stubs, parsed: what they say of a name, wherever they define it.

Knows Python's syntax of stubs, and nothing of this package.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from inspect import Parameter, _ParameterKind
from pathlib import Path

import numpy

ROOT = Path(numpy.__file__).parents[1]

# Stubs ask for the version in ``if sys.version_info >= ...``; the answer must not depend on who makes the files.
_VERSION = (3, 12)

Names = dict[str, list[ast.stmt]]


@dataclass(frozen=True)
class Scope:
    """Where an annotation stands: its module, and what its type parameters stand for."""

    module: Module
    types: dict[str, Meaning] = field(default_factory=dict)


@dataclass(frozen=True)
class Meaning:
    """What a type parameter stands for: an argument or a bound, in its scope; nothing known if None."""

    expression: ast.expr | None
    scope: Scope


@dataclass(frozen=True)
class Argument:
    """A parameter of a function in a stub."""

    name: str
    kind: _ParameterKind
    annotation: ast.expr | None
    default: ast.expr | None


@dataclass(frozen=True)
class Overload:
    """One ``def`` of a stub."""

    arguments: tuple[Argument, ...]
    returns: ast.expr | None
    scope: Scope


class Module:
    """A module's stub: its definitions, and where its other names come from."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.is_package = path.stem == "__init__"
        self.definitions: Names = {}
        self.imports: dict[str, tuple[str, str]] = {}  # module, and the name in it ("" for the module itself)
        self.stars: list[str] = []
        for statement in statements(ast.parse(path.read_text(encoding="utf-8")).body):
            self._read(statement)

    def _read(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import():
                for alias in statement.names:
                    module = alias.name if alias.asname else alias.name.partition(".")[0]
                    self.imports[alias.asname or module] = (module, "")
            case ast.ImportFrom():
                source = self._absolute(statement)
                for alias in statement.names:
                    if alias.name == "*":
                        self.stars.append(source)
                    else:
                        self.imports[alias.asname or alias.name] = (source, alias.name)
            case _:
                for name in bound(statement):
                    self.definitions.setdefault(name, []).append(statement)

    def _absolute(self, statement: ast.ImportFrom) -> str:
        if not statement.level:
            return statement.module or ""
        parts = self.name.split(".")
        parts = parts[: len(parts) - statement.level + self.is_package]
        return ".".join([*parts, *filter(None, [statement.module])])


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that hold: of ``if`` about the version of Python, one branch."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from statements(statement.body if _holds(statement.test) else statement.orelse)
        else:
            yield statement


def _holds(test: ast.expr) -> bool:
    match test:
        case ast.Compare(left=ast.Attribute(attr="version_info"), ops=[op], comparators=[ast.Tuple() as version]):
            wanted = ast.literal_eval(version)
            return _VERSION >= wanted if isinstance(op, ast.GtE) else _VERSION < wanted
    return True


def bound(statement: ast.stmt) -> list[str]:
    """The names that a statement defines."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
    alias = getattr(statement, "name", None)  # ``type X = ...``, which Python 3.11 cannot parse
    return [alias.id] if isinstance(alias, ast.Name) else []


@cache
def module(name: str) -> Module | None:
    """The stub of a module of NumPy's; None if there is none."""
    base = ROOT.joinpath(*name.split("."))
    for path in (base / "__init__.pyi", base.with_suffix(".pyi"), base / "__init__.py", base.with_suffix(".py")):
        if name.partition(".")[0] == "numpy" and path.is_file():
            return Module(name, path)
    return None


def find(source: Module, name: str) -> tuple[Module, list[ast.stmt]] | tuple[str, str] | None:
    """The definitions of a name that a module sees, and the module that they stand in.

    A name from outside of NumPy is the pair of its module and its name there; a builtin, or a module, is None.
    """
    for _ in range(20):
        if name in source.definitions:
            return source, source.definitions[name]
        found = source.imports.get(name)
        if found is None:
            stars = (find(inner, name) for star in source.stars if (inner := module(star)) is not None)
            return next((result for result in stars if result is not None), None)
        where, name = found
        inner = module(where)
        if inner is None:
            return where, name
        if not name:
            return None
        source = inner
    raise RecursionError(f"{name} in {source.name}")


def dotted(source: Module, expression: ast.expr) -> tuple[Module, list[ast.stmt]] | tuple[str, str] | None:
    """What a name, or a name behind modules (``np.dtypes.StringDType``), stands for. See `find`."""
    if isinstance(expression, ast.Name):
        return find(source, expression.id)
    if isinstance(expression, ast.Attribute):
        place = _module_of(source, expression.value)
        inner = place and module(place)
        if inner:
            return find(inner, expression.attr)
        if place:
            return place, expression.attr
    return None


def _module_of(source: Module, expression: ast.expr) -> str | None:
    """The name of the module that an expression stands for."""
    if isinstance(expression, ast.Attribute):
        outer = _module_of(source, expression.value)
        return outer and f"{outer}.{expression.attr}"
    if not isinstance(expression, ast.Name) or expression.id not in source.imports:
        return None
    where, name = source.imports[expression.id]
    return f"{where}.{name}" if name else where


def overloads(source: Module, name: str, within: str | None = None) -> list[Overload]:
    """The overloads of a function, of a method of the class `within`, or of the object of a class that is called."""
    scope = Scope(source)
    if within is not None:
        return _methods(source, within, name)
    found = find(source, name)
    if found is None or isinstance(found[0], str):
        return []
    where, definitions = found
    assert not isinstance(definitions, str)
    scope = Scope(where)
    functions = [signature(d, scope) for d in definitions if isinstance(d, ast.FunctionDef)]
    if functions:
        return functions
    match definitions[-1]:
        case ast.AnnAssign(annotation=annotation):
            return _called(where, annotation)
        case ast.Assign(value=ast.Name(id=other)):
            return overloads(where, other)
        case ast.Assign(value=ast.Attribute(value=ast.Name(id=instance), attr=attribute)):
            return _methods(where, _class_of(where, instance), attribute)
    return []


def _class_of(source: Module, name: str) -> str:
    """The name of the class that an object in a stub is declared to have."""
    for definition in source.definitions.get(name, ()):
        if isinstance(definition, ast.AnnAssign):
            declared = definition.annotation
            while isinstance(declared, ast.Subscript):  # Final[...]
                declared = declared.slice
            return ast.unparse(declared)
    return ""


def _methods(source: Module, class_name: str, name: str, scope: Scope | None = None) -> list[Overload]:
    """The overloads of a method, of a class or of the first of its bases that has it."""
    found = find(source, class_name)
    if found is None or isinstance(found[0], str):
        return []
    where, definitions = found
    assert not isinstance(definitions, str)
    for definition in definitions:
        if isinstance(definition, ast.ClassDef):
            mine = scope or Scope(where, parameters(definition, Scope(where)))
            members = [s for s in statements(definition.body) if name in bound(s)]
            functions = [signature(s, mine, method=True) for s in members if isinstance(s, ast.FunctionDef)]
            if functions:
                return functions
            for base in definition.bases:
                plain = base.value if isinstance(base, ast.Subscript) else base
                if isinstance(plain, ast.Name) and (inherited := _methods(where, plain.id, name)):
                    return inherited
    return []


def _called(source: Module, annotation: ast.expr) -> list[Overload]:
    """The overloads of ``__call__`` of the class in ``Final[SomeProtocol[...]]``."""
    arguments: list[ast.expr] = []
    while isinstance(annotation, ast.Subscript):
        inner = annotation.slice
        if isinstance(annotation.value, ast.Name) and annotation.value.id == "Final":
            annotation = inner
            continue
        arguments = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
        annotation = annotation.value
    found = dotted(source, annotation)
    if found is None or isinstance(found[0], str):
        return []
    where, definitions = found
    definition = definitions[-1]
    if not isinstance(definition, ast.ClassDef):
        return []
    types = parameters(definition, Scope(where))
    given = {name: Meaning(value, Scope(source)) for name, value in zip(types, arguments)}
    return _methods(where, definition.name, "__call__", Scope(where, types | given))


def signature(function: ast.FunctionDef, scope: Scope, method: bool = False) -> Overload:
    """A ``def``, taken apart; a method's is without `self`."""
    scope = Scope(scope.module, scope.types | parameters(function, scope))
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    found: list[Argument] = []
    for k, (arg, default) in enumerate(zip(positional, defaults, strict=True)):
        only = k < len(args.posonlyargs) or arg.arg.startswith("__")
        kind = Parameter.POSITIONAL_ONLY if only else Parameter.POSITIONAL_OR_KEYWORD
        found.append(Argument(arg.arg, kind, arg.annotation, default))
    if args.vararg:
        found.append(Argument(args.vararg.arg, Parameter.VAR_POSITIONAL, args.vararg.annotation, None))
    for arg, other in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        found.append(Argument(arg.arg, Parameter.KEYWORD_ONLY, arg.annotation, other))
    if args.kwarg:
        found.append(Argument(args.kwarg.arg, Parameter.VAR_KEYWORD, args.kwarg.annotation, None))
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)
    return Overload(tuple(found[1:] if method and not static else found), function.returns, scope)


def parameters(definition: ast.stmt, scope: Scope) -> dict[str, Meaning]:
    """The type parameters of a definition in Python 3.12's syntax, each with its bound."""
    made: dict[str, Meaning] = {}
    for parameter in getattr(definition, "type_params", ()):
        limit = getattr(parameter, "bound", None)
        if isinstance(limit, ast.Tuple):  # one of several types
            union = limit.elts[0]
            for other in limit.elts[1:]:
                union = ast.BinOp(union, ast.BitOr(), other)
            limit = union
        made[parameter.name] = Meaning(limit, scope)
    return made
