// Streams of random words as functions of the position: linear congruential generators of 128 bits, and Philox.

struct Wide {
  u64 hi, lo;
};

namespace op {

// Arithmetic modulo 2^128.
__device__ __forceinline__ Wide wide_times(Wide a, Wide b) {
  const u32 a0 = u32(a.lo), a1 = u32(a.lo >> 32), b0 = u32(b.lo), b1 = u32(b.lo >> 32);
  const u64 p = u64(a0) * b0, q = u64(a1) * b0 + (p >> 32), r = u64(a0) * b1 + u32(q);
  return {u64(a1) * b1 + (q >> 32) + (r >> 32) + a.hi * b.lo + a.lo * b.hi, r << 32 | u32(p)};
}
__device__ __forceinline__ Wide wide_plus(Wide a, Wide b) {
  const u64 lo = a.lo + b.lo;
  return {a.hi + b.hi + (lo < a.lo), lo};
}
// The number x * a + c.
__device__ __forceinline__ Wide wide_step(Wide x, Wide a, Wide c) { return wide_plus(wide_times(x, a), c); }

// A thread's way along a congruential generator: from one position to the next by `step`, or by `leap`, takes one
// product; only elsewhere does it begin anew. For both there is what x and c are multiplied by.
enum Sure { UNSURE, BEGINS, STEPS, MAY_STEP, LEAPS };
struct Walk {
  i64 step, leap;
  Wide step_x, step_c, leap_x, leap_c;
  i64 at;
  Wide x, more_step, more_leap;
  __device__ Walk(i64 step, Wide step_x, Wide step_c, i64 leap, Wide leap_x, Wide leap_c)
      : step(step), leap(leap), step_x(step_x), step_c(step_c), leap_x(leap_x), leap_c(leap_c), at(-1ll << 62) {}
  // `sure` says how the position comes from the one before, where that is known.
  template <class Begin> __device__ __forceinline__ Wide to(Sure sure, i64 i, Wide c, Begin begin) {
    const i64 way = i - at;
    if (sure == STEPS || (sure == MAY_STEP && way) || (sure == UNSURE && way == step)) {
      x = wide_step(x, step_x, more_step);
    } else if (sure == LEAPS || (sure == UNSURE && way == leap)) {
      x = wide_step(x, leap_x, more_leap);
    } else if (sure == BEGINS || (sure == UNSURE && way)) {
      x = begin(i);
      more_step = wide_times(step_c, c);
      more_leap = wide_times(leap_c, c);
    }
    at = i;
    return x;
  }
};

// What a state gives.
__device__ __forceinline__ u64 xsl_rr(Wide x) {
  const u64 mixed = x.hi ^ x.lo;
  const int turn = int(x.hi >> 58);
  const u32 low = u32(mixed), high = u32(mixed >> 32);
  const u32 first = turn & 32 ? high : low, second = turn & 32 ? low : high;
  return u64(__funnelshift_r(second, first, turn)) << 32 | __funnelshift_r(first, second, turn);
}
__device__ __forceinline__ u64 dxsm(Wide x) {
  u64 hi = x.hi ^ x.hi >> 32;
  hi *= 0xda942042e4dd58b5ull;
  hi ^= hi >> 48;
  return hi * (x.lo | 1);
}

// Word number i of Philox4x64 with ten rounds: four words for each value of the counter, whose first value is c.
__device__ __forceinline__ u64 philox(i64 i, u64 c0, u64 c1, u64 c2, u64 c3, u64 k0, u64 k1) {
  const u64 block = u64(i) >> 2;
  c0 += block;
  if (c0 < block && ++c1 == 0 && ++c2 == 0) ++c3;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const u64 a0 = 0xD2E7470EE14C6C93ull, a1 = 0xCA5A826395121157ull;
    const u64 hi0 = __umul64hi(a0, c0), lo0 = a0 * c0, hi1 = __umul64hi(a1, c2), lo1 = a1 * c2;
    c0 = hi1 ^ c1 ^ k0;
    c1 = lo1;
    c2 = hi0 ^ c3 ^ k1;
    c3 = lo0;
    k0 += 0x9E3779B97F4A7C15ull;
    k1 += 0xBB67AE8584CAA73Bull;
  }
  return i & 2 ? (i & 1 ? c3 : c2) : (i & 1 ? c1 : c0);
}

// Half number q of the words, the lower one first; before them comes one that is left of an earlier word.
__device__ __forceinline__ u32 stream_half(i64 q, u64 word, u64 left) {
  return u32(q < 0 ? left : q & 1 ? word >> 32 : word);
}

}  // namespace op
