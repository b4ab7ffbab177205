"""Casts that may change no value: `casting="same_value"`, which NumPy has from 2.4 on."""

from __future__ import annotations

from functools import reduce

import numpy

from ...core.dtypes import KIND, DType
from ...core.graph import node as graph
from ...core.recording.array import ndarray, to_host, wrap
from ...core.recording.record import elementwise
from ..ufuncs.output import is_true_anywhere

_FLOAT16, _FLOAT64 = numpy.dtype(numpy.float16), numpy.dtype(numpy.float64)
_LARGEST_FLOAT16 = float(numpy.finfo(numpy.float16).max)


def check_values_fit(x: ndarray, target: DType) -> None:
    """Raise what NumPy raises for ``x.astype(target, casting="same_value")``.

    This looks at the values: those that would change are found on their device.
    """
    # NumPy's errors for the dtypes; of real parts, since the cast itself warns of imaginary parts that are lost.
    numpy.empty(0, x.dtype).real.astype(target, casting="same_value")
    with numpy.errstate(all="ignore"):
        masks = _changed_values(x, target)
        if not masks:
            return
        changed = reduce(lambda one, other: elementwise("logical_or", [one, other]), masks)
        if is_true_anywhere(changed.value()):
            to_host(x)[to_host(changed)][:1].astype(target, casting="same_value")  # NumPy has the words for it


def _changed_values(x: ndarray, target: DType) -> list[ndarray]:
    """Return masks of the values that are another number in the dtype; truth values are no numbers, and change none."""
    source = x.dtype
    if source == target or "b" in (KIND[source], KIND[target]):
        return []
    if KIND[source] == "c":
        real, imag = (elementwise(name, [x]) for name in ("real", "imag"))
        if KIND[target] == "c":
            return [*_changed_values(real, target), *_changed_values(imag, target)]
        return [elementwise("not_equal", [imag, 0]), *_changed_values(real, target)]
    if KIND[target] == "c":
        return _changed_values(x, numpy.empty(0, target).real.dtype)
    return _other_values(x, _as_dtype(x, target)) + _refused_float16(x, target)


def _other_values(x: ndarray, cast: ndarray) -> list[ndarray]:
    """Return masks of the real values that a cast has made another number."""
    source, target = x.dtype, cast.dtype
    integers = [dtype for dtype in (source, target) if KIND[dtype] in "iu"]
    if len(integers) == 2:
        return [elementwise("not_equal", [x, cast])]
    is_other = elementwise("not_equal", [x, _as_dtype(cast, source)])
    if not integers:
        return [elementwise("logical_and", [is_other, elementwise("equal", [x, x])])]  # NaN stays NaN
    # What a float beyond an integer's range becomes depends on the machine.
    wide, limits = _as_dtype(cast if integers[0] == source else x, _FLOAT64), numpy.iinfo(integers[0])
    is_below = elementwise("less", [wide, float(limits.min)])
    is_above = elementwise("greater_equal", [wide, float(int(limits.max) + 1)])
    return [is_other, is_below, is_above]


def _refused_float16(x: ndarray, target: DType) -> list[ndarray]:
    """Return masks of what NumPy refuses though it does not change: a float16 may not be -0.0, nor become the largest.

    NumPy compares the bits of what comes back from an integer, and finds its limit before it rounds.
    """
    if target == _FLOAT16:
        return [elementwise("equal", [elementwise("absolute", [_as_dtype(x, target)]), _LARGEST_FLOAT16])]
    if x.dtype == _FLOAT16 and KIND[target] in "iu":
        return [elementwise("logical_and", [elementwise("equal", [x, 0]), elementwise("signbit", [x])])]
    return []


def _as_dtype(x: ndarray, dtype: DType) -> ndarray:
    """Return the array in another dtype."""
    return wrap(graph.cast(x.value(), dtype))
