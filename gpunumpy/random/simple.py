"""Random numbers of which the words themselves, or the ziggurats, are most of the work."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import FLOAT64, DType
from ..core.graph import node as graph
from ..core.graph.node import Node
from ..core.recording.record import elementwise
from ..functions.reductions.reductions import any as any_of
from . import words
from .method import PROBE, Drawing, fine, is_number, on_device, parameter


class Simple(Drawing):
    # Numbers of one distribution

    @on_device("random")
    def random(self, size: Any = None, dtype: Any = FLOAT64, out: Any = None) -> Any:
        return self._standard(self._words.EVEN, size, dtype, out)

    @on_device("standard_normal")
    def standard_normal(self, size: Any = None, dtype: Any = FLOAT64, out: Any = None) -> Any:
        return self._standard(self._words.NORMAL, size, dtype, out)

    @on_device("standard_exponential")
    def standard_exponential(self, size: Any = None, dtype: Any = FLOAT64, method: Any = "zig", out: Any = None) -> Any:
        draws = self._words.EXPONENTIAL if method == "zig" else _logarithms(self._words.EVEN)
        return self._standard(draws, size, dtype, out)

    # Numbers of a distribution with parameters

    @on_device("uniform")
    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        if is_number(low) and is_number(high):
            PROBE.uniform(low, high)
            return self._placed(self._words.EVEN, size, float(high) - float(low), low)
        spread = elementwise("subtract", [parameter(high), parameter(low)])
        endless = elementwise("logical_not", [elementwise("isfinite", [spread])])
        if not fine(spread) or bool(any_of(endless)):
            return NotImplemented
        return self._placed(self._words.EVEN, size, spread, low)

    @on_device("normal")
    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._placed(self._words.NORMAL, size, scale, loc) if fine(scale) else NotImplemented

    @on_device("exponential")
    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._placed(self._words.EXPONENTIAL, size, scale) if fine(scale) else NotImplemented

    @on_device("lognormal")
    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        made = self._placed(self._words.NORMAL, size, sigma, mean) if fine(sigma) else NotImplemented
        return made if made is NotImplemented else elementwise("exp", [made])


def _logarithms(evenly: dict[DType, words.Draw]) -> dict[DType, words.Draw]:
    """Exponential numbers, one of each even one."""

    def drawn(dtype: DType, draw: words.Draw) -> words.Draw:
        def make(*target: Any) -> Node:
            made = draw(*target)
            for op in ("negative", "log1p", "negative"):
                made = graph.map_node(op, (dtype, dtype), (made,))
            return made

        return make

    return {dtype: drawn(dtype, draw) for dtype, draw in evenly.items()}
