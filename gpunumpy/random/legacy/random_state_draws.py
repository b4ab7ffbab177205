"""What the classes of `RandomState`'s methods share."""

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
    """What draws from MT19937's words as NumPy's first releases did."""

    _stream: Twister

    @property
    def _numpys(self) -> Any:
        return self._stream.numpys

    def _draw(self, draw: TwisterDraw, size: Any, *params: Any, name: str = "") -> Any:
        """Draw numbers, as many as `size` or the parameters that are arrays ask for; `name`: see MIN_COUNT_FACTORS."""
        target = self._target(size, *params, draw=name)
        return NotImplemented if target is None else self._draw_into(target, draw)
