"""Every public function of the submodules of the installed NumPy, and its calls with each parameter, from tables."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from typing import Any

import numpy
import numpy.polynomial

from .keyword_calls import VALUES
from .submodule_values import VALUES_TEXT

_BASES = ("polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre")
_CLASSES = ("Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre")
# Where functions are, and what a call of one begins with. `lib.scimath` is `emath`; the rest of `lib` is NumPy's own.
SCOPES = {
    **{name: f"np.{name}" for name in ("char", "strings", "emath", "rec")},
    **{f"lib.{name}": f"np.lib.{name}" for name in ("stride_tricks", "array_utils", "format", "introspect")},
    "ma": "np.ma",
    "ma.MaskedArray": "M",
    "random": "np.random",
    "random.Generator": "g",
    "random.RandomState": "rs",
    **{f"polynomial.{name}": f"np.polynomial.{name}" for name in (*_BASES, "polyutils")},
    **{f"polynomial.{name}": "p" for name in _CLASSES},
}


def resolve(xp: Any, path: str) -> Any:
    """Return what a path of names in a library leads to."""
    for part in path.split("."):
        xp = getattr(xp, part)
    return xp


@cache
def public_functions() -> dict[str, Callable[..., Any]]:
    """Return the functions of the submodules and the methods of their classes, by name."""
    found = {}
    for scope in SCOPES:
        owner = resolve(numpy, scope)
        is_class = inspect.isclass(owner)
        for name in sorted(dir(owner) if is_class else getattr(owner, "__all__", None) or dir(owner)):
            with warnings.catch_warnings(action="ignore"):  # of `char.chararray`, a class
                function = getattr(owner, name)
            if callable(function) and not name.startswith(("_", "test")) and not inspect.isclass(function):
                found[f"{scope}.{name}"] = function
    return found


def _table() -> list[tuple[re.Pattern[str], str, list[str]]]:
    lines = VALUES_TEXT.replace("\\\n", "").strip().splitlines()
    rows = []
    for line in lines:
        key, values = line.split(":", 1)
        scope, parameter = key.rsplit(" ", 1)
        rows.append((re.compile(scope), parameter, [v.strip() for v in values.split(" | ")]))
    return rows


_ROWS = _table()


def values_of(name: str, parameter: str) -> list[str]:
    """Return the texts of the values that a parameter of a function is given."""
    for scope, pattern, values in _ROWS:
        if scope.fullmatch(name) and re.fullmatch(pattern, parameter):
            return values
    return VALUES[parameter]


_LIKE_ARRAYS = {
    **{f"ma.MaskedArray.{n}": f"ndarray.{n}" for n in ("argpartition", "copy", "diagonal", "flatten", "partition")},
    **{f"ma.MaskedArray.{n}": f"ndarray.{n}" for n in ("repeat", "squeeze", "swapaxes", "transpose")},
    **{f"ma.{n}": n for n in ("copy", "diagonal", "repeat", "swapaxes")},
}


def parameters_of(name: str) -> list[inspect.Parameter]:
    """Return the parameters of a function that arguments can be given for, without that of a method's object."""
    function = public_functions()[name]
    try:
        signature = inspect.signature(resolve(numpy, _LIKE_ARRAYS[name]) if name in _LIKE_ARRAYS else function)
    except ValueError:  # as of older releases
        return []
    found = [p for p in signature.parameters.values() if p.name not in ("self", "like", "stream")]
    if [p.name for p in found[-2:]] == ["args", "kwargs"] and name.startswith("ma.") and found[0].name == "a":
        found += [p for p in inspect.signature(numpy.add).parameters.values() if p.name in _OF_UFUNCS]
    return [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


# What the masked functions pass on to the ufuncs.
_OF_UFUNCS = ("out", "where", "casting", "order", "dtype", "subok")

# Arguments that a call cannot do without.
_BASE = {name: {"formats": "'f8,i4'"} for name in ("rec.fromstring", "rec.fromfile")}


def calls_of(name: str) -> Iterator[str]:
    """Yield the calls of a function: without options, with names, with each value of each parameter, with two."""
    parameters = parameters_of(name)
    prefix = SCOPES[name.rpartition(".")[0]] + "." + name.rpartition(".")[2]
    empty = inspect.Parameter.empty
    base = {p.name: values_of(name, p.name)[0] for p in parameters if p.default is empty} | _BASE.get(name, {})

    def call(arguments: dict[str, str], by_name: bool = False) -> str:
        given = [p for p in parameters if p.name in arguments]
        is_positional = {p.name: p.kind is p.POSITIONAL_ONLY or not (by_name or p.default is not empty) for p in given}
        texts = [arguments[name] if first else f"{name}={arguments[name]}" for name, first in is_positional.items()]
        # Keywords, which some values bring with them, come last.
        return f"{prefix}({', '.join(sorted(texts, key=lambda text: '=' in text))})"

    yield call(base)
    yield call(base, by_name=True)
    for p in parameters:
        for value in values_of(name, p.name):
            yield call(base | {p.name: value})
    optional = [p.name for p in parameters if p.name not in base and p.kind is not p.POSITIONAL_ONLY]
    for pair in combinations(optional, 2):
        given = {n: (values_of(name, n) * 2)[1] for n in pair}
        if not any(", " in v and "=" in v for v in given.values()):
            yield call(base | given)
