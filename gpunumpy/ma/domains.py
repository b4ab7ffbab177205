"""Where the functions of `numpy.ma` leave their domain, and what stands in for masked operands: tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..functions.ufuncs.errstate import ignoring
from ..functions.ufuncs.ufunc import UFUNCS

Domain = Callable[..., Any]

_TINY = float(numpy.finfo(float).tiny)


def _below(limit: float) -> Domain:
    return lambda x: UFUNCS["less"](x, limit)


def _not_above(limit: float) -> Domain:
    return lambda x: UFUNCS["less_equal"](x, limit)


def _outside(limit: float) -> Domain:
    return lambda x: UFUNCS["logical_or"](UFUNCS["greater"](x, limit), UFUNCS["less"](x, -limit))


@ignoring(invalid="ignore")
def _near_pole(x: Any) -> Any:
    return UFUNCS["less"](UFUNCS["absolute"](UFUNCS["cos"](x)), 1e-35)


@ignoring(all="ignore")
def quotient_overflows(a: Any, b: Any) -> Any:
    """Return where a divisor is zero, or so small that the quotient overflows."""
    return UFUNCS["greater_equal"](UFUNCS["multiply"](UFUNCS["absolute"](a), _TINY), UFUNCS["absolute"](b))


# Functions of one argument: what a ufunc of NumPy writes where the domain is left, and where that is.
UNARY: dict[str, tuple[float, Domain | None]] = {
    **dict.fromkeys(("exp", "conjugate", "sin", "cos", "arctan", "arcsinh", "sinh", "cosh", "tanh"), (0, None)),
    **dict.fromkeys(("absolute", "fabs", "negative", "floor", "ceil", "logical_not"), (0, None)),
    "sqrt": (0.0, _below(0.0)),
    **dict.fromkeys(("log", "log2", "log10"), (1.0, _not_above(0.0))),
    "tan": (0.0, _near_pole),
    "arcsin": (0.0, _outside(1.0)),
    "arccos": (0.0, _outside(1.0)),
    "arccosh": (1.0, _below(1.0)),
    "arctanh": (0.0, _outside(1.0 - 1e-15)),
}

# Functions of two arguments: what stands in for masked elements of each, for the functions' methods.
BINARY: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("add", "subtract", "hypot", "bitwise_and", "bitwise_or", "bitwise_xor"), (0, 0)),
    **dict.fromkeys(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"), (0, 0)),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), (0, 0)),
    "multiply": (1, 1),
    "arctan2": (0.0, 1.0),
}
WITHOUT_REDUCE = frozenset(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"))

# Functions of two arguments that mask what is not finite, and where the quotient overflows.
QUOTIENTS = ("divide", "floor_divide", "remainder", "fmod")
QUOTIENT_FILLS = (0, 1)
