"""Bessel functions of the second kind, Y and K of order 0 and 1, of positive numbers in mpmath's precision.

mpmath, which has them for any order, takes 10 to 100 times as long. Power series up to `FAR`, in integers of a fixed
point, and Hankel's expansions beyond: errors are below 2^-100 of the value, and for Y of the amplitude.
"""

from __future__ import annotations

from typing import Any

from mpmath import mp

FAR = 40


def y(order: int, x: Any) -> Any:
    """Y of a positive number."""
    if x <= FAR:
        return 2 / mp.pi * _by_series(order, x, -1)
    terms = _expansion(order, x)
    p, q = (sum((-1) ** k * term for k, term in enumerate(terms[first::2])) for first in (0, 1))
    with mp.workprec(mp.prec + 60):  # for large angles
        angle = x - mp.pi / 4 - order * mp.pi / 2
        c, s = mp.cos(angle), mp.sin(angle)
    return mp.sqrt(2 / (mp.pi * x)) * (p * s + q * c)


def k(order: int, x: Any) -> Any:
    """K of a positive number."""
    if x <= FAR:
        return (-1) ** (order + 1) * _by_series(order, x, 1)
    return mp.sqrt(mp.pi / (2 * x)) * mp.exp(-x) * sum(_expansion(order, x))


def _by_series(order: int, x: Any, sign: int) -> Any:
    """Return K but for its sign, or pi / 2 Y with `sign` -1, by sums of t_n and (psi(n + 1) + psi(n + order + 1)) t_n.

    t_n is (sign x^2 / 4)^n / (n! (n + order)!).
    """
    bits = 150 + 3 * int(x)  # the sums are up to exp(2 x) times their difference
    one = 1 << bits
    with mp.workprec(bits + 20):
        z, psi = int(mp.ldexp(x * x / 4, bits)), order * one - 2 * int(mp.ldexp(mp.euler, bits))
        n, term, plain, weighted = 0, one, 0, 0
        while term:
            plain += sign**n * term
            weighted += sign**n * (term * psi >> bits)
            n += 1
            psi += one // n + one // (n + order)
            term = (term * z >> bits) // (n * (n + order))
        sums = mp.log(x / 2) * plain - mp.mpf(weighted) / 2
        return (x / 2) ** order * mp.ldexp(sums, -bits) + (order and sign / x)


def _expansion(order: int, x: Any) -> list[Any]:
    """The terms of Hankel's expansion, down to the smallest."""
    terms = [mp.mpf(1)]
    while abs(terms[-1]) > mp.eps:
        n = len(terms)
        terms.append(terms[-1] * (4 * order * order - (2 * n - 1) ** 2) / (8 * n * x))
        if abs(terms[-1]) >= abs(terms[-2]):
            break
    return terms
