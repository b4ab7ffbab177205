"""A signal handler that looks at a value waits for the queue's lock, so for a thread that flushes; that one never waits
for what the interrupted thread holds.

The handler comes at a call of a pretended driver, and the other thread does then, with the lock, all that a thread may.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime import evaluate, memory
from gpunumpy.core.runtime.failure_words import solver_failure_word
from gpunumpy.core.runtime.memory_copy import CHUNK_BYTES
from gpunumpy.kernels.cuda import compile as compile_module
from gpunumpy.kernels.cuda import user_program
from gpunumpy.kernels.cuda.user_program import UserProgram

from ...support import fake_driver

pytest.importorskip("cuda.bindings.nvrtc")

SMALL, LARGE = numpy.arange(9000.0), numpy.arange(CHUNK_BYTES // 4, dtype="f8")


def use_everything() -> None:
    """Use a GPU in every way that needs something of the whole process: much of it at its first use."""
    device = np.Device("cuda:0")
    x, large = np.asarray(SMALL), np.asarray(LARGE)
    float((x + 1).sum())
    large.get()
    (x * 2).computed()
    solver_failure_word(device)
    memory.index_error_word(device)
    memory._index_error_words[device][0][0] = 5
    memory.take_index_error(device)
    user_program.load(UserProgram("text", (), ("kernel",)), device)
    np.synchronize()


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[fake_driver.FakeDriver]:
    """Return drivers of GPUs that nobody has used."""
    gc.collect()

    def drivers() -> Iterator[fake_driver.FakeDriver]:
        while True:
            with monkeypatch.context() as patch:
                patch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
                patch.setattr(compile_module, "_compile", lambda text, *target: b"image")
                patch.setattr(user_program, "compile_for", lambda program, *target: (b"image", program.expressions))
                yield fake_driver.install(patch)

    return drivers()


class Handler:
    """Has another thread flush, and waits for it, at one of the calls of the driver that the main thread makes."""

    def __init__(self, place: int) -> None:
        self.place, self.count = place, 0
        self.name = ""  # of the call
        self.done = threading.Event()

    def __call__(self, name: str) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if any(lock._is_owned() for lock in evaluate._flush_locks()):  # then no other thread flushes
            return
        if self.count == self.place:
            self.name = name
            threading.Thread(target=self.flush_beside, daemon=True).start()
            assert self.done.wait(30), f"the thread that flushes waits for the one in {name}, which waits for it"
        self.count += 1

    def flush_beside(self) -> None:
        with evaluate.queue_of(np.Device("cuda:0")).lock:
            use_everything()
        self.done.set()


def test_who_flushes_never_waits_for_an_interrupted_thread(gpus: Iterator[fake_driver.FakeDriver]) -> None:
    names = set()
    for place, gpu in enumerate(gpus):
        handler = gpu.refuse = Handler(place)
        use_everything()
        if not handler.name:
            break
        names.add(handler.name)
    assert names >= {"cuDevicePrimaryCtxRetain", "cuMemHostAlloc", "cuEventRecord", "cuModuleLoadData"}
