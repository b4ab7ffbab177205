"""Functions of `cupyx.scipy` for those of SciPy, and arguments by the names that both have."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, reduce
from typing import Any, NamedTuple

from .cupy_library import cupy, cupyx

_Parameter = inspect.Parameter
_POSITIONAL = (_Parameter.POSITIONAL_ONLY, _Parameter.POSITIONAL_OR_KEYWORD)


class Counterpart(NamedTuple):
    """A function of `cupyx.scipy`, or a class.

    Attributes
    ----------
    function : callable
        The function.
    same_positions : int
        How many arguments may be passed by position, since the first parameters of both functions are the same.
    further_positions : tuple of str
        SciPy's parameters after these that may be passed by position.
    defaults : dict of str to object, or None
        The defaults of SciPy's parameters; None if one of the functions does not tell its parameters.
    known : frozenset of str, or None
        The parameters of the function; None if it takes any.
    """

    function: Callable[..., Any]
    same_positions: int = 0
    further_positions: tuple[str, ...] = ()
    defaults: dict[str, Any] | None = None
    known: frozenset[str] | None = None

    def arguments(
        self, args: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        """Return arguments for SciPy's function as arguments for this one; None if it has not the parameters."""
        if self.defaults is None:
            return args, options
        if len(args) > self.same_positions:
            further = args[self.same_positions :]
            if len(further) > len(self.further_positions):
                return None
            options = {**dict(zip(self.further_positions, further)), **options}
            args = args[: self.same_positions]
        if self.known is None or options.keys() <= self.known:
            return args, options
        missing = options.keys() - self.known
        if any(self.defaults.get(name, self) is not options[name] for name in missing):
            return None
        return args, {name: x for name, x in options.items() if name in self.known}


@cache
def counterpart_of(function: Any, path: str, name: str) -> Counterpart | None:
    """Return what `cupyx.scipy` has for a function or a class of SciPy's; None if it has nothing."""
    try:
        found: Any = reduce(getattr, name.split("."), cupyx(path))
    except AttributeError:
        return None
    try:
        own, other = (list(inspect.signature(x).parameters.values()) for x in (found, function))
    except (TypeError, ValueError):  # ufuncs do not tell
        return Counterpart(found)
    if any(parameter.kind is _Parameter.VAR_POSITIONAL for parameter in (*own, *other)):
        return Counterpart(found)
    positions = [parameter.name for parameter in other if parameter.kind in _POSITIONAL]
    own_positions = [parameter.name for parameter in own if parameter.kind in _POSITIONAL]
    pairs = enumerate(zip(positions, own_positions))
    same = next((k for k, (a, b) in pairs if a != b), min(len(positions), len(own_positions)))
    takes_any = any(parameter.kind is _Parameter.VAR_KEYWORD for parameter in own)
    return Counterpart(
        found,
        same,
        tuple(positions[same:]),
        {parameter.name: parameter.default for parameter in other},
        None if takes_any else frozenset(parameter.name for parameter in own),
    )


def why_none(path: str) -> str:
    """Return the reason why there is no counterpart, for a message."""
    if cupy() is None:
        return "it runs on the device with CuPy (pip install 'gpunumpy[cu13-cupy]')"
    return "cupyx.scipy does not have it"
