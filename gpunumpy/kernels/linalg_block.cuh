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

  // The lower Cholesky factor but for the division of its columns by the roots of the diagonal.
  __device__ bool cholesky() {
    bool failed = false;
    for (int j = 0; j < n; ++j) {
      const Real<T> square = re(cells[j * pitch + j]), inverse = Real<T>(1) / square;
      failed |= !(square > 0);
      const int first = j + 1 + (warp + WARPS - (j + 1) % WARPS) % WARPS;
      for (int r = first; r < n; r += WARPS) {
        T* to = cells + r * pitch;
        const T factor = times(to[j], inverse);
        for (int c = j + 1 + lane; c <= r; c += 32) to[c] = less(to[c], factor, conj(cells[c * pitch + j]));
      }
      __syncthreads();
    }
    return failed;
  }

  // An element of the factor, after that.
  __device__ T root(int r, int c) {
    const Real<T> its = ::sqrt(re(cells[c * pitch + c]));
    return r < c ? of_real<T>(0) : r == c ? of_real<T>(its) : times(cells[r * pitch + c], 1 / its);
  }
};

}  // namespace la
