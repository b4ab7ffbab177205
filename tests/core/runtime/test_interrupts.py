"""Exceptions and looks at values where Python runs signal handlers: a statement has happened, or not; never half."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import helpers
from gpunumpy.core.late_imports import import_late
from gpunumpy.core.runtime import memory, plan
from gpunumpy.kernels.host import loops, threads

from ...support import fake_driver
from ...support.host_executor import with_new_plans
from ...support.interruptions import Interruption, Tracer, interrupt

State = dict[str, Any]
Statement = Callable[[Any, State], None]


def start(xp: Any) -> State:
    values = numpy.arange(1.0, 25)
    return {
        "x": xp.asarray(values),
        "m": xp.asarray(values.reshape(4, 6) % 7),
        "k": xp.asarray(numpy.arange(24) % 5),
        "q": xp.asarray(numpy.eye(6)),
    }


def statement(text: str) -> Statement:
    """Return a statement as a function of the module that its `np` is, and of its variables."""
    code = compile(text, "<statement>", "exec")

    def run(xp: Any, state: State) -> None:
        exec(code, {"np": xp, "numpy": numpy}, state)

    return run


def export(xp: Any, state: State) -> None:
    """Write through memory that another library sees."""
    x = state["x"]
    lent = x.__dlpack__()
    address = xp is not numpy and x.data_ptr()
    x[2:4] = 7
    assert xp is numpy or x.data_ptr() == address
    del lent


PROGRAMS: dict[str, list[Statement]] = {
    "in place": [*map(statement, ("y = x * 2", "x[1:-1] += 1", "z = x + y", "x[3] = z[2]", "s = x.sum()"))],
    "strided": [*map(statement, ("x[::2] *= 3", "x[1::2] += 2"))],
    "shifted": [*map(statement, ("y = np.cumsum(x)", "x[1:] = x[:-1]", "x[:5] -= y[5:10]", "y[::3] = x[::3]"))],
    "by index": [*map(statement, ("o = x[k]", "x[k] = 5", "np.add.at(x, k, 2)", "x[x > 9] = o.max()", "k[2:] = 1"))],
    "products": [*map(statement, ("p = m @ m.T", "np.matmul(m.T, m, out=q)", "p[1] += m[2, 3]", "m[:2] = q[2:4]"))],
    "sorted": [*map(statement, ("x[::-1].sort()", "r = x[::-1] * 1", "m.sort(axis=0)", "m += m[0]", "x -= r"))],
    "of no elements": [
        *map(
            statement, ("w = np.cumsum(x)", "x[::-1] = 2", "x[24:] = 5", "w[1:] *= 3", "w[24:] = 1", "w[:3] += x[2:5]")
        ),
    ],
    "in rows": [
        *map(
            statement,
            ("m[:, 1] += 3", "m[1:-1, ::2] *= 2", "m[::-1, 2] -= m[:, 0]", "m.T[3:5, ::-1] *= m.T[1:3]")
            + ("x.reshape(2, 3, 4)[:, 1:, ::2] += 1", "q[:, 0] = x[:6]"),
        ),
    ],
    "copied": [*map(statement, ("y = x[::2].copy()", "x += 1", "w = y[1:] + 1", "x[:3] = w[:3]"))],
}
if sys.platform != "win32":
    PROGRAMS["exported"] = [statement("x[1:] *= 2"), statement("y = x + 1"), export, statement("x[5:] += y[5:]")]


def outcomes(program: list[Statement]) -> list[dict[str, numpy.ndarray]]:
    """Return the values of all arrays, in NumPy's words, before the program and after each statement."""
    state = start(numpy)
    found = []
    for run in [lambda xp, state: None, *program]:
        run(numpy, state)
        found.append({name: numpy.array(value) for name, value in state.items()})
    return found


class Progress:
    """Runs a program and knows the statement that it is at."""

    def __init__(self, program: list[Statement]) -> None:
        self.state = start(np)
        self.done = 0
        self._program = program
        np.synchronize()

    def run(self) -> None:
        """Run the statements, and compute everything."""
        for run in self._program:
            run(np, self.state)
            self.done += 1
        np.synchronize()

    def check(self, expected: list[dict[str, numpy.ndarray]], where: str) -> None:
        """Look at all values: each is as it is before the present statement, or after it."""
        for name, value in list(self.state.items()):
            if not isinstance(value, np.ndarray):
                continue
            allowed = [values[name] for values in expected[self.done : self.done + 2] if name in values]
            got = np.asnumpy(value)
            assert any(numpy.array_equal(got, one) for one in allowed), f"{name} is {got}, not {allowed}; at {where}"


def is_free(progress: Progress) -> bool:
    """Return whether no exception has left the lock of the device's queue taken."""
    return not progress.state["x"].queue.lock._is_owned()


def places(program: list[Statement], config: pytest.Config, cold: bool, most: int) -> list[int]:
    """Return the numbers of the lines of the package to interrupt a program at: all, or a sample in the short suite."""
    if not cold:
        Progress(program).run()
    tracer = Tracer()
    tracer.run(Progress(program).run)
    count = tracer.count
    assert count > 25  # the shortest program runs 33 lines of Python: the core does the rest
    if config.getoption("--suite") == "short" or cold:
        return sorted(random.Random(count).sample(range(1, count + 1), min(most, count)))
    return list(range(1, count + 1))


@pytest.fixture(params=["undone", "waited for"])
def protection(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, device: str) -> str:
    """In which way what overwrites memory is protected: small arrays are taken for large ones in the second."""
    monkeypatch.setattr(plan, "UNDO_BYTES", (1 << 40) if request.param == "undone" else -1)
    with_new_plans(monkeypatch, device)
    return str(request.param)


@pytest.mark.usefixtures("on_device", "protection")
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_exception_at_any_line(name: str, request: pytest.FixtureRequest) -> None:
    program = PROGRAMS[name]
    expected = outcomes(program)
    for place in places(program, request.config, False, 25):
        progress = Progress(program)
        tracer = Tracer(place, interrupt)
        with suppress(Interruption):
            tracer.run(progress.run)
        assert is_free(progress), tracer.where
        progress.check(expected, tracer.where)
        after = {name: np.asnumpy(value) for name, value in progress.state.items() if isinstance(value, np.ndarray)}
        np.synchronize()
        for name_, value in after.items():
            numpy.testing.assert_array_equal(np.asnumpy(progress.state[name_]), value, tracer.where)


@pytest.mark.parametrize(
    ("text", "saved"),
    [
        ("m[:, 1] += 3", 4 * 8),
        ("m[1:3, 2:4] *= 2", 2 * 2 * 8),
        ("m[::-1, 0] -= 1", 4 * 8),
        ("m[1:] += 1", 3 * 6 * 8),
        ("x.reshape(2, 3, 4)[:, 1:, 1] = 0", 2 * 5 * 8),
    ],
)
def test_what_is_saved_is_what_is_overwritten(text: str, saved: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A helper runs what overwrites more than may be saved; here not a byte more may be than is overwritten."""
    jobs: list[helpers.Job] = []
    start_job = helpers.Job.start
    monkeypatch.setattr(helpers.Job, "start", lambda job: (jobs.append(job), start_job(job)))
    for undo_bytes, helped in ((saved, 0), (saved - 1, 1)):
        monkeypatch.setattr(plan, "UNDO_BYTES", undo_bytes)
        with_new_plans(monkeypatch)
        with np.Device("cpu"):
            state = start(np)
            statement(text)(np, state)
            np.synchronize()
        expected = start(numpy)
        statement(text)(numpy, expected)
        for name in ("m", "x"):
            numpy.testing.assert_array_equal(np.asnumpy(state[name]), expected[name])
        assert len(jobs) == helped


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("columns", [slice(1, 2), slice(1, 4)], ids=["numbers", "rows"])
@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "f8", "c16"])
def test_what_is_overwritten_comes_back(dtype: str, columns: slice, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that an exception ends is undone: of single numbers, which are saved as such, and of rows of them."""
    with_new_plans(monkeypatch)
    data = numpy.arange(60, dtype="u1").reshape(6, 10).astype(dtype)
    written = data.copy()
    written[:, columns] += 3
    failing = False

    def quietly(function: Callable[..., Any], *args: Any) -> Any:
        result = threads.quietly(function, *args)
        if failing:
            raise Interruption
        return result

    monkeypatch.setattr(loops, "quietly", quietly)
    array = np.asarray(data, device="cpu")
    array.computed()
    for failing in (True, False):
        array[:, columns] += 3
        with suppress(Interruption):
            array.computed()
            assert not failing
    numpy.testing.assert_array_equal(np.asnumpy(array), written + (written - data))


def test_buffers_stay_no_longer_than_their_context() -> None:
    buffers = [memory.allocate(np.Device("cpu"), 8) for _ in range(2)]

    def use() -> None:
        with memory.staying(buffers[0]) as stay:
            stay.add(buffers[1])
            assert all(map(memory.stays, buffers))

    tracer = Tracer()
    tracer.run(use)
    assert tracer.count > 5
    for place in range(1, tracer.count + 1):
        with suppress(Interruption):
            Tracer(place, interrupt).run(use)
        assert not any(map(memory.stays, buffers)), place


@pytest.mark.usefixtures("on_device", "protection")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_look_at_all_values_at_any_line(name: str, request: pytest.FixtureRequest) -> None:
    program = PROGRAMS[name]
    expected = outcomes(program)
    for place in places(program, request.config, False, 25):
        progress = Progress(program)
        tracer = Tracer(place)
        tracer._action = lambda progress=progress, tracer=tracer: progress.check(expected, tracer.where)
        tracer.run(progress.run)
        assert progress.done == len(program)
        progress.check(expected, tracer.where)


@pytest.mark.usefixtures("on_device", "protection")
@pytest.mark.parametrize("name", ["in place", "by index"])
def test_an_exception_while_plans_are_made(
    name: str, device: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    program = PROGRAMS[name]
    expected = outcomes(program)
    for place in places(program, request.config, True, 25 if request.config.getoption("--suite") == "short" else 300):
        with_new_plans(monkeypatch, device)
        progress = Progress(program)
        tracer = Tracer(place, interrupt)
        with suppress(Interruption):
            tracer.run(progress.run)
        assert is_free(progress), tracer.where
        progress.check(expected, tracer.where)
        with_new_plans(monkeypatch, device)
        progress = Progress(program)
        tracer = Tracer(place)
        tracer._action = lambda progress=progress, tracer=tracer: progress.check(expected, tracer.where)
        tracer.run(progress.run)
        progress.check(expected, tracer.where)


@pytest.mark.usefixtures("on_device", "protection")
@pytest.mark.parametrize("name", ["in place", "products", "copied"])
def test_an_exception_in_the_wake_of_another(name: str) -> None:
    """What the first one leaves may itself be left half way: the next flush finishes it."""
    program = PROGRAMS[name]
    expected = outcomes(program)
    random_places = random.Random(1)
    Progress(program).run()
    counting = Tracer()
    counting.run(Progress(program).run)
    for _ in range(40):
        progress = Progress(program)
        first = random_places.randint(counting.count // 2, counting.count)
        second = first + random_places.randint(1, 40)
        tracer = Tracer(first)

        def raise_twice(tracer: Tracer = tracer, second: int = second) -> None:
            tracer._at = second
            raise Interruption

        tracer._action = raise_twice

        def run(progress: Progress = progress, tracer: Tracer = tracer) -> None:
            try:
                progress.run()
            except Interruption:
                sys.settrace(tracer._global)  # an exception ends tracing
                np.synchronize()

        with suppress(Interruption):
            tracer.run(run)
        assert is_free(progress), tracer.where
        progress.check(expected, tracer.where)


LARGE = 1 << 17


def timed(count: int, handler: Callable[[], None], check: Callable[[Any, bool], None]) -> None:
    """Let a timer call a handler somewhere in the flush of a large update in place, `count` times."""
    delays = random.Random(count)
    fired: list[bool] = []
    is_armed = False

    def on_alarm(*_: Any) -> None:
        if is_armed:  # a signal that another thread takes may come after the timer was stopped
            fired.append(True)
            handler()

    before = signal.signal(signal.SIGALRM, on_alarm)
    try:
        for _ in range(count):
            x = np.zeros(LARGE) + np.array([0.0])
            state["x"] = x
            np.synchronize()
            fired.clear()
            is_armed = True
            try:
                signal.setitimer(signal.ITIMER_REAL, delays.uniform(1e-5, 2e-3))
                x[1:] += 1
                x[::2] *= 3
                x[1::2] += 2
                np.synchronize()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Interruption:
                pass
            finally:
                is_armed = False
                signal.setitimer(signal.ITIMER_REAL, 0)
            check(x, bool(fired))
    finally:
        signal.signal(signal.SIGALRM, before)


state: State = {}
# What the update in place makes of the first and of the second element, statement by statement.
STAGES = {(0.0, 0.0, 0.0), (0.0, 1.0, 1.0), (0.0, 1.0, 3.0), (0.0, 3.0, 3.0)}


def stage(x: Any) -> tuple[float, float, float]:
    """Return the first three values, of which all others must be repetitions."""
    host = np.asnumpy(x)
    assert (host[1::2] == host[1]).all()
    assert (host[2::2] == host[2]).all()
    return float(host[0]), float(host[1]), float(host[2])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timers that send signals")
# Where the timer meets the finalizer of a buffer, Python prints the exception and goes on.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("on_device", "protection")
def test_timed_exceptions(request: pytest.FixtureRequest) -> None:
    def check(x: Any, fired: bool) -> None:
        found = stage(x)
        assert found in STAGES
        np.synchronize()
        assert stage(x) == found

    timed(30 if request.config.getoption("--suite") == "short" else 5000, interrupt, check)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timers that send signals")
@pytest.mark.usefixtures("on_device", "protection")
def test_timed_looks(request: pytest.FixtureRequest) -> None:
    def look() -> None:
        assert stage(state["x"]) in STAGES
        assert float(state["x"][5]) in (0.0, 1.0, 3.0)

    def check(x: Any, fired: bool) -> None:
        assert stage(x) == (0.0, 3.0, 3.0)

    timed(30 if request.config.getoption("--suite") == "short" else 2500, look, check)


def test_a_long_step_ends_at_a_signal() -> None:
    """The sum over a value that is never stored would take hours."""
    with np.Device("cpu"):
        total = np.zeros(2**40).sum()

        def look(x: Any) -> None:
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            x.get()

        before = signal.signal(signal.SIGALRM, lambda *_: interrupt())
        try:
            with pytest.raises(Interruption):
                look(total)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        del total


HALF = """
import signal, threading, time
signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
time.sleep(0.05)
value = 5
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_signal_handler_finds_no_half_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may compute something that needs the module which is being imported at first use."""
    (tmp_path / "sends_a_signal.py").write_text(HALF)
    monkeypatch.syspath_prepend(tmp_path)
    found: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda *_: found.append(import_late("sends_a_signal").value))
    try:
        assert import_late("sends_a_signal").value == 5
    finally:
        signal.signal(signal.SIGUSR1, before)
        sys.modules.pop("sends_a_signal", None)
    assert found == [5]


PUTS_ANOTHER = """
import sys, time, types
sys.modules[__name__] = other = types.ModuleType("other")
time.sleep(0.05)
other.value = 5
"""


def test_threads_find_no_half_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one that puts another module in its own place, of which Python does not know that it is half imported."""
    (tmp_path / "puts_another.py").write_text(PUTS_ANOTHER)
    monkeypatch.syspath_prepend(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(lambda: import_late("puts_another").value) for _ in range(4)]
    assert [one.result() for one in found] == [5] * 4


def test_a_late_import_inside_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread of its own would wait for the module that is being imported here."""
    (tmp_path / "outer_import.py").write_text(
        "from gpunumpy.core.late_imports import import_late\nvalue = import_late('inner_import').value\n"
    )
    (tmp_path / "inner_import.py").write_text("import outer_import\nvalue = 7\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert import_module("outer_import").value == 7
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        import_late("no_such_module")


RUNS_A_JOB = """
import gc
from gpunumpy.core import helpers
ran_in = []
job = helpers.Job(lambda: ran_in.append(gc.isenabled()))
job.start()
print(job.cancel_or_wait() == job.has_run, any(ran_in), gc.isenabled())
"""


def test_collections_do_not_run_in_helpers() -> None:
    """A finalizer there that looks at a value would wait for the thread that waits for the helper.

    In a process of its own: here helpers may still be compiling for an earlier test.
    """
    ran = subprocess.run([sys.executable, "-c", RUNS_A_JOB], capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["True", "False", "True"], ran.stderr


def test_a_job_that_is_cancelled_never_runs() -> None:
    ran: list[int] = []
    job = helpers.Job(lambda: ran.append(1))
    assert not job.cancel_or_wait()
    job.start()
    job.wait()
    after = helpers.Job(lambda: ran.append(2))
    after.start()
    after.wait()
    assert after.has_run
    assert ran == [2]


def test_a_kernel_that_overwrites_is_launched_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On a GPU nothing is undone: what has been launched is known to be."""
    pytest.importorskip("cuda.bindings.nvrtc")
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path / "kernels"))
    driver = fake_driver.install(monkeypatch)

    def program(x: Any, done: list[int]) -> None:
        x[1:] += 1
        done.append(1)
        np.synchronize()

    for _ in range(2):
        x = np.asarray(numpy.arange(50.0))
        program(x, [])
    tracer = Tracer()
    tracer.run(lambda: program(x, []))
    for place in random.Random(3).sample(range(1, tracer.count), min(60, tracer.count - 1)):
        x = np.asarray(numpy.arange(50.0))
        np.synchronize()
        driver.launched.clear()
        done: list[int] = []
        tracer = Tracer(place, interrupt)
        with suppress(Interruption):
            tracer.run(lambda x=x, done=done: program(x, done))
        np.synchronize()
        x.get()
        assert len(driver.launched) == 1 or not (done or driver.launched), tracer.where
