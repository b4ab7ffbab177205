// What all sorts share: keys as unsigned integers in NumPy's order, and stable counting by a digit of them.
//
// The text before this says what is sorted: `Raw`, the unsigned integer of an element's size; KIND, 0 for unsigned
// numbers and bools, 1 for signed ones, 2 for floats; for floats INFINITE, the bits of infinity; and DESCENDING.

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

// The element as a number whose order is the one wanted: zeros are equal, and so are NaNs, which are the largest.
__device__ __forceinline__ Key key_of(Raw raw) {
  Key key = raw;
  if (KIND == 1) key ^= SIGN;
  if (KIND == 2) {
    // -infinity becomes 0, infinity 2 * INFINITE; NaNs come above, negative ones because they wrap around.
    const Key negative = Key(0) - (key >> (BITS - 1));
    key = ((key & (SIGN - 1)) ^ negative) - negative + INFINITE;
    key = key < 2 * Key(INFINITE) + 1 ? key : 2 * Key(INFINITE) + 1;
  }
  return DESCENDING ? key ^ LARGEST : key;
}

__device__ __forceinline__ u32 digit_of(Key key, int pass) {
  if constexpr (sizeof(Key) == 4) return __byte_perm(key, 0, 0x4440 + pass);
  else return __byte_perm(pass < 4 ? u32(key) : u32(key >> 32), 0, 0x4440 + (pass & 3));
}

// Keep a value in its registers, while what was made of it is made again: the compiler would keep that too.
template <class T>
__device__ __forceinline__ void hold(T& value) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 8) asm volatile("" : "+l"(value));
  if constexpr (sizeof(T) == 4) asm volatile("" : "+r"(value));
  if constexpr (sizeof(T) == 2) asm volatile("" : "+h"(value));
#endif
}
// Take an address in global memory as one number, not as the sum that it is.
template <class T>
__device__ __forceinline__ void hold(T*& address) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+l"(address));
  __builtin_assume(__isGlobal(address));
#endif
}

// What half a warp knows of the digits of its elements, in a word for each: the next place, and above it the lanes that
// have it. To look for lanes by such masks is faster than by votes for every bit (1.3 to 1.7 ms for 2^26 random floats on
// an H200) or by __match_any_sync (2.0 ms). But lanes with one digit wait for each other at its mask, and
// __match_any_sync takes a time that grows with the digits that differ: where the digits of neighbours are often the
// same, as in data that is sorted, it finds them sooner.
const int HALF = 16;

template <int THREADS>
struct Digits {
  u32 words[THREADS / HALF][RADIX];

  __device__ __forceinline__ void clear() {
    const int warp = threadIdx.x / 32;
#pragma unroll
    for (int i = threadIdx.x % 32; i < 2 * RADIX; i += 32) words[2 * warp + i / RADIX][i % RADIX] = 0;
    __syncwarp();
  }
  __device__ __forceinline__ void count(u32 digit) { atomicAdd(&words[threadIdx.x / HALF][digit], 1u); }

  // How many elements of the block have the digit, when all are counted.
  __device__ __forceinline__ u32 all(int digit) const {
    u32 sum = 0;
#pragma unroll
    for (int half = 0; half < THREADS / HALF; ++half) sum += words[half][digit];
    return sum;
  }
  // Turn the counts of the digit into places, the first of them `place`.
  __device__ __forceinline__ void begin(int digit, u32 place) {
#pragma unroll
    for (int half = 0; half < THREADS / HALF; ++half) {
      const u32 count = words[half][digit];
      words[half][digit] = place;
      place += count;
    }
  }
  // The next place for an element with the digit; places are taken in the order of lanes.
  template <bool ALIKE>
  __device__ __forceinline__ u32 take(u32 digit) {
    const int lane = threadIdx.x % HALF;
    u32& word = words[threadIdx.x / HALF][digit];
    if (!ALIKE) atomicOr(&word, 1u << (HALF + lane));
    __syncwarp();
    const u32 found = word, peers = ALIKE ? __match_any_sync(ALL, digit) >> threadIdx.x % 32 / HALF * HALF : found >> HALF;
    const u32 place = (found & 0xffff) + __popc(peers & ((1u << lane) - 1));
    __syncwarp();
    if ((peers & 0xffff) >> lane == 1) word = place + 1;
    __syncwarp();
    return place;
  }
};

// Whether a digit that every lane has is often that of its neighbour, too.
__device__ __forceinline__ bool are_alike(u32 digit) {
  return __popc(__ballot_sync(ALL, digit == __shfl_up_sync(ALL, digit, 1))) > 8;
}

// The sum over the warp's lanes up to this one.
template <class T>
__device__ __forceinline__ T sum_lanes(T value) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const T before = __shfl_up_sync(ALL, value, step);
    if (lane >= step) value += before;
  }
  return value;
}

// The sum over the block's threads before this one. `sums` is shared, with room for a value a warp.
template <class T>
__device__ __forceinline__ T sum_before(T value, T* sums) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const T sum = sum_lanes(value);
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  T before = sum - value;
  for (int w = 0; w < warp; ++w) before += sums[w];
  return before;
}
