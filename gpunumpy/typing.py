"""Types for annotations. See `numpy.typing`.

``NDArray[float64]`` is `ndarray` with a dtype for the human reader. Type checkers do not track dtypes through
operations, so they accept an array of any dtype for it.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy
from numpy.typing import ArrayLike as _HostArrayLike
from numpy.typing import DTypeLike as DTypeLike
from numpy.typing import NBitBase as NBitBase

from . import ndarray

__all__ = ["ArrayLike", "DTypeLike", "NBitBase", "NDArray"]

_ScalarT = TypeVar("_ScalarT", bound=numpy.generic)

ArrayLike: TypeAlias = ndarray | _HostArrayLike
NDArray: TypeAlias = ndarray[tuple[Any, ...], numpy.dtype[_ScalarT]]


def __dir__() -> list[str]:
    """Return the public names only."""
    return __all__
