// LU factors with partial pivoting of matrices that lie by columns, n elements from one column to the next. A panel of
// columns is factored by one block, whose threads hold its rows in registers; `perm` follows what the exchanges of rows
// make of the rows from the first one of a panel on.

namespace la {

// What was found in one column: a candidate of every warp with its whole row, and the row that is to be exchanged.
template <class T, int W, int WARPS> struct Candidates {
  T rows[WARPS + 1][W];
  u32 ranks[WARPS];
  int places[WARPS];
};

// The exchanges of `count` rows from `first` on in a column, and with `solve` the triangular system of `lower`; by a warp.
template <class T, int TURNS>
__device__ __forceinline__ void exchange(T* column, int first, int count, const int* perm, const int* pivots,
                                         const T* lower, bool solve) {
  const int lane = threadIdx.x % 32;
  T x[TURNS], y[TURNS];
#pragma unroll
  for (int t = 0; t < TURNS; ++t) {
    const int k = lane + 32 * t;
    x[t] = k < count ? column[first + perm[k]] : of_real<T>(0);
    y[t] = k < count ? column[first + perm[pivots[k] - 1 - first]] : of_real<T>(0);
  }
  __syncwarp();
  if (solve)
#pragma unroll
    for (int s = 0; s < TURNS; ++s)
      for (int i = 0; i < 32 && 32 * s + i < count; ++i) {
        const int k = 32 * s + i;
        const T known = from(x[s], i, 32);
#pragma unroll
        for (int t = s; t < TURNS; ++t)
          if (lane + 32 * t > k && lane + 32 * t < count)
            x[t] = less(x[t], lower[k * (32 * TURNS + 1) + lane + 32 * t], known);
      }
#pragma unroll
  for (int t = 0; t < TURNS; ++t) {
    const int k = lane + 32 * t;
    if (k < count) {
      column[first + k] = x[t];
      if (pivots[k] - 1 >= first + count) column[pivots[k] - 1] = y[t];
    }
  }
}

// Factor `width` columns (W at most) from the row and column `first` on. Then exchange the rows of the other columns
// from `begin` up to `end`, and solve the triangular system for those that come after the panel.
template <class T, int W, int R, int THREADS>
__device__ __forceinline__ void panel(T* a, int* pivots, int* info, int* perm, int n, int first, int width, int begin,
                                      int end) {
  const int WARPS = THREADS / 32;
  __shared__ Candidates<T, W, WARPS> found[2];
  __shared__ T lower[32 * 33];
  const int me = threadIdx.x, lane = me % 32, warp = me / 32;
  T v[R][W];
  for (int r = me; r < n - first; r += THREADS) perm[r] = r;
#pragma unroll
  for (int i = 0; i < R; ++i) {
    const int r = first + me + THREADS * i;
#pragma unroll
    for (int c = 0; c < W; ++c) v[i][c] = r < n && c < width ? a[(long long)(first + c) * n + r] : of_real<T>(0);
  }
  bool singular = false;
  // Unrolled, though that is a lot of code: a loop over columns that move along takes 1.2 to 1.5 times as long.
#pragma unroll
  for (int j = 0; j < W; ++j) {
    if (j < width) {
      Candidates<T, W, WARPS>& its = found[j % 2];
      u32 best = 0;
      int at = 0;
#pragma unroll
      for (int i = 0; i < R; ++i) {
        const int r = me + THREADS * i;
        const u32 size = r >= j && r < n - first ? rank(v[i][j]) : 0;
        if (best < size) best = size, at = i;
      }
      const u32 most = greatest<32>(best);
      if (lane == __ffs(int(__ballot_sync(ALL, best == most))) - 1) {
        its.ranks[warp] = best;
        its.places[warp] = me + THREADS * at;
#pragma unroll
        for (int i = 0; i < R; ++i)
          if (i == at)
#pragma unroll
            for (int c = 0; c < W; ++c) its.rows[warp][c] = v[i][c];
      }
      if (me == j)
#pragma unroll
        for (int c = 0; c < W; ++c) its.rows[WARPS][c] = v[0][c];
      __syncthreads();
      const u32 one = lane < WARPS ? its.ranks[lane] : 0, all = greatest<32>(one);
      const int who = __ffs(int(__ballot_sync(ALL, one == all))) - 1, place = its.places[who];
      const T* top = its.rows[who];
      if (me == 0) {
        pivots[first + j] = first + place + 1;
        const int kept = perm[j];
        perm[j] = perm[place];
        perm[place] = kept;
      }
      const bool zero = is_zero(top[j]);
      singular |= zero;
      const Divisor<T> over(or_one(top[j]));
#pragma unroll
      for (int i = 0; i < R; ++i) {
        const int r = me + THREADS * i;
        if (r == place && r != j)
#pragma unroll
          for (int c = 0; c < W; ++c) v[i][c] = its.rows[WARPS][c];
        if (r > j) {
          const T by = v[i][j] = over(v[i][j]);
#pragma unroll
          for (int c = j + 1; c < W; ++c) v[i][c] = less(v[i][c], by, top[c]);
        }
      }
      if (me == j)
#pragma unroll
        for (int c = 0; c < W; ++c) v[0][c] = top[c];
    }
  }
  if (me == 0 && (singular || first == 0)) *info = singular;
#pragma unroll
  for (int i = 0; i < R; ++i) {
    const int r = first + me + THREADS * i;
#pragma unroll
    for (int c = 0; c < W; ++c) {
      if (r < n && c < width) a[(long long)(first + c) * n + r] = v[i][c];
      if (i == 0 && me < 32) lower[c * 33 + me] = v[i][c];
    }
  }
  __syncthreads();
  for (int c = begin + warp; c < end; c += WARPS)
    if (c < first || c >= first + width)
      exchange<T, 1>(a + (long long)c * n, first, width, perm, pivots + first, lower, c >= first + width);
}

// The same for the columns that are not between `begin` and `end`, with the exchanges of all columns between these. There
// may be more of them than rows: right-hand sides, for which the system of the lower factor is so solved.
template <class T, int TURNS, int THREADS>
__device__ __forceinline__ void others(T* a, const int* pivots, int* perm, T* lower, int n, int columns, int begin, int end,
                                       int block, int blocks) {
  const int SIDE = 32 * TURNS, count = end - begin, me = threadIdx.x;
  for (int r = me; r < n - begin; r += THREADS) perm[r] = r;
  __syncthreads();
  if (me == 0)
    for (int k = 0; k < count; ++k) {
      const int place = pivots[begin + k] - 1 - begin, kept = perm[k];
      perm[k] = perm[place];
      perm[place] = kept;
    }
  for (int i = me; i < count * count; i += THREADS)
    lower[i / count * (SIDE + 1) + i % count] = a[(long long)(begin + i / count) * n + begin + i % count];
  __syncthreads();
  for (int c = block * (THREADS / 32) + me / 32; c < columns - count; c += blocks * (THREADS / 32)) {
    const bool after = c >= begin;
    exchange<T, TURNS>(a + (long long)(after ? c + count : c) * n, begin, count, perm, pivots + begin, lower, after);
  }
}

// Solve the system of the upper factor's rows and columns between `begin` and `end` for the columns after the matrix; a
// warp takes one after the other.
template <class T, int TURNS, int THREADS>
__device__ __forceinline__ void upper(T* a, T* held, int n, int columns, int begin, int end, int block, int blocks) {
  const int SIDE = 32 * TURNS, count = end - begin, me = threadIdx.x, lane = me % 32;
  for (int i = me; i < count * count; i += THREADS)
    held[i / count * (SIDE + 1) + i % count] = a[(long long)(begin + i / count) * n + begin + i % count];
  __syncthreads();
  Divisor<T> over[TURNS];
#pragma unroll
  for (int t = 0; t < TURNS; ++t) {
    const int k = lane + 32 * t;
    over[t] = Divisor<T>(k < count ? held[k * (SIDE + 1) + k] : of_real<T>(1));
  }
  for (int c = n + block * (THREADS / 32) + me / 32; c < columns; c += blocks * (THREADS / 32)) {
    T* column = a + (long long)c * n + begin;
    T x[TURNS];
#pragma unroll
    for (int t = 0; t < TURNS; ++t) x[t] = lane + 32 * t < count ? column[lane + 32 * t] : of_real<T>(0);
#pragma unroll
    for (int s = TURNS - 1; s >= 0; --s)
      for (int i = 31; i >= 0; --i) {
        const int k = 32 * s + i;
        if (k < count) {
          const T known = from(over[s](x[s]), i, 32);
          if (lane == i) x[s] = known;
#pragma unroll
          for (int t = 0; t <= s; ++t)
            if (lane + 32 * t < k) x[t] = less(x[t], held[k * (SIDE + 1) + lane + 32 * t], known);
        }
      }
#pragma unroll
    for (int t = 0; t < TURNS; ++t)
      if (lane + 32 * t < count) column[lane + 32 * t] = x[t];
  }
}

}  // namespace la
