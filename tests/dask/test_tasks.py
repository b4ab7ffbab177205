"""What a task returns is computed as the task ends, once, in one flush; graphs of tasks do not grow pending graphs."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy as np

pytest.importorskip("dask.array", reason="Dask is not installed")

import dask
import dask.array as da

from gpunumpy.core.runtime import evaluate
from gpunumpy.dask import backend, spread, to_device

from ..support import fake_driver

pytestmark = pytest.mark.on_device


def is_pending(x: Any) -> bool:
    return x._node.data is None


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_one_flush_a_task(runs: list[int], scheduler: str) -> None:
    x = da.from_array(np.arange(4000.0), chunks=1000).persist()
    runs.clear()
    with dask.config.set(scheduler=scheduler):
        y = da.sqrt(x * 2 + 1).persist()
    assert runs == [1] * 4
    assert not any(is_pending(block) for block in y.dask.values())
    numpy.testing.assert_allclose(y.compute().get(), numpy.sqrt(numpy.arange(4000.0) * 2 + 1))


def test_several_results_of_a_task_share_a_flush(runs: list[int]) -> None:
    x = np.arange(1000.0)
    first, second = dask.delayed(lambda: [x + 1, {"twice": x * 2}])().compute()
    assert runs == [2]
    assert not is_pending(first)
    assert not is_pending(second["twice"])


def test_what_others_record_stays_pending() -> None:
    x = np.arange(1000.0) + 1
    da.ones(10, chunks=5).sum().compute()
    assert is_pending(x)


@pytest.mark.parametrize(
    ("scheduler", "chunks"),
    [("synchronous", 1000), ("threads", 1000), pytest.param("threads", 10_000, marks=pytest.mark.full)],
)
def test_graph_of_many_tasks(scheduler: str, chunks: int) -> None:
    x = da.arange(10 * chunks, chunks=10)
    for _ in range(4):
        x = x + 1
        x = x.map_blocks(lambda block: block * 1, dtype=x.dtype, name=None)
    total = x.sum()
    assert len(total.__dask_graph__()) > 10 * chunks
    with dask.config.set({"scheduler": scheduler, "optimization.fuse.active": False}):
        assert int(total.compute()) == sum(range(10 * chunks)) + 40 * chunks


def test_tasks_leave_nothing_pending() -> None:
    queue = evaluate.queue_of(np.default_device())
    x = da.ones((500, 10), chunks=(1, 10)).cumsum(axis=0)
    before = evaluate.live_roots(queue)[0]
    found = x.persist()
    assert evaluate.live_roots(queue)[0] == before  # the array that tells the type of the chunks
    assert float(found[-1].compute()[0]) == 500


def test_processes() -> None:
    with dask.config.set(scheduler="processes", num_workers=2):
        x = da.random.default_rng(1).random((100, 100), chunks=50)
        total = (x + x.T).sum(axis=0).compute()
    assert isinstance(total, np.ndarray)
    expected = x.compute(scheduler="synchronous")
    numpy.testing.assert_allclose(total.get(), (expected + expected.T).sum(axis=0).get())


def test_chunks_on_named_devices() -> None:
    x = spread(da.ones((4, 4), chunks=2).to_backend("numpy"), ["cpu"])
    blocks = list(x.persist().dask.values())
    assert {str(block.device) for block in blocks} == {"cpu"}
    assert float(x.sum().compute()) == 16
    moved = da.ones(4, chunks=2).map_blocks(to_device, "cpu", meta=np.empty(0))
    assert str(moved.compute().device) == "cpu"


def _step(u: Any) -> Any:
    return u[1:-1, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2]


def test_a_chunk_stays_where_it_is_when_it_gets_its_neighbours_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_driver.install(monkeypatch, 2)
    monkeypatch.setattr(backend, "_META", np.zeros(()))  # the one there is may be on a real GPU
    x = spread(da.ones((400, 400), chunks=200))
    places = [block.device for block in x.persist().dask.values()]
    assert [str(place) for place in places] == ["cuda:0", "cuda:1", "cuda:0", "cuda:1"]
    heated = da.map_overlap(_step, x, depth=1, boundary="periodic", trim=False, chunks=x.chunks, meta=x._meta)
    assert [block.device for block in (heated - x).persist().dask.values()] == places


def test_a_chunk_that_moves_is_computed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another thread has recorded by then is a part of its task, and is fused with the rest of that."""
    fake_driver.install(monkeypatch, 2)
    with np.Device("cuda:0"):
        of_others, block = (np.asarray(numpy.ones(shape)) + 1 for shape in (1 << 14, (128, 256)))
        for chunk in (block, block[:, :64]):
            assert str(to_device(chunk, "cuda:1").device) == "cuda:1"
        assert is_pending(of_others)
        assert not is_pending(block)


def test_spread_of_no_dimensions() -> None:
    assert float(spread(da.ones((), chunks=())).compute()) == 1


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_three_times_the_memory_limit(scheduler: str) -> None:
    np.set_memory_limit(np.memory_info().used + 4_000_000)
    try:
        with dask.config.set(scheduler=scheduler):
            x = (da.arange(1_500_000, chunks=100_000, dtype="f8") * 1).persist()
            assert np.memory_info().spilled > 0
            assert float((x + 1).sum().compute()) == sum(range(1_500_000)) + 1_500_000
    finally:
        np.set_memory_limit(None)
