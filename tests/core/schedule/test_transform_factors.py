"""The factor of a transform is an operation behind it, which fuses with what else is computed; NumPy's have theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.schedule.steps import RunLibraryCall
from tests.core.fusion.counting import kernels
from tests.support.host_executor import with_traits

X = numpy.random.default_rng(5).standard_normal((12, 10)) + 1j


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    with gpunumpy.Device("cpu"):
        yield


PROGRAMS: dict[str, tuple[Callable[[Any, Any], Any], list[str]]] = {
    "ifft": (lambda xp, x: xp.fft.ifft(x), ["fft", "kernel"]),
    "ifft2": (lambda xp, x: xp.fft.ifft2(x), ["fft", "kernel"]),
    "ortho": (lambda xp, x: xp.fft.fft(x, norm="ortho"), ["fft", "kernel"]),
    "rfft": (lambda xp, x: xp.fft.rfft(x.real, norm="forward"), ["fft", "kernel"]),
    "forward": (lambda xp, x: xp.fft.ifft(x, norm="forward"), ["fft"]),
    "what comes after": (lambda xp, x: xp.abs(xp.fft.ifft(x)) + 1, ["fft", "kernel"]),
    "twice": (lambda xp, x: xp.fft.ifft(xp.fft.ifft(x)), ["fft", "kernel", "fft"]),
    "and back": (lambda xp, x: xp.fft.fft(xp.fft.ifft(x)), ["fft", "kernel", "fft"]),
    "with another": (lambda xp, x: (xp.fft.ifft(x), xp.fft.fft(x, norm="ortho")), ["fft", "kernel"] * 2),
    "and more of it": (lambda xp, x: (lambda y: (y, y * 2))(xp.fft.ifft(x)), ["fft", "kernel"]),
    "a part of it": (lambda xp, x: xp.fft.ifft(x)[2:] @ x.T, ["fft", "kernel", "matmul"]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with_traits(monkeypatch, calls_numpy=False)
    agree(name, X, PROGRAMS[name][1])


@pytest.mark.parametrize("name", PROGRAMS)
def test_numpys_functions_have_the_factors(name: str) -> None:
    """No kernel is for the factor alone."""
    wanted = [step for step in PROGRAMS[name][1] if step != "kernel"]
    has_other_work = name in ("what comes after", "and more of it")
    agree(name, X[1:], wanted + ["kernel"] * has_other_work)


def agree(name: str, data: Any, wanted: list[str]) -> None:
    """Compare the steps of a program, and its values with NumPy's."""
    program, _ = PROGRAMS[name]
    x = gpunumpy.asarray(data.copy())
    steps = kernels(lambda: program(gpunumpy, x))
    assert [step.name if isinstance(step, RunLibraryCall) else "kernel" for step in steps] == wanted
    found, reference = program(gpunumpy, x), program(numpy, data)
    pairs = zip(found, reference, strict=True) if isinstance(reference, tuple) else [(found, reference)]
    for one, other in pairs:
        numpy.testing.assert_allclose(gpunumpy.asnumpy(one), other, atol=1e-12)


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
