// Numbers by independent attempts: each consumes the same count of words and makes a fixed count of numbers or none.
// First the successful attempts of each tile are counted; then each tile writes its numbers after those of the tiles
// before.

const int ATTEMPT_THREADS = 256, STEPS = 16, TILE = ATTEMPT_THREADS * STEPS, MASKS = TILE / 32;

// An attempt consumes WORDS words, or one of the PIECES pieces of a word, and makes MAKES numbers.
#if KIND == 1 || KIND == 4
// The BITS bits of an attempt at an integer: a piece of a word, a word, or two words.
struct Piece {
  enum { WORDS = BITS == 64 ? 2 : 1, PIECES = BITS < 32 ? 32 / BITS : 1, MAKES = 1 };
  __device__ static u64 of(const u32* words, int piece) {
    if (BITS == 64) return u64(words[0]) << 32 | words[WORDS - 1];
    return words[0] >> piece * (BITS & 31) & ((1ull << (BITS & 63)) - 1);
  }
};
#endif
#if KIND == 1
// Integers from `offset` to offset + greatest, by masked rejection.
struct Number : Piece {
  u64 greatest, mask, offset;
  __device__ Number(u64 greatest, u64 mask, u64 offset) : greatest(greatest), mask(mask), offset(offset) {}
  __device__ bool make(const u32* words, int piece, Value* value) const {
    const u64 masked = Piece::of(words, piece) & mask;
    *value = Value(masked + offset);
    return masked <= greatest;
  }
};
#elif KIND == 4
// Integers from `offset` to offset + span - 1: the upper half of the product of a piece with the span (D. Lemire,
// 2019). The piece is rejected if the lower half is less than `least`.
struct Number : Piece {
  u64 span, least, offset;
  __device__ Number(u64 span, u64 least, u64 offset) : span(span), least(least), offset(offset) {}
  __device__ bool make(const u32* words, int piece, Value* value) const {
    const u64 bits = Piece::of(words, piece), product = bits * span;
    if (BITS == 64) {
      *value = Value(__umul64hi(bits, span) + offset);
      return product >= least;
    }
    *value = Value((product >> (BITS & 63)) + offset);
    return (product & ((1ull << (BITS & 63)) - 1)) >= least;
  }
};
#elif KIND == 2
// Uniform numbers in (0, 1), of 53 bits.
struct Number {
  enum { WORDS = 2, PIECES = 1, MAKES = 1 };
  __device__ Number(u64, u64, u64) {}
  __device__ bool make(const u32* words, int, Value* value) const {
    *value = unit(words[0], words[1]);
    return *value > 0;
  }
};
#else
// Pairs of normal numbers.
struct Number {
  enum { WORDS = 4, PIECES = 1, MAKES = 2 };
  __device__ Number(u64, u64, u64) {}
  __device__ bool make(const u32* words, int, Value* values) const {
    const NormalPair pair(unit(words[0], words[1]), unit(words[2], words[3]));
    values[0] = pair.first;
    values[1] = pair.second;
    return pair.made;
  }
};
#endif

// The array of n numbers, filled from `begin` on; a number left over from an earlier draw may come before that.
struct Out {
  Value* out;
  i64 begin, n;
  __device__ i64 needed() const { return (n - begin + Number::MAKES - 1) / Number::MAKES; }
  __device__ void put(i64 k, const Value* values) const {
    for (int one = 0; one < Number::MAKES; ++one)
      if (begin + k * Number::MAKES + one < n) out[begin + k * Number::MAKES + one] = values[one];
  }
};

// The attempts that the words make, by number.
struct Attempts {
  const u32* words;
  i64 count;
  __device__ bool make(const Number& number, i64 at, Value* values) const {
    if (at >= count) return false;
    u32 own[Number::WORDS];
    const u32* from = words + at / Number::PIECES * Number::WORDS;
    if (Number::WORDS == 4) {
      const uint4 four = *reinterpret_cast<const uint4*>(from);
      own[0] = four.x, own[1 % Number::WORDS] = four.y;
      own[2 % Number::WORDS] = four.z, own[3 % Number::WORDS] = four.w;
    } else if (Number::WORDS == 2) {
      const uint2 two = *reinterpret_cast<const uint2*>(from);
      own[0] = two.x, own[1 % Number::WORDS] = two.y;
    } else {
      own[0] = *from;
    }
    return number.make(own, int(at % Number::PIECES), values);
  }
};

// Find which attempts of a tile succeed, as a bit each, and how many do: one block.
__device__ __forceinline__ void count_tile(const Number& number, const Attempts& attempts, u32* masks, i64* sums) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  const i64 tile = blockIdx.x;
  int mine = 0;
#pragma unroll
  for (int step = 0; step < STEPS; ++step) {
    Value values[Number::MAKES];
    const int at = step * ATTEMPT_THREADS + threadIdx.x;
    const u32 all = __ballot_sync(~0u, attempts.make(number, tile * TILE + at, values));
    if (at % 32 == 0) masks[tile * MASKS + at / 32] = all;
    mine += __popc(all);
  }
  if (threadIdx.x % 32 == 0) atomicAdd(&total, mine);
  __syncthreads();
  if (threadIdx.x == 0) sums[tile] = total;
}

// Replace the tiles' counts by the sum of the counts before each; sums[tiles] becomes the total. One block of 1024
// threads.
__device__ __forceinline__ void sum_tiles(i64* sums, i64 tiles) {
  __shared__ i64 shared[1024];
  i64 sum = 0;
  for (i64 first = 0; first < tiles; first += 1024) {
    const i64 at = first + threadIdx.x, mine = at < tiles ? sums[at] : 0;
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (int step = 1; step < 1024; step *= 2) {
      const i64 other = int(threadIdx.x) >= step ? shared[threadIdx.x - step] : 0;
      __syncthreads();
      shared[threadIdx.x] += other;
      __syncthreads();
    }
    if (at < tiles) sums[at] = sum + shared[threadIdx.x] - mine;
    sum += shared[1023];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[tiles] = sum;
}

// Write a tile's numbers; `last` becomes the attempt that makes the last number of all. One block.
__device__ __forceinline__ void put_tile(
    const Out& out, i64* last, const Number& number, const Attempts& attempts, const u32* masks, const i64* sums) {
  const i64 tile = blockIdx.x, needed = out.needed(), base = sums[tile];
  if (base >= needed) return;
  __shared__ u32 makes[MASKS];
  __shared__ int before[MASKS];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    int sum = 0, mine[MASKS / 32];
    for (int k = 0; k < MASKS / 32; ++k) {
      const int at = lane * (MASKS / 32) + k;
      makes[at] = masks[tile * MASKS + at];
      sum += mine[k] = __popc(makes[at]);
    }
    int upto = sum;
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(~0u, upto, step);
      if (lane >= step) upto += other;
    }
    upto -= sum;
    for (int k = 0; k < MASKS / 32; ++k) {
      before[lane * (MASKS / 32) + k] = upto;
      upto += mine[k];
    }
  }
  __syncthreads();
#pragma unroll 4
  for (int step = 0; step < STEPS; ++step) {
    const int at = step * ATTEMPT_THREADS + threadIdx.x;
    const u32 mask = makes[at / 32];
    if (!(mask >> lane & 1)) continue;
    const i64 k = base + before[at / 32] + __popc(mask & ((1u << lane) - 1));
    Value values[Number::MAKES];
    attempts.make(number, tile * TILE + at, values);
    if (k < needed) out.put(k, values);
    if (k == needed - 1) *last = tile * TILE + at;
  }
}

// Write the state after the numbers: one block. One thread makes missing numbers of the words that follow.
__device__ __forceinline__ void end_numbers(
    u32* state, const Out& out, const i64* last, const Number& number, const Attempts& attempts,
    const DrawnWords& drawn, i64 made) {
  const i64 needed = out.needed();
  if (made >= needed) {
    // No attempt is needed where the number left over is the only one.
    drawn.write_state(state, needed ? (*last / Number::PIECES + 1) * Number::WORDS : 0);
  } else {
    for (int k = threadIdx.x; k < STATE_WORDS; k += blockDim.x) state[k] = drawn.after[k];
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  u32 words[Number::WORDS] = {};
  Value values[Number::MAKES] = {};
  if (made < needed) {
    SerialWords words_after{state};
    while (made < needed) {
      for (int k = 0; k < Number::WORDS; ++k) words[k] = words_after.next();
      for (int piece = 0; piece < Number::PIECES && made < needed; ++piece)
        if (number.make(words, piece, values)) out.put(made++, values);
    }
  } else if (Number::MAKES == 2 && needed) {
    for (int k = 0; k < Number::WORDS; ++k) words[k] = attempts.words[*last * Number::WORDS + k];
    number.make(words, 0, values);
  }
#if KIND == 3
  // The number left over comes first; of an odd count of further numbers one is left over again.
  if (out.begin) out.out[0] = op::bit_cast<f64>(u64(drawn.before[NORMAL + 1]) << 32 | drawn.before[NORMAL]);
  const u64 left = op::bit_cast<u64>(values[1]);
  const bool has = (out.n - out.begin) % 2;
  state[HAS_NORMAL] = has;
  state[NORMAL] = has ? u32(left) : 0;
  state[NORMAL + 1] = has ? u32(left >> 32) : 0;
  for (int k = 0; k < 4; ++k) state[NORMAL_WORDS + k] = words[k];
  state[KNOWS_NORMAL_WORDS] = has;
#endif
}
