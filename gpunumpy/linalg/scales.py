"""Scales of float8 matrices: of the whole, of rows or columns, and of blocks of 128 numbers, as cuBLASLt reads them.

A scale here is that of a matrix whose rows lie along the sums: the first operand of a product, and the transpose of the
second.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from ..core.dtypes import FLOAT32
from ..core.graph.library_calls.products import SCALED_BLOCK
from ..core.graph.node import Node
from ..core.recording.array import ndarray, wrap
from ..core.recording.record import as_array, as_dtype, reshaped
from ..functions.manipulation.padding import pad
from ..functions.manipulation.repeating import repeat
from ..functions.manipulation.shape import broadcast_to, sliced_view, transpose

# The library reads the scales of blocks of rows in rows of so many.
_BLOCKS_MULTIPLE = 4


class Scale(NamedTuple):
    """The scale of a matrix.

    Attributes
    ----------
    kind : str
        "whole" of one element, "rows" with one for each row, "vectors" with one for each 128 numbers of a row, or
        "blocks" with one for each square of 128 rows and 128 numbers of these.
    values : ndarray
        In float32: of one element, or with a row for each row, or for each 128 rows, of the matrix.
    shape : tuple of int
        Of the matrix.
    """

    kind: str
    values: ndarray
    shape: tuple[int, int]

    @property
    def is_of_blocks(self) -> bool:
        """Whether there is more than one scale along a sum."""
        return self.kind in ("vectors", "blocks")

    def as_vectors(self) -> Scale:
        """Return a scale with the same values for each 128 numbers of each row."""
        values, (rows, inner) = self.values, self.shape
        if self.kind == "blocks":
            values = sliced_view(repeat(values, SCALED_BLOCK, axis=0), 0, 0, rows)
        return Scale("vectors", broadcast_to(values, (rows, _ceil(inner))), self.shape)

    def operand(self) -> Node:
        """Return the values as the library reads them: those of vectors by columns, those of blocks in rows of 4."""
        if self.kind == "vectors":
            return transpose(self.values).value()
        if self.kind == "blocks":
            return pad(self.values, ((0, 0), (0, -self.values.shape[1] % _BLOCKS_MULTIPLE))).value()
        return reshaped(self.values.value(), (1,))


def scale_of(given: Any, like: ndarray, shape: tuple[int, int], name: str, is_transposed: bool = False) -> Scale:
    """Return a scale that a program has given for a matrix; one that `is_transposed` is for its transpose.

    Raises
    ------
    TypeError
        If it is no real number.
    ValueError
        If the shape is none of those of a scale.
    """
    array = as_array(given, like.device)
    if numpy.result_type(array.dtype, FLOAT32).kind != "f":
        raise TypeError(f"{name} is of {array.dtype}, which is no real number")
    rows, inner = shape
    shapes = {"rows": (rows, 1), "vectors": (rows, _ceil(inner)), "blocks": (_ceil(rows), _ceil(inner))}
    shapes = {kind: known[::-1] if is_transposed else known for kind, known in shapes.items()}
    kind = "whole" if array.size == 1 else next((kind for kind in shapes if shapes[kind] == array.shape), None)
    if kind is None:
        known = ", ".join(map(str, dict.fromkeys(shapes.values())))
        raise ValueError(f"{name} has the shape {array.shape}, not (), {known}")
    values = wrap(as_dtype(array.value(), FLOAT32))
    return Scale(kind, transpose(values) if is_transposed and kind != "whole" else values, shape)


def fitted(left: Scale, right: Scale) -> tuple[Scale, Scale]:
    """Return scales, of which one is of blocks, in kinds that the library has together."""
    if left.kind != "vectors" and (left.kind != "blocks" or right.kind == "blocks"):
        left = left.as_vectors()
    return left, right if right.is_of_blocks else right.as_vectors()


def _ceil(size: int) -> int:
    return -(-size // SCALED_BLOCK)
