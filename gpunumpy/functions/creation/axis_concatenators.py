"""``r_`` and ``c_``: arrays, slices and numbers in brackets, joined along an axis. See `numpy.r_`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from ...core.errors import OnHostError
from ...core.recording.array import ndarray
from ...core.recording.record import check_class
from ..dtype_functions import result_type
from ..every_dtype import as_called, takes_every_dtype
from ..fallback import OWN_FUNCTIONS, on_host
from ..manipulation import joining, shape
from ..matrix_texts import bmat
from . import arrays, ranges
from .ranges import host_scalar

arange, array, concatenate, linspace, swapaxes, transpose = as_called(
    ranges.arange, arrays.array, joining.concatenate, ranges.linspace, shape.swapaxes, shape.transpose
)


class _Directive(NamedTuple):
    """The axis, the least number of dimensions, and where the dimensions of a part with fewer are among those."""

    axis: int
    ndmin: int
    place: int


class AxisConcatenator:
    """An object like one of NumPy's, over arrays of this package."""

    def __init__(self, numpy_object: Any) -> None:
        self._default = _Directive(numpy_object.axis, numpy_object.ndmin, numpy_object.trans1d)
        self._join = takes_every_dtype(self._joined, on_host(numpy_object.__getitem__, ""))
        self.__doc__ = numpy_object.__doc__

    def __getitem__(self, key: Any) -> Any:
        """Return the parts of the key, joined."""
        return bmat(key) if isinstance(key, str) else self._join(key if isinstance(key, tuple) else (key,))

    def __len__(self) -> int:
        """Return 0: there is nothing to iterate over."""
        return 0

    def _joined(self, key: tuple[Any, ...]) -> ndarray:
        directive = self._default
        if key and isinstance(key[0], str):
            if key[0] in ("r", "c"):
                raise OnHostError("matrices are NumPy's")
            directive, key = _directive(key[0], directive), key[1:]
        if any(isinstance(part, str) for part in key):
            raise ValueError("special directives must be the first entry.")
        parts = [part if type(part) in numpy.ScalarType else _part(part, directive) for part in key]
        dtype = result_type(*(getattr(part, "dtype", part) for part in parts)) if parts else None
        return concatenate([array(part, dtype, copy=None, ndmin=directive.ndmin) for part in parts], directive.axis)


def _directive(text: str, default: _Directive) -> _Directive:
    """Return what a text like ``"0,2,-1"`` says."""
    try:
        numbers = [int(number) for number in text.split(",")]
        return default._replace(**dict(zip(_Directive._fields, numbers, strict=False)))
    except ValueError:
        named = f" {text!r}" if "," in text else ""
        raise ValueError(f"unknown special directive{named}") from None


def _part(part: Any, directive: _Directive) -> ndarray:
    """Return a slice or an array with as many dimensions as the directive asks for."""
    ndmin, place = directive.ndmin, directive.place
    if isinstance(part, slice):
        start, stop, step = map(host_scalar, (part.start, part.stop, part.step))
        start, step = 0 if start is None else start, 1 if step is None else step
        is_count = isinstance(step, (numpy.complexfloating, complex))
        values = linspace(start, stop, int(abs(step))) if is_count else arange(start, stop, step)
        made = array(values, copy=None, ndmin=ndmin)
        return swapaxes(made, -1, place) if ndmin > 1 and place != -1 else made
    check_class(part)
    ndim = numpy.ndim(part)
    made = array(part, copy=None, ndmin=ndmin)
    if place == -1 or ndim >= ndmin:
        return made
    added = ndmin - ndim
    first = place + added + 1 if place < 0 else place
    axes = list(range(ndmin))
    return transpose(made, axes[:first] + axes[added:] + axes[first:added])


for _name in ("r_", "c_"):
    OWN_FUNCTIONS[f"numpy.{_name}"] = AxisConcatenator(getattr(numpy, _name))
