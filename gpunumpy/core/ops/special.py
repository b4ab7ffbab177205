"""Rows for the functions of SciPy's `special`, under its names. They are no ufuncs of NumPy.

A program that uses one has its text compiled; the interpreter of kernels has none of them.
"""

from __future__ import annotations

from typing import Any

import numpy

from ..dtypes import FLOAT64, DType
from .elementwise import Op

FLOAT32 = numpy.dtype(numpy.float32)

_ALL_NUMBERS = (-1e4, 1e4)
_UNIT = (0.0, 1.0)


def _op(name: str, ulp: float, *domains: tuple[float, float], points: int = 0) -> tuple[str, Op]:
    """Return the row of a function of one argument, or of two, each with the interval that tests draw it from.

    `ulp` is about the largest error of the function's text, where its value is not near a zero.
    """
    fields = ", ".join(f"{{{k}}}" for k in range(len(domains)))
    return name, Op(name, {"f": f"op::{name}({fields})"}, ulp, ulp, domains[0], points)


SPECIAL: dict[str, Op] = dict(
    (
        # Logistic functions and entropies.
        _op("expit", 2.5, (-40, 40)),
        _op("logit", 1, _UNIT),
        _op("log_expit", 1.5, (-40, 40)),
        _op("xlogy", 2, _ALL_NUMBERS, (0, 1e4)),
        _op("xlog1py", 2, _ALL_NUMBERS, (-1, 1e4)),
        _op("entr", 2, (0, 10)),
        _op("rel_entr", 1, (0, 10), (0, 10)),
        _op("kl_div", 1.5, (0, 10), (0, 10)),
        # Powers, and differences that would cancel.
        _op("exprel", 2, (-40, 40)),
        _op("cosm1", 1.5, (-20, 20)),
        _op("log1pmx", 1.5, (-1, 10)),
        _op("boxcox", 2, (0, 10), (-5, 5), points=1),
        _op("inv_boxcox", 1.5, (0, 10), (-0.1, 5), points=1),
        # Losses.
        _op("huber", 1.5, (0, 10), (-20, 20)),
        _op("pseudo_huber", 2, (0, 10), (-20, 20)),
        # Error functions, and the normal distribution.
        _op("erf", 2.5, (-4, 4)),
        _op("erfc", 4, (-5, 10), points=1),
        _op("erfcx", 3.5, (-5, 20), points=1),
        _op("erfinv", 3, (-1, 1), points=1),
        _op("erfcinv", 2.5, (0, 2), points=1),
        _op("ndtr", 4, (-10, 10), points=1),
        _op("ndtri", 2.5, _UNIT, points=1),
        _op("log_ndtr", 4.5, (-20, 10), points=1),
        # Gamma functions.
        _op("gamma", 1.5, (0, 20), points=1),
        _op("gammaln", 5, (0, 100), points=1),
        _op("rgamma", 1.5, (0, 20), points=1),
        _op("digamma", 3.5, (0, 20), points=1),
        _op("beta", 2, (0, 20), (0, 20), points=1),
        _op("betaln", 2, (0, 20), (0, 20), points=1),
        _op("binom", 2.5, (0, 60), (0, 60), points=1),
        # Bessel functions.
        _op("j0", 2.5, (0, 50), points=1),
        _op("j1", 1.5, (0, 50), points=1),
        _op("y0", 3, (0, 50), points=1),
        _op("y1", 2, (0, 50), points=1),
        _op("i0", 3.5, (-20, 20), points=1),
        _op("i0e", 2.5, (-20, 20), points=1),
        _op("i1", 3.5, (-20, 20), points=1),
        _op("i1e", 2.5, (-20, 20), points=1),
        _op("k0", 2, (0, 20), points=1),
        _op("k0e", 2, (0, 20), points=1),
        _op("k1", 2, (0, 20), points=1),
        _op("k1e", 2, (0, 20), points=1),
    )
)

# Those that SciPy's ufuncs have under another name, and all rows by the names of SciPy's ufuncs.
SCIPY_NAMES = {"digamma": "psi", "log1pmx": "_log1pmx"}
OF_SCIPY = {SCIPY_NAMES.get(name, name): name for name in SPECIAL}

# Those that compute all but float32 in float64. The others, as SciPy's from 1.18 on, compute narrow integers and halves
# in float32.
_WIDE = frozenset(("logit",))


def resolve_special(name: str, dtypes: tuple[Any, ...], width: DType) -> tuple[DType, ...]:
    """Return the loop of a row for arguments that NumPy promotes to a float dtype, `width`."""
    is_narrow = set(dtypes) == {FLOAT32} if name in _WIDE else width.itemsize < 8
    return (FLOAT32 if is_narrow else FLOAT64,) * (SPECIAL[name].arity + 1)
