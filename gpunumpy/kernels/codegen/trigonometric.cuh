// sin, cos and tan with at most one unit of error. The angle is reduced to at most pi/4 as a double word: with three
// words of pi/2 (Cody and Waite, 1980), of which the product with the first is exact, or far from 0 with the 190 bits of
// 2/pi that matter (Payne and Hanek, 1983).
namespace op {

template <class T> constexpr T TWO_OVER_PI = T(0.6366197723675814);
constexpr dw<f64> HALF_PI_WORDS = {1.5707963267948966, 6.123233995736766e-17};

// The bits of 2/pi behind a word of zeros.
__device__ const u64 TWO_OVER_PI_BITS[19] = {
    0x0000000000000000ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
    0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull,
    0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull,
    0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull};

#ifdef GPUNUMPY_HOST
__device__ inline u64 high_product(u64 a, u64 b) { return u64((unsigned __int128)a * b >> 64); }
__device__ inline int leading_zeros(u64 x) { return x ? __builtin_clzll(x) : 64; }
#else
__device__ inline u64 high_product(u64 a, u64 b) { return __umul64hi(a, b); }
__device__ inline int leading_zeros(u64 x) { return __clzll(x); }
#endif

// x = r + n pi/2.
template <class T> struct turned {
  dw<T> r;
  int n;
};
// Of a finite x from 1 on. The significand, its highest bit set, times 192 bits of 2/pi, from the one on that makes
// quarter turns: two bits of n, and 190 of what is left, of which a double leaves no more than 61 zero.
__device__ __noinline__ turned<f64> reduce_large_angle(f64 x) {
  u64 significand = bit_cast<u64>(x) << 11 | 1ull << 63;
  int at = int(bit_cast<u64>(x) >> 52) - 1024, shift = at & 63;
  const u64* bits = TWO_OVER_PI_BITS + (at >> 6);
  u64 first = bits[0] << shift | bits[1] >> 1 >> (63 - shift), second = bits[1] << shift | bits[2] >> 1 >> (63 - shift);
  u64 third = bits[2] << shift | bits[3] >> 1 >> (63 - shift);
  u64 carry = high_product(significand, third), middle = significand * second + carry;
  u64 high = significand * first + high_product(significand, second) + (middle < carry);
  int n = int(high >> 62);
  high = high << 2 | middle >> 62;
  u64 low = middle << 2 | significand * third >> 62;
  bool below = high >> 63;  // more than half a quarter turn: less than the next one
  if (below) {
    high = ~high + (low == 0);
    low = u64(0) - low;
  }
  int zeros = leading_zeros(high);
  high = high << zeros | low >> 1 >> (63 - zeros);
  low <<= zeros;
  f64 unit = power_of_two<f64>(-zeros);
  dw<f64> turn = product(dw<f64>{f64(high >> 11) * 0x1p-53, f64(high << 53 | low >> 11) * 0x1p-117},
                         HALF_PI_WORDS);
  turn = fast_two_sum(turn.hi, turn.lo);
  if (below) unit = -unit;
  return {{turn.hi * unit, turn.lo * unit}, n + below};
}
__device__ inline turned<f64> reduce_large_angle_to(f64 x) { return reduce_large_angle(x); }
__device__ inline turned<f32> reduce_large_angle_to(f32 x) {
  turned<f64> wide = reduce_large_angle(f64(x));
  f32 r = f32(wide.r.hi);
  return {{r, f32(wide.r.hi - f64(r))}, wide.n};
}
// Of |x| from here on, where three words leave too little. The angle of infinity is NaN.
template <class T> constexpr T MANY_TURNS = T(same<T, f64> ? 131072.0f : 65536.0f);
template <class T> __device__ inline turned<T> reduce_rare_angle(T x) {
  T size = fabs(x);
  if (!(size < infinity<T>())) return {{nan<T>(), nan<T>()}, 0};
  turned<T> out = reduce_large_angle_to(size);
  return x < 0 ? turned<T>{{-out.r.hi, -out.r.lo}, -out.n} : out;
}
// PRECISE: with the second word, which only tan needs. The words are positive: so a zero keeps its sign. In f64 the
// second is short: where the first two leave little, its product is exact too. What is done for most angles is done for
// all, so that the code of several angles is one straight piece; n has wrong bits above the lowest two.
template <bool PRECISE, class T> __device__ inline turned<T> reduce_angle(T x) {
  const T first = same<T, f64> ? T(1.5707963267948966) : T(1.5707962512969971f);
  const T second = same<T, f64> ? T(6.123233995707727e-17) : T(7.549789415861596e-08f);
  const T third = same<T, f64> ? T(2.9038559739793605e-28) : T(5.390302953474238e-15f);
  integer<T> n = nearest(x, TWO_OVER_PI<T>);
  T high = ::fma(-n.value, first, x), r = ::fma(-n.value, second, high);
  turned<T> out{{r, T(0)}, n.low};
  if constexpr (!PRECISE) {
    out.r.hi = ::fma(-n.value, third, r);
  } else if constexpr (same<T, f64>) {
    out.r.lo = ::fma(-n.value, third, ::fma(-n.value, second, high - r));
  } else {
    // where the product is the larger one, which is rare, the second word is less exact, and none is needed
    dw<T> product = two_product(n.value, second), sum = fast_two_sum(high, -product.hi);
    out.r = {sum.hi, ::fma(-n.value, third, sum.lo - product.lo)};
  }
  if (!(::fabs(x) < MANY_TURNS<T>)) out = reduce_rare_angle(x);
  return out;
}

// P(z) of the sine, x + x z P(z), or of the cosine, 1 - z/2 + z z P(z), for z = x^2 of at most (pi/4)^2. One of the two,
// by selection of the coefficients: the threads of a warp need not take two ways. tools/minimax.py has the polynomials.
__device__ alignas(16) const f64 SINE_AND_COSINE[12] = {
    -0.16666666666666632, 0.008333333333322425, -0.00019841269829816996, 2.7557313695248706e-06,
    -2.505075865760617e-08, 1.5896828228957636e-10,
    0.0416666666666666, -0.001388888888887414, 2.480158728949222e-05, -2.7557314355348303e-07,
    2.087572369880097e-09, -1.1359670628589183e-11};
__device__ inline f64 sine_or_cosine_tail(f64 z, bool cosine) {
  const f64* c = SINE_AND_COSINE + (cosine ? 6 : 0);
  return horner(z, c[0], c[1], c[2], c[3], c[4], c[5]);
}
__device__ inline f32 sine_or_cosine_tail(f32 z, bool cosine) {
  return horner(z, cosine ? 0.041666646f : -0.16666667f, cosine ? -0.0013887368f : 0.008333329f,
                cosine ? 2.4438472e-05f : -0.00019839335f, cosine ? 0.0f : 2.7183114e-06f);
}

// The sine or the cosine of a reduced angle; the sine of a zero has its sign.
__device__ inline f64 sine_or_cosine(f64 r, bool cosine) {
  f64 z = r * r, tail = ::fma(z, sine_or_cosine_tail(z, cosine), cosine ? -0.5 : 0.0);
  return cosine ? ::fma(z, tail, 1.0) : ::fma(r, tail, r);
}
// The sine as r + r z P(z), the cosine as 1 + z P(z), in as many steps.
__device__ inline f32 sine_or_cosine(f32 r, bool cosine) {
  f32 z = r * r, first = cosine ? 1.0f : r, p;
  if (cosine)
    p = horner(z, -0.5f, 0.041666646f, -0.0013887368f, 2.4438472e-05f);
  else
    p = horner(z, -0.16666667f, 0.008333329f, -0.00019839335f, 2.7183114e-06f);
  return ::fma(p, ::fma(first, z, 0.0f), first);
}

// The sine of x and `more` quarter turns.
template <class T> __device__ inline T sine_of_turned(T x, int more) {
  turned<T> x_ = reduce_angle<false>(x);
  int n = x_.n + more;
  T y = sine_or_cosine(x_.r.hi, (n & 1) != 0);
  return (n & 2) != 0 ? -y : y;
}

template <class T> __device__ inline T sin(T x) { return sine_of_turned(x, 0); }
template <class T> __device__ inline T cos(T x) { return sine_of_turned(x, 1); }

// Sine and cosine as double words, for a quotient of both.
template <class T> __device__ inline dw<T> precise_sine(dw<T> r, T z) {
  return fast_two_sum(r.hi, ::fma(r.hi * z, sine_or_cosine_tail(z, false), r.lo * ::fma(T(-0.5), z, T(1))));
}
template <class T> __device__ inline dw<T> precise_cosine(dw<T> r, T z) {
  T below_one = ::fma(T(-0.5), z, T(1)), lost_of_z = ::fma(r.hi, r.hi, -z);
  T lost = ::fma(T(-0.5), lost_of_z, ::fma(-r.hi, r.lo, ::fma(T(-0.5), z, 1 - below_one)));
  return fast_two_sum(below_one, ::fma(z * z, sine_or_cosine_tail(z, true), lost));
}
template <class T> __device__ inline T tan(T x) {
  turned<T> x_ = reduce_angle<true>(fabs(x));
  T z = x_.r.hi * x_.r.hi;
  dw<T> s = precise_sine(x_.r, z), c = precise_cosine(x_.r, z);
  bool inverse = x_.n & 1;
  dw<T> t = quotient(inverse ? c : s, inverse ? s : c);
  return flipped(fabs(x) < T(0x1p-28f) ? fabs(x) : t.hi + t.lo, inverse, x);
}

}  // namespace op
