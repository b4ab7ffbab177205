"""The verifier of plans: every buffer is written before it is read, and read before it is freed or overwritten."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..graph.layout import Layout
from ..graph.primitives import Const, Gather, Leaf
from .lower import Item, Source
from .steps import Adopt, Allocate, Free, RunKernel, RunLibraryCall, Step
from .verify import InvalidPlan, expect, verify_kernel, verify_signature


def verify_plan(steps: Sequence[Step], items: Sequence[Item], roots: Sequence[int]) -> None:
    """Check the steps for a graph.

    Raises
    ------
    InvalidPlan
        If a step is wrong; the text names the step and its defect.
    """
    for item in items:
        verify_signature(item.signature)
    checker = _PlanChecker(items)
    for number, step in enumerate(steps):
        try:
            checker.step(step)
        except InvalidPlan as error:
            name = step.kernel.name if isinstance(step, RunKernel) else type(step).__name__
            raise InvalidPlan(f"step {number} ({name}): {error}") from None
    for r in roots:
        expect(checker.holds(Source("new", r)), "the root at {} is not computed", r)
    never_freed = checker.alive - {Source("new", r) for r in roots}
    expect(not never_freed, "never freed: {}", never_freed)


class _PlanChecker:
    """The state of the buffers while the steps are checked one after the other."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.alive: set[Source] = set()
        self.written: set[Source] = set()
        self.adopted_by: dict[Source, Source] = {}
        self.adopted: dict[Source, int] = {}  # targets not written yet: the number of the adopted buffer of leaves
        self.overwritten: set[int] = set()  # numbers of buffers of leaves that hold new values

    def step(self, step: Step) -> None:
        """Check a step, and update the state."""
        if isinstance(step, Allocate):
            expect(step.target not in self.alive, "{} exists already", step.target)
            signature = self.items[step.target.position].signature
            expect(
                step.nbytes == prod(signature.shape) * signature.dtype.itemsize,
                "{} bytes for {}",
                step.nbytes,
                signature,
            )
            self.alive.add(step.target)
        elif isinstance(step, Adopt):
            if step.base.kind == "leaf":
                self.read(step.base)
                self.adopted[step.target] = self.items[step.base.position].buffer
            else:
                expect(self.holds(step.base), "{} is not there to be adopted", step.base)
                self.alive.discard(step.base)
                self.adopted_by[step.base] = step.target
            self.alive.add(step.target)
            self.written.add(step.target)  # until it is written, the buffer has the old values
        elif isinstance(step, Free):
            expect(step.target in self.alive, "{} does not exist", step.target)
            self.alive.discard(step.target)
        elif isinstance(step, RunLibraryCall):
            self.call(step)
        else:
            self.run(step)

    def holds(self, source: Source) -> bool:
        """Return whether a buffer exists and has values; a buffer without elements needs none."""
        is_empty = 0 in self.items[source.position].signature.shape
        return source in self.alive and (source in self.written or is_empty)

    def extent(self, source: Source) -> int:
        """Return how many elements of a buffer an argument may touch, counted from the lowest element of the source."""
        signature = self.items[source.position].signature
        if source.kind == "leaf":
            assert isinstance(signature.primitive, Leaf)
            window = Layout(signature.shape, signature.primitive.strides, signature.primitive.origin)
            return 0 if 0 in signature.shape else window.high() + 1
        return prod(signature.shape)

    def read(self, source: Source) -> None:
        """Check that a source has values to read."""
        if source.kind == "leaf":
            expect(isinstance(self.items[source.position].signature.primitive, Leaf), "{} is no leaf", source)
            buffer = self.items[source.position].buffer
            expect(buffer not in self.overwritten, "{} has been overwritten", source)
        else:
            expect(self.holds(source), "{} is read and is not there", source)

    def write(self, target: Source) -> None:
        """Mark a buffer as written."""
        if target in self.adopted:
            self.overwritten.add(self.adopted.pop(target))
        self.written.add(target)

    def call(self, step: RunLibraryCall) -> None:
        """Check a library call."""
        for target in step.targets:
            expect(target in self.alive, "{} has no buffer", target)
        for (source, window), dtype in zip(step.args, step.dtypes, strict=True):
            if source.kind in ("location", "const"):
                continue
            self.read(source)
            expect(self.items[source.position].signature.dtype == dtype, "{} is read as {}", source, dtype)
            extent = self.extent(source)
            is_inside = 0 in window.shape or (window.low() >= 0 and window.high() < extent)
            expect(is_inside, "{} is read outside of its {} elements", source, extent)
        for target in step.targets:
            self.write(target)

    def run(self, step: RunKernel) -> None:
        """Check a kernel."""
        kernel = step.kernel
        expect(len(step.args) == len(kernel.args), "{} arguments for {}", len(step.args), len(kernel.args))
        written = [s for s, arg in zip(step.args, kernel.args, strict=True) if arg.kind == "out"]
        extents = []
        for source, arg in zip(step.args, kernel.args, strict=True):
            signature = self.items[source.position].signature
            if source.kind == "location":
                expect(isinstance(signature.primitive, Gather), "{} has no source location", source)
            elif source.kind == "const":
                expect(isinstance(signature.primitive, Const) and arg.kind == "scalar", "{} is no scalar", source)
                # A Python scalar arrives in the dtype of its loop.
                is_weak = isinstance(signature.primitive, Const) and signature.primitive.weak
                expect(
                    bool(is_weak) or arg.dtype == signature.dtype,
                    "{} of {} arrives as {}",
                    source,
                    signature.dtype,
                    arg.dtype,
                )
            else:
                expect(arg.kind != "scalar", "{} arrives as a scalar", source)
                expect(arg.dtype == signature.dtype, "{} of {} is taken as {}", source, signature.dtype, arg.dtype)
                if arg.kind == "in":
                    self.read(source)
                else:
                    # Of several updates in place of one buffer, each adopts it from the one before.
                    has_buffer = source in self.alive or self.adopted_by.get(source) in written
                    expect(has_buffer, "{} has no buffer", source)
            extents.append(0 if arg.kind == "scalar" else self.extent(source))
        verify_kernel(kernel, extents)
        for source in written:
            self.write(source)
