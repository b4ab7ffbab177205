# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
from collections.abc import Iterable
from typing import SupportsIndex

from .. import ndarray
from ..typing import ArrayLike

def as_strided(
    x: ArrayLike,
    shape: Iterable[SupportsIndex] | None = None,
    strides: Iterable[SupportsIndex] | None = None,
    subok: bool = False,
    writeable: bool = True,
    *,
    check_bounds: bool | None = None,
) -> ndarray: ...
def sliding_window_view(
    x: ArrayLike,
    window_shape: SupportsIndex | Iterable[SupportsIndex],
    axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> ndarray: ...

__all__ = ["as_strided", "sliding_window_view"]
