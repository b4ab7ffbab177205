"""Tables of the site, as lines of Markdown: NumPy's names in other libraries and here, and CuPy's own names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import gpunumpy

from .peers import CUPY_NAMES, PEERS, follow, read
from .reference import place

_TITLES = {
    "numpy": "functions and classes of the main namespace",
    "numpy.linalg": "`linalg`",
    "numpy.fft": "`fft`",
    "numpy.random": "`random`",
    "numpy.ndarray": "methods and attributes of arrays",
}


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    header = list(header)
    return [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows)] + [""]


def coverage() -> list[str]:
    """Return how many of NumPy's names each library has."""
    header, rows = read(PEERS)
    here: Counter[tuple[str, str]] = Counter((space, place(space, name)) for space, name, *_ in rows)
    lines = []
    for space, title in _TITLES.items():
        marks = [row[2:] for row in rows if row[0] == space]
        own, host = here[space, "yes"], here[space, "host"]
        others = (str(sum(mark == "yes" for mark in column)) for column in zip(*marks))
        lines.append([title, str(len(marks)), f"{own + host}" + (f" ({host} on the host)" if host else ""), *others])
    return _table(["NumPy's", "names", f"gpunumpy {gpunumpy.__version__}", *header[2:]], lines)


def all_names() -> list[str]:
    """Return which library has which of NumPy's names, a table for each namespace."""
    header, rows = read(PEERS)
    lines = []
    for space, title in _TITLES.items():
        lines += [f"**{title[0].upper()}{title[1:]}**", ""]
        lines += _table(
            ["name", "gpunumpy", *(text.partition(" ")[0] for text in header[2:])],
            ([f"`{name}`", place(space, name), *marks] for of, name, *marks in rows if of == space),
        )
    return lines


def names_of_cupy() -> list[str]:
    """Return which of CuPy's names beside NumPy's are here, and which are not."""
    _, rows = read(CUPY_NAMES)
    lines = []
    for space in dict.fromkeys(row[0] for row in rows):
        names: dict[bool, list[str]] = {True: [], False: []}
        for of, name in rows:
            if of == space:
                names[_is_here(space, name)].append(f"`{name}`")
        lines.append([f"`{space}`", *(" ".join(names[is_here]) for is_here in (True, False))])
    return _table(["in CuPy", "here too", "not here"], lines)


def _is_here(space: str, name: str) -> bool:
    """Whether this package has a name of CuPy's in the same place; the names of `cupyx` are in the main namespace."""
    return follow(gpunumpy, [*space.split(".")[1:], name]) is not None


TABLES: dict[str, Callable[[], list[str]]] = {
    "coverage": coverage,
    "all-names": all_names,
    "names-of-cupy": names_of_cupy,
}
