// Modified Bessel functions of order 0 and 1: series below 8, or 2, and beyond an exponential times a polynomial of
// 1 / x. K is computed in one way up to 2, so that the threads of a warp seldom take both.
namespace op {

// value exp(x); IS_NORMAL says that it is a normal number.
template <bool IS_NORMAL, class T> __device__ inline T times_exp(dw<T> value, T x) {
  reduced<T> x_ = reduce_exponent(dw<T>{x, 0});
  dw<T> e = small_exp(x_.r), all = product(value, fast_two_sum(e.hi, e.lo));
  return IS_NORMAL ? scale_normal(all.hi + all.lo, x_.k) : scale(all.hi + all.lo, x_.k);
}
// value exp(x) of what is scaled by that, and else value.
template <bool IS_SCALED, class T> __device__ inline T scaled_by_exp(dw<T> value, T x) {
  return IS_SCALED ? times_exp<true>(value, x) : value.hi + value.lo;
}
// value exp(x) / sqrt(size), or without the exponential what is scaled.
template <bool IS_SCALED, class T> __device__ inline T far_from_0(dw<T> value, T size, T x) {
  dw<T> all = product(value, inverse_root(size));
  return IS_SCALED ? all.hi + all.lo : times_exp<false>(all, x);
}
// I0(x) or 2 I1(x) / x, or these times exp(-x), of x up to 8 from 1 + x^2 series. In float64, of which float32 takes a
// few steps. What x^2 loses is made good by about the derivative: value / (2 (x + slope)).
template <bool IS_SCALED> __device__ inline f64 modified_near(f64 x, dw<f64> z, f64 series, f64 slope) {
  dw<f64> value = two_sum(1.0, z.hi * series);
  value.lo += 0.5 * value.hi * z.lo * rough_reciprocal(x + slope);
  return scaled_by_exp<IS_SCALED>(value, -x);
}
// Of x from here on I0 and I1 are infinite; K0 and K1, and the exponential in them, are 0 before.
template <class T> constexpr T MODIFIED_END = same<T, f64> ? T(720) : T(95);
template <class T> constexpr T ROOT_END = same<T, f64> ? T(1e300) : T(1e36f);

template <bool IS_SCALED, class T> __device__ inline T modified_i0(T x) {
  T size = fabs(x);
  if (size < 8) {
    if (IS_SCALED && same<T, f32>) return T(i0e_few(::fma(0.25, f64(size), -1.0)));
    dw<f64> z = two_product(f64(size), f64(size));
    return T(modified_near<IS_SCALED>(size, z, i0_near(z.hi), 1));
  }
  if (!IS_SCALED && size > MODIFIED_END<T>) return isinf(size) ? nan<T>() : infinity<T>();  // as SciPy's
  if (IS_SCALED && size > ROOT_END<T>) return T(0.3989422804014327) / ::sqrt(size);
  return far_from_0<IS_SCALED>(i0_far(16 * near_reciprocal(size) - 1), size, size);
}
template <bool IS_SCALED, class T> __device__ inline T modified_i1(T x) {
  T size = fabs(x), value;
  if (IS_SCALED && same<T, f32> && size < 8) {
    value = T(size * i1e_few(::fma(0.25, f64(size), -1.0)));
  } else if (size < 8) {
    dw<f64> z = two_product(f64(size), f64(size));
    value = T(0.5 * size * modified_near<IS_SCALED>(size, z, i1_near(z.hi), 2));
  } else if (!IS_SCALED && size > MODIFIED_END<T>) {
    value = isinf(size) ? nan<T>() : infinity<T>();
  } else if (IS_SCALED && size > ROOT_END<T>) {
    value = T(0.3989422804014327) / ::sqrt(size);
  } else {
    value = far_from_0<IS_SCALED>(i1_far(16 * near_reciprocal(size) - 1), size, size);
  }
  return x < 0 ? -value : value;
}
template <class T> __device__ inline T i0(T x) { return modified_i0<false>(x); }
template <class T> __device__ inline T i0e(T x) { return modified_i0<true>(x); }
template <class T> __device__ inline T i1(T x) { return modified_i1<false>(x); }
template <class T> __device__ inline T i1e(T x) { return modified_i1<true>(x); }

template <class T> constexpr dw<T> K0_OF_2 = {T(0.11389387274953344), T(-6.7706223918546385e-18)};
template <> constexpr dw<f32> K0_OF_2<f32> = {0.113893874f, -1.2400486e-09f};

// K0(x) of x up to 2: K0(2) - ln(x / 2) I0(x) - u (1/4 + p), where u = 4 - x^2. Near 2 the other terms are nothing, and
// p is small where they are not much more than their difference.
template <class T> __device__ inline dw<T> k0_below_2(T x) {
  dw<T> z = two_product(x, x), u = fast_two_sum(T(4), -z.hi), i = fast_two_sum(T(1), T(0.25) * z.hi);
  // What x^2 loses is made good by derivatives, about 0.29 of I0 where the logarithm is not small.
  i.lo += ::fma(z.hi * z.hi, i0_small(z.hi), T(0.29) * z.lo);
  dw<T> main = product(near_log(x, -1), i), less = fast_two_sum(-main.hi, T(-0.25) * u.hi);
  dw<T> sum = two_sum(less.hi, K0_OF_2<T>.hi);
  T rest = ::fma(u.hi, k0_near(u.hi), ::fma(T(-0.04), u.hi, T(0.25)) * (u.lo - z.lo));
  return fast_two_sum(sum.hi, sum.lo + (less.lo - (main.lo + (rest - K0_OF_2<T>.lo))));
}
// K1(x): (1 + x^2 (ln(x / 2) I1(x) / x - x^2 / 32 + p)) / x, where p is small near 2, at which terms cancel.
template <class T> __device__ inline dw<T> k1_below_2(T x) {
  dw<T> z = two_product(x, x), l = near_log(x, -1);
  T i = ::fma(z.hi, ::fma(z.hi, T(0.5) * i1_small(z.hi), T(0.0625)), T(0.5));
  dw<T> main = two_product(l.hi, i), factor = two_sum(main.hi, T(-0.03125) * z.hi);
  // What x^2 loses is made good by about the derivative where terms cancel.
  factor.lo += k1_near(z.hi) + ::fma(T(-0.065), z.lo, ::fma(l.lo, i, main.lo));
  dw<T> less = product(z, factor), sum = fast_two_sum(T(1), less.hi);
  return quotient(fast_two_sum(sum.hi, sum.lo + less.lo), dw<T>{x, 0});
}
template <int ORDER, bool IS_SCALED, class T> __device__ inline T modified_k(T x) {
  if (!(x > 0)) return x == 0 ? infinity<T>() : nan<T>();
  if (x <= 2) {
    if (ORDER && x < (same<T, f64> ? T(0x1p-60) : T(0x1p-30f))) return 1 / x;
    return scaled_by_exp<IS_SCALED>(ORDER ? k1_below_2(x) : k0_below_2(x), x);
  }
  if (!IS_SCALED && x > MODIFIED_END<T> + 30) return 0;
  if (IS_SCALED && x > ROOT_END<T>) return T(1.2533141373155003) / ::sqrt(x);
  T t = 6 * near_reciprocal(x + 1) - 1;
  return far_from_0<IS_SCALED>(ORDER ? k1_far(t) : k0_far(t), x, -x);
}
template <class T> __device__ inline T k0(T x) { return modified_k<0, false>(x); }
template <class T> __device__ inline T k0e(T x) { return modified_k<0, true>(x); }
template <class T> __device__ inline T k1(T x) { return modified_k<1, false>(x); }
template <class T> __device__ inline T k1e(T x) { return modified_k<1, true>(x); }

}  // namespace op
