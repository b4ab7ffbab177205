"""Changes of what an array is: all its fields in one step, for signal handlers and other threads."""

from __future__ import annotations

from typing import Any


def take_state(array: Any, view: Any) -> None:
    """Have an array be what a view, or an array on the host, is: one step for signal handlers and other threads."""
    # Python runs none of them in an assignment. What was there is kept, as its finalizers would come between.
    before, state = _fields(array), _fields(view)
    array._base, array._component, array._flags, array._layout, array._node, array._owner, array._source = state
    del before


def _fields(array: Any) -> list[Any]:
    return [
        getattr(array, name, None)
        for name in ("_base", "_component", "_flags", "_layout", "_node", "_owner", "_source")
    ]
