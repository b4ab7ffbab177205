"""The pass that fuses elementwise kernels into library calls, for libraries that run callbacks as they read or write.

A fused call saves the array between the kernel and the call: no step writes it to memory and reads it back.
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
    """The options of a library call with kernels fused into it.

    The arguments of the fused call are those of `before` without its output (without `before`, the array that the call
    reads), then those of `after` without the output of the call and without its own output, which is the result.

    Attributes
    ----------
    options
        The options of the call alone.
    call_input, call_output
        The layout and dtype of the input of the call itself, and of its output. The output of a kernel is in C order.
    before, after
        The kernel that computes the input of the call, and the kernel that computes the result from its output.
    after_input
        The number of the argument of `after` that is the output of the call; -1 without `after`.
    """

    options: tuple[object, ...]
    call_input: tuple[Layout, DType]
    call_output: tuple[Layout, DType]
    before: ir.Kernel | None = None
    after: ir.Kernel | None = None
    after_input: int = -1


# A predicate over fused calls: whether the executor can run one, and does so faster than separate steps.
FusePredicate: TypeAlias = Callable[[FusedCall], bool]


def fuse_into_library_calls(
    steps: Sequence[Step],
    items: Sequence[Item],
    roots: Sequence[int],
    fuse_predicate_of: Callable[[str], FusePredicate | None],
) -> tuple[Step, ...]:
    """Fuse kernels into the library calls of a plan, where that is faster.

    Parameters
    ----------
    steps, items, roots
        The plan, and the graph that it is for.
    fuse_predicate_of
        For the name of a library call, its predicate over fused calls, or None if it is never fused.

    Returns
    -------
    tuple of Step
        The steps with fused calls.
    """
    return _Fusion(steps, items, roots, fuse_predicate_of).run()


class _Fusion:
    """The state of the pass: the steps as they change."""

    def __init__(
        self,
        steps: Sequence[Step],
        items: Sequence[Item],
        roots: Sequence[int],
        fuse_predicate_of: Callable[[str], FusePredicate | None],
    ) -> None:
        self.steps = list(steps)
        self.items = items
        self.root_buffers = {Source("new", r) for r in roots}
        names = {step.name for step in steps if isinstance(step, RunLibraryCall)}
        self.predicates = {name: predicate for name in names if (predicate := fuse_predicate_of(name)) is not None}

    def run(self) -> tuple[Step, ...]:
        call_buffers = {
            source for step in self.steps if self._may_fuse(step) for source in _touched_buffers(step)
        } - self.root_buffers
        candidates = [s.target for s in self.steps if isinstance(s, Allocate) and s.target in call_buffers]
        # A kernel between two calls goes into the second call, where loads of several arrays overlap.
        for producer in (RunKernel, RunLibraryCall):
            for buffer in candidates:
                self._fuse(buffer, producer)
        return tuple(self.steps)

    def _may_fuse(self, step: Step) -> TypeGuard[RunLibraryCall]:
        return isinstance(step, RunLibraryCall) and step.name in self.predicates and not step.outputs

    def _fuse(self, buffer: Source, producer: type[RunKernel] | type[RunLibraryCall]) -> None:
        """Fuse the kernel that writes a buffer, or reads it, into the call that is its only other user.

        `producer` is the type of the step that writes the buffer: a kernel before the call, or a call before a kernel.
        """
        users = [
            n
            for n, s in enumerate(self.steps)
            if isinstance(s, (RunKernel, RunLibraryCall)) and buffer in _touched_buffers(s)
        ]
        if len(users) != 2 or any(isinstance(s, Adopt) for s in self.steps[users[0] : users[1]]):
            return
        first, second = (self.steps[n] for n in users)
        fused = None
        if isinstance(first, RunKernel) and self._may_fuse(second) and producer is RunKernel:
            fused = self._with_kernel_before(first, second, buffer)
        elif self._may_fuse(first) and isinstance(second, RunKernel) and producer is RunLibraryCall:
            fused = self._with_kernel_after(first, second, buffer)
        if fused is not None:
            self._replace(users[0], users[1], fused, buffer)

    def _replace(self, first: int, second: int, fused: RunLibraryCall, buffer: Source) -> None:
        """Put the fused step in the place of the second of two steps; what the first step reads is freed after it."""
        read = set(_touched_buffers(self.steps[first]))
        steps_between = self.steps[first + 1 : second]
        late = [s for s in steps_between if isinstance(s, Free) and s.target in read]
        steps = [
            *self.steps[:first],
            *(s for s in steps_between if s not in late),
            fused,
            *late,
            *self.steps[second + 1 :],
        ]
        self.steps = [s for s in steps if not (isinstance(s, (Allocate, Free)) and s.target == buffer)]

    def _with_kernel_before(self, run: RunKernel, call: RunLibraryCall, buffer: Source) -> RunLibraryCall | None:
        """Return the call with the kernel that writes its input; None where the two cannot be fused."""
        options = self._options(call)
        if options.before is not None or [source for source, _ in call.args] != [buffer]:
            return None
        where, dtype = options.call_input
        kernel = run.kernel if run.kernel.region is None else _region_only(run.kernel, where)
        if kernel is None or not _is_elementwise(kernel) or not any(arg.kind == "in" for arg in kernel.args):
            return None
        (store,) = kernel.body.stores
        covers_input = kernel is not run.kernel or where == layout.c_layout(self._shape(buffer))
        if not covers_input or run.args[store.arg] != buffer or not _covers_array(store.at, kernel.shape, where.shape):
            return None
        options = options._replace(before=kernel, call_input=(layout.c_layout(where.shape), dtype))
        return self._fused_call(call, options, self._arguments(run, buffer), call.position)

    def _with_kernel_after(self, call: RunLibraryCall, run: RunKernel, buffer: Source) -> RunLibraryCall | None:
        """Return the call with the kernel that reads its output; None where the two cannot be fused."""
        if not _is_elementwise(run.kernel) or buffer not in call.targets:
            return None
        (store,) = run.kernel.body.stores
        call_output = run.args.index(buffer)
        reads = {i.at for i in run.kernel.body.instructions if isinstance(i, ir.Load) and i.arg == call_output}
        result = run.args[store.arg]
        if result.kind != "new" or call_output == store.arg or run.kernel.args[store.arg].alias >= 0 or len(reads) != 1:
            return None
        (at,) = reads
        if not _covers_array(at, run.kernel.shape, self._shape(buffer)):
            return None
        options = self._options(call)
        if options.after is not None:
            return None
        options = options._replace(after=run.kernel, after_input=call_output)
        call_args = list(zip(call.args, call.dtypes, strict=True))
        return self._fused_call(call, options, call_args + self._arguments(run, buffer, result), result.position)

    def _fused_call(
        self,
        call: RunLibraryCall,
        options: FusedCall,
        args: Sequence[tuple[tuple[Source, Layout], DType]],
        position: int,
    ) -> RunLibraryCall | None:
        if not self.predicates[call.name](options):
            return None
        places, dtypes = tuple(where for where, _ in args), tuple(dtype for _, dtype in args)
        return RunLibraryCall(call.name, options, places, dtypes, position, call.reason)

    def _options(self, call: RunLibraryCall) -> FusedCall:
        if isinstance(call.options, FusedCall):
            return call.options
        signature = self.items[call.position].signature
        return FusedCall(
            call.options, (call.args[0][1], call.dtypes[0]), (layout.c_layout(signature.shape), signature.dtype)
        )

    def _shape(self, source: Source) -> Shape:
        return self.items[source.position].signature.shape

    def _arguments(self, run: RunKernel, *left_out: Source) -> list[tuple[tuple[Source, Layout], DType]]:
        """Return the arguments of a kernel but for `left_out`, as arguments of a call."""
        arguments = []
        for source, arg in zip(run.args, run.kernel.args, strict=True):
            if source not in left_out:
                signature = self.items[source.position].signature
                where = Layout(signature.shape, layout.c_strides(signature.shape), 0)
                if isinstance(signature.primitive, Leaf):
                    where = Layout(signature.shape, signature.primitive.strides, signature.primitive.origin)
                arguments.append(((source, where), arg.dtype))
        return arguments


def _touched_buffers(step: Step) -> tuple[Source, ...]:
    """Return every buffer that a kernel or a call reads or writes."""
    if isinstance(step, RunKernel):
        return step.args
    return (*step.targets, *(s for s, _ in step.args)) if isinstance(step, RunLibraryCall) else ()


def _region_only(kernel: ir.Kernel, where: Layout) -> ir.Kernel | None:
    """Return the kernel of its region alone, in C order, if a call reads only the region, as `where`; else None."""
    assert kernel.region is not None
    shape = tuple(high for _, high in kernel.region)
    bodies = [kernel.body, kernel.outside] if kernel.outside is not None else [kernel.body]
    read = {i.arg for i in kernel.body.instructions if isinstance(i, (ir.Load, ir.LoadIndexed))}
    inputs = {n for n, arg in enumerate(kernel.args) if arg.kind == "in"}
    if any(low for low, _ in kernel.region) or where.shape != shape or inputs != read:
        return None
    for body in bodies:
        if len(body.stores) != 1 or body.stores[0].at != ir.Affine(where.offset, where.strides):
            return None
    (store,) = kernel.body.stores
    body = replace(kernel.body, stores=(replace(store, at=ir.Affine(0, layout.c_strides(shape))),))
    return replace(kernel, shape=shape, body=body, region=None, outside=None)


def _is_elementwise(kernel: ir.Kernel) -> bool:
    """Return whether a kernel stores one array, without reductions, gathers or a region."""
    plain = all(isinstance(i, (ir.Load, ir.Scalar, ir.LoopIndex, ir.Apply)) for i in kernel.body.instructions)
    return plain and not kernel.reduced and kernel.region is None and len(kernel.body.stores) == 1


def _covers_array(at: ir.Affine, loops: Shape, shape: Shape) -> bool:
    """Return whether the loops touch every element of a C-ordered array exactly once."""
    step = 1
    for coef, n in sorted((c, n) for c, n in zip(at.coef, loops, strict=True) if n != 1):
        if coef != step:
            return False
        step *= n
    return at.offset == 0 and step == prod(shape)
