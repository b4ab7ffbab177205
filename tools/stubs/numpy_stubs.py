"""NumPy's installed stubs, parsed: what they say of a name, wherever they define it.

Knows the syntax of stubs, and nothing of this package.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy

ROOT = Path(numpy.__file__).parents[1]

# What stubs are told that ask for the version of Python: the result must not depend on who makes it.
PYTHON = (3, 12)

POSITIONAL = inspect.Parameter.POSITIONAL_ONLY
EITHER = inspect.Parameter.POSITIONAL_OR_KEYWORD
STAR = inspect.Parameter.VAR_POSITIONAL
KEYWORD = inspect.Parameter.KEYWORD_ONLY
OPTIONS = inspect.Parameter.VAR_KEYWORD
Kind = inspect._ParameterKind


@dataclass(frozen=True)
class Scope:
    """Where an annotation stands: its module, and what the type parameters around it stand for."""

    module: Module
    types: dict[str, Meaning] = field(default_factory=dict)


@dataclass(frozen=True)
class Meaning:
    """The argument or the bound of a type parameter, and the scope of that; None if there is none."""

    expression: ast.expr | None
    scope: Scope


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function in a stub."""

    name: str
    kind: Kind
    annotation: ast.expr | None
    default: ast.expr | None


@dataclass(frozen=True)
class Overload:
    """One ``def`` of a stub; a method's is without `self`."""

    parameters: tuple[Parameter, ...]
    returns: ast.expr | None
    scope: Scope


@dataclass(frozen=True)
class Definition:
    """The statements that define a name, the last of which holds, and their module."""

    module: Module
    statements: tuple[ast.stmt, ...]


@dataclass(frozen=True)
class Foreign:
    """A name of a module outside of NumPy; a builtin's module is "builtins"."""

    module: str
    name: str


Found = Definition | Foreign | None


class Module:
    """A module's stub: its definitions, and where its other names come from."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._is_package = path.stem == "__init__"
        self.definitions: dict[str, list[ast.stmt]] = {}
        self.imports: dict[str, tuple[str, str]] = {}  # the module, and the name in it ("" for the module itself)
        self.stars: list[str] = []
        for statement in _holding(ast.parse(path.read_text(encoding="utf-8")).body):
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
        """The full name of the module that is imported from."""
        if not statement.level:
            return statement.module or ""
        parts = self.name.split(".")
        parts = parts[: len(parts) - statement.level + self._is_package]
        return ".".join([*parts, *filter(None, [statement.module])])


def _holding(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that hold for the version of Python: one branch of each ``if``."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _holding(statement.body if _holds(statement.test) else statement.orelse)
        else:
            yield statement


def _holds(test: ast.expr) -> bool:
    match test:
        case ast.Compare(left=ast.Attribute(attr="version_info"), ops=[operator], comparators=[ast.Tuple() as tree]):
            version = ast.literal_eval(tree)
            return bool(version <= PYTHON) if isinstance(operator, ast.GtE) else bool(version > PYTHON)
    return True


def bound(statement: ast.stmt) -> list[str]:
    """The names that a statement defines."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
    alias = getattr(statement, "name", None)  # ``type X = ...``, for which Python 3.11 has no class
    return [alias.id] if isinstance(alias, ast.Name) else []


@cache
def module(name: str) -> Module | None:
    """The stub of a module of NumPy, or its source if there is no stub; None if there is neither."""
    base = ROOT.joinpath(*name.split("."))
    for path in (base / "__init__.pyi", base.with_suffix(".pyi"), base / "__init__.py", base.with_suffix(".py")):
        if name.partition(".")[0] == "numpy" and path.is_file():
            return Module(name, path)
    return None


def find(source: Module, name: str) -> Found:
    """What a name stands for in a module; None for a module."""
    while name not in source.definitions:
        if name not in source.imports:
            modules = filter(None, map(module, source.stars))
            found = (find(inner, name) for inner in modules if inner is not None)
            return next((f for f in found if isinstance(f, Definition)), Foreign("builtins", name))
        place, name = source.imports[name]
        inner = module(place)
        if inner is None:
            return Foreign(place, name)
        if not name:
            return None
        source = inner
    return Definition(source, tuple(source.definitions[name]))


def find_expression(source: Module, expression: ast.expr) -> Found:
    """What a name stands for, or a name behind modules such as ``np.dtypes.StringDType``."""
    if isinstance(expression, ast.Name):
        return find(source, expression.id)
    if isinstance(expression, ast.Attribute):
        place = _module_name(source, expression.value)
        inner = module(place)
        return Foreign(place, expression.attr) if inner is None else find(inner, expression.attr)
    return None


def _module_name(source: Module, expression: ast.expr) -> str:
    """The full name of the module that an expression stands for; "" if it stands for none."""
    if isinstance(expression, ast.Attribute):
        return f"{_module_name(source, expression.value)}.{expression.attr}"
    if not isinstance(expression, ast.Name) or expression.id not in source.imports:
        return ""
    place, name = source.imports[expression.id]
    return f"{place}.{name}" if name else place


def overloads(source: Module, name: str) -> list[Overload]:
    """The overloads of a function, or of an object that is called: a method bound to another, or a protocol's."""
    found = find(source, name)
    if not isinstance(found, Definition):
        return []
    functions = [_taken_apart(s, Scope(found.module)) for s in found.statements if isinstance(s, ast.FunctionDef)]
    if functions:
        return functions
    match found.statements[-1]:
        case ast.AnnAssign(annotation=annotation):
            return _overloads_of_call(found.module, annotation)
        case ast.Assign(value=ast.Name(id=other)):
            return overloads(found.module, other)
        case ast.Assign(value=ast.Attribute(value=ast.Name(id=instance), attr=method)):
            return method_overloads(found.module, _class_of(found.module, instance), method)
    return []


def _class_of(source: Module, name: str) -> str:
    """The name of the class that an object in a stub is declared to have."""
    for statement in source.definitions.get(name, ()):
        if isinstance(statement, ast.AnnAssign):
            declared = statement.annotation
            while isinstance(declared, ast.Subscript):  # Final[...]
                declared = declared.slice
            return ast.unparse(declared)
    return ""


def method_overloads(source: Module, class_name: str, name: str, scope: Scope | None = None) -> list[Overload]:
    """The overloads of a method of a class, or of the first of its bases that has it."""
    found = find(source, class_name)
    if not isinstance(found, Definition) or not isinstance(found.statements[-1], ast.ClassDef):
        return []
    definition = found.statements[-1]
    inside = scope or Scope(found.module, _type_parameters(definition, Scope(found.module)))
    members = [s for s in _holding(definition.body) if isinstance(s, ast.FunctionDef) and s.name == name]
    if members:
        return [_taken_apart(member, inside, method=True) for member in members]
    for base in definition.bases:
        plain = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(plain, ast.Name) and (inherited := method_overloads(found.module, plain.id, name)):
            return inherited
    return []


def _overloads_of_call(source: Module, annotation: ast.expr) -> list[Overload]:
    """The overloads of ``__call__`` of the protocol in ``Final[Protocol[...]]``."""
    arguments: list[ast.expr] = []
    while isinstance(annotation, ast.Subscript):
        inside = annotation.slice
        if isinstance(annotation.value, ast.Name) and annotation.value.id == "Final":
            annotation = inside
        else:
            arguments = list(inside.elts) if isinstance(inside, ast.Tuple) else [inside]
            annotation = annotation.value
    found = find_expression(source, annotation)
    if not isinstance(found, Definition) or not isinstance(found.statements[-1], ast.ClassDef):
        return []
    definition = found.statements[-1]
    types = _type_parameters(definition, Scope(found.module))
    given = {name: Meaning(value, Scope(source)) for name, value in zip(types, arguments)}
    return method_overloads(found.module, definition.name, "__call__", Scope(found.module, types | given))


def _taken_apart(function: ast.FunctionDef, scope: Scope, method: bool = False) -> Overload:
    scope = Scope(scope.module, scope.types | _type_parameters(function, scope))
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    found: list[Parameter] = []
    for k, (arg, default) in enumerate(zip(positional, defaults, strict=True)):
        unnamed = k < len(args.posonlyargs) or arg.arg.startswith("__")
        found.append(Parameter(arg.arg, POSITIONAL if unnamed else EITHER, arg.annotation, default))
    if args.vararg:
        found.append(Parameter(args.vararg.arg, STAR, args.vararg.annotation, None))
    for arg, keyword_default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        found.append(Parameter(arg.arg, KEYWORD, arg.annotation, keyword_default))
    if args.kwarg:
        found.append(Parameter(args.kwarg.arg, OPTIONS, args.kwarg.annotation, None))
    return Overload(tuple(found[method:]), function.returns, scope)


def _type_parameters(definition: ast.stmt, scope: Scope) -> dict[str, Meaning]:
    """The type parameters of a definition in the syntax of Python 3.12, each with its bound."""
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
