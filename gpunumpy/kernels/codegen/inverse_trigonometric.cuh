// arcsin, arccos, arctan and arctan2 with at most one unit of error: constants and what is added to them as double
// words, so that no rounding but the last is of the size of the result.
namespace op {

template <class T> constexpr dw<T> QUARTER_PI_WORDS = {T(0.7853981633974483), T(3.061616997868383e-17)};
template <> constexpr dw<f32> QUARTER_PI_WORDS<f32> = {0.7853982f, -2.1855694e-08f};
template <class T> constexpr dw<T> THREE_QUARTERS_PI_WORDS = {T(2.356194490192345), T(9.184850993605148e-17)};
template <> constexpr dw<f32> THREE_QUARTERS_PI_WORDS<f32> = {2.3561945f, -5.9624403e-09f};

// n quarters of pi, for n from 0 to 4.
template <class T> __device__ inline dw<T> quarters_of_pi(int n) {
  const dw<T> one = QUARTER_PI_WORDS<T>, three = THREE_QUARTERS_PI_WORDS<T>;
  T power = T(n & 4 ? 4 : n & 2);
  return n == 3 ? three : n == 1 ? one : dw<T>{power * one.hi, power * one.lo};
}
template <class T> __device__ inline T sum_of(dw<T> base, dw<T> x) {
  dw<T> sum = fast_two_sum(base.hi, x.hi);
  return sum.hi + (sum.lo + (base.lo + x.lo));
}

// arcsin(x) / x - 1 for z = x^2 of at most 1/4; tools/minimax.py has the polynomials.
template <class T> __device__ inline T arcsin_tail(T z) {
  if constexpr (same<T, f64>)
    return z * horner(z, 0.16666666666665383, 0.07500000000343039, 0.04464285682348794, 0.030381959330979647,
                      0.022371753531116097, 0.01735977097305223, 0.013884599901473248, 0.01217326952365912,
                      0.0065108964592115, 0.01957378727746009, -0.016293886714398416, 0.03195883768904356);
  else
    return z * horner(z, 0.16666754f, 0.07495242f, 0.045477f, 0.024148088f, 0.04221776f);
}
// 2 arcsin(sqrt((1 - x) / 2)) = arccos(x), for x from 1/2 to 1: half of 1 - x is exact.
template <class T> __device__ inline dw<T> arccos_near_one(T x) {
  T z = T(0.5) * (1 - x);
  dw<T> s = root(dw<T>{z, 0});
  if (z == 0) s = {0, 0};
  T tail = arcsin_tail(z);
  return {2 * s.hi, 2 * ::fma(s.hi, tail, ::fma(s.lo, tail, s.lo))};
}
template <class T> __device__ inline T arcsin(T x) {
  T size = fabs(x);
  if (size <= T(0.5)) return ::fma(x, arcsin_tail(x * x), x);
  dw<T> rest = arccos_near_one(size);
  return copysign(sum_of(quarters_of_pi<T>(2), dw<T>{-rest.hi, -rest.lo}), x);
}
template <class T> __device__ inline T arccos(T x) {
  T size = fabs(x);
  if (size <= T(0.5)) return sum_of(quarters_of_pi<T>(2), dw<T>{-x, -x * arcsin_tail(x * x)});
  dw<T> rest = arccos_near_one(size);
  return x > 0 ? rest.hi + rest.lo : sum_of(quarters_of_pi<T>(4), dw<T>{-rest.hi, -rest.lo});
}

// The angle of the point (x, y) of the first quadrant, of which neither coordinate is infinite nor both are 0; with
// `mirrored` that of (-x, y). It is n pi/4 and the angle from the nearest axis or, if that is nearer, from the diagonal.
template <class T> __device__ inline T angle(T y, T x, bool mirrored) {
  bool swapped = y > x;
  T little = swapped ? x : y, big = swapped ? y : x;
  bool diagonal = little > T(0.41421356237309503) * big;  // tan(pi/8)
  dw<T> a = {little, 0}, b = {big, 0};
  if (diagonal) a = fast_two_sum(-big, little), b = fast_two_sum(big, little);
  dw<T> f = quotient(a, b);
  T z = f.hi * f.hi, p;
  if constexpr (same<T, f64>)
    p = horner(z, -0.333333333333332, 0.19999999999954088, -0.14285714280249034, 0.11111110786159478,
               -0.09090897836975528, 0.07692061645215871, -0.06663120465122624, 0.05848009447424142,
               -0.05039847699492224, 0.03807837257967122, -0.017922332519087345);
  else
    p = horner(z, -0.33333316f, 0.1999849f, -0.1424385f, 0.105960116f, -0.060834806f);
  T tail = ::fma(f.hi * z, p, ::fma(-z, f.lo, f.lo));
  int n = swapped ? 2 - diagonal : diagonal;
  bool negative = swapped != mirrored;
  return sum_of(quarters_of_pi<T>(mirrored ? 4 - n : n), dw<T>{negative ? -f.hi : f.hi, negative ? -tail : tail});
}
template <class T> __device__ inline T arctan(T x) {
  const T right_angle_from = same<T, f64> ? T(0x1p60) : T(0x1p30f), itself_below = same<T, f64> ? T(0x1p-28) : T(0x1p-13f);
  T size = fabs(x);
  return size < itself_below ? x : copysign(angle(size > right_angle_from ? right_angle_from : size, T(1), false), x);
}
template <class T> __device__ inline T arctan2(T y, T x) {
  T high = fabs(y), wide = fabs(x);
  if (isnan(x) || isnan(y)) return x + y;
  if (!signbit(x) && high < wide * (same<T, f64> ? T(0x1p-30) : T(0x1p-14f))) return y / x;
  if (high == infinity<T>() || wide == infinity<T>()) high = high == infinity<T>(), wide = wide == infinity<T>();
  if (high == 0 && wide == 0) wide = 1;
  T factor = power_of_two<T>(exponent_to_unit(high > wide ? high : wide));
  return copysign(angle(high * factor, wide * factor, signbit(x)), y);
}

}  // namespace op
