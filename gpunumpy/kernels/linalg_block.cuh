// Matrices that fit in shared memory: each has a block of WARPS warps, and warp w owns the rows w, w + WARPS, ... No
// row moves: a step of elimination ends with one barrier, after which every warp finds the next pivot by itself.

namespace la {

template <class T, int WARPS> struct Block {
  T* cells;  // n rows of `width` elements, `pitch` from one to the next, which is odd
  int* order;  // the rows in the order in which they were pivots
  int n, width, pitch;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  __device__ Block(void* shared, int n, int width)
      : cells((T*)shared), n(n), width(width), pitch(width | 1) {
    order = (int*)(cells + n * pitch);
  }

  template <class At> __device__ void load(At at) {
    for (int i = threadIdx.x; i < n * width; i += 32 * WARPS) cells[i / width * pitch + i % width] = at(i / width, i % width);
    __syncthreads();
  }

  // LU with partial pivoting of the first n columns, of which U is left; returns whether a pivot was zero.
  __device__ bool factor() {
    u32* ranks = (u32*)(order + n);
    int* rows = (int*)(ranks + 2 * WARPS);
    u32 used = 0;  // of the warp's rows
    bool singular = false;
    u32 best = 0;
    int row = 0;
    const int mine = warp + WARPS * lane;
    if (mine < n) best = rank(cells[mine * pitch]), row = mine;
    publish(ranks, rows, best, row);
    for (int j = 0; j < n; ++j) {
      const int half = j % 2 * WARPS;
      const u32 its = lane < WARPS ? ranks[half + lane] : 0, most = greatest<32>(its);
      const int who = __ffs(int(__ballot_sync(ALL, its == most))) - 1, pivot = rows[half + who];
      const T* top = cells + pivot * pitch;
      if (threadIdx.x == 0) order[j] = pivot;
      if (pivot % WARPS == warp) used |= 1u << (pivot / WARPS);
      singular |= is_zero(top[j]);
      const Divisor<T> over(top[j]);
      best = 0;
      for (int k = 0, r = warp; r < n; ++k, r += WARPS) {
        if (used >> k & 1) continue;
        T* to = cells + r * pitch;
        const T factor = over(to[j]);
        for (int c = j + 1 + lane; c < width; c += 32) {
          const T x = to[c] = less(to[c], factor, top[c]);
          if (c == j + 1) {
            const u32 size = rank(x);
            if (best < size) best = size, row = r;
          }
        }
      }
      if (j + 1 < n) publish(ranks + (WARPS - half), rows + (WARPS - half), best, row);
    }
    __syncthreads();
    return singular;
  }

  // The best row of every warp, known to all after the barrier.
  __device__ void publish(u32* ranks, int* rows, u32 best, int row) {
    const u32 most = greatest<32>(best);
    const int who = __ffs(int(__ballot_sync(ALL, best == most))) - 1;
    if (lane == who) ranks[warp] = best, rows[warp] = row;
    __syncthreads();
  }

  // The solutions for the columns after the first n, of which there are `sides`; a warp to each.
  template <int ROWS, class Put> __device__ void substitute(int sides, Put put) {
    for (int c = warp; c < sides; c += WARPS) {
      T y[ROWS];
      Divisor<T> over[ROWS];
      const T* rows[ROWS];
#pragma unroll
      for (int k = 0; k < ROWS; ++k) {
        const int i = lane + 32 * k;
        rows[k] = cells + order[i < n ? i : 0] * pitch;
        y[k] = rows[k][n + c];
        over[k] = Divisor<T>(rows[k][i < n ? i : 0]);
      }
#pragma unroll
      for (int k = ROWS - 1; k >= 0; --k)
        for (int i = min(n - 32 * k, 32) - 1; i >= 0; --i) {
          const int j = 32 * k + i;
          if (lane == i) y[k] = over[k](y[k]);
          const T x = from(y[k], i, 32);
          if (lane < i) y[k] = less(y[k], rows[k][j], x);
#pragma unroll
          for (int above = 0; above < k; ++above) y[above] = less(y[above], rows[above][j], x);
        }
#pragma unroll
      for (int k = 0; k < ROWS; ++k)
        if (lane + 32 * k < n) put(lane + 32 * k, c, y[k]);
    }
  }

  // By the first warp.
  __device__ Determinant<T> determinant() {
    Determinant<T> result;
    for (int i = lane; i < n; i += 32) {
      bool odd = false;
      for (int k = 0; k < i; ++k) odd ^= order[k] > order[i];
      result.take(cells[order[i] * pitch + i], odd);
    }
    result.template gather<32>();
    return result;
  }

};

// The Cholesky factor of a matrix whose rows w, w + WARPS, ... are in the registers of warp w, a column to each lane: of
// n rows, K a warp, and n columns, TURNS a lane. A step shares one column. `put` takes the factor; returns whether there
// is none.
template <class T, int WARPS, int K, int TURNS, class At, class Put>
__device__ __forceinline__ bool cholesky_of_block(int n, At at, Put put) {
  __shared__ __align__(16) unsigned char memory[2 * 32 * TURNS * sizeof(T)];
  T* columns = (T*)memory;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  T v[K][TURNS];
  Real<T> over[TURNS];  // of the lane's columns, what they are divided by in the end
  bool failed = false;
#pragma unroll
  for (int k = 0; k < K; ++k)
#pragma unroll
    for (int t = 0; t < TURNS; ++t) {
      const int r = warp + WARPS * k, c = lane + 32 * t;
      v[k][t] = r < n && c <= r ? at(r, c) : of_real<T>(0);
    }
#pragma unroll
  for (int t = 0; t < TURNS; ++t)
    for (int i = 0; i < 32 && i + 32 * t < n; ++i) {
      const int j = i + 32 * t;
      T* column = columns + j % 2 * 32 * TURNS;
      if (lane == i)
#pragma unroll
        for (int k = 0; k < K; ++k)
          if (warp + WARPS * k < n) column[warp + WARPS * k] = v[k][t];
      __syncthreads();
      const Real<T> square = re(column[j]), inverse = 1 / ::sqrt(square);
      failed |= !(square > 0);
      if (lane == i) over[t] = inverse;
      T across[TURNS];
#pragma unroll
      for (int u = t; u < TURNS; ++u) across[u] = times(conj(column[lane + 32 * u]), inverse);
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const int r = warp + WARPS * k;
        if (r <= j || r >= n) continue;
        const T by = times(column[r], inverse);
#pragma unroll
        for (int u = t; u < TURNS; ++u) {
          const int c = lane + 32 * u;
          if (c > j && c <= r) v[k][u] = less(v[k][u], by, across[u]);
        }
      }
    }
#pragma unroll
  for (int k = 0; k < K; ++k)
#pragma unroll
    for (int t = 0; t < TURNS; ++t) {
      const int r = warp + WARPS * k, c = lane + 32 * t;
      if (r < n && c < n) put(r, c, c <= r ? times(v[k][t], over[t]) : of_real<T>(0));
    }
  return failed;
}

}  // namespace la
