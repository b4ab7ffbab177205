// Bessel functions of order 0 and 1. Below 8 they are polynomials with factors for their zeros, and beyond Hankel's
// expansion (1869): an amplitude and the cosine of an angle, which is reduced exactly.
namespace op {

template <class T> constexpr dw<T> TWO_OVER_PI_WORDS = {T(0.6366197723675814), T(-3.935735335036497e-17)};
template <> constexpr dw<f32> TWO_OVER_PI_WORDS<f32> = {0.63661975f, 2.5682553e-08f};
// The squares of the first zeros.
constexpr dw<f64> J0_ZEROS[3] = {{5.783185962946784, 4.123247343506204e-16}, {30.471262343662087, -2.366534485750659e-16},
                                  {74.88700679069518, 1.7099708902593308e-15}};
constexpr dw<f64> J1_ZEROS[3] = {{14.681970642123893, -9.858177825793294e-17}, {49.2184563216946, 5.086354069436341e-16},
                                  {103.49945389513658, -2.2274203792450066e-15}};

// (z - a)(z - b)(z - c) for z = x^2: near a zero nothing is lost, and elsewhere of what IS_EXACT neither.
template <bool IS_EXACT> __device__ inline dw<f64> from_zero(dw<f64> z, dw<f64> zero) {
  return IS_EXACT ? sum_of_words(z, negative_words(zero)) : dw<f64>{z.hi - zero.hi, z.lo - zero.lo};
}
template <bool IS_EXACT> __device__ inline dw<f64> zeros_of_square(dw<f64> z, const dw<f64>* zeros) {
  dw<f64> near = product(from_zero<IS_EXACT>(z, zeros[0]), from_zero<IS_EXACT>(z, zeros[1]));
  dw<f64> other = fast_two_sum(-zeros[2].hi, z.hi);  // z is less
  return IS_EXACT ? product(near, other) : product(near, other.hi);
}
__device__ inline f64 zeros_of_square(f64 z, const dw<f64>* zeros) {
  return (z - zeros[0].hi) * (z - zeros[1].hi) * (z - zeros[2].hi);
}
__device__ inline dw<f64> scaled(dw<f64> z) {
  dw<f64> sum = fast_two_sum(-1.0, 0.03125 * z.hi);  // of a product from 1 on it is exact
  return {sum.hi, ::fma(0.03125, z.lo, sum.lo)};
}
__device__ inline f64 scaled(f64 z) { return ::fma(0.03125, z, -1.0); }

// Below 8, in double words.
template <bool IS_EXACT = true> __device__ inline f64 j0_below_8(f64 x) {
  dw<f64> z = two_product(x, x), zeros = zeros_of_square<IS_EXACT>(z, J0_ZEROS);
  dw<f64> value = product(zeros, j0_near(scaled(z)));
  return IS_EXACT && fabs(x) < 0x1p-28 ? 1 : value.hi + value.lo;
}
template <bool IS_EXACT = true> __device__ inline f64 j1_below_8(f64 x) {
  dw<f64> z = two_product(x, x), zeros = zeros_of_square<IS_EXACT>(z, J1_ZEROS);
  dw<f64> value = product(zeros, j1_near(scaled(z)));
  return IS_EXACT && fabs(x) < 0x1p-28 ? 0.5 * x : ::fma(x, value.hi, x * value.lo);
}
__device__ inline f64 y0_below_8(f64 x) {
  dw<f64> l = product(near_log<false>(x, 0), TWO_OVER_PI_WORDS<f64>);
  dw<f64> main = product(l, j0_below_8<false>(x)), rest = y0_near(scaled(two_product(x, x)));
  dw<f64> sum = two_sum(main.hi, rest.hi);
  return sum.hi + (sum.lo + (main.lo + rest.lo));
}
__device__ inline f64 y1_below_8(f64 x) {
  if (x < 0x1p-60) return -TWO_OVER_PI_WORDS<f64>.hi / x;
  dw<f64> l = product(near_log<false>(x, 0), TWO_OVER_PI_WORDS<f64>), pole = quotient(TWO_OVER_PI_WORDS<f64>, x);
  dw<f64> main = product(l, j1_below_8<false>(x)), rest = product(y1_near(scaled(two_product(x, x))), x);
  dw<f64> less = two_sum(main.hi, -pole.hi), sum = two_sum(less.hi, rest.hi);
  return sum.hi + (sum.lo + (less.lo + ((main.lo - pole.lo) + rest.lo)));
}
// Of float32 in float64, in which its square is exact, with polynomials of no more places than it has.
__device__ inline f64 j0_below_8(f32 x) {
  f64 z = f64(x) * x;
  return zeros_of_square(z, J0_ZEROS) * j0_few(scaled(z));
}
__device__ inline f64 j1_below_8(f32 x) {
  f64 z = f64(x) * x;
  return x * zeros_of_square(z, J1_ZEROS) * j1_few(scaled(z));
}
__device__ inline f64 y0_below_8(f32 x) {
  f64 l = TWO_OVER_PI_WORDS<f64>.hi * short_log(x, 0);
  return ::fma(l, j0_below_8(x), y0_few(scaled(f64(x) * x)));
}
__device__ inline f64 y1_below_8(f32 x) {
  f64 l = TWO_OVER_PI_WORDS<f64>.hi * short_log(x, 0), rest = x * y1_few(scaled(f64(x) * x));
  return ::fma(l, j1_below_8(x), ::fma(-TWO_OVER_PI_WORDS<f64>.hi, near_reciprocal(f64(x)), rest));
}

// Beyond, where a quotient may be no normal number, there is 0, and as in SciPy NaN at infinity.
template <class T> constexpr T WAVE_END = same<T, f64> ? T(1e300) : T(1e36f);

// Of x from 8 on: sqrt(2 / (pi x)) (P cos(a) - Q / x sin(a)), where a is x - pi/4 - quarter_turns pi/2. It is J of the
// order if there are as many quarter turns, and Y if there is one more.
template <int ORDER, class T> __device__ inline T hankel(T x, int quarter_turns) {
  if (x > WAVE_END<T>) return x - x;
  turned<T> x_ = reduce_angle<true>(x);
  dw<T> eighth = {PI_WORDS<T>.hi * T(0.25), PI_WORDS<T>.lo * T(0.25)};
  bool is_less = x_.r.hi < 0;
  dw<T> r = sum_of_words(x_.r, is_less ? eighth : negative_words(eighth));
  int n = x_.n - is_less - quarter_turns;
  T square = r.hi * r.hi;
  dw<T> s = precise_sine(r, square), c = precise_cosine(r, square);
  if (n & 1) {
    dw<T> other = s;
    s = c, c = negative_words(other);
  }
  if (n & 2) s = negative_words(s), c = negative_words(c);
  dw<T> amplitude = root(quotient(TWO_OVER_PI_WORDS<T>, dw<T>{x, 0}));
  T inverse = near_reciprocal(x), z = 8 * inverse;
  z *= z;
  dw<T> main = product(ORDER ? hankel_p1(z) : hankel_p0(z), c);
  T q = ORDER ? hankel_q1(z) : hankel_q0(z);
  dw<T> value = product(amplitude, fast_two_sum(main.hi, ::fma(-q * inverse, s.hi, main.lo)));
  return value.hi + value.lo;
}
template <int ORDER, class T> __device__ inline T bessel_j(T x) {
  T size = fabs(x);
  if (size < 8) return T(ORDER ? j1_below_8(x) : j0_below_8(x));
  T value = hankel<ORDER>(size, ORDER);
  return ORDER && x < 0 ? -value : value;
}
template <int ORDER, class T> __device__ inline T bessel_y(T x) {
  if (!(x > 0)) return x == 0 ? -infinity<T>() : nan<T>();
  if (x < 8) return T(ORDER ? y1_below_8(x) : y0_below_8(x));
  return hankel<ORDER>(x, ORDER + 1);
}
template <class T> __device__ inline T j0(T x) { return bessel_j<0>(x); }
template <class T> __device__ inline T j1(T x) { return bessel_j<1>(x); }
template <class T> __device__ inline T y0(T x) { return bessel_y<0>(x); }
template <class T> __device__ inline T y1(T x) { return bessel_y<1>(x); }

}  // namespace op
