// Words of MT19937 (M. Matsumoto and T. Nishimura, 1998).
//
// The stream is cut into runs of blocks of 624 words, and each run is made by one thread block: of the words after a
// window of 624, 227 depend on the window alone and are made in parallel. A later window is made from an earlier one by
// a polynomial that jumps ahead: it is the sum of the windows at the distances that the polynomial has as terms. Each
// level of jumps doubles the windows that are known. Of the first word of a window only the highest bit counts.

const int LENGTH = 624, AHEAD = 397, INDEPENDENT = LENGTH - AHEAD;
const int TWO_BLOCKS = 2 * LENGTH;
// Positions in a state, as STATE_POSITIONS in mt19937_jumps.py names them.
const int POSITION = 624, HAS_NORMAL = 625, NORMAL = 626, NORMAL_WORDS = 628, KNOWS_NORMAL_WORDS = 632;
const int STATE_WORDS = 640;
// Words of a stretch: a window and what follows it, as far as the terms of a polynomial reach.
const int STRETCH = 33 * LENGTH;
// A jump is cut into shares of TERMS words of 32 terms. One warp adds up a share; each thread has THREAD_WORDS
// consecutive words of the window, an odd number, so that threads read different banks.
const int TERMS = 4, SHARES = LENGTH / TERMS, THREAD_WORDS = 21, REACH = 32 * TERMS + 32 * THREAD_WORDS;

__device__ __forceinline__ u32 next_word(u32 first, u32 second, u32 ahead) {
  const u32 y = (first & 0x80000000u) | (second & 0x7fffffffu);
  return ahead ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0u);
}
__device__ __forceinline__ u32 tempered(u32 y) {
  y ^= y >> 11;
  y ^= y << 7 & 0x9d2c5680u;
  y ^= y << 15 & 0xefc60000u;
  return y ^ y >> 18;
}
__device__ __forceinline__ u32 untempered(u32 y) {
  y ^= y >> 18;
  y ^= y << 15 & 0xefc60000u;
  u32 x = y;
  for (int bits = 7; bits < 32; bits += 7) x = y ^ (x << 7 & 0x9d2c5680u);
  y = x;
  for (int bits = 11; bits < 32; bits += 11) x = y ^ x >> 11;
  return x;
}

// Make the `blocks` blocks after a window, which is in the first of two blocks of shared memory (`both`); put(k, word)
// gets word k. A thread makes three words of each block, from the words at the same places of the previous block, which
// it made itself, and their successors. The words AHEAD of the second and the third are its own first and second. It
// puts the words after it has issued the loads for the next ones.
template <class Put> __device__ __forceinline__ void follow(u32* both, int blocks, Put put) {
  const int THIRD = 2 * INDEPENDENT, LAST = LENGTH - 1 - THIRD, me = threadIdx.x, t = me < INDEPENDENT ? me : 0;
  const bool works = me < INDEPENDENT, thrice = me <= LAST;
  // Threads that make no third word read a place that nobody writes meanwhile.
  const int third_place = thrice ? t + THIRD : t, after_third = me < LAST ? t + THIRD + 1 : t;
  __syncthreads();
  u32 first = both[t], second = both[t + INDEPENDENT], third = both[third_place];
  for (int block = 0;; ++block) {
    const u32* old = both + (block & 1) * LENGTH;
    u32* made = both + (~block & 1) * LENGTH;
    const u32 next = old[t + 1], ahead = old[t + AHEAD], second_next = old[t + INDEPENDENT + 1];
    u32 third_next = old[after_third];
    // After the last word of the old block comes the first one of this block.
    if (me / 32 == LAST / 32) {
      const u32 begin = next_word(old[0], old[1], old[AHEAD]);
      if (me == LAST) third_next = begin;
    }
    if (block) {
      const int k = (block - 1) * LENGTH + t;
      if (works) put(k, first);
      if (works) put(k + INDEPENDENT, second);
      if (thrice) put(k + THIRD, third);
    }
    if (block == blocks) break;
    first = next_word(first, next, ahead);
    second = next_word(second, second_next, first);
    third = next_word(third, third_next, second);
    if (works) made[t] = first;
    if (works) made[t + INDEPENDENT] = second;
    if (thrice) made[t + THIRD] = third;
    __syncthreads();
  }
}

// Make the stretch of a window: one block.
__device__ __forceinline__ void make_stretch(const u32* window, u32* stretch) {
  __shared__ u32 both[TWO_BLOCKS];
  for (int k = threadIdx.x; k < LENGTH; k += blockDim.x) stretch[k] = both[k] = window[k];
  follow(both, STRETCH / LENGTH - 1, [=](int k, u32 word) { stretch[k + LENGTH] = word; });
}

// Begin: the first window is that of the state, with its stretch; the others are cleared, to be summed into.
__device__ __forceinline__ void begin_runs(const u32* state, u32* windows, u32* stretches, i64 runs) {
  if (blockIdx.x == 0) {
    for (int k = threadIdx.x; k < LENGTH; k += blockDim.x) windows[k] = state[k];
    if (runs > 1) make_stretch(state, stretches);
  } else {
    const i64 step = i64(gridDim.x - 1) * blockDim.x;
    for (i64 k = LENGTH + i64(blockIdx.x - 1) * blockDim.x + threadIdx.x; k < runs * LENGTH; k += step) windows[k] = 0;
  }
}

// Add to a window the sums for shares first, first + step, ... of a polynomial's terms, over the stretch of an earlier
// window: one warp.
__device__ __forceinline__ void jump_window(const u32* stretch, const u32* terms, u32* window, int first, int step) {
  __shared__ u32 words[REACH];
  const int lane = threadIdx.x;
  u32 sums[THREAD_WORDS] = {};
  for (int share = first; share < SHARES; share += step) {
    __syncwarp();
    for (int k = lane; k < REACH; k += 32) {
      const int at = share * 32 * TERMS + k;
      words[k] = at < STRETCH ? stretch[at] : 0;
    }
    __syncwarp();
    for (int k = 0; k < TERMS; ++k) {
      const u32 chosen = terms[share * TERMS + k];
      u32 near[32 + THREAD_WORDS - 1];
#pragma unroll
      for (int at = 0; at < 32 + THREAD_WORDS - 1; ++at) near[at] = words[THREAD_WORDS * lane + 32 * k + at];
#pragma unroll
      for (int term = 0; term < 32; ++term) {
        const u32 mask = 0u - (chosen >> term & 1);
#pragma unroll
        for (int one = 0; one < THREAD_WORDS; ++one) sums[one] ^= near[term + one] & mask;
      }
    }
  }
  __syncwarp();
  for (int one = 0; one < THREAD_WORDS; ++one) words[THREAD_WORDS * lane + one] = sums[one];
  __syncwarp();
  for (int k = lane; k < LENGTH; k += 32) atomicXor(window + k, words[k]);
}

// The uniform number in [0, 1) of two words: 53 bits.
__device__ __forceinline__ f64 unit(u32 first, u32 second) {
  return f64(i64(u64(first >> 5) << 26 | second >> 6)) * (1.0 / 9007199254740992.0);
}

// The position of a stream after `count` words from a state on: the block, counted from that of the state, and the
// place in the block.
struct Position {
  i64 block;
  u32 place;
  __device__ Position(const u32* state, i64 count) {
    const i64 upto = i64(state[POSITION]) + count;
    block = count ? (upto - 1) / LENGTH : 0;
    place = u32(upto - block * LENGTH);
  }
};

// Make the words of a run, and the state after the last word if that is in this run: one block.
__device__ __forceinline__ void make_run(
    u32* words, u32* after, const u32* state, const u32* windows, i64 count, i64 length) {
  __shared__ u32 both[TWO_BLOCKS];
  const i64 run = blockIdx.x, place = state[POSITION];
  const Position end(state, count);
  for (int k = threadIdx.x; k < LENGTH; k += blockDim.x) both[k] = windows[run * LENGTH + k];
  if (run == 0) {
    for (i64 k = threadIdx.x; k < STATE_WORDS; k += blockDim.x) {
      if (k < LENGTH) {
        if (k >= place && k - place < count) words[k - place] = tempered(state[k]);
        if (end.block == 0) after[k] = state[k];
      } else {
        after[k] = k == POSITION ? end.place : state[k];
      }
    }
  }
  const i64 earlier = run * length, left = end.block - earlier;  // blocks of earlier runs, and of this and later ones
  if (left <= 0) return;
  // The words from `last` on, if this run has the last block, make the state after.
  const int blocks = int(left < length ? left : length);
  const int last = left <= length ? (blocks - 1) * LENGTH : blocks * LENGTH;
  const i64 from = LENGTH * (1 + earlier) - place;
  const int run_words = int(count - from < blocks * LENGTH ? count - from : blocks * LENGTH);
  u32 *to = words + from, *state_after = after - last;
  follow(both, blocks, [=](int k, u32 word) {
    if (k < run_words) to[k] = tempered(word);
    if (k >= last) state_after[k] = word;
  });
}

// `count` words of a stream, with the states before and after them.
struct DrawnWords {
  const u32 *words, *before, *after;
  i64 count;
  // Write the state after the first `taken` of the words, with the normal number that was left over before: one block.
  __device__ void write_state(u32* state, i64 taken) const {
    const Position end(before, taken);
    const bool first = end.block == 0, last = end.block == Position(before, count).block;
    const i64 from = end.block * LENGTH - i64(before[POSITION]);
    for (int k = threadIdx.x; k < LENGTH; k += blockDim.x)
      state[k] = first ? before[k] : last ? after[k] : untempered(words[from + k]);
    for (int k = POSITION + int(threadIdx.x); k < STATE_WORDS; k += blockDim.x)
      state[k] = k == POSITION ? end.place : before[k];
  }
  // Write into a state that the second normal number of the pair that begins at a word is left over; that none is, if
  // the word is -1.
  __device__ void leave_normal(u32* state, i64 from) const {
    __syncthreads();
    if (threadIdx.x != 0) return;
    u32 pair[4] = {};
    u64 left = 0;
    if (from >= 0) {
      for (int k = 0; k < 4; ++k) pair[k] = words[from + k];
      left = op::bit_cast<u64>(NormalPair(unit(pair[0], pair[1]), unit(pair[2], pair[3])).second);
    }
    state[HAS_NORMAL] = state[KNOWS_NORMAL_WORDS] = from >= 0;
    state[NORMAL] = u32(left);
    state[NORMAL + 1] = u32(left >> 32);
    for (int k = 0; k < 4; ++k) state[NORMAL_WORDS + k] = pair[k];
  }
};

// The words after a state, in sequence: one thread.
struct SerialWords {
  u32* state;
  __device__ u32 next() {
    if (state[POSITION] == LENGTH) {
      for (int k = 0; k < LENGTH; ++k)
        state[k] = next_word(state[k], state[(k + 1) % LENGTH], state[(k + AHEAD) % LENGTH]);
      state[POSITION] = 0;
    }
    return tempered(state[state[POSITION]++]);
  }
};
