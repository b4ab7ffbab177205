"""Exceptions and looks at values where Python runs signal handlers: a statement has happened, or not; never half."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime import plan

from ...support.host_executor import with_new_plans
from ...support.interruptions import Interruption, Tracer, interrupt

State = dict[str, Any]
Statement = Callable[[Any, State], None]


@pytest.fixture(autouse=True)
def on_device(device: str) -> Iterator[None]:
    """Every test runs on each device in turn."""
    with np.Device(device):
        yield
        np.synchronize()


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
    other = numpy.from_dlpack(state["x"])
    state["x"][2:4] = 7
    if xp is not numpy:
        assert numpy.shares_memory(other, numpy.from_dlpack(state["x"]))


PROGRAMS: dict[str, list[Statement]] = {
    "in place": [*map(statement, ("y = x * 2", "x[1:-1] += 1", "z = x + y", "x[3] = z[2]", "s = x.sum()"))],
    "strided": [*map(statement, ("x[::2] *= 3", "x[1::2] += 2"))],
    "shifted": [*map(statement, ("y = np.cumsum(x)", "x[1:] = x[:-1]", "x[:5] -= y[5:10]", "y[::3] = x[::3]"))],
    "by index": [*map(statement, ("o = x[k]", "x[k] = 5", "np.add.at(x, k, 2)", "x[x > 9] = o.max()", "k[2:] = 1"))],
    "products": [*map(statement, ("p = m @ m.T", "np.matmul(m.T, m, out=q)", "p[1] += m[2, 3]", "m[:2] = q[2:4]"))],
    "sorted": [*map(statement, ("x[::-1].sort()", "r = x[::-1] * 1", "m.sort(axis=0)", "m += m[0]", "x -= r"))],
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


def places(program: list[Statement], config: pytest.Config, cold: bool, most: int) -> list[int]:
    """Return the numbers of the lines of the package to interrupt a program at: all, or a sample in the short suite."""
    if not cold:
        Progress(program).run()
    tracer = Tracer()
    tracer.run(Progress(program).run)
    count = tracer.count
    assert count > 100
    if config.getoption("--suite") == "short" or cold:
        return sorted(random.Random(count).sample(range(1, count + 1), min(most, count)))
    return list(range(1, count + 1))


@pytest.fixture(params=["undone", "waited for"])
def protection(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, device: str) -> str:
    """In which way what overwrites memory is protected: small arrays are taken for large ones in the second."""
    monkeypatch.setattr(plan, "UNDO_BYTES", (1 << 18) if request.param == "undone" else -1)
    with_new_plans(monkeypatch, device)
    return str(request.param)


@pytest.mark.usefixtures("protection")
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_exception_at_any_line(name: str, request: pytest.FixtureRequest) -> None:
    program = PROGRAMS[name]
    expected = outcomes(program)
    for place in places(program, request.config, False, 40):
        progress = Progress(program)
        tracer = Tracer(place, interrupt)
        with suppress(Interruption):
            tracer.run(progress.run)
        progress.check(expected, tracer.where)
        after = {name: np.asnumpy(value) for name, value in progress.state.items() if isinstance(value, np.ndarray)}
        np.synchronize()
        for name_, value in after.items():
            numpy.testing.assert_array_equal(np.asnumpy(progress.state[name_]), value, tracer.where)


@pytest.mark.usefixtures("protection")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_look_at_all_values_at_any_line(name: str, request: pytest.FixtureRequest) -> None:
    program = PROGRAMS[name]
    expected = outcomes(program)
    for place in places(program, request.config, False, 40):
        progress = Progress(program)
        tracer = Tracer(place)
        tracer._action = lambda progress=progress, tracer=tracer: progress.check(expected, tracer.where)
        tracer.run(progress.run)
        assert progress.done == len(program)
        progress.check(expected, tracer.where)
