"""The checker of plans: every buffer is written before it is read, and read before it is freed or overwritten."""

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
        With the step that is wrong and what is wrong with it.
    """
    for item in items:
        verify_signature(item.signature)
    check = _Check(items)
    for number, step in enumerate(steps):
        try:
            check.step(step)
        except InvalidPlan as error:
            name = step.kernel.name if isinstance(step, RunKernel) else type(step).__name__
            raise InvalidPlan(f"step {number} ({name}): {error}") from None
    for r in roots:
        expect(check.holds(Source("new", r)), f"the root at {r} is not computed")
    left = check.alive - {Source("new", r) for r in roots}
    expect(not left, f"never freed: {left}")


class _Check:
    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.alive: set[Source] = set()
        self.written: set[Source] = set()
        self.adopted: dict[Source, int] = {}  # a target that has not been written yet, and the leaves' buffer it took
        self.overwritten: set[int] = set()  # numbers of the buffers of leaves that hold new values now

    def step(self, step: Step) -> None:
        if isinstance(step, Allocate):
            expect(step.target not in self.alive, f"{step.target} exists already")
            f = self.items[step.target.position].signature
            expect(step.nbytes == prod(f.shape) * f.dtype.itemsize, f"{step.nbytes} bytes for {f}")
            self.alive.add(step.target)
        elif isinstance(step, Adopt):
            if step.base.kind == "leaf":
                self.read(step.base)
                self.adopted[step.target] = self.items[step.base.position].buffer
            else:
                expect(self.holds(step.base), f"{step.base} is not there to be adopted")
                self.alive.discard(step.base)
            self.alive.add(step.target)
            self.written.add(step.target)  # until it is written, it has the old values
        elif isinstance(step, Free):
            expect(step.target in self.alive, f"{step.target} does not exist")
            self.alive.discard(step.target)
        elif isinstance(step, RunLibraryCall):
            self.call(step)
        else:
            self.run(step)

    def holds(self, source: Source) -> bool:
        """Whether a buffer exists and has values in it; one without elements needs none."""
        empty = 0 in self.items[source.position].signature.shape
        return source in self.alive and (source in self.written or empty)

    def extent(self, source: Source) -> int:
        """How many elements of a buffer an argument may touch, counted from the first that it sees."""
        f = self.items[source.position].signature
        if source.kind == "leaf":
            assert isinstance(f.primitive, Leaf)
            where = Layout(f.shape, f.primitive.strides, f.primitive.origin)
            return 0 if 0 in f.shape else where.high() + 1
        return prod(f.shape)

    def read(self, source: Source) -> None:
        if source.kind == "leaf":
            expect(isinstance(self.items[source.position].signature.primitive, Leaf), f"{source} is no leaf")
            buffer = self.items[source.position].buffer
            expect(buffer not in self.overwritten, f"{source} has been overwritten")
        else:
            expect(self.holds(source), f"{source} is read and is not there")

    def write(self, target: Source) -> None:
        if target in self.adopted:
            self.overwritten.add(self.adopted.pop(target))
        self.written.add(target)

    def call(self, step: RunLibraryCall) -> None:
        for target in step.targets:
            expect(target in self.alive, f"{target} has no buffer")
        for (source, where), dtype in zip(step.args, step.dtypes, strict=True):
            if source.kind in ("location", "const"):
                continue
            self.read(source)
            expect(self.items[source.position].signature.dtype == dtype, f"{source} is read as {dtype}")
            inside = 0 in where.shape or (where.low() >= 0 and where.high() < self.extent(source))
            expect(inside, f"{source} is read outside of its {self.extent(source)} elements")
        for target in step.targets:
            self.write(target)

    def run(self, step: RunKernel) -> None:
        kernel = step.kernel
        expect(len(step.args) == len(kernel.args), f"{len(step.args)} arguments for {len(kernel.args)}")
        outs = [s for s, arg in zip(step.args, kernel.args, strict=True) if arg.kind == "out"]
        extents = []
        for source, arg in zip(step.args, kernel.args, strict=True):
            f = self.items[source.position].signature
            if source.kind == "location":
                expect(isinstance(f.primitive, Gather), f"{source} has no site")
            elif source.kind == "const":
                expect(isinstance(f.primitive, Const) and arg.kind == "scalar", f"{source} is no scalar")
                weak = isinstance(f.primitive, Const) and f.primitive.weak  # it arrives in the dtype of its loop
                expect(bool(weak) or arg.dtype == f.dtype, f"{source} of {f.dtype} arrives as {arg.dtype}")
            else:
                expect(arg.kind != "scalar", f"{source} arrives as a scalar")
                expect(arg.dtype == f.dtype, f"{source} of {f.dtype} is taken as {arg.dtype}")
                if arg.kind == "in":
                    self.read(source)
                else:
                    expect(source in self.alive, f"{source} has no buffer")
            extents.append(0 if arg.kind == "scalar" else self.extent(source))
        verify_kernel(kernel, extents)
        for source in outs:
            self.write(source)
