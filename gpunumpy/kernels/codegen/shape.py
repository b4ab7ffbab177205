"""The numbers of a strategy: how wide vectors are, how many are in flight, how loops are cut among threads."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.ops.philox32 import BLOCKS
from ...core.ops.streams import CONGRUENTIAL
from ...core.schedule.kernel import Affine, Apply, Body, Load, ReduceLoops, ScanLoop
from .collapse import bodies
from .emit import packs
from .unit import Unit

# Bytes that a thread should have on their way at once: with full occupancy, what a copy at full bandwidth has.
_IN_FLIGHT = 32

# A body of more operations than this is unrolled over the lanes of one vector alone: its arithmetic hides the
# loads already, and every copy of it costs compile time.
LIGHT = 6

# Vectors of a thread of a reduction that makes random words: from one to the next it needs no loop.
WALKED_AT_ONCE = 4

# Lanes of vectors that nothing but the blocks of random words decides.
BLOCK_LANES = 4


def ceil_div(a: int, b: int) -> int:
    """``a / b``, rounded up."""
    return -(-a // b)


def product(sizes: Sequence[int]) -> int:
    """The product of the sizes."""
    out = 1
    for size in sizes:
        out *= size
    return out


def accesses(unit: Unit) -> list[tuple[int, Affine]]:
    """Every load and store: its argument and its walk."""
    out: list[tuple[int, Affine]] = []
    for body in bodies(unit.kernel):
        out += [(instr.arg, instr.at) for instr in body.instrs if isinstance(instr, Load)]
        out += [(store.arg, store.at) for store in body.stores]
    return out


def pack_width(unit: Unit, lane: int) -> int:
    """How many lanes along loop `lane` a vector has: one, unless every access can be made by vectors."""
    kernel = unit.kernel
    if kernel.region is not None and kernel.region[lane] != (0, kernel.shape[lane]):
        return 1
    walks = [(arg, at) for arg, at in accesses(unit) if at.coef[lane] != 0]
    if not walks:  # what is made, and not loaded or stored, is made by blocks
        return BLOCK_LANES if has_blocks(kernel.body) else 1
    if any(at.coef[lane] != 1 for _, at in walks):
        return 1
    sizes = [kernel.args[arg].dtype.itemsize for arg, _ in walks]
    width = 16 // min(sizes)
    while width > 1 and (width * max(sizes) > 32 or not all(packs(unit, arg, at, lane, width) for arg, at in walks)):
        width //= 2
    return width


def flight(unit: Unit, lane: int, width: int) -> int:
    """How many vectors a thread of a reduction loads before it computes."""
    body = unit.kernel.body
    if has_walks(body):
        return WALKED_AT_ONCE
    if operations(body) > LIGHT:
        return 1
    # Neighbours in one array, as of a stencil, are mostly loaded by other threads too: an array counts once.
    read = {instr.arg for instr in body.instrs if isinstance(instr, Load) and instr.at.coef[lane] != 0}
    nbytes = width * sum(unit.kernel.args[arg].dtype.itemsize for arg in read)
    count = 4
    while count > 1 and count * nbytes > _IN_FLIGHT:
        count //= 2
    return count


def operations(body: Body) -> int:
    """How many values of the body are computed."""
    return sum(isinstance(instr, (Apply, ReduceLoops, ScanLoop)) for instr in body.instrs)


def has_walks(body: Body) -> bool:
    """Whether random words are made that are found one from another."""
    return any(isinstance(instr, Apply) and instr.op in CONGRUENTIAL for instr in body.instrs)


def has_blocks(body: Body) -> bool:
    """Whether random words are made of which neighbours share a block."""
    return any(isinstance(instr, Apply) and instr.op in BLOCKS for instr in body.instrs)


def unravel(unit: Unit, linear: str, loops: Sequence[int], names: Sequence[str], last: int | None = None) -> list[str]:
    """Lines that define the loop indices `names` of `loops` from a linear index over them.

    `last` is the number of turns of the innermost one where it is not its size (a number of vectors).
    """
    if not loops:
        return []
    lines = []
    rest = linear
    for position in range(len(loops) - 1, 0, -1):
        size = unit.kernel.shape[loops[position]]
        key: object = ("size", loops[position])
        if last is not None and position == len(loops) - 1:
            size, key = last, "vectors"
        quotient = f"q_{names[position]}"
        lines.append(f"const Int {quotient} = {unit.quotient(rest, size, key)};")
        lines.append(f"const Int {names[position]} = {rest} - {quotient} * {unit.param(size, key)};")
        rest = quotient
    lines.append(f"const Int {names[0]} = {rest};")
    return lines
