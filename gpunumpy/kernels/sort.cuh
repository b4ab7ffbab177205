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

// The lanes of the warp in which the bit is as it is in this one.
__device__ __forceinline__ u32 alike(u32 digit, int bit) {
#ifdef __CUDA_ARCH__
  // Two instructions less than the compiler makes of what stands below.
  u32 lanes, others;
  asm volatile(
      "{ .reg .pred set; and.b32 %1, %2, %3; setp.ne.u32 set, %1, 0; vote.sync.ballot.b32 %0, set, 0xffffffff;"
      " selp.b32 %1, 0, 0xffffffff, set; }" : "=r"(lanes), "=&r"(others) : "r"(digit), "r"(1u << bit));
  return lanes ^ others;
#else
  const bool set = digit >> bit & 1;
  return __ballot_sync(ALL, set) ^ (set ? 0 : ALL);
#endif
}

// The lanes of the warp that have the same digit. `masks` is the warp's row of zeros, and is used by one of three ways.
__device__ __forceinline__ u32 peers_of(u32 digit, u32* masks) {
#if PEERS == 0
  u32 peers = ALL;
#pragma unroll
  for (int bit = 0; bit < 8; bit += 2) peers &= alike(digit, bit) & alike(digit, bit + 1);
  return peers;
#elif PEERS == 1
  return __match_any_sync(ALL, digit);
#else
  atomicOr(masks + digit, 1u << threadIdx.x % 32);
  __syncwarp();
  return masks[digit];
#endif
}

// For every warp a row of counts of digits, and for some ways a row of masks.
const int TABLES = PEERS == 2 ? 2 : 1;

// The next place for an element with the digit, of those that the warp's `places` count; in the order of lanes.
template <int WARPS>
__device__ __forceinline__ u32 take_place(u32* places, u32 digit) {
  const int lane = threadIdx.x % 32;
  u32* const masks = places + WARPS * RADIX;
  const u32 peers = peers_of(digit, masks), to = places[digit] + __popc(peers & ((1u << lane) - 1));
  __syncwarp();
  if (peers >> lane == 1) {
    places[digit] = to + 1;
    if (TABLES == 2) masks[digit] = 0;
  }
  __syncwarp();
  return to;
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

// How many elements of the block have `digit`, from the counts of each of its warps.
template <int WARPS>
__device__ __forceinline__ u32 count_digit(const u32 (*counts)[RADIX], int digit) {
  u32 count = 0;
#pragma unroll
  for (int w = 0; w < WARPS; ++w) count += counts[w][digit];
  return count;
}

// Turn the warps' counts of `digit` into the places where their elements begin, the first of them at `place`.
template <int WARPS>
__device__ __forceinline__ void begin_digit(u32 (*counts)[RADIX], int digit, u32 place) {
#pragma unroll
  for (int w = 0; w < WARPS; ++w) {
    const u32 count = counts[w][digit];
    counts[w][digit] = place;
    place += count;
  }
}
