"""What the reference says of each public name: read from the package and from NumPy, as data, without Sphinx.

A function's own docstring is shown, and of NumPy's the first sentence alone: what NumPy says holds, and entries link to
NumPy's pages. Notes are what differs: where NumPy computes, parameters that only one of both has, the lines of
`docs/differences.md` that name the function, and the errors of `docs/accuracy.md`.
"""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import GetSetDescriptorType, ModuleType
from typing import Any

import numpy
import numpy.lib.recfunctions  # which NumPy imports only when asked

import gpunumpy
from gpunumpy.functions.fallback import _HOLDERS

from .notes import accuracy, differences
from .peers import CUPY_NAMES, follow, read

PACKAGE = "gpunumpy"
_FOLDER = Path(gpunumpy.__file__).parent
_NUMPY_PAGES = "https://numpy.org/doc/stable/reference/generated"
_WITH_PAGES = frozenset((PACKAGE, f"{PACKAGE}.linalg", f"{PACKAGE}.fft"))
_FALLBACK = _FOLDER / "functions" / "fallback.py"

# The chapters of the main namespace, by the beginning of the file that a function is written in; the first that fits.
_CHAPTER_OF_FILE = {
    "functions/creation/": "creation",
    "functions/indexing/": "indexing",
    "functions/manipulation/": "manipulation",
    "functions/products/": "products",
    "functions/reductions/": "reductions",
    "functions/statistics/": "statistics",
    "functions/sorting/": "sorting",
    "functions/sets/": "sets",
    "functions/ufuncs/errstate": "settings",
    "functions/ufuncs/": "elementwise",
    "functions/dtype_functions.py": "dtypes_of_arrays",
    "functions/files.py": "files",
    "functions/": "numeric",
    "polynomial/": "numeric",
    "": "settings",
}
# Of classes that say no more than that they are of the package.
_CHAPTER_OF_CLASS = {"finfo": "dtypes_of_arrays", "flatiter": "indexing", "ufunc": "elementwise"}
_MAIN_CHAPTERS = (*dict.fromkeys(_CHAPTER_OF_FILE.values()), "ufuncs", "added", "cupy", "host", "scalars", "constants")
_POLYNOMIALS = ("polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre")
_INSIDE_LIB = ("array_utils", "format", "mixins", "recfunctions", "scimath", "stride_tricks")
# The chapters that are modules.
_MODULES = (
    *("linalg", "fft", "random", "ma", "polynomial", "char", "strings", "rec", "lib", "emath", "testing", "typing"),
    *("exceptions", "dtypes", "ctypeslib", "cuda"),
    *(f"polynomial.{name}" for name in _POLYNOMIALS),
    *(f"lib.{name}" for name in _INSIDE_LIB),
)
# The first paragraph of many of NumPy's docstrings.
_CALL = re.compile(r"[\w.]+\(.*\)(?: -> .+)?\.?")
_CALL_BEFORE_TEXT = re.compile(r"^\w+\(\) --\s*")
_ROLE = re.compile(r":[\w+:]+:`~?([^`<]+?)(?: <[^`]*)?`")
# Kinds of parameters: those with a name, and those that take any number of arguments.
_NAMED = frozenset((inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY))
_COLLECTING = frozenset((inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD))
CHAPTERS = (*_MAIN_CHAPTERS, *_MODULES, "ndarray")
# Classes whose methods and attributes are entries too.
_WITH_MEMBERS = frozenset(("Event", "Generator", "RawKernel", "RawModule", "Stream", "ndarray"))


@dataclass(frozen=True)
class Entry:
    """What is said of one name.

    Attributes
    ----------
    kind
        As Sphinx calls it: "function", "class", "exception", "method", "attribute", "data".
    summary, text
        The first paragraph, and the rest of the package's own docstring, numpydoc.
    notes
        What differs from NumPy, reStructuredText.
    """

    module: str
    name: str
    kind: str
    signature: str = ""
    summary: str = ""
    text: str = ""
    notes: tuple[str, ...] = ()
    members: tuple[Entry, ...] = ()


def chapter(title: str) -> list[Entry]:
    """Return the entries of a chapter.

    Raises
    ------
    ValueError
        If there is no such chapter.
    """
    if title not in CHAPTERS:
        raise ValueError(f"{title!r} is no chapter; these are: {', '.join(CHAPTERS)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of names that NumPy is about to drop
        return list(_entries(title))


def _entries(title: str) -> Iterator[Entry]:
    if title == "ndarray":
        yield _entry(PACKAGE, "ndarray", gpunumpy.ndarray)
    elif title in _MODULES:
        module = attrgetter(title)(gpunumpy)
        yield from (_entry(f"{PACKAGE}.{title}", name, getattr(module, name)) for name in names_of(title))
    else:
        yield from (_entry(PACKAGE, name, x) for name, x in main_names().items() if chapter_of(name, x) == title)


def names_of(module: str) -> list[str]:
    """Return the public names of a module of the package that are not modules."""
    found = attrgetter(module)(gpunumpy)
    original = follow(numpy, module.split(".")) or found
    names = getattr(original, "__all__", None) or dir(original)
    names = {*names, *(found.__all__ if module == "random" else ())}
    if module == "cuda":
        names = {name for name in names if name not in gpunumpy.__all__}
    return sorted(
        name for name in names if not name.startswith("_") and not isinstance(getattr(found, name), ModuleType)
    )


@cache
def main_names() -> dict[str, Any]:
    """Return what the main namespace has, but for modules and for the class of arrays."""
    found = {name: getattr(gpunumpy, name) for name in gpunumpy.__all__}
    return {name: x for name, x in found.items() if not isinstance(x, ModuleType) and name != "ndarray"}


@cache
def _names_of_cupy() -> frozenset[str]:
    return frozenset(name for space, name in read(CUPY_NAMES)[1] if space in ("cupy", "cupyx"))


def chapter_of(name: str, x: Any) -> str:
    """Return the chapter of what the main namespace has under a name."""
    if not hasattr(numpy, name):
        return "cupy" if name in _names_of_cupy() else "added"
    if type(x) is gpunumpy.ufunc:  # not those of matrices, which say that they are instances
        return "ufuncs"
    if isinstance(x, type) and issubclass(x, numpy.generic):
        return "scalars"
    if not callable(x):
        return "constants"
    if name in _HOLDERS:
        return "host"
    if name in _CHAPTER_OF_CLASS:
        return _CHAPTER_OF_CLASS[name]
    file = _file_of(x)
    if not file.is_relative_to(_FOLDER) or _runs_on_host(x):
        return "host"
    path = file.relative_to(_FOLDER).as_posix()
    return next(chapter for start, chapter in _CHAPTER_OF_FILE.items() if path.startswith(start))


def place(namespace: str, name: str) -> str:
    """Return where something of NumPy's runs here: "yes" for this package's own, "host", or "" if it is not there."""
    found = _original(namespace, name, None)
    here = follow(gpunumpy, [*namespace.split(".")[1:], name])
    if found is None or here is None:
        return ""
    is_host = chapter_of(name, here) in ("files", "host") if namespace == "numpy" else _runs_on_host(here)
    return "host" if is_host else "yes"


def _unwrapped(x: Any) -> Any:
    return x if isinstance(x, type) else inspect.unwrap(x)


def _file_of(x: Any) -> Path:
    """Return the file that a function or a class is written in; that of NumPy if Python does not know."""
    x = _unwrapped(x)
    code = getattr(x, "__code__", None)
    if code is not None:
        return Path(code.co_filename)
    return Path(getattr(sys.modules.get(x.__module__), "__file__", None) or numpy.__file__)


def _runs_on_host(x: Any) -> bool:
    """Whether a function is NumPy's, wrapped to take and return arrays of the package."""
    code = getattr(x, "__code__", None)
    return code is not None and Path(code.co_filename) == _FALLBACK


def _entry(module: str, name: str, x: Any, owner: Any = None) -> Entry:
    """Return the entry of what a module has under a name, or what the class `owner` has."""
    numpy_module = "numpy" + module.removeprefix(PACKAGE)
    original = _original(numpy_module, name, owner)
    summary, text = ("", "") if _has_docstring_of(x, original) else _own_docstring(x)
    if not summary:
        summary = _first_sentence(original, name) or _first_sentence(x, name)
    kind = _kind(x, original, owner)
    is_called = kind in ("function", "method", "class")
    return Entry(
        module,
        name if owner is None else f"{owner.__name__}.{name}",
        kind,
        signature(x if callable(x) else original, kind == "method") if is_called else "",
        summary,
        text,
        tuple(_notes(module, name, x, original, owner, kind)),
        tuple(_members(module, x)) if kind == "class" and x.__name__ in _WITH_MEMBERS else (),
    )


def _original(module: str, name: str, owner: Any) -> Any:
    """Return what NumPy has under a name, or None; of an array, what its scalars have too."""
    path = [*module.removeprefix("numpy").split(".")[1:], *([] if owner is None else [owner.__name__]), name]
    found = follow(numpy, path)
    if found is None and owner is gpunumpy.ndarray:
        found = getattr(numpy.float64, name, None) or getattr(numpy.int64, name, None)
    return found


def _kind(x: Any, original: Any, owner: Any) -> str:
    if isinstance(x, type):
        return "exception" if issubclass(x, BaseException) else "class"
    if not callable(x) and (owner is None or not callable(original)):
        return "data" if owner is None else "attribute"
    return "function" if owner is None else "method"


def _members(module: str, cls: Any) -> Iterator[Entry]:
    names = dir(gpunumpy.ones(1)) if cls is gpunumpy.ndarray else dir(cls)
    for name in names:
        entry = _entry(module, name, getattr(cls, name), cls)
        if not name.startswith("_") and entry.summary:  # slots have none: the class tells of them
            yield entry


def signature(x: Any, is_method: bool = False) -> str:
    """Return the parameters of a function, in parentheses, without annotations; "(...)" where Python has none."""
    try:
        found = inspect.signature(x)
    except (TypeError, ValueError):
        return "(...)"
    parameters = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    if is_method and parameters and parameters[0].kind in (0, 1):
        parameters = parameters[1:]
    parameters = [p.replace(default=_Name(p.default)) if p.default is not p.empty else p for p in parameters]
    return str(found.replace(parameters=parameters, return_annotation=found.empty))


class _Name:
    """Default of a parameter, shown as programs write it."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __repr__(self) -> str:
        value: Any = self._value
        if isinstance(value, type):
            return value.__name__
        return "..." if " object at " in repr(value) else repr(value)


def _own_docstring(x: Any) -> tuple[str, str]:
    """Return the first paragraph and the rest of the docstring that is written in the package; empty without one."""
    found = _unwrapped(x) if callable(x) else x
    if isinstance(found, property):
        found = found.fget
    code = getattr(found, "__code__", None)
    if isinstance(found, GetSetDescriptorType) and found.__objclass__ is gpunumpy.ndarray:
        doc = found.__doc__  # the core's, which stands before a property
    elif isinstance(found, type):
        doc = found.__doc__ if found.__module__.partition(".")[0] == PACKAGE and "__doc__" in vars(found) else None
    elif code is None or not Path(code.co_filename).is_relative_to(_FOLDER) or not code.co_consts:
        doc = None
    else:
        doc = code.co_consts[0]  # the docstring as it is written; `__doc__` has NumPy's sections too
    if not isinstance(doc, str) or found.__name__ == "<lambda>":
        return "", ""
    summary, _, text = inspect.cleandoc(doc).partition("\n\n")
    return _without_reference(summary), text


def _has_docstring_of(x: Any, original: Any) -> bool:
    """Whether a class has the docstring of NumPy's class."""
    return (
        isinstance(x, type) and isinstance(original, type) and (x.__doc__ or "")[:80] == (original.__doc__ or "")[:80]
    )


def _without_reference(summary: str) -> str:
    """Return a summary without the sentence that names NumPy's function, to which entries link."""
    return re.split(r" See `(?:numpy|ndarray)\.", " ".join(summary.split()))[0]


def _first_sentence(x: Any, name: str) -> str:
    """Return the first paragraph of a docstring that is not a signature, cut after its first sentence."""
    doc = inspect.getdoc(x) if callable(x) or isinstance(x, property) or inspect.isdatadescriptor(x) else ""
    for paragraph in (doc or "").split("\n\n"):
        text = _CALL_BEFORE_TEXT.sub("", " ".join(paragraph.split()))
        if text and not _CALL.fullmatch(text) and not text.startswith((f"{name}(", ".. ", "a.", "(")):
            return _ROLE.sub(r"``\1``", text.partition(". ")[0].rstrip(".").replace("*", r"\*") + ".")
    return ""


def _notes(module: str, name: str, x: Any, original: Any, owner: Any, kind: str) -> Iterator[str]:
    if module in _WITH_PAGES and hasattr(original, "__name__") and owner is None:
        page = f"{module.replace(PACKAGE, 'numpy')}.{original.__name__}"
        yield f"See `{page} <{_NUMPY_PAGES}/{page}.html>`__."
    if _runs_on_host(x):
        yield "NumPy computes it, on the host."
    elif kind == "class" and getattr(x, "__module__", "").partition(".")[0] == "numpy":
        yield "NumPy's own class."
    if kind in ("function", "method") and not _runs_on_host(x):
        yield from parameter_notes(x, original, kind == "method")
    if name in accuracy():
        yield accuracy()[name]
    yield from differences().get(name, ())


def parameter_notes(x: Any, original: Any, is_method: bool) -> Iterator[str]:
    """Yield which parameters only one of two functions has; the first of a method is the array itself."""
    try:
        ours, theirs = (
            {p.name: p.kind for p in [*inspect.signature(f).parameters.values()][is_method:]} for f in (x, original)
        )
    except (TypeError, ValueError):
        return
    for here, there, text in ((ours, theirs, "Not in NumPy"), (theirs, ours, "Not here")):
        only = [f"``{name}``" for name, kind in here.items() if name not in there and kind in _NAMED]
        if only and not _COLLECTING & {*there.values()}:
            yield f"{text}: {', '.join(only)}."
