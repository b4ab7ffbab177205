// Error functions and the normal distribution. Those that are not CUDA's or an inverse follow from erfcx(x) = exp(x^2)
// erfc(x), which is near 1 / x, and from exp(-x^2), of a square in two words: so errors do not grow with x.
namespace op {

template <class T> constexpr dw<T> ROOT_HALF = {T(0.7071067811865476), T(-4.833646656726457e-17)};
template <> constexpr dw<f32> ROOT_HALF<f32> = {0.70710677f, 1.2101617e-08f};
template <class T> constexpr T TWO_OVER_ROOT_PI = T(1.1283791670955126);

__device__ inline f32 erf(f32 x) { return ::erff(x); }
__device__ inline f64 erf(f64 x) { return ::erf(x); }

// erfcx(x) of x from 0 to where 2 x is finite.
template <class T> __device__ inline T erfcx_of_size(T x) {
  dw<T> t = quotient(two_sum(x, T(-4)), two_sum(x, T(4)));
  dw<T> value = quotient(dw<T>{erfcx_part(t.hi + t.lo).hi, 0}, two_sum(T(1), 2 * x));
  return value.hi + value.lo;
}
// exp(c x^2) of a power of two c: what the square loses to rounding is seen in the power.
template <class T> __device__ inline T exp_of_square(T x, T c) {
  dw<T> square = two_product(x, x);
  T e = ::exp(c * square.hi);
  return isinf(e) ? e : ::fma(e, c * square.lo, e);
}

// Where erfc, and the normal distribution at minus this, is 0.
template <class T> constexpr T ERFC_END = same<T, f64> ? T(27.3) : T(10.2f);
template <class T> constexpr T NORMAL_END = same<T, f64> ? T(38.6) : T(14.4f);

template <class T> __device__ inline T erfc(T x) {
  T size = fabs(x);
  if (size > ERFC_END<T>) return x > 0 ? T(0) : T(2);
  T tail = exp_of_square(size, T(-1)) * erfcx_of_size(size);
  return x > 0 ? tail : 2 - tail;
}
template <class T> __device__ inline T erfcx(T x) {
  if (x > T(1e10f)) return T(0.5) * TWO_OVER_ROOT_PI<T> / x;
  if (x < -ERFC_END<T>) return infinity<T>();
  T r = erfcx_of_size(fabs(x));
  return x < 0 ? ::fma(T(2), exp_of_square(x, T(1)), -r) : r;
}

// What exp(-x^2 / 2) is multiplied by in the probability of what is beyond an x from 0 on.
template <class T> __device__ inline T normal_part(T x) { return T(0.5) * erfcx_of_size(x * ROOT_HALF<T>.hi); }
template <class T> __device__ inline T ndtr(T x) {
  T size = fabs(x);
  if (size > NORMAL_END<T>) return x > 0 ? T(1) : T(0);
  T tail = exp_of_square(size, T(-0.5)) * normal_part(size);
  return x < 0 ? tail : 1 - tail;
}
template <class T> __device__ inline T log_ndtr(T x) {
  if (x < (same<T, f64> ? T(-1e100) : T(-1e15f))) return T(-0.5) * x * x;
  if (x > NORMAL_END<T>) return T(-0.0f);
  T part = normal_part(fabs(x));
  return x < 0 ? ::fma(T(-0.5) * x, x, ::log(part)) : ::log1p(-exp_of_square(x, T(-0.5)) * part);
}

// erfinv(x) / x by w = -ln(1 - x^2).
template <class T> __device__ inline dw<T> erfinv_part(T w) {
  if (w < T(6.25)) return erfinv_near(w - T(3.125));
  T s = ::sqrt(w);
  if (s < 4) return erfinv_middle(s - T(3.25));
  return s < 8 ? erfinv_far(s - 6) : two_product(s, erfinv_farthest(8 / s - T(0.5)));
}
template <class T> __device__ inline T erfinv(T x) {
  if (fabs(x) == 1) return x * infinity<T>();
  dw<T> part = erfinv_part(-::log(::fma(-x, x, T(1))));
  return ::fma(x, part.hi, x * part.lo);
}
template <class T> __device__ inline T erfcinv(T y) {
  dw<T> x = two_sum(y, T(-1));
  if (y == 0 || y == 2) return -x.hi * infinity<T>();
  dw<T> value = product(x, erfinv_part(-::log(::fma(-y, y, 2 * y))));
  return -(value.hi + value.lo);
}
// -sqrt(2) erfcinv(2 p).
template <class T> __device__ inline T ndtri(T p) {
  T y = 2 * p;
  dw<T> x = two_sum(T(-1), y);
  if (p == 0 || p == 1) return x.hi * infinity<T>();
  dw<T> part = product(erfinv_part(-::log(::fma(-y, y, 2 * y))), dw<T>{2 * ROOT_HALF<T>.hi, 2 * ROOT_HALF<T>.lo});
  dw<T> value = product(x, part);
  return value.hi + value.lo;
}

}  // namespace op
