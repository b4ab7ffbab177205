"""Objects that Python's collector looks at no more, but for the buffers, which the package finds by it."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from gpunumpy.core.runtime.memory import Buffer

_frozen_buffers: weakref.WeakSet[Buffer] = weakref.WeakSet()
_get_objects = gc.get_objects


def _get_objects_and_buffers(generation: int | None = None) -> list[Any]:
    found = _get_objects(generation=generation)
    return found if generation is not None else [*found, *_frozen_buffers]


def freeze() -> None:
    """Have the collector pass over all that is there now."""
    gc.collect()
    # By their types: other libraries' objects warn of themselves where they are asked for their class.
    _frozen_buffers.update([x for x in _get_objects() if issubclass(type(x), Buffer)])
    gc.get_objects = _get_objects_and_buffers
    gc.freeze()
