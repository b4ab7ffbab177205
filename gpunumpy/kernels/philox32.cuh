// Philox4x32 with ten rounds: a block of 128 random bits for each number of a block. Neighbouring elements have their
// numbers of one block, which is made once for them.

namespace op {

struct Quad {
  u32 word[4];
};

// Where elements take words again, they do so in another `attempt`.
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

// A word as a number in (0, 1].
__device__ __forceinline__ f32 open_unit(u32 word) { return f32(word) * 2.3283064365386963e-10f + 1.1641532182693481e-10f; }
__device__ __forceinline__ f64 open_unit(u64 word) { return f64((word >> 11) + 1) * (1.0 / 9007199254740992.0); }

// What a thread has made last.
template <class T> struct Block {
  i64 at = -1;
  T made[16 / sizeof(T)];
};

// Element i of what `make` makes of blocks. If it is known at which turn elements come, counted from the first of their
// block on, that is `turn`; else it is negative.
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

// Two normal numbers of two that are even (Box and Muller).
__device__ __forceinline__ void pair_of(u32 first, u32 second, f32* made) {
  const f32 r = ::sqrtf(-2.0f * ::logf(open_unit(first)));
  f32 sine, cosine;
  ::sincospif(f32(second >> 8) * 1.1920928955078125e-07f, &sine, &cosine);
  made[0] = r * cosine;
  made[1] = r * sine;
}
__device__ __forceinline__ void pair_of(u64 first, u64 second, f64* made) {
  const f64 r = ::sqrt(-2.0 * ::log(open_unit(first)));
  f64 sine, cosine;
  ::sincospi(f64(second >> 11) * 2.220446049250313e-16, &sine, &cosine);
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

// The upper half of a word's product with a span, and whether the lower half is large enough.
__device__ __forceinline__ bool falls(u32 word, u64 span, u64 least, u32& value) {
  const u64 product = u64(word) * u32(span);
  value = u32(product >> 32);
  return u32(product) >= least;
}
__device__ __forceinline__ bool falls(u64 word, u64 span, u64 least, u64& value) {
  value = __umul64hi(word, span);
  return word * span >= least;
}

// Integers below a span, all alike: those few whose words do not count have others of further attempts.
template <class T>
__device__ __forceinline__ T philox32_below(Block<T>& block, int turn, i64 i, u64 key, u64 salt, u64 span, u64 least) {
  const int per = 16 / sizeof(T);
  T value;
  u32 attempt = 0;
  if (!falls(philox32_word(block, turn, i, key, salt), span, least, value)) {
    T made[per];
#pragma unroll 1
    do {
      words_of(philox32(u64(i) / per, ++attempt, key, salt), made);
    } while (!falls(made[i & (per - 1)], span, least, value));
  }
  return value;
}

}  // namespace op
