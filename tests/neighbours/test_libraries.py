"""Other libraries give for this package's arrays what they give for NumPy's, or refuse them as the page says."""

from __future__ import annotations

import builtins
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy
import pytest

import gpunumpy

from ..support.buffers import LENDS_BUFFERS, WHY_NOT
from .calls import MODULES, REFUSED, SAME

RANDOM = numpy.random.default_rng(0)
DATA = {
    "x": RANDOM.normal(size=100),
    "y": RANDOM.random(100) + 0.5,
    "f": RANDOM.normal(size=100).astype("float32"),
    "k": numpy.arange(100) % 4,
    "mask": RANDOM.random(100) > 0.5,
    "m": RANDOM.random((6, 4)),
    "b": (RANDOM.random((6, 4)) * 255).astype("uint8"),
    "rgb": (RANDOM.random((6, 4, 3)) * 255).astype("uint8"),
}


@pytest.fixture(params=["auto", "device"])
def on_each_side(request: pytest.FixtureRequest, device: str, residence: None) -> Iterator[None]:
    """Small arrays are on the host, and then on the device."""
    before = gpunumpy.set_residence(request.param)
    with gpunumpy.Device(device):
        yield
    gpunumpy.set_residence(before)


@pytest.fixture
def figures() -> Iterator[Any]:
    """A maker of axes, if matplotlib is there: nothing is shown, and all are closed."""
    try:
        import_module("matplotlib").use("Agg")
    except ImportError:
        yield lambda: None
        return
    plt = import_module("matplotlib.pyplot")
    yield lambda: plt.figure().subplots()
    plt.close("all")


def modules_of(library: str) -> dict[str, Any]:
    """Return the modules that calls of a library name; skip the test where one is not installed, or lacks buffers."""
    if library == "scikit-image" and not LENDS_BUFFERS:
        pytest.skip(WHY_NOT)
    return {
        name: pytest.importorskip(module, reason=f"{library} is not installed", exc_type=ImportError)
        for name, module in MODULES[library].items()
    }


def outcome(call: str, np: Any, modules: dict[str, Any], axes: Any) -> Any:
    """Return what a call gives with the arrays of a library, or the exception that it raises."""
    if gpunumpy.default_device().kind == "cuda":
        call = call.replace("jnp.asarray(f)", "jnp.from_dlpack(f)")  # JAX refuses streams of others
    names = {"np": np, "numpy": numpy, "ax": axes, **{name: np.asarray(value) for name, value in DATA.items()}}
    return eval(call, modules | names)


def assert_same(found: Any, expected: Any) -> None:
    """Compare results that are plain: arrays by dtype, shape and values, containers item by item."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            assert_same(found[key], value)
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            assert_same(one, other)
    elif isinstance(expected, numpy.ndarray | numpy.generic):
        host = gpunumpy.asnumpy(found) if isinstance(found, gpunumpy.ndarray) else numpy.asarray(found)
        assert (host.dtype, host.shape) == (expected.dtype, expected.shape)
        numpy.testing.assert_allclose(host, expected, 1e-6 if host.dtype == "float32" else 1e-9)
    elif isinstance(expected, float):
        assert type(found) is float
        assert found == pytest.approx(expected, rel=1e-9, nan_ok=True) or math.isnan(found)
    else:
        assert type(found) is type(expected)
        assert found == expected


of_libraries = pytest.mark.filterwarnings(
    "ignore:Setting the shape on a NumPy array:DeprecationWarning:skimage",  # NumPy 2.5
    "ignore:`lagrange` is deprecated:DeprecationWarning",  # SciPy 1.18
)


@of_libraries
@pytest.mark.sampled(100)
@pytest.mark.usefixtures("on_each_side")
@pytest.mark.parametrize(("library", "call"), [(library, call) for library in SAME for call in SAME[library]])
def test_same_as_with_numpys_arrays(library: str, call: str, figures: Any) -> None:
    modules = modules_of(library)
    try:
        expected = outcome(call, numpy, modules, figures())
    except AssertionError:
        with pytest.raises(AssertionError):
            outcome(call, gpunumpy, modules, figures())
        return
    try:
        found = outcome(call, gpunumpy, modules, figures())
    except (BufferError, ValueError) as error:
        of_memory = isinstance(error, BufferError) or "Unable to avoid copy" in str(error)
        if not of_memory or gpunumpy.default_device().kind != "cuda":
            raise
        pytest.skip("it asks for memory of the host, so it wants `x.get()` of a GPU's arrays")
    assert_same(found, expected)


@of_libraries
@pytest.mark.sampled(40)
@pytest.mark.usefixtures("on_each_side")
@pytest.mark.parametrize(
    ("library", "call", "error", "instead"), [(library, *row) for library in REFUSED for row in REFUSED[library]]
)
def test_refused_and_what_to_write_instead(library: str, call: str, error: str, instead: str, figures: Any) -> None:
    modules = modules_of(library)
    with pytest.raises(getattr(builtins, error)):
        outcome(call, gpunumpy, modules, figures())
    assert_same(outcome(instead, gpunumpy, modules, figures()), outcome(call, numpy, modules, figures()))


@pytest.mark.usefixtures("on_each_side")
def test_xarray_keeps_the_arrays() -> None:
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    data = xarray.DataArray(gpunumpy.ones((6, 4)), dims=("a", "b"))
    assert type(data.data) is type((data * 2).mean("a").data) is gpunumpy.ndarray


@pytest.mark.usefixtures("on_each_side")
def test_dask_takes_a_percentile_of_arrays_that_are_registered() -> None:
    pytest.importorskip("dask.array", reason="dask is not installed")
    array, dispatch, percentile = map(import_module, ("dask.array", "dask.array.dispatch", "dask.array.percentile"))
    lookup = dispatch.percentile_lookup
    before = dict(lookup._lookup)
    lookup.register(gpunumpy.ndarray, percentile._percentile)
    try:
        found, expected = (
            array.percentile(array.from_array(x, chunks=50), [50]).compute()
            for x in (gpunumpy.asarray(DATA["x"]), DATA["x"])
        )
    finally:
        lookup._lookup.clear()
        lookup._lookup.update(before)
    assert type(found) is gpunumpy.ndarray
    assert_same(found, expected)


def _scaled(a: Any, b: Any) -> Any:
    return a * b + 1


@pytest.mark.usefixtures("on_each_side")
def test_ufuncs_of_numba_run_on_the_host() -> None:
    ufunc = pytest.importorskip("numba", reason="numba is not installed").vectorize(["f8(f8, f8)"])(_scaled)
    x, y = gpunumpy.asarray(DATA["x"]), gpunumpy.asarray(DATA["y"])
    gpunumpy.host_fallback("error")
    with pytest.raises(gpunumpy.HostFallbackWarning):
        ufunc(x, y)
    gpunumpy.host_fallback("ignore")
    found = ufunc(x, y)
    assert type(found) is gpunumpy.ndarray
    assert_same(found, ufunc(DATA["x"], DATA["y"]))


@pytest.mark.usefixtures("on_each_side")
def test_pandas_makes_columns_of_objects_of_elements() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    x = gpunumpy.asarray(DATA["x"])
    assert pandas.Series([x[0], x[1]]).dtype == object
    assert pandas.Series([float(x[0]), float(x[1])]).dtype == float
    for rows in ([{"e": x.sum()}], {"e": [x.sum()]}, [(x.sum(),)]):
        frame = pandas.DataFrame(rows)
        assert frame.dtypes.to_list() == [object]
        assert frame.astype(float).dtypes.to_list() == [float]


@pytest.mark.usefixtures("on_each_side")
def test_pandas_takes_other_results_silently() -> None:
    """If this fails, pandas asks for more than NumPy's classes, and the page need not warn of it."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    series, mask = pandas.Series([1.0, 2.0, 3.0]), gpunumpy.asarray([True, False, True])
    assert series.iloc[mask].to_list() == [2.0, 1.0, 2.0]
    assert series.iloc[mask.get()].to_list() == [1.0, 3.0]
    assert series.map(gpunumpy.sqrt).dtype == object
    assert gpunumpy.sqrt(series).dtype == float
    records = gpunumpy.asarray(numpy.array([(1, 2.0)], "i4,f8"))
    assert pandas.DataFrame(records).shape == (1, 1)
    assert pandas.DataFrame(records.get()).shape == (1, 2)


IMAGES = """
import numpy, gpunumpy
from skimage import feature, filters, measure, morphology, segmentation
image = numpy.add.outer(numpy.arange(9.0), 3 * numpy.arange(9)) % 7
for residence in ("auto", "device"):
    gpunumpy.set_residence(residence)
    with gpunumpy.Device("cpu"):
        x = gpunumpy.asarray(image)
        for call in (morphology.dilation, morphology.erosion, morphology.opening, filters.sobel, filters.median,
                     feature.peak_local_max, lambda x: measure.label(x > 3),
                     lambda x: segmentation.find_boundaries(x > 3)):
            numpy.testing.assert_array_equal(numpy.asarray(call(x)), call(image))
"""


def test_scikit_image_where_scipy_knows_numpy_alone() -> None:
    """There it has SciPy write to arrays like the image."""
    pytest.importorskip("skimage", reason="scikit-image is not installed")
    environment = {name: value for name, value in os.environ.items() if name != "SCIPY_ARRAY_API"}
    done = subprocess.run([sys.executable, "-c", IMAGES], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("on_each_side")
def test_asarray_of_torch_sees_bytes() -> None:
    """If this fails, torch has been mended: the page need not warn of it for that version."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    m = gpunumpy.asarray(DATA["m"])
    if m.residence == "host" or m.device == "cpu":  # and not the memory of a GPU
        assert torch.asarray(m).shape == (48,)
    assert torch.from_dlpack(m).shape == (6, 4)


@pytest.mark.usefixtures("on_each_side")
def test_to_numpy() -> None:
    x = gpunumpy.asarray(DATA["x"])
    assert_same(x.to_numpy(), DATA["x"])
    x.to_numpy()[:] = 0
    assert_same(x.to_numpy(), DATA["x"])
    masked = gpunumpy.ma.masked_greater(x, 0).to_numpy()
    assert type(masked) is numpy.ma.MaskedArray
    assert_same(masked.mask, DATA["x"] > 0)
