// Rows that a block sorts by itself. `Out` is what is written: elements, or with POSITIONS their positions.

__device__ __forceinline__ void put(Out* out, const Raw* x, long long row, long long n, u32 at, u32 from) {
  out[row * n + at] = POSITIONS ? Out(from) : Out(x[row * n + from]);
}

#if LANES
// Rows of LANES elements at most, a lane each: an element goes after those that are smaller, and equal ones before it.
extern "C" __global__ void __launch_bounds__(THREADS)
sort_tiny(Out* __restrict__ out, const Raw* __restrict__ x, long long rows, long long n, long long begin) {
  x += begin;
  const long long row = ((long long)blockIdx.x * THREADS + threadIdx.x) / LANES;
  const int lane = threadIdx.x % LANES;
  const bool here = row < rows && lane < n;
  const Key key = here ? key_of(x[row * n + lane]) : LARGEST;
  u32 place = 0;
#pragma unroll
  for (int other = 0; other < LANES; ++other) {
    const Key its = __shfl_sync(ALL, key, other, LANES);
    place += other < lane ? its <= key : its < key;
  }
  if (here) put(out, x, row, n, place, lane);
}
#else
// A row of THREADS * ITEMS elements at most: by one digit of the keys after the other, from the least significant.
// What is missing has the largest key, and stays behind all elements because equal keys keep their order.
extern "C" __global__ void __launch_bounds__(THREADS)
sort_row(Out* __restrict__ out, const Raw* __restrict__ x, long long rows, long long n, long long begin) {
  x += begin;
  const int WARPS = THREADS / 32, SIZE = THREADS * ITEMS, EACH = THREADS < RADIX ? RADIX / THREADS : 1;
  __shared__ Digits<WARPS> digits;
  __shared__ Key moved[SIZE];
  __shared__ u16 moved_from[SIZE];
  __shared__ u32 sums[WARPS];
  const long long row = blockIdx.x;
  const int me = threadIdx.x, lane = me % 32, warp = me / 32, first = warp * 32 * ITEMS + lane;
  const bool counting = me * EACH < RADIX;
  Key keys[ITEMS];
  u32 from[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    from[i] = first + i * 32;
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
      const u32 to = digits.take(digit_of(keys[i], pass));
      moved[to] = keys[i];
      moved_from[to] = from[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      keys[i] = moved[first + i * 32];
      from[i] = moved_from[first + i * 32];
    }
  }
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    if (first + i * 32 < n) put(out, x, row, n, first + i * 32, from[i]);
}
#endif
