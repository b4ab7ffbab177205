// Random words as functions of their position: linear congruential generators of 128 bits (PCG64), and Philox4x64.

struct Wide {
  u64 hi, lo;
};

namespace op {

// Return x * a + c modulo 2^128.
__device__ __forceinline__ Wide wide_step(Wide x, Wide a, Wide c) {
#ifdef GPUNUMPY_HOST
  const u64 product = x.lo * a.lo, lo = product + c.lo;
  return {__umul64hi(x.lo, a.lo) + x.hi * a.lo + x.lo * a.hi + c.hi + (lo < product), lo};
#else
  // By words of 32 bits: six full products and four lower halves, with c added in the first ones.
  u32 r0, r1, r2, r3;
  asm("{ .reg .u32 r0, r1, r2, r3, s0, s1, s2; "
      "mad.lo.cc.u32 r0, %4, %8, %12; "
      "madc.hi.cc.u32 r1, %4, %8, %13; "
      "madc.lo.cc.u32 r2, %4, %10, %14; "
      "madc.hi.u32 r3, %4, %10, %15; "
      "mad.lo.cc.u32 r2, %5, %9, r2; "
      "madc.hi.u32 r3, %5, %9, r3; "
      "mad.lo.cc.u32 r2, %6, %8, r2; "
      "madc.hi.u32 r3, %6, %8, r3; "
      "mul.lo.u32 s0, %4, %9; "
      "mul.hi.u32 s1, %4, %9; "
      "mad.lo.cc.u32 s0, %5, %8, s0; "
      "madc.hi.cc.u32 s1, %5, %8, s1; "
      "addc.u32 s2, 0, 0; "
      "mad.lo.u32 s2, %4, %11, s2; "
      "mad.lo.u32 s2, %5, %10, s2; "
      "mad.lo.u32 s2, %6, %9, s2; "
      "mad.lo.u32 s2, %7, %8, s2; "
      "mov.u32 %0, r0; "
      "add.cc.u32 %1, r1, s0; "
      "addc.cc.u32 %2, r2, s1; "
      "addc.u32 %3, r3, s2; "
      "}"
      : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
      : "r"(u32(x.lo)), "r"(u32(x.lo >> 32)), "r"(u32(x.hi)), "r"(u32(x.hi >> 32)), "r"(u32(a.lo)),
        "r"(u32(a.lo >> 32)), "r"(u32(a.hi)), "r"(u32(a.hi >> 32)), "r"(u32(c.lo)), "r"(u32(c.lo >> 32)),
        "r"(u32(c.hi)), "r"(u32(c.hi >> 32)));
  return {u64(r3) << 32 | r2, u64(r1) << 32 | r0};
#endif
}
__device__ __forceinline__ Wide wide_times(Wide a, Wide b) { return wide_step(a, b, {0, 0}); }

// A thread's positions along a congruential generator. To go `step` or `leap` positions ahead takes one product; to any
// other position the walk begins anew. Such a move takes x to x * step_x + c * step_c, or with the values for the leap.
// `Sure` says which move leads to the next position, where that is known at compile time.
enum Sure { UNSURE, STAYS, STEPS, LEAPS };
struct Walk {
  i64 step, leap;
  Wide step_x, step_c, leap_x, leap_c;
  i64 at;
  Wide x, more_step, more_leap;
  __device__ Walk(i64 step, Wide step_x, Wide step_c, i64 leap, Wide leap_x, Wide leap_c)
      : step(step), leap(leap), step_x(step_x), step_c(step_c), leap_x(leap_x), leap_c(leap_c), at(-1ll << 62) {}
  // Start at the state `at`.
  __device__ __forceinline__ void start(Wide at, Wide c) {
    x = at;
    more_step = wide_times(step_c, c);
    more_leap = wide_times(leap_c, c);
  }
  // Move to position i and return its state; begin(i) computes the state from scratch.
  template <class Begin> __device__ __forceinline__ Wide to(Sure sure, i64 i, Wide c, Begin begin) {
    const i64 distance = i - at;
    if (sure == STEPS || (sure == UNSURE && distance == step)) {
      x = wide_step(x, step_x, more_step);
    } else if (sure == LEAPS || (sure == UNSURE && distance == leap)) {
      x = wide_step(x, leap_x, more_leap);
    } else if (sure == UNSURE && distance) {
      start(begin(i), c);
    }
    at = i;
    return x;
  }
};

// The output functions of PCG64 and PCG64DXSM: the word of a state.
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

// One block of Philox4x64 with ten rounds (J. K. Salmon et al., 2011): four words of one value of the counter.
struct Four {
  u64 block, c0, c1, c2, c3;
  __device__ Four() : block(~0ull) {}
  // Compute block n, given the counter x of block 0 and the key k.
  __device__ __forceinline__ void make(u64 n, u64 x0, u64 x1, u64 x2, u64 x3, u64 k0, u64 k1) {
    block = n;
    x0 += n;
    if (x0 < n && ++x1 == 0 && ++x2 == 0) ++x3;
#pragma unroll
    for (int round = 0; round < 10; ++round) {
      const u64 a0 = 0xD2E7470EE14C6C93ull, a1 = 0xCA5A826395121157ull;
      const u64 hi0 = __umul64hi(a0, x0), lo0 = a0 * x0, hi1 = __umul64hi(a1, x2), lo1 = a1 * x2;
      x0 = hi1 ^ x1 ^ k0;
      x1 = lo1;
      x2 = hi0 ^ x3 ^ k1;
      x3 = lo0;
      k0 += 0x9E3779B97F4A7C15ull;
      k1 += 0xBB67AE8584CAA73Bull;
    }
    c0 = x0, c1 = x1, c2 = x2, c3 = x3;
  }
};
// Word i. The block in `four` is used if the word is in it, and else replaced.
__device__ __forceinline__ u64 philox(Four& four, i64 i, u64 c0, u64 c1, u64 c2, u64 c3, u64 k0, u64 k1) {
  if (u64(i) >> 2 != four.block) four.make(u64(i) >> 2, c0, c1, c2, c3, k0, k1);
  return i & 2 ? (i & 1 ? four.c3 : four.c2) : (i & 1 ? four.c1 : four.c0);
}
__device__ __forceinline__ u64 philox(i64 i, u64 c0, u64 c1, u64 c2, u64 c3, u64 k0, u64 k1) {
  Four four;
  return philox(four, i, c0, c1, c2, c3, k0, k1);
}

// Half q of the stream, given its word: the lower half of each word comes first.
__device__ __forceinline__ u32 stream_half(i64 q, u64 word) { return u32(q & 1 ? word >> 32 : word); }

// The same for a stream that begins with the half `left` of an earlier word: it takes the place of half 1.
__device__ __forceinline__ u32 stream_half_after(i64 q, u64 word, u64 left) {
  return q == 1 ? u32(left) : stream_half(q, word);
}

}  // namespace op
