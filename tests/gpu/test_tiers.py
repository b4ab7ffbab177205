"""On a real GPU, no bit of a result tells whether its kernel was interpreted or compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.ops.table import ELEMENTWISE, loops
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.device import Device
from gpunumpy.core.runtime.plan import Work
from gpunumpy.core.runtime.planner import Planner
from gpunumpy.kernels.codegen.interpreter import can_apply
from gpunumpy.kernels.cuda import tiers
from gpunumpy.kernels.cuda.executor import CudaExecutor

from ..programs.machine import Machine
from ..support.arrays import elementwise, from_host, to_host

pytestmark = pytest.mark.gpu

COUNT = 40_000
OPERATIONS: dict[str, list[Any]] = {}
for _name in ELEMENTWISE:
    if _loops := [loop for loop in loops(_name) if can_apply(_name, loop)]:
        OPERATIONS[_name] = _loops


def in_both_tiers(monkeypatch: pytest.MonkeyPatch, make: Callable[[], list[Any]]) -> tuple[list[Any], list[Any], int]:
    """What is made by compiled kernels and by interpreted ones, and how many steps were interpreted."""
    state = evaluate.state_of(Device("cuda"))
    interpreted: list[bool] = []

    def observe(step: Any, work: Work) -> None:
        work()
        interpreted.append(work.was_interpreted)

    results = []
    for tier in ("compiled", "interpreted"):
        evaluate.flush(state.queue)
        interpreted.clear()
        with monkeypatch.context() as patch:
            patch.setattr(tiers, "TIER", tier)
            executor = CudaExecutor(Device("cuda"))  # which has prepared nothing
            patch.setattr(state, "executor", executor)
            patch.setattr(state, "planner", Planner(executor))
            patch.setattr(evaluate, "observer", observe)
            results.append(make())
            evaluate.flush(state.queue)
    return results[0], results[1], sum(interpreted)


def arguments(loop: tuple[Any, ...], seed: int) -> list[Any]:
    """Arguments of every kind: any bits, small and large numbers, and whole ones."""
    rng = numpy.random.default_rng(seed)
    found = []
    for dtype in loop[:-1]:
        if dtype.kind == "b":
            found.append(rng.random(COUNT) < 0.5)
            continue
        bits = rng.integers(0, 256, COUNT * dtype.itemsize, numpy.uint8).view(dtype)
        with numpy.errstate(all="ignore"):
            near = (rng.standard_normal(COUNT) * 10.0 ** rng.integers(-3, 4, COUNT)).astype(dtype)
        found.append(
            numpy.where(rng.random(COUNT) < 0.4, bits, numpy.where(rng.random(COUNT) < 0.8, near, near.round()))
        )
    return found


def bits(array: Any) -> Any:
    """The bytes of each element."""
    return array.view(numpy.uint8).reshape(array.size, array.itemsize)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device("cuda")

    def make() -> list[Any]:
        results = []
        for seed, loop in enumerate(OPERATIONS[name]):
            arrays = [from_host(array, device) for array in arguments(loop, seed)]
            result = np.astype(arrays[0], loop[-1]) if name == "cast" else elementwise(name, arrays)
            results.append(to_host(result))
        return results

    compiled, interpreted, steps = in_both_tiers(monkeypatch, make)
    assert steps
    for loop, one, other in zip(OPERATIONS[name], compiled, interpreted, strict=True):
        assert one.dtype == other.dtype
        different = numpy.flatnonzero((bits(one) != bits(other)).any(axis=1))
        assert not different.size, f"{name} {loop}: {one[different[:4]]} compiled, {other[different[:4]]} interpreted"


REDUCTIONS: list[Callable[..., Any]] = [np.sum, np.prod, np.max, np.min, np.argmax, np.argmin, np.any, np.all]
REDUCTIONS += [np.count_nonzero, np.mean, np.var]
SHAPES = [((COUNT,), None), ((300, 400), 1), ((300, 400), 0), ((4, 9_000), 1), ((9_000, 4), 0), ((9_000, 4), 1)]
SHAPES += [((20, 30, 40), (0, 2)), ((3, 50_000), None)]


@pytest.mark.parametrize("dtype", ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8", "c8", "c16"])
@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.filterwarnings("ignore:invalid")
def test_reductions(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone, of an expression, and used along the same rows again."""
    rng = numpy.random.default_rng(1)
    hosts = [(rng.standard_normal(shape) * 20).astype(dtype) for shape, _ in SHAPES]
    for host in hosts:
        if host.dtype.kind in "fc":
            host.reshape(-1)[:: host.size // 3] = numpy.nan

    def make() -> list[Any]:
        results = []
        for host, (_, axis) in zip(hosts, SHAPES, strict=True):
            x = from_host(host, Device("cuda"))
            for reduce in REDUCTIONS:
                if reduce not in (np.argmax, np.argmin) or not isinstance(axis, tuple):
                    results.append(reduce(x, axis=axis))
                    results.append(reduce(np.square(x) if dtype != "?" else ~x, axis=axis))
            if axis is not None and dtype != "?":
                centred = x - x.max(axis=axis, keepdims=True)
                results.append(centred / np.sum(centred, axis=axis, keepdims=True))
        return [to_host(result) for result in results]

    compiled, interpreted, steps = in_both_tiers(monkeypatch, make)
    assert steps > len(SHAPES) // 2
    for one, other in zip(compiled, interpreted, strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("batch", range(10))
def test_random_programs(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> list[Any]:
        results = []
        with Device("cuda"):
            for seed in range(batch * 20, (batch + 1) * 20):
                machine = Machine(seed, np, library=False)
                machine.run(10)
                results += [to_host(x) for pair in machine.vars if isinstance(x := pair.tested, np.ndarray)]
        return results

    compiled, interpreted, steps = in_both_tiers(monkeypatch, make)
    assert steps
    for one, other in zip(compiled, interpreted, strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
