"""What a hand-over to `cupyx.scipy` costs: calls of `gpunumpy.scipy`, and the same calls of `cupyx.scipy` itself.

    python -m benchmarks.scipy_hand_over

It needs a GPU and CuPy. Times are microseconds a call, the least of several rounds in turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from operator import matmul
from typing import Any

import cupy
import cupyx.scipy.fft
import cupyx.scipy.linalg
import cupyx.scipy.ndimage
import cupyx.scipy.signal
import cupyx.scipy.sparse
import cupyx.scipy.special

import gpunumpy
import gpunumpy.scipy

ROUNDS, CALLS, SIZE = 9, 200, 1 << 10

# What is called: with the package, `gpunumpy.scipy` or `cupyx.scipy`, and with arrays made of a function of NumPy's
# names.
CASES: dict[str, Callable[[Any, Any], Callable[[], Any]]] = {
    "ndimage.gaussian_filter": lambda sp, x: lambda: sp.ndimage.gaussian_filter(x, 1.0),
    "ndimage.uniform_filter1d": lambda sp, x: lambda: sp.ndimage.uniform_filter1d(x, 5),
    "ndimage.gaussian_filter, output": lambda sp, x: lambda: sp.ndimage.gaussian_filter(x, 1.0, output=x),
    "special.j0": lambda sp, x: lambda: sp.special.j0(x),
    "special.gammainc": lambda sp, x: lambda: sp.special.gammainc(2.0, x),
    "signal.convolve": lambda sp, x: lambda: sp.signal.convolve(x, x[:9], method="direct"),
    "linalg.solve_triangular": lambda sp, x: partial(sp.linalg.solve_triangular, *2 * [x.reshape(32, 32)]),
    "sparse: A @ x": lambda sp, x: partial(matmul, sp.sparse.csr_matrix(x.reshape(32, 32)), x[:32]),
}


def once(call: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """Microseconds a call, of many in a row."""
    wait()
    start = time.perf_counter()
    for _ in range(CALLS):
        call()
    wait()
    return (time.perf_counter() - start) / CALLS * 1e6


def main() -> None:
    gpunumpy.set_residence("device")
    wait = cupy.cuda.Device().synchronize
    print(f"{'a call on 1,024 elements':36}{'cupyx':>10}{'ours':>10}{'hand-over':>11}  us")
    for name, case in CASES.items():
        packages = ((cupyx.scipy, cupy), (gpunumpy.scipy, gpunumpy))
        calls = [case(sp, xp.linspace(0.1, 3, SIZE, dtype="float32")) for sp, xp in packages]
        for call in calls:
            for _ in range(5):
                call()
        rounds = [[once(call, wait) for call in calls] for _ in range(ROUNDS)]
        own, ours = (min(column) for column in zip(*rounds))
        print(f"{name:36}{own:10.1f}{ours:10.1f}{ours - own:11.1f}")


if __name__ == "__main__":
    main()
