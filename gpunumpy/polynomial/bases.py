"""The six bases of polynomials of NumPy, as rows of a table: everything else is derived from their recurrences.

Basis polynomials P[n] satisfy ``d[n] P[n + 1] = (a[n] x + b[n]) P[n] - g[n] P[n - 1]`` with P[0] = 1 and integer
coefficients, from which follow values, products, and the matrix whose eigenvalues are roots.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..core.late_dataclasses import dataclass
from ..functions.ufuncs.ufunc import exp, sqrt

# A function of the degree: of an int, or of an array of them.
OfDegree = Callable[[Any], Any]


def _constant(value: int) -> OfDegree:
    return lambda n: n * 0 + value


_zero, _one = _constant(0), _constant(1)


@dataclass(frozen=True, slots=True)
class Basis:
    """A basis of polynomials.

    Attributes
    ----------
    module
        The name of NumPy's module.
    prefix
        What the names of the module's functions begin with.
    class_name
        The name of NumPy's class.
    a, b, g, d
        The coefficients of the recurrence.
    derivative
        Functions u and v and a step: coefficient k of the derivative is v[k] times the sum of ``u[n] c[n]`` over
        n = k + 1, k + 1 + step, ... ; for step 0 of the first term alone.
    integral
        Functions up, same, down: the integral of P[n] is ``up[n] P[n + 1] + same[n] P[n] + down[n] P[n - 1]``, but for
        a constant.
    weight
        The weight function for which the basis is orthogonal, or None.
    """

    module: str
    prefix: str
    class_name: str
    a: OfDegree
    derivative: tuple[OfDegree, OfDegree, int]
    integral: tuple[OfDegree, OfDegree, OfDegree]
    weight: Callable[[Any], Any] | None
    b: OfDegree = _zero
    g: OfDegree = _zero
    d: OfDegree = _one

    def linear(self, n: int, x: Any) -> Any:
        """Return ``a[n] x + b[n]``."""
        a, b = self.a(n), self.b(n)
        if b:
            return b - x if a == -1 else b + x * a
        return x if a == 1 else x * a

    def times_x(self, count: int) -> tuple[Any, Any, Any]:
        """Return NumPy arrays up, same, down: ``x P[n]`` is ``up[n] P[n + 1] + same[n] P[n] + down[n] P[n - 1]``."""
        n = numpy.arange(count)
        a = self.a(n)
        return self.d(n) / a, -self.b(n) / a, self.g(n) * (n > 0) / a

    def matrix_of_x(self, size: int) -> Any:
        """Return the matrix, a NumPy array, that multiplies coefficients by x; what is of degree `size` is lost."""
        up, same, down = self.times_x(size)
        return numpy.diag(up[:-1], -1) + numpy.diag(same) + numpy.diag(down[1:], 1)


POWERS = Basis(
    *("polynomial", "poly", "Polynomial"),
    a=_one,
    derivative=(lambda n: n, _one, 0),
    integral=(lambda n: 1 / (n + 1), _zero, _zero),
    weight=None,
)
CHEBYSHEV = Basis(
    *("chebyshev", "cheb", "Chebyshev"),
    a=lambda n: 2 - (n == 0) * 1,
    g=_one,
    derivative=(lambda n: n, lambda k: 2 - (k == 0), 2),
    integral=(
        lambda n: 1 / ((2 - (n == 0)) * (n + 1)),
        _zero,
        lambda n: (n > 1) / (-2 * numpy.maximum(n - 1, 1)),
    ),
    weight=lambda x: 1.0 / (sqrt(1.0 + x) * sqrt(1.0 - x)),
)
LEGENDRE = Basis(
    *("legendre", "leg", "Legendre"),
    a=lambda n: 2 * n + 1,
    g=lambda n: n,
    d=lambda n: n + 1,
    derivative=(_one, lambda k: 2 * k + 1, 2),
    integral=(lambda n: 1 / (2 * n + 1), _zero, lambda n: (n > 1) / (-2 * n - 1)),
    weight=lambda x: x * 0.0 + 1.0,
)
HERMITE = Basis(
    *("hermite", "herm", "Hermite"),
    a=_constant(2),
    g=lambda n: 2 * n,
    derivative=(lambda n: 2 * n, _one, 0),
    integral=(lambda n: 1 / (2 * (n + 1)), _zero, _zero),
    weight=lambda x: exp(-(x**2)),
)
HERMITE_E = Basis(
    *("hermite_e", "herme", "HermiteE"),
    a=_one,
    g=lambda n: n,
    derivative=(lambda n: n, _one, 0),
    integral=(lambda n: 1 / (n + 1), _zero, _zero),
    weight=lambda x: exp(-0.5 * x**2),
)
LAGUERRE = Basis(
    *("laguerre", "lag", "Laguerre"),
    a=_constant(-1),
    b=lambda n: 2 * n + 1,
    g=lambda n: n,
    d=lambda n: n + 1,
    derivative=(_one, _constant(-1), 1),
    integral=(_constant(-1), _one, _zero),
    weight=lambda x: exp(-x),
)
BASES: tuple[Basis, ...] = (POWERS, CHEBYSHEV, LEGENDRE, HERMITE, HERMITE_E, LAGUERRE)
