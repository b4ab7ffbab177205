"""The records of what moves, sorts, counts and folds elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...dtypes import FLOAT64, INT64
from ..signature import Signature
from .record import FloatingErrors, Implementation, Record, Results, by_program

# --- results --------------------------------------------------------------------------------------------------------


def _same(options: Any, args: Sequence[Signature]) -> Results:
    return ((args[0].shape, args[0].dtype),)


def _positions(options: Any, args: Sequence[Signature]) -> Results:
    """A position for each element of the last argument."""
    return ((args[-1].shape, INT64),)


def _histogram(options: tuple[bool, Any], args: Sequence[Signature]) -> Results:
    """Counts, or sums of weights, of values between edges; whether the bins are uniform, and then their width."""
    uniform, _ = options
    edges, weighted = args[1], len(args) > 2 + uniform
    return (((edges.shape[0] - 1,), FLOAT64 if weighted else INT64),)


def _mask_offsets(options: tuple[int], args: Sequence[Signature]) -> Results:
    """How many elements are picked before each tile of so many elements, and of all."""
    (tile,), (mask,) = options, args
    return (((-(-prod(mask.shape) // tile) + 1,), INT64),)


# Of the three folds the options are the op, its loop and the axis.


def _fold(options: tuple[str, Any, int], args: Sequence[Signature]) -> Results:
    (_, loop, axis), shape = options, args[0].shape
    return ((shape[:axis] + shape[axis + 1 :], loop[-1]),)


def _accumulate(options: tuple[str, Any, int], args: Sequence[Signature]) -> Results:
    return ((args[0].shape, options[1][-1]),)


def _reduceat(options: tuple[str, Any, int], args: Sequence[Signature]) -> Results:
    (_, loop, axis), (x, starts) = options, args
    return ((x.shape[:axis] + starts.shape + x.shape[axis + 1 :], loop[-1]),)


# --- records --------------------------------------------------------------------------------------------------------


_SORT = "sort.host", "sort.cuda"
_COUNT = "histogram.host", "histogram.cuda"
_MASKS = "indexing.host", "indexing.cuda_masks"
_FOLDS = "folds.host", "folds.cuda"

RECORDS = (
    # Memory that is not written.
    Record("empty", {name: Implementation(f"kernels.empty:on_{name}") for name in ("host", "cuda")}),
    # Only where blocks are copied faster than elements are picked.
    Record("roll", {"host": Implementation("kernels.indexing.host:roll")}, _same, reads_strides=True),
    # What the scheduler makes of the primitive `Scatter`.
    Record("scatter", by_program("scatter", "indexing.host", "indexing.cuda_scatter")),
    Record("mask_offsets", by_program("mask_offsets", *_MASKS), _mask_offsets),
    Record("mask_positions", by_program("mask_positions", *_MASKS)),
    Record("mask_elements", by_program("mask_elements", *_MASKS)),
    Record("sort", by_program("sort", *_SORT), _same),
    Record("argsort", by_program("argsort", *_SORT), _positions),
    Record("sort_upper", by_program("sort_upper", *_SORT), _same),
    Record("searchsorted", by_program("searchsorted", "search.host", "search.cuda"), _positions),
    Record("bincount", by_program("bincount", *_COUNT)),
    Record("histogram", by_program("histogram", *_COUNT), _histogram),
    Record(
        "fold",
        by_program("fold", *_FOLDS),
        _fold,
        floating_errors=lambda options, dtype: FloatingErrors("reduce", options[0]),
    ),
    Record(
        "accumulate",
        by_program("accumulate", *_FOLDS),
        _accumulate,
        floating_errors=lambda options, dtype: FloatingErrors("accumulate", options[0]),
    ),
    Record(
        "reduceat",
        by_program("reduceat", *_FOLDS),
        _reduceat,
        floating_errors=lambda options, dtype: FloatingErrors("reduceat", options[0]),
    ),
)
