"""The hand-over to `cupyx.scipy`, to a stand-in of it: what it gets, in which memory, and what comes back."""

from __future__ import annotations

import os
import sys
from types import FrameType, SimpleNamespace
from typing import Any

import numpy
import pytest
import scipy

import gpunumpy as np
import gpunumpy.scipy as sp
from gpunumpy.core.runtime.device import Device
from gpunumpy.scipy import counterparts, cupy_library, functions

from ..support import fake_driver
from .beside import agree
from .cases import TABLES
from .stand_in import Array, Library, as_array, library

__all__ = ["library"]

PACKAGE = os.path.dirname(np.__file__)


def address(x: Any) -> int:
    return x.__array_interface__["data"][0]


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, table in TABLES.items() for name in table])
def test_a_call(library: Library, module: str, name: str) -> None:
    np.host_fallback("ignore")
    agree(TABLES[module][name])


def test_memory_is_shared(library: Library) -> None:
    x: Any = np.arange(12.0).reshape(3, 4) * 2
    before = x.data_ptr()
    y: Any = sp.ndimage.gaussian_filter(x, 1.0)
    (name, (given, _), _), *_ = library.calls
    assert name == "ndimage.gaussian_filter"
    assert type(given) is Array
    assert address(given) == before
    assert library.streams == [x.device]
    assert type(y) is np.ndarray
    y += 1
    numpy.testing.assert_allclose(np.asnumpy(y), scipy.ndimage.gaussian_filter(np.asnumpy(x), 1.0) + 1)


def test_views_are_handed_over_as_they_are(library: Library) -> None:
    x: Any = np.arange(24.0).reshape(4, 6)
    view = x[::-2, 1::2]
    sp.ndimage.gaussian_filter(view, 1.0)
    _, (given, _), _ = library.calls[0]
    assert address(given) == view.data_ptr()
    assert given.strides == view.strides
    numpy.testing.assert_array_equal(given, np.asnumpy(view))


def test_memory_is_lent_for_the_call_alone(library: Library) -> None:
    """Afterwards a write may take other memory, unless something of the library's still shows this one."""
    x, y = np.arange(12.0), np.arange(12.0)
    sp.ndimage.gaussian_filter1d(x, 1.0)
    library.calls.clear()
    assert not x.memory().data.exported
    tree = sp.interpolate.BSpline(np.arange(11.0), y[:7], 3)
    assert y.memory().data.exported
    assert type(tree.c) is np.ndarray


def test_what_is_pending_is_computed_before(library: Library) -> None:
    x: Any = np.zeros((3, 4))
    doubled = x * 2  # pending: it must read what was there before the filter writes
    sp.ndimage.gaussian_filter(np.ones((3, 4)), 1.0, output=x)
    numpy.testing.assert_array_equal(np.asnumpy(doubled), numpy.zeros((3, 4)))
    numpy.testing.assert_allclose(np.asnumpy(x), numpy.ones((3, 4)))


def test_a_call_is_few_calls_of_python(library: Library) -> None:
    """Of this package's functions, besides SciPy's and the stand-in's."""
    x = np.arange(12.0)
    called: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            called.append(frame.f_code.co_name)

    for _ in range(2):
        called.clear()
        sys.setprofile(note)
        try:
            sp.ndimage.uniform_filter1d(x, 5)
        finally:
            sys.setprofile(None)
    # The core in Python hashes each of two devices with a call; the compiled one makes one call of another kind.
    called = [name for name in called if name != "__hash__"]
    assert 20 < len(called) <= 33, called


@pytest.mark.parametrize("with_cupy", [True, False])
def test_arrays_of_two_devices(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, with_cupy: bool
) -> None:
    """No library gets the address of another device's memory, and nothing is computed on the host instead."""
    pytest.importorskip("cuda.bindings.driver")
    library = request.getfixturevalue("library") if with_cupy else None
    np.host_fallback("ignore")
    fake_driver.install(monkeypatch, 2)
    np.set_residence("device")
    here, there, on_host = (np.asarray(numpy.ones(4096), device=name) for name in ("cuda:0", "cuda:1", "cpu"))
    for x, y in ((here, there), (here, on_host), (on_host, there)):
        for call in (sp.ndimage.convolve, sp.special.xlogy, sp.signal.fftconvolve):
            with pytest.raises(ValueError, match=r"on two devices, .* move one with to_device"):
                call(x, y)
    assert library is None or not library.calls


def test_scalars_are_numbers(library: Library) -> None:
    x: Any = np.arange(12.0)
    sp.ndimage.gaussian_filter(x, x.std())
    _, (_, sigma), _ = library.calls[0]
    assert type(sigma) is numpy.float64


def test_parameters_are_passed_by_scipys_names(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def ours(input: Any, *, sigma: Any, mode: str = "reflect", axis: Any = None) -> Any:
        seen.append((sigma, mode))
        return input

    monkeypatch.setattr(library, "cupyx", lambda path: SimpleNamespace(gaussian_filter=ours))
    monkeypatch.setattr(counterparts, "cupyx", lambda path: SimpleNamespace(gaussian_filter=ours))
    x = np.arange(12.0)
    assert sp.ndimage.gaussian_filter(x, 2.0, mode="wrap") is x
    assert sp.ndimage.gaussian_filter(x, 3.0, order=0) is x  # SciPy's default, which is none of its parameters
    assert seen == [(2.0, "wrap"), (3.0, "reflect")]
    with pytest.warns(np.HostFallbackWarning, match="none of these parameters"):
        sp.ndimage.gaussian_filter(x, 3.0, order=1)


def test_what_is_refused_is_computed_by_scipy(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: Any, **options: Any) -> Any:
        raise NotImplementedError("no such mode")

    monkeypatch.setattr(counterparts, "cupyx", lambda path: SimpleNamespace(laplace=refused, sobel=refused))
    x = np.arange(12.0)
    with pytest.warns(np.HostFallbackWarning, match=r"scipy.ndimage.laplace runs through SciPy .*no such mode"):
        y = sp.ndimage.laplace(x)
    numpy.testing.assert_allclose(np.asnumpy(y), scipy.ndimage.laplace(np.asnumpy(x)))
    np.host_fallback("error")
    with pytest.raises(np.HostFallbackWarning, match="sobel would run through SciPy"):
        sp.ndimage.sobel(x)
    np.host_fallback("ignore")
    with pytest.raises(RuntimeError, match="mode not supported"):  # SciPy's own exception
        sp.ndimage.sobel(x, mode="nosuch")


STATES: dict[str, tuple[tuple[int, ...], int, tuple[float, ...], tuple[float, ...]]] = {
    "recursive": ((64,), -1, (0.5, 0.2), (2.0, -0.5, 0.25)),
    "not recursive": ((64,), 0, (0.5, 0.2, 0.1), (1.0,)),
    "first axis": ((40, 3), 0, (1.0,), (1.0, -0.9)),
    "last axis": ((3, 40), 1, (1.0, 2.0), (1.0, 0.1, 0.2)),
    "few elements": ((2, 2), -1, (1.0, 2.0, 3.0, 4.0), (1.0, 0.1, 0.2, 0.3, 0.4)),
}


@pytest.mark.parametrize("case", STATES)
def test_filters_with_states(library: Library, case: str) -> None:
    """Those of `cupyx.scipy.signal` are the last inputs and outputs, so it gets none."""
    shape, axis, b, a = STATES[case]
    rng = numpy.random.default_rng(0)
    x = rng.normal(size=shape)
    size = list(shape)
    size[axis] = max(len(a), len(b)) - 1
    zi = rng.normal(size=size)
    wanted = scipy.signal.lfilter(b, a, x, axis, zi)
    got: Any = sp.signal.lfilter(b, a, np.asarray(x), axis, np.asarray(zi))
    for mine, theirs in zip(got, wanted, strict=True):
        numpy.testing.assert_allclose(np.asnumpy(mine), theirs, rtol=1e-12, atol=1e-13)
    calls = [(name, len(args), options) for name, args, options in library.calls]
    assert calls == [("signal.lfilter", 4, {})] * (1 + (len(a) > 1))
    halves = numpy.array_split(x, [1], axis)  # the states lead from one part to the next
    first, state = sp.signal.lfilter(b, a, np.asarray(halves[0]), axis=axis, zi=np.asarray(zi))
    second, state = sp.signal.lfilter(b, a, np.asarray(halves[1]), axis=axis, zi=state)
    numpy.testing.assert_allclose(np.asnumpy(np.concatenate([first, second], axis)), wanted[0], rtol=1e-12, atol=1e-13)
    numpy.testing.assert_allclose(np.asnumpy(state), wanted[1], rtol=1e-12, atol=1e-13)


def test_sections_with_states(library: Library) -> None:
    sos = scipy.signal.butter(5, 0.2, output="sos")
    rng = numpy.random.default_rng(0)
    x, zi = rng.normal(size=(3, 50)), rng.normal(size=(3, 3, 2))
    wanted = scipy.signal.sosfilt(sos, x, zi=zi)
    got: Any = sp.signal.sosfilt(np.asarray(sos), np.asarray(x), zi=np.asarray(zi))
    for mine, theirs in zip(got, wanted, strict=True):
        numpy.testing.assert_allclose(np.asnumpy(mine), theirs, rtol=1e-11, atol=1e-13)
    assert [name for name, *_ in library.calls] == ["signal.sosfilt"] * 6


def test_states_that_do_not_fit_are_scipys_to_refuse(library: Library) -> None:
    np.host_fallback("ignore")
    x = np.arange(6.0)
    with pytest.raises(ValueError, match="zi"):
        sp.signal.lfilter([1.0, 2.0], [1.0], x, zi=np.ones(3))
    with pytest.raises(TypeError):
        sp.signal.lfilter([1.0, 2.0], [1.0], x, state=np.ones(3))  # type: ignore[call-arg]
    assert not library.calls
    sp.signal.lfilter(np.ones(2), np.ones(1), x, zi=None)
    assert [name for name, *_ in library.calls] == ["signal.lfilter"]


def test_an_output_that_the_library_leaves_is_written(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def laplace(input: Any, output: Any = None) -> Any:
        return as_array(numpy.array(input) + 1)

    monkeypatch.setattr(counterparts, "cupyx", lambda path: SimpleNamespace(laplace=laplace))
    x, out = np.arange(3.0), np.zeros(3)
    assert sp.ndimage.laplace(x, output=out) is out
    assert out.tolist() == [1, 2, 3]


def test_exceptions_of_the_programs_functions_are_raised(library: Library) -> None:
    calls = []

    def fails(x: Any) -> Any:
        calls.append(x)
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        sp.optimize.fsolve(fails, np.ones(3))
    assert len(calls) == 1
    assert type(calls[0]) is np.ndarray


@pytest.mark.parametrize("name", ["stats.zscore", "integrate.trapezoid"])
def test_scipy_computes_on_the_device(library: Library, name: str) -> None:
    """What was written for arrays of any library, where `cupyx.scipy` has no function."""
    library.missing.add(name)
    np.host_fallback("error")
    path, function = name.split(".")
    x = numpy.arange(12.0).reshape(3, 4) ** 2
    found = getattr(getattr(sp, path), function)(np.asarray(x))
    numpy.testing.assert_allclose(np.asnumpy(found), getattr(getattr(scipy, path), function)(x))


def test_own_functions_come_first(library: Library) -> None:
    np.host_fallback("error")
    x = numpy.arange(16.0).reshape(4, 4) + numpy.eye(4)
    for name, options in (("fft", {"workers": 2}), ("rfftn", {}), ("ifft2", {"norm": "ortho"})):
        found = getattr(sp.fft, name)(np.asarray(x), **options)
        numpy.testing.assert_allclose(np.asnumpy(found), getattr(scipy.fft, name)(x, **options))
    numpy.testing.assert_allclose(float(sp.linalg.det(np.asarray(x))), scipy.linalg.det(x))
    numpy.testing.assert_allclose(np.asnumpy(sp.linalg.inv(np.asarray(x), check_finite=False)), scipy.linalg.inv(x))
    assert not library.calls


def test_scipys_transforms_find_the_devices(library: Library) -> None:
    x = np.arange(16.0)
    assert type(sp.fft.dct(x)) is np.ndarray
    library.calls.clear()
    assert type(scipy.fft.dct(x)) is np.ndarray
    assert [name for name, *_ in library.calls] == ["fft.dct"]
    assert type(scipy.fft.dct(numpy.arange(16.0))) is numpy.ndarray


def test_scipys_ufuncs_find_the_devices(library: Library) -> None:
    x = np.arange(5.0)
    np.host_fallback("error")
    found = scipy.special.erfi(x)  # one of those that SciPy has as they are under SCIPY_ARRAY_API too
    assert type(found) is np.ndarray
    assert [name for name, *_ in library.calls] == ["special.erfi"]
    numpy.testing.assert_allclose(np.asnumpy(found), scipy.special.erfi(np.asnumpy(x)))


def test_a_sparse_array_is_moved_once(library: Library) -> None:
    """One that SciPy made moves to the GPU when it meets an array there."""
    matrix = sp.sparse.eye_array(4, format="csr") * 2
    assert matrix._gpu is None
    y = matrix @ np.arange(4.0)
    assert matrix._gpu is not None
    moved = matrix._inner
    assert type(moved).__module__.startswith("cupyx.")
    assert type(matrix @ np.arange(4.0)) is np.ndarray
    assert matrix._inner is moved
    assert y.tolist() == [0, 2, 4, 6]
    assert isinstance(matrix, sp.sparse.csr_array)
    assert isinstance(matrix, sp.sparse.sparray)


def test_sparse_data_is_shared(library: Library) -> None:
    matrix = sp.sparse.csr_array(np.asarray(numpy.eye(3)))
    matrix.data[...] = 5.0
    assert matrix.toarray().tolist() == (5 * numpy.eye(3)).tolist()
    matrix.data = np.asarray([1.0, 2.0, 3.0])
    assert matrix.diagonal().tolist() == [1, 2, 3]


def test_without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupy_library, "shares_memory_of", lambda device: True)
    monkeypatch.setattr(functions, "cupy", lambda: None)
    monkeypatch.setattr(counterparts, "cupy", lambda: None)
    monkeypatch.setattr(counterparts, "cupyx", lambda path: None)
    functions._routes.clear()
    np.set_residence("device")
    x = np.arange(12.0)
    with pytest.warns(np.HostFallbackWarning, match=r"gaussian_laplace runs through SciPy.*pip.*\[cu13-cupy\]"):
        y = sp.ndimage.gaussian_laplace(x, 1.0)
    numpy.testing.assert_allclose(np.asnumpy(y), scipy.ndimage.gaussian_laplace(np.asnumpy(x), 1.0))
    with pytest.warns(np.HostFallbackWarning, match="csr_array.__matmul__"):
        assert (sp.sparse.eye_array(12, format="csr") @ x).tolist() == x.tolist()
    np.host_fallback("ignore")
    matrix = sp.sparse.csr_array(np.asarray(numpy.eye(3)))
    monkeypatch.setattr(Device, "shares_host_memory", False)
    with pytest.raises(ValueError, match="read-only"):  # a copy
        matrix.data[...] = 2.0
    functions._routes.clear()
