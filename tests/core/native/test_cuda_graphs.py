"""Plans that the core launches as CUDA graphs, by a driver that is not there: what it is told, and what kernels find.

The driver here notes what every kernel is launched with, by itself or in a graph. From that a test computes what would
be in memory: a kernel writes what follows from its number and from what is in the memory that it reads.
"""

from __future__ import annotations

import ctypes
import gc
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import _native
from gpunumpy.core.runtime import evaluate, memory, profile
from gpunumpy.core.runtime.plan import Plan, nothing
from gpunumpy.core.schedule.steps import RunKernel
from gpunumpy.kernels.cuda import cuda_graphs
from gpunumpy.kernels.cuda import launch as launch_module
from gpunumpy.kernels.cuda.dropped import destroy_dropped

from ...support import fake_driver
from ...support.interruptions import Interruption, Tracer, interrupt
from .test_launch import LAUNCH_KERNEL, STARTS_EARLY, attributes_of

pytestmark = pytest.mark.skipif(not _native.IS_COMPILED, reason="the core is not built for this Python, or not used")

_POINTER, _INT = ctypes.c_void_p, ctypes.c_int
Words = tuple[int, ...]
OUT_OF_MEMORY = 2


class _NodeParams(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS, as cuda.h has it."""

    _fields_ = [
        *(("function", _POINTER), ("dimensions", ctypes.c_uint * 7)),
        *(("parameters", ctypes.POINTER(ctypes.POINTER(ctypes.c_int64))), ("extra", _POINTER)),
        *(("kernel", _POINTER), ("context", _POINTER)),
    ]


class Node:
    """A kernel of a graph."""

    def __init__(self, function: int, dimensions: Words, words: Words) -> None:
        self.function, self.dimensions, self.words = function, dimensions, words


class _Handle(tuple[int, bytes]):
    """The handle of a kernel: a number for the core, and what the fake driver knows it by."""

    def __int__(self) -> int:
        return 1 + hash(self) % (1 << 40)


class Graphs:
    """Launches and graphs of a driver that is not there.

    Attributes
    ----------
    ran
        The kernels that ran, each with its words.
    launched
        How many graphs were launched.
    told
        How many kernels of graphs were told other words.
    captures
        How often a capture has ended.
    errors
        The errors of calls, by the names of these.
    alive
        The kernels of the graphs that are not destroyed, as they are launched.
    handles
        The graphs that these are made of, and others that are not destroyed.
    streams
        How many streams there are more than at the beginning.
    at_launch
        Called in the middle of the launch of a graph.
    """

    def __init__(self, patch: pytest.MonkeyPatch, driver: fake_driver.FakeDriver) -> None:
        self.driver = driver
        self.ran: list[tuple[int, Words]] = []
        self.launched = self.told = self.captures = 0
        self.errors: dict[str, int] = {}
        self.alive: dict[int, list[Node]] = {}
        self.handles: set[int] = set()
        self.streams = 0
        self.early: list[bool] = []
        self.is_captured = False
        self.at_launch: Callable[[], None] = lambda: None
        self._counts: dict[int, int] = {}  # of the words of kernels
        self._nodes: dict[int, Node] = {}
        self._captured: list[int] = []
        self._of_graph: list[int] = []  # those of the last one
        self._stream = 0  # that captures
        self._numbers = itertools.count(1000)
        self._last = (_POINTER * 1)()
        prototype = ctypes.CFUNCTYPE
        self._functions = {
            "cuLaunchKernelEx": LAUNCH_KERNEL(self._launch_kernel),
            "cuStreamIsCapturing": prototype(_INT, _POINTER, ctypes.POINTER(_INT))(self._tell_capture),
            "cuStreamGetCaptureInfo_v3": prototype(_INT, *7 * [_POINTER])(self._tell_last),
            "cuGraphExecKernelNodeSetParams_v2": prototype(_INT, _POINTER, _POINTER, ctypes.POINTER(_NodeParams))(
                self._set_params
            ),
            "cuGraphLaunch": prototype(_INT, _POINTER, _POINTER)(self._launch),
            "cuStreamBeginCapture_v2": prototype(_INT, _POINTER, _INT)(self._begin_capture),
            "cuStreamEndCapture": prototype(_INT, _POINTER, ctypes.POINTER(_POINTER))(self._end_capture),
            "cuGraphInstantiateWithFlags": prototype(_INT, ctypes.POINTER(_POINTER), _POINTER, ctypes.c_ulonglong)(
                self._instantiate
            ),
            "cuGraphDestroy": prototype(_INT, _POINTER)(self._destroy),
        }
        address = lambda name: ctypes.cast(self._functions[name], _POINTER).value  # noqa: E731
        patch.setattr(launch_module, "function_address", address)
        patch.setattr(cuda_graphs, "function_address", address)
        make = _native.launch

        def make_launch(address: int, function: int, *rest: Any) -> Any:
            self._counts[function] = len(rest[3]) + len(rest[4])  # the format, and parameters
            return make(address, function, *rest)

        patch.setattr(_native, "launch", make_launch)
        answers: dict[str, Any] = {
            "cuGraphDestroy": lambda driver, graph: self._destroy(int(graph)) and None,
            "cuStreamCreate": lambda driver, flags: self._count_stream(driver._new_handle()),
            "cuStreamDestroy": lambda driver, stream: self._count_stream(None),
            "cuGraphExecDestroy": lambda driver, graph: self.alive.pop(int(graph)) and None,
            "cuModuleGetFunction": lambda driver, module, name: (_Handle((module, name)),),
        }
        for name, answer in answers.items():
            patch.setattr(fake_driver.FakeDriver, f"_{name}", answer, raising=False)

    def _launch_kernel(self, config: Any, function: int, parameters: Any, extra: Any) -> int:
        words = tuple(parameters[k][0] for k in range(self._counts[function]))
        if config[0].stream != self._stream:
            self.ran.append((function, words))
            return self.errors.get("cuLaunchKernelEx", 0)
        number = next(self._numbers)
        self._nodes[number] = Node(function, tuple(config[0].dimensions), words)
        self._captured.append(number)
        self.early.append(attributes_of(config[0]) == STARTS_EARLY)
        return self.errors.get("capture", 0)

    def _tell_capture(self, stream: int, status: Any) -> int:
        status[0] = int(self.is_captured)
        return 0

    def _tell_last(self, stream: int, status: int, id: int, graph: int, last: int, edges: int, count: int) -> int:
        self._last[0] = self._captured[-1]
        _POINTER.from_address(last).value = ctypes.addressof(self._last)
        ctypes.c_size_t.from_address(count).value = "no last kernel" not in self.errors
        _INT.from_address(status).value = 2 if "end" in self.errors else 1  # invalidated, active
        return 0

    def _begin_capture(self, stream: int, mode: int) -> int:
        assert not self._stream
        if error := self.errors.get("begin", 0):
            return error
        self._stream = stream
        return 0

    def _end_capture(self, stream: int, graph: Any) -> int:
        """A capture that became invalid has no graph; another one has, whatever was refused meanwhile."""
        assert self._stream == stream
        self._stream = 0
        self.captures += 1
        self._of_graph, self._captured = self._captured, []
        graph[0] = None if "end" in self.errors else next(self._numbers)
        self.handles |= {graph[0]} - {None}
        return self.errors.get("end", 0)

    def _instantiate(self, executable: Any, graph: int, flags: int) -> int:
        assert graph in self.handles
        assert not flags
        if error := self.errors.get("instantiate", 0):
            return error
        executable[0] = next(self._numbers)
        self.alive[executable[0]] = [self._nodes[node] for node in self._of_graph]
        return 0

    def _destroy(self, graph: int) -> int:
        self.handles.remove(graph)
        return 0

    def _count_stream(self, made: Any) -> Any:
        self.streams += 1 if made else -1
        return made

    def _set_params(self, graph: int, node: int, params: Any) -> int:
        if "set" in self.errors:
            return self.errors["set"]
        known = self._nodes[node]
        assert known in self.alive[graph]
        assert (params[0].function, tuple(params[0].dimensions)) == (known.function, known.dimensions)
        known.words = tuple(params[0].parameters[k][0] for k in range(self._counts[known.function]))
        self.told += 1
        return 0

    def _launch(self, graph: int, stream: int) -> int:
        self.at_launch()
        if "launch" in self.errors:
            return self.errors["launch"]
        self.launched += 1
        self.ran += [(node.function, node.words) for node in self.alive[graph]]
        return 0


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Graphs]:
    pytest.importorskip("cuda.bindings.nvrtc")
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    real_makers = list(cuda_graphs._makers)
    _native.set_graph_functions([0] * 8)  # those of a real GPU that the core knows take no handle of this driver's
    yield Graphs(monkeypatch, fake_driver.install(monkeypatch))
    _native.set_graph_functions([0] * 8)  # those of this driver are gone
    for maker in real_makers:  # so a real GPU has to tell its own again, and to make its graphs anew
        maker.drop_all()
        maker._is_usable = None


def plans() -> list[Plan]:
    return evaluate.queue_of(np.default_device()).state.planner.plans.values()


def kinds() -> dict[int, list[str]]:
    """The kinds of the arguments of kernels."""
    found = {}
    for plan in plans():
        steps = [step for step in plan.scheduled.steps if isinstance(step, RunKernel)]
        runners = [runner for runner in plan.runners if runner is not nothing]
        for runner, step in zip(runners, steps, strict=True):
            launcher: Any = getattr(runner, "_launcher", runner)
            found[int(launcher._function.handle)] = [arg.kind for arg in step.kernel.args]
    return found


class Memory:
    """What kernels would leave in memory: what each writes follows from itself and from what it reads."""

    def __init__(self, driver: fake_driver.FakeDriver, workspace: Any) -> None:
        self._blocks, self._workspace = driver._blocks, workspace
        self._content: dict[int, int] = {}

    def _place(self, address: int) -> int:
        """The start of a block, or a place in the workspace."""
        if self._is_inside(address):
            return address
        return next(start for start, block in self._blocks.items() if start <= address < start + len(block))

    def _is_inside(self, address: int) -> bool:
        workspace = self._workspace
        return workspace is not None and workspace.ptr <= address < workspace.ptr + workspace.nbytes

    def __getitem__(self, address: int) -> int:
        if self._is_inside(address):
            return self._content[address]  # which a kernel has written
        return self._content.get(self._place(address), -1)  # or the program has

    def __setitem__(self, address: int, value: int) -> None:
        self._content[self._place(address)] = value

    def run(self, kernels: Sequence[tuple[int, Words]], kinds: dict[int, list[str]]) -> None:
        for function, words in kernels:
            known = list(zip(kinds[function], words, strict=False))
            read = [(kind, self._seen(word) if kind == "in" else word) for kind, word in known if kind != "out"]
            for n, word in enumerate(word for kind, word in known if kind == "out"):
                self[word] = hash((function, tuple(read), n))

    def _seen(self, address: int) -> tuple[int, int]:
        """What a kernel reads from an address on."""
        return self[address], address - self._place(address)


def chained(x: Any, y: Any, k: int) -> list[Any]:
    z = x * k + y
    for _ in range(3):
        z = (z / z.sum() - x)[::-1] * z.max()
    return [z, z.sum()]


def updated(x: Any, y: Any, k: int) -> list[Any]:
    x[1:] += y[:-1] * k
    z = x.sum() * y
    x[::2] = z[::2] - z.max()
    y[3:] = x[:-3] * 2
    return [x, y, z, y.max()]


def swept(x: Any, y: Any, k: int) -> list[Any]:
    """With a buffer that nothing fills."""
    x, y = (array[: array.size // 10 * 10].reshape(10, -1) for array in (x, y))
    z = np.empty_like(x)
    z[0] = x[0] * k
    for n in range(1, 10):
        z[n] = z[n - 1] * y[n] - x[n]
    return [z, z.sum()]


def gathered(x: Any, y: Any, k: int) -> list[Any]:
    at = np.asarray(numpy.arange(500)[::-1].copy())
    z = x[at] + y.sum()
    return [z[at] * z.sum(), x - z.max()]


PROGRAMS = [chained, updated, swept, gathered]
VALUES = numpy.arange(100_000.0), numpy.arange(100_000.0) / 3


def workspace() -> Any:
    """The memory in which graphs keep what dies inside of them; None before there is a graph."""
    maker: Any = evaluate.state_of(np.default_device()).executor.graphs
    return maker._workspace and maker._workspace()


def run(graphs: Graphs, program: Callable[..., list[Any]], k: float) -> list[int]:
    """What a run of a program leaves in the memory of its results."""
    x, y = (np.asarray(value) for value in VALUES)
    np.synchronize()
    addresses = [array._node.data.ptr for array in (x, y)]
    graphs.ran.clear()
    results = program(x, y, k)
    evaluate.flush(evaluate.queue_of(np.default_device()))
    content = Memory(graphs.driver, workspace())
    for n, address in enumerate(addresses):
        content[address] = n
    content.run(graphs.ran, kinds())
    return [content[result._node.data.ptr] for result in results]


@pytest.mark.parametrize("program", PROGRAMS)
def test_kernels_of_a_graph_find_what_they_do_without(program: Any, graphs: Graphs) -> None:
    """With numbers that change from run to run, in memory of others' too."""
    kept: list[Any] = []
    first = [run(graphs, program, k) for k in (2, 3)]
    for n in range(200):
        if n % 7 == 0:
            kept.append(np.asarray(VALUES[0]))  # so that blocks have other addresses
        assert run(graphs, program, 2 + n % 2) == first[n % 2]
        if graphs.launched > 9:
            break
    assert graphs.launched > 9
    (graph,) = [plan.graph for plan in plans() if plan.graph.__class__ is not int]
    assert graph.launch_count > 2


def repeated(x: Any, y: Any) -> Any:
    """Run one plan; with equal arguments it finds equal addresses."""
    z = x + y
    for _ in range(2):
        z = (z - z.sum())[::-1] * z.max()
    z.computed()
    return z


def ready(graphs: Graphs) -> Callable[[], Any]:
    """Return what runs a plan that has a graph."""
    x, y = (np.asarray(value) for value in VALUES)
    np.synchronize()
    for _ in range(100):
        repeated(x, y)
        if graphs.launched == 3:
            break
    assert graphs.launched == 3
    return lambda: repeated(x, y)


def counted(graphs: Graphs, call: Callable[[], Any]) -> tuple[int, int, int, int]:
    """How many kernels ran, graphs were launched, their kernels were told other words, and calls of the driver made."""
    before = graphs.launched, graphs.told, len(graphs.driver.calls)
    graphs.ran.clear()
    call()
    after = graphs.launched, graphs.told, len(graphs.driver.calls)
    launched, told, calls = (now - then for now, then in zip(after, before, strict=True))
    return len(graphs.ran), launched, told, calls


def test_a_graph_is_made_when_it_is_worth_it(graphs: Graphs) -> None:
    """Not for the first runs; then it takes one call of the driver, and one for each kernel with another argument."""
    x, y = (np.asarray(value) for value in VALUES)
    np.synchronize()
    runs = [counted(graphs, lambda: repeated(x, y)) for _ in range(30)]
    kernels = runs[0][0]
    first = next(n for n, (_, launched, _, _) in enumerate(runs) if launched)
    assert first * kernels == pytest.approx(64, abs=kernels)
    assert runs[:first] == [(kernels, 0, 0, 0)] * first or runs[1:first] == [(kernels, 0, 0, 0)] * (first - 1)
    assert all(run[:2] == (kernels, 1) for run in runs[first:])
    assert {run[2:] for run in runs[first + 1 :]} <= {(told, 0) for told in range(3)}
    assert all(graphs.early), "kernels start early in graphs too"


def test_results_have_new_memory(graphs: Graphs) -> None:
    call = ready(graphs)
    kept = [call() for _ in range(5)]
    assert len({result._node.data.ptr for result in kept}) == 5
    assert graphs.launched == 8


def test_results_of_one_size_are_where_they_were(graphs: Graphs) -> None:
    """Blocks come from a free list the other way round from how results of equal sizes were freed."""
    x = np.asarray(VALUES[0])

    def step() -> None:
        a, b, c = (np.sin(x + k).sum() * x for k in range(3))
        a.computed()
        del a, b, c

    for _ in range(100):
        step()
    assert graphs.launched
    graphs.told = 0
    for _ in range(5):
        step()
    assert not graphs.told


@pytest.mark.parametrize("name", ["launch", "set"])
def test_a_graph_that_is_refused(name: str, graphs: Graphs) -> None:
    """Its kernels are launched one by one, and what they have to say is raised."""
    call = ready(graphs)
    kept = []  # so that each result is elsewhere
    kernels = counted(graphs, lambda: kept.append(call()))[0]
    graphs.errors[name] = OUT_OF_MEMORY
    assert counted(graphs, lambda: kept.append(call()))[:2] == (kernels, 0)
    graphs.errors.clear()
    assert counted(graphs, call)[1] == 0, "the graph is not used again"
    for _ in range(100):
        call()
        if graphs.launched > 5:
            break
    assert graphs.launched > 5, "but another one is made"
    assert len(graphs.alive) == 1


def test_an_error_of_what_ran_before(graphs: Graphs) -> None:
    call = ready(graphs)
    graphs.errors |= {"launch": 700, "cuLaunchKernelEx": 700}  # CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(np.DeviceError, match="cannot be used any more"):
        call()


def test_a_stream_that_captures_takes_no_graph(graphs: Graphs) -> None:
    call = ready(graphs)
    kernels = counted(graphs, call)[0]
    graphs.is_captured = True
    assert counted(graphs, call)[:2] == (kernels, 0)
    graphs.is_captured = False
    assert counted(graphs, call)[:2] == (kernels, 1)


def test_a_graph_that_has_no_stream(graphs: Graphs) -> None:
    x, y = (np.asarray(value) for value in VALUES)
    repeated(x, y)
    graphs.driver.refuse = lambda called: "CUDA_ERROR_OUT_OF_MEMORY" if called == "cuStreamCreate" else None
    for _ in range(40):
        repeated(x, y)
    assert not graphs.captures
    assert not graphs.launched


@pytest.mark.parametrize("error", ["begin", "capture", "no last kernel", "end", "instantiate"])
def test_a_graph_that_cannot_be_made(error: str, graphs: Graphs) -> None:
    """Its kernels are launched one by one, and nothing of it is left: neither the graph, nor the stream."""
    x, y = (np.asarray(value) for value in VALUES)
    first = repeated(x, y)
    streams = graphs.streams
    graphs.errors[error] = OUT_OF_MEMORY
    for _ in range(40):
        repeated(x, y)
    assert bool(graphs.captures) == (error != "begin")
    assert not graphs.launched
    assert not graphs.alive
    assert not graphs.handles
    assert graphs.streams == streams
    graphs.errors.clear()
    z = np.asarray(VALUES[0][:-1])
    for _ in range(40):
        repeated(z, z)
    assert graphs.launched, "other plans have graphs"
    assert first is not None


def test_a_graph_is_made_when_the_program_captures_no_more(graphs: Graphs) -> None:
    """Its memory would be that of the program's graph, and what asks about the stream would end the capture."""
    call = ready(graphs)
    x = np.asarray(VALUES[0])
    graphs.is_captured = True
    captures, calls = graphs.captures, len(graphs.driver.calls)
    for _ in range(40):
        (x * 3).computed()
    assert graphs.captures == captures
    assert not {"cuStreamCreate", "cuEventRecord", "cuEventQuery"} & {*graphs.driver.calls[calls:]}
    graphs.is_captured = False
    for _ in range(100):
        (x * 3).computed()
    assert graphs.captures == captures + 1
    call()


def test_no_exception_leaves_a_stream_that_captures(graphs: Graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver would not wait for the GPU any more."""
    real, refused = cuda_graphs.CudaGraphs.make, []
    monkeypatch.setattr(cuda_graphs.CudaGraphs, "make", lambda maker, graph: bool(refused.append((maker, graph))))
    x, y = (np.asarray(value) for value in VALUES)
    while not refused:
        repeated(x, y)
    tracer = Tracer()
    tracer.run(lambda: real(*refused[0]))
    assert graphs.captures == 1
    for place in range(1, tracer.count + 1):
        with suppress(Interruption):
            Tracer(place, interrupt).run(lambda: real(*refused[0]))
        assert not graphs._stream
        refused[0][1].drop()
        destroy_dropped(np.default_device())
        assert not graphs.alive
        assert not graphs.handles


def test_no_room_for_a_workspace(graphs: Graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "allocate_unless_short", lambda device, nbytes: None)
    x, y = (np.asarray(value) for value in VALUES)
    for _ in range(40):
        repeated(x, y)
    assert not graphs.launched


def test_graphs_make_room(graphs: Graphs) -> None:
    """For arrays, with their workspace; they are made again later."""
    call, device = ready(graphs), np.default_device()
    assert graphs.alive
    other = cuda_graphs.CudaGraphs(device)  # as of a thread that has met the GPU at the same time
    memory._run_hooks(memory.pool_of(device))
    del other
    assert not graphs.alive
    assert workspace() is None
    launched = graphs.launched
    for _ in range(100):
        call()
        if graphs.launched > launched:
            break
    assert graphs.launched > launched


def test_a_graph_is_dropped_while_it_is_launched(graphs: Graphs) -> None:
    """By another thread, which is short of memory: the driver has it until it is launched."""
    call = ready(graphs)

    def drop() -> None:
        thread = threading.Thread(target=cuda_graphs._drop_all, args=(np.default_device(),))
        thread.start()
        thread.join()
        assert graphs.alive

    graphs.at_launch = drop
    kernels = counted(graphs, lambda: repeated(np.zeros(3), 1))[0]  # another plan
    assert kernels
    assert counted(graphs, call)[1] == 1
    graphs.at_launch = lambda: None
    assert counted(graphs, call)[1] == 0
    destroy_dropped(np.default_device())
    assert not graphs.alive


def test_graphs_are_destroyed_when_the_gpu_is_done(graphs: Graphs) -> None:
    call = ready(graphs)
    graphs.driver.busy = True
    plans()[0].graph.drop()
    destroy_dropped(np.default_device())
    assert graphs.alive
    graphs.driver.busy = False
    destroy_dropped(np.default_device())
    assert not graphs.alive
    call()


def test_a_bounded_number_of_launches_is_kept(graphs: Graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The graphs that were made first go first."""
    monkeypatch.setattr(cuda_graphs, "MAX_LAUNCHES", 12)
    for n in range(4):
        x = np.asarray(numpy.arange(100_000.0 + 1000 * n))
        for _ in range(30):
            repeated(x, x)
        assert sum(len(nodes) for nodes in graphs.alive.values()) <= 12
    assert graphs.alive
    assert graphs.launched > 20


def test_an_exception_before_a_graph_is_launched(graphs: Graphs) -> None:
    """A signal handler may raise one where a result gets memory: nothing has run then, and all runs later."""
    call = ready(graphs)

    class Stop(BaseException):
        pass

    def stop(device: Any, nbytes: int) -> None:
        raise Stop

    kept: list[Any] = []
    kernels = counted(graphs, call)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "_find_block", stop)
        for _ in range(50):  # until no free block is left
            try:
                ran = counted(graphs, lambda: kept.append(call()))
            except Stop:
                break
            assert ran[:2] == (kernels, 1)
        else:
            pytest.fail("no result needed new memory")
    assert not graphs.ran
    gc.collect()
    assert counted(graphs, call)[:2] == (kernels, 1)


def test_what_is_told_of_graphs(graphs: Graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_driver.FakeDriver, "_cuEventElapsedTime", lambda driver, first, last: 1.0, raising=False)
    monkeypatch.setattr(profile, "bandwidth", lambda device: 1e12)
    x, y = (np.asarray(value) for value in VALUES)
    np.synchronize()

    def text() -> str:
        with StringIO() as file:
            pending = (x + y).sum() * y
            np.explain(pending, file=file)
            return file.getvalue()

    def profiled() -> str:
        with StringIO() as file:
            with np.profile(file=file):
                ((x + y).sum() * y).computed()
            return file.getvalue()

    assert "CUDA graph" not in text() + profiled()
    for _ in range(100):
        ((x + y).sum() * y).computed()
    assert text().startswith("launched as one CUDA graph:\n2 kernels on cuda:0")
    launched = graphs.launched
    assert launched
    assert "\n2 runs are parts of CUDA graphs where nothing is timed" in profiled()
    assert graphs.launched == launched
