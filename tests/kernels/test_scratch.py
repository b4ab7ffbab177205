"""Kernels with scratch memory: what their launches are given. The launcher pretends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpunumpy.core.runtime import memory
from gpunumpy.core.runtime.device import Device
from gpunumpy.kernels.codegen.program import Scratch
from gpunumpy.kernels.cuda.scratch import ScratchLauncher, ScratchMemory

CPU = Device("cpu")


class _Launch:
    """What the core launches with."""

    def __init__(self) -> None:
        self.scratch: tuple[Any, ...] = ()
        self.launched: list[Sequence[Any]] = []

    def with_scratch(self, *scratch: Any) -> _Launch:
        self.scratch = scratch
        return self

    def __call__(self, values: Sequence[Any]) -> None:
        self.launched.append(values)


class _Launcher(_Launch):
    launch: _Launch | None = None


def _scratch() -> ScratchMemory:
    return ScratchMemory(CPU, (Scratch(20, True), Scratch(3210), Scratch(8, True)))


def test_counters_are_parts_of_one_buffer() -> None:
    scratch, launcher = _scratch(), _Launcher()
    ScratchLauncher(launcher, scratch)([7])  # type: ignore[arg-type]
    counters, block = memory.zeroed_scratch(CPU, 48), memory.allocate(CPU, 3210)
    assert launcher.launched == [[7, counters.ptr, block.ptr, counters.ptr + 32]]


def test_the_core_launches_what_is_loaded() -> None:
    scratch, launcher = _scratch(), _Launcher()
    launcher.launch = _Launch()
    kernel = ScratchLauncher(launcher, scratch)  # type: ignore[arg-type]
    assert kernel.launch is None
    kernel([7])
    assert kernel.launch is launcher.launch
    assert launcher.launch.scratch == (((True, 0), (False, 3210), (True, 32)), memory.zeroed_scratch(CPU, 48))
    assert (launcher.launched, launcher.launch.launched) == ([], [[7]])


class _LauncherOfSizes(_Launcher):
    def at(self, grid: Sequence[int], params: Sequence[int]) -> _Launch:
        self.launched.append((*grid, *params))
        return _Launch()


def test_scratch_memory_of_other_sizes() -> None:
    launcher = _LauncherOfSizes()
    launch: Any = ScratchLauncher(launcher, _scratch()).at((5, 1, 1), (40, 77, 8, 123))  # type: ignore[arg-type]
    assert launcher.launched == [(5, 1, 1, 123)]
    assert launch.scratch == (((True, 0), (False, 77), (True, 48)), memory.zeroed_scratch(CPU, 64))


def test_the_core_launches_other_sizes_of_what_was_never_launched() -> None:
    """As of a kernel that was prepared ahead, at sizes that the program may not have."""
    launcher = _LauncherOfSizes()
    launcher.launch = _Launch()
    kernel = ScratchLauncher(launcher, _scratch())  # type: ignore[arg-type]
    kernel.at((5, 1, 1), (40, 77, 8, 123))
    assert kernel.launch is launcher.launch
