"""What the host pays for small work on a GPU, in instructions, which do not depend on what else a machine does.

``python benchmarks/instructions.py`` runs rows of overheads.py on a pretended GPU (see pretended_gpu.py) under
valgrind's callgrind, each twice with other counts: the difference is of the calls, and of how processes differ at their
start, which can be a thousand a call. It takes some minutes a row. ``--beside FOLDER`` does the same with another
checkout, whose core has to be built for this Python, and prints ratios.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

ROOT = Path(__file__).resolve().parents[1]
WARM_UP, FEWER, MORE = 300, 500, 10_500  # calls
THREAD_S = 60  # at most, for threads that load and compile beside the calls: what they do is counted too
ROWS = (
    *("a + b", "a * 2", "the expression", "flush a + b", "flush the expression"),
    *("float(a.sum())", "float(a[3])", "a[3] = 2.0 and float(a[3])"),
)


def work(row: str) -> Callable[[], Any]:
    from overheads import EXPRESSION

    import gpunumpy as np

    a = np.asarray(numpy.random.default_rng(0).random(1024, "float32"))
    b, computed = a + 1, a + 2
    b.computed()
    computed.computed()

    expression = eval(f"lambda: {EXPRESSION}", {"np": np, "a": a, "b": b})

    def write_and_look() -> float:
        computed[3] = 2.0
        return float(computed[3])

    calls: tuple[Callable[[], Any], ...] = (
        lambda: a + b,
        lambda: a * 2.0,
        expression,
        lambda: (a + b).computed(),
        lambda: expression().computed(),
        lambda: float(a.sum()),
        lambda: float(computed[3]),
        write_and_look,
    )
    return dict(zip(ROWS, calls, strict=True))[row]


def child(row: str, count: int) -> None:
    """Do what is counted, with the package and the pretended GPU that the search path has first."""
    from pretended_gpu import _native, pretend

    assert _native.IS_COMPILED, "the core is not built for this Python"
    with pytest.MonkeyPatch.context() as patch:
        pretend(patch, "compiled")
        call = work(row)
        for _ in range(WARM_UP):
            call()
        for thread in threading.enumerate():
            if thread is not threading.current_thread():
                thread.join(THREAD_S)
        gc.collect()
        gc.disable()
        for _ in range(count):
            call()


def instructions(row: str, root: Path) -> float:
    """Of one call of a row, by the package of a checkout."""
    found = []
    for count in (FEWER, MORE):
        with tempfile.TemporaryDirectory() as folder:
            settings = {
                "PYTHONPATH": os.pathsep.join((str(root / "benchmarks"), str(root))),
                "GPUNUMPY_CACHE_DIR": folder,
                "GPUNUMPY_HINTS": "0",
                "OPENBLAS_NUM_THREADS": "1",  # its threads wait by counting
                "PYTHONHASHSEED": "0",
            }
            counted = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out")
            command = [*counted, sys.executable, "-P", __file__, "--child", row, "--count", str(count)]
            run = subprocess.run(
                command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True, check=True
            )
        number = re.search(r"Collected : (\d+)", run.stderr)
        assert number is not None, run.stderr
        found.append(int(number[1]))
    return (found[1] - found[0]) / (MORE - FEWER)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path, help="another checkout")
    parser.add_argument("--only", default=",".join(ROWS), help="names of rows, with commas between them")
    parser.add_argument("--child", choices=ROWS, help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.count)
        return
    print(f"Python {sys.version.split()[0]}, NumPy {numpy.__version__}, instructions of the host\n")
    print("| what | instructions |" + (" beside it | ratio |" if given.beside else ""))
    print("|---|---|" + ("---|---|" if given.beside else ""))
    for row in given.only.split(","):
        here = instructions(row, ROOT)
        line = f"| {row} | {here:,.0f} |"
        if given.beside:
            there = instructions(row, given.beside.resolve())
            line += f" {there:,.0f} | {here / there:.2f} |"
        print(line, flush=True)


if __name__ == "__main__":
    main()
