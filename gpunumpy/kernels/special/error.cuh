// Error functions and the normal distribution. Those that are not CUDA's or an inverse follow from erfcx(x) = exp(x^2)
// erfc(x), which is near 1 / x, and from exp(-x^2), of a square in two words: so errors do not grow with x.
namespace op {

template <class T> constexpr dw<T> ROOT_HALF = {T(0.7071067811865476), T(-4.833646656726457e-17)};
template <> constexpr dw<f32> ROOT_HALF<f32> = {0.70710677f, 1.2101617e-08f};
template <class T> constexpr T TWO_OVER_ROOT_PI = T(1.1283791670955126);

__device__ inline f32 erf(f32 x) { return ::erff(x); }
__device__ inline f64 erf(f64 x) { return ::erf(x); }

// erfcx(x) of x from 0 to where 2 x is finite. What t loses near -1 is made good by about the slope there.
template <class T> __device__ inline T erfcx_of_size(T x) {
  T more = 2 * x * near_reciprocal(x + 4), t = more - 1, below = ::fma(T(2), x, T(1)), inverse = near_reciprocal(below);
  dw<T> part = erfcx_part(t);
  T low = ::fma(T(1.25), more - (t + 1), part.lo), value = part.hi * inverse;
  return ::fma(::fma(-value, below, part.hi) + low, inverse, value);
}
// value exp(c x^2) of a power of two c: what the square loses to rounding is seen in the power.
__device__ inline f32 times_exp_of_square(f32 value, f32 x, f32 c) {
  dw<f32> square = two_product(x, x);
  f32 e = ::exp(c * square.hi);
  return value * (isinf(e) ? e : ::fma(e, c * square.lo, e));
}
__device__ inline f64 times_exp_of_square(f64 value, f64 x, f64 c) {
  dw<f64> square = two_product(x, x);
  return times_short_exp(value, dw<f64>{c * square.hi, c * square.lo});
}

// Where erfc, and the normal distribution at minus this, is 0.
template <class T> constexpr T ERFC_END = same<T, f64> ? T(27.3) : T(10.2f);
template <class T> constexpr T NORMAL_END = same<T, f64> ? T(38.6) : T(14.4f);

template <class T> __device__ inline T erfc(T x) {
  T size = fabs(x);
  if (size > ERFC_END<T>) return x > 0 ? T(0) : T(2);
  T tail = times_exp_of_square(erfcx_of_size(size), size, T(-1));
  return x > 0 ? tail : 2 - tail;
}
template <class T> __device__ inline T erfcx(T x) {
  if (x > T(1e10f)) return T(0.5) * TWO_OVER_ROOT_PI<T> / x;
  if (x < -ERFC_END<T>) return infinity<T>();
  T r = erfcx_of_size(fabs(x));
  return x < 0 ? times_exp_of_square(T(2), x, T(1)) - r : r;
}

// What exp(-x^2 / 2) is multiplied by in the probability of what is beyond an x from 0 on.
template <class T> __device__ inline T normal_part(T x) { return T(0.5) * erfcx_of_size(x * ROOT_HALF<T>.hi); }
template <class T> __device__ inline T ndtr(T x) {
  T size = fabs(x);
  if (size > NORMAL_END<T>) return x > 0 ? T(1) : T(0);
  T tail = times_exp_of_square(normal_part(size), size, T(-0.5));
  return x < 0 ? tail : 1 - tail;
}
template <class T> __device__ inline T log_ndtr(T x) {
  if (x < (same<T, f64> ? T(-1e100) : T(-1e15f))) return T(-0.5) * x * x;
  if (x > NORMAL_END<T>) return T(-0.0f);
  T part = normal_part(fabs(x));
  return x < 0 ? ::fma(T(-0.5) * x, x, ::log(part)) : ::log1p(-times_exp_of_square(part, x, T(-0.5)));
}

// erfinv(x) / x by w = -ln(1 - x^2).
template <class T> __device__ inline dw<T> erfinv_part(T w) {
  if (w < T(6.25)) return erfinv_near(w - T(3.125));
  T s = ::sqrt(w);
  if (s < 4) return erfinv_middle(s - T(3.25));
  return s < 8 ? erfinv_far(s - 6) : two_product(s, erfinv_farthest(8 / s - T(0.5)));
}
// -ln(y) of y up to 1, which may be no normal number.
__device__ inline f32 minus_log(f32 y) { return -::log(y); }
__device__ inline f64 minus_log(f64 y) { return -short_log(y * 0x1p60, -60); }

template <class T> __device__ inline T erfinv(T x) {
  if (!(fabs(x) < 1)) return fabs(x) == 1 ? x * infinity<T>() : nan<T>();
  dw<T> part = erfinv_part(minus_log(::fma(-x, x, T(1))));
  return ::fma(x, part.hi, x * part.lo);
}
template <class T> __device__ inline T erfcinv(T y) {
  dw<T> x = two_sum(y, T(-1));
  if (!(y > 0 && y < 2)) return y == 0 || y == 2 ? -x.hi * infinity<T>() : nan<T>();
  dw<T> value = product(x, erfinv_part(minus_log(::fma(-y, y, 2 * y))));
  return -(value.hi + value.lo);
}
// -sqrt(2) erfcinv(2 p).
template <class T> __device__ inline T ndtri(T p) {
  T y = 2 * p;
  dw<T> x = two_sum(T(-1), y);
  if (!(y > 0 && y < 2)) return y == 0 || y == 2 ? x.hi * infinity<T>() : nan<T>();
  dw<T> part = product(erfinv_part(minus_log(::fma(-y, y, 2 * y))), dw<T>{2 * ROOT_HALF<T>.hi, 2 * ROOT_HALF<T>.lo});
  dw<T> value = product(x, part);
  return value.hi + value.lo;
}

}  // namespace op
