"""Children of a process that used CUDA: new arrays are on the CPU, and what is on a GPU cannot be read."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.errors import DeviceError
from gpunumpy.core.runtime import device as module
from gpunumpy.core.runtime import evaluate, memory
from gpunumpy.core.runtime.device import CPU

from ...support import fake_driver
from ...support.forks import in_child, needs_fork

pytestmark = needs_fork

VALUES = numpy.arange(12.0)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> fake_driver.FakeDriver:
    return fake_driver.install(monkeypatch)


def in_child_with_warnings(function: Callable[[], Any]) -> tuple[Any, list[tuple[str, type, str]]]:
    """Return what a function returns in a child, and the texts, classes and files of its warnings."""

    def child() -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = function()
        return result, [(str(w.message), w.category, w.filename) for w in caught]

    return in_child(child)


def error_of(function: Callable[[], Any]) -> str:
    with pytest.raises(DeviceError) as caught:
        function()
    return str(caught.value)


def test_new_arrays_are_on_the_cpu(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(VALUES)
    assert str(x.device) == "cuda:0"
    calls = len(gpu.calls)

    def child() -> Any:
        y = np.zeros(3) + 1
        z = np.asarray(VALUES) * 2
        return y.device is CPU, y.get(), z.get(), np.devices() == (CPU,), len(gpu.calls)

    (on_cpu, y, z, alone, calls_in_child), caught = in_child_with_warnings(child)
    assert on_cpu
    assert alone
    numpy.testing.assert_array_equal(y, numpy.ones(3))
    numpy.testing.assert_array_equal(z, VALUES * 2)
    assert calls_in_child == calls
    ((text, category, file),) = caught
    assert "'spawn'" in text
    assert (category, file) == (RuntimeWarning, __file__)
    numpy.testing.assert_array_equal(x.get(), VALUES)  # the parent goes on
    assert str(np.zeros(3).device) == "cuda:0"


def test_arrays_that_the_parent_has_on_a_gpu(gpu: fake_driver.FakeDriver) -> None:
    x, known = np.asarray(VALUES) * 1, np.asarray(VALUES)
    np.synchronize()
    pending = known + 1
    looks: list[Callable[[], Any]] = [
        x.get,
        pending.get,
        lambda: float(x[0]),
        lambda: str(x),
        lambda: numpy.asarray(x),
        lambda: x.tolist(),
        lambda: (x * 2).get(),
        lambda: x.to_device("cpu").get(),
        lambda: pickle.dumps(x),
        lambda: np.synchronize("cuda"),
        lambda: np.asarray(VALUES, device="cuda"),
        lambda: memory.memory_info(x.device),
        lambda: x.device.activate(),
    ]
    for text in in_child(lambda: [error_of(look) for look in looks]):
        assert "forked" in text
        assert "'spawn'" in text
    numpy.testing.assert_array_equal(in_child(known.get), VALUES)  # the host has it


def test_the_end_of_arrays_on_a_gpu(gpu: fake_driver.FakeDriver) -> None:
    """Nothing is given back to the driver, and nothing raises or warns."""
    arrays: list[Any] = [np.asarray(VALUES), np.asarray(VALUES) + 1]
    arrays.append(memory.pinned(100, arrays[0].device))
    memory.index_error_word(arrays[0].device)
    calls = len(gpu.calls)
    unraisable: list[Any] = []

    def child() -> Any:
        sys.unraisablehook = unraisable.append
        arrays.clear()
        memory._index_error_words.clear()
        gc.collect()
        evaluate.compute_all()
        return len(unraisable), len(gpu.calls)

    assert in_child_with_warnings(child) == ((0, calls), [])


@pytest.mark.parametrize("name", ["cuda:0", "gpu", None])
def test_a_device_that_was_chosen(
    gpu: fake_driver.FakeDriver, name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name is not None:
        monkeypatch.setenv("GPUNUMPY_DEVICE", name)
    np.default_device("cuda:0")

    def child() -> bool:
        return np.default_device() is np.default_device() is np.zeros(3).device is CPU

    assert np.zeros(3).device is np.Device("cuda")
    for _ in range(2):
        correct, caught = in_child_with_warnings(child)
        assert correct
        assert len(caught) == 1
    with np.Device("cuda:0"):
        correct, caught = in_child_with_warnings(child)
        assert correct
        assert len(caught) == 1
    with np.Device("cpu"):
        assert in_child_with_warnings(child) == (True, [])
    np.default_device("cpu")
    assert in_child_with_warnings(child) == (True, [])


def test_a_child_of_a_child(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(VALUES) * 1
    np.synchronize()
    assert "'spawn'" in in_child(lambda: in_child(lambda: error_of(x.get)))


def test_a_process_that_has_not_used_cuda(gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child may be the first to use it."""
    found = module._found_driver
    monkeypatch.setattr(module, "_found_driver", None)
    monkeypatch.setattr(module, "_load_driver", lambda: found)
    assert in_child_with_warnings(lambda: (str(np.zeros(3).device), np.asarray(VALUES).get().tolist())) == (
        ("cuda:0", VALUES.tolist()),
        [],
    )


def test_another_library_that_used_cuda_before_the_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = fake_driver.install(monkeypatch)
    monkeypatch.setattr(module, "_found_driver", None)
    monkeypatch.setattr(module, "_LIBRARY", None)  # stands for one that is there: the program itself
    monkeypatch.setattr(driver, "_cuInit", lambda flags: (driver.CUresult.CUDA_ERROR_NOT_INITIALIZED,), raising=False)
    monkeypatch.setattr("cuda.bindings.driver.cuInit", lambda flags: (driver.CUresult.CUDA_ERROR_NOT_INITIALIZED,))
    with pytest.warns(RuntimeWarning, match="'spawn'"):
        assert np.zeros(3).device is CPU
    assert "forked" in error_of(lambda: np.Device("cuda"))


PROGRAM = """
import os, sys, warnings
import gpunumpy as np
x = np.arange(10.0)
y = x + 1
float(y.sum())
pid = os.fork()
if not pid:
    code = 1
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            z = np.arange(10.0) * 2
        assert z.device is np.Device("cpu") and float(z.sum()) == 90
        assert "spawn" in str(caught[0].message) and len(caught) == 1
        for look in (x.get, y.get, (x + 1).get, lambda: np.synchronize("cuda")):
            try:
                look()
            except np.DeviceError as error:
                assert "spawn" in str(error), error
            else:
                raise AssertionError("read")
        del x, y
        code = 0
    finally:
        sys.stdout.flush()
        os._exit(code)
assert os.waitpid(pid, 0)[1] == 0
assert float((y + 1).sum()) == 65
print("done")
"""


@pytest.mark.gpu
def test_a_real_gpu() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, timeout=300)
    assert done.stdout == "done\n", done.stderr
