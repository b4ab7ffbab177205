"""``%load_ext gpunumpy``: cells of IPython and Jupyter, and the modules that they import, import this package."""

from __future__ import annotations

from typing import Any

from .finder import install, uninstall
from .imports import ImportTransformer
from .selection import Selection

_transformer = ImportTransformer()


def load_ipython_extension(shell: Any) -> None:
    """Have the cells that follow import this package in place of NumPy and SciPy."""
    install(Selection())
    if _transformer not in shell.ast_transformers:
        shell.ast_transformers.append(_transformer)


def unload_ipython_extension(shell: Any) -> None:
    """Have the cells that follow import NumPy and SciPy."""
    uninstall()
    if _transformer in shell.ast_transformers:
        shell.ast_transformers.remove(_transformer)
