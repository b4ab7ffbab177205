// Complex elementary functions with the special values of C99, in f64. complex64 is computed in f64 and rounded once.
namespace op {

constexpr f64 LN2 = 0.693147180559945309417232121458176568;
constexpr f64 HALF_PI = 1.57079632679489661923132169163975144;

__device__ inline c128 times_i(c128 z) { return {-z.im, z.re}; }
__device__ inline c128 over_i(c128 z) { return {z.im, -z.re}; }

// exp(x) * t where exp(x) alone may overflow.
__device__ inline f64 exp_times(f64 x, f64 t) {
  if (x < 700) return ::exp(x) * t;
  f64 root = ::exp(0.5 * x);
  return root * t * root;
}

// exp(x) / 2 * t for a large x. The half is applied to the exponential: half of a tiny t would be 0.
__device__ inline f64 half_exp_times(f64 x, f64 t) {
  f64 root = ::exp(0.5 * x);
  return 0.5 * root * t * root;
}

__device__ inline c128 exp(c128 z) {
  if (z.im == 0) return {::exp(z.re), z.im};
  if (!isfinite(z.im)) {
    if (isinf(z.re)) return z.re < 0 ? c128{0, 0} : c128{z.re, nan<f64>()};
    return {nan<f64>(), nan<f64>()};
  }
  return {exp_times(z.re, op::cos(z.im)), exp_times(z.re, op::sin(z.im))};
}
__device__ inline c128 exp2(c128 z) { return exp(c128{z.re * LN2, z.im * LN2}); }
// exp(z) - 1. For a z that is not finite the plain formula does; on the real axis a real part of -0 becomes +0.
__device__ inline c128 expm1(c128 z) {
  if (z.im == 0) return {::expm1(z.re) + 0.0, z.im};
  if (!isfinite(z.re) || !isfinite(z.im)) {
    c128 w = exp(z);
    return {w.re - 1, w.im};
  }
  f64 s = op::sin(0.5 * z.im);
  return {::expm1(z.re) * op::cos(z.im) - 2 * s * s, ::exp(z.re) * op::sin(z.im)};
}

// log(1 + a + x^2 + y^2) / 2, with the sum in twice the precision, as its terms may cancel.
__device__ inline f64 half_log1p(f64 a, f64 x, f64 y) {
  f64 p = x * x, q = y * y, low = ::fma(x, x, -p) + ::fma(y, y, -q);
  f64 s = a + p, p2 = s - a, t = s + q, q2 = t - s;
  low += (a - (s - p2)) + (p - p2) + (s - (t - q2)) + (q - q2);
  return 0.5 * ::log1p(t + low);
}

// log|z|. Where |z| is near 1 the logarithm is small, and the error of hypot, two units in the last place on a GPU,
// would be many units of it.
__device__ inline f64 log_abs(f64 x, f64 y) {
  x = ::fabs(x);
  y = ::fabs(y);
  f64 big = x > y ? x : y;
  if (big > 0.5 && big < 4) return half_log1p(-1, x, y);
  if (big > 1e-140 && big < 1e150) return 0.5 * ::log(x * x + y * y);
  bool tiny = big < 1;
  f64 scale = tiny ? 18014398509481984.0 : 0.25;
  return ::log(op::hypot(scale * x, scale * y)) + (tiny ? -54 : 2) * LN2;
}
__device__ inline c128 log(c128 z) { return {log_abs(z.re, z.im), op::arctan2(z.im, z.re)}; }
__device__ inline c128 log2(c128 z) {
  c128 w = log(z);
  return {w.re * 1.442695040888963407359924681001892137, w.im * 1.442695040888963407359924681001892137};
}
__device__ inline c128 log10(c128 z) {
  c128 w = log(z);
  return {w.re * 0.434294481903251827651128918916605082, w.im * 0.434294481903251827651128918916605082};
}
__device__ inline c128 log1p(c128 z) {
  f64 x = z.re, y = z.im, sum = 1 + x;
  // 1 + x is exact for x <= -0.5; elsewhere |1 + z|^2 - 1 = 2x + x^2 + y^2 avoids its rounding
  bool near = x > -0.5 && x < 8 && ::fabs(y) < 8;
  return {near ? half_log1p(2 * x, x, y) : log_abs(sum, y), op::arctan2(y, sum)};
}

__device__ inline c128 sqrt(c128 z) {
  f64 x = z.re, y = z.im;
  if (x == 0 && y == 0) return {0, y};
  if (isinf(y)) return {infinity<f64>(), y};
  if (isnan(x)) return {x, nan<f64>()};
  if (isinf(x)) return x < 0 ? c128{::fabs(y - y), ::copysign(x, y)} : c128{x, ::copysign(y - y, y)};
  f64 size = ::fmax(::fabs(x), ::fabs(y)), unscale = 1;
  if (size > 1e300) {
    x *= 0.0625, y *= 0.0625, unscale = 4;
  } else if (size < 1e-290) {
    x *= 18014398509481984.0, y *= 18014398509481984.0, unscale = 1.0 / 134217728.0;
  }
  f64 t = ::sqrt(0.5 * (::fabs(x) + op::hypot(x, y)));
  f64 other = ::fabs(y) / (2 * t);
  c128 w = x >= 0 ? c128{t, ::copysign(other, y)} : c128{other, ::copysign(t, y)};
  return {w.re * unscale, w.im * unscale};
}

__device__ inline c128 sinh(c128 z) {
  f64 x = z.re, y = z.im;
  if (y == 0) return {op::sinh(x), y};
  if (!isfinite(y)) {
    if (x == 0) return {x, nan<f64>()};
    return {isinf(x) ? infinity<f64>() : nan<f64>(), nan<f64>()};
  }
  if (x == 0) return {x * op::cos(y), op::sin(y)};
  if (::fabs(x) < 700 || isnan(x)) return {op::sinh(x) * op::cos(y), ::cosh(x) * op::sin(y)};
  return {half_exp_times(::fabs(x), ::copysign(1.0, x) * op::cos(y)), half_exp_times(::fabs(x), op::sin(y))};
}
__device__ inline c128 cosh(c128 z) {
  f64 x = z.re, y = z.im;
  if (y == 0 || (x == 0 && isfinite(y))) {
    f64 im = isnan(x) || isinf(x) ? ::copysign(0.0, y) * ::copysign(1.0, x) : x * op::sin(y);
    return {y == 0 ? ::cosh(x) : op::cos(y), im};
  }
  if (!isfinite(y)) {
    if (x == 0) return {nan<f64>(), 0};
    return {isinf(x) ? infinity<f64>() : nan<f64>(), nan<f64>()};
  }
  if (::fabs(x) < 700 || isnan(x)) return {::cosh(x) * op::cos(y), op::sinh(x) * op::sin(y)};
  return {half_exp_times(::fabs(x), op::cos(y)), half_exp_times(::fabs(x), ::copysign(1.0, x) * op::sin(y))};
}
// Kahan's algorithm ("Branch cuts for complex elementary functions", 1987).
__device__ inline c128 tanh(c128 z) {
  f64 x = z.re, y = z.im;
  if (isnan(x)) return {x, y == 0 ? y : nan<f64>()};
  if (isinf(x)) return {::copysign(1.0, x), ::copysign(0.0, y)};  // array API standard; C99: the sign of sin(2y)
  if (!isfinite(y)) return {x == 0 ? x : nan<f64>(), nan<f64>()};
  if (::fabs(x) >= 22) {
    f64 e = ::exp(-::fabs(x));
    return {::copysign(1.0, x), 4 * op::sin(y) * op::cos(y) * e * e};
  }
  f64 t = op::tan(y), beta = 1 + t * t, s = op::sinh(x), rho = ::sqrt(1 + s * s), d = 1 + beta * s * s;
  return {beta * rho * s / d, t / d};
}
__device__ inline c128 sin(c128 z) {
  if (isinf(z.im) && !isfinite(z.re)) return {nan<f64>(), infinity<f64>()};  // as in glibc; C leaves the sign open
  return over_i(sinh(times_i(z)));
}
__device__ inline c128 cos(c128 z) { return cosh(times_i(z)); }
__device__ inline c128 tan(c128 z) { return over_i(tanh(times_i(z))); }

// Hull, Fairgrieve and Tang (1997): asinh(x + iy) = re + i atan2(y, s) for x, y >= 0, with no cancellation in either
// part.
struct Hull {
  f64 re, s, y;
};
__device__ inline Hull hull(f64 x, f64 y) {
  x = ::fabs(x);
  y = ::fabs(y);
  if (isinf(x) || isinf(y)) return {infinity<f64>(), x, y};
  if (x > 1e9 || y > 1e9) return {log_abs(x, y) + LN2, x, y};
  f64 above = y + 1, below = y - 1;
  if (x < 2.3e-16 * ::fabs(below)) {
    f64 root = ::sqrt(::fabs(below) * above);
    if (y < 1) return {x / root, root, y};
    return {::log1p(below + root), x, root};
  }
  f64 r = op::hypot(x, above), t = op::hypot(x, below), a = 0.5 * (r + t);
  f64 x2 = x * x, low = x2 / (r + above);
  f64 am1 = 0.5 * (low + (y < 1 ? x2 / (t - below) : t + below));
  f64 amy = 0.5 * (low + (y <= 1 ? t - below : x2 / (t + below)));
  f64 re = a < 10 ? ::log1p(am1 + ::sqrt(am1 * (a + 1))) : ::log(a + ::sqrt(a * a - 1));
  return {re, ::sqrt(amy * (a + y)), y};
}
__device__ inline c128 arcsinh(c128 z) {
  if (isnan(z) && !isinf(z)) return {nan<f64>(), z.im == 0 ? z.im : nan<f64>()};
  Hull h = hull(z.re, z.im);
  return {::copysign(h.re, z.re), ::copysign(op::arctan2(h.y, h.s), z.im)};
}
__device__ inline c128 arcsin(c128 z) { return over_i(arcsinh(times_i(z))); }
__device__ inline c128 arccos(c128 z) {
  if (isnan(z) && !isinf(z)) return {z.re == 0 ? HALF_PI : nan<f64>(), nan<f64>()};
  Hull h = hull(z.im, z.re);
  return {op::arctan2(h.s, ::copysign(h.y, z.re)), ::copysign(h.re, -z.im)};
}
__device__ inline c128 arccosh(c128 z) {
  if (isnan(z) && !isinf(z)) return {nan<f64>(), z.re == 0 ? HALF_PI : nan<f64>()};
  c128 w = arccos(z);
  return {::fabs(w.im), ::copysign(w.re, z.im)};
}
__device__ inline c128 arctanh(c128 z) {
  f64 x = ::fabs(z.re), y = ::fabs(z.im);
  if (isinf(x) || isinf(y)) return {::copysign(0.0, z.re), isnan(y) ? y : ::copysign(HALF_PI, z.im)};
  if (isnan(z)) return {x == 0 ? z.re : nan<f64>(), nan<f64>()};
  if (x > 1e9 || y > 1e9) {
    f64 size = op::hypot(0.5 * x, 0.5 * y);
    f64 re = 0.5 * (0.5 * x / size) / size, turn = 0.5 * (0.5 * y / size) / size;
    return {::copysign(re, z.re), ::copysign(HALF_PI - turn, z.im)};
  }
  // at x = 1 the square of a small y may underflow, but its logarithm is finite
  f64 re = x == 1 && y < 1 ? 0.5 * (::log(op::hypot(2.0, y)) - ::log(y)) : 0.25 * ::log1p(4 * x / ((1 - x) * (1 - x) + y * y));
  return {::copysign(re, z.re), 0.5 * op::arctan2(2 * z.im, (1 - x) * (1 + x) - y * y)};
}
__device__ inline c128 arctan(c128 z) { return over_i(arctanh(times_i(z))); }

// The product of C99, annex G: an infinite factor gives an infinite product, also where both parts come out as NaN.
__device__ inline c128 unit_if_infinite(c128 z) {
  return {::copysign(isinf(z.re) ? 1.0 : 0.0, z.re), ::copysign(isinf(z.im) ? 1.0 : 0.0, z.im)};
}
__device__ inline c128 zero_if_nan(c128 z) {
  return {isnan(z.re) ? ::copysign(0.0, z.re) : z.re, isnan(z.im) ? ::copysign(0.0, z.im) : z.im};
}
__device__ inline c128 c99_product(c128 a, c128 b) {
  c128 p = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  if (!(isnan(p.re) && isnan(p.im))) return p;
  bool overflow = isinf(a.re * b.re) || isinf(a.im * b.im) || isinf(a.re * b.im) || isinf(a.im * b.re);
  if (!isinf(a) && !isinf(b) && !overflow) return p;
  c128 x = isinf(a) ? unit_if_infinite(a) : a, y = isinf(b) ? unit_if_infinite(b) : b;
  x = zero_if_nan(x), y = zero_if_nan(y);
  return {infinity<f64>() * (x.re * y.re - x.im * y.im), infinity<f64>() * (x.re * y.im + x.im * y.re)};
}

// Powers: a small integer exponent by repeated squaring, any other through the logarithm.
__device__ inline c128 complex_power(c128 a, c128 b) {
  if (b.re == 0 && b.im == 0) return {1, 0};
  if (a.re == 0 && a.im == 0) {
    if (b.re > 0) return {0, 0};
    return {nan<f64>(), nan<f64>()};
  }
  if (b.im == 0 && b.re == ::floor(b.re) && ::fabs(b.re) < 100) {
    c128 result = {1, 0}, square = a;
    bool started = b.re < 1 || b.re > 3;  // else no product with {1, 0}: its zero times an infinity is NaN
    for (int n = int(::fabs(b.re)); n; n >>= 1) {
      if (n & 1) {
        result = started ? result * square : square;
        started = true;
      }
      square = square * square;
    }
    return b.re < 0 ? c128{1, 0} / result : result;
  }
  return exp(c99_product(b, log(a)));
}

}  // namespace op
