"""Objects of SciPy, such as sparse matrices, trees, splines and distributions, for arrays of this package.

A `Held` has an object of SciPy or of `cupyx.scipy`. Its methods, operators and attributes are the object's, and take
and give arrays of this package. Classes of holders stand for SciPy's classes and have the same bases.
"""

from __future__ import annotations

import copy
import enum
import inspect
import types
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy

from ..core.class_stand_ins import StandInMeta
from ..core.late_imports import import_late
from ..core.runtime.device import Device
from .transfer import Callback, Transfer

_LIBRARIES = ("scipy.", "cupyx.scipy.")
# Classes of SciPy's that do not tell their modules.
_MODULES = {"SuperLU": "scipy.sparse.linalg"}
_FUNCTIONS = ".functions"  # what calls, and makes holders: imported at the first call
# Methods that Python looks for in the class: a holder's class has those that SciPy's class has.
_OPERATORS = (
    *("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__matmul__", "__rmatmul__"),
    *("__truediv__", "__rtruediv__", "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__pow__", "__rpow__"),
    *("__iadd__", "__isub__", "__imul__", "__imatmul__", "__itruediv__", "__ipow__"),
    *("__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__"),
    *("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"),
    *("__neg__", "__pos__", "__abs__", "__invert__", "__round__"),
    *("__call__", "__getitem__", "__setitem__", "__delitem__", "__len__", "__contains__", "__bool__", "__next__"),
)


class HeldMeta(StandInMeta):
    """Metaclass of the classes that stand for SciPy's."""

    ORIGINAL = "scipy_class"
    scipy_class: Any

    def __call__(cls, *args: Any, **options: Any) -> Any:
        """Make an object of SciPy's or of `cupyx.scipy`, and return its holder."""
        return _functions().handed_over(cls.scipy_class, *_place(cls.scipy_class))(*args, **options)

    def __getattr__(cls, name: str) -> Any:
        """Return an attribute of SciPy's class, such as a function that makes an object."""
        found = getattr(cls.scipy_class, name)
        if name.startswith("_") or not callable(found):
            return found
        path, class_name = _place(cls.scipy_class)
        return _functions().handed_over(found, path, f"{class_name}.{name}")

    @property
    def __signature__(cls) -> inspect.Signature:
        """The signature of SciPy's class."""
        return inspect.signature(cls.scipy_class)

    def __dir__(cls) -> list[str]:
        """Return the names of SciPy's class."""
        return dir(cls.scipy_class)


class Held(metaclass=HeldMeta):
    """An object of SciPy's or of `cupyx.scipy`, for arrays of this package."""

    __slots__ = ("__weakref__", "_inner", "_transfer")
    __array_ufunc__ = None  # so operators of arrays leave the work to those here
    scipy_class: Any = object

    _inner: Any
    _transfer: Transfer  # that of the call which made the object

    @property
    def _gpu(self) -> Device | None:
        """The GPU that has the object's arrays, or None."""
        return self._transfer.gpu

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the object; a method takes and gives arrays of this package."""
        if name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = getattr(self._inner, name)
        if not callable(found) or isinstance(found, (type, Callback)) or is_held(found):
            return self._transfer.anew().attribute(found)

        def method(*args: Any, **options: Any) -> Any:
            return _functions().call_method(self, name, args, options)

        method.__name__, method.__doc__ = name, found.__doc__
        method.__wrapped__ = found  # type: ignore[attr-defined]
        return method

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute of the object."""
        if name in Held.__slots__:
            object.__setattr__(self, name, value)
        else:
            setattr(self._inner, name, self._transfer.anew().to_library(value))

    def __dir__(self) -> list[str]:
        """Return the names of the object."""
        return dir(self._inner)

    def __repr__(self) -> str:
        """Return what the object says of itself."""
        return repr(self._inner)

    def __str__(self) -> str:
        """Return the text of the object."""
        return str(self._inner)

    def __copy__(self) -> Held:
        """Return a holder of a copy."""
        return hold(copy.copy(self._inner), self._transfer)

    def __deepcopy__(self, memo: dict[int, Any]) -> Held:
        """Return a holder of a deep copy."""
        return hold(copy.deepcopy(self._inner, memo), self._transfer)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the object."""
        return hold, (self._inner, self._transfer.anew())


def _functions() -> Any:
    return import_late(_FUNCTIONS, __package__)


def is_held(x: Any) -> bool:
    """Return whether a value of a library is an object that may have arrays."""
    return _is_of_library(type(x)) and not isinstance(x, _NOT_HELD)


_NOT_HELD = (enum.Enum, BaseException, numpy.ndarray, numpy.ufunc, type, types.FunctionType, types.BuiltinFunctionType)


def _is_of_library(cls: Any) -> bool:
    return cls.__module__.startswith(_LIBRARIES) or (cls.__module__ == "builtins" and cls.__name__ in _MODULES)


def holder_of(x: Any, known: list[Held], transfer: Transfer) -> Held:
    """Return the holder of an object of a library: one that is known, or a new one."""
    for held in known:
        if held._inner is x:
            return held
    return hold(x, transfer)


def hold(x: Any, transfer: Transfer) -> Held:
    """Return a new holder of an object."""
    cls: Any = type(x)
    held: Held = object.__new__(class_for(cls))
    held._inner, held._transfer = x, transfer.anew()
    return held


@cache
def class_for(cls: Any) -> Any:
    """Return the class of holders of a class of SciPy's, or of the class in `cupyx.scipy` of the same name."""
    named = _scipy_class(cls)
    if named is not cls:
        return class_for(named)
    bases = tuple(class_for(base) for base in cls.__bases__ if _is_of_library(base)) or (Held,)
    namespace: dict[str, Any] = {"scipy_class": cls, "__slots__": (), "__doc__": cls.__doc__}
    namespace["__module__"] = f"gpunumpy.scipy.{_place(cls)[0]}"
    for name in _OPERATORS:
        if getattr(cls, name, None) not in (None, getattr(object, name, None)):
            namespace[name] = _operator(name)
    if hasattr(cls, "__iter__"):
        namespace["__iter__"] = _iterate
    if "__eq__" in namespace:
        namespace["__hash__"] = None if cls.__hash__ is None else object.__hash__
    return HeldMeta(cls.__name__, bases, namespace)


def _place(cls: Any) -> tuple[str, str]:
    """Return the public module of SciPy's that has a class, without "scipy.", and the name of the class."""
    words = _MODULES.get(cls.__name__, cls.__module__).removeprefix("cupyx.").split(".")[1:]
    public = next((k for k, word in enumerate(words) if word.startswith("_")), len(words))
    return ".".join(words[:public]), cls.__name__


def _scipy_class(cls: Any) -> Any:
    """Return SciPy's class for a class of `cupyx.scipy`; that class itself if SciPy has none of that name."""
    if not cls.__module__.startswith("cupyx."):
        return cls
    path, name = _place(cls)
    return getattr(import_late(f"scipy.{path}"), name, cls)


def _operator(name: str) -> Callable[..., Any]:
    def operator(self: Held, *args: Any, **options: Any) -> Any:
        return _functions().call_method(self, name, args, options)

    operator.__name__ = name
    return operator


def _iterate(self: Held) -> Iterator[Any]:
    transfer = self._transfer.anew()
    return map(transfer.from_library, iter(self._inner))
