"""Access to the hand-written CUDA C++: `.cuh` files, each beside the Python module that uses it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_KERNELS = Path(__file__).parents[1]


@cache
def source(*names: str) -> str:
    """Return the texts of the files ``kernels/<name>.cuh``, joined in this order."""
    return "\n".join((_KERNELS / f"{name}.cuh").read_text(encoding="utf-8") for name in names)
