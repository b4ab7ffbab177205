"""What a new process knows, and what one leaves on disk, for tests of both in one process."""

from __future__ import annotations

from collections.abc import Iterable

import gpunumpy as np
from gpunumpy.core.graph.bounded_table import forget_all
from gpunumpy.core.runtime import evaluate, kept_plans, planner
from gpunumpy.core.runtime.planner import Planner
from gpunumpy.kernels.cuda.executor import CudaExecutor


def begin_process(gpus: Iterable[str]) -> None:
    """Have what follows be as in a new process, which uses these GPUs."""
    forget_all()
    kept_plans._digests.clear()
    kept_plans.kept_plans.cache_clear()
    for gpu in gpus:
        state = evaluate.state_of(np.Device(gpu))
        state.executor = CudaExecutor(np.Device(gpu))
        state.planner = Planner(state.executor)


def end_process() -> None:
    """Leave on disk what the end of a process does."""
    planner.keep_on_disk()
    kept_plans.keep_needed()
