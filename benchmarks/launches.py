"""What a step of each loop of benchmarks/loops.py takes: kernels, library calls, flushes, looks of the host, and nodes.

``python benchmarks/launches.py [--size small|large] [--only NAME ...]`` counts a second run of each loop, on a GPU or,
where there is none, on one that is pretended. Values mean nothing on that one, so a loop that looks at values is then
counted on the CPU device, with plans as a GPU has them. "plans" are the plans of the run, each at its sizes, and "new"
those of them that the first run has not made. Nothing here depends on the speed of a machine.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import gpunumpy as np
from benchmarks.loop_programs import LOOPS
from benchmarks.loop_programs.loop import Loop
from benchmarks.pretended_gpu import pretend
from benchmarks.table import heading
from gpunumpy.core.graph.node import Node
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.plan import Plan
from gpunumpy.core.schedule.steps import RunKernel
from gpunumpy.kernels.cuda.executor import CudaExecutor
from gpunumpy.nvlib import handles
from tests.support.host_executor import with_traits

LOOKS_AT_VALUES = ("escape_time",)
# By what the plans of a GPU differ from those of the CPU device.
TRAITS = ("takes_epilogues", "reduces_vector_products")
COLUMNS = ("loop", "size", "steps", "on", "kernels", "library calls", "flushes", "looks", "nodes", "plans", "new")


@contextmanager
def counted() -> Iterator[tuple[Counter[str], set[Plan]]]:
    """What runs inside: how many kernels, library calls, flushes and looks, and which plans."""
    found: Counter[str] = Counter()
    plans: set[Plan] = set()

    def observe(step: Any, work: Callable[[], None]) -> None:
        found["kernels" if isinstance(step, RunKernel) else "library calls"] += 1
        work()

    run, check_errors = Plan.run, evaluate.check_errors

    def run_plan(plan: Plan, nodes: Sequence[Node], *args: Any) -> None:
        found["flushes"] += 1
        found["nodes"] += len(nodes)
        plans.add(plan)
        run(plan, nodes, *args)

    def look(queue: Any) -> None:
        found["looks"] += 1
        check_errors(queue)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate, "observer", observe)
        patch.setattr(evaluate, "check_errors", look)  # which every look ends with
        patch.setattr(Plan, "run", run_plan)
        yield found, plans


def compute(results: Any) -> None:
    for x in results if isinstance(results, tuple) else (results,):
        x.computed()


def line(loop: Loop, size: str, device: np.Device) -> str:
    """One row of the table."""
    n, steps = loop.sizes[size]
    with device:
        arrays = [np.asarray(x) for x in loop.data(numpy.random.default_rng(0), n, steps)]
        runs = []
        for _ in range(2):
            with counted() as (found, plans):
                compute(loop.program(np, *arrays, steps))
            runs.append(plans)
    each = [f"{found[what] / steps:.4g}" for what in ("kernels", "library calls", "flushes", "looks", "nodes")]
    cells = [loop.name, f"{size} {n}", str(steps), str(device), *each, str(len(plans)), str(len(runs[1] - runs[0]))]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=("small", "large"), default="small")
    parser.add_argument("--only", nargs="+", default=[loop.name for loop in LOOPS], metavar="NAME", help="loops")
    given = parser.parse_args()
    loops = [loop for loop in LOOPS if loop.name in given.only and given.size in loop.sizes]
    with pytest.MonkeyPatch.context() as patch:
        is_pretended = np.default_device().kind == "cpu"
        print(f"{heading()}\n")
        if is_pretended:
            pretend(patch, "compiled")
            patch.setattr(handles, "bindings", lambda library: MagicMock(name=library))
            with_traits(patch, **{name: getattr(CudaExecutor.traits, name) for name in TRAITS})
        np.set_residence("device")
        print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|", flush=True)
        for loop in loops:
            on_host = is_pretended and loop.name in LOOKS_AT_VALUES
            print(line(loop, given.size, np.Device("cpu" if on_host else "cuda:0")), flush=True)


if __name__ == "__main__":
    main()
