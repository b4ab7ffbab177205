"""Handling of floating-point errors: NumPy's settings, and checks of every operation where a program asks for them.

NumPy's own settings hold the modes. Its default mode "warn" checks nothing here, as recording an operation computes
nothing. Where the program itself sets "raise", "warn", "print", "call" or "log", by `errstate` or `seterr` of this
package, every operation of that context is computed at once, and its errors are found from the values.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from contextvars import ContextVar, Token
from functools import wraps
from typing import Any

import numpy

from ...core.floating_errors import NO_CATEGORIES, CheckedCategories, checked_categories
from ...core.fork import renew_in_child
from ...core.graph.node import Node
from ...core.locks import ReentrantLock
from ...core.recording.array import ndarray, to_host, wrap_leaf
from ...core.runtime import evaluate
from ...core.source_location import warn
from .errstate_rules import DIVIDE, INVALID, OVER, UNDER, checks
from .output import is_true_anywhere

__all__ = ["errstate", "geterr", "seterr"]

# The categories in the order in which NumPy reports them: NumPy's flag, and NumPy's name of the error.
_CATEGORIES = {
    "divide": (DIVIDE, "divide by zero"),
    "over": (OVER, "overflow"),
    "under": (UNDER, "underflow"),
    "invalid": (INVALID, "invalid value"),
}


class _DefaultMode(str):
    """Mode of a category that the program has not set, as `geterr` reports it.

    To set it again checks nothing, so ``seterr(**seterr(all="raise"))`` restores the settings.
    """

    __slots__ = ()


# Those of every context, whichever thread runs in it: while there is one, operations are watched.
_all_checked: weakref.WeakSet[CheckedCategories] = weakref.WeakSet()
_lock = ReentrantLock()  # a collection of garbage while it is held may record, and so update the watcher
renew_in_child(lambda: [_lock])


def _change_checked(settings: dict[str, Any]) -> Token[CheckedCategories]:
    """Change what this context checks, by the arguments of `errstate`; the token undoes the change."""
    categories = set(checked_categories.get().categories)
    for name in _CATEGORIES:
        mode = settings.get(name)
        mode = settings.get("all") if mode is None else mode
        if mode is not None:
            (categories.discard if mode == "ignore" or isinstance(mode, _DefaultMode) else categories.add)(name)
    chosen = CheckedCategories(frozenset(categories)) if categories else NO_CATEGORIES
    if categories:
        with _lock:
            _all_checked.add(chosen)
    return checked_categories.set(chosen)


def _update_watcher() -> None:
    """Watch recorded values while any context checks, and stop when none does."""
    with _lock:
        watcher = _check_recorded if len(_all_checked) else None
        if watcher is not evaluate.watcher:
            evaluate.watch(watcher)


def _apply_change() -> None:
    """Start or stop watching after a change of the categories.

    If this context checks, compute everything that is pending: what was recorded before the change is not checked.
    """
    _update_watcher()
    if checked_categories.get().categories:
        evaluate.compute_all()


def geterr() -> dict[str, str]:
    """Return how floating-point errors are handled in this context. See `numpy.geterr`.

    Returns
    -------
    dict
        NumPy's settings. A "warn" that is only the default checks nothing; see `errstate`.
    """
    asked = checked_categories.get().categories
    modes: dict[str, Any] = dict(numpy.geterr())
    return {name: mode if name in asked or mode == "ignore" else _DefaultMode(mode) for name, mode in modes.items()}


def seterr(
    all: str | None = None,
    divide: str | None = None,
    over: str | None = None,
    under: str | None = None,
    invalid: str | None = None,
) -> dict[str, str]:
    """Set how floating-point errors are handled in this context. See `numpy.seterr`; `errstate` says what checks cost.

    Returns
    -------
    dict
        The settings before.
    """
    before = geterr()
    settings = {"all": all, "divide": divide, "over": over, "under": under, "invalid": invalid}
    numpy.seterr(**settings)  # type: ignore[arg-type]
    _change_checked(settings)
    _apply_change()
    return before


_NO_VALUE: Any = numpy._NoValue  # None is a value of `call`


class errstate:
    """Context manager, or decorator, for the handling of floating-point errors. See `numpy.errstate`.

    Categories set to anything but "ignore" are checked: every operation inside is computed at once, and its errors are
    found from its values, which is slow. "under" is approximate: an exact tiny result may count as a rounded one.
    Outside such a context nothing is checked, and nothing warns.

    Parameters
    ----------
    call : callable or object with a method ``write``, optional
        Function that the mode "call" calls, or object that the mode "log" writes to. See `numpy.seterrcall`.
    all, divide, over, under, invalid : {"ignore", "warn", "raise", "call", "print", "log"}, optional
        How errors of the category are handled; unchanged if None.
    """

    def __init__(
        self,
        *,
        call: Any = _NO_VALUE,
        all: Any = None,
        divide: Any = None,
        over: Any = None,
        under: Any = None,
        invalid: Any = None,
    ) -> None:
        modes = {"all": all, "divide": divide, "over": over, "under": under, "invalid": invalid}
        self._settings = modes if call is _NO_VALUE else {"call": call, **modes}
        self._entered: tuple[Any, Token[CheckedCategories]] | None = None

    def __enter__(self) -> None:
        """Set the modes."""
        if self._entered is not None:
            raise TypeError("Cannot enter `np.errstate` twice.")
        numpy_errstate = numpy.errstate(**self._settings)
        numpy_errstate.__enter__()
        self._entered = numpy_errstate, _change_checked(self._settings)
        _apply_change()

    def __exit__(self, *error: object) -> None:
        """Restore the modes that were set before."""
        assert self._entered is not None
        numpy_errstate, token = self._entered
        numpy_errstate.__exit__(None, None, None)
        checked_categories.reset(token)
        _apply_change()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with every call inside such a context."""

        @wraps(function)
        def run(*args: Any, **options: Any) -> Any:
            with type(self)(**self._settings):
                return function(*args, **options)

        return run


# --- for functions of the package -----------------------------------------------------------------------------------

_checks_deferred: ContextVar[bool] = ContextVar("gpunumpy_floating_errors_later", default=False)


def is_checking() -> bool:
    """Return whether this context checks operations for floating-point errors."""
    return bool(checked_categories.get().categories)


def defer_checks(record: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with its results unchecked until another operation uses them.

    That operation, a `where`, decides which elements count.
    """

    def run(*args: Any) -> Any:
        token = _checks_deferred.set(True)
        try:
            return record(*args)
        finally:
            _checks_deferred.reset(token)

    return run


def ignoring(**categories: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator like ``errstate(...)``, for categories to ignore; it costs nothing while no context checks."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        ignored = errstate(**categories)(function)

        @wraps(function)
        def run(*args: Any, **options: Any) -> Any:
            return (function if evaluate.watcher is None else ignored)(*args, **options)

        return run

    return decorate


def warn_of_slices(text: str, condition: Callable[[], ndarray]) -> None:
    """Issue a `RuntimeWarning` if a condition on the slices of a reduction is true for any of them.

    Only a program that asks for "invalid" waits for the condition: NumPy warns by default.
    """
    if evaluate.watcher is None or "invalid" not in checked_categories.get().categories:
        return
    if numpy.geterr()["invalid"] != "ignore" and is_true_anywhere(condition().value()):
        warn(text, RuntimeWarning)


# --- the check ------------------------------------------------------------------------------------------------------


def _check_recorded(recorded: Node) -> None:
    """Compute a value that was just recorded and report its errors, if this context checks any category."""
    asked = checked_categories.get().categories
    if not asked:
        if not len(_all_checked):  # the last context that checked belonged to a thread that has ended
            _update_watcher()
        return
    queue = recorded.signature.queue
    if queue is None or _checks_deferred.get():
        return
    with queue.lock:
        flags_by_name = checks(recorded) if recorded.data is None else []
        if not flags_by_name:
            return
        evaluate.compute_only(queue, [recorded, *(flags for _, flags in flags_by_name)])
    modes: dict[str, Any] = dict(numpy.geterr())
    for name, flags in flags_by_name:
        raised_flags = int(to_host(wrap_leaf(flags)))
        for category, (flag, text) in _CATEGORIES.items():
            if raised_flags & flag and category in asked:
                _HANDLERS[modes[category]](text, name, raised_flags)


def _warn(text: str, name: str, flags: int) -> None:
    warn(f"{text} encountered in {name}", RuntimeWarning)


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


def _ignore(text: str, name: str, flags: int) -> None:
    pass


_HANDLERS: dict[str, Callable[[str, str, int], None]] = {
    "ignore": _ignore,
    "warn": _warn,
    "raise": _raise,
    "call": _call,
    "print": _print,
    "log": _log,
}
