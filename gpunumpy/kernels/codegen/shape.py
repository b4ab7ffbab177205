"""Sizes of generated kernels: lanes of a vector, vectors in flight, and loop indices from a linear index."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.dtypes import KIND
from ...core.ops.philox32 import BLOCK_OPS
from ...core.ops.streams import CONGRUENTIAL
from ...core.schedule.kernel import Affine, Apply, Body, Load, LoadIndexed, ReduceLoops, ScanLoop
from .collapse import bodies
from .emit import is_vector_access
from .op_code import is_long, points_of
from .unit import Unit

# Bytes that a thread should have in flight at once: at full occupancy, enough for a copy at full bandwidth.
_BYTES_IN_FLIGHT = 32

# A body of more operations than this is unrolled over the lanes of one vector only: its arithmetic hides the latency of
# its loads, and every copy of it costs compile time.
_MAX_LIGHT_OPERATIONS = 6

# The code of a thread at most, with an addition as the unit: a kernel of more takes seconds to compile, and gains
# nothing, as its arithmetic takes longer than its loads.
MAX_CODE_LENGTH = 512
MAX_LONG_BODY_POINTS = 8  # points of a thread at once if the body is long: every copy of it costs compile time
_INDEXED_LOAD_LENGTH = 8  # its place is computed, and its index checked; half as many points run no slower

# Vectors in flight in a reduction over random words. The step from one vector to the next is unrolled code.
STREAM_VECTORS_AT_ONCE = 4

# Lanes of a vector where no load or store limits them: four 32-bit random words share a block.
PHILOX_LANES = 4


def ceil_div(a: int, b: int) -> int:
    """Return ``a / b``, rounded up, for nonnegative numbers.

    A symbolic size is not asked here whether it is less than `b`, as it would be for the opposite of ``-a // b``.
    """
    return (a + b - 1) // b


def product(sizes: Sequence[int]) -> int:
    """Return the product of the sizes."""
    out = 1
    for size in sizes:
        out *= size
    return out


def accesses(unit: Unit) -> list[tuple[int, Affine]]:
    """Return the argument and the affine map of every load and store."""
    out: list[tuple[int, Affine]] = []
    for body in bodies(unit.kernel):
        out += [(instr.arg, instr.at) for instr in body.instructions if isinstance(instr, Load)]
        out += [(store.arg, store.at) for store in body.stores]
    return out


def pack_width(unit: Unit, lane: int) -> int:
    """Return the lanes of a vector along loop `lane`: 1 unless every load and store can access whole vectors."""
    kernel = unit.kernel
    if kernel.region is not None and kernel.region[lane] != (0, kernel.shape[lane]):
        return 1
    walks = [(arg, at) for arg, at in accesses(unit) if at.coef[lane] != 0]
    if not walks:
        return PHILOX_LANES if has_philox_blocks(kernel.body) else 1
    if any(at.coef[lane] != 1 for _, at in walks):
        return 1
    sizes = [kernel.args[arg].dtype.itemsize for arg, _ in walks]
    width = 16 // min(sizes)
    while width > 1 and (
        width * max(sizes) > 32 or not all(is_vector_access(unit, arg, at, lane, width) for arg, at in walks)
    ):
        width //= 2
    return width


def accumulation_width(unit: Unit, lane: int) -> int:
    """Return the lanes of a vector along loop `lane` of a kernel that accumulates.

    They decide in which order floating-point numbers are added up. So they follow from dtypes and sizes alone: an array
    has the same sum wherever it lies in memory. What is not aligned is loaded element by element.
    """
    kernel = unit.kernel
    sizes = [kernel.args[arg].dtype.itemsize for arg, at in accesses(unit) if at.coef[lane] != 0]
    if not sizes or not _order_shows(unit) or kernel.region is not None:
        return pack_width(unit, lane)
    has_other_loops = any(size > 1 for loop, size in enumerate(kernel.shape) if loop != lane)
    width = 16 // min(sizes)
    while width > 1 and (width * max(sizes) > 32 or (has_other_loops and kernel.shape[lane] % width)):
        width //= 2
    return width


def _order_shows(unit: Unit) -> bool:
    """Return whether a result can tell in which order it was accumulated."""
    return any(
        KIND[dtype] in "efc"
        for body in bodies(unit.kernel)
        for instr in body.instructions
        if isinstance(instr, (ReduceLoops, ScanLoop))
        for dtype in instr.loop
    )


def vectors_in_flight(unit: Unit, lane: int, width: int) -> int:
    """Return how many vectors a thread of a reduction or scan loads before it computes."""
    body = unit.kernel.body
    if has_congruential_words(body):
        return STREAM_VECTORS_AT_ONCE
    if not is_light(body):
        return 1
    # The neighbours that a stencil loads from one array are mostly loaded by other threads too: an array counts once.
    loaded_args = {instr.arg for instr in body.instructions if isinstance(instr, Load) and instr.at.coef[lane] != 0}
    nbytes = width * sum(unit.kernel.args[arg].dtype.itemsize for arg in loaded_args)
    count = 4
    while count > 1 and count * nbytes > _BYTES_IN_FLIGHT:
        count //= 2
    return count


def is_light(body: Body) -> bool:
    """Return whether the operations of a body are few, and none of hundreds of instructions is among them."""
    count = sum(isinstance(instr, (Apply, ReduceLoops, ScanLoop)) for instr in body.instructions)
    return count <= _MAX_LIGHT_OPERATIONS and most_points(body) >= MAX_LONG_BODY_POINTS


def most_points(body: Body) -> int:
    """Return how many points' code a thread may have: few of a long body, as each is a copy that is compiled."""
    length = 0
    for instr in body.instructions:
        if isinstance(instr, Apply):
            length += code_length(instr)
        elif isinstance(instr, LoadIndexed):
            length += _INDEXED_LOAD_LENGTH
    return max(1, MAX_CODE_LENGTH // max(1, length))


def code_length(instr: Apply) -> int:
    """Return the code of an operation, with an addition as the unit."""
    points = points_of(instr.op)
    if points:
        return MAX_CODE_LENGTH // points
    return 8 if is_long(instr.op, instr.loop) else 2 if instr.op in ("divide", "sqrt") else 1


def has_congruential_words(body: Body) -> bool:
    """Return whether the body makes words of a congruential generator, each of which follows from the one before."""
    return any(isinstance(instr, Apply) and instr.op in CONGRUENTIAL for instr in body.instructions)


def has_philox_blocks(body: Body) -> bool:
    """Return whether the body makes words of Philox4x32, of which neighbours share a block."""
    return any(isinstance(instr, Apply) and instr.op in BLOCK_OPS for instr in body.instructions)


def unravel(
    unit: Unit, linear: str, loops: Sequence[int], names: Sequence[str], vectors: int | None = None
) -> list[str]:
    """Return C lines that define the loop indices `names` of `loops` from the linear index `linear` over them.

    `vectors`, if given, replaces the size of the innermost loop: the linear index counts its vectors.
    """
    if not loops:
        return []
    lines = []
    rest = linear
    for position in range(len(loops) - 1, 0, -1):
        size = unit.kernel.shape[loops[position]]
        key: object = ("size", loops[position])
        if vectors is not None and position == len(loops) - 1:
            size, key = vectors, "vectors"
        quotient = f"q_{names[position]}"
        lines.append(f"const Int {quotient} = {unit.quotient(rest, size, key)};")
        lines.append(f"const Int {names[position]} = {rest} - {quotient} * {unit.param(size, key)};")
        rest = quotient
    lines.append(f"const Int {names[0]} = {rest};")
    return lines
