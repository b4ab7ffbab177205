// Rows that a block sorts by itself. `Out` is the type written: of elements, or with POSITIONS of their positions.

// Write element `from` of a row, or its position, to place `at` of the result.

__device__ __forceinline__ void write(Out* out, const Raw* x, long long row, long long n, u32 at, u32 from) {
  out[row * n + at] = POSITIONS ? Out(from) : Out(x[row * n + from]);
}

#if LANES
const int GROUP = LANES < 32 ? LANES : 32, PACK = GROUP * sizeof(Key) < 16 ? GROUP : 16 / sizeof(Key);
struct alignas(PACK * sizeof(Key)) Pack {
  Key keys[PACK];
};

// How many keys of a group are smaller than `key`, or with EQUAL, smaller or equal.
template <bool EQUAL>
__device__ __forceinline__ u32 count_smaller(const Pack* group, Key key) {
  u32 count = 0;
#pragma unroll
  for (int p = 0; p < GROUP / PACK; ++p) {
    const Pack pack = group[p];
#pragma unroll
    for (int k = 0; k < PACK; ++k)
      if (EQUAL ? pack.keys[k] <= key : pack.keys[k] < key) ++count;
  }
  return count;
}

// Sort rows of up to LANES elements, a thread to each. The place of an element is the number of smaller elements and of
// equal ones before it.
extern "C" __global__ void __launch_bounds__(THREADS)
sort_tiny(Out* __restrict__ out, const Raw* __restrict__ x, long long rows, long long n, long long begin) {
  __shared__ Pack packs[THREADS / PACK];
  const int element = threadIdx.x % LANES, lane = threadIdx.x % 32;
  const long long row = (long long)blockIdx.x * (THREADS / LANES) + threadIdx.x / LANES;
  const bool in_row = row < rows && element < n;
  x += begin;
  const Key key = in_row ? key_of(x[row * n + element]) : LARGEST;
  ((Key*)packs)[threadIdx.x] = key;
  // The equal elements before this one in its own group; those of earlier groups are counted with the smaller ones.
  const u32 before = (1u << lane) - (1u << (lane - element % GROUP));
  u32 place = __popc(__match_any_sync(ALL, key) & before);
  __syncthreads();
  const Pack* group = packs + (threadIdx.x - element) / PACK;
#pragma unroll 1
  for (int first = 0; first < LANES; first += GROUP, group += GROUP / PACK)
    place += first + GROUP <= element ? count_smaller<true>(group, key) : count_smaller<false>(group, key);
  if (in_row) write(out, x, row, n, place, element);
}
#else
// Sort a row of up to THREADS * ITEMS elements by one digit of the keys after the other, the least significant first.
// Missing elements have the largest key, and stay behind all others as equal keys keep their order.
extern "C" __global__ void __launch_bounds__(THREADS)
sort_row(Out* __restrict__ out, const Raw* __restrict__ x, long long rows, long long n, long long begin) {
  x += begin;
  const int SIZE = THREADS * ITEMS, DIGITS_PER_THREAD = THREADS < RADIX ? RADIX / THREADS : 1;
  __shared__ Digits<THREADS> digits;
  __shared__ Key moved[SIZE];
  __shared__ u16 moved_from[SIZE];
  __shared__ u32 sums[THREADS / 32];
  const long long row = blockIdx.x;
  const int thread = threadIdx.x, first = thread / HALF_WARP * HALF_WARP * ITEMS + thread % HALF_WARP;
  const bool counting = thread * DIGITS_PER_THREAD < RADIX;
  Key keys[ITEMS];
  u32 from[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    from[i] = first + i * HALF_WARP;
    keys[i] = from[i] < n ? key_of(x[row * n + from[i]]) : LARGEST;
  }
  for (int pass = 0; pass < PASSES; ++pass) {
    digits.clear();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) digits.count(digit_of(keys[i], pass));
    __syncthreads();
    u32 digit_counts[DIGITS_PER_THREAD], sum = 0;
#pragma unroll
    for (int k = 0; k < DIGITS_PER_THREAD; ++k)
      sum += digit_counts[k] = counting ? digits.count_of(thread * DIGITS_PER_THREAD + k) : 0;
    u32 place = sum_of_threads_before(sum, sums);
#pragma unroll
    for (int k = 0; k < DIGITS_PER_THREAD; ++k) {
      if (counting) digits.start_at(thread * DIGITS_PER_THREAD + k, place);
      place += digit_counts[k];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const u32 to = digits.take_place<false>(digit_of(keys[i], pass));
      moved[to] = keys[i];
      moved_from[to] = from[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      keys[i] = moved[first + i * HALF_WARP];
      from[i] = moved_from[first + i * HALF_WARP];
    }
  }
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    if (first + i * HALF_WARP < n) write(out, x, row, n, first + i * HALF_WARP, from[i]);
}
#endif
