"""Types for annotations. See `numpy.typing`.

``NDArray[float64]`` is `ndarray` with a dtype that is told to the reader; a checker does not follow dtypes through
operations, so an array of any dtype may be given for it.
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
