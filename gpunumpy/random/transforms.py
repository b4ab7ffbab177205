"""Transforms of uniform and exponential numbers into other distributions, step by step as NumPy computes them.

Parameters are float64 scalars or arrays; what depends on scalars alone is computed on the host.
"""

from __future__ import annotations

from typing import Any

from ..core.recording.record import elementwise


def _op(name: str, *args: Any) -> Any:
    return elementwise(name, args)


# --- of uniform numbers u ---------------------------------------------------------------------------------------------


def laplace(u: Any) -> Any:
    """Return standard Laplace numbers, given uniform numbers in (0, 1)."""
    is_upper = _op("greater_equal", u, 0.5)
    upper, lower = _op("subtract", _op("subtract", 2.0, u), u), _op("add", u, u)
    log = _op("log", _op("where", is_upper, upper, lower))
    return _op("where", is_upper, _op("negative", log), log)


def logistic(u: Any) -> Any:
    """Return standard logistic numbers, given uniform numbers in (0, 1)."""
    return _op("log", _op("divide", u, _op("subtract", 1.0, u)))


def gumbel(u: Any) -> Any:
    """Return standard Gumbel numbers, given uniform numbers in (0, 1)."""
    log = _op("log", _op("subtract", 1.0, u))
    return _op("negative", _op("log", _op("negative", log)))


def triangular(u: Any, left: Any, mode: Any, right: Any) -> Any:
    """Return triangular numbers, given uniform numbers in [0, 1)."""
    base, rise, fall = right - left, mode - left, right - mode
    lower = _op("add", left, _op("sqrt", _op("multiply", u, rise * base)))
    upper = _op("subtract", right, _op("sqrt", _op("multiply", _op("subtract", 1.0, u), fall * base)))
    return _op("where", _op("less_equal", u, rise / base), lower, upper)


# --- of standard exponential numbers x --------------------------------------------------------------------------------


def rayleigh(x: Any, scale: Any) -> Any:
    """Return Rayleigh numbers, given standard exponential numbers."""
    return _op("multiply", scale, _op("sqrt", _op("multiply", 2.0, x)))


def weibull(x: Any, a: Any) -> Any:
    """Return standard Weibull numbers of shape `a`, given standard exponential numbers."""
    return _op("power", x, 1.0 / a)


def pareto(x: Any, a: Any) -> Any:
    """Return Pareto II (Lomax) numbers, given standard exponential numbers, as a `Generator` computes them."""
    return _op("expm1", _op("divide", x, a))


def power(x: Any, a: Any) -> Any:
    """Return numbers of a power distribution, given standard exponential numbers, as a `Generator` computes them."""
    return _op("power", _op("negative", _op("expm1", _op("negative", x))), 1.0 / a)


def random_state_pareto(x: Any, a: Any) -> Any:
    """Return Pareto II (Lomax) numbers, given standard exponential numbers, as a `RandomState` computes them."""
    return _op("subtract", _op("exp", _op("divide", x, a)), 1.0)


def random_state_power(x: Any, a: Any) -> Any:
    """Return numbers of a power distribution, given standard exponential numbers, as a `RandomState` computes them."""
    return _op("power", _op("subtract", 1.0, _op("exp", _op("negative", x))), 1.0 / a)


def random_state_exponential(u: Any) -> Any:
    """Return standard exponential numbers, given uniform numbers in [0, 1), as a `RandomState` computes them."""
    return _op("negative", _op("log", _op("subtract", 1.0, u)))
