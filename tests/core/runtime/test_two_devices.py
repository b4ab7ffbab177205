"""Two GPUs in one process: whatever is made or queued for arrays of one is of that one. The GPUs are pretended ones."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.arrays.stream_order import Borrowed
from gpunumpy.core import _native
from gpunumpy.core.runtime import evaluate, kept_plans, memory, page_locked
from gpunumpy.core.runtime.memory import Buffer
from gpunumpy.cuda import Stream
from gpunumpy.kernels.cuda import compile as compiler
from gpunumpy.kernels.cuda import cuda_graphs, executor, launch, tiers
from gpunumpy.kernels.cuda.dropped import destroy_dropped

from ...support import watched_driver
from ...support.new_process import begin_process, end_process
from ...support.watched_driver import WatchedDriver

pytest.importorskip("cuda.bindings.nvrtc")

GPUS = ("cuda:0", "cuda:1")
TIERS = ("compiled", "interpreted", "auto")


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[WatchedDriver]:
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(evaluate, "CHECK", False)
    monkeypatch.setattr(compiler, "_compile", lambda text, *target: b"image")
    makers = list(cuda_graphs._makers)
    _native.set_graph_functions([0] * 8)
    kept_plans.kept_plans.cache_clear()
    yield watched_driver.install(monkeypatch)
    kept_plans.kept_plans.cache_clear()
    _native.set_graph_functions([0] * 8)  # as in test_cuda_graphs.py
    for maker in makers:
        maker.drop_all()
        maker._is_usable = None


def begin_process_with_plans() -> None:
    """Begin a process that reads ahead what earlier ones have left, as soon as there are contexts."""
    begin_process(GPUS)
    for gpu in GPUS:
        evaluate.read_ahead(np.Device(gpu))


def given(n: int, m: int, gpu: str) -> tuple[Any, Any]:
    """Two arrays of a GPU, of different values."""
    x = numpy.arange(n * m, dtype="f8").reshape(n, m)
    return np.asarray(x, device=gpu), np.asarray(x / 3 + 1, device=gpu)


def elementwise(a: Any, b: Any) -> list[Any]:
    return [np.sin(a * 2) + b, (a - b)[1:, ::2] * 3, np.where(a > 5, b, 0).astype("int32"), (a * 2j).real, ~(a > b)]


def views_and_copies(a: Any, b: Any) -> list[Any]:
    c = a.T.copy()
    c += 1
    return [c, np.roll(a, 3, axis=1), np.flip(b, 0).copy(), a.reshape(-1)[::3] + 1, np.broadcast_to(a[0], a.shape) * b]


def reductions(a: Any, b: Any) -> list[Any]:
    rows = (a - a.mean(axis=1, keepdims=True)) / a.std(axis=1, keepdims=True)
    return [rows, a.sum(), b.max(axis=0), np.argmin(a, axis=1), (a > b).any(axis=0), np.linalg.norm(b), np.median(a)]


def scans_and_sorts(a: Any, b: Any) -> list[Any]:
    return [np.cumsum(a, axis=0), np.cumprod(b), np.sort(a, axis=1), np.argsort(b, axis=None), np.searchsorted(a[0], b)]


def masks_and_gathers(a: Any, b: Any) -> list[Any]:
    at = np.asarray(numpy.array([1, 0, -1]), device=a.device)
    c = a.copy()
    c[b > 3] = 0
    c[at] = b[at] * 2
    c[2:, 1] += 5
    np.add.at(c, (at, 1), 1)
    return [c, a[at] + 1, np.take(b, at, axis=1), a[at, at], np.take_along_axis(a, np.argsort(a, axis=0), axis=0)]


def writes(a: Any, b: Any) -> list[Any]:
    a[1:-1, 1:-1] += b[2:, 1:-1] - b[:-2, 1:-1]
    b[::2] = a[1] * 2
    out = np.empty_like(a)
    np.multiply(a, b, out=out)
    np.add(a, 1, out=a)
    a *= b
    return [a, b, out]


def joins_and_products(a: Any, b: Any) -> list[Any]:
    return [
        *(np.concatenate([a, b, a + b]), np.stack([a, b], axis=-1), np.tile(a, (2, 1)), np.pad(b, 1), np.diff(a)),
        *(np.einsum("ij,ij->i", a, b), np.outer(a[0], b[1]), np.vdot(a, b), np.trapezoid(a, axis=0), np.cov(a[:3])),
    ]


def steps(a: Any, b: Any) -> list[Any]:
    """Of many kernels, so that CUDA graphs of them pay."""
    z = a
    for k in range(20):
        z = (z / z.sum() - a)[::-1] * b.max() + k
        z[1:] += b[:-1]
    return [z, z.sum()]


def made_on_default(a: Any, b: Any) -> list[Any]:
    """With arrays that are made of none."""
    n, m = a.shape
    return [
        *(np.arange(n * m).reshape(n, m) * 2.0, np.zeros((n, m)) + 1, np.eye(n) * 3, np.linspace(0, 1, m) ** 2),
        *(
            np.indices((n, m)).sum(0),
            np.full((n, m), 7.0).cumsum(),
            np.tri(n),
            np.meshgrid(np.arange(n), np.arange(m))[0],
        ),
    ]


def random_numbers(a: Any, b: Any) -> list[Any]:
    rng, legacy = np.random.default_rng(3), np.random.RandomState(3)
    n = a.size + 5000
    drawn = [rng.random(n), rng.standard_normal(n), rng.integers(0, 10, n), rng.integers(0, 10**12 + 7, n)]
    return [*drawn, legacy.random_sample(n), rng.permutation(n), rng.random(n) * 2]


PROGRAMS: tuple[Callable[[Any, Any], list[Any]], ...] = (
    *(elementwise, views_and_copies, reductions, scans_and_sorts, masks_and_gathers, writes, joins_and_products),
    *(steps, made_on_default, random_numbers),
)
OF_DEFAULT = (made_on_default, random_numbers)


def run(program: Callable[[Any, Any], list[Any]], size: tuple[int, int], gpu: str, default: str) -> None:
    """Run a program over arrays of a GPU, and look where its results are."""
    with np.Device(default):
        results = program(*given(*size, gpu))
        wanted = default if program in OF_DEFAULT else gpu
        for x in results:
            x.computed()
        for x in results:
            buffer = x.memory().data
            assert isinstance(buffer, Buffer)
            assert (x.device, buffer.device) == (wanted, wanted)


SIZES = [(6, 5), (7, 9), (6, 5), (9, 4), (40, 30)]
TURNS = [0, 0, 0, 1, 1, 1, 0, 1, 0, 1]


def run_in_turns(driver: WatchedDriver, others: bool = False) -> None:
    """Run all programs on the one GPU, then on the other, then in turns, at sizes that change."""
    for program in PROGRAMS:
        for turn in TURNS:
            for size in SIZES:
                run(program, size, GPUS[turn], GPUS[turn ^ others])
        assert driver.faults == [], program


@pytest.mark.parametrize("tier", TIERS)
def test_in_turns(driver: WatchedDriver, tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in later processes, with what earlier ones have left on disk."""
    monkeypatch.setattr(tiers, "TIER", tier)
    for _ in range(3):
        begin_process_with_plans()
        run_in_turns(driver)
        end_process()
    assert min(driver.kernels) > 0
    assert min(driver.graphs) > 0 or tier != "compiled" or not _native.IS_COMPILED


@pytest.mark.parametrize("tier", TIERS)
def test_while_the_other_gpu_is_the_default(driver: WatchedDriver, tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "TIER", tier)
    for _ in range(2):
        begin_process_with_plans()
        run_in_turns(driver, others=True)
        end_process()


def test_while_small_arrays_are_on_the_host(driver: WatchedDriver) -> None:
    np.set_residence("auto")  # until the test ends
    begin_process_with_plans()
    run_in_turns(driver)


def test_in_two_threads(driver: WatchedDriver) -> None:
    """Each of which uses one GPU, and then the other."""
    begin_process_with_plans()
    raised: list[BaseException] = []

    def work(turns: tuple[int, ...]) -> None:
        try:
            for turn in turns:
                for program in PROGRAMS:
                    for size in SIZES:
                        run(program, size, GPUS[turn], GPUS[turn])
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=work, args=(turns,)) for turns in ((0, 1), (1, 0))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert raised == []
    assert driver.faults == []


# --- what is no kernel of a plan --------------------------------------------------------------------------------------

VALUES = numpy.arange(100_000.0)


def on_both() -> list[Any]:
    """An array of each GPU, which is computed."""
    arrays = [np.asarray(VALUES, device=gpu) * 2 for gpu in GPUS]
    for x in arrays:
        x.computed()
    return arrays


def test_memory_is_given_back_to_its_gpu(driver: WatchedDriver) -> None:
    on_both()
    np.Device("cuda:0").activate()
    np.set_memory_limit(1000, "cuda:1")
    np.set_memory_limit(None, "cuda:1")
    on_both()
    threads = [
        threading.Thread(target=lambda: np.set_memory_limit(1000, "cuda:0")),  # which has used no GPU
        threading.Thread(target=lambda: np.free_all_blocks("cuda:1")),
    ]
    for thread in threads:
        thread.start()
        thread.join()
    assert driver.calls.count("cuMemFreeAsync") > 2
    assert driver.faults == []


def test_what_nothing_holds_is_destroyed_on_its_gpu(driver: WatchedDriver) -> None:
    """Modules, for which work was under way as they were dropped."""
    begin_process_with_plans()
    on_both()
    driver.busy = True
    begin_process_with_plans()
    gc.collect()
    for gpu in GPUS:
        destroy_dropped(np.Device(gpu))
    driver.busy = False
    for gpu in GPUS:  # while the other one is active
        destroy_dropped(np.Device(gpu))
    assert driver.calls.count("cuModuleUnload") == 2
    assert driver.faults == []


def test_page_locked_memory_that_both_copy(driver: WatchedDriver) -> None:
    """A copy waits for the other GPU's, and is queued on its own GPU then."""
    first = np.Device("cuda:0")
    host = page_locked.new_array(VALUES.shape, VALUES.dtype, first)
    host[:] = VALUES
    x = on_both()[1]
    driver.busy = True
    arrays = [np.asarray(host, device=first, blocking=False)]
    x.get(out=host, blocking=False)
    arrays.append(np.asarray(host, device=first, blocking=False) + 1)
    for y in arrays:
        y.computed()
    assert driver.calls.count("cuMemcpyDtoHAsync") == 1
    assert driver.faults == []


def test_streams_and_events(driver: WatchedDriver) -> None:
    x = on_both()[0]
    with np.Device("cuda:1"):
        stream = Stream()
        events = [stream.record(), stream.record()]
    for use in (
        *(lambda: events[0].done, lambda: stream.done, events[0].synchronize, stream.synchronize, stream.record),
        *(lambda: stream.wait(events[0]), lambda: stream.wait(Stream()), lambda: Stream.null.wait(stream)),
    ):
        np.Device("cuda:0").activate()
        use()
    assert stream.record().device == "cuda:1"
    with stream:
        y = np.asarray(VALUES, device="cuda:1") + x.to_device("cuda:1")
        (x + y.to_device("cuda:0")).computed()
    assert driver.faults == []


def test_captured_functions(driver: WatchedDriver) -> None:
    """The function has the other GPU do something meanwhile, and graphs are dropped in between."""
    arrays = on_both()

    def step(x: Any, other: Any) -> Any:
        x += 1
        result = x * 2
        result.__cuda_array_interface__  # noqa: B018
        (np.asarray(VALUES, device=other) + 1).computed()
        return result

    for _ in range(2):
        for gpu, x in enumerate(arrays):
            captured = np.graph(step)
            for _ in range(3):
                captured(x, GPUS[1 - gpu])
            del captured
    assert driver.calls.count("cuGraphLaunch") == 8
    assert driver.faults == []


def test_a_finalizer_in_the_middle_of_work(driver: WatchedDriver) -> None:
    first, second = map(np.Device, GPUS)
    on_both()
    driver.busy = True
    first.activate()
    Borrowed(second, object())
    assert driver.active == 0
    assert "cuEventRecord" in driver.calls
    assert driver.faults == []


@pytest.mark.parametrize("call", ["cuMemcpyHtoDAsync", "cuModuleLoadData", "cuLaunchKernelEx"])
def test_another_attempt_where_memory_was_short(
    driver: WatchedDriver, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What makes room may have used the other GPU."""
    begin_process_with_plans()
    on_both()
    monkeypatch.setattr(launch, "function_address", lambda name: None)
    monkeypatch.setattr(memory, "make_room", lambda *args: np.Device("cuda:0").activate())
    left = [call]
    driver.refuse = lambda name: "CUDA_ERROR_OUT_OF_MEMORY" if name in left and not left.remove(name) else None
    x = np.asarray(VALUES[:90_000], device="cuda:1")
    (np.cumsum(x) - 3).computed()
    assert left == []
    assert driver.faults == []


def test_a_library_is_called_while_its_gpu_is_active(driver: WatchedDriver) -> None:
    active = []

    def prepare() -> Callable[[Any], None]:
        active.append(driver.active)
        return lambda pointers: active.append(driver.active)

    first, second = map(np.Device, GPUS)
    first.activate()
    run = executor._prepared(second, prepare)
    first.activate()
    run(())
    assert active == [1, 1]


@pytest.mark.parametrize("call", ["cuDevicePrimaryCtxRetain", "cuStreamCreate"])
def test_an_error_as_another_gpu_is_first_used(driver: WatchedDriver, call: str) -> None:
    """It does not end the use of the one before."""
    x = np.asarray(VALUES, device="cuda:0") + 1
    x.computed()
    driver.refuse = lambda name: "CUDA_ERROR_ECC_UNCORRECTABLE" if name == call else None
    with pytest.raises(np.DeviceError, match="ECC_UNCORRECTABLE"):
        np.Device("cuda:1").activate()
    driver.refuse = lambda name: None
    (x + 1).computed()


# --- arrays of both in one call ---------------------------------------------------------------------------------------


def assigned(a: Any, b: Any) -> None:
    b[...] = a


@pytest.mark.parametrize(
    "call",
    [
        *(lambda a, b: a + b, lambda a, b: np.where(a > 3, b, 0), lambda a, b: a @ b.T, lambda a, b: np.stack([a, b])),
        *(lambda a, b: a[b[0].astype("i8")], lambda a, b: np.searchsorted(a[0], b), assigned, np.copyto),
        *(lambda a, b: np.sin(a, out=b), lambda a, b: np.cumsum(a, axis=0, out=b), lambda a, b: np.add(a, a, out=b[:])),
        *(lambda a, b: np.concatenate([a], out=b), lambda a, b: a.sum(axis=0, out=b[0])),
        *(lambda a, b: np.full(a.shape, b[0], device=a.device), lambda a, b: np.full_like(a, b[0])),
    ],
)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_arrays_of_two_gpus_are_refused(
    driver: WatchedDriver, call: Callable[[Any, Any], Any], order: tuple[int, int]
) -> None:
    """Also where one is written to as a whole: it stays on its GPU, as its views do."""
    a, b = (given(6, 5, GPUS[n])[0] + 0 for n in order)
    view = b[1:3]
    with pytest.raises(ValueError, match=r"two devices, cuda:[01] and cuda:[01]"):
        call(a, b)
    assert [x.device.index for x in (a, b, view)] == [*order, order[1]]
    assert driver.faults == []
