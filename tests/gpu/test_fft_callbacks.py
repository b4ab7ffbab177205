"""Transforms with elementwise kernels in them give what the kernels beside them would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime.device import Device
from gpunumpy.core.runtime.explain import explanation
from gpunumpy.kernels.fft import cuda_callbacks
from gpunumpy.nvlib import cufft
from gpunumpy.nvlib.cufft_callbacks import available
from tests.support.host_executor import with_new_plans

pytestmark = pytest.mark.gpu

RNG = numpy.random.default_rng(8)


@pytest.fixture(autouse=True)
def gpu() -> Iterator[None]:
    with Device("cuda:0"):
        if not available():
            pytest.skip("cuFFT cannot link functions here")
        yield


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are taken in wherever they can be, also where that is slower."""
    monkeypatch.setattr(cuda_callbacks, "should_fuse", cuda_callbacks.can_fuse)
    with_new_plans(monkeypatch, "cuda:0")


def values(shape: tuple[int, ...], dtype: str) -> Any:
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if dtype in "FD" else x).astype(dtype)


def agree(found: Any, wanted: Any) -> None:
    found = np.asnumpy(found)
    assert found.dtype == wanted.dtype
    error = numpy.linalg.norm((found - wanted).ravel()) / numpy.linalg.norm(wanted.ravel())
    assert error < (2e-6 if found.dtype.char in "fF" else 1e-14)


# Programs of x and of h, which has the shape of the spectrum; how many library calls have kernels in them.
COMPLEX: dict[str, tuple[Callable[..., Any], int]] = {
    "window": (lambda xp, x, h: xp.fft.fft(x * h), 1),
    "row": (lambda xp, x, h: xp.fft.fft(x * h[0]), 1),
    "column": (lambda xp, x, h: xp.fft.fft(x * h[:, :1] - 1), 1),
    "power": (lambda xp, x, h: xp.abs(xp.fft.fft(x)) ** 2, 1),
    "filter": (lambda xp, x, h: xp.fft.ifft(xp.fft.fft(x) * h), 2),
    "both": (lambda xp, x, h: xp.fft.fft(x * 2) * h, 1),
    "scaled": (lambda xp, x, h: xp.fft.ifft(x), 1),
    "real part": (lambda xp, x, h: (xp.fft.ifft(x * h) / (2 + 1j)).real, 1),
    "first axis": (lambda xp, x, h: xp.fft.fft(x * h, axis=0), 1),
    "transposed": (lambda xp, x, h: xp.fft.fft(x.T * h.T) * h.T, 1),
    "part": (lambda xp, x, h: xp.fft.fft(x[1:, ::2] * h[1:, ::2]), 1),
    "complex scalar": (lambda xp, x, h: xp.fft.fft(x * (1 - 2j)), 1),
}


@pytest.mark.parametrize(("shape", "dtype"), [((1024, 64), "F"), ((300, 1000), "D")])
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_transforms(name: str, shape: tuple[int, int], dtype: str, always: None) -> None:
    program, _ = COMPLEX[name]
    for _ in range(2):  # the second time with the same plan and other memory
        x, h = values(shape, dtype), values(shape, dtype)
        found = program(np, np.asarray(x), np.asarray(h))
        assert "fft_fused" in explanation(found)
        agree(found, program(numpy, x, h))


@pytest.mark.parametrize(("shape", "dtype"), [((64, 1024), "f"), ((3, 100_000), "d"), ((2, 1 << 20), "f")])
def test_real_transforms(shape: tuple[int, int], dtype: str, always: None) -> None:
    x = values(shape, dtype)
    h = values((shape[0], shape[1] // 2 + 1), dtype.upper())
    y, k = np.asarray(x), np.asarray(h)
    for program in (
        lambda xp, x, h: xp.fft.irfft(xp.fft.rfft(x) * h),
        lambda xp, x, h: xp.fft.rfft(x) * h,
        lambda xp, x, h: xp.fft.irfft(h * 2),
    ):
        found = program(np, y, k)
        assert "fft_fused" in explanation(found)
        agree(found, program(numpy, x, h))
        agree(k, h)  # what is read is not changed
        agree(y, x)


@pytest.mark.parametrize("shape", [(20, 64, 256), (1024, 1024)])
def test_several_axes(shape: tuple[int, ...], always: None) -> None:
    x, h = values(shape, "F"), values(shape, "F")
    y, k = np.asarray(x), np.asarray(h)
    for program in (
        lambda xp, x, h: xp.fft.ifft2(xp.fft.fft2(x) * h),
        lambda xp, x, h: xp.fft.fft2(x * h),
        lambda xp, x, h: xp.fft.fft2(x) - h,
    ):
        found = program(np, y, k)
        assert "fft_fused" in explanation(found)
        agree(found, program(numpy, x, h))
        agree(k, h)


def test_what_is_faster_alone_stays_so() -> None:
    def fused(program: Callable[[Any], Any], shape: tuple[int, ...], dtype: str) -> bool:
        result = program(np.asarray(values(shape, dtype)))  # outside of an assertion, which would keep what it sees
        return "fft_fused" in explanation(result)

    assert not fused(lambda x: np.fft.fft(x * 2), (1 << 22,), "F")
    assert not fused(lambda x: np.fft.fft(x * 2), (4, 64), "F")
    assert not fused(lambda x: np.exp(np.fft.fft(x)), (4096, 1024), "F")
    assert not fused(lambda x: np.fft.fft(x.T * 2), (1024, 4096), "F")
    assert fused(lambda x: np.abs(np.fft.fft(x)) ** 2, (4096, 1024), "F")
    assert fused(lambda x: np.fft.irfft(np.fft.rfft(x) * 2), (1 << 22,), "f")


def test_plans_that_are_given_up_are_made_again(always: None) -> None:
    x, h = values((256, 512), "F"), values((256, 512), "F")
    for _ in range(2):
        agree(np.fft.fft(np.asarray(x) * np.asarray(h)), numpy.fft.fft(x * h))
        cufft.plans_of(Device("cuda:0")).clear()
