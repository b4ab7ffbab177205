"""Writes the tables of `docs/scipy.md`: which of SciPy's functions runs where.

    python -m tools.scipy_page

It needs SciPy and CuPy, with CuPy's libraries, and no GPU. `tests/scipy/test_page.py` finds a page that is old.
"""

from __future__ import annotations

import os
import textwrap
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

os.environ["SCIPY_ARRAY_API"] = "1"  # the page tells which functions need it

import scipy  # type: ignore[import-untyped]

from gpunumpy.scipy import modules
from gpunumpy.scipy.counterparts import counterpart_of, own_of
from gpunumpy.scipy.cupy_library import cupy
from gpunumpy.scipy.functions import takes_any_array

PAGE = Path(__file__).parents[1] / "docs" / "scipy.md"
BEGIN = "<!-- what follows is written by tools/scipy_page.py -->"
# The modules on the page; those that SciPy keeps for old names are not.
MODULES = (
    *("ndimage", "signal", "signal.windows", "sparse", "sparse.linalg", "sparse.csgraph", "special", "interpolate"),
    *("stats", "spatial", "spatial.distance", "spatial.transform", "optimize", "integrate", "linalg", "fft"),
    *("cluster.vq", "cluster.hierarchy", "differentiate"),
)
PLACES = {
    "own": "on the GPU by this package",
    "cupyx": "on the GPU by `cupyx.scipy`",
    "api": "on the GPU by SciPy, with `SCIPY_ARRAY_API=1`",
    "host": "on the host by SciPy",
}


def names(path: str) -> Iterator[tuple[str, Any]]:
    """The functions and classes of a module of SciPy's, with their names."""
    module = import_module(f"scipy.{path}")
    for name in modules.public_names(path):
        found = getattr(module, name)
        is_error = isinstance(found, type) and issubclass(found, BaseException)
        if callable(found) and not isinstance(found, ModuleType) and not is_error:
            yield name, found


def place(path: str, name: str, found: Any) -> str:
    """Where a function runs, as one of `PLACES`."""
    if own_of(found, path, name) is not None or (path == "special" and name in own_special()):
        return "own"
    if counterpart_of(found, path, name) is not None:
        return "cupyx"
    return "api" if takes_any_array(found) else "host"


def own_special() -> set[str]:
    """The functions of `special` that are operations of this package, and not SciPy's that were used before."""
    special = modules.submodule("special")
    public = {name: x for name, x in vars(special).items() if not name.startswith("_")}
    handed_over = {n for n, x in public.items() if isinstance(x, FunctionType) and x.__module__ == special.__name__}
    return {name for name, x in public.items() if not isinstance(x, ModuleType)} - handed_over


def page() -> str:
    """The page: what was written by hand, then a part for each module."""
    parts = [PAGE.read_text(encoding="utf-8").split(BEGIN)[0] + BEGIN + "\n"]
    parts.append(f"With SciPy {scipy.__version__} and CuPy {cupy().__version__}:\n")
    for path in MODULES:
        found: dict[str, list[str]] = {key: [] for key in PLACES}
        for name, x in names(path):
            found[place(path, name, x)].append(f"`{name}`")
        parts.append(f"### `{path}`\n")
        for key, text in PLACES.items():
            if found[key]:
                line = f"{text[0].upper()}{text[1:]} ({len(found[key])}): {', '.join(found[key])}."
                parts.append("\n".join(textwrap.wrap(line, 120, break_long_words=False, break_on_hyphens=False)) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    text = page()  # before the file is opened
    PAGE.write_text(text, encoding="utf-8")
