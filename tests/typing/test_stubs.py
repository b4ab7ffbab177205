"""The stubs of the public modules say what is there at run time, by the same names, with the same defaults."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import types
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import Parameter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import pytest

import gpunumpy
from tools.stubs import modules

PACKAGE = Path(gpunumpy.__file__).parent
STUBS = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.pyi"))}
FILES = {name: path for name, path in STUBS.items() if not name.startswith("scipy/")}  # these: test_scipy_stubs.py

LOCK = PACKAGE.parent / ".ci" / "constraints.txt"

# Names, defaults and signatures of NumPy's own differ from version to version.
MADE_WITH = re.findall(r"NumPy (\S+);", FILES["__init__.pyi"].read_text(encoding="utf-8"))[0]
SAME_NUMPY = numpy.__version__ == MADE_WITH

pytestmark = pytest.mark.filterwarnings(
    "ignore::gpunumpy.HostFallbackWarning", "ignore::DeprecationWarning", "ignore::PendingDeprecationWarning"
)


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(FILES[name].read_text(encoding="utf-8"))


def module_of(name: str) -> ModuleType:
    parts = Path(name).with_suffix("").parts
    return import_module(".".join(("gpunumpy", *parts[: -1 if parts[-1] == "__init__" else None])))


# --- fresh ----------------------------------------------------------------------------------------------------------


def imported(statement: ast.stmt) -> list[tuple[object, ...]]:
    if isinstance(statement, ast.ImportFrom):
        return [(statement.level, statement.module, alias.name, alias.asname) for alias in statement.names]
    return [(alias.name, alias.asname) for alias in statement.names] if isinstance(statement, ast.Import) else []


def meaning(source: str) -> tuple[set[tuple[object, ...]], list[str]]:
    """A stub without what formatting changes: what it imports, and the other statements."""
    body = ast.parse(source).body
    rest = [ast.unparse(statement) for statement in body if not isinstance(statement, ast.ImportFrom | ast.Import)]
    return {name for statement in body for name in imported(statement)}, rest


@pytest.mark.skipif(not LOCK.is_file(), reason="the versions that CI installs are not in this copy")
def test_they_are_made_with_the_newest_numpy() -> None:
    versions = re.findall(r"^numpy==([\d.]+)", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    assert max(versions, key=lambda version: tuple(map(int, version.split(".")))) == MADE_WITH


@pytest.mark.skipif(not SAME_NUMPY, reason=f"stubs are made with NumPy {MADE_WITH}, and this is {numpy.__version__}")
def test_they_are_fresh() -> None:
    made = modules.stubs()
    assert set(made) == set(FILES)
    for name, source in made.items():
        assert meaning(FILES[name].read_text(encoding="utf-8")) == meaning(source), f"{name}: run python -m tools.stubs"


# --- names ----------------------------------------------------------------------------------------------------------


def bound(body: list[ast.stmt]) -> Iterator[str]:
    """The names that a stub has for those who import it."""
    for statement in body:
        match statement:
            case ast.ImportFrom(names=names):
                yield from (alias.asname for alias in names if alias.asname == alias.name)
            case ast.Assign(targets=[ast.Name(id=name)]) if name != "__all__":
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def public(body: list[ast.stmt]) -> set[str]:
    return {name for name in bound(body) if not re.match(r"_(?!_)", name)}


@pytest.mark.parametrize("name", FILES)
def test_names(name: str) -> None:
    module = module_of(name)
    if any(isinstance(s, ast.ImportFrom) and s.names[0].name == "*" for s in tree(name).body):
        return  # NumPy's, whole
    there = {found for found in dir(module) if not found.startswith("_") or found in gpunumpy.__all__}
    if hasattr(module, "__all__"):
        there = set(module.__all__)
    stub = public(tree(name).body)
    missing, added = there - stub, stub - there - {"__array_api_version__"}
    of_numpy = "numpy" + module.__name__.removeprefix("gpunumpy")
    if not SAME_NUMPY and find_spec(of_numpy) is not None:  # its names are as those of the other version are
        reference = import_module(of_numpy)
        missing = {n for n in missing if not hasattr(reference, n)}
        added = {n for n in added if hasattr(reference, n)}
    assert not missing, "names without a stub"
    assert not {n for n in added if not hasattr(module, n)}, "names that are not there"


def members(class_name: str) -> ast.ClassDef:
    return next(s for s in tree("__init__.pyi").body if isinstance(s, ast.ClassDef) and s.name == class_name)


def test_members_of_arrays() -> None:
    stub = public(members("ndarray").body)
    there = {n for n in dir(gpunumpy.ndarray) if not n.startswith("_") and hasattr(gpunumpy.ndarray, n)}
    assert stub <= set(dir(gpunumpy.ndarray))
    # What the class itself defines a checker sees in its source.
    own = {"assign", "computed", "device", "itemsize", "layout", "nbytes", "ndim", "queue", "residence", "size"}
    assert there - stub == own | {*("c_contiguous", "element_strides", "f_contiguous", "memory", "value", "writeable")}


def test_results_are_arrays_of_ours() -> None:
    """No function of the namespace promises a NumPy array, but for those that are there to make one."""
    named = {
        s.name
        for s in tree("__init__.pyi").body
        if isinstance(s, ast.FunctionDef) and s.returns is not None and "numpy.ndarray" in ast.unparse(s.returns)
    }
    pinned = {f"{name}_pinned" for name in ("empty", "empty_like", "zeros", "zeros_like")}
    assert named == {"asnumpy", *pinned}


@pytest.mark.parametrize("module", [gpunumpy, gpunumpy.linalg, gpunumpy.fft, gpunumpy.random], ids=lambda m: m.__name__)
def test_dir_lists_public_names(module: ModuleType) -> None:
    names = dir(module)
    assert names == sorted(set(names))
    assert all(hasattr(module, name) for name in names)
    documented = {"get_bit_generator", "set_bit_generator"} if module is gpunumpy.random else set()
    assert set(names) == set(module.__all__) | documented
    for name, found in list(vars(module).items()):  # what is left are modules of the package, as imports leave them
        if not name.startswith("_") and name not in names:
            assert isinstance(found, ModuleType), name
            assert found.__name__.endswith(f".{name}")
    assert not {"arrays", "core", "functions", "kernels", "nvlib", "annotations", "Any"} & set(names)


# --- signatures -----------------------------------------------------------------------------------------------------

CLASSES = {
    "__init__.pyi": ("ndarray", "ufunc", "errstate"),
    "random/__init__.pyi": ("Generator", "RandomState"),
}


def definitions() -> Iterator[tuple[str, str, str]]:
    """Every function in a stub, and every method of the classes: the file, the class or "", and the name."""
    for name in FILES:
        for statement in tree(name).body:
            if isinstance(statement, ast.FunctionDef):
                yield name, "", statement.name
            elif isinstance(statement, ast.ClassDef) and statement.name in CLASSES.get(name, ()):
                yield from ((name, statement.name, s.name) for s in statement.body if isinstance(s, ast.FunctionDef))


def stubbed(name: str, within: str, function: str) -> list[ast.FunctionDef]:
    """The overloads of one function."""
    body = tree(name).body
    if within:
        body = next(s.body for s in body if isinstance(s, ast.ClassDef) and s.name == within)
    return [s for s in body if isinstance(s, ast.FunctionDef) and s.name == function]


# The name, the kind and the default of every parameter of a ``def`` in a stub.
Overload = list[tuple[str, Any, ast.expr | None]]


def parameters(function: ast.FunctionDef, method: bool) -> Overload:
    """The parameters of a stub, without `self`."""
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
    defaults += args.defaults
    kinds = [Parameter.POSITIONAL_ONLY] * len(args.posonlyargs) + [Parameter.POSITIONAL_OR_KEYWORD] * len(args.args)
    found = [(a.arg, kind, d) for a, kind, d in zip(positional, kinds, defaults, strict=True)][method:]
    if args.vararg:
        found.append((args.vararg.arg, Parameter.VAR_POSITIONAL, None))
    keywords = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    found += [(a.arg, Parameter.KEYWORD_ONLY, d) for a, d in keywords]
    if args.kwarg:
        found.append((args.kwarg.arg, Parameter.VAR_KEYWORD, None))
    return found


def is_default(written: ast.expr, value: object) -> bool:
    """Whether a default in a stub is the one of the run time; three dots are for what has no literal."""
    match written:
        case ast.Constant(value=literal) if literal is Ellipsis:
            plain = (bool, int, str, type(None))
            return not isinstance(value, plain) or isinstance(value, numpy.generic)
        case ast.Name(id=kind) | ast.Attribute(value=ast.Name(id="builtins"), attr=kind):
            return getattr(builtins, kind) is value
    literal = ast.literal_eval(written)
    return bool(literal == value) and type(literal) is type(value)


def test_signatures() -> None:
    """One test of all of them: there are two thousand."""
    wrong, compared = [], 0
    for name, within, function in sorted(set(definitions())):
        owner: Any = getattr(module_of(name), within) if within else module_of(name)
        found = getattr(owner, function, None)
        where = f"{name}: {within} {function}"
        if found is None or (within and isinstance(inspect.getattr_static(owner, function), property)):
            continue  # of `test_names` and `test_members_of_arrays`
        is_own = (getattr(inspect.unwrap(found), "__module__", None) or "").startswith("gpunumpy")
        if (not SAME_NUMPY and not is_own) or isinstance(found, types.WrapperDescriptorType):
            continue  # slots of the compiled core have signatures of Python's own
        try:
            there = list(inspect.signature(found).parameters.values())
        except (TypeError, ValueError):
            continue
        method = bool(within)
        bare = [p for p in there if p.name not in ("self", "cls")] if function in ("__new__", "__init__") else None
        bare = there[method and not inspect.ismethod(found) :] if bare is None else bare
        overloads = [parameters(overload, method) for overload in stubbed(name, within, function)]
        wrong += [f"{where}: {text}" for text in differences(bare, overloads, function)]
        compared += 1
    assert not wrong, "\n".join(wrong)
    assert compared > 400


def differences(there: list[Parameter], overloads: list[Overload], name: str) -> Iterator[str]:
    """Where a stub's parameters are not those of the run time."""
    present = {p.name: p for p in there}
    anything = any(p.kind == Parameter.VAR_KEYWORD for p in there)
    named = {n for overload in overloads for n, _, _ in overload}
    unnamed = any(kind == Parameter.POSITIONAL_ONLY for overload in overloads for _, kind, _ in overload)
    for p in there:
        starred = p.kind in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
        if p.name not in named and not starred and not (unnamed and p.kind == Parameter.POSITIONAL_ONLY):
            yield f"{p.name} is not in the stub"
    for overload in overloads:
        if len(overloads) == 1 and not anything and name != "__ipow__" and [n for n, _, _ in overload] != list(present):
            yield f"the stub has {[n for n, _, _ in overload]}, and there is {list(present)}"
        for parameter, kind, default in overload:
            p = present.get(parameter)
            if p is None:
                if (
                    not anything
                    and name != "__ipow__"
                    and kind not in (Parameter.POSITIONAL_ONLY, Parameter.VAR_POSITIONAL)
                ):
                    yield f"there is no {parameter}"
            elif len(overloads) == 1 and (kind != p.kind or (default is None) != (p.default is Parameter.empty)):
                if not (name.startswith("__") and kind == Parameter.POSITIONAL_ONLY):
                    yield f"{parameter} is {p.kind.description}, and has{' no' * (default is not None)} default"
            elif default is not None and not is_default(default, p.default):
                yield f"{parameter} is {p.default!r} by default, not {ast.unparse(default)}"
