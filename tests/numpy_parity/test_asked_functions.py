"""Every function of NumPy that asks classes: which arguments have theirs asked here, and how often."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import numpy
import numpy.lib.recfunctions
import pytest

import gpunumpy

MODULES = ("", "linalg", "fft", "char", "strings", "lib", "lib.recfunctions", "lib.stride_tricks", "emath", "lib.npyio")
# By function: arguments of which NumPy asks one of its parts, or one of the functions that it calls; and other names.
DIFFERENT: dict[str, tuple[str, ...]] = {
    "amax": ("a", "out"),
    "amin": ("a", "out"),
    "around": ("a", "out"),
    "char.replace": ("old", "new"),
    "in1d": ("ar1", "ar2"),
    "einsum_path": ("operands",),
    "fft.fftn": ("out",),
    "fft.ifftn": ("out",),
    "full_like": ("fill_value",),
    **dict.fromkeys(("nanargmax", "nanargmin"), ("out",)),
    **dict.fromkeys(("nanmean", "nanstd", "nanvar"), ("where", "mean")),
    "poly": ("seq_of_zeros",),
    "polyint": ("k",),
    "roots": ("p",),
    **{f"{of}{name}": ("sep",) for of in ("strings.", "char.strings_") for name in ("partition", "rpartition")},
}


class Asked(Exception):
    """What a class raises that is asked for a function."""


def found(np: Any, path: str) -> Any:
    for name in filter(None, path.split(".")):
        np = getattr(np, name)
    return np


def has_signature(function: Any) -> bool:
    """Return whether a function tells its parameters: some of NumPy's do since 2.4 only."""
    try:
        return bool(inspect.signature(function))
    except ValueError:
        return False


def functions() -> Iterator[str]:
    """Yield NumPy's functions that ask classes, by the first of their names."""
    known = set()
    for module in MODULES:
        for name in dir(found(numpy, module)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of deprecated names
                function = getattr(found(numpy, module), name)
            is_asking = not name.startswith("_") and hasattr(function, "_implementation")
            if is_asking and has_signature(function) and not isinstance(function, type) and function not in known:
                known.add(function)
                yield f"{module}.{name}".lstrip(".")


def asked(np: Any, path: str, parameter: str, kind: str) -> list[str]:
    """Return which functions a class is asked for that is one argument of a call, and 1 all others."""
    names: list[str] = []

    class Foreign:
        def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
            names.append(function.__name__)
            raise Asked

    class Holding(Foreign):
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return numpy.arange(3.0)

    class Own(np.ndarray):  # type: ignore[name-defined, misc]
        __array_function__ = Foreign.__array_function__

    argument = np.arange(3.0).view(Own) if kind == "subclass" else Foreign() if kind == "foreign" else Holding()
    args, options = [], {}
    for each in inspect.signature(found(numpy, path)).parameters.values():
        value = argument if each.name == parameter else 1 if each.default is each.empty else each.empty
        if each.kind is each.VAR_KEYWORD or (each.kind is each.VAR_POSITIONAL and each.name != parameter):
            continue
        if value is not each.empty:
            is_named = each.kind is each.KEYWORD_ONLY or each.default is not each.empty
            options.update({each.name: value}) if is_named else args.append(value)
    try:
        found(np, path)(*args, **options)
    except Exception:  # the arguments are of no use
        return names
    return names


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", tuple(functions()))
def test_arguments_whose_class_numpy_asks(path: str) -> None:
    gpunumpy.host_fallback("ignore")
    for parameter in inspect.signature(found(numpy, path)).parameters:
        for kind in ("foreign", "foreign with elements", "subclass"):
            expected = asked(numpy, path, parameter, kind)
            if expected and parameter not in DIFFERENT.get(path, ()):
                assert asked(gpunumpy, path, parameter, kind) == expected, (parameter, kind)


CALLS = (
    *("np.sum(d)", "np.concatenate([d, x])", "np.array_equal(d, d)", "np.allclose(d, x)", "np.isin(x, d)"),
    *("np.clip(x, d, 1)", "np.fix(d)", "np.histogram2d(d, x)", "np.shape(d)", "np.ones(3, like=d)", "np.copyto(d, x)"),
    *("np.add(u, x)", "np.add(x, u)", "x + u", "u - x", "x @ u", "np.sin(u)", "np.add.reduce(u)", "x.clip(u)"),
    *("np.add(x, x, out=u)", "np.add.at(x, [0], u)", "divmod(x, u)", "np.multiply.outer(x, u)", "np.matmul(u, x)"),
    *(
        "np.add(s, x)",
        "x * s",
        "s.sum()",
        "np.sum(g)",
        "np.concatenate([x, g])",
        "np.concatenate([g, x])",
        "np.save(0, g)",
    ),
    *("np.char.upper(g)", "np.array_repr(g)", "repr(g)", "np.sort(g)", "np.emath.sqrt(g)"),
)


@pytest.mark.parametrize("is_answered", [False, True])
@pytest.mark.parametrize("call", CALLS)
def test_how_often_a_class_is_asked(call: str, is_answered: bool) -> None:
    """A class without an answer is asked again: it may know this package's function, or NumPy's arrays only."""
    outcomes = []
    for np in (numpy, gpunumpy):
        names: list[str] = []

        class Function:
            def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
                names.append(function.__name__)  # noqa: B023
                return 5 if is_answered else NotImplemented

        class Ufunc:
            def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
                names.append(f"{ufunc.__name__}.{method}")  # noqa: B023
                return 5 if is_answered else NotImplemented

        class OfUfuncs(np.ndarray):  # type: ignore[name-defined, misc]
            __array_ufunc__ = Ufunc.__array_ufunc__

        class OfFunctions(np.ndarray):  # type: ignore[name-defined, misc]
            __array_function__ = Function.__array_function__

        x = np.arange(3.0)
        arguments = {"x": x, "d": Function(), "u": Ufunc(), "s": x.view(OfUfuncs), "g": x.view(OfFunctions)}
        try:
            result = eval(call, {"np": np, **arguments})
        except TypeError:
            result = TypeError
        is_answer = result is TypeError or type(result) is int
        outcomes.append((names, result if is_answer else type(result).__name__))
    (expected, result), (names, found_result) = outcomes
    assert found_result == result
    if result is TypeError and ("d" in call or "u" in call):
        assert names in (expected, expected * 2, expected * 3)
    else:
        assert names == expected
