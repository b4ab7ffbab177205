"""The base class of `RandomState`'s draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ...core.graph.node import Node
from ...core.graph.queue import Queue
from ..device_draws import DeviceDraws, drawn_on_device
from ..mt19937 import Twister

TwisterDraw = Callable[[Twister, int, Queue], Node]

random_state_method = drawn_on_device(numpy.random.RandomState)


class RandomStateDraws(DeviceDraws):
    """Base class of methods that draw from words of MT19937 as NumPy's first releases did."""

    _stream: Twister

    @property
    def _numpy_generator(self) -> Any:
        return self._stream.random_state

    def _draw(self, draw: TwisterDraw, size: Any, *params: Any, name: str = "") -> Any:
        """Draw numbers by `draw`, in the shape of `size` or of the parameters; `NotImplemented` if the host is to.

        `name` is the draw's in MIN_COUNT_FACTORS.
        """
        target = self._target(size, *params, draw=name)
        return NotImplemented if target is None else self._draw_into(target, draw)
