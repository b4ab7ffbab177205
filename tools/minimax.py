"""The polynomials of the device's functions: ``python -m tools.minimax [name]`` prints their coefficients.

Each polynomial approximates a function over an interval with the least maximal weighted error (the exchange
algorithm of Remez, 1934). The weight makes it the error of the whole function relative to its value. The coefficients,
rounded to float32 or float64, stand in the `.cuh` files of `gpunumpy/kernels/codegen`. Needs mpmath.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy
from mpmath import mpf

mpmath.mp.dps = 60
_GRID = 50  # points a coefficient at which the error is looked at


@dataclass(frozen=True)
class Polynomial:
    """A function that a polynomial stands for on an interval.

    Attributes
    ----------
    function
        The function of z, which need not be defined at 0.
    interval
        Where z lies.
    weight
        What an error of the polynomial at z is in the function that it serves, relative to that function's value.
    counts
        The number of coefficients for float32 and for float64; 0 where it does not serve that type.
    """

    function: Callable[[mpf], mpf]
    interval: tuple[mpf, mpf]
    weight: Callable[[mpf], mpf]
    counts: tuple[int, int]


def _odd(function: Callable[[mpf], mpf]) -> Callable[[mpf], mpf]:
    """Return P of an odd function x + x z P(z), with z = x * x."""
    return lambda z: (function(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z


_HALF_LN2 = mpmath.log(2) / 2
_ARTANH_END = (mpmath.sqrt(2) - 1) ** 4  # the square of (m - 1) / (m + 1) at m = sqrt(2)
_ARCTAN_END = mpmath.tan(mpmath.pi / 8) ** 2
_EIGHTH_TURN_END = (mpmath.pi / 4) ** 2
_ZERO, _HALF = mpf(0), mpf(1) / 2

POLYNOMIALS: dict[str, Polynomial] = {
    "artanh": Polynomial(_odd(mpmath.atanh), (_ZERO, _ARTANH_END), lambda z: z, (3, 7)),
    # artanh(f) = f + f z (1/3 + z P(z)), of a logarithm that is multiplied by up to 2**10
    "artanh of power": Polynomial(
        lambda z: (_odd(mpmath.atanh)(z) - mpf(1) / 3) / z, (_ZERO, _ARTANH_END), lambda z: z * z, (3, 8)
    ),
    "arctan": Polynomial(_odd(mpmath.atan), (_ZERO, _ARCTAN_END), lambda z: z, (5, 11)),
    "arcsin": Polynomial(_odd(mpmath.asin), (_ZERO, _HALF**2), lambda z: z, (5, 12)),
    "sin": Polynomial(_odd(mpmath.sin), (_ZERO, _EIGHTH_TURN_END), lambda z: z, (4, 6)),
    # cos(x) = 1 - z / 2 + z z P(z)
    "cos": Polynomial(
        lambda z: (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2, (_ZERO, _EIGHTH_TURN_END), lambda z: z * z, (3, 6)
    ),
    "sinh": Polynomial(_odd(mpmath.sinh), (_ZERO, _HALF_LN2**2), lambda z: z, (3, 5)),
    # cosh(r) = 1 + z P(z)
    "cosh": Polynomial(
        lambda z: (mpmath.cosh(mpmath.sqrt(z)) - 1) / z, (_ZERO, _HALF_LN2**2), lambda z: z, (3, 5)
    ),
    # exp(r) = 1 + r + r r P(r)
    "exp": Polynomial(
        lambda r: (mpmath.expm1(r) - r) / r**2, (-_HALF_LN2, _HALF_LN2), lambda r: r**2 * mpmath.exp(-r), (5, 10)
    ),
    # 2**r = 1 + r ln(2) + r r P(r)
    "exp2": Polynomial(
        lambda r: (mpf(2) ** r - 1 - r * mpmath.log(2)) / r**2, (-_HALF, _HALF), lambda r: r**2 * mpf(2) ** -r, (5, 0)
    ),
}


def minimax(polynomial: Polynomial, count: int) -> tuple[list[mpf], mpf]:
    """Return `count` coefficients, lowest first, and the largest weighted error of the polynomial."""
    low, high = polynomial.interval
    grid = [
        (low + high) / 2 - (high - low) / 2 * mpmath.cos(mpmath.pi * (i + mpf(1) / 2) / (_GRID * count))
        for i in range(_GRID * count)
    ]
    wanted = [polynomial.function(z) for z in grid]
    weights = [polynomial.weight(z) for z in grid]
    chosen = [round((i + 0.5) * (len(grid) - 1) / (count + 1)) for i in range(count + 1)]
    while True:
        system = mpmath.matrix(count + 1)
        for row, at in enumerate(chosen):
            for k in range(count):
                system[row, k] = grid[at] ** k
            system[row, count] = (-1) ** row / weights[at]
        solved = list(mpmath.lu_solve(system, mpmath.matrix([wanted[at] for at in chosen])))
        coefficients = solved[:count]
        errors = [
            (mpmath.polyval(coefficients[::-1], z) - f) * w
            for z, f, w in zip(grid, wanted, weights, strict=True)
        ]
        worst = max(abs(e) for e in errors)
        if worst <= abs(solved[count]) * mpf("1.001"):
            return coefficients, worst
        chosen = _extrema(errors, count + 1)


def _extrema(errors: list[mpf], count: int) -> list[int]:
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


def main(names: list[str]) -> None:
    for name in names or POLYNOMIALS:
        polynomial = POLYNOMIALS[name]
        for count, dtype in zip(polynomial.counts, (numpy.float32, numpy.float64), strict=True):
            if not count:
                continue
            coefficients, error = minimax(polynomial, count)
            rounded = [str(dtype(c)) if dtype is numpy.float32 else repr(float(c)) for c in coefficients]
            print(f"{name} {dtype.__name__}, error 2^{float(mpmath.log(error, 2)):.1f}: {', '.join(rounded)}")


if __name__ == "__main__":
    main(sys.argv[1:])
