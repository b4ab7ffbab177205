"""Arrays that are lent to another process of the machine; here the driver is pretended, and the process is this one."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.recording.between_processes import borrowed_copy, lend
from gpunumpy.core.runtime import async_copies, shared_blocks
from gpunumpy.core.runtime.memory import pool_of

from ...support import fake_driver
from ...support.fake_driver import FakeDriver

SENT = numpy.random.default_rng(0).random((300, 40))
VIEWS: dict[str, Any] = {
    "all": lambda x: x,
    "some rows": lambda x: x[3:200],
    "bytes from the middle": lambda x: x[7:].view("u1"),
    "an element": lambda x: x[3:4, 4:5],
    "some columns": lambda x: x[:, 8:24],
    "columns of every third row": lambda x: x[2::3, 5:30],
    "columns of blocks of rows": lambda x: x.reshape(10, 30, 40)[:, :, 10:],
    "whole rows of blocks": lambda x: x.reshape(10, 30, 40)[:, 3:17],
}


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    np.set_residence("device")
    return fake_driver.install(monkeypatch, 2)


@pytest.mark.parametrize("view", VIEWS)
def test_values(driver: FakeDriver, view: str) -> None:
    x = VIEWS[view](np.asarray(SENT))
    wanted = VIEWS[view](SENT)
    lent = lend(x)
    assert lent is not None
    found: Any = borrowed_copy(lent.block.handle, x.shape, x.dtype, np.Device("cuda:1"))
    assert (str(found.device), found.dtype, found.shape) == ("cuda:1", wanted.dtype, wanted.shape)
    numpy.testing.assert_array_equal(found.get(), wanted)


def test_rows_are_copied_at_once(driver: FakeDriver) -> None:
    """No kernel puts them in order, which would be behind all other work."""
    x = np.asarray(SENT)
    x.memory()
    for view, calls in (
        (x[:, 8:24], ["cuMemcpy2DAsync"]),
        (x.reshape(10, 30, 40)[:, 3:17], ["cuMemcpy2DAsync"]),
        (x[5:], ["cuMemcpyDtoDAsync"]),
        (x[:, 8:10], ["cuLaunchKernelEx", "cuMemcpyDtoDAsync"]),
        (x.T, ["cuLaunchKernelEx", "cuMemcpyDtoDAsync"]),
        (x[::-1], ["cuLaunchKernelEx", "cuMemcpyDtoDAsync"]),
    ):
        driver.calls.clear()
        assert lend(view, ()) is not None
        assert [name for name in driver.calls if "Memcpy" in name or "Launch" in name] == calls


def send(*sent: numpy.ndarray) -> None:
    """Lend arrays at the same time, and read them on the other GPU."""
    lent = [lend(np.asarray(x)) for x in sent]
    for x, each in zip(sent, lent, strict=True):
        assert each is not None
        found: Any = borrowed_copy(each.block.handle, x.shape, x.dtype, np.Device("cuda:1"))
        numpy.testing.assert_array_equal(found.get(), x)
        each.end()


def test_blocks_stay_for_the_next_array(driver: FakeDriver) -> None:
    """Who reads them keeps them open."""
    send(SENT)
    for k in range(5):
        send(SENT + k, SENT[:100])  # whose block is the smaller one, or may be
    assert driver.calls.count("cuMemAlloc") == driver.calls.count("cuIpcOpenMemHandle") == driver.opened == 2
    assert "cuMemFree" not in driver.calls


def test_few_blocks_stay(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others are closed when they have been read, and freed."""
    monkeypatch.setattr(shared_blocks, "_STAYING_PART", fake_driver.MEMORY_BYTES // 150_000)
    send(*5 * [SENT])
    assert driver.calls.count("cuMemAlloc") == driver.calls.count("cuIpcOpenMemHandle") == 5
    assert driver.calls.count("cuMemFree") == driver.calls.count("cuIpcCloseMemHandle") == 4
    assert driver.opened == 1


def test_few_blocks_are_kept_open(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that were read last."""
    monkeypatch.setattr(shared_blocks, "_OPENED_PART", fake_driver.MEMORY_BYTES // 150_000)
    send(*3 * [SENT])
    assert driver.opened == 1
    send(*3 * [SENT])
    assert driver.opened == 1
    assert driver.calls.count("cuIpcOpenMemHandle") == 6


def test_a_copy_waits_for_no_other_work(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its memory is of a stream of its own, as long as there is room for it."""
    device = np.Device("cuda:1")
    beside = shared_blocks.stream_beside(device, "in")
    np.ones(3, device=device).computed()
    streams: list[Any] = []
    for name in ("_cuMemAllocFromPoolAsync", "_cuMemcpyDtoDAsync"):
        call = getattr(FakeDriver, name)
        monkeypatch.setattr(
            FakeDriver, name, lambda self, *args, call=call: streams.append(args[-1]) or call(self, *args)
        )
    lent = lend(np.asarray(SENT))
    assert lent is not None
    streams.clear()
    borrowed_copy(lent.block.handle, SENT.shape, SENT.dtype, device)
    assert streams == [beside, beside]
    streams.clear()
    np.set_memory_limit(np.memory_info(device).used, device)
    with pytest.raises(MemoryError):
        borrowed_copy(lent.block.handle, SENT.shape, SENT.dtype, device)
    np.set_memory_limit(None, device)
    assert beside not in streams


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("comes", ["with nothing else", "in another order", "back from the host", "from the host"])
def test_which_stream_copies(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch, comes: str, known: bool) -> None:
    """A copy waits for no other work only if all work on what it reads is known, and no copy is on its way to it."""
    device = np.Device("cuda:0")
    if comes == "from the host":
        of_host = driver.CUmemorytype.CU_MEMORYTYPE_HOST
        monkeypatch.setattr(FakeDriver, "_cuPointerGetAttribute", lambda *_: of_host)
        monkeypatch.setattr(async_copies, "COPIED_BYTES", 0)
    source = np.empty_pinned(SENT.shape, SENT.dtype)
    source[...] = SENT
    x = np.asarray(source, blocking=comes != "from the host")
    monkeypatch.setattr(device, "has_spilled", comes == "back from the host")
    if comes == "in another order":  # a kernel puts it in the order of C
        x = x.reshape(-1, 2)[:, 0]
    streams: list[Any] = []
    copy = FakeDriver._cuMemcpyDtoDAsync
    monkeypatch.setattr(
        FakeDriver, "_cuMemcpyDtoDAsync", lambda self, *args: streams.append(args[-1]) or copy(self, *args)
    )
    lent = lend(x, () if known else None)
    assert lent is not None
    is_beside = known and comes == "with nothing else"
    assert streams == [shared_blocks.stream_beside(device, "out") if is_beside else device.stream]


def test_later_work_waits_for_the_copy(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may overwrite what is copied."""
    device = np.Device("cuda:0")
    x = np.asarray(SENT)
    x.memory()
    beside, seen = shared_blocks.stream_beside(device, "out"), list[tuple[str, Any]]()
    for name, stream in (("_cuMemcpyDtoDAsync", -1), ("_cuEventRecord", -1), ("_cuStreamWaitEvent", 0)):
        call = getattr(FakeDriver, name, lambda self, *args: None)
        monkeypatch.setattr(
            FakeDriver,
            name,
            lambda self, *args, name=name, stream=stream, call=call: (
                seen.append((name, args[stream])) or call(self, *args)
            ),
            raising=False,
        )
    assert lend(x, ()) is not None
    assert seen == [
        ("_cuMemcpyDtoDAsync", beside),
        ("_cuEventRecord", beside),
        ("_cuStreamWaitEvent", device.stream),
    ]


def test_memory_of_a_copy_that_is_interrupted(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy may go on, so other arrays have the memory once the GPU is idle."""
    lent = lend(np.asarray(SENT))
    assert lent is not None
    device = np.Device("cuda:1")
    driver.refuse = lambda name: "CUDA_ERROR_UNKNOWN" if name == "cuStreamSynchronize" else None
    with pytest.raises(np.DeviceError):
        borrowed_copy(lent.block.handle, SENT.shape, SENT.dtype, device)
    driver.refuse = lambda name: None
    assert len(pool_of(device).awaited_blocks) == 1


@pytest.mark.parametrize("refused", ["cuMemAlloc", "cuIpcGetMemHandle", "cuMemcpyDtoDAsync"])
def test_what_cannot_be_lent(driver: FakeDriver, refused: str) -> None:
    x = np.asarray(SENT)
    driver.refuse = lambda name: "CUDA_ERROR_NOT_SUPPORTED" if name == refused else None
    with pytest.raises(np.DeviceError, match="NOT_SUPPORTED"):
        lend(x)
    driver.refuse = lambda name: None
    numpy.testing.assert_array_equal(x.get(), SENT)
    assert lend(np.asarray(SENT, device="cpu")) is None


def test_what_cannot_be_read(driver: FakeDriver) -> None:
    lent = lend(np.asarray(SENT))
    assert lent is not None
    for refused in ("cuIpcOpenMemHandle", "cuMemcpyDtoDAsync"):
        driver.refuse = lambda name, refused=refused: "CUDA_ERROR_INVALID_VALUE" if name == refused else None  # type: ignore[misc]
        with pytest.raises(np.DeviceError, match="INVALID_VALUE"):
            borrowed_copy(lent.block.handle, SENT.shape, SENT.dtype, np.Device("cuda:1"))
    assert driver.opened == 1
