"""Compile a file so that its import statements of NumPy and SciPy import this package.

The syntax tree is changed, and nothing else: imports of other files stay as they are, and lines and columns are the
file's.
"""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

from . import selection

# The modules that stand for NumPy and SciPy are `scripts/numpy.py` and `scripts/scipy.py`.
_REPLACED = ("numpy", "scipy")


def counterpart(module: str) -> str | None:
    """Return the name of this package's module for a public one of NumPy's or SciPy's; None for any other module."""
    words = module.split(".")
    if words[0] not in _REPLACED or any(word.startswith("_") for word in words):
        return None
    return f"{__package__}.{module}"


class ImportTransformer(ast.NodeTransformer):
    """Replaces NumPy and SciPy by this package in import statements."""

    def visit_Import(self, node: ast.Import) -> ast.Import:
        """Replace the modules of ``import a, b.c as d``."""
        node.names = [new for alias in node.names for new in _replaced(alias)]
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        """Replace the module of ``from a.b import c``."""
        if node.level == 0 and node.module is not None:
            node.module = counterpart(node.module) or node.module
        return node


def _replaced(alias: ast.alias) -> list[ast.alias]:
    """Return what is imported instead of one module of an import statement.

    ``import numpy.linalg`` imports a submodule and binds the package: the first alias imports, the last one binds.
    """
    root = alias.name.partition(".")[0]
    package = counterpart(root)
    if package is None:
        return [alias]
    module = counterpart(alias.name) or alias.name
    if alias.asname is not None or module == package:
        return [_alias(module, alias.asname or root, alias)]
    return [_alias(module, root, alias), _alias(package, root, alias)]


def _alias(module: str, name: str, place: ast.alias) -> ast.alias:
    return ast.copy_location(ast.alias(module, name), place)


def compile_file(source: Any, filename: str, mode: str = "exec", *, optimize: int = -1) -> CodeType:
    """Compile source text, bytes or a syntax tree as `compile` does, with imports of this package.

    Raises
    ------
    SyntaxError
        As `compile` does.
    """
    try:
        tree = source if isinstance(source, ast.AST) else ast.parse(source, filename, mode)
    except SyntaxError as error:
        raise error.with_traceback(None) from None  # `compile` has no frame that parses
    return compile(ImportTransformer().visit(tree), filename, mode, dont_inherit=True, optimize=optimize)


def compile_selected(source: Any, filename: Any, mode: str = "exec", *flags: Any, **options: Any) -> Any:
    """Compile as the built-in function does; a script that is selected, with imports of this package."""
    if selection.in_force is not None and selection.in_force.has("__main__", filename):
        return compile_file(source, filename, mode)
    return compile(source, filename, mode, *flags, **options)
