"""Draws of a `Generator` that transform one or two standard numbers each: lazy, so that kernels fuse the transforms.

NumPy draws again where a uniform number whose logarithm it needs is 0, which one of 2^53 is. Here such a number counts
as the smallest positive one: after a redraw, later numbers would no longer be functions of their positions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.dtypes import FLOAT64
from ..core.recording.record import elementwise
from . import transforms
from .generator_draws import GeneratorDraws, generator_method
from .parameters import all_positive, all_true, float64_parameter, is_valid_scale, shape_of
from .words import NUMPY_DRAWS

_SMALLEST_UNIFORM = 2.0**-53


class TransformedDistributions(GeneratorDraws):
    """The methods of `Generator` that transform standard numbers."""

    # Transforms of uniform numbers

    @generator_method
    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw Laplace (double exponential) numbers."""
        return self._of_positive_uniform(transforms.laplace, loc, scale, size)

    @generator_method
    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw logistic numbers."""
        return self._of_positive_uniform(transforms.logistic, loc, scale, size)

    @generator_method
    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw Gumbel (extreme value) numbers."""
        return self._of_positive_uniform(transforms.gumbel, loc, scale, size)

    def _of_positive_uniform(self, transform: Callable[[Any], Any], loc: Any, scale: Any, size: Any) -> Any:
        """Draw uniform numbers in (0, 1), transform them to standard numbers, and scale and shift these."""
        loc, scale = float64_parameter(loc), float64_parameter(scale)
        target = self._target(size, loc, scale)
        if target is None or not is_valid_scale(scale):
            return NotImplemented
        uniform = self._draw_into(target, NUMPY_DRAWS.uniform[FLOAT64])
        standard = transform(elementwise("maximum", [uniform, _SMALLEST_UNIFORM]))
        return elementwise("add", [loc, elementwise("multiply", [scale, standard])])

    @generator_method
    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> Any:
        """Draw triangular numbers between `left` and `right`."""
        left, mode, right = map(float64_parameter, (left, mode, right))
        target = self._target(size, left, mode, right)
        if target is None or not (all_true(left <= mode) and all_true(mode <= right) and all_true(left != right)):
            return NotImplemented
        uniform = self._draw_into(target, NUMPY_DRAWS.uniform[FLOAT64])
        return transforms.triangular(uniform, left, mode, right)

    # Transforms of normal and exponential numbers

    @generator_method
    def standard_cauchy(self, size: Any = None) -> Any:
        """Draw standard Cauchy numbers: ratios of two normal numbers."""
        shape = None if size is None else shape_of(size)
        target = None if shape is None else self._target((*shape, 2))
        if target is None:
            return NotImplemented
        pairs: Any = self._draw_into(target, NUMPY_DRAWS.normal[FLOAT64])
        return pairs[..., 0] / pairs[..., 1]

    @generator_method
    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw Rayleigh numbers."""
        return self._of_exponential(transforms.rayleigh, is_valid_scale, scale, size)

    @generator_method
    def weibull(self, a: Any, size: Any = None) -> Any:
        """Draw standard Weibull numbers."""
        return self._of_exponential(transforms.weibull, all_positive, a, size)

    @generator_method
    def pareto(self, a: Any, size: Any = None) -> Any:
        """Draw Pareto II (Lomax) numbers."""
        return self._of_exponential(transforms.pareto, all_positive, a, size)

    @generator_method
    def power(self, a: Any, size: Any = None) -> Any:
        """Draw numbers of the power distribution."""
        return self._of_exponential(transforms.power, all_positive, a, size)

    def _of_exponential(
        self, transform: Callable[[Any, Any], Any], is_valid: Callable[[Any], bool], parameter: Any, size: Any
    ) -> Any:
        """Draw standard exponential numbers and transform them by a valid parameter."""
        parameter = float64_parameter(parameter)
        target = self._standard_target(size, parameter)
        if target is None or not is_valid(parameter):
            return NotImplemented
        return transform(self._draw_into(target, self._standard_draws.exponential[FLOAT64]), parameter)
