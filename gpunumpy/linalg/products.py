"""Products as the array API standard has them: the functions of the main namespace with fewer arguments; chains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.linalg import LinAlgError

from ..core.graph import layout
from ..core.recording.array import ndarray
from ..core.recording.record import as_array
from ..functions.indexing.elements import diagonal as _diagonal
from ..functions.indexing.slices import along, flat
from ..functions.manipulation.shape import matrix_transpose as matrix_transpose
from ..functions.manipulation.shape import reshape
from ..functions.products import stacked as products_stacked
from ..functions.products import tensor_products
from ..functions.products.operands import pair

__all__ = [
    *("cross", "diagonal", "matmul", "matrix_transpose", "multi_dot", "outer", "tensordot", "trace", "vecdot"),
]


def matmul(x1: Any, x2: Any, /) -> ndarray:
    """Matrix product of the last two axes, the others broadcast. See `numpy.linalg.matmul`."""
    return products_stacked.matmul(x1, x2)


def outer(x1: Any, x2: Any, /) -> ndarray:
    """Every element of one vector times every element of another. See `numpy.linalg.outer`."""
    one, two = pair(x1, x2)
    if one.ndim != 1 or two.ndim != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are x1.ndim={one.ndim} and x2.ndim={two.ndim}."
        )
    return tensor_products.outer(one, two)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> ndarray:
    """Sum of products over several axes of both. See `numpy.linalg.tensordot`."""
    return tensor_products.tensordot(x1, x2, axes)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> ndarray:
    """Products of vectors along an axis, the first conjugated. See `numpy.linalg.vecdot`."""
    return products_stacked.vecdot(x1, x2, axis=axis)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> ndarray:
    """Cross product of vectors of 3 elements. See `numpy.linalg.cross`."""
    one, two = pair(x1, x2)
    lengths = [x.shape[layout.normalize_axis(axis, x.ndim)] for x in (one, two)]
    if lengths != [3, 3]:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{lengths[0]} and {lengths[1]} dimensional instead."
        )
    return tensor_products.cross(one, two, axis=axis)


def diagonal(x: Any, /, *, offset: int = 0) -> ndarray:
    """The diagonals of matrices: a read-only view. See `numpy.linalg.diagonal`."""
    return _diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> ndarray:
    """The sums along the diagonals of matrices. See `numpy.linalg.trace`."""
    return tensor_products.trace(x, offset, -2, -1, dtype)


# --- chains ---------------------------------------------------------------------------------------------------------


def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> ndarray:
    """The product of a chain of matrices, in the cheapest order. See `numpy.linalg.multi_dot`."""
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    given = list(arrays)
    device = next((x.device for x in given if isinstance(x, ndarray)), None)
    chain = [as_array(x, device) for x in given]
    if len(chain) == 2:
        return tensor_products.dot(chain[0], chain[1], out)
    first, last = chain[0].ndim, chain[-1].ndim
    if first == 1:
        chain[0] = along(chain[0], 1, 2)
    if last == 1:
        chain[-1] = along(chain[-1], 0, 2)
    for x in chain:
        if x.ndim != 2:
            raise LinAlgError(f"{x.ndim}-dimensional array given. Array must be two-dimensional")
    splits = _splits([chain[0].shape[0], *(x.shape[1] for x in chain)])
    result = _product(chain, splits, 0, len(chain) - 1, out)
    if first == last == 2:
        return result
    return reshape(result, ()) if first == last == 1 else flat(result)


def _product(chain: Sequence[ndarray], splits: dict[tuple[int, int], int], i: int, j: int, out: Any = None) -> ndarray:
    """The product of the matrices from `i` to `j`."""
    if i == j:
        return chain[i]
    k = splits[i, j]
    return tensor_products.dot(_product(chain, splits, i, k), _product(chain, splits, k + 1, j), out)


def _splits(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """For every part of a chain, the matrix after which it is cut; `sizes` are those of rows, columns, columns..."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    best: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            ends = sizes[i] * sizes[j + 1]
            cost[i, j], best[i, j] = min((cost[i, k] + cost[k + 1, j] + ends * sizes[k + 1], k) for k in range(i, j))
    return best
