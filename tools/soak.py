"""Run random programs on the CPU device beside NumPy for a long time, in several threads if asked for.

    python -m tools.soak --programs 20000 --threads 2 --seed 0
    python -m tools.soak --minutes 60

Every seed is run at several sizes, so that plans are bound at sizes they were not made for. A failure prints the seed
and the sizes that repeat it, and the program so far; what was run and the memory are printed at the end.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import gpunumpy
from gpunumpy import Device
from tests.programs.machine import Machine

_MEGABYTE = 1 << 20
_PAGE_BYTES = 4096
_SIZES = (0, 1, 2, 3, 4, 5, 6, 7, 9, 12)


class Soak:
    """Random programs by consecutive seeds, drawn by any number of threads, until a number of them or a time is over.

    Attributes
    ----------
    programs, steps
        How many have run; a seed at three sizes is three programs.
    failures
        The messages of those that failed.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.programs = self.steps = 0
        self.failures: list[str] = []
        self._lock = threading.Lock()
        self._seeds = itertools.count(options.seed)
        self._end = time.monotonic() + 60 * options.minutes if options.minutes else None

    def seeds(self) -> Iterator[int]:
        options = self.options
        while True:
            with self._lock:
                over = self._end is None and self.programs >= options.programs
                late = self._end is not None and time.monotonic() > self._end
                if over or late or len(self.failures) >= options.failures:
                    return
                seed = next(self._seeds)
            yield seed

    def work(self) -> None:
        """Run programs in this thread. In several, warnings are not compared: Python's filters are shared."""
        with Device(self.options.device):
            for seed in self.seeds():
                source = random.Random(seed)
                for k in range(self.options.sizes):
                    sizes = (source.choice(_SIZES), source.choice(_SIZES), source.choice(_SIZES)) if k else None
                    self.run(seed, sizes)

    def run(self, seed: int, sizes: tuple[int, int, int] | None) -> None:
        machine = Machine(seed, gpunumpy, self.options.device == "cpu", sizes, warns=self.options.threads == 1)
        try:
            machine.run(self.options.steps)
        except Exception as error:
            text = str(error) if isinstance(error, AssertionError) else f"{machine.story()}\n{error!r}"
            with self._lock:
                self.failures.append(f"Machine({seed}, sizes={sizes}): {text}")
        with self._lock:
            self.programs += 1
            self.steps += self.options.steps


def resident_bytes() -> int:
    """Return the memory that the process holds; 0 where the system does not tell."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * _PAGE_BYTES if status.exists() else 0


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run random programs beside NumPy.")
    parser.add_argument("--programs", type=int, default=20_000, help="how many to run (default: 20000)")
    parser.add_argument("--minutes", type=float, help="run for so long instead")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--steps", type=int, default=12, help="in each program")
    parser.add_argument("--sizes", type=int, default=3, help="at how many sizes each seed is run")
    parser.add_argument("--failures", type=int, default=1, help="after how many to stop")
    parser.add_argument("--device", default="cpu")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    soak = Soak(parse(arguments))
    warnings.simplefilter("ignore")
    began = time.monotonic()
    soak.run(soak.options.seed, None)  # what is loaded at first use is no growth
    before = resident_bytes()
    threads = [threading.Thread(target=soak.work) for _ in range(soak.options.threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for text in soak.failures:
        print(text, end="\n\n")
    print(
        f"{soak.programs} programs, {soak.steps} steps, {len(soak.failures)} failed, {time.monotonic() - began:.0f} s, "
        f"{soak.options.threads} threads; memory {before / _MEGABYTE:.0f} MB at first, "
        f"{resident_bytes() / _MEGABYTE:.0f} MB at the end"
    )
    return bool(soak.failures)


if __name__ == "__main__":
    sys.exit(main())
