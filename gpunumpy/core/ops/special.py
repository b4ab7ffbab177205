"""Rows for the functions of SciPy's `special`, under its names. They are no ufuncs of NumPy.

A program that uses one has its text compiled; the interpreter of kernels has none of them.
"""

from __future__ import annotations

import numpy

from ..dtypes import FLOAT64, DType
from .elementwise import Op

FLOAT32 = numpy.dtype(numpy.float32)

_ALL_NUMBERS = (-1e4, 1e4)
_UNIT = (0.0, 1.0)


def _op(name: str, ulp: float, *domains: tuple[float, float]) -> tuple[str, Op]:
    """Return the row of a function of one argument, or of two, each with the interval that tests draw it from.

    `ulp` is about the largest error of the function's text, where its value is not near a zero.
    """
    fields = ", ".join(f"{{{k}}}" for k in range(len(domains)))
    return name, Op(name, {"f": f"op::{name}({fields})"}, ulp, ulp, domains[0])


SPECIAL: dict[str, Op] = dict(
    (
        # Logistic functions and entropies.
        _op("expit", 2, (-40, 40)),
        _op("logit", 2, _UNIT),
        _op("log_expit", 1, (-40, 40)),
        _op("xlogy", 2, _ALL_NUMBERS, (0, 1e4)),
        _op("xlog1py", 2, _ALL_NUMBERS, (-1, 1e4)),
        _op("entr", 2, (0, 10)),
        _op("rel_entr", 1, (0, 10), (0, 10)),
        _op("kl_div", 1, (0, 10), (0, 10)),
        # Powers, and differences that would cancel.
        _op("exprel", 2, (-40, 40)),
        _op("cosm1", 1, (-20, 20)),
        _op("log1pmx", 1, (-1, 10)),
        _op("boxcox", 2, (0, 10), (-5, 5)),
        _op("inv_boxcox", 1, (0, 10), (-0.1, 5)),
        # Losses.
        _op("huber", 1.5, (0, 10), (-20, 20)),
        _op("pseudo_huber", 1.5, (0, 10), (-20, 20)),
        # Error functions, and the normal distribution.
        _op("erf", 2.5, (-4, 4)),
        _op("erfc", 1.5, (-5, 10)),
        _op("erfcx", 1.5, (-5, 20)),
        _op("erfinv", 2.5, (-1, 1)),
        _op("erfcinv", 2, (0, 2)),
        _op("ndtr", 1.5, (-10, 10)),
        _op("ndtri", 2.5, _UNIT),
        _op("log_ndtr", 1.5, (-20, 10)),
        # Gamma functions.
        _op("gamma", 1.5, (0, 20)),
        _op("gammaln", 1.5, (0, 100)),
        _op("rgamma", 1.5, (0, 20)),
        _op("digamma", 2, (0, 20)),
        _op("beta", 2, (0, 20), (0, 20)),
        _op("betaln", 2, (0, 20), (0, 20)),
        _op("binom", 2, (0, 60), (0, 60)),
    )
)

# Those that compute narrow integers and halves in float64, where the others do in float32. As SciPy 1.18.
_WIDE = frozenset(("logit",))


def resolve_special(name: str, width: DType) -> tuple[DType, ...]:
    """Return the loop of a row for arguments that NumPy promotes to a float dtype."""
    is_narrow = width.itemsize < 8 and (width == FLOAT32 or name not in _WIDE)
    return (FLOAT32 if is_narrow else FLOAT64,) * (SPECIAL[name].arity + 1)
