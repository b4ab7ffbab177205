"""Recursive filters with SciPy's states on a GPU, out of filters without states, which are all that CuPy has.

A filter is linear: what it gives is what it gives from a state of zeros, and what the state gives without input. The
latter is the response of 1 / a to the state as an input, since SciPy's form (the transposed direct form II) adds its
state to the next outputs one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..core.recording.record import as_array
from ..core.runtime.device import Device
from ..functions.creation.arrays import zeros
from ..functions.dtype_functions import result_type
from ..functions.indexing.selection import take
from ..functions.manipulation.joining import concatenate, stack
from ..functions.manipulation.shape import broadcast_to, moveaxis
from ..functions.products.tensor_products import tensordot

# SciPy's function without a state, for arrays of this package.
_Plain = Callable[..., Any]
# An array of this package, whose operators and methods the layer of arrays binds.
_Array = Any


def lfilter(
    plain: _Plain, gpu: Device, b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None
) -> tuple[_Array, _Array] | None:
    """Filter along an axis from a state on; return the outputs and the last state. See `scipy.signal.lfilter`.

    Returns
    -------
    tuple of ndarray or None
        None for arguments that SciPy refuses, or takes in its own way.
    """
    b, a, x, zi = _arrays(gpu, b, a, x, zi)
    if b.ndim != 1 or a.ndim != 1 or not x.ndim or not b.size or not a.size or not x.size:
        return None
    order, axis = max(b.size, a.size) - 1, int(axis)
    lines: _Array = moveaxis(x, axis, 0)
    if not order or zi.ndim != x.ndim:
        return None
    states: _Array = moveaxis(zi, axis, 0)
    wanted = (order, *lines.shape[1:])
    if any(size not in (1, full) for size, full in zip(states.shape, wanted)) or states.shape[0] != order:
        return None
    dtype = result_type(b, a, x, zi, numpy.float32)
    b, a = ((c / a[0]).astype(dtype) for c in (b, a))
    made = _filtered(plain, b, a, lines.astype(dtype), _spread(states, wanted).astype(dtype))
    return moveaxis(made[0], 0, axis), moveaxis(made[1], 0, axis)


def sosfilt(
    plain: _Plain, gpu: Device, sos: Any, x: Any, axis: int = -1, zi: Any = None
) -> tuple[_Array, _Array] | None:
    """Filter by sections of second order, one after the other, from states on. See `scipy.signal.sosfilt`."""
    sos, x, zi = _arrays(gpu, sos, x, zi)
    if sos.ndim != 2 or sos.shape[1] != 6 or zi.ndim != x.ndim + 1 or zi.shape[0] != sos.shape[0]:
        return None

    def section(b: _Array, a: _Array, x: _Array, axis: int) -> Any:
        return plain(stack([concatenate([_padded(b, 3), _padded(a, 3)])]), x, axis)

    states = []
    for k in range(sos.shape[0]):
        made = lfilter(section, gpu, sos[k, :3], sos[k, 3:], x, axis, zi[k])
        if made is None:
            return None
        x, last = made
        states.append(last)
    return x, stack(states)


def _filtered(plain: _Plain, b: _Array, a: _Array, x: _Array, zi: _Array) -> tuple[_Array, _Array]:
    """Filter along the first axis; a[0] is 1."""
    count, order = x.shape[0], zi.shape[0]
    of_state = concatenate([zi[:count], zeros((max(count - order, 0), *x.shape[1:]), x.dtype, device=x.device)])
    y = plain(b, a, x, 0) + (of_state if a.size == 1 else plain(a[:1], a, of_state, 0))
    # An element of the last state is a sum over the last inputs and outputs, the newest first, and where these are
    # fewer than the order also an element of the first state.
    recent = min(count, order)
    at = numpy.add.outer(numpy.arange(order), numpy.arange(recent)) + 1
    weights = [take(_padded(c, order + recent + 1), at) for c in (b, a)]
    newest = [values[count - recent :][::-1] for values in (x, y)]
    inputs, outputs = (_product(w, v) for w, v in zip(weights, newest, strict=True))
    last = inputs - outputs
    if recent < order:
        left = concatenate([zi[recent:], zeros((recent, *zi.shape[1:]), zi.dtype, device=zi.device)])
        last = last + left
    return y, last


def _arrays(gpu: Device, *given: Any) -> list[_Array]:
    return [as_array(value, gpu) for value in given]


def _product(weights: _Array, values: _Array) -> _Array:
    return tensordot(weights, values, 1)


def _spread(states: _Array, shape: tuple[int, ...]) -> _Array:
    return broadcast_to(states, shape)


def _padded(c: _Array, size: int) -> _Array:
    """Return coefficients with zeros behind them."""
    return concatenate([c, zeros(size - c.size, c.dtype, device=c.device)])
