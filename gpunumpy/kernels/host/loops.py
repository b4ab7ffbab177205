"""Kernels on the CPU: NumPy calls over blocks that fit the cache, on all processors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from math import prod
from typing import Any

import numpy

from ...core.runtime.plan import Runner
from ...core.schedule.kernel import Apply, Kernel, ReduceLoops, ScanLoop
from .loop_nest import Nest, block_corners, bytes_per_point, needs_whole_rows, nests, ordered, row_level_rest
from .reduce import State, reducer
from .text import block_function
from .threads import quietly, run_all, workers

# Bytes of the cache that the arrays of one block may take, and the fewest points that are worth a NumPy call.
BLOCK_BYTES = 512 * 1024
MIN_BLOCK_POINTS = 12 * 1024
# Blocks are larger by this factor in a reduction, as merging the states of two blocks costs several calls, and in a
# kernel that only copies, as nothing is read again from the cache.
_LARGE_BLOCK_FACTOR = 4
# Loop points times operations from which threads are faster: between NumPy calls they take turns at the interpreter.
PARALLEL_WORK = 1 << 22
# Parts of a long reduction at most. The number does not depend on the number of threads, as the result's bits must not.
MAX_PARTS = 64


@lru_cache(maxsize=2048)
def prepare(kernel: Kernel) -> Runner:
    """Return a function that runs `kernel` over an argument list.

    Arguments are in the order of ``kernel.args``: flat arrays over whole storages, and scalars. Floating-point errors
    are ignored, as they are on a GPU. An index out of bounds is clamped and added to `text.index_errors`. The result
    does not depend on the number of threads.
    """
    steps = [_prepare_nest(nest) for nest in nests(kernel)]

    if len(steps) == 1:
        return partial(quietly, steps[0])

    def run(args: Sequence[Any]) -> None:
        for step in steps:
            step(args)

    return partial(quietly, run)


def _prepare_nest(nest: Nest) -> Runner:
    """Return a function that runs a nest."""
    nest = ordered(nest)
    reduces = any(isinstance(i, ReduceLoops) for i in nest.body.instructions)
    if reduces and not needs_whole_rows(nest):
        block, blocked = _choose_blocks(nest, len(nest.shape))
        if any(nest.reduced[:blocked]):
            return _prepare_partial_reductions(nest, block, blocked)
    elif reduces or any(isinstance(i, ScanLoop) for i in nest.body.instructions):
        # Rows stay whole, so only the dimensions before the reduced ones are cut; `memory_order` has put these last.
        block, blocked = _choose_blocks(nest, nest.reduced.index(True) if any(nest.reduced) else len(nest.shape))
    else:
        block, blocked = _choose_blocks(nest, len(nest.shape))
    return _prepare_independent_blocks(nest, block, blocked)


def _choose_blocks(nest: Nest, dims: int) -> tuple[tuple[int, ...], int]:
    """Return the shape of a block, and how many of the first `dims` dimensions are cut into blocks (0: one block)."""
    applied = any(isinstance(i, Apply) for i in nest.body.instructions)
    touched = max(1e-9, bytes_per_point(nest))
    budget = BLOCK_BYTES * (1 if applied else _LARGE_BLOCK_FACTOR)
    block, blocked = _blocks_of(nest, dims, int(budget / touched))
    if any(nest.reduced[:blocked]):
        block, blocked = _blocks_of(nest, dims, int(_LARGE_BLOCK_FACTOR * budget / touched))
    return block, blocked


def _blocks_of(nest: Nest, dims: int, points: int) -> tuple[tuple[int, ...], int]:
    """Return the shape of blocks of about `points` points, and how many of the first `dims` dimensions are cut."""
    points = max(MIN_BLOCK_POINTS, points)
    shape = nest.shape
    if nest.count <= 2 * points or not dims:
        return shape, 0
    last = next(d for d in range(len(shape)) if prod(shape[d + 1 :]) <= points or d == dims - 1)
    longest = max(1, points // prod(shape[last + 1 :]))
    pieces = -(-shape[last] // longest)
    return (1,) * last + (-(-shape[last] // pieces),) + shape[last + 1 :], last + 1


def _block_sizes(shape: tuple[int, ...], block: tuple[int, ...], last: int) -> list[tuple[int, ...]]:
    """Return the shapes of full blocks and of the blocks at the end of dimension `last`."""
    return [block, block[:last] + (shape[last] % block[last],) + block[last + 1 :]]


def _is_parallel(nest: Nest) -> bool:
    """Return whether the nest is worth several threads."""
    work = sum(isinstance(i, (Apply, ReduceLoops, ScanLoop)) for i in nest.body.instructions) + len(nest.body.stores)
    return nest.count * work >= PARALLEL_WORK and workers() > 1


def _prepare_independent_blocks(nest: Nest, block: tuple[int, ...], blocked: int) -> Runner:
    """Return a function that runs a nest whose blocks are independent."""
    if not blocked:
        call = block_function(nest, block, 0)
        return call
    corners = block_corners(nest.shape, block, blocked)
    sizes = _block_sizes(nest.shape, block, blocked - 1)
    parallel = _is_parallel(nest)
    pieces = []
    for lows, size in zip(corners, sizes, strict=True):
        if lows:
            call = block_function(nest, size, blocked)
            step = -(-len(lows) // (4 * workers())) if parallel else len(lows)
            pieces += [(call, lows[k : k + step]) for k in range(0, len(lows), step)]

    def run(args: Sequence[Any]) -> None:
        run_all([partial(call, args, lows) for call, lows in pieces], parallel)

    return run


def _prepare_partial_reductions(nest: Nest, block: tuple[int, ...], blocked: int) -> Runner:
    """Return a function that reduces rows longer than a block, and then runs the row-level rest.

    Each part of a row is reduced to a state, and the states of a row are merged in order.
    """
    rest, reduces = row_level_rest(nest)
    run_rest = _prepare_nest(rest)
    axes = tuple(d for d, flag in enumerate(nest.reduced) if flag)
    count = prod(nest.shape[d] for d in axes)
    instructions = [nest.body.instructions[i] for i in reduces]
    reducers = [reducer(i.op, i.loop, axes, count) for i in instructions]  # type: ignore[union-attr]
    dtypes = [i.loop[-1] for i in instructions]  # type: ignore[union-attr]
    outer = tuple(1 if flag else n for n, flag in zip(nest.shape, nest.reduced, strict=True))
    parallel = _is_parallel(nest)

    # Blocks of the same rows form a group; each group is cut into parts that any thread may take.
    groups: dict[tuple[int, ...], list[tuple[Any, list[tuple[int, ...]]]]] = {}
    for lows, size in zip(
        block_corners(nest.shape, block, blocked), _block_sizes(nest.shape, block, blocked - 1), strict=True
    ):
        if not lows:
            continue
        call = block_function(nest, size, blocked, partial=True)
        rows: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for low in lows:
            rows.setdefault(tuple(0 if nest.reduced[d] else n for d, n in enumerate(low)), []).append(low)
        for key, group in rows.items():
            step = -(-len(group) // max(1, MAX_PARTS // len(rows)))
            groups.setdefault(key, []).extend((call, group[k : k + step]) for k in range(0, len(group), step))

    def finish_rows(key: tuple[int, ...], results: list[Any], parts: list[Any]) -> None:
        """Merge the states of the parts of one group, and write the reduced values to `results`."""
        for k, rows in enumerate(reducers):
            state: State = parts[0][k][0]
            for states in parts[1:]:
                state = rows.merge(state, states[k][0])
            result = rows.finish(state, *parts[0][k][1])
            box = tuple(slice(low, low + n) for low, n in zip(key, result.shape, strict=False))
            results[k][box] = result

    def run(args: Sequence[Any]) -> None:
        results = [numpy.empty(outer, dtype) for dtype in dtypes]
        states_of: dict[tuple[int, ...], list[Any]] = {key: [None] * len(parts) for key, parts in groups.items()}

        def run_part(key: tuple[int, ...], k: int) -> None:
            call, lows = groups[key][k]
            states_of[key][k] = call(args, lows)

        run_all([partial(run_part, key, k) for key, parts in groups.items() for k in range(len(parts))], parallel)
        for key, parts in states_of.items():
            finish_rows(key, results, parts)
        run_rest([*args, *(array.reshape(-1) for array in results)])

    return run
