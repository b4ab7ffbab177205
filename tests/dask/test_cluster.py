"""Workers that are processes: what they hold is computed, sent once, and right after one is killed."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
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
from distributed.spill import SpillBuffer

import gpunumpy.distributed as dist
from gpunumpy.core.runtime import shared_blocks
from gpunumpy.dask import LocalCluster, device_frames
from gpunumpy.dask import cluster as cluster_module

from ..support import fake_driver

pytestmark = pytest.mark.on_device

CLUSTER = {"dashboard_address": ":0", "n_workers": 2, "threads_per_worker": 1}


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


def test_rechunk_between_workers() -> None:
    """From rows to columns in so many pieces that `distributed` has a method of its own, for NumPy's chunks alone."""
    with LocalCluster(**CLUSTER) as cluster, cluster.get_client() as client:
        x = da.arange(1024, chunks=64).reshape(32, 32).rechunk((2, 32)).rechunk((32, 2))
        assert numpy.array_equal(x.compute(scheduler=client).get(), numpy.arange(1024).reshape(32, 32))


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
        has_gpu = np.default_device().kind == "cuda"  # the chunks then take nothing of what workers have on the host
        assert (sum(client.run(_spilled).values()) == 0) == has_gpu
        assert set(client.run(_weight).values()) == {"bytes_on_the_host"}


def _spilled(dask_worker: Any) -> int:
    return len(dask_worker.data.slow)


def _weight(dask_worker: Any) -> str:
    return dask_worker.data.fast.weight.__name__


def test_results_on_a_gpu_are_no_memory_of_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_driver.install(monkeypatch)
    results = SpillBuffer(str(tmp_path), target=4000)
    device_frames.dask_setup(SimpleNamespace(data=results, address="inproc://a-worker"))
    results["on the GPU"] = np.empty(1 << 20, device="cuda:0")
    results["on the host"] = numpy.ones(1000)
    assert set(results.fast) == {"on the GPU"}
    assert set(results.slow) == {"on the host"}


def test_a_worker_whose_results_lie_elsewhere_is_left_alone() -> None:
    results: dict[str, Any] = {}
    device_frames.dask_setup(SimpleNamespace(data=results, address="inproc://a-worker"))
    assert results == {}


def _blocks_that_were_lent() -> int:
    return sum(map(len, shared_blocks._free.values()))


def _scaled(x: Any, factor: int) -> Any:
    return x * factor


@pytest.mark.gpu
def test_arrays_go_directly_between_workers() -> None:
    """On one GPU, or on two."""
    with LocalCluster(**CLUSTER) as cluster, cluster.get_client() as client:
        first, second = client.scheduler_info()["workers"]
        wanted = numpy.arange(1 << 20) * 6
        x = client.submit(np.arange, 1 << 20, workers=[first])
        for _ in range(3):
            y = client.submit(_scaled, client.submit(_scaled, x, 2, workers=[second], pure=False), 3, workers=[first])
            assert numpy.array_equal(y.result().get(), wanted)
        assert client.run(_blocks_that_were_lent) == {first: 1, second: 1}


def _device_of_worker() -> str:
    from gpunumpy.core.runtime.device import check, driver

    device = np.default_device()
    device.activate()
    return bytes(check(driver().cuDeviceGetUuid(device.handle)).bytes).hex()


@pytest.mark.gpu
@pytest.mark.parametrize(("depth", "dies"), [(2, False), (64, False), (64, True)])
def test_rims_go_between_workers(depth: int, dies: bool, tmp_path: Path) -> None:
    """Few columns are put in order to be sent, behind other work, and many are not; a worker may die meanwhile."""
    marker = tmp_path / "marker"

    def step(u: Any) -> Any:
        for _ in range(20):  # so that the GPU is busy
            u = u + 0
        if dies:
            u = _stop_this_worker_once(u, str(marker)) - 1
        middle = slice(depth, -depth)
        beside = u[: -2 * depth, middle] + u[2 * depth :, middle] + u[middle, : -2 * depth] + u[middle, 2 * depth :]
        return beside - 4 * u[middle, middle]

    if dies:
        marker.touch()
    with LocalCluster(**CLUSTER) as cluster, cluster.get_client() as client:
        if len(np.devices()) > 2:
            assert len(set(client.run(_device_of_worker).values())) == 2
        x = da.random.default_rng(0).random((4096, 4096), chunks=2048).persist()
        field = x.compute().get()
        smooth = sum(numpy.roll(field, shift, axis) for shift in (-depth, depth) for axis in (0, 1)) - 4 * field
        for k in range(4):
            if dies and k == 2:
                marker.unlink()
            y = da.map_overlap(
                step,
                x,
                depth=depth,
                boundary="periodic",
                trim=False,
                chunks=x.chunks,
                dtype=x.dtype,
                meta=x._meta,
            )
            numpy.testing.assert_allclose(y.compute().get(), smooth, rtol=0, atol=1e-12)


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


def test_a_worker_for_each_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "_gpus", lambda: ["0", "3"])
    without_nvml = dask.config.set({"distributed.diagnostics.nvml": False})  # which looks for number 3 where GPUs are
    with without_nvml, LocalCluster(dashboard_address=":0") as cluster, cluster.get_client() as client:
        assert not any(client.run(dask.config.get, "distributed.diagnostics.nvml").values())
        assert sorted(client.run(os.getenv, "CUDA_VISIBLE_DEVICES").values()) == ["0", "3"]
        assert set(client.nthreads().values()) == {1}
        cluster.scale(3)
        client.wait_for_workers(3)
        assert sorted(client.run(os.getenv, "CUDA_VISIBLE_DEVICES").values()) == ["0", "0", "3"]


def test_a_script_sees_the_gpu_of_the_worker_as_it_is_imported(tmp_path: Path) -> None:
    """A worker imports it anew, and the driver finds the GPUs once: two workers would have the first one."""
    script = tmp_path / "script.py"
    script.write_text("""
import os

SEEN = os.environ.get("CUDA_VISIBLE_DEVICES")


def seen():
    import __mp_main__

    return __mp_main__.SEEN


if __name__ == "__main__":
    import dask
    from gpunumpy.dask import cluster

    cluster._gpus = lambda: ["0", "3"]
    dask.config.set({"distributed.diagnostics.nvml": False})
    with cluster.LocalCluster(dashboard_address=":0") as workers, workers.get_client() as client:
        print(sorted(client.run(seen).values()), os.environ["CUDA_VISIBLE_DEVICES"])
""")
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "0,3", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "['0', '3'] 0,3\n", done.stderr


def _sum_over_workers(rank: int, address: str) -> tuple[int, float]:
    dist.init(rank=rank, size=2, address=address, device="cpu")
    total = float(dist.all_reduce(np.arange(4.0) * rank).sum())
    dist.finalize()
    return rank, total


def test_workers_talk_to_each_other() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with LocalCluster(**CLUSTER) as cluster, cluster.get_client() as client:
        workers = [worker.worker_address for worker in cluster.workers.values()]
        jobs = [client.submit(_sum_over_workers, rank, address, workers=[name]) for rank, name in enumerate(workers)]
        assert client.gather(jobs) == [(0, 6.0), (1, 6.0)]
