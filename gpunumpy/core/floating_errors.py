"""Floating-point errors of numbers that NumPy computes or converts on the host: told only where a program asks.

What a context asks for is set by `gpunumpy.errstate` and `gpunumpy.seterr`; NumPy's default mode asks for nothing.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from typing import Any

import numpy
from numpy._core.umath import _extobj_contextvar


class CheckedCategories:
    """Categories that a context checks, kept alive by that context and by each `errstate` that will restore them."""

    __slots__ = ("__weakref__", "categories")

    def __init__(self, categories: frozenset[str] = frozenset()) -> None:
        self.categories = categories


NO_CATEGORIES = CheckedCategories()
checked_categories: ContextVar[CheckedCategories] = ContextVar("gpunumpy_floating_errors", default=NO_CATEGORIES)

# NumPy's variable for its settings, and its value that ignores all errors, which NumPy itself makes.
SETTINGS: ContextVar[Any] = _extobj_contextvar
with numpy.errstate(all="ignore"):
    IGNORING: Any = SETTINGS.get()


class _Silence:
    """Context in which NumPy tells nothing: `numpy.errstate(all="ignore")` at a third of its time."""

    __slots__ = ("_before",)
    _before: Token[Any]

    def __enter__(self) -> None:
        self._before = SETTINGS.set(IGNORING)

    def __exit__(self, *error: object) -> None:
        SETTINGS.reset(self._before)


def silent_unless_asked() -> AbstractContextManager[Any]:
    """Return a context for numbers that a function computes or converts on the host: only what is asked for is told."""
    asked = checked_categories.get().categories
    if not asked:
        return _Silence()
    settings: dict[str, Any] = {name: "ignore" for name in numpy.geterr() if name not in asked}
    return numpy.errstate(**settings)
