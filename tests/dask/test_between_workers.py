"""Arrays on GPUs go between workers of a machine by handles. The GPU is a pretended one, and workers are threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np

pytest.importorskip("distributed", reason="Dask's distributed is not installed")

import distributed
from dask.sizeof import sizeof
from distributed.protocol import serialize

from gpunumpy.core.runtime import shared_blocks
from gpunumpy.dask import between_workers, device_frames
from gpunumpy.dask.completion import work_before

from ..support import fake_driver
from ..support.fake_driver import FakeDriver

SENT = numpy.random.default_rng(0).random((400, 400))


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    np.set_residence("device")
    return fake_driver.install(monkeypatch)


@pytest.fixture
def client(driver: FakeDriver) -> Iterator[distributed.Client]:
    setting = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "host": "127.0.0.1"}
    with (
        distributed.LocalCluster(
            **setting, processes=False, protocol="tcp://", preload=[device_frames.__name__]
        ) as cluster,
        cluster.get_client() as client,
    ):
        yield client


def made(seed: int, repeats: int = 1) -> Any:
    """Return an array on the GPU, which a worker holds."""
    return np.asarray(numpy.repeat(SENT + seed, repeats, axis=0))


def gathered(*parts: Any) -> list[numpy.ndarray]:
    return [part.get() for part in parts]


def by_worker(client: distributed.Client, number: int) -> dict[str, Any]:
    return {"workers": [list(client.scheduler_info()["workers"])[number]], "pure": False}


@pytest.mark.parametrize("repeats", [1, 10])  # a thread makes messages of more than 10 MB
def test_handles_are_sent(driver: FakeDriver, client: distributed.Client, repeats: int) -> None:
    parts = [client.submit(made, seed, repeats, **by_worker(client, 0)) for seed in range(3)]
    distributed.wait(parts)
    driver.calls.clear()
    found = client.submit(gathered, *parts, **by_worker(client, 1)).result()
    numpy.testing.assert_array_equal(found, [numpy.repeat(SENT + seed, repeats, axis=0) for seed in range(3)])
    assert 1 <= driver.calls.count("cuIpcOpenMemHandle") <= 3
    assert driver.calls.count("cuMemcpyDtoDAsync") == 6
    lent, freed = driver.calls.count("cuMemAlloc"), driver.calls.count("cuMemFree")
    assert sum(len(blocks) for blocks in shared_blocks._free.values()) == lent - freed == driver.opened  # all are back


def test_a_task_ends_when_the_one_before_has(driver: FakeDriver) -> None:
    """So the scheduler knows how long tasks take, and what is sent waits for no later task."""
    first, second = made(1), made(2)
    assert work_before(first) is None
    driver.calls.clear()
    for _ in range(3):
        assert sizeof(first) == first.nbytes
    assert "cuEventSynchronize" not in driver.calls
    mark = work_before(first)
    assert mark is not None
    assert len(mark) == 1
    assert work_before(first[3:]) == mark
    assert sizeof(second) == second.nbytes
    assert driver.calls.count("cuEventSynchronize") == 1
    assert work_before(first) == ()
    assert work_before(second) not in (None, (), mark)
    assert work_before(first + 1) is None


def test_a_client_is_sent_bytes(driver: FakeDriver, client: distributed.Client) -> None:
    held = client.submit(made, 1, **by_worker(client, 0))
    distributed.wait(held)
    driver.calls.clear()
    numpy.testing.assert_array_equal(held.result().get(), SENT + 1)
    assert "cuIpcOpenMemHandle" not in driver.calls
    with pytest.raises(NotImplementedError):
        between_workers.handle_of(made(1))


def small(seed: int) -> Any:
    return np.asarray(SENT[:10] + seed)


def test_small_arrays_are_sent_by_their_bytes(driver: FakeDriver, client: distributed.Client) -> None:
    part = client.submit(small, 1, **by_worker(client, 0))
    distributed.wait(part)
    driver.calls.clear()
    found = client.submit(gathered, part, **by_worker(client, 1)).result()
    numpy.testing.assert_array_equal(found, [SENT[:10] + 1])
    assert "cuIpcOpenMemHandle" not in driver.calls


@pytest.mark.parametrize("refused", ["cuIpcGetMemHandle", "cuMemAlloc"])
def test_memory_that_cannot_be_lent(driver: FakeDriver, client: distributed.Client, refused: str) -> None:
    part = client.submit(made, 1, **by_worker(client, 0))
    distributed.wait(part)
    driver.refuse = lambda name: "CUDA_ERROR_NOT_SUPPORTED" if name == refused else None
    found = client.submit(gathered, part, **by_worker(client, 1)).result()
    numpy.testing.assert_array_equal(found, [SENT + 1])
    assert "cuIpcOpenMemHandle" not in driver.calls


def test_memory_that_cannot_be_opened(driver: FakeDriver, client: distributed.Client) -> None:
    """Then results are fetched again, by their bytes, and so are all later ones."""
    parts = [client.submit(made, seed, **by_worker(client, 0)) for seed in range(2)]
    distributed.wait(parts)
    driver.refuse = lambda name: "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED" if name == "cuIpcOpenMemHandle" else None
    with pytest.warns(RuntimeWarning, match="by way of the host: .*PEER_ACCESS_UNSUPPORTED"):
        first = client.submit(gathered, parts[0], **by_worker(client, 1)).result()
    second = client.submit(gathered, parts[1], **by_worker(client, 1)).result()
    numpy.testing.assert_array_equal(first + second, [SENT, SENT + 1])
    assert driver.calls.count("cuIpcOpenMemHandle") == 1


def test_machines_and_serializers(monkeypatch: pytest.MonkeyPatch) -> None:
    name = between_workers.serializer_of_machine()
    assert name == between_workers.serializer_of_machine()

    def other(path: str) -> str:
        return f"another {path}"

    monkeypatch.setattr(os, "readlink", other)
    assert between_workers.serializer_of_machine() not in (None, name)

    def none(path: str) -> str:
        raise FileNotFoundError(path)

    monkeypatch.setattr(os, "readlink", none)
    assert between_workers.serializer_of_machine() is None


def test_workers_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """They send bytes, whatever a worker asks for."""
    x = np.asarray(SENT, device="cpu")
    header, _ = serialize(x, serializers=("dask", "pickle"))
    assert header["serializer"] == "pickle"
    with pytest.raises(NotImplementedError, match="is sent by its bytes"):
        between_workers.handle_of(x)
