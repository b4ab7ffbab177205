"""`pad`: an array with a border, by index arithmetic where the border is made of elements of the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ...core.graph import node as graph
from ...core.graph.layout import Layout, c_strides
from ...core.graph.node import Node
from ...core.recording.array import ndarray, to_host
from ...core.recording.record import as_array, as_dtype, as_node
from ..creation.arrays import axes_in_memory, constant, laid_out, uninitialized
from ..creation.ranges import applied, number
from ..fallback import on_host
from .repeating import picked

__all__ = ["pad"]

Widths = list[tuple[int, int]]

_on_host = on_host(numpy.pad, "gpunumpy.pad")
# The keyword arguments of each mode that is done on the device; anything else goes to NumPy.
_KEYWORDS: dict[str, frozenset[str]] = {
    "constant": frozenset(("constant_values",)),
    "edge": frozenset(),
    "empty": frozenset(),
    "reflect": frozenset(("reflect_type",)),
    "symmetric": frozenset(("reflect_type",)),
    "wrap": frozenset(),
}


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> ndarray:
    """The array with a border. See `numpy.pad`."""
    x = as_array(array)
    known = _KEYWORDS.get(mode) if isinstance(mode, str) else None
    if known is None or kwargs.get("reflect_type", "even") != "even":
        return _on_host(x, pad_width, mode, **kwargs)
    if kwargs.keys() - known:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {set(kwargs) - known}")
    widths = _widths(pad_width, x.ndim)
    where = x.layout
    order = axes_in_memory("A", where.shape, where.strides)
    if mode in ("constant", "empty"):
        return laid_out(_bordered(x, widths, kwargs.get("constant_values", 0), mode), order)
    for k, (n, width) in enumerate(zip(x.shape, widths, strict=True)):
        if not n and any(width):
            raise ValueError(f"can't extend empty axis {k} using modes other than 'constant' or 'empty'")
    indices = {
        k: _INDEX[mode](_position(x, n, width), n, max(width))
        for k, (n, width) in enumerate(zip(x.shape, widths, strict=True))
        if any(width)
    }
    return laid_out(picked(x, indices) if indices else graph.fresh(x.value()), order)


def _widths(pad_width: Any, ndim: int) -> Widths:
    """How many elements to add before and after, for every axis."""
    if isinstance(pad_width, dict):
        pairs: list[Any] = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            pairs[axis] = width if numpy.ndim(width) else (width, width)
        pad_width = pairs
    given = numpy.asarray(to_host(pad_width) if isinstance(pad_width, ndarray) else pad_width)
    if given.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    if given.size and given.min() < 0:
        raise ValueError("index can't contain negative values")
    return [(int(a), int(b)) for a, b in numpy.broadcast_to(given, (ndim, 2))]


def _bordered(x: ndarray, widths: Widths, constants: Any, mode: str) -> Node:
    """The array inside a border of constants, or of nothing."""
    shape = tuple(a + n + b for n, (a, b) in zip(x.shape, widths, strict=True))
    strides = c_strides(shape)
    inside = Layout(x.shape, strides, sum(a * s for (a, _), s in zip(widths, strides, strict=True)))
    if mode == "empty":
        return graph.update(uninitialized(shape, x.dtype, x.queue), inside, x.value())
    if not x.ndim:
        return graph.fresh(x.value())
    given = numpy.asarray(to_host(constants) if isinstance(constants, ndarray) else constants)
    pairs = numpy.broadcast_to(given, (x.ndim, 2))
    values = [tuple(as_dtype(as_node(v[()], x.queue), x.dtype) for v in pair) for pair in pairs]
    node = constant(0, shape, x.dtype, x.queue)
    if (pairs == pairs[0, 0]).all():
        node = graph.fill(values[0][0], shape, x.queue)
    else:
        for k, ((before, after), (low, high)) in enumerate(zip(widths, values, strict=True)):
            here = graph.iota(shape, k, x.queue)
            if before:
                node = applied("where", applied("less", here, number(before)), low, node)
            if after:
                node = applied("where", applied("greater_equal", here, number(shape[k] - after)), high, node)
    return graph.update(node, inside, x.value())


def _position(x: ndarray, n: int, width: tuple[int, int]) -> Node:
    """The index along an axis of the result, counted from the first element of the array."""
    before, after = width
    here = graph.iota((before + n + after,), 0, x.queue)
    return applied("subtract", here, number(before))


# From a position, which may be outside, to the index of the element that stands there. `reach` is how far outside it
# can be: near the array no division is needed.


def _edge(at: Node, n: int, reach: int) -> Node:
    return applied("minimum", applied("maximum", at, number(0)), number(n - 1))


def _wrap(at: Node, n: int, reach: int) -> Node:
    if reach > n:
        return applied("remainder", at, number(n))
    below = applied("where", applied("less", at, number(0)), applied("add", at, number(n)), at)
    return applied("where", applied("greater_equal", at, number(n)), applied("subtract", at, number(n)), below)


def _mirror(at: Node, n: int, reach: int, repeated: int) -> Node:
    """Back and forth, the end elements taken `repeated` more times."""
    period = 2 * (n - 1 + repeated)
    if not period:
        return applied("multiply", at, number(0))
    if reach > n - 1 + repeated:
        at = applied("remainder", at, number(period))
    # A position p before the start mirrors to -p - repeated, one after the end to period - repeated - p.
    back = applied("subtract", number(-repeated), at)
    at = applied("where", applied("less", at, number(0)), back, at)
    over = applied("subtract", number(period - repeated), at)
    return applied("where", applied("greater_equal", at, number(n)), over, at)


_INDEX: dict[str, Callable[[Node, int, int], Node]] = {
    "edge": _edge,
    "wrap": _wrap,
    "reflect": lambda at, n, reach: _mirror(at, n, reach, 0),
    "symmetric": lambda at, n, reach: _mirror(at, n, reach, 1),
}
