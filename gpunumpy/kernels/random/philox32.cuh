// Philox4x32 with ten rounds (J. K. Salmon et al., 2011): a function from the number of a block to 128 random bits.
// Neighboring elements share a block, which a thread computes once for them.

namespace op {

struct Quad {
  u32 word[4];
};

// The block of a number; `salt` is the upper half of the counter. An element that needs another word takes it from the
// same block of the next `attempt`.
__device__ __forceinline__ Quad philox32(u64 number, u32 attempt, u64 key, u64 salt) {
  u32 c0 = u32(number), c1 = u32(number >> 32) ^ attempt << 20, c2 = u32(salt), c3 = u32(salt >> 32);
  u32 k0 = u32(key), k1 = u32(key >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const u64 first = u64(0xD2511F53u) * c0, second = u64(0xCD9E8D57u) * c2;
    c0 = u32(second >> 32) ^ c1 ^ k0;
    c1 = u32(second);
    c2 = u32(first >> 32) ^ c3 ^ k1;
    c3 = u32(first);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

__device__ __forceinline__ u64 joined(u32 low, u32 high) { return u64(high) << 32 | low; }

// The square root of a float32, to all but the last bit: one instruction of the device.
#ifdef GPUNUMPY_HOST
__device__ __forceinline__ f32 root(f32 x) { return ::sqrtf(x); }
#else
__device__ __forceinline__ f32 root(f32 x) {
  f32 y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#endif

// The square root of a positive number: an approximation and two corrections.
__device__ __forceinline__ f64 root(f64 x) {
  const f64 y = rough_rsqrt(x), s = x * y, h = 0.5 * y, e = ::fma(-s, h, 0.5);
  const f64 better = ::fma(s, e, s);
  return ::fma(::fma(-better, better, x), ::fma(h, e, h), better);
}

// -log(x), where x in (0, 1] is made of a word. x is m * 2^k with m around 1; its logarithm is k * log(2) plus an odd
// function of s = (m - 1) / (m + 1), here a polynomial by Chebyshev interpolation. CUDA's functions, which handle all
// numbers, have three times as many instructions.
__device__ __forceinline__ f32 minus_log(u32 word) {
  const u32 bits = bit_cast<u32>(f32(word) * 2.3283064365386963e-10f + 1.1641532182693481e-10f);
  const i32 k = i32(bits - 0x3f3504f3) >> 23;
  const f32 m = bit_cast<f32>(bits - (u32(k) << 23)), s = (m - 1.0f) * rough_reciprocal(m + 1.0f), z = s * s;
  const f32 p = ::fmaf(::fmaf(0.29580005623f, z, 0.39988779327f), z, 0.66666685043f);
  return 0.0f - ::fmaf(f32(k), 0.69314718056f, s * ::fmaf(z, p, 2.0f));
}
__device__ __forceinline__ f64 minus_log(u64 word) {
  const u64 bits = bit_cast<u64>(2.0 - bit_cast<f64>(word >> 12 | u64(0x3ff) << 52));
  const i32 k = i32(u32(bits >> 32) - 0x3fe6a09e) >> 20;
  const f64 m = bit_cast<f64>(bits - (u64(i64(k)) << 52)), d = m + 1.0, f = m - 1.0, rough = rough_reciprocal(d);
  const f64 y = ::fma(::fma(-d, rough, 1.0), rough, rough), near = f * y, s = ::fma(::fma(-d, near, f), y, near);
  const f64 z = s * s;
  f64 p = ::fma(0.14616523324318811, z, 0.15331715642736807);
  p = ::fma(p, z, 0.18182889304503697);
  p = ::fma(p, z, 0.22222211132334888);
  p = ::fma(p, z, 0.2857142862599056);
  p = ::fma(p, z, 0.3999999999989947);
  p = ::fma(p, z, 0.666666666666667);
  // k, at least -64, as a float64: its bits are put below those of 2^52, which is then subtracted.
  const f64 whole = bit_cast<f64>(u64(0x43300000) << 32 | u32(k + 64)) - 4503599627370560.0;
  return 0.0 - ::fma(whole, 0.6931471805599453, s * ::fma(z, p, 2.0));
}

// The sine and the cosine of a word's angle: the upper two bits choose a quarter turn, the next bits an angle from
// -pi/4 to pi/4, for which polynomials serve.
template <class T, class Word>
__device__ __forceinline__ void rotate_by_quarters(Word word, T sine, T cosine, T& y, T& x) {
  const int quarter = int(word >> (8 * sizeof(Word) - 2));
  y = quarter & 1 ? cosine : sine;
  x = quarter & 1 ? sine : cosine;
  if (quarter & 2) y = -y;
  if ((quarter + 1) & 2) x = -x;
}
__device__ __forceinline__ void circle(u32 word, f32& y, f32& x) {
  const f32 a = (bit_cast<f32>((word >> 7 & 0x7fffff) | 0x3f800000) - 1.5f) * 1.5707963268f, z = a * a;
  const f32 s = ::fmaf(::fmaf(-0.00019587866f, z, 0.00833274815f), z, -0.16666664662f);
  const f32 c = ::fmaf(::fmaf(::fmaf(2.4463754e-05f, z, -0.00138875889f), z, 0.04166665064f), z, -0.49999999969f);
  rotate_by_quarters(word, ::fmaf(a * z, s, a), ::fmaf(z, c, 1.0f), y, x);
}
__device__ __forceinline__ void circle(u64 word, f64& y, f64& x) {
  const f64 a = (bit_cast<f64>((word >> 10 & 0xfffffffffffff) | u64(0x3ff) << 52) - 1.5) * 1.5707963267948966;
  const f64 z = a * a;
  f64 s = ::fma(1.5918115263265974e-10, z, -2.505113165023518e-08);
  s = ::fma(s, z, 2.7557316101617874e-06);
  s = ::fma(s, z, -0.00019841269836756774);
  s = ::fma(s, z, 0.008333333333330948);
  s = ::fma(s, z, -0.16666666666666666);
  f64 c = ::fma(-1.1382623647474604e-11, z, 2.087614614655861e-09);
  c = ::fma(c, z, -2.7557317271145144e-07);
  c = ::fma(c, z, 2.480158729876456e-05);
  c = ::fma(c, z, -0.0013888888888887398);
  c = ::fma(c, z, 0.041666666666666664);
  rotate_by_quarters(word, ::fma(a * z, s, a), ::fma(z * z, c, ::fma(-0.5, z, 1.0)), y, x);
}

// The elements of the block that a thread computed last; `at` is its number.
template <class T> struct Block {
  i64 at = -1;
  T made[16 / sizeof(T)];
};

// Element i; make(number, elements) computes the elements of a block. `turn` is the index of the element in its block
// if that is known at compile time, and else negative.
template <class T, class Make>
__device__ __forceinline__ T of_block(Block<T>& block, int turn, i64 i, Make make) {
  const int per = 16 / sizeof(T);
  const i64 number = i64(u64(i) / per);
  if (turn == 0 || (turn < 0 && number != block.at)) {
    make(number, block.made);
    block.at = number;
  }
  const int k = turn < 0 ? int(i & (per - 1)) : turn;
  const T low = k & 1 ? block.made[1] : block.made[0];
  return k & 2 ? (k & 1 ? block.made[per - 1] : block.made[per - 2]) : low;
}

__device__ __forceinline__ void words_of(const Quad& quad, u32 (&made)[4]) {
  for (int k = 0; k < 4; ++k) made[k] = quad.word[k];
}
__device__ __forceinline__ void words_of(const Quad& quad, u64 (&made)[2]) {
  for (int k = 0; k < 2; ++k) made[k] = joined(quad.word[2 * k], quad.word[2 * k + 1]);
}

// Two normal numbers of two words (G. E. P. Box and M. E. Muller, 1958). 1e-37 keeps the argument of `root` positive.
template <class T, class Word> __device__ __forceinline__ void pair_of(Word first, Word second, T* made) {
  const T r = root(T(2) * minus_log(first) + T(1e-37));
  T sine, cosine;
  circle(second, sine, cosine);
  made[0] = r * cosine;
  made[1] = r * sine;
}
__device__ __forceinline__ void normals_of(const Quad& quad, f32 (&made)[4]) {
  pair_of(quad.word[0], quad.word[1], made);
  pair_of(quad.word[2], quad.word[3], made + 2);
}
__device__ __forceinline__ void normals_of(const Quad& quad, f64 (&made)[2]) {
  pair_of(joined(quad.word[0], quad.word[1]), joined(quad.word[2], quad.word[3]), made);
}

template <class T>
__device__ __forceinline__ T philox32_word(Block<T>& block, int turn, i64 i, u64 key, u64 salt) {
  return of_block(block, turn, i, [=](i64 number, T (&made)[16 / sizeof(T)]) {
    words_of(philox32(number, 0, key, salt), made);
  });
}

template <class T>
__device__ __forceinline__ T philox32_normal(Block<T>& block, int turn, i64 i, u64 key, u64 salt) {
  return of_block(block, turn, i, [=](i64 number, T (&made)[16 / sizeof(T)]) {
    normals_of(philox32(number, 0, key, salt), made);
  });
}

// Whether the lower half of a word's product with a span is at least `least`; `value` becomes the upper half.
__device__ __forceinline__ bool is_accepted(u32 word, u64 span, u64 least, u32& value) {
  const u64 product = u64(word) * u32(span);
  value = u32(product >> 32);
  return u32(product) >= least;
}
__device__ __forceinline__ bool is_accepted(u64 word, u64 span, u64 least, u64& value) {
  if (span >> 32 == 0) {  // the lower half of the word suffices
    u32 half;
    const bool is_accepted_word = is_accepted(u32(word), span, least, half);
    value = half;
    return is_accepted_word;
  }
  value = __umul64hi(word, span);
  return word * span >= least;
}

// Integers below a span, all equally likely: for a rejected word the same element of the next attempt is tried.
template <class T> __device__ __noinline__ T below_again(i64 i, u64 key, u64 salt, u64 span, u64 least) {
  const int per = 16 / sizeof(T);
  T value, made[per];
  u32 attempt = 0;
  do {
    words_of(philox32(u64(i) / per, ++attempt, key, salt), made);
  } while (!is_accepted(made[i & (per - 1)], span, least, value));
  return value;
}
template <class T>
__device__ __forceinline__ T philox32_below(Block<T>& block, int turn, i64 i, u64 key, u64 salt, u64 span, u64 least) {
  T value;
  const bool is_accepted_word = is_accepted(philox32_word(block, turn, i, key, salt), span, least, value);
  return is_accepted_word ? value : below_again<T>(i, key, salt, span, least);
}

}  // namespace op
