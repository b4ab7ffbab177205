"""What nested lists, tuples and dictionaries hold. One that occurs again, as in itself, is gone through once."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

_KINDS = (list, tuple, dict)


def leaves(x: Any) -> Iterator[Any]:
    """Yield what `x` holds, in order and however deep; `x` itself if it is no list, tuple or dictionary."""
    seen, pending = set(), [x]
    while pending:
        part = pending.pop()
        if not isinstance(part, _KINDS):
            yield part
        elif id(part) not in seen:
            seen.add(id(part))
            pending.extend(reversed(part.values() if isinstance(part, dict) else part))


def holds_itself(x: Any, outer: frozenset[int] = frozenset()) -> bool:
    """Return whether a list, tuple or dictionary is inside of itself; `outer` has the ids of those around it."""
    if not isinstance(x, _KINDS):
        return False
    inner = outer | {id(x)}
    return id(x) in outer or any(holds_itself(part, inner) for part in (x.values() if isinstance(x, dict) else x))


def leaf_types(x: Any) -> set[type]:
    """Return the types of what `x` holds, quickly for long lists of numbers."""
    seen, types = set(), set[type]()
    pending: list[Collection[Any]] = [[x]]
    while pending:
        parts = pending.pop()
        kinds = set(map(type, parts))
        nested = {kind for kind in kinds if issubclass(kind, _KINDS)}
        types |= kinds - nested
        for part in parts if nested else ():
            if type(part) in nested and id(part) not in seen:
                seen.add(id(part))
                pending.append(part.values() if isinstance(part, dict) else part)
    return types
