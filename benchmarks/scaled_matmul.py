"""Products of float8 matrices beside torch's `_scaled_mm`, with a scale for each matrix: milliseconds, and of torch's.

``python benchmarks/scaled_matmul.py`` needs a GPU of compute capability 8.9 or newer, and torch. Both libraries get the
same bytes: `a` in C order, and the transpose of a matrix in C order. A call of ours ends with the result computed.
Scales of blocks (of 1 by 128, and of 128 by 128) and float8 results are timed beside the product with a scale for each
matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy
import torch
from timing import seconds

import gpunumpy as np

SIDES = (1024, 4096, 8192)


def calls(side: int, fast: bool) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """The product of two matrices of this side, by this package and by torch."""
    rng = numpy.random.default_rng(0)
    host = [rng.normal(0, 1, (side, side)).astype(ml_dtypes.float8_e4m3fn) for _ in range(2)]
    a, w = map(np.asarray, host)
    p, q = (torch.from_numpy(x.view("u1")).cuda().view(torch.float8_e4m3fn) for x in host)
    scales = [np.asarray(numpy.array([x], "f4")) for x in (0.5, 2)]
    torch_scales = [torch.tensor(x, device="cuda") for x in (0.5, 2.0)]

    def ours() -> Any:
        return np.linalg.scaled_matmul(a, w.T, *scales, fast_accumulation=fast).computed()

    def theirs() -> Any:
        return torch._scaled_mm(p, q.T, *torch_scales, out_dtype=torch.bfloat16, use_fast_accum=fast)

    found = np.linalg.scaled_matmul(a, w.T, *scales, fast_accumulation=fast).astype("f4").get()
    assert numpy.allclose(found, theirs().float().cpu().numpy(), rtol=2**-7, atol=2**-6 * side**0.5)
    return ours, theirs


def further_calls(side: int) -> dict[str, Callable[[], Any]]:
    """Products of ours whose scales are of blocks, or whose result is of float8."""
    a, w = (np.ones((side, side), np.float8_e4m3fn) for _ in range(2))
    parts = side // 128
    whole, result = (np.full((1, 1), x, np.float32) for x in (1.0, 2.0**-13))
    rows, columns, squares = (np.ones(shape, np.float32) for shape in ((side, parts), (parts, side), (parts, parts)))
    for x in (a, w, whole, result, rows, columns, squares):
        x.computed()
    return {
        "whole": lambda: np.linalg.scaled_matmul(a, w.T, whole, whole).computed(),
        "rows and columns": lambda: np.linalg.scaled_matmul(a, w.T, rows, columns).computed(),
        "rows and squares": lambda: np.linalg.scaled_matmul(a, w.T, rows, squares).computed(),
        "whole, to float8": lambda: np.linalg.scaled_matmul(
            a, w.T, whole, whole, scale_result=result, out_dtype="float8_e4m3fn"
        ).computed(),
    }


def main() -> None:
    """Print the tables."""
    print("| side | fast accumulation | ours (ms) | torch (ms) | ours of torch |\n|---|---|---|---|---|")
    for side in SIDES:
        for fast in (False, True):
            ours, theirs = calls(side, fast)
            times = [1e3 * seconds(call, torch.cuda.synchronize) for call in (ours, theirs)]
            print(f"| {side} | {fast} | {times[0]:.4f} | {times[1]:.4f} | {times[0] / times[1]:.2f} |", flush=True)
    print("\n| side | scales | ms | of whole scales |\n|---|---|---|---|")
    for side in SIDES:
        found = {name: 1e3 * seconds(call, torch.cuda.synchronize) for name, call in further_calls(side).items()}
        for name, time in found.items():
            print(f"| {side} | {name} | {time:.4f} | {time / found['whole']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
