"""The ``def``s of one function: names and defaults from the run time, types from it and from NumPy's stubs."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter
from typing import Any

from .annotations import RESULT_CLASSES, ImpossibleError, Role, parameter, result, union
from .numpy_stubs import Argument, Overload

# Parameters that mean the same wherever they stand, and that NumPy types for itself.
TYPES = {
    ("arange", "start"): "_Scalar | None",
    ("__getitem__", "key"): "_Index",
    ("__setitem__", "key"): "_Index",
    ("__delitem__", "key"): "_Index",
    ("__setitem__", "value"): "ArrayLike",
}
OTHERWISE = {"out": "_Out | None", "dtype": "DTypeLike | None"}
BY_NAME = {
    "device": "_DeviceLike | None",
    "api_version": "str | None",
    "dl_device": "tuple[int, int] | None",
    "like": "Any",
}

# Results that neither our annotations nor NumPy's stubs tell, by the name of the function.
RESULTS = {
    "asnumpy": "numpy.ndarray[Any, numpy.dtype[Any]]",
    "get": "numpy.ndarray[Any, numpy.dtype[Any]]",
    "__array__": "numpy.ndarray[Any, numpy.dtype[Any]]",
    **dict.fromkeys(("item", "tolist", "__array_function__", "__array_ufunc__", "__dlpack__", "nested_iters"), "Any"),
    **dict.fromkeys(("real", "imag", "trim_zeros"), "ndarray"),
    "frompyfunc": "numpy.ufunc",
    "gradient": "Any",  # an array, or a tuple of one for each dimension
    **dict.fromkeys(("__round__", "__trunc__", "__floor__", "__ceil__", "__int__", "__index__"), "int"),
    **dict.fromkeys(("__divmod__", "__rdivmod__"), "tuple[ndarray, ndarray]"),
}

# Functions that give something else where a flag is set: the flag, the result without it, and with it.
FLAGS = {
    "average": ("returned", "ndarray", "tuple[ndarray, ndarray]"),
    "indices": ("sparse", "ndarray", "tuple[ndarray, ...]"),
    "intersect1d": ("return_indices", "ndarray", "tuple[ndarray, ndarray, ndarray]"),
    "linspace": ("retstep", "ndarray", "tuple[ndarray, ndarray]"),
    "svd": ("compute_uv", "ndarray", "_SVDResult"),
}

# Types of ours that go by another name in the stubs, or that are aliases inside of the package.
OURS = {
    "DType": "numpy.dtype[Any]",
    "Shape": "tuple[int, ...]",
    "Flat": "_Flat",
    **RESULT_CLASSES,
}


@dataclass(frozen=True)
class Entry:
    """A parameter as it is written."""

    name: str
    kind: Any
    type: str
    default: str | None

    def __post_init__(self) -> None:
        if self.default == "None" and not {"None", "Any", "object"} & set(self.type.split(" | ")):
            object.__setattr__(self, "type", f"{self.type} | None")

    def __str__(self) -> str:
        stars = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}.get(self.kind, "")
        given = "" if self.default is None else f" = {self.default}"
        return f"{stars}{self.name}: {self.type}{given}" if self.type else f"{stars}{self.name}{given}"


@dataclass(frozen=True)
class Form:
    """One ``def``."""

    entries: tuple[Entry, ...]
    result: str

    def text(self, name: str, method: bool) -> str:
        parts: list[str] = ["self"] if method else []
        previous = None
        for entry in self.entries:
            if previous == Parameter.POSITIONAL_ONLY != entry.kind:
                parts.append("/")
            if entry.kind == Parameter.KEYWORD_ONLY and previous not in (entry.kind, Parameter.VAR_POSITIONAL):
                parts.append("*")
            parts.append(str(entry))
            previous = entry.kind
        if previous == Parameter.POSITIONAL_ONLY:
            parts.append("/")
        return f"def {name}({', '.join(parts)}) -> {self.result}: ..."


def definition(
    name: str, function: Callable[..., Any], numpys: Sequence[Overload], method: bool = False, overloaded: bool = True
) -> list[str]:
    """The lines that define a function, or a method: in one ``def`` with `overloaded` false."""
    forms = _forms(name, function, numpys, method)
    if not overloaded and len(forms) > 1:
        forms = [Form(_entries(name, runtime(function, method), numpys), _common([form.result for form in forms]))]
    lines = []
    for form in forms:
        if len(forms) > 1:
            lines.append("@overload")
        lines.append(form.text(name, method))
    return lines


def _forms(name: str, function: Callable[..., Any], numpys: Sequence[Overload], method: bool) -> list[Form]:
    known = runtime(function, method)
    own = (RESULTS.get(name) if _is_ours(function) or name in ("frompyfunc",) else None) or annotated(function)
    whole = _entries(name, known, numpys)
    if name in FLAGS and _is_ours(function):
        return _by_flag(whole, *FLAGS[name])
    if own != "Any" or (name in RESULTS and _is_ours(function)):
        return [Form(whole, own)]
    made: list[tuple[Form, Overload]] = []
    for overload in numpys:
        try:
            found = result(overload.returns, overload.scope)
        except ImpossibleError:
            continue
        made.append((Form(_written(overload, known, "overload"), found), overload))
    if any(entry.name == "size" for entry in whole):
        return _by_size(name, whole, made, known)
    # A scalar is the array of no dimensions that we give.
    forms = [replace(form, result=form.result.replace("numpy.generic", "ndarray")) for form, _ in made]
    if {form.result for form in forms} - {"Any"} != {"ndarray"}:
        forms = _distinct(forms)
    kinds = {form.result for form in forms}
    kinds = kinds - {"Any"} or kinds
    if len(kinds) < 2:
        return [Form(whole, kinds.pop() if kinds else "Any")]
    if _is_ours(function) and any("Literal[" in entry.type for form in forms for entry in form.entries):
        forms = [*forms, Form(whole, "Any")]  # a flag that only the run time knows
    return forms


def _by_size(
    name: str, whole: tuple[Entry, ...], made: list[tuple[Form, Overload]], known: list[Parameter] | None
) -> list[Form]:
    """The overloads of a function that draws one number, on the host, where neither parameters nor `size` say more."""
    single = [(form, overload) for form, overload in made if _is_single(form)]
    kinds = {form.result for form, _ in single}
    if not single or len(single) == len(made):
        return [Form(whole, kinds.pop() if len(kinds) == 1 else "ndarray" if made else "Any")]
    entries = _entries(name, known, [overload for _, overload in single], "overload")
    entries = tuple(replace(e, type="None") if e.name in ("size", "out") else e for e in entries)
    kind = "Any" if len(kinds) > 1 or kinds & {"numpy.generic", "Any"} else kinds.pop()
    return [Form(entries, kind), Form(whole, "ndarray")]


def _is_single(form: Form) -> bool:
    """Whether an overload draws one number."""
    size = next((entry.type for entry in form.entries if entry.name == "size"), "")
    return form.result in ("bool", "float", "int", "numpy.generic") or (form.result == "Any" and size == "None")


def _by_flag(entries: tuple[Entry, ...], flag: str, without: str, with_it: str) -> list[Form]:
    """The overloads of a function that gives something else where a flag is set."""
    place = next(k for k, entry in enumerate(entries) if entry.name == flag)
    default = entries[place].default
    options = [(str(value), str(value) == default, given) for value, given in ((False, without), (True, with_it))]
    forms = []
    for value, is_default, given in sorted(options, key=lambda option: not option[1]):
        chosen = replace(entries[place], type=f"Literal[{value}]", default=value if is_default else None)
        changed = (chosen, *entries[place + 1 :])
        if not is_default:
            changed = tuple(replace(entry, kind=Parameter.KEYWORD_ONLY) for entry in changed)
        forms.append(Form((*entries[:place], *changed), given))
    return [*forms, Form((*entries[:place], replace(entries[place], type="bool"), *entries[place + 1 :]), "Any")]


def runtime(function: Callable[..., Any], method: bool) -> list[Parameter] | None:
    """The parameters that a function has when the program runs; None if Python does not know."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    return found[1:] if method else found


def annotated(function: Callable[..., Any]) -> str:
    """What a function of ours says that it gives, in the words of the stubs."""
    given = _annotation(_unwrapped_annotations(function).get("return"))
    if given.startswith("Iterator") and function is not inspect.unwrap(function):
        return given.replace("Iterator", "AbstractContextManager")  # of `contextlib.contextmanager`
    return given


def _unwrapped_annotations(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function of ours; those of NumPy's own are not looked at."""
    return dict(getattr(inspect.unwrap(function), "__annotations__", {})) if _is_ours(function) else {}


def _is_ours(function: Callable[..., Any]) -> bool:
    return (getattr(inspect.unwrap(function), "__module__", None) or "").startswith("gpunumpy")


def _annotation(annotation: Any) -> str:
    """An annotation of ours in the words of the stubs."""
    if annotation is None or annotation is Parameter.empty:
        return "Any"
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any")
    text = text.replace("builtins.", "")
    return re.sub(r"\b(" + "|".join(OURS) + r")\b", lambda m: OURS[m[0]], text)


def _entries(
    name: str, known: list[Parameter] | None, numpys: Sequence[Overload], role: Role = "parameter"
) -> tuple[Entry, ...]:
    """The parameters, each with the union of the types that NumPy's overloads give it."""
    if known is None:
        longest = max(numpys, key=lambda overload: len(overload.arguments), default=None)
        if longest is None:
            return (Entry("args", Parameter.VAR_POSITIONAL, "Any", None), _ANY_OPTIONS)
        return tuple(
            replace(e, type=_type(e.name, e.kind, "Any", numpys)) for e in _written(longest, None, "parameter")
        )
    names = {p.name for p in known}
    made = []
    for place, p in enumerate(known):
        if p.kind != Parameter.VAR_KEYWORD:
            own = _annotation(p.annotation)
            kind = TYPES.get((name, p.name)) or _type(p.name, p.kind, own, numpys, names, role, place)
            if p.default is Parameter.empty and own == "Any" and kind in ("ndarray", "ndarray | _Scalar"):
                kind = "ArrayLike"  # what is not written to may be anything that an array can be made of
            made.append(Entry(p.name, p.kind, kind, default(p)))
    options = next((p for p in known if p.kind == Parameter.VAR_KEYWORD), None)
    if options is not None:
        made += _expanded(options, made, numpys)
    return tuple(made)


_ANY_OPTIONS = Entry("options", Parameter.VAR_KEYWORD, "Any", None)


def _expanded(options: Parameter, made: list[Entry], numpys: Sequence[Overload]) -> list[Entry]:
    """What ``**options`` takes: what NumPy's overloads name, and anything only where theirs take that too."""
    names = {entry.name for entry in made}
    found = {
        a.name: a
        for overload in numpys
        for a in overload.arguments
        if a.kind in (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD) and a.name not in names
    }
    entries = [
        Entry(name, Parameter.KEYWORD_ONLY, _type(name, Parameter.KEYWORD_ONLY, "Any", numpys), _literal(a.default))
        for name, a in found.items()
    ]
    entries = [replace(entry, default=entry.default or "...") for entry in entries]
    if not entries or any(a.kind == Parameter.VAR_KEYWORD for o in numpys for a in o.arguments):
        entries.append(Entry(options.name, Parameter.VAR_KEYWORD, "Any", None))
    return entries


def _type(
    name: str,
    kind: Any,
    own: str,
    numpys: Iterable[Overload],
    names: Iterable[str] = (),
    role: Role = "parameter",
    place: int | None = None,
) -> str:
    """The type of a parameter: NumPy's where its stubs have one of that name, or in that `place`, else ours."""
    if name in BY_NAME:
        return BY_NAME[name]
    members: list[str] = []
    for overload in numpys:
        for k, argument in enumerate(overload.arguments):
            same = argument.name == name and argument.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
            if kind == Parameter.VAR_POSITIONAL:
                loose = argument.kind == Parameter.POSITIONAL_ONLY and argument.name not in set(names) - {name}
                same = argument.kind == kind or loose
            if same or (k == place and kind == argument.kind == Parameter.POSITIONAL_ONLY):
                members += parameter(argument.annotation, overload.scope, role)
    found = union(members)
    if name == "out":
        found = re.sub(r"\bndarray\b", "_Out", found)
    if found in ("", "Any") and own == "Any":
        return OTHERWISE.get(name, own)
    return own if found in ("", "Any") else found


def _written(overload: Overload, known: list[Parameter] | None, role: Role) -> tuple[Entry, ...]:
    """One overload of NumPy's, with the defaults of the run time and the parameters that only it has."""
    mine = {p.name: p for p in known or ()}
    anything = known is None or any(p.kind == Parameter.VAR_KEYWORD for p in known)
    stars = [p.name for p in known or () if p.kind == Parameter.VAR_POSITIONAL]
    entries = []
    for argument in overload.arguments:
        p = mine.get(argument.name)
        kind = argument.kind
        if p is None and kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY) and not anything:
            continue
        if p is not None and p.kind in (Parameter.POSITIONAL_ONLY, Parameter.KEYWORD_ONLY):
            kind = p.kind
        name = stars[0] if stars and kind == Parameter.VAR_POSITIONAL else argument.name
        entries.append(Entry(name, kind, _type_of(argument, overload, role), _default(argument, p)))
    given = {entry.name for entry in entries}
    extra = [
        Entry(p.name, Parameter.KEYWORD_ONLY, BY_NAME.get(p.name) or _annotation(p.annotation), default(p))
        for p in known or ()
        if p.name not in given and p.kind in (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        if p.default is not Parameter.empty
    ]
    last = entries.pop() if entries and entries[-1].kind == Parameter.VAR_KEYWORD else None
    return (*entries, *extra, *([last] if last else ()))


def _type_of(argument: Argument, overload: Overload, role: Role) -> str:
    return _type(argument.name, argument.kind, "Any", [replace(overload, arguments=(argument,))], role=role)


def _default(argument: Argument, p: Parameter | None) -> str | None:
    if argument.default is None:
        return None
    return default(p) if p is not None and p.default is not Parameter.empty else _literal(argument.default)


def _literal(expression: ast.expr | None) -> str | None:
    """A default of a stub, where it is a literal."""
    if expression is None:
        return None
    try:
        return repr(ast.literal_eval(expression)).replace("Ellipsis", "...")
    except ValueError:
        return "..."


def default(p: Parameter) -> str | None:
    """The default of a parameter as it is written in a stub; None if it has none."""
    return None if p.default is Parameter.empty else written(p.default)


def written(value: Any) -> str:
    """A default value: literals as they are, anything else as three dots."""
    if value in (float, int, bool, complex) and isinstance(value, type):
        return value.__name__
    if type(value) is tuple and all(type(v) in (int, str) for v in value):
        return repr(value)
    if value is None or type(value) in (bool, int, str) or (type(value) is float and value - value == 0):
        return repr(value)
    return "..."


def _distinct(forms: list[Form]) -> list[Form]:
    """Overloads that still differ: one in place of neighbours that differ in types alone and give the same."""
    results: dict[tuple[Entry, ...], list[str]] = {}
    for form in forms:
        results.setdefault(form.entries, []).append(form.result)
    made: list[Form] = []
    for entries, found in results.items():
        form = Form(entries, _common(found))
        if made and _are_alike(made[-1], form):
            made[-1] = Form(tuple(map(_either, made[-1].entries, form.entries)), form.result)
        else:
            made.append(form)
    return made if len(made) == len(forms) else _distinct(made)


def _are_alike(one: Form, other: Form) -> bool:
    """Whether two overloads give the same, and differ in the type of one parameter."""
    if one.result != other.result or _shape(one) != _shape(other):
        return False
    return sum(a.type != b.type for a, b in zip(one.entries, other.entries)) < 2


def _shape(form: Form) -> list[tuple[Any, ...]]:
    return [(entry.name, entry.kind, entry.default is None) for entry in form.entries]


def _either(one: Entry, other: Entry) -> Entry:
    return replace(one, type=union([*one.type.split(" | "), *other.type.split(" | ")]))


_TUPLE = re.compile(r"tuple\[ndarray(, (ndarray|\.\.\.))*\]")


def _common(results: list[str]) -> str:
    """What a call gives that NumPy tells by shapes or dtypes, which are not followed here."""
    kinds = dict.fromkeys(result for result in results if result != "Any")
    if len(kinds) < 2:
        return next(iter(kinds), "Any")
    return "tuple[ndarray, ...]" if all(map(_TUPLE.fullmatch, kinds)) else "Any"
