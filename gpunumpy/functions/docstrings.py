"""Docstrings of the functions that NumPy has too: what NumPy says of parameters and results, beside what is ours."""

from __future__ import annotations

import re
from types import FunctionType
from typing import Any

# The sections that hold for ours as they stand. The others speak of NumPy's algorithms, and show its results.
_SECTIONS = ("Parameters", "Other Parameters", "Returns", "Yields", "Raises", "Warns")
_HEADING = re.compile(r"^(\w[\w ]*)\n-{4,}\n", re.MULTILINE)
_END = re.compile(r"\n *(?:See Also|Notes|References|Examples)\n *-{4,}\n")
_FLUSH = re.compile(r"\n\S")
_ENTRY = re.compile(r"\n(?=\S)")

# Parameters that mean something else here, or that NumPy does not have.
_OURS = {
    "device": "device : Device, str, int or None, optional\n"
    "    Where to make the result; by default on the device of the arrays that are given, or else on the default one.",
    "like": "like : object, optional\n    For NumPy's sake; it changes nothing.",
    "subok": "subok : bool, optional\n    For NumPy's sake: there are no subclasses.",
}
# Functions whose docstring in NumPy sends the reader to another's.
_SENT_TO = {"array_split": "split", "dsplit": "split", "hsplit": "split", "vsplit": "split"}


def describe(names: dict[str, Any], numpys: Any) -> None:
    """Complete the docstrings of functions.

    Parameters
    ----------
    names
        The functions, and other things, by the names they have in NumPy.
    numpys
        NumPy's module.
    """
    package, known = __name__.partition(".")[0], set(numpys.__all__)
    for name, function in names.items():
        if type(function) is FunctionType and name in known and function.__module__.startswith(package):
            theirs = getattr(numpys, _SENT_TO.get(name, name)).__doc__
            if theirs and function.__doc__ and theirs is not function.__doc__:
                function.__doc__ = merged(function, theirs, name in _SENT_TO)


def merged(function: FunctionType, theirs: str, choose: bool) -> str:
    """Our docstring with the sections, and the entries of its parameters, that only NumPy's has.

    With `choose`, of the entries those alone that are parameters of our function.
    """
    code = function.__code__
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    summary, mine = _sections(function.__doc__ or "")
    numpys = _sections(theirs)[1]
    entries = _entries(numpys.get("Parameters", ""))
    if choose:
        entries = {name: text for name, text in entries.items() if name in parameters}
    entries |= {name: text for name, text in _OURS.items() if name in parameters}
    entries |= _entries(mine.get("Parameters", ""))
    parts = [summary]
    for section in _SECTIONS:
        text = "\n".join(entries.values()) if section == "Parameters" else mine.get(section) or numpys.get(section)
        if text:
            parts.append(f"{section}\n{'-' * len(section)}\n{text}")
    return "\n\n".join(parts) + "\n"


def _sections(doc: str) -> tuple[str, dict[str, str]]:
    """What stands before the first heading, and what under each; without the indentation of a function's body."""
    doc = _END.split(doc, 1)[0]
    if not _FLUSH.search(doc):
        doc = doc.replace("\n    ", "\n")
    first, *rest = _HEADING.split(doc)
    return first.strip(), {name: text.strip() for name, text in zip(rest[::2], rest[1::2], strict=True)}


def _entries(section: str) -> dict[str, str]:
    """The entries of a section of parameters, by what they are called."""
    return {entry.partition(":")[0].strip(" `*"): entry.rstrip() for entry in _ENTRY.split(section) if entry}
