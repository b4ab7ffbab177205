"""The list of passes: the output of each is verified, and the error names the pass that has a defect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.graph.primitives import Map
from gpunumpy.core.graph.signature import intern_signature
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.device import CPU
from gpunumpy.core.schedule import passes
from gpunumpy.core.schedule.callbacks import FusedCall
from gpunumpy.core.schedule.lower import Item, items_of
from gpunumpy.core.schedule.passes import Scheduled, run_passes
from gpunumpy.core.schedule.steps import RunKernel, RunLibraryCall
from gpunumpy.core.schedule.traits import Traits
from gpunumpy.core.schedule.verify import InvalidPlan
from tests.support.arrays import ndarray


class Target:
    """An executor that takes what it can."""

    traits = Traits(takes_epilogues=True)

    def fuse_predicate(self, call: str) -> Callable[[FusedCall], bool] | None:
        return (lambda options: True) if call in ("fft", "turned") else None


def scheduled(*arrays: ndarray) -> Scheduled:
    nodes, _ = evaluate.walk([x._node for x in arrays])
    return run_passes(items_of(nodes), range(len(arrays)), Target(), check=True)


@pytest.fixture(autouse=True)
def on_the_cpu() -> Any:
    with gpunumpy.Device("cpu"):
        evaluate.flush(evaluate.queue_of(CPU))
        yield


def array(*shape: int) -> ndarray:
    return gpunumpy.asarray(numpy.ones(shape))


def test_the_order() -> None:
    assert [run.__name__ for run in passes.GRAPH_PASSES] == [
        *("add_outputs", "merge_windows", "reduce_vector_products", "fold_epilogues", "batch_calls", "push_views"),
    ]
    assert [run.__name__ for run in passes.PLAN_PASSES] == ["fuse_into_library_calls"]


def test_positions_stay() -> None:
    """Batches and moved views come after the items of the graph."""
    x = array(5, 6)
    results = [gpunumpy.fft.fft(x + k).reshape(6, 5) * 2 for k in range(6)]
    steps, items = scheduled(*results)
    for k, result in enumerate(results):
        assert (items[k].signature.shape, items[k].signature.dtype) == (result.shape, result.dtype)
    assert [step.name for step in steps if isinstance(step, RunLibraryCall)] == ["fft"]


def test_memory_without_values_is_no_call_to_fuse_into() -> None:
    """The call "empty" has no argument that a kernel could be taken into."""
    steps, _ = scheduled(gpunumpy.empty((3, 4)) * 2)
    assert [type(step) for step in steps if isinstance(step, (RunKernel, RunLibraryCall))] == [
        *(RunLibraryCall, RunKernel),
    ]


def wider(items: Sequence[Item], roots: Sequence[int], traits: Traits) -> list[Item]:
    """A pass that changes the dtype of a root."""
    f = items[roots[0]].signature
    made = intern_signature(Map("cast", (f.dtype, numpy.dtype("D"))), (f,), f.shape, numpy.dtype("D"), f.queue)
    return [items[0]._replace(signature=made, args=(len(items),)), *items[1:], items[0]]


def shorter(items: Sequence[Item], roots: Sequence[int], traits: Traits) -> list[Item]:
    """A pass that loses an item."""
    return list(items[:-1])


def crossed(items: Sequence[Item], roots: Sequence[int], traits: Traits) -> list[Item]:
    """A pass that gives an operation an argument of another shape."""
    other = Item(array(7).value().signature, (), 9)
    return [items[0]._replace(args=(len(items), *items[0].args[1:])), *items[1:], other]


DEFECTS = {wider: "wider: the root at 0", shorter: "shorter: items are missing", crossed: "crossed: .* gets "}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_graph_pass_with_a_defect(defect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "GRAPH_PASSES", (*passes.GRAPH_PASSES, defect))
    with pytest.raises(InvalidPlan, match=DEFECTS[defect]):
        scheduled(array(3) + array(3))


def test_a_plan_pass_with_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(steps: Any, items: Any, roots: Any, fuse_predicate_of: Any) -> Any:
        return steps[:-1]

    monkeypatch.setattr(passes, "PLAN_PASSES", (lose,))
    with pytest.raises(InvalidPlan, match="is not computed"):
        scheduled(array(3) + array(3))


def test_results_of_a_call_are_those_of_its_record() -> None:
    x = gpunumpy.sort(array(3, 4))
    nodes, _ = evaluate.walk([x._node])
    item = items_of(nodes)[0]
    f = item.signature
    wrong = intern_signature(f.primitive, f.args, (3, 5), f.dtype, f.queue)
    with pytest.raises(InvalidPlan, match="has results of"):
        passes.verify_rewrite("test", [item], [item, item._replace(signature=wrong, args=())], [0])  # type: ignore[attr-defined]
