"""Products with the signatures of the array API standard, over the main namespace's functions; and `multi_dot`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.linalg import LinAlgError

from ..core.graph import layout
from ..core.recording.array import ndarray
from ..core.recording.record import as_array
from ..functions.indexing.elements import diagonal as _diagonal
from ..functions.indexing.slices import flat_array, laid_along_axis
from ..functions.manipulation.shape import matrix_transpose as matrix_transpose
from ..functions.manipulation.shape import reshape
from ..functions.products import stacked as products_stacked
from ..functions.products import tensor_products
from ..functions.products.operands import as_two_arrays

__all__ = [
    *("cross", "diagonal", "matmul", "matrix_transpose", "multi_dot", "outer", "tensordot", "trace", "vecdot"),
]


def matmul(x1: Any, x2: Any, /) -> ndarray:
    """Multiply matrices along the last two axes; the other axes broadcast. See `numpy.linalg.matmul`."""
    return products_stacked.matmul(x1, x2)


def outer(x1: Any, x2: Any, /) -> ndarray:
    """Multiply every element of one vector by every element of another. See `numpy.linalg.outer`."""
    one, two = as_two_arrays(x1, x2)
    if one.ndim != 1 or two.ndim != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are x1.ndim={one.ndim} and x2.ndim={two.ndim}."
        )
    return tensor_products.outer(one, two)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> ndarray:
    """Sum products over several axes of both arrays. See `numpy.linalg.tensordot`."""
    return tensor_products.tensordot(x1, x2, axes)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> ndarray:
    """Return the dot products of vectors along an axis, the first vector conjugated. See `numpy.linalg.vecdot`."""
    return products_stacked.vecdot(x1, x2, axis=axis)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> ndarray:
    """Return the cross products of vectors of 3 elements. See `numpy.linalg.cross`."""
    one, two = as_two_arrays(x1, x2)
    axis = -1 if axis is None else axis
    lengths = [x.shape[layout.normalize_axis(axis, x.ndim)] for x in (one, two)]
    if lengths != [3, 3]:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{lengths[0]} and {lengths[1]} dimensional instead."
        )
    return tensor_products.cross(one, two, axis=axis)


def diagonal(x: Any, /, *, offset: int = 0) -> ndarray:
    """Return the diagonals of matrices as a read-only view. See `numpy.linalg.diagonal`."""
    return _diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> ndarray:
    """Sum the diagonals of matrices. See `numpy.linalg.trace`."""
    return tensor_products.trace(x, offset, -2, -1, dtype)


# --- chains ---------------------------------------------------------------------------------------------------------


def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> ndarray:
    """Multiply a chain of matrices in the order that takes the fewest operations. See `numpy.linalg.multi_dot`."""
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    operands = list(arrays)
    device = next((x.device for x in operands if isinstance(x, ndarray)), None)
    chain = [as_array(x, device) for x in operands]
    if len(chain) == 2:
        return tensor_products.dot(chain[0], chain[1], out)
    first_ndim, last_ndim = chain[0].ndim, chain[-1].ndim
    if first_ndim == 1:
        chain[0] = laid_along_axis(chain[0], 1, 2)
    if last_ndim == 1:
        chain[-1] = laid_along_axis(chain[-1], 0, 2)
    for x in chain:
        if x.ndim != 2:
            raise LinAlgError(f"{x.ndim}-dimensional array operands. Array must be two-dimensional")
    splits = _splits([chain[0].shape[0], *(x.shape[1] for x in chain)])
    result = _product(chain, splits, 0, len(chain) - 1, out)
    if first_ndim == last_ndim == 2:
        return result
    return reshape(result, ()) if first_ndim == last_ndim == 1 else flat_array(result)


def _product(chain: Sequence[ndarray], splits: dict[tuple[int, int], int], i: int, j: int, out: Any = None) -> ndarray:
    """Multiply the matrices `i` to `j` of the chain, cut after ``splits[i, j]``."""
    if i == j:
        return chain[i]
    k = splits[i, j]
    return tensor_products.dot(_product(chain, splits, i, k), _product(chain, splits, k + 1, j), out)


def _splits(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Return, for every range (i, j) of the chain, the matrix after which the cheapest product cuts the range.

    Matrix k has ``sizes[k]`` rows and ``sizes[k + 1]`` columns.
    """
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    splits: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            ends = sizes[i] * sizes[j + 1]
            cost[i, j], splits[i, j] = min((cost[i, k] + cost[k + 1, j] + ends * sizes[k + 1], k) for k in range(i, j))
    return splits
