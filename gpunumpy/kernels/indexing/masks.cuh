// The elements that a mask selects. A block has a tile of TILE elements, a warp an equal part of it, 32 at a time.

const int WARPS = 8, TURNS = TILE / WARPS / 32;
const int SHARE = 8;  // tiles whose counts a thread adds up at a time

// Replace the count of tile t in offsets[t + 1] by that of all tiles up to it, and return the sum of all. By one block.
__device__ __forceinline__ long long add_up_counts(long long* offsets, long long tiles) {
  __shared__ long long sums[WARPS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  long long before = 0;  // of the tiles of earlier turns
  for (long long begin = threadIdx.x * SHARE; begin - threadIdx.x * SHARE < tiles; begin += WARPS * 32 * SHARE) {
    long long counts[SHARE], sum = 0;
#pragma unroll
    for (int k = 0; k < SHARE; ++k) sum += counts[k] = begin + k < tiles ? offsets[begin + k + 1] : 0;
    long long place = sum;
    for (int step = 1; step < 32; step *= 2) {
      const long long lower = __shfl_up_sync(0xffffffffu, place, step);
      if (lane >= step) place += lower;
    }
    if (lane == 31) sums[warp] = place;
    __syncthreads();
    place += before - sum;
    for (int w = 0; w < WARPS; ++w) {
      if (w < warp) place += sums[w];
      before += sums[w];
    }
#pragma unroll
    for (int k = 0; k < SHARE; ++k)
      if (begin + k < tiles) offsets[begin + k + 1] = place += counts[k];
    __syncthreads();
  }
  return before;
}

// Write to offsets[t] how many elements the tiles before tile t select, and to *count how many are selected in all, which
// offsets has at its end too. The host reads *count, which may be in its memory.
extern "C" __global__ void mask_offsets(
    long long* offsets, long long* count, const unsigned char* mask, unsigned* finished, long long n, long long tiles) {
  await_kernels_before();
  __shared__ int counts[WARPS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long first = (long long)blockIdx.x * TILE + warp * (TILE / WARPS) + lane;
  int selected = 0;
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
    const long long i = first + k * 32;
    selected += __popc(__ballot_sync(0xffffffffu, i < n && mask[i]));
  }
  if (lane == 0) counts[warp] = selected;
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (int w = 0; w < WARPS; ++w) total += counts[w];
    if (blockIdx.x < tiles) offsets[blockIdx.x + 1] = total;
  }
  if (!last_block(finished, gridDim.x)) return;
  const long long total = add_up_counts(offsets, tiles);
  if (threadIdx.x == 0) {
    offsets[0] = 0;
    *count = total;
  }
}

// Call write(place, i) for every selected element i of the block's tile, `place` counted over all tiles.
template <class Write>
__device__ __forceinline__ void for_each_selected(
    const unsigned char* mask, const long long* offsets, long long n, Write write) {
  __shared__ int counts[WARPS];
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
  if (lane == 0) counts[warp] = count;
  __syncthreads();
  long long place = offsets[blockIdx.x];
  for (int w = 0; w < warp; ++w) place += counts[w];
#pragma unroll
  for (int k = 0; k < TURNS; ++k) {
    if (selected[k] >> lane & 1) write(place + __popc(selected[k] & ((1u << lane) - 1)), first + k * 32);
    place += __popc(selected[k]);
  }
}

extern "C" __global__ void mask_positions(
    long long* out, const unsigned char* mask, const long long* offsets, long long n) {
  await_kernels_before();
  for_each_selected(mask, offsets, n, [=](long long place, long long i) { out[place] = i; });
}
