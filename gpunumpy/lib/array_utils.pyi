# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
from collections.abc import Iterable
from typing import SupportsIndex

from .. import _Scalar

def byte_bounds(a: _Scalar) -> tuple[int, int]: ...
def normalize_axis_index(axis: SupportsIndex, ndim: SupportsIndex, msg_prefix: str | None = None) -> int: ...
def normalize_axis_tuple(
    axis: SupportsIndex | Iterable[SupportsIndex],
    ndim: SupportsIndex,
    argname: str | None = None,
    allow_duplicate: bool | None = False,
) -> tuple[int, ...]: ...

__all__ = ["byte_bounds", "normalize_axis_index", "normalize_axis_tuple"]
