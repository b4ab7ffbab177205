"""The ``def``s of one function: names and defaults from the run time, types from it and from NumPy's stubs."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, get_overloads

from . import decisions
from .annotations import ImpossibleError, Role, parameter, result
from .numpy_stubs import EITHER, KEYWORD, OPTIONS, POSITIONAL, STAR, Kind, Overload, Parameter
from .unions import union

EMPTY = inspect.Parameter.empty


def _as_defined(function: Any) -> Any:
    """Return what `typing.get_overloads` looks up: a public function says that it is of the module of its users."""
    scope = getattr(function, "__globals__", {})
    module = scope.get("__name__", function.__module__)
    return SimpleNamespace(__module__=module, __qualname__=function.__qualname__)


@dataclass(frozen=True)
class StubParameter:
    """A parameter as it is written; `default` is None if it has none."""

    name: str
    kind: Kind
    type: str
    default: str | None = None

    def __post_init__(self) -> None:
        if self.default == "None" and not {"None", "Any", "object"} & set(self.type.split(" | ")):
            object.__setattr__(self, "type", f"{self.type} | None")

    def __str__(self) -> str:
        stars = "*" * (self.kind == STAR) + "**" * (self.kind == OPTIONS)
        return f"{stars}{self.name}: {self.type}" + ("" if self.default is None else f" = {self.default}")


@dataclass(frozen=True)
class StubFunction:
    """One ``def`` as it is written."""

    parameters: tuple[StubParameter, ...]
    result: str

    def text(self, name: str, method: bool) -> str:
        parts: list[str] = ["self"] if method else []
        previous = None
        for p in self.parameters:
            if previous == POSITIONAL != p.kind:
                parts.append("/")
            if p.kind == KEYWORD and previous not in (KEYWORD, STAR):
                parts.append("*")
            parts.append(str(p))
            previous = p.kind
        parts += ["/"] * (previous == POSITIONAL)
        return f"def {name}({', '.join(parts)}) -> {self.result}: ..."

    def shape(self) -> list[tuple[str, Kind, bool]]:
        """What differs between overloads but for their types."""
        return [(p.name, p.kind, p.default is None) for p in self.parameters]


def definition(
    name: str,
    function: Callable[..., Any],
    numpy_overloads: Sequence[Overload],
    method: bool = False,
    overloaded: bool = True,
) -> list[str]:
    """The lines that define a function or a method.

    Parameters
    ----------
    name : str
        What it is called.
    function : callable
        The function, of this package or of NumPy.
    numpy_overloads : sequence of Overload
        What NumPy's stubs say of the function of that name.
    method : bool
        Whether the first parameter is left out.
    overloaded : bool
        If false, one ``def`` whose result is what all overloads have in common.
    """
    made = _Maker(name, function, numpy_overloads, method).functions()
    if not overloaded and len(made) > 1:
        made = [
            StubFunction(_Maker(name, function, numpy_overloads, method).merged(), _common([f.result for f in made]))
        ]
    return [line for f in made for line in (["@overload"] if len(made) > 1 else []) + [f.text(name, method)]]


def result_annotation(function: Callable[..., Any]) -> str:
    """What a function of this package says that it gives, in the words of the stubs; "Any" of NumPy's."""
    inner = inspect.unwrap(function)
    given = _in_words(getattr(inner, "__annotations__", {}).get("return")) if is_own(function) else "Any"
    if given.startswith("Iterator") and function is not inner:
        return given.replace("Iterator", "AbstractContextManager")  # of `contextlib.contextmanager`
    return given


def is_own(function: Callable[..., Any]) -> bool:
    """Whether a function is of this package, and not one of NumPy's that is run on the host."""
    return (getattr(inspect.unwrap(function), "__module__", None) or "").startswith("gpunumpy")


def _in_words(annotation: Any) -> str:
    """An annotation of this package in the words of the stubs."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any")
    names = "|".join(decisions.OWN_NAMES)
    text = text.removeprefix("_empty") or "Any"
    return re.sub(rf"\b({names})\b", lambda found: decisions.OWN_NAMES[found[0]], text.replace("builtins.", ""))


class _Maker:
    """Makes the ``def``s of one function."""

    def __init__(
        self, name: str, function: Callable[..., Any], numpy_overloads: Sequence[Overload], method: bool
    ) -> None:
        self._name = name
        self._function = function
        self._numpy_overloads = numpy_overloads
        self._own = is_own(function)
        try:
            found = list(inspect.signature(function).parameters.values())
            self._runtime: list[inspect.Parameter] | None = found[method:]
        except (TypeError, ValueError):  # Python does not know, of some functions in C
            self._runtime = None

    def functions(self) -> list[StubFunction]:
        """The overloads, or the one ``def`` of a function that needs none."""
        name, whole = self._name, self.merged()
        given = result_annotation(self._function)
        if own := get_overloads(_as_defined(self._function)):
            makers = [_Maker(name, overload, self._numpy_overloads, False) for overload in own]
            return [StubFunction(m.merged(), result_annotation(o)) for m, o in zip(makers, own, strict=True)]
        if self._own and name in decisions.FLAGS:
            return _by_flag(whole, *decisions.FLAGS[name])
        fixed = decisions.RESULTS.get(name) if self._own else decisions.HOST_RESULTS.get(name)
        if fixed or given != "Any":
            return [StubFunction(whole, fixed or given)]
        made: list[tuple[StubFunction, Overload]] = []
        for overload in self._numpy_overloads:
            try:
                returned = result(overload.returns, overload.scope)
            except ImpossibleError:
                continue
            made.append((StubFunction(self._of_overload(overload, "overload"), returned), overload))
        if any(p.name == "size" for p in whole):
            return self._by_size(whole, made)
        return self._by_overloads(whole, [f for f, _ in made])

    def _by_overloads(self, whole: tuple[StubParameter, ...], functions: list[StubFunction]) -> list[StubFunction]:
        """What NumPy's overloads leave where arrays are one type, and scalars are arrays."""
        functions = [replace(f, result=f.result.replace("numpy.generic", "ndarray")) for f in functions]
        if {f.result for f in functions} - {"Any"} != {"ndarray"}:
            functions = _distinct(functions)
        results = {f.result for f in functions}
        results = results - {"Any"} or results
        if len(results) < 2:
            return [StubFunction(whole, results.pop() if results else "Any")]
        if self._own and any("Literal[" in p.type for f in functions for p in f.parameters):
            functions.append(StubFunction(whole, "Any"))  # for a flag that is not known before the run time
        return functions

    def _by_size(
        self, whole: tuple[StubParameter, ...], made: list[tuple[StubFunction, Overload]]
    ) -> list[StubFunction]:
        """The overloads of a function that draws one number, on the host, where neither parameters nor `size` ask for
        more.
        """
        single = [(f, overload) for f, overload in made if _draws_one(f)]
        results = {f.result for f, _ in single}
        if not single or len(single) == len(made):
            return [StubFunction(whole, results.pop() if len(results) == 1 else "ndarray" if made else "Any")]
        parameters = self.merged([overload for _, overload in single], "overload")
        parameters = tuple(replace(p, type="None") if p.name in ("size", "out") else p for p in parameters)
        known = len(results) == 1 and not results & {"numpy.generic", "Any"}
        return [StubFunction(parameters, results.pop() if known else "Any"), StubFunction(whole, "ndarray")]

    def merged(
        self, numpy_overloads: Sequence[Overload] | None = None, role: Role = "parameter"
    ) -> tuple[StubParameter, ...]:
        """The parameters of the run time, each with the union of the types that overloads give it."""
        numpy_overloads = self._numpy_overloads if numpy_overloads is None else numpy_overloads
        if self._runtime is None:
            return self._unknown()
        names = {p.name for p in self._runtime}
        made = []
        for place, p in enumerate(self._runtime):
            if p.kind == OPTIONS:
                made += self._options(p, names)
                continue
            own = _in_words(p.annotation)
            kind = decisions.TYPES.get((self._name, p.name)) or _type(
                p.name, p.kind, own, numpy_overloads, names, role, place
            )
            if p.default is EMPTY and own == "Any" and kind in ("ndarray", "ndarray | _Scalar"):
                kind = "ArrayLike"  # what is not written to may be anything that an array can be made of
            made.append(StubParameter(p.name, p.kind, kind, _default(p)))
        return tuple(made)

    def _unknown(self) -> tuple[StubParameter, ...]:
        """The parameters of the longest overload, for want of a signature."""
        longest = max(self._numpy_overloads, key=lambda overload: len(overload.parameters), default=None)
        if longest is None:
            return StubParameter("args", STAR, "Any"), StubParameter("options", OPTIONS, "Any")
        written = self._of_overload(longest, "parameter")
        return tuple(replace(p, type=_type(p.name, p.kind, "Any", self._numpy_overloads)) for p in written)

    def _options(self, options: inspect.Parameter, names: set[str]) -> list[StubParameter]:
        """What ``**options`` takes: what NumPy's overloads name, and anything only where they take that too."""
        named = {
            p.name: _literal(p.default)
            for overload in self._numpy_overloads
            for p in overload.parameters
            if p.kind in (KEYWORD, EITHER) and p.name not in names
        }
        made = [
            StubParameter(name, KEYWORD, _type(name, KEYWORD, "Any", self._numpy_overloads), default or "...")
            for name, default in named.items()
        ]
        if not made or any(p.kind == OPTIONS for overload in self._numpy_overloads for p in overload.parameters):
            made.append(StubParameter(options.name, OPTIONS, "Any"))
        return made

    def _of_overload(self, overload: Overload, role: Role) -> tuple[StubParameter, ...]:
        """One overload of NumPy's, with the defaults of the run time and the parameters that only this package has."""
        runtime = {p.name: p for p in self._runtime or ()}
        star = next((p.name for p in runtime.values() if p.kind == STAR), None)
        takes_anything = self._runtime is None or any(p.kind == OPTIONS for p in runtime.values())
        made = []
        for p in overload.parameters:
            here = runtime.get(p.name)
            if here is None and p.kind in (EITHER, KEYWORD) and not takes_anything:
                continue
            kind = here.kind if here is not None and here.kind in (POSITIONAL, KEYWORD) else p.kind
            default = _literal(p.default)
            if default is not None and here is not None and here.default is not EMPTY:
                default = _default(here)
            name = star if star and kind == STAR else p.name
            own_type = _type(p.name, p.kind, "Any", [replace(overload, parameters=(p,))], role=role)
            made.append(StubParameter(name, kind, own_type, default))
        given = {p.name for p in made}
        only_here = [
            StubParameter(
                p.name, KEYWORD, decisions.TYPES_EVERYWHERE.get(p.name) or _in_words(p.annotation), _default(p)
            )
            for p in runtime.values()
            if p.name not in given and p.kind in (KEYWORD, EITHER) and p.default is not EMPTY
        ]
        options = [made.pop()] if made and made[-1].kind == OPTIONS else []
        return (*made, *only_here, *options)


def _type(
    name: str,
    kind: Kind,
    own: str,
    numpy_overloads: Sequence[Overload],
    names: set[str] | frozenset[str] = frozenset(),
    role: Role = "parameter",
    place: int | None = None,
) -> str:
    """The type of a parameter: NumPy's where its stubs have one of that name, or in that `place`, else `own`."""
    if name in decisions.TYPES_EVERYWHERE:
        return decisions.TYPES_EVERYWHERE[name]
    members: list[str] = []
    for overload in numpy_overloads:
        for k, p in enumerate(overload.parameters):
            if _is_same(p, name, kind, names) or (k == place and kind == p.kind == POSITIONAL):
                members += parameter(p.annotation, overload.scope, role)
    found = union(members)
    if name == "out":
        found = re.sub(r"\bndarray\b", "_Out", found)
    if found not in ("", "Any"):
        return found
    return decisions.TYPES_OTHERWISE.get(name, own) if own == "Any" else own


def _is_same(p: Parameter, name: str, kind: Kind, names: set[str] | frozenset[str]) -> bool:
    """Whether a parameter of NumPy's is the one of a name and a kind; ``*args`` are all that go by no other name."""
    if kind == STAR:
        return p.kind == STAR or (p.kind == POSITIONAL and p.name not in names - {name})
    return p.name == name and p.kind not in (STAR, OPTIONS)


def _default(p: inspect.Parameter) -> str | None:
    """A default of the run time as it is written: a literal as it is, anything else as three dots."""
    value = p.default
    if value is EMPTY:
        return None
    if isinstance(value, type) and value in (float, int, bool, complex):
        return value.__name__
    if value is None or type(value) in (bool, int, str) or (type(value) is float and value - value == 0):
        return repr(value)
    return repr(value) if type(value) is tuple and all(type(v) in (int, str) for v in value) else "..."


def _literal(expression: ast.expr | None) -> str | None:
    """A default of a stub as it is written: a literal as it is, anything else as three dots."""
    if expression is None:
        return None
    try:
        value = ast.literal_eval(expression)
    except ValueError:
        return "..."
    return "..." if value is Ellipsis else repr(value)


def _draws_one(function: StubFunction) -> bool:
    size = next((p.type for p in function.parameters if p.name == "size"), "")
    return function.result in ("bool", "float", "int", "numpy.generic") or (function.result == "Any" and size == "None")


def _by_flag(parameters: tuple[StubParameter, ...], flag: str, without: str, with_it: str) -> list[StubFunction]:
    """The overloads of a function whose result a flag decides; the last is for a flag that only the run time knows."""
    place = next(k for k, p in enumerate(parameters) if p.name == flag)
    before, chosen, after = parameters[:place], parameters[place], parameters[place + 1 :]
    default = chosen.default == "True"
    results = {False: without, True: with_it}
    as_keywords = tuple(replace(p, kind=KEYWORD) for p in after)
    given = StubParameter(flag, KEYWORD, f"Literal[{not default}]")
    return [
        StubFunction((*before, replace(chosen, type=f"Literal[{default}]"), *after), results[default]),
        StubFunction((*before, given, *as_keywords), results[not default]),
        StubFunction((*before, replace(chosen, type="bool"), *after), "Any"),
    ]


def _distinct(functions: list[StubFunction]) -> list[StubFunction]:
    """Overloads that still differ: one for neighbours that differ in the type of one parameter and give the same."""
    results: dict[tuple[StubParameter, ...], list[str]] = {}
    for function in functions:
        results.setdefault(function.parameters, []).append(function.result)
    made: list[StubFunction] = []
    for parameters, found in results.items():
        function = StubFunction(parameters, _common(found))
        if made and _are_alike(made[-1], function):
            pairs = zip(made[-1].parameters, parameters, strict=True)
            made[-1] = replace(function, parameters=tuple(replace(a, type=_either(a.type, b.type)) for a, b in pairs))
        else:
            made.append(function)
    return made if len(made) == len(functions) else _distinct(made)


def _are_alike(one: StubFunction, other: StubFunction) -> bool:
    """Whether two overloads give the same, and differ in the type of one parameter."""
    if one.result != other.result or one.shape() != other.shape():
        return False
    return sum(a.type != b.type for a, b in zip(one.parameters, other.parameters, strict=True)) < 2


def _either(one: str, other: str) -> str:
    return union([*one.split(" | "), *other.split(" | ")])


_TUPLE = re.compile(r"tuple\[ndarray(, (ndarray|\.\.\.))*\]")


def _common(results: list[str]) -> str:
    """What calls give that NumPy tells apart by shapes or dtypes."""
    kinds = dict.fromkeys(result for result in results if result != "Any")
    if len(kinds) < 2:
        return next(iter(kinds), "Any")
    return "tuple[ndarray, ...]" if all(map(_TUPLE.fullmatch, kinds)) else "Any"
