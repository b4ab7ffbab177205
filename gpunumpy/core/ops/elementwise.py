"""The table of elementwise ops: one line for each.

An op gives a C++ template for each kind of loop; `kernels.codegen.op_code` makes the expression of one loop from it. In
a template ``{0}``, ``{1}``, ``{2}`` are the arguments and

- ``{T}`` the C type of the result (float32 for low-precision floats, which are computed in float32);
- ``{A}`` the C type of the first argument;
- ``{U}`` the unsigned type of the loop, at least 32 bits wide: signed overflow is undefined in C and wraps in NumPy;
- ``{f}`` the suffix of the C library's function for the float type of the loop: "f" for float32, else nothing.

The kind of a loop is that of its first argument: b bool, i signed, u unsigned, e low-precision float, f float, c
complex; or x for a comparison of int64 with uint64. An op without the kind "e" computes low-precision floats by its
template for "f", in float32, and rounds once. The code generator converts the value of a template to the dtype of the
result.
"""

from __future__ import annotations

from ..late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Op:
    """One elementwise operation.

    Attributes
    ----------
    name
        The name of NumPy's ufunc, or of one output of a ufunc with several (`UFUNC_OUTPUTS` in `table`).
    code
        The template for each kind of loop.
    ulp
        How many floats a result may be away from the exact one, rounded. 0: the same bits as NumPy.
    complex_ulp
        The same for complex loops, in units in the last place of the larger component.
    domain
        The interval that its test draws ordinary arguments from.
    points
        How many points a thread computes at most, where its code is hundreds of instructions; 0 for others.
    """

    name: str
    code: dict[str, str]
    ulp: float
    complex_ulp: float
    domain: tuple[float, float]
    points: int = 0

    @property
    def arity(self) -> int:
        """The number of arguments."""
        templates = "".join(self.code.values())
        return sum(f"{{{i}}}" in templates for i in range(3))


ELEMENTWISE: dict[str, Op] = {}

_WIDE_DOMAIN = (-1e4, 1e4)
_UNIT_DOMAIN = (-1.0, 1.0)


def _op(
    name: str, ulp: float = 0, domain: tuple[float, float] = _WIDE_DOMAIN, complex_ulp: float | None = None, **code: str
) -> None:
    """Add an op to the table. A keyword such as ``iu="..."`` gives one template to several kinds."""
    by_kind = {kind: template for kinds, template in code.items() for kind in kinds}
    ELEMENTWISE[name] = Op(name, by_kind, ulp, ulp if complex_ulp is None else complex_ulp, domain)


def _function(name: str, domain: tuple[float, float], complex_ulp: float = 4, **code: str) -> None:
    """Add a unary function to the table, by default the one of its name in `kernels/codegen`."""
    _op(name, 1, domain, complex_ulp, **{"f": f"op::{name}({{0}})", **code})


def _through_f64(function: str, *arguments: str) -> str:
    """Return the template of a complex function that exists for complex128 only."""
    return f"op::cast<{{T}}>(op::{function}({', '.join(f'op::cast<c128>({arg})' for arg in arguments)}))"


# The size of a complex number.
_SIZE = "op::hypot({0}.re, {0}.im)"

# Arithmetic. For bool, add is "or" and multiply is "and".
_op("add", b="{0} || {1}", iu="{U}({0}) + {U}({1})", fc="{0} + {1}")
_op("subtract", iu="{U}({0}) - {U}({1})", fc="{0} - {1}")
_op("multiply", b="{0} && {1}", iu="{U}({0}) * {U}({1})", fc="{0} * {1}")
_op("divide", fc="{0} / {1}")
_op("floor_divide", iu="op::floor_divide({0}, {1})", f="op::float_floor_divide({0}, {1})")
_op("remainder", iu="op::remainder({0}, {1})", f="op::float_remainder({0}, {1})")
_op("fmod", iu="op::fmod({0}, {1})", f="fmod{f}({0}, {1})")
_op("negative", iu="{U}(0) - {U}({0})", ef="op::negative({0})", c="-{0}")
_op("positive", iuefc="{0}")
_op("reciprocal", iu="op::to_integer<{A}>(1.0 / {0})", f="{T}(1) / {0}", c="op::reciprocal({0})")
_op("square", iu="{U}({0}) * {U}({0})", f="{0} * {0}", c="op::square({0})")
_op("absolute", bu="{0}", i="op::absolute({0})", ef="op::fabs({0})", c=_SIZE, complex_ulp=1)
_op("fabs", ef="op::fabs({0})")
_op(
    "sign",
    complex_ulp=4,
    i="({0} > 0) - ({0} < 0)",
    u="{0} > 0",
    f="op::sign({0})",
    c=f"op::complex_sign({{0}}, {_SIZE})",
)
_op(
    *("power", 1, (0, 20), 4),
    iu="op::power({0}, {1})",
    f="op::float_power({0}, {1})",
    c=_through_f64("complex_power", "{0}", "{1}"),
)
_op("float_power", 1, (0, 20), 4, f="op::float_power({0}, {1})", c="op::complex_power({0}, {1})")
_op("gcd", iu="op::gcd({0}, {1})")
_op("lcm", iu="op::lcm({0}, {1})")
_op("hypot", 1, f="op::hypot({0}, {1})")
_op("heaviside", f="op::heaviside({0}, {1})")

# Roots, exponentials, logarithms.
# The C library's function serves where CUDA documents an error of at most 1 ULP and exact results where NumPy's are.
_op("sqrt", 0, (0, 1e4), 4, f="sqrt{f}({0})", c=_through_f64("sqrt", "{0}"))
_function("cbrt", _WIDE_DOMAIN, f="cbrt{f}({0})")
_function("exp", (-20, 20), c=_through_f64("exp", "{0}"))
_function("exp2", (-20, 20), c=_through_f64("exp2", "{0}"))
_function("expm1", (-20, 20), f="expm1{f}({0})", c=_through_f64("expm1", "{0}"))
_function("log", (0, 1e4), f="log{f}({0})", c=_through_f64("log", "{0}"))
_function("log2", (0, 1e4), c=_through_f64("log2", "{0}"))
_function("log10", (0, 1e4), c=_through_f64("log10", "{0}"))
_function("log1p", (-1, 10), f="log1p{f}({0})", c=_through_f64("log1p", "{0}"))
_op("logaddexp", 1, (-50, 50), f="op::logaddexp({0}, {1})")
_op("logaddexp2", 1, (-50, 50), f="op::logaddexp2({0}, {1})")

# Trigonometric and hyperbolic functions.
_function("sin", _WIDE_DOMAIN, c=_through_f64("sin", "{0}"))
_function("cos", _WIDE_DOMAIN, c=_through_f64("cos", "{0}"))
_function("tan", _WIDE_DOMAIN, 8, c=_through_f64("tan", "{0}"))
_function("arcsin", _UNIT_DOMAIN, c=_through_f64("arcsin", "{0}"))
_function("arccos", _UNIT_DOMAIN, c=_through_f64("arccos", "{0}"))
_function("arctan", _WIDE_DOMAIN, c=_through_f64("arctan", "{0}"))
_op("arctan2", 1, f="op::arctan2({0}, {1})")
_function("sinh", (-20, 20), c=_through_f64("sinh", "{0}"))
_function("cosh", (-20, 20), c=_through_f64("cosh", "{0}"))
_function("tanh", (-5, 5), 8, c=_through_f64("tanh", "{0}"))
_function("arcsinh", _WIDE_DOMAIN, c=_through_f64("arcsinh", "{0}"))
_function("arccosh", (1, 1e4), c=_through_f64("arccosh", "{0}"))
_function("arctanh", _UNIT_DOMAIN, c=_through_f64("arctanh", "{0}"))
for _name in ("deg2rad", "radians"):
    _op(_name, f="{0} * ({T}(3.141592653589793238) / {T}(180))")
for _name in ("rad2deg", "degrees"):
    _op(_name, f="{0} * ({T}(180) / {T}(3.141592653589793238))")

# Bits.
_op("bitwise_and", biu="{0} & {1}")
_op("bitwise_or", biu="{0} | {1}")
_op("bitwise_xor", biu="{0} ^ {1}")
_op("invert", b="!{0}", iu="~{0}")
_op("left_shift", iu="op::left_shift({0}, {1})")
_op("right_shift", iu="op::right_shift({0}, {1})")
_op("bitwise_count", iu="op::bitwise_count({0})")

# Comparisons and truth.
_op("equal", biufc="{0} == {1}", x="op::equal({0}, {1})")
_op("not_equal", biufc="{0} != {1}", x="!op::equal({0}, {1})")
_op("less", biufc="{0} < {1}", x="op::less({0}, {1})")
_op("less_equal", biufc="{0} <= {1}", x="!op::less({1}, {0})")
_op("greater", biufc="{0} > {1}", x="op::less({1}, {0})")
_op("greater_equal", biufc="{0} >= {1}", x="!op::less({0}, {1})")
_op("logical_and", biufc="op::truth({0}) && op::truth({1})")
_op("logical_or", biufc="op::truth({0}) || op::truth({1})")
_op("logical_xor", biufc="op::truth({0}) != op::truth({1})")
_op("logical_not", biufc="!op::truth({0})")
_op("isnan", biu="false", fc="op::isnan({0})")
_op("isinf", biu="false", fc="op::isinf({0})")
_op("isfinite", biu="true", fc="op::isfinite({0})")
_op("signbit", ef="op::signbit({0})")

# Extremes. maximum and minimum propagate NaNs, fmax and fmin ignore them.
for _name, _sign, _logic in (("maximum", ">", "||"), ("minimum", "<", "&&")):
    _op(_name, b=f"{{0}} {_logic} {{1}}", iu=f"{{0}} {_sign} {{1}} ? {{0}} : {{1}}", efc=f"op::{_name}({{0}}, {{1}})")
for _name, _sign, _logic in (("fmax", ">", "||"), ("fmin", "<", "&&")):
    _op(_name, b=f"{{0}} {_logic} {{1}}", iu=f"{{0}} {_sign} {{1}} ? {{0}} : {{1}}", efc=f"op::{_name}({{0}}, {{1}})")
_op("clip", biuefc="op::clip({0}, {1}, {2})")

# Rounding, and the components of floats.
for _name in ("floor", "ceil", "trunc"):
    _op(_name, biu="{0}", f=_name + "{f}({0})")
_op("rint", f="rint{f}({0})", c="op::rint({0})")
_op("copysign", ef="op::copysign({0}, {1})")
_op("nextafter", e="op::nextafter({0}, {1})", f="nextafter{f}({0}, {1})")
_op("spacing", ef="op::spacing({0})")
_op("ldexp", f="op::ldexp({0}, {1})")
_op("modf_frac", f="op::modf_frac({0})")
_op("modf_int", f="op::modf_int({0})")
_op("frexp_mantissa", f="op::frexp_mantissa({0})")
_op("frexp_exponent", f="op::frexp_exponent({0})")

# Complex numbers.
_op("conjugate", iuef="{0}", c="op::conjugate({0})")
_op("real", biuef="{0}", c="{0}.re")
_op("imag", biu="0", f="0.0f", c="{0}.im")
_op("complex", f="{T}{{{0}, {1}}}")
# The product with a real number, by component: with a complex factor, an infinite component makes the other one NaN.
_op("scaled", c="{T}{{{0}.re * {1}, {0}.im * {1}}}")

# Ops that are no ufuncs in NumPy.
_op("cast", biuefc="op::astype<{T}>({0})")
_op("where", b="{0} ? {1} : {2}")
