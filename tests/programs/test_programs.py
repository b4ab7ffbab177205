"""Random programs against NumPy: on the CPU device, through the emulator, and on the GPU."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import gpunumpy
from gpunumpy import Device

from ..emulator import available
from ..emulator.emulated import emulated
from ..support import fake_driver
from ..support.forks import in_child, needs_fork
from . import kinds
from .faults import ForkedMachine, InterruptedMachine
from .features import GROUPS
from .machine import Machine, Pair

SIZES = (0, 1, 2, 3, 4, 5, 7, 9, 12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("batch", range(80))
def test_cpu(batch: int) -> None:
    with Device("cpu"):
        for seed in range(batch * 250, (batch + 1) * 250):
            Machine(seed, gpunumpy).run(12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("batch", range(20))
def test_other_sizes(batch: int) -> None:
    """The same programs at several sizes: plans are bound at sizes that they were not made for."""
    source = random.Random(batch)
    with Device("cpu"):
        for seed in range(batch * 30, (batch + 1) * 30):
            for _ in range(3):
                sizes = source.choice(SIZES), source.choice(SIZES), source.choice(SIZES)
                Machine(seed, gpunumpy, sizes=sizes).run(12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("batch", range(20))
def test_little_room(device: str, batch: int) -> None:
    """Values move, and are computed in slabs; a program ends where a statement needs more than there is."""
    ended = 0
    try:
        with Device(device):
            for seed in range(batch * 20, (batch + 1) * 20):
                gpunumpy.synchronize()
                gpunumpy.free_all_blocks()
                gpunumpy.set_memory_limit(gpunumpy.memory_info().used + (1 << 14))
                try:
                    Machine(seed, gpunumpy, device == "cpu").run(12)
                except MemoryError:
                    ended += 1
                except AssertionError as error:
                    if "MemoryError('out of memory" not in str(error):
                        raise
                    ended += 1
    finally:
        gpunumpy.set_memory_limit(None, device)
    assert ended < 20


class Counting(Machine):
    """Counts the statements that NumPy does without an error."""

    done = 0

    def attempt(self, call: Callable[[], Any]) -> tuple[Any, set[type]]:
        result = super().attempt(call)
        self.done += not isinstance(result[0], Exception)
        return result


ROWS = {
    f"{feature.name} {k}": (feature, group in [g for g, _ in kinds.GROUPS])
    for group, _ in [*GROUPS, *kinds.GROUPS]
    for k, feature in enumerate(group)
}


@pytest.mark.parametrize("name", ROWS)
def test_every_row_is_drawn(name: str) -> None:
    """Every row finds operands in programs, and arguments that NumPy takes."""
    feature, is_of_others = ROWS[name]
    with Device("cpu"):
        for seed in range(60):
            machine = Counting(seed, gpunumpy)
            for _ in range(3):
                machine.create()
                machine.guarded(lambda machine=machine: machine.other_kind(kinds.MAKING))
            machine.done = 0
            draw = machine.other_kind if is_of_others else machine.feature
            for _ in range(4):
                machine.guarded(lambda draw=draw: draw([feature]))
            machine.finish()
            if machine.done:
                return
    raise AssertionError(f"{name} was never done")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("batch", range(4))
@pytest.mark.filterwarnings("ignore")
def test_threads(batch: int) -> None:
    def work(first: int) -> None:
        with Device("cpu"):
            for seed in range(first, first + 20):
                Machine(seed, gpunumpy, warns=False).run(12)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(batch * 80, (batch + 1) * 80, 20)))


# An exception of the handler inside of a finalizer or a callback of the collector is Python's to print.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timers that send signals")
@pytest.mark.sampled(1)
@pytest.mark.parametrize("batch", range(10))
def test_signals(batch: int) -> None:
    with Device("cpu"):
        for seed in range(batch * 40, (batch + 1) * 40):
            InterruptedMachine(seed, gpunumpy).run(12)


@needs_fork
@pytest.mark.sampled(1)
@pytest.mark.parametrize("batch", range(4))
def test_forks(batch: int) -> None:
    with Device("cpu"):
        for seed in range(batch * 10, (batch + 1) * 10):
            ForkedMachine(seed, gpunumpy).run(12)


@needs_fork
@pytest.mark.on_device
def test_forks_of_a_process_that_uses_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child reads what the host has, finds the rest lost, and goes on with a program on the CPU device."""
    fake_driver.install(monkeypatch)
    machine = ForkedMachine(3, gpunumpy)
    for _ in range(3):
        machine.create()
    data = machine.data((3,), "f8")
    pending = Pair(data * 2, gpunumpy.asarray(data) * 2, True)  # the pretended GPU computes nothing
    machine.vars.append(pending)
    in_child(machine._go_on_without_gpu)
    machine.vars.remove(pending)
    machine.finish()


@pytest.mark.skipif(not available(), reason="the emulator needs g++")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("interprets", [False, True])
@pytest.mark.parametrize("batch", range(10))
def test_emulated(batch: int, interprets: bool) -> None:
    with Device("cpu"), emulated(interprets=interprets) as machine:
        for seed in range(batch * 20, (batch + 1) * 20):
            Machine(seed, gpunumpy, library=False).run(8)
    assert bool(machine.interpreted_kernels) == interprets


@pytest.mark.gpu
@pytest.mark.parametrize("batch", range(20))
def test_gpu(batch: int) -> None:
    with Device("cuda:0"):
        for seed in range(batch * 100, (batch + 1) * 100):
            Machine(seed, gpunumpy, library=False).run(10)
