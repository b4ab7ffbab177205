"""Python functions applied along and over axes, or to every element.

Where they are called with arrays their calls record, and what they record is computed together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy

from ..core.dtypes import KIND
from ..core.graph import layout
from ..core.graph.layout import normalize_axis
from ..core.recording import residence
from ..core.recording.array import SUBCLASSES, as_class, ndarray, to_host
from ..core.recording.record import as_array, placed_array, with_held_arrays
from .creation import arrays
from .creation.arrays import empty
from .every_dtype import as_called
from .fallback import OWN_FUNCTIONS, holds_host_data, holds_masked_array, host_fallback, on_host, report
from .manipulation import joining, shape
from .manipulation.shape import broadcast_to
from .placement import host_shape
from .subclasses import ClassRule, call_for_subclass, has_subclass
from .ufuncs.errstate import is_checking
from .vectorizing.calls import call_for_all_elements

__all__ = ["apply_along_axis", "apply_over_axes"]

astype, empty_like, expand_dims, moveaxis, reshape, stack = as_called(
    shape.astype, arrays.empty_like, shape.expand_dims, shape.moveaxis, shape.reshape, joining.stack
)

_WHY_EACH = (
    "the function is called for each element, as it does more than calculate, or Python gives another result somewhere"
)


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> ndarray:
    """Apply a function to every vector along an axis. See `numpy.apply_along_axis`.

    The function is called with a view for each vector, one after the other.
    """
    array: Any = placed_array(arr)
    axis = normalize_axis(axis, array.ndim)
    loop_shape = array.shape[:axis] + array.shape[axis + 1 :]
    if not prod(loop_shape):
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results: list[ndarray] = []
    for index in product(*map(range, loop_shape)):
        # Views of the array itself: one that is accessed by many small parts moves to the host.
        vector: Any = _of_class_of(array, array[(*index[:axis], slice(None), *index[axis:])])
        result = placed_array(func1d(vector, *args, **kwargs), array)
        results.append(_assigned(result, results[0]) if results else result)
    ndim = results[0].ndim
    stacked = reshape(stack(results, dtype=results[0].dtype), (*loop_shape, *results[0].shape))
    applied = moveaxis(stacked, tuple(range(-ndim, 0)), tuple(range(axis, axis + ndim)))
    return _of_class_of(results[0] if type(array) is ndarray else array, applied)


def _assigned(result: ndarray, first: ndarray) -> ndarray:
    """Return a result as NumPy assigns it to an array like the first one."""
    if result.shape == first.shape:
        return result if result.dtype == first.dtype else astype(result, first.dtype, copy=False)
    assigned = empty_like(first)
    assigned[...] = result
    return assigned


def _of_class_of(template: ndarray, array: ndarray) -> ndarray:
    return array if type(template) is ndarray else as_class(array, type(template), template)


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> ndarray:
    """Apply a function over one axis after the other, keeping the number of dimensions. See `numpy.apply_over_axes`."""
    value = placed_array(a)
    ndim = value.ndim
    for axis in numpy.atleast_1d(to_host(axes) if isinstance(axes, ndarray) else axes).tolist():
        axis = axis + ndim if axis < 0 else axis
        result = placed_array(func(value, axis), value)
        if result.ndim != value.ndim:
            result = expand_dims(result, axis)
            if result.ndim != value.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        value = result
    return value


_call_on_host = on_host(numpy.vectorize.__call__, "")
_call_with_signature_on_host: Any = on_host(numpy.vectorize._vectorize_call_with_signature, "")  # type: ignore[attr-defined]
_MOST_CALLS = 2048  # of a function of Python's for elements on the host


class vectorize(numpy.vectorize):
    """Python function applied to every element. See `numpy.vectorize`.

    With a signature the function is called with arrays of this package. Without one a function that does nothing but
    calculate is called once for all elements (`vectorizing.calls`), and any other is called for each, on the host, with
    Python's numbers. It is called for each of few numbers of the host, too.
    """

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function for every element of the arrays."""
        if self.pyfunc is numpy._NoValue:  # type: ignore[comparison-overlap]
            return super().__call__(*args, **options)
        if SUBCLASSES and has_subclass((args, options)):
            return call_for_subclass(self, ClassRule(keeps=True, keeps_without_dimensions=True), args, options)
        if holds_host_data((args, options)) or self._makes_host_data():
            return self._for_each_element(args, options)
        if self.signature is not None:
            return super().__call__(*args, **options)
        if holds_masked_array((args, options)):
            return self._for_each_element(args, options)  # which asks the layer of masked arrays first
        if residence.is_auto() and self._has_few_elements(args, options):
            return _call_on_host(self, *args, **options)
        results = self.calculated(args, options)
        return self._for_each_element(args, options) if results is None else results

    def _makes_host_data(self) -> bool:
        """Return whether a dtype of the results is one that no kernel computes."""
        return any(numpy.dtype(otype) not in KIND for otype in self.otypes or ())

    def operands(self, args: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
        """Return the arguments whose elements the function is called with."""
        positional = [x for k, x in enumerate(args) if k not in self.excluded]
        return positional + [x for name, x in options.items() if name not in self.excluded]

    def _has_few_elements(self, args: tuple[Any, ...], options: dict[str, Any]) -> bool:
        """Return whether to call the function for each element takes no longer than to find out what it does."""
        shapes = []
        for x in self.operands(args, options):
            shape = host_shape(x)
            if shape is None:
                return False
            shapes.append(shape)
        try:
            return prod(layout.broadcast_shapes(*shapes)) <= _MOST_CALLS
        except ValueError:  # NumPy says what is wrong
            return True

    def _for_each_element(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return the results of a call for each element, on the host.

        Nothing is said of it where arguments or results are of dtypes that could not be on a device.
        """
        is_of_host = holds_host_data((args, options)) or holds_masked_array((args, options))
        if host_fallback() == "error" and not is_of_host:
            report("gpunumpy.vectorize", reason=_WHY_EACH)
        results = _call_on_host(self, *args, **options)
        if is_of_host or holds_host_data(results):
            return results
        if not any(map(_is_of_host, self.operands(args, options))):
            report("gpunumpy.vectorize", reason=_WHY_EACH)
        return results

    def calculated(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return the results of one call for all elements; None if there is to be one for each element."""
        if is_checking():
            return None
        positions = [k for k in range(len(args)) if k not in self.excluded]
        names = [name for name in options if name not in self.excluded]
        device = next((x.device for x in (*args, *options.values()) if isinstance(x, ndarray)), None)
        try:
            operands = [args[k] for k in positions] + [options[name] for name in names]
            arrays = [as_array(x, device) for x in operands]
        except (TypeError, ValueError, OverflowError):
            return None  # NumPy finds out what objects they are
        otypes = self.otypes
        if not arrays:
            return None
        if any(not x.size for x in arrays):
            if otypes is None:
                raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
            shape = layout.broadcast_shapes(*(x.shape for x in arrays))
            empties = tuple([empty(shape, otype, device=device) for otype in otypes])
            return empties[0] if len(empties) == 1 else empties

        def call(function: Callable[..., Any], numbers: Sequence[Any], other: Callable[[Any], Any]) -> Any:
            rest = iter(numbers)
            given = [next(rest) if k in positions else other(x) for k, x in enumerate(args)]
            named = {name: next(rest) if name in names else other(x) for name, x in options.items()}
            return function(*given, **named)

        return call_for_all_elements(self.pyfunc, arrays, call, otypes)

    def _vectorize_call_with_signature(self, func: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Return what the function gives for every index of the loop; NumPy's method calls this one."""
        if holds_masked_array(args):
            return _call_with_signature_on_host(self, func, args)  # which asks the layer of masked arrays first
        if holds_host_data(args) or self._makes_host_data():
            return super()._vectorize_call_with_signature(func, args)  # type: ignore[misc]
        inputs, outputs = self._in_and_out_core_dims  # type: ignore[attr-defined]
        if len(args) != len(inputs):
            raise TypeError(f"wrong number of positional arguments: expected {len(inputs)!r}, got {len(args)!r}")
        beside = next((x for x in args if isinstance(x, ndarray)), None)
        arrays = [placed_array(x, beside) for x in args]
        loop_shape, sizes = loop_and_sizes(arrays, inputs)
        views: list[Any] = [
            broadcast_to(x, loop_shape + x.shape[x.ndim - len(dims) :]) for x, dims in zip(arrays, inputs)
        ]
        dtypes = self.otypes or [None] * len(outputs)
        columns: list[list[Any]] = [[] for _ in outputs]
        for index in product(*map(range, loop_shape)):
            results = func(*(view[index] for view in views))
            results = results if isinstance(results, tuple) else (results,)
            if len(results) != len(outputs):
                raise ValueError(
                    f"wrong number of outputs from pyfunc: expected {len(outputs)!r}, got {len(results)!r}"
                )
            for column, result, dims in zip(columns, results, outputs):
                value = placed_array(result, beside)
                if not column:
                    _check_sizes(sizes, value, dims)
                # As where NumPy assigns results to an array of the sizes and the dtype of the first one.
                value = broadcast_to(value, tuple(sizes[dim] for dim in dims))
                column.append(astype(value, column[0].dtype, copy=False) if column else value)
        if not prod(loop_shape):
            if self.otypes is None:
                raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
            if any(dim not in sizes for dims in outputs for dim in dims):
                raise ValueError(
                    "cannot call `vectorize` with a signature including new output dimensions on size 0 inputs"
                )
        results = tuple(
            _in_loop(column, loop_shape, tuple(sizes[dim] for dim in dims), dtype)
            for column, dims, dtype in zip(columns, outputs, dtypes)
        )
        return results if len(outputs) > 1 else results[0]


def _is_of_host(x: Any) -> bool:
    """Return whether no kernel computes the dtype that NumPy gives an argument."""
    return (x if hasattr(x, "dtype") else numpy.asarray(with_held_arrays(x))).dtype not in KIND


def loop_and_sizes(arrays: Sequence[Any], inputs: Sequence[tuple[str, ...]]) -> tuple[layout.Shape, dict[str, int]]:
    """Return the shape of the loop over arrays, and the sizes of a signature's names for their last dimensions."""
    sizes: dict[str, int] = {}
    for array, dims in zip(arrays, inputs):
        _check_sizes(sizes, array, dims)
    return layout.broadcast_shapes(*(x.shape[: x.ndim - len(dims)] for x, dims in zip(arrays, inputs))), sizes


def _check_sizes(sizes: dict[str, int], x: ndarray, dims: tuple[str, ...]) -> None:
    """Compare the last dimensions of an array with the known sizes of a signature's names, and enter what is new."""
    if x.ndim < len(dims):
        raise ValueError(
            f"{x.ndim}-dimensional argument does not have enough dimensions for all core dimensions {dims!r}"
        )
    for dim, size in zip(dims, x.shape[x.ndim - len(dims) :]):
        if sizes.setdefault(dim, size) != size:
            raise ValueError(f"inconsistent size for core dimension {dim!r}: {size!r} vs {sizes[dim]!r}")


def _in_loop(values: list[Any], loop_shape: tuple[int, ...], core: tuple[int, ...], dtype: Any) -> Any:
    """Return the results of a loop as one array."""
    if not values:
        return empty(loop_shape + core, dtype)
    joined = reshape(stack(values), loop_shape + core)
    return joined if dtype is None else astype(joined, dtype, copy=False)


OWN_FUNCTIONS["numpy.vectorize"] = vectorize
