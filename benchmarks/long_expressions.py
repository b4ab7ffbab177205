"""Loops whose steps are one long expression: as the scheduler cuts them, and without its cuts.

``PYTHONPATH=. python benchmarks/long_expressions.py [--limit N]`` prints the milliseconds of loops of
`tests/core/fusion/test_long_expressions.py` over 4096 x 4096 points, and of two examples at their large sizes. Each
column is a process of its own, with an empty cache. `--limit` has segments of other lengths, in instructions.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy
from first_run import SIZES

import gpunumpy as np
from gpunumpy.core.schedule import cuts
from gpunumpy.demo import load
from tests.core.fusion import test_long_expressions as loops

SHAPE = (4096, 4096)
EXAMPLES = ("mandelbrot", "black_scholes")


def milliseconds(call: Callable[[], Any], times: int = 6) -> float:
    """The least time of a call, but for the first one."""
    took = []
    for _ in range(times):
        start = time.perf_counter()
        found = call()
        for x in found if isinstance(found, tuple) else (found,):
            x.computed()
        np.synchronize()
        took.append((time.perf_counter() - start) * 1e3)
        del found
    return min(took[1:])


def measured(limit: int | None) -> dict[str, float]:
    """The time of each program, with segments of at most `limit` instructions; of 0, without cuts."""
    if limit == 0:
        setattr(cuts, "_long_expressions", lambda *_: [])  # noqa: B010
    elif limit is not None:
        setattr(cuts, "_MAX_INSTRUCTIONS", limit)  # noqa: B010
        setattr(cuts, "_MAX_WORDS", limit * 13 // 10)  # noqa: B010
    found = {}
    for name in EXAMPLES:
        run = load(name, "gpunumpy").run
        found[f"{name}, large"] = milliseconds(partial(run, *SIZES[name]["large"]))
    loops.SHAPE = SHAPE
    a = np.asarray(numpy.random.default_rng(0).random(SHAPE))
    for loop, _, _ in loops.LOOPS:
        found[loop.__name__] = milliseconds(partial(loop, np, a))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--child", type=int)
    options = parser.parse_args()
    if options.child is not None:
        print(json.dumps(measured(None if options.child < 0 else options.child)))
        return 0
    columns = []
    for limit in (0, -1 if options.limit is None else options.limit):
        command = [sys.executable, __file__, "--child", str(limit)]
        with TemporaryDirectory() as folder:  # plans that one process has kept would be taken by the other
            environment = {**os.environ, "GPUNUMPY_CACHE_DIR": folder}
            child = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        columns.append(json.loads(child.stdout))
    print(f"{np.default_device().hardware}\n\n| program | without cuts (ms) | cut (ms) | ratio |\n|---|---|---|---|")
    for name, before in columns[0].items():
        print(f"| {name} | {before:.3f} | {columns[1][name]:.3f} | {columns[1][name] / before:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
