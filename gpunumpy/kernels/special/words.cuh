// Exponentials and logarithms of double words, for functions that lose places to neither.
namespace op {

template <class T> constexpr dw<T> PI_WORDS = {T(3.141592653589793), T(1.2246467991473532e-16)};
template <> constexpr dw<f32> PI_WORDS<f32> = {3.1415927f, -8.742278e-08f};

// The series of small_exp, and that of artanh_series for 2 artanh(f / 2).
template <class T> __constant__ T SHORT_EXP[] = {0.5000000000000011, 0.16666666666666413, 0.04166666666653026,
    0.008333333333494227, 0.0013888888943599676, 0.00019841269506995181, 2.480149313466549e-05, 2.7557586082792157e-06,
    2.763023430517251e-07, 2.500012790179422e-08};
template <class T> __constant__ T SHORT_LOG[] = {0.08333333333333418, 0.012499999999817107, 0.002232142870498082,
    0.00043402731590411864, 8.878693493082052e-05, 1.8693910882221316e-05, 4.515361921534447e-06};
// value exp(x), and ln(x 2^n) of a positive and normal x, in one word: with about one unit of error, and in fewer
// instructions than CUDA's own.
__device__ inline f64 times_short_exp(f64 value, dw<f64> x) {
  reduced<f64> x_ = reduce_exponent(x);
  f64 r = x_.r.hi + x_.r.lo;
  return scale(value * ::fma(r, ::fma(r, horner(r, SHORT_EXP<f64>), 1.0), 1.0), x_.k);
}
__device__ inline f64 short_log(f64 x, int n) {
  mantissa<f64> x_ = split_normal(x);
  f64 f = (x_.m - 1) * near_reciprocal(::fma(0.5, x_.m, 0.5)), z = f * f;
  return ::fma(f64(x_.k + n), LN2_WORDS<f64>.hi, ::fma(f * z, horner(z, SHORT_LOG<f64>), f));
}
// exp(x).
template <class T> __device__ inline T exp_of_words(dw<T> x) {
  const T most = same<T, f64> ? T(710) : T(89), least = same<T, f64> ? T(-746) : T(-104);
  reduced<T> x_ = reduce_exponent(x);
  dw<T> e = small_exp(x_.r);
  return x.hi > most ? infinity<T>() : x.hi < least ? T(0) : scale(e.hi + e.lo, x_.k);
}
// exp(x) - 1 of an x from -100 to 40.
__device__ inline dw<f32> expm1_words(dw<f32> x) {
  f32 less = ::expm1(x.hi);
  return fast_two_sum(less, x.lo * (1 + less));
}
__device__ inline dw<f64> expm1_words(dw<f64> x) {
  reduced<f64> x_ = reduce_exponent(x);
  dw<f64> r = x_.r;
  f64 more = r.hi * r.hi * horner(r.hi, SHORT_EXP<f64>);
  dw<f64> e = fast_two_sum(r.hi, more + ::fma(r.lo, r.hi + more, r.lo));
  f64 factor = power_of_two<f64>(x_.k), less = factor - 1;
  dw<f64> sum = fast_two_sum(less, factor * e.hi);
  return {sum.hi, ::fma(factor, e.lo, sum.lo + ((factor - less) - 1))};
}
// x 2^k.
template <class T> struct scaled_words {
  dw<T> x;
  int k;
};
// exp(x).
template <class T> __device__ inline scaled_words<T> exp_words(dw<T> x) {
  reduced<T> x_ = reduce_exponent(x);
  dw<T> e = small_exp(x_.r);
  return {fast_two_sum(e.hi, e.lo), x_.k};
}
// ln(1 + x) of a finite x above -1; what is not raised need not be precise.
template <bool IS_PRECISE = true, class T> __device__ inline dw<T> log1p_words(dw<T> x) {
  dw<T> sum = two_sum(T(1), x.hi);
  mantissa<T> sum_ = split_normal(sum.hi);
  T low = (sum.lo + x.lo) * power_of_two<T>(-(sum_.k < BIAS<T> - 1 ? sum_.k : BIAS<T> - 1));
  dw<T> a = {sum_.m - 1, low}, b = fast_two_sum(T(1), sum_.m);
  b.lo += low;
  if (sum_.k == 0) a = x;
  dw<T> l = with_exponent(sum_.k, LN2_SHORT<T>, IS_PRECISE ? twice_artanh_precisely(a, b) : twice_artanh(a, b));
  return fast_two_sum(l.hi, l.lo);
}
template <class T> __device__ inline dw<T> log1p_words(T x) { return log1p_words(dw<T>{x, 0}); }
// ln(x 2^n) of a positive and finite x to a few hundredths of a unit, for what is not raised. The second word is up
// to a hundredth of the first unless it IS_SMALL.
template <bool IS_SMALL = true, class T> __device__ inline dw<T> near_log(T x, int n) {
  mantissa<T> x_ = split(x);
  dw<T> l = with_exponent(x_.k + n, LN2_SHORT<T>, log_of_mantissa(x_.m));
  return IS_SMALL ? fast_two_sum(l.hi, l.lo) : l;
}
// 1 / sqrt(x).
template <class T> __device__ inline dw<T> inverse_root(T x) {
  T r = near_rsqrt(x);
  dw<T> s = two_product(x, r);
  return {r, T(0.5) * r * ::fma(-s.lo, r, ::fma(-s.hi, r, T(1)))};
}
template <class T> __device__ inline dw<T> product(dw<T> a, T b) {
  T high = a.hi * b;
  return {high, ::fma(a.lo, b, ::fma(a.hi, b, -high))};
}
template <class T> __device__ inline dw<T> quotient(dw<T> a, T b) {
  T inverse = near_reciprocal(b), q = a.hi * inverse;
  return {q, (::fma(-q, b, a.hi) + a.lo) * inverse};
}
template <class T> __device__ inline dw<T> negative_words(dw<T> x) { return {-x.hi, -x.lo}; }
// x + y of double words.
template <class T> __device__ inline dw<T> sum_of_words(dw<T> x, dw<T> y) {
  dw<T> sum = two_sum(x.hi, y.hi);
  return fast_two_sum(sum.hi, sum.lo + (x.lo + y.lo));
}
// A polynomial of a double word whose lowest coefficients are double words too, and whose others make `sum`. Of the
// first ORDERED steps a coefficient is larger than what it is added to.
template <bool IS_ORDERED, class T> __device__ inline dw<T> horner_step(dw<T> more, dw<T> c) {
  dw<T> sum = IS_ORDERED ? fast_two_sum(c.hi, more.hi) : two_sum(c.hi, more.hi);
  return {sum.hi, sum.lo + (more.lo + c.lo)};
}
template <int ORDERED, class T, int N>
__device__ inline dw<T> horner_steps(T sum, dw<T> x, const dw<T> (&coefficients)[N]) {
  dw<T> value = horner_step<(ORDERED > 0)>(product(x, sum), coefficients[N - 1]);
#pragma unroll
  for (int k = N - 2; k >= N - ORDERED; --k) value = horner_step<true>(product(value, x), coefficients[k]);
#pragma unroll
  for (int k = N - 1 - (ORDERED > 1 ? ORDERED : 1); k >= 0; --k)
    value = horner_step<false>(product(value, x), coefficients[k]);
  return value;
}
template <class T> __device__ inline T high_word(T x) { return x; }
template <class T> __device__ inline T high_word(dw<T> x) { return x.hi; }
template <class T> __device__ inline bool is_normal(T x) {
  return fabs(x) >= power_of_two<T>(3 - BIAS<T>) && fabs(x) <= power_of_two<T>(BIAS<T> - 3);
}

// ln(x / y) of positive double words of normal size, as k ln(2) and twice an artanh, which is small where x is near y.
template <class T> struct log_quotient {
  dw<T> f;
  int k;
};
template <class T> __device__ inline log_quotient<T> compare(dw<T> x, dw<T> y) {
  int k = split_normal(x.hi * rough_reciprocal(y.hi)).k;
  T factor = power_of_two<T>(k);
  y = {y.hi * factor, y.lo * factor};
  dw<T> above = two_sum(x.hi, -y.hi), below = two_sum(x.hi, y.hi);
  return {quotient(dw<T>{above.hi, above.lo + (x.lo - y.lo)}, dw<T>{below.hi, below.lo + (x.lo + y.lo)}), k};
}
template <class T> __device__ inline dw<T> log_words(log_quotient<T> q) {
  T z = q.f.hi * q.f.hi;
  dw<T> l = {2 * q.f.hi, 2 * ::fma(q.f.hi * z, artanh_series(z), q.f.lo)};
  return q.k == 0 ? l : with_exponent(q.k, LN2_SHORT<T>, l);
}
// Numbers of which quotients are compared: none leaves the normal numbers.
template <class T> __device__ inline bool is_moderate(T x) {
  const T most = same<T, f64> ? T(0x1p500) : T(0x1p60f);
  return x > 1 / most && x < most;
}

}  // namespace op
