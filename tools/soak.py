"""Run random programs beside NumPy for a long time; in threads, with signals and forks if asked for.

    python -m tools.soak --programs 20000 --seed 0
    python -m tools.soak --minutes 60 --threads 8 --signals --forks
    python -m tools.soak --minutes 5 --processes 16
    python -m tools.soak --minutes 5 --memory-limit 16KiB
    python -m tools.soak --minutes 5 --signals --forks --device cuda:0

Every seed is run at several sizes, so that plans are bound at sizes they were not made for. A failure prints the seed
and the sizes that repeat it, and the program so far; what was run and the memory are printed on the way and at the end.
Each of several processes has seeds of its own, and the last line adds up what they have run. Under a limit of memory,
which is for arrays alone and not for what libraries of a GPU keep, arrays move to the host and come back; a program
ends where a statement alone needs more. On a GPU a forked child goes on with a program on the CPU device.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import itertools
import multiprocessing
import random
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy

import gpunumpy
from gpunumpy import Device
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.byte_sizes import parsed_bytes
from tests.programs.faults import ForkedMachine, InterruptedMachine
from tests.programs.machine import Machine

_MEGABYTE = 1 << 20
_PAGE_BYTES = 4096
_REPORT_AFTER = 1000  # programs
_FORK_AFTER = 20  # seeds
_SIZES = (0, 1, 2, 3, 4, 5, 6, 7, 9, 12)
_LARGE = 512  # rows of a matrix that is multiplied by a library
_SEEDS_APART = 10_000_000  # between the first seeds of two processes


class Counts(NamedTuple):
    """What has been run.

    Attributes
    ----------
    programs, steps
        A seed at three sizes is three programs.
    failed
        The programs that gave another result than NumPy, or an error.
    short
        The programs that ended at a statement for which the limit of memory leaves no room.
    raised, looked, forked
        Exceptions and looks at all variables that signals have brought, and programs that a child went on with.
    seconds, processor_seconds
        The time since the beginning, and that of the processors.
    first_bytes, bytes
        The memory that the process held after the first program, and at the end; of several the sums.
    first_device_bytes, device_bytes
        The same for blocks of the GPU's memory, those kept for later arrays too; 0 on the CPU device.
    """

    programs: int = 0
    steps: int = 0
    failed: int = 0
    short: int = 0
    raised: int = 0
    looked: int = 0
    forked: int = 0
    seconds: float = 0.0
    processor_seconds: float = 0.0
    first_bytes: int = 0
    bytes: int = 0
    first_device_bytes: int = 0
    device_bytes: int = 0

    def __str__(self) -> str:
        """Return the counts as a sentence."""
        of_device = f", of the GPU {self.first_device_bytes / _MEGABYTE:.1f} and {self.device_bytes / _MEGABYTE:.1f} MB"
        return (
            f"{self.programs} programs, {self.steps} steps, {self.failed} failed, {self.short} ended for lack of "
            f"memory; {self.raised} exceptions and "
            f"{self.looked} looks by signals, {self.forked} forks; {self.seconds:.0f} s, "
            f"{self.processor_seconds:.0f} s of them of a processor; "
            f"memory {self.first_bytes / _MEGABYTE:.0f} MB at first, {self.bytes / _MEGABYTE:.0f} MB now"
            f"{of_device if self.device_bytes else ''}"
        )


class Soak:
    """Random programs by consecutive seeds, drawn by threads, until a number of them or a time is over."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.programs = self.steps = self.raised = self.looked = self.forked = self.failed = self.short = 0
        self._lock = threading.Lock()
        self._seeds = itertools.count(options.seed)
        self._began = time.monotonic()
        self._first_bytes = self._first_device_bytes = 0

    def run(self) -> None:
        """Run all programs. The main thread is one of the threads, as signals come there."""
        self.run_program(self.options.seed, None)  # what is loaded at first use is no growth
        self._first_bytes, self._first_device_bytes = resident_bytes(), device_bytes(self.options.device)
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
                seconds = time.monotonic() - self._began
                over = options.minutes is not None and seconds > 60 * options.minutes
                if over or self.programs >= options.programs or self.failed >= options.failures:
                    return
                seed = next(self._seeds)
            yield seed

    def run_program(self, seed: int, sizes: tuple[int, int, int] | None) -> None:
        make = self.kind(seed)
        machine = make(seed, gpunumpy, self.options.device == "cpu", sizes, warns=self.options.threads == 1)
        failure, is_short = "", False
        try:
            machine.run(self.options.steps)
        except MemoryError as error:
            is_short = self.options.memory_limit is not None
            failure = "" if is_short else f"{make.__name__}({seed}, sizes={sizes}): {machine.story()}\n{error!r}\n"
        except Exception as error:
            text = str(error) if isinstance(error, AssertionError) else f"{machine.story()}\n{error!r}"
            is_short = self.options.memory_limit is not None and "\nMemoryError: out of memory" in text  # of a child
            failure = "" if is_short else f"{make.__name__}({seed}, sizes={sizes}): {text}\n"
        with self._lock:
            self.programs += 1
            self.steps += self.options.steps
            self.short += is_short
            if isinstance(machine, InterruptedMachine):
                self.raised += machine.raised
                self.looked += machine.looked
            self.forked += isinstance(machine, ForkedMachine)
            if failure:
                self.failed += 1
                print(failure, flush=True)
            if self.programs % _REPORT_AFTER == 0:
                print(self.report(), kept_words(), sep="\n", flush=True)

    def kind(self, seed: int) -> type[Machine]:
        """Return in which way the programs of a seed are run."""
        if self.options.forks and seed % _FORK_AFTER == 0:
            return ForkedMachine
        is_main = threading.current_thread() is threading.main_thread()
        return InterruptedMachine if self.options.signals and is_main else Machine

    def report(self) -> Counts:
        """Return what has been run so far."""
        return Counts(
            self.programs, self.steps, self.failed, self.short, self.raised, self.looked, self.forked,
            time.monotonic() - self._began, time.process_time(), self._first_bytes, resident_bytes(),
            self._first_device_bytes, device_bytes(self.options.device),
        )  # fmt: skip


def run_in_process(options: argparse.Namespace) -> Counts:
    """Run a soak in the main thread of this process and return what it has run; a crash prints where."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    evaluate.CHECK = True  # every plan is verified, and one that fails is a failure
    if options.memory_limit is not None:
        limit_memory(options.device, options.memory_limit)
    soak = Soak(options)
    soak.run()
    return soak.report()


def limit_memory(device: str, size: str) -> None:
    """Leave arrays so many bytes beside those that libraries keep of a GPU from their first product on."""
    with Device(device):
        x = gpunumpy.asarray(numpy.ones((_LARGE, _LARGE)))
        (x @ x).get()
    del x
    gpunumpy.synchronize(device)
    gpunumpy.free_all_blocks(device)
    gpunumpy.set_memory_limit(gpunumpy.memory_info(device).used + (parsed_bytes(size) or 0), device)


def run_in_processes(options: argparse.Namespace) -> Counts:
    """Run a soak in each of several new processes, and return what all have run; the time is that of the longest."""
    parts = []
    for k in range(options.processes):
        share = {"seed": options.seed + k * _SEEDS_APART, "programs": -(-options.programs // options.processes)}
        parts.append(argparse.Namespace(**{**vars(options), **share}))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, context) as pool:  # `multiprocessing.Pool` waits for ever after a crash
        counts = list(pool.map(run_in_process, parts))
    return Counts(*map(sum, zip(*counts, strict=True)))._replace(seconds=max(part.seconds for part in counts))


def resident_bytes() -> int:
    """Return the memory that the process holds; 0 where the system does not tell."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * _PAGE_BYTES if status.exists() else 0


class _Mallinfo(ctypes.Structure):
    """What glibc's `mallinfo2` tells of all arenas."""

    _names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = tuple((name, ctypes.c_size_t) for name in _names.split())


def kept_words() -> str:
    """Return how much of the memory objects have, and how much the C library keeps, where it tells."""
    words = f"{sys.getallocatedblocks():,} blocks of Python's"
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):
        return words
    mallinfo.restype = _Mallinfo
    info = mallinfo()
    return f"{words}; of malloc {info.uordblks / _MEGABYTE:.0f} MB used, {info.fordblks / _MEGABYTE:.0f} MB free"


def device_bytes(device: str) -> int:
    """Return the bytes of a GPU in blocks that this process has; 0 for the CPU device."""
    info = gpunumpy.memory_info(device)
    return 0 if gpunumpy.Device(device) == "cpu" else info.used + info.cached


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run random programs beside NumPy.")
    parser.add_argument("--programs", type=int, help="how many to run (default: 20000, or what the minutes allow)")
    parser.add_argument("--minutes", type=float, help="run for no longer than that")
    parser.add_argument("--threads", type=int, default=1, help="in each process")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--signals", action="store_true", help="let a timer interrupt the programs of the main thread")
    parser.add_argument("--forks", action="store_true", help=f"fork in programs of one seed in {_FORK_AFTER}")
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--steps", type=int, default=12, help="in each program")
    parser.add_argument("--sizes", type=int, default=3, help="at how many sizes each seed is run")
    parser.add_argument("--failures", type=int, default=1, help="after how many a process stops")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--memory-limit", help="of the device, such as 16KiB: arrays then move to the host and back")
    options = parser.parse_args(arguments)
    if options.programs is None:
        options.programs = 20_000 if options.minutes is None else sys.maxsize
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    counts = run_in_process(options) if options.processes == 1 else run_in_processes(options)
    print(counts)
    return bool(counts.failed)


if __name__ == "__main__":
    sys.exit(main())
