"""Which names of NumPy other libraries have, and which of CuPy's NumPy does not have: files that the site is made of.

    python -m tools.site.peers

Run it where CuPy, JAX, PyTorch and dpnp are installed; none needs a GPU for its names. It writes `docs/peers.csv` and
`docs/cupy-names.csv`. What this package has is not in them: the site is made with the package itself.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy

DOCS = Path(__file__).parents[2] / "docs"
PEERS = DOCS / "peers.csv"
CUPY_NAMES = DOCS / "cupy-names.csv"


class Library(NamedTuple):
    """A library: its module with NumPy's names, its class of arrays, and the distribution that has them."""

    module: str
    array: str
    distribution: str


LIBRARIES = {
    "CuPy": Library("cupy", "cupy.ndarray", "cupy-cuda13x"),
    "JAX": Library("jax.numpy", "jax.Array", "jax"),
    "PyTorch": Library("torch", "torch.Tensor", "torch"),
    "dpnp": Library("dpnp", "dpnp.ndarray", "dpnp"),
}
# Namespaces of NumPy's whose functions and classes are rows.
NAMESPACES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.random", "numpy.ndarray")
# Namespaces of CuPy's, by those of NumPy's whose names are left out.
_OF_CUPY = {
    "cupy": "numpy",
    "cupy.ndarray": "numpy.ndarray",
    "cupy.random": "numpy.random",
    "cupy.cuda": "",
    "cupyx": "",
}


def follow(start: Any, path: Iterable[str]) -> Any:
    """Return what attributes lead to, one after the other, or None."""
    for name in path:
        start = getattr(start, name, None)
    return start


def find(path: str) -> Any:
    """Return what a dotted path names, or None."""
    module, *parts = path.split(".")
    return follow(import_module(module), parts)


def read(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a table."""
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def names(namespace: str) -> list[str]:
    """Return the public functions and classes of a namespace, without scalar types, errors and modules."""
    found = find(namespace)
    kinds = (numpy.generic, BaseException)
    return [
        name
        for name in sorted(getattr(found, "__all__", None) or dir(found))
        if not name.startswith("_")
        and (callable(x := getattr(found, name)) or namespace.endswith("ndarray"))
        and not isinstance(x, ModuleType)
        and not (isinstance(x, type) and issubclass(x, kinds))
    ]


def rows() -> Iterator[list[str]]:
    """Yield the rows of the table of NumPy's names: the header, with versions, first."""
    yield ["namespace", "name", *(f"{title} {version(x.distribution)}" for title, x in LIBRARIES.items())]
    for namespace in NAMESPACES:
        _, _, inner = namespace.partition(".")
        for name in names(namespace):
            places = (x.array if inner == "ndarray" else f"{x.module}.{inner}".rstrip(".") for x in LIBRARIES.values())
            yield [namespace, name, *("yes" if find(f"{place}.{name}") is not None else "" for place in places)]


def cupy_rows() -> Iterator[list[str]]:
    """Yield the rows of the table of CuPy's names that NumPy does not have, nor had in its first version."""
    yield ["namespace", "name"]
    for namespace, known in _OF_CUPY.items():
        known_names = {*dir(find(known)), *getattr(find(known), "__expired_attributes__", ())} if known else set()
        for name in names(namespace):
            if name not in known_names and name != "annotations":
                yield [namespace, name]


def write(path: Path, table: Iterator[list[str]]) -> None:
    """Write a table, which is complete before the file is opened."""
    lines = list(table)
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for _module in ("jax.numpy", "jax.numpy.linalg", "jax.numpy.fft", "cupyx", "cupy.cuda", "torch.fft"):
        import_module(_module)
    write(PEERS, rows())
    write(CUPY_NAMES, cupy_rows())
