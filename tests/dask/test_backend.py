"""Dask arrays of this package's arrays: what makes them, what their chunks are, and NumPy's results."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np

pytest.importorskip("dask.array", reason="Dask is not installed")

import dask
import dask.array as da
from dask.sizeof import sizeof
from dask.tokenize import tokenize

import gpunumpy.dask  # registers what Dask looks up by type
from gpunumpy.random.stream import Stream

ROOT = Path(__file__).parents[2]
CREATED = {
    "ones": lambda: da.ones((6, 4), chunks=(2, 3)),
    "zeros": lambda: da.zeros((6, 4), chunks=3, dtype="f4"),
    "full": lambda: da.full((5,), 7, chunks=2),
    "arange": lambda: da.arange(3, 50, 4, chunks=5),
    "linspace of arange": lambda: da.arange(10, chunks=3) / 9,
    "default_rng": lambda: da.random.default_rng(3).random((9, 5), chunks=4),
    "normal": lambda: da.random.default_rng(3).normal(1.0, 2.0, size=1000, chunks=300),
    "integers": lambda: da.random.default_rng(3).integers(0, 100, size=1000, chunks=300),
    "RandomState": lambda: da.random.RandomState(3).uniform(size=100, chunks=30),
    "ones_like": lambda: da.ones_like(da.zeros((3, 3), chunks=2)),
}
OPERATIONS = {
    "operators": lambda x, y: (x * 2 + y) / (1 + abs(x)),
    "ufuncs": lambda x, y: da.sqrt(abs(x)) + da.exp(y),
    "sum": lambda x, y: x.sum(),
    "sum along an axis": lambda x, y: x.sum(axis=0),
    "mean and std": lambda x, y: x.mean(axis=1) + y.std(axis=1),
    "nanmean": lambda x, y: da.nanmean(da.where(x > 0.5, x, numpy.nan)),
    "argmax": lambda x, y: x.argmax(axis=0),
    "cumsum": lambda x, y: da.cumsum(x, axis=0),
    "transposed": lambda x, y: x.T,
    "slices": lambda x, y: x[1:-1:2, ::-1],
    "integers": lambda x, y: x[[5, 1, 3]],
    "take": lambda x, y: da.take(x, numpy.array([0, 2]), axis=1),
    "concatenate": lambda x, y: da.concatenate([x, y]),
    "stack": lambda x, y: da.stack([x, y]),
    "rechunk": lambda x, y: x.rechunk((7, 4)),
    "reshape": lambda x, y: x.reshape(-1),
    "dot": lambda x, y: x @ y.T,
    "tensordot": lambda x, y: da.tensordot(x, y, axes=((0,), (0,))),
    "einsum": lambda x, y: da.einsum("ij,kj->ik", x, y),
    "percentile": lambda x, y: da.percentile(x.reshape(-1), [10, 50, 90]),
    "map_overlap": lambda x, y: x.map_overlap(lambda block: block * 2, depth=1, boundary="reflect"),
    "where": lambda x, y: da.where(x > y, x, y),
    "topk": lambda x, y: da.topk(x, 2, axis=0),
}

# Operations whose results Dask takes for NumPy's chunks beforehand, of whatever library they are.
UNTYPED = {
    "mask": lambda x, y: x[x > 0.5],
    "histogram": lambda x, y: da.histogram(x, bins=5, range=(0, 1))[0],
    "fft": lambda x, y: da.fft.fft(x.rechunk((3, -1))),
    "unique": lambda x, y: da.unique((x * 4).astype(int)),
}


def check(ours: Any, expected: Any) -> None:
    assert isinstance(ours._meta, np.ndarray)
    result = ours.compute()
    assert isinstance(result, np.ndarray)
    assert result.dtype == ours.dtype == expected.dtype
    numpy.testing.assert_allclose(np.asnumpy(result), expected, rtol=1e-12)


@pytest.mark.parametrize("name", CREATED)
def test_chunks_are_made_here(name: str) -> None:
    ours = CREATED[name]()
    with dask.config.set({"array.backend": "numpy"}):
        expected = CREATED[name]().compute()
    check(ours, expected)


def test_empty() -> None:
    assert isinstance(da.empty((3, 4), chunks=2).compute(), np.ndarray)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name: str, scheduler: str) -> None:
    rng = numpy.random.default_rng(5)
    data = rng.random((7, 4)), rng.random((7, 4))
    theirs = OPERATIONS[name](*(da.from_array(x, chunks=(3, 2)) for x in data)).compute()
    ours = OPERATIONS[name](*(da.from_array(np.asarray(x), chunks=(3, 2)) for x in data))
    with dask.config.set(scheduler=scheduler):
        check(ours, theirs)


@pytest.mark.parametrize("name", UNTYPED)
def test_operations_without_a_type(name: str) -> None:
    rng = numpy.random.default_rng(5)
    data = rng.random((7, 4)), rng.random((7, 4))
    theirs = UNTYPED[name](*(da.from_array(x, chunks=(3, 2)) for x in data)).compute()
    ours = UNTYPED[name](*(da.from_array(np.asarray(x), chunks=(3, 2)) for x in data)).compute()
    numpy.testing.assert_allclose(numpy.asarray(ours), theirs, rtol=1e-12)


@pytest.mark.parametrize("operation", [da.linalg.svd, da.linalg.qr])
def test_factors(operation: Any) -> None:
    x = np.asarray(numpy.random.default_rng(1).random((40, 4)))
    first, *middle, last = (np.asnumpy(factor.compute()) for factor in operation(da.from_array(x, chunks=(10, 4))))
    product = first @ numpy.diag(middle[0]) @ last if middle else first @ last
    numpy.testing.assert_allclose(product, x.get(), atol=1e-12)


def test_least_squares_stay_here() -> None:
    pytest.importorskip("scipy")
    rng = numpy.random.default_rng(1)
    a, b = rng.random((20, 5)), rng.random(20)
    found = da.linalg.lstsq(*(da.from_array(np.asarray(x), chunks=(10, 5)[: x.ndim]) for x in (a, b)))[0].compute()
    assert isinstance(found, np.ndarray)
    numpy.testing.assert_allclose(np.asnumpy(found), numpy.linalg.lstsq(a, b)[0])


def test_to_backend_and_back() -> None:
    x = da.from_array(numpy.arange(10.0), chunks=3)
    ours = x.to_backend("gpunumpy")
    check(ours, numpy.arange(10.0))
    assert ours.to_backend("gpunumpy") is ours
    back = ours.to_backend("numpy")
    assert type(back._meta) is type(back.compute()) is numpy.ndarray


def test_zarr(tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    da.arange(20, chunks=5).to_backend("numpy").to_zarr(str(tmp_path / "x.zarr"))
    check(da.from_zarr(str(tmp_path / "x.zarr")).to_backend() + 1, numpy.arange(1, 21))


def test_our_array_comes_whole_or_in_chunks() -> None:
    x = np.arange(12.0).reshape(3, 4)
    check(da.from_array(x, chunks=2) + 1, numpy.arange(12.0).reshape(3, 4) + 1)
    check(da.from_array(x, chunks=2) * x, numpy.arange(12.0).reshape(3, 4) ** 2)
    check(x * da.from_array(x, chunks=2), numpy.arange(12.0).reshape(3, 4) ** 2)


def test_tokens_name_the_elements() -> None:
    assert tokenize(np.arange(5)) == tokenize(np.arange(10)[:5])
    assert tokenize(np.arange(5)) != tokenize(np.arange(5) + 1)


def test_bytes() -> None:
    assert sizeof(np.ones((10, 10))) == 800
    assert sizeof(np.broadcast_to(np.ones(10), (10, 10))) == 80


def test_entry_point_of_an_installed_package(tmp_path: Path) -> None:
    """What `pip` makes of pyproject.toml: Dask finds the backend by the name, without an import by the program."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    made = tmp_path / "gpunumpy-0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: gpunumpy\nVersion: 0\n")
    points = project["entry-points"]["dask.array.backends"]
    lines = "\n".join(f"{name} = {value}" for name, value in points.items())
    (made / "entry_points.txt").write_text(f"[dask.array.backends]\n{lines}\n")
    program = "import dask.array as da; print(type(da.ones(3).compute()).__module__)"
    folders = os.pathsep.join(map(str, (tmp_path, ROOT, *filter(None, [os.environ.get("PYTHONPATH")]))))
    environment = {**os.environ, "DASK_ARRAY__BACKEND": "gpunumpy", "PYTHONPATH": folders}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "gpunumpy"


def test_what_installs_dask() -> None:
    program = "import sys; sys.modules['dask'] = None; import gpunumpy.dask"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert f"gpunumpy.dask needs Dask: pip install -e '{ROOT}[dask]'" in run.stderr


def test_import_loads_no_dask() -> None:
    program = "import sys, gpunumpy; print('dask' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_bit_generators_are_drawn_from_on_the_device() -> None:
    assert Stream(da.random.default_rng(1)._bit_generator).kind == "pcg64"


@pytest.mark.parametrize("name", ["ones", "zeros", "full", "arange", "default_rng", "RandomState"])
def test_equal_calls_have_equal_names(name: str) -> None:
    assert CREATED[name]().name == CREATED[name]().name
