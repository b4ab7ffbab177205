"""Transforms of uniform and exponential numbers to those of other distributions, step by step as NumPy makes them.

Parameters are float64, numbers or arrays; of numbers alone nothing is computed on a device.
"""

from __future__ import annotations

from typing import Any

from ..core.recording.record import elementwise


def _op(name: str, *args: Any) -> Any:
    return elementwise(name, args)


# --- of uniform numbers -----------------------------------------------------------------------------------------------


def laplace(u: Any) -> Any:
    """Return standard Laplace numbers of uniform ones in (0, 1)."""
    is_upper = _op("greater_equal", u, 0.5)
    upper, lower = _op("subtract", _op("subtract", 2.0, u), u), _op("add", u, u)
    log = _op("log", _op("where", is_upper, upper, lower))
    return _op("where", is_upper, _op("negative", log), log)


def logistic(u: Any) -> Any:
    """Return standard logistic numbers of uniform ones in (0, 1)."""
    return _op("log", _op("divide", u, _op("subtract", 1.0, u)))


def gumbel(u: Any) -> Any:
    """Return standard Gumbel numbers of uniform ones in (0, 1)."""
    log = _op("log", _op("subtract", 1.0, u))
    return _op("negative", _op("log", _op("negative", log)))


def triangular(u: Any, left: Any, mode: Any, right: Any) -> Any:
    """Return triangular numbers of uniform ones in [0, 1)."""
    base, rise, fall = right - left, mode - left, right - mode
    lower = _op("add", left, _op("sqrt", _op("multiply", u, rise * base)))
    upper = _op("subtract", right, _op("sqrt", _op("multiply", _op("subtract", 1.0, u), fall * base)))
    return _op("where", _op("less_equal", u, rise / base), lower, upper)


# --- of exponential numbers -------------------------------------------------------------------------------------------


def rayleigh(x: Any, scale: Any) -> Any:
    """Return Rayleigh numbers of exponential ones."""
    return _op("multiply", scale, _op("sqrt", _op("multiply", 2.0, x)))


def weibull(x: Any, a: Any) -> Any:
    """Return Weibull numbers of exponential ones."""
    return _op("power", x, 1.0 / a)


def pareto(x: Any, a: Any) -> Any:
    """Return Pareto numbers of exponential ones, as a `Generator` makes them."""
    return _op("expm1", _op("divide", x, a))


def power(x: Any, a: Any) -> Any:
    """Return numbers of a power distribution of exponential ones, as a `Generator` makes them."""
    return _op("power", _op("negative", _op("expm1", _op("negative", x))), 1.0 / a)


def random_state_pareto(x: Any, a: Any) -> Any:
    """Return Pareto numbers of exponential ones, as a `RandomState` makes them."""
    return _op("subtract", _op("exp", _op("divide", x, a)), 1.0)


def random_state_power(x: Any, a: Any) -> Any:
    """Return numbers of a power distribution of exponential ones, as a `RandomState` makes them."""
    return _op("power", _op("subtract", 1.0, _op("exp", _op("negative", x))), 1.0 / a)


def minus_log_of_rest(u: Any) -> Any:
    """Return exponential numbers of uniform ones in [0, 1), as a `RandomState` makes them."""
    return _op("negative", _op("log", _op("subtract", 1.0, u)))
