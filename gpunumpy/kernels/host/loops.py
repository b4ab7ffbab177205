"""Kernels on the CPU: NumPy calls over blocks that fit the cache, on all processors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from math import prod
from typing import Any, TypeAlias

import numpy

from ...core.dtypes import DType
from ...core.helpers import workers
from ...core.runtime.plan import Runner
from ...core.schedule.kernel import Apply, Kernel, LoadIndexed, ReduceLoops, ScanLoop
from ...core.schedule.sizes import Formulas, Trace
from ..codegen.op_code import is_long
from .loop_nest import (
    Nest,
    block_corners,
    bytes_per_point,
    nests,
    ordered,
    row_level_rest,
    widest_item,
)
from .reduce import Reducer, State, reducer
from .text import block_function
from .threads import Each, quietly, run_all

# Bytes of the cache that the arrays of one block may take, and the fewest bytes of an operand that are worth a NumPy
# call: NumPy takes as long to begin as for some ten KB, whatever the size of an item.
BLOCK_BYTES = 512 * 1024
MIN_OPERAND_BYTES = 96 * 1024
# The most points of one, where little is read for each: no signal is seen before a NumPy call ends.
MAX_BLOCK_POINTS = 1 << 24
# Blocks are larger by this factor in a reduction, as merging the states of two blocks costs several calls, and by the
# next one in a kernel that only copies: nothing is read again from the cache, and large copies go around it.
_LARGE_BLOCK_FACTOR = 4
_COPIED_BLOCK_FACTOR = 16
# Loop points times operations from which threads are faster: between NumPy calls they take turns at the interpreter.
PARALLEL_WORK = 1 << 22
# Parts of a long reduction at most. The number does not depend on the number of threads, as the result's bits must not.
MAX_PARTS = 64


# What takes the numbers of a kernel's formulas, and returns what runs a nest of it.
_Maker: TypeAlias = Callable[[Sequence[int]], Runner]


class SizedKernel:
    """A kernel for all sizes of a class: its loop nests, and formulas for the numbers in them.

    Parameters
    ----------
    kernel : Kernel
        What to run. Its sizes may be symbolic.
    trace : Trace
        What the sizes belong to.
    """

    def __init__(self, kernel: Kernel, trace: Trace) -> None:
        formulas = Formulas(trace)
        self._nests = [_prepare_nest(nest, formulas) for nest in nests(kernel)]
        self._numbers = formulas.numbers()

    def at(self, values: Sequence[int]) -> Runner:
        """Return a function that runs the kernel over an argument list, for values of the trace's symbols.

        Arguments are in the order of ``kernel.args``: flat arrays over whole storages, and scalars. Floating-point
        errors are ignored, as they are on a GPU. An index out of bounds is clamped and added to `index_errors`.
        The result does not depend on the number of threads.
        """
        numbers = self._numbers(values)
        steps = [make(numbers) for make in self._nests]
        if len(steps) == 1:
            return partial(quietly, steps[0])

        def run(args: Sequence[Any]) -> None:
            for step in steps:
                step(args)

        return partial(quietly, run)


def _prepare_nest(nest: Nest, formulas: Formulas) -> _Maker:
    """Return what makes a function that runs a nest."""
    nest = ordered(nest)
    reduces = any(isinstance(i, ReduceLoops) for i in nest.body.instructions)
    if reduces and not nest.needs_whole_rows:
        block, blocked = _choose_blocks(nest, len(nest.shape), formulas.trace)
        if any(nest.reduced[:blocked]):
            return _prepare_partial_reductions(nest, block, blocked, formulas)
    elif reduces or any(isinstance(i, ScanLoop) for i in nest.body.instructions):
        # Rows stay whole, so only the dimensions before the reduced ones are cut; `memory_order` has put these last.
        dims = nest.reduced.index(True) if any(nest.reduced) else len(nest.shape)
        block, blocked = _choose_blocks(nest, dims, formulas.trace)
    else:
        block, blocked = _choose_blocks(nest, len(nest.shape), formulas.trace)
    return _prepare_independent_blocks(nest, block, blocked, formulas)


def _choose_blocks(nest: Nest, dims: int, trace: Trace) -> tuple[tuple[int, ...], int]:
    """Return the shape of a block, and how many of the first `dims` dimensions are cut into blocks (0: one block).

    Of a nest with symbolic sizes the length of a block is a function of these, so that it is what it would be without.
    """
    min_points = max(1, MIN_OPERAND_BYTES // widest_item(nest))
    if not dims or nest.count <= 2 * min_points:
        return nest.shape, 0
    blocks_at = _blocks_at(nest, dims, min_points)

    def block_length(*shape: int) -> int:
        return blocks_at(shape)[0]

    def cut_dims(*shape: int) -> int:
        return blocks_at(shape)[1]

    blocked = int(trace.call(cut_dims, *nest.shape, bound=0))
    if not blocked:
        return nest.shape, 0
    length = trace.call(block_length, *nest.shape, bound=1)
    return (1,) * (blocked - 1) + (length,) + nest.shape[blocked:], blocked  # type: ignore[return-value]


def _blocks_at(nest: Nest, dims: int, min_points: int) -> Callable[[tuple[int, ...]], tuple[int, int]]:
    """Return what takes a shape in numbers, and returns the length of a block and how many dimensions are cut.

    The length is that along the last dimension which is cut; see `_choose_blocks`. A block has at least `min_points`.
    """

    def blocks_of(shape: tuple[int, ...], points: float) -> tuple[int, int]:
        return _blocks_of(shape, dims, min(max(min_points, int(points)), MAX_BLOCK_POINTS))

    touched_at = bytes_per_point(nest)
    factor = _LARGE_BLOCK_FACTOR if any(nest.reduced) else _COPIED_BLOCK_FACTOR
    budget = BLOCK_BYTES * (1 if _computes_points(nest) else factor)

    @lru_cache(1)
    def blocks_at(shape: tuple[int, ...]) -> tuple[int, int]:
        touched = max(1e-9, touched_at(shape))
        length, blocked = blocks_of(shape, budget / touched)
        if any(nest.reduced[:blocked]):
            length, blocked = blocks_of(shape, _LARGE_BLOCK_FACTOR * budget / touched)
        elif blocked and not any(nest.reduced):
            length = _even_length(shape[blocked - 1], length)
        return length, blocked

    return blocks_at


def _computes_points(nest: Nest) -> bool:
    """Return whether something is computed, or read by index, for each point: not for runs of points, which are copied.

    Blocks of reductions are as small where anything is computed, as the bits of their results are those of the blocks.
    """
    for i in nest.needed.difference(nest.range_loads):
        instr, mask = nest.body.instructions[i], nest.varying[i]
        if isinstance(instr, LoadIndexed):
            mask = frozenset().union(*(nest.varying[k] for k in nest.operands[i]))
        if isinstance(instr, (Apply, LoadIndexed)) and (any(nest.reduced) or len(mask) == len(nest.shape)):
            return True
    return False


def _blocks_of(shape: tuple[int, ...], dims: int, points: int) -> tuple[int, int]:
    """Return the same for blocks of about `points` points."""
    if prod(shape) <= 2 * points:
        return 1, 0
    last = next(d for d in range(len(shape)) if prod(shape[d + 1 :]) <= points or d == dims - 1)
    longest = max(1, points // prod(shape[last + 1 :]))
    pieces = -(-shape[last] // longest)
    return -(-shape[last] // pieces), last + 1


def _even_length(n: int, length: int) -> int:
    """Return a slightly smaller length that divides `n`, so that there is no shorter block; else the same length."""
    pieces = -(-n // length)
    return next((n // p for p in range(pieces, pieces + pieces // 4 + 1) if n % p == 0), length)


def _block_sizes(shape: tuple[int, ...], block: tuple[int, ...], last: int) -> list[tuple[int, ...]]:
    """Return the shapes of full blocks and of the blocks at the end of dimension `last`."""
    return [block, block[:last] + (shape[last] % block[last],) + block[last + 1 :]]


def _is_parallel(nest: Nest) -> bool:
    """Return whether the nest is worth several threads: what is computed for each row is little work beside points.

    Windows of rolled arrays are made by Python, at which threads take turns: beside short operations alone one thread
    takes less time than two.
    """
    ndim = len(nest.shape)
    work = sum(
        isinstance(nest.body.instructions[i], (ReduceLoops, ScanLoop))
        or (isinstance(nest.body.instructions[i], Apply) and len(nest.varying[i]) == ndim)
        for i in nest.needed
    )
    work += sum(all(store.at.coef) for store in nest.body.stores)
    if nest.count * work < PARALLEL_WORK or workers() == 1:
        return False
    applied = [instr for i in nest.needed if isinstance(instr := nest.body.instructions[i], Apply)]
    return not nest.range_loads or any(is_long(instr.op, instr.loop) for instr in applied)


class _Blocks:
    """The blocks of a nest, as numbers: low corners of the full ones, and of those at the end, with a function each."""

    def __init__(
        self, nest: Nest, block: tuple[int, ...], blocked: int, formulas: Formulas, partial: bool = False
    ) -> None:
        self.blocked = blocked
        self._shape = [formulas.add(n) for n in nest.shape]
        self._length = formulas.add(block[blocked - 1])
        full, rest = _block_sizes(nest.shape, block, blocked - 1)
        sizes = [full] if type(rest[blocked - 1]) is int and not rest[blocked - 1] else [full, rest]
        self._functions = [block_function(nest, size, blocked, formulas, partial) for size in sizes]

    def shape(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of the nest."""
        return tuple([numbers[place] for place in self._shape])

    def at(self, numbers: Sequence[int]) -> list[tuple[Callable[..., Any], list[tuple[int, ...]]]]:
        """Return the functions, and the corners that each runs over."""
        shape, last = self.shape(numbers), self.blocked - 1
        block = (1,) * last + (numbers[self._length],) + shape[last + 1 :]
        pairs = zip(self._functions, block_corners(shape, block, self.blocked), strict=False)
        return [(make(numbers), lows) for make, lows in pairs if lows]


def _prepare_independent_blocks(nest: Nest, block: tuple[int, ...], blocked: int, formulas: Formulas) -> _Maker:
    """Return what makes a function that runs a nest whose blocks are independent."""
    if not blocked:
        return block_function(nest, block, 0, formulas)
    blocks = _Blocks(nest, block, blocked, formulas)
    parallel = _is_parallel(nest)

    def make(numbers: Sequence[int]) -> Runner:
        pieces = []
        for call, lows in blocks.at(numbers):
            step = -(-len(lows) // (4 * workers())) if parallel else len(lows)
            pieces += [(call, lows[k : k + step]) for k in range(0, len(lows), step)]

        def run(args: Sequence[Any]) -> None:
            run_all([partial(_run_piece, call, args, lows) for call, lows in pieces], parallel)

        return run

    return make


def _run_piece(call: Callable[..., Any], args: Sequence[Any], lows: Sequence[tuple[int, ...]], each: Each) -> None:
    """Run the blocks of a piece of work."""
    call(args, each(lows))


def _prepare_partial_reductions(nest: Nest, block: tuple[int, ...], blocked: int, formulas: Formulas) -> _Maker:
    """Return what makes a function that reduces rows longer than a block, and then runs the row-level rest.

    Each part of a row is reduced to a state, and the states of a row are merged in order.
    """
    rest, reduces, used = row_level_rest(nest)
    make_rest = _prepare_nest(rest, formulas)
    blocks = _Blocks(nest, block, blocked, formulas, partial=True)
    axes = tuple(d for d, flag in enumerate(nest.reduced) if flag)
    instructions = [nest.body.instructions[i] for i in reduces]
    parallel = _is_parallel(nest)

    def make(numbers: Sequence[int]) -> Runner:
        shape = blocks.shape(numbers)
        count = prod(shape[d] for d in axes)
        reducers = [reducer(i.op, i.loop, axes, count) for i in instructions]  # type: ignore[union-attr]
        outer = tuple(1 if flag else n for n, flag in zip(shape, nest.reduced, strict=True))
        results = [(outer, i.loop[-1]) for i in instructions]  # type: ignore[union-attr]
        groups, run_rest = _row_groups(nest, blocks.at(numbers)), make_rest(numbers)
        return _reduce_in_parts(groups, reducers, results, run_rest, used, parallel)

    return make


# A function that computes states of blocks, with the low corners of the blocks: a part of a group of rows.
_Part: TypeAlias = tuple[Callable[..., Any], list[tuple[int, ...]]]


def _row_groups(nest: Nest, blocks: Sequence[_Part]) -> dict[tuple[int, ...], list[_Part]]:
    """Return groups of blocks of the same rows, by the corner of these, cut into parts that any thread may take."""
    groups: dict[tuple[int, ...], list[_Part]] = {}
    for call, lows in blocks:
        rows: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for low in lows:
            rows.setdefault(tuple(0 if nest.reduced[d] else n for d, n in enumerate(low)), []).append(low)
        for key, group in rows.items():
            step = -(-len(group) // max(1, MAX_PARTS // len(rows)))
            groups.setdefault(key, []).extend((call, group[k : k + step]) for k in range(0, len(group), step))
    return groups


def _reduce_in_parts(
    groups: dict[tuple[int, ...], list[_Part]],
    reducers: Sequence[Reducer],
    outputs: Sequence[tuple[tuple[int, ...], DType]],
    run_rest: Runner,
    used: Sequence[int],
    parallel: bool,
) -> Runner:
    """Return what runs the parts of groups of rows, merges their states, and runs the rest over the results.

    The arguments of the rest are those of the numbers `used`, and the results.
    """

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
        results = [numpy.empty(shape, dtype) for shape, dtype in outputs]
        states_of: dict[tuple[int, ...], list[Any]] = {key: [None] * len(parts) for key, parts in groups.items()}

        def run_part(key: tuple[int, ...], k: int, each: Each) -> None:
            call, lows = groups[key][k]
            states_of[key][k] = call(args, each(lows))

        run_all([partial(run_part, key, k) for key, parts in groups.items() for k in range(len(parts))], parallel)
        for key, parts in states_of.items():
            finish_rows(key, results, parts)
        run_rest([*[args[k] for k in used], *[array.reshape(-1) for array in results]])

    return run
