"""Random programs against NumPy: on the CPU device, through the emulator, and on the GPU."""

from __future__ import annotations

import os

import pytest

import gpunumpy
from gpunumpy import Device

from ..emulator import available
from ..emulator.emulated import emulated
from .machine import Machine

BATCH = 250
# 20,000 programs in CI; fewer by default on a developer's machine would hide what CI finds.
BATCHES = int(os.environ.get("GPUNUMPY_PROGRAMS", "20000")) // BATCH


@pytest.mark.parametrize("batch", range(BATCHES))
def test_cpu(batch: int) -> None:
    with Device("cpu"):
        for seed in range(batch * BATCH, (batch + 1) * BATCH):
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
