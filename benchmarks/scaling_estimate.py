"""What five programs of benchmarks/collectives.py should take on 1 to 1,024 GPUs: an estimate on paper.

It divides bytes by rates, and adds what a message takes at least. Operations of one process run one after the other,
but in the transform, where pieces are sent while the next ones are computed. ``python benchmarks/scaling_estimate.py``
prints the table of the page; options change the rates. NVLink's nominal one is ``--link 450e9``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, fields
from math import ceil, log2

COUNTS = (1, 2, 8, 64, 1024)


@dataclass(frozen=True)
class Machine:
    """Rates in bytes a second, or operations, of each GPU; times in seconds. Defaults: H200, NVLink, 400 Gb/s a GPU."""

    memory: float = 4.0e12  # a copy, read and written
    multiplied: float = 50e12  # float32 products of large matrices
    link: float = 330e9  # between GPUs of one machine, in each direction
    network: float = 45e9  # between machines
    message: float = 12e-6  # one message at least, in a machine
    far_message: float = 25e-6  # and between machines
    kernel: float = 5e-6  # one kernel at least
    together: int = 8  # GPUs of a machine


def latency(m: Machine, count: int) -> float:
    """The least time of an operation of all processes: a tree of messages."""
    if count == 1:
        return 0.0
    inside = ceil(log2(min(count, m.together)))
    return m.message + inside * 1e-6 + (m.far_message + ceil(log2(count / m.together)) * 4e-6) * (count > m.together)


def neighbour(m: Machine, count: int, nbytes: float) -> float:
    """The time to send to a neighbour and receive from one; the slowest pair is in two machines."""
    if count == 1:
        return 0.0
    return (m.far_message + nbytes / m.network) if count > m.together else (m.message + nbytes / m.link)


def to_all(m: Machine, count: int, nbytes: float) -> float:
    """The time to send an equal part of some bytes to every process."""
    if count == 1:
        return 0.0
    near = min(count, m.together) - 1
    far = count - 1 - near
    part = nbytes / count
    messages = m.message + far * 0.5e-6 + m.far_message * (far > 0)
    return messages + near * part / m.link + far * part / m.network


def map_seconds(m: Machine, count: int, n: int = 32768) -> float:
    return m.kernel + 8 * n * n / count / m.memory


def reduction_seconds(m: Machine, count: int, n: int = 32768) -> float:
    return m.kernel + 4 * n * n / count / m.memory + latency(m, count)


def stencil_seconds(m: Machine, count: int, n: int = 32768, steps: int = 10) -> float:
    halos = 2 * neighbour(m, count, 4 * n)
    return steps * (m.kernel + 8 * n * n / count / m.memory + halos)


def transform_seconds(m: Machine, count: int, n: int = 1024) -> float:
    """Pieces of two axes, each sent while the next one is transformed, and the third axis when all have come."""
    if count == 1:
        return 3 * (m.kernel + 16 * n**3 / m.memory)
    return min(transform_in_pieces(m, count, n, pieces) for pieces in (1, 2, 4, 8, 16) if pieces * count <= n)


def transform_in_pieces(m: Machine, count: int, n: int, pieces: int) -> float:
    nbytes = 8 * n**3 / count
    axis = 2 * nbytes / m.memory  # read and written
    # What is sent is read, written by the link, and copied from there to its place; what stays is copied.
    beside = (4 * (count - 1) + 2) / count * nbytes / m.memory / pieces
    made = 2 * (m.kernel + axis / pieces)
    sent = to_all(m, count, nbytes / pieces)
    return made + (pieces - 1) * max(made + beside, sent) + max(beside, sent) + m.kernel + axis


def product_seconds(m: Machine, count: int, n: int = 16384) -> float:
    turns = count - 1
    sums = count * 3 * 4 * n * n / count / m.memory * (count > 1)  # each turn is added to the total
    passed = turns * neighbour(m, count, 4 * n * n / count)
    return count * m.kernel + 2 * n**3 / count / m.multiplied + sums + passed


PROGRAMS: dict[str, Callable[[Machine, int], float]] = {
    "15 operations on 32768² float32": map_seconds,
    "a sum over 32768² float32": reduction_seconds,
    "10 steps of heat on 32768² float32": stencil_seconds,
    "fftn of 1024³ complex64, in slabs": transform_seconds,
    "a product of 16384² float32": product_seconds,
}


def last_useful(seconds: Callable[[Machine, int], float], m: Machine) -> int:
    """The most GPUs, in powers of two, of which each does half of the work that one alone would."""
    count = 1
    while count < 1 << 16 and seconds(m, 1) / (2 * count * seconds(m, 2 * count)) >= 0.5:
        count *= 2
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for one in fields(Machine):
        parser.add_argument(f"--{one.name.replace('_', '-')}", type=type(one.default), default=one.default)
    m = Machine(**vars(parser.parse_args()))
    print("| program | " + " | ".join(f"{count:,}" for count in COUNTS) + " | half as useful after |")
    print("|---" * (len(COUNTS) + 2) + "|")
    for name, seconds in PROGRAMS.items():
        cells = []
        for count in COUNTS:
            took = seconds(m, count)
            cells.append(f"{took * 1e3:.2f} ms, {seconds(m, 1) / took:.1f} ×" if count > 1 else f"{took * 1e3:.2f} ms")
        print(f"| {name} | {' | '.join(cells)} | {last_useful(seconds, m):,} |")


if __name__ == "__main__":
    main()
