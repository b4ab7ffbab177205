// A stable sort of (key, position) pairs by one digit of the key a pass. A block takes a share of the pairs, a warp an
// equal part of it in order, 32 neighbours at a time. `Key` is an unsigned integer that holds keys and positions.

const int RADIX = 256, SHARE = 4096, WARPS = 8, TURNS = SHARE / WARPS / 32;

// counts[digit * blocks + block]: how many pairs of the block's share have the digit.
__device__ __forceinline__ void count_digits(const Key* keys, Key* counts, long long n, int shift) {
  __shared__ unsigned found[RADIX];
  found[threadIdx.x] = 0;
  __syncthreads();
  const long long first = (long long)blockIdx.x * SHARE;
  for (int k = threadIdx.x; k < SHARE; k += RADIX)
    if (first + k < n) atomicAdd(found + (keys[first + k] >> shift & (RADIX - 1)), 1u);
  __syncthreads();
  counts[(long long)threadIdx.x * gridDim.x + blockIdx.x] = found[threadIdx.x];
}

// The sum over a block of RADIX threads, for all of them.
__device__ __forceinline__ Key block_sum(Key own) {
  __shared__ Key sums[RADIX];
  sums[threadIdx.x] = own;
  __syncthreads();
  for (int step = RADIX / 2; step; step /= 2) {
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
    __syncthreads();
  }
  return sums[0];
}

// How many pairs have each digit, by a block a digit; `blocks` counted.
__device__ __forceinline__ void sum_digits(const Key* counts, Key* totals, long long blocks) {
  const Key* mine = counts + blockIdx.x * blocks;
  Key sum = 0;
  for (long long i = threadIdx.x; i < blocks; i += RADIX) sum += mine[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) totals[blockIdx.x] = sum;
}

// The sum of what comes before in the place of every count, by a block a digit.
__device__ __forceinline__ void sum_counts(Key* counts, const Key* totals, long long blocks) {
  __shared__ Key sums[RADIX];
  const int me = threadIdx.x;
  const Key before_digit = block_sum(me < blockIdx.x ? totals[me] : Key(0));
  Key* mine = counts + blockIdx.x * blocks;
  const long long share = (blocks + RADIX - 1) / RADIX, begin = me * share;
  const long long end = begin + share < blocks ? begin + share : blocks;
  Key sum = 0;
  for (long long i = begin; i < end; ++i) sum += mine[i];
  sums[me] = sum;
  __syncthreads();
  for (int step = 1; step < RADIX; step *= 2) {
    const Key before = me >= step ? sums[me - step] : 0;
    __syncthreads();
    sums[me] += before;
    __syncthreads();
  }
  sum = before_digit + sums[me] - sum;
  for (long long i = begin; i < end; ++i) {
    const Key count = mine[i];
    mine[i] = sum;
    sum += count;
  }
}

// Moves every pair to its place; `from` is null in the first pass, where positions are not written down yet.
__device__ __forceinline__ void move_pairs(
    const Key* keys, const Key* from, Key* moved_keys, Key* moved, const Key* starts, long long n, int shift) {
  __shared__ Key places[WARPS][RADIX];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long first = (long long)blockIdx.x * SHARE + warp * (SHARE / WARPS) + lane;
  for (int w = 0; w < WARPS; ++w) places[w][threadIdx.x] = 0;
  __syncthreads();
  for (int turn = 0; turn < TURNS; ++turn) {
    const long long i = first + turn * 32;
    if (i < n) atomicAdd(&places[warp][keys[i] >> shift & (RADIX - 1)], Key(1));
  }
  __syncthreads();
  Key place = starts[(long long)threadIdx.x * gridDim.x + blockIdx.x];
  for (int w = 0; w < WARPS; ++w) {
    const Key count = places[w][threadIdx.x];
    places[w][threadIdx.x] = place;
    place += count;
  }
  __syncthreads();
  for (int turn = 0; turn < TURNS; ++turn) {
    const long long i = first + turn * 32;
    const bool active = i < n;
    const Key key = active ? keys[i] : Key(0);
    const int digit = key >> shift & (RADIX - 1);
    unsigned peers = __ballot_sync(0xffffffffu, active);
#pragma unroll
    for (int bit = 0; bit < 8; ++bit) {
      const unsigned set = __ballot_sync(0xffffffffu, digit >> bit & 1);
      peers &= digit >> bit & 1 ? set : ~set;
    }
    const int rank = __popc(peers & ((1u << lane) - 1));
    if (active) {
      const Key to = places[warp][digit] + rank;
      moved_keys[to] = key;
      moved[to] = from ? from[i] : Key(i);
    }
    __syncwarp();
    if (active && rank == 0) places[warp][digit] += __popc(peers);
    __syncwarp();
  }
}
