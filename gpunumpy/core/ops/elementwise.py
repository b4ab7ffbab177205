"""The elementwise rows: one line an operation.

A row gives its C++ expression for each kind of loop; `table` turns it into the expression of one loop. In a template
``{0}``, ``{1}``, ``{2}`` are the arguments and

- ``{T}`` the C type of the result (float32's where 16-bit floats go through it), ``{A}`` that of the first argument;
- ``{U}`` the unsigned type of the loop, at least 32 bits wide: signed overflow is undefined in C and wraps in NumPy;
- ``{f}`` the suffix of the library function for the loop's float type ("f" or nothing).

The kind is the first argument's: b bool, i signed, u unsigned, e 16-bit float, f float, c complex; and x for the
comparisons of int64 with uint64. A row without "e" serves 16-bit floats through "f", in float32 and rounded once. The
result is converted to ``{T}`` by the table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Op:
    """One elementwise operation.

    Attributes
    ----------
    name
        NumPy's name of the ufunc, or of a part of one.
    code
        The template for each kind of loop.
    ulp
        How far from the exact value a result of this row may be, in units in the last place; 0: NumPy's bits.
    complex_ulp
        The same for its complex loops, in units in the last place of the larger part.
    domain
        Where its test draws ordinary arguments from.
    """

    name: str
    code: dict[str, str]
    ulp: float
    complex_ulp: float
    domain: tuple[float, float]

    @property
    def arity(self) -> int:
        """The number of arguments."""
        text = "".join(self.code.values())
        return sum(f"{{{i}}}" in text for i in range(3))


ELEMENTWISE: dict[str, Op] = {}

_LONG = (-1e4, 1e4)
_UNIT = (-1.0, 1.0)


def _row(
    name: str, ulp: float = 0, domain: tuple[float, float] = _LONG, complex_ulp: float | None = None, **code: str
) -> None:
    by_kind = {kind: text for kinds, text in code.items() for kind in kinds}
    ELEMENTWISE[name] = Op(name, by_kind, ulp, ulp if complex_ulp is None else complex_ulp, domain)


def _function(
    name: str, c_name: str, domain: tuple[float, float], ulp: float = 4, complex_ulp: float = 4, **code: str
) -> None:
    """A unary function of the mathematical library."""
    _row(name, ulp, domain, complex_ulp, f=c_name + "{f}({0})", **code)


def _through_f64(function: str, *arguments: str) -> str:
    """A complex function that exists in complex128 alone."""
    return f"op::cast<{{T}}>(op::{function}({', '.join(f'op::cast<c128>({arg})' for arg in arguments)}))"


# Arithmetic. bool: add is or, multiply is and.
_row("add", b="{0} || {1}", iu="{U}({0}) + {U}({1})", fc="{0} + {1}")
_row("subtract", iu="{U}({0}) - {U}({1})", fc="{0} - {1}")
_row("multiply", b="{0} && {1}", iu="{U}({0}) * {U}({1})", fc="{0} * {1}")
_row("divide", fc="{0} / {1}")
_row("floor_divide", iu="op::floor_divide({0}, {1})", f="op::float_floor_divide({0}, {1})")
_row("remainder", iu="op::remainder({0}, {1})", f="op::float_remainder({0}, {1})")
_row("fmod", iu="op::fmod({0}, {1})", f="fmod{f}({0}, {1})")
_row("negative", iu="{U}(0) - {U}({0})", fc="-{0}")
_row("positive", iuefc="{0}")
_row("reciprocal", iu="op::to_integer<{A}>(1.0 / {0})", f="{T}(1) / {0}", c="op::reciprocal({0})")
_row("square", iu="{U}({0}) * {U}({0})", f="{0} * {0}", c="op::square({0})")
_row("absolute", bu="{0}", i="op::absolute({0})", f="fabs{f}({0})", c="hypot{f}({0}.re, {0}.im)", complex_ulp=4)
_row("fabs", f="fabs{f}({0})")
_row("sign", complex_ulp=4, i="({0} > 0) - ({0} < 0)", u="{0} > 0", f="op::sign({0})", c="op::complex_sign({0})")
_row(
    *("power", 4, (0, 20)),
    iu="op::power({0}, {1})",
    f="op::float_power({0}, {1})",
    c=_through_f64("complex_power", "{0}", "{1}"),
)
_row("float_power", 4, (0, 20), f="op::float_power({0}, {1})", c="op::complex_power({0}, {1})")
_row("gcd", iu="op::gcd({0}, {1})")
_row("lcm", iu="op::lcm({0}, {1})")
_row("hypot", 4, f="hypot{f}({0}, {1})")
_row("heaviside", f="op::heaviside({0}, {1})")

# Roots, exponentials, logarithms.
_function("sqrt", "sqrt", (0, 1e4), 0, c=_through_f64("sqrt", "{0}"))
_function("cbrt", "cbrt", _LONG)
_function("exp", "exp", (-20, 20), c=_through_f64("exp", "{0}"))
_function("exp2", "exp2", (-20, 20), c=_through_f64("exp2", "{0}"))
_function("expm1", "expm1", (-20, 20), c=_through_f64("expm1", "{0}"))
_function("log", "log", (0, 1e4), c=_through_f64("log", "{0}"))
_function("log2", "log2", (0, 1e4), c=_through_f64("log2", "{0}"))
_function("log10", "log10", (0, 1e4), c=_through_f64("log10", "{0}"))
_function("log1p", "log1p", (-1, 10), c=_through_f64("log1p", "{0}"))
_row("logaddexp", 4, (-50, 50), f="op::logaddexp({0}, {1})")
_row("logaddexp2", 4, (-50, 50), f="op::logaddexp2({0}, {1})")

# Trigonometric and hyperbolic functions.
_function("sin", "sin", _LONG, c=_through_f64("sin", "{0}"))
_function("cos", "cos", _LONG, c=_through_f64("cos", "{0}"))
_function("tan", "tan", _LONG, complex_ulp=8, c=_through_f64("tan", "{0}"))
_function("arcsin", "asin", _UNIT, c=_through_f64("arcsin", "{0}"))
_function("arccos", "acos", _UNIT, c=_through_f64("arccos", "{0}"))
_function("arctan", "atan", _LONG, c=_through_f64("arctan", "{0}"))
_row("arctan2", 4, f="atan2{f}({0}, {1})")
_function("sinh", "sinh", (-20, 20), c=_through_f64("sinh", "{0}"))
_function("cosh", "cosh", (-20, 20), c=_through_f64("cosh", "{0}"))
_function("tanh", "tanh", (-5, 5), complex_ulp=8, c=_through_f64("tanh", "{0}"))
_function("arcsinh", "asinh", _LONG, c=_through_f64("arcsinh", "{0}"))
_function("arccosh", "acosh", (1, 1e4), c=_through_f64("arccosh", "{0}"))
_function("arctanh", "atanh", _UNIT, c=_through_f64("arctanh", "{0}"))
for _name in ("deg2rad", "radians"):
    _row(_name, f="{0} * ({T}(3.141592653589793238) / {T}(180))")
for _name in ("rad2deg", "degrees"):
    _row(_name, f="{0} * ({T}(180) / {T}(3.141592653589793238))")

# Bits.
_row("bitwise_and", biu="{0} & {1}")
_row("bitwise_or", biu="{0} | {1}")
_row("bitwise_xor", biu="{0} ^ {1}")
_row("invert", b="!{0}", iu="~{0}")
_row("left_shift", iu="op::left_shift({0}, {1})")
_row("right_shift", iu="op::right_shift({0}, {1})")
_row("bitwise_count", iu="op::bitwise_count({0})")

# Comparisons and truth.
_row("equal", biufc="{0} == {1}", x="op::equal({0}, {1})")
_row("not_equal", biufc="{0} != {1}", x="!op::equal({0}, {1})")
_row("less", biufc="{0} < {1}", x="op::less({0}, {1})")
_row("less_equal", biufc="{0} <= {1}", x="!op::less({1}, {0})")
_row("greater", biufc="{0} > {1}", x="op::less({1}, {0})")
_row("greater_equal", biufc="{0} >= {1}", x="!op::less({0}, {1})")
_row("logical_and", biufc="op::truth({0}) && op::truth({1})")
_row("logical_or", biufc="op::truth({0}) || op::truth({1})")
_row("logical_xor", biufc="op::truth({0}) != op::truth({1})")
_row("logical_not", biufc="!op::truth({0})")
_row("isnan", biu="false", fc="op::isnan({0})")
_row("isinf", biu="false", fc="op::isinf({0})")
_row("isfinite", biu="true", fc="op::isfinite({0})")
_row("signbit", ef="op::signbit({0})")

# Extremes. A NaN wins in maximum and minimum, loses in fmax and fmin.
for _name, _sign, _word in (("maximum", ">", "||"), ("minimum", "<", "&&")):
    _row(_name, b=f"{{0}} {_word} {{1}}", iu=f"{{0}} {_sign} {{1}} ? {{0}} : {{1}}", fc=f"op::{_name}({{0}}, {{1}})")
for _name, _sign, _word in (("fmax", ">", "||"), ("fmin", "<", "&&")):
    _row(_name, b=f"{{0}} {_word} {{1}}", iu=f"{{0}} {_sign} {{1}} ? {{0}} : {{1}}", fc=f"op::{_name}({{0}}, {{1}})")
_row("clip", biufc="op::clip({0}, {1}, {2})")

# Rounding and the parts of floats.
for _name in ("floor", "ceil", "trunc"):
    _row(_name, biu="{0}", f=_name + "{f}({0})")
_row("rint", f="rint{f}({0})", c="op::rint({0})")
_row("copysign", f="copysign{f}({0}, {1})")
_row("nextafter", e="op::nextafter({0}, {1})", f="nextafter{f}({0}, {1})")
_row("spacing", ef="op::spacing({0})")
_row("ldexp", f="op::ldexp({0}, {1})")
_row("modf_frac", f="op::modf_frac({0})")
_row("modf_int", f="op::modf_int({0})")
_row("frexp_mantissa", f="op::frexp_mantissa({0})")
_row("frexp_exponent", f="op::frexp_exponent({0})")

# Complex numbers.
_row("conjugate", iuef="{0}", c="op::conjugate({0})")
_row("real", biuef="{0}", c="{0}.re")
_row("imag", biu="0", f="0.0f", c="{0}.im")
_row("complex", f="{T}{{{0}, {1}}}")
# A multiple by a real number: of either part alone, as a complex factor would have infinity make NaN of the other.
_row("scaled", c="{T}{{{0}.re * {1}, {0}.im * {1}}}")

# Not ufuncs in NumPy.
_row("cast", biuefc="op::cast<{T}>({0})")
_row("where", b="{0} ? {1} : {2}")
