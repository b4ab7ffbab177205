"""Loops on a GPU, which is a pretended one, most of whose sizes change: how many plans and programs they make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.graph.bounded_table import forget_all
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.loop_cut import LoopCut
from gpunumpy.core.runtime.planner import Planner
from gpunumpy.core.schedule.kernel import Kernel
from gpunumpy.demo import load
from gpunumpy.kernels.codegen import generate, sized
from gpunumpy.kernels.codegen.program import Program
from gpunumpy.kernels.cuda import compile as compiler
from gpunumpy.kernels.cuda.executor import CudaExecutor
from gpunumpy.kernels.cuda.kernel import KernelLauncher
from gpunumpy.kernels.cuda.tiers import CudaKernels
from tests.support import fake_driver


def outer(a: Any) -> None:
    for k in range(1, len(a)):
        a[k:, k:] -= np.outer(a[k:, k - 1], a[k - 1, k:]) * 1e-6


def lu(a: Any) -> None:
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])


def cholesky(a: Any) -> None:
    for k in range(len(a)):
        a[k, k] = np.sqrt(a[k, k])
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k + 1 :, k])


# An elimination, and how many plans and programs it may make at most.
ELIMINATIONS: dict[str, tuple[Callable[[Any], None], int, int]] = {
    "outer": (outer, 5, 5),
    "LU": (lu, 9, 8),
    "Cholesky": (cholesky, 16, 14),
}


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Kernel]]:
    """The kernels for which texts are generated on a new GPU."""
    fake_driver.install(monkeypatch)
    monkeypatch.setattr(evaluate, "CHECK", False)
    monkeypatch.setattr(compiler, "_compile", lambda text, *target: b"image")
    kernels: list[Kernel] = []

    def noted(kernel: Kernel, processors: int) -> Program:
        kernels.append(kernel)
        return generate.generate(kernel, processors)

    monkeypatch.setattr(sized, "generate", noted)
    before = np.set_residence("device")
    with np.Device("cuda:0") as device:
        state = evaluate.state_of(device)
        monkeypatch.setattr(CudaKernels, "kept_plans", lambda self: None)  # nothing comes from disk
        executor = CudaExecutor(device)
        monkeypatch.setattr(state, "executor", executor)
        monkeypatch.setattr(state, "planner", Planner(executor))
        monkeypatch.setattr(state, "cut", LoopCut())
        yield kernels
    np.set_residence(before)


@pytest.mark.parametrize("name", ELIMINATIONS)
def test_eliminations(name: str, generated: list[Kernel]) -> None:
    """Neither the alignment of rows nor the share of the array that is written makes plans or programs of its own."""
    eliminate, plans, programs = ELIMINATIONS[name]
    for n in (60, 61):
        a = np.asarray(numpy.ones((n, n)))
        eliminate(a)
        np.synchronize()
    made = evaluate.state_of(np.default_device()).planner.counts()[1]
    assert made <= plans
    assert len(generated) <= programs


def test_kernels_with_scratch_memory_are_launched_at_new_sizes(
    generated: list[Kernel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the launcher of earlier sizes, of which all is known but numbers."""
    launchers: list[Any] = []
    launch = KernelLauncher.__call__
    monkeypatch.setattr(KernelLauncher, "__call__", lambda self, *of: launchers.append(of) or launch(self, *of))
    a = np.asarray(numpy.ones(300_000))
    for k in range(1, 40):
        (a[k:] * a[: 300_000 - k]).sum().computed()
    assert any(program.scratch for program, *_ in launchers)
    assert len(launchers) <= 4


@pytest.mark.usefixtures("generated")
@pytest.mark.parametrize("name", ["lattice_boltzmann", "life"])
def test_loops_with_rolls(name: str) -> None:
    """The graphs of the first rounds, which make recipes, are those of later ones, which repeat them."""
    forget_all()
    load(name, "gpunumpy").run(64, 50).computed()
    assert evaluate.state_of(np.default_device()).planner.counts()[0] <= 3
