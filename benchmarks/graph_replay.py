"""A loop body of some 20 kernels as a CUDA graph, by gpunumpy and by torch: python benchmarks/graph_replay.py.

The body is the same program of vectors and reductions, which neither can make one kernel of. Prints, for sizes where
launches bound it and where memory does, the kernels of each graph and the microseconds of a replay, the least of
several loops, of the device and of the host alone (until the call returns). torch's results are compared with ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy

import gpunumpy as np
from gpunumpy.core.runtime.device import check, driver

SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24)
STEPS = 7  # of a body: three kernels each by torch, without its compiler
REPLAYS, LOOPS = 200, 7


def body(x: Any, flip: Callable[[Any], Any]) -> Any:
    for _ in range(STEPS):
        x = flip(x - x.mean()) / x.max()
    return x


def kernels_of(handle: Any) -> int:
    """The number of nodes in a graph of the driver."""
    cuda = driver()
    return int(check(cuda.cuGraphGetNodes(cuda.CUgraph(handle), 0))[1])


def microseconds(replay: Callable[[], Any], wait: Callable[[], Any]) -> tuple[float, float]:
    """Of one replay, with its share of the wait, and until the calls have returned."""
    found = []
    for _ in range(LOOPS):
        wait()
        start = time.perf_counter()
        for _ in range(REPLAYS):
            replay()
        returned = time.perf_counter()
        wait()
        found.append(((time.perf_counter() - start) / REPLAYS * 1e6, (returned - start) / REPLAYS * 1e6))
    return min(whole for whole, _ in found), min(host for _, host in found)


def ours(start: numpy.ndarray) -> tuple[tuple[float, float], numpy.ndarray]:
    x = np.asarray(start)
    replayed = np.graph(lambda x: body(x, lambda y: y[::-1]))
    result = [replayed(x) for _ in range(3)][-1]
    return microseconds(lambda: replayed(x), np.synchronize), result.get()


def of_torch(start: numpy.ndarray) -> tuple[tuple[float, float], numpy.ndarray, int] | None:
    try:
        import torch
    except ImportError:
        return None
    x = torch.from_numpy(start).cuda()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        body(x, lambda y: torch.flip(y, (0,)))
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph):
        result = body(x, lambda y: torch.flip(y, (0,)))
    graph.instantiate()
    return microseconds(graph.replay, torch.cuda.synchronize), result.cpu().numpy(), kernels_of(graph.raw_cuda_graph())


def main() -> None:
    print(f"a replay in microseconds (of the host), least of {LOOPS} loops of {REPLAYS}; {np.Device().hardware}")
    for size in SIZES:
        start = numpy.random.default_rng(0).random(size).astype(numpy.float32)
        took, result = ours(start)
        line = f"{size:>9,} elements: gpunumpy {took[0]:8.1f} ({took[1]:.1f})"
        other = of_torch(start)
        if other is not None:
            of_other, expected, kernels = other
            numpy.testing.assert_allclose(result, expected, rtol=2e-3, atol=1e-4)
            line += f", torch {of_other[0]:8.1f} ({of_other[1]:.1f}) of {kernels} kernels"
            line += f"; {took[0] / of_other[0]:.2f} of torch's"
        print(line, flush=True)


if __name__ == "__main__":
    main()
