// Sorted pairs with one key, which a warp applies one after the other. Its threads read the values of the next pairs while
// they apply those before, all of them the same, so that a step takes no longer than the operation.

const int LONG_RUN = 32, RUN_READS = 8, RUN_PART = 32 * RUN_READS;

struct Run {
  long long first, end;  // where it begins, and all pairs end
  Key cell;
};

// Read what this thread takes of the part that begins at a pair; return how many values of the run the warp has read.
template <class T, class Load>
__device__ __forceinline__ int read_part(
    const Run& run, long long first, const Key* keys, const Key* places, T (&read)[RUN_READS], Load load) {
  int count = 0;
#pragma unroll
  for (int k = 0; k < RUN_READS; ++k) {
    const long long i = first + 32 * k + threadIdx.x % 32;
    const bool is_member = i < run.end && keys[i] == run.cell;
    if (is_member) read[k] = load((long long)places[i]);
    count += __popc(__ballot_sync(0xffffffffu, is_member));
  }
  return count;
}

// Apply all values of a run in order; `taken` is memory of the warp.
template <class T, class Load, class Apply>
__device__ __forceinline__ void apply_run(
    const Run& run, const Key* keys, const Key* places, T* taken, Load load, Apply apply) {
  T read[RUN_READS];
  long long first = run.first;
  int next = read_part(run, first, keys, places, read, load);
  for (int count = RUN_PART; count == RUN_PART;) {
    count = next;
#pragma unroll
    for (int k = 0; k < RUN_READS; ++k) taken[32 * k + threadIdx.x % 32] = read[k];
    __syncwarp();
    first += RUN_PART;
    if (count == RUN_PART) next = read_part(run, first, keys, places, read, load);
#pragma unroll 8
    for (int k = 0; k < count; ++k) apply(taken[k]);
    __syncwarp();
  }
}
