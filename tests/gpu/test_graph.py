"""CUDA graphs of functions, and capture by torch and CuPy, on a real GPU; beside the same work without a graph."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime import evaluate
from gpunumpy.kernels.cuda import compile as compile_module
from gpunumpy.kernels.cuda.dropped import destroy_dropped
from gpunumpy.nvlib import cufft

pytestmark = pytest.mark.gpu

SIZE = 1 << 18


@pytest.fixture(autouse=True)
def on_gpu() -> Iterator[None]:
    with np.Device("cuda"):
        yield


def numbers(seed: int, *shape: int, dtype: Any = numpy.float64) -> numpy.ndarray:
    return numpy.random.default_rng(seed).random(shape or (SIZE,)).astype(dtype)


def elementwise(xp: Any, x: Any, y: Any) -> Any:
    return xp.sqrt(x * x + y) - 0.5


def reductions(xp: Any, x: Any, y: Any) -> Any:
    for _ in range(3):
        x = (x - x.mean())[::-1] / x.max()
    return x, x.sum(), xp.cumsum(x * y)


def of_matrices(xp: Any, x: Any, y: Any) -> Any:
    a = x[: 1 << 16].reshape(256, 256)
    b = y[: 1 << 16].reshape(256, 256)
    return xp.tanh(a @ b / 256) @ a, a.T @ a


def of_transforms(xp: Any, x: Any, y: Any) -> Any:
    return xp.fft.irfft(xp.fft.rfft(x) * xp.fft.rfft(y), SIZE)


def of_sorts(xp: Any, x: Any, y: Any) -> Any:
    return xp.sort(x), xp.argsort(y, kind="stable"), xp.where(x > y, x, 0.0)


def indexed(xp: Any, x: Any, y: Any) -> Any:
    order = xp.arange(SIZE - 1, -1, -3)
    return x[order] + y[order], xp.where(x > 0.5, x, y)


PROGRAMS = [elementwise, reductions, of_matrices, of_transforms, of_sorts, indexed]


def parts(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def check(found: Any, wanted: Any) -> None:
    """The bits are those of eager work of this package."""
    for got, expected in zip(parts(found), parts(wanted), strict=True):
        numpy.testing.assert_array_equal(got.get(), expected)


@pytest.mark.parametrize("program", PROGRAMS)
def test_replays_have_the_values_of_the_function(program: Callable[..., Any]) -> None:
    x, y = np.asarray(numbers(0)), np.asarray(numbers(1))
    replayed = np.graph(lambda x, y: program(np, x, y))
    results = []
    for seed in range(5):
        x[...] = np.asarray(numbers(2 * seed))
        y[...] = np.asarray(numbers(2 * seed + 1))
        found = replayed(x, y)
        results.append(found)
        eager = program(np, np.asarray(numbers(2 * seed)), np.asarray(numbers(2 * seed + 1)))
        check(found, tuple(part.get() for part in parts(eager)))
    assert replayed.graphs == 1
    assert all(result is found for result in results[1:])


def test_a_stencil_in_place() -> None:
    def step(u: Any) -> None:
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])

    start = numbers(0)
    u, wanted = np.asarray(start), start.copy()
    replayed = np.graph(step)
    for _ in range(50):
        replayed(u)
        step(wanted)
    numpy.testing.assert_array_equal(u.get(), wanted)


def test_kernels_of_ones_own() -> None:
    twice = np.RawKernel(
        """extern "C" __global__ void twice(const double* x, double* y, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) y[i] = 2 * x[i];
        }""",
        "twice",
    )
    cubed = np.ElementwiseKernel("float64 x", "float64 y", "y = x * x * x", "cubed")

    @np.graph
    def step(x: Any) -> Any:
        y = np.empty_like(x)
        twice((SIZE // 256,), (256,), (x, y, numpy.int32(SIZE)))
        return cubed(y) + 1

    x, wanted = np.asarray(numbers(0)), numbers(0)
    for _ in range(5):
        found = step(x)
        numpy.testing.assert_array_equal(found.get(), (2 * wanted) * (2 * wanted) * (2 * wanted) + 1)
        x += 1.0
        wanted = wanted + 1.0


def test_a_graph_has_its_kernels_when_plans_are_gone() -> None:
    x = np.asarray(numbers(0))
    replayed = np.graph(lambda x: np.fft.irfft(np.fft.rfft(x * 2), SIZE).cumsum())
    for _ in range(2):
        found = replayed(x)
    wanted = found.get()
    device = np.default_device()
    evaluate._states[device].planner.plans.clear()
    compile_module._modules.clear()
    cufft.plans_of(device).clear()
    gc.collect()
    destroy_dropped(device)
    np.synchronize()
    destroy_dropped(device)
    np.free_all_blocks()
    for _ in range(3):
        numpy.testing.assert_array_equal(replayed(x).get(), wanted)


def test_replays_between_other_work() -> None:
    x = np.asarray(numbers(0))
    replayed = np.graph(lambda x: (x * 2 + 1).sum() * x)
    seen, wanted = [], []
    host = numbers(0)
    for k in range(40):
        y = replayed(x)
        seen.append(y + k)  # is recorded before the next replay, which overwrites y
        wanted.append((np.asarray(host) * 2 + 1).sum() * np.asarray(host) + k)
        x += 0.25
        host = host + 0.25
    for got, expected in zip(seen, wanted, strict=True):
        numpy.testing.assert_array_equal(got.get(), expected.get())


def test_memory_goes_back() -> None:
    x = np.asarray(numbers(0))
    used = []
    for _ in range(20):
        replayed = np.graph(lambda x: np.fft.irfft(np.fft.rfft(x) * 2, SIZE))
        for _ in range(3):
            replayed(x).sum().get()
        del replayed
        np.synchronize()
        np.free_all_blocks()
        used.append(np.memory_info().used)
    assert used[-1] <= used[1]


def test_what_cannot_be_captured() -> None:
    def step(x: Any) -> Any:
        x += 1.0
        return x if float(x.sum()) > 0 else -x

    x = np.asarray(numbers(0))
    replayed = np.graph(step)
    replayed(x)
    with pytest.raises(np.DeviceError, match="cannot be captured in a CUDA graph"):
        replayed(x)
    numpy.testing.assert_array_equal(x.get(), numbers(0) + 1.0 + 1.0)
    doubled = np.graph(lambda x: x * 2)
    for _ in range(3):
        numpy.testing.assert_array_equal(doubled(x).get(), 2 * (numbers(0) + 1.0 + 1.0))


def test_an_index_out_of_bounds_is_found_at_the_next_look() -> None:
    x, index = np.asarray(numbers(0)), np.asarray(numpy.arange(SIZE))
    replayed = np.graph(lambda x, index: x[index] * 2)
    for _ in range(3):
        replayed(x, index)
    numpy.testing.assert_array_equal(replayed(x, index).get(), numbers(0) * 2)
    index += 1
    replayed(x, index)
    with pytest.raises(IndexError, match="out of bounds"):
        np.synchronize()


# --- other libraries capture ---


def test_capture_by_torch() -> None:
    torch = pytest.importorskip("torch")
    t = torch.arange(SIZE, dtype=torch.float64, device="cuda")
    x, total = np.from_dlpack(t), np.asarray(numpy.zeros(SIZE))
    matrix = np.asarray(numbers(3, 256, 256))
    out = torch.empty_like(t)
    shown = np.from_dlpack(out)
    (matrix @ matrix).computed()  # the library is there
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        doubled = t * 2
        with np.Stream.from_external(torch.cuda.current_stream()):
            y = np.from_dlpack(doubled) + x
            total += (y - y.mean()) / y.max()
            shown[...] = y * 3
            product = matrix @ matrix + y[:256]
        after = out + 1
    for k in range(1, 4):
        t.fill_(float(k))
        graph.replay()
        assert (after == 9.0 * k + 1).all().item()
        numpy.testing.assert_array_equal(y.get(), numpy.full(SIZE, 3.0 * k))
        wanted = numbers(3, 256, 256) @ numbers(3, 256, 256) + 3.0 * k
        numpy.testing.assert_allclose(product.get(), wanted, rtol=1e-12)
    numpy.testing.assert_array_equal(total.get(), numpy.zeros(SIZE))
    numpy.testing.assert_array_equal((x + y).get(), numpy.full(SIZE, 12.0))


def test_capture_by_torch_of_what_cannot_be_captured() -> None:
    torch = pytest.importorskip("torch")
    t = torch.ones(SIZE, dtype=torch.float64, device="cuda")
    x = np.from_dlpack(t)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), np.Stream.from_external(torch.cuda.current_stream()):
        y = x + 1
        with pytest.raises(np.DeviceError, match="a copy to the host cannot be captured"):
            y.get()
    graph.replay()
    numpy.testing.assert_array_equal(y.get(), numpy.full(SIZE, 2.0))


def test_capture_by_cupy() -> None:
    cupy = pytest.importorskip("cupy")
    c = cupy.arange(SIZE, dtype=cupy.float64)
    out = cupy.empty_like(c)
    x, shown = np.from_dlpack(c), np.from_dlpack(out)
    stream = cupy.cuda.Stream(non_blocking=True)
    c *= 1  # CuPy compiles before it captures
    out += 1
    cupy.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        c *= 2
        with np.Stream.from_external(stream):
            shown[...] = np.sqrt(x * x) + x.max()
        out += 1
        graph = stream.end_capture()
    wanted = numpy.arange(float(SIZE))
    for _ in range(3):
        wanted = wanted * 2
        with np.Stream.from_external(stream):
            graph.launch(stream)
        numpy.testing.assert_array_equal(shown.get(), wanted + wanted.max() + 1)
    numpy.testing.assert_array_equal(cupy.asnumpy(out), wanted + wanted.max() + 1)


def test_a_graph_of_ours_on_a_stream_of_torch() -> None:
    torch = pytest.importorskip("torch")
    side = torch.cuda.Stream()
    t = torch.zeros(SIZE, dtype=torch.float64, device="cuda")
    torch.cuda.synchronize()
    x = np.from_dlpack(t)
    replayed = np.graph(lambda x: x * 2 + 1)
    replayed(x)
    with torch.cuda.stream(side):
        for k in range(1, 4):
            t.fill_(float(k))
            with np.Stream.from_external(torch.cuda.current_stream()):
                y = replayed(x)
            back = torch.from_dlpack(y) + 0
            assert (back == 2.0 * k + 1).all().item()


def test_blocking_copies_of_page_locked_memory() -> None:
    source, target = np.empty_pinned(SIZE), np.empty_pinned(SIZE)
    source[:] = numbers(0)
    x = np.asarray(source)
    source[:] = 0  # has been read
    assert (x + 1).get(out=target) is target
    numpy.testing.assert_array_equal(target, numbers(0) + 1)
