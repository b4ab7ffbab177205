"""The CUDA texts of what runs on the CPU device: what a GPU would compile for the same steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gpunumpy
from gpunumpy.core.graph import layout
from gpunumpy.core.graph.library_calls.products import Product
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.plan import Work
from gpunumpy.core.schedule.kernel import Kernel
from gpunumpy.core.schedule.steps import RunKernel, RunLibraryCall
from gpunumpy.kernels.codegen.generate import generate
from gpunumpy.kernels.folds import cuda as cuda_fold
from gpunumpy.kernels.histogram import cuda as cuda_histogram
from gpunumpy.kernels.indexing import cuda_masks, cuda_scatter
from gpunumpy.kernels.products import cuda_integers
from gpunumpy.kernels.products.cuda_small import is_small, small_matmul
from gpunumpy.kernels.search import cuda as cuda_search
from gpunumpy.kernels.sort import cuda as cuda_sort
from gpunumpy.nvlib import cublas

PROCESSORS = 132

# Library calls that are programs of kernels on a GPU, and what makes them.
LIBRARY_CALL_PROGRAMS: dict[str, Callable[..., Any]] = {
    "accumulate": cuda_fold.accumulate,
    "argsort": cuda_sort.argsort,
    "bincount": cuda_histogram.bincount,
    "fold": cuda_fold.fold,
    "histogram": cuda_histogram.histogram,
    "mask_elements": cuda_masks.mask_elements,
    "mask_offsets": cuda_masks.mask_offsets,
    "mask_positions": cuda_masks.mask_positions,
    "reduceat": cuda_fold.reduceat,
    "scatter": cuda_scatter.scatter,
    "searchsorted": cuda_search.searchsorted,
    "sort": cuda_sort.sort,
}


@contextmanager
def collected() -> Iterator[dict[str, None]]:
    """The CUDA texts of the steps that run inside."""
    texts: dict[str, None] = {}

    def note(step: Any, work: Work) -> None:
        if isinstance(step, RunKernel):
            texts[generate(step.kernel, PROCESSORS).text] = None
        elif isinstance(step, RunLibraryCall) and (text := library_call_text(step, work)):
            texts[text] = None

    with _noting(note):
        yield texts


@contextmanager
def kernels() -> Iterator[dict[Kernel, None]]:
    """The kernels of the steps that run inside."""
    found: dict[Kernel, None] = {}

    def note(step: Any, work: Work) -> None:
        if isinstance(step, RunKernel):
            found[step.kernel] = None

    with _noting(note):
        yield found


@contextmanager
def _noting(note: Callable[[Any, Work], None]) -> Iterator[None]:
    """Call a function before every step that runs inside, on the CPU device."""

    def observe(step: Any, work: Work) -> None:
        note(step, work)
        work()

    before, evaluate.observer = evaluate.observer, observe
    try:
        with gpunumpy.Device("cpu"):
            yield
    finally:
        evaluate.observer = before


def library_call_text(step: RunLibraryCall, work: Work) -> str:
    """The text of a library call's program; empty where a GPU calls a library."""
    written = [work.plan.scheduled.items[target.position].signature for target in step.targets]
    layouts = [layout.c_layout(result.shape) for result in written] + [where for _, where in step.args]
    dtypes = (*[result.dtype for result in written], *step.dtypes)
    if step.name in LIBRARY_CALL_PROGRAMS:
        return str(LIBRARY_CALL_PROGRAMS[step.name](step.options, layouts, dtypes).text)
    if step.name == "matmul":
        matrices = cublas.as_matrices(*layouts[:3])
        if written[0].dtype.kind in "biu":
            return cuda_integers.matmul(matrices, dtypes).text
        if is_small(matrices, dtypes[1]):
            return small_matmul(matrices, dtypes, Product(*step.options).epilogues)[0].text
    return ""
