"""How the CPU executor cuts loop nests into blocks."""

from __future__ import annotations

import numpy
import pytest

from gpunumpy.core.schedule.sizes import Trace
from gpunumpy.kernels.host import loop_nest
from gpunumpy.kernels.host import loops as host

from .test_host import Builder, values


def test_blocks_are_cut_between_rows() -> None:
    def spread(array: numpy.ndarray, terms: int) -> int:
        """Over how many dimensions blocks are spread for the sums along axis 1 of a product."""
        k = Builder(array.shape, 1)
        product = k.load(values(array.shape[1]))
        for _ in range(terms):
            product = k.apply("multiply", product, k.load(array.copy("K"), numpy.ravel(array, "K")))
        k.result(k.reduce("add", product))
        nest = loop_nest.ordered(*loop_nest.nests(k.kernel()))
        return host._choose_blocks(nest, len(nest.shape), Trace())[1]

    rows, columns = values((64, 1024)), values((8, 8192)).T
    assert spread(rows, 2) == 1
    # Sums of parts of columns would have to be merged, which only large ones are worth.
    assert spread(columns, 2) == 0
    assert spread(numpy.tile(columns, (9, 1)), 2) == 1


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_blocks_have_many_bytes_of_each_operand(dtype: str) -> None:
    """A NumPy call over few bytes takes as long to begin as to compute, however many items they are."""
    arrays = [numpy.ones(1_000_000, dtype) for _ in range(10)]
    k = Builder((1_000_000,))
    total = k.load(arrays[0])
    for array in arrays[1:]:
        total = k.apply("add", total, k.load(array), loop=dtype)
    k.full(total, dtype)
    nest = loop_nest.ordered(*loop_nest.nests(k.kernel()))
    (length,), blocked = host._choose_blocks(nest, 1, Trace())
    assert blocked == 1
    assert length * numpy.dtype(dtype).itemsize >= 0.8 * host.MIN_OPERAND_BYTES  # pieces are even
