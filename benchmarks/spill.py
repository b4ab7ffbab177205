"""A working set larger than the device's memory: what a limit costs, beside the fewest bytes that have to move.

``python benchmarks/spill.py [--device cuda] [--limit 16GB] [--times 1.5 3] [--only PROGRAM ...]`` sets a limit, and
runs programs whose arrays take so many times as much. It prints the seconds of a run, those without a limit, the bytes
that would move if all future reads were known (the value that is read last leaves; one that was not written since
leaves without a copy), the seconds of these over the link, the run beside the sum of both, and how many arrays moved.
The link is that of page-locked memory, measured here. The status is 1 if a result differs from that without a limit,
or by more than rounding from NumPy's: that is computed of what the programs' arrays have in common (constants, columns
that are alike), since the programs themselves would take NumPy minutes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

import gpunumpy as np
from gpunumpy.core.runtime import memory, memory_copy
from gpunumpy.core.runtime.byte_sizes import parsed_bytes
from gpunumpy.core.runtime.device import CPU, Device

PARTS = 16  # arrays that the limit has room for
PASSES = 3
RUNS = 3  # of a program that is timed: the first two compile, and lock the pages that values move to
TOLERANCE = 1e-5  # of a result, beside NumPy's

# What an operation reads, and what it writes, by numbers of arrays.
Access = tuple[Sequence[int], Sequence[int]]


class Program:
    """A program over arrays of equal size.

    Attributes
    ----------
    run
        Returns a number that all of the work decides.
    accesses
        What the operations read and write, in order.
    """

    def __init__(self, count: int, nbytes: int) -> None:
        self.count, self.nbytes = count, nbytes

    def run(self) -> float:
        raise NotImplementedError

    def expected(self) -> float:
        """Return NumPy's result of the last of `RUNS` runs."""
        raise NotImplementedError

    def accesses(self) -> Iterator[Access]:
        raise NotImplementedError


class Sums(Program):
    """The sum of many arrays, each added up, several times."""

    def __init__(self, count: int, nbytes: int) -> None:
        super().__init__(count, nbytes)
        self.arrays = [np.full(nbytes // 4, k + 1, numpy.float32) for k in range(count)]
        for x in self.arrays:
            x *= 1.5
            x.computed()  # what is cheaper to compute than to read is not stored else

    def run(self) -> float:
        total = 0.0
        for _ in range(PASSES):
            for x in self.arrays:
                total += float(x.sum())
        return total

    def expected(self) -> float:
        firsts = numpy.arange(1, self.count + 1) * 1.5
        return PASSES * float(firsts.sum()) * (self.nbytes // 4)

    def accesses(self) -> Iterator[Access]:
        for _ in range(PASSES):
            for k in range(self.count):
                yield (k,), ()


class Product(Program):
    """A product of matrices in tiles: a third of the arrays are those of each matrix."""

    def __init__(self, count: int, nbytes: int) -> None:
        self.side = side = round((count / 3) ** 0.5)
        nbytes = count * nbytes // (3 * side * side)
        super().__init__(3 * side * side, nbytes)
        self.rows = n = int((nbytes // 4) ** 0.5) // 128 * 128
        self.tiles: list[Any] = []
        for k in range(self.count):
            tile = np.full((n, n), 0.0 if k >= 2 * side * side else self.element(k), numpy.float32)
            tile += 0
            tile.computed()
            self.tiles.append(tile)

    def run(self) -> float:
        side = self.side
        a, b, c = (self.tiles[k * side * side : (k + 1) * side * side] for k in range(3))
        for i in range(side):
            for j in range(side):
                c[i * side + j] *= 0
                for k in range(side):
                    c[i * side + j] += a[i * side + k] @ b[k * side + j]
                np.synchronize()
        return sum(float(x[0, 0]) + float(x.max()) for x in c)

    @staticmethod
    def element(k: Any) -> Any:
        """All elements of a tile of the operands."""
        return (k % 7 - 3) / 8

    def expected(self) -> float:
        square = self.side**2
        a, b = (self.element(numpy.arange(square) + first).reshape(self.side, self.side) for first in (0, square))
        return 2 * float((a @ b).sum()) * self.rows

    def accesses(self) -> Iterator[Access]:
        side = self.side
        square = side * side
        for i in range(side):
            for j in range(side):
                result = 2 * square + i * side + j
                for k in range(side):
                    yield (i * side + k, square + k * side + j, result), (result,)
        for k in range(square):
            yield (2 * square + k,), ()


class Stencil(Program):
    """Diffusion in time over a field in slabs of rows; a slab's new rows need those beside it."""

    COLUMNS = 1 << 12

    def __init__(self, count: int, nbytes: int) -> None:
        super().__init__(count, nbytes)
        rows = nbytes // 4 // self.COLUMNS
        self.slabs = [
            np.full((rows, self.COLUMNS), k, numpy.float32) + np.arange(self.COLUMNS, dtype="f4") for k in range(count)
        ]
        for x in self.slabs:
            x += 1
            x.computed()

    def run(self) -> float:
        for _ in range(PASSES):
            above = self.slabs[-1][-1:] * 1
            first = self.slabs[0][:1] * 1
            for k, x in enumerate(self.slabs):
                below = self.slabs[k + 1][:1] if k + 1 < self.count else first
                last = x[-1:] * 1
                middle = (x[:-2] + x[2:]) * 0.25 + x[1:-1] * 0.5
                top, bottom = (above + x[1:2]) * 0.25 + x[:1] * 0.5, (x[-2:-1] + below) * 0.25 + x[-1:] * 0.5
                x[1:-1], x[:1], x[-1:] = middle, top, bottom
                np.synchronize()
                above = last
        return sum(float(x[1, 1]) for x in self.slabs)

    def expected(self) -> float:
        rows = self.nbytes // 4 // self.COLUMNS
        column = numpy.repeat(numpy.arange(self.count, dtype=numpy.float32), rows) + 2  # of the number 1
        for _ in range(RUNS * PASSES):
            column = (numpy.roll(column, 1) + numpy.roll(column, -1)) * 0.25 + column * 0.5
        return float(column[1::rows].sum(dtype=numpy.float64))

    def accesses(self) -> Iterator[Access]:
        for _ in range(PASSES):
            yield (self.count - 1, 0), ()
            for k in range(self.count):
                yield (k, (k + 1) % self.count), (k,)


PROGRAMS: dict[str, type[Program]] = {"sums": Sums, "matrix product": Product, "stencil in time": Stencil}


def fewest_moves(accesses: Sequence[Access], present: int) -> tuple[int, int]:
    """Return how many arrays come and how many leave if all future reads are known, after a run of the same before."""
    accesses = [*accesses, *accesses]
    begins = len(accesses) // 2
    uses: dict[int, list[int]] = {}
    for number, (read, written) in enumerate(accesses):
        for k in {*read, *written}:
            uses.setdefault(k, []).append(number)
    resident: dict[int, bool] = {}  # and whether it was written since it came
    came = left = 0
    for number, (read, written) in enumerate(accesses):
        wanted = {*read, *written}
        for k in wanted:
            while uses[k] and uses[k][0] <= number:
                uses[k].pop(0)
            if k in resident:
                continue
            while len(resident) >= present:
                others = [other for other in resident if other not in wanted]
                last = max(others, key=lambda other: uses[other][0] if uses[other] else len(accesses))
                left += resident.pop(last) and number >= begins
            resident[k] = False
            came += number >= begins
        for k in written:
            resident[k] = True
    return came, left


def link_rates(device: Device, nbytes: int = 1 << 28) -> tuple[float, float]:
    """The bytes a second to the device and from it, of page-locked memory."""
    if device is CPU:
        host: Any = numpy.empty(nbytes, numpy.uint8)
    else:
        host = memory.pinned(nbytes, device)
    buffer = memory.allocate(device, nbytes)
    best = [float("inf")] * 2
    for _ in range(5):
        start = time.perf_counter()
        memory_copy.copy_from_host(buffer, 0, host, borrow=True)
        np.synchronize()
        middle = time.perf_counter()
        memory_copy.move_to_host(host, buffer, device is not CPU)
        best = [min(best[0], middle - start), min(best[1], time.perf_counter() - middle)]
    return nbytes / best[0], nbytes / best[1]


def timed(run: Callable[[], float], device: Device) -> tuple[float, float, int, int]:
    """Seconds, the result, and the bytes that moved to the device and to the host."""
    for _ in range(RUNS - 1):
        run()
        np.synchronize()
    pool = memory.pool_of(device)
    came, left = pool.bytes_from_host, pool.bytes_to_host
    start = time.perf_counter()
    result = run()
    np.synchronize()
    return time.perf_counter() - start, result, pool.bytes_from_host - came, pool.bytes_to_host - left


def main() -> int:
    parser = argparse.ArgumentParser(description="Programs over more arrays than fit.")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--limit", default="16GB")
    parser.add_argument("--times", type=float, nargs="+", default=[1.5, 3.0])
    parser.add_argument("--only", nargs="+", default=[*PROGRAMS], choices=[*PROGRAMS], metavar="PROGRAM")
    options = parser.parse_args()
    device, limit = Device(options.device), parsed_bytes(options.limit)
    assert limit is not None
    np.set_residence("device")
    failed = False
    with device:
        print(f"{device.hardware}; limit {limit:,} bytes")
        to_device, to_host = link_rates(device)
        print(f"link: {to_device / 1e9:.1f} GB/s to the device, {to_host / 1e9:.1f} GB/s to the host")
        print(
            f"{'program':18}{'times':>6}{'s':>9}{'no limit':>10}{'GB in':>8}{'GB out':>8}{'link s':>9}{'ratio':>7}"
            "  arrays moved, and at least"
        )
        for times in options.times:
            for name in options.only:
                program = PROGRAMS[name]
                np.set_memory_limit(None)
                work = program(round(PARTS * times), int(limit * 0.98) // PARTS)
                alone, expected, _, _ = timed(work.run, device)
                del work  # as a run may write its arrays
                work = program(round(PARTS * times), int(limit * 0.98) // PARTS)
                np.set_memory_limit(limit)
                limited, result, to_it, from_it = timed(work.run, device)
                came, left = fewest_moves(list(work.accesses()), limit // work.nbytes)
                moved = came * work.nbytes / to_device + left * work.nbytes / to_host
                print(
                    f"{name:18}{times:6.1f}{limited:9.3f}{alone:10.3f}{came * work.nbytes / 1e9:8.2f}"
                    f"{left * work.nbytes / 1e9:8.2f}{moved:9.3f}{limited / (alone + moved):7.2f}"
                    f"  in {to_it / work.nbytes:.0f} ({came}), out {from_it / work.nbytes:.0f} ({left})",
                    flush=True,
                )
                of_numpy = work.expected()
                if result != expected or abs(result - of_numpy) > TOLERANCE * abs(of_numpy):
                    failed = True
                    print(f"  {result!r} instead of {expected!r}, of NumPy {of_numpy!r}")
                del work
        np.set_memory_limit(None)
    return failed


if __name__ == "__main__":
    sys.exit(main())
