"""Graphs of loops whose sizes change are computed in parts, which share plans."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.graph.bounded_table import forget_all
from gpunumpy.core.runtime import evaluate, planner
from gpunumpy.core.runtime.device import Device
from gpunumpy.core.runtime.explain import explanation
from gpunumpy.core.runtime.loop_cut import NODES_LIMIT, LoopCut
from gpunumpy.core.runtime.planner import PATIENCE, Planner
from gpunumpy.core.schedule.lift import items_in
from gpunumpy.core.schedule.lower import items_of
from gpunumpy.core.schedule.parts import parts
from gpunumpy.core.schedule.steps import RunKernel, RunLibraryCall
from tests.support.host_executor import with_new_plans


def lu(m: Any, a: Any) -> None:
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= m.outer(a[k + 1 :, k], a[k, k + 1 :])


def qr(m: Any, a: Any) -> None:
    for k in range(len(a) - 1):
        v = a[k:, k].copy()
        v[0] += m.copysign(m.sqrt((v * v).sum()), v[0])
        v /= m.sqrt((v * v).sum())
        a[k:, k:] -= 2 * m.outer(v, v @ a[k:, k:])


def cholesky(m: Any, a: Any) -> None:
    for k in range(len(a)):
        a[k, k] = m.sqrt(a[k, k])
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= m.outer(a[k + 1 :, k], a[k + 1 :, k])


def substitution(m: Any, a: Any) -> None:
    for k in range(1, len(a)):
        a[k, 1:k] = a[k - 1, : k - 1] * 0.5 + a[k, 1:k]


# A loop, and how many structures and plans it may make at most, however long it is.
LOOPS: dict[str, tuple[Callable[[Any, Any], None], int, int]] = {
    "LU": (lu, 3, 14),
    "QR": (qr, 7, 14),
    "Cholesky": (cholesky, 7, 26),
    "substitution": (substitution, 2, 6),
}


@pytest.fixture
def new_planner(monkeypatch: pytest.MonkeyPatch) -> Iterator[Planner]:
    gc.collect()  # what other tests have left pending would be a part of the first graph, which is cut elsewhere then
    np.synchronize("cpu")
    forget_all()  # where other tests have nearly filled the tables, they would be emptied in the middle of a loop
    with_new_plans(monkeypatch)
    state = evaluate.state_of(Device("cpu"))
    monkeypatch.setattr(state, "cut", LoopCut())
    before = np.set_residence("device")
    yield state.planner
    np.set_residence(before)


def matrix(n: int) -> Any:
    data = numpy.random.default_rng(n).random((n, n))
    return data @ data.T / n + numpy.eye(n) * 2


def check(loop: Callable[[Any, Any], None], n: int) -> None:
    expected = matrix(n)
    loop(numpy, expected)
    found = np.asarray(matrix(n))
    loop(np, found)
    numpy.testing.assert_allclose(np.asnumpy(found), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", LOOPS)
def test_rounds_of_loops_share_plans(name: str, new_planner: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that looks at no value has few plans, all of them small, and a longer loop has hardly any more."""
    loop, structures, plans = LOOPS[name]
    planned: list[int] = []
    made_items: list[int] = []
    plan = Planner.plan

    def noted(self: Planner, key: Any, nodes: Any, *rest: Any) -> Any:
        planned.append(len(nodes))
        return plan(self, key, nodes, *rest)

    monkeypatch.setattr(Planner, "plan", noted)
    for make in (items_in, items_of):

        def noted_items(*graph: Any, make: Any = make) -> Any:
            made_items.append(len(graph[-1]))
            return make(*graph)

        monkeypatch.setattr(planner, make.__name__, noted_items)
    with np.Device("cpu"):
        for n in (60, 90, 120):
            check(loop, n)
        before = new_planner.counts()
        check(loop, 150)
    assert planned
    assert max(planned) < NODES_LIMIT // 2, "only the last graph, of few sizes, has a plan as a whole"
    assert max(made_items) < NODES_LIMIT // 2, "no graph is looked at as the scheduler does before it has parts"
    assert before[0] <= structures
    assert before[1] <= plans
    assert new_planner.counts()[0] <= before[0] + 1
    assert new_planner.counts()[1] <= before[1] + 2


def test_a_graph_that_comes_up_again_has_a_plan_of_its_own(new_planner: Planner) -> None:
    with np.Device("cpu"):
        a = np.asarray(matrix(30))
        expected = matrix(30)
        for turn in range(PATIENCE + 2):
            known = new_planner.counts()[0]
            lu(np, a)
            lu(numpy, expected)
            numpy.testing.assert_allclose(np.asnumpy(a), expected)
            assert (new_planner.counts()[0] == known + 1) == (turn == PATIENCE) or turn == 0


def test_parts_are_explained(new_planner: Planner) -> None:
    """To ask for them makes no plan, and does not count."""
    with np.Device("cpu"):
        a = np.asarray(matrix(30))
        for turn in range(PATIENCE + 1):
            np.synchronize("cpu")
            lu(np, a)
            for _ in range(2):
                text = explanation()
                assert bool(re.match(r"in \d+ parts, each with kernels of its own", text)) == (turn < PATIENCE)
                assert "kernels on cpu: " in text


def test_graphs_of_one_structure_have_the_same_parts(new_planner: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their nodes come in the same order, so their parts have the same plans, however many rounds a loop has."""
    found: list[str] = []

    def noted(*args: Any) -> Any:
        result = parts(*args)
        found.append(str(result))
        return result

    monkeypatch.setattr(planner, "parts", noted)
    with np.Device("cpu"):
        a = np.asarray(matrix(400))
        for k in range(1, 399):
            a[k:, k:] -= np.outer(a[k:, k - 1], a[k - 1, k:]) * 1e-6
        np.synchronize("cpu")
    assert len(found) > 5
    assert len(set(found)) <= 3, "the graph of the search, those of whole rounds, and the rest"


def test_memory_of_a_part_is_free_for_later_ones(new_planner: Planner, monkeypatch: pytest.MonkeyPatch) -> None:
    """An update of half of a matrix and more writes a new one: of these there are few at a time."""
    used: list[int] = []
    compute_part = evaluate.compute_part

    def noted(*args: Any) -> None:
        compute_part(*args)
        used.append(np.memory_info("cpu").used)

    monkeypatch.setattr(evaluate, "compute_part", noted)
    with np.Device("cpu"):
        a = np.asarray(matrix(200))
        np.synchronize("cpu")
        before = np.memory_info("cpu").used
        for k in range(1, 60):
            a[k:, k:] -= np.outer(a[k:, k - 1], a[k - 1, k:]) * 1e-6
        np.synchronize("cpu")
    assert len(used) > 20
    assert max(used) - before < 4 * a.nbytes


@pytest.fixture
def always_in_parts(new_planner: Planner, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many parts each graph had, where every graph is computed in parts."""
    monkeypatch.setattr(planner, "MIN_NODES", 2)
    monkeypatch.setattr(planner, "MIN_SIZES", 0)
    monkeypatch.setattr(planner, "PATIENCE", 1 << 30)
    counts: list[int] = []

    def counted(*args: Any) -> Any:
        found = parts(*args)
        counts.append(len(found))
        return found

    monkeypatch.setattr(planner, "parts", counted)
    return counts


def program(m: Any, seed: int) -> list[Any]:
    """Updates of arrays and of their copies, whose old values are read and kept."""
    rng = numpy.random.default_rng(seed)
    arrays = [m.asarray(rng.random((9, 8))) for _ in range(3)]
    kept = []
    for _ in range(14):
        x, y = (arrays[k] for k in rng.integers(0, len(arrays), 2))
        i, j = (int(k) for k in rng.integers(0, 6, 2))
        match rng.integers(0, 8):
            case 0:
                x[i : i + 3, j:] += y[i : i + 3, j:] * 0.5
            case 1:
                x[i] = y[:, j].sum() + x[j]
            case 2:
                x[::2, j] *= y[::2, j]
            case 3:
                arrays.append(x.copy())
            case 4:
                kept.append(x[i:] * 2)
            case 5:
                x[1:] -= x[:-1] * y[1:]
            case 6:
                kept.append(y[:8] @ x[i : i + 2].T)
            case 7:
                x[rng.integers(0, 9, 3)] = y[i]
    return [*arrays, *kept]


@pytest.mark.parametrize("seed", range(60))
def test_parts_compute_what_the_whole_does(seed: int, always_in_parts: list[int]) -> None:
    expected = program(numpy, seed)
    with np.Device("cpu"):
        found = program(np, seed)
        for one, other in zip(found, expected, strict=True):
            numpy.testing.assert_allclose(np.asnumpy(one), other)


def test_programs_have_parts(always_in_parts: list[int]) -> None:
    with np.Device("cpu"):
        for seed in range(20):
            for x in program(np, seed):
                np.asnumpy(x)
    assert sum(count > 1 for count in always_in_parts) > 10


@pytest.mark.parametrize("failing", range(1, 9))
def test_a_part_that_fails_leaves_all_arrays_whole(
    failing: int, always_in_parts: list[int], new_planner: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is computed stays, what is not is computed when the values are looked at again."""
    runs = 0
    plan = Planner.plan

    def failing_plan(self: Planner, *args: Any) -> Any:
        nonlocal runs
        runs += 1
        if runs == failing:
            raise KeyboardInterrupt
        return plan(self, *args)

    expected = matrix(6)
    lu(numpy, expected)
    with np.Device("cpu"):
        a = np.asarray(matrix(6))
        lu(np, a)
        monkeypatch.setattr(Planner, "plan", failing_plan)
        with pytest.raises(KeyboardInterrupt):
            np.asnumpy(a)
        numpy.testing.assert_allclose(np.asnumpy(a), expected)


def test_a_flush_between_parts_is_computed_beside(always_in_parts: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of a signal handler, which looks at the value that is being computed."""
    seen: list[Any] = []
    compute_part = evaluate.compute_part
    expected = matrix(8)
    lu(numpy, expected)
    with np.Device("cpu"):
        a = np.asarray(matrix(8))
        lu(np, a)

        def looked(*args: Any) -> None:
            compute_part(*args)
            if len(seen) < 3:
                seen.append(None)
                seen[-1] = np.asnumpy(a).copy()

        monkeypatch.setattr(evaluate, "compute_part", looked)
        numpy.testing.assert_allclose(np.asnumpy(a), expected)
        assert len(seen) == 3
        for value in (*seen, np.asnumpy(a)):
            numpy.testing.assert_allclose(value, expected)


def test_a_view_whose_base_is_computed_is_no_copy_for_a_library_call(
    new_planner: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds: list[type] = []
    plan = Planner.plan

    def noted(self: Planner, *args: Any) -> Any:
        made = plan(self, *args)
        kinds.extend(type(step) for step in made.scheduled.steps if isinstance(step, (RunKernel, RunLibraryCall)))
        return made

    data = numpy.random.default_rng(0).random((90, 80))
    with np.Device("cpu"):
        a, b = np.asarray(data), np.asarray(data[:70, :70])
        a[0] = 1.0
        product = a[3:, 5:75] @ b  # of a view of the update
        evaluate.compute_only(evaluate.queue_of(Device("cpu")), [a.value()])
        monkeypatch.setattr(Planner, "plan", noted)
        product = np.asnumpy(product)
    numpy.testing.assert_allclose(product, data[3:, 5:75] @ data[:70, :70])
    assert kinds == [RunLibraryCall]
