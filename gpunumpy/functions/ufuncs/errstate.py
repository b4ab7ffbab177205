"""How floating-point errors are handled: NumPy's settings, and the checks where a program asks for them.

NumPy's own settings hold the state. Its default, "warn", checks nothing here, since nothing is computed when an
operation is recorded. Where a program says "raise", "warn", "print", "call" or "log" itself, by `errstate` or `seterr`
of this package, every operation of that context is computed at once, and its errors are found from the values.
"""

from __future__ import annotations

import sys
import threading
import warnings
import weakref
from collections.abc import Callable
from contextvars import ContextVar, Token
from functools import wraps
from typing import Any

import numpy

from ...core.graph.node import Node
from ...core.recording.array import to_host, wrap_leaf
from ...core.runtime import evaluate
from .errstate_rules import DIVIDE, INVALID, OVER, UNDER, checks

__all__ = ["errstate", "geterr", "seterr"]

# The categories in the order in which NumPy looks at them: its flag, and what it calls the error.
_CATEGORIES = {
    "divide": (DIVIDE, "divide by zero"),
    "over": (OVER, "overflow"),
    "under": (UNDER, "underflow"),
    "invalid": (INVALID, "invalid value"),
}


class _Default(str):
    """The "warn" that nobody asked for, so that ``seterr(**seterr(all="raise"))`` gives back what was."""

    __slots__ = ()


class _Asked:
    """The categories that a context asks for; alive as long as a context, or an `errstate` around it, has it."""

    __slots__ = ("__weakref__", "categories")

    def __init__(self, categories: frozenset[str] = frozenset()) -> None:
        self.categories = categories


_NOTHING = _Asked()
_asked: ContextVar[_Asked] = ContextVar("gpunumpy_floating_errors", default=_NOTHING)
_alive: weakref.WeakSet[_Asked] = weakref.WeakSet()
_lock = threading.Lock()


def _ask(settings: dict[str, Any]) -> Token[_Asked]:
    """Change what this context asks for by the arguments of `errstate`."""
    categories = set(_asked.get().categories)
    for name in _CATEGORIES:
        mode = settings.get(name)
        mode = settings.get("all") if mode is None else mode
        if mode is not None:
            (categories.discard if mode == "ignore" or isinstance(mode, _Default) else categories.add)(name)
    asked = _Asked(frozenset(categories)) if categories else _NOTHING
    if categories:
        with _lock:
            _alive.add(asked)
    return _asked.set(asked)


def _watch(wait: bool = True) -> None:
    """Watch what is recorded while any context asks. Whoever holds the lock of a queue must not wait for this one."""
    if _lock.acquire(blocking=wait):
        try:
            wanted = _look if len(_alive) else None
            if wanted is not evaluate.watcher:
                evaluate.watch(wanted)
        finally:
            _lock.release()


def _settle() -> None:
    """Begin or end to watch; what this context has not seen is computed before it asks again."""
    _watch()
    if _asked.get().categories:
        evaluate.compute_all()


def geterr() -> dict[str, str]:
    """How floating-point errors are handled in this context. See `numpy.geterr`.

    Returns
    -------
    dict
        NumPy's settings. A "warn" that is only the default is not acted on; see `errstate`.
    """
    asked = _asked.get().categories
    modes: dict[str, Any] = dict(numpy.geterr())
    return {name: mode if name in asked or mode == "ignore" else _Default(mode) for name, mode in modes.items()}


def seterr(
    all: str | None = None,
    divide: str | None = None,
    over: str | None = None,
    under: str | None = None,
    invalid: str | None = None,
) -> dict[str, str]:
    """Set how floating-point errors are handled in this context; see `numpy.seterr`, and `errstate` for what it costs.

    Returns
    -------
    dict
        The settings before.
    """
    before = geterr()
    settings = {"all": all, "divide": divide, "over": over, "under": under, "invalid": invalid}
    numpy.seterr(**settings)  # type: ignore[arg-type]
    _ask(settings)
    _settle()
    return before


class errstate:
    """A context, or a decorator, with other handling of floating-point errors. See `numpy.errstate`.

    Categories that are set to anything but "ignore" are checked: every operation inside is computed at once, and its
    errors are found from its values, which is slow. "under" is approximate: an exact tiny result may be taken for one
    that was rounded. Outside of any such context nothing is checked, and nothing warns.

    Parameters
    ----------
    call : callable or object with a method ``write``, optional
        What "call" calls and "log" writes to. See `numpy.seterrcall`.
    all, divide, over, under, invalid : {"ignore", "warn", "raise", "call", "print", "log"}, optional
        How errors of the category are handled; unchanged if None.
    """

    def __init__(self, **settings: Any) -> None:
        numpy.errstate(**settings)  # refuses names that are none
        self._settings = settings
        self._outer: tuple[Any, Token[_Asked]] | None = None

    def __enter__(self) -> None:
        if self._outer is not None:
            raise TypeError("Cannot enter `np.errstate` twice.")
        theirs = numpy.errstate(**self._settings)
        theirs.__enter__()
        self._outer = theirs, _ask(self._settings)
        _settle()

    def __exit__(self, *error: object) -> None:
        assert self._outer is not None
        theirs, token = self._outer
        theirs.__exit__(None, None, None)
        _asked.reset(token)
        _settle()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(*args: Any, **options: Any) -> Any:
            with type(self)(**self._settings):
                return function(*args, **options)

        return run


# --- for the rooms above --------------------------------------------------------------------------------------------

_later: ContextVar[bool] = ContextVar("gpunumpy_floating_errors_later", default=False)


def looked_at_later(record: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose results are not checked before something is made of them: that knows which elements count."""

    def run(*args: Any) -> Any:
        token = _later.set(True)
        try:
            return record(*args)
        finally:
            _later.reset(token)

    return run


def ignoring(**categories: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator like ``errstate(...)`` with categories to ignore, which costs nothing where nobody asks."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        ignored = errstate(**categories)(function)

        @wraps(function)
        def run(*args: Any, **options: Any) -> Any:
            return (function if evaluate.watcher is None else ignored)(*args, **options)

        return run

    return decorate


# --- the check ------------------------------------------------------------------------------------------------------


def _look(recorded: Node) -> None:
    """Compute a value that was just recorded and report its errors, where this context asks for them."""
    asked = _asked.get().categories
    if not asked:
        if not len(_alive):  # a thread that asked has ended
            _watch(wait=False)
        return
    queue = recorded.signature.queue
    if queue is None or _later.get():
        return
    with queue.lock:
        found = checks(recorded) if recorded.data is None else []
        if not found:
            return
        evaluate.compute_beside(queue, [recorded, *(flags for _, flags in found)])
    modes: dict[str, Any] = dict(numpy.geterr())
    for name, flags in found:
        raised = int(to_host(wrap_leaf(flags)))
        for category, (flag, text) in _CATEGORIES.items():
            if raised & flag and category in asked:
                _HANDLERS[modes[category]](text, name, raised)


def _warn(text: str, name: str, flags: int) -> None:
    package = __name__.partition(".")[0]
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(f"{text} encountered in {name}", RuntimeWarning, stacklevel=level)


def _raise(text: str, name: str, flags: int) -> None:
    raise FloatingPointError(f"{text} encountered in {name}")


def _call(text: str, name: str, flags: int) -> None:
    function = numpy.geterrcall()
    if function is None:
        raise NameError(f"python callback specified for {text} (in  {name}) but no function found.")
    function(text, flags)  # type: ignore[operator]


def _print(text: str, name: str, flags: int) -> None:
    print(f"Warning: {text} encountered in {name}", file=sys.stderr)


def _log(text: str, name: str, flags: int) -> None:
    target = numpy.geterrcall()
    if target is None:
        raise NameError(f"log specified for {text} (in {name}) but no object with write method found.")
    target.write(f"Warning: {text} encountered in {name}\n")  # type: ignore[union-attr]


def _nothing(text: str, name: str, flags: int) -> None:
    pass


_HANDLERS: dict[str, Callable[[str, str, int], None]] = {
    "ignore": _nothing,
    "warn": _warn,
    "raise": _raise,
    "call": _call,
    "print": _print,
    "log": _log,
}
