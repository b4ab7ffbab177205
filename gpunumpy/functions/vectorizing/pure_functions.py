"""Copies of Python functions for `Numbers`: functions that do nothing but calculate.

A copy knows only names that stand for numbers, for functions of numbers, and for functions that can be copied as well.
A function that writes to variables of the program, catches exceptions or asks what an object is has no copy. So to run
one has no effect but its result, and it sees `Numbers` where it would see numbers.
"""

from __future__ import annotations

import builtins
import dis
import math
import operator
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy

from ...core._native import PublicFunction
from ..ufuncs import elementwise
from ..ufuncs.ufunc import UFUNCS, ufunc
from .numbers import (
    Numbers,
    Tracing,
    UntraceableError,
    apply_ufunc,
    as_kind,
    integer,
    is_plain_scalar,
    numbers_of,
    real_number,
    require_finite_results,
    truth,
)

_PACKAGE = __name__.partition(".")[0]
_REFUSED_OPERATIONS = frozenset(
    (
        *("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF", "STORE_ATTR", "DELETE_ATTR"),
        *("PUSH_EXC_INFO", "IS_OP", "IMPORT_NAME"),
    )
)
_REFUSED_FLAGS = 0x20 | 0x80 | 0x200  # generators and coroutines, whose calls calculate nothing
# Builtin functions that do for `Numbers` what they do for numbers.
_BUILTINS = (
    *(abs, all, any, bool, divmod, enumerate, float, int, len, list, max, min, pow, range, reversed, round, tuple, zip),
    *(ArithmeticError, Exception, OverflowError, TypeError, ValueError, ZeroDivisionError),
    *(
        getattr(operator, name)
        for name in ("abs", "add", "and_", "eq", "floordiv", "ge", "gt", "inv", "invert", "le", "lt", "mod", "mul")
    ),
    *(getattr(operator, name) for name in ("ne", "neg", "not_", "or_", "pos", "pow", "sub", "truediv", "xor")),
    *(math.floor, math.ceil, math.trunc),
)
# Functions of `math` by the ufuncs that have their results where Python raises none.
_OF_MATH = {
    **{name: name for name in ("cbrt", "cos", "cosh", "copysign", "degrees", "exp", "exp2", "expm1", "fabs", "fmod")},
    **{name: name for name in ("hypot", "log10", "log1p", "log2", "radians", "sin", "sinh", "sqrt", "tan", "tanh")},
    **{f"a{name}": f"arc{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tan2", "tanh")},
    "log": "log",
    "pow": "power",
}
_PREDICATES_OF_MATH = ("isfinite", "isinf", "isnan")
# Functions of arrays, besides ufuncs, that work element by element, by how many arguments they have.
_ELEMENTWISE: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    **dict.fromkeys(("around", "round"), (elementwise.round, (1, 2))),
    "clip": (elementwise.clip, (3,)),
    "fix": (elementwise.fix, (1,)),
    "i0": (elementwise.i0, (1,)),
    "isclose": (elementwise.isclose, (2, 3, 4)),
    "isneginf": (elementwise.isneginf, (1,)),
    "isposinf": (elementwise.isposinf, (1,)),
    "nan_to_num": (elementwise.nan_to_num, (1,)),
    "sinc": (elementwise.sinc, (1,)),
    "where": (elementwise.where, (3,)),
}


class Copies:
    """The copies of the functions of one tracing, and of what they use."""

    def __init__(self, tracing: Tracing) -> None:
        self.tracing = tracing
        self._functions: dict[Any, Any] = {}
        self._lists: list[tuple[list[Any], list[Any]]] = []  # a copy that functions see, and what must be in it

    def check_lists(self) -> None:
        """Raise `UntraceableError` if a function has changed a list that is not its own."""
        for seen, items in self._lists:
            if len(seen) != len(items) or any(x is not item for x, item in zip(seen, items)):
                raise UntraceableError("it changes a list")

    def of(self, x: Any) -> Any:
        """Return what stands for an object.

        Raises
        ------
        UntraceableError
            If nothing does.
        """
        if type(x) in (bool, int, float, complex, str, bytes, type(None)) or is_plain_scalar(x):
            return x
        if type(x) is tuple:
            return tuple(map(self.of, x))
        if type(x) is list:
            seen = [self.of(item) for item in x]
            self._lists.append((seen, [*seen]))
            return seen
        if isinstance(x, (ufunc, numpy.ufunc)):
            name: Any = x.__name__
            found = UFUNCS.get(name) if isinstance(x, ufunc) or getattr(numpy, name, None) is x else None
            if found is not None and found.signature is None:
                return self._of_arrays(name, found, (found.nin,))
        if type(x) is types.ModuleType:
            if x.__name__ in (_PACKAGE, "numpy", "math", "operator"):
                return _Module(self, x)
        elif type(x) in (types.FunctionType, PublicFunction, type(numpy.where)) and x.__module__ in (_PACKAGE, "numpy"):
            if x.__name__ in _ELEMENTWISE:
                return self._of_arrays(x.__name__, *_ELEMENTWISE[x.__name__])
        elif type(x) is types.FunctionType:
            return self._functions.get(x) or self._copied(x)
        elif type(x) in (types.BuiltinFunctionType, type):
            if x in _BUILTINS:
                return _CONVERSIONS.get(x, x)
            if x.__module__ == "math":
                return self._of_math(x)
        raise UntraceableError(f"{x!r} is not known to do nothing but calculate")

    def _of_arrays(self, name: str, function: Callable[..., Any], counts: tuple[int, ...]) -> Callable[..., Any]:
        """Return a function of NumPy's for `Numbers`, of one of so many arguments: more may be arrays to write to."""

        def run(*operands: Any) -> Any:
            if len(operands) not in counts:
                raise UntraceableError(f"{name} of {len(operands)} arguments")
            if not any(type(x) is Numbers for x in operands):
                return getattr(numpy, name)(*operands)
            kinds = {numbers_of(self.tracing, x)._kind for x in operands}
            if name in ("power", "pow") and kinds <= {"b", "i"}:
                raise UntraceableError("integers to powers that may be negative")
            return apply_ufunc(self.tracing, function, *operands)

        return run

    def _of_math(self, function: Any) -> Callable[..., Any]:
        """Return a function of `math` for `Numbers`."""
        name = function.__name__
        is_predicate = name in _PREDICATES_OF_MATH
        if not is_predicate and name not in _OF_MATH:
            raise UntraceableError(f"math.{name}")
        by_ufunc = UFUNCS[name if is_predicate else _OF_MATH[name]]

        def run(*operands: Any) -> Any:
            if not any(type(x) is Numbers for x in operands):
                return function(*operands)
            if len(operands) != by_ufunc.nin:
                raise UntraceableError(f"math.{name} of {len(operands)} numbers")
            self.tracing.count_operation()
            reals = [as_kind(real_number(numbers_of(self.tracing, x)), "f") for x in operands]
            result = by_ufunc(*reals)
            if not is_predicate:
                require_finite_results(self.tracing, result, *reals)
            return Numbers(self.tracing, result, 1)

        return run

    def _copied(self, function: types.FunctionType) -> types.FunctionType:
        """Return a copy of a function of the program."""
        code = function.__code__
        if not _is_pure(code):
            raise UntraceableError(f"{function!r} does more than to calculate")
        defaults, more_defaults = function.__defaults__, function.__kwdefaults__
        if defaults is not None:
            defaults = tuple(map(self.of, defaults))
        cells = tuple([types.CellType() for _ in code.co_freevars])
        names: dict[str, Any] = {"__builtins__": {}}
        copied = types.FunctionType(code, names, function.__name__, defaults, cells)
        self._functions[function] = copied
        copied.__kwdefaults__ = more_defaults and {name: self.of(x) for name, x in more_defaults.items()}
        # A variable whose value nothing can stand for is left out: to use it raises `NameError`.
        for cell, original in zip(cells, function.__closure__ or (), strict=True):
            with suppress(UntraceableError, ValueError):  # the latter for an empty cell
                cell.cell_contents = self.of(original.cell_contents)
        for name in {name for part in _parts(code) for name in part.co_names}:
            known = function.__globals__ if name in function.__globals__ else vars(builtins)
            if name in known:
                with suppress(UntraceableError):
                    names[name] = self.of(known[name])
        return copied


class _Module:
    """A module for `Numbers`: what its attributes can be replaced by."""

    def __init__(self, copies: Copies, module: types.ModuleType) -> None:
        self._copies, self._module = copies, module

    def __getattr__(self, name: str) -> Any:
        """Return what stands for an attribute."""
        return self._copies.of(getattr(self._module, name))


def _parts(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code of a function and of all functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _parts(constant)


@lru_cache(1000)
def _is_pure(code: types.CodeType) -> bool:
    """Return whether code does nothing but calculate, if all that it calls does nothing else."""
    if code.co_flags & _REFUSED_FLAGS:
        return False
    return all(
        not any(name.startswith("__") for name in part.co_names)
        and not any(step.opname in _REFUSED_OPERATIONS for step in dis.get_instructions(part))
        for part in _parts(code)
    )


def _float(x: Any) -> Any:
    return real_number(x) if type(x) is Numbers else float(x)


def _int(x: Any) -> Any:
    return integer(x, "trunc") if type(x) is Numbers else int(x)


def _bool(x: Any) -> Any:
    return truth(x) if type(x) is Numbers else bool(x)


_CONVERSIONS: dict[Any, Callable[[Any], Any]] = {bool: _bool, float: _float, int: _int}
