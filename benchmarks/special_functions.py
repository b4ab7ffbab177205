"""Functions of `scipy.special` of 2^26 numbers beside CuPy's, and beside a kernel that only reads and writes as much.

Run on a machine with a GPU: ``python benchmarks/special_functions.py [--only NAME,NAME]``. Times are in milliseconds.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cupy
import cupyx.scipy.special
from timing import seconds

import gpunumpy as np
from gpunumpy.core.ops.special import SPECIAL
from gpunumpy.scipy import special

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.support.special import PLACES, Interval

N = 1 << 26


def milliseconds(call: Callable[[], Any], synchronize: Callable[[], Any]) -> float:
    return 1e3 * seconds(call, synchronize, batch=0.01, repeats=5)


def arguments(name: str, dtype: str) -> list[Any]:
    """Numbers of CuPy's from the first place where the function's accuracy is measured, all of which are finite."""
    place = PLACES[name][0]
    intervals = [place] if isinstance(place, Interval) else list(place)
    rng = cupy.random.default_rng(1)
    return [(x.low + (x.high - x.low) * rng.random(N, dtype=cupy.float32)).astype(dtype) for x in intervals]


def least_time(theirs: list[Any]) -> float:
    """The time of a kernel that adds the arguments."""
    names = [f"x{k}" for k in range(len(theirs))]
    kernel = cupy.ElementwiseKernel(", ".join(f"T {x}" for x in names), "T y", f"y = {' + '.join(names)}", "read")
    out = cupy.empty_like(theirs[0])
    return milliseconds(lambda: kernel(*theirs, out), cupy.cuda.Device().synchronize)


def line(name: str, dtype: str) -> str:
    theirs = arguments(name, dtype)
    ours = [np.from_dlpack(x) for x in theirs]
    function, reference = getattr(special, name), getattr(cupyx.scipy.special, name, None)
    floor = least_time(theirs)
    own = milliseconds(lambda: function(*ours).computed(), np.synchronize)
    cells = [name, dtype, f"{floor:.3f}", f"{own:.3f}", f"{own / floor:.2f}"]
    if reference is None:
        return "| " + " | ".join([*cells, "", ""]) + " |"
    other = milliseconds(lambda: reference(*theirs), cupy.cuda.Device().synchronize)
    return "| " + " | ".join([*cells, f"{other:.3f}", f"{own / other:.2f}"]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default="", help="names of functions, separated by commas")
    names = parser.parse_args().only
    print(
        "| function | dtype | reads and writes | gpunumpy | of these | CuPy | of CuPy |\n|---|---|---|---|---|---|---|"
    )
    for name in names.split(",") if names else SPECIAL:
        for dtype in ("float32", "float64"):
            print(line(name, dtype), flush=True)


if __name__ == "__main__":
    main()
