"""Dask and programs of several processes on one GPU and on two: how much faster two are, and what Dask costs on one.

``python benchmarks/several_gpus.py`` measures every row on each of its roads, and prints the seconds as they are found
and then a table of ratios. A road is a process of its own: the package without Dask, Dask's threads on one GPU or on
two (chunks moved by `spread`), a worker for each of one GPU or two, CuPy's chunks in Dask's threads. Results are
compared with known values. ``--rows heat,fft`` leaves out other rows. ``--scale 256`` divides the length of every axis:
on the CPU that shows that all of it runs, and nothing of speed.
"""

from __future__ import annotations

import argparse
import functools
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import collectives
import dask
import dask.array as da
import dask_tasks
import distributed
import numpy
import spill
from table import heading

import gpunumpy as np
from gpunumpy.dask import LocalCluster, spread

LIMIT = 16 * 10**9  # bytes of the memory limit
STEPS = 20  # of the heat equation
PERIOD = 64  # of its field along both axes, in elements
RANK = 500  # of the compressed decomposition
PATIENCE = 8.0  # seconds after which a call is not repeated
ROAD_SECONDS = 150  # that a road may take
TOLERANCE = 5e-3

# A call that is timed, and what looks at its result: whether it is right.
Program = tuple[Callable[[], Any], Callable[[Any], bool]]


class Road:
    """How the chunks of Dask are computed: `name` is one of `ROADS`; the CPU takes the place of missing GPUs."""

    def __init__(self, name: str, scale: int) -> None:
        self.name, self.scale = name, scale
        self.gpus = int(name[-1]) if name[-1].isdigit() else 1
        self.client: Any = None

    def __enter__(self) -> Road:
        self._entered = ExitStack()
        backend = "cupy" if self.name == "CuPy" else "gpunumpy"
        self._entered.enter_context(dask.config.set({"array.backend": backend}))
        if self.name.startswith("workers"):
            cluster = LocalCluster(n_workers=self.gpus, threads_per_worker=1, dashboard_address=None)
            self.client = self._entered.enter_context(self._entered.enter_context(cluster).get_client())
            self.client.wait_for_workers(self.gpus)
            self.workers = list(self.client.nthreads())
        else:
            self._entered.enter_context(dask.config.set(scheduler="threads", num_workers=self.gpus))
        return self

    def __exit__(self, *error: object) -> None:
        self._entered.close()

    def place(self, x: Any) -> Any:
        """Move chunks to the GPUs of a road whose threads use several."""
        return spread(x, gpus()[: self.gpus] or None) if self.name.startswith("threads") and self.gpus > 1 else x

    def held(self, x: Any) -> Any:
        """Compute an array, whose chunks stay: as many along the first axis on each worker as on any other."""
        if self.client is not None:
            x = x.persist()
            blocks = numpy.array_split(numpy.arange(x.numblocks[0]), self.gpus)
            x = da.concatenate(
                [
                    self.client.persist(
                        x.blocks[part[0] : part[-1] + 1].map_blocks(itself, meta=x._meta), workers=[worker]
                    )
                    for worker, part in zip(self.workers, blocks, strict=True)
                ]
            )
        result = x if self.name == "plain" else self.place(x).persist()
        self.wait(result)
        return result

    def wait(self, result: Any) -> None:
        """Wait until a result, and all work of the GPUs, is done."""
        if self.client is not None:
            distributed.wait(result)  # of a number, nothing
            self.client.run(np.synchronize)
        elif self.name != "CuPy":  # whose programs return numbers
            for device in gpus()[: self.gpus] or np.devices():
                np.synchronize(device)

    def known_tasks(self) -> int:
        """Return how many tasks the scheduler of workers knows: of arrays that are held, and under way."""
        return 0 if self.client is None else self.client.run_on_scheduler(_count_of_tasks)

    def wait_until_forgotten(self, known: int) -> None:
        """Wait until workers have dropped the last result: a call of the same graph would be given it."""
        while self.known_tasks() > known:
            time.sleep(0.01)


def _count_of_tasks(dask_scheduler: Any) -> int:
    return len(dask_scheduler.tasks)


def gpus() -> tuple[np.Device, ...]:
    """Return the GPUs. Who imports this module, as the processes of workers do, does not look for them."""
    return np.devices()[:-1]


def itself(chunk: Any) -> Any:
    """Return a chunk: as a task of a worker, which has it then."""
    return chunk


def near(found: Any, wanted: float, tolerance: float = TOLERANCE) -> bool:
    return abs(float(found) - wanted) <= tolerance * abs(wanted)


def twelve_operations(x: Any) -> Any:
    return numpy.sqrt(abs(numpy.sin(x) * 2 + numpy.cos(x) * x - 0.5) + 1) * numpy.exp(-x)


def expression(road: Road, is_held: bool = True) -> Program:
    """A sum of 12 operations over 64 GB, 60 chunks of 1 GiB, which are held before or drawn by the tasks."""
    side = 16384 // road.scale
    shape = (60 * side, side)

    def drawn() -> Any:
        if road.name == "plain":
            return np.random.default_rng(0).random(shape, numpy.float32)
        return da.random.default_rng(0).random(shape, dtype=numpy.float32, chunks=side)

    mean = float(twelve_operations((numpy.arange(10_000) + 0.5) / 10_000).mean())
    wanted = mean * shape[0] * shape[1]
    x = road.held(drawn()) if is_held else None
    return (
        lambda: float(twelve_operations(road.place(drawn()) if x is None else x).sum()),
        lambda found: near(found, wanted),
    )


def heated(u: Any, steps: int) -> Any:
    """Return a field after some steps, with a row and a column fewer at each side for each of them."""
    for _ in range(steps):
        u = u[1:-1, 1:-1] + 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


def around(u: Any, steps: int) -> Any:
    """Advance rows, with the rows of the other chunks above and below them; columns go on at the other side."""
    return heated(numpy.pad(u, ((0, 0), (steps, steps)), mode="wrap"), steps)


def heat_in_dask(u: da.Array, at_once: int) -> da.Array:
    """Return a field after all steps; so many of them between two exchanges of what is above and below a chunk."""
    step = functools.partial(around, steps=at_once)
    depth, boundary = {0: at_once, 1: 0}, {0: "periodic", 1: "none"}
    for _ in range(0, STEPS, at_once):
        u = da.map_overlap(
            step, u, depth=depth, boundary=boundary, trim=False, chunks=u.chunks, dtype=u.dtype, meta=u._meta
        )
    return u


def heat_alone(u: Any) -> Any:
    """Advance a field, which has a row and a column of the other side at each side."""
    for _ in range(STEPS):
        u[0], u[-1] = u[-2], u[1]
        u[:, 0], u[:, -1] = u[:, -2], u[:, 1]
        u[1:-1, 1:-1] += 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


def heat(road: Road, at_once: int = 1) -> Program:
    """The heat equation on 65536² float32, 16 chunks of rows: a wave that all steps make smaller by a known factor."""
    n = 65536 // road.scale
    factor = (1 + 0.8 * (numpy.cos(2 * numpy.pi / PERIOD) - 1)) ** STEPS
    if road.name == "plain":
        angles: Any = (np.arange(n + 2) - 1) % PERIOD * (2 * numpy.pi / PERIOD)
        wave = np.cos(angles).astype(numpy.float32)
        first = wave[:, None] * wave[None, :]

        def run() -> Any:
            return heat_alone(first.copy())

        return run, lambda u: bool(abs(u - factor * first)[1:-1, 1:-1].max() < 1e-4)

    def wave_along(chunk: int) -> da.Array:
        return da.cos(da.arange(n, chunks=chunk) % PERIOD * (2 * numpy.pi / PERIOD)).astype(numpy.float32)

    rows = max(n // 16, 32)  # no fewer than those of a neighbour that a chunk needs
    wave = wave_along(rows)[:, None] * wave_along(n)[None, :]
    field = road.held(wave)
    return (
        lambda: heat_in_dask(field, at_once).persist(),
        lambda u: float(abs(u - road.place(factor * wave)).max()) < 1e-4,
    )


def singular_values(road: Road) -> Program:
    """The first singular values, 4 to 1 times one unit and then zeros, of 34 GB in 8 chunks."""
    part, columns = 524288 // road.scale, max(256, 2048 // road.scale)
    rows, rank = 8 * part, min(RANK, columns // 2)
    number = da.arange(1, 5, chunks=4)

    def waves(length: int, chunk: int) -> da.Array:
        turns = da.arange(length, chunks=chunk)[:, None] * number % length
        return da.cos(turns * (2 * numpy.pi / length)).astype(numpy.float32)

    left = waves(rows, part) * number.astype(numpy.float32)[::-1]
    x = road.held(left @ waves(columns, columns).T)
    unit = (rows * columns) ** 0.5 / 2
    wanted = numpy.array([4, 3, 2, 1]) * unit
    return (
        lambda: numpy.asarray(da.linalg.svd_compressed(x, rank, n_power_iter=1, seed=1)[1].compute()),
        lambda found: numpy.allclose(found[:4], wanted, rtol=TOLERANCE) and found[4] < TOLERANCE * unit,
    )


def product(road: Road) -> Program:
    """A product of 65536² float32 in chunks of 1 GiB. Its elements are integers that float32 has exactly."""
    n = 65536 // road.scale
    index = da.arange(n, chunks=n // 4)

    def remainders(modulus: int) -> da.Array:
        return (index % modulus).astype(numpy.float32)

    a = road.held(remainders(5)[:, None] + remainders(3)[None, :])
    b = road.held(remainders(2)[:, None] + remainders(7)[None, :])
    k = numpy.arange(n)
    of_threes, of_twos, of_both = ((k % 3).sum(), (k % 2).sum(), (k % 3 * (k % 2)).sum())
    rows, columns = remainders(5)[:, None], remainders(7)[None, :]
    wanted = rows * float(of_twos) + float(of_both) + n * rows * columns + float(of_threes) * columns
    return lambda: da.matmul(a, b).persist(), lambda found: float(abs(found - wanted).max()) <= 1


def transform(road: Road) -> Program:
    """Transforms along both axes of a plane wave of 32768² complex64 in 16 chunks: one element is not 0."""
    n = 32768 // road.scale
    i, j = da.arange(n, chunks=n // 16), da.arange(n, chunks=n)
    turns = (3 * i[:, None] + 5 * j[None, :]) % n
    x = road.held(da.exp(turns * (2j * numpy.pi / n)).astype(numpy.complex64))

    def run() -> Any:
        along_rows = da.fft.fft(x, axis=1).to_backend()
        return da.fft.fft(road.place(along_rows.rechunk((n, n // 16))), axis=0).to_backend().persist()

    def is_right(found: Any) -> bool:
        return (
            near(abs(found[3, 5].compute()), n * n) and near(abs(found).max(), n * n) and near(abs(found).sum(), n * n)
        )

    return run, is_right


def spilled(road: Road) -> Program:
    """A sum over 48 chunks that Dask holds, of three times what the GPU may have."""
    nbytes = LIMIT // road.scale**2 // 16 // 4 * 4
    np.set_memory_limit(LIMIT // road.scale**2 + np.memory_info().used)
    size = 48 * nbytes // 4
    x = road.held(da.random.default_rng(0).random(size, dtype=numpy.float32, chunks=nbytes // 4))
    return lambda: float(x.sum()), lambda found: near(found, size / 2)


class Read:
    """An array that Dask reads chunk by chunk: of NumPy's arrays it makes a copy first."""

    def __init__(self, x: numpy.ndarray) -> None:
        self.array, self.shape, self.dtype, self.ndim = x, x.shape, x.dtype, x.ndim

    def __getitem__(self, index: Any) -> numpy.ndarray:
        return self.array[index]


def pinned(road: Road) -> Program:
    """A sum over page-locked memory of the host, three times what the GPU may have; by Dask in 48 chunks."""
    np.set_memory_limit(LIMIT // road.scale**2)
    x = np.empty_pinned(3 * LIMIT // road.scale**2 // 4, numpy.float32)
    x.fill(0.5)
    chunks = da.from_array(Read(x), chunks=x.size // 48, name=False)
    return lambda: float(chunks.to_backend("gpunumpy").sum()), lambda found: near(found, x.size / 2)


ROWS: dict[str, Callable[[Road], Program]] = {
    "expression": expression,
    "expression drawn": functools.partial(expression, is_held=False),
    "heat": heat,
    "heat at once": functools.partial(heat, at_once=STEPS),
    "svd": singular_values,
    "matmul": product,
    "fft": transform,
    "spilled": spilled,
    "pinned": pinned,
}
ROADS = {
    "plain": ("expression", "expression drawn", "heat"),
    "threads 1": ("expression", "expression drawn", "heat", "heat at once", "fft", "spilled", "pinned"),
    "threads 2": ("expression", "expression drawn", "heat", "heat at once", "fft"),
    "workers 1": ("expression", "expression drawn", "heat", "heat at once", "svd", "matmul", "fft"),
    "workers 2": ("expression", "expression drawn", "heat", "heat at once", "svd", "matmul", "fft"),
    "CuPy": (
        "expression",
        "expression drawn",
    ),
    "tasks": ("tasks",),
    "processes": ("all_reduce", "slab fft"),
}
TASKS = "da.sqrt(x) + x"

# The lines of the table: what is divided by what, each a row on a road, and what must be reached.
Key = tuple[str, str]
RATIOS: list[tuple[Key, Key, str]] = [
    *(
        ((row, road), (row, beside), goal)
        for row in ("expression", "expression drawn")
        for road, beside, goal in (
            ("workers 1", "workers 2", ">= 1.9"),
            ("threads 1", "threads 2", ">= 1.9"),
            ("threads 1", "plain", "<= 1.15"),
            ("workers 1", "plain", "<= 1.15"),
            ("threads 1", "CuPy", "<= 0.3"),
        )
    ),
    (("heat", "threads 1"), ("heat", "plain"), "<= 1.3"),
    (("heat", "workers 1"), ("heat", "plain"), "<= 1.3"),
    (("heat", "threads 1"), ("heat", "threads 2"), ">= 1.7"),
    (("heat", "workers 1"), ("heat", "workers 2"), ">= 1.7"),
    (("heat at once", "threads 1"), ("heat", "plain"), "<= 1.3"),
    (("heat at once", "workers 1"), ("heat", "plain"), "<= 1.3"),
    (("heat at once", "threads 1"), ("heat at once", "threads 2"), ">= 1.7"),
    (("heat at once", "workers 1"), ("heat at once", "workers 2"), ">= 1.7"),
    (("svd", "workers 1"), ("svd", "workers 2"), ">= 1.7"),
    (("matmul", "workers 1"), ("matmul", "workers 2"), ">= 1.8"),
    (("fft", "workers 1"), ("fft", "workers 2"), ">= 1.5"),
    (("fft", "threads 1"), ("fft", "threads 2"), ">= 1.5"),
    *(
        ((f"all_reduce {size}", "gpunumpy"), (f"all_reduce {size}", "torch"), goal)
        for size, goal in zip(collectives.REDUCED, ("<= 1.03", "<= 1.2"), strict=True)
    ),
    (("slab fft", "1 process"), ("slab fft", "2 processes"), ">= 1.6"),
    (("pinned", "link"), ("pinned", "threads 1"), ">= 0.85"),
    (("spilled", "link"), ("spilled", "threads 1"), ""),
    (("tasks", "gpunumpy"), ("tasks", "numpy"), "<= 1.5"),
]


def tell(row: str, road: str, seconds: float) -> None:
    """Print what was found: a line of JSON, which the parent reads."""
    print(json.dumps([row, road, seconds]), flush=True)


def seconds_of(program: Program, road: Road) -> float:
    """The seconds of a call: the least of up to three after a first one, or the first one if it takes long."""
    call, is_right = program
    known = road.known_tasks()
    took: list[float] = []
    while len(took) < 4 and sum(took) < PATIENCE:
        start = time.perf_counter()
        result = call()
        road.wait(result)
        took.append(time.perf_counter() - start)
        if len(took) == 1 and not is_right(result):
            raise ArithmeticError("the result is wrong")
        del result
        road.wait_until_forgotten(known)
    return min(took[1:], default=took[0])


def measure_road(name: str, rows: Sequence[str], scale: int) -> None:
    """Measure the rows of a road in this process, each by workers of its own; one that fails is named."""
    for row in rows:
        try:
            with Road(name, scale) as road:
                tell(row, name, seconds_of(ROWS[row](road), road))
            if row in ("pinned", "spilled"):
                np.set_memory_limit(None)
                rate = spill.link_rates(np.default_device())[0]
                tell(row, "link", 3 * (LIMIT // scale**2) / rate)
        except Exception as error:
            print(f"{row}, {name}: {type(error).__name__}: {str(error)[:500]}", file=sys.stderr, flush=True)
        np.set_memory_limit(None)
        np.free_all_blocks()


def measure_tasks(scale: int) -> None:
    """Measure small tasks in Dask's threads, as dask_tasks.py does."""
    dask_tasks.CHUNKS //= scale
    with dask.config.set(scheduler="threads"):
        sources = [dask_tasks.source(backend) for backend in dask_tasks.BACKENDS]
        turns = [[dask_tasks.seconds(dask_tasks.PROGRAMS[TASKS], x) for x in sources] for _ in range(3)]
    for backend, took in zip(dask_tasks.BACKENDS, zip(*turns, strict=True), strict=True):
        tell("tasks", backend, min(took))


def measure_processes(rows: Sequence[str]) -> None:
    """Measure programs of one process a GPU, as collectives.py does."""
    if "all_reduce" in rows:
        for size, took in collectives.measured(2, ["all_reduce"]).items():
            for library, seconds in took.items():
                tell(f"all_reduce {size}", library, seconds)
    if "slab fft" in rows:
        for count, name in ((1, "1 process"), (2, "2 processes")):
            tell("slab fft", name, collectives.measured(count, ["transform"])["transform"])


def found_on(road: str, rows: Sequence[str], scale: int) -> dict[tuple[str, str], float]:
    """Measure a road in a process of its own."""
    command = [sys.executable, __file__, "--road", road, "--rows", ",".join(rows), "--scale", str(scale)]
    found: dict[tuple[str, str], float] = {}
    start = time.perf_counter()
    with subprocess.Popen(
        ["timeout", "-k", "5", str(ROAD_SECONDS), *command], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("["):
                row, name, seconds = json.loads(line)
                found[row, name] = seconds
                print(f"{row}, {name}: {seconds:.6f} s", flush=True)
    print(f"({road}: {time.perf_counter() - start:.0f} s in all, status {process.returncode})", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = [*ROWS, "tasks", "all_reduce", "slab fft"]
    parser.add_argument("--rows", default=",".join(known), help="separated by commas (default: all)")
    parser.add_argument("--scale", type=int, default=1, help="divides the length of every axis; a power of two")
    parser.add_argument("--road", choices=ROADS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    rows = options.rows.split(",")
    if options.road == "tasks":
        measure_tasks(options.scale)
    elif options.road == "processes":
        measure_processes(rows)
    elif options.road:
        measure_road(options.road, rows, options.scale)
    if options.road:
        return 0
    found: dict[tuple[str, str], float] = {}
    for road, all_rows in ROADS.items():
        chosen = [row for row in all_rows if row in rows]
        if chosen:
            found |= found_on(road, chosen, options.scale)
    print(f"\n{heading()}; Dask {dask.__version__}; {len(gpus())} GPUs; scale {options.scale}\n")
    print("| row, road | seconds | beside | seconds | ratio | goal |\n|---|---|---|---|---|---|")
    for first, second, goal in RATIOS:
        if first in found and second in found:
            cells = [f"{', '.join(key)} | {found[key]:.6f}" for key in (first, second)]
            print(f"| {' | '.join(cells)} | {found[first] / found[second]:.2f} | {goal} |")
        elif first[0].split(" 1")[0] in rows:
            print(f"| {', '.join(first)} | | {', '.join(second)} | | | {goal} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
