"""What `help` shows of public functions and classes: the module of the user's import, and a whole docstring."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from inspect import unwrap
from types import FunctionType
from typing import Any

from ..core._native import PublicFunction

# The sections of NumPy's docstrings that hold here too. The others describe NumPy's algorithms and show its output.
_SECTIONS = ("Parameters", "Other Parameters", "Returns", "Yields", "Raises", "Warns")
# Patterns, compiled when they are needed.
_HEADING = r"(?m)^(\w[\w ]*)\n-{4,}\n"
_FIRST_OMITTED = r"\n *(?:See Also|Notes|References|Examples)\n *-{4,}\n"
_UNINDENTED_LINE = r"\n\S"
_ENTRY = r"\n(?=\S)"

# Entries for parameters that mean something else here, or that NumPy does not have.
_OWN_ENTRIES = {
    "device": "device : Device, str, int or None, optional\n"
    "    Device of the result; by default that of the array arguments, or else the default device.",
}
# Functions whose docstring in NumPy refers to the docstring of another function.
_REFERS_TO = {"array_split": "split", "dsplit": "split", "hsplit": "split", "trapz": "trapezoid", "vsplit": "split"}


def describe(names: dict[str, Any], numpy_module: Any) -> None:
    """Complete the docstrings of functions with sections of NumPy's docstrings, where the core can at the first look.

    Parameters
    ----------
    names
        The functions, and other objects, by their names in NumPy.
    numpy_module
        The module of NumPy.
    """
    package, numpy_names = __name__.partition(".")[0], set(numpy_module.__all__)
    described = set()  # a function may have several names
    for name, function in names.items():
        is_public = isinstance(function, (FunctionType, PublicFunction)) and name in numpy_names
        if not is_public or not function.__module__.startswith(package) or function in described:
            continue
        described.add(function)
        own_doc, numpy_doc = function.__doc__, getattr(numpy_module, _REFERS_TO.get(name, name)).__doc__
        if numpy_doc and own_doc and numpy_doc is not own_doc:
            make = partial(merged, function, own_doc, numpy_doc, name in _REFERS_TO)
            function.__doc__ = make() if type(function) is FunctionType else make


def show_in(module: str, names: dict[str, Any]) -> None:
    """Let functions and classes say that they are of the module where users find them, in texts and in pickles."""
    package = __name__.partition(".")[0] + "."
    for x in names.values():
        if (
            isinstance(x, (FunctionType, PublicFunction, type))
            and x.__module__.startswith(package)
            and x.__module__ != module
        ):
            x.__module__ = module


def merged(function: Callable[..., Any], own_doc: str, numpy_doc: str, choose: bool) -> str:
    """Return a function's own docstring, completed with sections and parameter entries of NumPy's docstring.

    Sections and entries of the function's own docstring take precedence. With `choose`, NumPy's entries are left out
    unless the function has the parameter.
    """
    code = unwrap(function).__code__
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    summary, own_sections = _sections(own_doc)
    numpy_sections = _sections(numpy_doc)[1]
    entries = _entries(numpy_sections.get("Parameters", ""))
    if choose:
        entries = {name: text for name, text in entries.items() if name in parameters}
    entries |= {name: text for name, text in _OWN_ENTRIES.items() if name in parameters}
    entries |= _entries(own_sections.get("Parameters", ""))
    parts = [summary]
    for section in _SECTIONS:
        text = (
            "\n".join(entries.values())
            if section == "Parameters"
            else own_sections.get(section) or numpy_sections.get(section)
        )
        if text:
            parts.append(f"{section}\n{'-' * len(section)}\n{text}")
    return "\n\n".join(parts) + "\n"


def _sections(doc: str) -> tuple[str, dict[str, str]]:
    """Return the text before the first heading and the text under each, with common indentation removed."""
    doc = re.split(_FIRST_OMITTED, doc, maxsplit=1)[0]
    if not re.search(_UNINDENTED_LINE, doc):
        doc = doc.replace("\n    ", "\n")
    summary, *headings_and_texts = re.split(_HEADING, doc)
    return summary.strip(), {
        name: text.strip() for name, text in zip(headings_and_texts[::2], headings_and_texts[1::2], strict=True)
    }


def _entries(section: str) -> dict[str, str]:
    """Return the entries of a section of parameters, by the names of the parameters."""
    return {entry.partition(":")[0].strip(" `*"): entry.rstrip() for entry in re.split(_ENTRY, section) if entry}
