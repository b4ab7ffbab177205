"""What it gains that kernels are started while those before them run: see "Early starts" in docs/design/kernels.md.

``python benchmarks/early_starts.py`` on a GPU of compute capability 9.0 or later prints what a kernel of a chain takes
on the device, in microseconds: each kernel adds one to what the kernel before it has left. Then, for loops of
benchmarks/loops.py at their small sizes, the milliseconds of a run, and those that the device and the host take alone:
the device has all launches of a run queued, and the host waits for none. Each column is a process of its own: without
early starts, and with them. Every loop is compared with NumPy's.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy

sys.path.insert(0, str(Path(__file__).parent))

from loop_programs import LOOPS
from loops import check, prepared
from peers import peers_of
from table import device_name
from timing import seconds

import gpunumpy as np
from gpunumpy.core.runtime.device import Device, driver
from gpunumpy.core.runtime.device import check as checked
from gpunumpy.kernels.codegen.program import Launch
from gpunumpy.kernels.cuda.compile import compile_program
from gpunumpy.kernels.cuda.launch import Launcher

COUNT = 900  # of kernels in a chain: a stream holds about a thousand launches
THREADS = 256
BLOCKS = (1, 32, 132, 1056)
WAIT = 'asm volatile("griddepcontrol.wait;" ::: "memory");'
LET_IN = 'asm volatile("griddepcontrol.launch_dependents;");'
# What a kernel begins with, what comes before its stores, and whether it is started early.
WAYS = {
    "one after the other": ("", "", False),
    "early, the next at the end": (WAIT, "", True),
    "early, the next before the stores": (WAIT, LET_IN, True),
    "early, the next after the wait": (WAIT + LET_IN, "", True),
    "early, the next before the wait": (LET_IN + WAIT, "", True),
}
SPIN = """
extern "C" __global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {}
}
"""
SPIN_CYCLES = 16_000_000  # of some 8 ms, while the host queues
# Those that launch a thousand times at most, and look at no value.
TIMED = [loop for loop in LOOPS if loop.name not in ("escape_time", "recurrence")]
# Whether kernels are started early.
WAYS_OF_LOOPS = {"one after the other": False, "early": True}


def spinning(device: Device) -> Callable[[], None]:
    """Return what keeps the device busy for a while."""
    function = compile_program(SPIN, ("spin",), device)["spin"]
    spin = Launcher(device, function, Launch("spin", (1, 1, 1), (1, 1, 1)), "q")
    return lambda: spin([SPIN_CYCLES])


def apart(device: Device, queue: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """The seconds that the device and the host take for what a function queues: the least, and the median."""
    cuda, spin = driver(), spinning(device)
    spun, done = (checked(cuda.cuEventCreate(0)) for _ in range(2))
    on_device, on_host = [], []
    for _ in range(repeats):
        np.synchronize()
        spin()
        checked(cuda.cuEventRecord(spun, device.stream))
        start = time.perf_counter()
        kept = queue()
        on_host.append(time.perf_counter() - start)
        checked(cuda.cuEventRecord(done, device.stream))
        np.synchronize()
        on_device.append(checked(cuda.cuEventElapsedTime(spun, done)) / 1e3)
        del kept
    return min(on_device), statistics.median(on_host)


def chain(device: Device, blocks: int, begin: str, end: str, starts_early: bool) -> tuple[float, float]:
    """The seconds of a kernel on the device, and of its launch on the host."""
    text = (
        f'extern "C" __global__ void step(double* x) {{ {begin} double* at = x + blockIdx.x * {THREADS}ll + '
        f"threadIdx.x; const double sum = *at + 1; {end} *at = sum; }}\n"
    )
    launch = Launch("step", (blocks, 1, 1), (THREADS, 1, 1), waits=starts_early)
    step = Launcher(device, compile_program(text, ("step",), device)["step"], launch, "Q")
    x = np.zeros(blocks * THREADS)
    values = [x.data_ptr()]
    step(values)
    launched = step.launch or step  # the compiled core's

    def queue() -> None:
        for _ in range(COUNT):
            launched(values)

    took = apart(device, queue, 3)
    assert (x.get() == 1 + 3 * COUNT).all(), "a kernel has not waited"
    return took[0] / COUNT, took[1] / COUNT


def chains(device: Device) -> None:
    print("| kernel | " + " | ".join(f"{n} blocks (µs)" for n in BLOCKS) + " | launch on the host |")
    print("|---" * (len(BLOCKS) + 2) + "|")
    for name, way in WAYS.items():
        took = [chain(device, blocks, *way) for blocks in BLOCKS]
        cells = [f"{on_device * 1e6:.2f}" for on_device, _ in took] + [f"{min(host for _, host in took) * 1e6:.2f}"]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def loops(device: Device) -> dict[str, tuple[float, float, float]]:
    """The seconds of each loop, of the device and of the host alone, after a comparison with NumPy."""
    (peer,) = peers_of([])
    took = {}
    for loop in TIMED:
        n, steps = loop.sizes["small"]
        arrays = loop.data(numpy.random.default_rng(0), n, steps)
        call = prepared(loop, peer, arrays, steps)
        try:
            check(loop, peer, call(), loop.program(numpy, *arrays, steps))
        except ValueError as error:
            print(f"<!-- {loop.name}: {error} -->", file=sys.stderr)
            continue

        def queue(call: Callable[[], Any] = call) -> Any:
            results = call()
            for x in results if isinstance(results, tuple) else (results,):
                x.computed()
            return results

        queue()
        took[loop.name] = (seconds(queue, np.synchronize, batch=0.01, repeats=5), *apart(device, queue, 3))
    return took


def in_own_process(name: str) -> subprocess.Popen[str]:
    environment = {"GPUNUMPY_TIER": "compiled", "GPUNUMPY_RESIDENCE": "device", **os.environ}
    command = [sys.executable, __file__, "--child", name]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", choices=WAYS_OF_LOOPS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    np.set_residence("device")
    device = np.Device("cuda")
    if given.child:
        device.attributes = replace(device.attributes, starts_kernels_early=WAYS_OF_LOOPS[given.child])
        print(json.dumps(loops(device)))
        return
    print(f"{device_name()}, starts kernels early: {device.attributes.starts_kernels_early}\n", flush=True)
    chains(device)
    # The first processes side by side: what they compile is then on disk.
    for process in [in_own_process(name) for name in WAYS_OF_LOOPS]:
        process.communicate()
    outputs = {name: in_own_process(name).communicate()[0] for name in WAYS_OF_LOOPS}
    runs = {name: json.loads(output.splitlines()[-1]) for name, output in outputs.items() if output}
    print("\nEach cell: a run (ms), the device alone, the host alone.\n")
    print("| loop | steps | " + " | ".join(runs) + " |\n|---" + "|---" * (len(runs) + 1) + "|")
    for loop in TIMED:
        cells = [", ".join(f"{1e3 * took:.3f}" for took in run.get(loop.name, ())) for run in runs.values()]
        print(f"| {loop.name} | {loop.sizes['small'][1]} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
