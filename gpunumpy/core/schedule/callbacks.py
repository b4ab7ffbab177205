"""Elementwise kernels beside a library call become a part of it, where the library computes them as it reads or writes.

What is left out is the array in between, which would be written to memory and read again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import NamedTuple, TypeAlias, TypeGuard

from ..dtypes import DType
from ..graph import layout
from ..graph.layout import Layout, Shape
from ..graph.primitives import Leaf
from . import kernel as ir
from .lower import Item, Source
from .steps import Adopt, Allocate, Free, RunKernel, RunLibraryCall, Step


class FusedCall(NamedTuple):
    """The options of a library call with kernels in it.

    Its arguments are those of `before` without its output (or what the call reads, where there is no `before`), and
    then those of `after` without what the call makes and without its output, which is the result.

    Attributes
    ----------
    options
        Those of the call itself.
    taken, made
        The layout and dtype of what the call itself reads, and of what it makes. What a kernel computes is in C order.
    before, after
        The kernel that computes what is read, and the one that computes the result from what is made.
    given
        The argument of `after` that is what the call makes.
    """

    options: tuple[object, ...]
    taken: tuple[Layout, DType]
    made: tuple[Layout, DType]
    before: ir.Kernel | None = None
    after: ir.Kernel | None = None
    given: int = -1


# Tells whether a call takes kernels in, and is faster so.
Fuses: TypeAlias = Callable[[FusedCall], bool]


def fuse_into_library_calls(
    steps: Sequence[Step], items: Sequence[Item], roots: Sequence[int], fuses_of: Callable[[str], Fuses | None]
) -> tuple[Step, ...]:
    """The steps of a plan, with kernels taken into library calls where these are faster so.

    Parameters
    ----------
    steps, items, roots
        The plan, and the graph that it is for.
    fuses_of
        What tells of the library calls of a name whether they take kernels in; None if they never do.
    """
    return _Fusion(steps, items, roots, fuses_of).run()


class _Fusion:
    def __init__(
        self,
        steps: Sequence[Step],
        items: Sequence[Item],
        roots: Sequence[int],
        fuses_of: Callable[[str], Fuses | None],
    ) -> None:
        self.steps = list(steps)
        self.items = items
        self.kept = {Source("new", r) for r in roots}
        names = {step.name for step in steps if isinstance(step, RunLibraryCall)}
        self.fuses = {name: fuses for name in names if (fuses := fuses_of(name)) is not None}

    def run(self) -> tuple[Step, ...]:
        calls = {source for step in self.steps if self._may_fuse(step) for source in _bound(step)} - self.kept
        between = [s.target for s in self.steps if isinstance(s, Allocate) and s.target in calls]
        # A kernel between two calls goes into the one that reads, where loads of several arrays overlap.
        for kind in (RunKernel, RunLibraryCall):
            for made in between:
                self._fuse(made, kind)
        return tuple(self.steps)

    def _may_fuse(self, step: Step) -> TypeGuard[RunLibraryCall]:
        return isinstance(step, RunLibraryCall) and step.name in self.fuses and not step.outputs

    def _fuse(self, made: Source, kind: type[RunKernel] | type[RunLibraryCall]) -> None:
        """Take in the one kernel that makes a buffer (`Run`) or reads it, if a call alone is at the other end."""
        users = [
            n for n, s in enumerate(self.steps) if isinstance(s, (RunKernel, RunLibraryCall)) and made in _bound(s)
        ]
        if len(users) != 2 or any(isinstance(s, Adopt) for s in self.steps[users[0] : users[1]]):
            return
        first, second = (self.steps[n] for n in users)
        joined = None
        if isinstance(first, RunKernel) and self._may_fuse(second) and kind is RunKernel:
            joined = self._before(first, second, made)
        elif self._may_fuse(first) and isinstance(second, RunKernel) and kind is RunLibraryCall:
            joined = self._after(first, second, made)
        if joined is not None:
            self._join(users[0], users[1], joined, made)

    def _join(self, first: int, second: int, joined: RunLibraryCall, made: Source) -> None:
        """Put one step in the place of the second of two; what the first one read is freed after it."""
        read = set(_bound(self.steps[first]))
        between = self.steps[first + 1 : second]
        late = [s for s in between if isinstance(s, Free) and s.target in read]
        steps = [*self.steps[:first], *(s for s in between if s not in late), joined, *late, *self.steps[second + 1 :]]
        self.steps = [s for s in steps if not (isinstance(s, (Allocate, Free)) and s.target == made)]

    def _before(self, run: RunKernel, call: RunLibraryCall, made: Source) -> RunLibraryCall | None:
        """The call with the kernel that makes what it reads."""
        options = self._options(call)
        if options.before is not None or [source for source, _ in call.args] != [made]:
            return None
        where, dtype = options.taken
        kernel = run.kernel if run.kernel.region is None else _inside(run.kernel, where)
        if kernel is None or not _elementwise(kernel) or not any(arg.kind == "in" for arg in kernel.args):
            return None
        (store,) = kernel.body.stores
        whole = kernel is not run.kernel or where == layout.c_layout(self._shape(made))
        if not whole or run.args[store.arg] != made or not _walks_all(store.at, kernel.shape, where.shape):
            return None
        options = options._replace(before=kernel, taken=(layout.c_layout(where.shape), dtype))
        return self._joined(call, options, self._arguments(run, made), call.position)

    def _after(self, call: RunLibraryCall, run: RunKernel, made: Source) -> RunLibraryCall | None:
        """The call with the kernel that reads what it makes."""
        if not _elementwise(run.kernel) or made not in call.targets:
            return None
        (store,) = run.kernel.body.stores
        given = run.args.index(made)
        reads = {i.at for i in run.kernel.body.instrs if isinstance(i, ir.Load) and i.arg == given}
        result = run.args[store.arg]
        if result.kind != "new" or given == store.arg or run.kernel.args[store.arg].alias >= 0 or len(reads) != 1:
            return None
        (at,) = reads
        if not _walks_all(at, run.kernel.shape, self._shape(made)):
            return None
        options = self._options(call)
        if options.after is not None:
            return None
        options = options._replace(after=run.kernel, given=given)
        mine = list(zip(call.args, call.dtypes, strict=True))
        return self._joined(call, options, mine + self._arguments(run, made, result), result.position)

    def _joined(
        self,
        call: RunLibraryCall,
        options: FusedCall,
        args: Sequence[tuple[tuple[Source, Layout], DType]],
        position: int,
    ) -> RunLibraryCall | None:
        if not self.fuses[call.name](options):
            return None
        places, dtypes = tuple(where for where, _ in args), tuple(dtype for _, dtype in args)
        return RunLibraryCall(call.name, options, places, dtypes, position, call.reason)

    def _options(self, call: RunLibraryCall) -> FusedCall:
        if isinstance(call.options, FusedCall):
            return call.options
        f = self.items[call.position].signature
        return FusedCall(call.options, (call.args[0][1], call.dtypes[0]), (layout.c_layout(f.shape), f.dtype))

    def _shape(self, source: Source) -> Shape:
        return self.items[source.position].signature.shape

    def _arguments(self, run: RunKernel, *left_out: Source) -> list[tuple[tuple[Source, Layout], DType]]:
        """What a kernel reads, as a call takes it."""
        found = []
        for source, arg in zip(run.args, run.kernel.args, strict=True):
            if source not in left_out:
                f = self.items[source.position].signature
                where = Layout(f.shape, layout.c_strides(f.shape), 0)
                if isinstance(f.primitive, Leaf):
                    where = Layout(f.shape, f.primitive.strides, f.primitive.origin)
                found.append(((source, where), arg.dtype))
        return found


def _bound(step: Step) -> tuple[Source, ...]:
    """Every buffer that a piece of work reads or writes."""
    if isinstance(step, RunKernel):
        return step.args
    return (*step.targets, *(s for s, _ in step.args)) if isinstance(step, RunLibraryCall) else ()


def _inside(kernel: ir.Kernel, where: Layout) -> ir.Kernel | None:
    """The kernel of a region alone, in C order, where no more of what is stored is read; None where more is."""
    assert kernel.region is not None
    shape = tuple(high for _, high in kernel.region)
    bodies = [kernel.body, kernel.outside] if kernel.outside is not None else [kernel.body]
    read = {i.arg for i in kernel.body.instrs if isinstance(i, (ir.Load, ir.LoadIndexed))}
    inputs = {n for n, arg in enumerate(kernel.args) if arg.kind == "in"}
    if any(low for low, _ in kernel.region) or where.shape != shape or inputs != read:
        return None
    for body in bodies:
        if len(body.stores) != 1 or body.stores[0].at != ir.Affine(where.offset, where.strides):
            return None
    (store,) = kernel.body.stores
    body = replace(kernel.body, stores=(replace(store, at=ir.Affine(0, layout.c_strides(shape))),))
    return replace(kernel, shape=shape, body=body, region=None, outside=None)


def _elementwise(kernel: ir.Kernel) -> bool:
    """Whether a kernel computes one array, and each of its elements from what lies at known places."""
    plain = all(isinstance(i, (ir.Load, ir.Scalar, ir.LoopIndex, ir.Apply)) for i in kernel.body.instrs)
    return plain and not kernel.reduced and kernel.region is None and len(kernel.body.stores) == 1


def _walks_all(at: ir.Affine, loops: Shape, shape: Shape) -> bool:
    """Whether the loops meet every element of an array in C order once."""
    step = 1
    for coef, n in sorted((c, n) for c, n in zip(at.coef, loops, strict=True) if n != 1):
        if coef != step:
            return False
        step *= n
    return at.offset == 0 and step == prod(shape)
