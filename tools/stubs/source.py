"""From definitions to the source of a stub: what it needs is imported, and no name hides another."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from . import numpy_stubs
from .unions import CHOICES

# Where the words of the stubs come from: a module, with a dot one of this package, and the name there if it is another.
_IMPORTS = {
    **dict.fromkeys(("Callable", "Collection", "Iterable", "Iterator", "Mapping", "Sequence"), "collections.abc"),
    **dict.fromkeys(
        ("Any", "Generic", "Literal", "NamedTuple", "NoReturn", "Self", "TextIO", "TypeAlias", "overload"), "typing"
    ),
    **dict.fromkeys(("SupportsIndex", "SupportsInt"), "typing"),
    **dict.fromkeys(
        ("ConvertibleToInt", "ReadableBuffer", "StrOrBytesPath", "StrPath", "SupportsRead", "SupportsWrite"),
        "_typeshed",
    ),
    **dict.fromkeys(("EllipsisType", "ModuleType", "TracebackType"), "types"),
    **dict.fromkeys(("_DeviceLike", "_HostNumber", "_Number", "_Out", "_Scalar", "_ShapeLike", *CHOICES), "."),
    **dict.fromkeys(("ndarray", "ufunc", "_Binary", "_BinaryPair", "_Unary", "_UnaryPair"), "."),
    **dict.fromkeys(("ArrayLike", "DTypeLike"), ".typing"),
    "AbstractContextManager": "contextlib",
    **dict.fromkeys(("Graph", "_P", "_R"), ".cuda.graph"),
    "Flags": ".arrays.methods",
    "AxisConcatenator": ".functions.creation.axis_concatenators",
    "MemoryInfo": ".core.runtime.memory",
    "MemoryPool": ".cuda.memory",
    "Operation": ".distributed.reductions",
    "PathLike": "os",
    "PinnedMemoryPool": ".cuda.memory",
    "PythonUfunc": ".functions.ufuncs.python_ufunc",
    "TypeVar": "typing_extensions",
    "_State": ".core.recording.array ndarray",
}


def completed(text: str, depth: int) -> str:
    """The source of a stub whose folder is so many folders below the package's."""
    tree = ast.parse(text)
    tree.body.sort(key=lambda statement: not isinstance(statement, ast.ImportFrom))
    defined = {name for statement in tree.body for name in _bound(statement)}
    _Qualifier(defined).visit(tree)
    used = _used(tree) - defined - set(vars(builtins))
    imports = [f"import {name}" for name in ("builtins", "numpy") if name in used]
    for name in sorted(used - {"builtins", "numpy"}):
        place, _, original = _IMPORTS[name].partition(" ")
        place = "." * depth + place if place.startswith(".") else place
        imports.append(f"from {place} import {original} as {name}" if original else f"from {place} import {name}")
    return "\n".join([*imports, ast.unparse(ast.fix_missing_locations(tree)), ""])


def _bound(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.ImportFrom):
        return [alias.asname or alias.name for alias in statement.names]
    return numpy_stubs.bound(statement)


def _used(tree: ast.AST) -> set[str]:
    """The names that a stub uses; those of ``@name.setter`` are of the class around it."""
    setters = (node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "setter")
    of_classes = {node.id for node in setters if isinstance(node, ast.Name)}
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return {node.id for node in names} - of_classes


class _Qualifier(ast.NodeTransformer):
    """Python's own types as ``builtins.name`` where something of the same name hides them."""

    def __init__(self, hidden: Iterable[str]) -> None:
        self._hidden = set(hidden) & set(vars(builtins))

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        inside = _Qualifier({*self._hidden, *(name for statement in node.body for name in _bound(statement))})
        node.body = [inside.visit(statement) for statement in node.body]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.args = self.visit(node.args)
        node.returns = node.returns and self.visit(node.returns)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self._hidden or not isinstance(node.ctx, ast.Load):
            return node
        return ast.Attribute(ast.Name("builtins", ast.Load()), node.id, ast.Load())
