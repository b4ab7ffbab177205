// LU factors with partial pivoting of matrices that are stored by columns, n elements from one column to the next. One
// block factors a panel of columns, with the rows in its threads' registers. `permutation[r]` is the row that the
// exchanges of a panel bring to place r; both are counted from the panel's first row.

namespace la {

// Of one column: each warp's candidate for the pivot row.
template <class T, int W, int WARPS> struct Candidates {
  T rows[WARPS][W];
  u32 ranks[WARPS];
  int places[WARPS];
};

// Apply the exchanges of `count` rows from `first` on to a column, and with `solve` solve the lower system, by a warp.
template <class T, int ROWS>
__device__ __forceinline__ void exchange(T* column, int first, int count, const int* permutation, const int* pivots,
                                         const T* lower, bool solve) {
  const int lane = threadIdx.x % 32;
  T moved_in[ROWS], moved_out[ROWS];
#pragma unroll
  for (int t = 0; t < ROWS; ++t) {
    const int k = lane + 32 * t;
    moved_in[t] = k < count ? column[first + permutation[k]] : of_real<T>(0);
    moved_out[t] = k < count ? column[first + permutation[pivots[k] - 1 - first]] : of_real<T>(0);
  }
  __syncwarp();
  if (solve)
#pragma unroll
    for (int s = 0; s < ROWS; ++s)
      for (int i = 0; i < 32 && 32 * s + i < count; ++i) {
        const int k = 32 * s + i;
        const T known = shuffle(moved_in[s], i, 32);
#pragma unroll
        for (int t = s; t < ROWS; ++t)
          if (lane + 32 * t > k && lane + 32 * t < count)
            moved_in[t] = sub_mul(moved_in[t], lower[k * (32 * ROWS + 1) + lane + 32 * t], known);
      }
#pragma unroll
  for (int t = 0; t < ROWS; ++t) {
    const int k = lane + 32 * t;
    if (k < count) {
      column[first + k] = moved_in[t];
      if (pivots[k] - 1 >= first + count) column[pivots[k] - 1] = moved_out[t];
    }
  }
}

// Factor `width` columns (W at most) from the row and column `first` on. Then exchange the rows of the other columns
// from `begin` to `end`, and solve the lower system for those after the panel. An exchange of two rows moves neither:
// each stays in its thread, which knows its place. Of rows of equal rank the first becomes the pivot row.
template <class T, int W, int R, int THREADS>
__device__ __forceinline__ void panel(T* a, int* pivots, int* info, int* permutation, int n, int first, int width,
                                      int begin, int end) {
  const int WARPS = THREADS / 32;
  __shared__ Candidates<T, W, WARPS> buffers[2];
  __shared__ T lower[32 * 33];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  T v[R][W];
  int places[R];
  for (int r = thread; r < n - first; r += THREADS) permutation[r] = r;
#pragma unroll
  for (int i = 0; i < R; ++i) {
    const int r = places[i] = thread + THREADS * i;
#pragma unroll
    for (int c = 0; c < W; ++c)
      v[i][c] = r < n - first && c < width ? a[(long long)(first + c) * n + first + r] : of_real<T>(0);
  }
  bool singular = false;
  // Unrolled, although that is much code: a loop that shifts the columns in registers takes longer.
#pragma unroll
  for (int j = 0; j < W; ++j) {
    if (j < width) {
      Candidates<T, W, WARPS>& candidates = buffers[j % 2];
      u32 best = 0;
      int best_place = 0;
#pragma unroll
      for (int i = 0; i < R; ++i) {
        const bool is_left = places[i] >= j && places[i] < n - first;
        const u32 rank = is_left ? pivot_rank(v[i][j]) : 0;
        if (best < rank || (best == rank && places[i] < best_place)) best = rank, best_place = places[i];
      }
      const bool is_best = best == group_max<32>(best);
      const int warp_first = first_place(is_best, best_place);
      if (is_best && best_place == warp_first) {
        candidates.ranks[warp] = best;
        candidates.places[warp] = best_place;
#pragma unroll
        for (int i = 0; i < R; ++i)
          if (places[i] == best_place)
#pragma unroll
            for (int c = 0; c < W; ++c) candidates.rows[warp][c] = v[i][c];
      }
      __syncthreads();
      const u32 warp_rank = candidates.ranks[lane % WARPS];
      const int warp_place = candidates.places[lane % WARPS];
      const bool is_largest = warp_rank == group_max<32>(warp_rank);
      const int place = first_place(is_largest, warp_place);
      const int winner = __ffs(int(__ballot_sync(ALL, is_largest && warp_place == place))) - 1;
      const T* pivot_row = candidates.rows[winner];
      if (thread == 0) {
        pivots[first + j] = first + place + 1;
        const int kept = permutation[j];
        permutation[j] = permutation[place];
        permutation[place] = kept;
      }
      const bool zero = is_zero(pivot_row[j]);
      singular |= zero;
      const Divisor<T> divisor(or_one(pivot_row[j]));
#pragma unroll
      for (int i = 0; i < R; ++i) {
        places[i] = places[i] == place ? j : places[i] == j ? place : places[i];
        if (places[i] > j) {
          const T multiplier = v[i][j] = divisor(v[i][j]);
#pragma unroll
          for (int c = j + 1; c < W; ++c) v[i][c] = sub_mul(v[i][c], multiplier, pivot_row[c]);
        }
      }
    }
  }
  if (thread == 0 && (singular || first == 0)) *info = singular;
#pragma unroll
  for (int i = 0; i < R; ++i) {
    T* row = a + (long long)first * n + first + places[i];
    if (places[i] < n - first)
#pragma unroll
      for (int c = 0; c < W; ++c)
        if (c < width) row[(long long)c * n] = v[i][c];
    if (places[i] < 32)
#pragma unroll
      for (int c = 0; c < W; ++c) lower[c * 33 + places[i]] = v[i][c];
  }
  __syncthreads();
  for (int c = begin + warp; c < end; c += WARPS)
    if (c < first || c >= first + width)
      exchange<T, 1>(a + (long long)c * n, first, width, permutation, pivots + first, lower, c >= first + width);
}

// Apply the exchanges of the columns from `begin` to `end` to all other columns, and solve the lower system for those
// after `end`. The columns after the n-th are right-hand sides.
template <class T, int ROWS, int THREADS>
__device__ __forceinline__ void other_columns(T* a, const int* pivots, int* permutation, T* lower, int n, int columns,
                                              int begin, int end, int block, int blocks) {
  const int SIDE = 32 * ROWS, count = end - begin, thread = threadIdx.x;
  for (int r = thread; r < n - begin; r += THREADS) permutation[r] = r;
  __syncthreads();
  if (thread == 0)
    for (int k = 0; k < count; ++k) {
      const int pivot = pivots[begin + k] - 1 - begin, saved = permutation[k];
      permutation[k] = permutation[pivot];
      permutation[pivot] = saved;
    }
  for (int i = thread; i < count * count; i += THREADS)
    lower[i / count * (SIDE + 1) + i % count] = a[(long long)(begin + i / count) * n + begin + i % count];
  __syncthreads();
  for (int c = block * (THREADS / 32) + thread / 32; c < columns - count; c += blocks * (THREADS / 32)) {
    const bool is_after = c >= begin;
    T* column = a + (long long)(is_after ? c + count : c) * n;
    exchange<T, ROWS>(column, begin, count, permutation, pivots + begin, lower, is_after);
  }
}

// Solve the system of the upper factor's rows and columns from `begin` to `end` for the right-hand sides after the
// matrix, a warp to each column.
template <class T, int ROWS, int THREADS>
__device__ __forceinline__ void upper(T* a, T* triangle, int n, int columns, int begin, int end, int block,
                                      int blocks) {
  const int SIDE = 32 * ROWS, count = end - begin, thread = threadIdx.x, lane = thread % 32;
  for (int i = thread; i < count * count; i += THREADS)
    triangle[i / count * (SIDE + 1) + i % count] = a[(long long)(begin + i / count) * n + begin + i % count];
  __syncthreads();
  Divisor<T> divisors[ROWS];
#pragma unroll
  for (int t = 0; t < ROWS; ++t) {
    const int k = lane + 32 * t;
    divisors[t] = Divisor<T>(k < count ? triangle[k * (SIDE + 1) + k] : of_real<T>(1));
  }
  for (int c = n + block * (THREADS / 32) + thread / 32; c < columns; c += blocks * (THREADS / 32)) {
    T* column = a + (long long)c * n + begin;
    T x[ROWS];
#pragma unroll
    for (int t = 0; t < ROWS; ++t) x[t] = lane + 32 * t < count ? column[lane + 32 * t] : of_real<T>(0);
#pragma unroll
    for (int s = ROWS - 1; s >= 0; --s)
      for (int i = 31; i >= 0; --i) {
        const int k = 32 * s + i;
        if (k < count) {
          const T known = shuffle(divisors[s](x[s]), i, 32);
          if (lane == i) x[s] = known;
#pragma unroll
          for (int t = 0; t <= s; ++t)
            if (lane + 32 * t < k) x[t] = sub_mul(x[t], triangle[k * (SIDE + 1) + lane + 32 * t], known);
        }
      }
#pragma unroll
    for (int t = 0; t < ROWS; ++t)
      if (lane + 32 * t < count) column[lane + 32 * t] = x[t];
  }
}

}  // namespace la
