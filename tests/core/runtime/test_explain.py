"""`explain` says what would run and runs nothing; `profile` says what ran."""

from __future__ import annotations

import gc
import io
import sys
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime import evaluate, memory, spill
from gpunumpy.core.runtime.byte_sizes import bytes_text
from gpunumpy.core.runtime.device import CPU, Device
from gpunumpy.core.runtime.explain import explain, explanation
from gpunumpy.core.runtime.profile import _bandwidths, bandwidth, profile
from gpunumpy.core.schedule.lower import items_of
from gpunumpy.core.schedule.passes import run_passes
from gpunumpy.core.schedule.steps import RunKernel, RunLibraryCall
from gpunumpy.core.schedule.traffic import Traffic, traffic

from ...support.arrays import from_host, to_host


@pytest.fixture(autouse=True)
def on_the_cpu() -> Any:
    with Device("cpu"):
        evaluate.flush(evaluate.queue_of(CPU))
        yield


def array(*shape: int) -> Any:
    return from_host(numpy.ones(shape), CPU)


def moved(x: Any) -> list[Traffic]:
    nodes, _ = evaluate.walk([x._node])
    steps, items = run_passes(items_of(nodes), [0], evaluate.state_of(CPU).executor)
    return [traffic(step, steps, items) for step in steps if isinstance(step, (RunKernel, RunLibraryCall))]


def test_one_kernel() -> None:
    x = array(10, 20) * 2.0 + array(20)
    text = explanation(x)
    assert text.splitlines() == [
        "1 kernel on cpu: 1.76 kB read, 1.6 kB written",
        "1. multiply_add: 1.76 kB read, 1.6 kB written",
        "   loops 10×20, reads float64 float64, takes float64, writes float64",
    ]
    assert x._node.data is None


def test_reasons_and_calls() -> None:
    x = array(6, 6)
    y = np.matmul(x + 1.0, x) + 1.0
    text = explanation(y)
    assert "2 kernels and 1 library call on cpu" in text
    assert "matmul: 576 B read, 288 B written" in text
    assert "on its own because: matmul is a library call of its own" in text
    assert "reads float64 6×6, float64 6×6" in text


def test_what_else_is_pending_is_in_it() -> None:
    x, y = array(4) + 1.0, array(5) * 2.0
    assert "2 kernels" in explanation(y)
    assert "2 kernels" in explanation()
    to_host(x)
    assert explanation(y) == "nothing to run on cpu: everything is computed"


def test_views_show_their_owner() -> None:
    x = array(4, 4) + 1.0
    assert "1 kernel" in explanation(x[1:])


@pytest.mark.parametrize("x", [3.0, [1.0, 2.0], numpy.ones(3)], ids=lambda x: type(x).__name__)
def test_what_is_no_array_of_this_package(x: Any) -> None:
    with pytest.raises(TypeError, match=rf"takes arrays of gpunumpy, not \w+\.{type(x).__name__}"):
        np.explain(np.ones(3), x)


def test_explain_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(array(3) + 1.0) is None
    assert "1 kernel on cpu" in capsys.readouterr().out
    file = io.StringIO()
    explain(file=file)
    assert "nothing to run" in file.getvalue()


@pytest.mark.parametrize(
    ("make", "read", "written"),
    [
        (lambda: array(10, 4) + array(4), 8 * (40 + 4), 320),
        (lambda: np.sum(array(10, 4)), 320, 8),
        (lambda: array(10)[::2] + 1.0, 40, 40),
        (lambda: np.zeros(5) + 1.0, 0, 40),
        (lambda: np.take(array(50), from_host(numpy.arange(5), CPU)), 40 + 40, 40),
    ],
)
def test_bytes(make: Any, read: int, written: int) -> None:
    assert moved(make()) == [Traffic(read, written)]


def test_bytes_of_an_update_that_leaves_the_old_array() -> None:
    x = array(10)
    x[2:9] = x[1:8] + x[3:10]
    assert moved(x) == [Traffic(80, 80)]


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (999_600, "1 MB"), (2.5e15, "2.5e+03 TB")]
)
def test_words_for_bytes(count: float, words: str) -> None:
    assert bytes_text(count) == words


# --- profile


def test_profile_counts_what_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_bandwidths, CPU, 1e9)
    before = array(3) - 1.0
    file = io.StringIO()
    with profile(file=file) as p:
        assert before._node.data is not None
        for _ in range(3):
            to_host(array(100) * 2.0 + 1.0)
        left = np.matmul(array(4, 4), array(4, 4))
    assert left._node.data is not None
    found = {r.name: r for r in p.records}
    assert (found["multiply_add"].count, found["multiply_add"].nbytes) == (3, 3 * 1600)
    assert found["matmul"].nbytes == 3 * 128
    assert all(r.seconds > 0 for r in p.records)
    lines = file.getvalue().splitlines()
    assert lines[0].split("  ")[0] == "kernel or call"
    assert len(lines) == 6
    assert lines[-3].split()[:2] == ["all", "4"]
    assert lines[-2].startswith("the block took ")
    assert lines[-1] == "1 array was pending before the block: computed first, and in no line above"
    assert evaluate.observer is None


def test_profile_ends_after_an_exception() -> None:
    with pytest.raises(KeyError), profile(file=io.StringIO()):
        raise KeyError
    assert evaluate.observer is None


def test_nvtx_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nvtx", None)
    with pytest.raises(ImportError, match="pip install nvtx"):
        profile(nvtx=True)


def test_bandwidth_is_measured_once() -> None:
    assert (bandwidth(CPU) or 0) > 1e8
    assert bandwidth(CPU) == bandwidth(CPU)


def test_profile_where_memory_is_short(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpunumpy.core.runtime.profile._bandwidths", {})
    monkeypatch.setattr("gpunumpy.core.runtime.profile._COPY_BYTES", {"cpu": 1 << 62, "cuda": 1 << 62})
    table = io.StringIO()
    with Device(device), profile(file=table):
        to_host(from_host(numpy.ones(1 << 16), Device(device)) * 2.0)
    assert "unknown" in table.getvalue()


@pytest.mark.gpu
def test_profile_on_a_gpu() -> None:
    gpu = Device("cuda")
    with gpu, profile(file=io.StringIO()) as p:
        to_host(from_host(numpy.ones(1 << 24, numpy.float32), gpu) * 2.0 + 1.0)
    (record,) = p.records
    assert record.nbytes == 2 << 26
    # Close to 1 on a quiet GPU; tests beside this one use it too.
    rate = bandwidth(gpu)
    assert rate is not None
    assert 0.02 < record.nbytes / record.seconds / rate < 20


def test_the_copy_that_measures_the_bandwidth_moves_no_values(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpunumpy.core.runtime.profile._bandwidths", {})
    monkeypatch.setattr("gpunumpy.core.runtime.profile._COPY_BYTES", {"cpu": 1 << 22, "cuda": 1 << 22})
    with Device(device):
        np.free_all_blocks()
        values = [from_host(numpy.ones(1 << 16), Device(device)) * 2.0 for _ in range(4)]
        np.synchronize()
        np.set_memory_limit(memory.memory_info(device).used + (1 << 22), device)  # one of the two buffers has room
        try:
            assert bandwidth(Device(device)) is None
            assert not any(x._node.data.is_spilled for x in values)
        finally:
            np.set_memory_limit(None, device)
        assert bandwidth(Device(device)) is not None


@pytest.fixture
def values(device: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Arrays of 1.05 MB on the device, and none besides that a search finds; nothing has moved."""
    with Device(device):
        made = [from_host(numpy.full(1 << 17, k), Device(device)) for k in range(6)]
        for x in made:
            x += 1
            x.computed()
        np.synchronize()
        gc.collect()  # what is garbage by now makes no room later
        np.free_all_blocks()
        monkeypatch.setattr(spill, "pool_buffers", lambda: [x._node.data for x in made if not x._node.data.is_spilled])
        monkeypatch.setattr(Device(device), "has_spilled", False)
        yield made
        np.set_memory_limit(None, device)


def test_explain_says_which_values_would_move(device: str, values: list[Any]) -> None:
    """As many as then do so, and not what the work reads."""
    before = memory.memory_info(device)
    np.set_memory_limit(before.used + (2 << 20), device)
    fits = values[3] * 2
    assert "would move" not in explanation(fits)
    results = [values[3] * k for k in range(3, 6)]
    text = explanation(*results)
    assert "2.1 MB of other values would move to the host to make room: 2 of 1.05 MB\n" in text
    assert not any(x._node.data.is_spilled for x in values)
    np.synchronize()
    assert memory.memory_info(device).spilled >= before.spilled + (2 << 20)
    assert not values[3]._node.data.is_spilled
    for k, x in enumerate([fits, *results], 2):
        numpy.testing.assert_array_equal(to_host(x), numpy.full(1 << 17, 4) * k)


def test_explain_says_which_values_would_make_room_for_others(device: str, values: list[Any]) -> None:
    """For those that come back; what is read here goes last."""
    queue = evaluate.queue_of(Device(device))
    for x in values[:2]:
        spill.move_out(x._node.data, queue)
    np.free_all_blocks()
    np.set_memory_limit(memory.memory_info(device).used + (1 << 20), device)
    text = explanation(values[0] * 2)
    assert "1.05 MB in operands on the host" in text
    assert "1.05 MB of other values would move to the host to make room: 1 of 1.05 MB\n" in text
    read = [x._node.data for x in values[2:4]]
    found = spill.values_to_move(queue, 4 << 20, read)
    assert [id(x) for x in found[2:]] == [id(read[1]), id(read[0])]
    assert {id(x) for x in found[:2]} == {id(x._node.data) for x in values[4:]}
