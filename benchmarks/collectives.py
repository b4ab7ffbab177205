"""Programs of one process a GPU: all_reduce beside PyTorch's, and five programs on 1 GPU and on all.

``python benchmarks/collectives.py`` starts the processes itself, prints two tables and takes about a minute. Without
GPUs the processes are two of the CPU and the arrays small: the figures then say that it runs, and nothing of speed.
``--only all_reduce,transform`` leaves out other rows.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from table import heading

import gpunumpy as np
import gpunumpy.distributed as dist
from gpunumpy.distributed.__main__ import run

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "examples" / "distributed"))

from matrix_product import product  # noqa: E402
from slab_fft import transform  # noqa: E402

GPUS = len(np.devices()) - 1
# The bytes of each all_reduce, and how often it is called between two looks at the clock.
REDUCED = {"1 GB": (10**9, 10), "1 KB": (1000, 500)} if GPUS else {"1 MB": (10**6, 2), "1 KB": (1000, 20)}
# The elements along each axis of the data of a program.
SIZES = {"map": 32768, "reduction": 32768, "stencil": 32768, "transform": 1024, "product": 16384}
if not GPUS:
    SIZES = {"map": 512, "reduction": 512, "stencil": 512, "transform": 32, "product": 256}
STEPS = 10
ROUNDS = 5

Call = Callable[[], Any]


def seconds(calls: dict[str, tuple[Call, Call]], repeats: int) -> dict[str, float]:
    """The median time of each call; they take turns, and all processes begin each turn together.

    With a call comes the function that waits until what it has queued is done.
    """
    took: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(ROUNDS + 1):  # the first one prepares
        for name, (call, wait) in calls.items():
            dist.barrier()
            start = time.perf_counter()
            for _ in range(repeats):
                result = call()  # what nobody has is not computed
            wait()
            del result
            if turn:
                took[name].append((time.perf_counter() - start) / repeats)
    return {name: statistics.median(times) for name, times in took.items()}


def of_torch(nbytes: int) -> tuple[Call, Call]:
    """PyTorch's all_reduce in place."""
    import torch

    if not torch.distributed.is_initialized():
        torch.cuda.set_device(dist.local_rank())
        address = f"tcp://127.0.0.1:{int(os.environ['MASTER_PORT']) + 100}"
        torch.distributed.init_process_group(
            "nccl",
            init_method=address,
            rank=dist.rank(),
            world_size=dist.size(),
            device_id=torch.device("cuda", dist.local_rank()),
        )
    tensor = torch.zeros(nbytes // 4, device="cuda")
    return lambda: torch.distributed.all_reduce(tensor), torch.cuda.synchronize


def all_reduce_seconds(nbytes: int, repeats: int) -> dict[str, float]:
    x = np.zeros(nbytes // 4, np.float32)
    calls: dict[str, tuple[Call, Call]] = {"gpunumpy": (lambda: dist.all_reduce(x, out=x), np.synchronize)}
    if GPUS:
        calls["torch"] = of_torch(nbytes)
    return seconds(calls, repeats)


def counted(*shape: int, dtype: str = "float32") -> Any:
    """Numbers between 0 and 1 that are all over an array."""
    return (np.arange(int(np.prod(shape)), dtype="int64") % 1009 / 1009).astype(dtype).reshape(shape)


def map_program(n: int, rows: int) -> Call:
    x = counted(rows, n)

    def step() -> Any:
        return np.sqrt(np.abs(np.sin(x) * 2 + np.cos(x) * x - 0.5) + 1) * np.exp(-x) + x / (x * x + 1)

    return step


def reduction_program(n: int, rows: int) -> Call:
    x = counted(rows, n)
    return lambda: dist.all_reduce((x * x + 1).sum())


def stencil_program(n: int, rows: int) -> Call:
    u = counted(rows + 2, n)  # with a row of each neighbour
    after, before = (dist.rank() + 1) % dist.size(), (dist.rank() - 1) % dist.size()

    def steps() -> None:
        for _ in range(STEPS):
            u[0] = dist.sendrecv(u[-2], after, before)
            u[-1] = dist.sendrecv(u[1], before, after)
            u[1:-1, 1:-1] += 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])

    return steps


def transform_program(n: int, rows: int) -> Call:
    x = counted(rows, n, n, dtype="complex64")
    return lambda: transform(x) if dist.size() > 1 else np.fft.fftn(x)


def product_program(n: int, rows: int) -> Call:
    a, b = counted(rows, n), counted(rows, n)
    return lambda: product(a, b) if dist.size() > 1 else a @ b


PROGRAMS = {
    "map": ("15 operations on {n}² float32", map_program),
    "reduction": ("a sum over {n}² float32", reduction_program),
    "stencil": (f"{STEPS} steps of heat on {{n}}² float32", stencil_program),
    "transform": ("fftn of {n}³ complex64, in slabs", transform_program),
    "product": ("a product of {n}² float32", product_program),
}


def measure(path: Path, only: list[str]) -> None:
    """Measure in this process, and have process 0 write what it found."""
    dist.init()
    found: dict[str, Any] = {}
    for name, (nbytes, repeats) in REDUCED.items():
        if dist.size() > 1 and "all_reduce" in only:
            found[name] = all_reduce_seconds(nbytes, repeats)
    for name, (_, program) in PROGRAMS.items():
        if name in only:
            calls = {name: (program(SIZES[name], SIZES[name] // dist.size()), np.synchronize)}
            found[name] = seconds(calls, 1)[name]
            np.free_all_blocks()
    if dist.rank() == 0:
        path.write_text(json.dumps(found))
    if "torch" in sys.modules:
        sys.modules["torch"].distributed.destroy_process_group()
    dist.finalize()


def measured(count: int, only: list[str]) -> dict[str, Any]:
    """What so many processes have measured."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.json"
        status = run([sys.executable, __file__, "--measure", str(path), "--only", ",".join(only)], count)
        if status:
            sys.exit(status)
        return json.loads(path.read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--only", default=",".join(("all_reduce", *PROGRAMS)), help="rows, separated by commas")
    options = parser.parse_args()
    only = options.only.split(",")
    if options.measure:
        measure(options.measure, only)
        return
    count = max(2, GPUS)
    alone, together = measured(1, only), measured(count, only)
    print(f"{heading()}; {count} processes, {GPUS} GPUs\n")
    if "all_reduce" in only:
        print("| all_reduce | gpunumpy, µs | PyTorch, µs | ratio |\n|---|---|---|---|")
        for name in REDUCED:
            ours, peer = together[name]["gpunumpy"] * 1e6, together[name].get("torch", float("nan")) * 1e6
            print(f"| {name} | {ours:.1f} | {peer:.1f} | {ours / peer:.2f} |")
    print(f"\n| program | 1 process, ms | {count} processes, ms | times faster |\n|---|---|---|---|")
    for name in alone:
        title = PROGRAMS[name][0].format(n=SIZES[name])
        print(
            f"| {title} | {alone[name] * 1e3:.2f} | {together[name] * 1e3:.2f} | {alone[name] / together[name]:.2f} |"
        )


if __name__ == "__main__":
    main()
