// Counts of elements by bin, or sums of their weights. `load(i)` is element i, `bin_of(element)` its bin, or -1 if it
// is in none. A thread loads several elements before it counts any of them.

const int LOADS_AT_ONCE = 8, BLOCK_THREADS = 256, BLOCK_WARPS = BLOCK_THREADS / 32;
const long long BLOCK_ELEMENTS = BLOCK_THREADS * LOADS_AT_ONCE;

// Call `count(bin)` for every element that is in a bin.
template <class Load, class Bin, class Count>
__device__ __forceinline__ void for_each_bin(long long n, Load load, Bin bin_of, Count count) {
  for (long long first = blockIdx.x * BLOCK_ELEMENTS; first < n; first += gridDim.x * BLOCK_ELEMENTS) {
    decltype(load(first)) elements[LOADS_AT_ONCE];
#pragma unroll
    for (int k = 0; k < LOADS_AT_ONCE; ++k) {
      const long long i = first + k * BLOCK_THREADS + threadIdx.x;
      if (i < n) elements[k] = load(i);
    }
#pragma unroll
    for (int k = 0; k < LOADS_AT_ONCE; ++k) {
      if (first + k * BLOCK_THREADS + threadIdx.x < n) {
        const long long b = bin_of(elements[k]);
        if (b >= 0) count(b);
      }
    }
  }
}

// Count in shared memory, and add the counts to `out`. A bin has several adjacent counters, and neighbouring threads
// use different ones. With several blocks `out` must be zero on entry.
template <class Load, class Bin>
__device__ __forceinline__ void count_in_blocks(
    long long* out, unsigned* counts, long long n, int bins, int copies, Load load, Bin bin_of) {
  for (int k = threadIdx.x; k < bins * copies; k += BLOCK_THREADS) counts[k] = 0;
  __syncthreads();
  unsigned* mine = counts + threadIdx.x % copies;
  for_each_bin(n, load, bin_of, [=](long long b) { atomicAdd(mine + b * copies, 1u); });
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += BLOCK_THREADS) {
    unsigned sum = 0;
    for (int k = 0; k < copies; ++k) sum += counts[b * copies + (threadIdx.x + k) % copies];
    if (gridDim.x == 1) out[b] = sum;
    else if (sum) atomicAdd((unsigned long long*)out + b, (unsigned long long)sum);
  }
}

// Count in global memory; `out` must be zero on entry.
template <class Load, class Bin>
__device__ __forceinline__ void count_in_memory(long long* out, long long n, Load load, Bin bin_of) {
  for_each_bin(n, load, bin_of, [=](long long b) { atomicAdd((unsigned long long*)out + b, 1ull); });
}

// The sum over the threads of a warp, in a fixed order.
__device__ __forceinline__ f64 warp_sum(f64 sum) {
#pragma unroll
  for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  return sum;
}

// Sum the weights of each bin over a block's share of the elements. Every warp has its own sums, to which it adds in a
// fixed order: of the threads with the same bin the first adds the weights of all.
template <class Load, class Bin, class Weight>
__device__ __forceinline__ void sum_in_warps(
    f64* partial, f64* sums, long long n, int bins, Load load, Bin bin_of, Weight weight) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  f64* mine = sums + warp * bins;
  for (int b = lane; b < bins; b += 32) mine[b] = 0;
  __syncwarp();
  const long long begin = (long long)blockIdx.x * BLOCK_THREADS + warp * 32;
  for (long long first = begin; first < n; first += (long long)gridDim.x * BLOCK_THREADS) {
    const long long i = first + lane;
    const bool active = i < n;
    const int b = active ? int(bin_of(load(i))) : -1;
    const f64 own = active ? weight(i) : 0;
    unsigned rest = __match_any_sync(0xffffffffu, b);
    const bool leads = b >= 0 && (rest & ((1u << lane) - 1)) == 0;
    f64 sum = 0;
    while (__any_sync(0xffffffffu, rest != 0)) {
      const f64 other = __shfl_sync(0xffffffffu, own, rest ? __ffs(rest) - 1 : lane);
      if (rest) sum += other;
      rest &= rest - 1;
    }
    if (leads) mine[b] += sum;
    __syncwarp();
  }
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += BLOCK_THREADS) {
    f64 sum = 0;
    for (int w = 0; w < BLOCK_WARPS; ++w) sum += sums[w * bins + b];
    partial[(long long)blockIdx.x * bins + b] = sum;
  }
}

// Sum the partial sums of the blocks, a warp to each bin.
__device__ __forceinline__ void sum_partial(f64* out, const f64* partial, long long blocks, long long bins) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (long long b = (long long)blockIdx.x * BLOCK_WARPS + warp; b < bins; b += (long long)gridDim.x * BLOCK_WARPS) {
    f64 sum = 0;
    for (long long k = lane; k < blocks; k += 32) sum += partial[k * bins + b];
    sum = warp_sum(sum);
    if (lane == 0) out[b] = sum;
  }
}

// The functions below take elements sorted by bin; `weight(s)` is the weight of the element at place s.

const long long RUN_ELEMENTS = 1024;

// Sum runs of RUN_ELEMENTS sorted elements, a warp to each run.
template <class Weight>
__device__ __forceinline__ void sum_runs(f64* runs, long long count, Weight weight) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (long long r = (long long)blockIdx.x * BLOCK_WARPS + warp; r < count; r += (long long)gridDim.x * BLOCK_WARPS) {
    f64 sum = 0;
#pragma unroll 4
    for (long long s = r * RUN_ELEMENTS + lane; s < (r + 1) * RUN_ELEMENTS; s += 32) sum += weight(s);
    sum = warp_sum(sum);
    if (lane == 0) runs[r] = sum;
  }
}

// Sum the bins, a warp to each bin, from the runs that lie entirely in the bin and the elements at its ends.
template <class Key, class Weight>
__device__ __forceinline__ void sum_bins(
    f64* out, const Key* keys, const f64* runs, long long n, long long bins, Weight weight) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (long long b = (long long)blockIdx.x * BLOCK_WARPS + warp; b < bins; b += (long long)gridDim.x * BLOCK_WARPS) {
    const long long start = count_passed<false>(keys, n, Key(b)), end = count_passed<true>(keys, n, Key(b));
    const long long first = (start + RUN_ELEMENTS - 1) / RUN_ELEMENTS, last = end / RUN_ELEMENTS;
    const bool runs_inside = first < last;
    const long long head = runs_inside ? first * RUN_ELEMENTS : end, tail = runs_inside ? last * RUN_ELEMENTS : end;
    f64 sum = 0;
    for (long long s = start + lane; s < head; s += 32) sum += weight(s);
    if (runs_inside)
      for (long long r = first + lane; r < last; r += 32) sum += runs[r];
    for (long long s = tail + lane; s < end; s += 32) sum += weight(s);
    sum = warp_sum(sum);
    if (lane == 0) out[b] = sum;
  }
}
