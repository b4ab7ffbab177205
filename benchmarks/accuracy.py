"""The largest error of every real function, beside what the table of ops allows: the tables of docs/accuracy.md.

Run from the root of the repository: ``python -m benchmarks.accuracy [--on gpu|emulator|numpy] [--only NAME,NAME]``. The
status is 1 if an error is larger than allowed. Of 16-bit floats every value is an argument; of the others, `--count`
arguments are drawn, most of them where a function is hard.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys

import numpy

import gpunumpy
from tests.support import accuracy
from tests.support.accuracy import DTYPES, FUNCTIONS
from tests.support.backends import BACKENDS, Backend, backend


def heading(name: str) -> str:
    """The day, what computes, and the commit."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    where = {"numpy": "NumPy on the CPU", "emulator": "the emulator, with the errors that CUDA documents"}
    if name == "gpu":
        from cuda.core import Device

        where["gpu"] = Device(0).name
    return (
        f"{datetime.date.today()}, {where[name]}, gpunumpy {gpunumpy.__version__}, NumPy {numpy.__version__}, "
        f"commit {commit.stdout.strip() or 'unknown'}"
    )


def line(name: str, at: Backend, count: int) -> tuple[str, bool]:
    """The row of a function, and whether all its errors are allowed."""
    cells, fine = [], True
    for dtype in DTYPES.values():
        if not accuracy.has_loop(name, dtype):
            cells.append("")
            continue
        worst = accuracy.measure(name, dtype, lambda *arrays: at.compute(name, *arrays), count)
        too_large = worst.floats > accuracy.allowed(name, dtype, at.is_numpy)
        fine = fine and not too_large
        cells.append(f"**{worst.error:.3f}**" if too_large else f"{worst.error:.3f}")
        if too_large:
            print(f"{name}: {worst}", file=sys.stderr)
    return "| " + " | ".join([name, *cells]) + " |", fine


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--on", choices=BACKENDS, default="gpu", help="what computes (default gpu)")
    parser.add_argument("--count", type=int, default=1 << 20, help="arguments of a function (default 2^20)")
    parser.add_argument("--only", default="", help="names of functions, separated by commas")
    options = parser.parse_args()
    print(f"{heading(options.on)}; largest errors in ULP of the exact result\n")
    print("| function | " + " | ".join(DTYPES) + " |")
    print("|---" * (len(DTYPES) + 1) + "|")
    all_fine = True
    with backend(options.on) as at:
        for name in options.only.split(",") if options.only else FUNCTIONS:
            row, fine = line(name, at, options.count)
            print(row, flush=True)
            all_fine = all_fine and fine
    return 0 if all_fine else 1


if __name__ == "__main__":
    sys.exit(main())
