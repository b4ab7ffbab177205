"""Uniform, normal and exponential numbers of a `Generator`, standard ones and scaled ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.dtypes import FLOAT64, DType
from ..core.graph import node as graph
from ..core.graph.node import Node
from ..core.recording.record import elementwise
from ..functions.reductions.reductions import any as any_of
from .generator_draws import GeneratorDraws, generator_method
from .parameters import SCRATCH_GENERATOR, float64_parameter, is_number, is_scale
from .words import Draw


class StandardDistributions(GeneratorDraws):
    """Methods of `Generator`."""

    # Standard numbers

    @generator_method
    def random(self, size: Any = None, dtype: Any = FLOAT64, out: Any = None) -> Any:
        return self._standard(self._standard_draws.uniform, size, dtype, out)

    @generator_method
    def standard_normal(self, size: Any = None, dtype: Any = FLOAT64, out: Any = None) -> Any:
        return self._standard(self._standard_draws.normal, size, dtype, out)

    @generator_method
    def standard_exponential(self, size: Any = None, dtype: Any = FLOAT64, method: Any = "zig", out: Any = None) -> Any:
        draws = self._standard_draws
        return self._standard(draws.exponential if method == "zig" else _logarithms(draws.uniform), size, dtype, out)

    # Scaled numbers

    @generator_method
    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        if is_number(low) and is_number(high):
            SCRATCH_GENERATOR.uniform(low, high)
            return self._scaled(self._standard_draws.uniform, size, float(high) - float(low), low)
        spread = elementwise("subtract", [float64_parameter(high), float64_parameter(low)])
        endless = elementwise("logical_not", [elementwise("isfinite", [spread])])
        if not is_scale(spread) or bool(any_of(endless)):
            return NotImplemented
        return self._scaled(self._standard_draws.uniform, size, spread, low)

    @generator_method
    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._scaled(self._standard_draws.normal, size, scale, loc) if is_scale(scale) else NotImplemented

    @generator_method
    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._scaled(self._standard_draws.exponential, size, scale) if is_scale(scale) else NotImplemented

    @generator_method
    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        made = self._scaled(self._standard_draws.normal, size, sigma, mean) if is_scale(sigma) else NotImplemented
        return made if made is NotImplemented else elementwise("exp", [made])


def _logarithms(uniforms: Mapping[DType, Draw]) -> dict[DType, Draw]:
    """Return draws of exponential numbers, one of each uniform one."""

    def exponential(dtype: DType, uniform: Draw) -> Draw:
        def draw(*target: Any) -> Node:
            made = uniform(*target)
            for op in ("negative", "log1p", "negative"):
                made = graph.map_node(op, (dtype, dtype), (made,))
            return made

        return draw

    return {dtype: exponential(dtype, uniform) for dtype, uniform in uniforms.items()}
