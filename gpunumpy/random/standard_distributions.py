"""Draws of a `Generator` from the uniform, normal and exponential distributions, standard and scaled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.dtypes import FLOAT64, DType
from ..core.graph import node as graph
from ..core.graph.node import Node
from ..core.recording.record import elementwise
from ..functions.reductions.reductions import any as any_of
from .generator_draws import GeneratorDraws, generator_method
from .parameters import SCRATCH_GENERATOR, float64_parameter, is_number, is_valid_scale
from .words import Draw


class StandardDistributions(GeneratorDraws):
    """The methods of `Generator` that draw standard numbers or scale them."""

    # Standard numbers

    @generator_method
    def random(self, size: Any = None, dtype: Any = FLOAT64, out: Any = None) -> Any:
        """Draw uniform numbers in [0, 1)."""
        return self._standard(self._standard_draws.uniform, size, dtype, out)

    @generator_method
    def standard_normal(self, size: Any = None, dtype: Any = FLOAT64, out: Any = None) -> Any:
        """Draw standard normal numbers."""
        return self._standard(self._standard_draws.normal, size, dtype, out)

    @generator_method
    def standard_exponential(self, size: Any = None, dtype: Any = FLOAT64, method: Any = "zig", out: Any = None) -> Any:
        """Draw standard exponential numbers, by the ziggurat or from logarithms of uniform numbers."""
        draws = self._standard_draws
        return self._standard(draws.exponential if method == "zig" else _by_logarithms(draws.uniform), size, dtype, out)

    # Scaled numbers

    @generator_method
    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Draw uniform numbers in [low, high)."""
        if is_number(low) and is_number(high):
            SCRATCH_GENERATOR.uniform(low, high)
            return self._scaled(self._standard_draws.uniform, size, float(high) - float(low), low)
        spread = elementwise("subtract", [float64_parameter(high), float64_parameter(low)])
        is_infinite = elementwise("logical_not", [elementwise("isfinite", [spread])])
        if not is_valid_scale(spread) or bool(any_of(is_infinite)):
            return NotImplemented
        return self._scaled(self._standard_draws.uniform, size, spread, low)

    @generator_method
    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw normal numbers of mean `loc` and standard deviation `scale`."""
        return self._scaled(self._standard_draws.normal, size, scale, loc) if is_valid_scale(scale) else NotImplemented

    @generator_method
    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw exponential numbers of mean `scale`."""
        return self._scaled(self._standard_draws.exponential, size, scale) if is_valid_scale(scale) else NotImplemented

    @generator_method
    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        """Draw exponentials of normal numbers."""
        if not is_valid_scale(sigma):
            return NotImplemented
        logs = self._scaled(self._standard_draws.normal, size, sigma, mean)
        return logs if logs is NotImplemented else elementwise("exp", [logs])


def _by_logarithms(uniforms: Mapping[DType, Draw]) -> dict[DType, Draw]:
    """Return functions that draw exponential numbers, each from one uniform number: -log(1 - u)."""

    def exponential(dtype: DType, uniform: Draw) -> Draw:
        def draw(*target: Any) -> Node:
            numbers = uniform(*target)
            for op in ("negative", "log1p", "negative"):
                numbers = graph.map_node(op, (dtype, dtype), (numbers,))
            return numbers

        return draw

    return {dtype: exponential(dtype, uniform) for dtype, uniform in uniforms.items()}
