// Functions of both a logarithm and an exponential: power, logaddexp and logaddexp2, with at most one unit of error.
namespace op {

template <class T> constexpr dw<T> THIRD_WORDS = {T(0.3333333333333333), T(1.850371707708594e-17)};
template <> constexpr dw<f32> THIRD_WORDS<f32> = {0.33333334f, -9.934108e-09f};

// 2 artanh(a / b) of at most a small quotient: the first term of the series beyond the quotient too is a double word, as
// what is made of it will be multiplied by up to a thousand units (10 bits) and what is lost be seen in the power.
template <class T> __device__ inline dw<T> twice_artanh_precisely(dw<T> a, dw<T> b) {
  dw<T> f = quotient(a, b), z = product(f, f);
  T p;
  if constexpr (same<T, f64>)
    p = horner(z.hi, 0.1999999999999999, 0.14285714285722548, 0.1111111110876992, 0.09090909434951192,
               0.07692278449506992, 0.06668158172545148, 0.05837420116947931, 0.05994416389790423);
  else
    p = horner(z.hi, 0.20000076f, 0.14273567f, 0.11709271f);
  dw<T> c = fast_two_sum(THIRD_WORDS<T>.hi, z.hi * p);
  dw<T> tail = product(product(f, z), dw<T>{c.hi, c.lo + THIRD_WORDS<T>.lo}), sum = fast_two_sum(f.hi, tail.hi);
  return {2 * sum.hi, 2 * (sum.lo + (f.lo + tail.lo))};
}
// ln(x) of a positive and finite x.
template <class T> __device__ inline dw<T> precise_log(T x) {
  mantissa<T> x_ = split(x);
  dw<T> of_mantissa = twice_artanh_precisely(dw<T>{x_.m - 1, 0}, fast_two_sum(T(1), x_.m));
  dw<T> l = with_exponent(x_.k, LN2_SHORT<T>, of_mantissa);
  return fast_two_sum(l.hi, l.lo);
}

// size^y = exp(y ln(size)) for a size from 0 to infinity, and y other than 0 and infinity.
template <class T> __device__ inline T power_of_size(T size, T y) {
  const T most = same<T, f64> ? T(710) : T(89), least = same<T, f64> ? T(-746) : T(-104);
  dw<T> l = precise_log(size);
  if (size == 0) l.hi = -infinity<T>();
  if (!(size < infinity<T>())) l.hi = size;
  dw<T> x = two_product(y, l.hi);
  x.lo = ::fma(y, l.lo, x.lo);
  reduced<T> x_ = reduce_exponent(x);
  dw<T> e = small_exp(x_.r);
  return x.hi > most ? infinity<T>() : x.hi < least ? 0 : scale(e.hi + e.lo, x_.k);
}
// x^3, of a size whose products' errors are normal numbers too, with half a unit of error and a little more.
template <class T> __device__ inline T cube(T x) {
  T square = x * x, of_square = ::fma(x, x, -square), value = square * x;
  return value + (::fma(square, x, -value) + of_square * x);
}
template <class T> __device__ inline T float_power(T x, T y) {
  if (y == 0 || x == 1) return 1;
  T size = fabs(x);
  const T least = same<T, f64> ? T(1e-90) : T(1e-7f), most = same<T, f64> ? T(1e90) : T(1e12f);
  if (y == 3 && size > least && size < most) return cube(x);
  if (isinf(y)) return isnan(x) ? x : size == 1 ? T(1) : (size > 1) == (y > 0) ? infinity<T>() : T(0);
  T value = power_of_size(size, y);
  if (!signbit(x)) return value;
  T half = T(0.5) * y;
  if (::trunc(y) != y) return size == 0 || isinf(x) ? value : nan<T>();
  return ::trunc(half) != half ? -value : value;
}

// ln(1 + e) for e from 0 to 1: of (1 + e) / 2 from sqrt(2) - 1 on.
template <class T> __device__ inline dw<T> log_of_one_and(dw<T> e) {
  bool halved = e.hi > T(0.41421357f);
  dw<T> a = fast_two_sum(halved ? T(-1) : T(0), e.hi), b = fast_two_sum(halved ? T(3) : T(2), e.hi);
  return with_exponent(halved, LN2_SHORT<T>, twice_artanh(dw<T>{a.hi, a.lo + e.lo}, dw<T>{b.hi, b.lo + e.lo}));
}
// big + ln(1 + exp(d)) times `unit`, which is the word 1 or what makes the logarithm one of base 2. Near a result of 0
// the error is one of the larger argument.
template <class T> __device__ inline T log_of_sum(T big, dw<T> d, dw<T> unit) {
  const T normal_from = same<T, f64> ? T(-700) : T(-80), least = same<T, f64> ? T(-746) : T(-104);
  reduced<T> d_ = reduce_exponent(d);
  dw<T> e = small_exp(d_.r), l, sum;
  e = fast_two_sum(e.hi, e.lo);
  if (d.hi < normal_from) {
    l = product(e, unit);
    return big + (d.hi < least ? 0 : scale(l.hi + l.lo, d_.k));
  }
  T factor = power_of_two<T>(d_.k);
  l = product(log_of_one_and(dw<T>{e.hi * factor, e.lo * factor}), unit);
  sum = two_sum(big, l.hi);
  return sum.hi + (sum.lo + l.lo);
}
template <class T> __device__ inline T logaddexp(T x, T y) {
  T big = x > y ? x : y;
  if (x == y) return x + LN2_WORDS<T>.hi;
  return isnan(x) || isnan(y) ? x + y : log_of_sum(big, two_sum(x > y ? y : x, -big), dw<T>{1, 0});
}
template <class T> __device__ inline T logaddexp2(T x, T y) {
  T big = x > y ? x : y;
  if (x == y) return x + 1;
  return isnan(x) || isnan(y)
             ? x + y
             : log_of_sum(big, product(two_sum(x > y ? y : x, -big), LN2_WORDS<T>), LOG2_E_WORDS<T>);
}

}  // namespace op
