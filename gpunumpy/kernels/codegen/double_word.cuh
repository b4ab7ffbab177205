// Arithmetic with twice the precision of f32 or f64: a number is an unevaluated sum of two words, the second a few units
// in the last place of the first (Dekker, 1971; Joldes, Muller and Popescu, 2017). With what else functions of at most
// one unit of error are made of: polynomials, powers of two, and quotients and roots from the device's rough ones.
namespace op {

template <class T> struct dw {
  T hi, lo;
};

// The sum of two numbers, of which the first is the larger, or 0; and of any two (Knuth, 1969).
template <class T> __device__ inline dw<T> fast_two_sum(T a, T b) {
  T sum = a + b;
  return {sum, b - (sum - a)};
}
template <class T> __device__ inline dw<T> two_sum(T a, T b) {
  T sum = a + b, of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}
template <class T> __device__ inline dw<T> two_product(T a, T b) {
  T product = a * b;
  return {product, ::fma(a, b, -product)};
}
template <class T> __device__ inline dw<T> product(dw<T> a, dw<T> b) {
  T high = a.hi * b.hi;
  return {high, ::fma(a.hi, b.lo, ::fma(a.lo, b.hi, ::fma(a.hi, b.hi, -high)))};
}

// A polynomial of x, by its coefficients from the lowest.
template <class T> __device__ inline T horner(T, T lowest) { return lowest; }
template <class T, class... Rest> __device__ inline T horner(T x, T lowest, Rest... rest) {
  return ::fma(x, horner(x, T(rest)...), lowest);
}
// The same by an array of them, which of f64 is for constant memory: from there an instruction takes a coefficient, where
// two make it of its halves.
template <class T, int N> __device__ inline T horner(T x, const T (&coefficients)[N]) {
  T sum = coefficients[N - 1];
#pragma unroll
  for (int k = N - 2; k >= 0; --k) sum = ::fma(x, sum, coefficients[k]);
  return sum;
}

// The stored digits of a significand, and the bias of an exponent.
template <class T> constexpr int DIGITS = same<T, f64> ? 52 : 23;
template <class T> constexpr int BIAS = same<T, f64> ? 1023 : 127;

// x with the sign of `sign` too, for an x without one; and x, negated if n is odd, and again if `sign` is negative.
template <class T> __device__ inline T signed_as(T x, T sign) {
  return bit_cast<T>(bit_cast<word<T>>(x) | sign_of(sign));
}
template <class T> __device__ inline T flipped(T x, int n, T sign) {
  return bit_cast<T>(bit_cast<word<T>>(x) ^ word<T>(n) << (8 * sizeof(T) - 1) ^ sign_of(sign));
}

// 2^n, if that is a normal number; and x 2^n for any n of which the half gives one.
template <class T> __device__ inline T power_of_two(int n) {
  return bit_cast<T>(word<T>(n + BIAS<T>) << DIGITS<T>);
}
template <class T> __device__ inline T scale(T x, int n) {
  return x * power_of_two<T>(n >> 1) * power_of_two<T>(n - (n >> 1));
}

// The n for which x 2^n is from 1 to 2, or a normal number at least: 2^n and 2^-n are.
template <class T> __device__ inline int exponent_to_unit(T x) {
  int n = BIAS<T> - int(bit_cast<word<T>>(x) >> DIGITS<T>);
  return n < 1 - BIAS<T> ? 1 - BIAS<T> : n > BIAS<T> - 1 ? BIAS<T> - 1 : n;
}

// x = m 2^k with m from sqrt(1/2) to sqrt(2), for a positive and finite x.
template <class T> struct mantissa {
  T m;
  int k;
};
template <class T> __device__ inline mantissa<T> split_normal(T x) {
  constexpr word<T> one = word<T>(BIAS<T>) << DIGITS<T>, root_half = word<T>(same<T, f64> ? 0x3fe6a09e00000000 : 0x3f3504f3);
  word<T> shifted = bit_cast<word<T>>(x) + (one - root_half);
  return {bit_cast<T>((shifted & ((word<T>(1) << DIGITS<T>) - 1)) + root_half), int(shifted >> DIGITS<T>) - BIAS<T>};
}
template <class T> __device__ inline mantissa<T> split(T x) {
  bool subnormal = bit_cast<word<T>>(x) >> DIGITS<T> == 0;
  mantissa<T> x_ = split_normal(subnormal ? x * power_of_two<T>(DIGITS<T> + 1) : x);
  return {x_.m, x_.k - (subnormal ? DIGITS<T> + 1 : 0)};
}

// The integer nearest to x c, below 2^22 in f32 and below 2^31 in f64: adding 1.5 2^digits leaves it in the last bits.
// The bits of `low` are those of n up to the 22nd.
template <class T> struct integer {
  T value;
  int n, low;
};
template <class T> __device__ inline integer<T> nearest(T x, T c) {
  const T shift = same<T, f64> ? T(6755399441055744.0) : T(12582912.0f);
  T shifted = ::fma(x, c, shift);
  u32 low = u32(bit_cast<word<T>>(shifted));
  return {shifted - shift, int(low - (same<T, f64> ? 0 : 0x4b400000u)), int(low)};
}

// 1/x and 1/sqrt(x) to at least 18 bits in f64 and 22 in f32, for a normal x: one instruction of the device.
#ifdef GPUNUMPY_HOST
__device__ inline f32 rough_reciprocal(f32 x) { return 1 / x * (1 + 0x1p-23f); }
__device__ inline f32 rough_rsqrt(f32 x) { return 1 / ::sqrt(x) * (1 + 0x1p-22f); }
__device__ inline f64 rough_reciprocal(f64 x) { return 1 / x * (1 - 0x1p-18); }
__device__ inline f64 rough_rsqrt(f64 x) { return 1 / ::sqrt(x) * (1 + 0x1p-18); }
#else
__device__ inline f32 rough_reciprocal(f32 x) { f32 r; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
__device__ inline f32 rough_rsqrt(f32 x) { f32 r; asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
__device__ inline f64 rough_reciprocal(f64 x) { f64 r; asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x)); return r; }
__device__ inline f64 rough_rsqrt(f64 x) { f64 r; asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x)); return r; }
#endif

// 1/x and 1/sqrt(x) to a few units in the last place, by a step of third order.
__device__ inline f32 near_reciprocal(f32 x) { return rough_reciprocal(x); }
__device__ inline f64 near_reciprocal(f64 x) {
  f64 r = rough_reciprocal(x), error = ::fma(-x, r, 1.0);
  return ::fma(r, ::fma(error, error, error), r);
}
__device__ inline f32 near_rsqrt(f32 x) { return rough_rsqrt(x); }
__device__ inline f64 near_rsqrt(f64 x) {
  f64 r = rough_rsqrt(x), error = ::fma(x * r, -r, 1.0);
  return ::fma(r * error, ::fma(0.375, error, 0.5), r);
}

// a / b and sqrt(a), where neither a quotient, a root nor a product of theirs leaves the normal numbers; a may be 0 above.
template <class T> __device__ inline dw<T> quotient(dw<T> a, dw<T> b) {
  T inverse = near_reciprocal(b.hi), q = a.hi * inverse;
  return {q, ::fma(-q, b.lo, ::fma(-q, b.hi, a.hi) + a.lo) * inverse};
}
template <class T> __device__ inline dw<T> root(dw<T> a) {
  T inverse = near_rsqrt(a.hi), s = a.hi * inverse;
  return {s, (::fma(-s, s, a.hi) + a.lo) * (T(0.5) * inverse)};
}

}  // namespace op
