"""Arrays that are lent to another process of the machine; here the driver is pretended, and the process is this one."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.recording.between_processes import borrowed_copy, lend
from gpunumpy.core.runtime import memory, shared_blocks

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
