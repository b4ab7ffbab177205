"""Calls of a function for all elements of its operands at once, if the function can be copied for `Numbers`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy

from ...core.dtypes import KIND
from ...core.graph.layout import Shape, broadcast_shapes
from ...core.recording.array import from_host, mark_as_array, ndarray, to_host
from ..indexing.getitem import getitem
from ..manipulation.shape import broadcast_to, cast_to
from ..ufuncs.elementwise import where
from .numbers import Tracing, UntraceableError, as_result, operand
from .pure_functions import Copies

# Calls a function with the numbers of one element, or of all, and what a function makes of its other arguments.
Call = Callable[[Callable[..., Any], Sequence[Any], Callable[[Any], Any]], Any]
# For each way through the conditions of a function: the condition for the elements that go it, and its results.
_Ways = list[tuple[ndarray | None, Any]]


@cache
def _first_call_takes_scalars() -> bool:
    """Return whether NumPy finds the dtypes of results by a call with its scalars; before 2.5 with Python's numbers."""
    seen: list[Any] = []

    def look(x: Any) -> int:
        seen.append(x)
        return 0

    numpy.vectorize(look)(numpy.zeros(1, int))
    return isinstance(seen[0], numpy.generic)


def _first_element(x: ndarray) -> Any:
    element = to_host(getitem(x, (0,) * x.ndim))[()]
    return element if _first_call_takes_scalars() else element.item()


def call_for_all_elements(function: Callable[..., Any], arrays: Sequence[ndarray], call: Call, dtypes: Any) -> Any:
    """Return the results of a function for all elements, one array or a tuple of them.

    None if the function is to be called for each element: it does more than to calculate, arrays do not have the
    meaning of its numbers, or it raises for some element.

    Parameters
    ----------
    function, arrays
        The function, and its operands, which have elements.
    call
        Calls a function like `function` with numbers from `arrays`.
    dtypes
        The dtypes of the results. None for those of the results for the first elements, as in NumPy.
    """
    shape = broadcast_shapes(*(x.shape for x in arrays))
    tracing = Tracing()
    try:
        copies = Copies(tracing)
        copied = copies.of(function)
        numbers = [operand(tracing, x) for x in arrays]
        ways = _ways(tracing, lambda: call(copied, numbers, copies.of))
        copies.check_lists()
        is_single = False
        if dtypes is None:
            first = call(function, [_first_element(x) for x in arrays], lambda x: x)
            is_single = not isinstance(first, tuple)
            dtypes = [_dtype_of(x) for x in ((first,) if is_single else first)]
        is_single = is_single or len(dtypes) == 1
        dtypes = [numpy.dtype(dtype) for dtype in dtypes]
        if not dtypes or any(dtype not in KIND for dtype in dtypes):
            return None
        columns = _columns(tracing, ways, dtypes, is_single)
    except UntraceableError:
        return None
    results = tuple([_new_array(x, shape, dtype, arrays[0]) for x, dtype in zip(columns, dtypes)])
    if not tracing.succeeded():
        return None
    return results[0] if is_single else results


def _ways(tracing: Tracing, run: Callable[[], Any]) -> _Ways:
    """Return the results for every way through the conditions that raises no error."""
    ways: _Ways = []
    while True:
        tracing.start()
        try:
            result = run()
        except Exception:
            _refuse_way(tracing)
        else:
            ways.append((tracing.reached, result))
        if not tracing.go_on():
            return ways


def _refuse_way(tracing: Tracing) -> None:
    """Check that no element goes the present way, since it raises an error."""
    if tracing.reached is None:
        raise UntraceableError("it raises an error for all numbers")
    tracing.require(False)


def _columns(tracing: Tracing, ways: _Ways, dtypes: Sequence[Any], is_single: bool) -> list[Any]:
    """Return each result, of every element by the way that it goes."""
    columns: list[Any] = []
    for reached, result in ways:
        tracing.reached = reached
        results = result if type(result) is tuple else (result,)
        if len(results) != len(dtypes) or (is_single and type(result) is tuple):
            raise UntraceableError("another number of results")
        try:
            converted = [as_result(tracing, x, dtype) for x, dtype in zip(results, dtypes)]
        except (TypeError, ValueError, OverflowError):
            _refuse_way(tracing)
            continue
        if columns:
            converted = [where(reached, x, otherwise) for x, otherwise in zip(converted, columns)]
        columns = converted
    if not columns:
        raise UntraceableError("every way raises an error")
    return columns


def _dtype_of(x: Any) -> Any:
    """Return the dtype of a result."""
    return x.dtype if isinstance(x, ndarray) else numpy.asarray(x).dtype


def _new_array(x: Any, shape: Shape, dtype: Any, like: ndarray) -> ndarray:
    """Return a result as a new array of a shape."""
    array = x if isinstance(x, ndarray) else from_host(numpy.asarray(x, dtype), like.device)
    return mark_as_array(cast_to(broadcast_to(array, shape), dtype))
