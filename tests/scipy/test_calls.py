"""Functions of SciPy's on arrays of this package, beside the same calls on NumPy arrays."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy
import pytest
import scipy
import scipy.ndimage
import scipy.sparse

import gpunumpy
import gpunumpy.scipy

from .beside import agree
from .cases import TABLES


@pytest.fixture(autouse=True)
def cpu() -> Iterator[None]:
    """Have results of calls without arrays on the CPU device; `tests/gpu/test_scipy.py` has the calls on a GPU."""
    with gpunumpy.Device("cpu"):
        yield


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize(("module", "name"), [(module, name) for module, table in TABLES.items() for name in table])
def test_a_call(module: str, name: str, residence: str) -> None:
    gpunumpy.set_residence(residence)
    agree(TABLES[module][name])


@pytest.mark.parametrize("residence", ["auto", "device"])
def test_objects_share_memory(residence: str) -> None:
    """What an object keeps of an array, and the array, are one memory, as in SciPy."""
    gpunumpy.set_residence(residence)
    data: Any = gpunumpy.asarray(numpy.array([1.0, 2.0]))
    parts = [gpunumpy.asarray(numpy.array(x, numpy.int32)) for x in ([0, 1], [0, 1, 2])]
    matrix = gpunumpy.scipy.sparse.csr_array((data, *parts), shape=(2, 2))
    data[0] = 9.0
    assert matrix.diagonal().tolist() == [9, 2]
    matrix.data[1] = 7.0
    assert matrix.diagonal().tolist() == [9, 7]
    assert data.tolist() == [9, 7]
    matrix *= 2
    assert isinstance(matrix, gpunumpy.scipy.sparse.csr_array)
    assert matrix.trace() == 32


@pytest.mark.parametrize("residence", ["auto", "device"])
def test_results_that_are_views(residence: str) -> None:
    gpunumpy.set_residence(residence)
    x: Any = gpunumpy.asarray(numpy.arange(8.0))
    seen = gpunumpy.scipy.linalg.lapack.dgetrf  # a function of another module, which is SciPy's
    assert callable(seen)
    view = gpunumpy.scipy.fft.fftshift(x)
    view[0] = 100.0
    assert x[4] == 4
    same = gpunumpy.scipy.signal.detrend(x, type="constant", overwrite_data=True)
    numpy.testing.assert_allclose(gpunumpy.asnumpy(same).sum(), 0, atol=1e-12)


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("kind", ["dok_matrix", "dok_array"])
def test_a_sparse_matrix_that_is_a_dict_is_held(kind: str, residence: str) -> None:
    gpunumpy.set_residence(residence)
    cls = getattr(gpunumpy.scipy.sparse, kind)
    matrix = cls((3, 3))
    matrix[0, 1] = 3.0
    assert isinstance(matrix, cls)
    assert isinstance(matrix @ gpunumpy.ones(3), gpunumpy.ndarray)
    assert isinstance(matrix.toarray(), gpunumpy.ndarray)
    assert isinstance(gpunumpy.scipy.sparse.csr_array(gpunumpy.eye(3)).todok(), gpunumpy.scipy.sparse.dok_array)
    assert list(matrix.items()) == [((0, 1), 3.0)]


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("name", ["sum", "mean", "todense"])
def test_what_is_a_matrix_of_numpys_is_an_array(name: str, residence: str) -> None:
    gpunumpy.set_residence(residence)
    options = {} if name == "todense" else {"axis": 0}
    result = getattr(gpunumpy.scipy.sparse.csr_matrix(gpunumpy.eye(3)), name)(**options)
    wanted = getattr(scipy.sparse.csr_matrix(numpy.eye(3)), name)(**options)
    assert type(result) is gpunumpy.ndarray
    numpy.testing.assert_array_equal(result.get(), numpy.asarray(wanted))


def test_a_parameter_called_function() -> None:
    image = numpy.arange(12.0).reshape(3, 4)
    found = gpunumpy.scipy.ndimage.generic_filter(gpunumpy.asarray(image), function=numpy.mean, size=3)
    numpy.testing.assert_array_equal(found.get(), scipy.ndimage.generic_filter(image, function=numpy.mean, size=3))


def test_objects_are_copied_and_pickled() -> None:
    scipy = gpunumpy.scipy
    tree = scipy.spatial.KDTree(gpunumpy.arange(6.0).reshape(3, 2))
    matrix = scipy.sparse.csr_array(gpunumpy.eye(3))
    for held in (pickle.loads(pickle.dumps(tree)), copy.copy(tree)):
        assert held.query(gpunumpy.ones(2))[0] == 1
        assert isinstance(held, scipy.spatial.KDTree)
    assert copy.deepcopy(matrix).nnz == 3
    for function in (scipy.ndimage.sobel, scipy.sparse.linalg.spsolve, scipy.special.jv):
        assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("name", ["ndimage.gaussian_filter", "spatial.KDTree", "optimize.minimize", "fft.fft"])
def test_what_help_shows_is_scipys(name: str) -> None:
    path, last = name.split(".")
    found, original = getattr(getattr(gpunumpy.scipy, path), last), getattr(getattr(scipy, path), last)
    assert inspect.signature(found) == inspect.signature(original)
    assert (found.__name__, found.__doc__) == (last, original.__doc__)
    assert found.__module__ == f"gpunumpy.scipy.{path}"


def test_a_programs_class_is_scipys() -> None:
    stats: Any = gpunumpy.scipy.stats

    class Decay(stats.rv_continuous):
        def _pdf(self, x: Any) -> Any:
            return numpy.exp(-x)

    assert isinstance(Decay(a=0), scipy.stats.rv_continuous)


def test_names_that_scipy_does_not_have() -> None:
    with pytest.raises(AttributeError, match=r"module 'gpunumpy.scipy.ndimage' has no attribute 'nosuch'"):
        _ = gpunumpy.scipy.ndimage.nosuch  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="nosuch"):
        _ = gpunumpy.scipy.nosuch  # type: ignore[attr-defined]
    with pytest.raises(ImportError):
        import_module("gpunumpy.scipy.nosuch")
    with pytest.raises(AttributeError):
        _ = gpunumpy.scipy.sparse.csr_array(gpunumpy.eye(2)).nosuch
    with pytest.raises(TypeError, match="sigma"):
        gpunumpy.scipy.ndimage.gaussian_filter(gpunumpy.ones(3))  # type: ignore[call-arg]
