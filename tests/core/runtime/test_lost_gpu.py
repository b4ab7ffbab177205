"""A GPU after an error that CUDA does not recover from: one clear exception from then on, and all else goes on."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.arrays import stream_order
from gpunumpy.core.errors import DeviceError
from gpunumpy.core.runtime import evaluate, memory
from gpunumpy.core.runtime.device import check, why_no_gpu
from gpunumpy.kernels.cuda import executor

from ...support import fake_driver

VALUES = numpy.arange(12.0)
WORDS = r"cuda:0 cannot be used any more in this process.*CUDA_ERROR_{}.*needs a new process"


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_driver.FakeDriver:
    pytest.importorskip("cuda.bindings.nvrtc")
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path / "kernels"))
    gc.collect()  # what is left of a GPU that is there dies by its own driver
    return fake_driver.install(monkeypatch)


def on_gpu() -> Any:
    """Return an array that is on the GPU alone."""
    x = np.asarray(VALUES) * 1
    np.synchronize()
    return x


def words_of(function: Callable[[], Any]) -> str:
    with pytest.raises(DeviceError) as caught:
        function()
    return str(caught.value)


@pytest.mark.parametrize("error", ["ILLEGAL_ADDRESS", "LAUNCH_FAILED", "ASSERT", "MISALIGNED_ADDRESS"])
def test_a_kernel_that_faults(gpu: fake_driver.FakeDriver, error: str) -> None:
    x, known = on_gpu(), np.asarray(VALUES)
    with np.Device("cpu"):
        on_host = np.asarray(VALUES)
        pending = on_host * 2
    gpu.faulty = f"CUDA_ERROR_{error}"
    y = x + 1
    with pytest.raises(DeviceError, match=WORDS.format(error)):
        y.get()
    uses: list[Callable[[], Any]] = [
        x.get,
        y.get,
        (x * 3).get,
        (known * 3).get,
        lambda: float(x[0]),
        lambda: str(y),
        np.synchronize,
        lambda: np.asarray(VALUES),
        np.free_all_blocks,
        np.memory_info,
        lambda: x.to_device("cpu"),
        lambda: x.__setitem__(slice(3), 1) or x.get(),
    ]
    assert {words_of(use) for use in uses} == {words_of(x.get)}
    assert "needs a new process" in str(why_no_gpu())
    numpy.testing.assert_array_equal(pending.get(), VALUES * 2)
    numpy.testing.assert_array_equal(known.get(), VALUES)
    with np.Device("cpu"):
        numpy.testing.assert_array_equal((np.asarray(VALUES) + on_host).get(), VALUES * 2)
    in_thread: list[str] = []
    thread = threading.Thread(target=lambda: in_thread.append(words_of(x.get)))
    thread.start()
    thread.join()
    assert in_thread == [words_of(x.get)]


def test_errors_that_pass(gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.asarray(VALUES)
    with pytest.raises(DeviceError, match=r"^CUDA_ERROR_INVALID_VALUE: what CUDA_ERROR_INVALID_VALUE means$"):
        check((gpu.CUresult.CUDA_ERROR_INVALID_VALUE,))
    numpy.testing.assert_array_equal(x.get(), VALUES)


def test_the_end_of_what_was_on_it(gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing raises where nobody can catch it."""
    device = np.Device("cuda")
    held: list[Any] = [on_gpu(), np.asarray(VALUES) + 1, memory.pinned(100, device)]
    gpu.busy = True
    stream_order.Borrowed(device, object())
    assert stream_order._dropping
    held.append(stream_order.Borrowed(device, object()))
    np.synchronize()
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    gpu.errors[0] = "CUDA_ERROR_ILLEGAL_ADDRESS"
    held.pop()  # the first call to meet the error is a finalizer's
    assert not unraisable
    words_of(held[0].get)
    held.clear()
    memory._index_error_words.clear()
    gc.collect()
    stream_order.sweep()
    evaluate.compute_all()
    assert not stream_order._dropping
    assert not unraisable


def test_memory_of_the_host_that_is_short_beside_a_lost_gpu(gpu: fake_driver.FakeDriver) -> None:
    device = np.Device("cuda")
    gpu.busy = True
    stream_order.Borrowed(device, object())
    gpu.errors[0] = "CUDA_ERROR_ILLEGAL_ADDRESS"
    with np.Device("cpu"), pytest.raises(MemoryError, match="out of memory on cpu"):
        np.empty(1 << 57).get()


def test_another_gpu_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = fake_driver.install(monkeypatch, 2)
    x, y = on_gpu(), np.asarray(VALUES, device="cuda:1")
    driver.errors[0] = "CUDA_ERROR_LAUNCH_FAILED"
    assert "cuda:0 cannot be used" in words_of((x + 1).get)
    assert "cuda:0 cannot be used" in words_of(x.get)
    numpy.testing.assert_array_equal(y.get(), VALUES)
    assert "cuda:0 cannot be used" in words_of(lambda: y.to_device("cuda:0"))
    numpy.testing.assert_array_equal(y.get(), VALUES)


class LibraryError(Exception):
    """What a binding of a library raises."""


def test_a_library_that_meets_the_error_first(gpu: fake_driver.FakeDriver) -> None:
    device = np.Device("cuda")
    device.activate()

    def fail(values: Any) -> None:
        raise LibraryError("EXECUTION_FAILED (13)")

    with pytest.raises(LibraryError):
        executor._prepared(device, lambda: fail)(())
    gpu.errors[0] = "CUDA_ERROR_ILLEGAL_ADDRESS"
    with pytest.raises(DeviceError, match=WORDS.format("ILLEGAL_ADDRESS")):
        executor._prepared(device, lambda: fail)(())


def test_a_library_without_memory(gpu: fake_driver.FakeDriver) -> None:
    device = np.Device("cuda")
    cached = memory.allocate(device, 1 << 20)
    del cached
    attempts: list[int] = []

    def prepare() -> Any:
        attempts.append(memory.memory_info(device).cached)
        if len(attempts) < 2:
            raise LibraryError("ALLOC_FAILED (3)")
        return fail

    def fail(values: Any) -> None:
        raise LibraryError("ALLOC_FAILED (3)")

    run = executor._prepared(device, prepare)
    assert attempts == [1 << 20, 0]
    words = r"cuda:0: no room for a library call \(ALLOC_FAILED \(3\)\); gpunumpy uses [\d,]+; [\d,]+ of the device's"
    with pytest.raises(MemoryError, match=words):
        run(())


def test_words_of_a_lack_of_memory(gpu: fake_driver.FakeDriver) -> None:
    x = np.asarray(VALUES)
    words = (
        r"no room on the host for a value of 9,007,199,254,740,992 bytes; gpunumpy uses [\d,]+"
        r"( and keeps [\d,]+ for later arrays)?; 1,073,741,824 of the device's 1,073,741,824 are free; "
        r"the host has no memory for values that would make room: GPUNUMPY_SPILL_DIR names a folder for them"
    )
    with pytest.raises(MemoryError, match=words):
        np.empty(1 << 50).get()
    with pytest.raises(MemoryError, match=r"on cpu: asked for 1,125,899,906,842,624 bytes that stay .* are free"):
        memory.pinned(1 << 50, x.device)
    assert gpu.free_bytes
    numpy.testing.assert_array_equal(x.get(), VALUES)


PROGRAM = """
import sys
import numpy
import gpunumpy as np
from gpunumpy.kernels.codegen.program import Launch
from gpunumpy.kernels.cuda.compile import compile_program
from gpunumpy.kernels.cuda.launch import Launcher

unraisable = []
sys.unraisablehook = unraisable.append
x = np.arange(10.0)
float(x.sum())
with np.Device("cpu"):
    kept = np.arange(10.0) + 1
gpu = np.Device("cuda")
text = 'extern "C" __global__ void fault(int* p) { ' + FAULT + ' }'
Launcher(gpu, compile_program(text, ("fault",), gpu)["fault"], Launch("fault", (1, 1, 1), (1, 1, 1)), "Q")((0,))
words = set()
for use in (np.synchronize, x.get, lambda: float((x + 1).sum()), lambda: (x.reshape(2, 5) @ x.reshape(5, 2)).get(),
            lambda: np.fft.fft(x).get(), lambda: np.ones(4), np.free_all_blocks):
    try:
        use()
    except np.DeviceError as error:
        words.add(str(error))
(text,) = words
assert "needs a new process" in text, text
assert float(kept.sum()) == 55
del x
assert not unraisable, unraisable
print("done")
"""


@pytest.mark.gpu
@pytest.mark.parametrize("fault", ["*p = 1;", "__trap();"])
def test_a_real_gpu(fault: str) -> None:
    program = f"FAULT = {fault!r}\n{PROGRAM}"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=300)
    assert done.stdout == "done\n", done.stderr
