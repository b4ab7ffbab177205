"""The plans of a GPU, run by the CPU device: which kernels and calls there would be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.device import Device
from gpunumpy.core.runtime.planner import Planner
from gpunumpy.kernels.cuda.executor import CudaExecutor
from gpunumpy.kernels.host.executor import HostExecutor


class _GpuPlans(HostExecutor):
    traits = CudaExecutor.traits


@contextmanager
def planned_for_a_gpu() -> Iterator[None]:
    """Have the CPU device, as the default device, plan as a GPU would; no kernel is fused into a library call."""
    with Device("cpu") as cpu:
        state = evaluate.state_of(cpu)
        evaluate.flush(state.queue)
        before = state.executor, state.planner
        state.executor = _GpuPlans(cpu)
        state.planner = Planner(state.executor)
        try:
            yield
            evaluate.flush(state.queue)
        finally:
            state.executor, state.planner = before
