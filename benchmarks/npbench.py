"""The programs of NPBench (Ziogas et al., 2021) through NumPy, gpunumpy and CuPy.

``python benchmarks/npbench.py CHECKOUT [--preset S|M|L] [--device cpu|cuda] [--only NAME ...] [--seconds 600]
[--processor]`` takes the folder of a checkout of https://github.com/spcl/npbench. gpunumpy runs each program as it is
written for NumPy, with another import line; CuPy, where it is installed, runs the text that the suite has for it. The
table has the first run of each in a process, compilation included, and the median of later ones, in ms. Every result,
and every array that a program writes to, is compared with NumPy's. After `--seconds` no further program is begun. With
``--processor`` the times are those of the processor, which other programs of a busy machine disturb less.
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
from peers import Peer, peers_of
from table import heading

import gpunumpy

PATIENCE_S = 0.4  # how long the runs of one program by one library are repeated
FEWEST_RUNS, MOST_RUNS = 5, 9
# The largest error of a result beside NumPy's norm, by the bytes of a real number.
TOLERANCES = {2: 1e-2, 4: 1e-4, 8: 1e-9}


class Program:
    """A program of the suite, as its description and its files have it."""

    def __init__(self, description: Path, preset: str) -> None:
        self.about = json.loads(description.read_text())["benchmark"]
        self.name: str = self.about["module_name"]
        self.sizes: dict[str, Any] = self.about["parameters"][preset]
        self._folder = description.parents[1] / "npbench" / "benchmarks" / self.about["relative_path"]
        self._data: dict[str, Any] | None = None

    def function(self, peer: Peer) -> Callable[..., Any] | None:
        """The function that is measured; None if the suite has none for a library."""
        path = self._folder / f"{self.name}_{'cupy' if peer.name == 'CuPy' else 'numpy'}.py"
        if not path.exists():
            return None
        text = path.read_text()
        if peer.name == "gpunumpy":
            text = text.replace("import numpy as np", "import gpunumpy as np")
        return getattr(_module(text, path), self.about["func_name"])  # type: ignore[no-any-return]

    def arguments(self, peer: Peer) -> list[Any]:
        """New arguments: what is an array is one of the library."""
        if self._data is None:
            self._data = self._initialized()
        given = {name: copy.deepcopy(self._data[name]) for name in self.about["input_args"]}
        return [peer.array(x) if name in self.about["array_args"] else x for name, x in given.items()]

    def results(self, peer: Peer, arguments: list[Any], returned: Any) -> list[Any]:
        """What the function has returned, and the arrays that it was given, as NumPy arrays."""
        values = [] if returned is None else list(returned) if isinstance(returned, (tuple, list)) else [returned]
        names = self.about["input_args"]
        values += [arguments[names.index(name)] for name in self.about["array_args"]]
        return [peer.get(x) if isinstance(x, type(peer.xp.zeros(1))) else numpy.asarray(x) for x in values]

    def _initialized(self) -> dict[str, Any]:
        data = dict(self.sizes)
        init = self.about.get("init")
        if init:
            path = self._folder / f"{self.name}.py"
            numpy.random.seed(1)
            made = getattr(_module(path.read_text(), path), init["func_name"])(*[data[x] for x in init["input_args"]])
            names = init["output_args"]
            data.update(zip(names, made if isinstance(made, tuple) else (made,), strict=True))
        return data


def _module(text: str, path: Path) -> ModuleType:
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(text, str(path), "exec"), vars(module))
    return module


def measured(program: Program, peer: Peer, clock: Callable[[], float]) -> tuple[list[float], list[Any]]:
    """The seconds that the runs of a program take, and the results of the first one."""
    function = program.function(peer)
    if function is None:
        raise LookupError(f"the suite has no text for {peer.name}")
    took: list[float] = []
    results: list[Any] = []
    while len(took) < FEWEST_RUNS or (len(took) < MOST_RUNS and sum(took) < PATIENCE_S):
        arguments = program.arguments(peer)
        peer.wait()
        start = clock()
        returned = function(*arguments)
        peer.wait()
        took.append(clock() - start)
        if len(took) == 1:
            results = program.results(peer, arguments, returned)
    return took, results


def error(result: Any, expected: Any) -> float:
    """The norm of the difference beside that of NumPy's result, in units of what is allowed."""
    if result.shape != expected.shape or result.dtype != expected.dtype:
        raise ValueError(f"{result.dtype}{result.shape} instead of {expected.dtype}{expected.shape}")
    if expected.dtype.kind not in "fc":
        return 0.0 if numpy.array_equal(result, expected) else numpy.inf
    if numpy.array_equal(result, expected, equal_nan=True):
        return 0.0
    precision = expected.real.dtype.itemsize
    norm = numpy.linalg.norm(expected.ravel().astype(complex)) or 1.0
    return float(numpy.linalg.norm((result - expected).ravel().astype(complex)) / norm / TOLERANCES[precision])


def cells(
    program: Program, peer: Peer, expected: list[Any] | None, clock: Callable[[], float]
) -> tuple[float, list[str], list[Any]]:
    """The median of later runs, the cells of a library, and the results, of which one that is wrong is marked."""
    try:
        (first, *later), results = measured(program, peer, clock)
        worst = max(map(error, results, expected), default=0.0) if expected is not None else 0.0
    except Exception as failure:
        print(f"<!-- {program.name}, {peer.name}: {type(failure).__name__}: {str(failure)[:200]} -->", flush=True)
        return numpy.nan, ["failed", ""], []
    steady = statistics.median(later)
    mark = "" if worst <= 1 else f" (wrong: {worst:.1g} times the tolerance)"
    return steady, [f"{first * 1e3:.4g}", f"{steady * 1e3:.4g}{mark}"], results


def lines(program: Program, peers: list[Peer], clock: Callable[[], float]) -> Iterator[str]:
    """The line of a program."""
    steady: dict[str, float] = {}
    expected: list[Any] | None = None
    row: list[str] = []
    for peer in peers:
        steady[peer.name], some, results = cells(program, peer, expected, clock)
        row += some
        expected = results if expected is None else expected
    own = steady.pop("gpunumpy")
    yield "| " + " | ".join([program.name, *row, *(f"{own / other:.2f}" for other in steady.values())]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--preset", choices=("S", "M", "L", "paper"), default="S")
    parser.add_argument("--device", default=None)
    parser.add_argument("--only", nargs="+", default=())
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--processor", action="store_true")
    given = parser.parse_args()
    clock = time.process_time if given.processor else time.perf_counter
    if given.device:
        gpunumpy.default_device(given.device)
    warnings.simplefilter("ignore")
    is_gpu = gpunumpy.default_device() != "cpu"
    peers = [p for p in peers_of(["numpy", *(["cupy"] if is_gpu else [])]) if p.name != "cupy.fuse"]
    peers.sort(key=lambda peer: peer.name != "NumPy")
    others = [peer.name for peer in peers if peer.name != "gpunumpy"]
    print(f"{heading()}; preset {given.preset}; times in ms{' of the processor' * given.processor}\n")
    names = [f"{peer.name}, {run}" for peer in peers for run in ("first", "steady")]
    print("| program | " + " | ".join([*names, *(f"gpunumpy / {name}" for name in others)]) + " |")
    print("|---" * (1 + len(names) + len(others)) + "|")
    end = time.perf_counter() + given.seconds
    for description in sorted((given.checkout / "bench_info").glob("*.json")):
        program = Program(description, given.preset)
        if (given.only and program.name not in given.only) or time.perf_counter() > end:
            continue
        for line in lines(program, peers, clock):
            print(line, flush=True)


if __name__ == "__main__":
    main()
