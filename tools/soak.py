"""Run random programs on the CPU device beside NumPy for a long time; in threads, with signals and forks if asked for.

    python -m tools.soak --programs 20000 --seed 0
    python -m tools.soak --minutes 60 --threads 8 --signals --forks

Every seed is run at several sizes, so that plans are bound at sizes they were not made for. A failure prints the seed
and the sizes that repeat it, and the program so far; what was run and the memory are printed on the way and at the end.
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
from gpunumpy.core.runtime import evaluate
from tests.programs.faults import ForkedMachine, InterruptedMachine
from tests.programs.machine import Machine

_MEGABYTE = 1 << 20
_PAGE_BYTES = 4096
_REPORT_AFTER = 1000  # programs
_FORK_AFTER = 20  # seeds
_SIZES = (0, 1, 2, 3, 4, 5, 6, 7, 9, 12)


class Soak:
    """Random programs by consecutive seeds, drawn by any number of threads, until a number of them or a time is over.

    Attributes
    ----------
    programs, steps
        How many have run; a seed at three sizes is three programs.
    raised, looked, forked
        How many exceptions and looks at all variables signals have brought, and how many programs a child went on with.
    failed
        How many programs gave another result than NumPy, or an error.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.programs = self.steps = self.raised = self.looked = self.forked = self.failed = 0
        self._lock = threading.Lock()
        self._seeds = itertools.count(options.seed)
        self._began = time.monotonic()
        self._first_bytes = 0

    def run(self) -> None:
        """Run all programs. The main thread is one of the threads, as signals come there."""
        self.run_program(self.options.seed, None)  # what is loaded at first use is no growth
        self._first_bytes = resident_bytes()
        threads = [threading.Thread(target=self.work) for _ in range(self.options.threads - 1)]
        for thread in threads:
            thread.start()
        self.work()
        for thread in threads:
            thread.join()

    def work(self) -> None:
        """Run programs in this thread. In several, warnings are not compared: Python's filters are shared."""
        with Device(self.options.device):
            for seed in self.seeds():
                source = random.Random(seed)
                for k in range(self.options.sizes):
                    sizes = (source.choice(_SIZES), source.choice(_SIZES), source.choice(_SIZES)) if k else None
                    self.run_program(seed, sizes)

    def seeds(self) -> Iterator[int]:
        options = self.options
        while True:
            with self._lock:
                if options.minutes is None:
                    over = self.programs >= options.programs
                else:
                    over = time.monotonic() - self._began > 60 * options.minutes
                if over or self.failed >= options.failures:
                    return
                seed = next(self._seeds)
            yield seed

    def run_program(self, seed: int, sizes: tuple[int, int, int] | None) -> None:
        make = self.kind(seed)
        machine = make(seed, gpunumpy, self.options.device == "cpu", sizes, warns=self.options.threads == 1)
        failure = ""
        try:
            machine.run(self.options.steps)
        except Exception as error:
            text = str(error) if isinstance(error, AssertionError) else f"{machine.story()}\n{error!r}"
            failure = f"{make.__name__}({seed}, sizes={sizes}): {text}\n"
        with self._lock:
            self.programs += 1
            self.steps += self.options.steps
            if isinstance(machine, InterruptedMachine):
                self.raised += machine.raised
                self.looked += machine.looked
            self.forked += isinstance(machine, ForkedMachine)
            if failure:
                self.failed += 1
                print(failure, flush=True)
            if self.programs % _REPORT_AFTER == 0:
                print(self.report(), flush=True)

    def kind(self, seed: int) -> type[Machine]:
        """Return in which way the programs of a seed are run."""
        if self.options.forks and seed % _FORK_AFTER == 0:
            return ForkedMachine
        is_main = threading.current_thread() is threading.main_thread()
        return InterruptedMachine if self.options.signals and is_main else Machine

    def report(self) -> str:
        """Return what has been run so far."""
        return (
            f"{self.programs} programs, {self.steps} steps, {self.failed} failed; {self.raised} exceptions and "
            f"{self.looked} looks by signals, {self.forked} forks; {time.monotonic() - self._began:.0f} s, "
            f"{time.process_time():.0f} s of them of a processor, {self.options.threads} threads; "
            f"memory {self._first_bytes / _MEGABYTE:.0f} MB at first, "
            f"{resident_bytes() / _MEGABYTE:.0f} MB now"
        )


def resident_bytes() -> int:
    """Return the memory that the process holds; 0 where the system does not tell."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * _PAGE_BYTES if status.exists() else 0


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run random programs beside NumPy.")
    parser.add_argument("--programs", type=int, default=20_000, help="how many to run (default: 20000)")
    parser.add_argument("--minutes", type=float, help="run for so long instead")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--signals", action="store_true", help="let a timer interrupt the programs of the main thread")
    parser.add_argument("--forks", action="store_true", help=f"fork in programs of one seed in {_FORK_AFTER}")
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--steps", type=int, default=12, help="in each program")
    parser.add_argument("--sizes", type=int, default=3, help="at how many sizes each seed is run")
    parser.add_argument("--failures", type=int, default=1, help="after how many to stop")
    parser.add_argument("--device", default="cpu")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    warnings.simplefilter("ignore")
    evaluate.CHECK = True  # every plan is verified, and one that fails is a failure
    soak = Soak(parse(arguments))
    soak.run()
    print(soak.report())
    return bool(soak.failed)


if __name__ == "__main__":
    sys.exit(main())
