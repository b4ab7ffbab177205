"""The polynomials of special functions: ``python -m tools.special_polynomials FAMILY > FILE``.

The families are those of `FAMILIES`, and the files ``gpunumpy/kernels/special/FAMILY_polynomials.cuh``. Each polynomial
has the least maximal weighted error over its interval (the exchange algorithm of Remez, 1934). Functions are mpmath's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy
from mpmath import mp

mp.prec = 180
_GRID = 24  # points a coefficient at which the error is looked at
_Real = Callable[[Any], Any]


@dataclass(frozen=True)
class Polynomial:
    """A function that is approximated by a polynomial.

    Attributes
    ----------
    what
        The comment in the file.
    function
        The function.
    interval
        Where its argument lies.
    counts
        The number of coefficients for float32 and for float64.
    weight
        What an error of the polynomial is in the function that it serves, relative to that function's value; by default
        the error is relative to the polynomial.
    words
        Whether the value is a double word, of which the lowest coefficient has two words too.
    """

    what: str
    function: _Real
    interval: tuple[Any, Any]
    counts: tuple[int, int]
    weight: _Real | None = None
    words: bool = False


# --- error functions -------------------------------------------------------------------------------------------------

ERFCX_CENTER = 4


def _erfcx_part(t: Any) -> Any:
    """Return (1 + 2 x) erfcx(x) at t = (x - 4) / (x + 4) (after Shepherd and Laframboise, 1981)."""
    if t >= 1:
        return 2 / mp.sqrt(mp.pi)
    x = ERFCX_CENTER * (1 + t) / (1 - t)
    if x > 1e4:
        z = 1 / (2 * x * x)
        return (1 + 2 * x) / (x * mp.sqrt(mp.pi)) * (1 - z * (1 - 3 * z * (1 - 5 * z * (1 - 7 * z * (1 - 9 * z)))))
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


def _erfinv_part(w: Any) -> Any:
    """Return erfinv(x) / x at w = -ln(1 - x^2) (after Giles, 2012)."""
    if w == 0:
        return mp.sqrt(mp.pi) / 2
    y = -mp.expm1(mp.log1p(-mp.exp(-w)) / 2)  # 1 - x, without cancellation
    z = mp.sqrt(w) if w > 6 else mp.erfinv(1 - y)
    for _ in range(7 if w > 6 else 1):  # Newton's steps, of ln(erfc)
        c = mp.erfc(z)
        z += (mp.log(c) - mp.log(y)) * c * mp.exp(z * z) * mp.sqrt(mp.pi) / 2
    return z / (1 - y)


_ERROR = {
    "erfcx_part": Polynomial(
        "(1 + 2 x) exp(x^2) erfc(x) of t = (x - 4) / (x + 4).",
        _erfcx_part,
        (mp.mpf(-1), mp.mpf(1)),
        (14, 25),
        None,
        True,
    ),
    "erfinv_near": Polynomial(
        "erfinv(x) / x of w - 3.125, where w = -ln(1 - x^2) is at most 6.25.",
        lambda v: _erfinv_part(v + mp.mpf("3.125")),
        (mp.mpf("-3.125"), mp.mpf("3.125")),
        (11, 24),
        None,
        True,
    ),
    "erfinv_middle": Polynomial(
        "Of sqrt(w) - 3.25, from 2.5 to 4.",
        lambda v: _erfinv_part((v + mp.mpf("3.25")) ** 2),
        (mp.mpf("-0.75"), mp.mpf("0.75")),
        (9, 20),
        None,
        True,
    ),
    "erfinv_far": Polynomial(
        "Of sqrt(w) - 6, from 4 to 8.",
        lambda v: _erfinv_part((v + 6) ** 2),
        (mp.mpf(-2), mp.mpf(2)),
        (9, 25),
        None,
        True,
    ),
    "erfinv_farthest": Polynomial(
        "erfinv(x) / (x sqrt(w)) of 8 / sqrt(w) - 1/2, where sqrt(w) is from 8 to 28.",
        lambda v: _erfinv_part((8 / (v + mp.mpf("0.5"))) ** 2) * (v + mp.mpf("0.5")) / 8,
        (mp.mpf(8) / 28 - mp.mpf("0.5"), mp.mpf("0.5")),
        (7, 21),
    ),
}

# --- gamma functions -------------------------------------------------------------------------------------------------


def _lgamma_near_2(t: Any) -> Any:
    return 1 - mp.euler if t == 0 else mp.loggamma(2 + t) / t


def _stirling(z: Any) -> Any:
    """Return x (ln(gamma(x)) - (x - 1/2) ln(x) + x - ln(2 pi) / 2) at z = 1 / x^2."""
    if z < mp.mpf("1e-12"):
        return mp.mpf(1) / 12 - z / 360
    x = 1 / mp.sqrt(z)
    return x * (mp.loggamma(x) - (x - mp.mpf("0.5")) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)


def _digamma_tail(z: Any) -> Any:
    """Return x^2 (ln(x) - 1 / (2 x) - digamma(x)) at z = 1 / x^2."""
    if z < mp.mpf("1e-12"):
        return mp.mpf(1) / 12 - z / 120
    x = 1 / mp.sqrt(z)
    return x * x * (mp.log(x) - 1 / (2 * x) - mp.digamma(x))


DIGAMMA_ROOT = mp.findroot(mp.digamma, 1.46)

_GAMMA = {
    "lgamma_near_2": Polynomial(
        "ln(gamma(2 + t)) / t of t from -1/2 to 1/2.",
        _lgamma_near_2,
        (mp.mpf("-0.5"), mp.mpf("0.5")),
        (9, 20),
        None,
        True,
    ),
    "stirling": Polynomial(
        "x (ln(gamma(x)) - (x - 1/2) ln(x) + x - ln(2 pi) / 2) of 1 / x^2, for x from 8 on.",
        _stirling,
        (mp.mpf(0), mp.mpf(1) / 64),
        (3, 8),
    ),
    "digamma_near": Polynomial(
        "digamma(x) / (x - root) of x - 1.75, for x from 1.25 to 2.25.",
        lambda v: mp.digamma(v + mp.mpf("1.75")) / (v + mp.mpf("1.75") - DIGAMMA_ROOT),
        (mp.mpf("-0.5"), mp.mpf("0.5")),
        (10, 21),
        None,
        True,
    ),
    "digamma_tail": Polynomial(
        "x^2 (ln(x) - 1 / (2 x) - digamma(x)) of 1 / x^2, for x from 8 on.",
        _digamma_tail,
        (mp.mpf(0), mp.mpf(1) / 64),
        (3, 9),
    ),
}

FAMILIES = {"error": _ERROR, "gamma": _GAMMA}


def minimax(polynomial: Polynomial, count: int) -> tuple[list[Any], Any]:
    """Return `count` coefficients, lowest first, and the largest weighted error of the polynomial."""
    low, high = polynomial.interval
    grid = [
        (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (i + mp.mpf("0.5")) / (_GRID * count))
        for i in range(_GRID * count)
    ]
    wanted = [polynomial.function(x) for x in grid]
    weights = [polynomial.weight(x) if polynomial.weight else 1 / abs(f) for x, f in zip(grid, wanted, strict=True)]
    chosen = [round((i + 0.5) * (len(grid) - 1) / (count + 1)) for i in range(count + 1)]
    while True:
        matrix, right = mp.matrix(count + 1), mp.matrix(count + 1, 1)
        for row, at in enumerate(chosen):
            for k in range(count):
                matrix[row, k] = grid[at] ** k
            matrix[row, count], right[row] = (-1) ** row / weights[at], wanted[at]
        *coefficients, level = mp.lu_solve(matrix, right)
        errors = [(mp.polyval(coefficients[::-1], x) - f) * w for x, f, w in zip(grid, wanted, weights, strict=True)]
        worst = max(map(abs, errors))
        if worst <= abs(level) * mp.mpf("1.02"):
            return coefficients, worst
        chosen = _extrema(errors, count + 1)


def _extrema(errors: list[Any], count: int) -> list[int]:
    """Return where errors of alternating sign are largest: of `count` stretches, the largest ones in a row."""
    found: list[int] = []
    for at, error in enumerate(errors):
        if found and (error > 0) == (errors[found[-1]] > 0):
            if abs(error) > abs(errors[found[-1]]):
                found[-1] = at
        else:
            found.append(at)
    while len(found) > count:
        found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
    return found


def _rounded(x: Any, is_double: bool) -> tuple[float, float]:
    """Return a number as two words of a type."""
    kind = float if is_double else numpy.float32
    high = kind(float(x))
    return float(high), float(kind(float(x - mpmath.mpf(float(high)))))


def _text(value: float, is_double: bool) -> str:
    return repr(value) if is_double else f"{numpy.float32(value)!s}f"


def _body(polynomial: Polynomial, is_double: bool) -> str:
    coefficients, error = minimax(polynomial, polynomial.counts[is_double])
    print(f"{polynomial.what} {float(error):.1e}", file=sys.stderr)
    words = [_rounded(c, is_double) for c in coefficients]
    texts = [_text(high, is_double) for high, _ in words]
    if polynomial.words:
        lines = _wrapped(f"x * horner(x, {', '.join(texts[1:])})", 8)
        return (
            f"    dw<T> sum = fast_two_sum(T({texts[0]}),\n        {lines});\n"
            f"    return {{sum.hi, sum.lo + T({_text(words[0][1], is_double)})}};\n"
        )
    joined = ", ".join(texts)
    return f"    return {_wrapped(f'horner(x, {joined})', 8)};\n"


def _wrapped(text: str, indent: int) -> str:
    lines = [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) + indent > 110:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return ("\n" + " " * indent).join(lines)


def text_of(family: str) -> str:
    """Return the file of a family."""
    parts = [f"// Polynomials that `python -m tools.special_polynomials {family}` prints.\nnamespace op {{\n"]
    for name, polynomial in FAMILIES[family].items():
        kind = "dw<T>" if polynomial.words else "T"
        parts.append(
            f"// {polynomial.what}\ntemplate <class T> __device__ inline {kind} {name}(T x) {{\n"
            f"  if constexpr (same<T, f64>) {{\n{_body(polynomial, True)}  }} else {{\n"
            f"{_body(polynomial, False)}  }}\n}}"
        )
    return "\n".join([*parts, "\n}  // namespace op"])


if __name__ == "__main__":
    print(text_of(sys.argv[1]))
