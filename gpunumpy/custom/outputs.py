"""Outputs that are given to a kernel: which of them are one array, and how they become its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.graph import node as graph
from ..core.graph.node import Node
from ..core.recording.array import hand_over, ndarray, one_step, require_device, takes_values

# Of each output, whether the result of a kernel becomes its value as it is, so that it may be computed in its memory.
Overwrites = tuple[bool, ...]


def same_as(values: Sequence[Node]) -> tuple[int, ...]:
    """Return for each value the number of the earlier one that is the same, or -1."""
    first: dict[Node, int] = {}
    return tuple([-1 if first.setdefault(x, k) == k else first[x] for k, x in enumerate(values)])


def values_before(values: Sequence[Node], overwrites: Overwrites) -> list[Node]:
    """Return the values that outputs have before, as nodes of their own where these may not be overwritten."""
    return [x if is_ours else graph.as_new_node(x) for x, is_ours in zip(values, overwrites, strict=True)]


def write_outputs(
    arrays: Sequence[Any],
    values_of: Callable[[], tuple[Node, ...]],
    results_of: Callable[[tuple[Node, ...], Overwrites], Sequence[ndarray]],
) -> None:
    """Write the results of a kernel to the arrays that are given for them, in one step for other threads.

    Parameters
    ----------
    arrays
        The outputs.
    values_of
        Returns the values of all arguments.
    results_of
        Returns the results for these, as new arrays: one for each output, or for each that is no earlier one.
    """
    with one_step(arrays[0]):
        for output in arrays:
            if isinstance(output, ndarray):  # else `values_of` raises
                require_device(output)
        values = values_of()
        results = results_of(values, tuple(map(takes_values, arrays)))
        if len(results) < len(arrays):
            same = same_as(values[len(values) - len(arrays) :])
            arrays = [output for output, earlier in zip(arrays, same, strict=True) if earlier < 0]
        for output, result in zip(arrays, results, strict=True):
            if result.shape != output.shape or not hand_over(result, output):
                output[...] = result
