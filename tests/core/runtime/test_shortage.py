"""Memory that runs out at any block of a flush: no array is lost, and what was to be computed can be computed later."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime import memory, plan
from gpunumpy.core.runtime.device import CPU

from .test_interrupts import PROGRAMS, Progress, outcomes

BLOCK_BYTES = 512  # the smallest


@pytest.fixture(autouse=True)
def limit() -> Iterator[Callable[[int | None], None]]:
    """Limits the memory of the CPU device to what is used, and some bytes more; None ends that."""

    def set_limit(more: int | None) -> None:
        memory.free_all_blocks("cpu")
        np.set_memory_limit(None if more is None else memory.memory_info("cpu").used + more, "cpu")

    with np.Device("cpu"):
        np.synchronize()  # what others have left pending, and what dies later, would be room
        gc.collect()
        yield set_limit
        set_limit(None)


@pytest.mark.parametrize("spills", [False, True], ids=["kept", "spilled"])
@pytest.mark.parametrize("undo_bytes", [1 << 40, -1], ids=["undone", "waited for"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_memory_that_runs_out_at_any_block(
    name: str, undo_bytes: int, spills: bool, limit: Callable[[int | None], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not spills:
        monkeypatch.setattr(memory, "spill", None)
        monkeypatch.setattr(CPU, "has_spilled", False)
    monkeypatch.setattr(plan, "UNDO_BYTES", undo_bytes)
    program = PROGRAMS[name]
    expected = outcomes(program)
    Progress(program).run()  # as plans are made, other things are too
    for blocks in range(50):
        progress = Progress(program)
        limit(blocks * BLOCK_BYTES)
        try:
            progress.run()
        except MemoryError:
            limit(None)
            progress.check(expected, f"a limit of {blocks} blocks")
        else:
            limit(None)
            progress.check(expected, "the end")
            break
    assert spills or blocks or name == "strided"  # which overwrites its array alone


def test_a_program_goes_on_after_arrays_are_deleted(
    limit: Callable[[int | None], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "spill", None)
    values = numpy.arange(1 << 16, dtype="f8")
    x, *others = [np.asarray(values + k) for k in range(3)]
    limit(values.nbytes // 2)
    total = np.cumsum(x * x)
    words = r"on cpu: asked for 524,288 bytes; gpunumpy uses [\d,]+ of the [\d,]+ that set_memory_limit allows"
    for _ in range(2):
        with pytest.raises(MemoryError, match=words):
            total.get()
    for k, array in enumerate(others, 1):
        numpy.testing.assert_array_equal(array.get(), values + k)
    others.clear()
    del array
    numpy.testing.assert_array_equal(total.get(), (values * values).cumsum())


def test_small_results_whose_blocks_have_no_room_together(
    limit: Callable[[int | None], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Are not tried together: an attempt that finds no room looks for garbage, which takes longer than they do."""
    x = numpy.random.default_rng(0).random((40, 60))
    shortages, shortage = list[str](), memory.shortage
    monkeypatch.setattr(memory, "shortage", lambda device, asked: shortages.append(asked) or shortage(device, asked))  # type: ignore[func-returns-value]
    monkeypatch.setattr(CPU, "has_spilled", False)
    monkeypatch.setattr(memory, "most_bytes", lambda device: 8 * BLOCK_BYTES)  # whatever other tests have left
    before = np.set_residence("device")
    try:
        limit(8 * BLOCK_BYTES)
        result = np.asnumpy(np.pad(np.asarray(x), 2, mode="median"))
    finally:
        np.set_residence(before)
    numpy.testing.assert_array_equal(result, numpy.pad(x, 2, mode="median"))
    assert len(shortages) < 30
