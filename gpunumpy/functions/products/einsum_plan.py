"""Plans of Einstein sums: subscripts to labels, and two operands to one kernel or one matrix product. Pure.

A label is a number: of a letter its code, of a dimension that an ellipsis stands for its place counted from the last
one, -1. Dimensions of size 1 have no label: they broadcast, and are put back at the end.
"""

from __future__ import annotations

import operator
import string
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import permutations, product
from math import prod
from typing import Any, NamedTuple

from ...core.graph.layout import Layout, Shape, c_strides, lies_by_lines

Labels = tuple[int, ...]


# --- subscripts -----------------------------------------------------------------------------------------------------

# NumPy's iterator takes 64 arrays, of which the result is one.
_MOST_OPERANDS = 63


class Sum(NamedTuple):
    """What is to be computed.

    Attributes
    ----------
    inputs
        For every operand, its labels and where their elements are, over the operand's C order: diagonals are taken.
    output, shape
        The labels of the result, those of size 1 too, and its shape.
    sums
        Whether the result lacks a label that an operand has, be it of size 1.
    """

    inputs: tuple[tuple[Labels, Layout], ...]
    output: Labels
    shape: Shape
    sums: bool


def subscripts_of(lists: Sequence[Sequence[Any]], output: Sequence[Any] | None) -> str:
    """The string of subscripts that sublists stand for."""
    text = ",".join(map(_letters, lists))
    return text if output is None else f"{text}->{_letters(output)}"


def _letters(sublist: Sequence[Any]) -> str:
    letters = string.ascii_uppercase + string.ascii_lowercase
    return "".join("..." if x is Ellipsis else letters[range(len(letters)).index(operator.index(x))] for x in sublist)


@lru_cache(4096)
def parse(subscripts: str, shapes: tuple[Shape, ...], loose: bool) -> Sum:
    """The sum that subscripts mean for operands of such shapes.

    `loose` allows what NumPy does where it looks for an order of contraction: an output without the ellipsis that the
    inputs have, blanks inside an arrow or an ellipsis, and any number of operands. A ValueError says that NumPy would
    refuse it, which has better words for that.
    """
    if len(shapes) > _MOST_OPERANDS and not loose:
        raise ValueError("too many operands")
    left, arrow, right = (subscripts.replace(" ", "") if loose else subscripts).partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise ValueError("not as many terms as operands")
    inputs = [_labels(term, len(shape)) for term, shape in zip(terms, shapes)]
    flat = [label for labels in inputs for label in labels]
    ellipsis = tuple(sorted(label for label in set(flat) if label < 0))
    if arrow:
        letters = right.replace("...", "").replace(" ", "")
        output = _labels(right, len(letters) + (len(ellipsis) if "..." in right else 0))
        unknown = set(output) - set(flat)
        if len(set(output)) < len(output) or unknown or not (loose or set(output) >= set(ellipsis)):
            raise ValueError("an output that the inputs do not have")
    else:
        output = (*ellipsis, *sorted(label for label in set(flat) if label >= 0 and flat.count(label) == 1))
    sizes: dict[int, int] = {}
    for labels, shape in zip(inputs, shapes):
        mine: dict[int, int] = {}
        for label, n in zip(labels, shape):
            if mine.setdefault(label, n) != n:
                raise ValueError("a diagonal of unequal sides")
        for label, n in mine.items():
            if n != 1 and sizes.get(label, 1) not in (1, n):
                raise ValueError("sizes that do not broadcast")
            sizes[label] = n if n != 1 else sizes.get(label, 1)
    diagonals = tuple(_diagonals(labels, shape) for labels, shape in zip(inputs, shapes))
    return Sum(diagonals, output, tuple(sizes[label] for label in output), not set(flat) <= set(output))


def _labels(term: str, ndim: int) -> Labels:
    head, dots, tail = (part.replace(" ", "") for part in term.partition("..."))
    letters = head + tail
    if not all(c in string.ascii_letters for c in letters) or len(letters) > ndim or (not dots and len(letters) < ndim):
        raise ValueError("subscripts that do not fit the operand")
    extra = tuple(range(len(letters) - ndim, 0))
    return (*map(ord, head), *extra, *map(ord, tail))


def _diagonals(labels: Labels, shape: Shape) -> tuple[Labels, Layout]:
    steps: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for label, n, stride in zip(labels, shape, c_strides(shape)):
        if n != 1:
            steps[label] = steps.get(label, 0) + stride
            sizes[label] = n
    return tuple(steps), Layout(tuple(sizes.values()), tuple(steps.values()), 0)


# --- two operands ---------------------------------------------------------------------------------------------------


class Operand(NamedTuple):
    """The labels of a value, their sizes, and the strides in memory."""

    labels: Labels
    sizes: Shape
    strides: tuple[int, ...]

    def by_stride(self, labels: Iterable[int]) -> Labels:
        """Some of its labels, the largest stride first."""
        place = dict(zip(self.labels, self.strides))
        return tuple(sorted(labels, key=lambda label: -abs(place[label])))

    def size(self, labels: Iterable[int]) -> int:
        """The number of elements along some of its labels."""
        sizes = dict(zip(self.labels, self.sizes))
        return prod(sizes[label] for label in labels)


class Look(NamedTuple):
    """How an operand is looked at: its axes in another order, as a `copy` or not, and in another shape."""

    order: tuple[int, ...]
    shape: Shape
    copy: bool = False


class Kernel(NamedTuple):
    """Both operands multiplied element by element, and summed over `axes`; `labels` are the result's."""

    left: Look
    right: Look
    axes: tuple[int, ...]
    labels: Labels


class Product(NamedTuple):
    """A product of stacked matrices, of the second operand with the first where `swapped`; the result's dimensions."""

    swapped: bool
    left: Look
    right: Look
    labels: Labels
    shape: Shape


# What things cost on a large GPU, roughly, in seconds: it is their relation that decides.
_BYTE = 1 / 3e12
_LAUNCH = 3e-6
_CALL = 4e-6  # of a product, which takes one for every part of a stack that is not one
# A multiplication and an addition, by the bytes of an element.
_MULTIPLY_ADD = {1: 1e-13, 2: 3e-15, 4: 5e-14, 8: 7e-14, 16: 2e-13}
# A tile of a matrix product: smaller matrices leave a part of the machine idle.
_TILE = 64


def are_tiny(count: int, sides: Iterable[int], itemsize: int) -> bool:
    """Whether a stack has so many so small matrices that BLAS, which takes some nanoseconds for each, is slow."""
    return count >= 1024 and max(sides) <= (16 if itemsize <= 2 else 8)


@lru_cache(4096)
def pair(a: Operand, b: Operand, wanted: Labels, itemsize: int, blas: bool = True) -> Kernel | Product:
    """How two operands become one.

    A matrix with a vector is a product of matrices only where what is summed does not lie along the matrix's memory: a
    kernel reads rows as fast as memory gives them. And many tiny matrices are quicker in a kernel.

    Parameters
    ----------
    wanted
        The labels that are needed afterwards, in the order that would be best. All others are in both operands.
    blas
        Whether BLAS has products of this dtype.
    """
    both = set(a.labels) & set(b.labels)
    inner = both - set(wanted)
    rows, columns = (set(x.labels) - both for x in (a, b))
    if not inner or not (rows or columns):
        return _kernel(a, b, inner, wanted)
    if not (rows and columns):
        matrix = a if rows else b
        if not blas or matrix.by_stride(matrix.labels)[-1] in inner:
            return _kernel(a, b, inner, wanted)
    sides = (a.size(rows), b.size(columns), a.size(inner))
    if are_tiny(a.size(both - inner), sides, itemsize):
        return _kernel(a, b, inner, wanted)
    return _product(a, b, both - inner, inner, rows, columns, wanted, itemsize)


def _kernel(a: Operand, b: Operand, inner: set[int], wanted: Labels) -> Kernel:
    large, small = (a, b) if prod(a.sizes) >= prod(b.sizes) else (b, a)
    if set(small.labels) <= set(large.labels):
        domain = large.by_stride(large.labels)
    else:
        # In the order that is wanted, but for the loop along memory, which is the innermost one of the result.
        outer = [x for x in wanted if x in {*a.labels, *b.labels}]
        along = [x for operand in (large, small) for x in operand.by_stride(operand.labels)[-1:] if x in outer]
        if inner and along and outer[-1] not in along:
            outer.remove(along[0])
            outer.append(along[0])
        domain = (*outer, *large.by_stride(inner))
    axes = tuple(k for k, label in enumerate(domain) if label in inner)
    return Kernel(_look(a, domain), _look(b, domain), axes, tuple(x for x in domain if x not in inner))


def _look(x: Operand, domain: Labels) -> Look:
    sizes = dict(zip(x.labels, x.sizes))
    order = tuple(x.labels.index(label) for label in domain if label in sizes)
    return Look(order, tuple(sizes.get(label, 1) for label in domain))


class _Side(NamedTuple):
    """One operand of a product, as stacked matrices: its own labels are `lead`, dimensions of the stack, and `own`."""

    lead: Labels
    own: Labels
    copy: bool
    steps: dict[int, int]  # the strides of the stack


def _sides(x: Operand, stack: Labels, own: Labels, inner: Labels) -> Iterator[_Side]:
    """The ways to read an operand: as it lies, in parts of its own labels; and after a copy."""
    sizes, steps = dict(zip(x.labels, x.sizes)), dict(zip(x.labels, x.strides))
    summed = list(_runs(inner, sizes, steps))
    if len(summed) == 1 and min(x.strides) >= 0:
        (_, length, step) = summed[0]
        runs = list(_runs(own, sizes, steps)) or [((), 1, 0)]
        for run in runs:
            labels, n, down = run
            if lies_by_lines((n, length), (down, step)):
                lead = tuple(label for other in runs if other is not run for label in other[0])
                yield _Side(lead, labels, False, steps)
    order = (*stack, *own, *inner)
    strides = c_strides(tuple(sizes[label] for label in order))
    yield _Side((), own, True, dict(zip(order, strides)))


def _runs(labels: Labels, sizes: dict[int, int], steps: dict[int, int]) -> Iterator[tuple[Labels, int, int]]:
    """The labels as few dimensions: of each its labels, size and stride."""
    start = 0
    for k in range(1, len(labels) + 1):
        if k == len(labels) or steps[labels[k - 1]] != steps[labels[k]] * sizes[labels[k]]:
            run = labels[start:k]
            yield run, prod(sizes[label] for label in run), steps[run[-1]]
            start = k


def _product(
    a: Operand,
    b: Operand,
    both: set[int],
    inner: set[int],
    rows: set[int],
    columns: set[int],
    wanted: Labels,
    unit: int,
) -> Product:
    """The cheapest way to one product of matrices: `both` are the labels of the stack, and `inner` is summed."""
    found: list[tuple[float, int, Product]] = []
    sizes = dict(zip((*a.labels, *b.labels), (*a.sizes, *b.sizes)))
    for swapped, (x, y, m, n) in enumerate(((a, b, rows, columns), (b, a, columns, rows))):
        stacks = set(permutations(sorted(both))) if len(both) <= 3 else {x.by_stride(both), y.by_stride(both)}
        orders = product(
            stacks,
            {x.by_stride(inner), y.by_stride(inner)},
            {x.by_stride(m), tuple(label for label in wanted if label in m)},
            {y.by_stride(n), tuple(label for label in wanted if label in n)},
        )
        for stack, summed, down, across in orders:
            for left, right in product(_sides(x, stack, down, summed), _sides(y, stack, across, summed)):
                for batch in {(*stack, *left.lead, *right.lead), (*left.lead, *right.lead, *stack)}:
                    labels = (*batch, *left.own, *right.own)
                    cost = _cost(x, y, left, right, batch, sizes, unit) + 1e-8 * (labels != wanted)
                    made = Product(
                        bool(swapped),
                        _matrices(x, batch, left.copy, left.own, summed),
                        _matrices(y, batch, right.copy, summed, right.own),
                        labels,
                        tuple(sizes[label] for label in labels),
                    )
                    found.append((cost, len(found), made))
    return min(found)[-1]


def _matrices(x: Operand, batch: Labels, copy: bool, *parts: Labels) -> Look:
    stack = _look(x, batch)
    order = (*stack.order, *(x.labels.index(label) for part in parts for label in part))
    return Look(order, (*stack.shape, *map(x.size, parts)), copy)


def _cost(x: Operand, y: Operand, left: _Side, right: _Side, batch: Labels, sizes: dict[int, int], unit: int) -> float:
    """About how long a product takes, with its copies."""
    copied = [prod(side.sizes) for side, way in ((x, left), (y, right)) if way.copy]
    m, n = (prod(sizes[label] for label in way.own) for way in (left, right))
    used = min(1.0, m / _TILE) * min(1.0, n / _TILE)
    work = prod(sizes.values()) * _MULTIPLY_ADD[unit] / used
    return sum(2 * unit * _BYTE * size + _LAUNCH for size in copied) + _CALL * _calls(left, right, batch, sizes) + work


def _calls(left: _Side, right: _Side, batch: Labels, sizes: dict[int, int]) -> int:
    """How many calls a stack takes: one runs along the last dimensions, as far as they are one in both operands."""
    last = len(batch) - 1
    while last > 0 and all(
        way.steps.get(batch[last - 1], 0) == way.steps.get(batch[last], 0) * sizes[batch[last]] for way in (left, right)
    ):
        last -= 1
    return prod(sizes[label] for label in batch[: max(last, 0)])
