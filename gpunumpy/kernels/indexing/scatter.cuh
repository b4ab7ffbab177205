// A stable sort of pairs of a key and a position, by one digit of the key in a pass. A block has a share of the pairs,
// a warp an equal part of it in order, 32 neighbours at a time. `Key` is an unsigned integer for keys and positions.

const int RADIX = 256, SHARE = 4096, WARPS = 8, ROUNDS = SHARE / WARPS / 32;

// Write to counts[digit * blocks + block] how many pairs of the block's share have the digit.
__device__ __forceinline__ void count_digits(const Key* keys, Key* counts, long long n, int shift) {
  __shared__ unsigned digit_counts[RADIX];
  digit_counts[threadIdx.x] = 0;
  __syncthreads();
  const long long first = (long long)blockIdx.x * SHARE;
  for (int k = threadIdx.x; k < SHARE; k += RADIX)
    if (first + k < n) atomicAdd(digit_counts + (keys[first + k] >> shift & (RADIX - 1)), 1u);
  __syncthreads();
  counts[(long long)threadIdx.x * gridDim.x + blockIdx.x] = digit_counts[threadIdx.x];
}

// The sum over a block of RADIX threads, returned to all of them.
__device__ __forceinline__ Key block_sum(Key value) {
  __shared__ Key sums[RADIX];
  sums[threadIdx.x] = value;
  __syncthreads();
  for (int step = RADIX / 2; step; step /= 2) {
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
    __syncthreads();
  }
  return sums[0];
}

// Write to `totals` how many pairs have each digit, a block to each digit; `blocks` blocks have counted.
__device__ __forceinline__ void sum_digits(const Key* counts, Key* totals, long long blocks) {
  const Key* digit_counts = counts + blockIdx.x * blocks;
  Key sum = 0;
  for (long long i = threadIdx.x; i < blocks; i += RADIX) sum += digit_counts[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) totals[blockIdx.x] = sum;
}

// Replace every count by the sum of the counts before it, a block to each digit.
__device__ __forceinline__ void sum_counts(Key* counts, const Key* totals, long long blocks) {
  __shared__ Key sums[RADIX];
  const int thread = threadIdx.x;
  const Key before_digit = block_sum(thread < blockIdx.x ? totals[thread] : Key(0));
  Key* digit_counts = counts + blockIdx.x * blocks;
  const long long share = (blocks + RADIX - 1) / RADIX, begin = thread * share;
  const long long end = begin + share < blocks ? begin + share : blocks;
  Key sum = 0;
  for (long long i = begin; i < end; ++i) sum += digit_counts[i];
  sums[thread] = sum;
  __syncthreads();
  for (int step = 1; step < RADIX; step *= 2) {
    const Key before = thread >= step ? sums[thread - step] : 0;
    __syncthreads();
    sums[thread] += before;
    __syncthreads();
  }
  sum = before_digit + sums[thread] - sum;
  for (long long i = begin; i < end; ++i) {
    const Key count = digit_counts[i];
    digit_counts[i] = sum;
    sum += count;
  }
}

// Move every pair to its place. `positions` is null in the first pass, in which a pair's position is its index.
__device__ __forceinline__ void move_pairs(
    const Key* keys, const Key* positions, Key* moved_keys, Key* moved_positions, const Key* starts, long long n,
    int shift) {
  __shared__ Key places[WARPS][RADIX];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long first = (long long)blockIdx.x * SHARE + warp * (SHARE / WARPS) + lane;
  for (int w = 0; w < WARPS; ++w) places[w][threadIdx.x] = 0;
  __syncthreads();
  for (int round = 0; round < ROUNDS; ++round) {
    const long long i = first + round * 32;
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
  for (int round = 0; round < ROUNDS; ++round) {
    const long long i = first + round * 32;
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
      moved_positions[to] = positions ? positions[i] : Key(i);
    }
    __syncwarp();
    if (active && rank == 0) places[warp][digit] += __popc(peers);
    __syncwarp();
  }
}
