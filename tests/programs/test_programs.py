"""Random programs against NumPy: on the CPU device, through the emulator, and on the GPU."""

from __future__ import annotations

import pytest

import gpunumpy
from gpunumpy import Device

from ..emulator import available
from ..emulator.emulated import emulated
from .machine import Machine


@pytest.mark.parametrize("batch", range(80))
def test_cpu(batch: int) -> None:
    with Device("cpu"):
        for seed in range(batch * 250, (batch + 1) * 250):
            Machine(seed, gpunumpy).run(12)


@pytest.mark.skipif(not available(), reason="the emulator needs g++")
@pytest.mark.parametrize("batch", range(10))
def test_emulated(batch: int) -> None:
    with Device("cpu"), emulated():
        for seed in range(batch * 20, (batch + 1) * 20):
            Machine(seed, gpunumpy, library=False).run(8)


@pytest.mark.gpu
@pytest.mark.parametrize("batch", range(20))
def test_gpu(batch: int) -> None:
    with Device("cuda:0"):
        for seed in range(batch * 100, (batch + 1) * 100):
            Machine(seed, gpunumpy, library=False).run(10)
