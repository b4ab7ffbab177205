// How many elements are in each bin, or the sums of their weights. `load(i)` is element i, `bin(element)` its bin, or -1
// if it is in none; elements are loaded several at a time, before any of them is counted.

const int AT_ONCE = 8, BLOCK = 256, WARPS_A_BLOCK = BLOCK / 32;
const long long STRETCH = BLOCK * AT_ONCE;

template <class Load, class Bin, class Count>
__device__ __forceinline__ void each_bin(long long n, Load load, Bin bin, Count count) {
  for (long long first = blockIdx.x * STRETCH; first < n; first += gridDim.x * STRETCH) {
    decltype(load(first)) held[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) {
      const long long i = first + k * BLOCK + threadIdx.x;
      if (i < n) held[k] = load(i);
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) {
      if (first + k * BLOCK + threadIdx.x < n) {
        const long long b = bin(held[k]);
        if (b >= 0) count(b);
      }
    }
  }
}

// In shared memory first. A bin has several counters, next to each other, that the threads of a warp take turns in.
// Where there are several blocks, `out` is zero on entry.
template <class Load, class Bin>
__device__ __forceinline__ void count_in_blocks(
    long long* out, unsigned* counts, long long n, int bins, int copies, Load load, Bin bin) {
  for (int k = threadIdx.x; k < bins * copies; k += BLOCK) counts[k] = 0;
  __syncthreads();
  unsigned* mine = counts + threadIdx.x % copies;
  each_bin(n, load, bin, [=](long long b) { atomicAdd(mine + b * copies, 1u); });
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += BLOCK) {
    unsigned sum = 0;
    for (int k = 0; k < copies; ++k) sum += counts[b * copies + (threadIdx.x + k) % copies];
    if (gridDim.x == 1) out[b] = sum;
    else if (sum) atomicAdd((unsigned long long*)out + b, (unsigned long long)sum);
  }
}

template <class Load, class Bin>
__device__ __forceinline__ void count_in_memory(long long* out, long long n, Load load, Bin bin) {
  each_bin(n, load, bin, [=](long long b) { atomicAdd((unsigned long long*)out + b, 1ull); });
}

// The sum over the threads of a warp, in a fixed order.
__device__ __forceinline__ f64 warp_sum(f64 sum) {
#pragma unroll
  for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  return sum;
}

// The weights of each bin in a block's part of the elements. Every warp has sums of its own, to which it adds in a fixed
// order: the first of the threads that have the same bin adds the weights of all of them.
template <class Load, class Bin, class Weight>
__device__ __forceinline__ void sum_in_warps(
    f64* partial, f64* sums, long long n, int bins, Load load, Bin bin, Weight weight) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  f64* mine = sums + warp * bins;
  for (int b = lane; b < bins; b += 32) mine[b] = 0;
  __syncwarp();
  for (long long first = (long long)blockIdx.x * BLOCK + warp * 32; first < n; first += (long long)gridDim.x * BLOCK) {
    const long long i = first + lane;
    const bool active = i < n;
    const int b = active ? int(bin(load(i))) : -1;
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
  for (int b = threadIdx.x; b < bins; b += BLOCK) {
    f64 sum = 0;
    for (int w = 0; w < WARPS_A_BLOCK; ++w) sum += sums[w * bins + b];
    partial[(long long)blockIdx.x * bins + b] = sum;
  }
}

// The sums of the partial ones, a warp a bin.
__device__ __forceinline__ void sum_partial(f64* out, const f64* partial, long long blocks, long long bins) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (long long b = (long long)blockIdx.x * WARPS_A_BLOCK + warp; b < bins; b += (long long)gridDim.x * WARPS_A_BLOCK) {
    f64 sum = 0;
    for (long long k = lane; k < blocks; k += 32) sum += partial[k * bins + b];
    sum = warp_sum(sum);
    if (lane == 0) out[b] = sum;
  }
}

// What follows takes elements sorted by bin; `weight(s)` is the weight of the one at place s.

const long long RUN = 1024;

// The sums of runs of the sorted elements, a warp a run.
template <class Weight>
__device__ __forceinline__ void sum_runs(f64* runs, long long count, Weight weight) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (long long r = (long long)blockIdx.x * WARPS_A_BLOCK + warp; r < count; r += (long long)gridDim.x * WARPS_A_BLOCK) {
    f64 sum = 0;
#pragma unroll 4
    for (long long s = r * RUN + lane; s < (r + 1) * RUN; s += 32) sum += weight(s);
    sum = warp_sum(sum);
    if (lane == 0) runs[r] = sum;
  }
}

// The sums of the bins, a warp a bin: of the runs that lie in the bin as a whole, and of the elements at its ends.
template <class Key, class Weight>
__device__ __forceinline__ void sum_bins(
    f64* out, const Key* keys, const f64* runs, long long n, long long bins, Weight weight) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (long long b = (long long)blockIdx.x * WARPS_A_BLOCK + warp; b < bins; b += (long long)gridDim.x * WARPS_A_BLOCK) {
    const long long start = passed<false>(keys, n, Key(b)), end = passed<true>(keys, n, Key(b));
    const long long first = (start + RUN - 1) / RUN, last = end / RUN;
    const bool runs_inside = first < last;
    const long long head = runs_inside ? first * RUN : end, tail = runs_inside ? last * RUN : end;
    f64 sum = 0;
    for (long long s = start + lane; s < head; s += 32) sum += weight(s);
    if (runs_inside)
      for (long long r = first + lane; r < last; r += 32) sum += runs[r];
    for (long long s = tail + lane; s < end; s += 32) sum += weight(s);
    sum = warp_sum(sum);
    if (lane == 0) out[b] = sum;
  }
}
