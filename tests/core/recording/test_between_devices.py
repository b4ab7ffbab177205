"""Arrays go from one GPU to another with no part of the host in it, in order with the work of both."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime import memory, spill
from gpunumpy.kernels.cuda import compile as compile_module

from ...support import fake_driver
from ...support.queued_driver import QueuedDriver

pytest.importorskip("cuda.bindings.nvrtc")

SIZE = 1 << 13
WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "to_device": lambda x, device: x.to_device(device),
    "asarray": lambda x, device: np.asarray(x, device=device),
    "array": lambda x, device: np.array(x, device=device),
    "array in another order": lambda x, device: np.array(x, order="F", device=device),
    "from_dlpack": lambda x, device: np.from_dlpack(x, device=device),
}


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[QueuedDriver]:
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile_module, "_compile", lambda text, *target: text.encode())
    driver = fake_driver.install(monkeypatch, count=2, kind=QueuedDriver)
    assert isinstance(driver, QueuedDriver)
    with np.Device("cuda:0"):
        yield driver
        memory.set_memory_limit(None)


@pytest.mark.parametrize("way", WAYS)
def test_ways(gpus: QueuedDriver, way: str) -> None:
    x = np.asarray(numpy.arange(float(SIZE)))
    before = (x + 1.0).computed() and gpus.bytes_to_device
    y = WAYS[way](x + 1.0, "cuda:1")
    assert (str(y.device), str(x.device)) == ("cuda:1", "cuda:0")
    assert gpus.bytes_between_devices == x.nbytes
    assert gpus.bytes_to_device == before
    numpy.testing.assert_array_equal(y.get(), numpy.arange(1.0, SIZE + 1))


@pytest.mark.parametrize("seed", range(20))
def test_order_of_work(gpus: QueuedDriver, seed: int) -> None:
    """Whichever stream is slow: work before a copy is before it, and later work of both behind it."""
    choice = gpus.choice = random.Random(seed)
    gpus.slow_stream = choice.choice([None, *(int(np.Device(f"cuda:{k}").stream) for k in range(2))])
    tested = [np.asarray(numpy.full(SIZE, float(k)), device="cuda:0") for k in range(3)]
    plain = [numpy.full(SIZE, float(k)) for k in range(3)]
    for _ in range(30):
        i, j = choice.randrange(3), choice.randrange(3)
        if choice.randrange(2):
            tested[i] += 1.0
            tested[i].computed()
            plain[i] += 1.0
        else:
            tested[i] = tested[j].to_device(f"cuda:{choice.randrange(2)}") + 2.0
            tested[i].computed()
            plain[i] = plain[j] + 2.0
    assert gpus.bytes_between_devices
    for found, wanted in zip(tested, plain, strict=True):
        numpy.testing.assert_array_equal(found.get(), wanted)


def test_what_the_host_has_goes_from_there(gpus: QueuedDriver) -> None:
    small = np.array([1.0, 2.0])
    assert small.to_device("cuda:1").tolist() == [1.0, 2.0]
    moved = np.asarray(numpy.arange(float(SIZE)))
    moved.computed()
    assert spill.spill(moved.device, moved.nbytes)
    assert moved._node.data.is_spilled
    y = moved.to_device("cuda:1")
    numpy.testing.assert_array_equal(y.get(), numpy.arange(float(SIZE)))
    labels = np.array(["a", "b"])
    assert labels.to_device("cuda:1").tolist() == ["a", "b"]
    assert np.zeros((0, 3), device="cuda:0").to_device("cuda:1").shape == (0, 3)
    assert gpus.bytes_between_devices == 0


class _Labelled(np.ndarray):  # type: ignore[misc]
    def __array_finalize__(self, x: Any) -> None:
        self.label = getattr(x, "label", "")


@pytest.mark.parametrize("target", ["cuda:1", "cpu"])
@pytest.mark.parametrize("size", [3, SIZE])
def test_subclasses(gpus: QueuedDriver, size: int, target: str) -> None:
    x: Any = np.asarray(numpy.arange(float(size))).view(_Labelled)
    x.label = "label"
    y: Any = x.to_device(target)
    assert (type(y), y.label, str(y.device)) == (_Labelled, "label", target)
    numpy.testing.assert_array_equal(y.get(), numpy.arange(float(size)))
    assert x.to_device("cuda:0") is x


def test_a_copy_that_is_not_wanted(gpus: QueuedDriver) -> None:
    x = np.asarray(numpy.arange(float(SIZE)))
    with pytest.raises(ValueError, match="Unable to avoid copy: the array is on cuda:0 and is wanted on cuda:1"):
        np.asarray(x, device="cuda:1", copy=False)
