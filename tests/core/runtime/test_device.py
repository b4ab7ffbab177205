"""Naming devices, and which one is the default."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from types import ModuleType

import pytest

from gpunumpy.core import late_imports
from gpunumpy.core.errors import DeviceError
from gpunumpy.core.runtime import device as module
from gpunumpy.core.runtime.device import CPU, Device, check, default_device, devices, synchronize, why_no_gpu


@pytest.fixture
def undecided(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """As at the start of a process: nothing looked for, no default."""
    monkeypatch.setattr(module, "_found_driver", None)
    monkeypatch.setattr(module, "_default", None)
    monkeypatch.setattr(module, "_devices", {"cpu": CPU})
    monkeypatch.setattr(late_imports, "_complete", {})
    monkeypatch.setattr(module, "_LIBRARY", None)  # stands for one that is there: the program itself
    monkeypatch.delenv("GPUNUMPY_DEVICE", raising=False)
    return monkeypatch


def fake_driver(undecided: pytest.MonkeyPatch, version: int = 13000, count: int = 2, start: int = 0) -> None:
    """Put a driver in the place of the real one, as far as looking for it goes."""

    class Status(int):
        name = "CUDA_ERROR_OF_A_TEST"

    driver = ModuleType("cuda.bindings.driver")
    driver.cuInit = lambda flags: (Status(start),)  # type: ignore[attr-defined]
    driver.cuDriverGetVersion = lambda: (Status(0), version)  # type: ignore[attr-defined]
    driver.cuDeviceGetCount = lambda: (Status(0), count)  # type: ignore[attr-defined]
    bindings = ModuleType("cuda.bindings")
    bindings.__version__ = "13.1.0"  # type: ignore[attr-defined]
    bindings.driver = driver  # type: ignore[attr-defined]
    cuda = ModuleType("cuda")
    cuda.bindings = bindings  # type: ignore[attr-defined]
    for name, value in (("cuda", cuda), ("cuda.bindings", bindings), ("cuda.bindings.driver", driver)):
        undecided.setitem(sys.modules, name, value)


def test_the_cpu_is_always_there_and_one_object() -> None:
    assert devices()[-1] is CPU
    assert Device("cpu") is CPU
    assert Device(CPU) is CPU
    assert pickle.loads(pickle.dumps(CPU)) is CPU
    assert copy.deepcopy(CPU) is CPU
    assert (str(CPU), repr(CPU), CPU.kind, CPU.index) == ("cpu", "Device('cpu')", "cpu", 0)


def test_the_names_of_gpus(undecided: pytest.MonkeyPatch) -> None:
    fake_driver(undecided)
    first, second, cpu = devices()
    assert (str(first), str(second), cpu) == ("cuda:0", "cuda:1", CPU)
    for name in ("cuda", "gpu", "cuda:0", "gpu:0", 0):
        assert Device(name) is first
    for name in ("cuda:1", "gpu:1", 1, second):
        assert Device(name) is second
    assert (second.kind, second.index) == ("cuda", 1)
    assert first != second
    assert len({first, second, cpu, Device("gpu")}) == 3


@pytest.mark.parametrize("name", ["tpu", "", "cuda:", "cuda:x", "cuda:-1", -1, "cpu:0", "cuda:1:2"])
def test_a_name_that_names_nothing(undecided: pytest.MonkeyPatch, name: object) -> None:
    fake_driver(undecided)
    with pytest.raises(ValueError, match=r"names no device; allowed: cuda:0, cuda:1, cpu"):
        Device(name)


@pytest.mark.parametrize("name", [1.5, True, ("cuda", 0)])
def test_a_name_of_another_type(name: object) -> None:
    with pytest.raises(TypeError, match="a device is named by"):
        Device(name)


def test_a_gpu_that_is_not_there(undecided: pytest.MonkeyPatch) -> None:
    fake_driver(undecided)
    with pytest.raises(DeviceError, match=r"no device 'cuda:2' here; allowed: cuda:0, cuda:1, cpu"):
        Device("cuda:2")


def test_without_cuda_bindings(undecided: pytest.MonkeyPatch) -> None:
    undecided.setitem(sys.modules, "cuda.bindings", None)
    assert devices() == (CPU,)
    assert default_device() is CPU
    assert "[cu13]' (or cu12)" in str(why_no_gpu())
    with pytest.raises(DeviceError, match="cuda-bindings cannot be imported"):
        module.driver()
    with pytest.raises(DeviceError, match=r"pip install .*\[cu13\]"):
        Device("cuda")


def test_without_a_driver_nothing_of_cuda_is_imported(undecided: pytest.MonkeyPatch) -> None:
    fake_driver(undecided)
    undecided.setattr(module, "_LIBRARY", "libno-such-driver.so.1")
    undecided.setattr(module, "import_late", None)
    assert default_device() is CPU
    assert "no NVIDIA driver was found" in str(why_no_gpu())
    with pytest.raises(DeviceError, match=r"no device 'cuda' here \(no NVIDIA .*; python -m gpunumpy info tells"):
        Device("cuda")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"start": 100}, "does not start: CUDA_ERROR_OF_A_TEST"),
        ({"version": 12040}, r"supports CUDA 12\.4 and cuda-bindings is for CUDA 13; .*\[cu12\]"),
        ({"count": 0}, "CUDA_VISIBLE_DEVICES"),
    ],
)
def test_why_there_is_no_gpu(undecided: pytest.MonkeyPatch, given: dict[str, int], words: str) -> None:
    fake_driver(undecided, **given)
    with pytest.raises(DeviceError, match=words):
        Device(0)
    assert default_device() is CPU


def test_the_environment_names_the_default(undecided: pytest.MonkeyPatch) -> None:
    fake_driver(undecided)
    undecided.setenv("GPUNUMPY_DEVICE", "gpu:1")
    assert default_device() is Device("cuda:1")


def test_the_environment_names_nothing(undecided: pytest.MonkeyPatch) -> None:
    undecided.setenv("GPUNUMPY_DEVICE", "tpu")
    with pytest.raises(ValueError, match="'tpu' names no device"):
        default_device()


def test_setting_the_default(undecided: pytest.MonkeyPatch) -> None:
    fake_driver(undecided)
    default_device("cuda:1")
    assert default_device() is Device("cuda:1")
    assert Device() is Device("cuda:1")
    with CPU:
        assert default_device() is CPU
        with Device("cuda:0") as inner:
            assert default_device() is inner is Device("gpu")
        assert Device(None) is CPU
        seen = []
        thread = threading.Thread(target=lambda: seen.append(default_device()))
        thread.start()
        thread.join()
        # From Python 3.14 on, a free-threaded build's threads inherit the context of the thread that starts them.
        assert seen[0] is (CPU if getattr(sys.flags, "thread_inherit_context", 0) else Device("cuda:1"))
    assert default_device() is Device("cuda:1")


def test_the_default_after_an_exception() -> None:
    before = default_device()
    with pytest.raises(KeyError), CPU:
        raise KeyError
    assert default_device() is before


def test_the_cpu_has_nothing_of_the_driver() -> None:
    for name in ("stream", "context", "handle", "attributes", "nonsense"):
        with pytest.raises(AttributeError, match=name):
            getattr(CPU, name)
    synchronize("cpu")


def test_dir_lists_what_users_need(undecided: pytest.MonkeyPatch) -> None:
    fake_driver(undecided)
    shared = ["hardware", "id", "index", "kind", "mem_info", "shares_host_memory", "synchronize", "use"]
    of_gpus = ["attributes", "compute_capability", "context", "handle", "stream"]
    for device, expected in ((CPU, shared), (Device("cuda:1"), sorted(shared + of_gpus))):
        assert [name for name in dir(device) if not name.startswith("__")] == expected


def test_check_returns_what_the_driver_returned() -> None:
    assert check((0,)) == ()
    assert check((0, 7)) == 7
    assert check((0, 7, 8)) == (7, 8)
