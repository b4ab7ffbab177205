"""The base class of `Generator`'s draws: standard numbers, scaled and shifted, into new arrays or into `out`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy

from ..core.dtypes import FLOAT64, DType
from ..core.recording.array import ndarray
from ..core.recording.record import elementwise
from .device_draws import DeviceDraws, Target, drawn_on_device
from .parameters import float64_parameter, shape_of
from .words import NUMPY_DRAWS, Draw, StandardDraws

generator_method = drawn_on_device(numpy.random.Generator)


class GeneratorDraws(DeviceDraws, numpy.random.Generator):
    """NumPy's generator, with the stream of its bit generator on the device.

    Attributes
    ----------
    _standard_draws
        The functions that draw uniform, normal and exponential numbers and integers: as NumPy does, or from a
        `PhiloxGPU`.
    """

    _standard_draws: StandardDraws = NUMPY_DRAWS

    @property
    def _numpy_generator(self) -> Any:
        return self

    def _standard_target(self, size: Any, *params: Any) -> Target | None:
        """Return the target of a standard draw. Numbers other than NumPy's are drawn on the device in any count."""
        return self._target(size, *params, any_count=not self._matches_numpy)

    def _target_in(self, out: Any, size: Any, dtype: Any, any_count: bool = False) -> Target | None:
        """Return the array `out` as a target; None if NumPy would not accept it or the host is to fill it."""
        if not isinstance(out, ndarray) or not out.writeable or out.dtype != dtype:
            return None
        if size is not None and not (out.shape and shape_of(size) == out.shape):
            return None
        target = Target(out.shape, out.device, out)
        return target if any_count or target.is_for_device() else None

    def _standard(self, draws: Mapping[DType, Draw], size: Any, dtype: Any, out: Any) -> Any:
        """Draw standard numbers of a dtype, into `out` if it is given."""
        draw = draws.get(numpy.dtype(dtype))
        if out is None:
            target = self._standard_target(size)
        else:
            target = self._target_in(out, size, dtype, any_count=not self._matches_numpy)
        if draw is None or target is None:
            return NotImplemented
        return self._draw_into(target, draw)

    def _scaled(self, draws: Mapping[DType, Draw], size: Any, scale: Any, *loc: Any) -> Any:
        """Draw standard numbers, multiply them by `scale`, and add `loc` if it is given."""
        scale, *shift = map(float64_parameter, (scale, *loc))
        target = self._standard_target(size, scale, *shift)
        if target is None:
            return NotImplemented
        scaled = elementwise("multiply", [scale, self._draw_into(target, draws[FLOAT64])])
        return elementwise("add", [*shift, scaled]) if shift else scaled
