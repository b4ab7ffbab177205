"""Every public function of the installed NumPy, and its calls with each keyword, from the tables of `keywords`."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from types import ModuleType
from typing import Any, NamedTuple

import numpy

from .keywords import CALLS_TEXT, MORE_KEYWORDS, OWN_VALUES_TEXT, VALUES_TEXT


class Keyword(NamedTuple):
    """Keyword of a function: its name, and texts of values."""

    name: str
    values: list[str]


@cache
def public_functions() -> dict[str, Callable[..., Any]]:
    """Return NumPy's functions, those of `linalg` and `fft`, ufuncs' methods and methods of arrays, by name."""
    found: dict[str, Callable[..., Any]] = {}
    for prefix, module in (("", numpy), ("linalg.", numpy.linalg), ("fft.", numpy.fft)):
        for name in sorted(module.__all__):
            function = getattr(module, name)
            if callable(function) and not isinstance(function, (type, ModuleType)):
                found[prefix + name] = function
    for name, function in list(found.items()):
        if isinstance(function, numpy.ufunc) and name in _UFUNCS_WITH_METHODS:
            found |= {f"{name}.{method}": getattr(function, method) for method in _METHOD_CALLS}
    for name in dir(numpy.ndarray):
        if not name.startswith("_") and callable(getattr(numpy.ndarray, name)):
            found["." + name] = getattr(numpy.ndarray, name)
    return found


_METHOD_CALLS = {
    "reduce": "np.{}.reduce(m)",
    "accumulate": "np.{}.accumulate(m)",
    "reduceat": "np.{}.reduceat(m, [0, 2, 1])",
    "outer": "np.{}.outer(x[:3], y[:2])",
    "at": "np.{}.at(x, i, y)",
}
_UFUNCS_WITH_METHODS = frozenset(
    name
    for name, x in vars(numpy).items()
    if isinstance(x, numpy.ufunc) and x.nin == 2 and x.nout == 1 and x.signature is None
)


def _calls() -> dict[str, list[str]]:
    lines = CALLS_TEXT.replace("\\\n", "").strip().splitlines()
    calls = {name: text.split(" | ") for name, text in (line.split(": ", 1) for line in lines)}
    calls = {name: texts for name, texts in calls.items() if name in public_functions()}
    for name, function in public_functions().items():
        ufunc, _, method = name.partition(".")
        if isinstance(function, numpy.ufunc) and function.signature is not None:
            calls[name] = [f"np.{name}({_OPERANDS_OF_PRODUCTS[name]})"]
        elif isinstance(function, numpy.ufunc):
            calls[name] = [f"np.{name}(m)", f"np.{name}(f)"] if function.nin == 1 else _binary_calls(name)
        elif ufunc in _UFUNCS_WITH_METHODS and method:
            calls[name] = [_METHOD_CALLS[method].format(ufunc)]
    return calls


_OPERANDS_OF_PRODUCTS = {"matmul": "q, h", "vecdot": "m, w", "matvec": "m, row", "vecmat": "x[:3], q"}


def _binary_calls(name: str) -> list[str]:
    return [f"np.{name}(m, row)", f"np.{name}(f, 2)"]


def _table(text: str) -> dict[str, list[str]]:
    lines = text.replace("\\\n", "").strip().splitlines()
    return {key: [v.strip() for v in values.split(" | ")] for key, values in (line.split(": ", 1) for line in lines)}


CALLS = _calls()
VALUES, _OWN = _table(VALUES_TEXT), _table(OWN_VALUES_TEXT)


def keywords(name: str) -> list[Keyword]:
    """Return the optional arguments of a function that can be given by name, with values for each."""
    named = [*_optional_names(name), *MORE_KEYWORDS.get(name, "").split()]
    left_out = {"extobj", *_REMOVED.get(name, "").split()}
    return [Keyword(keyword, _values(name, keyword)) for keyword in dict.fromkeys(named) if keyword not in left_out]


# Keywords that newer releases than the oldest supported one have no more, and this package neither.
_REMOVED = {
    "array2string": "style",
    "corrcoef": "bias ddof",
    "reshape": "newshape",
    **dict.fromkeys(("nanpercentile", "nanquantile", "percentile", "quantile"), "interpolation"),
}


def _values(name: str, keyword: str) -> list[str]:
    for key, values in _OWN.items():
        pattern, own_keyword = key.split()
        if keyword == own_keyword and re.fullmatch(pattern, name):
            return values
    is_ufunc = isinstance(public_functions()[name], numpy.ufunc)
    if is_ufunc and keyword == "out" and public_functions()[name].nout == 2:  # type: ignore[attr-defined]
        return [value.replace("rt", "rts[0]") for value in _TWO_OUTPUTS.split(" | ")]
    if (is_ufunc and keyword == "where") or (name.endswith(".outer") and keyword == "where"):
        return [f"{value}, out=({', '.join(['new(rt)'] * _outputs(name))},)" for value in VALUES["where"]]
    return VALUES[keyword]


def _outputs(name: str) -> int:
    return getattr(public_functions()[name], "nout", 1)


_TWO_OUTPUTS = (
    "(new(rt), None) | (None, new('f8')) | new(rt) | (new(rt),) | (new('i1'), None) | (new(rt, 'F'), new('c16')) | "
    "(None, new(rt, 'C', 1)) | (new(rt, 'C', 0, 1), None) | 'x' | (None, None)"
)


def _optional_names(name: str) -> Iterator[str]:
    """Yield the optional parameters, from the signature or, where NumPy gives none, from the documentation."""
    function = public_functions()[name]
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        header = re.match(r"\s*[\w.]+\((.*?)\)\s*\n\s*\n", function.__doc__ or "", re.S)
        text = re.sub(r"\([^()]*\)", "", header[1]) if header else ""
        text = text.rpartition("/")[2]  # what comes before cannot be given by name
        yield from (word for word in re.findall(r"(\w+)\s*=", text))
        for optional in re.findall(r"\[(.*?)\]", text):
            yield from re.findall(r"\w+", optional)
        return
    for parameter in parameters:
        if parameter.default is not parameter.empty and parameter.kind is not parameter.POSITIONAL_ONLY:
            yield parameter.name


def calls_with_keywords(name: str) -> Iterator[str]:
    """Yield the calls of a function: without keywords, with all arguments by name, with each keyword, with two."""
    for call in CALLS[name]:
        yield call
        yield from _by_name(name, call)
        given = keywords(name)
        for keyword in given:
            for value in keyword.values:
                yield _with(call, f"{keyword.name}={value}")
        for one, other in combinations([k for k in given if k.name != "signature"], 2):
            texts = [f"{k.name}={k.values[0]}" for k in (one, other)]
            if not any(", out=" in text for text in texts):
                yield _with(call, ", ".join(texts))


def _with(call: str, keyword: str) -> str:
    body, end = re.fullmatch(r"(.*)\)([^()]*)", call, re.S).groups()  # type: ignore[union-attr]
    return f"{body}{'' if body.endswith('(') else ', '}{keyword}){end}"


def _by_name(name: str, call: str) -> Iterator[str]:
    """Yield the call with every argument by name, if the function has a signature that allows it."""
    tree = ast.parse(call, mode="eval").body
    try:
        parameters = list(inspect.signature(public_functions()[name]).parameters.values())
    except ValueError:
        return
    if name.startswith("."):
        parameters = parameters[1:]
    if isinstance(tree, ast.Call) and not tree.keywords and len(tree.args) <= len(parameters):
        pairs = zip(parameters, tree.args)
        if all(p.kind is p.POSITIONAL_OR_KEYWORD for p, _ in pairs):
            named = ", ".join(f"{p.name}={ast.unparse(a)}" for p, a in zip(parameters, tree.args))
            yield f"{ast.unparse(tree.func)}({named})"
