"""Plans that the core launches as CUDA graphs, by a driver that is not there: what it is told, and what kernels find.

The driver here notes what every kernel is launched with, by itself or in a graph. From that a test computes what would
be in memory: a kernel writes what follows from its number and from what is in the memory that it reads.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import _native
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.plan import Plan
from gpunumpy.core.schedule.steps import RunKernel
from gpunumpy.kernels.cuda import cuda_graphs
from gpunumpy.kernels.cuda import launch as launch_module

from ...support import fake_driver
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
    errors
        The errors of calls, by the names of these.
    alive
        The kernels of the graphs that are not destroyed.
    at_launch
        Called in the middle of the launch of a graph.
    """

    def __init__(self, patch: pytest.MonkeyPatch, driver: fake_driver.FakeDriver) -> None:
        self.driver = driver
        self.ran: list[tuple[int, Words]] = []
        self.launched = self.told = 0
        self.errors: dict[str, int] = {}
        self.alive: dict[int, list[Node]] = {}
        self.early: list[bool] = []
        self.is_captured = False
        self.at_launch: Callable[[], None] = lambda: None
        self._counts: dict[int, int] = {}  # of the words of kernels
        self._nodes: dict[int, Node] = {}
        self._captured: list[int] = []
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
            "cuStreamBeginCapture": lambda driver, stream, mode: setattr(self, "_stream", int(stream)),
            "cuStreamEndCapture": lambda driver, stream: self._end_capture(),
            "cuGraphInstantiate": lambda driver, graph, flags: self._instantiate(),
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
        ctypes.c_size_t.from_address(count).value = 1
        return 0

    def _end_capture(self) -> int:
        self._stream = 0
        return next(self._numbers)

    def _instantiate(self) -> int:
        number, captured = next(self._numbers), self._captured
        self.alive[number] = [self._nodes[node] for node in captured]
        self._captured = []
        return number

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
def graphs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Graphs:
    pytest.importorskip("cuda.bindings.nvrtc")
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    return Graphs(monkeypatch, fake_driver.install(monkeypatch))


def plans() -> list[Plan]:
    return evaluate.queue_of(np.default_device()).state.planner.plans.values()


def kinds() -> dict[int, list[str]]:
    """The kinds of the arguments of kernels."""
    found = {}
    for plan in plans():
        steps = [step for step in plan.scheduled.steps if isinstance(step, RunKernel)]
        for runner, step in zip(plan.runners, steps, strict=True):
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


def gathered(x: Any, y: Any, k: int) -> list[Any]:
    at = np.asarray(numpy.arange(500)[::-1].copy())
    z = x[at] + y.sum()
    return [z[at] * z.sum(), x - z.max()]


PROGRAMS = [chained, updated, gathered]
VALUES = numpy.arange(100_000.0), numpy.arange(100_000.0) / 3


def run(graphs: Graphs, program: Callable[..., list[Any]], k: float) -> list[int]:
    """What a run of a program leaves in the memory of its results."""
    x, y = (np.asarray(value) for value in VALUES)
    np.synchronize()
    addresses = [array._node.data.ptr for array in (x, y)]
    graphs.ran.clear()
    results = program(x, y, k)
    evaluate.flush(evaluate.queue_of(np.default_device()))
    maker: Any = cuda_graphs._makers.get(np.default_device())
    memory = Memory(graphs.driver, maker and maker._workspace)
    for n, address in enumerate(addresses):
        memory[address] = n
    memory.run(graphs.ran, kinds())
    return [memory[result._node.data.ptr] for result in results]


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
    print([(p.graph, len(p.runners), [type(r).__name__ for r in p.runners]) for p in plans()], cuda_graphs._makers)
    assert graphs.launched > 9
    (graph,) = [plan.graph for plan in plans() if plan.graph.__class__ is not int]
    assert graph.launch_count > 2
