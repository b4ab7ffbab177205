"""What a first run does when: plans, the compiler, kernels that wait for it, and how often kernels are interpreted.

``PYTHONPATH=. python benchmarks/timeline.py NAME [small|large]`` on a machine with a GPU, for a program of
``first_run.py``. Times are milliseconds from the start of a run; of two runs in this process each has its lines. The
cache of compiled kernels is an empty folder.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

os.environ["GPUNUMPY_CACHE_DIR"] = tempfile.mkdtemp()

from first_run import CASES, PROGRAMS, SIZES, gpunumpy_on

import gpunumpy
from gpunumpy.core.runtime.planner import Planner
from gpunumpy.demo import load
from gpunumpy.kernels.cuda import compile as compiler
from gpunumpy.kernels.cuda import tiers

lines: list[tuple[float, float, str]] = []
runs: Counter[tuple[str, str]] = Counter()
begun = 0.0


def now() -> float:
    return (time.perf_counter() - begun) * 1e3


def timed(what: Callable[..., str], function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with a line for every call."""

    def call(*args: Any, **options: Any) -> Any:
        start = now()
        result = function(*args, **options)
        lines.append((start, now(), what(*args)))
        return result

    return call


def entry(text: str) -> str:
    """The name of a program's last kernel."""
    return text.rpartition("__global__")[2].partition("{")[0].rpartition("(")[0].split()[-1]


def waiting(programs: Sequence[tuple[Any, Any]]) -> str:
    return f"waited for {sum(compiler._modules.find(key) is None for key, _ in programs)} programs"


def watch() -> None:
    """Have the parts of the package tell what they do."""
    Planner.plan = timed(lambda self, key, nodes, *rest: f"plan of {len(nodes)} nodes", Planner.plan)  # type: ignore
    compiler._image = timed(lambda key: f"compiled {entry(key[2].text)}", compiler._image)
    load_functions = compiler._load_functions

    def loaded(programs: Sequence[tuple[Any, Any]]) -> None:
        start, what = now(), waiting(programs)
        load_functions(programs)
        if not what.endswith(" 0 programs"):
            lines.append((start, now(), what))

    compiler._load_functions = loaded
    call = tiers.InterpretedFirst.__call__

    def counted(self: tiers.InterpretedFirst, values: Sequence[Any]) -> None:
        call(self, values)
        runs["interpreted" if self.is_interpreted else "compiled", self._entries[-1]] += 1

    tiers.InterpretedFirst.__call__ = counted  # type: ignore[method-assign]
    call_once = tiers.InterpretedOnce.__call__

    def counted_once(self: tiers.InterpretedOnce, values: Sequence[Any]) -> None:
        call_once(self, values)
        runs["interpreted", "without a text"] += 1

    tiers.InterpretedOnce.__call__ = counted_once  # type: ignore[method-assign]


def main() -> None:
    global begun
    name, size = sys.argv[1], (sys.argv[2:] or ["small"])[0]
    library = gpunumpy_on(gpunumpy.Device("cuda"))
    library.start()
    run = load(name, "gpunumpy", **({} if name in CASES else {"folder": PROGRAMS})).run
    watch()
    for number in (1, 2):
        lines.clear()
        runs.clear()
        begun = time.perf_counter()
        results = run(*SIZES[name][size])
        recorded = now()
        library.wait(*(results if isinstance(results, tuple) else (results,)))
        print(f"run {number} of {name}, {size}: recorded {recorded:.1f}, done {now():.1f}")
        for start, end, what in sorted(lines):
            print(f"  {start:8.1f} to {end:8.1f}  {what}")
        for (tier, kernel), count in runs.most_common(20):
            print(f"  {count:8} times {tier}  {kernel}")


if __name__ == "__main__":
    main()
