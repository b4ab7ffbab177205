"""How far results of real elementwise functions are from the exact ones, in units in the last place (ULP).

Arguments of every function where it is hard, exact results from NumPy in a wider dtype, the largest error, and what is
allowed. For float16, bfloat16 and float32 the wider dtype is float64, and for float64 `numpy.longdouble`, which must
have 64 bits or more: on x86 and where it is a quadruple.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy

from gpunumpy.core.dtypes import KIND, bfloat16
from gpunumpy.core.ops import table

from .table_reference import precise, spacing, specials

Array = numpy.ndarray[Any, Any]

DTYPES: dict[str, numpy.dtype[Any]] = {
    "float16": numpy.dtype("float16"),
    "bfloat16": numpy.dtype(bfloat16),
    "float32": numpy.dtype("float32"),
    "float64": numpy.dtype("float64"),
}

# Rounded as IEEE 754 has it; the table's other rows with an allowance of 0 are compared with NumPy, bit by bit.
_CORRECTLY_ROUNDED = ("sqrt", "divide", "reciprocal", "square", "add", "subtract", "multiply")

FUNCTIONS: tuple[str, ...] = _CORRECTLY_ROUNDED + tuple(
    name for name, op in table.ELEMENTWISE.items() if op.ulp and "f" in op.code
)

# What NumPy on the CPU is allowed in float32 and float64: the most that NumPy allows itself in its own tests
# (numpy/_core/tests/data/umath-validation-set-*.csv) and glibc says of itself ("Known Maximum Errors in Math
# Functions"), whose functions NumPy calls on processors without AVX-512. 1 where neither says more.
NUMPY_ALLOWS: dict[str, tuple[int, int]] = {
    "cbrt": (2, 4),
    "exp": (3, 1),
    "exp2": (2, 1),
    "expm1": (3, 1),
    "log": (4, 1),
    "log2": (3, 2),
    "log10": (4, 2),
    "log1p": (2, 1),
    "sin": (2, 1),
    # glibc 2.36 at the number next to a multiple of pi/2, where its pi is too short; 1 elsewhere
    "cos": (2, 8),
    "tan": (4, 15),
    "arcsin": (4, 1),
    "arccos": (3, 1),
    "arctan": (3, 1),
    "arctan2": (3, 1),  # of float32 with AVX-512: 2.88 ULP were seen
    "sinh": (2, 2),
    "cosh": (3, 2),
    "tanh": (2, 2),
    "arcsinh": (2, 2),
    "arccosh": (2, 2),
    "arctanh": (2, 2),
    # a difference, an exponential and a logarithm, each rounded; of base 2 a product more
    "logaddexp": (2, 2),
    "logaddexp2": (3, 3),
}

# Near 0 these cancel, and an argument's last place is the measure.
_MEASURED_BY_ARGUMENTS = frozenset({"logaddexp", "logaddexp2"})

_TURNS = tuple(k * numpy.pi / 4 for k in range(1, 33))
# Of float64 numbers the nearest to a multiple of pi/2 (Muller, 1997); fractions of 2 pi; where reductions change.
_ANGLES = (6381956970095103.0 * 2.0**797, 22.0, 355.0, 103993.0, 131072.0, 105615.0, *_TURNS)
_EXPONENTS = (88.72284, -87.33655, -103.97208, 709.782712893384, -708.3964185322641, -745.1332191019411)
_STEPS = tuple((k + 0.5) * numpy.log(2) for k in range(-4, 4))
# Where functions have zeros, poles, limits of their range, and where algorithms change.
_POINTS: dict[str, tuple[float, ...]] = {
    "exp": (*_EXPONENTS, *_STEPS),
    "exp2": (128.0, -126.0, -149.0, 1024.0, -1022.0, -1074.0, 0.5, -0.5, 1.5),
    "expm1": (*_EXPONENTS, *_STEPS),
    "log": (1.0, 2**0.5, 0.5**0.5),
    "log2": (1.0, 2**0.5, 0.5**0.5),
    "log10": (1.0, 2**0.5, 0.5**0.5, *(10.0**k for k in range(-20, 21))),
    "log1p": (2**0.5 - 1, 0.5**0.5 - 1, -0.5, -1.0),
    "sin": _ANGLES,
    "cos": _ANGLES,
    "tan": _ANGLES,
    "arcsin": (0.5, 1.0),
    "arccos": (0.5, 1.0),
    "arctan": (1.0, 2**0.5 - 1, 2**0.5 + 1),
    "sinh": (89.41598, 710.4758600739439, *_STEPS),
    "cosh": (89.41598, 710.4758600739439, *_STEPS),
    "tanh": (9.01, 19.06, *(x / 2 for x in _STEPS)),
    "arcsinh": (0.3535533905932738, 1.0, 2.0**14, 2.0**30),
    "arccosh": (1.0, 1.0606601717798212, 2.0**14, 2.0**30),
    "arctanh": (0.1715728752538099, 1 / 3, 1.0),
}


@dataclass(frozen=True)
class Worst:
    """The largest error of a function, in ULP of the exact result, and where it is."""

    error: float
    arguments: tuple[Any, ...]
    got: Any
    exact: Any

    @property
    def floats(self) -> float:
        """How many floats the result is away from the nearest one to the exact result, as NumPy and CUDA count."""
        return max(0.0, numpy.ceil(self.error - 0.5 - 2.0**-9))

    def __str__(self) -> str:
        at = ", ".join(f"{x!s} = {float(x).hex()}" for x in self.arguments)
        return f"{self.error:.4f} ULP at {at}: {self.got!s} = {float(self.got).hex()} for {self.exact!s}"


def has_loop(name: str, dtype: numpy.dtype[Any]) -> bool:
    """Whether the function computes `dtype` in it, and there is a dtype to measure it by."""
    if dtype == numpy.float64 and numpy.finfo(numpy.longdouble).nmant < 63:
        return False
    return _loop(name, dtype) in table.loops(name)


def allowed(name: str, dtype: numpy.dtype[Any], numpys: bool = False) -> float:
    """Floats that a result may be off: the table's bound for what is generated, or NumPy's on the CPU."""
    own = table.op_of(name).ulp
    if KIND[dtype] == "e" or not own:
        return own
    return max(own, NUMPY_ALLOWS.get(name, (1, 1))[dtype == numpy.float64]) if numpys else own


def measure(name: str, dtype: numpy.dtype[Any], compute: Callable[..., Array], count: int) -> Worst:
    """Return the largest error of ``compute(*arrays)`` over about `count` arguments; all, for a 16-bit one."""
    given = arguments(name, dtype, count)
    return worst(name, given, compute(*given))


def worst(name: str, given: Sequence[Array], got: Array) -> Worst:
    """Return the largest error among results for given arguments."""
    exact = precise((name, _loop(name, got.dtype)), list(given))
    error = errors(got, exact, given if name in _MEASURED_BY_ARGUMENTS else ())
    at = int(numpy.argmax(error))
    return Worst(float(error[at]), tuple(array[at] for array in given), got[at], exact[at])


def errors(got: Array, exact: Array, scales: Sequence[Array] = ()) -> Array:
    """Return the errors in ULP of the exact results, or of the largest of them and `scales`.

    Infinity stands for 2**emax, NaN and the sign of a zero must agree.
    """
    with numpy.errstate(all="ignore"):
        limit = exact.dtype.type(2) ** int(ml_dtypes.finfo(got.dtype).maxexp)
        wide, exact = (numpy.clip(array, -limit, limit) for array in (got.astype(exact.dtype), exact))
        size = numpy.max([numpy.abs(array.astype(exact.dtype)) for array in (exact, *scales)], axis=0)
        error = numpy.abs(wide - exact) / spacing(numpy.where(numpy.isfinite(size), size, 0), got.dtype)
        agree = numpy.isnan(wide) == numpy.isnan(exact)
        rounded = exact.astype(got.dtype)
        agree &= (rounded != 0) | (got != 0) | (numpy.signbit(rounded) == numpy.signbit(got))
    return numpy.where(agree, numpy.where(numpy.isnan(exact), 0, error), numpy.inf)


def arguments(name: str, dtype: numpy.dtype[Any], count: int) -> list[Array]:
    """Return about `count` arguments for a function; every value there is, for one argument of 16 bits."""
    rng = numpy.random.default_rng(len(name) + dtype.itemsize)
    if table.op_of(name).arity == 2:
        return _pairs(name, dtype, count // 4, rng)
    if dtype.itemsize == 2:
        return [numpy.arange(1 << 16, dtype="u2").view(dtype)]
    parts = [_of_all_exponents(dtype, count // 2, rng), _of_domain(name, dtype, count // 2, rng), specials(dtype)]
    parts += [_powers_of_two(dtype), numpy.arange(-1000, 1001).astype(dtype)]
    parts += [_near(sign * point, dtype, rng) for point in (0.0, *_POINTS.get(name, ())) for sign in (1, -1)]
    return [numpy.concatenate(parts)]


def _loop(name: str, dtype: numpy.dtype[Any]) -> table.Loop:
    return (dtype,) * (table.op_of(name).arity + 1)


def _of_all_exponents(dtype: numpy.dtype[Any], count: int, rng: numpy.random.Generator) -> Array:
    """Floats of random bits: every exponent is as likely as any other."""
    return rng.integers(0, 256, count * dtype.itemsize, numpy.uint8).view(dtype)


def _of_domain(name: str, dtype: numpy.dtype[Any], count: int, rng: numpy.random.Generator) -> Array:
    return rng.uniform(*table.op_of(name).domain, count).astype(dtype)


def _powers_of_two(dtype: numpy.dtype[Any]) -> Array:
    """Every power of two with its neighbours."""
    info = ml_dtypes.finfo(dtype)
    powers = numpy.ldexp(1.0, numpy.arange(int(info.minexp) - int(info.nmant), int(info.maxexp)))
    return _neighbours(powers.astype(dtype), 1)


def _neighbours(values: Array, most: int) -> Array:
    """The values, and the floats that are up to `most` away from them."""
    bits = values.view(f"i{values.dtype.itemsize}")
    return numpy.concatenate([(bits + n).astype(bits.dtype).view(values.dtype) for n in range(-most, most + 1)])


def _near(point: float, dtype: numpy.dtype[Any], rng: numpy.random.Generator) -> Array:
    """The floats next to a point, and random ones at every distance from it."""
    with numpy.errstate(over="ignore"):
        at = numpy.array([point], dtype)
        far = point + rng.uniform(-1, 1, 600) * 2.0 ** rng.uniform(-50, 0, 600) * max(abs(point), 1)
        return numpy.concatenate([_neighbours(at, 40), far.astype(dtype)])


def _pairs(name: str, dtype: numpy.dtype[Any], count: int, rng: numpy.random.Generator) -> list[Array]:
    """Pairs of random bits, of near exponents, of the domain, of special values; and those of a function's own."""
    exponents = rng.integers(-14, 15, count)
    near = rng.uniform(1, 2, (2, count)) * rng.choice([-1, 1], (2, count)) * 2.0**exponents
    near[1] *= 2.0 ** rng.integers(-3, 4, count)
    special = numpy.array(list(itertools.product(specials(dtype), repeat=2)), dtype)
    pairs = [
        [_of_all_exponents(dtype, count, rng), _of_all_exponents(dtype, count, rng)],
        [near[0].astype(dtype), near[1].astype(dtype)],
        [_of_domain(name, dtype, count, rng), _of_domain(name, dtype, count, rng)],
        [special[:, 0], special[:, 1]],
    ]
    if name in ("power", "float_power"):
        pairs += _powers(dtype, count, rng)
    if name in _MEASURED_BY_ARGUMENTS:
        far = rng.choice([-1, 1], count) * 2.0 ** rng.uniform(-20, 10, count)
        first = rng.uniform(-50, 50, count) * 2.0 ** rng.integers(-20, 1, count)
        pairs.append([first.astype(dtype), (first + far).astype(dtype)])
    return [numpy.concatenate([pair[i] for pair in pairs]) for i in (0, 1)]


def _powers(dtype: numpy.dtype[Any], count: int, rng: numpy.random.Generator) -> list[list[Array]]:
    """Powers of every size, of numbers of every size and of numbers near 1; and those that are exact."""
    largest = float(numpy.log(float(ml_dtypes.finfo(dtype).max)))
    with numpy.errstate(all="ignore"):
        anything = numpy.abs(_of_all_exponents(dtype, count, rng))
        near_one = (1 + rng.choice([-1, 1], count) * 2.0 ** rng.uniform(-22, -1, count)).astype(dtype)
        pairs = []
        for base in (anything, near_one):
            logarithm = numpy.log(base.astype(numpy.float64))
            pairs.append([base, (rng.uniform(-1.1, 1.1, count) * largest / logarithm).astype(dtype)])
    bases = (rng.integers(-40, 41, count) / rng.choice([1, 2, 4], count)).astype(dtype)
    pairs.append([bases, (rng.integers(-20, 21, count) / rng.choice([1, 1, 2], count)).astype(dtype)])
    return pairs
