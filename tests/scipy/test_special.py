"""Functions of `scipy.special` beside SciPy's: values at the edges, dtypes, arguments of ufuncs, and what is fused."""

from __future__ import annotations

import itertools
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy
import pytest
import scipy
import scipy.special

import gpunumpy as np
from gpunumpy.core.ops import table
from gpunumpy.core.ops.special import SPECIAL
from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.cuda.nvrtc import archs
from gpunumpy.kernels.special import host
from gpunumpy.kernels.special.host import scipy_function
from gpunumpy.scipy import special
from tests.emulator import available

from ..core.fusion.counting import kernels
from ..support.arrays import from_host, to_host
from ..support.special import by_own_text, by_scipy
from ..support.table_harness import translation_unit

NAMES = tuple(SPECIAL)
EDGES = [0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan]
EDGES += [sign * x for x in (0.5, 1, 1.5, 2, 3, 10, 100) for sign in (1, -1)]
FAR = [sign * x for x in (1e-30, 1e-5, 0.25, 0.75, 20, 26, 171, 172, 700, 720, 1e5, 1e10, 1e30) for sign in (1, -1)]
# SciPy's function of float32 keeps the sign of a zero, and that of float64 does not.
_SIGNS_DIFFER = frozenset(("erfinv",))


def edges(name: str, dtype: Any) -> list[Any]:
    arity = SPECIAL[name].arity
    points = list(itertools.product(EDGES if arity > 1 else [*EDGES, *FAR], repeat=arity))
    return [numpy.array(column, dtype) for column in zip(*points, strict=True)]


def same(got: Any, wanted: Any, what: str = "") -> None:
    """Equal with the signs of zeros, up to what SciPy's are off by."""
    assert got.dtype == wanted.dtype, what
    info = numpy.finfo(got.dtype)  # SciPy has 0 for some that are no normal numbers
    tolerance = 1e-5 if info.bits == 32 else 1e-11
    least = tolerance if what in ("j0", "j1", "y0", "y1") else info.tiny
    numpy.testing.assert_allclose(got, wanted, rtol=tolerance, atol=least, err_msg=what)
    zeros = (wanted == 0) & (got == 0) & (what not in _SIGNS_DIFFER)
    numpy.testing.assert_array_equal(numpy.signbit(got[zeros]), numpy.signbit(wanted[zeros]), err_msg=what)


@pytest.mark.sampled(100)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", NAMES)
def test_edges(name: str, dtype: str, on_device: None) -> None:
    given = edges(name, dtype)
    same(to_host(getattr(special, name)(*map(from_host, given))), by_scipy(name, *given), name)


@pytest.mark.sampled(100)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.skipif(not available(), reason="needs g++")
def test_edges_of_own_text(name: str, dtype: str) -> None:
    given = edges(name, dtype)
    same(by_own_text(name, *given), by_scipy(name, *given), name)


_HAS_NEW_RULES = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 18)
_OPERANDS: list[Any] = [numpy.dtype(letter) for letter in "?bBhHiIqQefd"] + [int, float]


@pytest.mark.parametrize("name", NAMES)
def test_dtypes(name: str) -> None:
    """As SciPy's ufuncs have them; before 1.18 some of them computed all but float32 in float64."""
    reference = scipy_function(name)
    if reference is None:
        pytest.skip("SciPy has no such function for others")
    for types in itertools.product(_OPERANDS, repeat=SPECIAL[name].arity):
        wanted = reference.resolve_dtypes((*types, None))
        if _HAS_NEW_RULES or set(types) <= {numpy.dtype("f4"), numpy.dtype("f8")}:
            assert table.resolve(name, types) == wanted, types


@pytest.mark.parametrize("name", NAMES)
def test_arguments_of_ufuncs(name: str, on_device: None) -> None:
    function, reference = getattr(special, name), scipy_function(name)
    if reference is None:
        pytest.skip("SciPy has no such function for others")
    given = [numpy.linspace(0.1, 0.9, 12).reshape(3, 4)] * SPECIAL[name].arity
    arrays = [from_host(x) for x in given]
    wanted = reference(*given)
    out, mask = np.zeros((3, 4), "f4"), given[0] > 0.5
    assert function(*arrays, out=out) is out
    numpy.testing.assert_allclose(to_host(out), wanted, rtol=1e-6)
    numpy.testing.assert_allclose(to_host(function(*arrays, np.empty((3, 4)))), wanted, rtol=1e-13)
    found = to_host(function(*arrays, out=np.ones((3, 4)), where=from_host(mask)))
    numpy.testing.assert_allclose(found, numpy.where(mask, wanted, 1), rtol=1e-13)
    assert function(*arrays, dtype="f4").dtype == numpy.float32
    with pytest.raises(TypeError, match="no cast from float64 to int64"):
        function(*arrays, out=np.empty((3, 4), "i8"))
    with pytest.raises(TypeError, match="no loop that gives int64"):
        function(*arrays, dtype="i8")
    with pytest.raises(TypeError, match="positional argument"):
        function()
    numpy.testing.assert_allclose(
        to_host(function(*[[0.25, 0.75]] * function.nin)), reference(*[[0.25, 0.75]] * function.nin)
    )
    assert pickle.loads(pickle.dumps(function)) is function
    # SciPy's ufunc of our arrays is this function.
    result = reference(*arrays)
    assert isinstance(result, np.ndarray)
    numpy.testing.assert_allclose(to_host(result), wanted, rtol=1e-13)


def test_outer() -> None:
    x = np.linspace(0.1, 0.9, 3)
    numpy.testing.assert_allclose(
        to_host(special.xlogy.outer(x, x)), scipy_function("xlogy").outer(to_host(x), to_host(x))
    )


@pytest.fixture
def host_where_documented(device: str) -> Iterator[None]:
    """Let SciPy compute on the host what is on a GPU, as the page says, and never in place of the CPU device."""
    before = np.host_fallback()
    np.host_fallback("error" if device == "cpu" else "ignore")
    yield
    np.host_fallback(before)


def test_methods_of_ufuncs(on_device: None, host_where_documented: None) -> None:
    x, where = numpy.arange(1.0, 7.0).reshape(2, 3), numpy.array([0, 1, 1])
    ours, scipys = special.xlogy, scipy_function("xlogy")
    numpy.testing.assert_allclose(ours.reduce(np.asarray(x)).get(), scipys.reduce(x))
    numpy.testing.assert_allclose(
        ours.reduce(np.asarray(x), axis=1, keepdims=True).get(), scipys.reduce(x, 1, None, None, True)
    )
    numpy.testing.assert_allclose(ours.accumulate(np.asarray(x), axis=1).get(), scipys.accumulate(x, axis=1))
    numpy.testing.assert_allclose(
        ours.reduceat(np.asarray(x), np.asarray(where[:2])).get(), scipys.reduceat(x, where[:2])
    )
    row, wanted = np.asarray(x[0]), x[0].copy()
    special.erf.at(row, np.asarray(where))
    scipy_function("erf").at(wanted, where)
    numpy.testing.assert_allclose(row.get(), wanted)
    with pytest.raises(ValueError, match="reduce only supported for binary functions"):
        special.erf.reduce(np.asarray(x))


def test_the_sum_of_nothing(on_device: None) -> None:
    assert special.logsumexp(np.empty(0)) == scipy.special.logsumexp([]) == -numpy.inf
    assert special.logsumexp(np.empty((2, 0)), axis=1).tolist() == [-numpy.inf] * 2
    assert special.logsumexp(np.empty((0, 2)), axis=1, keepdims=True).shape == (0, 1)


def test_the_sum_of_all_is_a_number(on_device: None) -> None:
    x = np.linspace(-1, 1, 6).reshape(2, 3)
    assert np.isscalar(special.logsumexp(x))
    assert [np.isscalar(part) for part in special.logsumexp(x, return_sign=True)] == [True, True]
    assert not np.isscalar(special.logsumexp(x, axis=1))


def test_one_kernel() -> None:
    a, b, c = (np.linspace(0.1, 0.9, 1000) + k for k in range(3))
    np.synchronize()
    assert len(kernels(lambda: special.expit(a * b) + special.xlogy(c, b) * special.log_expit(a))) == 1


def test_two_passes() -> None:
    """Over rows that are used again after they are reduced: one kernel each."""
    x = np.linspace(-1, 1, 6000).reshape(60, 100)
    np.synchronize()
    for function in (special.softmax, special.log_softmax, special.logsumexp):
        assert len(kernels(lambda f=function: f(x, axis=1))) <= 2, function.__name__


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_sums(axis: Any, dtype: str, on_device: None) -> None:
    x = (numpy.random.default_rng(1).normal(size=(5, 7)) * 20).astype(dtype)
    x[0, 0] = 40
    array = from_host(x)
    tolerance = {"rtol": 1e-5 if dtype == "f4" else 1e-12, "atol": 1e-6 if dtype == "f4" else 1e-14, "strict": True}
    for name in ("softmax", "log_softmax", "logsumexp"):
        wanted = numpy.asarray(getattr(scipy.special, name)(x, axis=axis))
        numpy.testing.assert_allclose(
            numpy.asarray(to_host(getattr(special, name)(array, axis=axis))), wanted, **tolerance
        )
    weights = numpy.linspace(-1, 2, 7).astype(x.dtype if dtype != "i4" else "f8")
    for options in ({"b": weights, "return_sign": True}, {"b": weights}, {"keepdims": True}, {"return_sign": True}):
        wanted = scipy.special.logsumexp(x, axis=axis, **options)
        found = special.logsumexp(array, axis=axis, **options)
        for one, other in zip(*[r if isinstance(r, tuple) else (r,) for r in (found, wanted)], strict=True):
            numpy.testing.assert_allclose(to_host(one), other, rtol=1e-5 if dtype == "f4" else 1e-12)


@pytest.mark.parametrize(
    "x",
    [[0.0, -40.0], [numpy.inf, 0], [-numpy.inf, -numpy.inf], [numpy.nan, 1], [1e300, 1e300], [-numpy.inf, 2, 2]],
    ids=str,
)
def test_edges_of_sums(x: list[float]) -> None:
    with numpy.errstate(all="ignore"):
        wanted = scipy.special.logsumexp(x)
    numpy.testing.assert_allclose(float(special.logsumexp(np.asarray(x))), wanted, rtol=1e-15)


def test_complex_numbers_are_left_to_scipy() -> None:
    x = np.asarray([1 + 1j, 2 - 1j])
    numpy.testing.assert_allclose(complex(special.logsumexp(x)), scipy.special.logsumexp(to_host(x)))


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_every_function_compiles_for_gpus(arch: str) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    if arch not in archs():
        pytest.skip(f"NVRTC knows {archs()}")
    assert compile_cubin(translation_unit([(name, loop) for name in NAMES for loop in table.loops(name)]), arch)


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU device runs the functions' own text then."""
    monkeypatch.setattr(host, "scipy_function", lambda name: None)
    x = numpy.linspace(0.1, 0.9, 64)
    numpy.testing.assert_array_equal(host.function("expit", (x.dtype, x.dtype))(x), by_own_text("expit", x))


def test_an_import_of_the_package_imports_none_of_this() -> None:
    text = "import sys, gpunumpy; print(*(name for name in sys.modules if 'scipy' in name or '.special.' in name))"
    assert not subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout.split()
