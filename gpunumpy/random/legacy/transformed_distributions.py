"""Draws of a `RandomState` that transform one or two uniform or normal numbers each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.graph.node import Node
from ...core.graph.queue import Queue
from ...core.recording.array import wrap
from ...core.recording.record import elementwise
from ...functions.reductions.reductions import any as any_of
from .. import transforms
from ..mt19937 import Twister
from ..parameters import SCRATCH_STATE, all_positive, all_true, float64_parameter, is_number, is_valid_scale
from .random_state_draws import RandomStateDraws, TwisterDraw, random_state_method


class TransformedDistributions(RandomStateDraws):
    """The methods of `RandomState` that transform uniform or normal numbers."""

    # Transforms of uniform numbers

    @random_state_method
    def random_sample(self, size: Any = None) -> Any:
        """Draw uniform numbers in [0, 1)."""
        return self._draw(Twister.uniforms, size)

    @random_state_method
    def random(self, size: Any = None) -> Any:
        """Draw uniform numbers in [0, 1)."""
        return self._draw(Twister.uniforms, size)

    @random_state_method
    def rand(self, *args: Any) -> Any:
        """Draw uniform numbers in [0, 1); the arguments are the shape."""
        return self._draw(Twister.uniforms, args) if args else NotImplemented

    @random_state_method
    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Draw uniform numbers in [low, high)."""
        if is_number(low) and is_number(high):
            SCRATCH_STATE.uniform(low, high)
            return self._scaled(Twister.uniforms, size, float(low), float(high) - float(low))
        low = float64_parameter(low)
        spread = elementwise("subtract", [float64_parameter(high), low])
        if bool(any_of(elementwise("logical_not", [elementwise("isfinite", [spread])]))):
            return NotImplemented
        return self._scaled(Twister.uniforms, size, low, spread)

    @random_state_method
    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> Any:
        """Draw triangular numbers between `left` and `right`."""
        left, mode, right = map(float64_parameter, (left, mode, right))
        if not (all_true(left <= mode) and all_true(mode <= right) and all_true(left != right)):
            return NotImplemented
        u = self._draw(Twister.uniforms, size, left, mode, right, name="RandomState.triangular")
        return u if u is NotImplemented else transforms.triangular(u, left, mode, right)

    @random_state_method
    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw Laplace (double exponential) numbers."""
        return self._of_positive_uniform(transforms.laplace, loc, scale, size)

    @random_state_method
    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw Gumbel (extreme value) numbers."""
        return self._of_positive_uniform(transforms.gumbel, loc, scale, size)

    @random_state_method
    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw logistic numbers."""
        return self._of_positive_uniform(transforms.logistic, loc, scale, size)

    def _of_positive_uniform(self, transform: Callable[[Any], Any], loc: Any, scale: Any, size: Any) -> Any:
        """Draw uniform numbers in (0, 1), transform them to standard numbers, and scale and shift these."""
        loc, scale = float64_parameter(loc), float64_parameter(scale)
        u = self._draw(Twister.positive_uniforms, size, loc, scale) if is_valid_scale(scale) else NotImplemented
        return u if u is NotImplemented else _scale_and_shift(loc, scale, transform(u))

    # Exponential numbers, and transforms of them

    @random_state_method
    def standard_exponential(self, size: Any = None) -> Any:
        """Draw standard exponential numbers."""
        return self._exponential(size)

    @random_state_method
    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw exponential numbers of mean `scale`."""
        standard = self._exponential(size, scale) if is_valid_scale(scale) else NotImplemented
        return standard if standard is NotImplemented else elementwise("multiply", [float64_parameter(scale), standard])

    @random_state_method
    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw Rayleigh numbers."""
        return self._of_exponential(transforms.rayleigh, is_valid_scale, scale, size)

    @random_state_method
    def weibull(self, a: Any, size: Any = None) -> Any:
        """Draw standard Weibull numbers."""
        return self._of_exponential(transforms.weibull, all_positive, a, size)

    @random_state_method
    def pareto(self, a: Any, size: Any = None) -> Any:
        """Draw Pareto II (Lomax) numbers."""
        return self._of_exponential(transforms.random_state_pareto, all_positive, a, size)

    @random_state_method
    def power(self, a: Any, size: Any = None) -> Any:
        """Draw numbers of the power distribution."""
        return self._of_exponential(transforms.random_state_power, all_positive, a, size)

    def _of_exponential(
        self, transform: Callable[[Any, Any], Any], is_valid: Callable[[Any], bool], parameter: Any, size: Any
    ) -> Any:
        """Draw standard exponential numbers and transform them by a valid parameter."""
        standard = self._exponential(size, parameter) if is_valid(parameter) else NotImplemented
        return standard if standard is NotImplemented else transform(standard, float64_parameter(parameter))

    def _exponential(self, size: Any, *params: Any) -> Any:
        """Draw standard exponential numbers, in the shape of `size` or of the parameters."""
        u = self._draw(Twister.uniforms, size, *map(float64_parameter, params))
        return u if u is NotImplemented else transforms.random_state_exponential(u)

    # Normal numbers, and transforms of them

    @random_state_method
    def standard_normal(self, size: Any = None) -> Any:
        """Draw standard normal numbers."""
        return self._draw(Twister.normals, size)

    @random_state_method
    def randn(self, *args: Any) -> Any:
        """Draw standard normal numbers; the arguments are the shape."""
        return self._draw(Twister.normals, args) if args else NotImplemented

    @random_state_method
    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw normal numbers of mean `loc` and standard deviation `scale`."""
        return self._scaled(Twister.normals, size, loc, scale) if is_valid_scale(scale) else NotImplemented

    @random_state_method
    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        """Draw exponentials of normal numbers."""
        logs = self._scaled(Twister.normals, size, mean, sigma) if is_valid_scale(sigma) else NotImplemented
        return logs if logs is NotImplemented else elementwise("exp", [logs])

    @random_state_method
    def standard_cauchy(self, size: Any = None) -> Any:
        """Draw standard Cauchy numbers: ratios of two normal numbers."""
        return self._draw(_ratios_of_normals, size)

    def _scaled(self, draw: TwisterDraw, size: Any, loc: Any, scale: Any) -> Any:
        """Draw standard numbers, multiply them by `scale` and add `loc`."""
        loc, scale = float64_parameter(loc), float64_parameter(scale)
        standard = self._draw(draw, size, loc, scale)
        return standard if standard is NotImplemented else _scale_and_shift(loc, scale, standard)


def _scale_and_shift(loc: Any, scale: Any, standard: Any) -> Any:
    return elementwise("add", [loc, elementwise("multiply", [scale, standard])])


def _ratios_of_normals(stream: Twister, count: int, queue: Queue) -> Node:
    pairs: Any = wrap(stream.normals(2 * count, queue))
    ratios: Node = elementwise("divide", [pairs[::2], pairs[1::2]]).value()
    return ratios
