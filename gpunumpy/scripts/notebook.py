"""``%load_ext gpunumpy``: cells of IPython and Jupyter, and the modules that they import, import this package."""

from __future__ import annotations

from typing import Any
from warnings import warn

import numpy

from .finder import install, uninstall
from .imports import ImportTransformer
from .selection import Selection

_transformer = ImportTransformer()


def load_ipython_extension(shell: Any) -> None:
    """Have the cells that follow import this package in place of NumPy and SciPy."""
    install(Selection())
    if _transformer not in shell.ast_transformers:
        shell.ast_transformers.append(_transformer)

    def after_cell(result: Any) -> None:
        shell.events.unregister("post_run_cell", after_cell)
        _tell_of_numpy(shell.user_ns)

    shell.events.register("post_run_cell", after_cell)


def _tell_of_numpy(names: dict[str, Any]) -> None:
    """Warn if names are NumPy's module: a cell is compiled before the extension is loaded that a line of it loads."""
    found = [name for name, x in names.items() if x is numpy and not name.startswith("_")]
    if found:
        warn(
            f"{', '.join(found)}: NumPy itself, as it was imported before %load_ext gpunumpy or in the same cell; "
            "import it once more in a cell of its own",
            stacklevel=2,
        )


def unload_ipython_extension(shell: Any) -> None:
    """Have the cells that follow import NumPy and SciPy."""
    uninstall()
    if _transformer in shell.ast_transformers:
        shell.ast_transformers.remove(_transformer)
