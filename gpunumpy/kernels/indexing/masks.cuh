// The elements that a mask selects. A block has a tile of TILE elements, a warp an equal part of it, 32 at a time.

const int WARPS = 8, TURNS = TILE / WARPS / 32;

// Write to out[t + 1] how many elements tile t selects, and 0 to out[0].
extern "C" __global__ void mask_count(long long* out, const unsigned char* mask, long long n, long long tiles) {
  await_kernels_before();
  __shared__ int counts[WARPS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long first = (long long)blockIdx.x * TILE + warp * (TILE / WARPS) + lane;
  int count = 0;
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
    const long long i = first + k * 32;
    count += __popc(__ballot_sync(0xffffffffu, i < n && mask[i]));
  }
  if (lane == 0) counts[warp] = count;
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (int w = 0; w < WARPS; ++w) total += counts[w];
    if (blockIdx.x < tiles) out[blockIdx.x + 1] = total;
    if (blockIdx.x == 0) out[0] = 0;
  }
}

// Replace out[t] by the sum of out[1], ..., out[t], by one block.
extern "C" __global__ void mask_sum(long long* out, const unsigned char* mask, long long n, long long tiles) {
  await_kernels_before();
  __shared__ long long sums[1024];
  const int thread = threadIdx.x;
  const long long share = (tiles + 1023) / 1024, begin = 1 + thread * share;
  const long long end = begin + share < tiles + 1 ? begin + share : tiles + 1;
  long long sum = 0;
  for (long long t = begin; t < end; ++t) sum += out[t];
  sums[thread] = sum;
  __syncthreads();
  for (int step = 1; step < 1024; step *= 2) {
    const long long before = thread >= step ? sums[thread - step] : 0;
    __syncthreads();
    sums[thread] += before;
    __syncthreads();
  }
  sum = sums[thread] - sum;
  for (long long t = begin; t < end; ++t) out[t] = sum += out[t];
}

// Call write(place, i) for every selected element i of the block's tile, `place` counted over all tiles. `offsets` are
// counts of the tiles behind a 0, or if they are summed, of what comes before each tile.
template <class Write>
__device__ __forceinline__ void for_each_selected(
    const unsigned char* mask, const long long* offsets, long long n, bool is_summed, Write write) {
  __shared__ int counts[WARPS];
  __shared__ long long sums[WARPS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long first = (long long)blockIdx.x * TILE + warp * (TILE / WARPS) + lane;
  unsigned selected[TURNS];
  int count = 0;
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
    const long long i = first + k * 32;
    selected[k] = __ballot_sync(0xffffffffu, i < n && mask[i]);
    count += __popc(selected[k]);
  }
  long long sum = 0;  // of this thread's share of the counts before the tile
  if (!is_summed) {
    for (unsigned t = threadIdx.x; t < blockIdx.x; t += WARPS * 32) sum += offsets[t + 1];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  }
  if (lane == 0) {
    counts[warp] = count;
    sums[warp] = sum;
  }
  __syncthreads();
  long long place = is_summed ? offsets[blockIdx.x] : 0;
  for (int w = 0; w < WARPS; ++w) place += sums[w];
  for (int w = 0; w < warp; ++w) place += counts[w];
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
    if (selected[k] >> lane & 1) write(place + __popc(selected[k] & ((1u << lane) - 1)), first + k * 32);
    place += __popc(selected[k]);
  }
}

extern "C" __global__ void mask_positions(
    long long* out, const unsigned char* mask, const long long* offsets, long long n, long long is_summed) {
  await_kernels_before();
  for_each_selected(mask, offsets, n, is_summed, [=](long long place, long long i) { out[place] = i; });
}
