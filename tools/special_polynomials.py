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
        The number of coefficients for float32 and for float64; 0 for float32 where that is computed in float64.
    weight
        What an error of the polynomial is in the function that it serves, relative to that function's value; by default
        the error is relative to the polynomial.
    words
        How many of the lowest coefficients have two words, so that the value is a double word; 0 if it is one number.
    """

    what: str
    function: _Real
    interval: tuple[Any, Any]
    counts: tuple[int, int]
    weight: _Real | None = None
    words: int = 0


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
        1,
    ),
    "erfinv_near": Polynomial(
        "erfinv(x) / x of w - 3.125, where w = -ln(1 - x^2) is at most 6.25.",
        lambda v: _erfinv_part(v + mp.mpf("3.125")),
        (mp.mpf("-3.125"), mp.mpf("3.125")),
        (11, 24),
        None,
        1,
    ),
    "erfinv_middle": Polynomial(
        "Of sqrt(w) - 3.25, from 2.5 to 4.",
        lambda v: _erfinv_part((v + mp.mpf("3.25")) ** 2),
        (mp.mpf("-0.75"), mp.mpf("0.75")),
        (9, 20),
        None,
        1,
    ),
    "erfinv_far": Polynomial(
        "Of sqrt(w) - 6, from 4 to 8.",
        lambda v: _erfinv_part((v + 6) ** 2),
        (mp.mpf(-2), mp.mpf(2)),
        (9, 25),
        None,
        1,
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


def _rgamma_near_1(t: Any) -> Any:
    return (mp.rgamma(1 + t) - 1 - t * mp.euler) / (t * t)


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
        "ln(gamma(2 + t)) / t of t from -3/4 to 1/2.",
        _lgamma_near_2,
        (mp.mpf("-0.75"), mp.mpf("0.5")),
        (10, 23),
        None,
        1,
    ),
    "rgamma_near_1": Polynomial(
        "(1 / gamma(1 + t) - 1 - t euler) / t^2 of t from -1/2 to 1/2.",
        _rgamma_near_1,
        (mp.mpf("-0.5"), mp.mpf("0.5")),
        (7, 15),
        lambda t: t * t * mp.gamma(1 + t),
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
        1,
    ),
    "digamma_tail": Polynomial(
        "x^2 (ln(x) - 1 / (2 x) - digamma(x)) of 1 / x^2, for x from 8 on.",
        _digamma_tail,
        (mp.mpf(0), mp.mpf(1) / 64),
        (3, 9),
    ),
}

# --- Bessel functions ------------------------------------------------------------------------------------------------

# The squares of the zeros below 8, and of the next one: without it a polynomial would be small near 8.
J0_ZEROS, J1_ZEROS = ([mp.besseljzero(order, k) ** 2 for k in (1, 2, 3)] for order in (0, 1))


def _factors(z: Any, zeros: list[Any]) -> Any:
    return (z - zeros[0]) * (z - zeros[1]) * (z - zeros[2])


def _square_root(v: Any) -> Any:
    """Return x at v = x^2 / 32 - 1."""
    return mp.sqrt(32 * (v + 1))


def _j0_near(v: Any) -> Any:
    z = 32 * (v + 1)
    return mp.besselj(0, mp.sqrt(z)) / _factors(z, J0_ZEROS)


def _j1_near(v: Any) -> Any:
    z = 32 * (v + 1)
    return mp.besselj(1, mp.sqrt(z)) / (mp.sqrt(z) * _factors(z, J1_ZEROS))


def _y0_near(v: Any) -> Any:
    x = _square_root(v)
    return mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x)


def _y1_near(v: Any) -> Any:
    x = _square_root(v)
    return (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x


def _hankel(order: int, is_sine: bool) -> _Real:
    """Return P, or x Q, of Hankel's expansion (1869) at z = 64 / x^2."""

    def part(z: Any) -> Any:
        x = 8 / mp.sqrt(max(z, mp.mpf("1e-14")))
        angle = x - (2 * order + 1) * mp.pi / 4
        j, y, c, s = mp.besselj(order, x), mp.bessely(order, x), mp.cos(angle), mp.sin(angle)
        return mp.sqrt(mp.pi * x / 2) * (x * (y * c - j * s) if is_sine else j * c + y * s)

    return part


def _i_near(order: int) -> _Real:
    """Return (I0(x) - 1) / x^2, or (2 I1(x) / x - 1) / x^2, at z = x^2."""

    def part(z: Any) -> Any:
        x = mp.sqrt(z)
        return (mp.besseli(order, x) * (2 / x if order else 1) - 1) / z

    return part


def _i_weight(order: int) -> _Real:
    return lambda z: z / (mp.besseli(order, mp.sqrt(z)) * (2 / mp.sqrt(z) if order else 1))


def _i_small(order: int) -> _Real:
    """Return (I0(x) - 1 - x^2 / 4) / x^4, or (2 I1(x) / x - 1 - x^2 / 8) / x^4, at z = x^2."""
    return lambda z: (_i_near(order)(z) - mp.mpf(1) / (8 if order else 4)) / z


def _k_of_square(order: int, z: Any) -> Any:
    """Return K0(x), or x K1(x), at z = x^2."""
    x = mp.sqrt(z)
    return mp.besselk(order, x) * (x if order else 1)


def _i_small_weight(order: int) -> _Real:
    """What the polynomial of I is multiplied by in K, beside K; the logarithm is 0 at 2, and no weight is."""

    def weight(z: Any) -> Any:
        return z ** (2 + order) * (abs(mp.log(z / 4)) + mp.mpf("1e-6")) / _k_of_square(order, z)

    return weight


def _k0_near(u: Any) -> Any:
    """Return (K0(2) - K0(x) - ln(x / 2) I0(x)) / u - 1/4 at u = 4 - x^2."""
    x = mp.sqrt(4 - u)
    return (mp.besselk(0, 2) - mp.besselk(0, x) - mp.log(x / 2) * mp.besseli(0, x)) / u - mp.mpf("0.25")


def _k1_near(z: Any) -> Any:
    """Return (K1(x) - ln(x / 2) I1(x) - 1 / x) / x + x^2 / 32 at z = x^2."""
    x = mp.sqrt(z)
    return (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x) - 1 / x) / x + z / 32


def _ie_near(order: int) -> _Real:
    """Return exp(-x) I0(x), or exp(-x) I1(x) / x, at v = x / 4 - 1."""

    def part(v: Any) -> Any:
        x = 4 * (v + 1)
        return mp.exp(-x) * mp.besseli(order, x) / (x if order else 1)

    return part


def _i_far(order: int) -> _Real:
    return lambda v: _scaled(mp.besseli, order, 16 / (v + 1), -1)


def _k_far(order: int) -> _Real:
    return lambda v: _scaled(mp.besselk, order, 6 / (v + 1) - 1, 1)


def _scaled(function: Any, order: int, x: Any, sign: int) -> Any:
    return mp.sqrt(x) * mp.exp(sign * x) * function(order, x)


_WHOLE, _FROM_0_TO_1, _FROM_0_TO_4 = (mp.mpf(-1), mp.mpf(1)), (mp.mpf(0), mp.mpf(1)), (mp.mpf(0), mp.mpf(4))
_OSCILLATING = {
    "j0_near": Polynomial(
        "J0(x) / ((x^2 - a)(x^2 - b)(x^2 - c)) of x^2 / 32 - 1, with its zeros.", _j0_near, _WHOLE, (0, 14), None, 2
    ),
    "j1_near": Polynomial(
        "J1(x) / (x (x^2 - a)(x^2 - b)(x^2 - c)) of x^2 / 32 - 1.", _j1_near, _WHOLE, (0, 14), None, 2
    ),
    "y0_near": Polynomial(
        "Y0(x) - 2/pi ln(x) J0(x) of x^2 / 32 - 1.", _y0_near, _WHOLE, (0, 17), lambda v: mp.mpf(1), 6
    ),
    "y1_near": Polynomial(
        "(Y1(x) - 2/pi (ln(x) J1(x) - 1 / x)) / x of x^2 / 32 - 1.", _y1_near, _WHOLE, (0, 17), lambda v: mp.mpf(8), 6
    ),
    **{
        f"{name}_few": Polynomial(f"{what}, to the places of float32.", function, _WHOLE, (0, count), weight)
        for name, what, function, count, weight in (
            ("j0", "J0(x) / ((x^2 - a)(x^2 - b)(x^2 - c)) of x^2 / 32 - 1", _j0_near, 11, None),
            ("j1", "J1(x) / (x (x^2 - a)(x^2 - b)(x^2 - c)) of x^2 / 32 - 1", _j1_near, 11, None),
            ("y0", "Y0(x) - 2/pi ln(x) J0(x) of x^2 / 32 - 1", _y0_near, 14, lambda v: mp.mpf(1)),
            ("y1", "(Y1(x) - 2/pi (ln(x) J1(x) - 1 / x)) / x of x^2 / 32 - 1", _y1_near, 14, lambda v: mp.mpf(8)),
        )
    },
    **{
        f"{name}{order}": Polynomial(
            f"{'x Q' if is_sine else 'P'} of Hankel's expansion of order {order}, of 64 / x^2.",
            _hankel(order, is_sine),
            _FROM_0_TO_1,
            (5, 14),
            None,
            0 if is_sine else 1,
        )
        for order in (0, 1)
        for name, is_sine in (("hankel_p", False), ("hankel_q", True))
    },
}
_MODIFIED = {
    "i0_near": Polynomial(
        "(I0(x) - 1) / x^2 of x^2 up to 64.", _i_near(0), (mp.mpf(0), mp.mpf(64)), (0, 15), _i_weight(0)
    ),
    "i1_near": Polynomial(
        "(2 I1(x) / x - 1) / x^2 of x^2 up to 64.", _i_near(1), (mp.mpf(0), mp.mpf(64)), (0, 15), _i_weight(1)
    ),
    **{
        f"i{order}e_few": Polynomial(
            f"exp(-x) I{order}(x){' / x' if order else ''} of x / 4 - 1 for x up to 8, to the places of float32.",
            _ie_near(order),
            _WHOLE,
            (0, 20),
        )
        for order in (0, 1)
    },
    "i0_far": Polynomial("sqrt(x) exp(-x) I0(x) of 16 / x - 1.", _i_far(0), _WHOLE, (8, 25), None, 1),
    "i1_far": Polynomial("sqrt(x) exp(-x) I1(x) of 16 / x - 1.", _i_far(1), _WHOLE, (8, 25), None, 1),
    **{
        f"i{order}_small": Polynomial(
            f"{'(2 I1(x) / x - 1 - x^2 / 8)' if order else '(I0(x) - 1 - x^2 / 4)'} / x^4 of x^2 up to 4.",
            _i_small(order),
            _FROM_0_TO_4,
            (4, 8 - order),
            _i_small_weight(order),
        )
        for order in (0, 1)
    },
    "k0_near": Polynomial(
        "(K0(2) - K0(x) - ln(x / 2) I0(x)) / u - 1/4 of u = 4 - x^2, for x up to 2.",
        _k0_near,
        _FROM_0_TO_4,
        (5, 9),
        lambda u: u / _k_of_square(0, 4 - u),
    ),
    "k1_near": Polynomial(
        "(K1(x) - ln(x / 2) I1(x) - 1 / x) / x + x^2 / 32 of x^2 up to 4.",
        _k1_near,
        _FROM_0_TO_4,
        (6, 10),
        lambda z: z / _k_of_square(1, z),
    ),
    "k0_far": Polynomial("sqrt(x) exp(x) K0(x) of 6 / (x + 1) - 1.", _k_far(0), _WHOLE, (8, 18), None, 1),
    "k1_far": Polynomial("sqrt(x) exp(x) K1(x) of 6 / (x + 1) - 1.", _k_far(1), _WHOLE, (8, 18), None, 1),
}

FAMILIES = {"error": _ERROR, "gamma": _GAMMA, "bessel": _OSCILLATING, "modified_bessel": _MODIFIED}


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


def _body(polynomial: Polynomial, is_double: bool, name: str) -> tuple[str, str]:
    """Return the arrays of the coefficients, which float32 has none of, and the body of a function."""
    coefficients, error = minimax(polynomial, polynomial.counts[is_double])
    print(f"{polynomial.what} {float(error):.1e}", file=sys.stderr)
    words = [_rounded(c, is_double) for c in coefficients]
    texts = [_text(high, is_double) for high, _ in words]
    kind, in_words = "f64" if not polynomial.counts[0] else "T", polynomial.words
    joined, arrays = ", ".join(texts[in_words:]), ""
    if is_double:
        arrays, joined = _array("T", name, joined), f"{name}<f64>"
    if in_words == 1:
        value = f"x * horner(x, {joined})"
        line = f" {value}" if is_double else f"\n        {_wrapped(value, 8)}"
        return arrays, (
            f"    dw<{kind}> sum = fast_two_sum({kind}({texts[0]}),{line});\n"
            f"    return {{sum.hi, sum.lo + {kind}({_text(words[0][1], is_double)})}};\n"
        )
    if in_words:
        pairs = [f"{{{_text(high, is_double)}, {_text(low, is_double)}}}" for high, low in words[:in_words]]
        arrays += _array("dw<T>", f"{name}_WORDS", ", ".join(pairs))
        steps = f"horner_steps<{_ordered(words, in_words)}>"
        return arrays, f"    return {steps}(horner(x.hi, {joined}), x, {name}_WORDS<f64>);\n"
    return arrays, f"    return {_wrapped(f'horner(x, {joined})', 8)};\n"


def _ordered(words: list[tuple[float, float]], count: int) -> int:
    """Return of how many of the first `count` coefficients, from the last one down, each is more than all above it.

    Of arguments up to 1 in size it is more than what the steps before it made.
    """
    sizes = [abs(high) for high, _ in words]
    found = 0
    while found < count and sizes[count - 1 - found] > 1.01 * sum(sizes[count - found :]):
        found += 1
    return found


def _array(kind: str, name: str, joined: str) -> str:
    """Return an array of coefficients in constant memory. It is a template: others than a kernel uses are not there."""
    return _wrapped(f"template <class T> __constant__ {kind} {name}[] = {{{joined}}};", 4) + "\n"


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
        arrays, body = _body(polynomial, True, name.upper())
        kind = "dw<T>" if polynomial.words else "T"
        if not polynomial.counts[0]:
            kind = "dw<f64>" if polynomial.words else "f64"
            body = body.replace("\n  ", "\n")[2:]
            parts.append(f"// {polynomial.what}\n{arrays}__device__ inline {kind} {name}({kind} x) {{\n{body}}}")
            continue
        _, of_floats = _body(polynomial, False, name.upper())
        parts.append(
            f"// {polynomial.what}\n{arrays}template <class T> __device__ inline {kind} {name}(T x) {{\n"
            f"  if constexpr (same<T, f64>) {{\n{body}  }} else {{\n{of_floats}  }}\n}}"
        )
    return "\n".join([*parts, "\n}  // namespace op"])


if __name__ == "__main__":
    print(text_of(sys.argv[1]))
