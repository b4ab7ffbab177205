// Rows that a block sorts by itself. `Out` is what is written: elements, or with POSITIONS their positions.

__device__ __forceinline__ void put(Out* out, const Raw* x, long long row, long long n, u32 at, u32 from) {
  out[row * n + at] = POSITIONS ? Out(from) : Out(x[row * n + from]);
}

#if LANES
const int GROUP = LANES < 32 ? LANES : 32, PACK = GROUP * sizeof(Key) < 16 ? GROUP : 16 / sizeof(Key);
struct alignas(PACK * sizeof(Key)) Pack {
  Key keys[PACK];
};

// How many keys of a group are smaller than one, or EQUAL.
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

// Rows of LANES elements at most, a thread each: an element goes after those that are smaller, and equal ones before it.
extern "C" __global__ void __launch_bounds__(THREADS)
sort_tiny(Out* __restrict__ out, const Raw* __restrict__ x, long long rows, long long n, long long begin) {
  __shared__ Pack packs[THREADS / PACK];
  const int me = threadIdx.x % LANES, lane = threadIdx.x % 32;
  const long long row = (long long)blockIdx.x * (THREADS / LANES) + threadIdx.x / LANES;
  const bool here = row < rows && me < n;
  x += begin;
  const Key key = here ? key_of(x[row * n + me]) : LARGEST;
  ((Key*)packs)[threadIdx.x] = key;
  // Equal ones before it in its own group; further ones are counted with those that are smaller.
  const u32 before = (1u << lane) - (1u << (lane - me % GROUP));
  u32 place = __popc(__match_any_sync(ALL, key) & before);
  __syncthreads();
  const Pack* group = packs + (threadIdx.x - me) / PACK;
#pragma unroll 1
  for (int first = 0; first < LANES; first += GROUP, group += GROUP / PACK)
    place += first + GROUP <= me ? count_smaller<true>(group, key) : count_smaller<false>(group, key);
  if (here) put(out, x, row, n, place, me);
}
#else
// A row of THREADS * ITEMS elements at most: by one digit of the keys after the other, from the least significant.
// What is missing has the largest key, and stays behind all elements because equal keys keep their order.
extern "C" __global__ void __launch_bounds__(THREADS)
sort_row(Out* __restrict__ out, const Raw* __restrict__ x, long long rows, long long n, long long begin) {
  x += begin;
  const int SIZE = THREADS * ITEMS, EACH = THREADS < RADIX ? RADIX / THREADS : 1;
  __shared__ Digits<THREADS> digits;
  __shared__ Key moved[SIZE];
  __shared__ u16 moved_from[SIZE];
  __shared__ u32 sums[THREADS / 32];
  const long long row = blockIdx.x;
  const int me = threadIdx.x, first = me / HALF * HALF * ITEMS + me % HALF;
  const bool counting = me * EACH < RADIX;
  Key keys[ITEMS];
  u32 from[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    from[i] = first + i * HALF;
    keys[i] = from[i] < n ? key_of(x[row * n + from[i]]) : LARGEST;
  }
  for (int pass = 0; pass < PASSES; ++pass) {
    digits.clear();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) digits.count(digit_of(keys[i], pass));
    __syncthreads();
    u32 mine[EACH], sum = 0;
#pragma unroll
    for (int e = 0; e < EACH; ++e) sum += mine[e] = counting ? digits.all(me * EACH + e) : 0;
    u32 place = sum_before(sum, sums);
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
      if (counting) digits.begin(me * EACH + e, place);
      place += mine[e];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      const u32 to = digits.take<false>(digit_of(keys[i], pass));
      moved[to] = keys[i];
      moved_from[to] = from[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      keys[i] = moved[first + i * HALF];
      from[i] = moved_from[first + i * HALF];
    }
  }
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    if (first + i * HALF < n) put(out, x, row, n, first + i * HALF, from[i]);
}
#endif
