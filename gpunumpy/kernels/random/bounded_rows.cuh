// Shuffles of many short pieces_of_warp: the bounds of a row fall from `most` to 1.
//
// How many numbers a share of the words makes depends on how far the row is that it begins in, and on nothing else. So
// it is counted for every such case, and the cases that there really are follow from the counts: for groups of shares,
// each case again, then from group to group, and then inside each group.

const int SHARE = 2048, GROUP = 64;

// counts[most * share + case]: a block a share.
__device__ __forceinline__ void count_share(u16* counts, const u32* words, i64 given, int most) {
  __shared__ u32 pieces[SHARE];
  const i64 first = i64(blockIdx.x) * SHARE;
  for (int k = threadIdx.x; k < SHARE; k += blockDim.x) pieces[k] = first + k < given ? words[first + k] : 0;
  __syncthreads();
  for (int done = threadIdx.x; done < most; done += blockDim.x) {
    u32 bound = most - done;
    int made = 0;
    for (int k = 0; k < SHARE; ++k) {
      u32 value;
      if (!accepts(pieces[k], bound, value)) continue;
      ++made;
      if (--bound == 0) bound = most;
    }
    counts[i64(blockIdx.x) * most + done] = made;
  }
}

// The number that comes after those of a group, or of a part of one, if `t` come before; `visit` is called for every
// share.
template <class Visit>
__device__ __forceinline__ i64 follow_group(const u16* counts, i64 group, i64 shares, int most, i64 t, Visit visit) {
  for (i64 share = group * GROUP; share < min((group + 1) * GROUP, shares); ++share) {
    visit(share, t);
    t += counts[share * most + t % most];
  }
  return t;
}

// The groups one after the other: one thread.
__device__ __forceinline__ void follow_groups(i64* starts, const u32* groups, i64 group_count, int most) {
  i64 t = 0;
  for (i64 group = 0; group < group_count; ++group) {
    starts[group] = t;
    t += groups[group * most + t % most];
  }
}

// The numbers of a share: one warp.
__device__ __forceinline__ void write_share(Out* out, i64* taken, const u32* words, const Bounds& bounds, i64 given,
                                            i64 total, i64 t) {
  for (int k = 0; k < SHARE && t < total; k += 32 * THREAD_PIECES) {
    WarpPieces pieces_of_warp(words, given, i64(blockIdx.x) * SHARE + k);
    pieces_of_warp.resolve(bounds, given, total, t);
    pieces_of_warp.write(out, taken, bounds, total);
    t += pieces_of_warp.count;
  }
}
