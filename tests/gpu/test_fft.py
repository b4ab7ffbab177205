"""Transforms by cuFFT itself: lengths, layouts and batches of every kind, beyond 2^31 elements too, and its plans."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime.device import Device
from gpunumpy.core.runtime.memory import free_all_blocks, memory_info
from gpunumpy.nvlib import cufft

pytestmark = pytest.mark.gpu

LENGTHS = (2, 3, 64, 127, 131, 1000, 1001, 4096, 6561, 8192, 8193, 10007, 12288, 16384, 16385, 20014, 65536, 100003)


@pytest.fixture(autouse=True)
def on_the_gpu() -> Iterator[None]:
    before = np.host_fallback()
    np.host_fallback("error")
    with np.Device("cuda:0"):
        yield
    np.host_fallback(before)


def sample(*shape: int, real: bool = False) -> Any:
    rng = numpy.random.default_rng(shape)
    return rng.standard_normal(shape) if real else rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def close(found: Any, reference: Any, eps: float) -> None:
    found = np.asnumpy(found)
    assert found.shape == reference.shape
    assert abs(found - reference).max() <= 20 * eps * abs(reference).max()


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(n: int, single: bool) -> None:
    eps = 1.2e-7 if single else 2.3e-16
    for batch in (1, 2, 3, 5):
        x, r = sample(batch, n), sample(batch, n, real=True)
        tested, mine_r = (np.asarray(a.astype(s if single else d)) for a, s, d in ((x, "F", "D"), (r, "f", "d")))
        x, r = np.asnumpy(tested).astype("D"), np.asnumpy(mine_r).astype("d")
        close(np.fft.fft(tested), numpy.fft.fft(x), eps)
        close(np.fft.ifft(tested), numpy.fft.ifft(x), eps)
        close(np.fft.rfft(mine_r), numpy.fft.rfft(r), eps)
        for points in (2 * n - 2, 2 * n - 1):
            close(np.fft.irfft(tested, points), numpy.fft.irfft(x, points), eps)
        columns = np.asarray(np.asnumpy(tested).T.copy())
        close(np.fft.fft(columns, axis=0), numpy.fft.fft(x.T, axis=0), eps)
        close(np.fft.irfft(columns, 2 * n - 1, axis=0), numpy.fft.irfft(x.T, 2 * n - 1, axis=0), eps)
        close(np.fft.fft2(tested), numpy.fft.fft2(x), eps)
        close(np.fft.irfft2(tested), numpy.fft.irfft2(x), eps)


@pytest.mark.parametrize("shape", [(128, 128, 128), (64, 100, 30), (5, 6, 7, 8), (2, 1024, 3)])
def test_axes(shape: tuple[int, ...]) -> None:
    x = sample(*shape)
    tested = np.asarray(x)
    for axis in range(len(shape)):
        close(np.fft.fft(tested, axis=axis), numpy.fft.fft(x, axis=axis), 2.3e-16)
    for name in ("fftn", "ifftn", "irfftn"):
        for axes in (None, (0, 1), (1, 0), (-1, 0), (0, 1, 2)):
            close(getattr(np.fft, name)(tested, axes=axes), getattr(numpy.fft, name)(x, axes=axes), 2.3e-16)
    close(np.fft.rfftn(tested.real), numpy.fft.rfftn(x.real), 2.3e-16)


def test_the_same_bits() -> None:
    x = np.asarray(sample(300, 1001))
    first, second = (np.asnumpy(np.fft.fft2(x)).tobytes() for _ in range(2))
    assert first == second


def test_plans_are_given_up() -> None:
    plans = cufft.plans_of(Device("cuda:0"))
    for n in range(2, cufft.MAX_PLANS + 40):
        x = sample(n)
        close(np.fft.fft(np.asarray(x)), numpy.fft.fft(x), 2.3e-16)
    assert len(plans._made) <= cufft.MAX_PLANS
    x = sample(2)
    close(np.fft.fft(np.asarray(x)), numpy.fft.fft(x), 2.3e-16)
    for n in (1_000_003, 2_000_003, 3_000_017, 1_000_003):
        close(np.fft.fft(np.ones(n)), n * (numpy.arange(n) == 0), 2.3e-16)
        assert sum(entry.table_bytes for entry in plans._made) <= cufft.MAX_PLAN_BYTES
    plans.clear()
    close(np.fft.fft(np.asarray(x)), numpy.fft.fft(x), 2.3e-16)


def test_threads() -> None:
    arrays = [sample(3, n) for n in (512, 1000, 65536, 10007) * 4]

    def work(x: Any) -> Any:
        with np.Device("cuda:0"):
            return np.asnumpy(np.fft.ifft(np.fft.fft(np.asarray(x))))

    with ThreadPoolExecutor(4) as pool:
        for found, x in zip(pool.map(work, arrays), arrays, strict=True):
            assert abs(found - x).max() < 1e-13


def needs(gib: int) -> None:
    """Skip the test where less memory is free."""
    gc.collect()
    free_all_blocks()
    free = memory_info().free or 0
    if free < gib << 30:
        pytest.skip(f"{free >> 30} GiB of the GPU's memory are free, {gib} are needed")


def test_more_elements_than_32_bits_count() -> None:
    needs(40)
    rows, n = 2**19 + 3, 4096
    x = np.zeros((rows, n), np.complex64)
    x[:, 1] = np.arange(rows) % 7
    spectrum = np.fft.fft(x)
    expected = numpy.exp(-2j * numpy.pi * numpy.arange(n) / n)
    for row in (0, 5, 2**19 - 1, 2**19, rows - 1):
        close(spectrum[row], row % 7 * expected, 2.4e-7)
    del x, spectrum
    free_all_blocks()


def test_a_transform_longer_than_32_bits_count() -> None:
    needs(70)
    n = 2**31 + 2**27
    x = np.zeros(n, np.complex64)
    x[3] = 1
    spectrum = np.fft.fft(x)
    for k in (0, 1, n // 2, 2**31 - 1, 2**31, n - 1):
        assert abs(complex(spectrum[k]) - numpy.exp(-2j * numpy.pi * (3 * k % n) / n)) < 1e-5
    del x, spectrum
    free_all_blocks()
