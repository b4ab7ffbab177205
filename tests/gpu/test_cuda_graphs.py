"""Plans that run again and again as CUDA graphs: their results, errors, memory, and what else is on the stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import _native
from gpunumpy.core.runtime import evaluate, memory
from gpunumpy.core.runtime.device import check, driver
from gpunumpy.kernels.cuda import cuda_graphs, tiers

from ..core.native.test_cuda_graphs import PROGRAMS

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not _native.IS_COMPILED, reason="the core is not built for this Python, or not used"),
]

RUNS = 80


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(tiers, "TIER", "compiled")
    with np.Device("cuda") as device:
        monkeypatch.setattr(device, "has_spilled", False)  # in an earlier test, after which no plan gets a graph
        yield


def maker() -> cuda_graphs.CudaGraphs:
    found = evaluate.state_of(np.default_device()).executor.graphs
    assert isinstance(found, cuda_graphs.CudaGraphs)
    return found


def made() -> list[Any]:
    return [graph for known in maker()._made if (graph := known()) is not None and graph.is_made]


def flush() -> None:
    evaluate.flush(evaluate.queue_of(np.default_device()))


def run(program: Callable[..., list[Any]], size: int, k: float) -> list[numpy.ndarray]:
    x, y = np.asarray(numpy.arange(float(size))), np.asarray(numpy.arange(float(size)) / 3)
    np.synchronize()
    results = program(x, y, k)
    flush()
    return [result.get() for result in results]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("size", [50_000, 1_000_003])
def test_results_are_those_of_the_first_run(program: Any, size: int) -> None:
    first = [run(program, size, k) for k in (2, 3)]
    before = len(made())
    kept = []
    for n in range(RUNS):
        if n % 7 == 0:
            kept.append(np.asarray(numpy.arange(float(size))))
        for got, wanted in zip(run(program, size, 2 + n % 2), first[n % 2], strict=True):
            numpy.testing.assert_array_equal(got, wanted)
    assert len(made()) > before


def test_a_loop_of_many_steps() -> None:
    def heat(xp: Any, u: Any, steps: int) -> Any:
        for _ in range(steps):
            u = u.copy()
            u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        return u

    u = numpy.random.default_rng(0).random(20_000)
    for _ in range(20):
        got = heat(np, np.asarray(u), 150).get()
    numpy.testing.assert_array_equal(got, heat(numpy, u, 150))
    assert made()


def repeated(size: int) -> Callable[[], Any]:
    """A plan of several kernels that runs as a graph, and what runs it again."""
    x = np.asarray(numpy.arange(float(size)))

    def call() -> Any:
        y = x * 2
        for _ in range(4):
            y = (y - y.sum())[::-1] / y.max()
        flush()
        return y

    before = len(made())
    for _ in range(RUNS):
        call()
    assert len(made()) > before
    return call


def test_a_launch_that_is_captured() -> None:
    """By others: a stream that captures takes no graph of ours."""
    call = repeated(60_000)
    expected = call().get()
    device, cuda = np.default_device(), driver()
    np.synchronize()
    check(cuda.cuStreamBeginCapture(device.stream, cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED))
    result = call()
    handle = check(cuda.cuStreamEndCapture(device.stream))
    executable = check(cuda.cuGraphInstantiate(handle, 0))
    check(cuda.cuGraphLaunch(executable, device.stream))
    np.synchronize()
    numpy.testing.assert_array_equal(result.get(), expected)
    check(cuda.cuGraphExecDestroy(executable))
    check(cuda.cuGraphDestroy(handle))


def test_memory_is_given_back() -> None:
    """And graphs are made again."""
    device = np.default_device()
    call = repeated(70_000)
    expected = call().get()
    maker().drop_all()
    assert not made()
    np.synchronize()
    memory.free_all_blocks(device)
    for _ in range(RUNS):
        result = call()
    numpy.testing.assert_array_equal(result.get(), expected)
    assert made()


def test_an_index_out_of_bounds_in_a_graph() -> None:
    x = np.asarray(numpy.arange(80_000.0))

    def call(at: Any) -> Any:
        y = x[at]
        for _ in range(4):
            y = (y - y.sum())[::-1] / y.max()
        flush()
        return y

    inside = np.asarray(numpy.arange(80_000))
    outside = np.asarray(numpy.arange(80_000) + 1)
    before = len(made())
    for _ in range(RUNS):
        expected = call(inside)
    assert len(made()) > before
    expected = expected.get()
    with pytest.raises(IndexError, match="out of bounds"):
        call(outside).get()
    numpy.testing.assert_array_equal(call(inside).get(), expected)


def test_values_that_are_looked_at_in_each_step() -> None:
    x = numpy.random.default_rng(0).random(90_000)
    for xp in (np, numpy):
        u, seen = xp.asarray(x), []
        for k in range(RUNS):
            for _ in range(3):
                u = (u / u.max())[::-1] * 0.5 + u * 0.5 + k
            seen.append(float(u.sum()))
        if xp is np:
            got = seen
    numpy.testing.assert_allclose(got, seen, rtol=1e-12)
