"""Records of library calls on elements: moving, selecting, sorting, counting and folding them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from ...dtypes import BOOL, FLOAT64, INT64
from ..signature import Signature
from .record import CutAxes, FloatingErrors, Implementation, Record, Results, by_program

# --- results --------------------------------------------------------------------------------------------------------


def _like_first(options: Any, args: Sequence[Signature]) -> Results:
    """Return one output of the shape and dtype of the first argument."""
    return ((args[0].shape, args[0].dtype),)


def _positions(options: Any, args: Sequence[Signature]) -> Results:
    """Return an int64 output with a position for each element of the last argument."""
    return ((args[-1].shape, INT64),)


def _histogram(options: tuple[bool, Any], args: Sequence[Signature]) -> Results:
    """Return one number for each bin: an int64 count, or a float64 sum of weights.

    The arguments are values, edges, the bin width (if the bins are uniform, the first option), weights (if any).
    """
    uniform, _ = options
    edges, weighted = args[1], len(args) > 2 + uniform
    return (((edges.shape[0] - 1,), FLOAT64 if weighted else INT64),)


def _mask_offsets(options: tuple[int], args: Sequence[Signature]) -> Results:
    """Return the numbers of selected elements before each tile and in all, and the latter once more for the host.

    The option is the size of a tile.
    """
    (tile,), (mask,) = options, args
    return ((-(-prod(mask.shape) // tile) + 1,), INT64), ((), INT64)


# The options of the three folds are the op, its loop and the axis.


def _fold(options: tuple[str, Any, int], args: Sequence[Signature]) -> Results:
    (_, loop, axis), shape = options, args[0].shape
    return ((shape[:axis] + shape[axis + 1 :], loop[-1]),)


def _accumulate(options: tuple[str, Any, int], args: Sequence[Signature]) -> Results:
    return ((args[0].shape, options[1][-1]),)


def _reduceat(options: tuple[str, Any, int], args: Sequence[Signature]) -> Results:
    (_, loop, axis), (x, starts) = options, args
    return ((x.shape[:axis] + starts.shape + x.shape[axis + 1 :], loop[-1]),)


# --- slabs ----------------------------------------------------------------------------------------------------------


def _all_but_last(options: Any, args: Sequence[Signature]) -> list[CutAxes | None]:
    return [*[(axis,) for axis in range(len(args[0].shape) - 1)], None]


def _queries(options: Any, args: Sequence[Signature]) -> list[CutAxes | None]:
    return [(None, axis) for axis in range(len(args[1].shape))]


def _values_of_bins(options: tuple[bool, Any], args: Sequence[Signature]) -> CutAxes:
    uniform, _ = options
    edges = 1 + uniform  # and the bin width
    return (0, *[None] * edges, *[0] * (len(args) - 1 - edges))


def _values_and_weights(options: Any, args: Sequence[Signature]) -> CutAxes:
    return (0,) * len(args)


# The op of an indexed write whose duplicates write the same, so that any of them may be the last. "" stands for any
# other assignment.
EQUAL_VALUES = "="


# --- records --------------------------------------------------------------------------------------------------------


_SORT = "sort.host", "sort.cuda"
_COUNT = "histogram.host", "histogram.cuda"
_MASKS = "indexing.host", "indexing.cuda_masks", "sized_program"
_FOLDS = "folds.host", "folds.cuda"


def _numpy(name: str, results: Callable[[Any, Sequence[Signature]], Results] | None = None) -> Record:
    """Return the record of a function of NumPy's, which only the CPU device calls; see `runtime.numpy_calls`."""
    return Record(name, {"host": Implementation(f"kernels.numpy_functions:{name}")}, results, reads_strides=True)


RECORDS = (
    # Uninitialized memory.
    Record("empty", {name: Implementation(f"kernels.empty:on_{name}") for name in ("host", "cuda")}, writes=False),
    Record("correlate", by_program("correlate", "numpy_functions", "correlation.cuda"), reads_strides=True),
    _numpy("isin", lambda options, args: ((args[0].shape, BOOL),)),
    _numpy("interp", lambda options, args: ((args[0].shape, args[2].dtype),)),
    _numpy("packbits"),
    _numpy("pad"),
    _numpy("place", _like_first),
    _numpy("putmask", _like_first),
    _numpy("repeat"),
    _numpy("unpackbits"),
    _numpy("partition", _like_first),
    _numpy("argpartition", lambda options, args: ((args[0].shape, INT64),)),
    # The scheduler lowers the primitive `Scatter` to this call.
    Record(
        "scatter",
        {
            "host": Implementation("kernels.indexing.host:scatter"),
            "cuda": Implementation(
                program="kernels.indexing.cuda_scatter:scatter",
                sized_program="kernels.indexing.cuda_scatter:sized_scatter",
            ),
        },
    ),
    Record("mask_offsets", by_program("mask_offsets", *_MASKS), _mask_offsets, writes_once=True),
    Record("mask_positions", by_program("mask_positions", *_MASKS)),
    Record("mask_elements", by_program("mask_elements", *_MASKS)),
    Record("sort", by_program("sort", *_SORT), _like_first, slabs=_all_but_last),
    Record("argsort", by_program("argsort", *_SORT), _positions, slabs=_all_but_last),
    Record("sort_upper", by_program("sort_upper", *_SORT), _like_first),
    Record("searchsorted", by_program("searchsorted", "search.host", "search.cuda"), _positions, slabs=_queries),
    Record("bincount", by_program("bincount", *_COUNT), sums=_values_and_weights),
    Record("histogram", by_program("histogram", *_COUNT), _histogram, sums=_values_of_bins),
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
