// Error functions and the normal distribution. Those that are not CUDA's or an inverse follow from erfcx(x) = exp(x^2) erfc(x), which is near 1 / x, as a
// double word, and from exp(-x^2), whose exponent is one: so errors do not grow with x.
namespace op {

template <class T> constexpr dw<T> ROOT_HALF = {T(0.7071067811865476), T(-4.833646656726457e-17)};
template <> constexpr dw<f32> ROOT_HALF<f32> = {0.70710677f, 1.2101617e-08f};
template <class T> constexpr T TWO_OVER_ROOT_PI = T(1.1283791670955126);

__device__ inline f32 erf(f32 x) { return ::erff(x); }
__device__ inline f64 erf(f64 x) { return ::erf(x); }

// Of x from 0 to where 2 x is finite. What the quotient t lacks is made good by the derivative of the polynomial.
template <class T> __device__ inline dw<T> erfcx_words(T x) {
  dw<T> below = two_sum(x, T(-4)), above = two_sum(x, T(4)), t = quotient(below, above);
  dw<T> part = erfcx_part(t.hi), by = two_sum(T(1), 2 * x);
  if (x < 100) {
    T slope = 2 * (part.hi * rough_reciprocal(by.hi) + x * part.hi) - by.hi * TWO_OVER_ROOT_PI<T>;
    part.lo = ::fma(slope * T(0.125) * above.hi * above.hi, t.lo, part.lo);
  }
  return quotient(part, by);
}
// 2 - x 2^k or 1 - x 2^k.
template <class T> __device__ inline dw<T> less_words(T from, scaled_words<T> part) {
  T factor = power_of_two<T>(part.k > -100 ? part.k : -100);
  dw<T> sum = two_sum(from, -part.x.hi * factor);
  return {sum.hi, ::fma(-part.x.lo, factor, sum.lo)};
}

// Where erfc, and the normal distribution at minus this, is 0.
template <class T> constexpr T ERFC_END = same<T, f64> ? T(27.3) : T(10.2f);
template <class T> constexpr T NORMAL_END = same<T, f64> ? T(38.6) : T(14.4f);

template <class T> __device__ inline T erfc(T x) {
  T size = fabs(x);
  if (size > ERFC_END<T>) return x > 0 ? T(0) : T(2);
  scaled_words<T> tail = exp_words(negative_words(two_product(size, size)));
  tail.x = product(tail.x, erfcx_words(size));
  if (x > 0) return scale(tail.x.hi + tail.x.lo, tail.k);
  dw<T> less = less_words(T(2), tail);
  return less.hi + less.lo;
}
template <class T> __device__ inline T erfcx(T x) {
  T size = fabs(x);
  if (x > T(1e10f)) return T(0.5) * TWO_OVER_ROOT_PI<T> / x;
  if (x < -ERFC_END<T>) return infinity<T>();
  dw<T> r = erfcx_words(size);
  if (!(x < 0)) return r.hi + r.lo;
  scaled_words<T> e = exp_words(two_product(size, size));
  T factor = T(-0.5) * power_of_two<T>(-(e.k < 100 ? e.k : 100));
  dw<T> sum = two_sum(e.x.hi, r.hi * factor);
  return scale(sum.hi + (sum.lo + ::fma(r.lo, factor, e.x.lo)), e.k + 1);
}

// erfcx(x / sqrt(2)), and half of x^2.
template <class T> struct normal_parts {
  dw<T> r, half_square;
};
template <class T> __device__ inline normal_parts<T> parts_of_normal(T x) {
  dw<T> z = two_product(x, ROOT_HALF<T>.hi), square = two_product(x, x), r;
  z.lo = ::fma(x, ROOT_HALF<T>.lo, z.lo);
  r = erfcx_words(z.hi);
  r.lo = ::fma(z.lo, ::fma(2 * z.hi, r.hi, -TWO_OVER_ROOT_PI<T>), r.lo);
  return {r, {T(0.5) * square.hi, T(0.5) * square.lo}};
}
// exp(-x^2 / 2) erfcx(x / sqrt(2)) / 2, the probability of what is beyond x.
template <class T> __device__ inline scaled_words<T> normal_tail(normal_parts<T> parts) {
  scaled_words<T> tail = exp_words(negative_words(parts.half_square));
  return {product(tail.x, parts.r), tail.k - 1};
}
template <class T> __device__ inline T ndtr(T x) {
  T size = fabs(x);
  if (size > NORMAL_END<T>) return x > 0 ? T(1) : T(0);
  scaled_words<T> tail = normal_tail(parts_of_normal(size));
  if (x < 0) return scale(tail.x.hi + tail.x.lo, tail.k);
  dw<T> less = less_words(T(1), tail);
  return less.hi + less.lo;
}
template <class T> __device__ inline T log_ndtr(T x) {
  if (x < (same<T, f64> ? T(-1e100) : T(-1e15f))) return T(-0.5) * x * x;
  if (x > NORMAL_END<T>) return T(-0.0f);
  normal_parts<T> parts = parts_of_normal(fabs(x));
  if (x < 0) {
    dw<T> l = precise_log(T(0.5) * parts.r.hi);
    l.lo += parts.r.lo * rough_reciprocal(parts.r.hi);
    dw<T> sum = two_sum(-parts.half_square.hi, l.hi);
    return sum.hi + (sum.lo + (l.lo - parts.half_square.lo));
  }
  scaled_words<T> tail = normal_tail(parts);
  if (tail.k < -60) return -scale(tail.x.hi + tail.x.lo, tail.k);
  T factor = power_of_two<T>(tail.k), high = tail.x.hi * factor;
  dw<T> l = log1p_words(-high);
  return l.hi + (l.lo - tail.x.lo * factor * rough_reciprocal(1 - high));
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
