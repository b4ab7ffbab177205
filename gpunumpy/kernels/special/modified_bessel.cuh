// Modified Bessel functions of order 0 and 1: series below 8, or 1, and beyond an exponential times a polynomial of 1 / x.
namespace op {

// value exp(sign x), or that without the exponential.
template <class T> __device__ inline T with_exp(dw<T> value, T exponent, bool is_scaled) {
  if (is_scaled) return value.hi + value.lo;
  scaled_words<T> e = exp_words(dw<T>{exponent, 0});
  dw<T> all = product(value, e.x);
  return scale(all.hi + all.lo, e.k);
}
// I0(x) or 2 I1(x) / x, or these times exp(-x), of x up to 8 from 1 + x^2 series. In float64, of which float32 takes a
// few steps. What x^2 loses is made good by about the derivative: value / (2 (x + slope)).
__device__ inline f64 modified_near(f64 x, dw<f64> z, f64 series, f64 slope, bool is_scaled) {
  dw<f64> value = two_sum(1.0, z.hi * series);
  value.lo += 0.5 * value.hi * z.lo * rough_reciprocal(x + slope);
  return is_scaled ? with_exp(value, -x, false) : value.hi + value.lo;
}
template <class T> __device__ inline dw<T> over_root(dw<T> value, T x) { return quotient(value, root(dw<T>{x, 0})); }
// Of x from here on I0 and I1 are infinite; K0 and K1, and the exponential in them, are 0 before.
template <class T> constexpr T MODIFIED_END = same<T, f64> ? T(720) : T(95);
template <class T> constexpr T ROOT_END = same<T, f64> ? T(1e300) : T(1e36f);

template <bool IS_SCALED, class T> __device__ inline T modified_i0(T x) {
  T size = fabs(x);
  if (size < 8) {
    dw<f64> z = two_product(f64(size), f64(size));
    return T(modified_near(size, z, i0_near(z.hi), 1, IS_SCALED));
  }
  if (!IS_SCALED && size > MODIFIED_END<T>) return isinf(size) ? nan<T>() : infinity<T>();  // as SciPy's
  if (IS_SCALED && size > ROOT_END<T>) return T(0.3989422804014327) / ::sqrt(size);
  return with_exp(over_root(i0_far(16 * near_reciprocal(size) - 1), size), size, IS_SCALED);
}
template <bool IS_SCALED, class T> __device__ inline T modified_i1(T x) {
  T size = fabs(x), value;
  if (size < 8) {
    dw<f64> z = two_product(f64(size), f64(size));
    value = T(0.5 * size * modified_near(size, z, i1_near(z.hi), 2, IS_SCALED));
  } else if (!IS_SCALED && size > MODIFIED_END<T>) {
    value = isinf(size) ? nan<T>() : infinity<T>();
  } else if (IS_SCALED && size > ROOT_END<T>) {
    value = T(0.3989422804014327) / ::sqrt(size);
  } else {
    value = with_exp(over_root(i1_far(16 * near_reciprocal(size) - 1), size), size, IS_SCALED);
  }
  return x < 0 ? -value : value;
}
template <class T> __device__ inline T i0(T x) { return modified_i0<false>(x); }
template <class T> __device__ inline T i0e(T x) { return modified_i0<true>(x); }
template <class T> __device__ inline T i1(T x) { return modified_i1<false>(x); }
template <class T> __device__ inline T i1e(T x) { return modified_i1<true>(x); }

template <bool IS_SCALED, class T> __device__ inline T modified_k0(T x) {
  if (!(x > 0)) return x == 0 ? infinity<T>() : nan<T>();
  if (x <= 1) {
    T z = x * x;
    dw<T> l = precise_log(T(0.5) * x), i = fast_two_sum(T(1), z * i0_small(z));
    dw<T> value = sum_of_words(k0_near(z), negative_words(product(l, i)));
    return IS_SCALED ? with_exp(value, x, false) : value.hi + value.lo;
  }
  if (!IS_SCALED && x > MODIFIED_END<T> + 30) return 0;
  if (IS_SCALED && x > ROOT_END<T>) return T(1.2533141373155003) / ::sqrt(x);
  return with_exp(over_root(k0_far(4 * near_reciprocal(x + 1) - 1), x), -x, IS_SCALED);
}
template <bool IS_SCALED, class T> __device__ inline T modified_k1(T x) {
  if (!(x > 0)) return x == 0 ? infinity<T>() : nan<T>();
  if (x <= 1) {
    if (x < (same<T, f64> ? T(0x1p-60) : T(0x1p-30f))) return 1 / x;
    T z = x * x, half = T(0.5) * x;
    dw<T> l = precise_log(half), i = fast_two_sum(T(1), z * i1_small(z)), pole = quotient(dw<T>{1, 0}, dw<T>{x, 0});
    dw<T> main = product(product(l, i), dw<T>{half, 0}), sum = sum_of_words(pole, main);
    dw<T> value = fast_two_sum(sum.hi, ::fma(x, k1_near(z), sum.lo));
    return IS_SCALED ? with_exp(value, x, false) : value.hi + value.lo;
  }
  if (!IS_SCALED && x > MODIFIED_END<T> + 30) return 0;
  if (IS_SCALED && x > ROOT_END<T>) return T(1.2533141373155003) / ::sqrt(x);
  return with_exp(over_root(k1_far(4 * near_reciprocal(x + 1) - 1), x), -x, IS_SCALED);
}
template <class T> __device__ inline T k0(T x) { return modified_k0<false>(x); }
template <class T> __device__ inline T k0e(T x) { return modified_k0<true>(x); }
template <class T> __device__ inline T k1(T x) { return modified_k1<false>(x); }
template <class T> __device__ inline T k1e(T x) { return modified_k1<true>(x); }

}  // namespace op
