"""The polynomials of the device's functions: ``python -m tools.minimax [name]`` prints their coefficients.

Each approximates a power series over an interval with the least maximal weighted error (the exchange algorithm of
Remez, 1934). The weight makes it the error of the whole function relative to its value. The coefficients, rounded to
float32 or float64, stand in the `.cuh` files of `gpunumpy/kernels/codegen`.
"""

from __future__ import annotations

import decimal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from math import comb, factorial

import numpy

decimal.getcontext().prec = 70
_TERMS = 120  # of a series: more than any interval here needs at this precision
_GRID = 50  # points a coefficient at which the error is looked at

_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
_LN2 = Decimal(2).ln()
_ARTANH_END = (Decimal(2).sqrt() - 1) ** 4  # the square of (m - 1) / (m + 1) at m = sqrt(2)
_ARCTAN_END = (Decimal(2).sqrt() - 1) ** 2  # the square of tan(pi/8)
_EIGHTH_TURN_END = (_PI / 4) ** 2


@dataclass(frozen=True)
class Polynomial:
    """A power series, and where it is approximated by a polynomial of how many coefficients.

    Attributes
    ----------
    term
        The coefficient of z**k in the series.
    interval
        Where z lies.
    weight
        What an error of the polynomial at z is in the function that it serves, relative to that function's value.
    counts
        The number of coefficients for float32 and for float64; 0 where it does not serve that type.
    """

    term: Callable[[int], Decimal]
    interval: tuple[Decimal, Decimal]
    weight: Callable[[Decimal], Decimal]
    counts: tuple[int, int]


@cache
def _tanh_term(k: int) -> Decimal:
    """Return the coefficient of x**(2 k + 1) in tanh(x), whose derivative is 1 - tanh(x)**2."""
    if k == 0:
        return Decimal(1)
    return -sum((_tanh_term(i) * _tanh_term(k - 1 - i) for i in range(k)), Decimal(0)) / (2 * k + 1)


def _tanh(x: Decimal) -> Decimal:
    return 1 - 2 / ((2 * x).exp() + 1)


def _over(divisor: int, sign: int = 1) -> Decimal:
    return Decimal(sign) / divisor


POLYNOMIALS: dict[str, Polynomial] = {
    # Odd functions x + x z P(z), with z = x * x.
    "artanh": Polynomial(lambda k: _over(2 * k + 3), (Decimal(0), _ARTANH_END), lambda z: z, (3, 7)),
    "arctan": Polynomial(lambda k: _over(2 * k + 3, (-1) ** (k + 1)), (Decimal(0), _ARCTAN_END), lambda z: z, (5, 11)),
    "arcsin": Polynomial(
        lambda k: Decimal(comb(2 * k + 2, k + 1)) / (4 ** (k + 1) * (2 * k + 3)),
        (Decimal(0), Decimal("0.25")),
        lambda z: z,
        (5, 12),
    ),
    "sin": Polynomial(
        lambda k: _over(factorial(2 * k + 3), (-1) ** (k + 1)), (Decimal(0), _EIGHTH_TURN_END), lambda z: z, (4, 6)
    ),
    "sinh": Polynomial(lambda k: _over(factorial(2 * k + 3)), (Decimal(0), (_LN2 / 2) ** 2), lambda z: z, (3, 5)),
    "tanh": Polynomial(
        lambda k: _tanh_term(k + 1), (Decimal(0), Decimal(1)), lambda z: z * z.sqrt() / _tanh(z.sqrt()), (7, 0)
    ),
    # artanh(f) = f + f z (1/3 + z P(z)), of a logarithm that power multiplies by up to 2**10
    "artanh of power": Polynomial(lambda k: _over(2 * k + 5), (Decimal(0), _ARTANH_END), lambda z: z * z, (3, 8)),
    # cos(x) = 1 - z / 2 + z z P(z)
    "cos": Polynomial(
        lambda k: _over(factorial(2 * k + 4), (-1) ** k), (Decimal(0), _EIGHTH_TURN_END), lambda z: z * z, (3, 6)
    ),
    # cosh(r) = 1 + z P(z)
    "cosh": Polynomial(lambda k: _over(factorial(2 * k + 2)), (Decimal(0), (_LN2 / 2) ** 2), lambda z: z, (3, 5)),
    # exp(r) = 1 + r + r r P(r)
    "exp": Polynomial(lambda k: _over(factorial(k + 2)), (-_LN2 / 2, _LN2 / 2), lambda r: r * r * (-r).exp(), (5, 10)),
    # 2**r = 1 + r ln(2) + r r P(r)
    "exp2": Polynomial(
        lambda k: _LN2 ** (k + 2) / factorial(k + 2),
        (Decimal("-0.5"), Decimal("0.5")),
        lambda r: r * r * (-r * _LN2).exp(),
        (5, 10),
    ),
}


def minimax(polynomial: Polynomial, count: int) -> tuple[list[Decimal], Decimal]:
    """Return `count` coefficients, lowest first, and the largest weighted error of the polynomial."""
    grid = _grid(polynomial.interval, _GRID * count)
    series = [polynomial.term(k) for k in range(_TERMS)]
    wanted = [_value(series, z) for z in grid]
    weights = [polynomial.weight(z) for z in grid]
    chosen = [round((i + 0.5) * (len(grid) - 1) / (count + 1)) for i in range(count + 1)]
    while True:
        rows = [
            [*(grid[at] ** k for k in range(count)), (-1) ** row / weights[at], wanted[at]]
            for row, at in enumerate(chosen)
        ]
        *coefficients, level = _solve(rows)
        errors = [(_value(coefficients, z) - f) * w for z, f, w in zip(grid, wanted, weights, strict=True)]
        worst = max(abs(error) for error in errors)
        if worst <= abs(level) * Decimal("1.001"):
            return coefficients, worst
        chosen = _extrema(errors, count + 1)


def _grid(interval: tuple[Decimal, Decimal], count: int) -> list[Decimal]:
    """Return points of an interval, denser towards its ends and none of them 0."""
    low, high = interval
    even = (Decimal(2 * i + 1) / count - 1 for i in range(count))
    return [(low + high) / 2 + (high - low) / 2 * (x * (3 - x * x) / 2) for x in even]


def _value(coefficients: Sequence[Decimal], z: Decimal) -> Decimal:
    total = Decimal(0)
    for coefficient in reversed(coefficients):
        total = total * z + coefficient
    return total


def _solve(rows: list[list[Decimal]]) -> list[Decimal]:
    """Solve linear equations, each given as its coefficients and its right side, by elimination."""
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda row: abs(rows[row][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(len(rows)):
            if j != i:
                rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


def _extrema(errors: list[Decimal], count: int) -> list[int]:
    """Return where the error is largest on stretches of one sign, `count` neighbouring ones with the largest among."""
    peaks = [0]
    for at, error in enumerate(errors):
        if (error > 0) == (errors[peaks[-1]] > 0):
            if abs(error) > abs(errors[peaks[-1]]):
                peaks[-1] = at
        else:
            peaks.append(at)
    while len(peaks) > count:
        del peaks[0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1]
    return peaks


def main(names: Sequence[str]) -> None:
    """Print the polynomials of these names, or all."""
    for name in names or POLYNOMIALS:
        polynomial = POLYNOMIALS[name]
        for count, dtype in zip(polynomial.counts, (numpy.float32, numpy.float64), strict=True):
            if not count:
                continue
            coefficients, error = minimax(polynomial, count)
            rounded = ", ".join(str(dtype(float(c))) for c in coefficients)
            print(f"{name} {dtype.__name__}, error 2^{float(error.ln() / _LN2):.1f}: {rounded}")


if __name__ == "__main__":
    main(sys.argv[1:])
