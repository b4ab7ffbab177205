"""`dataclasses.dataclass` for the classes of this package, whose methods are compiled with the first instance.

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


def _with_late_methods(frozen: bool, slots: bool, cls: type) -> type:
    """Return a class that gets the methods of a dataclass as its first instance is made."""
    members = {name: x for name, x in vars(cls).items() if name not in _OF_THE_CLASS_ITSELF}
    late = _with_slots(cls, members) if slots else cls
    complete = _incomplete[late] = partial(_complete, late, members, frozen)

    def begin(self: Any, *args: Any, **options: Any) -> None:
        complete()
        self.__init__(*args, **options)

    late.__init__ = begin  # type: ignore[misc]
    if frozen:
        late.__setattr__ = late.__delattr__ = _refuse  # type: ignore[method-assign, assignment]
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
    """Give a class the methods of a dataclass of these members.

    Several threads may do so at a time: each makes the same ones. The constructor comes last, as it says that all are
    there.
    """
    whole: Any = dataclasses.dataclass(frozen=frozen)(type(late.__name__, late.__bases__, dict(members)))
    made = {
        name: x for name, x in vars(whole).items() if x is not members.get(name) and name not in whole.__annotations__
    }
    constructor = made.pop("__init__")
    for name in made.keys() - {*_OF_THE_CLASS_ITSELF, "__setattr__", "__delattr__"}:
        setattr(late, name, made[name])
    late.__init__ = constructor  # type: ignore[misc]
    _incomplete.pop(late, None)


# What completes the classes without instances.
_incomplete: dict[type, Callable[[], None]] = {}


def complete_all() -> None:
    """Give all classes that have been defined their methods."""
    for complete in list(_incomplete.values()):
        complete()
