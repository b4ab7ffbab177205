"""The executor of the CPU device: kernels run as NumPy calls over blocks, library calls as NumPy's own functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ...core.graph.bounded_table import BoundedTable
from ...core.graph.layout import Layout
from ...core.graph.library_calls.record import Batch
from ...core.graph.library_calls.registry import record_of
from ...core.late_imports import import_late
from ...core.runtime.device import Device
from ...core.runtime.executors import fuse_predicate_of, implementation
from ...core.runtime.memory import flat_view
from ...core.runtime.plan import CallAt, Runner
from ...core.schedule.callbacks import FusePredicate
from ...core.schedule.kernel import Kernel
from ...core.schedule.sizes import Integer, Trace
from ...core.schedule.substitute import in_kernel, put_in
from ...core.schedule.traits import Traits
from ...core.schedule.variants import Variants
from ..source_locations import SourceLocations
from .index_errors import index_errors
from .threads import quietly

if TYPE_CHECKING:
    from .loops import SizedKernel

_kernels: BoundedTable[Kernel, Variants[SizedKernel]] = BoundedTable()


class HostExecutor:
    """The executor of one CPU device; see `core.runtime.plan.Executor`.

    The implementation of a library call is called as ``run(options, *results, *arguments)`` with NumPy arrays.
    """

    name = "host"
    graphs = None
    bind = staticmethod(flat_view)
    traits = Traits(
        alignment=1,  # NumPy's loops look at addresses by themselves
        rewritten_bytes=0,  # a second kernel costs less than to write what stays as it is
        host_bytes=1 << 21,
        host_multiplications=1 << 27,
        calls_numpy=True,
        ignores_imaginary_ends=True,
    )

    def __init__(self, device: Device) -> None:
        self.device = device
        self._locations = SourceLocations()
        self.source_location = self._locations.number

    def fuse_predicate(self, call: str) -> FusePredicate | None:
        """Return the function that decides which kernels are fused into library call `call`; None if none ever are."""
        return fuse_predicate_of(call, self.name)

    def prepare(self, structure: Kernel, has_other_sizes: bool) -> Callable[[Sequence[int]], Runner]:
        """Return what takes the sizes of a kernel, and returns what runs the kernel over flat arrays and scalars."""
        kernels = _kernels.find(structure)
        if kernels is None:

            def make(trace: Trace, sizes: Sequence[Integer]) -> SizedKernel:
                made: SizedKernel = _loops().SizedKernel(put_in(structure, in_kernel, sizes), trace)
                return made

            kernels = _kernels.keep(structure, Variants(make))
        if has_other_sizes:
            kernels.expect_others()

        def prepared(sizes: Sequence[int]) -> Runner:
            kernel, values = kernels.find(sizes)
            return kernel.at(values)

        return prepared

    def tier(self, kernel: Kernel) -> str:
        """Return an empty string: all kernels run in one way."""
        return ""

    def library_call(
        self, name: str, options: Any, dtypes: Sequence[Any], at: CallAt
    ) -> Callable[[Sequence[int]], Runner]:
        """Return what takes the sizes of a library call, and returns what runs it over flat arrays and scalars."""
        function = implementation(record_of(name).implementation(self.name).run)
        if isinstance(options, Batch):
            function = _run_batch(function)

        def prepared(sizes: Sequence[int]) -> Runner:
            options, layouts = at(sizes)
            views = list(map(_view_maker, dtypes, layouts))

            def run(values: Sequence[Any]) -> None:
                # Scalars and numbers of source locations are passed as they are.
                args = [view(v) if type(v) is numpy.ndarray else v for v, view in zip(values, views)]
                quietly(function, options, *args)

            return run

        return prepared

    def finish(self, begun: Sequence[Runner]) -> Sequence[Runner]:
        """Return the functions as they are: nothing is compiled."""
        return begun

    def kept_plans(self) -> None:
        """Return nothing: plans have functions of Python in them, so they are not kept for other processes."""

    def kept(self, structure: Kernel, sizes: Sequence[int]) -> Any:
        """Return nothing, as nothing is kept."""

    def prepare_kept(self, kept: Any) -> Any:
        """Return nothing, as nothing is kept."""

    def prepare_ahead(self, kept: Any, sizes: Sequence[int]) -> None:
        """Do nothing, as nothing is kept."""

    def take_error(self) -> str:
        """Return the message of the first index out of bounds since the last call, or an empty string."""
        first = index_errors[:1]  # a slice, as another thread may clear the list at any time
        if not first:
            return ""
        index_errors.clear()
        message, source_location = first[0]
        return f"{message} ({self._locations.text(source_location)})"


def _loops() -> Any:
    """Return the module of kernels, which programs whose arrays stay small never need."""
    return import_late(".loops", __package__)


def _run_batch(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function that runs the calls of a batch one after the other."""

    def run(options: Batch, *values: Any) -> None:
        results, args = values[: options.calls], values[options.calls :]
        per_call = len(args) // options.calls
        for k, out in enumerate(results):
            function(options.options, out, *args[k * per_call : (k + 1) * per_call])

    return run


def _view_maker(dtype: Any, layout: Layout) -> Callable[[Any], Any]:
    """Return a function that makes an array of this layout from a flat array over the whole buffer."""
    itemsize = dtype.itemsize
    offset, strides = layout.offset * itemsize, tuple(s * itemsize for s in layout.strides)
    return lambda flat: numpy.ndarray(layout.shape, dtype, flat, offset, strides)
