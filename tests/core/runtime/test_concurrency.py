"""Threads that record, compute and write at once; and failures in the middle of a flush, which lose nothing."""

from __future__ import annotations

import gc
import io
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.graph import layout
from gpunumpy.core.graph import node as graph
from gpunumpy.core.graph.node import Node
from gpunumpy.core.graph.primitives import Map
from gpunumpy.core.graph.queue import REVIEW_INTERVAL
from gpunumpy.core.runtime import evaluate, loop_cut, memory
from gpunumpy.core.runtime.loop_cut import LoopCut
from gpunumpy.core.schedule import passes

from ...support.arrays import wrap
from ...support.met_nodes import Met

THREADS = 8
ROUNDS = 25
DOUBLE = numpy.dtype(float)


@pytest.fixture(autouse=True)
def on_device(device: str) -> Iterator[None]:
    """Every test runs on each device in turn."""
    with np.Device(device):
        yield
        np.synchronize()


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns every few bytecodes, so that they meet wherever they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run_in_threads(work: Callable[[int], Any], device: str) -> list[Any]:
    """Run ``work(k)`` in as many threads, begun at once; whatever one of them raises is raised."""
    start = threading.Barrier(THREADS, timeout=60)

    def one(k: int) -> Any:
        with np.Device(device):
            start.wait()
            return work(k)

    with ThreadPoolExecutor(THREADS) as pool:
        return [future.result(timeout=120) for future in [pool.submit(one, k) for k in range(THREADS)]]


def own_program(xp: Any, k: int, shared: Any) -> list[Any]:
    """Views, updates in place, reductions and looks at values, over arrays of a thread's own and a shared one."""
    a = xp.arange(60.0).reshape(6, 10) + k
    rows = a[1:-1]
    total = 0.0
    for step in range(ROUNDS):
        b = a * 2 + shared[step % 5]
        a[1:-1] = (a[2:] + a[:-2]) % 7
        rows += b[1:-1] % 3
        a.T[step % 10, 2:4] -= 1
        a[a > 9] = step
        if step % 4 == k % 4:
            total += float(b.sum())
        if step % 7 == k % 7:
            a[step % 6] = xp.asarray(numpy.asarray(rows.max(axis=0)))
    return [a, rows, b, total]


@pytest.mark.usefixtures("restless")
def test_threads_with_arrays_of_their_own(device: str) -> None:
    values = numpy.arange(50.0).reshape(5, 10)
    shared = np.asarray(values) * 1  # pending, and computed by whichever thread is first
    results = run_in_threads(lambda k: own_program(np, k, shared), device)
    for k, result in enumerate(results):
        for got, expected in zip(result, own_program(numpy, k, values), strict=True):
            numpy.testing.assert_array_equal(np.asnumpy(got) if isinstance(got, np.ndarray) else got, expected)


@pytest.mark.usefixtures("restless")
def test_threads_that_read_one_pending_array(device: str) -> None:
    """All look at views of a value that one of them is computing."""
    values = numpy.arange(24.0).reshape(4, 6)
    for turn in range(ROUNDS):
        x = np.asarray(values) * 2 + turn
        expected = values * 2 + turn
        keys: list[Any] = [0, (slice(None), 1), (slice(None, None, -1),), Ellipsis, (slice(1, 3), slice(2, None, 2))]

        def read(k: int, x: Any = x, keys: list[Any] = keys) -> list[Any]:
            return [np.asnumpy(y) for key in keys[k % 5 :] + keys[: k % 5] for y in (x[key], x[key] + 1, x.T.sum(0))]

        for k, got in enumerate(run_in_threads(read, device)):
            wanted = [y for key in keys[k % 5 :] + keys[: k % 5]
                      for y in (expected[key], expected[key] + 1, expected.T.sum(0))]  # fmt: skip
            for one, other in zip(got, wanted, strict=True):
                numpy.testing.assert_array_equal(one, other)


# How a thread writes its own row of an array that all write.
WRITES: dict[str, Callable[[Any, int, int], None]] = {
    "a row": lambda x, k, step: x.__setitem__(k, step),
    "a row of a value": lambda x, k, step: x.__setitem__(k, x[k] + 1),
    "in place": lambda x, k, step: x[k].__iadd__(k),
    "through a view of a view": lambda x, k, step: x.T[2:5, k].__imul__(-1),
    "by an index": lambda x, k, step: x.__setitem__((k, numpy.array([0, 3])), step),
    "by a mask": lambda x, k, step: x.__setitem__(numpy.arange(THREADS) == k, step + k),
}


def write_parts(name: str, device: str) -> None:
    values = numpy.arange(THREADS * 6.0).reshape(THREADS, 6)
    x = np.asarray(values)

    def write(k: int, x: Any = x) -> None:
        for step in range(ROUNDS):
            WRITES[name](x, k, step)
            if isinstance(x, np.ndarray) and step % 8 == k:
                x[k].get()

    run_in_threads(write, device)
    for k in range(THREADS):
        write(k, values)
    numpy.testing.assert_array_equal(x.get(), values)


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize("name", WRITES)
def test_threads_that_write_parts_of_one_array(name: str, device: str) -> None:
    write_parts(name, device)


@pytest.mark.parametrize("slow", ["update", "broadcast"])
@pytest.mark.parametrize("name", ["a row", "in place"])
def test_slow_threads_that_write_parts_of_one_array(
    name: str, slow: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same with threads that rest just where another one's write or flush would do harm."""
    function = getattr(graph, slow)

    def rest(*args: Any) -> Any:
        made = function(*args)
        time.sleep(1e-3)
        return made

    monkeypatch.setattr(graph, slow, rest)
    write_parts(name, device)


@pytest.mark.usefixtures("restless")
def test_a_view_that_is_read_while_its_array_is_written(device: str) -> None:
    x = np.zeros((THREADS, 50))
    view = x[:, ::-1]

    def work(k: int) -> None:
        for step in range(ROUNDS):
            if k == 0:
                x[:] = step + 1
            else:
                seen = (view + 0).get()
                assert seen.min() >= 0
                assert seen.max() <= ROUNDS

    run_in_threads(work, device)
    assert (view.get() == ROUNDS).all()


def test_a_node_that_is_computed_while_it_is_viewed() -> None:
    x = np.asarray(numpy.arange(12.0))
    y = (x[::2] * 1)[1:]
    for value in (x + 1, x[:6] * 1, np.asarray(numpy.arange(24.0))[::2] + 0):
        node = value._node
        shape = node.signature.shape
        node.__class__ = Met
        seen = graph.view(node, layout.Layout((shape[0] // 2,), (2,), 1))
        assert type(node) is Node
        assert seen.data is node.data is not None
        assert graph.leaf_layout(seen) == layout.Layout((shape[0] // 2,), (2,), 1)
    numpy.testing.assert_array_equal(y.get(), numpy.arange(2.0, 12.0, 2))


@pytest.mark.parametrize("record", [numpy.negative, lambda y: -y, lambda y: y - 3, lambda y: 3 - y, lambda y: y.sum(0)])
def test_an_operand_that_is_computed_while_an_operation_on_it_is_recorded(record: Callable[[Any], Any]) -> None:
    """What is remembered of the first recording serves the next one, which is of a pending operand."""
    values = numpy.random.default_rng(5).random((3, 17))
    for turn in range(3):
        y = np.asarray(values) * 7
        if turn == 0:
            y._node.__class__ = Met
        made = record(y)
        node = made._node
        assert turn == 0 or node.signature.args == tuple(a.signature for a in node.args)
        numpy.testing.assert_array_equal(made.get(), record(values * 7))


def test_generators_of_which_another_one_is_computed() -> None:
    """Two graphs that differ only in which of two equal generators is computed have a plan each."""
    for computed in (0, 1):
        parts = [np.arange(40), np.arange(40)]
        total = parts[0] * 3 - parts[1]
        evaluate.compute(parts[computed]._node)
        numpy.testing.assert_array_equal(total.get(), numpy.arange(40) * 2)


class Watched(Node):
    """A node that checks at every change of its signature that nobody takes it for computed too early."""

    __slots__ = ()

    @property
    def signature(self) -> Any:  # type: ignore[override]
        return Node.signature.__get__(self)  # type: ignore[attr-defined]

    @signature.setter
    def signature(self, value: Any) -> None:
        assert self.data is None
        assert self.args
        Node.signature.__set__(self, value)  # type: ignore[attr-defined]


def test_a_node_that_seems_computed_is() -> None:
    value = np.asarray(numpy.arange(12.0)) + 1
    value._node.__class__ = Watched
    numpy.testing.assert_array_equal(value.get(), numpy.arange(1.0, 13.0))


def test_a_value_that_a_thread_has_read_before_another_ones_flush() -> None:
    """A write in place is there once, for an operation too that is recorded when a later write has gone over it."""
    x = np.asarray(numpy.arange(6.0))
    x[:1] += 10
    read = x.value()
    x[3:] += 10
    x.get()
    late = wrap(graph.view(read, layout.Layout((2,), (1,), 0)))
    numpy.testing.assert_array_equal(late.get(), [10, 1])


# Failures in the middle of a flush.


class Stop(Exception):
    """What a test raises where a driver, a compiler or a user would."""


def update(xp: Any, x: Any) -> list[Any]:
    before = x * 2
    x[2:5] += 10
    after = x + 1
    x[3:] -= 1
    return [x, before, after, xp.cumsum(after)]


def products(xp: Any, x: Any) -> list[Any]:
    square = x.reshape(4, 3) @ x.reshape(3, 4)
    x[0:6] = x[5::-1]
    x[1:3] *= 3
    return [square.sum(axis=0) + 1, x, (square - 1).T @ x.reshape(4, 3), x[::2]]


def indexed(xp: Any, x: Any) -> list[Any]:
    index = xp.asarray(numpy.array([1, 3, 3, 11]))
    old = x[index]
    x[index] = 5
    xp.add.at(x, index, 2)
    made = x[:] * 1
    made[::2] = old.sum()
    made[1:4] += 1
    return [x, old, made, xp.cumsum(made)]


def fail_at_allocation(k: int, patch: pytest.MonkeyPatch) -> list[int]:
    """Let the k-th allocation from now fail; returns a list with an entry for each."""
    seen: list[int] = []
    find_block = memory._find_block

    def scarce(device: Any, nbytes: int) -> Any:
        seen.append(nbytes)
        if len(seen) == k:
            raise MemoryError("none left")
        return find_block(device, nbytes)

    patch.setattr(memory, "_find_block", scarce)
    patch.setattr(memory, "spill", None)  # else what the plan has no room for is computed in slabs, which finds room
    for device in memory._pools:
        patch.setattr(device, "free_lists", {})  # no free list is known
    return seen


def fail_at_step(k: int, patch: pytest.MonkeyPatch) -> list[int]:
    """Let the k-th piece of work from now fail."""
    seen: list[int] = []

    def observe(step: Any, work: Callable[[], None]) -> None:
        seen.append(0)
        if len(seen) == k:
            raise Stop
        work()

    patch.setattr(evaluate, "observer", observe)
    return seen


@pytest.mark.parametrize("fail", [fail_at_allocation, fail_at_step])
@pytest.mark.parametrize("program", [update, products, indexed])
def test_a_flush_that_fails_loses_nothing(program: Any, fail: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever allocation or step fails, what is computed afterwards is as if nothing had happened."""
    values = numpy.arange(12.0)
    expected = program(numpy, values.copy())
    for k in range(1, 100):
        x, kept, bystander = np.asarray(values), np.asarray(values) * 3, np.asarray(values)
        bystander[4:8] += 1
        results = program(np, x)
        with monkeypatch.context() as patch:
            seen = fail(k, patch)
            failed = True
            try:
                evaluate.flush(x.queue)
                failed = False
            except (MemoryError, Stop):
                assert len(seen) == k
        for got, wanted in zip(results, expected, strict=True):
            numpy.testing.assert_array_equal(got.get(), wanted, err_msg=f"after failure {k}")
        numpy.testing.assert_array_equal(kept.get(), values * 3)
        numpy.testing.assert_array_equal(bystander.get(), values + ((values >= 4) & (values < 8)))
        if not failed:
            assert k > 3, "the program has too few places to fail at"
            return
    pytest.fail("the flush never ended")


def test_a_plan_that_cannot_be_made_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not to compile is a failure too: what was pending stays so, and a later write leaves it its old values."""
    values = numpy.arange(17.0)
    x = np.asarray(values)
    y = x * 2 - 17

    def refuse(*args: Any) -> Any:
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(passes, "schedule", refuse)
        with pytest.raises(Stop):
            evaluate.flush(x.queue)
    x[3:9] = -1
    x.get()
    numpy.testing.assert_array_equal(y.get(), values * 2 - 17)


def test_no_memory() -> None:
    """The limit of memory itself, instead of one that a test pretends."""
    device = np.default_device()
    x = np.asarray(numpy.arange(1000.0))
    y = x + 1
    np.synchronize()
    memory.free_all_blocks()  # a block that is kept would serve
    memory.set_memory_limit(memory.memory_info(device).used + (1 << 20))
    try:
        x[10:20] += 1
        prime = 1048583  # of other numbers of points, as of sums, there are slabs
        large = np.fft.fft(np.zeros(prime) + x[:1])
        z = x * 2
        with pytest.raises(MemoryError, match="set_memory_limit allows"):
            large.get()
        numpy.testing.assert_array_equal((z + 1).get()[10:12], [23, 25])
        del large
        gc.collect()  # the traceback held it too, in a circle
        wanted = numpy.arange(1000.0) + ((numpy.arange(1000) >= 10) & (numpy.arange(1000) < 20))
        numpy.testing.assert_array_equal(x.get(), wanted)
        numpy.testing.assert_array_equal(z.get(), wanted * 2)
        numpy.testing.assert_array_equal(y.get(), numpy.arange(1000.0) + 1)
    finally:
        memory.set_memory_limit(None)


def test_a_value_that_cannot_be_computed_raises_only_for_those_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others, of which it may need the old values, are computed without it."""
    monkeypatch.setattr(evaluate, "CHECK", False)  # a defect that the checker finds would be raised at once
    plans = passes.schedule  # type: ignore[attr-defined]

    def refuse(items: Any, *args: Any) -> Any:
        if any(item.signature.primitive == Map("sinh", (DOUBLE, DOUBLE)) for item in items):
            raise Stop
        return plans(items, *args)

    values = numpy.arange(23.0)
    with monkeypatch.context() as patch:
        patch.setattr(passes, "schedule", refuse)
        x = np.asarray(values)
        stuck = np.sinh(x) - x
        x[3:9] = -1
        x[2] += 1
        y = x[1:5] * 2
        numpy.testing.assert_array_equal(x.get()[:6], [0, 1, 3, -1, -1, -1])
        numpy.testing.assert_array_equal(y.get(), [2, 6, -2, -2])
        for _ in range(2):
            with pytest.raises(Stop):
                stuck.get()
            with pytest.raises(Stop):
                np.synchronize()
        for k in range(300):  # recording reviews the graph, and is not the place to raise
            y = y + k
        numpy.testing.assert_array_equal(y.get()[:2], numpy.array([2, 6]) + sum(range(300)))
    numpy.testing.assert_allclose(stuck.get(), numpy.sinh(values) - values)


def test_an_index_out_of_bounds_raises_once_and_names_its_line() -> None:
    x = np.asarray(numpy.arange(10.0))
    before = x + 1
    index = np.asarray(numpy.array([3, 12])) + 0
    line = sys._getframe().f_lineno + 1
    picked = x[index]
    with pytest.raises(IndexError, match=rf"out of bounds.*test_concurrency\.py.*\b{line}\b"):
        picked.get()
    np.synchronize()
    after = x[index % 10] * 2
    x[index % 10] = 0
    numpy.testing.assert_array_equal(after.get(), [6, 4])
    numpy.testing.assert_array_equal(before.get(), numpy.arange(10.0) + 1)
    numpy.testing.assert_array_equal(x.get(), [0, 1, 0, 0, 4, 5, 6, 7, 8, 9])


@pytest.mark.usefixtures("restless")
def test_an_index_out_of_bounds_in_one_of_many_threads(device: str) -> None:
    """The error is raised once, in a thread that looks; no other one sees anything else."""
    x = np.asarray(numpy.arange(10.0))
    raised: list[IndexError] = []

    def work(k: int) -> None:
        index = np.asarray(numpy.array([k, 10 + k if k == 3 else 0]))
        for _ in range(5):
            try:
                (x[index] + k).get()
            except IndexError as error:
                raised.append(error)
            index = index % 10

    run_in_threads(work, device)
    assert len(raised) == 1
    assert "out of bounds" in str(raised[0])


class SlowWord(list[int]):
    """A word that other threads read before one that has read it goes on."""

    def __getitem__(self, k: Any) -> Any:
        value = super().__getitem__(k)
        time.sleep(0.01)
        return value


def test_an_index_error_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = np.Device("cpu")
    monkeypatch.setattr(memory, "_index_error_words", {cpu: (SlowWord([7]), 0)})
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(memory.take_index_error, [cpu] * 8))
    assert sorted(taken) == [0] * 7 + [7]


# Programs that record much before they look at anything.


def test_many_writes_to_one_array_are_flushed_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph stays small, however many elements a loop writes one by one."""
    sizes: list[int] = []
    plan = passes.schedule  # type: ignore[attr-defined]

    def sized(items: Any, *args: Any) -> Any:
        sizes.append(len(items))
        return plan(items, *args)

    monkeypatch.setattr(passes, "schedule", sized)
    evaluate.state_of(np.default_device()).cut = LoopCut()
    a = np.zeros(1500, np.complex64)  # of a dtype in which no other test writes so, as plans are kept
    for i in range(1500):
        a[i] = i
    numpy.testing.assert_array_equal(a.get(), numpy.arange(1500, dtype=numpy.complex64))
    # The first graph grows while the place to flush it at is searched for.
    assert sizes[0] < 4 * loop_cut.NODES_LIMIT
    assert max(sizes[2:]) < 2 * loop_cut.NODES_LIMIT


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_view_that_no_array_owns_yet_keeps_its_elements(order: str) -> None:
    """Between the parts of an operation another thread may compute an operand, and overwrite what it was made from."""
    x = np.array(numpy.full((7, 4), 5.0), order=order)  # type: ignore[arg-type]
    y = x[..., np.array([1, 0, 2])].copy()
    x[...] = 0
    part = graph.view(y.value(), layout.Layout((21,), (1,), 0))
    np.synchronize()
    assert np.asnumpy(wrap(part)).tolist() == [5.0] * 21
    assert np.asnumpy(y).tolist() == [[5.0] * 3] * 7


def test_a_loop_with_inner_loops_is_cut_in_its_outer_one() -> None:
    """A round records more values than a graph may have, and inner loops come to each of their places many times."""

    def rounds(x: np.ndarray, count: int) -> np.ndarray:
        for _ in range(count):
            for _ in range(16):
                x = np.sin(x + 1) * 2 - x
                x = x - x.mean()
            total = np.zeros_like(x)
            for k in range(16):
                total += np.cos(x[k : k + 4]).sum() * x
                total = np.sqrt(total * total + 1)
            x = x + total
        return x

    def structures() -> int:
        return evaluate.state_of(np.Device("cpu")).planner.counts()[0]

    def program() -> None:
        np.asnumpy(rounds(np.asarray(numpy.linspace(0, 1, 40), device="cpu"), 40))

    evaluate.state_of(np.Device("cpu")).cut = LoopCut()
    before = structures()
    program()
    first = structures() - before
    program()
    assert first <= 4
    assert structures() == before + first, "a second run makes the plans of the first"


def test_a_loop_is_cut_where_few_bytes_are_alive() -> None:
    """Every operation of a round comes up as often; at its end one array is alive, within it five."""

    def part(x: np.ndarray, k: int) -> np.ndarray:
        a = np.sin(x + k)
        b = np.cos(a * 2)
        c, d = np.sqrt(abs(a - b)), np.exp(-a * b)
        return a * c + b * d - c * d

    def program(count: int) -> np.ndarray:
        x = np.zeros((64, 64), device="cpu")
        for k in range(count):
            x += part(x, k)
        return x

    evaluate.state_of(np.Device("cpu")).cut = LoopCut()
    for _ in range(2):
        np.asnumpy(program(400))
    with np.profile(file=io.StringIO()) as profile:
        np.asnumpy(program(400))
    kernels, moved = (sum(getattr(record, name) for record in profile.records) for name in ("count", "nbytes"))
    assert kernels > 8
    assert moved < kernels * 4 * 64 * 64 * 8, "of two kernels of a flush, each reads and writes fewer than four arrays"


@pytest.mark.parametrize("grows", [False, True])
def test_a_loop_over_large_arrays_is_cut_at_one_place(grows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pending graphs keep many bytes alive from the first operation on; a loop must not let them keep more and more."""
    limit = 1 << 20
    for module in (evaluate, loop_cut):
        monkeypatch.setattr(module, "BYTES_LIMIT", limit)
    device, large = np.Device("cpu"), numpy.ones(3 * limit // 16)
    inner = 2 * REVIEW_INTERVAL if grows else 10
    held: list[int] = []
    is_here = LoopCut.is_here
    monkeypatch.setattr(LoopCut, "is_here", lambda cut, *args: held.append(args[1]) or is_here(cut, *args))

    def program(count: int) -> None:
        x = np.asarray(large, device="cpu")
        for _ in range(count):
            if grows:
                x = x + np.asarray(large, device="cpu")
            for k in range(inner):
                x = x * 0.5 + k
            x = np.sqrt(abs(x))
        np.asnumpy(x)

    state = evaluate.state_of(device)
    state.cut, before = LoopCut(), state.planner.counts()[0]
    program(20 if grows else 60)
    assert max(held) > limit
    if grows:
        assert max(held) < 8 * limit
    else:
        assert state.planner.counts()[0] - before <= 4


def test_the_place_of_a_program_that_is_not_running_is_not_waited_for() -> None:
    cut = LoopCut()

    def record() -> bool:
        return cut.is_ahead(lambda: 0)

    def program() -> None:
        assert not cut.is_here(False, 0)
        for _ in range(loop_cut.MAX_SEARCH):
            record()
        assert not cut.is_searching
        assert cut.is_here(True, 0)
        cut.flushed(True)
        assert not cut.is_here(False, 0)  # it waits
        assert not cut.is_searching

    program()
    assert not cut.is_here(False, 0)
    assert cut.is_searching


def test_a_first_graph_grows_as_long_as_the_one_before_a_look() -> None:
    cut = LoopCut()
    lengths = []
    for _ in range(2):
        assert not cut.is_here(False, 0)
        assert cut.is_searching is not bool(lengths)
        length = 1
        while cut.is_ahead(lambda: 0) or not cut.is_here(True, 0):
            length += 1
        cut.flushed(True)
        lengths.append(length)
        cut.looked()
    assert lengths[0] == lengths[1] >= loop_cut.MIN_SEARCH
