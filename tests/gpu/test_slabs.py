"""Values that a GPU has no room for are computed in slabs; `tests/core/runtime/test_slabs.py` has the CPU device."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime import memory
from gpunumpy.core.runtime.spill import SpilledBuffer

from ..core.runtime.test_slabs import COLUMNS, EXPRESSIONS, LIMIT, ROUNDED, ROWS, data, mapped

pytestmark = pytest.mark.gpu

# What libraries compute takes work space, of which a limit of so few bytes may leave none.
_OF_LIBRARIES = ROUNDED | {"product of large matrices", "rows of a large product", "columns of a large product"}

# What is added up where the sum may be next to nothing: two orders of it differ by roundings of what is added.
_TERMS = {"sum of a sum": lambda x: x - x.sum(axis=0) / ROWS}


@pytest.fixture(autouse=True)
def leave_room() -> Iterator[Callable[[int], None]]:
    """Sets a limit that leaves so many bytes besides what there is."""

    def leave(nbytes: int) -> None:
        for drop in memory.out_of_memory_hooks:  # graphs of earlier tests, whose workspace would be room too
            drop(np.default_device())
        gc.collect()
        np.synchronize()  # what the collector has dropped may be in use until then
        np.free_all_blocks()  # those of the graphs as well
        np.set_memory_limit(0)  # moves arrays that earlier tests have kept, in whose place those of the test would be
        np.set_memory_limit(np.memory_info().used + nbytes)

    with np.Device("cuda:0"):
        yield leave
        np.set_memory_limit(None)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_of_a_file(leave_room: Callable[[int], None], tmp_path: Path, name: str) -> None:
    values, expression = mapped(tmp_path, data()), EXPRESSIONS[name]
    expected = expression(numpy, numpy.array(values))
    expression(np, np.asarray(numpy.array(values))).get()  # libraries have their handles, and what these keep
    leave_room(LIMIT)
    x = np.asarray(values)
    assert type(x._node.data) is SpilledBuffer
    try:
        found = expression(np, x).get()
    except MemoryError:
        if name in _OF_LIBRARIES:
            pytest.skip("a library's work space does not fit")
        raise
    rounded = 1e-9 if name in _OF_LIBRARIES else 0
    order = numpy.finfo(float).eps * abs(_TERMS[name](values)).sum(axis=1).max() if name in _TERMS else 0
    numpy.testing.assert_allclose(found, expected, rtol=rounded or 1e-13, atol=rounded or order)
    assert type(x._node.data) is SpilledBuffer


def test_a_product_of_matrices_that_both_do_not_fit(leave_room: Callable[[int], None], tmp_path: Path) -> None:
    """Of 92 MB each, with 40 MB besides what cuBLAS keeps."""
    values = numpy.resize(data(), (ROWS * 3, COLUMNS * 20))
    (np.asarray(values[:10]) @ np.asarray(values[:10].T.copy())).get()
    expected = values @ values.T
    leave_room(40_000_000)
    x = np.asarray(mapped(tmp_path, values))
    before = np.memory_info().used
    numpy.testing.assert_allclose((x @ (x.T * 2)).get(), expected * 2, rtol=1e-12)
    assert np.memory_info().used <= before + 40_000_000
