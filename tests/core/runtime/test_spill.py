"""More values than a device has room for: they move to the host, come back when they are read, and none is lost."""

from __future__ import annotations

import gc
import io
import os
import re
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime import evaluate, host_copies, memory, memory_copy, spill, spill_store
from gpunumpy.core.runtime.byte_sizes import parsed_bytes
from gpunumpy.core.runtime.device import CPU
from gpunumpy.core.runtime.memory_parts import parts_that_fit
from gpunumpy.core.runtime.memory_pool import PoolBuffer
from gpunumpy.core.runtime.spill import SpilledBuffer

from ...support import fake_driver

SIZE = 1 << 15  # elements of an array here
BYTES = 8 * SIZE


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_driver.FakeDriver:
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    return fake_driver.install(monkeypatch)


@pytest.fixture(autouse=True)
def room(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[float], None]]:
    """Leaves room for so many arrays besides those that exist."""

    def leave(arrays: float) -> None:
        np.synchronize()
        memory.free_all_blocks("cpu")
        np.set_memory_limit(memory.memory_info("cpu").used + int(arrays * BYTES), "cpu")

    monkeypatch.setattr(CPU, "has_spilled", True)  # so that uses are noted from the beginning
    with np.Device("cpu"):
        gc.collect()
        yield leave
        np.set_memory_limit(None, "cpu")


def values(k: int) -> numpy.ndarray:
    return numpy.arange(SIZE) * 1.5 + k


def arrays(count: int) -> list[Any]:
    made = [np.asarray(values(k)) for k in range(count)]
    assert all(x.computed().data is not None for x in made)
    return made


def is_spilled(x: Any) -> bool:
    return type(x._node.data) is SpilledBuffer


def same(x: Any, expected: Any) -> None:
    numpy.testing.assert_array_equal(x.get(), expected)


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "nbytes"),
    [(None, None), (0, 0), (4096, 4096), (numpy.int64(5), 5), ("7 b", 7), ("16GB", 16 * 10**9), (" 1.5 GiB ", 3 << 29),
     ("500 MB", 5 * 10**8), ("2kB", 2000), ("2KiB", 2048), (".5TB", 5 * 10**11), ("1tib", 1 << 40), ("4096", 4096)],
)  # fmt: skip
def test_sizes_with_units(given: Any, nbytes: int | None) -> None:
    assert parsed_bytes(given) == nbytes


@pytest.mark.parametrize("given", ["", "GB", "16 gigabytes", "-1GB", "1e9", "1 000", "16 G"])
def test_texts_that_are_no_sizes(given: str) -> None:
    with pytest.raises(ValueError, match=r"a memory limit is a number and a unit \(B, .*TiB\), such as '16GB', not '"):
        np.set_memory_limit(given)


@pytest.mark.parametrize("given", [1.5, [], b"16GB", True + 0.0])
def test_what_is_no_size(given: Any) -> None:
    with pytest.raises(TypeError, match="a memory limit is a number of bytes, a text such as '16GB' or None, not"):
        np.set_memory_limit(given)


@pytest.mark.parametrize(
    ("limit", "said"), [("1 GB", "1000000000"), ("", "None"), ("much", "ValueError: GPUNUMPY_MEMORY_LIMIT is")]
)
def test_the_environment_has_the_first_limit(limit: str, said: str) -> None:
    program = "import gpunumpy as np; print(np.memory_info('cpu').limit)"
    environment = {**os.environ, "GPUNUMPY_MEMORY_LIMIT": limit}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert said in done.stdout + done.stderr


def test_memory_info_tells(room: Callable[[float], None]) -> None:
    np.set_memory_limit("1GB")
    assert np.memory_info().limit == 10**9
    before = np.memory_info().spilled
    kept = arrays(2)
    room(1)
    more = arrays(3)
    info = np.memory_info()
    assert info.spilled == before + 2 * BYTES
    assert info.limit is not None
    assert info.used + info.cached <= info.limit
    for k, x in enumerate(more):
        same(x, values(k))
    del kept, more, x
    assert np.memory_info().spilled == before


# --- what moves -------------------------------------------------------------------------------------------------------


def test_values_move_and_come_back(room: Callable[[float], None]) -> None:
    room(4)
    made = arrays(12)
    assert sum(map(is_spilled, made)) == 8
    for round_ in range(1, 4):
        for x in made:
            x += 1
            np.synchronize()
        for k, x in enumerate(made):
            assert float(x.sum()) == (values(k) + round_).sum()
    for k, x in enumerate(made):
        same(x, values(k) + 3)
        same(x[::2] * 2, (values(k) + 3)[::2] * 2)


def test_the_least_recently_used_move_first(room: Callable[[float], None]) -> None:
    room(4.2)
    made = arrays(5)
    assert [is_spilled(x) for x in made] == [True, False, False, False, False]
    (made[3] + made[4]).sum().computed()
    for _ in range(4):
        (made[1] + made[2]).sum().computed()
    more = arrays(2)
    assert [is_spilled(x) for x in made] == [True, False, False, True, True]
    del more


def test_what_the_plan_needs_next_stays(room: Callable[[float], None]) -> None:
    room(4.5)
    made = arrays(4)
    results = [np.sort(x) for x in made]  # a call for each, in one plan, in this order
    np.synchronize()
    moved = [is_spilled(x) for x in made]
    for k, result in enumerate(results):
        same(result, values(k))
    assert moved == sorted(moved, reverse=True)  # when the last was read, the first had been moved


def test_a_run_uses_a_value_once(room: Callable[[float], None]) -> None:
    """However many of its nodes read the value."""
    room(6)
    (x,) = arrays(1)
    for _ in range(3):
        (x[2:] + x[:-2] + x[1:-1] * x[0]).computed()
    pool = memory.pool_of(CPU)
    times = pool.uses[weakref.ref(x._node.data)].times
    assert len(times) == len(set(times)) >= 3


@pytest.mark.parametrize(
    ("times", "now", "expected"),
    [
        ((7,), 9, 11),  # used once: the longer ago, the later
        ((2, 5), 5, 8),
        ((2, 5), 7, 8),
        ((2, 5), 8, 11),  # it did not come
        ((1, 2, 11, 12, 21), 21, 22),  # at two times of each pass
        ((1, 2, 11, 12, 21, 22), 23, 31),
    ],
)
def test_when_a_value_is_expected(times: tuple[int, ...], now: int, expected: int) -> None:
    assert spill.expected(times, now) == expected


def test_a_loop_that_reads_each_array_at_two_times(room: Callable[[float], None]) -> None:
    """A step reads the next array too: of 16 arrays 9 can stay, if those that come soonest do."""
    room(11)
    made = arrays(16)
    pool = memory.pool_of(CPU)
    moved = []
    for _ in range(4):
        before = pool.bytes_from_host + pool.bytes_to_host
        for k, x in enumerate(made):
            x[1:] += made[(k + 1) % 16][0]
            np.synchronize()
        moved.append((pool.bytes_from_host + pool.bytes_to_host - before) // BYTES)
    assert moved[2] <= 14
    assert moved[3] <= 14


def test_a_look_brings_nothing_back(room: Callable[[float], None]) -> None:
    room(2)
    made = arrays(4)
    assert is_spilled(made[0])
    assert float(made[0][7]) == values(0)[7]
    same(made[0], values(0))
    assert is_spilled(made[0])


def test_what_was_not_written_moves_without_a_copy(
    room: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    room(3)
    made = arrays(5)
    sums = [float(x.sum()) for x in made]
    copied = []
    copy = memory_copy.move_to_host
    monkeypatch.setattr(spill, "move_to_host", lambda *args: (copied.append(1), copy(*args)))
    for _ in range(3):
        assert [float((x + 1).max()) for x in made] == [values(k).max() + 1 for k in range(5)]
    assert len(copied) <= 5
    copied.clear()
    made[0] += 1
    assert float(made[0].sum()) == (values(0) + 1).sum()
    more = arrays(3)
    assert is_spilled(made[0])
    assert copied
    same(made[0], values(0) + 1)
    assert sums == [values(k).sum() for k in range(5)]
    del more


def test_writes_through_views_of_what_was_moved(room: Callable[[float], None]) -> None:
    room(2)
    made = arrays(5)
    expected = values(0)
    view, other = made[0][10:], expected[10:]
    assert is_spilled(made[0])
    view[::3] = 7
    other[::3] = 7
    view += made[1][10:]
    other += values(1)[10:]
    more = arrays(3)
    same(made[0], expected)
    same(view, other)
    del more


def test_an_exported_address_stays(room: Callable[[float], None]) -> None:
    made = arrays(3)
    window = numpy.from_dlpack(made[0])
    address = made[1].data_ptr()
    room(1)
    more = arrays(4)
    assert not is_spilled(made[0])
    assert not is_spilled(made[1])
    assert is_spilled(made[2])
    window[0] = -5
    assert made[1].data_ptr() == address
    assert float(made[0][0]) == -5
    with pytest.raises(MemoryError):
        [x.data_ptr() for x in more]  # more than there is room for, and none may move
    assert not [x for x in more if type(x._node.data) is PoolBuffer and not x._node.data.exported]
    for k, x in enumerate(more):
        same(x, values(k))


def test_a_limit_lowered_in_the_middle(room: Callable[[float], None]) -> None:
    room(20)
    others = np.memory_info().used  # what other tests have left
    made = arrays(8)
    assert not any(map(is_spilled, made))
    for left in (6.0, 3.0, 2.0):
        np.set_memory_limit(others + int(left * BYTES))
        for k, x in enumerate(made):
            y = x * 2
            same(y, values(k) * 2)
            del y
        info = np.memory_info()
        assert info.used + info.cached <= others + left * BYTES
    np.set_memory_limit(None)
    for k, x in enumerate(made):
        same(x + 1, values(k) + 1)


def test_without_a_limit_the_cpu_device_moves_nothing() -> None:
    x = arrays(1)[0]
    with pytest.raises(MemoryError):
        memory.allocate(np.Device("cpu"), 1 << 50)
    assert not is_spilled(x)


def test_what_can_never_fit_moves_nothing(room: Callable[[float], None]) -> None:
    room(2)
    x = arrays(1)[0]
    with pytest.raises(MemoryError):
        memory.allocate(np.Device("cpu"), 1 << 30)
    assert not is_spilled(x)
    same(x, values(0))


def test_values_inside_of_one_plan(room: Callable[[float], None]) -> None:
    """Results of early steps that later ones read move in between."""
    room(4.5)
    made = arrays(2)
    expected = [numpy.cumsum(values(k % 2) * (k + 1)) for k in range(8)]
    results = [np.cumsum(made[k % 2] * (k + 1)) for k in range(8)]
    np.synchronize()
    for result, wanted in zip(results, expected, strict=True):
        same(result, wanted)
    same(results[0] + results[7], expected[0] + expected[7])


def test_garbage_that_is_collected_while_values_move(
    room: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of what has been used loses entries then, while it is read."""
    room(6)
    made = arrays(4)
    runs, threshold = spill._runs, gc.get_threshold()

    def runs_and_garbage(queue: Any) -> Any:
        gc.set_threshold(gc.get_count()[0] + 20)
        return runs(queue)

    gc.set_threshold(1 << 30)
    try:
        for _ in range(60):
            cycle: list[Any] = [np.asarray(numpy.ones(8))]
            cycle.append(cycle)
        del cycle
        monkeypatch.setattr(spill, "_runs", runs_and_garbage)
        more = arrays(5)
    finally:
        gc.set_threshold(*threshold)
    for k, x in enumerate([*made, *more]):
        same(x, values(k if k < 4 else k - 4))


# --- graphs that read more than there is room for at once -------------------------------------------------------------


def test_an_expression_of_more_arrays_than_fit(room: Callable[[float], None]) -> None:
    room(5.2)
    made, expected = arrays(14), [values(k) for k in range(14)]
    total, wanted = made[0] * 1, expected[0] * 1
    for x, e in zip(made[1:], expected[1:], strict=True):
        total = total * 0.5 + x
        wanted = wanted * 0.5 + e
    same(total, wanted)
    assert float(total.max()) == wanted.max()


def test_reductions_of_more_arrays_than_fit(room: Callable[[float], None]) -> None:
    room(4.2)
    made = arrays(12)
    found = [x.max() for x in made] + [(x + made[3]).min() for x in made]
    np.synchronize()
    wanted = [values(k).max() for k in range(12)] + [(values(k) + values(3)).min() for k in range(12)]
    assert [float(x) for x in found] == wanted


def test_writes_of_more_arrays_than_fit(room: Callable[[float], None]) -> None:
    room(5.2)
    made, expected = arrays(10), [values(k) for k in range(10)]
    for group in (made, expected):
        for k, x in enumerate(group):
            x[5:] += group[(k + 1) % 10][:-5]
            x *= 2
    np.synchronize()
    for x, wanted in zip(made, expected, strict=True):
        same(x, wanted)


def test_an_expression_that_no_cut_makes_fit(room: Callable[[float], None]) -> None:
    made = arrays(3)
    room(-1.5)  # one array fits and no other one: there is no room for what is transformed, and a result
    prime = 32_749  # of points, which no shorter transforms make
    result = np.fft.rfft((made[0] + made[1])[:prime])
    with pytest.raises(MemoryError, match="set_memory_limit allows"):
        result.get()
    np.set_memory_limit(None)
    expected = numpy.fft.rfft((values(0) + values(1))[:prime])
    numpy.testing.assert_allclose(result.get(), expected, rtol=1e-12, atol=1e-9)
    same(made[2], values(2))


def test_parts_read_at_most_the_budget() -> None:
    made = [np.asarray(values(k)) for k in range(9)]
    together = made[0] + made[1]
    for x in made[2:]:
        together = together + x
    parts = parts_that_fit([together._node], 4 * BYTES)
    assert parts[-1] == [together._node]
    first = 0
    for part in parts:
        read = {id(node.data) for node in evaluate.walk(part)[0] if node.data is not None} - {None}
        first = max(first, len(read))
        evaluate.compute_only(together.queue, part)
    assert 2 <= first <= 4
    assert len(parts_that_fit([(made[0] + made[1])._node], 4 * BYTES)) == 1


def test_a_profile_tells_what_moved(room: Callable[[float], None]) -> None:
    room(3.2)
    made = arrays(5)
    text = io.StringIO()
    with np.profile(file=text):
        for x in made:
            x += 1
            np.synchronize()
    assert re.search(
        r"^moved for lack of room: [\d.]+ \w+ to the host and [\d.]+ \w+ back$", text.getvalue(), re.MULTILINE
    )
    np.set_memory_limit(None)
    text = io.StringIO()
    with np.profile(file=text):
        (made[-1] + 1).computed()
    assert "lack of room" not in text.getvalue()


# --- where to ---------------------------------------------------------------------------------------------------------


def test_a_folder_for_files(room: Callable[[float], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUNUMPY_SPILL_DIR", str(tmp_path))
    made_files = []
    make = spill_store._file_bytes
    monkeypatch.setattr(spill_store, "_file_bytes", lambda *args: (made_files.append(args), make(*args))[1])
    room(2)
    made = arrays(6)
    for k, x in enumerate(made):
        same(x * 3, values(k) * 3)
    assert {folder for folder, _ in made_files} == {str(tmp_path)}
    assert not list(tmp_path.iterdir())  # they have no names


def test_a_full_disk(room: Callable[[float], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUNUMPY_SPILL_DIR", str(tmp_path))

    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    made = arrays(3)
    room(0.5)
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(
        MemoryError, match=r"set_memory_limit allows.*GPUNUMPY_SPILL_DIR=.* takes no more values: .*No space"
    ):
        (made[0] * 2).get()
    for k, x in enumerate(made):
        same(x, values(k))
    monkeypatch.undo()
    same(made[0] * 2, values(0) * 2)


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    """The system refuses the bytes of the file before they are written: nothing ends the process."""
    program = f"""
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, ({3 * BYTES // 2}, {3 * BYTES // 2}))
import numpy, gpunumpy as np
np.set_residence("device")
with np.Device("cpu"):
    np.set_memory_limit({4 * BYTES})
    small = [np.asarray(numpy.arange({SIZE}) * 1.0 + k) for k in range(6)]
    large = [np.asarray(numpy.arange({2 * SIZE}) * 1.0 + k) for k in range(1)]
    try:
        more = np.asarray(numpy.arange({2 * SIZE}) * 1.0) + large[0]
        more = more.get()
    except MemoryError as error:
        print("refused", error)
    for k, x in enumerate(small):
        assert (x.get() == numpy.arange({SIZE}) * 1.0 + k).all()
    assert (large[0].get() == numpy.arange({2 * SIZE}) * 1.0).all()
print("whole")
"""
    environment = {**os.environ, "GPUNUMPY_SPILL_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["whole"], done.stderr


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no such signal")
def test_files_go_with_a_process_that_is_killed(tmp_path: Path) -> None:
    program = f"""
import os, signal
import numpy, gpunumpy as np
np.set_residence("device")
with np.Device("cpu"):
    np.set_memory_limit({4 * BYTES})
    made = [np.asarray(numpy.arange({SIZE}) * 1.0 + k) for k in range(12)]
    np.synchronize()
    print(np.memory_info().spilled, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    environment = {**os.environ, "GPUNUMPY_SPILL_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert int(done.stdout) >= 8 * BYTES
    assert not list(tmp_path.iterdir())


def test_no_folder_of_that_name(room: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUNUMPY_SPILL_DIR", "/no/such/folder")
    made = arrays(2)
    room(0.5)
    with pytest.raises(MemoryError, match="GPUNUMPY_SPILL_DIR=/no/such/folder takes no more values"):
        (made[0] + 1).get()
    same(made[0], values(0))


# --- what comes in between --------------------------------------------------------------------------------------------


def test_an_allocation_that_fails_at_any_place(room: Callable[[float], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever moves, or brings values back, finds no memory once."""
    new_block, place = memory.pool_of(np.Device("cpu")).new_block, spill_store.SpillStore.place
    for number in range(1, 60):
        left = number

        def fails() -> bool:
            nonlocal left
            left -= 1
            return left == 0

        room(3)
        made = arrays(6)
        with monkeypatch.context() as patch:
            patch.setattr(
                memory.pool_of(np.Device("cpu")), "new_block", lambda size: None if fails() else new_block(size)
            )
            patch.setattr(spill_store.SpillStore, "place", lambda self, size: None if fails() else place(self, size))
            done = 0
            try:
                for x in made:
                    x += 1
                    np.synchronize()
                    done += 1
            except MemoryError:
                pass
        for k, x in enumerate(made):
            assert float(x.sum()) in (values(k).sum(), (values(k) + 1).sum()), (number, k)
        del made, x
        if left > 0:
            break
    assert left > 0
    assert number > 5


def test_threads(room: Callable[[float], None]) -> None:
    room(6)
    failures: list[BaseException] = []

    def work(first: int) -> None:
        try:
            with np.Device("cpu"):
                made = arrays(4)
                for round_ in range(1, 8):
                    for k, x in enumerate(made):
                        x += first
                        assert float(x[round_]) == values(k)[round_] + first * round_
                        same(x, values(k) + first * round_)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("moment", ["allocated", "copied"])
def test_a_value_that_another_thread_moves_before_it_is_there(
    room: Callable[[float], None], monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """A thread that makes room moves a buffer that this one has just allocated, and is about to fill, or fills."""
    room(3)
    queue, filled = evaluate.queue_of(CPU), memory_copy.fill_new
    move_to_host, moved = memory_copy.move_to_host, []

    def moved_first(buffer: Any, *args: Any) -> None:
        moved.append(buffer)
        with pytest.MonkeyPatch.context() as patch:
            if moment == "allocated":
                with monkeypatch.context() as outside:
                    outside.setattr(memory, "stays", lambda buffer: False)  # as before the context was entered
                    spill.move_out(buffer, queue)
                filled(buffer, *args)
                return

            def copied(target: Any, source: Any, is_pinned: bool) -> None:
                move_to_host(target, source, is_pinned)
                with memory.staying(source):
                    filled(source, *args)

            patch.setattr(spill, "move_to_host", copied)
            with monkeypatch.context() as outside:
                outside.setattr(memory, "stays", lambda buffer: False)
                spill.move_out(buffer, queue)

    with monkeypatch.context() as patch:
        patch.setattr(host_copies, "fill_new", moved_first)
        (x,) = arrays(1)
    assert len(moved) == 1
    same(x, values(0))
    more = arrays(3)
    assert is_spilled(x)
    same(x, values(0))
    del more


def test_a_forked_child_has_what_was_moved(room: Callable[[float], None]) -> None:
    from ...support.forks import in_child

    room(2)
    made = arrays(5)

    def look() -> None:
        for k, x in enumerate(made):
            same(x + 1, values(k) + 1)

    in_child(look)
    look()


# --- a GPU ------------------------------------------------------------------------------------------------------------


def test_a_gpu_moves_values_to_page_locked_memory(gpu: fake_driver.FakeDriver) -> None:
    with np.Device("cuda:0") as device:
        memory.set_memory_limit(memory.memory_info(device).used + 4 * BYTES)
        made = arrays(8)
        assert sum(map(is_spilled, made)) == 4
        assert gpu.calls.count("cuMemcpyDtoHAsync") == 4
        for k, x in enumerate(made):
            same(x, values(k))
        ptrs = [x.data_ptr() for x in made[:4]]
        assert len(set(ptrs)) == 4
        for k, x in enumerate(made):
            same(x, values(k))
        memory.set_memory_limit(None)


def test_pages_that_cannot_be_locked(gpu: fake_driver.FakeDriver) -> None:
    """Values go to pageable memory, and the system is not asked again."""
    with np.Device("cuda:0") as device:
        gpu.refuse = lambda name: "CUDA_ERROR_OUT_OF_MEMORY" if name == "cuMemHostAlloc" and has_stage else None
        has_stage = False
        same(arrays(1)[0], values(0))
        has_stage = True
        memory.set_memory_limit(memory.memory_info(device).used + 4 * BYTES)
        made = arrays(8)
        asked = gpu.calls.count("cuMemHostAlloc")
        more = arrays(2)
        assert sum(map(is_spilled, made)) == 6
        assert gpu.calls.count("cuMemHostAlloc") == asked
        for k, x in enumerate(made):
            same(x, values(k))
        memory.set_memory_limit(None)
        del more


def test_a_quarter_of_the_machine_stays_free_of_locked_pages(
    gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    total = 40 * BYTES
    free = total // 4 + 3 * BYTES + 1  # as three values leave a quarter free

    def memory_bytes() -> tuple[int, int]:
        return free - store._pinned_bytes, total

    monkeypatch.setattr(spill_store, "_memory_bytes", memory_bytes)
    with np.Device("cuda:0") as device:
        store = spill_store.SpillStore(device)
        places = [store.place(BYTES) for _ in range(5)]
        assert [place is not None and place.pinned is not None for place in places] == [True, True, True, False, False]


def test_a_full_gpu_moves_values(gpu: fake_driver.FakeDriver) -> None:
    with np.Device("cuda:0"):
        made = arrays(6)
        (made[0],)
        refused = []

        def refuse(name: str) -> str | None:
            if name == "cuMemAllocFromPoolAsync" and not any(map(is_spilled, made)):
                refused.append(name)
                return "CUDA_ERROR_OUT_OF_MEMORY"
            return None

        gpu.refuse = refuse
        more = arrays(1)
        assert refused
        assert any(map(is_spilled, made))
        for k, x in enumerate(made):
            same(x, values(k))
        same(more[0], values(0))
