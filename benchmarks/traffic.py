"""What the kernels of programs read and write, without a GPU: on one that is pretended.

``python benchmarks/traffic.py [--size small|large] [--only NAME ...]``. Programs are the examples and those of
``benchmarks/programs``, at the sizes of ``first_run.py``. Of a first run the table has the kernels, the bytes that they
and library calls move, and of the kernel that stores the most arrays how many these are, and their bytes of a point.
Values mean nothing on the pretended GPU, so programs that need them are left out.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import gpunumpy as np
from benchmarks.first_plans import NEED_VALUES
from benchmarks.first_run import CASES, PROGRAMS, SIZES
from benchmarks.pretended_gpu import pretend
from gpunumpy.core.runtime.plan import Plan
from gpunumpy.core.schedule.steps import RunKernel, RunLibraryCall
from gpunumpy.core.schedule.traffic import traffic
from gpunumpy.demo import load
from gpunumpy.kernels.cuda import compile as compiler
from gpunumpy.nvlib import handles


def plans_of_run(name: str, size: str) -> list[Plan]:
    """The plans that a run of a program has run, in order."""
    ran: list[Plan] = []
    run_plan = Plan.run

    def note(plan: Plan, *args: Any) -> None:
        ran.append(plan)
        run_plan(plan, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Plan, "run", note)
        results = load(name, "gpunumpy", **({} if name in CASES else {"folder": PROGRAMS})).run(*SIZES[name][size])
        for x in results if isinstance(results, tuple) else (results,):
            x.computed()
    return ran


def line(name: str, size: str) -> str:
    """One row of the table."""
    kernels, read, written, most = 0, 0, 0, (0, 0)
    for plan in plans_of_run(name, size):
        steps, items = plan.scheduled
        for step in steps:
            if isinstance(step, (RunKernel, RunLibraryCall)):
                moved = traffic(step, steps, items)
                read, written = read + moved.read, written + moved.written
            if isinstance(step, RunKernel):
                kernels += 1
                itemsizes = [arg.dtype.itemsize for arg in step.kernel.args if arg.kind == "out"]
                most = max(most, (len(itemsizes), sum(itemsizes)))
    cells = (name, kernels, f"{read / 1e6:.4g}", f"{written / 1e6:.4g}", *most)
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=("small", "large"), default="small")
    parser.add_argument("--only", nargs="+", default=[name for name in SIZES if name not in NEED_VALUES])
    given = parser.parse_args()
    print("| program | kernels | read (MB) | written (MB) | most stores | their bytes |\n" + "|---" * 6 + "|")
    with pytest.MonkeyPatch.context() as patch:
        pretend(patch, "compiled")
        patch.setattr(compiler, "_compile", lambda *args: b"image")
        patch.setattr(handles, "_handles", {})
        patch.setattr(handles, "bindings", lambda library: MagicMock(name=library))
        with np.Device("cuda:0"):
            for name in given.only:
                print(line(name, given.size), flush=True)


if __name__ == "__main__":
    main()
