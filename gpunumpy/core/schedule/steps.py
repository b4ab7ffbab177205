"""The steps of a plan, as pure data: allocations and releases of memory, kernels, and library calls."""

from __future__ import annotations

from typing import TypeAlias

from ..dtypes import DType
from ..graph.layout import Layout
from ..late_dataclasses import dataclass
from . import kernel as ir
from .lower import Source


@dataclass(frozen=True, slots=True)
class Allocate:
    """Allocation of a fresh buffer of `nbytes` bytes for `target`."""

    target: Source
    nbytes: int


@dataclass(frozen=True, slots=True)
class Adopt:
    """Transfer of the buffer of `base` to `target`, which the steps behind this one write into it in place."""

    target: Source
    base: Source


@dataclass(frozen=True, slots=True)
class RunKernel:
    """A kernel and the sources of its arguments; `reason` says why it is not fused with the kernel before it."""

    kernel: ir.Kernel
    args: tuple[Source, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class RunLibraryCall:
    """A library call: reads `args` (windows of buffers), writes the buffer of the node at `position`.

    A call with several outputs writes the buffers `outputs` instead. Options that are a `Batch` stand for several
    equal calls, options that are a `FusedCall` for a call with kernels fused into it.
    """

    name: str
    options: tuple[object, ...]
    args: tuple[tuple[Source, Layout], ...]
    dtypes: tuple[DType, ...]
    position: int
    reason: str
    outputs: tuple[Source, ...] = ()

    @property
    def targets(self) -> tuple[Source, ...]:
        """The buffers that the call writes."""
        return self.outputs or (Source("new", self.position),)


@dataclass(frozen=True, slots=True)
class Free:
    """Release of the buffer of `target`: no later step needs it."""

    target: Source


Step: TypeAlias = Allocate | Adopt | RunKernel | RunLibraryCall | Free
