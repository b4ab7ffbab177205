// What a mask picks. A block takes a tile of TILE elements, a warp an equal part of it, 32 neighbours at a time.

const int WARPS = 8, TURNS = TILE / WARPS / 32;

// out[t + 1]: how many elements tile t picks, and out[0] = 0.
extern "C" __global__ void mask_count(long long* out, const unsigned char* mask, long long n, long long tiles) {
  __shared__ int counts[WARPS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long first = (long long)blockIdx.x * TILE + warp * (TILE / WARPS) + lane;
  int count = 0;
#pragma unroll
  for (int turn = 0; turn < TURNS; ++turn) {
    const long long i = first + turn * 32;
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

// The sums of out[1], ..., out[t] in the place of out[t], by one block.
extern "C" __global__ void mask_sum(long long* out, const unsigned char* mask, long long n, long long tiles) {
  __shared__ long long sums[1024];
  const int me = threadIdx.x;
  const long long share = (tiles + 1023) / 1024, begin = 1 + me * share;
  const long long end = begin + share < tiles + 1 ? begin + share : tiles + 1;
  long long sum = 0;
  for (long long t = begin; t < end; ++t) sum += out[t];
  sums[me] = sum;
  __syncthreads();
  for (int step = 1; step < 1024; step *= 2) {
    const long long before = me >= step ? sums[me - step] : 0;
    __syncthreads();
    sums[me] += before;
    __syncthreads();
  }
  sum = sums[me] - sum;
  for (long long t = begin; t < end; ++t) out[t] = sum += out[t];
}

// Calls write(place, i) for every picked element i of the block's tile.
template <class Write>
__device__ __forceinline__ void pick(const unsigned char* mask, const long long* offsets, long long n, Write write) {
  __shared__ int counts[WARPS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long first = (long long)blockIdx.x * TILE + warp * (TILE / WARPS) + lane;
  unsigned picked[TURNS];
  int count = 0;
#pragma unroll
  for (int turn = 0; turn < TURNS; ++turn) {
    const long long i = first + turn * 32;
    picked[turn] = __ballot_sync(0xffffffffu, i < n && mask[i]);
    count += __popc(picked[turn]);
  }
  if (lane == 0) counts[warp] = count;
  __syncthreads();
  long long place = offsets[blockIdx.x];
  for (int w = 0; w < warp; ++w) place += counts[w];
#pragma unroll
  for (int turn = 0; turn < TURNS; ++turn) {
    if (picked[turn] >> lane & 1) write(place + __popc(picked[turn] & ((1u << lane) - 1)), first + turn * 32);
    place += __popc(picked[turn]);
  }
}

extern "C" __global__ void mask_positions(
    long long* out, const unsigned char* mask, const long long* offsets, long long n) {
  pick(mask, offsets, n, [=](long long place, long long i) { out[place] = i; });
}
