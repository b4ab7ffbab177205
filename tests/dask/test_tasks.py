"""What a task returns is computed as the task ends, once, in one flush; graphs of tasks do not grow pending graphs."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np

pytest.importorskip("distributed", reason="Dask's distributed is not installed")

import dask
import dask.array as da
from dask.sizeof import sizeof
from distributed import wait
from distributed.protocol import deserialize, serialize

from gpunumpy.core.runtime import evaluate
from gpunumpy.dask import LocalCluster, spread, to_device
from gpunumpy.dask import cluster as cluster_module

pytestmark = pytest.mark.on_device

CLUSTER = {"dashboard_address": None, "n_workers": 2, "threads_per_worker": 1}


@pytest.fixture(autouse=True)
def backend() -> Iterator[None]:
    with dask.config.set({"array.backend": "gpunumpy", "scheduler": "synchronous"}):
        yield


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of roots of every run of a plan."""
    counted: list[int] = []
    compute_roots = evaluate._compute_roots

    def count(queue: Any, roots: Any, *arguments: Any, **options: Any) -> None:
        counted.append(len(roots))
        compute_roots(queue, roots, *arguments, **options)

    monkeypatch.setattr(evaluate, "_compute_roots", count)
    return counted


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


def test_results_are_computed_once(runs: list[int]) -> None:
    x = np.arange(1000.0) + 1
    assert sizeof(x) == 8000
    assert runs == [1]
    for look in (sizeof, pickle.dumps, serialize):
        look(x)
    assert runs == [1]


def test_a_pending_array_is_sent_computed(runs: list[int]) -> None:
    x = np.arange(1000.0) + 1
    header, frames = serialize(x)
    assert runs == [1]
    assert max(memoryview(frame).nbytes for frame in frames) == x.nbytes  # the elements are a frame of their own
    assert numpy.array_equal(deserialize(header, frames).get(), numpy.arange(1000.0) + 1)
    serialize(x)
    assert runs == [1]


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_graph_of_many_tasks(scheduler: str) -> None:
    x = da.arange(10_000, chunks=10)
    for _ in range(4):
        x = x + 1
        x = x.map_blocks(lambda block: block * 1, dtype=x.dtype, name=None)
    with dask.config.set({"scheduler": scheduler, "optimization.fuse.active": False}):
        assert int(x.sum().compute()) == sum(range(10_000)) + 40_000


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


def test_spread_of_no_dimensions() -> None:
    assert float(spread(da.ones((), chunks=())).compute()) == 1


def _stop_this_worker_once(block: Any, marker: str) -> Any:
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return block + 1
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def test_workers(tmp_path: Any) -> None:
    with LocalCluster(**CLUSTER) as cluster, cluster.get_client() as client:
        x = da.random.default_rng(1).random((100, 100), chunks=50)
        total = (x + x.T).sum(axis=0).compute(scheduler=client)
        expected = x.compute(scheduler="synchronous")
        assert isinstance(total, np.ndarray)
        numpy.testing.assert_allclose(total.get(), (expected + expected.T).sum(axis=0).get())

        # what workers hold is computed, and known by its bytes
        held = client.persist(x * 2)
        wait(held)
        assert sum(client.nbytes().values()) >= 80_000
        assert not any(client.run(_pending_of_worker).values())
        assert da.percentile(held.reshape(-1), [0, 100], method="nearest").compute(scheduler=client).shape == (2,)

        sent = client.scatter(np.arange(1000.0) + 1)
        assert isinstance(sent.result(), np.ndarray)
        assert client.submit(float, client.submit(np.sum, sent)).result() == 500500


def _pending_of_worker(dask_worker: Any) -> int:
    return sum(block._node.data is None for block in dask_worker.data.values() if isinstance(block, np.ndarray))


def test_a_worker_is_killed(tmp_path: Any) -> None:
    with LocalCluster(**CLUSTER) as cluster, cluster.get_client() as client:
        x = da.arange(1000, chunks=100)
        y = x.map_blocks(_stop_this_worker_once, str(tmp_path / "marker"), dtype=x.dtype, meta=x._meta)
        assert int(y.sum().compute(scheduler=client)) == sum(range(1000)) + 1000


def test_spilled_results(tmp_path: Any) -> None:
    """Three times what the workers may hold: `distributed` writes results to files, and reads them again."""
    limits = {"distributed.worker.memory.target": 0.05, "distributed.worker.memory.spill": False}
    limits |= {"distributed.worker.memory.pause": False, "distributed.worker.memory.terminate": False}
    with (
        dask.config.set(limits),
        LocalCluster(**CLUSTER, memory_limit="100MB", local_directory=str(tmp_path)) as cluster,
        cluster.get_client() as client,
    ):
        x = client.persist(da.ones((4000, 1000), chunks=(200, 1000)) * da.arange(1000, chunks=1000))
        total = (x + 1).sum().compute(scheduler=client)
        assert float(total) == 4000 * (sum(range(1000)) + 1000)
        assert sum(client.run(_spilled).values()) > 0


def _spilled(dask_worker: Any) -> int:
    return len(dask_worker.data.slow)


@pytest.mark.gpu
def test_frames_on_a_gpu() -> None:
    x = np.arange(1 << 20) + 1
    header, frames = serialize(x, serializers=("cuda", "pickle"))
    assert header["serializer"] == "cuda"
    assert numpy.array_equal(deserialize(header, frames).get(), x.get())


def test_frames_on_the_host_are_pickles() -> None:
    x = (np.arange(1000) + 1).to_device("cpu")
    header, frames = serialize(x, serializers=("cuda", "pickle"))
    assert header["serializer"] == "pickle"
    assert numpy.array_equal(deserialize(header, frames).get(), x.get())


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


def test_a_worker_for_each_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "_gpus", lambda: ["0", "3"])
    with LocalCluster(dashboard_address=None) as cluster, cluster.get_client() as client:
        assert sorted(client.run(os.getenv, "CUDA_VISIBLE_DEVICES").values()) == ["0", "3"]
        assert set(client.nthreads().values()) == {1}
        cluster.scale(3)
        client.wait_for_workers(3)
        assert sorted(client.run(os.getenv, "CUDA_VISIBLE_DEVICES").values()) == ["0", "0", "3"]
