// Shared by all sorts: keys as unsigned integers in NumPy's order, and stable counting by a digit of the keys.
//
// The text before this file defines `Raw`, the unsigned integer of an element's size; KIND, 0 for unsigned numbers and
// bools, 1 for signed integers, 2 for floats; for floats INFINITE, the bits of infinity; and DESCENDING.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

template <bool wide> struct Word { typedef u32 type; };
template <> struct Word<true> { typedef u64 type; };
typedef Word<(sizeof(Raw) > 4)>::type Key;

const int BITS = 8 * sizeof(Raw), PASSES = sizeof(Raw), RADIX = 256;
const Key LARGEST = ~Key(0) >> (8 * sizeof(Key) - BITS), SIGN = LARGEST / 2 + 1;
const u32 ALL = 0xffffffffu;

// The key of an element: keys order as the elements shall. Zeros are equal, and so are NaNs, whose key is the largest
// in either order.
__device__ __forceinline__ Key key_of(Raw raw) {
  Key key = raw;
  if (KIND == 1) key ^= SIGN;
  if (KIND == 2) {
    // The first infinity becomes 0, the last 2 * INFINITE; NaNs come above, those before the first by wrapping around.
    const Key negative = Key(0) - ((key >> (BITS - 1)) ^ Key(DESCENDING));
    key = ((key & (SIGN - 1)) ^ negative) - negative + INFINITE;
    return key < 2 * Key(INFINITE) + 1 ? key : 2 * Key(INFINITE) + 1;
  }
  return DESCENDING ? key ^ LARGEST : key;
}

// The 8 bits of a key that a pass sorts by.
__device__ __forceinline__ u32 digit_of(Key key, int pass) {
  if constexpr (sizeof(Key) == 4) return __byte_perm(key, 0, 0x4440 + pass);
  else return __byte_perm(pass < 4 ? u32(key) : u32(key >> 32), 0, 0x4440 + (pass & 3));
}

// Make the compiler keep a value in its registers and compute again what derives from it: else it keeps that as well.
template <class T>
__device__ __forceinline__ void keep_in_register(T& value) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 8) asm volatile("" : "+l"(value));
  if constexpr (sizeof(T) == 4) asm volatile("" : "+r"(value));
  if constexpr (sizeof(T) == 2) asm volatile("" : "+h"(value));
#endif
}
// Make the compiler keep an address in global memory in a register, instead of the terms that it is the sum of.
template <class T>
__device__ __forceinline__ void keep_in_register(T*& address) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+l"(address));
  __builtin_assume(__isGlobal(address));
#endif
}

// For each half warp and digit a word with the next place for an element with the digit, and in the upper 16 bits a
// mask of the lanes that have the digit. To find equal digits by such masks is faster than by votes for every bit or by
// __match_any_sync. But lanes with the same digit wait for each other at its mask, and the time of __match_any_sync grows
// with the number of different digits: where neighbours often have the same digit, as in sorted data, __match_any_sync
// is faster.
const int HALF_WARP = 16;

template <int THREADS>
struct Digits {
  u32 words[THREADS / HALF_WARP][RADIX];

  __device__ __forceinline__ void clear() {
    const int warp = threadIdx.x / 32;
#pragma unroll
    for (int i = threadIdx.x % 32; i < 2 * RADIX; i += 32) words[2 * warp + i / RADIX][i % RADIX] = 0;
    __syncwarp();
  }
  // Count an element with the digit.
  __device__ __forceinline__ void count(u32 digit) { atomicAdd(&words[threadIdx.x / HALF_WARP][digit], 1u); }

  // How many elements of the block have the digit, when all are counted.
  __device__ __forceinline__ u32 count_of(int digit) const {
    u32 sum = 0;
#pragma unroll
    for (int half = 0; half < THREADS / HALF_WARP; ++half) sum += words[half][digit];
    return sum;
  }
  // Turn the counts of the digit into places, of which the first is `place`.
  __device__ __forceinline__ void start_at(int digit, u32 place) {
#pragma unroll
    for (int half = 0; half < THREADS / HALF_WARP; ++half) {
      const u32 count = words[half][digit];
      words[half][digit] = place;
      place += count;
    }
  }
  // Take the next place for an element with the digit, in the order of lanes. ALIKE: find the lanes with equal digits
  // by __match_any_sync.
  template <bool ALIKE>
  __device__ __forceinline__ u32 take_place(u32 digit) {
    const int lane = threadIdx.x % HALF_WARP;
    u32& word = words[threadIdx.x / HALF_WARP][digit];
    if (!ALIKE) atomicOr(&word, 1u << (HALF_WARP + lane));
    __syncwarp();
    const u32 state = word;
    const u32 peers =
        ALIKE ? __match_any_sync(ALL, digit) >> threadIdx.x % 32 / HALF_WARP * HALF_WARP : state >> HALF_WARP;
    const u32 place = (state & 0xffff) + __popc(peers & ((1u << lane) - 1));
    __syncwarp();
    if ((peers & 0xffff) >> lane == 1) word = place + 1;
    __syncwarp();
    return place;
  }
};

// Returns true if more than 8 lanes of the warp have the digit of their neighbour.
__device__ __forceinline__ bool often_alike(u32 digit) {
  return __popc(__ballot_sync(ALL, digit == __shfl_up_sync(ALL, digit, 1))) > 8;
}

// The sum over the lanes of the warp up to this one, inclusive.
template <class T>
__device__ __forceinline__ T lane_prefix_sum(T value) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const T before = __shfl_up_sync(ALL, value, step);
    if (lane >= step) value += before;
  }
  return value;
}

// The sum over the threads of the block before this one. `sums` is shared memory for a value of each warp.
template <class T>
__device__ __forceinline__ T sum_of_threads_before(T value, T* sums) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const T sum = lane_prefix_sum(value);
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  T before = sum - value;
  for (int w = 0; w < warp; ++w) before += sums[w];
  return before;
}
