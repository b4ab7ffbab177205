"""Plans of Einstein sums: subscripts to labels, and two operands to one kernel or one matrix product. Pure functions.

A label is a number: the code of a letter; for a dimension that an ellipsis stands for, its place counted from the last
such dimension, which is -1. Dimensions of size 1 have no label: they broadcast, and are put back at the end.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import permutations, product
from math import prod
from typing import Any, NamedTuple

from ...core.graph.layout import Layout, Shape, c_strides, is_blas_readable

Labels = tuple[int, ...]


# --- subscripts -----------------------------------------------------------------------------------------------------

# NumPy's iterator takes 64 arrays, one of them the result.
_MAX_OPERANDS = 63
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Sum(NamedTuple):
    """A parsed sum.

    Attributes
    ----------
    inputs
        For every operand its labels, and a layout of their elements over its C order: that of a diagonal for a repeated
        label.
    output, shape
        The labels of the result, those of size 1 included, and its shape.
    sums
        True if the result lacks a label that an operand has, even one of size 1.
    """

    inputs: tuple[tuple[Labels, Layout], ...]
    output: Labels
    shape: Shape
    sums: bool


def subscripts_of(lists: Sequence[Sequence[Any]], output: Sequence[Any] | None) -> str:
    """Return the subscripts string that sublists stand for."""
    text = ",".join(map(_letters, lists))
    return text if output is None else f"{text}->{_letters(output)}"


def _letters(sublist: Sequence[Any]) -> str:
    """Return the subscripts of one operand that a sublist stands for."""
    return "".join("..." if x is Ellipsis else _LETTERS[range(len(_LETTERS)).index(operator.index(x))] for x in sublist)


@lru_cache(4096)
def parse(subscripts: str, shapes: tuple[Shape, ...], is_optimized: bool) -> Sum:
    """Return the sum that subscripts denote for operands of these shapes.

    `is_optimized` allows what NumPy accepts if it looks for an order of contraction: an output without the ellipsis
    that the inputs have, blanks inside an arrow or an ellipsis, and any number of operands. Raise `ValueError` if NumPy
    would refuse the subscripts; the caller takes the message from NumPy.
    """
    if len(shapes) > _MAX_OPERANDS and not is_optimized:
        raise ValueError("too many operands")
    left, arrow, right = (subscripts.replace(" ", "") if is_optimized else subscripts).partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise ValueError("not as many terms as operands")
    inputs = [_labels(term, len(shape)) for term, shape in zip(terms, shapes)]
    all_labels = [label for labels in inputs for label in labels]
    ellipsis = tuple(sorted(label for label in set(all_labels) if label < 0))
    if arrow:
        letters = right.replace("...", "").replace(" ", "")
        output = _labels(right, len(letters) + (len(ellipsis) if "..." in right else 0))
        unknown = set(output) - set(all_labels)
        if len(set(output)) < len(output) or unknown or not (is_optimized or set(output) >= set(ellipsis)):
            raise ValueError("an output that the inputs do not have")
    else:
        output = (*ellipsis, *sorted(label for label in set(all_labels) if label >= 0 and all_labels.count(label) == 1))
    sizes: dict[int, int] = {}
    for labels, shape in zip(inputs, shapes):
        own_sizes: dict[int, int] = {}
        for label, n in zip(labels, shape):
            if own_sizes.setdefault(label, n) != n:
                raise ValueError("a diagonal of unequal sides")
        for label, n in own_sizes.items():
            if n != 1 and sizes.get(label, 1) not in (1, n):
                raise ValueError("sizes that do not broadcast")
            sizes[label] = n if n != 1 else sizes.get(label, 1)
    diagonals = tuple(_diagonals(labels, shape) for labels, shape in zip(inputs, shapes))
    return Sum(diagonals, output, tuple(sizes[label] for label in output), not set(all_labels) <= set(output))


def _labels(term: str, ndim: int) -> Labels:
    """Return the labels of one term's dimensions."""
    head, dots, tail = (part.replace(" ", "") for part in term.partition("..."))
    letters = head + tail
    if not all(c in _LETTERS for c in letters) or len(letters) > ndim or (not dots and len(letters) < ndim):
        raise ValueError("subscripts that do not fit the operand")
    ellipsis_labels = tuple(range(len(letters) - ndim, 0))
    return (*map(ord, head), *ellipsis_labels, *map(ord, tail))


def _diagonals(labels: Labels, shape: Shape) -> tuple[Labels, Layout]:
    """Return the different labels of an operand without those of size 1, and the layout of their elements."""
    strides: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for label, n, stride in zip(labels, shape, c_strides(shape)):
        if n != 1:
            strides[label] = strides.get(label, 0) + stride
            sizes[label] = n
    return tuple(strides), Layout(tuple(sizes.values()), tuple(strides.values()), 0)


# --- two operands ---------------------------------------------------------------------------------------------------


class Operand(NamedTuple):
    """The labels of a value, their sizes, and their strides in memory."""

    labels: Labels
    sizes: Shape
    strides: tuple[int, ...]

    def by_stride(self, labels: Iterable[int]) -> Labels:
        """Return some of the operand's labels, the largest stride first."""
        stride_of = dict(zip(self.labels, self.strides))
        return tuple(sorted(labels, key=lambda label: -abs(stride_of[label])))

    def size(self, labels: Iterable[int]) -> int:
        """Return the number of elements along some of the operand's labels."""
        sizes = dict(zip(self.labels, self.sizes))
        return prod(sizes[label] for label in labels)


class Arrangement(NamedTuple):
    """How an operand is read: its axes in another order, then a `copy` or none, then another shape."""

    order: tuple[int, ...]
    shape: Shape
    copy: bool = False


class Kernel(NamedTuple):
    """Both operands multiplied element by element, and summed over `axes`; `labels` are the result's."""

    left: Arrangement
    right: Arrangement
    axes: tuple[int, ...]
    labels: Labels


class Product(NamedTuple):
    """A product of stacked matrices, with the labels and the shape of its result.

    `swapped`: the second operand of the pair is the left matrix.
    """

    swapped: bool
    left: Arrangement
    right: Arrangement
    labels: Labels
    shape: Shape


# Rough costs on a large GPU, in seconds. Their ratios decide.
_SECONDS_PER_BYTE = 1 / 3e12
_LAUNCH_S = 3e-6
_CALL_S = 4e-6  # of one library call of a product, which may take several for a stack
# One multiplication and addition, by the bytes of an element.
_MULTIPLY_ADD_S = {1: 1e-13, 2: 3e-15, 4: 5e-14, 8: 7e-14, 16: 2e-13}
# Elements along a side of a tile of a matrix product: smaller matrices leave a part of the GPU idle.
_TILE_SIDE = 64


def are_tiny(count: int, sides: Iterable[int], itemsize: int) -> bool:
    """Return True for a stack of many tiny matrices: BLAS is slow, as it takes some nanoseconds for each of them."""
    return count >= 1024 and max(sides) <= (16 if itemsize <= 2 else 8)


@lru_cache(4096)
def plan_pair(a: Operand, b: Operand, wanted: Labels, itemsize: int, has_blas: bool = True) -> Kernel | Product:
    """Return how two operands become one.

    A product of a matrix and a vector is planned as a matrix product only if the summed label does not lie along the
    matrix's memory: a kernel reads rows as fast as the memory allows. Many tiny matrices are faster in a kernel too.

    Parameters
    ----------
    wanted
        The labels that are needed afterwards, in the order that would be best. All other labels are in both operands.
    has_blas
        True if BLAS has products of this dtype.
    """
    shared = set(a.labels) & set(b.labels)
    summed = shared - set(wanted)
    rows, columns = (set(x.labels) - shared for x in (a, b))
    if not summed or not (rows or columns):
        return _kernel(a, b, summed, wanted)
    if not (rows and columns):
        matrix = a if rows else b
        if not has_blas or matrix.by_stride(matrix.labels)[-1] in summed:
            return _kernel(a, b, summed, wanted)
    sides = (a.size(rows), b.size(columns), a.size(summed))
    if are_tiny(a.size(shared - summed), sides, itemsize):
        return _kernel(a, b, summed, wanted)
    return _cheapest_product(a, b, shared - summed, summed, rows, columns, wanted, itemsize)


def _kernel(a: Operand, b: Operand, summed: set[int], wanted: Labels) -> Kernel:
    """Return the plan of a kernel that sums over the labels `summed`."""
    large, small = (a, b) if prod(a.sizes) >= prod(b.sizes) else (b, a)
    if set(small.labels) <= set(large.labels):
        domain = large.by_stride(large.labels)
    else:
        # In the wanted order, except that a label contiguous in memory comes last, as the innermost loop of the result.
        kept = [x for x in wanted if x in {*a.labels, *b.labels}]
        contiguous = [x for operand in (large, small) for x in operand.by_stride(operand.labels)[-1:] if x in kept]
        if summed and contiguous and kept[-1] not in contiguous:
            kept.remove(contiguous[0])
            kept.append(contiguous[0])
        domain = (*kept, *large.by_stride(summed))
    axes = tuple(k for k, label in enumerate(domain) if label in summed)
    return Kernel(_arrangement(a, domain), _arrangement(b, domain), axes, tuple(x for x in domain if x not in summed))


def _arrangement(x: Operand, domain: Labels) -> Arrangement:
    """Return the arrangement of an operand over the labels `domain`, of which those that it lacks have size 1."""
    sizes = dict(zip(x.labels, x.sizes))
    order = tuple(x.labels.index(label) for label in domain if label in sizes)
    return Arrangement(order, tuple(sizes.get(label, 1) for label in domain))


class _MatrixOperand(NamedTuple):
    """One operand of a product, as stacked matrices.

    Of the labels that the other operand lacks, `stacked` are dimensions of the stack, and `own` are a side of the
    matrices. `stack_strides` maps labels, those of the stack among them, to strides.
    """

    stacked: Labels
    own: Labels
    copy: bool
    stack_strides: dict[int, int]


def _matrix_operands(x: Operand, stack: Labels, own: Labels, summed: Labels) -> Iterator[_MatrixOperand]:
    """Yield the ways to read an operand as matrices: in place, with each run of its own labels as a side, or copied."""
    sizes, strides = dict(zip(x.labels, x.sizes)), dict(zip(x.labels, x.strides))
    summed_runs = list(_merged_dimensions(summed, sizes, strides))
    if len(summed_runs) == 1 and min(x.strides) >= 0:
        (_, length, stride) = summed_runs[0]
        runs = list(_merged_dimensions(own, sizes, strides)) or [((), 1, 0)]
        for run in runs:
            labels, size, row_stride = run
            if is_blas_readable((size, length), (row_stride, stride)):
                stacked = tuple(label for other in runs if other is not run for label in other[0])
                yield _MatrixOperand(stacked, labels, False, strides)
    order = (*stack, *own, *summed)
    copy_strides = c_strides(tuple(sizes[label] for label in order))
    yield _MatrixOperand((), own, True, dict(zip(order, copy_strides)))


def _merged_dimensions(
    labels: Labels, sizes: dict[int, int], strides: dict[int, int]
) -> Iterator[tuple[Labels, int, int]]:
    """Yield the labels merged to as few dimensions as strides allow: of each its labels, size and stride."""
    start = 0
    for k in range(1, len(labels) + 1):
        if k == len(labels) or strides[labels[k - 1]] != strides[labels[k]] * sizes[labels[k]]:
            run = labels[start:k]
            yield run, prod(sizes[label] for label in run), strides[run[-1]]
            start = k


def _cheapest_product(
    a: Operand,
    b: Operand,
    shared: set[int],
    summed_labels: set[int],
    rows: set[int],
    columns: set[int],
    wanted: Labels,
    itemsize: int,
) -> Product:
    """Return the cheapest product of matrices, stacked along the labels `shared`, summed over `summed_labels`."""
    candidates: list[tuple[float, int, Product]] = []
    sizes = dict(zip((*a.labels, *b.labels), (*a.sizes, *b.sizes)))
    for swapped, (x, y, m, n) in enumerate(((a, b, rows, columns), (b, a, columns, rows))):
        stacks = set(permutations(sorted(shared))) if len(shared) <= 3 else {x.by_stride(shared), y.by_stride(shared)}
        orders = product(
            stacks,
            {x.by_stride(summed_labels), y.by_stride(summed_labels)},
            {x.by_stride(m), tuple(label for label in wanted if label in m)},
            {y.by_stride(n), tuple(label for label in wanted if label in n)},
        )
        for stack, summed, row_labels, column_labels in orders:
            for left, right in product(
                _matrix_operands(x, stack, row_labels, summed), _matrix_operands(y, stack, column_labels, summed)
            ):
                for batch in {(*stack, *left.stacked, *right.stacked), (*left.stacked, *right.stacked, *stack)}:
                    labels = (*batch, *left.own, *right.own)
                    cost = _estimated_seconds(x, y, left, right, batch, sizes, itemsize) + 1e-8 * (labels != wanted)
                    candidate = Product(
                        bool(swapped),
                        _matrix_arrangement(x, batch, left.copy, left.own, summed),
                        _matrix_arrangement(y, batch, right.copy, summed, right.own),
                        labels,
                        tuple(sizes[label] for label in labels),
                    )
                    candidates.append((cost, len(candidates), candidate))
    return min(candidates)[-1]


def _matrix_arrangement(x: Operand, batch: Labels, copy: bool, *parts: Labels) -> Arrangement:
    """Return the arrangement of an operand as a stack of matrices, whose two sides are the labels `parts`."""
    stack = _arrangement(x, batch)
    order = (*stack.order, *(x.labels.index(label) for part in parts for label in part))
    return Arrangement(order, (*stack.shape, *map(x.size, parts)), copy)


def _estimated_seconds(
    x: Operand,
    y: Operand,
    left: _MatrixOperand,
    right: _MatrixOperand,
    batch: Labels,
    sizes: dict[int, int],
    itemsize: int,
) -> float:
    """Return a rough estimate of how long a product takes, with the copies that it needs."""
    copied_sizes = [prod(operand.sizes) for operand, side in ((x, left), (y, right)) if side.copy]
    m, n = (prod(sizes[label] for label in side.own) for side in (left, right))
    busy_share = min(1.0, m / _TILE_SIDE) * min(1.0, n / _TILE_SIDE)
    work = prod(sizes.values()) * _MULTIPLY_ADD_S[itemsize] / busy_share
    return (
        sum(2 * itemsize * _SECONDS_PER_BYTE * size + _LAUNCH_S for size in copied_sizes)
        + _CALL_S * _library_call_count(left, right, batch, sizes)
        + work
    )


def _library_call_count(left: _MatrixOperand, right: _MatrixOperand, batch: Labels, sizes: dict[int, int]) -> int:
    """Return how many library calls a stack takes.

    A call covers the last dimensions of the stack as far as both operands can merge them.
    """
    last = len(batch) - 1
    while last > 0 and all(
        side.stack_strides.get(batch[last - 1], 0) == side.stack_strides.get(batch[last], 0) * sizes[batch[last]]
        for side in (left, right)
    ):
        last -= 1
    return prod(sizes[label] for label in batch[: max(last, 0)])
