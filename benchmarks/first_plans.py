"""What a first run has to plan and to compile, without a GPU: programs on a pretended one.

``PYTHONPATH=. python benchmarks/first_plans.py [NAME ...]``. A program is an example or one of ``benchmarks/programs``,
at the small size of ``first_run.py``. Of two runs in a row each has a line: how many texts each new plan brings. Those
of one plan are compiled side by side, and one plan after the other. The last columns are the seconds of a processor
that NVRTC takes for all of them, and for the longest, for sm_90. Values mean nothing on the pretended GPU, so programs
that need them are left out.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from typing import Any
from unittest.mock import MagicMock

import pytest
from first_run import CASES, PROGRAMS, SIZES

import gpunumpy
from gpunumpy.core.graph.bounded_table import forget_all
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.loop_cut import LoopCut
from gpunumpy.core.runtime.planner import Planner
from gpunumpy.demo import load
from gpunumpy.kernels.cuda import compile as compiler
from gpunumpy.nvlib import handles
from tests.support import fake_driver

ARCH = "sm_90"
NEED_VALUES = ("image_subtraction", "ray_tracer")


def two_runs(name: str) -> list[list[list[str]]]:
    """Return, for each of two runs, the new texts of each new plan."""
    texts: list[str] = []
    found: list[list[list[str]]] = []

    def noted(text: str, *target: Any) -> bytes:
        texts.append(text)
        return b"image"

    with pytest.MonkeyPatch.context() as patch, gpunumpy.Device("cuda:0"):
        patch.setattr(compiler, "_compile", noted)
        patch.setattr(handles, "_handles", {})
        patch.setattr(handles, "bindings", lambda library: MagicMock(name=library))
        forget_all()
        state = evaluate.state_of(gpunumpy.Device("cuda:0"))
        state.cut, state.planner = LoopCut(), Planner(state.executor)
        plan = Planner.plan

        def watched(*args: Any) -> Any:
            before, structures = len(texts), state.planner.counts()[0]
            result = plan(*args)
            if state.planner.counts()[0] > structures:
                found[-1].append(texts[before:])
            return result

        patch.setattr(Planner, "plan", watched)
        run = load(name, "gpunumpy", **({} if name in CASES else {"folder": PROGRAMS})).run
        for _ in range(2):
            found.append([])
            results = run(*SIZES[name]["small"])
            for x in results if isinstance(results, tuple) else (results,):
                x.computed()
    return found


def seconds_to_compile(text: str) -> float:
    start = time.process_time()
    compiler.compile_cubin(text, ARCH)
    return time.process_time() - start


def main() -> None:
    print("| program | run | new plans | texts of each | texts | all (s) | longest (s) |\n" + "|---" * 7 + "|")
    names = sys.argv[1:] or [name for name in SIZES if name not in NEED_VALUES]
    with pytest.MonkeyPatch.context() as patch:
        fake_driver.install(patch)
        for name in names:
            for number, plans in enumerate(two_runs(name), 1):
                with tempfile.TemporaryDirectory() as folder:
                    patch.setitem(os.environ, "GPUNUMPY_CACHE_DIR", folder)
                    took = [seconds_to_compile(text) for texts in plans for text in texts]
                counts = ", ".join(str(len(texts)) for texts in plans)
                cells = (name, number, len(plans), counts, len(took), f"{sum(took):.1f}", f"{max(took, default=0):.2f}")
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
