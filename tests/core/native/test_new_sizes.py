"""Plans at sizes that were not met before: the core makes them, and they are what Python makes."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import _native
from gpunumpy.core.graph.bounded_table import forget_all
from gpunumpy.core.graph.signature import Signature
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.plan import Plan, PlanTemplate
from gpunumpy.core.runtime.planner import Planner
from gpunumpy.core.schedule.sizes import Trace
from gpunumpy.core.schedule.variants import Variants
from gpunumpy.kernels.cuda import compile as compiler
from gpunumpy.kernels.cuda import launch as launch_module
from gpunumpy.kernels.cuda.compile import set_contraction
from tests.core.native.test_launch import DIMENSIONS, LAUNCH_KERNEL, Driver, refuse
from tests.support import fake_driver
from tests.support.host_executor import with_new_plans

pytestmark = pytest.mark.skipif(not _native.IS_COMPILED, reason="the core is not built for this Python")


def update(a: Any, v: Any, k: int) -> Any:
    a[k:, k:] -= a[k:, k, None] * a[None, k, k:] * 1e-3
    return a[k, k]


LOOPS: dict[str, Callable[[Any, Any, int], Any]] = {
    "windows": lambda a, v, k: (a[k : k + 12, k:] * 2 + 1)[0, 0],
    "rows": lambda a, v, k: (a[k:, 1:] * 2).max(1),
    "products": lambda a, v, k: np.maximum(a[: 10 + k] @ v, 0.1).sum(),
    "updates": update,
    "several": lambda a, v, k: (a[k:] + 1, v[k:] * 2, a[k:, 3])[0],
}


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The keys of the plans that Python was asked for."""
    asked: list[Any] = []
    plan = Planner.plan

    def spy(self: Planner, key: Any, *args: Any) -> Any:
        asked.append(key)
        return plan(self, key, *args)

    monkeypatch.setattr(Planner, "plan", spy)
    return asked


def check(device: str, planned: list[Any], step: Callable[[Any, Any, int], Any]) -> list[Plan]:
    """Run a loop; return the plans that Python was not asked for, which are as it makes them."""
    state = evaluate.state_of(np.Device(device))
    with np.Device(device):
        for n in (60, 72, 64):
            a, v = np.asarray(numpy.random.default_rng(1).random((n, n))), np.asarray(numpy.arange(float(n)))
            np.synchronize()
            planned.clear()
            for k in range(2, n - 12):
                kept = step(a, v, k)
                np.synchronize()
                del kept
    made = [plan for key, plan in state.planner.plans._entries.items() if key not in planned]
    for plan in made:
        nodes = {r: SimpleNamespace(shape=s.shape, dtype=s.dtype, queue=s.queue) for (r, _), s in _published(plan)}
        expected = Plan(plan.template, plan.values, nodes)  # type: ignore[arg-type]
        assert plan.numbers == expected.numbers
        assert all(one is other for one, other in zip(plan.signatures, expected.signatures, strict=True))
        assert len(plan.runners) == len(expected.runners)
        assert plan.program is expected.program
    return made


def _published(plan: Plan) -> list[tuple[tuple[int, int], Any]]:
    return list(zip((*plan.template.roots, *plan.template.inner_values), plan.signatures, strict=True))


@pytest.mark.parametrize("name", LOOPS)
def test_plans_of_the_cpu_device(name: str, planned: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with_new_plans(monkeypatch)
    made = check("cpu", planned, LOOPS[name])
    assert len(made) > 100
    assert len(planned) <= 2, "where another size of the window is equal by chance"


def test_what_python_does_not_ask_for_is_not_kept(planned: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A signature of a loop whose sizes change is met once, so its sizes are read once."""
    with_new_plans(monkeypatch)
    sizes: Any = vars(Signature)["sizes"]
    with np.Device("cpu"):
        a = np.asarray(numpy.random.default_rng(1).random((60, 60)))
        for k in range(2, 30):
            np.synchronize()
            planned.clear()
            x = a[k:, k:].sum(0)[1:] * 2
            (window,) = (arg for arg in x._node.signature.args if arg.shape)
            np.synchronize()
        assert not planned
        with pytest.raises(AttributeError):
            sizes.__get__(window)
    assert window.sizes[0] == 60 - 29 - 1


def test_an_update_of_a_view_has_the_layout_of_the_view() -> None:
    with np.Device("cpu"):
        before = np.set_residence("device")
        a = np.asarray(numpy.random.default_rng(1).random((60, 60)))
        window = a[7:, 3:]
        window *= 2
        np.set_residence(before)
        update: Any = a._node.signature.primitive
        assert update.region is window._layout


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, ...]]]:
    """The grids of what is launched on a GPU that is not there."""
    launched: list[tuple[int, ...]] = []
    function = LAUNCH_KERNEL(lambda config, *rest: launched.append(tuple(config[0].dimensions[:3])) or 0)
    address = ctypes.cast(function, ctypes.c_void_p).value
    fake_driver.install(monkeypatch)
    forget_all()
    names = fake_driver.FakeDriver
    monkeypatch.setattr(names, "_cuModuleGetFunction", lambda self, module, name: (self._new_handle(),))
    monkeypatch.setattr(launch_module, "function_address", {"cuLaunchKernelEx": address}.get)
    monkeypatch.setattr(compiler, "_image_on_disk", lambda key: b"image")
    yield launched
    forget_all()


@pytest.mark.parametrize("name", LOOPS)
def test_plans_of_a_gpu(name: str, planned: list[Any], gpu: list[tuple[int, ...]]) -> None:
    made = check("cuda:0", planned, LOOPS[name])
    assert len(made) > 100
    assert len(planned) <= 2, "as above"
    assert sum(isinstance(runner, _native.LAUNCHES) for plan in made for runner in plan.runners) > 100
    assert len(gpu) > 150


@pytest.mark.parametrize("name", LOOPS)
def test_launches_of_a_gpu_need_no_python(
    name: str, gpu: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where all sizes of a kernel are numbers, as in the one for an element of a window."""
    asked: list[int] = []
    runners = PlanTemplate.runners
    monkeypatch.setattr(
        PlanTemplate, "runners", lambda self, numbers: asked.append(len(numbers)) or runners(self, numbers)
    )  # type: ignore[func-returns-value]
    with np.Device("cuda:0"):
        for n in (60, 72, 64):
            a, v = np.asarray(numpy.ones((n, n))), np.asarray(numpy.ones(n))
            np.synchronize()
            asked.clear()
            for k in range(2, n - 12):
                kept = LOOPS[name](a, v, k)
                np.synchronize()
                del kept
    assert len(asked) <= 3


def test_new_plans_are_checked(planned: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with_new_plans(monkeypatch)
    verified: list[Plan] = []
    monkeypatch.setattr(evaluate, "CHECK", True)
    verify = Planner.verify
    monkeypatch.setattr(Planner, "verify", lambda self, plan, count: verified.append(plan) or verify(self, plan, count))  # type: ignore[func-returns-value]
    made = check("cpu", planned, LOOPS["windows"])
    assert all(plan in verified for plan in made)


def test_too_much_memory_is_asked_for_before_anything_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    with_new_plans(monkeypatch)
    with np.Device("cpu"):
        for n in (10, 11, 12):
            np.asnumpy(np.zeros(n) + 1)
        with pytest.raises(MemoryError):
            (np.zeros(1 << 50) + 1).computed()
        assert np.asnumpy(np.zeros(13) + 1).sum() == 13


def sized(driver: Driver, runner: Any = None) -> tuple[Any, list[Any]]:
    """What prepares the launches of a kernel with one argument; and what Python was asked for."""
    asked: list[Any] = []

    def make(trace: Trace, sizes: Sequence[Any]) -> Any:
        n, m = sizes
        if n < 5:
            return None
        launch = _native.launch(driver.address, 17, DIMENSIONS, 99, False, "q", (0, 0), False, refuse)
        numbers = trace.formulas([-(-n // 4), 1, m, n * m, n - m])
        return SimpleNamespace(runner=SimpleNamespace(launch=launch) if runner is None else runner, numbers=numbers)

    programs = Variants(make)
    for first in ((40, 7), (41, 9), (4, 7), (3, 7), (8, 8)):
        programs.find(first)
    return _native.sized_launch(programs, lambda sizes: asked.append(sizes) or "Python's"), asked  # type: ignore[func-returns-value]


def test_a_kernel_is_launched_at_new_sizes() -> None:
    driver, noted = Driver(3), list[Any]()
    prepare, asked = sized(driver)
    for n, m in ((41, 8), (6, 1000), (8, 9), (40, 6)):
        prepare([n, m])([5], noted)
        function, dimensions, stream, words, _ = driver.launches[-1]
        assert (function, dimensions, stream) == (17, (-(-n // 4), 1, m, *DIMENSIONS[3:]), 99)
        assert words == [5, n * m, n - m]
    assert not asked


def test_what_is_not_launched_at_new_sizes_is_prepared_by_python() -> None:
    prepare, asked = sized(Driver(3))
    others: list[Any] = [[4, 7], (3, 9), [40, 1], [2**70, 3], [40, 7, 3], [0.5, 3]]
    for sizes in others:  # no program, nothing made for them, no integers
        assert prepare(sizes) == "Python's"
    assert asked == others
    prepare, asked = sized(Driver(3), SimpleNamespace(launch=None))
    assert prepare([40, 7]) == "Python's"
    prepare, asked = sized(Driver(3))
    try:
        set_contraction(True)
        assert prepare([41, 8]) == "Python's"
    finally:
        set_contraction(False)
    assert prepare([41, 8]) != "Python's"


def test_the_collector_does_not_look_at_what_new_sizes_have() -> None:
    """Signatures, what they are made of, and the keys of the tables: a loop at new sizes makes thousands of them."""
    before_residence = np.set_residence("device")
    with np.Device("cpu"):
        a, c = np.asarray(numpy.ones((300, 300))), np.asarray(numpy.ones(300))
        np.synchronize()

        def step(k: int) -> None:
            _ = a[k:, k:] * 2, c[k:, None] * c[None, k:], (a[k:, k:] + 1)[1:, 2:]

        for k in range(1, 20):
            step(k)
        gc.collect()
        gc.disable()  # it would find out that it need not look at tuples of numbers
        try:
            before = len(gc.get_objects())
            for k in range(20, 220):
                step(k)
            tracked = len(gc.get_objects()) - before
        finally:
            gc.enable()
    np.set_residence(before_residence)
    assert tracked < 100
