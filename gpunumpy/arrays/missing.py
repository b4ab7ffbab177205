"""What to write for methods of CuPy's arrays that are not here."""

from __future__ import annotations

from typing import Any

INSTEAD = {
    **dict.fromkeys(("cstruct", "mdspan"), "x itself: kernels take arrays"),
    "ptp": "gpunumpy.ptp(x)",
    "reduced_view": "x.ravel()",
    "scatter_add": "gpunumpy.add.at(x, indices, values)",
    "scatter_max": "gpunumpy.maximum.at(x, indices, values)",
    "scatter_min": "gpunumpy.minimum.at(x, indices, values)",
    "set": "x[...] = values",
    "toDlpack": "x itself: from_dlpack of each library takes arrays",
}


class MissingMethod:
    """An attribute of a class that is there for its error only; one of the same name in an object goes before it."""

    def __init__(self, name: str, instead: str) -> None:
        self._name, self._instead = name, instead

    def __get__(self, x: Any, owner: type) -> Any:
        """Raise an `AttributeError`, so that the class and its objects have no such attribute."""
        whose = f"type object {owner.__name__!r}" if x is None else f"{owner.__name__!r} object"
        raise AttributeError(f"{whose} has no attribute {self._name!r}; use {self._instead}")
