"""A GPU that nobody has named is used from the first array on that goes to it, and not before."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np

from ...support import fake_driver

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {**os.environ, "GPUNUMPY_RESIDENCE": "auto"}
LARGE = 1 << 20
OUT_OF_MEMORY = "CUDA_ERROR_OUT_OF_MEMORY"
# What the driver is asked while a device is chosen: none of it makes a context, or needs one.
ASKED = {"cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetAttribute"}
CONTEXT_CALLS = {"cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuStreamCreate"}
PROGRAM = """
import copy, io, pickle, pytest, warnings
warnings.simplefilter("error")
patch = pytest.MonkeyPatch()
import gpunumpy as np
from tests.support import fake_driver
driver = fake_driver.install(patch, {count})
driver.refuse = lambda name: None if name in {asked} else refused.append(name) or "CUDA_ERROR_UNKNOWN"
refused = []
a = np.linspace(0, 1, 50)
b = a[2:-2] * 2 + np.arange(46.0)
b[3], b[b > 9] = a[4:].mean(), 1
b[:4] += np.array([1.0, 2, 3, 4])
m = np.outer(a[:3], a[:3]) + np.eye(3)
x = np.linalg.solve(m, a[:3])
assert float(abs(m @ x - a[:3]).max()) < 1e-9
assert float(a.dot(a)) > 0 and bool((np.diff(np.sort(b)) >= 0).all())
rng = np.random.default_rng(0)
draws = [rng.normal(size=3), rng.integers(0, 9, 5), rng.permutation(7), np.random.rand(4), np.random.randn(3)]
draws.append(np.random.RandomState(1).randn(3))
np.random.seed(3)
np.random.shuffle(draws[2])
assert np.fft.ifft(np.fft.fft(np.ones(64))).shape == (64,)
assert "e" in f"{{b.std():.1e}}" and str(b) and repr(m)
assert np.array_equal(pickle.loads(pickle.dumps(b)), b) and np.array_equal(copy.deepcopy(b), b)
file = io.BytesIO()
np.save(file, b)
np.savetxt(io.StringIO(), m)
file.seek(0)
assert np.array_equal(np.load(file), b)
assert [float(v) for v in b][0] == b[0].item() and b.tolist() and len(b) == 46
assert np.histogram(b, 5)[0].sum() == 46 and np.where(b > 0, b, 0).any() and np.concatenate([a, b]).size == 96
assert b.data.nbytes == b.nbytes and np.asarray([1, 2]).sum() == 3 and np.sqrt(5) > 2
assert b.device is np.default_device() is np.Device() is np.Device("cuda:0") and b.residence == "host"
assert b.device in np.devices() and np.get_include() and np.dtype("f4") == np.float32
np.synchronize(), np.free_all_blocks()
np.einsum("ij,j", m, x), np.polyfit(a, a, 1), np.meshgrid(a, a[:3]), np.percentile(b, 30), np.cumsum(b), np.unique(b)
with np.errstate(all="ignore"), np.Device("cuda:0"):
    np.zeros(5)
with np.profile(file=io.StringIO()):
    np.ones(4) + 1
assert not refused, refused
assert {{*driver.calls}} <= {asked}, driver.calls
driver.refuse = lambda name: None
np.ones({large})
assert {{*driver.calls}} >= {contexts}
patch.undo()
print("done")
"""


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A GPU that is not there, and small arrays on the host."""
    before = np.set_residence("auto")
    yield fake_driver.install(monkeypatch)
    np.set_residence(before)


@pytest.mark.parametrize("count", [1, 2])
def test_a_process_of_small_arrays_makes_no_context(count: int) -> None:
    pytest.importorskip("cuda.bindings.driver")
    program = PROGRAM.format(count=count, asked=ASKED, contexts=CONTEXT_CALLS, large=LARGE)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, env=ENVIRONMENT)
    assert run.stdout == "done\n", run.stderr


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.ones(LARGE),
        lambda: np.asarray(numpy.ones(LARGE)),
        lambda: np.arange(float(LARGE)),
        lambda: np.empty(LARGE),
        lambda: np.outer(np.ones(2000), np.ones(2000)),
        lambda: np.random.default_rng(0).random(LARGE),
        lambda: np.ones(3).__dlpack__(),
    ],
)
def test_the_first_array_that_goes_there_makes_the_context(
    gpu: fake_driver.FakeDriver, make: Callable[[], Any]
) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    np.ones(3)
    assert not CONTEXT_CALLS & {*gpu.calls}
    made = make()
    if isinstance(made, np.ndarray):
        made.computed()
    assert {*gpu.calls} >= CONTEXT_CALLS
    assert gpu.calls.count("cuDevicePrimaryCtxRetain") == 1


def test_threads_use_the_context_that_another_has_made(gpu: fake_driver.FakeDriver) -> None:
    """It is current in each, and made once."""
    device, done = np.ones(3).device, []

    def work() -> None:
        x = np.asarray(numpy.full(LARGE, 2.0))
        done.append(x.get()[-1] == 2 and x.device is device)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work()
    assert done == [True] * 5
    # With one GPU each thread sets it once; the first time is with the stream.
    assert gpu.calls.count("cuCtxSetCurrent") >= 5


FULL = """
import numpy, pytest
import gpunumpy as np
from tests.support import fake_driver
patch = pytest.MonkeyPatch()
gpus = fake_driver.install(patch, {count})
full = iter(["CUDA_ERROR_OUT_OF_MEMORY"] * {full})
gpus.refuse = lambda name: next(full, None) if name == "cuDevicePrimaryCtxRetain" else None
CPU = np.Device("cpu")
{body}
patch.undo()
print("done")
"""


@pytest.mark.parametrize(
    ("count", "full", "body"),
    [
        pytest.param(
            1,
            100,
            """
small = np.arange(4.0)
view = small[1:]
assert str(small.device) == str(view.device) == "cuda:0"
with pytest.warns(RuntimeWarning, match="arrays go to cpu, those of cuda:0 too: .*OUT_OF_MEMORY"):
    large = np.ones((1 << 20, 4))
assert small.device is view.device is large.device is np.default_device() is CPU
assert (large * small)[-1].tolist() == [0, 1, 2, 3]
view[0] = 7
assert float((large * small).sum()) == 12 << 20 and float(np.zeros(3).sum() + small.sum()) == 12
with pytest.raises(np.DeviceError, match="cuda:0 has no room"):
    np.ones(1 << 20, device="cuda:0").computed()
""",
            id="small arrays, then a large one",
        ),
        pytest.param(
            1,
            100,
            """
small = np.arange(2000.0)
with pytest.warns(RuntimeWarning, match="arrays go to cpu"):
    table = np.outer(small, small)
assert table.device is small.device is CPU and float(table[3, 5]) == 15
""",
            id="a large result of small arrays",
        ),
        pytest.param(
            2,
            1,
            """
small = np.arange(4.0)
with pytest.warns(RuntimeWarning, match="arrays go to cuda:1, those of cuda:0 too"):
    large = np.asarray(numpy.ones(1 << 20))
assert small.device is large.device is np.default_device() is np.Device("cuda:1")
""",
            id="the next GPU",
        ),
        pytest.param(
            1,
            100,
            """
own = np.ones(3, device="cpu")
small = np.arange(4.0)
with pytest.warns(RuntimeWarning, match="arrays go to cpu"):
    large = np.ones((1 << 20, 3))
assert (large + own).device is CPU
assert small.tolist() == [0, 1, 2, 3] and (small.to_device("cpu")[1:] + large)[2].tolist() == [2, 3, 4]
with pytest.raises(np.DeviceError):
    (np.arange(2000.0, device="cuda:0")[:, None] * np.arange(2000.0, device="cuda:0")).computed()
""",
            id="arrays that the next device has already",
        ),
    ],
)
def test_a_gpu_that_turns_out_to_be_full(count: int, full: int, body: str) -> None:
    """Its arrays were on the host all along: the next device has them, and they meet its arrays."""
    pytest.importorskip("cuda.bindings.driver")
    program = FULL.format(count=count, full=full, body=body)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, env=ENVIRONMENT)
    assert run.stdout == "done\n", run.stderr


@pytest.mark.parametrize(
    ("mode", "is_free"), [("EXCLUSIVE_PROCESS", True), ("EXCLUSIVE_PROCESS", False), ("PROHIBITED", False)]
)
def test_a_gpu_for_one_process_alone(
    gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch, mode: str, is_free: bool
) -> None:
    """A context alone tells whether another process has it: so it is made as the default is chosen."""
    ask = gpu._cuDeviceGetAttribute
    wanted = getattr(gpu.CUcomputemode, f"CU_COMPUTEMODE_{mode}").value
    monkeypatch.setattr(
        fake_driver.FakeDriver,
        "_cuDeviceGetAttribute",
        lambda self, name, device: wanted if name.name.endswith("COMPUTE_MODE") else ask(name, device),
    )
    if not is_free:
        gpu.refuse = lambda name: "CUDA_ERROR_DEVICE_UNAVAILABLE" if name == "cuDevicePrimaryCtxRetain" else None
    assert str(np.ones(3).device) == ("cuda:0" if is_free else "cpu")
    assert "cuDevicePrimaryCtxRetain" in gpu.calls


def test_what_tells_of_the_device_makes_the_context(gpu: fake_driver.FakeDriver) -> None:
    gpu.refuse = lambda name: OUT_OF_MEMORY if name == "cuDevicePrimaryCtxRetain" else None
    with pytest.warns(RuntimeWarning, match="arrays go to cpu"):
        shown = np.show_config("dicts")
    assert shown is not None
    assert shown["device"]["name"] == "cpu"
    assert "no room" in shown["device"]["why no GPU"]
