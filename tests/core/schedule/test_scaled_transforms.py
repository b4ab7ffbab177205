"""A transform with a factor is one call where nothing else is computed, and fuses elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.schedule import scaled as schedule_scaled
from gpunumpy.core.schedule.scheduler import RunLibraryCall
from gpunumpy.kernels.codegen import generate
from gpunumpy.kernels.fft.cuda_scaled import scaling
from tests.core.fusion.counting import kernels
from tests.emulator import available
from tests.emulator.executor import run_program

X = numpy.random.default_rng(5).standard_normal((12, 10)) + 1j


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    with gpunumpy.Device("cpu"):
        yield


PROGRAMS: dict[str, tuple[Callable[[Any, Any], Any], list[str]]] = {
    "ifft": (lambda xp, x: xp.fft.ifft(x), ["fft_scaled"]),
    "ifft2": (lambda xp, x: xp.fft.ifft2(x), ["fft_scaled"]),
    "ortho": (lambda xp, x: xp.fft.fft(x, norm="ortho"), ["fft_scaled"]),
    "rfft": (lambda xp, x: xp.fft.rfft(x.real, norm="forward"), ["fft_scaled"]),
    "forward": (lambda xp, x: xp.fft.ifft(x, norm="forward"), ["fft"]),
    "what comes after": (lambda xp, x: xp.abs(xp.fft.ifft(x)) + 1, ["fft", "kernel"]),
    "twice": (lambda xp, x: xp.fft.ifft(xp.fft.ifft(x)), ["fft", "kernel", "fft"]),
    "and back": (lambda xp, x: xp.fft.fft(xp.fft.ifft(x)), ["fft", "kernel", "fft"]),
    "with another": (lambda xp, x: (xp.fft.ifft(x), xp.fft.fft(x, norm="ortho")), ["fft", "kernel"] * 2),
    "and more of it": (lambda xp, x: (lambda y: (y, y * 2))(xp.fft.ifft(x)), ["fft", "kernel"]),
    "a part of it": (lambda xp, x: xp.fft.ifft(x)[2:] @ x.T, ["fft", "kernel", "matmul"]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    program, wanted = PROGRAMS[name]
    x = gpunumpy.asarray(X)
    steps = kernels(lambda: program(gpunumpy, x))
    assert [step.name if isinstance(step, RunLibraryCall) else "kernel" for step in steps] == wanted
    found, theirs = program(gpunumpy, x), program(numpy, X)
    pairs = zip(found, theirs, strict=True) if isinstance(theirs, tuple) else [(found, theirs)]
    for one, other in pairs:
        numpy.testing.assert_allclose(gpunumpy.asnumpy(one), other, atol=1e-12)


def test_large_ones_are_two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library may take the second one in."""
    monkeypatch.setattr(schedule_scaled, "_MOST", X.size - 1)
    evaluate.state(gpunumpy.Device("cpu")).plans.clear()
    steps = kernels(lambda: gpunumpy.fft.ifft(gpunumpy.asarray(X)))
    evaluate.state(gpunumpy.Device("cpu")).plans.clear()
    assert [step.name if isinstance(step, RunLibraryCall) else "kernel" for step in steps] == ["fft", "kernel"]


@pytest.mark.parametrize("dtype", ["F", "D"])
def test_a_factor_leaves_infinities_where_they_are(dtype: str) -> None:
    x = numpy.zeros(8, dtype)
    x[0] = complex(numpy.inf, 0)
    found = gpunumpy.asnumpy(gpunumpy.fft.ifft(gpunumpy.asarray(x)))
    fused = gpunumpy.asnumpy(gpunumpy.fft.ifft(gpunumpy.asarray(x)) + 0)
    numpy.testing.assert_array_equal(found, fused)


@pytest.mark.parametrize("names", ["over", "invalid"])
def test_floating_point_errors(names: str) -> None:
    x = gpunumpy.asarray(numpy.array([1e308, 1e308, 1e308, 1e308 if names == "over" else numpy.inf]) + 0j)
    with gpunumpy.errstate(**{names: "raise"}), pytest.raises(FloatingPointError, match="ifft"):
        gpunumpy.fft.ifft(x)


@pytest.mark.skipif(not available(), reason="the emulator needs g++")
@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
def test_kernel(dtype: str) -> None:
    x = numpy.random.default_rng(0).standard_normal((3, 7, 2)).astype(dtype.lower())
    x = x.view(dtype)[..., 0] if dtype in "FD" else x[..., 0].copy()
    x[0, 0] = numpy.inf
    wanted = (x.view(dtype.lower()) * numpy.dtype(dtype.lower()).type(1 / 3)).view(dtype)
    run_program(generate(scaling(x.shape, x.dtype), 4), [x, x, float(numpy.dtype(dtype.lower()).type(1 / 3))])
    numpy.testing.assert_array_equal(x, wanted)
