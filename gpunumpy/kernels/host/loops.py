"""The CPU executor: a kernel as NumPy calls over blocks that fit the cache, on all processors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from math import prod
from typing import Any

import numpy

from ...core.runtime.plan import Runner
from ...core.schedule.kernel import Apply, Kernel, ReduceLoops, ScanLoop
from .loop_nest import Nest, bytes_a_point, finishing, grid, needs_rows, nests, ordered
from .reduce import State, reducer
from .text import block_function
from .threads import quietly, run_all, workers

# What the arrays of one block take in the cache, and the fewest points that are worth a NumPy call.
BLOCK_BYTES = 512 * 1024
BLOCK_POINTS = 12 * 1024
# Merging the states of two blocks costs several calls, and where nothing is computed nothing need stay in the cache.
_FEWER_BLOCKS = 4
# Loop points times operations from which threads pay: they take turns at the interpreter between NumPy calls.
PARALLEL_WORK = 1 << 22
# A long reduction is cut into this many parts at most: enough for any number of threads, and the same for all.
PARTS = 64


@lru_cache(maxsize=2048)
def prepare(kernel: Kernel) -> Runner:
    """Return a function that runs `kernel` over an argument list.

    Arguments are in the order of ``kernel.args``: flat arrays over whole storages, and scalars. Floating-point errors
    are ignored, as they are on a GPU; an index out of bounds is clamped and added to `host_text.failures`. The result
    does not depend on the number of threads.
    """
    steps = [_step(nest) for nest in nests(kernel)]

    if len(steps) == 1:
        return partial(quietly, steps[0])

    def run(args: Sequence[Any]) -> None:
        for step in steps:
            step(args)

    return partial(quietly, run)


def _step(nest: Nest) -> Runner:
    nest = ordered(nest)
    reduces = any(isinstance(i, ReduceLoops) for i in nest.body.instrs)
    if reduces and not needs_rows(nest):
        block, blocked = _blocks(nest, len(nest.shape))
        if any(nest.reduced[:blocked]):
            return _parts(nest, block, blocked)
    elif reduces or any(isinstance(i, ScanLoop) for i in nest.body.instrs):
        # Rows stay whole, so only the dimensions before them are cut; memory order left the reduced ones behind.
        block, blocked = _blocks(nest, nest.reduced.index(True) if any(nest.reduced) else len(nest.shape))
    else:
        block, blocked = _blocks(nest, len(nest.shape))
    return _straight(nest, block, blocked)


def _blocks(nest: Nest, dims: int) -> tuple[tuple[int, ...], int]:
    """The size of a block, and over how many leading dimensions (of `dims`) blocks are spread: none if one will do."""
    applied = any(isinstance(i, Apply) for i in nest.body.instrs)
    touched = max(1e-9, bytes_a_point(nest))
    room = BLOCK_BYTES * (1 if applied else _FEWER_BLOCKS)
    block, blocked = _spread(nest, dims, int(room / touched))
    if any(nest.reduced[:blocked]):
        block, blocked = _spread(nest, dims, int(_FEWER_BLOCKS * room / touched))
    return block, blocked


def _spread(nest: Nest, dims: int, points: int) -> tuple[tuple[int, ...], int]:
    """Blocks of about so many points."""
    points = max(BLOCK_POINTS, points)
    shape = nest.shape
    if nest.count <= 2 * points or not dims:
        return shape, 0
    last = next(d for d in range(len(shape)) if prod(shape[d + 1 :]) <= points or d == dims - 1)
    most = max(1, points // prod(shape[last + 1 :]))
    pieces = -(-shape[last] // most)
    return (1,) * last + (-(-shape[last] // pieces),) + shape[last + 1 :], last + 1


def _cut(shape: tuple[int, ...], block: tuple[int, ...], last: int) -> list[tuple[int, ...]]:
    """The sizes of full blocks and of those at the end of dimension `last`."""
    return [block, block[:last] + (shape[last] % block[last],) + block[last + 1 :]]


def _parallel(nest: Nest) -> bool:
    work = sum(isinstance(i, (Apply, ReduceLoops, ScanLoop)) for i in nest.body.instrs) + len(nest.body.stores)
    return nest.count * work >= PARALLEL_WORK and workers() > 1


def _straight(nest: Nest, block: tuple[int, ...], blocked: int) -> Runner:
    """A nest whose blocks know nothing of each other."""
    if not blocked:
        call = block_function(nest, block, 0)
        return call
    corners = grid(nest.shape, block, blocked)
    sizes = _cut(nest.shape, block, blocked - 1)
    parallel = _parallel(nest)
    pieces = []
    for lows, size in zip(corners, sizes, strict=True):
        if lows:
            call = block_function(nest, size, blocked)
            step = -(-len(lows) // (4 * workers())) if parallel else len(lows)
            pieces += [(call, lows[k : k + step]) for k in range(0, len(lows), step)]

    def run(args: Sequence[Any]) -> None:
        run_all([partial(call, args, lows) for call, lows in pieces], parallel)

    return run


def _parts(nest: Nest, block: tuple[int, ...], blocked: int) -> Runner:
    """Reductions of rows longer than a block: the states of parts, merged in order; then the row-level rest."""
    rest, reduces = finishing(nest)
    then = _step(rest)
    axes = tuple(d for d, flag in enumerate(nest.reduced) if flag)
    count = prod(nest.shape[d] for d in axes)
    instrs = [nest.body.instrs[i] for i in reduces]
    reducers = [reducer(i.op, i.loop, axes, count) for i in instrs]  # type: ignore[union-attr]
    dtypes = [i.loop[-1] for i in instrs]  # type: ignore[union-attr]
    outer = tuple(1 if flag else n for n, flag in zip(nest.shape, nest.reduced, strict=True))
    parallel = _parallel(nest)

    # Blocks of the same rows belong together; each group is cut into parts that any thread may take.
    groups: dict[tuple[int, ...], list[tuple[Any, list[tuple[int, ...]]]]] = {}
    for lows, size in zip(grid(nest.shape, block, blocked), _cut(nest.shape, block, blocked - 1), strict=True):
        if not lows:
            continue
        call = block_function(nest, size, blocked, partial=True)
        rows: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for low in lows:
            rows.setdefault(tuple(0 if nest.reduced[d] else n for d, n in enumerate(low)), []).append(low)
        for key, group in rows.items():
            step = -(-len(group) // max(1, PARTS // len(rows)))
            groups.setdefault(key, []).extend((call, group[k : k + step]) for k in range(0, len(group), step))

    def row_states(args: Sequence[Any], key: tuple[int, ...], into: list[Any], found: list[Any]) -> None:
        for k, rows in enumerate(reducers):
            state: State = found[0][k][0]
            for states in found[1:]:
                state = rows.merge(state, states[k][0])
            result = rows.finish(state, *found[0][k][1])
            place = tuple(slice(low, low + n) for low, n in zip(key, result.shape, strict=False))
            into[k][place] = result

    def run(args: Sequence[Any]) -> None:
        into = [numpy.empty(outer, dtype) for dtype in dtypes]
        found: dict[tuple[int, ...], list[Any]] = {key: [None] * len(parts) for key, parts in groups.items()}

        def part(key: tuple[int, ...], k: int) -> None:
            call, lows = groups[key][k]
            found[key][k] = call(args, lows)

        run_all([partial(part, key, k) for key, parts in groups.items() for k in range(len(parts))], parallel)
        for key, states in found.items():
            row_states(args, key, into, states)
        then([*args, *(array.reshape(-1) for array in into)])

    return run
