"""Forked children: they compute on the CPU device whatever the threads of the parent were doing, and know of no GPU."""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import operator
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import fork, helpers, late_imports
from gpunumpy.core.late_imports import import_late
from gpunumpy.core.runtime import evaluate, memory
from gpunumpy.core.runtime.device import CPU
from gpunumpy.functions.ufuncs import errstate

from ...support.forks import in_child, needs_fork

pytestmark = needs_fork

VALUES = numpy.arange(12.0)
LARGE = 1 << 23  # elements that all threads of the pool work on


@pytest.fixture(autouse=True)
def on_cpu() -> Iterator[None]:
    with np.Device("cpu"):
        yield


@contextmanager
def beside(work: Callable[[], Any]) -> Iterator[None]:
    """Run something again and again in another thread."""
    stop = threading.Event()
    failures: list[BaseException] = []

    def repeat() -> None:
        try:
            with np.Device("cpu"):
                while not stop.is_set():
                    work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    assert not failures


def test_pending_values_of_the_parent() -> None:
    x = np.asarray(VALUES)
    y = x * 2
    x[3:] += 1
    got = in_child(lambda: [x.get(), y.get(), (y + x).get()])
    for value in (got, [x.get(), y.get(), (y + x).get()]):
        numpy.testing.assert_array_equal(value[0], VALUES + (VALUES >= 3))
        numpy.testing.assert_array_equal(value[1], VALUES * 2)
        numpy.testing.assert_array_equal(value[2], VALUES * 3 + (VALUES >= 3))


def test_threads_that_compute_on_the_host_all_the_time() -> None:
    """Without the GIL one of them waits for the core's lock as the process forks, and may be given it then.

    Locks of Python's own are lost in a child that way: so these operations are the core's alone.
    """
    with ExitStack() as stack:
        stack.callback(np.set_residence, np.set_residence("auto"))
        x = np.asarray(VALUES)
        for _ in range(6):
            stack.enter_context(beside(lambda: functools.reduce(operator.add, itertools.repeat(1, 20), x)))
        for _ in range(5):
            assert in_child(lambda: float((x + 1)[3])) == 4


def test_work_for_all_threads() -> None:
    """The pool of threads is there in the parent before the fork, and made anew in the child."""
    x = np.ones(LARGE)
    assert float((x + 1).sum()) == 2 * LARGE
    assert in_child(lambda: float((x + 2).sum())) == 3 * LARGE
    assert float((x + 3).sum()) == 4 * LARGE


def test_a_flush_of_another_thread_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child sees an array that another thread was writing in place as it was after that."""
    x = np.asarray(VALUES)
    np.synchronize()
    inside = threading.Event()

    def observe(step: Any, work: Callable[[], None]) -> None:
        inside.set()
        time.sleep(0.2)
        work()

    def flush() -> None:
        with np.Device("cpu"):
            x[1:] += 1
            x.get()

    monkeypatch.setattr(evaluate, "observer", observe)
    thread = threading.Thread(target=flush)
    thread.start()
    assert inside.wait(60)
    got = in_child(lambda: (x.get(), (x * 2).get()))
    thread.join()
    numpy.testing.assert_array_equal(got[0], VALUES + (VALUES >= 1))
    numpy.testing.assert_array_equal(got[1], 2 * VALUES + 2 * (VALUES >= 1))


@pytest.mark.parametrize("work", ["updates", "draws", "allocations"])
def test_a_thread_that_is_busy(work: str) -> None:
    x = np.zeros(LARGE // 8)
    rng = np.random.default_rng(5)

    def update() -> None:
        x[1:] += 1
        x[:5].get()

    def draw() -> None:
        rng.standard_normal(1000).get()
        np.random.random(1000).get()

    def allocate() -> None:
        memory.allocate(CPU, 1 << 20)
        memory.free_all_blocks("cpu")

    def child() -> None:
        seen = x.get()
        assert seen[0] == 0
        assert seen[1:].min() == seen[1:].max()
        assert rng.random(10).get().shape == np.random.random(10).get().shape
        x[:] = 3
        assert float((x + 1).sum()) == 4 * x.size

    with beside({"updates": update, "draws": draw, "allocations": allocate}[work]):
        for _ in range(20):
            in_child(child)


def test_an_import_of_another_thread_is_waited_for(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python locks a module while it is imported, and that lock stays locked in a child."""
    (tmp_path / "slow_to_import.py").write_text("import sys, time\nsys.begun.set()\ntime.sleep(0.3)\nvalue = 5\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "begun", threading.Event(), raising=False)
    thread = threading.Thread(target=import_late, args=("slow_to_import",))
    thread.start()
    assert sys.begun.wait(60)  # type: ignore[attr-defined]
    assert in_child(lambda: import_late("slow_to_import").value) == 5
    thread.join()
    del sys.modules["slow_to_import"]


def test_a_fork_inside_a_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a signal handler makes one: neither the fork nor the locks of parent and child hang."""
    x = np.asarray(VALUES)
    got = []

    def observe(step: Any, work: Callable[[], None]) -> None:
        monkeypatch.setattr(evaluate, "observer", None)
        got.append(in_child(lambda: (np.asarray(VALUES) + 1).get()))
        work()

    monkeypatch.setattr(evaluate, "observer", observe)
    numpy.testing.assert_array_equal((x + 1).get(), VALUES + 1)
    numpy.testing.assert_array_equal(got[0], VALUES + 1)
    in_thread: list[Any] = []
    thread = threading.Thread(target=lambda: in_thread.append((x + 2).get()))
    thread.start()
    thread.join(60)
    numpy.testing.assert_array_equal(in_thread[0], VALUES + 2)


def test_an_exception_at_any_line_around_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Ctrl-C raises it: Python prints it, and no lock stays taken."""
    (np.asarray(VALUES) + 1).get()
    printed: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: printed.append(found.exc_type))
    taken = [*evaluate._flush_locks(), late_imports._lock]
    renewed = [errstate._lock, memory._index_error_lock]

    def are_free(locks: list[Any]) -> bool:
        found: list[bool] = []

        def try_all() -> None:
            found.extend(lock.acquire(blocking=False) for lock in locks)
            for lock in locks:
                lock.release()

        thread = threading.Thread(target=try_all)
        thread.start()
        thread.join()
        return all(found)

    def child() -> bool:
        sys.settrace(None)
        return are_free(taken + renewed)

    def forked_with_exception_at(place: int) -> None:
        seen: set[tuple[str, int]] = set()  # each line once: loops go over the locks of all tests before

        def trace(frame: Any, event: str, argument: Any) -> Any:
            if frame.f_code.co_filename != fork.__file__:
                return None
            if (event, frame.f_lineno) not in seen:
                seen.add((event, frame.f_lineno))
                if len(seen) == place + 1:
                    raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            assert in_child(child, lambda: sys.settrace(None)), place
        finally:
            sys.settrace(None)
        assert are_free(taken), place

    held, stop = threading.Event(), threading.Event()

    def hold() -> None:
        with renewed[0], renewed[1]:
            held.set()
            stop.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        for place in itertools.count():
            before = len(printed)
            forked_with_exception_at(place)
            if len(printed) == before:  # the functions in the parent have fewer lines
                break
        for later in range(place, 2 * place):  # so have those in the child
            forked_with_exception_at(later)
    finally:
        stop.set()
        thread.join()
    assert set(printed) == {KeyboardInterrupt}


def test_many_threads_that_fork() -> None:
    x = np.asarray(VALUES)
    results: list[Any] = []

    def fork() -> None:
        results.extend(in_child(lambda: (x + 1).get()) for _ in range(4))

    with beside(lambda: (x * 2).get()):
        forking = [threading.Thread(target=fork) for _ in range(3)]
        for thread in forking:
            thread.start()
        for thread in forking:
            thread.join()
    assert len(results) == 12
    for got in results:
        numpy.testing.assert_array_equal(got, VALUES + 1)


def test_the_pool_of_threads_is_not_inherited() -> None:
    pool = helpers._helpers()
    assert in_child(lambda: helpers._helpers() is not pool)
    assert helpers._helpers() is pool


ARRAYS = "x = np.arange(1000.0); y = x + 1"
PROGRAM = """
import multiprocessing
import gpunumpy as np

{parent}

def work(k):
    {child}
    return float((y * k).sum()), (x[:3] + k)

if __name__ == "__main__":
    float(np.ones(5).sum())
    with multiprocessing.Pool(2) as pool:
        for k, (total, part) in enumerate(pool.map(work, range(6))):
            assert total == 500500.0 * k, total
            assert part.get().tolist() == [k, k + 1, k + 2], part
    print("done")
"""


@pytest.mark.parametrize(
    ("device", "parent", "child"),
    [("cpu", ARRAYS, ""), ("cpu", "", ARRAYS), pytest.param("", "", ARRAYS, marks=pytest.mark.gpu)],
    ids=["arrays of the parent", "arrays of the children", "a parent that used a GPU"],
)
def test_a_pool_of_processes(
    device: str, parent: str, child: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the default start method, whichever that is. What the parent has on a GPU, forked children cannot read."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM.format(parent=parent, child=child))
    monkeypatch.setenv("GPUNUMPY_DEVICE", device)
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=300)
    assert done.stdout == "done\n", done.stderr
    assert device or multiprocessing.get_start_method() != "fork" or "spawn" in done.stderr


def test_a_signal_handler_forks_while_a_thread_is_waited_for() -> None:
    """The child, which has no such thread, does its work itself."""
    parent, children, ran = os.getpid(), [], []

    def fork(*_: Any) -> None:
        if os.getpid() == parent:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # there are threads
                children.append(os.fork())

    def work() -> None:
        if os.getpid() == parent:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
            time.sleep(0.2)
        ran.append(os.getpid())

    before = signal.signal(signal.SIGUSR1, fork)
    try:
        job = helpers.Job(work)
        job.start_alone()
        job.wait()
        if os.getpid() != parent:
            os._exit(0 if ran == [os.getpid()] else 1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert ran == [parent]
    assert exit_code(children[0]) == 0


def exit_code(child: int) -> int | None:
    """Return the exit code of a child; None if it does not end."""
    for _ in range(3000):
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def test_a_library_that_warns_of_forks() -> None:
    """As JAX does, in the name of what forks, from a hook that stays for good."""
    told = []

    def before_fork() -> None:
        if not told:
            told.append(True)
            warnings.warn("os.fork() was called. JAX is multithreaded", RuntimeWarning, stacklevel=2)

    os.register_at_fork(before=before_fork)
    assert in_child(lambda: len(told)) == 1
