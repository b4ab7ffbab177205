"""Arrays that are lent to another process of the machine; here the driver is pretended, and the process is this one."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.recording.between_processes import borrowed_copy, lend
from gpunumpy.core.runtime import async_copies, memory, shared_blocks

from ...support import fake_driver
from ...support.fake_driver import FakeDriver

SENT = numpy.random.default_rng(0).random((300, 40))
VIEWS: dict[str, Any] = {
    "all": lambda x: x,
    "some rows": lambda x: x[3:200],
    "bytes from the middle": lambda x: x[7:].view("u1"),
    "an element": lambda x: x[3:4, 4:5],
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
    assert driver.opened == 0


def test_blocks_are_kept_for_the_next_array(driver: FakeDriver) -> None:
    for _ in range(5):
        lent = [lend(np.asarray(SENT)), lend(np.asarray(SENT))]
        for each in lent:
            assert each is not None
            each.end()
    assert driver.calls.count("cuMemAlloc") == 2
    for hook in memory.out_of_memory_hooks:
        hook(np.Device("cuda:0"))
    assert driver.calls.count("cuMemFree") == 2


def test_few_blocks_are_kept(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_blocks, "_KEPT_PART", fake_driver.MEMORY_BYTES // 200_000)
    lent = [lend(np.asarray(SENT)) for _ in range(5)]
    for each in lent:
        assert each is not None
        each.end()
    assert driver.calls.count("cuMemFree") == 4


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
    assert streams == [shared_blocks.stream_beside(device) if is_beside else device.stream]


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
    assert driver.opened == 0
