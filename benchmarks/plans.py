"""What the first plan of a graph costs, in the processor's time and without the compiler, in milliseconds.

``python benchmarks/plans.py`` prints a table for the CPU device and one for the CUDA texts of the same graphs, which
needs no GPU. Graphs are drawn at random, each is planned with every table of plans, kernels and signatures empty, and
a figure is the median over the graphs of the best of several times. What is kept for each operation of the table, of
which there are few, is there.

- walk: the graph is walked, its structure looked up, and its sizes become symbols
- schedule: the passes
- generate: a function of NumPy calls, or a CUDA text, for every kernel
- prepare: what is left: formulas, sections, actions and guards

``--calls`` counts the calls of functions instead, in which there is no noise of other processes.
"""

from __future__ import annotations

import argparse
import cProfile
import datetime
import platform
import random
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy

import gpunumpy as np
from gpunumpy.core.graph.bounded_table import BoundedTable, forget_all
from gpunumpy.core.runtime import evaluate, planner
from gpunumpy.core.runtime.planner import Planner
from gpunumpy.core.schedule.kernel import Kernel
from gpunumpy.core.schedule.traits import Traits
from gpunumpy.kernels.codegen.sized import sized_programs
from gpunumpy.kernels.cuda.executor import CudaExecutor
from gpunumpy.kernels.host import text
from gpunumpy.kernels.host.executor import HostExecutor

SHAPE = (600, 500)
COUNTS = (20, 100, 400)
GRAPHS, REPEATS = 6, 5
PHASES = ("walk", "schedule", "generate", "prepare")

UNARY = (np.sin, np.exp, np.sqrt, np.abs, np.negative, np.floor, np.tanh, np.log1p, np.square, np.arctan)
BINARY = (np.add, np.subtract, np.multiply, np.maximum, np.hypot, np.arctan2, np.minimum, np.divide)

# A step of a program: takes the values so far, and returns another.
Step = Callable[[random.Random, list[Any]], Any]


def stencil(rng: random.Random, values: list[Any]) -> Any:
    """A statement over four neighbours, on a copy."""
    u = values[-1].copy()
    k = rng.randrange(1, 3)
    sides = [u[: -2 * k, k:-k], u[2 * k :, k:-k], u[k:-k, : -2 * k], u[k:-k, 2 * k :]]
    rng.shuffle(sides)
    total = sides[0] + sides[1] * rng.random()
    for side in sides[2:]:
        total = rng.choice((np.add, np.subtract))(total, side)
    u[k:-k, k:-k] = total * 0.25 + values[0][k:-k, k:-k]
    return u


def reductions(rng: random.Random, values: list[Any]) -> Any:
    """A normalisation, or a mean of differences."""
    a, axis = values[-1], rng.choice((0, 1, None))
    if rng.random() < 0.5:
        return (a - a.mean(axis, keepdims=True)) / (a.std(axis, keepdims=True) + 1e-6)
    return rng.choice(values) * rng.choice((np.sum, np.max, np.mean))(a * a + 1, axis=axis, keepdims=True)


def elementwise(rng: random.Random, values: list[Any]) -> Any:
    """One operation, of a chain of many."""
    if rng.random() < 0.5:
        return rng.choice(UNARY)(values[-1])
    return rng.choice(BINARY)(values[-1], rng.choice((values[0], values[1], rng.random())))


def regions(rng: random.Random, values: list[Any]) -> Any:
    """An update of a part, of which what comes next is a part again."""
    u = values[-1].copy() if rng.random() < 0.3 else values[-1]
    low, high = rng.randrange(1, 40), rng.randrange(41, 400)
    where = rng.choice((np.s_[low:high], np.s_[:, low:high], np.s_[::2], np.s_[low], np.s_[low:high, low:high]))
    u[where] = u[where] * rng.random() + values[0][where]
    return u


def mixed(rng: random.Random, values: list[Any]) -> Any:
    """Masks, `where`, elements by index, and a little of everything else."""
    a, b, kind = values[-1], values[0], rng.randrange(5)
    if kind == 0:
        return np.where(a > b, a, b * 2)
    if kind == 1:
        return a[INDICES[rng.randrange(2)]] + b
    if kind == 2:
        return np.clip(a, 0.1, 0.9) * (b < rng.random())
    if kind == 3:
        return a.T.copy().reshape(SHAPE) + b[::-1]
    return rng.choice((stencil, reductions, elementwise))(rng, values)


STEPS: dict[str, Step] = {
    "stencil": stencil,
    "reductions": reductions,
    "elementwise": elementwise,
    "regions": regions,
    "mixed": mixed,
}
# A graph has one statement of these again and again, as a loop would record it.
LOOPS = (stencil,)
INDICES = [np.asarray(numpy.random.default_rng(k).integers(0, SHAPE[0], SHAPE[0])) for k in range(2)]


def recorded(step: Step, count: int, seed: int) -> list[Any]:
    """Arrays that are not computed, and need about so many nodes."""
    rng = random.Random(seed)
    leaves = [np.asarray(numpy.full(SHAPE, 0.5)) for _ in range(2)]
    np.synchronize()
    values = list(leaves)
    while True:
        values.append(step(random.Random(seed) if step in LOOPS else rng, values))
        if len(evaluate._reachable_nodes(pending(values))) >= count:
            return values[-2:]


def pending(arrays: Sequence[Any]) -> list[Any]:
    """The values of arrays that are not computed."""
    return [node for node in dict.fromkeys(a._node for a in arrays) if node.data is None]


PROGRAMS: BoundedTable[Kernel, Any] = BoundedTable()


class TextExecutor(HostExecutor):
    """Prepares the CUDA texts of a GPU, and nothing that runs them."""

    name = "cuda"
    traits: Traits = CudaExecutor.traits

    def prepare(self, structure: Kernel, has_other_sizes: bool) -> Any:
        programs = PROGRAMS.find(structure) or PROGRAMS.keep(structure, sized_programs(structure, 132))
        if has_other_sizes:
            programs.expect_others()

        def begin(sizes: Sequence[int]) -> Any:
            sized, values = programs.find(sizes)
            return sized.at(values)

        return begin

    def library_call(self, *_: Any) -> Any:
        return None


class Clock:
    """The time of each phase: a phase that is entered inside another one is taken off that one."""

    def __init__(self) -> None:
        self.times = dict.fromkeys(PHASES, 0.0)
        self.current = "prepare"
        self.since = time.process_time()

    def enter(self, phase: str) -> str:
        """Begin a phase, and return the one before."""
        now = time.process_time()
        self.times[self.current] += now - self.since
        before, self.current, self.since = self.current, phase, now
        return before

    def timed(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function whose time is that of a phase."""

        def call(*args: Any, **options: Any) -> Any:
            before = self.enter(phase)
            try:
                return function(*args, **options)
            finally:
                self.enter(before)

        return call


@contextmanager
def timed(executor: HostExecutor) -> Iterator[Clock]:
    """Time what runs inside, by phases."""
    clock = Clock()
    functions = {name: getattr(planner, name) for name in ("lowered", "items_of", "lifted", "run_passes")}
    for name, function in functions.items():
        setattr(planner, name, clock.timed("schedule" if name == "run_passes" else "walk", function))
    prepare = executor.prepare
    executor.prepare = lambda *args: clock.timed(  # type: ignore[method-assign]
        "generate", clock.timed("generate", prepare)(*args)
    )
    try:
        yield clock
        clock.enter("prepare")
    finally:
        executor.prepare = prepare  # type: ignore[method-assign]
        for name, function in functions.items():
            setattr(planner, name, function)


def plan(executor: HostExecutor, roots: Sequence[Any]) -> tuple[int, int, dict[str, float]]:
    """Plan a graph that no table knows; return how many nodes and kernels it has, and the times of the phases."""
    forget_all()
    text._compiled.cache_clear()
    with timed(executor) as clock:
        before = clock.enter("walk")
        nodes, key = evaluate.walk(roots)
        clock.enter(before)
        made = Planner(executor).plan(key, nodes, len(roots), True, False)
    kernels = sum(type(step).__name__ == "RunKernel" for step in made.scheduled.steps)
    return len(nodes), kernels, clock.times


def calls(executor: HostExecutor, step: Step, count: int) -> float:
    """The median over graphs of how many functions are called, of Python and by it."""
    found = []
    for seed in range(GRAPHS):
        roots = pending(recorded(step, count, seed))
        plan(executor, roots)
        profile = cProfile.Profile()
        profile.runcall(plan, executor, roots)
        found.append(sum(entry.callcount for entry in profile.getstats()))
    return statistics.median(found)


def row(executor: HostExecutor, step: Step, count: int) -> list[float]:
    """The medians over graphs: of nodes, of kernels, and of the times of the phases and of all in milliseconds."""
    rows = []
    for seed in range(GRAPHS):
        roots = pending(recorded(step, count, seed))
        samples = [plan(executor, roots) for _ in range(REPEATS)]
        nodes, kernels, times = min(samples, key=lambda sample: sum(sample[2].values()))
        rows.append([nodes, kernels, *(t * 1e3 for t in times.values()), sum(times.values()) * 1e3])
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="graphs whose kind contains this")
    parser.add_argument("--calls", action="store_true", help="count calls instead of time")
    options = parser.parse_args()
    evaluate.NODES_LIMIT = 1 << 30  # type: ignore[attr-defined]  # nothing is computed
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    versions = f"Python {platform.python_version()}, NumPy {numpy.__version__}"
    print(f"{datetime.date.today()}, {versions}, commit {commit.stdout.strip()}")
    device = np.Device("cpu")
    with device:
        for name, executor in (("the CPU device", HostExecutor(device)), ("CUDA texts", TextExecutor(device))):
            if options.calls:
                print(f"\n| {name} | " + " | ".join(f"calls for {count} nodes" for count in COUNTS) + " |")
                print("|---" * (len(COUNTS) + 1) + "|")
                for kind, step in STEPS.items():
                    if options.only in kind:
                        cells = " | ".join(f"{calls(executor, step, count):,.0f}" for count in COUNTS)
                        print(f"| {kind} | {cells} |", flush=True)
                continue
            print(f"\n| {name} | nodes | kernels | " + " | ".join(PHASES) + " | all (ms) |")
            print("|---" * (len(PHASES) + 4) + "|")
            for kind, step in STEPS.items():
                if options.only in kind:
                    for count in COUNTS:
                        nodes, kernels, *times = row(executor, step, count)
                        cells = " | ".join(f"{t:.2f}" for t in times)
                        print(f"| {kind} | {nodes:.0f} | {kernels:.0f} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
