"""Count what a first run has to plan and to compile: programs on a pretended GPU, whose compiler does nothing.

    python -m tools.first_plans [NAME ...]

A program is an example or one of ``benchmarks/programs``, at the small size of ``benchmarks/first_run.py``. For each of
two runs in a row, a line has the number of plans and of kernels' texts that are new, and how many new texts each new
plan has: they are compiled side by side, and one plan after the other. Values mean nothing, so programs that need them
are left out.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

import gpunumpy
from gpunumpy.core.graph.bounded_table import forget_all
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.loop_cut import LoopCut
from gpunumpy.core.runtime.planner import Planner
from gpunumpy.demo import load
from gpunumpy.kernels.cuda import compile as compiler
from gpunumpy.nvlib import handles
from tests.support import fake_driver

NEED_VALUES = ("image_subtraction", "ray_tracer")
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))  # its scripts import each other as modules of their own
first_run = import_module("first_run")


def two_runs(name: str) -> list[list[int]]:
    """Return, for each of two runs, the number of new texts of each new plan."""
    texts: list[str] = []
    found: list[list[int]] = []

    def compiled(text: str, *target: Any) -> bytes:
        texts.append(text)
        return b"image"

    with pytest.MonkeyPatch.context() as patch, gpunumpy.Device("cuda:0"):
        patch.setattr(compiler, "_compile", compiled)
        patch.setattr(handles, "_handles", {})
        patch.setattr(handles, "bindings", lambda library: MagicMock(name=library))
        forget_all()
        state = evaluate.state_of(gpunumpy.Device("cuda:0"))
        state.cut, state.planner = LoopCut(), Planner(state.executor)
        plan = state.planner.plan

        def counted(*args: Any) -> Any:
            before, structures = len(texts), state.planner.counts()[0]
            result = plan(*args)
            if state.planner.counts()[0] > structures:
                found[-1].append(len(texts) - before)
            return result

        patch.setattr(state.planner, "plan", counted)
        run = load(name, "gpunumpy", **({} if name in first_run.CASES else {"folder": first_run.PROGRAMS})).run
        for _ in range(2):
            found.append([])
            results = run(*first_run.SIZES[name]["small"])
            for x in results if isinstance(results, tuple) else (results,):
                x.computed()
    return found


def main() -> None:
    with pytest.MonkeyPatch.context() as patch:
        fake_driver.install(patch)
        for name in sys.argv[1:] or [name for name in first_run.SIZES if name not in NEED_VALUES]:
            for number, plans in enumerate(two_runs(name), 1):
                print(f"{name}, run {number}: {len(plans)} plans, {sum(plans)} texts {plans}", flush=True)


if __name__ == "__main__":
    main()
