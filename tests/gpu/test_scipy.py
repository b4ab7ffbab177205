"""`gpunumpy.scipy` with CuPy on a real GPU: values beside SciPy's, memory, streams, exceptions."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import scipy

import gpunumpy as np
import gpunumpy.scipy as sp
from gpunumpy.core.runtime import evaluate, memory
from gpunumpy.scipy import cupy_library

from ..scipy.beside import agree
from ..scipy.cases import TABLES

# CuPy says of itself, as its modules are imported, that parts of it may change.
pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::FutureWarning")]
cupy = pytest.importorskip("cupy")


# What `cupyx.scipy` does in another way, by module and name of the case.
_DIFFERENT = {
    ("ndimage", "distance_transform_edt"): "distances are float32",
    ("ndimage", "extrema"): "classes of positions",
    ("ndimage", "maximum_position"): "classes of positions",
    ("sparse", "diags_array"): "formats of results",
    ("sparse", "A * dense"): "formats of results",
    ("sparse", "kron"): "formats of results",
    ("spatial", "Delaunay"): "numbers of triangles",
    ("spatial", "KDTree, pairs"): "an array, and no set",
    ("spatial", "KDTree, two"): "trees have no such method",
    ("spatial", "KDTree, sparse"): "distances need cuVS",
}


@pytest.fixture(autouse=True)
def on_gpu() -> Any:
    with np.Device("cuda:0"):
        yield


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, table in TABLES.items() for name in table])
def test_a_call(module: str, name: str) -> None:
    if (module, name) in _DIFFERENT:
        pytest.skip(_DIFFERENT[module, name])
    np.host_fallback("ignore")
    agree(TABLES[module][name], "cuda:0", 1e-5)


def test_the_host_computes_nothing() -> None:
    """What `cupyx.scipy` has runs there, and what it returns is used at once, in order."""
    np.host_fallback("error")
    x: Any = np.arange(1 << 20, dtype=np.float32).reshape(1024, 1024)
    expected = scipy.ndimage.gaussian_filter(np.asnumpy(x) * 2, 2.0) + 1
    y = sp.ndimage.gaussian_filter(x * 2, 2.0) + 1
    numpy.testing.assert_allclose(np.asnumpy(y), expected, 1e-4)
    out = np.zeros_like(x)
    assert sp.ndimage.gaussian_filter(x * 2, 2.0, output=out) is out
    numpy.testing.assert_allclose(np.asnumpy(out + 1), expected, 1e-4)


def test_memory_is_shared_both_ways() -> None:
    x: Any = np.arange(12.0).reshape(3, 4)
    with memory.staying() as staying:
        lent = cupy_library.lend(x[::2, ::-1], staying)
        assert lent.cupy_array.data.ptr == x[::2, ::-1].data_ptr()
        cupy.testing.assert_array_equal(lent.cupy_array, np.asnumpy(x)[::2, ::-1])
    with cupy_library.stream_of(x.device):
        made = cupy.arange(6.0).reshape(2, 3).T
    mine: Any = cupy_library.adopt(made, evaluate.queue_of(x.device))
    assert mine.data_ptr() == made.data.ptr
    assert mine.strides == made.strides
    mine += 1
    numpy.testing.assert_array_equal(cupy.asnumpy(made), np.asnumpy(mine))


def test_sparse_arrays_share_memory() -> None:
    a = numpy.where(numpy.arange(36).reshape(6, 6) % 5 == 0, 2.0, 0.0)
    matrix = sp.sparse.csr_matrix(np.asarray(a))
    assert type(matrix._inner).__module__.startswith("cupyx.")
    before = matrix.data.data_ptr()
    matrix.data[...] = 3.0
    assert matrix.data.data_ptr() == before
    numpy.testing.assert_array_equal(np.asnumpy(matrix.toarray()), numpy.where(a > 0, 3.0, 0.0))


def test_many_calls_of_one_stream_keep_order() -> None:
    """Memory that CuPy gives back is used again by work that comes after what reads it."""
    rng = numpy.random.default_rng(0)
    host = rng.normal(size=1 << 18)
    x: Any = np.asarray(host)
    total: Any = np.zeros(1 << 18)
    expected = numpy.zeros(1 << 18)
    for k in range(30):
        y = sp.ndimage.uniform_filter1d(x * k, 5)
        total += y * 2
        del y
        expected += scipy.ndimage.uniform_filter1d(host * k, 5) * 2
    numpy.testing.assert_allclose(np.asnumpy(total), expected, 1e-9, 1e-9)


def test_cupy_gives_back_memory() -> None:
    x: Any = np.arange(1 << 20, dtype=np.float32)
    sp.ndimage.uniform_filter1d(x, 5)
    pool = cupy.get_default_memory_pool()
    assert pool.free_bytes() > 0
    for hook in list(memory.out_of_memory_hooks):
        hook(x.device)
    assert pool.free_bytes() == 0
