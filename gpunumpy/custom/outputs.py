"""Outputs that are given to a kernel: which of them are one array, and how they become its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..core.graph import node as graph
from ..core.graph.node import Node
from ..core.recording.array import hand_over, ndarray, one_step, require_device, takes_values
from ..core.runtime import evaluate


class GivenOutputs(NamedTuple):
    """What a kernel knows of the arrays that are given as its outputs.

    Attributes
    ----------
    same_as
        For each the number of the earlier one that is the same array, or -1.
    takes_results
        For each whether its result may be computed in the memory of the value that it has before.
    """

    same_as: tuple[int, ...] = ()
    takes_results: tuple[bool, ...] = ()

    @classmethod
    def of(cls, arrays: Sequence[ndarray]) -> GivenOutputs:
        """Return what a kernel knows of some arrays."""
        if len(arrays) == 1:
            return _ONE_GIVEN[takes_values(arrays[0]) or _is_written_at_once(arrays[0])]
        first: dict[int, int] = {}
        same = [-1 if first.setdefault(id(x), k) == k else first[id(x)] for k, x in enumerate(arrays)]
        return cls(tuple(same), tuple([takes_values(x) or _is_written_at_once(x) for x in arrays]))

    def values_before(self, values: Sequence[Node]) -> list[Node]:
        """Return the values that the outputs have before, as nodes of their own where these may not be overwritten."""
        return [x if takes else graph.as_new_node(x) for x, takes in zip(values, self.takes_results, strict=True)]


NOT_GIVEN = GivenOutputs()
_ONE_GIVEN = (GivenOutputs((-1,), (False,)), GivenOutputs((-1,), (True,)))  # by whether it takes the result


def write_outputs(
    arrays: Sequence[Any],
    values_of: Callable[[], tuple[Node, ...]],
    results_of: Callable[[tuple[Node, ...], GivenOutputs], Sequence[ndarray]],
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
        given = GivenOutputs.of(arrays)
        results = results_of(values, given)
        if len(results) < len(arrays):
            arrays = [output for output, earlier in zip(arrays, given.same_as, strict=True) if earlier < 0]
        for output, result in zip(arrays, results, strict=True):
            if result.shape != output.shape or not (hand_over(result, output) or _has_written(result, output)):
                output[...] = result


def _is_written_at_once(array: ndarray) -> bool:
    """Return whether an array has the whole of a memory that others see, which is written to at once and in place."""
    node = array._node
    data = node.data
    return bool(
        array._base is None
        and array.writeable
        and data is not None
        and data.exported
        and node.offset == 0
        and data.nbytes == array.nbytes
        and array.c_contiguous
    )


def _has_written(result: ndarray, array: ndarray) -> bool:
    """Compute what is to be in the memory of an array that others see; return whether it was written there."""
    data = array._node.data
    return _is_written_at_once(array) and evaluate.compute(result._node).data is data
