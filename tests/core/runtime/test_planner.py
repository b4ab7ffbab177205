"""One plan serves all sizes of a structure: how many are made for loops whose sizes change, and that they are right."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.collector import without_collector
from gpunumpy.core.graph import bounded_table
from gpunumpy.core.runtime import evaluate, loop_cut
from gpunumpy.core.runtime.device import Device
from gpunumpy.core.runtime.loop_cut import LoopCut
from gpunumpy.core.runtime.planner import Planner
from gpunumpy.core.schedule.lift import items_in, lowered
from gpunumpy.core.schedule.lower import items_of
from gpunumpy.core.schedule.passes import run_passes
from gpunumpy.core.schedule.steps import RunKernel
from gpunumpy.core.schedule.substitute import in_kernel, taken_out
from gpunumpy.core.schedule.variants import pattern
from gpunumpy.kernels.codegen import sized
from gpunumpy.kernels.codegen.generate import generate
from gpunumpy.kernels.codegen.sized import sized_programs
from gpunumpy.kernels.cuda.tiers import CudaKernels
from gpunumpy.kernels.host import executor, loops
from gpunumpy.kernels.host.loops import SizedKernel
from tests.support.host_executor import with_new_plans
from tests.support.symbols import with_symbols_at_once

from .test_parts import LOOPS as FACTORIZATIONS
from .test_parts import matrix

RNG = numpy.random.default_rng(0)


def elimination(m: Any, n: int) -> Any:
    a = m.array(numpy.eye(n) * n + numpy.random.default_rng(1).random((n, n)))
    for k in range(1, n):
        a[k:, k:] -= m.outer(a[k:, k - 1], a[k - 1, k:]) / a[k - 1, k - 1]
        float(a[k, k])
    return a


def windows(m: Any, n: int) -> Any:
    x = m.array(numpy.random.default_rng(2).random(5 * n))
    total = m.zeros(3)
    for k in range(2 * n, 3 * n):
        w = x[k - n : 2 * k - n]
        y = (w - w.mean()) / (w.std() + 1)
        total[1] += float((y * y).sum())
    return total


def masks(m: Any, n: int) -> Any:
    x = m.array(numpy.random.default_rng(3).random(40 * n))
    return [float((x[x < 0.2 + k / 100] * 2 + 1).sum()) for k in range(n)]


def batches(m: Any, n: int) -> Any:
    x = m.array(numpy.random.default_rng(4).random((4 * n, 6)))
    w = m.array(numpy.random.default_rng(5).random((6, 3)))
    return [float(m.maximum(x[: n + k] @ w, 0.1).sum()) for k in range(n)]


def growing(m: Any, n: int) -> Any:
    a = m.zeros((n, n + 3))
    for k in range(2, n):
        a[k] = numpy.arange(n + 3) * k
        a[:k, :k] += 1
        a[k, 2:k] *= 2
        float(a[k, k])
    return a


# A loop, and how many structures and plans for all sizes of a class it may make, however often it turns. For the first
# sizes of a class there is a plan besides.
LOOPS: dict[str, tuple[Callable[[Any, int], Any], int, int]] = {
    "elimination": (elimination, 4, 8),
    "windows": (windows, 5, 10),
    "masks": (masks, 4, 8),
    "batches": (batches, 3, 6),
    "growing": (growing, 5, 12),
}


def factorization(name: str) -> Callable[[Any, int], Any]:
    """A loop that looks at no value, so that its graphs are computed in parts, each of which has a plan."""

    def loop(m: Any, n: int) -> Any:
        a = m.asarray(matrix(3 * n))
        FACTORIZATIONS[name][0](m, a)
        return np.asnumpy(a)

    return loop


# What is scheduled again at other sizes.
SCHEDULED_AGAIN = {name: loop for name, (loop, _, _) in LOOPS.items()} | {
    name: factorization(name) for name in FACTORIZATIONS
}


def planner_of(monkeypatch: pytest.MonkeyPatch) -> Planner:
    with_new_plans(monkeypatch)
    state = evaluate.state_of(Device("cpu"))
    monkeypatch.setattr(state, "cut", LoopCut())
    return state.planner


@pytest.mark.parametrize("name", LOOPS)
def test_loops_whose_sizes_change(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loop, structures, templates = LOOPS[name]
    planner = planner_of(monkeypatch)
    with np.Device("cpu"):
        for n in (14, 18):
            numpy.testing.assert_allclose(np.asnumpy(np.asarray(loop(np, n))), loop(numpy, n))
        made = planner.counts()
        numpy.testing.assert_allclose(np.asnumpy(np.asarray(loop(np, 30))), loop(numpy, 30))
    assert made[0] <= structures
    first_of_class = sum(len(variants._variants) for variants in planner._templates.values())
    assert made[1] <= templates + first_of_class
    structures_later, templates_later = planner.counts()
    assert structures_later == made[0], "longer loops have no new structures"
    assert templates_later <= made[1] + 2


@pytest.mark.parametrize("operations", [3, 11, 37, 53, 130])
def test_loops_that_look_at_no_value(operations: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph that has grown too large is flushed at one place of the loop: its plans repeat, however long it runs."""
    gc.collect()  # arrays of other tests that wait to be collected count among those that are pending
    planner = planner_of(monkeypatch)

    def loop(m: Any, turns: int) -> Any:
        x, y = m.ones(50), m.arange(50.0)
        y[0] = 0.5
        for _ in range(turns):
            for k in range(operations):
                x = x * 0.5 + y if k % 3 else m.sin(x)
            y[1:] += x[:-1] * 0.01
        return x.sum() + y.sum()

    with np.Device("cpu"):
        float(loop(np, 3000 // operations))
        found = len(planner.plans)
        assert found <= 10, "until the place is found"
        made = []
        for turns in (3000 // operations, 6000 // operations, 9000 // operations):
            numpy.testing.assert_allclose(float(loop(np, turns)), loop(numpy, turns))
            made.append(len(planner.plans) - found)
    assert made[0] <= 5
    assert made[2] - made[0] <= 2, "but for what is left at the end, longer loops have the same plans"


def test_a_look_puts_off_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a look came before a place was found, places are counted only when the graph is larger than it was then."""
    gc.collect()  # as above
    np.synchronize("cpu")  # how far the queue is from its next review depends on what other tests have left
    planner_of(monkeypatch)
    counted: list[Any] = []
    count = loop_cut.Search.count
    monkeypatch.setattr(
        loop_cut.Search, "count", lambda self, here, *rest: counted.append(here) or count(self, here, *rest)
    )

    def loop(turns: int) -> int:
        counted.clear()
        x, y = np.ones(50), np.arange(50.0)
        for _ in range(turns):
            x = x * 0.5 + y
        float(x[0])
        return len(counted)

    with np.Device("cpu"):
        found = [loop(turns) for turns in (320, 320, 320, 1000)]
    assert found[0] > 0
    assert found[1:3] == [0, 0]
    assert found[3] > 0


@pytest.mark.parametrize("name", SCHEDULED_AGAIN)
def test_plans_of_other_sizes_have_the_steps_that_they_would_have_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But where sizes are equal by chance: what is shared then is a matter of luck, and right with and without."""
    planner = planner_of(monkeypatch)
    compared: list[bool] = []
    plan = Planner.plan

    def checked(self: Planner, key: Any, nodes: Any, count: int, overwrite: bool, check: bool, has_changed: Any) -> Any:
        items = items_of(nodes)
        assert items_in(*lowered(nodes), [node.signature for node in nodes]) == items
        made = plan(self, key, nodes, count, overwrite, check, has_changed)
        exact = run_passes(items, range(count), self._executor, overwrite=overwrite)
        kinds = [[type(step) for step in steps] for steps in (made.scheduled.steps, exact.steps)]
        compared.append(kinds[0] == kinds[1])
        return made

    monkeypatch.setattr(Planner, "plan", checked)
    assert evaluate.state_of(Device("cpu")).planner is planner
    with np.Device("cpu"):
        SCHEDULED_AGAIN[name](np, 17)
    assert compared
    assert all(compared)


KERNELS: dict[str, Callable[[Any, Any], Any]] = {
    "map": lambda a, b: a * 2 + b,
    "stencil": lambda a, b: a[1:-1, 1:-1] * 2 + b[2:, 2:],
    "rows": lambda a, b: (a - a.mean(1, keepdims=True)) / (a.std(1, keepdims=True) + 1),
    "columns": lambda a, b: a.sum(0),
    "all": lambda a, b: (a * b).sum(),
    "scan": lambda a, b: np.cumsum(a, 1),
    "transposed": lambda a, b: a.T + 1,
    "flat": lambda a, b: a.reshape(-1)[3:] * 2,
    "position": lambda a, b: a.argmax(1),
    "steps": lambda a, b: a[::3, ::-1] + b[::3],
    "gather": lambda a, b: a[np.arange(3)] + 1,
    "joined": lambda a, b: np.concatenate([a, b]),
}
SHAPES = [(700, 691), (500, 300), (129, 65), (31, 30), (3000, 5), (7, 4000), (1, 50), (64, 64)]


@pytest.mark.parametrize("name", KERNELS)
def test_programs_for_all_sizes_are_those_of_each(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text, the grids, the scratch memory and the parameters of kernels, made with symbols and without."""
    kernels: list[Any] = []
    planner = planner_of(monkeypatch)
    plan = Planner.plan

    def spy(self: Planner, *args: Any) -> Any:
        made = plan(self, *args)
        kernels.extend(step.kernel for step in made.scheduled.steps if isinstance(step, RunKernel))
        return made

    monkeypatch.setattr(Planner, "plan", spy)
    with np.Device("cpu"):
        for shape in SHAPES:
            a, b = (np.asarray(RNG.random(shape)) for _ in range(2))
            if name != "gather" or shape[0] > 2:
                np.asnumpy(KERNELS[name](a, b))
    assert planner.counts()[0] <= 4
    with_symbols_at_once(monkeypatch)
    programs: dict[Any, Any] = {}
    for kernel in kernels:
        structure, sizes = taken_out(kernel, in_kernel)
        known = programs.setdefault(structure, sized_programs(structure, 132))
        program, values = known.find(sizes)
        assert program.at(values) == generate(kernel, 132)


def test_a_kernel_is_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """For all plans, and at all sizes: what is generated is counted beside the kernels that run."""
    planner = planner_of(monkeypatch)
    bounded_table.forget_all()  # kernels too
    prepared: list[Any] = []
    generated: list[Any] = []
    gpu = SimpleNamespace(attributes=SimpleNamespace(multiprocessors=132))
    cuda = CudaKernels(cast(Any, gpu))

    def spy(self: Planner, *args: Any) -> Any:
        made = plan(self, *args)
        for step in made.scheduled.steps:
            if isinstance(step, RunKernel):
                structure, sizes = taken_out(step.kernel, in_kernel)
                cuda.prepare(structure, bool(made.values))(sizes)
                kernels.append((structure, tuple(sizes)))
        return made

    def noted(made: list[Any], make: Callable[..., Any]) -> Callable[..., Any]:
        return lambda kernel, *args: made.append(kernel) or make(kernel, *args)  # type: ignore[func-returns-value]

    kernels: list[Any] = []
    plan = Planner.plan
    monkeypatch.setattr(Planner, "plan", spy)
    monkeypatch.setattr(loops, "SizedKernel", noted(prepared, SizedKernel))
    monkeypatch.setattr(sized, "generate", noted(generated, generate))
    monkeypatch.setattr(CudaKernels, "kept_plans", lambda self: None)  # nothing comes from disk

    def program(n: int) -> Any:
        u, total = np.asarray(RNG.random((n, n))), np.zeros(n)
        for k in range(30):
            u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) * 0.25
            total += np.abs(u).sum(0)
            if k % 10 == 9:
                np.asnumpy(total)
        return np.asnumpy(u)

    with np.Device("cpu"):
        for n in (200, 200, 208, 216, 224):
            program(n)
    assert planner.counts()[1] < 10
    assert len(kernels) > 60
    patterns = len({(structure, pattern(sizes)[0]) for structure, sizes in kernels})
    assert patterns < 10
    # One for the sizes of a pattern that come first, and one for all sizes.
    assert len(prepared) <= 2 * patterns
    assert len(generated) <= 2 * patterns


def test_the_cpu_device_has_one_kernel_wherever_its_arguments_are(monkeypatch: pytest.MonkeyPatch) -> None:
    planner = planner_of(monkeypatch)
    bounded_table.forget_all()  # kernels too
    prepared: list[Any] = []
    monkeypatch.setattr(loops, "SizedKernel", lambda *args: prepared.append(args) or SizedKernel(*args))  # type: ignore[func-returns-value]
    host = RNG.random(800)
    before = np.set_residence("device")
    with np.Device("cpu"):
        a = np.asarray(host)
        for start in (1, 2, 3, 4):
            numpy.testing.assert_array_equal(np.asnumpy(a[start : start + 700] * 2), host[start : start + 700] * 2)
    np.set_residence(before)
    assert planner.counts()[0] == 1
    assert len(prepared) == 1


def test_kernels_of_a_plan_for_many_sizes_are_made_for_these_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where such a plan is the first that has them, as when less than half of an array is written."""
    planner_of(monkeypatch)
    bounded_table.forget_all()
    made: list[int] = []  # the symbols of each
    monkeypatch.setattr(
        loops,
        "SizedKernel",
        lambda kernel, trace: made.append(len(trace.symbols)) or SizedKernel(kernel, trace),  # type: ignore[func-returns-value]
    )
    before = np.set_residence("device")
    with np.Device("cpu"):
        a = np.asarray(RNG.random((40, 40)))
        for k in range(2, 36):
            a[k:, k:] -= a[k:, k - 1, None] * a[None, k - 1, k:] * 1e-3
            np.synchronize()
            if k == 7:
                made.clear()
    np.set_residence(before)
    assert len(made) == 2, "a copy of the right side, and the write"
    assert all(made)


def test_the_collector_rests_while_plans_are_made() -> None:
    """In several threads too, and not after an exception; what the program has chosen comes back."""
    chosen = gc.get_threshold()
    begun, may_end = threading.Barrier(2), threading.Barrier(2)

    def make(barriers: Sequence[threading.Barrier]) -> tuple[int, int, int]:
        for barrier in barriers:
            barrier.wait(60)
        return gc.get_threshold()

    def fail() -> None:
        raise KeyboardInterrupt

    try:
        gc.set_threshold(901, 11, 12)
        first = threading.Thread(target=without_collector, args=(make, (begun, may_end)))
        first.start()
        begun.wait(60)
        second = threading.Thread(target=without_collector, args=(make, (may_end,)))
        second.start()
        first.join()
        second.join()
        assert gc.get_threshold() == (901, 11, 12)
        assert without_collector(without_collector, make, ())[0] == 0
        with pytest.raises(KeyboardInterrupt):
            without_collector(fail)
        assert gc.get_threshold() == (901, 11, 12)
        gc.set_threshold(0)
        without_collector(make, ())
        assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*chosen)


def test_a_kernel_that_comes_up_again_in_a_plan_is_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sizes are among the numbers of the plan once too."""
    planner_of(monkeypatch)
    prepared: list[Any] = []
    prepare = executor.HostExecutor.prepare
    monkeypatch.setattr(
        executor.HostExecutor, "prepare", lambda self, *args: prepared.append(args) or prepare(self, *args)
    )
    with np.Device("cpu") as device:
        rows = [np.asarray(RNG.random(300)) for _ in range(6)]
        results = [row[::-1].cumsum() * 2 for row in rows]
        np.synchronize()
        (plan,) = evaluate.state_of(device).planner._templates.values()[0]._variants.values()
    assert len(results) == 6
    template = plan[0].made
    assert len({part.start for _, _, part in template._work}) == len(prepared) < len(template._work)
