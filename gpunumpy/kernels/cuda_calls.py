"""The library routines of a GPU: ``CALLS[name](device, options, layouts, dtypes)`` prepares one.

`layouts` and `dtypes` are those of the result and the arguments; what is returned takes their pointers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Prepared = Callable[[Sequence[Any]], None]
CALLS: dict[str, Callable[..., Prepared]] = {}


def _empty(device: Any, options: tuple[Any, ...], layouts: Any, dtypes: Any) -> Prepared:
    """Memory alone."""
    return lambda pointers: None


CALLS["empty"] = _empty
