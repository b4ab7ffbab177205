"""What a process on a GPU pays once: the milliseconds of each piece, in the order of a program.

``PYTHONPATH=. python benchmarks/first_pieces.py``. Every line is of a new process, of which five run, and the least is
printed. A product of float64 is of the shape of the k-means example. "chooses" is cuBLASLt's choice of an algorithm,
which the line above it holds; "again" is the same product where the choice of an earlier process is given to it instead
(what the library does not do then, it does at the launch).
"""

from __future__ import annotations

import ctypes
import json
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

import gpunumpy as np
from gpunumpy.core.runtime import memory
from gpunumpy.core.runtime.device import Device
from gpunumpy.nvlib import cublaslt
from gpunumpy.nvlib.handles import bindings, handle

PROCESSES = 5
LOAD_S = 0.5  # for what a thread loads beside the context


def child(choices: Path) -> dict[str, float]:
    """The milliseconds of the pieces in this process; the first one writes what cuBLASLt chooses to a file."""
    took: dict[str, float] = {}

    def clock(name: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = work()
        took[name] = took.get(name, 0.0) + (time.perf_counter() - start) * 1e3
        return result

    def done(x: Any) -> None:
        x.computed()
        np.synchronize()

    np.set_residence("device")
    device, host = Device("cuda"), numpy.random.default_rng(0).random((1797, 74))
    known = pickle.loads(choices.read_bytes()) if choices.exists() else None
    made: list[tuple[bytes, int]] = []
    ask = cublaslt.Multiplication._ask_heuristic

    def choose(product: cublaslt.Multiplication, alignment: int) -> tuple[Any, int]:
        if known is None:
            results, count = clock("chooses", lambda: ask(product, alignment))
            made.append((ctypes.string_at(results.ptr, product._result_size * count), count))
            return results, count
        data, count = known[len(made)]
        made.append((data, count))
        results = product.library.MatmulHeuristicResult(count)
        ctypes.memmove(results.ptr, data, len(data))
        return results, count

    cublaslt.Multiplication._ask_heuristic = choose  # type: ignore[method-assign]
    with device:
        clock("context", lambda: device.stream)
        time.sleep(LOAD_S)
        clock("first memory", lambda: memory.allocate(device, 1))
        clock("word of the host", lambda: memory.index_error_word(device))
        a, b = clock("first copies", lambda: (np.asarray(host[:, :10]), np.asarray(host[:, 10:])))
        clock("first kernel", lambda: done(a * 2 + 1))
        clock("another kernel", lambda: done(np.sin(a) * 3 - a))
        for name in ("cublas", "cublasLt"):
            clock(f"handle of {name}", lambda name=name: handle(device, name))  # type: ignore[misc]
        clock("first product" if known is None else "first product, again", lambda: done(a.T @ b))
        clock("same product", lambda: done(a.T @ b))
        x, m = np.asarray(numpy.ones(1 << 20)), np.asarray(numpy.eye(512) + host[:512, :1])
        clock("library of cufft", lambda: bindings("cufft").get_version())
        clock("first transform", lambda: done(np.fft.fft(x)))
        clock("same transform", lambda: done(np.fft.fft(x)))
        clock("handle of cusolverDn", lambda: handle(device, "cusolverDn"))
        clock("first solve", lambda: done(np.linalg.solve(m, m[0])))
        clock("same solve", lambda: done(np.linalg.solve(m, m[0])))
    if known is None:
        choices.write_bytes(pickle.dumps(made))
    return took


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(child(Path(sys.argv[1]))))
        return
    least: dict[str, float] = {}
    for _ in range(PROCESSES):
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):
                command = [sys.executable, __file__, str(Path(folder, "choices"))]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                for name, ms in json.loads(done.stdout).items():
                    least[name] = min(ms, least.get(name, ms))
    print("| piece | ms |\n|---|---|")
    for name, ms in least.items():
        print(f"| {name} | {ms:.2f} |")


if __name__ == "__main__":
    main()
