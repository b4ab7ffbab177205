"""`dataclasses.dataclass` for the classes of this package, whose methods are compiled as one is first called.

For each frozen class Python compiles six methods, in 0.4 ms. The package has some sixty such classes, and a program of
small arrays makes instances of few. A thread makes those that work on a GPU needs while the driver makes a context.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool = False) -> Any:
        """Return the decorator that `dataclasses.dataclass` returns, for classes that inherit no fields."""
        return partial(_with_late_methods, frozen, slots)


_OF_THE_CLASS_ITSELF = ("__dict__", "__weakref__")
# What is first asked of an instance, which the compiled core may have made without a constructor.
_FIRST = ("__init__", "__eq__", "__hash__", "__repr__")


def _with_late_methods(frozen: bool, slots: bool, cls: type) -> type:
    """Return a class that gets the methods of a dataclass as one of them is called."""
    members = {name: x for name, x in vars(cls).items() if name not in _OF_THE_CLASS_ITSELF}
    late: Any = _with_slots(cls, members) if slots else cls
    complete = _incomplete[late] = partial(_complete, late, members, frozen)

    def first(name: str) -> Callable[..., Any]:
        def call(self: Any, *args: Any, **options: Any) -> Any:
            complete()
            return getattr(late, name)(self, *args, **options)

        return call

    setattr(late, "__match_args__", tuple(cls.__annotations__))  # noqa: B010 -- mypy refuses the assignment
    for name in _FIRST:
        if name not in members:
            setattr(late, name, first(name))
    if frozen:
        late.__setattr__ = late.__delattr__ = _refuse
    else:
        late.__hash__ = None
    return late


def _with_slots(cls: type, members: dict[str, Any]) -> type:
    """Return a class with a slot for each field, of which copies and pickles call the constructor."""
    names = tuple(cls.__annotations__)
    kept = {name: x for name, x in members.items() if name not in names}
    kept |= {"__slots__": names, "__qualname__": cls.__qualname__, "__reduce__": _reduced}
    return type(cls.__name__, cls.__bases__, kept)


def _reduced(self: Any) -> tuple[Any, ...]:
    return type(self), tuple([getattr(self, name) for name in self.__slots__])


def _refuse(self: Any, name: str, value: Any = None) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to or delete field {name!r}")


def _complete(late: type, members: dict[str, Any], frozen: bool) -> None:
    """Give a class the methods of a dataclass of these members; several threads that do so make the same ones."""
    whole: Any = dataclasses.dataclass(frozen=frozen)(type(late.__name__, late.__bases__, dict(members)))
    kept = {*_OF_THE_CLASS_ITSELF, *whole.__annotations__, "__setattr__", "__delattr__"}
    for name, x in vars(whole).items():
        if x is not members.get(name) and name not in kept:
            setattr(late, name, x)
    _incomplete.pop(late, None)


# What completes the classes without instances.
_incomplete: dict[type, Callable[[], None]] = {}


def complete_all() -> None:
    """Give all classes that have been defined their methods."""
    for complete in list(_incomplete.values()):
        complete()
