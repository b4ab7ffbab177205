"""The steps of a plan, as pure data: memory that comes and goes, kernels, and library calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ..dtypes import DType
from ..graph.layout import Layout
from . import kernel as ir
from .lower import Source


@dataclass(frozen=True, slots=True)
class Allocate:
    """A fresh buffer."""

    target: Source
    nbytes: int


@dataclass(frozen=True, slots=True)
class Adopt:
    """The buffer `base` goes on as `target`, which is written into it in place."""

    target: Source
    base: Source


@dataclass(frozen=True, slots=True)
class RunKernel:
    """A kernel with what its arguments are bound to; `reason` says why it is not one with the kernel before it."""

    kernel: ir.Kernel
    args: tuple[Source, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class RunLibraryCall:
    """A library call: reads `args` (windows of buffers), writes the buffer of the node at `position`.

    If it has several outputs, it writes the buffers `outputs` instead. A `Batch` or a `FusedCall` as its options says
    that it is several calls, or one with kernels in it.
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
        """What it writes."""
        return self.outputs or (Source("new", self.position),)


@dataclass(frozen=True, slots=True)
class Free:
    """The buffer is not needed any more."""

    target: Source


Step: TypeAlias = Allocate | Adopt | RunKernel | RunLibraryCall | Free
