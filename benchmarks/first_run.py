"""The first run of a program in a fresh process with empty caches, beside its second run, and beside CuPy's.

``python benchmarks/first_run.py [--device cpu|cuda] [--only NAME,NAME] [--size small] [--together N] [--no-cupy]``. A
run is a process of its own. Its clock starts when the library is imported and has a context, memory and handles, and
NumPy has run the program once, so that what it imports is there; the second run follows in the same process, with the
same arguments. The processes of N rows start together, and when all are ready they run one after the other. "from disk"
is the first run of one more process, which finds what the first one has compiled. Each goal that a row misses is named:
"first", the second run and 300 ms (150 of a single call, 2 ms in all for the expression); "disk", 1.1 times the second
run and 30 ms; "CuPy", its first run. ``texts`` are the programs that gpunumpy generated, ``compiled`` those of them
that the compiler ran for; both are counted on a GPU alone. Of the expression, what is timed is one statement after
others on arrays of the same size, which are on the device.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy

from examples import CASES
from gpunumpy.core.runtime.device import Device, default_device
from gpunumpy.demo import load

PROGRAMS = Path(__file__).parent / "programs"

# The size and the steps of each program.
SIZES: dict[str, dict[str, tuple[int, int]]] = {
    **CASES,
    "magnetohydrodynamics": {"small": (64, 20), "large": (2048, 20)},
    "ray_tracer": {"small": (64, 6), "large": (1024, 6)},
    "fluid": {"small": (64, 10), "large": (1024, 10)},
    "factorizations": {"small": (64, 1), "large": (512, 1)},
    "recurrent_network": {"small": (32, 20), "large": (512, 20)},
    "transformer": {"small": (64, 2), "large": (1024, 6)},
}
ELEMENTS = 1 << 20
EXPRESSION = "expression on 1024 elements"
_READY = "ready"  # what a process says before its clock starts
COLUMNS = (
    *("work", "size, steps", "first", "second", "from disk", "CuPy first", "CuPy second", "first / CuPy"),
    *("goals missed", "texts", "compiled"),
)


@dataclass(frozen=True)
class Call:
    """A first call: the arrays that it takes, and what it does; `before` is run ahead of the clock."""

    shapes: tuple[tuple[int, ...], ...]
    work: Callable[..., Any]
    before: Callable[..., Any] = lambda xp, *arrays: ()


def normal(xp: Any) -> Any:
    rng = xp.random.default_rng(0)
    return rng.normal(size=ELEMENTS) if hasattr(rng, "normal") else rng.standard_normal(ELEMENTS)


CALLS = {
    "solve 512 x 512": Call(((512, 512), (512,)), lambda xp, a, b: xp.linalg.solve(a, b)),
    "svd 64 x 64": Call(((64, 64),), lambda xp, a: xp.linalg.svd(a)),
    "eigh 64 x 64": Call(((64, 64),), lambda xp, a: xp.linalg.eigh(a)),
    "sort": Call(((ELEMENTS,),), lambda xp, a: xp.sort(a)),
    "rng.random": Call((), lambda xp: xp.random.default_rng(0).random(ELEMENTS)),
    "rng.normal": Call((), normal),
    "fft": Call(((ELEMENTS,),), lambda xp, a: xp.fft.fft(a)),
    "median": Call(((ELEMENTS,),), lambda xp, a: xp.median(a)),
    EXPRESSION: Call(
        ((1024,), (1024,)),
        lambda xp, a, b: (xp.sin(a) * 2 + b - 1) * xp.exp(a * 0.1) / xp.sqrt(b * b + 1) + a * 0.5,
        lambda xp, a, b: (a * 3 - b, xp.cos(a) + b),
    ),
}


@dataclass(frozen=True)
class Library:
    """A library in this process: `start` makes contexts and handles, `wait` waits until arrays are computed."""

    xp: Any
    start: Callable[[], None]
    wait: Callable[..., None]


def gpunumpy_on(device: Device) -> Library:
    import gpunumpy
    from gpunumpy.core.runtime import memory
    from gpunumpy.nvlib.handles import handle

    def start() -> None:
        memory.allocate(device, 1)
        if device.kind == "cuda":
            for name in ("cublas", "cublasLt", "cusolverDn"):
                handle(device, name)

    def wait(*arrays: Any) -> None:
        for x in arrays:
            x.computed()
        gpunumpy.synchronize()

    return Library(gpunumpy, start, wait)


def cupy() -> Library:
    xp = import_module("cupy")

    def start() -> None:
        xp.empty(1)
        xp.cuda.device.get_cublas_handle()
        xp.cuda.device.get_cusolver_handle()

    return Library(xp, start, lambda *arrays: xp.cuda.Device().synchronize())


def prepared(row: str, size: str, library: Library) -> Callable[[], tuple[Any, ...]]:
    """Return the work of a row, whose arguments have been computed."""
    if row not in CALLS:
        folder = {} if row in CASES else {"folder": PROGRAMS}
        load(row, "numpy", **folder).run(*SIZES[row]["small"])  # imports what reads the program's data, for one
        run = load(row, library.xp.__name__, **folder).run
        return lambda: (run(*SIZES[row][size]),)
    call, rng = CALLS[row], numpy.random.default_rng(0)
    arrays = [library.xp.asarray(rng.random(shape)) for shape in call.shapes]
    library.wait(*arrays, *call.before(library.xp, *arrays))

    def work() -> tuple[Any, ...]:
        result = call.work(library.xp, *arrays)
        return tuple(result) if isinstance(result, tuple) else (result,)

    return work


def measure(row: str, size: str, library: Library) -> tuple[float, float]:
    """The seconds of the first and of the second run in this process, which begins when it is told to."""
    library.start()
    work, took = prepared(row, size, library), []
    print(_READY, flush=True)
    sys.stdin.readline()
    for _ in range(2):
        start = time.perf_counter()
        library.wait(*work())
        took.append(time.perf_counter() - start)
    return took[0], took[1]


def child(name: str, row: str, size: str, device: str) -> None:
    """Measure in this process, and print what was found."""
    if name == "cupy":
        first, second = measure(row, size, cupy())
        print(json.dumps({"first": first, "second": second}))
        return
    chosen = Device(device)
    with chosen:
        library = gpunumpy_on(chosen)
        if row == EXPRESSION:
            library.xp.set_residence("device")
        first, second = measure(row, size, library)
    found: dict[str, Any] = {"first": first, "second": second}
    if chosen.kind == "cuda":
        from gpunumpy.kernels.cuda import compile as compiler

        found["texts"] = len(compiler._modules)
        found["compiled"] = sum(path.is_file() for path in Path(os.environ["GPUNUMPY_CACHE_DIR"]).rglob("*"))
    print(json.dumps(found))


def runs(name: str, cases: list[tuple[str, str]], device: str, caches: list[str]) -> list[dict[str, Any]]:
    """What a process for each row and size finds; nothing, with the reason on stderr, where it fails.

    When all are ready they run one after the other.
    """
    folders = ("GPUNUMPY_CACHE_DIR", "CUPY_CACHE_DIR", "CUDA_CACHE_PATH")
    processes = []
    for (row, size), cache in zip(cases, caches, strict=True):
        environment = {**os.environ, **{key: str(Path(cache, key)) for key in folders}}
        command = [sys.executable, __file__, "--child", name, "--only", row, "--size", size, "--device", device]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        processes.append(subprocess.Popen(command, env=environment, text=True, **pipes))  # type: ignore[call-overload]
    are_ready = [process.stdout.readline().strip() == _READY for process in processes]
    found: list[dict[str, Any]] = []
    for (row, _), process, is_ready in zip(cases, processes, are_ready, strict=True):
        out, err = process.communicate("\n" if is_ready else None)
        if process.returncode:
            print(f"{row}, {name}: {(err.strip().splitlines() or ['failed'])[-1]}", file=sys.stderr)
        found.append({} if process.returncode else json.loads(out.splitlines()[-1]))
    return found


def ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.2f}"


def missed(row: str, own: dict[str, Any], again: dict[str, Any], peer: dict[str, Any]) -> str:
    """The goals that a row misses."""
    second = min([found["second"] for found in (own, again) if found], default=0.0)
    least = 0.002 if row == EXPRESSION else second + (0.15 if row in CALLS else 0.3)
    goals = {"first": (own, least), "disk": (again, 1.1 * second + 0.03), "CuPy": (own, peer.get("first"))}
    names = [name for name, (found, most) in goals.items() if found and most is not None and found["first"] > most]
    return ", ".join(names) or "-"


def lines(cases: list[tuple[str, str]], device: str, with_cupy: bool) -> list[str]:
    """Rows of the table."""
    with tempfile.TemporaryDirectory() as folder:
        caches = [str(Path(folder, str(number))) for number in range(len(cases))]
        for cache in caches:
            os.mkdir(cache, 0o700)
        own, again = runs("gpunumpy", cases, device, caches), runs("gpunumpy", cases, device, caches)
        peers = runs("cupy", cases, device, caches) if with_cupy else [{}] * len(cases)
    made = []
    for (row, size), first, later, peer in zip(cases, own, again, peers, strict=True):
        ratio = f"{first['first'] / peer['first']:.2f}" if first and peer else "-"
        argument = ", ".join(map(str, SIZES[row][size])) if row in SIZES else "-"
        cells = [row, argument, ms(first.get("first")), ms(first.get("second")), ms(later.get("first"))]
        cells += [ms(peer.get("first")), ms(peer.get("second")), ratio, missed(row, first, later, peer)]
        cells += [str(first.get("texts", "-")), str(first.get("compiled", "-"))]
        made.append("| " + " | ".join(cells) + " |")
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="where to run gpunumpy: cpu, cuda (default: a GPU if one is usable)")
    parser.add_argument("--only", default="", help="names of rows, with commas between them")
    parser.add_argument("--size", choices=("small", "large", "both"), default="both")
    parser.add_argument("--together", type=int, default=1, help="how many rows' processes start together")
    parser.add_argument("--no-cupy", action="store_true", help="leave out CuPy")
    parser.add_argument("--child", choices=("gpunumpy", "cupy"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.only, given.size, given.device)
        return
    device = Device(given.device) if given.device else default_device()
    has_cupy = subprocess.run([sys.executable, "-c", "import cupy"], capture_output=True).returncode == 0
    sizes = ("small", "large") if given.size == "both" else (given.size,)
    rows = given.only.split(",") if given.only else [*SIZES, *CALLS]
    print(f"{device}, {device.hardware}; times in ms\n")
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    cases = [(row, size) for size in sizes for row in rows if row in SIZES or size == sizes[0]]
    with_cupy = has_cupy and device.kind == "cuda" and not given.no_cupy
    for start in range(0, len(cases), given.together):
        print("\n".join(lines(cases[start : start + given.together], str(device), with_cupy)), flush=True)


if __name__ == "__main__":
    main()
