// Shuffles of many short rows: the bounds of a row fall from `row_draws` to 1, one draw for each.
//
// The words are cut into shares. How many numbers a share makes depends only on the case that it begins in: how many
// draws of its first row are done. So each share is counted for every case. The counts are composed for groups of
// shares, again for every case; then the true cases follow from group to group, and then inside each group.

const int SHARE = 2048, GROUP = 64;

// Count the numbers of a share for every case, into counts[row_draws * share + case]: one block per share.
__device__ __forceinline__ void count_share(u16* counts, const u32* words, i64 word_count, int row_draws) {
  __shared__ u32 pieces[SHARE];
  const i64 first = i64(blockIdx.x) * SHARE;
  for (int k = threadIdx.x; k < SHARE; k += blockDim.x) pieces[k] = first + k < word_count ? words[first + k] : 0;
  __syncthreads();
  for (int done = threadIdx.x; done < row_draws; done += blockDim.x) {
    u32 bound = row_draws - done;
    int made = 0;
    for (int k = 0; k < SHARE; ++k) {
      u32 value;
      if (!accepts(pieces[k], bound, value)) continue;
      ++made;
      if (--bound == 0) bound = row_draws;
    }
    counts[i64(blockIdx.x) * row_draws + done] = made;
  }
}

// Return how many numbers come before the end of a group if `t` come before the group; visit(share, t) is called for
// each of its shares.
template <class Visit>
__device__ __forceinline__ i64 follow_group(
    const u16* counts, i64 group, i64 shares, int row_draws, i64 t, Visit visit) {
  for (i64 share = group * GROUP; share < min((group + 1) * GROUP, shares); ++share) {
    visit(share, t);
    t += counts[share * row_draws + t % row_draws];
  }
  return t;
}

// Find how many numbers come before each group: one thread.
__device__ __forceinline__ void follow_groups(i64* starts, const u32* groups, i64 group_count, int row_draws) {
  i64 t = 0;
  for (i64 group = 0; group < group_count; ++group) {
    starts[group] = t;
    t += groups[group * row_draws + t % row_draws];
  }
}

// Write the numbers of a share, before which `t` come: one warp.
__device__ __forceinline__ void write_share(
    Out* out, i64* taken, const u32* words, const Bounds& bounds, i64 word_count, i64 total, i64 t) {
  for (int k = 0; k < SHARE && t < total; k += 32 * THREAD_PIECES) {
    WarpPieces pieces(words, word_count, i64(blockIdx.x) * SHARE + k);
    pieces.resolve(bounds, word_count, total, t);
    pieces.write(out, taken, bounds, total);
    t += pieces.count;
  }
}
