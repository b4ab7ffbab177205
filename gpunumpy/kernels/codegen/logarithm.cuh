// Logarithms and what is made of them, with at most one unit of error. Every logarithm is k ln(2) and twice the artanh
// of a quotient of at most (sqrt(2) - 1) / (sqrt(2) + 1): ln(m) = 2 artanh((m - 1) / (m + 1)). The numerator is found
// without cancellation in each function, and the quotient with its remainder; the series beyond it is 1% of the result.
namespace op {

// ln(2) and log10(2), of which the first words are short: their products with an exponent are exact.
template <class T> constexpr dw<T> LN2_SHORT = {T(0.6931471805601177), T(-1.7239444525614835e-13)};
template <> constexpr dw<f32> LN2_SHORT<f32> = {0.69314575f, 1.4286068e-06f};
template <class T> constexpr dw<T> LOG10_2_SHORT = {T(0.3010299956640665), T(-8.532344317057107e-14)};
template <> constexpr dw<f32> LOG10_2_SHORT<f32> = {0.3010254f, 4.605039e-06f};
template <class T> constexpr dw<T> LOG2_E_WORDS = {T(1.4426950408889634), T(2.0355273740931033e-17)};
template <> constexpr dw<f32> LOG2_E_WORDS<f32> = {1.442695f, 1.925963e-08f};
template <class T> constexpr dw<T> LOG10_E_WORDS = {T(0.4342944819032518), T(1.098319650216765e-17)};
template <> constexpr dw<f32> LOG10_E_WORDS<f32> = {0.4342945f, -1.010305e-08f};

// The p of artanh(f) = f + f z p with z = f^2; tools/minimax.py has the polynomials.
template <class T> __device__ inline T artanh_series(T z) {
  if constexpr (same<T, f64>)
    return horner(z, 0.3333333333333367, 0.1999999999970737, 0.14285714371187724, 0.11111099287145437,
                  0.09091782136916021, 0.07657025897357851, 0.07397968972242037);
  else
    return horner(z, 0.33333388f, 0.19988772f, 0.1493583f);
}
// 2 artanh(a / b).
template <class T> __device__ inline dw<T> twice_artanh(dw<T> a, dw<T> b) {
  dw<T> f = quotient(a, b);
  T z = f.hi * f.hi;
  return {2 * f.hi, 2 * ::fma(f.hi * z, artanh_series(z), f.lo)};
}
// Of m from sqrt(1/2) to sqrt(2).
template <class T> __device__ inline dw<T> log_of_mantissa(T m) {
  return twice_artanh(dw<T>{m - 1, 0}, fast_two_sum(T(1), m));
}
// k times `unit`, whose first word is short, and x, which is less.
template <class T> __device__ inline dw<T> with_exponent(int k, dw<T> unit, dw<T> x) {
  T times = T(k);
  dw<T> sum = fast_two_sum(times * unit.hi, x.hi);
  return {sum.hi, sum.lo + ::fma(times, unit.lo, x.lo)};
}
// The same as one number. The sum of x loses half a unit in the last place, beside the rounding of the result.
template <class T> __device__ inline T plus_exponent(int k, dw<T> unit, dw<T> x) {
  T times = T(k);
  return ::fma(times, unit.hi, x.hi + ::fma(times, unit.lo, x.lo));
}
// `value` where it is the logarithm of x: of a positive and finite x.
template <class T> __device__ inline T log_or_special(T x, T value) {
  if (!(x > 0 && x < infinity<T>())) value = ::fma(x, infinity<T>(), infinity<T>());
  return x == 0 ? -infinity<T>() : value;
}

template <class T> __device__ inline T log2(T x) {
  mantissa<T> x_ = split(x);
  dw<T> l = product(log_of_mantissa(x_.m), LOG2_E_WORDS<T>);
  return log_or_special(x, T(x_.k) + (l.hi + l.lo));
}
template <class T> __device__ inline T log10(T x) {
  mantissa<T> x_ = split(x);
  dw<T> l = product(log_of_mantissa(x_.m), LOG10_E_WORDS<T>);
  return log_or_special(x, plus_exponent(x_.k, LOG10_2_SHORT<T>, l));
}

// asinh(x) = ln(x + sqrt(x^2 + 1)) = 2 artanh(x / (1 + sqrt(x^2 + 1))), of which the second serves while it is small.
template <class T> __device__ inline T arcsinh(T x) {
  const T one_is_lost = same<T, f64> ? T(0x1p30) : T(0x1p14), itself_below = same<T, f64> ? T(0x1p-28) : T(0x1p-13);
  T size = fabs(x);
  dw<T> square = two_product(size, size);
  dw<T> above = size < 1 ? fast_two_sum(T(1), square.hi) : fast_two_sum(square.hi, T(1));
  dw<T> s = root(dw<T>{above.hi, above.lo + square.lo}), z = fast_two_sum(s.hi, size);
  z.lo += s.lo;
  if (!(size < one_is_lost)) z = {size, 0};
  mantissa<T> z_ = split_normal(z.hi);
  T low = z.lo * power_of_two<T>(-(z_.k < 100 ? z_.k : 100));
  bool small = z_.k == 0;
  dw<T> b = fast_two_sum(T(1), small ? s.hi : z_.m);
  b.lo += small ? s.lo : low;
  T l = plus_exponent(z_.k + !(size < one_is_lost), LN2_SHORT<T>,
                          twice_artanh(dw<T>{small ? size : z_.m - 1, small ? 0 : low}, b));
  return signed_as(size < infinity<T>() && size >= itself_below ? l : size, x);
}
// acosh(x) = ln(x + sqrt(x^2 - 1)) = 2 artanh(sqrt(x^2 - 1) / (x + 1)), of which the second serves while it is small.
template <class T> __device__ inline T arccosh(T x) {
  const T one_is_lost = same<T, f64> ? T(0x1p30) : T(0x1p14);
  dw<T> square = two_product(x, x), below = fast_two_sum(square.hi, T(-1));
  dw<T> s = root(fast_two_sum(below.hi, below.lo + square.lo)), z = fast_two_sum(x, s.hi);
  z.lo += s.lo;
  if (!(x < one_is_lost)) z = {x, 0};
  mantissa<T> z_ = split_normal(z.hi);
  T low = z.lo * power_of_two<T>(-(z_.k < 100 ? z_.k : 100));
  bool small = z_.k == 0;
  dw<T> b = fast_two_sum(small ? x : T(1), small ? T(1) : z_.m);
  b.lo += small ? 0 : low;
  T l = plus_exponent(z_.k + !(x < one_is_lost), LN2_SHORT<T>,
                          twice_artanh(dw<T>{small ? s.hi : z_.m - 1, small ? s.lo : low}, b));
  return x > 1 ? (x < infinity<T>() ? l : x) : x == 1 ? T(0) : nan<T>();
}
// atanh(x) = ln((1 + x) / (1 - x)) / 2 = artanh((1 + x - 2^k (1 - x)) / (1 + x + 2^k (1 - x))) + k ln(2) / 2, where k
// makes the quotient of artanh small: x itself if k is 0.
template <class T> __device__ inline T arctanh(T x) {
  T size = fabs(x);
  dw<T> above = fast_two_sum(T(1), size), below = fast_two_sum(T(1), -size);
  int k = split_normal(above.hi * rough_reciprocal(below.hi)).k;
  T factor = power_of_two<T>(k);
  below = {below.hi * factor, below.lo * factor};
  dw<T> a = fast_two_sum(above.hi - below.hi, above.lo - below.lo), b = fast_two_sum(above.hi, below.hi);
  b.lo += above.lo + below.lo;
  if (k == 0) a = {size, 0}, b = {1, 0};
  T l = plus_exponent(k, LN2_SHORT<T>, twice_artanh(a, b));
  return signed_as(size < 1 ? T(0.5) * l : size == 1 ? infinity<T>() : nan<T>(), x);
}

}  // namespace op
