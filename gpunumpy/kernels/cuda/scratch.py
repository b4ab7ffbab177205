"""The scratch memory of generated kernels: allocated for each launch, or a part of the counters of the device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.runtime import memory
from ...core.runtime.device import Device
from ...core.runtime.memory import Buffer
from ...core.runtime.plan import Runner
from ..codegen.program import Scratch
from .launch import Launcher

_ALIGNMENT_BYTES = 16


class ScratchMemory:
    """The scratch memory that every launch of a program takes.

    Attributes
    ----------
    parts
        For each scratch, whether it is zeroed, and where it is among the counters of the device, which are zero between
        kernels; or its bytes.
    """

    __slots__ = ("_counter_bytes", "_device", "parts")

    def __init__(self, device: Device, scratch: Sequence[Scratch]) -> None:
        self._device = device
        parts, counter_bytes = [], 0
        for s in scratch:
            parts.append((s.zeroed, counter_bytes if s.zeroed else s.nbytes))
            if s.zeroed:
                counter_bytes += -(-s.nbytes // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES
        self.parts, self._counter_bytes = tuple(parts), counter_bytes

    def of(self, sizes: Sequence[int]) -> ScratchMemory:
        """Return the scratch memory of the program with other sizes, in bytes."""
        zeroed = [is_zeroed for is_zeroed, _ in self.parts]
        return ScratchMemory(self._device, list(map(Scratch, sizes, zeroed)))

    def counters(self) -> Buffer | None:
        """Return the counters of the device, if the program takes any."""
        return memory.zeroed_scratch(self._device, self._counter_bytes) if self._counter_bytes else None

    def allocate(self) -> list[Any]:
        """Return a buffer for each part."""
        counters = self.counters()
        return [counters if zeroed else memory.allocate_fixed(self._device, number) for zeroed, number in self.parts]

    def addresses(self, buffers: Sequence[Buffer]) -> list[int]:
        """Return the address of each part in its buffer."""
        return [
            buffer.ptr + (number if zeroed else 0) for buffer, (zeroed, number) in zip(buffers, self.parts, strict=True)
        ]


class ScratchLauncher:
    """Launches a kernel that takes scratch memory after its arguments.

    Attributes
    ----------
    launch
        What the compiled core launches the kernel with, once it has been launched, or asked for other sizes.
    """

    __slots__ = ("_launcher", "_scratch", "launch")

    is_one_launch = True

    def __init__(self, launcher: Launcher, scratch: ScratchMemory) -> None:
        self._launcher, self._scratch = launcher, scratch
        self.launch: Callable[..., None] | None = None

    def at(self, grid: Sequence[int], numbers: Sequence[int]) -> Runner | None:
        """Return what launches the kernel, once it is loaded, with another grid and other numbers; else None.

        The numbers are the bytes of its scratch memory, and then its parameters.
        """
        self._prepare_launch()
        count = len(self._scratch.parts)
        launcher: Any = self._launcher.at(grid, numbers[count:])
        if launcher is None:
            return None
        scratch = self._scratch.of(numbers[:count])
        if isinstance(launcher, Launcher):
            return ScratchLauncher(launcher, scratch)
        made: Runner = launcher.with_scratch(scratch.parts, scratch.counters())
        return made

    def __call__(self, values: Sequence[Any]) -> None:
        """Queue the kernel over its bound arguments."""
        if self.launch is None:
            self._prepare_launch()
        if self.launch is not None:
            self.launch(values)
            return
        buffers = self._scratch.allocate()
        self._launcher([*values, *self._scratch.addresses(buffers)])

    def _prepare_launch(self) -> None:
        """Prepare the launch by the core, if the kernel is loaded."""
        if self.launch is None and self._launcher.launch is not None:
            with_scratch = self._launcher.launch.with_scratch  # type: ignore[attr-defined]
            self.launch = with_scratch(self._scratch.parts, self._scratch.counters())


# What runs a kernel in one launch, and has `at`, which returns what runs it at other sizes.
SIZED_LAUNCHERS = (Launcher, ScratchLauncher)
